//! Evidence in JSON, for a few models with known answers.

use cpds::{Certificate, Problem};
use cpds_check::{Claim, Evidence, Rejected, check, read};
use cpds_testing::oracle;

/// Each model, and whether it is safe. The last model has interchangeable threads.
const MODELS: [(&str, bool); 4] = [
    (include_str!("../../models/paper/fig1.cpds"), false),
    (include_str!("../../models/paper/fig2.cpds"), true),
    ("shared 0; init 0|a; bad 0|-\nthread A { symbols a b; (0,a) -> (0,a b); (0,a) -> (0,b) }", true),
    (
        "shared 0 1; init 0|a*2; bad 1|b,b\nthread A * 2 { symbols a b; (0,a) -> (1,b); (1,b) -> (0,a); (0,a) -> (0,-) }",
        true,
    ),
];

/// The bytes are evidence in JSON, with `MODEL` in place of the hash of the model.
pub fn evidence(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    for (model, is_safe) in MODELS {
        let problem: Problem = model.parse().expect("a model");
        let evidence = match read(&problem, text.replace("MODEL", &problem.fingerprint()).as_bytes()) {
            Ok(evidence) => evidence,
            Err(rejected) => {
                assert_ne!(rejected.to_string(), "");
                continue;
            }
        };
        for claim in [Claim::Verdict, Claim::Exact] {
            match (check(&problem, &evidence, claim, &|steps| steps < 1_000_000), &evidence, claim) {
                (Ok(()), Evidence::Trace { .. } | Evidence::UnparsedTrace { .. }, _) => {
                    assert!(!is_safe && claim == Claim::Verdict);
                }
                (Ok(()), Evidence::Certificate(_), Claim::Verdict) => assert!(is_safe),
                (Ok(()), Evidence::Certificate(certificate), Claim::Exact) => {
                    lists_reachable_states(&problem, certificate);
                }
                (Err(rejected), ..) => assert!(matches!(rejected, Rejected::Stopped) || rejected.to_string() != ""),
            }
        }
    }
}

/// Checks that a certificate lists all visible states that the oracle finds.
pub(super) fn lists_reachable_states(problem: &Problem, certificate: &Certificate) {
    let sorted = |state: &cpds::VisibleState| {
        let tops = |group: &Vec<cpds::ThreadId>| {
            let mut tops: Vec<_> = group.iter().map(|thread| state.tops[thread.index()]).collect();
            tops.sort_unstable();
            tops
        };
        (state.shared, certificate.groups.iter().map(tops).collect::<Vec<_>>())
    };
    let listed: Vec<_> = certificate.visible.iter().flatten().map(sorted).collect();
    for state in oracle::levels(problem.system(), 3, 2).visible(3) {
        assert!(listed.contains(&sorted(&state)), "{} is reachable", problem.system().paper(&state));
    }
}

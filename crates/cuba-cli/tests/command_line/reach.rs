//! `cuba reach`: tables, states and verdicts.

use crate::common::{cuba, done, in_repository};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;

/// The output of a command after the table, which is the same as without the option.
fn added(args: &[&str], option: &str) -> String {
    let without: Vec<&str> = args.iter().copied().filter(|arg| *arg != option).collect();
    let (with, without) = (done(args), done(&without));
    let (table, _) = without.split_once("\n\n").expect("a table");
    with.strip_prefix(table).expect("the same table").trim_start().to_owned()
}

/// The paper's table: Fig. 1 (right).
#[test]
fn fig_1() {
    assert_snapshot!(done(&["reach", "models/paper/fig1.cpds"]), @"
    k  |R_k|  new  |T(R_k)|  new  |T(R)| ≤
    0      1    1         1    1         8  by Z
    1      3    2         3    2         8
    2      6    3         6    3         8  T(R_k) stutters at 2
    3      8    2         6    0         8
    4     11    3         7    1         8
    5     14    3         8    1         8  T(R_k) collapses at 5

    converged: T(R) has 8 visible states and collapses at k = 5 (proved by T(R_5) = Z; proof checked)
    ");
    assert_snapshot!(added(&["reach", "models/paper/fig1.cpds", "--states"], "--states"), @r"
    k  R_k \ R_{k-1}  T(R_k) \ T(R_{k-1})
    0  ⟨0|1,4⟩        ⟨0|1,4⟩
    1  ⟨0|1,ε⟩        ⟨0|1,ε⟩
       ⟨1|2,4⟩        ⟨1|2,4⟩
    2  ⟨1|2,ε⟩        ⟨1|2,ε⟩
       ⟨2|2,5⟩        ⟨2|2,5⟩
       ⟨3|2,4 6⟩      ⟨3|2,4⟩
    3  ⟨0|1,4 6⟩      –
       ⟨1|2,4 6⟩
    4  ⟨0|1,6⟩        ⟨0|1,6⟩
       ⟨2|2,5 6⟩
       ⟨3|2,4 6 6⟩
    5  ⟨0|1,4 6 6⟩    ⟨1|2,6⟩
       ⟨1|2,6⟩
       ⟨1|2,4 6 6⟩

    converged: T(R) has 8 visible states and collapses at k = 5 (proved by T(R_5) = Z; proof checked)
    ");
}

#[test]
fn r_k_collapses() {
    assert_snapshot!(done(&["reach", "models/tiny/stutter.cpds"]), @"
    k  |R_k|  new  |T(R_k)|  new  |T(R)| ≤
    0      1    1         1    1         4  by matched-Z
    1      2    1         2    1         4  T(R_k) stutters at 1
    2      3    1         2    0         4
    3      4    1         2    0         4
    4      5    1         2    0         4
    5      6    1         3    1         4
    6      7    1         4    1         4  R_k collapses at 6, T(R_k) collapses at 6
    7      7    0         4    0         4

    converged: T(R) has 4 visible states and collapses at k = 6 (proved by R_6 = R_7; proof checked)
    ");
    assert_snapshot!(added(&["reach", "models/tiny/stutter.cpds", "--full"], "--full"), @"converged: R = R_6 has 7 states; T(R) has 4 visible states and collapses at k = 6 (proved by R_6 = R_7; proof checked)");
}

#[test]
fn r_k_diverges() {
    let ran = in_repository(&["reach", "models/tiny/diverge.cpds", "--full", "--max-contexts", "4"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (5, ""));
    assert_snapshot!(ran.stdout, @"
    k  |R_k|  new  |T(R_k)|  new  |T(R)| ≤
    0      1    1         1    1         2  by Z
    1      2    1         2    1         2  T(R_k) collapses at 1
    2      3    1         2    0         2
    3      4    1         2    0         2
    4      5    1         2    0         2

    unknown: T(R) has 2 visible states and collapses at k = 1, but (R_k) has not converged up to k = 4; --max-contexts ends the search there
    ");
}

#[test]
fn a_plateau_is_not_called_a_collapse() {
    let ran = in_repository(&["reach", "models/paper/fig1.cpds", "--max-contexts", "3"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (5, ""));
    assert_snapshot!(ran.stdout, @"
    k  |R_k|  new  |T(R_k)|  new  |T(R)| ≤
    0      1    1         1    1         8  by Z
    1      3    2         3    2         8
    2      6    3         6    3         8  T(R_k) plateaus at 2
    3      8    2         6    0         8

    6 visible states reached: T(R_3)
    overapproximations of what is reachable, in visible states:
      Z to A_4  8
    2 visible states neither reached nor ruled out:
      ⟨0|1,6⟩  ⟨1|2,6⟩
    to try: more contexts (--max-contexts), a deeper overapproximation (--max-depth 6)
    unknown: (T(R_k)) has not converged up to k = 3; --max-contexts ends the search there
    ");
}

#[test]
fn no_finite_context_reachability() {
    assert_snapshot!(done(&["reach", "models/paper/fig2.cpds", "--full"]), @"
    k  |S_k|  |T(S_k)|  new  |T(R)| ≤
    0      1         1    1        37  by Z
    1      5        15   14        37
    2      5        37   22        37  T(S_k) collapses at 2
    3      5        37    0        37  S_k collapses at 3
    4      5        37    0        37

    converged: R = γ(S_3); T(R) has 37 visible states and collapses at k = 2 (proved by S_3 = S_4; proof checked)
    ");
    assert_snapshot!(done(&["reach", "models/paper/stefan2.cpds", "--states"]), @r"
    k  |S_k|  |T(S_k)|  new  |T(R)| ≤
    0      1         1    1        20  by Z
    1      6         9    8        20
    2      5        20   11        20  T(S_k) collapses at 2

    k  T(S_k) \ T(S_{k-1})
    0  ⟨q0|σ0,σ0⟩
    1  ⟨q0|ε,σ0⟩
       ⟨q0|σ0,ε⟩
       ⟨q0|σ0,σ1⟩
       ⟨q0|σ1,σ0⟩
       ⟨q1|σ0,σ1⟩
       ⟨q1|σ1,σ0⟩
       ⟨q2|σ0,σ2⟩
       ⟨q2|σ2,σ0⟩
    2  ⟨q0|ε,ε⟩
       ⟨q0|ε,σ1⟩
       ⟨q0|σ1,ε⟩
       ⟨q0|σ1,σ1⟩
       ⟨q1|ε,σ1⟩
       ⟨q1|σ1,ε⟩
       ⟨q1|σ1,σ1⟩
       ⟨q2|ε,σ2⟩
       ⟨q2|σ1,σ2⟩
       ⟨q2|σ2,ε⟩
       ⟨q2|σ2,σ1⟩

    converged: T(R) has 20 visible states and collapses at k = 2 (proved by T(S_2) = Z; proof checked)
    ");
    let stats = in_repository(&["reach", "models/paper/stefan8.cpds", "--stats"]).stderr;
    let (counters, _) = stats.split_once(" transitions").expect("bytes and the time come last");
    assert_snapshot!(counters, @"79 tuples kept, 244 expansions, 6 languages, post* computed 10 times with 120");
}

/// Both engines can be chosen. The explicit one may not terminate if contexts are infinite.
#[test]
fn engines() {
    assert_snapshot!(done(&["reach", "models/paper/fig1.cpds", "--engine", "symbolic"]), @"
    k  |S_k|  |T(S_k)|  new  |T(R)| ≤
    0      1         1    1         8  by Z
    1      2         3    2         8
    2      4         6    3         8  T(S_k) stutters at 2
    3      6         6    0         8
    4      8         7    1         8
    5     10         8    1         8  T(S_k) collapses at 5

    converged: T(R) has 8 visible states and collapses at k = 5 (proved by T(S_5) = Z; proof checked)
    ");
    let explicit = ["reach", "models/tiny/non-fcr.cpds", "--engine", "explicit", "--memory", "1M"];
    let ran = in_repository(&explicit);
    assert_eq!(ran.code, 5);
    assert_snapshot!(ran.stderr, @"note: finite context reachability does not hold, so a context may be infinite; see `cuba fcr`");
    assert_snapshot!(ran.stdout, @"
    k  |R_k|  new  |T(R_k)|  new  |T(R)| ≤
    0      1    1         1    1         –

    1 visible state reached: T(R_0)
    overapproximations of what is reachable, in visible states:
      Z to A_1  –  given up, more than a quarter of the memory
    unknown: (T(R_k)) has not converged up to k = 0; context 1 does not fit into the memory of 1.00 MiB, see --memory; finite context reachability does not hold, so it may be infinite: try --engine symbolic
    ");
    let ran = in_repository(&["reach", "models/paper/fig1.cpds", "--engine", "quantum"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_snapshot!(ran.stderr, @"
    error: invalid value 'quantum' for '--engine <ENGINE>': expected one of auto, explicit, symbolic, abstract, Z, matched-Z, Z_2, Z_3, …, A_0, A_1, …

    For more information, try '--help'.
    ");
}

#[test]
fn symbolic_as_json() {
    let text = done(&["reach", "models/paper/fig2.cpds", "--json", "--full"]);
    let object: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(object["engine"], "symbolic");
    assert_eq!(object["proved_by"], "S_k");
    assert_eq!(object["fcr"], false);
    assert_eq!(object["collapse"], json!({"reachable": 2, "symbolic": 3, "visible": 2}));
    assert_eq!(object["sequence"][2], json!({"k": 2, "reachable": null, "symbolic": 5, "visible": 37, "upper": 37}));
    assert_eq!(object["statistics"]["tuples_kept"], 12);
}

#[test]
fn as_json() {
    let text = done(&["reach", "models/paper/fig1.cpds", "--json", "--states"]);
    let mut object: Value = serde_json::from_str(&text).unwrap();
    for time in [&["time_s"][..], &["evidence", "time_s"], &["evidence", "check_time_s"]] {
        let value = time.iter().fold(&mut object, |object, name| &mut object[name]);
        assert!(value.take().is_f64(), "{time:?}");
    }
    assert!(object["peak_memory_bytes"].take().as_u64().is_none_or(|bytes| bytes > 100_000));
    assert!(object["memory_limit_bytes"].take().is_u64());
    let new_states: Vec<Value> =
        object["sequence"].as_array_mut().unwrap().iter_mut().map(|level| level["new_states"].take()).collect();
    assert_eq!(new_states[3], json!(["0|1,4 6", "1|2,4 6"]));
    let new: Vec<Value> =
        object["sequence"].as_array_mut().unwrap().iter_mut().map(|level| level["new_visible_states"].take()).collect();
    assert_eq!(new[4], json!(["0|1,6"]));
    assert_eq!(
        object["sequence"][5],
        json!({"k": 5, "reachable": 14, "visible": 8, "upper": 8, "new_states": null, "new_visible_states": null})
    );
    object["sequence"].take();
    assert_snapshot!(serde_json::to_string_pretty(&object).unwrap(), @r#"
    {
      "assumptions": [],
      "collapse": {
        "reachable": null,
        "symbolic": null,
        "visible": 5
      },
      "contexts": 5,
      "engine": "explicit",
      "evidence": {
        "check_time_s": null,
        "checked": true,
        "kind": "certificate",
        "languages": 7,
        "time_s": null,
        "tuples": 4
      },
      "fcr": true,
      "fcr_by": "Thm. 17",
      "file": "models/paper/fig1.cpds",
      "memory_limit_bytes": null,
      "pauses": {
        "reachable": [],
        "symbolic": [],
        "visible": [
          {
            "k": 2,
            "kind": "stutter"
          },
          {
            "k": 5,
            "kind": "collapse"
          }
        ]
      },
      "peak_memory_bytes": null,
      "proved_by": "Z",
      "reason": "converged: T(R) has 8 visible states and collapses at k = 5 (proved by T(R_5) = Z; proof checked)",
      "sequence": null,
      "statistics": {
        "bytes_per_state": 406,
        "expansions": 13,
        "highest_stack": 3,
        "stacks": 10,
        "states_kept": 14,
        "table_bytes": 5675,
        "visible_states_kept": 8
      },
      "threads": 2,
      "time_s": null,
      "upper": [
        {
          "abstraction": "Z",
          "generators": 2,
          "given_up": null,
          "popped": 2,
          "ruled_out": 0,
          "visible": 8
        },
        {
          "abstraction": "matched-Z",
          "given_up": null,
          "ruled_out": 0,
          "visible": 8
        }
      ],
      "verdict": "converged",
      "visible_states": [
        "0|1,-",
        "0|1,4",
        "0|1,6",
        "1|2,-",
        "1|2,4",
        "1|2,6",
        "2|2,5",
        "3|2,4"
      ],
      "warnings": []
    }
    "#);
}

/// Symmetry reduction changes only the statistics.
#[test]
fn symmetry_changes_no_answer() {
    for model in ["models/tiny/symmetric.cpds", "models/tiny/several-initial-states.cpds", "models/paper/fig1.cpds"] {
        for verb in ["reach", "verify"] {
            let args = |more: &[&'static str]| {
                let args: Vec<&str> = [verb, model].into_iter().chain(more.iter().copied()).collect();
                let ran = in_repository(&args);
                (ran.code, ran.stdout)
            };
            assert_eq!(args(&[]), args(&["--no-symmetry"]));
            if verb == "reach" {
                assert_eq!(args(&["--states"]), args(&["--states", "--no-symmetry"]));
            }
        }
    }
}

/// A hundred interchangeable threads, each in one of three places: 5151 sorted states stand for
/// 3^100 states, more than 128 bits can count.
#[test]
fn numbers_beyond_counting() {
    let folder = tempfile::tempdir().unwrap();
    let model = |n: usize| {
        format!("shared 0\ninit 0|a*{n}\nthread T * {n} {{\n symbols a b c\n (0,a) -> (0,b)\n (0,b) -> (0,c)\n}}\n")
    };
    fs::write(folder.path().join("20.cpds"), model(20)).unwrap();
    fs::write(folder.path().join("100.cpds"), model(100)).unwrap();
    let last = |file: &str| {
        let ran = cuba(folder.path(), &["reach", file, "--full"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        ran.stdout.lines().last().unwrap().to_owned()
    };
    assert_snapshot!(last("20.cpds"), @"converged: R = R_20 has 3486784401 states; T(R) has 3486784401 visible states and collapses at k = 20 (proved by R_20 = R_21; proof checked)");
    assert_snapshot!(last("100.cpds"), @"converged: R = R_100 has more than 10^38 states; T(R) has more than 10^38 visible states and collapses at k = 100 (proved by R_100 = R_101; proof checked)");
    let ran = cuba(folder.path(), &["reach", "20.cpds", "--states"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("converged: "), "{}", ran.stdout);
    assert_snapshot!(ran.stderr, @"note: there are 3486784401 states, too many to list; stop earlier with --max-contexts");
}

#[test]
fn statistics() {
    let ran = in_repository(&["reach", "models/paper/fig1.cpds", "--stats"]);
    assert_eq!(ran.code, 0);
    let (exploration, evidence) = ran.stderr.split_once('\n').unwrap();
    let (numbers, time) = exploration.rsplit_once(", ").unwrap();
    assert_snapshot!(numbers, @"14 states kept, 13 expansions, 10 stacks, 5.54 KiB of tables");
    assert!(time.ends_with(" ms"), "{time}");
    let (what, times) = evidence.split_once(", made in ").unwrap();
    assert_snapshot!(what, @"certificate with 4 tuples over 7 languages");
    let (times, memory) = times.split_once('\n').unwrap();
    assert!(times.contains(" ms, checked in ") && times.ends_with(" ms"), "{times}");
    assert!(memory.starts_with("memory: at most ") && memory.ends_with('\n'), "{memory}");
}

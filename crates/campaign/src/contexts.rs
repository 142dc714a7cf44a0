//! Compares the answers about finite context reachability with the oracle: pumping heads, the
//! answer without a search, and the answer of the squeeze.

use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, ensure};
use cpds::Problem;
use cuba::Fcr;
use cuba::{Conclusion, Options, Question, search_unchecked};

/// The limit on contexts.
const CONTEXTS: usize = 8;

/// Checks that no answer contradicts the oracle, and that every reported loop is a loop. If a
/// pumping head is reached with k contexts, R_k or R_{k+1} must be the first infinite one.
pub fn check(problem: &Problem, fcr: &Fcr, truth: &Truth, tally: &mut Tally) -> Checked {
    let (system, pumping) = (problem.system(), &fcr.pumping);
    let by = fcr.by().unwrap_or_else(|| "none".to_owned());
    tally.count("finite context reachability", format!("reason without a search: {by}"));
    ensure("pumping", truth.theorem_17.is_none_or(|holds| holds == pumping.is_empty()), || format!("{pumping:?}"))?;
    for (number, program) in system.programs().iter().enumerate() {
        let is_loop = pumping.a_loop(number).is_none_or(|found| found.run.is_none() || found.replays(program));
        ensure("fcr-loop", is_loop, || format!("{:?}", pumping.a_loop(number)))?;
    }
    let known = fcr.holds().is_none_or(|holds| truth.may_be_finite(holds));
    ensure("fcr-without-search", known, || format!("{:?}, by the oracle {:?}", fcr.programs, truth.finite))?;
    let programs: Vec<usize> = (0..system.programs().len()).collect();
    let question = pumping.question(system, &programs).expect("few heads");
    let options = Options { max_contexts: Some(CONTEXTS), jobs: 1, ..Options::default() };
    let found = search_unchecked(&question, Question::Verify, &options, |_| ());
    let detail = || format!("{:?}, by the oracle {:?}", found.conclusion, truth.finite);
    let (answer, is_right) = match &found.conclusion {
        Conclusion::Safe(_) => ("holds", truth.may_be_finite(true)),
        Conclusion::Unsafe { trace, .. } => {
            let k = trace.contexts.len();
            // The pumping starts in the context that reaches the head, or in the next one.
            let is_first = truth.finite.infinite().is_none_or(|first| first == k || first == k + 1);
            ("refuted", truth.may_be_finite(false) && is_first && truth.finite.up_to <= k)
        }
        _ => ("open", true),
    };
    ensure("fcr-squeeze", is_right, detail)?;
    let is_same = fcr.holds().is_none_or(|holds| answer == if holds { "holds" } else { "refuted" });
    ensure("fcr-squeeze", is_same, || format!("{:?} without a search; {}", fcr.programs, detail()))?;
    let compared = truth.finite.is_all || truth.finite.then_infinite;
    tally.count("finite context reachability", answer);
    tally
        .count("finite context reachability", if compared { "known to the oracle" } else { "not known to the oracle" });
    Ok(())
}

//! Finite context reachability: pumping heads, what is known at once, and what the squeeze answers,
//! against the oracle.

use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, ensure};
use cpds::Problem;
use cuba::Fcr;
use cuba::{Conclusion, Options, Question, search};

/// How many contexts are enough.
const CONTEXTS: usize = 8;

/// Nothing contradicts the oracle; every loop is one; and what a pumping head refutes is infinite
/// by the next context.
pub fn check(problem: &Problem, fcr: &Fcr, truth: &Truth, tally: &mut Tally) -> Checked {
    let (system, pumping) = (problem.system(), &fcr.pumping);
    let by = fcr.by().unwrap_or_else(|| "not at once".to_owned());
    tally.count("finite context reachability", format!("known at once: {by}"));
    ensure("pumping", truth.theorem_17.is_none_or(|holds| holds == pumping.is_empty()), || format!("{pumping:?}"))?;
    for (number, program) in system.programs().iter().enumerate() {
        let is_loop = pumping.a_loop(number).is_none_or(|found| found.run.is_none() || found.replays(program));
        ensure("fcr-loop", is_loop, || format!("{:?}", pumping.a_loop(number)))?;
    }
    let known = fcr.holds().is_none_or(|holds| truth.may_be_finite(holds));
    ensure("fcr-at-once", known, || format!("{:?}, by the oracle {:?}", fcr.programs, truth.finite))?;
    let programs: Vec<usize> = (0..system.programs().len()).collect();
    let question = pumping.question(system, &programs).expect("few heads");
    let options = Options { max_contexts: Some(CONTEXTS), jobs: 1, ..Options::default() };
    let found = search(&question, Question::Verify, &options, |_| ());
    let detail = || format!("{:?}, by the oracle {:?}", found.conclusion, truth.finite);
    let (answer, is_right) = match &found.conclusion {
        Conclusion::Safe(_) => ("holds", truth.may_be_finite(true)),
        Conclusion::Unsafe { trace, .. } => {
            let k = trace.contexts.len();
            // The context that gets to a head may go on from it, or the next one.
            let is_first = truth.finite.infinite().is_none_or(|first| first == k || first == k + 1);
            ("refuted", truth.may_be_finite(false) && is_first && truth.finite.up_to <= k)
        }
        _ => ("open", true),
    };
    ensure("fcr-squeeze", is_right, detail)?;
    let is_same = fcr.holds().is_none_or(|holds| answer == if holds { "holds" } else { "refuted" });
    ensure("fcr-squeeze", is_same, || format!("{:?} at once; {}", fcr.programs, detail()))?;
    let compared = truth.finite.is_all || truth.finite.then_infinite;
    tally.count("finite context reachability", answer);
    tally
        .count("finite context reachability", if compared { "known to the oracle" } else { "not known to the oracle" });
    Ok(())
}

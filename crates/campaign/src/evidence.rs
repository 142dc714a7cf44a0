//! Tests the checker: it must accept the evidence of each answer, and it must accept changed
//! evidence only if this is still valid.

use crate::judge::Answer;
use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, ensure};
use cpds::{Certificate, Problem, Trace};
use cpds_check::{Claim, Condition, Evidence, Rejected};
use cpds_testing::certificates::{CHANGES, changed, changed_traces, first_lost, is_invariant};
use cuba::{Analysis, Conclusion};
use cuba::{Cancel, Engine};

/// The limit on steps of the checker.
const STEPS: u64 = 1_000_000_000;

/// The limit on memory for making a certificate, in bytes.
const MEMORY: usize = 1 << 28;

/// The largest number of tuples of a certificate that is changed. The naive test of the conditions
/// is slow.
const SMALL: usize = 30;

/// The number of reachable states that are looked up in a certificate.
const LOOKED_UP: usize = 100;

/// Checks the evidence of an answer. If `change_at` is given, also checks changed evidence.
pub fn check(
    problem: &Problem,
    answer: &Answer,
    found: &Analysis<'_>,
    truth: &Truth,
    change_at: Option<u64>,
    tally: &mut Tally,
) -> Checked {
    let (proof, claim) = match &found.conclusion {
        Conclusion::Safe(proof) => (proof, Claim::Verdict),
        Conclusion::Converged(proof) => (proof, Claim::Exact),
        Conclusion::Unsafe { trace, .. } => {
            is_short(answer, found, truth, trace, tally)?;
            return check_trace(problem, answer, trace, change_at, tally);
        }
        _ => return Ok(()),
    };
    let Ok(certificate) = found.certificate(proof, MEMORY, &Cancel::default()) else {
        return ensure("certificate-made", false, || format!("{}: no certificate", answer.configuration));
    };
    let accepted = accept(problem, &Evidence::Certificate(certificate.clone()), claim);
    ensure("certificate", accepted.is_ok(), || format!("{}: {accepted:?} for {proof:?}", answer.configuration))?;
    tally.count("evidence", "certificates accepted");
    let Some(at) = change_at.filter(|_| certificate.tuples().len() <= SMALL) else { return Ok(()) };
    let lost = first_lost(&certificate, truth.levels.new.iter().flatten().take(LOOKED_UP));
    ensure("certificate-has-everything", lost.is_none(), || format!("{}: {lost:?}", answer.configuration))?;
    // A third of the changes, each at another place.
    let at = usize::try_from(at % (1 << 31)).expect("31 bits");
    for (number, what) in CHANGES.into_iter().enumerate().skip(at % 3).step_by(3) {
        if let Some(changed) = changed(&certificate, what, at / (number + 1)) {
            check_changed(problem, truth, what, &changed, tally)?;
        }
    }
    Ok(())
}

fn accept(problem: &Problem, evidence: &Evidence, claim: Claim) -> Result<(), Rejected> {
    cpds_check::check(problem, evidence, claim, &|steps| steps < STEPS)
}

/// Checks that the checker accepts a changed certificate exactly if it is still an invariant.
fn check_changed(problem: &Problem, truth: &Truth, what: &str, changed: &Certificate, tally: &mut Tally) -> Checked {
    let accepted = accept(problem, &Evidence::Certificate(changed.clone()), Claim::Verdict);
    let is_one = || is_invariant(problem, changed);
    match &accepted {
        Ok(()) => {
            let lost = first_lost(changed, truth.levels.new.iter().flatten().take(LOOKED_UP));
            let is_true = truth.bad.is_none() && lost.is_none() && is_one();
            ensure("changed-certificate", is_true, || format!("{what}: accepted, and {lost:?} is lost"))?;
            tally.count("evidence", "changed certificates accepted, and still invariants");
        }
        // The naive test needs a well-formed automaton and valid groups.
        Err(Rejected::Malformed(_) | Rejected::Violated(Condition::Groups, _)) => {
            tally.count("evidence", "changed certificates rejected");
        }
        Err(_) => {
            ensure("changed-certificate", !is_one(), || format!("{what}: {accepted:?}, but it is still an invariant"))?;
            tally.count("evidence", "changed certificates rejected");
        }
    }
    Ok(())
}

/// Checks the number of steps of a trace against the shortest trace with as many contexts.
///
/// The explicit engine finds a shortest trace. The symbolic engine finds one that is at most twice
/// as long. If a context is infinite, a trace may be longer.
fn is_short(answer: &Answer, found: &Analysis<'_>, truth: &Truth, trace: &Trace, tally: &mut Tally) -> Checked {
    let Some(fewest) = truth.steps.filter(|_| truth.bad == Some(trace.contexts.len())) else { return Ok(()) };
    let steps: usize = trace.contexts.iter().map(|context| context.steps.len()).sum();
    let most = match found.level_store.engine() {
        _ if truth.finite.up_to < trace.contexts.len() => usize::MAX,
        Engine::Explicit => fewest,
        Engine::Symbolic => 2 * fewest,
    };
    let detail = || format!("{}: {steps} steps, but a shortest trace has {fewest}: {trace:?}", answer.configuration);
    ensure("fewest-steps", (fewest..=most).contains(&steps), detail)?;
    tally.count("evidence", if steps == fewest { "traces with the fewest steps" } else { "traces with more steps" });
    Ok(())
}

fn check_trace(
    problem: &Problem,
    answer: &Answer,
    trace: &Trace,
    change_at: Option<u64>,
    tally: &mut Tally,
) -> Checked {
    let accept = |trace: &Trace| {
        accept(problem, &Evidence::Trace { trace: trace.clone(), contexts: trace.contexts.len() }, Claim::Verdict)
    };
    let accepted = accept(trace);
    ensure("trace", accepted.is_ok(), || format!("{}: {accepted:?}", answer.configuration))?;
    tally.count("evidence", "traces accepted");
    if change_at.is_none() {
        return Ok(());
    }
    for changed in changed_traces(trace) {
        let is_run = changed.replay(problem.system()).is_ok() && problem.is_bad(changed.last());
        ensure("changed-trace", accept(&changed).is_ok() == is_run, || format!("{changed:?}"))?;
        tally.count(
            "evidence",
            if is_run { "changed traces accepted, and still runs" } else { "changed traces rejected" },
        );
    }
    Ok(())
}

//! Checks a Boolean program: compares the interpreter with the lowering, prints and reads the
//! program, and checks its system.

use crate::system::{self, Oracle};
use crate::tally::Tally;
use crate::{Checked, Disagreement, ensure};
use boolprog::syntax::Program;
use boolprog::{Lowered, Options, print, read};
use cpds::Source;
use cpds_testing::interpreter::{self, Limits};
use cpds_testing::lowering::{compare, replay};
use cuba::{Conclusion, Question, search_unchecked};

/// The limits of the interpreter.
pub const LIMITS: Limits = Limits { contexts: 3, height: 3, states: 600 };

/// A system with more actions than this is not checked itself. Systems of programs have many more
/// actions than random systems.
const ACTIONS: usize = 250;

/// Returns the ways to start a program: with slots for one or two created threads, or with
/// instances of its functions.
pub fn starts(program: &Program) -> Vec<Options> {
    let threads = [1, 2].map(|threads| Options { threads: Some(threads), ..Options::default() });
    let name = |index: usize| program.functions[index].name.text.clone();
    let last = program.functions.len().saturating_sub(1);
    let pairs = [vec![(name(0), 1), (name(last), 1)], vec![(name(0), 2)]];
    let instances = pairs.map(|instances| Options { instances, threads: Some(1), ..Options::default() });
    threads.into_iter().chain(instances).collect()
}

/// Makes every comparison, for one way to start the program.
pub fn check(program: &Program, options: &Options, oracle: Oracle<'_>, turn: u64, tally: &mut Tally) -> Checked {
    let text = print(program);
    let lowered = match read(Source::new("random.bp", text.clone()), options) {
        Ok(lowered) => lowered,
        Err(error) => {
            let is_large = error.to_string().contains("more than") || error.to_string().contains("too large");
            tally.count("programs", "too large");
            return ensure("program-read", is_large, || error.to_string());
        }
    };
    ensure("program-printed", lowered.program == *program && print(&lowered.program) == text, || text.clone())?;
    let run = compare(&lowered, LIMITS).map_err(|detail| Disagreement { law: "program-lowering", detail })?;
    let compared = if run.is_some() {
        "the interpreter and the system agree, level by level"
    } else {
        "too many states for the interpreter"
    };
    tally.count("programs", compared);
    let problem = &lowered.reading.problem;
    let system = problem.system();
    verdict(&lowered, run.as_ref(), tally)?;
    if system.programs().iter().map(|program| program.rules().len()).sum::<usize>() > ACTIONS {
        tally.count("programs", "too large for every comparison of systems");
        return Ok(());
    }
    system::check(problem, oracle, turn, tally)
}

/// Returns the least k with an error state.
pub fn first_error(run: &interpreter::ProgramLevels) -> Option<usize> {
    let is_error = |state: &interpreter::State| state.projection().error.is_some();
    run.reachable.iter().position(|states| states.iter().any(is_error))
}

/// Checks that the verdict does not contradict the interpreter, and that a trace is a run of the
/// program.
fn verdict(lowered: &Lowered, run: Option<&interpreter::ProgramLevels>, tally: &mut Tally) -> Checked {
    let problem = &lowered.reading.problem;
    let found = search_unchecked(problem, Question::Verify, &crate::answers::LIMITS, |_| ());
    let bad = run.and_then(first_error);
    let is_exact = run.is_some_and(|run| run.exact);
    let detail =
        |what: &str| format!("{what}; the interpreter fails at {bad:?}, exact {is_exact}: {:?}", found.conclusion);
    match &found.conclusion {
        Conclusion::Unsafe { trace, .. } => {
            let contexts = trace.contexts.len();
            let least = bad.is_none_or(|bad| contexts <= bad)
                && (!is_exact || contexts > LIMITS.contexts || bad == Some(contexts));
            ensure("program-contexts", least, || detail("wrong number of contexts"))?;
            let replayed = replay(lowered, trace);
            ensure("program-trace", replayed.is_ok(), || detail(&format!("{replayed:?}")))?;
            tally.count("programs", "unsafe, with a trace that the interpreter can follow");
        }
        Conclusion::Safe(_) => {
            ensure("program-safe", bad.is_none(), || detail("the program is not safe"))?;
            tally.count("programs", "safe");
        }
        Conclusion::Unknown(_) => {
            let is_safe = bad.is_none_or(|bad| bad >= found.levels.len());
            ensure("program-safe-up-to", is_safe, || detail("a finished level has an error"))?;
            tally.count("programs", "unknown");
        }
        _ => ensure("program-verdict", false, || detail("unexpected conclusion"))?,
    }
    Ok(())
}

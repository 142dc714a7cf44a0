//! A Boolean program, put to every test: the interpreter against the lowering, printing and
//! reading, and then its system.

use crate::system::{self, Oracle};
use crate::tally::Tally;
use crate::{Checked, Disagreement, ensure};
use boolprog::syntax::Program;
use boolprog::{Lowered, Options, print, read};
use cpds::Source;
use cpds_testing::interpreter::{self, Limits};
use cpds_testing::lowering::{compare, replay};
use cuba::{Conclusion, Question, search};

/// How far the interpreter goes.
pub const LIMITS: Limits = Limits { contexts: 3, height: 3, states: 600 };

/// Above so many actions the system itself is left out: programs have much more of them than random
/// systems.
const ACTIONS: usize = 250;

/// The ways to start a program: with places for one or two created threads, and with instances of
/// its functions.
pub fn starts(program: &Program) -> Vec<Options> {
    let threads = [1, 2].map(|threads| Options { threads: Some(threads), ..Options::default() });
    let name = |index: usize| program.functions[index].name.text.clone();
    let last = program.functions.len().saturating_sub(1);
    let pairs = [vec![(name(0), 1), (name(last), 1)], vec![(name(0), 2)]];
    let instances = pairs.map(|instances| Options { instances, threads: Some(1), ..Options::default() });
    threads.into_iter().chain(instances).collect()
}

/// Every comparison there is, for one way to start it.
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

/// The least k with a state that is an error.
pub fn first_error(run: &interpreter::Levels) -> Option<usize> {
    let is_error = |state: &interpreter::State| state.projection().error.is_some();
    run.reachable.iter().position(|states| states.iter().any(is_error))
}

/// The verdict is that of the interpreter, as far as it goes; and a trace is a run of the program.
fn verdict(lowered: &Lowered, run: Option<&interpreter::Levels>, tally: &mut Tally) -> Checked {
    let problem = &lowered.reading.problem;
    let found = search(problem, Question::Verify, &crate::answers::LIMITS, |_| ());
    let bad = run.and_then(first_error);
    let is_exact = run.is_some_and(|run| run.exact);
    let detail =
        |what: &str| format!("{what}; the interpreter fails at {bad:?}, exact {is_exact}: {:?}", found.conclusion);
    match &found.conclusion {
        Conclusion::Unsafe { trace, .. } => {
            let contexts = trace.contexts.len();
            let least = bad.is_none_or(|bad| contexts <= bad)
                && (!is_exact || contexts > LIMITS.contexts || bad == Some(contexts));
            ensure("program-contexts", least, || detail("not so many contexts"))?;
            let replayed = replay(lowered, trace);
            ensure("program-trace", replayed.is_ok(), || detail(&format!("{replayed:?}")))?;
            tally.count("programs", "unsafe, with a trace that the interpreter can follow");
        }
        Conclusion::Safe(_) => {
            ensure("program-safe", bad.is_none(), || detail("it is not safe"))?;
            tally.count("programs", "safe");
        }
        Conclusion::Unknown(_) => {
            let is_safe = bad.is_none_or(|bad| bad >= found.levels.len());
            ensure("program-safe-up-to", is_safe, || detail("it is not safe so far"))?;
            tally.count("programs", "unknown");
        }
        _ => ensure("program-verdict", false, || detail("no such answer"))?,
    }
    Ok(())
}

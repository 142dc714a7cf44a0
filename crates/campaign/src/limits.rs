//! Checks that tight limits on contexts, memory or time do not change an answer: it is the same, or
//! there is none.

use crate::Checked;
use crate::answers::{answered, limits};
use crate::judge::Agreed;
use crate::tally::Tally;
use crate::truth::Truth;
use cpds::Problem;
use cuba::{Cancel, Control, Engine, Halt, Options, Question, search_unchecked_with};
use std::time::Duration;

/// Runs the search with few contexts, with little memory, with an interruption, and with little
/// time.
pub fn check(problem: &Problem, truth: &Truth, agreed: &Agreed, turn: u64, tally: &mut Tally) -> Checked {
    let usual = limits(truth);
    let question =
        [Question::Verify, Question::Visible, Question::Reachable][usize::try_from(turn % 3).expect("small")];
    let contexts = usize::try_from(turn % 4).expect("small");
    let memory = 1 << (8 + turn % 10);
    let engine = [None, Some(Engine::Explicit), Some(Engine::Symbolic)][usize::try_from(turn / 3 % 3).expect("small")];
    let limited = [
        ("few contexts", Question::Verify, Options { max_contexts: Some(contexts), ..usual }),
        ("little memory", question, Options { memory, engine, ..usual }),
        ("stopped", question, Options { jobs: 1 + contexts % 2, engine, ..usual }),
        ("no time", Question::Verify, Options { timeout: Some(Duration::from_micros(turn % 200)), ..usual }),
    ];
    // Each turn runs two of them.
    for (name, question, options) in limited.into_iter().skip(usize::try_from(turn / 9 % 2).expect("small")).step_by(2)
    {
        let mut events = 0;
        let cancel = Cancel::new();
        let control = Control { cancel: cancel.clone(), ..Control::default() };
        let found = search_unchecked_with(control, problem, question, &options, |_| {
            events += 1;
            if events > contexts && name == "stopped" {
                cancel.stop(Halt::Interrupted);
            }
        });
        // The answer is not recorded: later answers are not compared with it.
        answered(problem, question, name, options, &found, truth, &mut agreed.clone())?;
        tally.count("limited runs, the same answer or none", name);
    }
    Ok(())
}

//! Traces of systems as text: the actions, and the states that they lead to.

use crate::text::state_notation::labelled;
use crate::text::style::{BOLD, of_thread, paint};
use crate::text::table::in_columns;
use crate::text::terminal::{cut, fitted, length};
use cpds::{Cpds, GlobalState, ThreadId, Trace};

/// Formats a trace, context by context: the actions on the left, the states after them on the
/// right. Lines are cut to `width`.
pub(crate) fn steps(system: &Cpds, trace: &Trace, width: Option<usize>) -> String {
    let start = if trace.contexts.is_empty() { "  no step: this initial state is bad" } else { "" };
    let mut rows = vec![(start.to_owned(), Some((None, &trace.initial)))];
    let mut before = &trace.initial;
    for (number, context) in (1..).zip(&trace.contexts) {
        let colour = of_thread(context.thread);
        let heading = format!("context {number}: {}", system.thread_name(context.thread));
        rows.push((paint(colour.bold(), heading), None));
        for step in &context.steps {
            let action = paint(colour, labelled(system, context.rule(system, step)));
            rows.push((format!("  {action}"), Some((Some(before), &step.state))));
            before = &step.state;
        }
    }
    // If the lines do not fit, states have half of the width.
    let longest = |part: &dyn Fn(&Row<'_>) -> usize| rows.iter().map(part).max().unwrap_or(0);
    let left = longest(&|(left, _)| length(left));
    let right = || longest(&|(_, states)| states.map_or(0, |(_, after)| length(&system.paper(after).to_string())));
    let is_narrow = width.filter(|width| left + 2 + right() > *width);
    let left = is_narrow.map_or(left, |width| left.min(width / 2));
    let room = is_narrow.map(|width| width.saturating_sub(left + 2));
    let lines = rows.iter().map(|(action, states)| {
        let state = states.map_or(String::new(), |(before, after)| state(system, before, after, room));
        (if is_narrow.is_some() { cut(action, left) } else { action.clone() }, state)
    });
    fitted(&in_columns(lines.collect()), width) + "\n"
}

/// The text on the left, and for a step, the states before and after it.
type Row<'a> = (String, Option<(Option<&'a GlobalState>, &'a GlobalState)>);

/// Formats a state, with emphasis on the parts that a step has changed. If the state does not fit,
/// omits the other stacks.
fn state(system: &Cpds, before: Option<&GlobalState>, after: &GlobalState, room: Option<usize>) -> String {
    let text = system.paper(after).to_string();
    let Some(before) = before else { return text };
    let is_too_long = room.is_some_and(|room| length(&text) > room);
    // No name has any of these characters.
    let mut words = text.split(['⟨', '|', ',', '⟩']).skip(1);
    let shared = words.next().unwrap_or_default();
    let is_changed = before.shared != after.shared;
    let shared = if is_changed { paint(BOLD, shared) } else { shared.to_owned() };
    let mut stacks: Vec<String> = Vec::new();
    for ((i, word), (old, new)) in (0..).zip(words).zip(before.stacks.iter().zip(&after.stacks)) {
        if old != new {
            stacks.push(paint(of_thread(ThreadId(i)).bold(), word));
        } else if !is_too_long {
            stacks.push(word.to_owned());
        } else if stacks.last().is_none_or(|last| last != "…") {
            stacks.push("…".to_owned());
        }
    }
    format!("⟨{shared}|{}⟩", stacks.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstream::adapter::strip_str;
    use cpds::Problem;

    fn shown(text: &str, states: [&str; 2], room: Option<usize>) -> String {
        let problem: Problem = text.parse().unwrap();
        let system = problem.system();
        let [before, after] = states.map(|state| system.read_state(cpds::Source::new("test", state)).unwrap());
        state(system, Some(&before), &after, room)
    }

    const SEVEN: &str = "shared 0 1\ninit 0|a*7\nthread T * 7 { symbols a b }";

    #[test]
    fn what_has_changed_is_emphasised() {
        let shown = shown(SEVEN, ["0|a,a,a,a,a,a,a", "1|a,b a,a,a,a,a,a"], None);
        assert_eq!(strip_str(&shown).to_string(), "⟨1|a,b a,a,a,a,a,a⟩");
        assert_eq!(shown, "⟨\x1b[1m1\x1b[0m|a,\x1b[1m\x1b[35mb a\x1b[0m,a,a,a,a,a⟩");
    }

    #[test]
    fn other_stacks_are_omitted_if_the_state_does_not_fit() {
        let plain = |after, room| strip_str(&shown(SEVEN, ["0|a,a,a,a,a,a,a", after], Some(room))).to_string();
        assert_eq!(plain("0|a,a,b a,a,a,a,a", 19), "⟨0|a,a,b a,a,a,a,a⟩");
        assert_eq!(plain("0|a,a,b a,a,a,a,a", 18), "⟨0|…,b a,…⟩");
        assert_eq!(plain("0|b a,a,a,a,a,a,a", 18), "⟨0|b a,…⟩");
        assert_eq!(plain("1|a,a,a,a,a,a,a", 3), "⟨1|…⟩");
    }
}

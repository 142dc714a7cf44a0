//! The overapproximations of an analysis in words, and why there is no answer.

use crate::analysis::summary::{Summary, abridged};
use crate::text::state_notation::StateNotation;
use crate::text::table::Table;
use crate::text::terminal::fitted;
use boolprog::SourceMap;
use cpds::diagnostic::plural;
use cuba::{Between, Engine, Ladder, Level, Outcome, Reason, Rung, RungResult};
use std::fmt::Write as _;

/// A longer table shows only this many rows at its beginning and at its end.
const ROWS: usize = 20;

/// Describes the outcome of an overapproximation.
pub(crate) fn outcome_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Bound(bound) => plural(bound.visible, "visible state"),
        Outcome::TooManyTuples(limit) => format!("given up, more than {limit} tuples or states"),
        Outcome::TooManyInitial(limit) => {
            format!("given up, the initial states alone are more than {limit} tuples or states")
        }
        Outcome::TooLarge => "given up, more than a quarter of the memory".to_owned(),
    }
}

impl Summary<'_> {
    /// Explains why there is no answer.
    pub(crate) fn why(&self) -> String {
        if let Some(ended) = &self.ended {
            return ended.to_string();
        }
        let next = self.levels.len();
        match self.reason.expect("there is no answer") {
            Reason::ContextBound => "--max-contexts ends the search there".to_owned(),
            Reason::Memory => {
                let limit = self.limits.memory.hint();
                let hint = match (self.engine, self.fcr) {
                    (Some(Engine::Explicit), Some(false)) => {
                        "; finite context reachability does not hold, so it may be infinite: try --engine symbolic"
                    }
                    (Some(Engine::Explicit), None) => {
                        "; finite context reachability may not hold, and then it may be infinite: try --engine symbolic"
                    }
                    _ => "",
                };
                format!("context {next} does not fit into the memory of {limit}{hint}")
            }
            Reason::LongTrace { contexts } => {
                let contexts = plural(contexts, "context");
                format!("with {contexts} a bad state is reachable, but the trace to it is too long to be written out")
            }
            Reason::Interrupted => "it was interrupted".to_owned(),
            Reason::TimeOut => "--timeout ends the search there".to_owned(),
            Reason::Lost => self.limits.loss().to_owned(),
        }
    }

    /// Formats the results of the ladder, and the visible states that are neither reached nor ruled
    /// out, cut to `width`. The map translates states to words of the program.
    pub(crate) fn squeezed(&self, width: Option<usize>, map: Option<&SourceMap>) -> String {
        const SHOWN: usize = 5;
        let reached = |level: &Level| {
            format!("{} reached: T({}_{})\n", plural(level.visible, "visible state"), self.level_letter(), level.k)
        };
        let mut out = self.last().map_or(String::new(), reached);
        if self.rungs.is_empty() {
            return out + "no overapproximation was finished\n";
        }
        let mut table = Table::new();
        // Rungs with the same result that rule out nothing more share a row. So do rungs that were
        // given up for the same reason.
        let is_idle = |result: &RungResult| !result.rules_out();
        let visible = |result: &RungResult| match result.outcome {
            Outcome::Bound(bound) => bound.visible.to_string(),
            _ => "–".to_owned(),
        };
        let is_bound = |result: &RungResult| matches!(result.outcome, Outcome::Bound(_));
        let is_the_same = |a: &RungResult, b: &RungResult| {
            is_idle(b) && if is_bound(b) { visible(a) == visible(b) } else { a.outcome == b.outcome }
        };
        let rows: Vec<&[RungResult]> = self.rungs.chunk_by(is_the_same).collect();
        for together in abridged(&rows, ROWS, |row| row[0].rules_out()) {
            let Some(together) = together else {
                table.add_row(["…", "", ""]);
                continue;
            };
            let (first, last) = (&together[0], &together[together.len() - 1]);
            let what = match &first.outcome {
                Outcome::Bound(_) if is_idle(first) => String::new(),
                Outcome::Bound(bound) => format!("rules out {} more", bound.ruled_out),
                given_up => outcome_words(given_up),
            };
            let name = match together.len() {
                1 => first.rung.to_string(),
                2 => format!("{}, {}", first.rung, last.rung),
                _ => format!("{} to {}", first.rung, last.rung),
            };
            table.add_row([name, visible(first), what]);
        }
        table.align_right([1]);
        out += "overapproximations of what is reachable, in visible states:\n";
        out += &table.lines("  ");
        let Some((system, Between { count, states, bad })) = self.between else { return out };
        let is_verify = self.reason.is_some() && !bad.is_empty();
        let shown = if is_verify { bad } else { states };
        let _ = write!(out, "{} neither reached nor ruled out", plural(*count, "visible state"));
        if is_verify {
            let is_complete = count.exact() == Some(states.len() as u128);
            let _ = if is_complete {
                write!(out, ", {} of them bad", bad.len())
            } else {
                write!(out, ", some of them bad")
            };
        }
        let words = StateNotation { system, map };
        let mut examples: Vec<String> = shown.iter().take(SHOWN).map(|state| words.visible(state)).collect();
        if shown.len() > SHOWN {
            examples.push("…".to_owned());
        }
        let examples = format!("  {}", examples.join("  "));
        let _ = writeln!(out, ":\n{}", fitted(&examples, width));
        let is_exact = |result: &&RungResult| matches!(result.outcome, Outcome::Bound(bound) if bound.is_exact);
        if let Some(RungResult { rung, .. }) = self.rungs.iter().find(is_exact) {
            let _ = writeln!(out, "in {rung} nothing was widened, so all of these are reachable, with more contexts");
        }
        out += &self.what_to_try();
        out
    }

    /// Lists the options that may help.
    fn what_to_try(&self) -> String {
        let mut hints = Vec::new();
        let options = &self.options;
        match self.reason {
            Some(Reason::ContextBound) => hints.push("more contexts (--max-contexts)".to_owned()),
            Some(Reason::Memory) => hints.push("more memory (--memory)".to_owned()),
            Some(Reason::TimeOut | Reason::Interrupted) => hints.push("more time".to_owned()),
            _ => {}
        }
        let is_blown =
            |result: &RungResult| matches!(result.outcome, Outcome::TooManyTuples(_) | Outcome::TooManyInitial(_));
        if self.rungs.iter().any(is_blown) {
            hints.push("more tuples (--max-tuples)".to_owned());
        }
        // The deepest A_d, unless the initial states alone were too many for it.
        let deepest = self.rungs.iter().filter_map(|result| match result.rung {
            Rung::Abstract(depth) => Some((depth, matches!(result.outcome, Outcome::TooManyInitial(_)))),
            _ => None,
        });
        match (deepest.max(), options.ladder) {
            (_, Ladder::Only(_)) => hints.push("all overapproximations (--engine auto)".to_owned()),
            (Some((depth, false)), _) if options.max_contexts.or(options.max_depth).is_some() => {
                hints.push(format!("a deeper overapproximation (--max-depth {})", depth + 2));
            }
            _ => {}
        }
        if hints.is_empty() { String::new() } else { format!("to try: {}\n", hints.join(", ")) }
    }
}

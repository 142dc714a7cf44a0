//! What there is to tell of an analysis: the levels that are finished, the overapproximations, and why there is no more. It is the
//! same whether the analysis came to its end or was ended ([`Known`](crate::known::Known)).

use crate::cluster;
use crate::engine::analysis::{Level, Options, Reason};
use crate::engine::{Between, Climbed, Engine, Ladder, ObservationSequence, Outcome, Rung};
use crate::explore::words;
use crate::limits::{self, Ended};
use crate::show::{indented, plain_table, plural};
use crate::terminal::fitted;
use crate::words::Words;
use boolprog::SourceMap;
use comfy_table::CellAlignment;
use cpds::Cpds;
use std::fmt::Write as _;

pub(crate) struct Outline<'a> {
    /// The levels that are finished.
    pub(crate) levels: &'a [Level],
    /// The rungs that are done with.
    pub(crate) rungs: &'a [Climbed],
    /// What the levels are made of, once that is known.
    pub(crate) engine: Option<Engine>,
    /// Whether finite context reachability holds, if that is known.
    pub(crate) fcr: Option<bool>,
    /// What is known of (R_k), or of (S_k).
    pub(crate) lower_sequence: ObservationSequence,
    /// What is known of (T(R_k)).
    pub(crate) visible_sequence: ObservationSequence,
    /// What is neither reached nor ruled out, if that is known.
    pub(crate) between: Option<(&'a Cpds, &'a Between)>,
    /// Why there is no answer, if there is none.
    pub(crate) reason: Option<Reason>,
    /// If something else than the search was ended: what, and why.
    pub(crate) ended: Option<Ended>,
    pub(crate) options: Options,
}

impl Outline<'_> {
    /// What the levels are called: R_k, or S_k.
    pub(crate) fn name(&self) -> char {
        if self.engine == Some(Engine::Symbolic) { 'S' } else { 'R' }
    }

    /// The last level that is finished.
    pub(crate) fn last(&self) -> Option<&Level> {
        self.levels.last()
    }

    /// Why there is no answer.
    pub(crate) fn why(&self) -> String {
        if let Some(ended) = self.ended {
            return ended.to_string();
        }
        let next = self.levels.len();
        match self.reason.expect("there is no answer") {
            Reason::ContextBound => "--max-contexts ends the search there".to_owned(),
            Reason::Memory => {
                let limit = limits::memory().hint();
                let hint = if self.engine == Some(Engine::Explicit) && self.fcr == Some(false) {
                    "; finite context reachability does not hold, so it may be infinite: try --engine symbolic"
                } else {
                    ""
                };
                format!("context {next} does not fit into the memory of {limit}{hint}")
            }
            Reason::LongTrace { contexts } => {
                let contexts = plural(contexts, "context");
                format!("with {contexts} a bad state is reachable, but the way there is too long to be written out")
            }
            Reason::Interrupted => "it was interrupted".to_owned(),
            Reason::TimeOut => "--timeout ends the search there".to_owned(),
            Reason::Lost => cluster::loss().to_owned(),
            Reason::Unchecked => {
                let limit = limits::memory().hint();
                format!(
                    "there is a proof, but its certificate does not fit into the memory of {limit}, or believe it with --no-check"
                )
            }
        }
    }

    /// What the ladder came to, and what keeps T(R_k) from being all of T(R), for all we know; states in so many columns, if that matters, and
    /// in words of the program, if it is one.
    pub(crate) fn squeezed(&self, width: Option<usize>, map: Option<&SourceMap>) -> String {
        const SHOWN: usize = 5;
        let reached = |level: &Level| {
            format!("{} reached: T({}_{})\n", plural(level.visible, "visible state"), self.name(), level.k)
        };
        let mut out = self.last().map_or(String::new(), reached);
        if self.rungs.is_empty() {
            return out + "no overapproximation was finished\n";
        }
        let mut table = plain_table();
        // Rungs that come to the same and rule out nothing more are told together.
        let is_idle = |climbed: &Climbed| match climbed.outcome {
            Outcome::Bound(bound) => bound.ruled_out.exact() == Some(0),
            _ => false,
        };
        let visible = |climbed: &Climbed| match climbed.outcome {
            Outcome::Bound(bound) => bound.visible.to_string(),
            _ => "–".to_owned(),
        };
        for together in self.rungs.chunk_by(|a, b| is_idle(b) && visible(a) == visible(b)) {
            let (first, last) = (&together[0], &together[together.len() - 1]);
            let what = match &first.outcome {
                Outcome::Bound(_) if is_idle(first) => String::new(),
                Outcome::Bound(bound) => format!("rules out {} more", bound.ruled_out),
                given_up => words(given_up),
            };
            let name = match together.len() {
                1 => first.rung.to_string(),
                2 => format!("{}, {}", first.rung, last.rung),
                _ => format!("{} to {}", first.rung, last.rung),
            };
            table.add_row([name, visible(first), what]);
        }
        if let Some(column) = table.column_mut(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        out += "overapproximations of what is reachable, in visible states:\n";
        out += &indented(&table, "  ");
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
        let words = Words { system, map };
        let mut examples: Vec<String> = shown.iter().take(SHOWN).map(|state| words.visible(state)).collect();
        if shown.len() > SHOWN {
            examples.push("…".to_owned());
        }
        let examples = format!("  {}", examples.join("  "));
        let _ = writeln!(out, ":\n{}", fitted(&examples, width));
        let is_exact = |climbed: &&Climbed| matches!(climbed.outcome, Outcome::Bound(bound) if bound.is_exact);
        if let Some(Climbed { rung, .. }) = self.rungs.iter().find(is_exact) {
            let _ = writeln!(out, "in {rung} nothing was widened, so all of these are reachable, with more contexts");
        }
        out += &self.what_to_try();
        out
    }

    /// What may help.
    fn what_to_try(&self) -> String {
        let mut hints = Vec::new();
        let options = &self.options;
        match self.reason {
            Some(Reason::ContextBound) => hints.push("more contexts (--max-contexts)".to_owned()),
            Some(Reason::Memory) => hints.push("more memory (--memory)".to_owned()),
            Some(Reason::TimeOut | Reason::Interrupted) => hints.push("more time".to_owned()),
            _ => {}
        }
        let blown = |climbed: &Climbed| matches!(climbed.outcome, Outcome::TooManyTuples(_));
        if self.rungs.iter().any(blown) {
            hints.push("more tuples (--max-tuples)".to_owned());
        }
        let deepest = self.rungs.iter().filter_map(|climbed| match climbed.rung {
            Rung::Abstract(depth) => Some(depth),
            _ => None,
        });
        match (deepest.max(), options.ladder) {
            (_, Ladder::Only(_)) => hints.push("all overapproximations (--engine auto)".to_owned()),
            (Some(depth), _) if options.max_contexts.or(options.max_depth).is_some() => {
                hints.push(format!("a deeper overapproximation (--max-depth {})", depth + 2));
            }
            _ => {}
        }
        if hints.is_empty() { String::new() } else { format!("to try: {}\n", hints.join(", ")) }
    }
}

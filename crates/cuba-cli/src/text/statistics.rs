//! The statistics of a search and of its evidence, in words.

use crate::analysis::exploration::Exploration;
use crate::text::numbers;
use cpds::diagnostic::plural;
use cpds_check::Evidence;
use cuba::{Statistics, TimedEvidence};
use std::time::Duration;

impl Exploration<'_> {
    pub(crate) fn statistics(&self) -> String {
        let statistics = &self.analysis.statistics;
        let counters = match *statistics {
            Statistics::Explicit { states_kept, expansions, stacks, .. } => {
                [plural(states_kept, "state") + " kept", plural(expansions, "expansion"), plural(stacks, "stack")]
                    .join(", ")
            }
            Statistics::Symbolic { tuples_kept, expansions, languages, posts, transitions, .. } => [
                plural(tuples_kept, "tuple") + " kept",
                plural(expansions, "expansion"),
                plural(languages, "language"),
                format!("post* computed {} with {}", times(posts), plural(transitions, "transition")),
            ]
            .join(", "),
        };
        let (tables, time) = (numbers::bytes(statistics.table_bytes()), self.time.as_secs_f64() * 1000.0);
        format!("{counters}, {tables} of tables, {time:.1} ms\n")
    }

    /// Formats the traffic between processes, if the states are distributed.
    pub(crate) fn sent(&self) -> String {
        let Some((parts, supersteps, sent)) = self.analysis.level_store.sent() else { return String::new() };
        let what = [plural(sent.states, "state"), plural(sent.stacks, "stack")].join(" and ");
        let (supersteps, blocks) = (plural(supersteps, "superstep"), plural(sent.blocks, "block"));
        let bytes = numbers::bytes(usize::try_from(sent.bytes).unwrap_or(usize::MAX));
        format!("{parts} shares, {supersteps}: {what} sent, {bytes} in {blocks}\n")
    }
}

/// Formats the size and the time of the evidence.
pub(crate) fn of_evidence(made: &TimedEvidence) -> String {
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
    let check = made.check.map_or("not checked".to_owned(), |time| format!("checked in {}", ms(time)));
    format!("{}, made in {}, {check}\n", evidence(made), ms(made.time))
}

/// Formats the kind and the size of the evidence.
pub(crate) fn evidence(made: &TimedEvidence) -> String {
    match &made.evidence {
        Evidence::Trace { .. } | Evidence::UnparsedTrace { .. } => "trace".to_owned(),
        Evidence::Certificate(certificate) => {
            let tuples = plural(certificate.tuples().len(), "tuple");
            format!("certificate with {tuples} over {}", plural(certificate.automaton.len(), "language"))
        }
    }
}

/// Formats a number of times: `once`, `2 times`.
fn times(n: usize) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

//! An independent checker of evidence about concurrent pushdown systems.
//!
//! Evidence is either a **trace**, a way from an initial state to a bad one, or a **certificate**,
//! a set of states, as tuples of stack languages, that has the initial ones, that no step leads out
//! of, and that has no bad one. `docs/evidence.md` says how both are written down.
//!
//! This crate knows what a system is from `cpds`, and nothing about how evidence is found. What an
//! action does is written down here again, from §2.1 of the paper (`step.rs`), and so is all that
//! is to be known about automata (`languages.rs`). The conditions on certificates are in
//! `invariant.rs` (`invariant/exact.rs` for the list of visible states), those on traces in
//! `replay.rs`; `json.rs` reads both, from a text that is bounded (`text.rs`). Of a trace that was
//! read, the states stay texts (`written.rs`).

mod invariant;
mod json;
mod languages;
mod replay;
mod step;
mod text;
mod written;

pub use json::read;
pub use written::Written;

use cpds::{Certificate, Problem, Trace};
use languages::Effort;
use std::fmt::{self, Display, Formatter};

/// What is to be checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// That a bad state is reachable.
    Trace {
        /// The way there.
        trace: Trace,
        /// How many contexts it is said to have.
        contexts: usize,
    },
    /// The same, as it was read.
    WrittenTrace {
        /// The way there.
        trace: Written,
        /// How many contexts it is said to have.
        contexts: usize,
    },
    /// That no bad state is reachable.
    Certificate(Certificate),
}

/// What there is to check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// A bad state is reachable, or none is.
    Verdict,
    /// The reachable visible states are among those that the certificate lists, which are those
    /// that its tuples have.
    Exact,
}

/// Why evidence is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rejected {
    /// It is not evidence at all.
    Malformed(String),
    /// It is about something else: another model, or the same one with another question.
    Other(String),
    /// It does not show what it should.
    Violated(Condition, String),
    /// It takes more time, or more memory, to find out than there is.
    Stopped,
}

/// What evidence has to meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Threads of one group have the same actions.
    Groups,
    /// Every initial state is in the certificate; or, the trace begins with one.
    Initial,
    /// The certificate is closed under every action; or, every step of the trace is one of the
    /// system.
    Step,
    /// No bad state is in the certificate; or, the trace ends in one.
    Bad,
    /// The visible states are those that are listed.
    Exact,
    /// The trace has as many contexts as it says, and they are contexts.
    Contexts,
}

impl Display for Rejected {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Rejected::Malformed(what) => write!(f, "malformed: {what}"),
            Rejected::Other(what) => write!(f, "other options or another model: {what}"),
            Rejected::Violated(condition, what) => {
                let condition = match condition {
                    Condition::Groups => "groups",
                    Condition::Initial => "condition (i), initial states",
                    Condition::Step => "condition (ii), steps",
                    Condition::Bad => "condition (iii), bad states",
                    Condition::Exact => "visible states",
                    Condition::Contexts => "contexts",
                };
                write!(f, "rejected: {condition}: {what}")
            }
            Rejected::Stopped => f.write_str("rejected: it takes too much to check"),
        }
    }
}

impl std::error::Error for Rejected {}

/// Checks evidence. Now and then `go_on` is asked, with the number of steps so far, whether to go
/// on.
///
/// # Errors
/// If it does not show what it should, with the first condition that is violated.
pub fn check(
    problem: &Problem,
    evidence: &Evidence,
    claim: Claim,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<(), Rejected> {
    match evidence {
        Evidence::Certificate(certificate) => {
            invariant::check(problem, certificate, claim == Claim::Exact, Effort { steps: 0, next: 0, go_on })
        }
        Evidence::Trace { trace, contexts } if claim == Claim::Verdict => replay::check(problem, trace, *contexts),
        Evidence::WrittenTrace { trace, contexts } if claim == Claim::Verdict => {
            replay::check(problem, trace, *contexts)
        }
        Evidence::Trace { .. } | Evidence::WrittenTrace { .. } => {
            Err(Rejected::Violated(Condition::Exact, "a trace says nothing of all visible states".to_owned()))
        }
    }
}

//! An independent checker of evidence about concurrent pushdown systems.
//!
//! Evidence is either a **trace**, the steps from an initial state to a bad one, or a
//! **certificate**, an inductive invariant without bad states, written as tuples of stack
//! languages. `docs/evidence.md` describes the file formats.
//!
//! This crate depends on `cpds` for what a system is, and on no code that finds evidence. It has
//! its own step relation, written from §2.1 of the paper, and its own automata. The front file of
//! `conditions/` states the certificate's conditions, and `replay.rs` checks traces. Evidence in
//! files is untrusted: `json.rs` reads it within the limits of `limited_text.rs`.

mod conditions;
mod json;
mod languages;
mod limited_text;
mod replay;
mod step;
mod unparsed_trace;

pub use json::read;
pub use unparsed_trace::UnparsedTrace;

use cpds::{Certificate, Problem, Trace};
use languages::WorkMeter;
use std::fmt::{self, Display, Formatter};

/// Evidence, which the checker accepts or rejects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// Evidence that a bad state is reachable.
    Trace {
        /// The steps to the bad state.
        trace: Trace,
        /// The number of contexts that the evidence claims.
        contexts: usize,
    },
    /// A trace from a file. Its states are parsed during the check.
    UnparsedTrace {
        /// The steps to the bad state.
        trace: UnparsedTrace,
        /// The number of contexts that the evidence claims.
        contexts: usize,
    },
    /// Evidence that no bad state is reachable.
    Certificate(Certificate),
}

/// The statement that the evidence has to show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// For a trace: a bad state is reachable. For a certificate: no bad state is reachable.
    Verdict,
    /// Only for a certificate: it lists exactly the visible states of its tuples. So no other
    /// visible state is reachable.
    Exact,
}

/// The reason why evidence is rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rejected {
    /// It does not have the form of evidence.
    Malformed(String),
    /// It belongs to another model, or to the same model with another question.
    OtherProblem(String),
    /// It violates a condition.
    Violated(Condition, String),
    /// The check exceeds its limit of steps or memory.
    Stopped,
}

/// The kinds of conditions on evidence, for messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Threads of one group have the same actions.
    Groups,
    /// Condition (i) of a certificate. For a trace: its first state is initial.
    Initial,
    /// Condition (ii) of a certificate. For a trace: each step is a step of the system.
    Step,
    /// Condition (iii) of a certificate. For a trace: its last state is bad.
    Bad,
    /// The list of visible states is exact.
    Exact,
    /// The contexts of a trace are well-formed, and there are as many as claimed.
    Contexts,
}

impl Display for Rejected {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Rejected::Malformed(what) => write!(f, "malformed: {what}"),
            Rejected::OtherProblem(what) => write!(f, "other options or another model: {what}"),
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
            Rejected::Stopped => f.write_str("rejected: the check exceeds its limit of steps or memory"),
        }
    }
}

impl std::error::Error for Rejected {}

/// Checks evidence.
///
/// The check regularly calls `go_on` with the number of steps so far. If `go_on` returns false, the
/// check ends.
///
/// # Errors
/// The first violated condition, if the evidence does not show the claim.
pub fn check(
    problem: &Problem,
    evidence: &Evidence,
    claim: Claim,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<(), Rejected> {
    match evidence {
        Evidence::Certificate(certificate) => {
            conditions::check(problem, certificate, claim == Claim::Exact, WorkMeter::new(go_on))
        }
        Evidence::Trace { trace, contexts } if claim == Claim::Verdict => replay::check(problem, trace, *contexts),
        Evidence::UnparsedTrace { trace, contexts } if claim == Claim::Verdict => {
            replay::check(problem, trace, *contexts)
        }
        Evidence::Trace { .. } | Evidence::UnparsedTrace { .. } => Err(Rejected::Violated(
            Condition::Exact,
            "a trace does not show which visible states are reachable".to_owned(),
        )),
    }
}

//! A campaign of random tests: compares the answers of all engines on random systems and programs
//! with the oracle and with each other.
//!
//! - [`case`] generates a case from a seed and a number, checks it, and shrinks it if it violates a
//!   law.
//! - [`shapes`] has the kinds of random systems and programs; [`mutated`] changes models of the
//!   collection.
//! - [`truth`] has the results of the oracle for a system.
//! - [`system`] checks a system: [`levels`], [`contexts`], [`rungs`], [`answers`] with [`judge`],
//!   [`evidence`], [`limits`], [`formats`].
//! - [`program`] checks a Boolean program and its system.
//! - [`suite`] writes models with known answers, for `cuba bench`.
//! - [`tally`] counts the checks; [`regression`] stores findings as files.
//!
//! A run with the same seed gives the same results, except for times.

pub mod answers;
pub mod case;
pub mod contexts;
pub mod evidence;
pub mod formats;
pub mod judge;
pub mod levels;
pub mod limits;
pub mod mutated;
pub mod program;
pub mod regression;
pub mod rungs;
pub mod shapes;
pub mod suite;
pub mod system;
pub mod tally;
pub mod truth;

/// Two results that contradict each other: a violated law.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    /// The name of the law, which is also a part of the name of the regression file.
    pub law: &'static str,
    /// The results that violate the law.
    pub detail: String,
}

/// The result of a check: `Ok`, or a disagreement.
pub type Checked = Result<(), Disagreement>;

/// Returns a disagreement unless the law holds.
pub(crate) fn ensure(law: &'static str, holds: bool, detail: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Disagreement { law, detail: detail() }) }
}

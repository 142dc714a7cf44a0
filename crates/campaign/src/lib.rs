//! A campaign against ourselves: random systems and programs through every engine, against the
//! oracle and against each other.
//!
//! - [`case`] names a case by a seed and a number, draws it, checks it, and shrinks it if it fails.
//! - [`shapes`] says what systems and programs look like; [`mutated`] changes models of the
//!   collection.
//! - [`truth`] is what the oracle knows of a system.
//! - [`system`] puts a system to every test: [`levels`], [`rungs`], [`answers`] with [`judge`],
//!   [`evidence`], [`limits`], [`formats`].
//! - [`program`] puts a Boolean program to the test, and then its system.
//! - [`suite`] writes models with known answers, for `cuba bench`.
//! - [`tally`] counts what was tried; [`regression`] keeps what was found.
//!
//! Everything is the same in each run with the same seed, apart from times.

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

/// Two sides say what cannot both be true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement {
    /// What should hold, in a few words; a name for the file that keeps it.
    pub law: &'static str,
    /// What was found instead.
    pub detail: String,
}

/// Nothing, or a disagreement.
pub type Checked = Result<(), Disagreement>;

/// That something holds.
pub(crate) fn ensure(law: &'static str, holds: bool, detail: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Disagreement { law, detail: detail() }) }
}

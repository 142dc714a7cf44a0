//! The answer of `cuba fcr`.

use cpds::{Problem, Trace};
use cuba::{ContextFiniteness, Fcr, PumpingLoop};

/// The answer for a system, as far as it was found.
pub(crate) struct FcrAnswer {
    pub(crate) fcr: Fcr,
    /// For each of [`Cpds::programs`], a loop, if it has any: from a head that is reachable, if one
    /// is known.
    pub(crate) loops: Vec<Option<PumpingLoop>>,
    /// The way to the pumping head of a loop: a trace that fits the one bad pattern of the problem.
    pub(crate) reached: Option<(Problem, Trace)>,
}

impl FcrAnswer {
    /// The programs of which nothing is known.
    pub(crate) fn open(&self) -> Vec<usize> {
        let programs = self.fcr.programs.iter().enumerate();
        programs.filter(|(_, contexts)| **contexts == ContextFiniteness::Open).map(|(program, _)| program).collect()
    }
}

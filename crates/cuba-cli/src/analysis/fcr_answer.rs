//! The answer of `cuba fcr`.

use cpds::{Problem, Trace};
use cuba::{ContextFiniteness, Fcr, PumpingLoop};

/// The answer for a system, perhaps incomplete.
pub(crate) struct FcrAnswer {
    pub(crate) fcr: Fcr,
    /// A loop for each program of the system that has one. The loop starts at a reachable head, if
    /// one is known.
    pub(crate) loops: Vec<Option<PumpingLoop>>,
    /// The trace to the pumping head of a loop, which is the only bad pattern of the problem.
    pub(crate) reached: Option<(Problem, Trace)>,
}

impl FcrAnswer {
    /// Returns the undecided programs: it is not known whether their contexts are finite.
    pub(crate) fn open_programs(&self) -> Vec<usize> {
        let programs = self.fcr.programs.iter().enumerate();
        programs.filter(|(_, contexts)| **contexts == ContextFiniteness::Open).map(|(program, _)| program).collect()
    }
}

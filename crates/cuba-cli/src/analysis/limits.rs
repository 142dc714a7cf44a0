//! How much memory a run may have, and what else the words for the end of a run need.

/// The process alone has some memory. A smaller limit holds for its tables only.
pub(crate) const LEAST: usize = 64 << 20;

/// The limit where the system does not say how much memory there is.
const USUAL: usize = 4 << 30;

/// How much memory the process may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryLimit {
    pub(crate) bytes: usize,
    /// If it is no limit of the user: what it is a part of.
    pub(crate) of: Option<&'static str>,
}

impl Default for MemoryLimit {
    fn default() -> Self {
        MemoryLimit { bytes: USUAL, of: None }
    }
}

impl MemoryLimit {
    /// The limit of the user, or an equal part of the machine's memory for each of so many
    /// processes.
    pub(crate) fn new(wanted: Option<usize>, machine: Option<usize>, processes: usize) -> Self {
        match (wanted, machine) {
            (Some(bytes), _) => MemoryLimit { bytes, of: None },
            (None, Some(all)) if processes > 1 => {
                let of = "for each process, and three quarters of what this machine has for all";
                MemoryLimit { bytes: (all - all / 4) / processes, of: Some(of) }
            }
            (None, Some(all)) => {
                MemoryLimit { bytes: all - all / 4, of: Some("three quarters of what this machine has") }
            }
            (None, None) => MemoryLimit { bytes: USUAL, of: Some("as this machine does not say what it has") },
        }
    }

    /// How much of it the tables of an analysis may have. The rest is for the model, the evidence,
    /// and the system.
    pub(crate) fn for_tables(self) -> usize {
        const SMALL: usize = LEAST / 2;
        if self.bytes <= SMALL { self.bytes } else { SMALL.max(self.bytes / 4 * 3) }
    }
}

/// The limits of a run when a result was made: what the words for that result need.
#[derive(Clone, Default, Debug)]
pub(crate) struct RunLimits {
    pub(crate) memory: MemoryLimit,
    /// The process that was lost, if there was one.
    pub(crate) loss: Option<String>,
}

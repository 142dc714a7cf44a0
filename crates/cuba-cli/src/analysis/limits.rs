//! The memory limit of a run, and the limits that a verdict names.

/// The process itself needs some memory. A smaller limit holds for its tables only.
pub(crate) const LEAST: usize = 64 << 20;

/// The limit if the operating system does not say how much memory there is.
const USUAL: usize = 4 << 30;

/// The memory limit of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryLimit {
    pub(crate) bytes: usize,
    /// Where the limit comes from, if the user gave none.
    pub(crate) of: Option<&'static str>,
}

impl Default for MemoryLimit {
    fn default() -> Self {
        MemoryLimit { bytes: USUAL, of: None }
    }
}

impl MemoryLimit {
    /// Uses the limit of the user. Without one, computes an equal share of the machine's memory for
    /// each of `processes`.
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

    /// Returns the part of the limit for the tables of an analysis. The rest is for the model, the
    /// evidence, and the operating system.
    pub(crate) fn for_tables(self) -> usize {
        const SMALL: usize = LEAST / 2;
        if self.bytes <= SMALL { self.bytes } else { SMALL.max(self.bytes / 4 * 3) }
    }
}

/// The limits of a run at the time of a result. Its verdict may name them.
#[derive(Clone, Default, Debug)]
pub(crate) struct RunLimits {
    pub(crate) memory: MemoryLimit,
    /// The process that was lost, if any.
    pub(crate) loss: Option<String>,
}

//! The memory limit of a run, and the limits that a verdict names.

/// The smallest limit for the whole process. A smaller limit holds for the tables only, because the
/// process itself needs some memory.
pub(crate) const LEAST_FOR_PROCESS: usize = 64 << 20;

/// The limit if the operating system does not say how much memory there is.
const DEFAULT_BYTES: usize = 4 << 30;

/// The memory limit of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemoryLimit {
    pub(crate) bytes: usize,
    /// The origin of the limit in words, if the user gave none.
    pub(crate) origin: Option<&'static str>,
}

impl Default for MemoryLimit {
    fn default() -> Self {
        MemoryLimit { bytes: DEFAULT_BYTES, origin: None }
    }
}

impl MemoryLimit {
    /// Uses the limit of the user. Without one, computes an equal share of the machine's memory for
    /// each of `processes`.
    pub(crate) fn new(wanted: Option<usize>, machine: Option<usize>, processes: usize) -> Self {
        match (wanted, machine) {
            (Some(bytes), _) => MemoryLimit { bytes, origin: None },
            (None, Some(all)) if processes > 1 => {
                let origin = "for each process: an equal part of three quarters of the memory of this machine";
                MemoryLimit { bytes: (all - all / 4) / processes, origin: Some(origin) }
            }
            (None, Some(all)) => {
                MemoryLimit { bytes: all - all / 4, origin: Some("three quarters of the memory of this machine") }
            }
            (None, None) => {
                MemoryLimit { bytes: DEFAULT_BYTES, origin: Some("because this machine does not report its memory") }
            }
        }
    }

    /// Returns the part of the limit for the tables of an analysis. The rest is for the model, the
    /// evidence, and the operating system.
    pub(crate) fn for_tables(self) -> usize {
        const SMALL: usize = LEAST_FOR_PROCESS / 2;
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

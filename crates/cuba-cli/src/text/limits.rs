//! Memory limits, phases and ends of runs in words.

use crate::analysis::limits::{MemoryLimit, RunLimits};
use crate::analysis::phase::{Phase, RunEnd};
use crate::text::numbers;
use cuba::Halt;
use std::fmt::{self, Display, Formatter};

impl MemoryLimit {
    /// Formats the limit, and the option that raises it.
    pub(crate) fn hint(self) -> String {
        format!("{self}{} see --memory", if self.origin.is_some() { ";" } else { "," })
    }
}

impl Display for MemoryLimit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", numbers::bytes(self.bytes))?;
        self.origin.map_or(Ok(()), |origin| write!(f, ", {origin}"))
    }
}

impl RunLimits {
    /// Names the process that was lost.
    pub(crate) fn loss(&self) -> &str {
        self.loss.as_deref().unwrap_or("another process is gone")
    }
}

impl Phase {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Phase::Starting => "starting",
            Phase::Reading => "reading the model",
            Phase::Lowering => "translating the program into a system",
            Phase::Restoring => "reading the checkpoint",
            Phase::Joining => "working together with other processes",
            Phase::Searching => "searching",
            Phase::MakingEvidence => "making the evidence",
            Phase::CheckingEvidence => "checking the evidence",
            Phase::Writing => "writing the results",
        }
    }
}

impl Display for RunEnd {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let phase = self.phase.words();
        match self.why {
            Halt::Interrupted | Halt::Superseded => write!(f, "it was interrupted while {phase}"),
            Halt::TimeOut => write!(f, "--timeout ends it while {phase}"),
            Halt::Memory => write!(f, "{phase} does not fit into the memory of {}", self.limits.memory.hint()),
            Halt::Lost => f.write_str(self.limits.loss()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_much_memory() {
        assert_eq!(MemoryLimit::new(Some(500 << 20), Some(1 << 40), 2).hint(), "500.00 MiB, see --memory");
        assert_eq!(MemoryLimit::new(None, Some(24 << 30), 4).bytes, 9 << 29);
        let part = MemoryLimit::new(None, Some(24 << 30), 1);
        assert_eq!(part.hint(), "18.00 GiB, three quarters of the memory of this machine; see --memory");
        assert_eq!(MemoryLimit::new(None, None, 1).bytes, 4 << 30);
        assert_eq!(MemoryLimit::new(Some(0), None, 1).for_tables(), 0);
        let tables = |bytes| MemoryLimit::new(Some(bytes), None, 1).for_tables();
        assert_eq!([1 << 20, 32 << 20, 64 << 20].map(tables), [1 << 20, 32 << 20, 48 << 20]);
        let sizes: Vec<usize> = (0..200).map(|mib| tables(mib << 20)).collect();
        assert!(sizes.is_sorted(), "more memory is never less");
    }
}

//! The paper's own benchmark systems (Table 2), with their expected figures.
//!
//! The systems are in the paper's artifact, which not every machine has. The figures are those of
//! Table 2, with two corrections that independent implementations agree on:
//!
//! - By the definition of Table 1, T(R_k) of the Bluetooth drivers collapses at the k after the one
//!   in Table 2.
//! - Table 2 calls Bluetooth-3 1+1 safe. It reaches its own error state with 7 contexts.

use cpds::{Problem, Reader, Source};
use std::fs;
use std::path::Path;

/// A system of Table 2, with its expected figures.
pub struct BenchmarkSystem {
    /// The file, without the extension.
    pub file: &'static str,
    /// |T(R)|.
    pub visible: usize,
    /// The k at which T(R_k) collapses.
    pub collapse: usize,
    /// The least number of contexts that reach the artifact's own bad state. `None` if it is not
    /// reachable, or if the artifact has no bad state.
    pub bug: Option<usize>,
    /// Whether finite context reachability holds.
    pub fcr: bool,
    /// Whether the oracle is fast enough for this system.
    pub small: bool,
}

const fn system(file: &'static str, visible: usize, collapse: usize) -> BenchmarkSystem {
    BenchmarkSystem { file, visible, collapse, bug: None, fcr: true, small: false }
}

impl BenchmarkSystem {
    const fn bug(self, contexts: usize) -> BenchmarkSystem {
        BenchmarkSystem { bug: Some(contexts), ..self }
    }

    const fn small(self) -> BenchmarkSystem {
        BenchmarkSystem { small: true, ..self }
    }

    const fn without_fcr(self) -> BenchmarkSystem {
        BenchmarkSystem { fcr: false, ..self }
    }

    /// Reads the system with its property from the artifact's folder.
    ///
    /// # Panics
    /// If the file is missing or not readable.
    pub fn read(&self, folder: &Path) -> Problem {
        let file = self.file;
        let text = |extension: &str| fs::read_to_string(folder.join(file).with_extension(extension)).ok();
        let mut reader = Reader::pds(Source::new(file, text("pds").expect("the system")));
        reader.init_file(Source::new(file, text("init").expect("its initial state")));
        if let Some(spec) = text("spec") {
            reader.spec_file(Source::new(file, spec));
        }
        reader.finish().unwrap_or_else(|e| panic!("{e}")).problem
    }
}

/// The systems of Table 2, and the paper's Fig. 1 in the artifact's format.
pub const SYSTEMS: [BenchmarkSystem; 20] = [
    system("1_Bluetooth-1/Bluetooth1-11", 751, 7).bug(4).small(),
    system("1_Bluetooth-1/Bluetooth1-12", 4184, 7).bug(3),
    system("1_Bluetooth-1/Bluetooth1-21", 11338, 8).bug(4),
    system("2_Bluetooth-2/Bluetooth2-11", 755, 7).bug(4).small(),
    system("2_Bluetooth-2/Bluetooth2-12", 4184, 7).bug(3),
    system("2_Bluetooth-2/Bluetooth2-21", 11338, 8).bug(4),
    system("3_Bluetooth-3/Bluetooth3-11", 755, 7).bug(7).small(),
    system("3_Bluetooth-3/Bluetooth3-12", 4200, 7),
    system("3_Bluetooth-3/Bluetooth3-21", 11328, 8),
    system("4_BST-Insert/bst-11", 272, 2).small(),
    system("4_BST-Insert/bst-21", 6634, 3),
    system("4_BST-Insert/bst-22", 14256, 4),
    system("5_FileCrawler/filecrawer", 246, 6).small(),
    system("6_K-Indcution/k-induction", 40, 3).without_fcr(),
    system("7_Proc-2/proc-2", 135, 3).without_fcr(),
    system("8_Stefan-1/stefan-2", 20, 2).without_fcr(),
    system("8_Stefan-1/stefan-4", 254, 4).without_fcr(),
    system("8_Stefan-1/stefan-8", 30362, 8).without_fcr(),
    system("9_Dekker/dekker", 1507, 6).small(),
    system("toys/stutter-11", 8, 5).bug(4).small(),
];

/// Joins the names of these systems, for the list of skipped tests.
pub fn names<'a>(systems: impl IntoIterator<Item = &'a BenchmarkSystem>) -> String {
    systems.into_iter().map(|system| system.file).collect::<Vec<_>>().join(", ")
}

//! The paper's own benchmark systems (Table 2), where they are at hand, and what is known of them:
//! the paper's figures, with the corrections that independent implementations agree on.
//!
//! - By the definition of Table 1, T(R_k) collapses one later than Table 2 has it for the Bluetooth
//!   drivers.
//! - Table 2 calls Bluetooth-3 1+1 safe; it reaches its own error state with 7 contexts.

use cpds::{Problem, Reader, Source};
use std::fs;
use std::path::Path;

/// A program of Table 2.
pub struct Known {
    /// Its file, without the extension.
    pub file: &'static str,
    /// |T(R)|.
    pub visible: usize,
    /// Where T(R_k) collapses.
    pub collapse: usize,
    /// With how many contexts the artifact's own bad state is reached; nothing if it is not, or if
    /// there is none.
    pub bug: Option<usize>,
    /// Whether finite context reachability holds.
    pub fcr: bool,
    /// Whether the oracle can do it in a moment.
    pub small: bool,
}

const fn known(file: &'static str, visible: usize, collapse: usize) -> Known {
    Known { file, visible, collapse, bug: None, fcr: true, small: false }
}

impl Known {
    const fn bug(self, contexts: usize) -> Known {
        Known { bug: Some(contexts), ..self }
    }

    const fn small(self) -> Known {
        Known { small: true, ..self }
    }

    const fn without_fcr(self) -> Known {
        Known { fcr: false, ..self }
    }

    /// The system with its property, from the artifact's folder.
    ///
    /// # Panics
    /// If it is not there, or not readable.
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

/// Table 2, and the paper's Fig. 1 as the artifact has it.
pub const KNOWN: [Known; 20] = [
    known("1_Bluetooth-1/Bluetooth1-11", 751, 7).bug(4).small(),
    known("1_Bluetooth-1/Bluetooth1-12", 4184, 7).bug(3),
    known("1_Bluetooth-1/Bluetooth1-21", 11338, 8).bug(4),
    known("2_Bluetooth-2/Bluetooth2-11", 755, 7).bug(4).small(),
    known("2_Bluetooth-2/Bluetooth2-12", 4184, 7).bug(3),
    known("2_Bluetooth-2/Bluetooth2-21", 11338, 8).bug(4),
    known("3_Bluetooth-3/Bluetooth3-11", 755, 7).bug(7).small(),
    known("3_Bluetooth-3/Bluetooth3-12", 4200, 7),
    known("3_Bluetooth-3/Bluetooth3-21", 11328, 8),
    known("4_BST-Insert/bst-11", 272, 2).small(),
    known("4_BST-Insert/bst-21", 6634, 3),
    known("4_BST-Insert/bst-22", 14256, 4),
    known("5_FileCrawler/filecrawer", 246, 6).small(),
    known("6_K-Indcution/k-induction", 40, 3).without_fcr(),
    known("7_Proc-2/proc-2", 135, 3).without_fcr(),
    known("8_Stefan-1/stefan-2", 20, 2).without_fcr(),
    known("8_Stefan-1/stefan-4", 254, 4).without_fcr(),
    known("8_Stefan-1/stefan-8", 30362, 8).without_fcr(),
    known("9_Dekker/dekker", 1507, 6).small(),
    known("toys/stutter-11", 8, 5).bug(4).small(),
];

/// The names of these programs, for saying what was skipped.
pub fn names<'a>(known: impl IntoIterator<Item = &'a Known>) -> String {
    known.into_iter().map(|known| known.file).collect::<Vec<_>>().join(", ")
}

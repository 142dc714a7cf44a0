//! The oracle on the paper's own benchmark systems, where they are at hand: what Table 2 says of them, with the
//! corrections that two independent implementations agree on.

use cpds::{Problem, Reader, Source};
use cpds_testing::corpus::artifact;
use cpds_testing::oracle::levels;
use std::fs;
use std::path::Path;

struct Known {
    file: &'static str,
    /// |T(R)|.
    visible: usize,
    /// Where T(R_k) collapses.
    collapse: usize,
    /// With how many contexts the artifact's own bad state is reached.
    bug: Option<usize>,
}

/// Those that the oracle can do in a moment.
const KNOWN: [Known; 7] = [
    Known { file: "1_Bluetooth-1/Bluetooth1-11", visible: 751, collapse: 7, bug: Some(4) },
    Known { file: "2_Bluetooth-2/Bluetooth2-11", visible: 755, collapse: 7, bug: Some(4) },
    // Table 2 calls it safe.
    Known { file: "3_Bluetooth-3/Bluetooth3-11", visible: 755, collapse: 7, bug: Some(7) },
    Known { file: "4_BST-Insert/bst-11", visible: 272, collapse: 2, bug: None },
    Known { file: "5_FileCrawler/filecrawer", visible: 246, collapse: 6, bug: None },
    Known { file: "9_Dekker/dekker", visible: 1507, collapse: 6, bug: None },
    Known { file: "toys/stutter-11", visible: 8, collapse: 5, bug: Some(4) },
];

fn read(folder: &Path, file: &str) -> Problem {
    let text = |extension: &str| fs::read_to_string(folder.join(file).with_extension(extension)).ok();
    let mut reader = Reader::pds(Source::new(file, text("pds").expect("the system")));
    reader.init_file(Source::new(file, text("init").expect("its initial state")));
    if let Some(spec) = text("spec") {
        reader.spec_file(Source::new(file, spec));
    }
    reader.finish().unwrap_or_else(|e| panic!("{e}")).problem
}

#[test]
fn the_oracle_agrees_with_what_is_known_of_the_artifact() {
    let Some(folder) = artifact(&KNOWN.map(|known| known.file).join(", ")) else { return };
    for Known { file, visible, collapse, bug } in KNOWN {
        let problem = read(&folder, file);
        let found = levels(problem.system(), collapse + 1, 100);
        assert!(found.exact, "{file}");
        let counts = found.visible_counts();
        assert_eq!(counts[collapse..], [visible, visible], "{file}: |T(R)|");
        assert!(counts[collapse - 1] < visible, "{file}: T(R_k) grows until {collapse}");
        assert_eq!(found.first_violation(&problem), bug, "{file}");
    }
}

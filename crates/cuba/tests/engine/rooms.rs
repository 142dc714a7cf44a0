//! Imports between the top folders of the library have no cycle.
//!
//! Some folders and their subfolders still import each other. Without these cycles, this test can
//! use `cpds_testing::rooms::cycles`.

use cpds_testing::rooms::cycles_between_top_folders as cycles;
use std::path::Path;

#[test]
fn imports_between_rooms_have_no_cycle() {
    let cycles = cycles(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(cycles.is_empty(), "{}", cycles.join("\n"));
}

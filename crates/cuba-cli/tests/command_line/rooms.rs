//! Imports between the rooms of the crate have no cycle.

use cpds_testing::rooms::cycles;
use std::path::Path;

#[test]
fn imports_between_rooms_have_no_cycle() {
    let cycles = cycles(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(cycles.is_empty(), "{}", cycles.join("\n"));
}

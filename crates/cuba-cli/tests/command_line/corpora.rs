//! Runs the fuzz targets on their stored corpora, without a fuzzer.

#[path = "../../../../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "the file belongs to another crate")]
mod fuzz;

use std::fs;
use std::path::Path;

#[test]
fn every_stored_input_passes_its_target() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (target, run) in fuzz::TARGETS {
        let folder = corpora.join(target);
        let files: Vec<_> = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{target}: {error}")).collect();
        assert!(!files.is_empty(), "{target}");
        for file in files {
            let path = file.unwrap().path();
            // The test runner prints this if the test fails.
            println!("{}", path.display());
            run(&fs::read(&path).unwrap());
        }
    }
}

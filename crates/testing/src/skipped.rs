//! The list of skipped tests. A test that cannot run, or not completely, prints one line. `.ci/run`
//! prints all these lines at its end.

use std::collections::BTreeMap;
use std::env;
use std::io::Write as _;
use std::thread;

/// Prints that the current test is skipped: `skipped: BINARY::TEST: REASON`.
pub fn skip(reason: &str) {
    let executable = env::current_exe().unwrap_or_default();
    let name = executable.file_stem().unwrap_or_default().to_string_lossy();
    // Cargo appends a hash to the name of a test binary.
    let binary = name.rsplit_once('-').map_or(&*name, |(binary, _)| binary);
    // The test runner gives the thread of a test the name of the test.
    let thread = thread::current();
    let line = format!("\nskipped: {binary}::{}: {reason}\n", thread.name().unwrap_or("a test"));
    // A line of its own, also behind the name of the test. Not `eprintln!`, whose output the test
    // runner captures.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Whether the build can inject faults. If it cannot, the current test is listed as skipped.
pub fn has_faults() -> bool {
    if !cfg!(debug_assertions) {
        skip("a release build cannot inject faults");
    }
    cfg!(debug_assertions)
}

/// The parts of a test that are skipped, by reason. They are printed when this value is dropped.
#[derive(Default)]
pub struct Skipped(BTreeMap<String, Vec<String>>);

impl Skipped {
    /// Adds a part.
    pub fn add(&mut self, part: &str, reason: &str) {
        self.0.entry(reason.to_owned()).or_default().push(part.to_owned());
    }
}

impl Drop for Skipped {
    fn drop(&mut self) {
        for (reason, parts) in &self.0 {
            skip(&format!("{reason}: {}", parts.join(", ")));
        }
    }
}

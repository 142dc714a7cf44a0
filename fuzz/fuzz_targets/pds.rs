//! Fuzzes the parsers of `.pds`, `.init` and `.spec`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cuba_fuzz::pds(bytes));

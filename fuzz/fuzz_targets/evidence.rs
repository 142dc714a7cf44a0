//! Fuzzes the reader of evidence, and the checker.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cuba_fuzz::evidence(bytes));

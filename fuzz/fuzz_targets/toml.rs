//! Fuzzes the reader of expected answers.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cuba_fuzz::toml(bytes));

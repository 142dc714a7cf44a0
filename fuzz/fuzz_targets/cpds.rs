//! Fuzzes the parser of `.cpds`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cuba_fuzz::cpds(bytes));

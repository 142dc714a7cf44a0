//! Fuzzes the parser of Boolean programs.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cuba_fuzz::bp(bytes));

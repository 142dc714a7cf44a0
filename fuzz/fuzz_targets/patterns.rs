//! Fuzzes the parsers of the values of options.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cuba_fuzz::patterns(bytes));

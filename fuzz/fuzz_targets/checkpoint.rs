//! Fuzzes the reader of checkpoints.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cuba_fuzz::checkpoint(bytes));

//! A trace that was one once.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cuba_fuzz::trace(bytes));

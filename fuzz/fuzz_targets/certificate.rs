//! Fuzzes the checker with changed certificates.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cuba_fuzz::certificate(bytes));

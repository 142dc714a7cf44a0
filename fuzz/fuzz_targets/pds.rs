//! A `.pds` text with its neighbours.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cuba_fuzz::pds(bytes));

//! What options of the command line say.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cuba_fuzz::patterns(bytes));

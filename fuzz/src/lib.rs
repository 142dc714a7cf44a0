//! What the fuzz targets do with their bytes. The tests of `cuba` take the kept corpora through the
//! same functions, without a fuzzer.
//!
//! A panic is a finding, and so is too much time or memory, which the fuzzer watches over.

mod certificate;
mod changes;
mod checkpoint;
mod evidence;
mod texts;
mod trace;

pub use certificate::certificate;
pub use checkpoint::checkpoint;
pub use evidence::evidence;
pub use texts::{bp, cpds, patterns, pds, toml};
pub use trace::trace;

/// What is done with bytes.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: [(&str, Target); 9] = [
    ("cpds", cpds),
    ("pds", pds),
    ("bp", bp),
    ("toml", toml),
    ("patterns", patterns),
    ("evidence", evidence),
    ("certificate", certificate),
    ("trace", trace),
    ("checkpoint", checkpoint),
];

//! The bodies of the fuzz targets: functions that test the parsers and the checker with any bytes.
//! The tests of `cuba-cli` run them on the stored corpora, without a fuzzer.
//!
//! A panic is a finding. The fuzzer also reports inputs that need too much time or memory.

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

/// The body of a fuzz target.
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

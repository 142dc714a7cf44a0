//! Tables as bytes, for checkpoints: a documented binary form (postcard).

use serde::{Deserialize, Serialize};
use std::io::{self, BufWriter, Read, Write};

/// Why what was kept cannot be read, or not be written.
pub type StorageError = io::Error;

pub(crate) fn write(content: &impl Serialize, out: &mut dyn Write) -> Result<(), StorageError> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    // Of a write that fails, postcard does not say why; the next one does.
    let written = postcard::to_io(content, &mut out).map(drop);
    out.flush()?;
    written.map_err(io::Error::other)
}

pub(crate) fn read<T: for<'de> Deserialize<'de>>(input: &mut dyn Read) -> Result<T, StorageError> {
    postcard::from_io((input, &mut [])).map(|(content, _)| content).map_err(io::Error::other)
}

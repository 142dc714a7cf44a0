//! Writes and reads tables in a documented binary format (postcard), for checkpoints.

use serde::{Deserialize, Serialize};
use std::io::{self, BufWriter, Read, Write};

/// Why saved data cannot be read or written.
pub type StorageError = io::Error;

/// Writes a value.
pub(crate) fn write(content: &impl Serialize, out: &mut dyn Write) -> Result<(), StorageError> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    // Postcard does not report the reason of a failed write. `flush` fails for the same reason.
    let written = postcard::to_io(content, &mut out).map(drop);
    out.flush()?;
    written.map_err(io::Error::other)
}

/// Reads a value that [`write`] has written.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(input: &mut dyn Read) -> Result<T, StorageError> {
    postcard::from_io((input, &mut [])).map(|(content, _)| content).map_err(io::Error::other)
}

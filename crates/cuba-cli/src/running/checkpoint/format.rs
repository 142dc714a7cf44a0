//! The file format of a checkpoint: a line with the version, a header with a checksum, the parts,
//! compressed in blocks, and a checksum of everything.

use crate::running::checkpoint::header::Header;
use crc32fast::Hasher;
use cuba::StorageError;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write};
use std::ops::Range;

/// The beginning of the file. The number changes with every change of the format.
const MAGIC: &[u8] = b"cuba checkpoint 7\n";

/// The beginning of all versions.
const ANY_VERSION: &[u8] = b"cuba checkpoint ";

/// The size of a block before compression.
const BLOCK: usize = 1 << 20;

/// The limit for the length of a header.
const LONGEST_HEADER: usize = 1 << 24;

/// Writes a file, part by part. Returns the positions of the parts.
pub(super) fn write(
    out: &mut dyn Write,
    header: &Header,
    mut put: impl FnMut(usize, Part<'_, '_>) -> io::Result<()>,
) -> io::Result<[Range<u64>; 2]> {
    let header = serde_json::to_vec(header).map_err(io::Error::other)?;
    let mut out = ChecksumWriter { out, sum: Hasher::new(), written: 0 };
    out.write_all(MAGIC)?;
    out.write_all(&u32::try_from(header.len()).map_err(io::Error::other)?.to_le_bytes())?;
    out.write_all(&header)?;
    out.write_sum()?;
    let mut parts = [0..0, 0..0];
    for (number, range) in parts.iter_mut().enumerate() {
        let start = out.written;
        put(number, Part(&mut out))?;
        *range = start..out.written;
    }
    out.write_sum()?;
    Ok(parts)
}

/// Writes the next part of the file.
pub(super) struct Part<'p, 'w>(&'p mut ChecksumWriter<'w>);

impl Part<'_, '_> {
    pub(super) fn nothing(self) -> io::Result<()> {
        self.0.write_all(&0_u32.to_le_bytes())
    }

    pub(super) fn copy(self, old: &mut dyn Read) -> io::Result<()> {
        io::copy(old, self.0).map(drop)
    }

    pub(super) fn compress(self, content: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) -> io::Result<()> {
        let mut blocks = BlockWriter { out: self.0, block: Vec::with_capacity(BLOCK) };
        content(&mut blocks)?;
        blocks.finish()
    }
}

/// Reads the positions of the parts of a file. Checks the checksums.
pub(super) fn read_parts(mut file: &File) -> Result<[Range<u64>; 2], String> {
    file.rewind().map_err(|error| cannot_be_read(&error))?;
    let mut input = ChecksumReader::new(file);
    input.header()?;
    let mut parts = [0..0, 0..0];
    let mut block = Vec::new();
    for part in &mut parts {
        let start = input.read;
        loop {
            let length = input.length()?;
            if length == 0 {
                break;
            }
            block.resize(length.min(2 * BLOCK), 0);
            input.fill(&mut block)?;
        }
        // A part that has only its end is empty.
        *part = if input.read - start > 4 { start..input.read } else { 0..0 };
    }
    input.check()?;
    if file.metadata().map_err(|error| cannot_be_read(&error))?.len() != input.read {
        return Err(DAMAGED.to_owned());
    }
    Ok(parts)
}

pub(super) fn cannot_be_read(error: &io::Error) -> String {
    format!("cannot be read: {error}")
}

pub(super) const DAMAGED: &str = "is damaged: its checksum is wrong";

/// Writes bytes, and computes their checksum and their length.
pub(super) struct ChecksumWriter<'w> {
    out: &'w mut dyn Write,
    sum: Hasher,
    written: u64,
}

impl ChecksumWriter<'_> {
    fn write_sum(&mut self) -> io::Result<()> {
        let sum = self.sum.clone().finalize();
        self.write_all(&sum.to_le_bytes())
    }
}

impl Write for ChecksumWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write_all(bytes)?;
        self.sum.update(bytes);
        self.written += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads bytes, and computes their checksum and their length.
pub(super) struct ChecksumReader<'f> {
    input: BufReader<&'f File>,
    sum: Hasher,
    read: u64,
}

impl<'f> ChecksumReader<'f> {
    pub(super) fn new(file: &'f File) -> Self {
        ChecksumReader { input: BufReader::with_capacity(1 << 16, file), sum: Hasher::new(), read: 0 }
    }

    pub(super) fn header(&mut self) -> Result<Header, String> {
        let mut magic = [0; MAGIC.len()];
        self.fill(&mut magic)?;
        if magic != MAGIC {
            return Err(if magic.starts_with(ANY_VERSION) {
                "is a checkpoint of another version of cuba; continue it with that version".to_owned()
            } else {
                "is not a checkpoint".to_owned()
            });
        }
        let mut header = vec![0; self.length()?.min(LONGEST_HEADER)];
        self.fill(&mut header)?;
        self.check()?;
        let header: Header = serde_json::from_slice(&header).map_err(|_| DAMAGED)?;
        if header.cuba != env!("CARGO_PKG_VERSION") {
            return Err(format!("is a checkpoint of cuba {}; continue it with that version", header.cuba));
        }
        Ok(header)
    }

    /// Checks that the next bytes are the checksum of everything before.
    fn check(&mut self) -> Result<(), String> {
        let sum = self.sum.clone().finalize();
        if self.length()? == sum as usize { Ok(()) } else { Err(DAMAGED.to_owned()) }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof if self.read == 0 => "is not a checkpoint".to_owned(),
            io::ErrorKind::UnexpectedEof => DAMAGED.to_owned(),
            _ => cannot_be_read(&error),
        })?;
        self.sum.update(bytes);
        self.read += bytes.len() as u64;
        Ok(())
    }

    fn length(&mut self) -> Result<usize, String> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes) as usize)
    }
}

/// Compresses bytes block by block. Each block follows its length. A length of 0 ends the part.
struct BlockWriter<'b, 'w> {
    out: &'b mut ChecksumWriter<'w>,
    block: Vec<u8>,
}

impl BlockWriter<'_, '_> {
    fn write_block(&mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            let compressed = lz4_flex::compress_prepend_size(&self.block);
            self.out.write_all(&u32::try_from(compressed.len()).map_err(io::Error::other)?.to_le_bytes())?;
            self.out.write_all(&compressed)?;
            self.block.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.write_block()?;
        self.out.write_all(&0_u32.to_le_bytes())
    }
}

impl Write for BlockWriter<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&bytes[..taken]);
        if self.block.len() == BLOCK {
            self.write_block()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the blocks of a part and decompresses them.
pub(super) struct BlockReader<'f> {
    input: BufReader<&'f File>,
    block: Vec<u8>,
    at: usize,
}

impl<'f> BlockReader<'f> {
    /// Reads a part of a file.
    pub(super) fn of(mut file: &'f File, part: &Range<u64>) -> io::Result<Self> {
        file.seek(SeekFrom::Start(part.start))?;
        Ok(BlockReader { input: BufReader::new(file), block: Vec::new(), at: 0 })
    }
}

impl Read for BlockReader<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            let mut length = [0; 4];
            self.input.read_exact(&mut length)?;
            let mut compressed = vec![0; (u32::from_le_bytes(length) as usize).min(2 * BLOCK)];
            self.input.read_exact(&mut compressed)?;
            let is_small = |&size: &[u8; 4]| u32::from_le_bytes(size) as usize <= BLOCK;
            self.block = match compressed.first_chunk().filter(|size| is_small(size)) {
                Some(_) => lz4_flex::decompress_size_prepended(&compressed).map_err(io::Error::other)?,
                None => Vec::new(),
            };
            self.at = 0;
        }
        let taken = bytes.len().min(self.block.len() - self.at);
        bytes[..taken].copy_from_slice(&self.block[self.at..][..taken]);
        self.at += taken;
        Ok(taken)
    }
}

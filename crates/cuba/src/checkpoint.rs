//! `--checkpoint`: what a long run has by now, in a file from which `cuba resume` goes on.
//!
//! The file has a line that says what it is, a header that says of which run it is, what each end of the search has kept
//! (`engine/keep.rs`), compressed in blocks, and a checksum of all that. It is written anew each time, beside the old one, which it then
//! replaces: whenever the process is killed, one of the two is there, and whole. An end that keeps something copies what the other one
//! has kept before.

use crate::cli::{Stopped, heading};
use crate::engine::End;
use crate::engine::analysis::{Conclusion, Reason};
use crate::engine::keep::{Keeper, NotKept, Start};
use crate::explore::duration;
use crate::fault;
use crate::load::shown;
use crate::output;
use clap::Args;
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How a run keeps what it has.
#[derive(Args, Debug)]
pub(crate) struct CheckpointArgs {
    /// Keep in this file what there is, to go on with `cuba resume`
    ///
    /// It is removed when there is an answer. There must be no such file yet.
    #[arg(long, value_name = "FILE", help_heading = heading::LIMITS)]
    checkpoint: Option<PathBuf>,
    /// How often that is written
    ///
    /// Also what may be lost if the process is killed.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, requires = "checkpoint", help_heading = heading::LIMITS)]
    checkpoint_every: Duration,
    /// What `cuba resume` goes on from.
    #[arg(skip)]
    resumed: Option<Resumed>,
}

impl CheckpointArgs {
    /// Where it is written, if this is a new file.
    pub(crate) fn output(&self) -> Option<&PathBuf> {
        self.checkpoint.as_ref().filter(|_| self.resumed.is_none())
    }

    /// Goes on from here.
    pub(crate) fn go_on(&mut self, resumed: Resumed) {
        self.resumed = Some(resumed);
    }

    /// What both ends start with, and where they keep what they have, if that is wanted.
    pub(crate) fn begin(&self, problem: &cpds::Problem) -> Result<(Start, Option<Checkpoint>), String> {
        let every = self.checkpoint_every;
        match (&self.resumed, &self.checkpoint) {
            (Some(resumed), _) => resumed.start(problem, every).map(|(start, checkpoint)| (start, Some(checkpoint))),
            (None, Some(path)) => Ok((Start::default(), Some(Checkpoint::new(path, every, Header::new(problem)?)?))),
            (None, None) => Ok((Start::default(), None)),
        }
    }
}

/// What the file begins with; the number changes with anything that is kept.
const MAGIC: &[u8] = b"cuba checkpoint 1\n";

/// What all versions begin with.
const ANY_VERSION: &[u8] = b"cuba checkpoint ";

/// How many bytes are compressed together.
const BLOCK: usize = 1 << 20;

/// No header is longer.
const LONGEST_HEADER: usize = 1 << 24;

/// Of which run it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The version of cuba. What is kept by one version is not read by another.
    cuba: String,
    /// The command line.
    pub(crate) arguments: Vec<String>,
    /// The folder in which it was given.
    pub(crate) folder: PathBuf,
    /// The name of the problem in evidence for it.
    problem: String,
    /// How much time the run has taken so far.
    pub(crate) time: Duration,
}

impl Header {
    /// Of this run.
    fn new(problem: &cpds::Problem) -> Result<Self, String> {
        let arguments = std::env::args_os().map(std::ffi::OsString::into_string).collect::<Result<_, _>>();
        Ok(Header {
            cuba: env!("CARGO_PKG_VERSION").to_owned(),
            arguments: arguments.map_err(|argument| format!("--checkpoint: {} is not UTF-8", argument.display()))?,
            folder: std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?,
            problem: problem.fingerprint(),
            time: Duration::ZERO,
        })
    }
}

/// Where a run keeps what it has.
pub(crate) struct Checkpoint {
    path: PathBuf,
    every: Duration,
    header: Header,
    start: Instant,
    state: Mutex<State>,
}

struct State {
    /// When each end has kept something, or the run began.
    last: [Instant; 2],
    /// What each end has kept, as a part of the file.
    parts: [Range<u64>; 2],
    /// Why something could not be kept.
    error: Option<String>,
}

/// The ends, in the order in which they are in the file.
const ENDS: [End; 2] = [End::Upper, End::Lower];

impl Checkpoint {
    /// A new file for a run that begins.
    fn new(path: &Path, every: Duration, header: Header) -> Result<Self, String> {
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
            return Err(format!("`{}`: a checkpoint is compressed anyway; give it another name", shown(path)));
        }
        if path.symlink_metadata().is_ok() {
            let path = shown(path);
            return Err(format!("`{path}` is there already; go on from it with `cuba resume {path}`, or remove it"));
        }
        let checkpoint = Self::of(path, every, header, [0..0, 0..0]);
        checkpoint.write(None, &|_| Ok(()))?;
        Ok(checkpoint)
    }

    fn of(path: &Path, every: Duration, header: Header, parts: [Range<u64>; 2]) -> Self {
        let now = Instant::now();
        let state = Mutex::new(State { last: [now; 2], parts, error: None });
        Checkpoint { path: path.to_owned(), every, header, start: now, state }
    }

    /// How much time earlier runs have taken.
    pub(crate) fn time_before(&self) -> Duration {
        self.header.time
    }

    /// The run is over. If there is something left to do, says how; otherwise nobody has to go on from here.
    pub(crate) fn over(&self, conclusion: &Conclusion) -> Option<String> {
        use Reason::{Interrupted, Memory, TimeOut, Unchecked};
        if let Conclusion::Unknown(TimeOut | Interrupted | Memory | Unchecked) = conclusion {
            return Some(self.note());
        }
        let _ = std::fs::remove_file(&self.path);
        None
    }

    /// How to go on from here; or why that is not possible.
    pub(crate) fn note(&self) -> String {
        let path = shown(&self.path);
        match &self.state.lock().unwrap_or_else(PoisonError::into_inner).error {
            None => format!("note: `cuba resume {path}` goes on from the last checkpoint\n"),
            Some(error) => format!("warning: not everything is in the checkpoint: {error}\n"),
        }
    }

    /// Writes the file anew: what one end has to keep now, and what the other one has kept before.
    fn write(&self, end: Option<End>, content: &dyn Fn(&mut dyn Write) -> Result<(), NotKept>) -> Result<(), String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let header = Header { time: self.header.time + self.start.elapsed(), ..self.header.clone() };
        let header = serde_json::to_vec(&header).expect("a few texts");
        let mut parts = [0..0, 0..0];
        output::write(&self.path, |out| {
            let mut out = Summed { out, sum: Hasher::new(), written: 0 };
            out.write_all(MAGIC)?;
            out.write_all(&u32::try_from(header.len()).map_err(io::Error::other)?.to_le_bytes())?;
            out.write_all(&header)?;
            for (number, &each) in ENDS.iter().enumerate() {
                let start = out.written;
                let before = &state.parts[number];
                if Some(each) == end {
                    let mut blocks = Blocks { out: &mut out, block: Vec::with_capacity(BLOCK) };
                    content(&mut blocks).map_err(|error| io::Error::other(error.to_string()))?;
                    blocks.finish()?;
                } else if before.is_empty() {
                    out.write_all(&0_u32.to_le_bytes())?;
                } else {
                    let mut old = File::open(&self.path)?;
                    old.seek(SeekFrom::Start(before.start))?;
                    io::copy(&mut old.take(before.end - before.start), &mut out)?;
                }
                parts[number] = start..out.written;
            }
            let sum = out.sum.clone().finalize();
            out.write_all(&sum.to_le_bytes())
        })?;
        state.parts = parts;
        Ok(())
    }
}

impl Keeper for Checkpoint {
    fn is_due(&self, end: End) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).last[end as usize].elapsed() >= self.every
    }

    fn keep(&self, end: End, write: &dyn Fn(&mut dyn Write) -> Result<(), NotKept>) {
        let written = self.write(Some(end), write);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.last[end as usize] = Instant::now();
        state.error = written.err();
        drop(state);
        fault::here("checkpoint");
    }
}

/// Goes on from a file: whose run it was, and what was kept.
#[derive(Debug)]
pub(crate) struct Resumed {
    path: PathBuf,
    pub(crate) header: Header,
    parts: [Range<u64>; 2],
}

impl Resumed {
    /// Reads the header, and checks the rest.
    ///
    /// # Errors
    /// If it is no such file, or not a whole one.
    pub(crate) fn open(path: &Path) -> Result<Self, Stopped> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self::read(&path).map_err(|why| Stopped::Usage(format!("`{}` {why}", shown(&path))))
    }

    fn read(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
        let mut input = Summing { input: BufReader::with_capacity(1 << 16, file), sum: Hasher::new(), read: 0 };
        let mut magic = [0; MAGIC.len()];
        input.fill(&mut magic)?;
        if magic != MAGIC {
            return Err(if magic.starts_with(ANY_VERSION) {
                "is a checkpoint of another version of cuba; go on with that one".to_owned()
            } else {
                "is no checkpoint".to_owned()
            });
        }
        let mut header = vec![0; input.length()?.min(LONGEST_HEADER)];
        input.fill(&mut header)?;
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
            // A part with nothing in it but its end is none.
            *part = if input.read - start > 4 { start..input.read } else { 0..0 };
        }
        let sum = input.sum.clone().finalize();
        if input.length()? != sum as usize {
            return Err(DAMAGED.to_owned());
        }
        let header: Header = serde_json::from_slice(&header).map_err(|_| DAMAGED)?;
        if header.cuba != env!("CARGO_PKG_VERSION") {
            return Err(format!("is a checkpoint of cuba {}; go on with that one", header.cuba));
        }
        Ok(Resumed { path: path.to_owned(), header, parts })
    }

    /// What both ends start with, and where they keep what they have from now on. The problem must be the same.
    fn start(&self, problem: &cpds::Problem, every: Duration) -> Result<(Start, Checkpoint), String> {
        let path = shown(&self.path);
        if self.header.problem != problem.fingerprint() {
            return Err(format!("`{path}` is a checkpoint for a model that has been changed since"));
        }
        let mut start = Start::default();
        for (&end, part) in ENDS.iter().zip(&self.parts).filter(|(_, part)| !part.is_empty()) {
            let mut read = || -> Result<(), String> {
                let mut file = File::open(&self.path).map_err(|error| error.to_string())?;
                file.seek(SeekFrom::Start(part.start)).map_err(|error| error.to_string())?;
                let mut input = Unblocked { input: BufReader::new(file), block: Vec::new(), at: 0 };
                start.read(end, &mut input).map_err(|error| error.to_string())
            };
            read().map_err(|error| format!("`{path}` {DAMAGED} ({error})"))?;
        }
        Ok((start, Checkpoint::of(&self.path, every, self.header.clone(), self.parts.clone())))
    }
}

const DAMAGED: &str = "is damaged: it is not as it was written";

/// What is written, with its checksum and its length.
struct Summed<'w> {
    out: &'w mut dyn Write,
    sum: Hasher,
    written: u64,
}

impl Write for Summed<'_> {
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

/// What is read, likewise.
struct Summing {
    input: BufReader<File>,
    sum: Hasher,
    read: u64,
}

impl Summing {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof if self.read == 0 => "is no checkpoint".to_owned(),
            io::ErrorKind::UnexpectedEof => DAMAGED.to_owned(),
            _ => format!("cannot be read: {error}"),
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

/// Compresses what is written, block by block, each behind its length; the last one has none.
struct Blocks<'b, 'w> {
    out: &'b mut Summed<'w>,
    block: Vec<u8>,
}

impl Blocks<'_, '_> {
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

impl Write for Blocks<'_, '_> {
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

/// Reads what was compressed in blocks.
struct Unblocked {
    input: BufReader<File>,
    block: Vec<u8>,
    at: usize,
}

impl Read for Unblocked {
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

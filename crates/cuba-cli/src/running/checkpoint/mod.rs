//! `--checkpoint`: what a long run has by now, in a file from which `cuba resume` goes on.
//!
//! The file has a line that says what it is, a header that says of which run it is, with a checksum, what each end of the search has kept
//! (`squeeze/checkpoint.rs`), compressed in blocks, and a checksum of all that. It is written anew each time, beside the old one, which it then
//! replaces: whenever the process is killed, one of the two is there, and whole. An end that keeps something copies what the other one
//! has kept before. A run has its file open and locked: no other one goes on from it meanwhile.

mod folder;

use crate::arguments::model::shown;
use crate::running::limits::Phase;
use crate::running::panic_hook::lock;
use crate::running::{faults, limits, output_files, progress};
use crate::text::diagnostics;
use crate::verbs::command_line::{Stopped, heading, remark};
use crate::verbs::exploration::duration;
use clap::Args;
use cpds::diagnostic::printable;
use crc32fast::Hasher;
use cuba::End;
use cuba::NotKept;
use cuba::checkpoint::{Keeper, Start};
use cuba::{Conclusion, Reason};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) use folder::Folder;

/// How a run keeps what it has.
#[derive(Args, Debug)]
pub(crate) struct CheckpointArgs {
    /// Keep in this file what there is, to go on with `cuba resume`
    ///
    /// It is removed when there is an answer. There must be no such file yet. Of many processes, each keeps its share in a folder of this name.
    #[arg(long, value_name = "FILE", help_heading = heading::LIMITS)]
    checkpoint: Option<PathBuf>,
    /// How often that is written
    ///
    /// Also what may be lost if the process is killed. At most half of the time is spent with that.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, requires = "checkpoint", help_heading = heading::LIMITS)]
    checkpoint_every: Duration,
    /// What `cuba resume` goes on from.
    #[arg(skip)]
    resumed: Option<Resumed>,
}

impl CheckpointArgs {
    /// Where it is written, if this is a new file.
    pub(crate) fn output(&self, is_shared: bool) -> Option<&PathBuf> {
        self.checkpoint.as_ref().filter(|_| self.resumed.is_none() && !is_shared)
    }

    /// Where this process keeps its share of the states, if that is wanted.
    pub(crate) fn folder(&self, problem: &cpds::Problem) -> Result<Option<Folder>, String> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        Folder::new(path, Header::new(problem)?).map(Some)
    }

    /// Goes on from here.
    pub(crate) fn go_on(&mut self, resumed: Resumed) {
        self.resumed = Some(resumed);
    }

    /// What both ends start with, and where they keep what they have, if that is wanted.
    pub(crate) fn begin(
        &self,
        problem: &cpds::Problem,
        is_shared: bool,
    ) -> Result<(Start, Option<Checkpoint>), String> {
        let every = self.checkpoint_every;
        match (&self.resumed, &self.checkpoint) {
            (Some(resumed), _) => {
                limits::enter(Phase::Restoring);
                resumed.start(problem, every).map(|(start, checkpoint)| (start, Some(checkpoint)))
            }
            (None, Some(path)) => {
                let path = if is_shared { &path.join(RUN) } else { path };
                Ok((Start::default(), Some(Checkpoint::new(path, every, Header::new(problem)?)?)))
            }
            (None, None) => Ok((Start::default(), None)),
        }
    }
}

/// The file of process 0 in a folder.
const RUN: &str = "run";

/// What goes on from this file: if it is in a folder, that.
fn name(path: &Path) -> String {
    let folder = path.parent().filter(|_| path.file_name() == Some(RUN.as_ref()));
    shown(folder.unwrap_or(path))
}

/// What the file begins with; the number changes with anything that is kept.
const MAGIC: &[u8] = b"cuba checkpoint 5\n";

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
    pub(crate) folder: String,
    /// The name of the problem in evidence for it.
    problem: String,
    /// How much time the run has taken so far.
    pub(crate) time: Duration,
}

impl Header {
    /// Of this run.
    fn new(problem: &cpds::Problem) -> Result<Self, String> {
        let text = |word: OsString| {
            word.into_string()
                .map_err(|word| format!("--checkpoint: `{}` is not UTF-8", printable(&word.to_string_lossy())))
        };
        let folder = std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?;
        Ok(Header {
            cuba: env!("CARGO_PKG_VERSION").to_owned(),
            arguments: std::env::args_os().map(text).collect::<Result<_, _>>()?,
            folder: text(folder.into_os_string())?,
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
    file: Mutex<Parts>,
    ends: Mutex<[Kept; 2]>,
    /// Whether there is anything in the file to go on from.
    has_something: AtomicBool,
}

/// The file as it is now, and what each end has kept, as a part of it.
#[derive(Debug)]
struct Parts {
    file: File,
    parts: [Range<u64>; 2],
}

/// What is known of an end.
struct Kept {
    /// When it has kept something, or the run began; and how long that took.
    last: Instant,
    took: Duration,
    /// Why it could not.
    error: Option<String>,
}

/// The ends, in the order in which they are in the file.
const ENDS: [End; 2] = [End::Upper, End::Lower];

impl Checkpoint {
    /// A new file for a run that begins.
    fn new(path: &Path, every: Duration, header: Header) -> Result<Self, String> {
        let name = name(path);
        match path.symlink_metadata() {
            Ok(found) if found.is_file() => {
                return Err(format!(
                    "`{name}` is there already; go on from it with `cuba resume {name}`, or remove it"
                ));
            }
            Ok(_) => return Err(format!("`{name}` is there already, and no checkpoint; give another name")),
            Err(_) => {}
        }
        let file = output_files::replace(path, |out| write(out, &header, |_, part| part.nothing()).map(drop))
            .map_err(|error| format!("cannot write `{name}`: {error}"))?;
        Ok(Self::of(path, every, header, Parts { file, parts: [0..0, 0..0] }))
    }

    fn of(path: &Path, every: Duration, header: Header, file: Parts) -> Self {
        let now = Instant::now();
        let ends = [(); 2].map(|()| Kept { last: now, took: Duration::ZERO, error: None });
        let has_something = AtomicBool::new(file.parts.iter().any(|part| !part.is_empty()));
        let (file, ends) = (Mutex::new(file), Mutex::new(ends));
        Checkpoint { path: path.to_owned(), every, header, start: now, file, ends, has_something }
    }

    /// How much time earlier runs have taken.
    pub(crate) fn time_before(&self) -> Duration {
        self.header.time
    }

    /// The run is over. If there is something left to do, says how; otherwise nobody has to go on from here once that was told.
    pub(crate) fn over(&self, conclusion: &Conclusion) -> Option<String> {
        use Reason::{Interrupted, Lost, Memory, TimeOut};
        if let Conclusion::Unknown(TimeOut | Interrupted | Memory | Lost) = conclusion {
            return Some(self.note());
        }
        *lock(&DONE) = Some(self.path.clone());
        None
    }

    /// How to go on from here; or why that is not possible.
    pub(crate) fn note(&self) -> String {
        let path = name(&self.path);
        match lock(&self.ends).iter().find_map(|end| end.error.as_deref()) {
            None if !self.has_something.load(Ordering::Relaxed) => {
                format!("note: nothing is in the checkpoint `{path}` yet; `cuba resume {path}` begins from the start\n")
            }
            None => format!("note: `cuba resume {path}` goes on from the last checkpoint\n"),
            Some(error) => format!("warning: not everything is in the checkpoint `{path}`: {error}\n"),
        }
    }

    /// Writes the file anew: what one end has to keep now, and what the other one has kept before.
    fn write(&self, end: End, content: &dyn Fn(&mut dyn Write) -> Result<(), NotKept>) -> io::Result<()> {
        let mut current = lock(&self.file);
        let header = Header { time: self.header.time + self.start.elapsed(), ..self.header.clone() };
        let mut parts = [0..0, 0..0];
        let file = output_files::replace(&self.path, |out| {
            parts = write(out, &header, |number, part| {
                let before = &current.parts[number];
                if ENDS[number] == end {
                    part.compress(content)
                } else if before.is_empty() {
                    part.nothing()
                } else {
                    let mut old = &current.file;
                    old.seek(SeekFrom::Start(before.start))?;
                    part.copy(&mut old.take(before.end - before.start))
                }
            })?;
            Ok(())
        })?;
        *current = Parts { file, parts };
        self.has_something.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// The checkpoint of a run that has come to its end.
static DONE: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Everything was told and written: there is nothing to go on from. Says whether there was anything.
pub(crate) fn remove() -> bool {
    let done = lock(&DONE).take();
    done.is_some_and(|path| std::fs::remove_file(path).is_ok())
}

impl Keeper for Checkpoint {
    fn begins(&self, end: End) {
        faults::begins(end);
    }

    fn is_due(&self, end: End) -> bool {
        let kept = &lock(&self.ends)[end as usize];
        // The other one may be writing; then there is something better to do than to wait.
        kept.last.elapsed() >= self.every.max(kept.took) && self.file.try_lock().is_ok()
    }

    fn keep(&self, end: End, write: &dyn Fn(&mut dyn Write) -> Result<(), NotKept>) -> bool {
        let start = Instant::now();
        let error = self.write(end, write).err().map(|error| error.to_string());
        let is_kept = error.is_none();
        let now = Instant::now();
        let before = std::mem::replace(
            &mut lock(&self.ends)[end as usize],
            Kept { last: now, took: now - start, error: error.clone() },
        );
        if let Some(error) = error.filter(|_| before.error.is_none()) {
            let _nothing_is_drawn = progress::clear();
            remark(&diagnostics::plain_warning(&format!(
                "the checkpoint `{}` cannot be written: {error}",
                shown(&self.path)
            )));
        }
        faults::here("checkpoint");
        is_kept
    }
}

/// Writes a file, part by part, and says where the parts are.
fn write(
    out: &mut dyn Write,
    header: &Header,
    mut put: impl FnMut(usize, Part<'_, '_>) -> io::Result<()>,
) -> io::Result<[Range<u64>; 2]> {
    let header = serde_json::to_vec(header).map_err(io::Error::other)?;
    let mut out = Summed { out, sum: Hasher::new(), written: 0 };
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

/// A part of the file that is to be written now.
struct Part<'p, 'w>(&'p mut Summed<'w>);

impl Part<'_, '_> {
    fn nothing(self) -> io::Result<()> {
        self.0.write_all(&0_u32.to_le_bytes())
    }

    fn copy(self, old: &mut dyn Read) -> io::Result<()> {
        io::copy(old, self.0).map(drop)
    }

    fn compress(self, content: &dyn Fn(&mut dyn Write) -> Result<(), NotKept>) -> io::Result<()> {
        let mut blocks = Blocks { out: self.0, block: Vec::with_capacity(BLOCK) };
        content(&mut blocks)?;
        blocks.finish()
    }
}

/// Goes on from a file: whose run it was, and what was kept.
#[derive(Debug)]
pub(crate) struct Resumed {
    path: PathBuf,
    pub(crate) header: Header,
    file: File,
}

impl Resumed {
    /// Reads the header.
    ///
    /// # Errors
    /// If it is no such file, or another run is at work on it.
    pub(crate) fn open(path: &Path) -> Result<Self, Stopped> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let path = if path.is_dir() { path.join(RUN) } else { path };
        Self::opened(&path).map_err(|why| Stopped::Usage(format!("`{}` {why}", shown(&path))))
    }

    fn opened(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| cannot_be_read(&error))?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err("is no checkpoint".to_owned());
        }
        output_files::lock(&file).map_err(|_| BUSY)?;
        if !output_files::is_at(path, &file) {
            return Err(BUSY.to_owned());
        }
        let header = Summing::new(&file).header()?;
        Ok(Resumed { path: path.to_owned(), header, file })
    }

    /// Where the parts are. Everything must be as it was written.
    fn parts(&self) -> Result<[Range<u64>; 2], String> {
        let mut file = &self.file;
        file.rewind().map_err(|error| cannot_be_read(&error))?;
        let mut input = Summing::new(file);
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
            // A part with nothing in it but its end is none.
            *part = if input.read - start > 4 { start..input.read } else { 0..0 };
        }
        input.check()?;
        if file.metadata().map_err(|error| cannot_be_read(&error))?.len() != input.read {
            return Err(DAMAGED.to_owned());
        }
        Ok(parts)
    }

    /// The problem must be the same.
    fn must_be_of(&self, problem: &str) -> Result<(), String> {
        if self.header.problem == problem {
            return Ok(());
        }
        Err(format!("`{}` is a checkpoint for a model that has been changed since", shown(&self.path)))
    }

    /// What was kept in a part of the file.
    fn unblocked(&self, part: &Range<u64>) -> io::Result<Unblocked<'_>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(part.start))?;
        Ok(Unblocked { input: BufReader::new(file), block: Vec::new(), at: 0 })
    }

    /// What both ends start with, and where they keep what they have from now on. The problem must be the same.
    fn start(&self, problem: &cpds::Problem, every: Duration) -> Result<(Start, Checkpoint), String> {
        self.must_be_of(&problem.fingerprint())?;
        let path = shown(&self.path);
        let parts = self.parts().map_err(|why| format!("`{path}` {why}"))?;
        let mut start = Start::default();
        for (&end, part) in ENDS.iter().zip(&parts).filter(|(_, part)| !part.is_empty()) {
            let read = self.unblocked(part).and_then(|mut input| start.read(end, &mut input));
            read.map_err(|error| format!("`{path}` {DAMAGED} ({error})"))?;
        }
        let file = self.file.try_clone().map_err(|error| format!("`{path}` {}", cannot_be_read(&error)))?;
        Ok((start, Checkpoint::of(&self.path, every, self.header.clone(), Parts { file, parts })))
    }
}

const BUSY: &str = "is the checkpoint of a run that goes on";

fn cannot_be_read(error: &io::Error) -> String {
    format!("cannot be read: {error}")
}

const DAMAGED: &str = "is damaged: it is not as it was written";

/// What is written, with its checksum and its length.
struct Summed<'w> {
    out: &'w mut dyn Write,
    sum: Hasher,
    written: u64,
}

impl Summed<'_> {
    fn write_sum(&mut self) -> io::Result<()> {
        let sum = self.sum.clone().finalize();
        self.write_all(&sum.to_le_bytes())
    }
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
struct Summing<'f> {
    input: BufReader<&'f File>,
    sum: Hasher,
    read: u64,
}

impl<'f> Summing<'f> {
    fn new(file: &'f File) -> Self {
        Summing { input: BufReader::with_capacity(1 << 16, file), sum: Hasher::new(), read: 0 }
    }

    fn header(&mut self) -> Result<Header, String> {
        let mut magic = [0; MAGIC.len()];
        self.fill(&mut magic)?;
        if magic != MAGIC {
            return Err(if magic.starts_with(ANY_VERSION) {
                "is a checkpoint of another version of cuba; go on with that one".to_owned()
            } else {
                "is no checkpoint".to_owned()
            });
        }
        let mut header = vec![0; self.length()?.min(LONGEST_HEADER)];
        self.fill(&mut header)?;
        self.check()?;
        let header: Header = serde_json::from_slice(&header).map_err(|_| DAMAGED)?;
        if header.cuba != env!("CARGO_PKG_VERSION") {
            return Err(format!("is a checkpoint of cuba {}; go on with that one", header.cuba));
        }
        Ok(header)
    }

    /// Whether the checksum of all that was read comes next.
    fn check(&mut self) -> Result<(), String> {
        let sum = self.sum.clone().finalize();
        if self.length()? == sum as usize { Ok(()) } else { Err(DAMAGED.to_owned()) }
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        self.input.read_exact(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof if self.read == 0 => "is no checkpoint".to_owned(),
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
struct Unblocked<'f> {
    input: BufReader<&'f File>,
    block: Vec<u8>,
    at: usize,
}

impl Read for Unblocked<'_> {
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

//! The first words on a connection: who is there, and whether both have the same question.
//!
//! The one that connects says hello, the other answers with its own, and the first confirms. Both
//! see the same two greetings, so both find the same difference between them.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How every greeting begins, in every version.
const MAGIC: [u8; 8] = *b"cuba\0net";
/// What follows is never longer.
const LONGEST: usize = 4096;
/// The last word of the one that has connected.
const CONFIRM: u8 = b'c';
/// Processes of different versions do not work together.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a connection is for: each two processes have one of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// What timely sends.
    Data,
    /// Signs of life.
    Pulse,
}

/// A greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) processes: usize,
    pub(crate) jobs: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) lane: Lane,
    /// What the question consists of: what to say if it differs, and hashes.
    pub(crate) question: Vec<(String, u64)>,
}

/// Why there is no greeting.
#[derive(Debug)]
pub(crate) enum NoHello {
    /// Nobody that speaks this protocol; in words.
    Stranger(String),
    /// A process of another version.
    Version(String),
}

impl Hello {
    fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        put_text(&mut body, VERSION);
        for number in [self.processes, self.jobs, self.from, self.to] {
            body.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        body.push(u8::from(self.lane == Lane::Pulse));
        body.push(u8::try_from(self.question.len()).unwrap_or(u8::MAX));
        for (name, hash) in self.question.iter().take(usize::from(u8::MAX)) {
            put_text(&mut body, name);
            body.extend(hash.to_le_bytes());
        }
        let length = u16::try_from(body.len()).ok().filter(|&length| usize::from(length) <= LONGEST);
        let length = length.expect("the names of what a question consists of are a few short words");
        [&MAGIC[..], &length.to_le_bytes()[..], &body[..]].concat()
    }

    fn decode(body: &[u8]) -> Result<Self, NoHello> {
        let broken = || NoHello::Stranger("its greeting is broken".to_owned());
        let mut rest = body;
        let version = get_text(&mut rest).ok_or_else(broken)?;
        if version != VERSION {
            return Err(NoHello::Version(version));
        }
        let hello = (|| {
            let mut number = || get::<4>(&mut rest).map(|bytes| u32::from_le_bytes(bytes) as usize);
            let (processes, jobs, from, to) = (number()?, number()?, number()?, number()?);
            let lane = match get::<1>(&mut rest)? {
                [0] => Lane::Data,
                [1] => Lane::Pulse,
                _ => return None,
            };
            let [count] = get::<1>(&mut rest)?;
            let fact = |_| Some((get_text(&mut rest)?, u64::from_le_bytes(get::<8>(&mut rest)?)));
            let question = (0..count).map(fact).collect::<Option<_>>()?;
            rest.is_empty().then_some(Self { processes, jobs, from, to, lane, question })
        })();
        hello.ok_or_else(broken)
    }

    /// Says it.
    pub(crate) fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        stream.write_all(&self.encode())
    }

    /// Hears one, if it comes in time.
    pub(crate) fn receive(stream: &mut TcpStream, deadline: Instant) -> Result<Self, NoHello> {
        let stranger = |error: &io::Error| {
            NoHello::Stranger(match error.kind() {
                io::ErrorKind::TimedOut => "it said nothing".to_owned(),
                io::ErrorKind::UnexpectedEof => "it left before it said who it is".to_owned(),
                _ => error.to_string(),
            })
        };
        let mut magic = [0; MAGIC.len()];
        // Byte by byte: whoever speaks something else may wait for an answer to less.
        for (index, expected) in MAGIC.iter().enumerate() {
            read_by(stream, &mut magic[index..=index], deadline).map_err(|error| stranger(&error))?;
            if magic[index] != *expected {
                return Err(NoHello::Stranger("it speaks something else".to_owned()));
            }
        }
        let mut length = [0; 2];
        read_by(stream, &mut length, deadline).map_err(|error| stranger(&error))?;
        let length = usize::from(u16::from_le_bytes(length));
        if length > LONGEST {
            return Err(NoHello::Stranger("its greeting is broken".to_owned()));
        }
        let mut body = vec![0; length];
        read_by(stream, &mut body, deadline).map_err(|error| stranger(&error))?;
        Self::decode(&body)
    }

    /// What keeps the process that said `theirs` from working with the one that said this, if
    /// anything does; in words.
    pub(crate) fn difference(&self, theirs: &Self) -> Option<String> {
        let them = theirs.from;
        if self.processes != theirs.processes {
            let (ours, theirs) = (self.processes, theirs.processes);
            return Some(format!(
                "process {them} knows {theirs} processes, and this one {ours}; give all the same hosts"
            ));
        }
        if theirs.to != self.from {
            let (to, from) = (theirs.to, self.from);
            return Some(format!(
                "process {them} takes process {from} for process {to}; the lines of the hosts files or the numbers of the processes differ"
            ));
        }
        if self.to != them {
            let to = self.to;
            return Some(format!(
                "where process {to} should be, there is process {them}; the lines of the hosts files or the numbers of the processes differ"
            ));
        }
        if self.jobs != theirs.jobs {
            let (ours, theirs) = (self.jobs, theirs.jobs);
            return Some(format!("process {them} has {theirs} jobs, and this one {ours}; give all the same number"));
        }
        let of = |hello: &Self, name: &str| hello.question.iter().find(|(it, _)| it == name).map(|&(_, hash)| hash);
        let names = self.question.iter().chain(&theirs.question).map(|(name, _)| name);
        let mut different: Vec<&str> = Vec::new();
        for name in names {
            if of(self, name) != of(theirs, name) && !different.contains(&name.as_str()) {
                different.push(name);
            }
        }
        if different.is_empty() {
            return None;
        }
        Some(format!("process {them} has {}; give all the same question", different.join(" and ")))
    }
}

/// What to say of a process of another version.
pub(crate) fn other_version(who: &str, version: &str) -> String {
    format!("{who} is of version {version}, and this one of {VERSION}; use the same everywhere")
}

/// The last word of the one that has connected.
pub(crate) fn confirm(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(&[CONFIRM])
}

/// Waits for it.
pub(crate) fn confirmed(stream: &mut TcpStream, deadline: Instant) -> bool {
    let mut word = [0];
    read_by(stream, &mut word, deadline).is_ok() && word == [CONFIRM]
}

/// Fills a buffer, however slowly it comes, but not after the deadline.
fn read_by(stream: &mut TcpStream, mut buffer: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !buffer.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left < Duration::from_millis(1) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => buffer = &mut buffer[read..],
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {}
                _ => return Err(error),
            },
        }
    }
    stream.set_read_timeout(None)
}

fn put_text(body: &mut Vec<u8>, text: &str) {
    let length = u8::try_from(text.len()).expect("versions and names are short");
    body.push(length);
    body.extend(text.as_bytes());
}

fn get<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*bytes)
}

fn get_text(rest: &mut &[u8]) -> Option<String> {
    let [length] = get::<1>(rest)?;
    let (bytes, after) = rest.split_at_checked(usize::from(length))?;
    *rest = after;
    String::from_utf8(bytes.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello() -> Hello {
        let question = vec![("another model".to_owned(), 7), ("other options".to_owned(), 8)];
        Hello { processes: 3, jobs: 2, from: 2, to: 0, lane: Lane::Pulse, question }
    }

    fn answer() -> Hello {
        Hello { from: 0, to: 2, ..hello() }
    }

    #[test]
    fn reading_what_was_written() {
        let bytes = hello().encode();
        assert_eq!(Hello::decode(&bytes[MAGIC.len() + 2..]).expect("it is whole"), hello());
        for end in MAGIC.len() + 2..bytes.len() {
            assert!(Hello::decode(&bytes[MAGIC.len() + 2..end]).is_err());
        }
    }

    #[test]
    fn another_version() {
        let mut body = Vec::new();
        put_text(&mut body, "9.9.9");
        body.extend(b"whatever follows there");
        assert!(matches!(Hello::decode(&body), Err(NoHello::Version(version)) if version == "9.9.9"));
    }

    #[test]
    fn what_differs() {
        let difference = |theirs: Hello| answer().difference(&theirs).unwrap_or_default();
        assert_eq!(difference(hello()), "");
        let mut model = hello();
        model.question[0].1 = 9;
        assert_eq!(difference(model.clone()), "process 2 has another model; give all the same question");
        model.question[1].1 = 9;
        assert_eq!(difference(model), "process 2 has another model and other options; give all the same question");
        let text = difference(Hello { processes: 4, ..hello() });
        assert_eq!(text, "process 2 knows 4 processes, and this one 3; give all the same hosts");
        let text = difference(Hello { jobs: 1, ..hello() });
        assert_eq!(text, "process 2 has 1 jobs, and this one 2; give all the same number");
        assert!(difference(Hello { to: 1, ..hello() }).starts_with("process 2 takes process 0 for process 1; "));
        assert!(
            difference(Hello { from: 1, ..hello() }).starts_with("where process 2 should be, there is process 1; ")
        );
    }
}

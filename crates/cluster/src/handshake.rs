//! The handshake on a new connection: checks that both processes belong to the same run.
//!
//! The side that connects sends its handshake. The other side replies with its own handshake, and
//! the first side confirms. Both sides see the same two handshakes, so both find the same mismatch.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The first bytes of each handshake, in every version.
const MAGIC: [u8; 8] = *b"cuba\0net";
/// The maximum length of the rest, in bytes.
const MAX_BODY: usize = 4096;
/// The confirmation by the side that connected.
const CONFIRM: u8 = b'c';
/// Processes of different versions do not work together.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The purpose of a connection. Each pair of processes has one connection of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionKind {
    /// The data that Timely sends.
    Data,
    /// Heartbeats.
    Heartbeat,
}

/// The description that a process sends of itself and of the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Handshake {
    pub(crate) processes: usize,
    pub(crate) jobs: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) kind: ConnectionKind,
    /// The values on which both sides must agree. Each has words for the message about a mismatch,
    /// and a hash.
    pub(crate) question: Vec<(String, u64)>,
}

/// Why a handshake failed.
#[derive(Debug)]
pub(crate) enum HandshakeError {
    /// The peer does not use this protocol. The text says why.
    NotAPeer(String),
    /// The peer has another version.
    OtherVersion(String),
}

impl Handshake {
    /// Returns the bytes of the handshake.
    fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        put_text(&mut body, VERSION);
        for number in [self.processes, self.jobs, self.from, self.to] {
            body.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        body.push(u8::from(self.kind == ConnectionKind::Heartbeat));
        body.push(u8::try_from(self.question.len()).unwrap_or(u8::MAX));
        for (name, hash) in self.question.iter().take(usize::from(u8::MAX)) {
            put_text(&mut body, name);
            body.extend(hash.to_le_bytes());
        }
        let length = u16::try_from(body.len()).ok().filter(|&length| usize::from(length) <= MAX_BODY);
        let length = length.expect("the names in a handshake are a few short words");
        [&MAGIC[..], &length.to_le_bytes()[..], &body[..]].concat()
    }

    /// Parses the bytes after the length.
    fn decode(body: &[u8]) -> Result<Self, HandshakeError> {
        let malformed = || HandshakeError::NotAPeer("its handshake is malformed".to_owned());
        let mut rest = body;
        let version = get_text(&mut rest).ok_or_else(malformed)?;
        if version != VERSION {
            return Err(HandshakeError::OtherVersion(version));
        }
        let handshake = (|| {
            let mut number = || get::<4>(&mut rest).map(|bytes| u32::from_le_bytes(bytes) as usize);
            let (processes, jobs, from, to) = (number()?, number()?, number()?, number()?);
            let kind = match get::<1>(&mut rest)? {
                [0] => ConnectionKind::Data,
                [1] => ConnectionKind::Heartbeat,
                _ => return None,
            };
            let [count] = get::<1>(&mut rest)?;
            let value = |_| Some((get_text(&mut rest)?, u64::from_le_bytes(get::<8>(&mut rest)?)));
            let question = (0..count).map(value).collect::<Option<_>>()?;
            rest.is_empty().then_some(Self { processes, jobs, from, to, kind, question })
        })();
        handshake.ok_or_else(malformed)
    }

    /// Sends this handshake.
    pub(crate) fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        stream.write_all(&self.encode())
    }

    /// Receives a handshake before the deadline.
    pub(crate) fn receive(stream: &mut TcpStream, deadline: Instant) -> Result<Self, HandshakeError> {
        let not_a_peer = |error: &io::Error| {
            HandshakeError::NotAPeer(match error.kind() {
                io::ErrorKind::TimedOut => "it sent no handshake in time".to_owned(),
                io::ErrorKind::UnexpectedEof => "it closed the connection during the handshake".to_owned(),
                _ => error.to_string(),
            })
        };
        let mut magic = [0; MAGIC.len()];
        // Read byte by byte: a peer with another protocol may send fewer bytes and wait for a
        // reply.
        for (index, expected) in MAGIC.iter().enumerate() {
            read_by(stream, &mut magic[index..=index], deadline).map_err(|error| not_a_peer(&error))?;
            if magic[index] != *expected {
                return Err(HandshakeError::NotAPeer("it uses another protocol".to_owned()));
            }
        }
        let mut length = [0; 2];
        read_by(stream, &mut length, deadline).map_err(|error| not_a_peer(&error))?;
        let length = usize::from(u16::from_le_bytes(length));
        if length > MAX_BODY {
            return Err(HandshakeError::NotAPeer("its handshake is malformed".to_owned()));
        }
        let mut body = vec![0; length];
        read_by(stream, &mut body, deadline).map_err(|error| not_a_peer(&error))?;
        Self::decode(&body)
    }

    /// Compares this handshake with that of the peer. Returns a message if the two processes do not
    /// belong to the same run.
    pub(crate) fn mismatch(&self, theirs: &Self) -> Option<String> {
        let them = theirs.from;
        if self.processes != theirs.processes {
            let (ours, theirs) = (self.processes, theirs.processes);
            return Some(format!(
                "process {them} has a list of {theirs} processes, and this one of {ours}; use the same hosts everywhere"
            ));
        }
        if theirs.to != self.from {
            let (to, from) = (theirs.to, self.from);
            return Some(format!(
                "process {them} expected process {to}, and reached process {from}; the lines of the hosts files or the numbers of the processes differ"
            ));
        }
        if self.to != them {
            let to = self.to;
            return Some(format!(
                "process {them} answers at the address of process {to}; the lines of the hosts files or the numbers of the processes differ"
            ));
        }
        if self.jobs != theirs.jobs {
            let (ours, theirs) = (self.jobs, theirs.jobs);
            return Some(format!(
                "process {them} has {theirs} jobs, and this one {ours}; use the same number everywhere"
            ));
        }
        let hash = |handshake: &Self, name: &str| {
            handshake.question.iter().find(|(other, _)| other == name).map(|&(_, hash)| hash)
        };
        let names = self.question.iter().chain(&theirs.question).map(|(name, _)| name);
        let mut different: Vec<&str> = Vec::new();
        for name in names {
            if hash(self, name) != hash(theirs, name) && !different.contains(&name.as_str()) {
                different.push(name);
            }
        }
        if different.is_empty() {
            return None;
        }
        Some(format!("process {them} has {}; use the same model and options everywhere", different.join(" and ")))
    }
}

/// Returns the message about a process of another version.
pub(crate) fn other_version(process: &str, version: &str) -> String {
    format!("{process} has version {version}, and this one has {VERSION}; use the same version everywhere")
}

/// Sends the confirmation.
pub(crate) fn confirm(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(&[CONFIRM])
}

/// Waits for the confirmation. Returns whether it arrived before the deadline.
pub(crate) fn confirmed(stream: &mut TcpStream, deadline: Instant) -> bool {
    let mut byte = [0];
    read_by(stream, &mut byte, deadline).is_ok() && byte == [CONFIRM]
}

/// Fills a buffer, in as many reads as necessary, before the deadline.
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

/// Appends a text of at most 255 bytes, with its length.
fn put_text(body: &mut Vec<u8>, text: &str) {
    let length = u8::try_from(text.len()).expect("versions and names are short");
    body.push(length);
    body.extend(text.as_bytes());
}

/// Takes the next bytes.
fn get<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*bytes)
}

/// Takes the next text.
fn get_text(rest: &mut &[u8]) -> Option<String> {
    let [length] = get::<1>(rest)?;
    let (bytes, after) = rest.split_at_checked(usize::from(length))?;
    *rest = after;
    String::from_utf8(bytes.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handshake() -> Handshake {
        let question = vec![("another model".to_owned(), 7), ("other options".to_owned(), 8)];
        Handshake { processes: 3, jobs: 2, from: 2, to: 0, kind: ConnectionKind::Heartbeat, question }
    }

    fn answer() -> Handshake {
        Handshake { from: 0, to: 2, ..handshake() }
    }

    #[test]
    fn decode_inverts_encode() {
        let bytes = handshake().encode();
        assert_eq!(Handshake::decode(&bytes[MAGIC.len() + 2..]).expect("it is whole"), handshake());
        for end in MAGIC.len() + 2..bytes.len() {
            assert!(Handshake::decode(&bytes[MAGIC.len() + 2..end]).is_err());
        }
    }

    #[test]
    fn another_version_is_recognised() {
        let mut body = Vec::new();
        put_text(&mut body, "9.9.9");
        body.extend(b"whatever follows there");
        assert!(matches!(Handshake::decode(&body), Err(HandshakeError::OtherVersion(version)) if version == "9.9.9"));
    }

    #[test]
    fn mismatches_are_explained() {
        let mismatch = |theirs: Handshake| answer().mismatch(&theirs).unwrap_or_default();
        assert_eq!(mismatch(handshake()), "");
        let mut model = handshake();
        model.question[0].1 = 9;
        assert_eq!(mismatch(model.clone()), "process 2 has another model; use the same model and options everywhere");
        model.question[1].1 = 9;
        let expected = "process 2 has another model and other options; use the same model and options everywhere";
        assert_eq!(mismatch(model), expected);
        let text = mismatch(Handshake { processes: 4, ..handshake() });
        assert_eq!(text, "process 2 has a list of 4 processes, and this one of 3; use the same hosts everywhere");
        let text = mismatch(Handshake { jobs: 1, ..handshake() });
        assert_eq!(text, "process 2 has 1 jobs, and this one 2; use the same number everywhere");
        assert!(
            mismatch(Handshake { to: 1, ..handshake() })
                .starts_with("process 2 expected process 1, and reached process 0; ")
        );
        assert!(
            mismatch(Handshake { from: 1, ..handshake() })
                .starts_with("process 1 answers at the address of process 2; ")
        );
    }
}

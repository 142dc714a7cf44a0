//! The barrier before the start of a run.
//!
//! A process passes the barrier when it has both connections to each other process, and when each
//! other process has reported `READY`. Until then it only polls its connections.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::connect_error::{ConnectError, Missing, Note};
use crate::handshake::ConnectionKind;
use crate::heartbeat;
use crate::settings::Settings;

/// The time between two polls.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The time until the first note about waiting.
const FIRST_NOTE: Duration = Duration::from_secs(2);
/// The time between two such notes.
const NEXT_NOTE: Duration = Duration::from_secs(10);

/// A message from one of the threads that connect.
pub(crate) enum ConnectEvent {
    /// A connection to this process passed the handshake.
    Joined(usize, ConnectionKind, TcpStream),
    /// A connection does not come from a process of this run.
    Dropped { from: SocketAddr, why: String },
    /// Another process does not belong to the same run.
    Mismatch(String),
    /// The last attempt to connect to this process failed. The text is the cause.
    Status(usize, String),
}

/// The connections so far, and which processes are ready.
pub(crate) struct StartBarrier<'a> {
    settings: &'a Settings,
    start: Instant,
    pub(crate) data: Vec<Option<TcpStream>>,
    pub(crate) heartbeat: Vec<Option<TcpStream>>,
    /// The last known status of each process, as text.
    status: Vec<String>,
    /// The processes that have reported `READY`: all their connections exist.
    ready: BTreeSet<usize>,
}

impl<'a> StartBarrier<'a> {
    pub(crate) fn new(settings: &'a Settings, start: Instant) -> Self {
        let none = || (0..settings.hosts.processes()).map(|_| None).collect();
        let status = vec!["it has not connected".to_owned(); settings.hosts.processes()];
        Self { settings, start, data: none(), heartbeat: none(), status, ready: BTreeSet::new() }
    }

    /// Returns the numbers of all other processes.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.settings.process;
        (0..self.settings.hosts.processes()).filter(move |&process| process != me)
    }

    /// Takes the events of the connecting threads until all processes are ready.
    pub(crate) fn wait(
        &mut self,
        events: &mpsc::Receiver<ConnectEvent>,
        deadline: Instant,
        note: &mut dyn FnMut(&Note),
    ) -> Result<(), ConnectError> {
        let mut next_note = self.start + FIRST_NOTE;
        let mut reported_ready = false;
        loop {
            match events.recv_timeout(POLL_INTERVAL) {
                Ok(event) => self.handle(event, note)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            self.poll()?;
            let absent = self.absent();
            if absent.is_empty() && !reported_ready {
                self.report_ready()?;
                reported_ready = true;
            }
            let unready: Vec<usize> = self.others().filter(|process| !self.ready.contains(process)).collect();
            if reported_ready && unready.is_empty() {
                break;
            }
            let waiting = if absent.is_empty() { &unready } else { &absent };
            if Instant::now() >= deadline {
                let missing = waiting.iter().map(|&process| self.missing(process)).collect();
                return Err(ConnectError::Missing(missing, self.settings.connect_timeout));
            }
            if Instant::now() >= next_note {
                next_note += NEXT_NOTE;
                for &process in waiting {
                    note(&Note::Waiting { process, address: self.address(process) });
                }
            }
        }
        Ok(())
    }

    /// Stores a new connection, or reports the event.
    fn handle(&mut self, event: ConnectEvent, note: &mut dyn FnMut(&Note)) -> Result<(), ConnectError> {
        match event {
            ConnectEvent::Joined(process, kind, stream) => {
                let slot =
                    if kind == ConnectionKind::Data { &mut self.data[process] } else { &mut self.heartbeat[process] };
                if slot.is_some() {
                    let text = format!("there is a second process {process}; give each process its own number");
                    return Err(ConnectError::Mismatch(text));
                }
                // The barrier only polls the connection.
                stream.set_nonblocking(true)?;
                *slot = Some(stream);
                "it is connected and waits for others".clone_into(&mut self.status[process]);
            }
            ConnectEvent::Dropped { from, why } => note(&Note::Dropped { from: from.to_string(), why }),
            ConnectEvent::Mismatch(text) => return Err(ConnectError::Mismatch(text)),
            ConnectEvent::Status(process, status) => self.status[process] = status,
        }
        Ok(())
    }

    /// Reads the `READY` bytes that have arrived. Fails if a connected process has ended.
    fn poll(&mut self) -> Result<(), ConnectError> {
        for process in self.others() {
            let left = || ConnectError::Left { process, address: self.settings.hosts.address(process).to_owned() };
            let mut byte = [0];
            if let Some(stream) = &self.data[process] {
                has_data(stream.peek(&mut byte)).map_err(|()| left())?;
            }
            let Some(mut stream) = self.heartbeat[process].as_ref() else { continue };
            if self.ready.contains(&process) {
                // The bytes after `READY` are read later.
                has_data(stream.peek(&mut byte)).map_err(|()| left())?;
            } else if has_data(stream.read(&mut byte)).map_err(|()| left())? {
                if byte != [heartbeat::READY] {
                    return Err(left());
                }
                self.ready.insert(process);
            }
        }
        Ok(())
    }

    /// Reports to all other processes that this process has all its connections.
    fn report_ready(&mut self) -> Result<(), ConnectError> {
        for process in self.others() {
            let Some(mut stream) = self.heartbeat[process].as_ref() else { continue };
            if stream.write_all(&[heartbeat::READY]).is_err() {
                return Err(ConnectError::Left { process, address: self.address(process) });
            }
        }
        Ok(())
    }

    /// Returns the processes without both connections.
    fn absent(&self) -> Vec<usize> {
        self.others().filter(|&process| self.data[process].is_none() || self.heartbeat[process].is_none()).collect()
    }

    fn address(&self, process: usize) -> String {
        self.settings.hosts.address(process).to_owned()
    }

    fn missing(&self, process: usize) -> Missing {
        Missing { process, address: self.address(process), status: self.status[process].clone() }
    }
}

/// Returns whether data can be read. An error means that the connection has ended.
fn has_data(read: io::Result<usize>) -> Result<bool, ()> {
    match read {
        Ok(0) => Err(()),
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(false),
        Err(_) => Err(()),
    }
}

//! A data connection that never fails, as Timely requires.
//!
//! Timely panics when a connection ends too early, first in its own threads and then in all others.
//! So if a connection fails, its thread blocks here, and [`Heartbeat`] ends the process.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

use timely::communication::allocator::zero_copy::stream::Stream;

use crate::heartbeat::{Heartbeat, INTERVAL, is_timeout};

/// The data connection to another process.
pub(crate) struct DataConnection {
    stream: TcpStream,
    process: usize,
    heartbeat: Arc<Heartbeat>,
}

impl DataConnection {
    /// Prepares the connection to this process.
    pub(crate) fn new(stream: TcpStream, process: usize, heartbeat: &Arc<Heartbeat>) -> io::Result<Self> {
        // This does not limit the time of a transfer: `read` checks `is_overdue` and reads again.
        stream.set_read_timeout(Some(INTERVAL))?;
        Ok(Self { stream, process, heartbeat: Arc::clone(heartbeat) })
    }
}

impl Read for DataConnection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => {
                    self.heartbeat.wait_until_done(self.process);
                    return Ok(0);
                }
                Ok(read) => return Ok(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) && !self.heartbeat.is_overdue(self.process) => {}
                // Data is missing, even if the process has sent `DONE`.
                Err(_) => self.heartbeat.fail(self.process),
            }
        }
    }
}

impl Write for DataConnection {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self.stream.write(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            // A process that has sent `DONE` needs no more data.
            Ok(0) | Err(_) => {
                self.heartbeat.wait_until_done(self.process);
                Ok(buffer.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for DataConnection {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { stream: self.stream.try_clone()?, process: self.process, heartbeat: Arc::clone(&self.heartbeat) })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    /// Ends the connection. Timely calls this when it has sent all data, and only then.
    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let ended = self.stream.shutdown(how);
        self.heartbeat.send_done(self.process);
        if ended.is_err() {
            self.heartbeat.wait_until_done(self.process);
        }
        Ok(())
    }
}

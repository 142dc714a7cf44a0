//! Heartbeats: detects that another process is lost.
//!
//! Each process sends one byte a second to each other process, on a separate connection. A process
//! is lost if its connection ends without `DONE`, or if it sends nothing for too long. The process
//! that detects the loss sends the number of the lost process to all others, and exits. So all
//! processes report the same lost process, and all of them end.
//!
//! A process sends `DONE` to another process when it has sent all its data to it. After that it may
//! exit.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::hosts::Hosts;

/// The first byte on each connection: the sender has made all its connections.
pub(crate) const READY: u8 = b'r';
/// A heartbeat.
const BEAT: u8 = b'.';
/// The sender has sent all its data.
const DONE: u8 = b'd';
/// A process is lost. Its number follows.
const LOST: u8 = b'x';

/// The longest time between two heartbeats.
pub(crate) const INTERVAL: Duration = Duration::from_secs(1);

/// The loss of a process, which ends the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The number of the lost process.
    pub process: usize,
    /// Its address in the list.
    pub address: String,
    /// How this process detected the loss.
    pub why: LossReason,
}

/// How a process detected the loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossReason {
    /// Its connection has ended.
    ConnectionClosed,
    /// It has sent no heartbeat for this time.
    Silent(Duration),
    /// This other process has reported the loss.
    ReportedBy(usize),
    /// It is this process: one of its parts has panicked.
    Panicked,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({}) is gone", self.process, self.address)?;
        match self.why {
            LossReason::ConnectionClosed => Ok(()),
            LossReason::Silent(silence) => write!(f, " (silent for {} s)", silence.as_secs_f32().round()),
            LossReason::ReportedBy(by) => write!(f, " (says process {by})"),
            LossReason::Panicked => write!(f, " (it is this one, and has panicked)"),
        }
    }
}

/// The state that the heartbeat threads, the data connections and the coordinator share.
pub(crate) struct Heartbeat {
    me: usize,
    hosts: Hosts,
    silence: Duration,
    /// The connections for heartbeats, by process.
    connections: Vec<Option<Connection>>,
    state: Mutex<RunState>,
    changed: Condvar,
    /// Ends the process. It is called at most once.
    end: Box<dyn Fn(&Loss) + Send + Sync>,
}

/// The connection for heartbeats to another process, and whether the last byte was sent on it.
type Connection = Mutex<(TcpStream, bool)>;

struct RunState {
    /// Whether the run was lost or aborted.
    is_lost: bool,
    /// Whether the run has ended normally.
    is_over: bool,
    /// When each process has sent `DONE`.
    done: Vec<Option<Instant>>,
}

/// Locks a mutex, even if another thread has panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Heartbeat {
    /// Starts the threads that send and receive heartbeats.
    pub(crate) fn start(
        me: usize,
        hosts: &Hosts,
        silence: Duration,
        connections: Vec<Option<TcpStream>>,
        end: Box<dyn Fn(&Loss) + Send + Sync>,
    ) -> io::Result<(Arc<Self>, HeartbeatThreads)> {
        let mut readers = Vec::new();
        for (process, connection) in connections.iter().enumerate() {
            if let Some(connection) = connection {
                connection.set_read_timeout(Some(silence))?;
                connection.set_write_timeout(Some(INTERVAL))?;
                readers.push((process, connection.try_clone()?));
            }
        }
        let done = vec![None; connections.len()];
        let connections = connections
            .into_iter()
            .map(|connection| connection.map(|connection| Mutex::new((connection, false))))
            .collect();
        let state = Mutex::new(RunState { is_lost: false, is_over: false, done });
        let heartbeat = Self { me, hosts: hosts.clone(), silence, connections, state, changed: Condvar::new(), end };
        let heartbeat = Arc::new(heartbeat);
        let mut threads = Vec::new();
        for (process, connection) in readers {
            let heartbeat = Arc::clone(&heartbeat);
            let name = format!("heartbeat of {process}");
            threads.push(thread::Builder::new().name(name).spawn(move || heartbeat.listen(process, connection))?);
        }
        if !threads.is_empty() {
            let heartbeat = Arc::clone(&heartbeat);
            threads.push(thread::Builder::new().name("heartbeat".to_owned()).spawn(move || heartbeat.beat())?);
        }
        Ok((Arc::clone(&heartbeat), HeartbeatThreads { heartbeat, threads }))
    }

    /// Reads the bytes of a process until it sends `DONE`, or until it is lost.
    fn listen(&self, process: usize, mut connection: TcpStream) {
        loop {
            let mut byte = [0];
            match connection.read(&mut byte) {
                Ok(1) => match byte[0] {
                    BEAT | READY => {}
                    DONE => {
                        lock(&self.state).done[process] = Some(Instant::now());
                        self.changed.notify_all();
                        return;
                    }
                    LOST => {
                        let mut number = [0; 4];
                        let lost = connection.read_exact(&mut number).map(|()| u32::from_le_bytes(number) as usize);
                        let lost = lost.ok().filter(|&lost| lost < self.hosts.processes());
                        return match lost {
                            Some(lost) if lost != process => self.lose(lost, LossReason::ReportedBy(process)),
                            Some(_) | None => self.lose(process, LossReason::ConnectionClosed),
                        };
                    }
                    _ => return self.lose(process, LossReason::ConnectionClosed),
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => return self.lose(process, LossReason::Silent(self.silence)),
                Ok(_) | Err(_) => return self.lose(process, LossReason::ConnectionClosed),
            }
        }
    }

    /// Sends heartbeats to all processes until the run ends.
    fn beat(&self) {
        let interval = INTERVAL.min(self.silence / 5);
        loop {
            for connection in self.connections.iter().flatten() {
                let mut connection = lock(connection);
                if !connection.1 {
                    // The thread that reads from this connection detects an error.
                    let _ = connection.0.write(&[BEAT]);
                }
            }
            let state = lock(&self.state);
            let ended = self.changed.wait_timeout_while(state, interval, |state| !state.is_over && !state.is_lost);
            let state = ended.unwrap_or_else(PoisonError::into_inner).0;
            if state.is_over || state.is_lost {
                return;
            }
        }
    }

    /// Reports that the run is lost because of `process`. The first call informs the other
    /// processes and ends this one.
    pub(crate) fn lose(&self, process: usize, why: LossReason) {
        if self.announce_loss(process) {
            (self.end)(&Loss { process, address: self.hosts.address(process).to_owned(), why });
        }
    }

    /// Aborts the run for a reason of this process. The other processes report this one as lost.
    pub(crate) fn abort(&self) {
        self.announce_loss(self.me);
    }

    /// Informs the other processes of the loss. Returns false if a loss or the end of the run was
    /// announced before.
    fn announce_loss(&self, process: usize) -> bool {
        {
            let mut state = lock(&self.state);
            if state.is_lost || state.is_over {
                return false;
            }
            state.is_lost = true;
        }
        self.changed.notify_all();
        let mut message = vec![LOST];
        message.extend(u32::try_from(process).unwrap_or(u32::MAX).to_le_bytes());
        for connection in self.connections.iter().flatten() {
            let mut connection = lock(connection);
            if !connection.1 {
                connection.1 = true;
                let _ = connection.0.write_all(&message);
                let _ = connection.0.shutdown(Shutdown::Write);
            }
        }
        true
    }

    /// Sends `DONE` to a process, after all data for it.
    pub(crate) fn send_done(&self, process: usize) {
        if let Some(connection) = &self.connections[process] {
            let mut connection = lock(connection);
            if !connection.1 {
                connection.1 = true;
                let _ = connection.0.write_all(&[DONE]);
            }
        }
    }

    /// Waits for `DONE` after the data connection to a process has ended. Without `DONE`, the
    /// process is lost.
    pub(crate) fn wait_until_done(&self, process: usize) {
        let state = lock(&self.state);
        let open = |state: &mut RunState| state.done[process].is_none() && !state.is_lost;
        let waited = self.changed.wait_timeout_while(state, self.silence, open);
        let is_done = waited.unwrap_or_else(PoisonError::into_inner).0.done[process].is_some();
        if !is_done {
            self.fail(process);
        }
    }

    /// Ends the run after the data connection to a process has failed. The loss of another process
    /// may be the cause, so this waits for a report of that loss first.
    pub(crate) fn fail(&self, process: usize) -> ! {
        let state = lock(&self.state);
        let reported = self.changed.wait_timeout_while(state, INTERVAL.min(self.silence), |state| !state.is_lost);
        drop(reported);
        self.lose(process, LossReason::ConnectionClosed);
        park_forever()
    }

    /// Returns whether a process has sent `DONE` so long ago that its data should have arrived.
    pub(crate) fn is_overdue(&self, process: usize) -> bool {
        lock(&self.state).done[process].is_some_and(|since| since.elapsed() > self.silence)
    }
}

/// The threads that send and receive heartbeats.
pub(crate) struct HeartbeatThreads {
    heartbeat: Arc<Heartbeat>,
    threads: Vec<JoinHandle<()>>,
}

impl HeartbeatThreads {
    /// Ends the threads. All processes have sent `DONE`.
    pub(crate) fn stop(self) {
        lock(&self.heartbeat.state).is_over = true;
        self.heartbeat.changed.notify_all();
        for connection in self.heartbeat.connections.iter().flatten() {
            let _ = lock(connection).0.shutdown(Shutdown::Both);
        }
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

/// Blocks this thread while another one ends the process.
pub(crate) fn park_forever() -> ! {
    loop {
        thread::park();
    }
}

/// Returns whether a read or write reached its time limit.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::sync::mpsc::{self, Receiver};

    const LONG: Duration = Duration::from_secs(60);

    /// Process 0 of three processes, and the ends of its connections at the other two.
    struct ThreeProcesses {
        heartbeat: Arc<Heartbeat>,
        threads: HeartbeatThreads,
        one: TcpStream,
        two: TcpStream,
        losses: Receiver<Loss>,
    }

    /// Starts the heartbeat of process 0.
    fn three_processes(silence: Duration) -> ThreeProcesses {
        let hosts = Hosts::parse("test", "a:1\nb:2\nc:3").expect("hosts");
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
        let pair = || {
            let peer = TcpStream::connect(listener.local_addr().expect("bound")).expect("the listener is bound");
            (listener.accept().expect("a connection is waiting").0, peer)
        };
        let ((to_one, one), (to_two, two)) = (pair(), pair());
        let (lost, losses) = mpsc::channel();
        let end = Box::new(move |loss: &Loss| lost.send(loss.clone()).expect("the test waits"));
        let connections = vec![None, Some(to_one), Some(to_two)];
        let (heartbeat, threads) = Heartbeat::start(0, &hosts, silence, connections, end).expect("threads");
        ThreeProcesses { heartbeat, threads, one, two, losses }
    }

    /// Returns all bytes that a process receives, without heartbeats.
    fn received(mut stream: TcpStream) -> Vec<u8> {
        let mut all = Vec::new();
        stream.set_read_timeout(Some(LONG)).expect("the time limit is valid");
        stream.read_to_end(&mut all).expect("the connection ends");
        all.retain(|&byte| byte != BEAT);
        all
    }

    #[test]
    fn a_loss_is_reported_to_the_others() {
        let ThreeProcesses { one, two, losses, .. } = three_processes(LONG);
        drop(two);
        let loss = losses.recv_timeout(LONG).expect("the loss is detected");
        assert_eq!(loss.to_string(), "process 2 (c:3) is gone");
        assert_eq!(received(one), [LOST, 2, 0, 0, 0]);
    }

    #[test]
    fn a_reported_loss_is_sent_to_the_others() {
        let ThreeProcesses { mut one, two, losses, .. } = three_processes(LONG);
        one.write_all(&[BEAT, LOST, 2, 0, 0, 0]).expect("process 0 reads");
        drop(one);
        let loss = losses.recv_timeout(LONG).expect("the loss is detected");
        assert_eq!(loss.to_string(), "process 2 (c:3) is gone (says process 1)");
        assert_eq!(received(two), [LOST, 2, 0, 0, 0]);
        assert!(losses.try_recv().is_err(), "a loss is reported once");
    }

    #[test]
    fn a_silent_process_is_lost() {
        let ThreeProcesses { one, mut two, losses, .. } = three_processes(Duration::from_secs(1));
        let threads = thread::spawn(move || {
            while two.write_all(&[BEAT]).is_ok() {
                thread::sleep(INTERVAL / 10);
            }
        });
        let loss = losses.recv_timeout(LONG).expect("the loss is detected");
        assert_eq!(loss.to_string(), "process 1 (b:2) is gone (silent for 1 s)");
        drop((one, losses));
        // The connection to process 2 stays open here, as in a process that has not exited yet.
        drop(threads);
    }

    #[test]
    fn a_process_may_exit_after_done() {
        let ThreeProcesses { heartbeat, threads, mut one, mut two, losses } = three_processes(LONG);
        for (process, stream) in [(1, &mut one), (2, &mut two)] {
            stream.write_all(&[DONE]).expect("process 0 reads");
            heartbeat.wait_until_done(process);
            heartbeat.send_done(process);
        }
        threads.stop();
        assert_eq!((received(one), received(two)), (vec![DONE], vec![DONE]));
        assert!(losses.try_recv().is_err());
    }

    #[test]
    fn an_abort_reports_this_process_as_lost() {
        let ThreeProcesses { heartbeat, one, two, losses, .. } = three_processes(LONG);
        heartbeat.abort();
        assert_eq!((received(one), received(two)), (vec![LOST, 0, 0, 0, 0], vec![LOST, 0, 0, 0, 0]));
        assert!(losses.try_recv().is_err());
    }
}

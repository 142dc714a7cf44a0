//! Signs of life: whether all other processes are still there.
//!
//! Each process sends a byte each second to each other, on a connection of its own, and listens.
//! One that ends without a word, or is not heard for too long, is lost, and with it the run:
//! whoever notices tells all others which it was, so that all name the same one, and ends. A
//! process that has sent all that it had to another says that it is done with it; after that it may
//! leave.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use timely::communication::allocator::zero_copy::stream::Stream;

use crate::hosts::Hosts;

/// All connections are there. The first word on each.
pub(crate) const READY: u8 = b'r';
/// Still there.
const BEAT: u8 = b'.';
/// All has been sent, and nothing will follow.
const DONE: u8 = b'd';
/// A process is lost; its number follows.
const LOST: u8 = b'x';

/// How often a sign of life is sent, unless silence is to be noticed sooner.
const INTERVAL: Duration = Duration::from_secs(1);

/// A process is gone, and with it the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Which process.
    pub process: usize,
    /// Its address in the list.
    pub address: String,
    /// How we know.
    pub why: Why,
}

/// How we know that a process is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Its connection has ended.
    Ended,
    /// It has not been heard for so long.
    Silent(Duration),
    /// This process says so.
    Told(usize),
    /// It is this process: a part of it has panicked.
    Panicked,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({}) is gone", self.process, self.address)?;
        match self.why {
            Why::Ended => Ok(()),
            Why::Silent(silence) => write!(f, " (silent for {} s)", silence.as_secs_f32().round()),
            Why::Told(by) => write!(f, " (says process {by})"),
            Why::Panicked => write!(f, " (it is this one, and has panicked)"),
        }
    }
}

/// What all threads know that deal with other processes.
pub(crate) struct Pulse {
    me: usize,
    hosts: Hosts,
    silence: Duration,
    /// To send on; by process.
    lanes: Vec<Option<Lane>>,
    state: Mutex<State>,
    changed: Condvar,
    /// Ends the process. Called once at most.
    end: Box<dyn Fn(&Loss) + Send + Sync>,
}

/// The connection for signs of life to another process, and whether we are done with it.
type Lane = Mutex<(TcpStream, bool)>;

struct State {
    /// The run is lost, or given up.
    is_lost: bool,
    /// The run has ended as it should.
    is_over: bool,
    /// Since when each process has been done with us.
    done: Vec<Option<Instant>>,
}

/// Locks it, whatever became of whoever had it before.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pulse {
    /// Starts to send and to listen.
    pub(crate) fn start(
        me: usize,
        hosts: &Hosts,
        silence: Duration,
        lanes: Vec<Option<TcpStream>>,
        end: Box<dyn Fn(&Loss) + Send + Sync>,
    ) -> io::Result<(Arc<Self>, Beating)> {
        let mut readers = Vec::new();
        for (process, lane) in lanes.iter().enumerate() {
            if let Some(lane) = lane {
                lane.set_read_timeout(Some(silence))?;
                lane.set_write_timeout(Some(INTERVAL))?;
                readers.push((process, lane.try_clone()?));
            }
        }
        let done = vec![None; lanes.len()];
        let lanes = lanes.into_iter().map(|lane| lane.map(|lane| Mutex::new((lane, false)))).collect();
        let state = Mutex::new(State { is_lost: false, is_over: false, done });
        let pulse = Self { me, hosts: hosts.clone(), silence, lanes, state, changed: Condvar::new(), end };
        let pulse = Arc::new(pulse);
        let mut threads = Vec::new();
        for (process, lane) in readers {
            let pulse = Arc::clone(&pulse);
            let name = format!("pulse of {process}");
            threads.push(thread::Builder::new().name(name).spawn(move || pulse.listen(process, lane))?);
        }
        if !threads.is_empty() {
            let pulse = Arc::clone(&pulse);
            threads.push(thread::Builder::new().name("pulse".to_owned()).spawn(move || pulse.beat())?);
        }
        Ok((Arc::clone(&pulse), Beating { pulse, threads }))
    }

    fn listen(&self, process: usize, mut lane: TcpStream) {
        loop {
            let mut word = [0];
            match lane.read(&mut word) {
                Ok(1) => match word[0] {
                    BEAT | READY => {}
                    DONE => {
                        lock(&self.state).done[process] = Some(Instant::now());
                        self.changed.notify_all();
                        return;
                    }
                    LOST => {
                        let mut number = [0; 4];
                        let whom = lane.read_exact(&mut number).map(|()| u32::from_le_bytes(number) as usize);
                        let whom = whom.ok().filter(|&whom| whom < self.hosts.processes());
                        return whom.map_or_else(
                            || self.lose(process, Why::Ended),
                            |whom| self.lose(whom, if whom == process { Why::Ended } else { Why::Told(process) }),
                        );
                    }
                    _ => return self.lose(process, Why::Ended),
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) => return self.lose(process, Why::Silent(self.silence)),
                Ok(_) | Err(_) => return self.lose(process, Why::Ended),
            }
        }
    }

    fn beat(&self) {
        let interval = INTERVAL.min(self.silence / 5);
        loop {
            for lane in self.lanes.iter().flatten() {
                let mut lane = lock(lane);
                if !lane.1 {
                    // Whether it has arrived is for the one that listens to find out.
                    let _ = lane.0.write(&[BEAT]);
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

    /// The run is lost because of this process. The first thread that says so tells the others, and
    /// ends this process.
    pub(crate) fn lose(&self, process: usize, why: Why) {
        if self.leave(process) {
            (self.end)(&Loss { process, address: self.hosts.address(process).to_owned(), why });
        }
    }

    /// Gives the run up from here, for a reason of our own: the others will say that this process
    /// is gone.
    pub(crate) fn give_up(&self) {
        self.leave(self.me);
    }

    /// Tells the others, and whether we are the first to.
    fn leave(&self, process: usize) -> bool {
        {
            let mut state = lock(&self.state);
            if state.is_lost || state.is_over {
                return false;
            }
            state.is_lost = true;
        }
        self.changed.notify_all();
        let mut word = vec![LOST];
        word.extend(u32::try_from(process).unwrap_or(u32::MAX).to_le_bytes());
        for lane in self.lanes.iter().flatten() {
            let mut lane = lock(lane);
            if !lane.1 {
                lane.1 = true;
                let _ = lane.0.write_all(&word);
                let _ = lane.0.shutdown(Shutdown::Write);
            }
        }
        true
    }

    /// All that we had for a process has been sent.
    fn done(&self, process: usize) {
        if let Some(lane) = &self.lanes[process] {
            let mut lane = lock(lane);
            if !lane.1 {
                lane.1 = true;
                let _ = lane.0.write_all(&[DONE]);
            }
        }
    }

    /// The connection for data to a process has ended: returns if it had sent everything.
    fn must_be_done(&self, process: usize) {
        let state = lock(&self.state);
        let open = |state: &mut State| state.done[process].is_none() && !state.is_lost;
        let waited = self.changed.wait_timeout_while(state, self.silence, open);
        let is_done = waited.unwrap_or_else(PoisonError::into_inner).0.done[process].is_some();
        if !is_done {
            self.fail(process);
        }
    }

    /// The connection for data to a process is of no use any more. Who is to blame is on the other
    /// connections, if anywhere.
    fn fail(&self, process: usize) -> ! {
        let state = lock(&self.state);
        let known = self.changed.wait_timeout_while(state, INTERVAL.min(self.silence), |state| !state.is_lost);
        drop(known);
        self.lose(process, Why::Ended);
        forever()
    }

    /// A process is done with us; its data should have come long ago.
    fn is_overdue(&self, process: usize) -> bool {
        lock(&self.state).done[process].is_some_and(|since| since.elapsed() > self.silence)
    }
}

/// The threads that send and listen.
pub(crate) struct Beating {
    pulse: Arc<Pulse>,
    threads: Vec<JoinHandle<()>>,
}

impl Beating {
    /// Ends them, after everyone is done.
    pub(crate) fn stop(self) {
        lock(&self.pulse.state).is_over = true;
        self.pulse.changed.notify_all();
        for lane in self.pulse.lanes.iter().flatten() {
            let _ = lock(lane).0.shutdown(Shutdown::Both);
        }
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

/// For threads that have nothing to do any more, while another one ends the process.
pub(crate) fn forever() -> ! {
    loop {
        thread::park();
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// A connection for data, as timely sees it: it never fails.
///
/// Timely panics when a connection ends too early, in threads of its own, and then in all others.
/// So where a connection fails, the thread stays here, and the pulse ends the process.
pub(crate) struct Wire {
    stream: TcpStream,
    process: usize,
    pulse: Arc<Pulse>,
}

impl Wire {
    pub(crate) fn new(stream: TcpStream, process: usize, pulse: &Arc<Pulse>) -> io::Result<Self> {
        // Not a limit: an occasion to see whether we wait in vain.
        stream.set_read_timeout(Some(INTERVAL))?;
        Ok(Self { stream, process, pulse: Arc::clone(pulse) })
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => {
                    self.pulse.must_be_done(self.process);
                    return Ok(0);
                }
                Ok(read) => return Ok(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_timeout(&error) && !self.pulse.is_overdue(self.process) => {}
                // Whatever it has said, something is missing.
                Err(_) => self.pulse.fail(self.process),
            }
        }
    }
}

impl Write for Wire {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self.stream.write(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            // One that is done needs nothing more from us.
            Ok(0) | Err(_) => {
                self.pulse.must_be_done(self.process);
                Ok(buffer.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Wire {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { stream: self.stream.try_clone()?, process: self.process, pulse: Arc::clone(&self.pulse) })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    /// Timely calls it once it has sent everything, and only then.
    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let ended = self.stream.shutdown(how);
        self.pulse.done(self.process);
        if ended.is_err() {
            self.pulse.must_be_done(self.process);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::sync::mpsc::{self, Receiver};

    const LONG: Duration = Duration::from_secs(60);

    /// Process 0 of three, and what the other two have to talk to it.
    struct Three {
        pulse: Arc<Pulse>,
        beating: Beating,
        one: TcpStream,
        two: TcpStream,
        losses: Receiver<Loss>,
    }

    fn three(silence: Duration) -> Three {
        let hosts = Hosts::parse("test", "a:1\nb:2\nc:3").expect("hosts");
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are free ports");
        let pair = || {
            let theirs = TcpStream::connect(listener.local_addr().expect("bound")).expect("someone listens");
            (listener.accept().expect("someone connects").0, theirs)
        };
        let ((to_one, one), (to_two, two)) = (pair(), pair());
        let (lost, losses) = mpsc::channel();
        let end = Box::new(move |loss: &Loss| lost.send(loss.clone()).expect("the test waits"));
        let lanes = vec![None, Some(to_one), Some(to_two)];
        let (pulse, beating) = Pulse::start(0, &hosts, silence, lanes, end).expect("threads");
        Three { pulse, beating, one, two, losses }
    }

    /// What a process hears, without signs of life, up to the end.
    fn heard(mut stream: TcpStream) -> Vec<u8> {
        let mut all = Vec::new();
        stream.set_read_timeout(Some(LONG)).expect("a limit");
        stream.read_to_end(&mut all).expect("it ends");
        all.retain(|&word| word != BEAT);
        all
    }

    #[test]
    fn one_that_ends_and_the_other_is_told() {
        let Three { one, two, losses, .. } = three(LONG);
        drop(two);
        let loss = losses.recv_timeout(LONG).expect("it is noticed");
        assert_eq!(loss.to_string(), "process 2 (c:3) is gone");
        assert_eq!(heard(one), [LOST, 2, 0, 0, 0]);
    }

    #[test]
    fn we_are_told_and_tell_on() {
        let Three { mut one, two, losses, .. } = three(LONG);
        one.write_all(&[BEAT, LOST, 2, 0, 0, 0]).expect("it listens");
        drop(one);
        let loss = losses.recv_timeout(LONG).expect("it is noticed");
        assert_eq!(loss.to_string(), "process 2 (c:3) is gone (says process 1)");
        assert_eq!(heard(two), [LOST, 2, 0, 0, 0]);
        assert!(losses.try_recv().is_err(), "it is said once");
    }

    #[test]
    fn one_that_is_silent() {
        let Three { one, mut two, losses, .. } = three(Duration::from_secs(1));
        let beating = thread::spawn(move || {
            while two.write_all(&[BEAT]).is_ok() {
                thread::sleep(INTERVAL / 10);
            }
        });
        let loss = losses.recv_timeout(LONG).expect("it is noticed");
        assert_eq!(loss.to_string(), "process 1 (b:2) is gone (silent for 1 s)");
        drop((one, losses));
        // It is told, and the connection ends when all is dropped; here it stays, as in a process
        // that goes on to its end.
        drop(beating);
    }

    #[test]
    fn one_that_is_done_may_leave() {
        let Three { pulse, beating, mut one, mut two, losses } = three(LONG);
        for (process, stream) in [(1, &mut one), (2, &mut two)] {
            stream.write_all(&[DONE]).expect("it listens");
            pulse.must_be_done(process);
            pulse.done(process);
        }
        beating.stop();
        assert_eq!((heard(one), heard(two)), (vec![DONE], vec![DONE]));
        assert!(losses.try_recv().is_err());
    }

    #[test]
    fn giving_up_is_our_own_affair() {
        let Three { pulse, one, two, losses, .. } = three(LONG);
        pulse.give_up();
        assert_eq!((heard(one), heard(two)), (vec![LOST, 0, 0, 0, 0], vec![LOST, 0, 0, 0, 0]));
        assert!(losses.try_recv().is_err());
    }
}

//! Making the connections: two between each two processes, one for data and one for signs of life.
//!
//! Of two processes, the one with the larger number connects to the other, which listens at exactly
//! its address in the list. Once all connections of a process are there it says so to all others,
//! and goes on when all others have said so. From then on nobody listens.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::hello::{self, Hello, Lane, NoHello};
use crate::hosts::Hosts;
use crate::pulse;

/// How long all processes have to find each other, if nothing else is said.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a process may be silent before it is taken for dead, if nothing else is said.
pub const SILENCE: Duration = Duration::from_secs(15);

/// How long someone who has connected may take to say who it is.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long one try to connect may take.
const ATTEMPT: Duration = Duration::from_secs(3);
/// How many may be asked who they are at the same time. More than that have to wait.
const UNKNOWN: usize = 64;
/// How long we stay after we have found that processes are not meant for each other.
const FAREWELL: Duration = Duration::from_secs(1);
/// How often we look whether something has happened.
const LOOK: Duration = Duration::from_millis(10);
/// How long we wait before the first word about waiting, and then for the next.
const FIRST_WORD: Duration = Duration::from_secs(2);
const NEXT_WORD: Duration = Duration::from_secs(10);

/// Who works together, on what.
#[derive(Debug, Clone)]
pub struct Settings {
    /// All processes.
    pub hosts: Hosts,
    /// Which of them this one is.
    pub process: usize,
    /// How many parts each process has; the same everywhere.
    pub jobs: usize,
    /// What all have to agree on: what to say if it differs (`another model`), and a hash. A few
    /// short words.
    pub question: Vec<(String, u64)>,
    /// How long all processes have to find each other.
    pub connect_timeout: Duration,
    /// How long a process may be silent before it is taken for dead.
    pub silence: Duration,
}

impl Settings {
    /// The usual limits of time.
    pub fn new(hosts: Hosts, process: usize, jobs: usize, question: Vec<(String, u64)>) -> Self {
        Self { hosts, process, jobs, question, connect_timeout: CONNECT_TIMEOUT, silence: SILENCE }
    }

    /// How many parts there are in all.
    pub fn parts(&self) -> usize {
        self.hosts.processes() * self.jobs
    }
}

/// What can be said while processes find each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A process is not there yet.
    Waiting {
        /// Which.
        process: usize,
        /// Where it should be.
        address: String,
    },
    /// Someone has connected who is none of us.
    Dropped {
        /// From where.
        from: String,
        /// How we know; in words.
        why: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting { process, address } => write!(f, "waiting for process {process} at {address}"),
            Self::Dropped { from, why } => write!(f, "dropped a connection from {from}: {why}"),
        }
    }
}

/// Why the processes do not come together.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// There is no such process, or it has nothing to do.
    #[error("{0}")]
    Settings(String),
    /// Nobody can reach us.
    #[error("cannot listen at {address}: {error}; is this the machine of process {process}, and the port free?")]
    Listen {
        /// Where.
        address: String,
        /// Who we are.
        process: usize,
        /// What the system says.
        error: io::Error,
    },
    /// Two processes are not meant for each other; in words.
    #[error("{0}")]
    Different(String),
    /// A process was there, and is no more.
    #[error("process {process} ({address}) has left before the start; see what it says there")]
    Left {
        /// Which.
        process: usize,
        /// Where it was.
        address: String,
    },
    /// Not everyone came.
    #[error("{}", missing(.0, *.1))]
    Missing(Vec<Missing>, Duration),
    /// The system does not do what we need.
    #[error("cannot set up connections: {0}")]
    System(#[from] io::Error),
}

/// A process that has not come.
#[derive(Debug)]
pub struct Missing {
    /// Which.
    pub process: usize,
    /// Where it should be.
    pub address: String,
    /// What was seen of it last; in words.
    pub seen: String,
}

fn missing(missing: &[Missing], waited: Duration) -> String {
    let one = |it: &Missing| format!("process {} at {} ({})", it.process, it.address, it.seen);
    let all = missing.iter().map(one).collect::<Vec<_>>().join(", ");
    format!("waited {} s in vain for {all}", waited.as_secs())
}

/// All connections of a process.
#[derive(Debug)]
pub struct Network {
    pub(crate) settings: Settings,
    /// By process; none to ourselves.
    pub(crate) data: Vec<Option<TcpStream>>,
    pub(crate) pulse: Vec<Option<TcpStream>>,
}

/// What the threads that make connections tell.
enum Event {
    Joined(usize, Lane, TcpStream),
    Dropped { from: SocketAddr, why: String },
    Different(String),
    Seen(usize, String),
}

/// What they know.
struct Shared {
    settings: Settings,
    events: Mutex<Sender<Event>>,
    deadline: Instant,
    over: AtomicBool,
    unknown: AtomicUsize,
}

impl Shared {
    fn tell(&self, event: Event) {
        let events = self.events.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Nobody listens any more once it is over.
        let _ = events.send(event);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    fn hello(&self, to: usize, lane: Lane) -> Hello {
        let Settings { hosts, process, jobs, question, .. } = &self.settings;
        Hello { processes: hosts.processes(), jobs: *jobs, from: *process, to, lane, question: question.clone() }
    }
}

/// Brings all processes together, or says why that is not possible. Then start right away: the
/// others listen for signs of life.
pub fn connect(settings: Settings, note: &mut dyn FnMut(&Note)) -> Result<Network, ConnectError> {
    let (processes, me) = (settings.hosts.processes(), settings.process);
    if me >= processes {
        let last = processes - 1;
        let text = format!("there is no process {me}: the hosts are those of the processes 0 to {last}");
        return Err(ConnectError::Settings(text));
    }
    if settings.jobs == 0 {
        return Err(ConnectError::Settings("0 jobs: each process needs at least one".to_owned()));
    }
    let start = Instant::now();
    let deadline = start + settings.connect_timeout;
    let listener = if me + 1 < processes { Some(listen(settings.hosts.address(me), me, deadline)?) } else { None };
    let (events, told) = mpsc::channel();
    let shared = Shared {
        settings,
        events: Mutex::new(events),
        deadline,
        over: AtomicBool::new(false),
        unknown: AtomicUsize::new(0),
    };
    let shared = Arc::new(shared);
    let listening = listener.map(|listener| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || accept(&shared, &listener))
    });
    for peer in 0..me {
        let shared = Arc::clone(&shared);
        thread::spawn(move || reach(&shared, peer));
    }
    let mut gathering = Gathering::new(&shared.settings, start);
    let gathered = gathering.gather(&told, deadline, note);
    if matches!(gathered, Err(ConnectError::Different(_))) {
        // Others may just be about to connect. They should hear it too, and not wait for us in
        // vain.
        thread::sleep(FAREWELL.min(deadline.saturating_duration_since(Instant::now())));
    }
    shared.over.store(true, Ordering::Relaxed);
    if let Some(listening) = listening {
        // It ends within one look. From here on the port is closed.
        let _ = listening.join();
    }
    gathered?;
    let Gathering { data, pulse, .. } = gathering;
    for stream in data.iter().chain(&pulse).flatten() {
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(None)?;
    }
    Ok(Network { settings: shared.settings.clone(), data, pulse })
}

/// Binds our address. Something may be using it for a moment: a connection of the system's choice,
/// or an earlier run.
fn listen(address: &str, process: usize, deadline: Instant) -> Result<TcpListener, ConnectError> {
    let last = deadline.min(Instant::now() + PATIENCE);
    loop {
        match TcpListener::bind(address) {
            Ok(listener) => {
                listener.set_nonblocking(true)?;
                return Ok(listener);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < last => thread::sleep(LOOK * 10),
            Err(error) => return Err(ConnectError::Listen { address: address.to_owned(), process, error }),
        }
    }
}

/// Asks everyone who connects who they are, each in a thread: one who says nothing holds up nobody.
fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    while !shared.is_over() {
        let accepted = if shared.unknown.load(Ordering::Relaxed) < UNKNOWN { listener.accept().ok() } else { None };
        let Some((stream, from)) = accepted else {
            thread::sleep(LOOK);
            continue;
        };
        shared.unknown.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            shared.tell(answer(&shared, stream, from));
            shared.unknown.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// The side of the one that listens.
fn answer(shared: &Shared, mut stream: TcpStream, from: SocketAddr) -> Event {
    let dropped = |why: &str| Event::Dropped { from, why: why.to_owned() };
    if !is_listed(&shared.settings.hosts, from.ip()) {
        return dropped("the list of hosts has no such address");
    }
    if prepare(&stream).is_err() {
        return dropped("it left");
    }
    let deadline = Instant::now() + PATIENCE;
    let theirs = match Hello::receive(&mut stream, deadline) {
        Ok(hello) => hello,
        Err(NoHello::Stranger(why)) => return dropped(&why),
        Err(NoHello::Version(version)) => {
            let _ = shared.hello(0, Lane::Data).send(&mut stream);
            return Event::Different(hello::other_version(&format!("the process at {from}"), &version));
        }
    };
    let ours = shared.hello(theirs.from, theirs.lane);
    if ours.send(&mut stream).is_err() {
        return dropped("it left");
    }
    if let Some(difference) = ours.difference(&theirs) {
        return Event::Different(difference);
    }
    if theirs.from <= ours.from || theirs.from >= ours.processes {
        return Event::Different(format!("there is another process {}; give each process its own number", theirs.from));
    }
    if !hello::confirmed(&mut stream, deadline) {
        return dropped("it left");
    }
    Event::Joined(theirs.from, theirs.lane, stream)
}

/// Whether an address is ours, or that of one of the hosts.
fn is_listed(hosts: &Hosts, ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    let is_it = |address: &str| {
        let mut found = address.to_socket_addrs().into_iter().flatten();
        found.any(|found| found.ip().to_canonical() == ip)
    };
    ip.is_loopback() || hosts.addresses().any(is_it)
}

/// Both connections to a process, tried until they are there.
fn reach(shared: &Shared, peer: usize) {
    for lane in [Lane::Data, Lane::Pulse] {
        let mut pause = LOOK * 5;
        loop {
            if shared.is_over() {
                return;
            }
            match call(shared, peer, lane) {
                Ok(event) => {
                    let is_joined = matches!(event, Event::Joined(..));
                    shared.tell(event);
                    if is_joined {
                        break;
                    }
                    return;
                }
                Err(seen) => shared.tell(Event::Seen(peer, seen)),
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }
}

/// The side of the one that connects; an error if it may be better next time.
fn call(shared: &Shared, peer: usize, lane: Lane) -> Result<Event, String> {
    let address = shared.settings.hosts.address(peer);
    let said = |error: io::Error| error.to_string();
    let mut last = "its host has no address".to_owned();
    let addresses = address.to_socket_addrs().map_err(said)?;
    let mut connected = None;
    for address in addresses {
        match TcpStream::connect_timeout(&address, ATTEMPT) {
            // A connection to a port that nobody listens at can end where it began.
            Ok(stream) if stream.local_addr().ok() == stream.peer_addr().ok() => {
                "nobody listens".clone_into(&mut last);
            }
            Ok(stream) => {
                connected = Some(stream);
                break;
            }
            Err(error) => last = error.to_string(),
        }
    }
    let mut stream = connected.ok_or(last)?;
    prepare(&stream).map_err(said)?;
    let ours = shared.hello(peer, lane);
    ours.send(&mut stream).map_err(said)?;
    let theirs = match Hello::receive(&mut stream, Instant::now() + PATIENCE) {
        Ok(hello) => hello,
        Err(NoHello::Stranger(why)) => return Err(format!("someone answers, but {why}")),
        Err(NoHello::Version(version)) => {
            return Ok(Event::Different(hello::other_version(&format!("process {peer}"), &version)));
        }
    };
    if let Some(difference) = ours.difference(&theirs) {
        return Ok(Event::Different(difference));
    }
    hello::confirm(&mut stream).map_err(said)?;
    Ok(Event::Joined(peer, lane, stream))
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))
}

/// The connections that are there so far.
struct Gathering<'a> {
    settings: &'a Settings,
    start: Instant,
    data: Vec<Option<TcpStream>>,
    pulse: Vec<Option<TcpStream>>,
    /// What was seen last of each process.
    seen: Vec<String>,
    /// Which processes have all their connections.
    ready: BTreeSet<usize>,
}

impl<'a> Gathering<'a> {
    fn new(settings: &'a Settings, start: Instant) -> Self {
        let none = || (0..settings.hosts.processes()).map(|_| None).collect();
        let seen = vec!["it has not connected".to_owned(); settings.hosts.processes()];
        Self { settings, start, data: none(), pulse: none(), seen, ready: BTreeSet::new() }
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.settings.process;
        (0..self.settings.hosts.processes()).filter(move |&process| process != me)
    }

    fn gather(
        &mut self,
        told: &mpsc::Receiver<Event>,
        deadline: Instant,
        note: &mut dyn FnMut(&Note),
    ) -> Result<(), ConnectError> {
        let mut next_word = self.start + FIRST_WORD;
        let mut is_said = false;
        loop {
            match told.recv_timeout(LOOK) {
                Ok(event) => self.hear(event, note)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            self.look()?;
            let absent = self.absent();
            if absent.is_empty() && !is_said {
                self.say_ready()?;
                is_said = true;
            }
            let unready: Vec<usize> = self.others().filter(|process| !self.ready.contains(process)).collect();
            if is_said && unready.is_empty() {
                break;
            }
            let waiting = if absent.is_empty() { &unready } else { &absent };
            if Instant::now() >= deadline {
                let missing = waiting.iter().map(|&process| self.missing(process)).collect();
                return Err(ConnectError::Missing(missing, self.settings.connect_timeout));
            }
            if Instant::now() >= next_word {
                next_word += NEXT_WORD;
                for &process in waiting {
                    note(&Note::Waiting { process, address: self.address(process) });
                }
            }
        }
        Ok(())
    }

    fn hear(&mut self, event: Event, note: &mut dyn FnMut(&Note)) -> Result<(), ConnectError> {
        match event {
            Event::Joined(process, lane, stream) => {
                let place = if lane == Lane::Data { &mut self.data[process] } else { &mut self.pulse[process] };
                if place.is_some() {
                    let text = format!("there is a second process {process}; give each process its own number");
                    return Err(ConnectError::Different(text));
                }
                // Until the start we only look whether something has come.
                stream.set_nonblocking(true)?;
                *place = Some(stream);
                "it waits for others".clone_into(&mut self.seen[process]);
            }
            Event::Dropped { from, why } => note(&Note::Dropped { from: from.to_string(), why }),
            Event::Different(text) => return Err(ConnectError::Different(text)),
            Event::Seen(process, seen) => self.seen[process] = seen,
        }
        Ok(())
    }

    /// Who is ready, and whether everyone who came is still there.
    fn look(&mut self) -> Result<(), ConnectError> {
        for process in self.others() {
            let left = || ConnectError::Left { process, address: self.settings.hosts.address(process).to_owned() };
            let mut word = [0];
            if let Some(stream) = &self.data[process] {
                something(stream.peek(&mut word)).map_err(|()| left())?;
            }
            let Some(mut stream) = self.pulse[process].as_ref() else { continue };
            if self.ready.contains(&process) {
                // What comes after that word is for later.
                something(stream.peek(&mut word)).map_err(|()| left())?;
            } else if something(stream.read(&mut word)).map_err(|()| left())? {
                if word != [pulse::READY] {
                    return Err(left());
                }
                self.ready.insert(process);
            }
        }
        Ok(())
    }

    fn say_ready(&mut self) -> Result<(), ConnectError> {
        for process in self.others() {
            let Some(mut stream) = self.pulse[process].as_ref() else { continue };
            if stream.write_all(&[pulse::READY]).is_err() {
                return Err(ConnectError::Left { process, address: self.address(process) });
            }
        }
        Ok(())
    }

    fn absent(&self) -> Vec<usize> {
        self.others().filter(|&process| self.data[process].is_none() || self.pulse[process].is_none()).collect()
    }

    fn address(&self, process: usize) -> String {
        self.settings.hosts.address(process).to_owned()
    }

    fn missing(&self, process: usize) -> Missing {
        Missing { process, address: self.address(process), seen: self.seen[process].clone() }
    }
}

/// Whether there is something to read, or nothing yet; an error if the connection has ended.
fn something(read: io::Result<usize>) -> Result<bool, ()> {
    match read {
        Ok(0) => Err(()),
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(false),
        Err(_) => Err(()),
    }
}

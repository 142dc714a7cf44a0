//! Connects the processes: each pair of processes gets one connection for data and one for
//! heartbeats.
//!
//! Of two processes, the one with the larger number connects. The other one listens at its address
//! in the list. A process that has all its connections reports this to all others. It starts when
//! all others have reported the same. After the start no process listens.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::connect_error::{ConnectError, Note};
use crate::handshake::{self, ConnectionKind, Handshake, HandshakeError};
use crate::hosts::Hosts;
use crate::settings::Settings;
use crate::start_barrier::{ConnectEvent, POLL_INTERVAL, StartBarrier};

/// The time limit for one handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The time limit for one attempt to connect.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum number of handshakes at the same time. Further connections wait.
const MAX_HANDSHAKES: usize = 64;
/// The time for which a process still answers after a mismatch, so that the others report it too.
const MISMATCH_DELAY: Duration = Duration::from_secs(1);

/// All connections of a process.
#[derive(Debug)]
pub struct Network {
    pub(crate) settings: Settings,
    /// By process; `None` for this process.
    pub(crate) data: Vec<Option<TcpStream>>,
    pub(crate) heartbeat: Vec<Option<TcpStream>>,
}

/// The data that the connecting threads share.
struct ConnectContext {
    settings: Settings,
    events: Mutex<Sender<ConnectEvent>>,
    deadline: Instant,
    over: AtomicBool,
    handshakes: AtomicUsize,
}

impl ConnectContext {
    /// Sends an event to the thread that called [`connect`].
    fn send(&self, event: ConnectEvent) {
        let events = self.events.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // After the end of `connect` there is no receiver.
        let _ = events.send(event);
    }

    /// Returns whether the connecting threads should end.
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// Returns the handshake of this process on a connection to process `to`.
    fn handshake(&self, to: usize, kind: ConnectionKind) -> Handshake {
        let Settings { hosts, process, jobs, question, .. } = &self.settings;
        Handshake { processes: hosts.processes(), jobs: *jobs, from: *process, to, kind, question: question.clone() }
    }
}

/// Connects this process with all others.
///
/// The caller must start the run immediately afterwards, because the other processes expect
/// heartbeats.
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
    let (sender, events) = mpsc::channel();
    let context = ConnectContext {
        settings,
        events: Mutex::new(sender),
        deadline,
        over: AtomicBool::new(false),
        handshakes: AtomicUsize::new(0),
    };
    let context = Arc::new(context);
    let accepting = listener.map(|listener| {
        let context = Arc::clone(&context);
        thread::spawn(move || accept(&context, &listener))
    });
    for peer in 0..me {
        let context = Arc::clone(&context);
        thread::spawn(move || connect_to(&context, peer));
    }
    let mut barrier = StartBarrier::new(&context.settings, start);
    let result = barrier.wait(&events, deadline, note);
    if matches!(result, Err(ConnectError::Mismatch(_))) {
        // Other processes may be about to connect. They report the mismatch too, and do not wait
        // for this process until their time limit.
        thread::sleep(MISMATCH_DELAY.min(deadline.saturating_duration_since(Instant::now())));
    }
    context.over.store(true, Ordering::Relaxed);
    if let Some(accepting) = accepting {
        // The thread ends within one poll. After that the port is closed.
        let _ = accepting.join();
    }
    result?;
    let StartBarrier { data, heartbeat, .. } = barrier;
    for stream in data.iter().chain(&heartbeat).flatten() {
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(None)?;
    }
    Ok(Network { settings: context.settings.clone(), data, heartbeat })
}

/// Binds the address of this process. Repeats this for some seconds, because the port may still be
/// in use: by an earlier run, or by an outgoing connection that the system has given this port.
fn listen(address: &str, process: usize, deadline: Instant) -> Result<TcpListener, ConnectError> {
    let last_attempt = deadline.min(Instant::now() + HANDSHAKE_TIMEOUT);
    loop {
        match TcpListener::bind(address) {
            Ok(listener) => {
                listener.set_nonblocking(true)?;
                return Ok(listener);
            }
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < last_attempt => {
                thread::sleep(POLL_INTERVAL * 10);
            }
            Err(error) => return Err(ConnectError::Listen { address: address.to_owned(), process, error }),
        }
    }
}

/// Accepts connections. Each handshake has its own thread, so that a silent peer delays no other.
fn accept(context: &Arc<ConnectContext>, listener: &TcpListener) {
    while !context.is_over() {
        let accepted =
            if context.handshakes.load(Ordering::Relaxed) < MAX_HANDSHAKES { listener.accept().ok() } else { None };
        let Some((stream, from)) = accepted else {
            thread::sleep(POLL_INTERVAL);
            continue;
        };
        context.handshakes.fetch_add(1, Ordering::Relaxed);
        let context = Arc::clone(context);
        thread::spawn(move || {
            context.send(answer(&context, stream, from));
            context.handshakes.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// Runs the handshake of the side that listens.
fn answer(context: &ConnectContext, mut stream: TcpStream, from: SocketAddr) -> ConnectEvent {
    let dropped = |why: &str| ConnectEvent::Dropped { from, why: why.to_owned() };
    if !is_listed(&context.settings.hosts, from.ip()) {
        return dropped("its address is not in the list of hosts");
    }
    if prepare(&stream).is_err() {
        return dropped("it closed the connection");
    }
    let deadline = Instant::now() + HANDSHAKE_TIMEOUT;
    let theirs = match Handshake::receive(&mut stream, deadline) {
        Ok(handshake) => handshake,
        Err(HandshakeError::NotAPeer(why)) => return dropped(&why),
        Err(HandshakeError::OtherVersion(version)) => {
            let _ = context.handshake(0, ConnectionKind::Data).send(&mut stream);
            return ConnectEvent::Mismatch(handshake::other_version(&format!("the process at {from}"), &version));
        }
    };
    let ours = context.handshake(theirs.from, theirs.kind);
    if ours.send(&mut stream).is_err() {
        return dropped("it closed the connection");
    }
    if let Some(mismatch) = ours.mismatch(&theirs) {
        return ConnectEvent::Mismatch(mismatch);
    }
    if theirs.from <= ours.from || theirs.from >= ours.processes {
        return ConnectEvent::Mismatch(format!(
            "there is another process {}; give each process its own number",
            theirs.from
        ));
    }
    if !handshake::confirmed(&mut stream, deadline) {
        return dropped("it closed the connection");
    }
    ConnectEvent::Joined(theirs.from, theirs.kind, stream)
}

/// Returns whether an address is one of this machine or of a host in the list.
fn is_listed(hosts: &Hosts, ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    let has_ip = |address: &str| {
        let mut resolved = address.to_socket_addrs().into_iter().flatten();
        resolved.any(|resolved| resolved.ip().to_canonical() == ip)
    };
    ip.is_loopback() || hosts.addresses().any(has_ip)
}

/// Makes both connections to a process. Repeats failed attempts until the time limit.
fn connect_to(context: &ConnectContext, peer: usize) {
    for kind in [ConnectionKind::Data, ConnectionKind::Heartbeat] {
        let mut pause = POLL_INTERVAL * 5;
        loop {
            if context.is_over() {
                return;
            }
            match connect_once(context, peer, kind) {
                Ok(event) => {
                    let is_joined = matches!(event, ConnectEvent::Joined(..));
                    context.send(event);
                    if is_joined {
                        break;
                    }
                    return;
                }
                Err(status) => context.send(ConnectEvent::Status(peer, status)),
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }
}

/// Makes one attempt of the side that connects. An error means that another attempt may succeed.
fn connect_once(context: &ConnectContext, peer: usize, kind: ConnectionKind) -> Result<ConnectEvent, String> {
    let address = context.settings.hosts.address(peer);
    let text = |error: io::Error| error.to_string();
    let mut failure = "its host has no address".to_owned();
    let addresses = address.to_socket_addrs().map_err(text)?;
    let mut connected = None;
    for address in addresses {
        match TcpStream::connect_timeout(&address, ATTEMPT_TIMEOUT) {
            // A connection to a local port without a listener may reach itself.
            Ok(stream) if stream.local_addr().ok() == stream.peer_addr().ok() => {
                "no process listens".clone_into(&mut failure);
            }
            Ok(stream) => {
                connected = Some(stream);
                break;
            }
            Err(error) => failure = error.to_string(),
        }
    }
    let mut stream = connected.ok_or(failure)?;
    prepare(&stream).map_err(text)?;
    let ours = context.handshake(peer, kind);
    ours.send(&mut stream).map_err(text)?;
    let theirs = match Handshake::receive(&mut stream, Instant::now() + HANDSHAKE_TIMEOUT) {
        Ok(handshake) => handshake,
        Err(HandshakeError::NotAPeer(why)) => return Err(format!("something else answers: {why}")),
        Err(HandshakeError::OtherVersion(version)) => {
            return Ok(ConnectEvent::Mismatch(handshake::other_version(&format!("process {peer}"), &version)));
        }
    };
    if let Some(mismatch) = ours.mismatch(&theirs) {
        return Ok(ConnectEvent::Mismatch(mismatch));
    }
    handshake::confirm(&mut stream).map_err(text)?;
    Ok(ConnectEvent::Joined(peer, kind, stream))
}

/// Sets the options that a connection needs for the handshake.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(HANDSHAKE_TIMEOUT))
}

//! Real processes and sockets on this machine.

mod common;

use std::collections::BTreeSet;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use common::{APART, Ended, LONG, LOST, Running, Task};
use cuba_cluster::Hosts;

/// The main function of the processes that the tests start: see `common::main`. As a test it does
/// nothing.
#[test]
fn a_process() {
    common::main();
}

/// Free ports that no other test uses. Ports of other tests may still be unbound.
fn hosts(processes: usize) -> Hosts {
    static TAKEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut taken = TAKEN.lock().expect("no panics");
    loop {
        let hosts = Hosts::local(processes).expect("there are free ports");
        if !hosts.addresses().any(|address| taken.contains(address)) {
            taken.extend(hosts.addresses().map(str::to_owned));
            return hosts;
        }
    }
}

fn all(hosts: &Hosts, change: impl Fn(&mut Task)) -> Vec<Running> {
    let task = |process| {
        let mut task = Task::new(hosts, process);
        change(&mut task);
        task.start()
    };
    (0..hosts.processes()).map(task).collect()
}

/// Checks that a process has reported the loss once, without a panic.
fn is_lost(ended: &Ended, gone: usize, hosts: &Hosts) {
    let message = format!("error: process {gone} ({}) is gone", hosts.address(gone));
    assert_eq!(ended.code, Some(LOST), "{ended:?}");
    assert_eq!(ended.stderr.matches("error:").count(), 1, "{ended:?}");
    assert!(ended.stderr.contains(&message), "{ended:?}");
    assert!(!ended.stderr.contains("panicked at"), "{ended:?}");
}

#[test]
fn the_same_answer_however_many() {
    let expected = common::expected();
    for (processes, jobs) in [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (3, 2)] {
        let hosts = hosts(processes);
        let ended: Vec<Ended> = all(&hosts, |task| task.jobs = jobs).into_iter().map(Running::end).collect();
        for ended in &ended {
            assert_eq!(ended.code, Some(7), "{ended:?}");
            assert!(!ended.stderr.contains("error"), "{ended:?}");
        }
        assert!(ended[0].stdout.contains(&expected), "{expected}: {ended:?}");
        assert!(ended[0].stdout.contains("finished"), "{ended:?}");
    }
}

#[test]
fn a_process_that_is_killed() {
    for gone in [0, 2] {
        let hosts = hosts(3);
        let mut running = all(&hosts, |task| task.pause = Duration::from_millis(100));
        running[0].says("superstep 2");
        running[gone].signal("-KILL");
        let start = Instant::now();
        running.remove(gone);
        let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
        assert!(start.elapsed() < Duration::from_secs(10), "{ended:?}");
        for ended in &ended {
            is_lost(ended, gone, &hosts);
        }
    }
}

#[test]
fn a_process_that_is_stopped() {
    let hosts = hosts(3);
    let mut running = all(&hosts, |task| {
        task.pause = Duration::from_millis(100);
        task.silence = Duration::from_secs(5);
    });
    running[0].says("superstep 2");
    running[1].signal("-STOP");
    let stopped = running.remove(1);
    let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
    for ended in &ended {
        is_lost(ended, 1, &hosts);
    }
    assert!(ended.iter().any(|ended| ended.stderr.contains("is gone (silent for 5 s)")), "{ended:?}");
    // When it continues, the other processes have ended.
    stopped.signal("-CONT");
    is_lost(&stopped.end(), 1, &hosts);
}

#[test]
fn a_part_that_panics() {
    let hosts = hosts(2);
    let running = all(&hosts, |task| {
        task.jobs = 2;
        task.panics = Some(3);
    });
    let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
    is_lost(&ended[0], 1, &hosts);
    assert_eq!(ended[1].code, Some(LOST), "{ended:?}");
    assert_eq!(ended[1].stderr.matches("panicked at").count(), 1, "{ended:?}");
    assert!(ended[1].stderr.contains("is gone (it is this one, and has panicked)"), "{ended:?}");
}

#[test]
fn another_model() {
    let hosts = hosts(3);
    let running = all(&hosts, |task| task.model = if task.process == 2 { 5 } else { 1 });
    let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
    assert!(ended.iter().all(|ended| ended.code == Some(APART)), "{ended:?}");
    let says = |process: usize, what: &str| ended[process].stderr.contains(what);
    // Any process may notice it first. No process keeps waiting.
    let both = says(0, "error: process 2 has another model;") || says(1, "error: process 2 has another model;");
    assert!(both, "{ended:?}");
    assert!(
        says(2, "error: process 0 has another model;") || says(2, "error: process 1 has another model;"),
        "{ended:?}"
    );
}

#[test]
fn other_numbers() {
    let two = hosts(2);
    let running = all(&two, |task| task.jobs = 1 + task.process);
    let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
    assert!(ended[0].stderr.contains("process 1 has 2 jobs, and this one 1"), "{ended:?}");
    assert!(ended[1].stderr.contains("process 0 has 1 jobs, and this one 2"), "{ended:?}");

    let ended = Task::new(&two, 2).start().end();
    assert!(ended.stderr.contains("there is no process 2: the hosts are those of the processes 0 to 1"), "{ended:?}");
}

#[test]
fn strangers_at_the_port() {
    let hosts = hosts(2);
    let first = Task::new(&hosts, 0).start();
    let connect = || {
        let start = Instant::now();
        loop {
            match TcpStream::connect(hosts.address(0)) {
                Ok(stream) => return stream,
                Err(error) => assert!(start.elapsed() < LONG, "{error}"),
            }
            thread::sleep(Duration::from_millis(20));
        }
    };
    let mut chatty = connect();
    chatty.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it is connected");
    first.says("note: dropped a connection from 127.0.0.1:");
    first.says("it uses another protocol");
    // These send nothing, and one closes its connection within the handshake.
    let silent: Vec<TcpStream> = (0..5).map(|_| connect()).collect();
    connect().write_all(b"cuba").expect("it is connected");
    let second = Task::new(&hosts, 1).start();
    let ended = [first.end(), second.end()];
    assert!(ended.iter().all(|ended| ended.code == Some(7)), "{ended:?}");
    assert!(ended[0].stdout.contains(&common::expected()), "{ended:?}");
    drop(silent);
}

#[test]
fn a_process_that_never_comes() {
    let hosts = hosts(3);
    let short = |process| {
        let mut task = Task::new(&hosts, process);
        task.connect = Duration::from_secs(6);
        task.start()
    };
    let running = [short(0), short(1)];
    running[0].says(&format!("note: waiting for process 2 at {}", hosts.address(2)));
    for ended in running.map(Running::end) {
        assert_eq!(ended.code, Some(APART), "{ended:?}");
        let is_missing = ended.stderr.contains("error: waited 6 s for ") && ended.stderr.contains("process 2 at ");
        // The other process may have ended a moment before.
        assert!(is_missing || ended.stderr.contains("has left before the start"), "{ended:?}");
    }
}

#[test]
fn a_process_that_leaves_while_others_wait() {
    let hosts = hosts(3);
    let first = Task::new(&hosts, 0).start();
    let second = Task::new(&hosts, 1).start();
    // Both wait for process 2. The test cannot observe that they are connected, but this takes
    // little time.
    first.says("note: waiting for process 2");
    second.says("note: waiting for process 2");
    drop(second);
    let ended = first.end();
    assert_eq!(ended.code, Some(APART), "{ended:?}");
    let message = format!("error: process 1 ({}) has left before the start", hosts.address(1));
    assert!(ended.stderr.contains(&message), "{ended:?}");
}

#[test]
fn a_port_that_is_taken() {
    // A connection of another test may use a port that was free before.
    let (hosts, taken) = std::iter::repeat_with(|| hosts(2))
        .take(100)
        .find_map(|hosts| std::net::TcpListener::bind(hosts.address(0)).ok().map(|taken| (hosts, taken)))
        .expect("there are free ports");
    let ended = Task::new(&hosts, 0).start().end();
    assert_eq!(ended.code, Some(APART), "{ended:?}");
    assert!(ended.stderr.contains(&format!("error: cannot listen at {}: ", hosts.address(0))), "{ended:?}");
    drop(taken);
}

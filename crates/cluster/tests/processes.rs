//! Real processes and sockets on this machine.

mod common;

use std::collections::BTreeSet;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use common::{Ended, LONG, LOST, NOT_CONNECTED, Running, Task};
use cuba_cluster::Hosts;

/// Runs `common::main` in the processes that the tests start. As a test it does nothing.
#[test]
fn a_process() {
    common::main();
}

/// Returns free ports that no other test uses. Another test may not have bound its ports yet.
fn hosts(processes: usize) -> Hosts {
    static TAKEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut taken = TAKEN.lock().expect("no other test panicked");
    loop {
        let hosts = Hosts::local(processes).expect("there are free ports");
        if !hosts.addresses().any(|address| taken.contains(address)) {
            taken.extend(hosts.addresses().map(str::to_owned));
            return hosts;
        }
    }
}

/// Starts all processes, with changed tasks.
fn start_all(hosts: &Hosts, change: impl Fn(&mut Task)) -> Vec<Running> {
    let task = |process| {
        let mut task = Task::new(hosts, process);
        change(&mut task);
        task.start()
    };
    (0..hosts.processes()).map(task).collect()
}

/// Asserts that a process has reported the loss of process `gone` once, without a panic.
fn assert_reports_loss(ended: &Ended, gone: usize, hosts: &Hosts) {
    let message = format!("error: process {gone} ({}) is gone", hosts.address(gone));
    assert_eq!(ended.code, Some(LOST), "{ended:?}");
    assert_eq!(ended.stderr.matches("error:").count(), 1, "{ended:?}");
    assert!(ended.stderr.contains(&message), "{ended:?}");
    assert!(!ended.stderr.contains("panicked at"), "{ended:?}");
}

#[test]
fn any_number_of_processes_gives_the_same_answer() {
    let expected = common::expected_result();
    for (processes, jobs) in [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (3, 2)] {
        let hosts = hosts(processes);
        let ended: Vec<Ended> = start_all(&hosts, |task| task.jobs = jobs).into_iter().map(Running::end).collect();
        for ended in &ended {
            assert_eq!(ended.code, Some(7), "{ended:?}");
            assert!(!ended.stderr.contains("error"), "{ended:?}");
        }
        assert!(ended[0].stdout.contains(&expected), "{expected}: {ended:?}");
        assert!(ended[0].stdout.contains("finished"), "{ended:?}");
    }
}

#[test]
fn a_killed_process_is_reported() {
    for gone in [0, 2] {
        let hosts = hosts(3);
        let mut running = start_all(&hosts, |task| task.pause = Duration::from_millis(100));
        running[0].wait_for_output("superstep 2");
        running[gone].signal("-KILL");
        let start = Instant::now();
        running.remove(gone);
        let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
        assert!(start.elapsed() < Duration::from_secs(10), "{ended:?}");
        for ended in &ended {
            assert_reports_loss(ended, gone, &hosts);
        }
    }
}

#[test]
fn a_stopped_process_is_reported() {
    let hosts = hosts(3);
    let mut running = start_all(&hosts, |task| {
        task.pause = Duration::from_millis(100);
        task.silence = Duration::from_secs(5);
    });
    running[0].wait_for_output("superstep 2");
    running[1].signal("-STOP");
    let stopped = running.remove(1);
    let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
    for ended in &ended {
        assert_reports_loss(ended, 1, &hosts);
    }
    assert!(ended.iter().any(|ended| ended.stderr.contains("is gone (silent for 5 s)")), "{ended:?}");
    // When process 1 continues, the other processes have ended.
    stopped.signal("-CONT");
    assert_reports_loss(&stopped.end(), 1, &hosts);
}

#[test]
fn a_panic_of_a_part_is_reported() {
    let hosts = hosts(2);
    let running = start_all(&hosts, |task| {
        task.jobs = 2;
        task.panics = Some(3);
    });
    let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
    assert_reports_loss(&ended[0], 1, &hosts);
    assert_eq!(ended[1].code, Some(LOST), "{ended:?}");
    assert_eq!(ended[1].stderr.matches("panicked at").count(), 1, "{ended:?}");
    assert!(ended[1].stderr.contains("is gone (it is this one, and has panicked)"), "{ended:?}");
}

#[test]
fn another_model_is_reported() {
    let hosts = hosts(3);
    let running = start_all(&hosts, |task| task.model = if task.process == 2 { 5 } else { 1 });
    let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
    assert!(ended.iter().all(|ended| ended.code == Some(NOT_CONNECTED)), "{ended:?}");
    let reports = |process: usize, text: &str| ended[process].stderr.contains(text);
    // Any process may detect the mismatch first. No process continues to wait.
    let is_reported =
        reports(0, "error: process 2 has another model;") || reports(1, "error: process 2 has another model;");
    assert!(is_reported, "{ended:?}");
    assert!(
        reports(2, "error: process 0 has another model;") || reports(2, "error: process 1 has another model;"),
        "{ended:?}"
    );
}

#[test]
fn other_numbers_of_jobs_or_processes_are_reported() {
    let two = hosts(2);
    let running = start_all(&two, |task| task.jobs = 1 + task.process);
    let ended: Vec<Ended> = running.into_iter().map(Running::end).collect();
    assert!(ended[0].stderr.contains("process 1 has 2 jobs, and this one 1"), "{ended:?}");
    assert!(ended[1].stderr.contains("process 0 has 1 jobs, and this one 2"), "{ended:?}");

    let ended = Task::new(&two, 2).start().end();
    assert!(ended.stderr.contains("there is no process 2: the hosts are those of the processes 0 to 1"), "{ended:?}");
}

#[test]
fn connections_of_other_programs_are_dropped() {
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
    let mut with_other_protocol = connect();
    with_other_protocol.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("the connection is open");
    first.wait_for_output("note: dropped a connection from 127.0.0.1:");
    first.wait_for_output("it uses another protocol");
    // Five connections send nothing. One closes within the handshake.
    let silent: Vec<TcpStream> = (0..5).map(|_| connect()).collect();
    connect().write_all(b"cuba").expect("the connection is open");
    let second = Task::new(&hosts, 1).start();
    let ended = [first.end(), second.end()];
    assert!(ended.iter().all(|ended| ended.code == Some(7)), "{ended:?}");
    assert!(ended[0].stdout.contains(&common::expected_result()), "{ended:?}");
    drop(silent);
}

#[test]
fn a_missing_process_is_reported() {
    let hosts = hosts(3);
    let with_short_limit = |process| {
        let mut task = Task::new(&hosts, process);
        task.connect = Duration::from_secs(6);
        task.start()
    };
    let running = [with_short_limit(0), with_short_limit(1)];
    running[0].wait_for_output(&format!("note: waiting for process 2 at {}", hosts.address(2)));
    for ended in running.map(Running::end) {
        assert_eq!(ended.code, Some(NOT_CONNECTED), "{ended:?}");
        let is_missing = ended.stderr.contains("error: waited 6 s for ") && ended.stderr.contains("process 2 at ");
        // The other process may have reached its time limit first.
        assert!(is_missing || ended.stderr.contains("has left before the start"), "{ended:?}");
    }
}

#[test]
fn a_process_that_ends_before_the_start_is_reported() {
    let hosts = hosts(3);
    let first = Task::new(&hosts, 0).start();
    let second = Task::new(&hosts, 1).start();
    // Both wait for process 2. The test cannot observe when they are connected to each other, but
    // they need little time for it.
    first.wait_for_output("note: waiting for process 2");
    second.wait_for_output("note: waiting for process 2");
    drop(second);
    let ended = first.end();
    assert_eq!(ended.code, Some(NOT_CONNECTED), "{ended:?}");
    let message = format!("error: process 1 ({}) has left before the start", hosts.address(1));
    assert!(ended.stderr.contains(&message), "{ended:?}");
}

#[test]
fn a_port_in_use_is_reported() {
    // A connection of another test may use a port that was free before.
    let (hosts, listener) = std::iter::repeat_with(|| hosts(2))
        .take(100)
        .find_map(|hosts| std::net::TcpListener::bind(hosts.address(0)).ok().map(|listener| (hosts, listener)))
        .expect("there are free ports");
    let ended = Task::new(&hosts, 0).start().end();
    assert_eq!(ended.code, Some(NOT_CONNECTED), "{ended:?}");
    assert!(ended.stderr.contains(&format!("error: cannot listen at {}: ", hosts.address(0))), "{ended:?}");
    drop(listener);
}

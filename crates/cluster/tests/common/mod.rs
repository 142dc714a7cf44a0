//! Processes for tests. Each process is the test program itself, started again with a task in an
//! environment variable.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use cuba_cluster::{Bytes, Hosts, Loss, Part, Settings};
use serde::{Deserialize, Serialize};

/// The exit code if a process is lost.
pub(crate) const LOST: i32 = 40;
/// The exit code if the processes cannot connect.
pub(crate) const NOT_CONNECTED: i32 = 41;
/// A time limit that no test reaches, even on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// The task of a process.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) hosts: Hosts,
    pub(crate) process: usize,
    pub(crate) jobs: usize,
    pub(crate) model: u64,
    pub(crate) connect: Duration,
    pub(crate) silence: Duration,
    /// The minimum duration of a superstep.
    pub(crate) pause: Duration,
    /// The part that panics in superstep 2.
    pub(crate) panics: Option<usize>,
}

impl Task {
    /// Returns a task with one job and long time limits.
    pub(crate) fn new(hosts: &Hosts, process: usize) -> Self {
        let hosts = hosts.clone();
        let (connect, silence) = (LONG / 2, LONG / 4);
        Self { hosts, process, jobs: 1, model: 1, connect, silence, pause: Duration::ZERO, panics: None }
    }

    /// Returns the task as text.
    fn encode(&self) -> String {
        let numbers = [
            self.process.to_string(),
            self.jobs.to_string(),
            self.model.to_string(),
            self.connect.as_millis().to_string(),
            self.silence.as_millis().to_string(),
            self.pause.as_millis().to_string(),
            self.panics.map_or("-".to_owned(), |part| part.to_string()),
        ];
        format!("{}\n{}", numbers.join(" "), self.hosts)
    }

    /// Parses a task.
    fn decode(text: &str) -> Self {
        let (numbers, hosts) = text.split_once('\n').expect("two lines at least");
        let numbers: Vec<Option<u64>> = numbers.split(' ').map(|number| number.parse().ok()).collect();
        let number = |index: usize| numbers[index].expect("a number");
        let size = |number: u64| usize::try_from(number).expect("small numbers");
        Self {
            hosts: Hosts::parse("task", hosts).expect("hosts"),
            process: size(number(0)),
            jobs: size(number(1)),
            model: number(2),
            connect: Duration::from_millis(number(3)),
            silence: Duration::from_millis(number(4)),
            pause: Duration::from_millis(number(5)),
            panics: numbers[6].map(size),
        }
    }

    /// Starts the process.
    pub(crate) fn start(&self) -> Running {
        let program: PathBuf = std::env::current_exe().expect("the path of this program");
        let mut command = Command::new(program);
        command
            .args(["--exact", "a_process", "--nocapture", "--test-threads=1"])
            .env("CUBA_CLUSTER_TASK", self.encode());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the process starts");
        let stdout = collect_output(child.stdout.take().expect("piped"));
        let stderr = collect_output(child.stderr.take().expect("piped"));
        Running { child, stdout, stderr }
    }
}

/// A process under test. It is killed when the test is over.
pub(crate) struct Running {
    pub(crate) child: Child,
    stdout: CollectedOutput,
    stderr: CollectedOutput,
}

/// The output of a process so far, and the thread that reads it.
struct CollectedOutput(Arc<Mutex<String>>, Option<thread::JoinHandle<()>>);

/// Starts a thread that reads the output of a process.
fn collect_output(from: impl Read + Send + 'static) -> CollectedOutput {
    let text = Arc::new(Mutex::new(String::new()));
    let shared_text = Arc::clone(&text);
    let thread = thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            *shared_text.lock().expect("no panics") += &(line + "\n");
        }
    });
    CollectedOutput(text, Some(thread))
}

impl CollectedOutput {
    /// Returns the output so far.
    fn so_far(&self) -> String {
        self.0.lock().expect("no panics").clone()
    }

    /// Waits for the end of the output, and returns all of it.
    fn all(&mut self) -> String {
        if let Some(thread) = self.1.take() {
            thread.join().expect("no panics");
        }
        self.so_far()
    }
}

/// The exit code and the output of a process.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Running {
    /// Waits until the output contains this text.
    pub(crate) fn wait_for_output(&self, expected: &str) {
        let start = Instant::now();
        while !(self.stdout.so_far() + &self.stderr.so_far()).contains(expected) {
            let (out, err) = (self.stdout.so_far(), self.stderr.so_far());
            assert!(start.elapsed() < LONG, "the output does not contain `{expected}`:\n{out}\n{err}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits for the end of the process.
    pub(crate) fn end(mut self) -> Ended {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("the child has a status") {
                break status;
            }
            let (out, err) = (self.stdout.so_far(), self.stderr.so_far());
            assert!(start.elapsed() < LONG, "the process does not end:\n{out}\n{err}");
            thread::sleep(Duration::from_millis(5));
        };
        Ended { code: status.code(), stdout: self.stdout.all(), stderr: self.stderr.all() }
    }

    /// Sends a signal to the process.
    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.expect("the program `kill` exists").success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The number of nodes of a graph. A part stores the nodes equal to its number modulo the number of
/// parts.
const NODES: u64 = 50_000;

/// Returns the successors of a node.
fn successors(node: u64) -> [u64; 3] {
    [(node * 7 + 1) % NODES, (node / 2 + 3) % NODES, (node * node) % NODES]
}

/// Searches from node 0 in one process. Returns the number of nodes, their sum, and the number of
/// levels, as text.
pub(crate) fn expected_result() -> String {
    let (mut seen, mut level, mut levels) = (BTreeSet::from([0]), vec![0], 0);
    while !level.is_empty() {
        level = level.into_iter().flat_map(successors).filter(|&node| seen.insert(node)).collect();
        levels += 1;
    }
    format!("{} nodes of sum {} in {levels} levels", seen.len(), seen.iter().sum::<u64>())
}

/// A command of the search.
#[derive(Clone, Serialize, Deserialize)]
enum SearchCommand {
    Begin,
    Level,
    Stop(i32),
}

/// A part of the search.
struct Search {
    index: usize,
    parts: usize,
    seen: BTreeSet<u64>,
    steps: usize,
    task: Task,
}

impl Part for Search {
    type Command = SearchCommand;
    type Block = Bytes;
    /// The number of new nodes, and their sum.
    type Reply = (u64, u64);

    fn step(
        &mut self,
        command: SearchCommand,
        received: Vec<(usize, Bytes)>,
        send: &mut dyn FnMut(usize, Bytes),
    ) -> (u64, u64) {
        thread::sleep(self.task.pause);
        self.steps += 1;
        assert!(self.task.panics != Some(self.index) || self.steps < 3, "this part panics for the test");
        let mut arrived = match command {
            SearchCommand::Begin if self.index == 0 => vec![0],
            _ => Vec::new(),
        };
        assert!(received.is_sorted_by_key(|&(from, _)| from));
        for (_, block) in &received {
            let nodes = block.0.as_chunks::<8>().0;
            arrived.extend(nodes.iter().map(|&bytes| u64::from_le_bytes(bytes)));
        }
        arrived.retain(|&node| self.seen.insert(node));
        let mut blocks = vec![Vec::new(); self.parts];
        for node in arrived.iter().flat_map(|&node| successors(node)) {
            let to = usize::try_from(node).expect("small numbers") % self.parts;
            blocks[to].extend(node.to_le_bytes());
            // Small blocks cause many messages.
            if blocks[to].len() >= 200 {
                send(to, Bytes(std::mem::take(&mut blocks[to])));
            }
        }
        for (to, block) in blocks.into_iter().enumerate() {
            if !block.is_empty() {
                send(to, Bytes(block));
            }
        }
        (arrived.len() as u64, arrived.iter().sum())
    }
}

/// The main function of a process with a task.
pub(crate) fn main() {
    let Ok(task) = std::env::var("CUBA_CLUSTER_TASK") else { return };
    let task = Task::decode(&task);
    let question = vec![("another model".to_owned(), task.model), ("other options".to_owned(), 1)];
    let settings = Settings {
        connect_timeout: task.connect,
        silence: task.silence,
        ..Settings::new(task.hosts.clone(), task.process, task.jobs, question)
    };
    eprintln!("process {} connects", task.process);
    let network = cuba_cluster::connect::connect(settings, &mut |note| eprintln!("note: {note}"));
    let network = network.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        std::process::exit(NOT_CONNECTED)
    });
    let lost = |loss: &Loss| -> Infallible {
        eprintln!("error: {loss}");
        std::process::exit(LOST)
    };
    let process = task.process;
    let make = move |index, parts| {
        let task = task.clone();
        Search { index, parts, seen: BTreeSet::new(), steps: 0, task }
    };
    if process != 0 {
        let SearchCommand::Stop(code) = cuba_cluster::supersteps::run(network, make, lost).expect("threads") else {
            unreachable!("the last command is `Stop`")
        };
        std::process::exit(code);
    }
    let mut coordinator = cuba_cluster::supersteps::coordinate(network, make, lost).expect("threads");
    let (mut nodes, mut total, mut levels) = (0, 0, 0);
    let mut command = SearchCommand::Begin;
    loop {
        let replies = coordinator.superstep(command);
        assert_eq!(replies.len(), coordinator.parts());
        let new: u64 = replies.iter().map(|reply| reply.0).sum();
        total += replies.iter().map(|reply| reply.1).sum::<u64>();
        nodes += new;
        println!("superstep {levels}");
        if new == 0 {
            break;
        }
        levels += 1;
        command = SearchCommand::Level;
    }
    // The superstep with node 0 alone is counted. The last one, without new nodes, is not.
    println!("{nodes} nodes of sum {total} in {levels} levels");
    coordinator.finish(SearchCommand::Stop(7));
    println!("finished");
    std::process::exit(7);
}

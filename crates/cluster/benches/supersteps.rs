//! Measures the time of a superstep, and the bytes sent per second:
//! `cargo bench -p cuba-cluster --bench supersteps`.
//!
//! Each process is this same program, started again.

use std::convert::Infallible;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use cuba_cluster::supersteps::{coordinate, run};
use cuba_cluster::{Bytes, Hosts, Part, Settings};

/// A part that sends blocks to all other parts.
struct Load {
    index: usize,
    parts: usize,
}

impl Part for Load {
    /// The number of blocks to each other part, and their length.
    type Command = (usize, usize);
    type Block = Bytes;
    /// The number of received bytes.
    type Reply = usize;

    fn step(
        &mut self,
        (blocks, length): (usize, usize),
        received: Vec<(usize, Bytes)>,
        send: &mut dyn FnMut(usize, Bytes),
    ) -> usize {
        for _ in 0..blocks {
            for to in (0..self.parts).filter(|&to| to != self.index) {
                send(to, Bytes(vec![1; length]));
            }
        }
        received.iter().map(|(_, block)| block.0.len()).sum()
    }
}

/// Runs one process. Process 0 measures, and prints a row.
fn run_process(hosts: &Hosts, process: usize, jobs: usize) {
    let settings = Settings::new(hosts.clone(), process, jobs, Vec::new());
    let network =
        cuba_cluster::connect::connect(settings, &mut |note| eprintln!("{note}")).expect("the processes connect");
    let make = |index, parts| Load { index, parts };
    let lost = |loss: &cuba_cluster::Loss| -> Infallible {
        eprintln!("{loss}");
        std::process::exit(1)
    };
    if process != 0 {
        run::<Load>(network, make, lost).expect("threads");
        return;
    }
    let mut coordinator = coordinate::<Load>(network, make, lost).expect("threads");
    let parts = coordinator.parts();
    print!("{:>9} {jobs:>5}", hosts.processes());
    for blocks in [0, 1] {
        for _ in 0..100 {
            coordinator.superstep((blocks, 100));
        }
        let mut times: Vec<Duration> = Vec::new();
        for _ in 0..2000 {
            let start = Instant::now();
            coordinator.superstep((blocks, 100));
            times.push(start.elapsed());
        }
        times.sort_unstable();
        let micros = |time: Duration| time.as_micros();
        print!("  {:>6} µs (99 %: {:>6} µs)", micros(times[times.len() / 2]), micros(times[times.len() * 99 / 100]));
    }
    for length in [4 << 10, 64 << 10, 512 << 10] {
        if parts == 1 {
            break;
        }
        let blocks = (32 << 20) / length / (parts - 1);
        let (start, mut bytes) = (Instant::now(), 0);
        for _ in 0..10 {
            bytes += coordinator.superstep((blocks, length)).iter().sum::<usize>();
        }
        bytes += coordinator.superstep((0, 0)).iter().sum::<usize>();
        let megabytes = u32::try_from(bytes >> 20).expect("some gigabytes at most");
        print!("  {:>6.0} MB/s", f64::from(megabytes) / start.elapsed().as_secs_f64());
    }
    println!();
    coordinator.finish((0, 0));
}

fn main() {
    let task: Vec<String> =
        std::env::var("CUBA_CLUSTER_BENCH").unwrap_or_default().lines().map(str::to_owned).collect();
    if let [process, jobs, hosts @ ..] = &task[..] {
        let hosts = Hosts::parse("bench", &hosts.join("\n")).expect("hosts");
        return run_process(&hosts, process.parse().expect("a number"), jobs.parse().expect("a number"));
    }
    println!(
        "processes  jobs  superstep without blocks       with one of 100 bytes to each      all to all, in blocks of 4, 64, 512 KiB"
    );
    for (processes, jobs) in [(1, 1), (1, 2), (2, 1), (2, 2), (4, 1)] {
        let hosts = Hosts::local(processes).expect("there are free ports");
        let start = |process: usize| {
            let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
            command
                .env("CUBA_CLUSTER_BENCH", format!("{process}\n{jobs}\n{hosts}"))
                .spawn()
                .expect("the process starts")
        };
        let all: Vec<Child> = (0..processes).map(start).collect();
        for mut child in all {
            assert!(child.wait().expect("the child has a status").success());
        }
    }
}

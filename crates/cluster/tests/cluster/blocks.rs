//! Blocks of every size arrive over sockets, unchanged and in order. The test runs each process in
//! a thread. These threads share no data.

use std::convert::Infallible;
use std::thread;

use cuba_cluster::connect::connect;
use cuba_cluster::supersteps::{coordinate, run};
use cuba_cluster::{Bytes, Hosts, Loss, Network, Part, Settings};

/// The lengths of blocks: near the alignment of Timely, and above the size of its first buffers.
const LENGTHS: [usize; 9] = [0, 1, 7, 8, 9, 100_000, (1 << 20) - 100, 1 << 20, 3 << 20];

/// A part that sends blocks to all parts, and checks the blocks that it receives.
struct BlockSender {
    index: usize,
    parts: usize,
    step: u8,
}

/// Returns the block with this number. Its bytes depend on all four parameters.
fn block(step: u8, from: usize, to: usize, number: usize) -> Bytes {
    let seed = usize::from(step) + 7 * from + 31 * to + 101 * number;
    let mut bytes = vec![u8::try_from(seed % 251).expect("less than 251"); LENGTHS[number]];
    if let Some(last) = bytes.last_mut() {
        *last = step;
    }
    Bytes(bytes)
}

impl Part for BlockSender {
    type Command = bool;
    type Block = Bytes;
    type Reply = usize;

    fn step(&mut self, is_sending: bool, received: Vec<(usize, Bytes)>, send: &mut dyn FnMut(usize, Bytes)) -> usize {
        let (index, parts) = (self.index, self.parts);
        if !received.is_empty() {
            let expected = (0..parts).flat_map(|from| (0..LENGTHS.len()).map(move |number| (from, number)));
            let expected: Vec<_> =
                expected.map(|(from, number)| (from, block(self.step, from, index, number))).collect();
            // `assert_eq` would print megabytes.
            assert!(received == expected, "the received blocks differ from the sent ones");
        }
        self.step += 1;
        if is_sending {
            for number in 0..LENGTHS.len() {
                (0..parts).for_each(|to| send(to, block(self.step, index, to, number)));
            }
        }
        received.len()
    }
}

/// Connects a process.
fn network(hosts: &Hosts, process: usize) -> Network {
    connect(Settings::new(hosts.clone(), process, 2, Vec::new()), &mut |_| ()).expect("the processes connect")
}

fn make(index: usize, parts: usize) -> BlockSender {
    BlockSender { index, parts, step: 0 }
}

fn lost(loss: &Loss) -> Infallible {
    eprintln!("{loss}");
    std::process::exit(1)
}

#[test]
fn blocks_arrive_unchanged_and_in_order() {
    let hosts = Hosts::local(2).expect("there are free ports");
    let other = thread::spawn({
        let hosts = hosts.clone();
        move || run(network(&hosts, 1), make, lost).expect("threads")
    });
    let mut coordinator = coordinate(network(&hosts, 0), make, lost).expect("threads");
    assert_eq!(coordinator.superstep(true), [0; 4]);
    assert_eq!(coordinator.superstep(true), [4 * LENGTHS.len(); 4]);
    assert_eq!(coordinator.superstep(false), [4 * LENGTHS.len(); 4]);
    assert_eq!(coordinator.superstep(false), [0; 4]);
    coordinator.finish(true);
    assert!(other.join().expect("the thread does not panic"), "the last command arrives");
}

//! Supersteps: all parts compute, and the blocks that they send arrive before the next superstep.
//!
//! Each process starts its parts, one for each worker. [`coordinate`] returns the [`Coordinator`]
//! of all parts to process 0. [`run`] runs the parts of another process to the end. If a process is
//! lost, every other process calls a function of its caller, which ends it.

use std::convert::Infallible;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::{Hooks, WorkerGuards};
use timely::scheduling::SyncActivator;
use timely::worker::Worker;

use crate::connect::Network;
use crate::data_connection::DataConnection;
use crate::dataflow::{CoordinatorChannels, CoordinatorMessage, run_worker};
use crate::heartbeat::{Heartbeat, HeartbeatThreads, Loss, LossReason, park_forever};
use crate::part::Part;

/// Controls the run from process 0. If it is dropped before it is [finished](Coordinator::finish),
/// the run is aborted: all other processes report process 0 as lost, and end.
pub struct Coordinator<P: Part> {
    messages: Sender<CoordinatorMessage<P::Command>>,
    replies: Receiver<Vec<P::Reply>>,
    activator: SyncActivator,
    parts: usize,
    threads: Option<ProcessThreads<P::Command>>,
}

/// The threads of a process.
struct ProcessThreads<C: Send + 'static> {
    workers: WorkerGuards<Option<C>>,
    heartbeat: Arc<Heartbeat>,
    heartbeat_threads: HeartbeatThreads,
}

/// Starts the parts of process 0, and returns the coordinator of all parts.
///
/// `make` creates a part from its number and the number of parts. `lost` is called once if a
/// process is lost. It reports the loss and ends this process at once, so it does not return: the
/// parts may wait for the lost process for ever.
pub fn coordinate<P: Part>(
    network: Network,
    make: impl Fn(usize, usize) -> P + Send + Sync + 'static,
    lost: impl Fn(&Loss) -> Infallible + Send + Sync + 'static,
) -> io::Result<Coordinator<P>> {
    assert_eq!(network.settings.process, 0, "process 0 coordinates");
    let parts = network.settings.parts();
    let (messages, messages_of_worker) = mpsc::channel();
    let (replies_of_worker, replies) = mpsc::channel();
    let (activator_of_worker, activator) = mpsc::channel();
    let channels = CoordinatorChannels {
        messages: messages_of_worker,
        replies: replies_of_worker,
        activator: activator_of_worker,
    };
    let threads = start::<P>(network, make, lost, Some(channels))?;
    // If the channel is closed, the worker has panicked, and the process is about to end.
    let activator = activator.recv().unwrap_or_else(|_| park_forever());
    Ok(Coordinator { messages, replies, activator, parts, threads: Some(threads) })
}

/// Runs the parts of another process until process 0 finishes. Returns the last command.
pub fn run<P: Part>(
    network: Network,
    make: impl Fn(usize, usize) -> P + Send + Sync + 'static,
    lost: impl Fn(&Loss) -> Infallible + Send + Sync + 'static,
) -> io::Result<P::Command> {
    assert_ne!(network.settings.process, 0, "process 0 coordinates");
    Ok(start::<P>(network, make, lost, None)?.join())
}

impl<P: Part> Coordinator<P> {
    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Runs one superstep of all parts. Waits for all replies, and returns them by part.
    pub fn superstep(&mut self, command: P::Command) -> Vec<P::Reply> {
        self.send(CoordinatorMessage::Step(command));
        // If the channel is closed, the process is about to end.
        self.replies.recv().unwrap_or_else(|_| park_forever())
    }

    /// Ends the run in all processes. When it returns, all processes have received this command,
    /// and no part has run it.
    pub fn finish(mut self, command: P::Command) {
        self.send(CoordinatorMessage::Finish(command));
        if let Some(threads) = self.threads.take() {
            threads.join();
        }
    }

    /// Sends a message to all parts.
    fn send(&self, message: CoordinatorMessage<P::Command>) {
        if self.messages.send(message).is_err() || self.activator.activate().is_err() {
            park_forever();
        }
    }
}

impl<P: Part> Drop for Coordinator<P> {
    fn drop(&mut self) {
        if let Some(threads) = self.threads.take() {
            threads.heartbeat.abort();
            // The threads may be in the middle of a superstep. They are not joined.
            std::mem::forget(threads);
        }
    }
}

impl<C: Send + 'static> ProcessThreads<C> {
    /// Waits until all threads have ended, in this process and in all others. Returns the last
    /// command.
    fn join(self) -> C {
        // `join` consumes and drops the guards, which joins the connections.
        let mut last = None;
        for result in self.workers.join() {
            last = result.ok().flatten().or(last);
        }
        self.heartbeat_threads.stop();
        last.unwrap_or_else(|| park_forever())
    }
}

/// Starts the threads of a process: its workers, its data connections, and its heartbeats.
fn start<P: Part>(
    network: Network,
    make: impl Fn(usize, usize) -> P + Send + Sync + 'static,
    lost: impl Fn(&Loss) -> Infallible + Send + Sync + 'static,
    channels: Option<CoordinatorChannels<P>>,
) -> io::Result<ProcessThreads<P::Command>> {
    let Network { settings, data, heartbeat } = network;
    let (me, jobs) = (settings.process, settings.jobs);
    let end = Box::new(move |loss: &Loss| match lost(loss) {});
    let (heartbeat, heartbeat_threads) = Heartbeat::start(me, &settings.hosts, settings.silence, heartbeat, end)?;

    let mut hooks = Hooks::default();
    // Timely keeps only a few unused buffers.
    hooks.refill.limit = Some(8);
    let builders = ProcessBuilder::new_typed_vector(jobs, hooks.refill.clone(), None);
    let (builders, guard): (Vec<_>, Box<dyn std::any::Any + Send>) = if data.len() == 1 {
        (builders.into_iter().map(AllocatorBuilder::Process).collect(), Box::new(()))
    } else {
        let connection = |(process, stream): (usize, Option<_>)| {
            stream.map(|stream| DataConnection::new(stream, process, &heartbeat)).transpose()
        };
        let connections = data.into_iter().enumerate().map(connection).collect::<io::Result<Vec<_>>>()?;
        let (builders, guard) = initialize_networking_from_sockets(builders, connections, me, jobs, hooks)?;
        (builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard))
    };

    let channels = Mutex::new(channels);
    let heartbeat_of_workers = Arc::clone(&heartbeat);
    let work = move |worker: &mut Worker| {
        let channels =
            if worker.index() == 0 { channels.lock().unwrap_or_else(PoisonError::into_inner).take() } else { None };
        let result = panic::catch_unwind(AssertUnwindSafe(|| run_worker(worker, &make, channels)));
        result.unwrap_or_else(|_| {
            // The panic message is printed. Unwinding further would make Timely's other threads
            // panic.
            heartbeat_of_workers.lose(me, LossReason::Panicked);
            park_forever()
        })
    };
    let config = WorkerConfig::default();
    let workers = timely::execute::execute_from(builders, guard, config, work).map_err(io::Error::other)?;
    Ok(ProcessThreads { workers, heartbeat, heartbeat_threads })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hosts, Settings};

    /// Sends its number and a count to all parts, as often as the command says.
    struct Echo {
        index: usize,
        parts: usize,
    }

    impl Part for Echo {
        type Command = u32;
        type Block = (usize, u32);
        type Reply = Vec<(usize, (usize, u32))>;

        fn step(
            &mut self,
            times: u32,
            received: Vec<(usize, Self::Block)>,
            send: &mut dyn FnMut(usize, Self::Block),
        ) -> Self::Reply {
            for count in 0..times {
                (0..self.parts).for_each(|to| send(to, (self.index, count)));
            }
            received
        }
    }

    /// Starts a run of one process.
    fn one_process(jobs: usize) -> Coordinator<Echo> {
        let hosts = Hosts::local(1).expect("there are free ports");
        let network = crate::connect::connect(Settings::new(hosts, 0, jobs, Vec::new()), &mut |_| ());
        let network = network.expect("there is no other process");
        coordinate(network, |index, parts| Echo { index, parts }, |_| std::process::exit(1)).expect("threads")
    }

    #[test]
    fn blocks_arrive_in_the_next_superstep_and_in_order() {
        for jobs in [1, 3] {
            let mut echo = one_process(jobs);
            assert_eq!(echo.superstep(2), vec![Vec::new(); jobs]);
            let in_order = |count: u32| -> Vec<_> {
                (0..jobs).flat_map(|from| (0..count).map(move |number| (from, (from, number)))).collect()
            };
            assert_eq!(echo.superstep(500), vec![in_order(2); jobs]);
            assert_eq!(echo.superstep(0), vec![in_order(500); jobs]);
            assert_eq!(echo.superstep(0), vec![Vec::new(); jobs]);
            echo.finish(0);
        }
    }

    #[test]
    fn finish_and_drop_end_the_run() {
        one_process(2).finish(0);
        let mut echo = one_process(2);
        echo.superstep(1);
        drop(echo);
    }
}

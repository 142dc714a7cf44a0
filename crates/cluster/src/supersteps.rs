//! Supersteps: all parts compute, and the blocks that they send arrive before the next superstep.
//!
//! The dataflow has a loop. Commands go from process 0 to all parts, blocks go from part to part
//! and arrive one superstep later, and replies go to process 0. A part steps when its frontier
//! shows that all blocks for it have arrived: Timely counts all messages of all workers.
//!
//! ```text
//! commands ──▶ part ──▶ replies (to part 0)
//!          ┌──▶    ──┐
//!          └── + 1 ◀─┘  blocks
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::panic::{self, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::{Hooks, WorkerGuards};
use timely::dataflow::operators::generic::OperatorInfo;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback};
use timely::dataflow::{Scope, Stream};
use timely::scheduling::SyncActivator;
use timely::worker::Worker;
use timely::{ExchangeData, WorkerConfig};

use crate::connect::Network;
use crate::data_connection::DataConnection;
use crate::envelope::{Envelope, route};
use crate::heartbeat::{Heartbeat, HeartbeatThreads, Loss, LossReason, park_forever};

/// One part of the computation. Each job of each process is a part with its own thread. Parts are
/// numbered from 0 on.
pub trait Part: 'static {
    /// A command from process 0; the same one for all parts.
    type Command: ExchangeData + Clone;
    /// A block of data from one part to another. Each block is one message, so it should have many
    /// items: between some kilobytes and half a megabyte, best as [`Bytes`](crate::Bytes).
    type Block: ExchangeData;
    /// The answer to a command.
    type Reply: ExchangeData;

    /// Runs one superstep.
    ///
    /// `received` has the blocks sent to this part in the previous superstep, each with the number
    /// of its sender: sorted by sender, and then in the order of sending. `send` takes the number
    /// of a part and a block, which arrives there in the next superstep.
    fn step(
        &mut self,
        command: Self::Command,
        received: Vec<(usize, Self::Block)>,
        send: &mut dyn FnMut(usize, Self::Block),
    ) -> Self::Reply;
}

/// A message from the coordinator to all parts.
#[derive(Clone, Serialize, Deserialize)]
enum CoordinatorCommand<C> {
    Step(C),
    /// The last command. No part steps for it.
    Finish(C),
}

type Time = u64;

/// Controls the run from process 0. If it is dropped before it is [finished](Coordinator::finish),
/// the run is aborted: all other processes report process 0 as lost, and end.
pub struct Coordinator<P: Part> {
    orders: Sender<CoordinatorCommand<P::Command>>,
    replies: Receiver<Vec<P::Reply>>,
    wake: SyncActivator,
    parts: usize,
    running: Option<Running<P::Command>>,
}

/// The threads of a process.
struct Running<C: Send + 'static> {
    workers: WorkerGuards<Option<C>>,
    heartbeat: Arc<Heartbeat>,
    heartbeat_threads: HeartbeatThreads,
}

/// The ends of the channels at worker 0.
struct Ends<P: Part> {
    orders: Receiver<CoordinatorCommand<P::Command>>,
    replies: Sender<Vec<P::Reply>>,
    wake: Sender<SyncActivator>,
}

/// Starts the parts of process 0, and returns the coordinator of all parts.
///
/// `make` creates a part from its number and the number of parts. `lost` is called once if a
/// process is lost. It reports the loss and returns the exit code with which this process then
/// ends.
pub fn coordinate<P: Part>(
    network: Network,
    make: impl Fn(usize, usize) -> P + Send + Sync + 'static,
    lost: impl Fn(&Loss) -> i32 + Send + Sync + 'static,
) -> io::Result<Coordinator<P>> {
    assert_eq!(network.settings.process, 0, "process 0 coordinates");
    let parts = network.settings.parts();
    let (orders, ordered) = mpsc::channel();
    let (answer, replies) = mpsc::channel();
    let (wake, waker) = mpsc::channel();
    let ends = Ends { orders: ordered, replies: answer, wake };
    let running = start::<P>(network, make, lost, Some(ends))?;
    // If the channel is closed, the worker has panicked, and the process is about to end.
    let wake = waker.recv().unwrap_or_else(|_| park_forever());
    Ok(Coordinator { orders, replies, wake, parts, running: Some(running) })
}

/// Runs the parts of another process until process 0 finishes. Returns the last command.
pub fn run<P: Part>(
    network: Network,
    make: impl Fn(usize, usize) -> P + Send + Sync + 'static,
    lost: impl Fn(&Loss) -> i32 + Send + Sync + 'static,
) -> io::Result<P::Command> {
    assert_ne!(network.settings.process, 0, "process 0 coordinates");
    Ok(start::<P>(network, make, lost, None)?.join())
}

impl<P: Part> Coordinator<P> {
    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Runs one superstep of all parts. Waits for all replies, and returns them by part.
    pub fn superstep(&mut self, command: P::Command) -> Vec<P::Reply> {
        self.order(CoordinatorCommand::Step(command));
        // If the channel is closed, the process is about to end.
        self.replies.recv().unwrap_or_else(|_| park_forever())
    }

    /// Ends the run in all processes. When it returns, all processes have received this command,
    /// and no part has stepped for it.
    pub fn finish(mut self, command: P::Command) {
        self.order(CoordinatorCommand::Finish(command));
        if let Some(running) = self.running.take() {
            running.join();
        }
    }

    fn order(&self, order: CoordinatorCommand<P::Command>) {
        if self.orders.send(order).is_err() || self.wake.activate().is_err() {
            park_forever();
        }
    }
}

impl<P: Part> Drop for Coordinator<P> {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.heartbeat.abort();
            // Its threads may be in the middle of a superstep. They are not joined.
            std::mem::forget(running);
        }
    }
}

impl<C: Send + 'static> Running<C> {
    /// Waits until all threads have ended, and so all other processes.
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

fn start<P: Part>(
    network: Network,
    make: impl Fn(usize, usize) -> P + Send + Sync + 'static,
    lost: impl Fn(&Loss) -> i32 + Send + Sync + 'static,
    ends: Option<Ends<P>>,
) -> io::Result<Running<P::Command>> {
    let Network { settings, data, heartbeat } = network;
    let (me, jobs) = (settings.process, settings.jobs);
    let end = Box::new(move |loss: &Loss| std::process::exit(lost(loss)));
    let (heartbeat, heartbeat_threads) = Heartbeat::start(me, &settings.hosts, settings.silence, heartbeat, end)?;

    let mut hooks = Hooks::default();
    // Only a few unused buffers are kept for reuse.
    hooks.refill.limit = Some(8);
    let builders = ProcessBuilder::new_typed_vector(jobs, hooks.refill.clone(), None);
    let (builders, guard): (Vec<_>, Box<dyn std::any::Any + Send>) = if data.len() == 1 {
        (builders.into_iter().map(AllocatorBuilder::Process).collect(), Box::new(()))
    } else {
        let wire = |(process, stream): (usize, Option<_>)| {
            stream.map(|stream| DataConnection::new(stream, process, &heartbeat)).transpose()
        };
        let wires = data.into_iter().enumerate().map(wire).collect::<io::Result<Vec<_>>>()?;
        let (builders, guard) = initialize_networking_from_sockets(builders, wires, me, jobs, hooks)?;
        (builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard))
    };

    let ends = Mutex::new(ends);
    let watch = Arc::clone(&heartbeat);
    let work = move |worker: &mut Worker| {
        let ends = if worker.index() == 0 { ends.lock().unwrap_or_else(PoisonError::into_inner).take() } else { None };
        let worked = panic::catch_unwind(AssertUnwindSafe(|| work(worker, &make, ends)));
        worked.unwrap_or_else(|_| {
            // The panic message is printed. Unwinding further would make Timely's other threads
            // panic.
            watch.lose(me, LossReason::Panicked);
            park_forever()
        })
    };
    let config = WorkerConfig::default();
    let workers = timely::execute::execute_from(builders, guard, config, work).map_err(io::Error::other)?;
    Ok(Running { workers, heartbeat, heartbeat_threads })
}

/// The main function of each worker: builds the dataflow and runs it to its end. The thread sleeps
/// while the worker has no work.
fn work<P: Part>(worker: &mut Worker, make: &impl Fn(usize, usize) -> P, ends: Option<Ends<P>>) -> Option<P::Command> {
    let (index, parts) = (worker.index(), worker.peers());
    let part = make(index, parts);
    let last = Rc::new(RefCell::new(None));
    let (orders, replies, wake) = match ends {
        Some(Ends { orders, replies, wake }) => (Some(orders), Some(replies), Some(wake)),
        None => (None, None, None),
    };
    let source = worker.dataflow::<Time, _, _>(|scope| {
        let (commands, source) = source(scope, orders, parts);
        let (again, blocks) = scope.feedback::<Envelope<P::Block>>(1);
        let (sent, answers) = step(scope, commands, blocks, (index, parts), part, Rc::clone(&last));
        sent.connect_loop(again);
        collect(scope, answers, parts, replies);
        source
    });
    if let Some(wake) = wake {
        let _ = wake.send(worker.sync_activator_for(source.address.to_vec()));
    }
    while worker.has_dataflows() {
        worker.step_or_park(None);
    }
    last.take()
}

/// The operator that sends commands from the coordinator to all parts. Only worker 0 sends any.
fn source<C: ExchangeData + Clone>(
    scope: Scope<'_, Time>,
    orders: Option<Receiver<CoordinatorCommand<C>>>,
    parts: usize,
) -> (Stream<'_, Time, Envelope<CoordinatorCommand<C>>>, OperatorInfo) {
    let mut builder = OperatorBuilder::new("commands".to_owned(), scope);
    let (mut output, stream) = builder.new_output::<Envelope<CoordinatorCommand<C>>>();
    let info = builder.operator_info();
    builder.build(move |mut capabilities| {
        let mut ours = orders.and_then(|orders| Some((orders, capabilities.pop()?)));
        drop(capabilities);
        move |_| {
            let Some((orders, capability)) = &mut ours else { return };
            let mut is_last = false;
            while let Ok(order) = orders.try_recv() {
                is_last = matches!(order, CoordinatorCommand::Finish(_));
                let mut output = output.activate();
                for to in 0..parts {
                    output.give(&*capability, &mut Envelope::new(0, to, 0, order.clone()));
                }
                drop(output);
                capability.downgrade(&(*capability.time() + 1));
            }
            if is_last {
                ours = None;
            }
        }
    });
    (stream, info)
}

/// A received command, with the capabilities to send blocks and a reply at its time.
struct Due<C> {
    order: CoordinatorCommand<C>,
    blocks: Capability<Time>,
    reply: Capability<Time>,
}

/// The operator that runs a part.
#[expect(clippy::type_complexity, reason = "the two streams that an operator has")]
fn step<'scope, P: Part>(
    scope: Scope<'scope, Time>,
    commands: Stream<'scope, Time, Envelope<CoordinatorCommand<P::Command>>>,
    blocks: Stream<'scope, Time, Envelope<P::Block>>,
    (index, parts): (usize, usize),
    mut part: P,
    last: Rc<RefCell<Option<P::Command>>>,
) -> (Stream<'scope, Time, Envelope<P::Block>>, Stream<'scope, Time, Envelope<P::Reply>>) {
    let mut builder = OperatorBuilder::new("part".to_owned(), scope);
    let mut commands = builder.new_input(commands, route());
    let mut blocks = builder.new_input(blocks, route());
    let (mut sent, blocks_out) = builder.new_output::<Envelope<P::Block>>();
    let (mut replied, replies_out) = builder.new_output::<Envelope<P::Reply>>();
    builder.build(move |_| {
        let mut due: Option<Due<P::Command>> = None;
        let mut received: BTreeMap<Time, Vec<Vec<P::Block>>> = BTreeMap::new();
        move |frontiers| {
            commands.for_each(|capability, envelope| {
                let blocks = capability.retain(sent.output_index());
                let reply = capability.retain(replied.output_index());
                due = envelope.open().map(|command| Due { order: command.what, blocks, reply });
            });
            blocks.for_each(|capability, envelope| {
                let Some(block) = envelope.open() else { return };
                let senders =
                    received.entry(*capability.time()).or_insert_with(|| (0..parts).map(|_| Vec::new()).collect());
                let sender = &mut senders[block.from];
                assert_eq!(block.number, sender.len() as u64, "blocks of a sender come in order");
                sender.push(block.what);
            });
            let is_complete = |time: &Time| frontiers.iter().all(|frontier| !frontier.less_equal(time));
            let Some(Due { order, blocks, reply }) = due.take_if(|due| is_complete(due.blocks.time())) else { return };
            let command = match order {
                CoordinatorCommand::Step(command) => command,
                CoordinatorCommand::Finish(command) => {
                    last.replace(Some(command));
                    return;
                }
            };
            let senders = received.remove(blocks.time()).unwrap_or_default();
            let arrived =
                senders.into_iter().enumerate().flat_map(|(from, all)| all.into_iter().map(move |it| (from, it)));
            let arrived = arrived.collect();
            let mut output = sent.activate();
            let mut numbers = vec![0; parts];
            let answer = part.step(command, arrived, &mut |to, block| {
                assert!(to < parts, "there is no part {to}");
                output.give(&blocks, &mut Envelope::new(index, to, numbers[to], block));
                numbers[to] += 1;
            });
            drop(output);
            replied.activate().give(&reply, &mut Envelope::new(index, 0, 0, answer));
        }
    });
    (blocks_out, replies_out)
}

/// The operator that collects the replies of all parts. Only worker 0 receives any.
fn collect<'scope, R: ExchangeData>(
    scope: Scope<'scope, Time>,
    answers: Stream<'scope, Time, Envelope<R>>,
    parts: usize,
    replies: Option<Sender<Vec<R>>>,
) {
    let mut builder = OperatorBuilder::new("replies".to_owned(), scope);
    let mut answers = builder.new_input(answers, route());
    builder.build(move |_| {
        // One superstep runs at a time, so all replies belong to the same one.
        let mut received: BTreeMap<usize, R> = BTreeMap::new();
        move |_| {
            answers.for_each(|_, envelope| {
                if let Some(reply) = envelope.open() {
                    received.insert(reply.from, reply.what);
                }
            });
            if received.len() == parts
                && let Some(replies) = &replies
            {
                // If the coordinator has been dropped, there is no receiver.
                let _ = replies.send(std::mem::take(&mut received).into_values().collect());
            }
        }
    });
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

    fn alone(jobs: usize) -> Coordinator<Echo> {
        let hosts = Hosts::local(1).expect("there are free ports");
        let network = crate::connect::connect(Settings::new(hosts, 0, jobs, Vec::new()), &mut |_| ());
        let network = network.expect("there is no other process");
        coordinate(network, |index, parts| Echo { index, parts }, |_| 1).expect("threads")
    }

    #[test]
    fn blocks_arrive_in_the_next_superstep_and_in_order() {
        for jobs in [1, 3] {
            let mut echo = alone(jobs);
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
        alone(2).finish(0);
        let mut echo = alone(2);
        echo.superstep(1);
        drop(echo);
    }
}

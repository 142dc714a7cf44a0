//! Supersteps: all parts compute, and what they send each other arrives before the next one.
//!
//! One dataflow with a loop: commands come from process 0, blocks go from parts to parts and arrive
//! a superstep later, replies go back to process 0. A part steps when the frontier says that it has
//! everything that was sent to it: timely counts all messages of all workers.
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
use crate::parcel::{Parcel, route};
use crate::pulse::{Beating, Loss, Pulse, Why, Wire, forever};

/// What one part of the computation does. There are as many parts as jobs in all processes,
/// numbered from 0 on; each is in a thread of its own.
pub trait Part: 'static {
    /// What process 0 wants from all parts; the same for all.
    type Command: ExchangeData + Clone;
    /// What parts send each other. Each travels by itself, so it should be no single item but a
    /// block of them: best between some kilobytes and half a megabyte, and as
    /// [`Bytes`](crate::Bytes).
    type Block: ExchangeData;
    /// What a part answers.
    type Reply: ExchangeData;

    /// One superstep: what process 0 wants, and what the parts have sent to this one in the
    /// superstep before, with who sent it: by sender, and then in the order in which it was sent.
    /// What is given to `send` arrives at that part in the next superstep.
    fn step(
        &mut self,
        command: Self::Command,
        received: Vec<(usize, Self::Block)>,
        send: &mut dyn FnMut(usize, Self::Block),
    ) -> Self::Reply;
}

/// What process 0 sends to all parts.
#[derive(Clone, Serialize, Deserialize)]
enum Order<C> {
    Step(C),
    /// The end. No part steps any more.
    Last(C),
}

type Time = u64;

/// The run as process 0 sees it. If it is dropped before it is [finished](Coordinator::finish), the
/// run is given up, and all other processes end as if this one were gone.
pub struct Coordinator<P: Part> {
    orders: Sender<Order<P::Command>>,
    replies: Receiver<Vec<P::Reply>>,
    wake: SyncActivator,
    parts: usize,
    running: Option<Running<P::Command>>,
}

/// The threads of a process.
struct Running<C: Send + 'static> {
    workers: WorkerGuards<Option<C>>,
    pulse: Arc<Pulse>,
    beating: Beating,
}

/// The ends of the channels at worker 0.
struct Ends<P: Part> {
    orders: Receiver<Order<P::Command>>,
    replies: Sender<Vec<P::Reply>>,
    wake: Sender<SyncActivator>,
}

/// Starts the parts of process 0, which says what all do.
///
/// `make` makes a part from its number and how many there are. `lost` is called once if a process
/// is lost: it says so, and the number that it returns is the exit code of this process, which ends
/// there and then.
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
    // Without it, the worker has panicked, and the process is about to end.
    let wake = waker.recv().unwrap_or_else(|_| forever());
    Ok(Coordinator { orders, replies, wake, parts, running: Some(running) })
}

/// Runs the parts of any other process, until process 0 finishes: returns its last command.
pub fn run<P: Part>(
    network: Network,
    make: impl Fn(usize, usize) -> P + Send + Sync + 'static,
    lost: impl Fn(&Loss) -> i32 + Send + Sync + 'static,
) -> io::Result<P::Command> {
    assert_ne!(network.settings.process, 0, "process 0 coordinates");
    Ok(start::<P>(network, make, lost, None)?.join())
}

impl<P: Part> Coordinator<P> {
    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// One superstep of all parts; their replies, by part. Waits for all of them.
    pub fn superstep(&mut self, command: P::Command) -> Vec<P::Reply> {
        self.order(Order::Step(command));
        // Without replies, the process is about to end.
        self.replies.recv().unwrap_or_else(|_| forever())
    }

    /// Ends the run in all processes. All of them have this command when it returns, and no part
    /// has stepped for it.
    pub fn finish(mut self, command: P::Command) {
        self.order(Order::Last(command));
        if let Some(running) = self.running.take() {
            running.join();
        }
    }

    fn order(&self, order: Order<P::Command>) {
        if self.orders.send(order).is_err() || self.wake.activate().is_err() {
            forever();
        }
    }
}

impl<P: Part> Drop for Coordinator<P> {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.pulse.give_up();
            // Its threads may be in the middle of a superstep. They stay there.
            std::mem::forget(running);
        }
    }
}

impl<C: Send + 'static> Running<C> {
    /// Waits for the end of all threads, and with that for all other processes.
    fn join(self) -> C {
        // The connections are joined by dropping what `join` consumes.
        let mut last = None;
        for result in self.workers.join() {
            last = result.ok().flatten().or(last);
        }
        self.beating.stop();
        last.unwrap_or_else(|| forever())
    }
}

fn start<P: Part>(
    network: Network,
    make: impl Fn(usize, usize) -> P + Send + Sync + 'static,
    lost: impl Fn(&Loss) -> i32 + Send + Sync + 'static,
    ends: Option<Ends<P>>,
) -> io::Result<Running<P::Command>> {
    let Network { settings, data, pulse } = network;
    let (me, jobs) = (settings.process, settings.jobs);
    let end = Box::new(move |loss: &Loss| std::process::exit(lost(loss)));
    let (pulse, beating) = Pulse::start(me, &settings.hosts, settings.silence, pulse, end)?;

    let mut hooks = Hooks::default();
    // Buffers that were needed once are given back, but for a few.
    hooks.refill.limit = Some(8);
    let builders = ProcessBuilder::new_typed_vector(jobs, hooks.refill.clone(), None);
    let (builders, threads): (Vec<_>, Box<dyn std::any::Any + Send>) = if data.len() == 1 {
        (builders.into_iter().map(AllocatorBuilder::Process).collect(), Box::new(()))
    } else {
        let wire =
            |(process, stream): (usize, Option<_>)| stream.map(|stream| Wire::new(stream, process, &pulse)).transpose();
        let wires = data.into_iter().enumerate().map(wire).collect::<io::Result<Vec<_>>>()?;
        let (builders, guard) = initialize_networking_from_sockets(builders, wires, me, jobs, hooks)?;
        (builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard))
    };

    let ends = Mutex::new(ends);
    let watch = Arc::clone(&pulse);
    let work = move |worker: &mut Worker| {
        let ends = if worker.index() == 0 { ends.lock().unwrap_or_else(PoisonError::into_inner).take() } else { None };
        let worked = panic::catch_unwind(AssertUnwindSafe(|| work(worker, &make, ends)));
        worked.unwrap_or_else(|_| {
            // The message is out. Unwinding further would make timely's other threads panic too.
            watch.lose(me, Why::Panicked);
            forever()
        })
    };
    let config = WorkerConfig::default();
    let workers = timely::execute::execute_from(builders, threads, config, work).map_err(io::Error::other)?;
    Ok(Running { workers, pulse, beating })
}

/// What each worker does, up to the end: builds the dataflow, and sleeps while there is nothing to
/// do.
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
        let (again, blocks) = scope.feedback::<Parcel<P::Block>>(1);
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

/// Commands, from the coordinator to all parts. Only worker 0 has any.
fn source<C: ExchangeData + Clone>(
    scope: Scope<'_, Time>,
    orders: Option<Receiver<Order<C>>>,
    parts: usize,
) -> (Stream<'_, Time, Parcel<Order<C>>>, OperatorInfo) {
    let mut builder = OperatorBuilder::new("commands".to_owned(), scope);
    let (mut output, stream) = builder.new_output::<Parcel<Order<C>>>();
    let info = builder.operator_info();
    builder.build(move |mut capabilities| {
        let mut ours = orders.and_then(|orders| Some((orders, capabilities.pop()?)));
        drop(capabilities);
        move |_| {
            let Some((orders, capability)) = &mut ours else { return };
            let mut is_last = false;
            while let Ok(order) = orders.try_recv() {
                is_last = matches!(order, Order::Last(_));
                let mut output = output.activate();
                for to in 0..parts {
                    output.give(&*capability, &mut Parcel::new(0, to, 0, order.clone()));
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

/// A command that has come, with the right to send blocks and a reply at its time.
struct Due<C> {
    order: Order<C>,
    blocks: Capability<Time>,
    reply: Capability<Time>,
}

/// The part itself.
#[expect(clippy::type_complexity, reason = "the two streams that an operator has")]
fn step<'scope, P: Part>(
    scope: Scope<'scope, Time>,
    commands: Stream<'scope, Time, Parcel<Order<P::Command>>>,
    blocks: Stream<'scope, Time, Parcel<P::Block>>,
    (index, parts): (usize, usize),
    mut part: P,
    last: Rc<RefCell<Option<P::Command>>>,
) -> (Stream<'scope, Time, Parcel<P::Block>>, Stream<'scope, Time, Parcel<P::Reply>>) {
    let mut builder = OperatorBuilder::new("part".to_owned(), scope);
    let mut commands = builder.new_input(commands, route());
    let mut blocks = builder.new_input(blocks, route());
    let (mut sent, blocks_out) = builder.new_output::<Parcel<P::Block>>();
    let (mut replied, replies_out) = builder.new_output::<Parcel<P::Reply>>();
    builder.build(move |_| {
        let mut due: Option<Due<P::Command>> = None;
        let mut received: BTreeMap<Time, Vec<Vec<P::Block>>> = BTreeMap::new();
        move |frontiers| {
            commands.for_each(|capability, parcel| {
                let blocks = capability.retain(sent.output_index());
                let reply = capability.retain(replied.output_index());
                due = parcel.open().map(|command| Due { order: command.what, blocks, reply });
            });
            blocks.for_each(|capability, parcel| {
                let Some(block) = parcel.open() else { return };
                let senders =
                    received.entry(*capability.time()).or_insert_with(|| (0..parts).map(|_| Vec::new()).collect());
                let sender = &mut senders[block.from];
                assert_eq!(block.number, sender.len() as u64, "blocks of a sender come in order");
                sender.push(block.what);
            });
            let is_complete = |time: &Time| frontiers.iter().all(|frontier| !frontier.less_equal(time));
            let Some(Due { order, blocks, reply }) = due.take_if(|due| is_complete(due.blocks.time())) else { return };
            let command = match order {
                Order::Step(command) => command,
                Order::Last(command) => {
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
                output.give(&blocks, &mut Parcel::new(index, to, numbers[to], block));
                numbers[to] += 1;
            });
            drop(output);
            replied.activate().give(&reply, &mut Parcel::new(index, 0, 0, answer));
        }
    });
    (blocks_out, replies_out)
}

/// Replies, from all parts to the coordinator. Only worker 0 gets any.
fn collect<'scope, R: ExchangeData>(
    scope: Scope<'scope, Time>,
    answers: Stream<'scope, Time, Parcel<R>>,
    parts: usize,
    replies: Option<Sender<Vec<R>>>,
) {
    let mut builder = OperatorBuilder::new("replies".to_owned(), scope);
    let mut answers = builder.new_input(answers, route());
    builder.build(move |_| {
        // There is one superstep at a time, so all are of the same.
        let mut those: BTreeMap<usize, R> = BTreeMap::new();
        move |_| {
            answers.for_each(|_, parcel| {
                if let Some(reply) = parcel.open() {
                    those.insert(reply.from, reply.what);
                }
            });
            if those.len() == parts
                && let Some(replies) = &replies
            {
                // The coordinator may have given up.
                let _ = replies.send(std::mem::take(&mut those).into_values().collect());
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hosts, Settings};

    /// Sends its number and a count to everyone, as often as it is told.
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
        let network = network.expect("nobody has to be found");
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
    fn an_end_right_away_and_one_without_finish() {
        alone(2).finish(0);
        let mut echo = alone(2);
        echo.superstep(1);
        drop(echo);
    }
}

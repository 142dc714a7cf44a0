//! The dataflow of supersteps on Timely.
//!
//! The dataflow has a loop. Commands go from process 0 to all parts. Blocks go from part to part
//! and arrive one superstep later. Replies go to process 0.
//!
//! ```text
//! commands ──▶ part ──▶ replies (to part 0)
//!          ┌──▶    ──┐
//!          └── + 1 ◀─┘  blocks
//! ```
//!
//! # Invariant
//! A part runs a superstep when its frontier shows that all blocks for it have arrived. Timely
//! computes frontiers from the counts of all messages of all workers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender};

use serde::{Deserialize, Serialize};
use timely::ExchangeData;
use timely::dataflow::operators::generic::OperatorInfo;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::{Capability, ConnectLoop, Feedback};
use timely::dataflow::{Scope, Stream};
use timely::scheduling::SyncActivator;
use timely::worker::Worker;

use crate::envelope::{Envelope, route};
use crate::part::Part;

/// A message from the coordinator to all parts.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum CoordinatorMessage<C> {
    /// Run one superstep with this command.
    Step(C),
    /// End the run. No part runs this command.
    Finish(C),
}

/// The number of a superstep.
type Time = u64;

/// The ends of the coordinator's channels at worker 0.
pub(crate) struct CoordinatorChannels<P: Part> {
    pub(crate) messages: Receiver<CoordinatorMessage<P::Command>>,
    pub(crate) replies: Sender<Vec<P::Reply>>,
    pub(crate) activator: Sender<SyncActivator>,
}

/// Builds the dataflow of one worker and runs it to its end. The thread sleeps while the worker has
/// no work. Returns the command of [`CoordinatorMessage::Finish`].
pub(crate) fn run_worker<P: Part>(
    worker: &mut Worker,
    make: &impl Fn(usize, usize) -> P,
    channels: Option<CoordinatorChannels<P>>,
) -> Option<P::Command> {
    let (index, parts) = (worker.index(), worker.peers());
    let part = make(index, parts);
    let last = Rc::new(RefCell::new(None));
    let (messages, replies, activator) = match channels {
        Some(CoordinatorChannels { messages, replies, activator }) => (Some(messages), Some(replies), Some(activator)),
        None => (None, None, None),
    };
    let source = worker.dataflow::<Time, _, _>(|scope| {
        let (commands, source) = send_commands(scope, messages, parts);
        let (feedback, blocks) = scope.feedback::<Envelope<P::Block>>(1);
        let (sent, part_replies) = run_part(scope, commands, blocks, (index, parts), part, Rc::clone(&last));
        sent.connect_loop(feedback);
        collect_replies(scope, part_replies, parts, replies);
        source
    });
    if let Some(activator) = activator {
        let _ = activator.send(worker.sync_activator_for(source.address.to_vec()));
    }
    while worker.has_dataflows() {
        worker.step_or_park(None);
    }
    last.take()
}

/// Builds the operator that sends messages of the coordinator to all parts. Only worker 0 sends
/// messages.
fn send_commands<C: ExchangeData + Clone>(
    scope: Scope<'_, Time>,
    messages: Option<Receiver<CoordinatorMessage<C>>>,
    parts: usize,
) -> (Stream<'_, Time, Envelope<CoordinatorMessage<C>>>, OperatorInfo) {
    let mut builder = OperatorBuilder::new("commands".to_owned(), scope);
    let (mut output, stream) = builder.new_output::<Envelope<CoordinatorMessage<C>>>();
    let info = builder.operator_info();
    builder.build(move |mut capabilities| {
        let mut source = messages.and_then(|messages| Some((messages, capabilities.pop()?)));
        drop(capabilities);
        move |_| {
            let Some((messages, capability)) = &mut source else { return };
            let mut is_last = false;
            while let Ok(message) = messages.try_recv() {
                is_last = matches!(message, CoordinatorMessage::Finish(_));
                let mut output = output.activate();
                for to in 0..parts {
                    output.give(&*capability, &mut Envelope::new(0, to, 0, message.clone()));
                }
                drop(output);
                capability.downgrade(&(*capability.time() + 1));
            }
            if is_last {
                source = None;
            }
        }
    });
    (stream, info)
}

/// A received message, with the capabilities to send blocks and a reply at its time.
struct PendingMessage<C> {
    message: CoordinatorMessage<C>,
    blocks: Capability<Time>,
    reply: Capability<Time>,
}

/// Builds the operator that runs a part. Returns the streams of blocks and of replies.
#[expect(clippy::type_complexity, reason = "the two streams that an operator has")]
fn run_part<'scope, P: Part>(
    scope: Scope<'scope, Time>,
    commands: Stream<'scope, Time, Envelope<CoordinatorMessage<P::Command>>>,
    blocks: Stream<'scope, Time, Envelope<P::Block>>,
    (index, parts): (usize, usize),
    mut part: P,
    last: Rc<RefCell<Option<P::Command>>>,
) -> (Stream<'scope, Time, Envelope<P::Block>>, Stream<'scope, Time, Envelope<P::Reply>>) {
    let mut builder = OperatorBuilder::new("part".to_owned(), scope);
    let mut commands = builder.new_input(commands, route());
    let mut blocks = builder.new_input(blocks, route());
    let (mut block_output, blocks_out) = builder.new_output::<Envelope<P::Block>>();
    let (mut reply_output, replies_out) = builder.new_output::<Envelope<P::Reply>>();
    builder.build(move |_| {
        let mut pending: Option<PendingMessage<P::Command>> = None;
        // For each superstep and each sender, the blocks in the order of sending.
        let mut received: BTreeMap<Time, Vec<Vec<P::Block>>> = BTreeMap::new();
        move |frontiers| {
            commands.for_each(|capability, envelope| {
                let blocks = capability.retain(block_output.output_index());
                let reply = capability.retain(reply_output.output_index());
                pending = envelope.open().map(|content| PendingMessage { message: content.item, blocks, reply });
            });
            blocks.for_each(|capability, envelope| {
                let Some(block) = envelope.open() else { return };
                let senders =
                    received.entry(*capability.time()).or_insert_with(|| (0..parts).map(|_| Vec::new()).collect());
                let sender = &mut senders[block.from];
                assert_eq!(block.number, sender.len() as u64, "blocks of a sender come in order");
                sender.push(block.item);
            });
            let is_complete = |time: &Time| frontiers.iter().all(|frontier| !frontier.less_equal(time));
            let Some(PendingMessage { message, blocks, reply }) =
                pending.take_if(|pending| is_complete(pending.blocks.time()))
            else {
                return;
            };
            let command = match message {
                CoordinatorMessage::Step(command) => command,
                CoordinatorMessage::Finish(command) => {
                    last.replace(Some(command));
                    return;
                }
            };
            let senders = received.remove(blocks.time()).unwrap_or_default().into_iter().enumerate();
            let arrived = senders.flat_map(|(from, all)| all.into_iter().map(move |block| (from, block))).collect();
            let mut output = block_output.activate();
            let mut numbers = vec![0; parts];
            let answer = part.step(command, arrived, &mut |to, block| {
                assert!(to < parts, "there is no part {to}");
                output.give(&blocks, &mut Envelope::new(index, to, numbers[to], block));
                numbers[to] += 1;
            });
            drop(output);
            reply_output.activate().give(&reply, &mut Envelope::new(index, 0, 0, answer));
        }
    });
    (blocks_out, replies_out)
}

/// Builds the operator that collects the replies of all parts. Only worker 0 receives replies.
fn collect_replies<'scope, R: ExchangeData>(
    scope: Scope<'scope, Time>,
    part_replies: Stream<'scope, Time, Envelope<R>>,
    parts: usize,
    replies: Option<Sender<Vec<R>>>,
) {
    let mut builder = OperatorBuilder::new("replies".to_owned(), scope);
    let mut part_replies = builder.new_input(part_replies, route());
    builder.build(move |_| {
        // One superstep runs at a time, so all replies belong to the same superstep.
        let mut received: BTreeMap<usize, R> = BTreeMap::new();
        move |_| {
            part_replies.for_each(|_, envelope| {
                if let Some(reply) = envelope.open() {
                    received.insert(reply.from, reply.item);
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

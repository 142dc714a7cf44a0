//! The computation of one worker in a run: its commands, and the blocks that it sends.

use timely::ExchangeData;

/// One part of the computation. Each worker of each process is a part with its own thread. Parts
/// are numbered from 0.
pub trait Part: 'static {
    /// A command from process 0. All parts receive the same one.
    type Command: ExchangeData + Clone;
    /// A block of data from one part to another. Each block is one message, so it should have many
    /// items. A good size is between some kilobytes and half a megabyte, and a good type is
    /// [`Bytes`](crate::Bytes).
    type Block: ExchangeData;
    /// The reply to a command.
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

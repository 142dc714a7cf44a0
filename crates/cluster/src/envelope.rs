//! The container for one item that one part sends to another on an edge of the dataflow.
//!
//! Timely usually collects many items for the same worker in one message. Here items are large
//! blocks, so each item is one message.

use serde::{Deserialize, Serialize};
use timely::bytes::arc::Bytes;
use timely::communication::Push;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message};
use timely::{Accountable, ExchangeData};

/// A message with one item, or an empty message.
pub(crate) struct Envelope<T>(Vec<Content<T>>);

/// The item of an envelope, with its sender and receiver.
#[derive(Serialize, Deserialize)]
pub(crate) struct Content<T> {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The number of earlier items from this sender to the same part in the same superstep.
    pub(crate) number: u64,
    pub(crate) item: T,
}

impl<T> Envelope<T> {
    /// Creates a message with one item.
    pub(crate) fn new(from: usize, to: usize, number: u64, item: T) -> Self {
        Self(vec![Content { from, to, number, item }])
    }

    /// Removes the item. Returns `None` if the message is empty.
    pub(crate) fn open(&mut self) -> Option<Content<T>> {
        self.0.pop()
    }
}

impl<T> Default for Envelope<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Accountable for Envelope<T> {
    fn record_count(&self) -> i64 {
        i64::from(!self.0.is_empty())
    }
}

impl<T: ExchangeData> ContainerBytes for Envelope<T> {
    fn from_bytes(bytes: Bytes) -> Self {
        Self(ContainerBytes::from_bytes(bytes))
    }

    fn length_in_bytes(&self) -> usize {
        self.0.length_in_bytes()
    }

    fn into_bytes<W: std::io::Write>(&self, writer: &mut W) {
        self.0.into_bytes(writer);
    }
}

/// Returns the contract that sends each envelope to its receiver.
pub(crate) fn route() -> DistributorPact<fn(usize) -> Route> {
    DistributorPact(|_| Route)
}

/// Routes each envelope to its receiver.
pub(crate) struct Route;

impl<C> Distributor<Envelope<C>> for Route {
    fn partition<T: Clone, P: Push<Message<T, Envelope<C>>>>(
        &mut self,
        envelope: &mut Envelope<C>,
        time: &T,
        pushers: &mut [P],
    ) {
        if let Some(to) = envelope.0.first().map(|content| content.to) {
            Message::push_at(envelope, time.clone(), &mut pushers[to]);
        }
    }

    fn flush<T: Clone, P: Push<Message<T, Envelope<C>>>>(&mut self, _: &T, _: &mut [P]) {}
}

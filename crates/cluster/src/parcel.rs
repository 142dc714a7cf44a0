//! What travels on an edge of the dataflow: one thing from one part to another.
//!
//! Timely gathers what goes to the same worker into messages of many items. Ours are blocks
//! already: each is a message of its own.

use serde::{Deserialize, Serialize};
use timely::bytes::arc::Bytes;
use timely::communication::Push;
use timely::dataflow::channels::pact::DistributorPact;
use timely::dataflow::channels::pushers::exchange::Distributor;
use timely::dataflow::channels::{ContainerBytes, Message};
use timely::{Accountable, ExchangeData};

/// One thing under way, or nothing.
pub(crate) struct Parcel<T>(Vec<Sent<T>>);

/// What is in it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sent<T> {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// How many the sender has sent to the same part in the same superstep before.
    pub(crate) number: u64,
    pub(crate) what: T,
}

impl<T> Parcel<T> {
    pub(crate) fn new(from: usize, to: usize, number: u64, what: T) -> Self {
        Self(vec![Sent { from, to, number, what }])
    }

    /// Takes out what is in it.
    pub(crate) fn open(&mut self) -> Option<Sent<T>> {
        self.0.pop()
    }
}

impl<T> Default for Parcel<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Accountable for Parcel<T> {
    fn record_count(&self) -> i64 {
        i64::from(!self.0.is_empty())
    }
}

impl<T: ExchangeData> ContainerBytes for Parcel<T> {
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

/// Brings each parcel to the part that it is for.
pub(crate) fn route() -> DistributorPact<fn(usize) -> Route> {
    DistributorPact(|_| Route)
}

/// Sends each parcel where it says.
pub(crate) struct Route;

impl<C> Distributor<Parcel<C>> for Route {
    fn partition<T: Clone, P: Push<Message<T, Parcel<C>>>>(
        &mut self,
        parcel: &mut Parcel<C>,
        time: &T,
        pushers: &mut [P],
    ) {
        if let Some(to) = parcel.0.first().map(|sent| sent.to) {
            Message::push_at(parcel, time.clone(), &mut pushers[to]);
        }
    }

    fn flush<T: Clone, P: Push<Message<T, Parcel<C>>>>(&mut self, _: &T, _: &mut [P]) {}
}

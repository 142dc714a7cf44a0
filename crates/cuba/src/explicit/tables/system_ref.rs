//! A system that is borrowed, or shared with threads that may outlive the caller.

use cpds::Cpds;
use std::ops::Deref;
use std::sync::Arc;

/// A reference to a system.
#[derive(Clone)]
pub enum SystemRef<'a> {
    /// A borrowed system.
    Borrowed(&'a Cpds),
    /// A system with several owners.
    Shared(Arc<Cpds>),
}

impl Deref for SystemRef<'_> {
    type Target = Cpds;

    fn deref(&self) -> &Cpds {
        match self {
            SystemRef::Borrowed(system) => system,
            SystemRef::Shared(system) => system,
        }
    }
}

impl<'a> From<&'a Cpds> for SystemRef<'a> {
    fn from(system: &'a Cpds) -> Self {
        SystemRef::Borrowed(system)
    }
}

impl From<Arc<Cpds>> for SystemRef<'_> {
    fn from(system: Arc<Cpds>) -> Self {
        SystemRef::Shared(system)
    }
}

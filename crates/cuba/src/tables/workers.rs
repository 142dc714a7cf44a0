//! Threads to work with.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// More threads than this are not used: tables that threads fill together have as many parts.
pub(crate) const MOST: usize = 64;

/// As many threads as a number says, which may grow.
#[derive(Default)]
pub(crate) struct Hands {
    number: Arc<AtomicUsize>,
    pool: Option<Arc<ThreadPool>>,
}

impl Hands {
    pub(crate) fn new(number: Arc<AtomicUsize>) -> Self {
        Hands { number, ..Hands::default() }
    }

    /// How many there may be at the moment.
    pub(crate) fn count(&self) -> usize {
        self.number.load(Ordering::Relaxed).clamp(1, MOST)
    }

    /// The threads; if there is only one, or there are none to be had, who asks does it all.
    pub(crate) fn pool(&mut self) -> Option<Arc<ThreadPool>> {
        let count = self.count();
        if count == 1 {
            return None;
        }
        if self.pool.as_ref().is_none_or(|pool| pool.current_num_threads() < count) {
            let name = |number| format!("hand {number}");
            let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(name).build();
            self.pool = pool.ok().map(Arc::new).or(self.pool.take());
        }
        self.pool.clone()
    }
}

//! The pool of worker threads of a search.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The maximum number of workers. Tables that workers fill in parallel have this many shards.
pub(crate) const MAX_WORKERS: usize = 64;

/// A thread pool. Its size is read from a shared number, which may grow.
#[derive(Default)]
pub(crate) struct WorkerPool {
    number: Arc<AtomicUsize>,
    pool: Option<Arc<ThreadPool>>,
}

impl WorkerPool {
    pub(crate) fn new(number: Arc<AtomicUsize>) -> Self {
        WorkerPool { number, ..WorkerPool::default() }
    }

    /// Returns the current number of workers.
    pub(crate) fn count(&self) -> usize {
        self.number.load(Ordering::Relaxed).clamp(1, MAX_WORKERS)
    }

    /// Returns the thread pool. `None` if there is only one worker, or if threads cannot be
    /// started: then the caller does all the work.
    pub(crate) fn pool(&mut self) -> Option<Arc<ThreadPool>> {
        let count = self.count();
        if count == 1 {
            return None;
        }
        if self.pool.as_ref().is_none_or(|pool| pool.current_num_threads() < count) {
            let name = |number| format!("worker {number}");
            let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(name).build();
            self.pool = pool.ok().map(Arc::new).or(self.pool.take());
        }
        self.pool.clone()
    }
}

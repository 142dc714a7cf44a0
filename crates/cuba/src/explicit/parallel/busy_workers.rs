//! Keeps the worker threads of the pool busy between the phases of a round.
//!
//! A worker thread without a task soon falls asleep, and waking it takes as long as some phases do.
//! So during many phases, each other worker has a task that only looks for further tasks.

use rayon::Yield;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Does some work, in a worker thread of the pool, while no other worker falls asleep.
pub(in crate::explicit) fn with_busy_workers(work: impl FnOnce() + Send) {
    struct Over<'o>(&'o AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (is_over, busy) = (&AtomicBool::new(false), &AtomicUsize::new(0));
    rayon::scope(|scope| {
        let _over = Over(is_over);
        let this = rayon::current_thread_index();
        scope.spawn_broadcast(move |_, context| {
            if Some(context.index()) == this {
                return;
            }
            busy.fetch_add(1, Ordering::Relaxed);
            let mut idle = 0;
            while !is_over.load(Ordering::Relaxed) {
                idle = if rayon::yield_now() == Some(Yield::Executed) { 0 } else { idle + 1 };
                // Other processes may use the core if this takes long.
                if idle > IDLE_LOOKS {
                    thread::yield_now();
                }
            }
        });
        // A worker that started this task within another task would never return to that task.
        while busy.load(Ordering::Relaxed) + 1 < rayon::current_num_threads() {
            thread::yield_now();
        }
        work();
    });
}

/// A worker looks for a task this many times before it lets other processes use its core.
const IDLE_LOOKS: u32 = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;
    use rayon::prelude::*;

    /// Starts the work again and again while workers look for tasks. If a worker took a task before
    /// it is busy, the work would never end.
    #[test]
    fn the_work_ends() {
        for threads in 1..=2 {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let done = AtomicUsize::new(0);
            let work = |_| {
                (0..100).for_each(|_| std::hint::spin_loop());
                done.fetch_add(1, Ordering::Relaxed);
            };
            pool.install(|| {
                for _ in 0..5_000 {
                    with_busy_workers(|| (0..8).into_par_iter().with_max_len(1).for_each(work));
                }
            });
            assert_eq!(done.into_inner(), 5_000 * 8);
        }
    }
}

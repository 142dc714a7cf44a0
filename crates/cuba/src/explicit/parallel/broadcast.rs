//! Threads that stay awake between the phases of a round.
//!
//! A thread of the pool that has nothing to do falls asleep soon, and to wake it up takes as long
//! as some phases do. So for the time of many phases, each of the others has a job that does
//! nothing but look for other jobs.

use rayon::Yield;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Does something, in a thread of the pool, while no other one falls asleep.
pub(crate) fn wide_awake(work: impl FnOnce() + Send) {
    struct Over<'o>(&'o AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (is_over, awake) = (&AtomicBool::new(false), &AtomicUsize::new(0));
    rayon::scope(|scope| {
        let _over = Over(is_over);
        let this = rayon::current_thread_index();
        scope.spawn_broadcast(move |_, context| {
            if Some(context.index()) == this {
                return;
            }
            awake.fetch_add(1, Ordering::Relaxed);
            let mut idle = 0;
            while !is_over.load(Ordering::Relaxed) {
                idle = if rayon::yield_now() == Some(Yield::Executed) { 0 } else { idle + 1 };
                // Whoever else has something to do comes first, if this takes long.
                if idle > PATIENCE {
                    thread::yield_now();
                }
            }
        });
        // One that began with this in the middle of some work would never come to the end of that.
        while awake.load(Ordering::Relaxed) + 1 < rayon::current_num_threads() {
            thread::yield_now();
        }
        work();
    });
}

/// How often a thread looks for something to do before it lets others have its core.
const PATIENCE: u32 = 1 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;
    use rayon::prelude::*;

    /// Again and again, while threads look for work: one that takes some before it has begun to
    /// stay awake would never come to an end.
    #[test]
    fn it_comes_to_an_end() {
        for threads in 1..=2 {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let done = AtomicUsize::new(0);
            let work = |_| {
                (0..100).for_each(|_| std::hint::spin_loop());
                done.fetch_add(1, Ordering::Relaxed);
            };
            pool.install(|| {
                for _ in 0..20_000 {
                    wide_awake(|| (0..8).into_par_iter().with_max_len(1).for_each(work));
                }
            });
            assert_eq!(done.into_inner(), 20_000 * 8);
        }
    }
}

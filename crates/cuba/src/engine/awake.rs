//! Threads that stay awake between the phases of a round.
//!
//! A thread of the pool that has nothing to do falls asleep soon, and to wake it up takes as long as some phases do. So for the time of many
//! phases, each of the others has a job that does nothing but look for other jobs.

use rayon::Yield;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Does something, in a thread of the pool, while no other one falls asleep.
pub(super) fn wide_awake(work: impl FnOnce() + Send) {
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

    /// Phases that are over at once, and that thread falls asleep in between: each time, all others are there, and it ends.
    #[test]
    fn it_comes_to_an_end() {
        for threads in 1..=4 {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let done = AtomicUsize::new(0);
            for _ in 0..500 {
                pool.install(|| {
                    wide_awake(|| {
                        for _ in 0..4 {
                            (0..16)
                                .into_par_iter()
                                .with_max_len(1)
                                .for_each(|_| _ = done.fetch_add(1, Ordering::Relaxed));
                        }
                    });
                });
            }
            assert_eq!(done.into_inner(), 500 * 4 * 16);
        }
    }
}

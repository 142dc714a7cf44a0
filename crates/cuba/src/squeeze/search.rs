//! The search (paper §3, §4, §6, Alg. 3): the choice of the engine, both searches side by side, and
//! their conclusion.
//!
//! The lower search computes R_k for k = 0, 1, …: as states if finite context reachability is known
//! to hold before the search, and otherwise as S_k, tuples with T(S_k) = T(R_k)
//! (`squeeze/lower_search.rs`). The upper search computes the rungs of the ladder
//! (`overapproximation/ladder.rs`) one by one, and their intersection (`squeeze/upper_search.rs`).
//!
//! # Conclusions
//! - A bad state in R_k: **unsafe**, and k is the least number of contexts, since R_{k-1} had none.
//! - No bad state in the intersection of the rungs: **safe**, for every k.
//! - R_{k-1} = R_k: R = R_k (Lemma 7, Scheme 1). The same holds if tuples of S_{k-1} cover all
//!   tuples of S_k.
//! - T(R_k) is the intersection of the rungs: T(R) = T(R_k). With Z alone, Alg. 3 converges at the
//!   same k, but detects it only at the next plateau.
//! - Anything else: **unknown**. Safe up to k contexts is not safe.
//!
//! # Several conclusions
//! The conclusion that took the least work counts. If two took equal work, the order is: the upper
//! search alone, Scheme 1, both searches together.

use crate::cancel::{Cancel, Halt};
use crate::fcr::finite_context_reachability::Fcr;
use crate::limits::TooLarge;
use crate::squeeze::analysis::Analysis;
use crate::squeeze::both_searches::Squeeze;
use crate::squeeze::checkpoint::StartPoint;
use crate::squeeze::conclude::conclude;
use crate::squeeze::event::Event;
use crate::squeeze::question::{Control, Options, Question};
use crate::squeeze::race::{Race, Side};
use crate::statistics::Engine;
use crate::visible::symmetry::Symmetry;
use cpds::Problem;
use std::panic::resume_unwind;
use std::sync::mpsc::sync_channel;
use std::thread;

/// The searches wait if more events than this wait for the caller. So a slow caller does not fill
/// the memory, and does not delay the end of the analysis by more than these events.
const MAX_WAITING_EVENTS: usize = 1 << 6;

/// Stops the searches if the caller's function for events panics.
struct StopOnPanic<'c>(&'c Cancel);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop(Halt::Interrupted);
        }
    }
}

/// Searches for the answer to a question, without evidence for the conclusion. For tests and
/// measurements; [`answer`](crate::answer()) also makes and checks the evidence.
pub fn search_unchecked<'a>(
    problem: &'a Problem,
    question: Question,
    options: &Options,
    event: impl FnMut(Event),
) -> Analysis<'a> {
    search_unchecked_with(Control::default(), problem, question, options, event)
}

/// Searches for the answer to a question under a caller's control, without evidence for the
/// conclusion.
pub fn search_unchecked_with<'a>(
    control: Control<'_>,
    problem: &'a Problem,
    question: Question,
    options: &Options,
    mut event: impl FnMut(Event),
) -> Analysis<'a> {
    let Control { start, cancel, checkpoint_writer } = control;
    let cancel = cancel.child(options.timeout);
    let symmetry = Symmetry::new(problem.system(), options.symmetry);
    let (fcr, z) = match Fcr::before_search(problem.system(), &symmetry, options.memory / 4, options.tuning, &cancel) {
        Ok((fcr, z)) => (Some(fcr), z),
        Err(TooLarge) => (None, None),
    };
    let is_finite = fcr.as_ref().and_then(Fcr::holds);
    event(Event::Fcr(is_finite.zip(fcr.as_ref().and_then(Fcr::by))));
    let by_fcr = if is_finite == Some(true) { Engine::Explicit } else { Engine::Symbolic };
    let engine = options.engine.unwrap_or(by_fcr);
    let race = Race::new(options.jobs, &cancel);
    let mut squeeze = Squeeze::new(problem, question, *options, engine, race, checkpoint_writer);
    let StartPoint { upper, lower, elsewhere } = start;
    squeeze.elsewhere = elsewhere;
    let (upper, lower) = thread::scope(|scope| {
        let (events, received) = sync_channel(MAX_WAITING_EVENTS);
        let _guard = StopOnPanic(&cancel);
        let (squeeze, lower_events) = (&squeeze, events.clone());
        let upper = scope.spawn(move || squeeze.race.run(Side::Upper, || squeeze.run_upper_search(upper, z, &events)));
        let lower =
            scope.spawn(move || squeeze.race.run(Side::Lower, || squeeze.run_lower_search(lower, &lower_events)));
        received.into_iter().for_each(&mut event);
        // A panic in one of the searches continues here.
        (
            upper.join().unwrap_or_else(|panic| resume_unwind(panic)),
            lower.join().unwrap_or_else(|panic| resume_unwind(panic)),
        )
    });
    conclude(&squeeze, fcr, upper, lower)
}

//! The search: the choice of the engine, both searches side by side, and what they conclude (paper
//! §3, §4, §6, Alg. 3).
//!
//! Two searches work towards each other. The lower one computes R_k for k = 0, 1, …: as states if
//! finite context reachability holds, and otherwise as S_k, tuples with T(S_k) = T(R_k)
//! (`squeeze/lower_search.rs`). The upper one computes one rung of the ladder after the other
//! (`overapproximation/ladder.rs`), and the intersection of all (`squeeze/upper_search.rs`).
//!
//! # What each proves
//! - A bad state in R_k: **unsafe**, and k is the least number of contexts, since R_{k-1} had none.
//! - No bad state in the intersection of the rungs: **safe**, for every k.
//! - R_{k-1} = R_k: R = R_k (Lemma 7, Scheme 1). Likewise if every tuple of S_k is covered by one
//!   of S_{k-1}.
//! - T(R_k) is the intersection of the rungs: T(R) = T(R_k). With Z alone, this is when Alg. 3
//!   converges, only that Alg. 3 waits for the next plateau to notice.
//! - Anything else: **unknown**. Safe up to k contexts is not safe.
//!
//! # Which one counts, if several hold
//! The one that was proved with less work; of two with equal work, in this order: the upper search
//! alone, Scheme 1, both searches together.

use crate::fcr::contexts::Fcr;
use crate::limits::TooLarge;
use crate::squeeze::analysis::Analysis;
use crate::squeeze::checkpoint::StartPoint;
use crate::squeeze::conclude::conclude;
use crate::squeeze::context::Squeeze;
use crate::squeeze::event::Event;
use crate::squeeze::question::{Control, Options, Question};
use crate::squeeze::race::{Race, Side};
use crate::statistics::Engine;
use crate::visible::symmetry::Symmetry;
use cpds::Problem;
use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::thread;

/// Searches for the answer to a question. Its conclusion is not checked:
/// [`answer`](crate::answer()) does that. This is for tests and measurements.
pub fn search<'a>(
    problem: &'a Problem,
    question: Question,
    options: &Options,
    event: impl FnMut(Event),
) -> Analysis<'a> {
    search_with(Control::default(), problem, question, options, event)
}

/// The same, under a caller's control.
pub fn search_with<'a>(
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
        let (events, received) = channel();
        let (squeeze, of_lower) = (&squeeze, events.clone());
        let upper = scope.spawn(move || squeeze.race.run(Side::Upper, || squeeze.run_upper_search(upper, z, &events)));
        let lower = scope.spawn(move || squeeze.race.run(Side::Lower, || squeeze.run_lower_search(lower, &of_lower)));
        received.into_iter().for_each(&mut event);
        // A panic in one of them continues here.
        (
            upper.join().unwrap_or_else(|panic| resume_unwind(panic)),
            lower.join().unwrap_or_else(|panic| resume_unwind(panic)),
        )
    });
    conclude(&squeeze, fcr, upper, lower)
}

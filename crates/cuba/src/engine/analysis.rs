//! Context-unbounded analysis: Scheme 1 over (R_k) and Alg. 3 over (T(R_k)), two observers of one exploration (paper §3, §4).
//!
//! The paper runs them as two threads that each compute R_k. Here each level is computed once; after it, both look.
//!
//! # What each proves
//! - A bad state in R_k: **unsafe**, and k is the least number of contexts, since R_{k-1} had none.
//! - No bad state in Z: **safe**, before anything is explored.
//! - R_{k-1} = R_k: R = R_k (Lemma 7). Scheme 1.
//! - A new plateau T(R_{k-1}) = T(R_k) with G ∩ Z ⊆ T(R_k): T(R) = T(R_k). Alg. 3. This is so exactly if T(R_k) = Z; so if
//!   Z has a bad state, Alg. 3 cannot prove safety. It computes T(R).
//! - Anything else: **unknown**. Safe up to k contexts is not safe.

use super::bad::Bad;
use super::count::Count;
use super::overapproximation::{Missing, Overapproximation, Progress};
use super::reachable::{Reachable, Unfinished};
use super::sequence::ObservationSequence;
use cpds::{Problem, ThreadId, Trace, VisibleState};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// What to find out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Whether a bad state is reachable.
    Verify,
    /// T(R): until (T(R_k)) is known to have converged.
    Visible,
    /// R: until (R_k) has converged, which it may never do.
    Reachable,
}

/// How to go about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Whether to treat interchangeable threads as such. No answer depends on it.
    pub symmetry: bool,
    /// Where to stop: R_k for this k is the last one computed.
    pub max_contexts: Option<usize>,
    /// How many bytes the tables may take.
    pub memory: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { symmetry: true, max_contexts: None, memory: 4 << 30 }
    }
}

/// What happened, for whoever shows it.
pub enum Event<'e> {
    /// Z is being computed.
    Overapproximating(Progress),
    /// A level is being computed.
    Exploring(&'e Reachable<'e>),
    /// A level is finished.
    Level(&'e Level),
}

/// What a finished level added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// k.
    pub k: usize,
    /// |R_k|.
    pub reachable: Count,
    /// |R_k \ R_{k-1}|.
    pub new_reachable: Count,
    /// |T(R_k)|.
    pub visible: Count,
    /// |T(R_k) \ T(R_{k-1})|.
    pub new_visible: Count,
}

/// What is known of the upper end.
pub enum Upper {
    /// Nothing depended on it.
    NotComputed,
    /// Z would take more than a quarter of the memory.
    TooLarge,
    /// This.
    Known(Box<Z>),
}

impl Upper {
    /// Z, if it is known.
    pub fn z(&self) -> Option<&Z> {
        if let Upper::Known(z) = self { Some(z) } else { None }
    }
}

/// What is kept of Z.
pub struct Z {
    /// |Z|.
    pub size: Count,
    /// |G ∩ Z|.
    pub generators: Count,
    /// The size of the tighter set of generators: targets of pops taken from Z.
    pub popped: Count,
    missing: Missing,
}

impl From<Overapproximation> for Z {
    fn from(z: Overapproximation) -> Self {
        let (size, generators, popped) = (z.size(), z.generator_count(), z.popped_count());
        Z { size, generators, popped, missing: z.into_missing() }
    }
}

/// The result of an analysis.
pub struct Analysis<'a> {
    /// Each level that was finished.
    pub levels: Vec<Level>,
    /// R_k and T(R_k).
    pub reachable: Reachable<'a>,
    /// Z. `Verify` looks there first; otherwise it is computed when T(R_k) plateaus and R_k does not.
    pub upper: Upper,
    /// What is known of (R_k).
    pub reachable_sequence: ObservationSequence,
    /// What is known of (T(R_k)).
    pub visible_sequence: ObservationSequence,
    /// The answer.
    pub conclusion: Conclusion,
}

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub enum Conclusion {
    /// No bad state is reachable, for any number of contexts.
    Safe(Proof),
    /// A bad state is reachable; the trace has the least number of contexts.
    Unsafe {
        /// The path to it.
        trace: Trace,
        /// The pattern it fits, as a position in [`Property::bad`](cpds::Property::bad).
        pattern: usize,
    },
    /// The sequence that was asked for has converged.
    Converged(Proof),
    /// No answer, never a guess.
    Unknown(Reason),
}

/// Why the answer holds for every number of contexts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proof {
    /// Z has no bad state.
    Overapproximation,
    /// R_{k-1} = R_k (Scheme 1).
    ReachableCollapsed,
    /// A new plateau of T(R_k) that has all of G ∩ Z (Alg. 3).
    GeneratorsReached,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// As many contexts as were asked for.
    ContextBound,
    /// There is no finite context reachability: in its next context this thread can raise its stack for ever.
    InfiniteContext(ThreadId),
    /// The tables would take more memory than they may.
    Memory {
        /// By how much the highest stack has risen within the context that was not finished.
        raised: u32,
    },
}

/// Why an exploration was interrupted.
enum Interrupt {
    Memory,
    /// A bad state: the number of a visible state, and the pattern.
    Bad(usize, usize),
}

/// Answers a question about a problem.
pub fn analyse(
    problem: &Problem,
    question: Question,
    options: Options,
    mut event: impl FnMut(Event<'_>),
) -> Analysis<'_> {
    let mut analysis = Analysis {
        levels: Vec::new(),
        reachable: Reachable::new(problem.system(), options.symmetry),
        upper: Upper::NotComputed,
        reachable_sequence: ObservationSequence::default(),
        visible_sequence: ObservationSequence::default(),
        conclusion: Conclusion::Unknown(Reason::ContextBound),
    };
    let mut run = Run { problem, question, options, event: &mut event };
    analysis.conclusion = analysis.run(&mut run);
    // What blocks is worth knowing, unless the memory is used up.
    if matches!(analysis.conclusion, Conclusion::Unknown(Reason::ContextBound | Reason::InfiniteContext(_)))
        && analysis.visible_sequence.collapse().is_none()
        && matches!(analysis.upper, Upper::NotComputed)
    {
        analysis.upper = run.overapproximate().map_or(Upper::TooLarge, |z| Upper::Known(Box::new(z.into())));
    }
    analysis
}

/// What stays the same during an analysis.
struct Run<'r, E> {
    problem: &'r Problem,
    question: Question,
    options: Options,
    event: &'r mut E,
}

impl<E: FnMut(Event<'_>)> Run<'_, E> {
    /// Z, unless it is too large: most of the memory is for R_k.
    fn overapproximate(&mut self) -> Option<Overapproximation> {
        let watch = &mut |progress: Progress| {
            (self.event)(Event::Overapproximating(progress));
            if progress.bytes > self.options.memory / 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        Overapproximation::new(self.problem.system(), self.options.symmetry, watch).continue_value()
    }
}

impl Analysis<'_> {
    fn run(&mut self, run: &mut Run<'_, impl FnMut(Event<'_>)>) -> Conclusion {
        if run.question != Question::Verify {
            return self.explore(run, None);
        }
        let z = run.overapproximate();
        let safe = z.as_ref().is_some_and(|z| !z.has_bad_state(run.problem));
        self.upper = z.map_or(Upper::TooLarge, |z| Upper::Known(Box::new(z.into())));
        if safe {
            self.finish_level();
            return Conclusion::Safe(Proof::Overapproximation);
        }
        let bad = Bad::new(run.problem.property(), self.reachable.symmetry());
        self.explore(run, Some(&bad))
    }

    fn explore(&mut self, run: &mut Run<'_, impl FnMut(Event<'_>)>, bad: Option<&Bad>) -> Conclusion {
        let mut looked_at = 0;
        loop {
            if let ControlFlow::Break(Interrupt::Bad(state, pattern)) = look_for(bad, &self.reachable, &mut looked_at) {
                return self.violation(bad, state, pattern);
            }
            (run.event)(Event::Level(self.finish_level()));
            if let Some(proof) = self.converged(run) {
                assert!(
                    bad.is_none() || proof == Proof::ReachableCollapsed,
                    "T(R_k) = Z, but Z has a bad state and T(R_k) has none"
                );
                return if bad.is_some() { Conclusion::Safe(proof) } else { Conclusion::Converged(proof) };
            }
            if run.options.max_contexts == Some(self.reachable.k()) {
                return Conclusion::Unknown(Reason::ContextBound);
            }

            let highest = self.reachable.highest();
            let others = self.upper.z().map_or(0, |z| z.missing.bytes())
                + self.levels.len() * (size_of::<Level>() + 4 * size_of::<usize>());
            let memory = run.options.memory;
            let is_full = |reachable: &Reachable<'_>| reachable.bytes_at_next_look().saturating_add(others) > memory;
            // A level may be over before anybody looks.
            if is_full(&self.reachable) {
                return Conclusion::Unknown(Reason::Memory { raised: 0 });
            }
            let done = self.reachable.advance(&mut |reachable: &Reachable<'_>| {
                (run.event)(Event::Exploring(reachable));
                if is_full(reachable) {
                    return ControlFlow::Break(Interrupt::Memory);
                }
                look_for(bad, reachable, &mut looked_at)
            });
            let reason = match done {
                Ok(()) => continue,
                Err(Unfinished::Stopped(Interrupt::Bad(state, pattern))) => return self.violation(bad, state, pattern),
                Err(Unfinished::InfiniteContext(thread)) => Reason::InfiniteContext(thread),
                Err(Unfinished::Stopped(Interrupt::Memory)) => self
                    .reachable
                    .infinite_context()
                    .map_or(Reason::Memory { raised: self.reachable.highest() - highest }, Reason::InfiniteContext),
            };
            // What was found of the level is reachable all the same.
            return match look_for(bad, &self.reachable, &mut looked_at) {
                ControlFlow::Break(Interrupt::Bad(state, pattern)) => self.violation(bad, state, pattern),
                _ => Conclusion::Unknown(reason),
            };
        }
    }

    /// Notes how large the level is that has just been finished, and whether the sequences grew.
    fn finish_level(&mut self) -> &Level {
        let k = self.reachable.k();
        let before = self.levels.last();
        let (new_reachable, new_visible) = (self.reachable.new_states(k), self.reachable.new_visible_states(k));
        let level = Level {
            k,
            reachable: before.map_or(Count::ZERO, |level| level.reachable) + new_reachable,
            new_reachable,
            visible: before.map_or(Count::ZERO, |level| level.visible) + new_visible,
            new_visible,
        };
        if k > 0 {
            self.reachable_sequence.observe(new_reachable != Count::ZERO);
            self.visible_sequence.observe(new_visible != Count::ZERO);
        }
        self.levels.push(level);
        &self.levels[k]
    }

    /// The two observers look at the level; gives a proof if the sequence in question is now known to have converged.
    fn converged(&mut self, run: &mut Run<'_, impl FnMut(Event<'_>)>) -> Option<Proof> {
        // Scheme 1, line 4.
        if self.reachable_sequence.new_plateau().is_some() {
            self.reachable_sequence.converges();
            self.visible_sequence.converges();
            return Some(Proof::ReachableCollapsed);
        }
        // Alg. 3, line 4.
        if self.visible_sequence.collapse().is_none() && self.visible_sequence.new_plateau().is_some() {
            if matches!(self.upper, Upper::NotComputed) {
                self.upper = run.overapproximate().map_or(Upper::TooLarge, |z| Upper::Known(Box::new(z.into())));
            }
            if let Upper::Known(z) = &mut self.upper {
                z.missing.remove(self.reachable.visible(), self.reachable.finished_visible());
                if z.missing.is_empty() {
                    self.visible_sequence.converges();
                    return (run.question != Question::Reachable).then_some(Proof::GeneratorsReached);
                }
            }
        }
        None
    }

    fn violation(&mut self, bad: Option<&Bad>, visible: usize, pattern: usize) -> Conclusion {
        let bad = bad.expect("bad states are looked for");
        let trace = self.reachable.trace_to_visible(visible, |tops| bad.arrange(pattern, tops));
        Conclusion::Unsafe { trace, pattern }
    }

    /// Whether all R_k are finite, as far as it is known.
    pub fn fcr(&self) -> Option<bool> {
        match self.conclusion {
            Conclusion::Unknown(Reason::InfiniteContext(_)) => Some(false),
            _ => self.reachable_sequence.collapse().map(|_| true),
        }
    }
}

/// The generators that keep Alg. 3 from converging.
pub struct Blocking {
    /// How many there are.
    pub count: Count,
    /// Which they are; the first [`Blocking::LISTED`], if there are more.
    pub states: BTreeSet<VisibleState>,
}

impl Blocking {
    /// Interchangeable threads may have more states than could ever be listed.
    pub const LISTED: usize = 100_000;
}

impl Analysis<'_> {
    /// G ∩ Z \ T(R_k), for the last k, if Z is known.
    pub fn blocking(&mut self) -> Option<Blocking> {
        let Upper::Known(z) = &mut self.upper else { return None };
        z.missing.remove(self.reachable.visible(), self.reachable.finished_visible());
        Some(Blocking { count: z.missing.count(), states: z.missing.states(Blocking::LISTED) })
    }
}

/// Looks for a bad state among the visible states from `looked_at` on.
fn look_for(bad: Option<&Bad>, reachable: &Reachable<'_>, looked_at: &mut usize) -> ControlFlow<Interrupt> {
    let Some(bad) = bad else { return ControlFlow::Continue(()) };
    let visible = reachable.visible();
    let mut tops = Vec::new();
    for id in *looked_at..visible.len() {
        tops.clear();
        tops.extend(visible.layout().locals(visible.row(id)));
        if let Some(pattern) = bad.violation(visible.layout().shared(visible.row(id)), &tops) {
            return ControlFlow::Break(Interrupt::Bad(id, pattern));
        }
    }
    *looked_at = visible.len();
    ControlFlow::Continue(())
}

//! Context-unbounded analysis: Scheme 1 over (R_k) and Alg. 3 over (T(R_k)), two observers of one exploration (paper §3, §4, §6).
//!
//! The paper runs them as two threads that each compute R_k. Here each level is computed once; after it, both look. If finite
//! context reachability holds, the levels are explicit; otherwise they are symbolic, S_k for R_k, and T(S_k) = T(R_k).
//!
//! # What each proves
//! - A bad state in R_k: **unsafe**, and k is the least number of contexts, since R_{k-1} had none.
//! - No bad state in Z: **safe**, before anything is explored.
//! - R_{k-1} = R_k: R = R_k (Lemma 7). Scheme 1. Likewise if every tuple of S_k is covered by one of S_{k-1}.
//! - A plateau T(R_{k-1}) = T(R_k) with G ∩ Z ⊆ T(R_k): T(R) = T(R_k). Alg. 3. This is so exactly if T(R_k) = Z; so if Z has
//!   a bad state, Alg. 3 cannot prove safety. It computes T(R).
//! - Anything else: **unknown**. Safe up to k contexts is not safe.

use super::bad::Bad;
use super::count::Count;
use super::fcr::Fcr;
use super::lower::{Engine, Glimpse, Lower};
use super::overapproximation::{Growing, Missing, Overapproximation, Progress};
use super::psa::Psa;
use super::sequence::ObservationSequence;
use super::symbolic::Unfinished;
use super::symmetry::Symmetry;
use super::visible::VisibleLevels;
use cpds::{Problem, Trace, VisibleState};
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
    /// What the levels are made of; if it is not said, that depends on finite context reachability.
    pub engine: Option<Engine>,
    /// Whether to treat interchangeable threads as such. No answer depends on it.
    pub symmetry: bool,
    /// Where to stop: the level with this k is the last one computed.
    pub max_contexts: Option<usize>,
    /// How many bytes the tables may take.
    pub memory: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { engine: None, symmetry: true, max_contexts: None, memory: 4 << 30 }
    }
}

/// What happened, for whoever shows it.
pub enum Event<'e> {
    /// Z is being computed.
    Overapproximating(Progress),
    /// A level is being computed.
    Exploring(Glimpse<'e>),
    /// A level is finished.
    Level(&'e Level),
}

/// What a finished level added.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// k.
    pub k: usize,
    /// |R_k|, if states are counted.
    pub reachable: Option<Count>,
    /// |R_k \ R_{k-1}|, if states are counted.
    pub new_reachable: Option<Count>,
    /// How many tuples S_k has that no other one covers, if the level is made of tuples.
    pub tuples: Option<Count>,
    /// |T(R_k)|.
    pub visible: Count,
    /// |T(R_k) \ T(R_{k-1})|.
    pub new_visible: Count,
}

/// What is known of the upper end.
pub enum Upper<'a> {
    /// Nothing has depended on it.
    NotStarted,
    /// Not finished: it would have taken longer than R_k.
    Growing(Box<Growing<'a>>),
    /// Z would take more than a quarter of the memory.
    TooLarge,
    /// This.
    Known(Box<Z>),
}

impl Upper<'_> {
    /// Z, if it is known.
    pub fn z(&self) -> Option<&Z> {
        if let Upper::Known(z) = self { Some(z) } else { None }
    }

    fn bytes(&self) -> usize {
        match self {
            Upper::NotStarted | Upper::TooLarge => 0,
            Upper::Growing(growing) => growing.bytes(),
            Upper::Known(z) => z.missing.bytes(),
        }
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
    /// R_k or S_k, and T(R_k).
    pub lower: Lower<'a>,
    /// Whether finite context reachability holds, and if not, why; nothing if the memory is not enough to find out.
    pub fcr: Option<Fcr>,
    /// Z. `Verify` looks there first; otherwise it is computed when T(R_k) plateaus and R_k does not.
    pub upper: Upper<'a>,
    /// The plateau of (T(R_k)) for which the generator test has been made.
    tested: Option<usize>,
    /// What is known of (R_k), or of (S_k), which may collapse later.
    pub lower_sequence: ObservationSequence,
    /// What is known of (T(R_k)).
    pub visible_sequence: ObservationSequence,
    /// Where (R_k) collapses, as far as it is known.
    pub collapse_of_states: Option<usize>,
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
    /// R_{k-1} = R_k (Scheme 1), or S_{k-1} = S_k.
    LowerCollapsed,
    /// A new plateau of T(R_k) that has all of G ∩ Z (Alg. 3).
    GeneratorsReached,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// As many contexts as were asked for.
    ContextBound,
    /// The tables would take more memory than they may.
    Memory,
    /// A bad state is reachable with this many contexts, and with no fewer, but the way there is too long to be written out.
    LongTrace {
        /// How many contexts.
        contexts: usize,
    },
}

/// Why an exploration was interrupted.
enum Interrupt {
    Memory,
    Bad(Violation),
}

/// A bad visible state, by its number, and the pattern that it fits.
struct Violation {
    visible: usize,
    pattern: usize,
}

/// Answers a question about a problem.
pub fn analyse(
    problem: &Problem,
    question: Question,
    options: Options,
    mut event: impl FnMut(Event<'_>),
) -> Analysis<'_> {
    let mut run = Run {
        bad: (question == Question::Verify)
            .then(|| Bad::new(problem.property(), &Symmetry::new(problem.system(), options.symmetry))),
        problem,
        question,
        options,
        event: &mut event,
    };
    let system = problem.system();
    let fcr = Fcr::within(system, options.memory / 4 / Psa::BYTES_A_TRANSITION).ok();
    let by_fcr = if fcr.as_ref().is_some_and(Fcr::holds) { Engine::Explicit } else { Engine::Symbolic };
    let engine = options.engine.unwrap_or(by_fcr);
    let mut analysis = Analysis {
        levels: Vec::new(),
        lower: Lower::new(system, engine, options.symmetry, options.memory),
        fcr,
        upper: Upper::NotStarted,
        tested: None,
        lower_sequence: ObservationSequence::default(),
        visible_sequence: ObservationSequence::default(),
        collapse_of_states: None,
        conclusion: Conclusion::Unknown(Reason::ContextBound),
    };
    analysis.conclusion = analysis.explore(&mut run);
    analysis.collapse_of_states = analysis.lower_sequence.collapse().and_then(|collapse| match &analysis.lower {
        Lower::Explicit(_) => Some(collapse),
        Lower::Symbolic(tuples) => tuples.collapse_of_states(collapse),
    });
    if analysis.is_open() {
        // The lower end has no answer, but Z may have: for `Verify` it is worth all the time it takes. Otherwise a little, to say what
        // blocks.
        let transitions = if question == Question::Verify { u64::MAX } else { analysis.fair_share() };
        if analysis.overapproximate(&mut run, transitions) {
            analysis.conclusion = Conclusion::Safe(Proof::Overapproximation);
        }
    }
    analysis
}

/// What stays the same during an analysis.
struct Run<'a, 'e, E> {
    problem: &'a Problem,
    question: Question,
    options: Options,
    bad: Option<Bad>,
    event: &'e mut E,
}

impl<'a> Analysis<'a> {
    fn explore(&mut self, run: &mut Run<'a, '_, impl FnMut(Event<'_>)>) -> Conclusion {
        let mut looked_at = 0;
        loop {
            if let Some(violation) = run.look_for_bad(self.lower.visible(), &mut looked_at) {
                return self.unsafe_by(run, &violation);
            }
            (run.event)(Event::Level(self.finish_level()));
            if let Some(conclusion) = self.observe(run) {
                return conclusion;
            }
            if run.options.max_contexts == Some(self.lower.k()) {
                return Conclusion::Unknown(Reason::ContextBound);
            }

            let others = self.upper.bytes() + self.levels.len() * (size_of::<Level>() + 4 * size_of::<usize>());
            let memory = run.options.memory;
            let is_full = |seen: &Glimpse<'_>| seen.bytes_at_next_look.saturating_add(others) > memory;
            // A level may be over before anybody looks.
            if is_full(&self.lower.glimpse()) {
                return Conclusion::Unknown(Reason::Memory);
            }
            let done = self.lower.advance(&mut |seen| {
                (run.event)(Event::Exploring(seen));
                if is_full(&seen) {
                    return ControlFlow::Break(Interrupt::Memory);
                }
                let violation = run.look_for_bad(seen.visible, &mut looked_at);
                violation.map_or(ControlFlow::Continue(()), |violation| ControlFlow::Break(Interrupt::Bad(violation)))
            });
            match done {
                Ok(()) => {}
                Err(Unfinished::Stopped(Interrupt::Bad(violation))) => return self.unsafe_by(run, &violation),
                Err(Unfinished::Stopped(Interrupt::Memory) | Unfinished::TooLarge) => {
                    // What was found of the level is reachable all the same.
                    return match run.look_for_bad(self.lower.visible(), &mut looked_at) {
                        Some(violation) => self.unsafe_by(run, &violation),
                        None => Conclusion::Unknown(Reason::Memory),
                    };
                }
            }
        }
    }

    /// Notes how large the level is that has just been finished, and whether the sequences grew.
    fn finish_level(&mut self) -> &Level {
        let k = self.lower.k();
        let before = self.levels.last();
        let (new_reachable, new_visible) = (self.lower.new_states(k), self.lower.visible().count(k));
        let sum = |before: Option<Count>, new: Count| before.unwrap_or(Count::ZERO) + new;
        let level = Level {
            k,
            reachable: new_reachable.map(|new| sum(before.and_then(|level| level.reachable), new)),
            new_reachable,
            tuples: self.lower.tuples(k),
            visible: sum(before.map(|level| level.visible), new_visible),
            new_visible,
        };
        if k > 0 {
            self.lower_sequence.observe(self.lower.grew(k));
            self.visible_sequence.observe(self.lower.visible().grew(k));
        }
        self.levels.push(level);
        &self.levels[k]
    }

    /// Both observers look at the level, and at Z; gives the answer if they have one.
    fn observe(&mut self, run: &mut Run<'a, '_, impl FnMut(Event<'_>)>) -> Option<Conclusion> {
        let verify = run.question == Question::Verify;
        let proved = |proof| if verify { Conclusion::Safe(proof) } else { Conclusion::Converged(proof) };
        // Scheme 1, line 4.
        if self.lower_sequence.plateau().is_some() {
            self.lower_sequence.converges();
            self.visible_sequence.converges();
            return Some(proved(Proof::LowerCollapsed));
        }
        let plateau = self.visible_sequence.plateau().filter(|_| self.visible_sequence.collapse().is_none());
        if (verify || plateau.is_some()) && self.overapproximate(run, self.fair_share()) {
            return Some(Conclusion::Safe(Proof::Overapproximation));
        }
        // Alg. 3, line 4. Inside a plateau nothing changes, so each is tested once.
        if let (Some(k0), Upper::Known(z)) = (plateau, &mut self.upper)
            && self.tested.replace(k0) != Some(k0)
        {
            z.missing.remove(self.lower.visible().set(), self.lower.visible().range(self.lower.k()).end);
            if z.missing.is_empty() {
                assert!(!verify, "T(R_k) = Z, but Z has a bad state and T(R_k) has none");
                self.visible_sequence.converges();
                return (run.question == Question::Visible).then(|| proved(Proof::GeneratorsReached));
            }
        }
        None
    }

    /// How many transitions Z may have taken by now: as many as R_k had expansions, or a few more. Z may be far larger than
    /// what it takes to find a bad state.
    fn fair_share(&self) -> u64 {
        self.lower.glimpse().expansions.max((1 << 20) + ((self.lower.k() as u64) << 16))
    }

    /// Goes on with Z until so many transitions have been taken. Says whether Z has just been finished without a bad state, if
    /// that is the question.
    fn overapproximate(&mut self, run: &mut Run<'a, '_, impl FnMut(Event<'_>)>, transitions: u64) -> bool {
        if matches!(self.upper, Upper::NotStarted) {
            self.upper = Upper::Growing(Box::new(Growing::new(run.problem.system(), run.options.symmetry)));
        }
        let Upper::Growing(growing) = &mut self.upper else { return false };
        let done = growing.explore(transitions, &mut |progress| {
            (run.event)(Event::Overapproximating(progress));
            // Most of the memory is for R_k.
            if progress.bytes > run.options.memory / 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match (done, std::mem::replace(&mut self.upper, Upper::TooLarge)) {
            (ControlFlow::Continue(true), Upper::Growing(growing)) => {
                let z = growing.finish();
                let safe = run.bad.as_ref().is_some_and(|bad| !z.has_bad_state(bad));
                self.upper = Upper::Known(Box::new(z.into()));
                safe
            }
            (ControlFlow::Continue(false), growing) => {
                self.upper = growing;
                false
            }
            _ => false,
        }
    }

    fn unsafe_by(&mut self, run: &Run<'a, '_, impl FnMut(Event<'_>)>, violation: &Violation) -> Conclusion {
        let &Violation { visible, pattern } = violation;
        let bad = run.bad.as_ref().expect("bad states are looked for");
        match self.lower.trace(bad, visible, pattern) {
            Some(trace) => Conclusion::Unsafe { trace, pattern },
            None => Conclusion::Unknown(Reason::LongTrace { contexts: self.levels.len() }),
        }
    }

    /// The last level that is finished and has no bad state, if that was the question.
    pub fn k(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// Whether there is no answer because something new may still become visible.
    pub fn is_open(&self) -> bool {
        matches!(self.conclusion, Conclusion::Unknown(Reason::ContextBound | Reason::Memory))
            && self.visible_sequence.collapse().is_none()
    }

    /// G ∩ Z \ T(R_k), for the last k, if Z is known.
    pub fn blocking(&mut self) -> Option<Blocking> {
        let Upper::Known(z) = &mut self.upper else { return None };
        z.missing.remove(self.lower.visible().set(), self.lower.visible().range(self.lower.k()).end);
        Some(Blocking { count: z.missing.count(), states: z.missing.states() })
    }
}

/// The generators that keep Alg. 3 from converging.
pub struct Blocking {
    /// How many there are.
    pub count: Count,
    /// Which they are; as many as have a million tops together, if there are more.
    pub states: BTreeSet<VisibleState>,
}

impl<E> Run<'_, '_, E> {
    /// Looks for a bad state among the visible states from `looked_at` on, if that is the question.
    fn look_for_bad(&self, visible: &VisibleLevels, looked_at: &mut usize) -> Option<Violation> {
        let (bad, visible) = (self.bad.as_ref()?, visible.set());
        let found = bad.first_violation(visible, *looked_at..visible.len());
        *looked_at = visible.len();
        found.map(|(visible, pattern)| Violation { visible, pattern })
    }
}

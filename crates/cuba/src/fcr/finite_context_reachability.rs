//! FCR, finite context reachability: whether every R_k is finite (paper §5).
//!
//! FCR holds exactly if no visible state in T(R) has a pumping head (`fcr/pumping_heads.rs`). So
//! the contexts of a program are
//! - **finite** if the program has no pumping head (Thm. 17), or if none of its pumping heads is in
//!   an overapproximation of T(R), or in T(R) itself;
//! - **infinite** if a visible state in some T(R_k) has one of its pumping heads;
//! - **open** otherwise.
//!
//! FCR holds if the contexts of every program are finite. It is refuted if those of one program are
//! infinite. It is undecidable for two threads (design note 017), so a third answer is necessary.
//!
//! # Before the search
//! The engine is chosen before the search. Three results may decide FCR by then: Thm. 17; the heads
//! that the first context of each thread reaches, which may refute FCR; and Z, if its exploration
//! is short. If every R_k is finite, the levels are sets of states.

use crate::automata::action_index::ActionIndex;
use crate::automata::store_automaton::Psa;
use crate::cancel::Cancel;
use crate::fcr::pumping_heads::{EARLY_TRANSITIONS, Head, PumpingHeads};
use crate::limits::TooLarge;
use crate::overapproximation::cut_off_exploration::CutOffExploration;
use crate::overapproximation::ladder::{Rung, rung_names};
use crate::overapproximation::z::Cut;
use crate::tuning::Tuning;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::levels::VisibleLevels;
use crate::visible::symmetry::Symmetry;
use cpds::Cpds;
use std::collections::HashSet;

/// The result for finite context reachability, program by program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fcr {
    /// The pumping heads.
    pub pumping: PumpingHeads,
    /// For each of [`Cpds::programs`], whether its contexts are finite.
    pub programs: Vec<ContextFiniteness>,
}

/// Whether the contexts of a program's threads are finite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContextFiniteness {
    /// From every reachable state, each of the threads alone reaches finitely many states.
    Finite(FinitenessProof),
    /// A state that is reachable with so many contexts has a pumping head. From there, one thread
    /// alone reaches infinitely many states.
    Infinite {
        /// The number of contexts.
        contexts: usize,
    },
    /// Not decided.
    Open,
}

/// Why the contexts of a program are finite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FinitenessProof {
    /// The program has no pumping heads (Thm. 17).
    Theorem17,
    /// None of its pumping heads is in the intersection of these rungs, often only one.
    Bounded(Vec<Rung>),
    /// None of its pumping heads is in T(R). (T(R_k)) has collapsed, so T(R) is computed.
    Collapsed,
}

impl ContextFiniteness {
    /// Whether the contexts are finite; `None` if this is not decided.
    pub fn is_finite(&self) -> Option<bool> {
        match self {
            ContextFiniteness::Finite(_) => Some(true),
            ContextFiniteness::Infinite { .. } => Some(false),
            ContextFiniteness::Open => None,
        }
    }

    /// Returns the reason in one or two words.
    pub fn by(&self) -> Option<String> {
        match self {
            ContextFiniteness::Finite(FinitenessProof::Theorem17) => Some("Thm. 17".to_owned()),
            ContextFiniteness::Finite(FinitenessProof::Bounded(rungs)) => Some(rung_names(rungs)),
            ContextFiniteness::Finite(FinitenessProof::Collapsed) => Some("T(R)".to_owned()),
            ContextFiniteness::Infinite { contexts } => Some(format!("T(R_{contexts})")),
            ContextFiniteness::Open => None,
        }
    }

    /// Combines the results of two programs. If one is finite and the other one is not, the result
    /// is open.
    fn and(self, other: ContextFiniteness) -> ContextFiniteness {
        match (self, other) {
            (ContextFiniteness::Infinite { contexts }, ContextFiniteness::Infinite { contexts: others }) => {
                ContextFiniteness::Infinite { contexts: contexts.min(others) }
            }
            (ContextFiniteness::Finite(proof), ContextFiniteness::Finite(other)) => {
                ContextFiniteness::Finite(match (proof, other) {
                    (FinitenessProof::Theorem17, proof) | (proof, FinitenessProof::Theorem17) => proof,
                    (FinitenessProof::Bounded(mut rungs), FinitenessProof::Bounded(others)) => {
                        rungs.extend(others);
                        rungs.sort_unstable();
                        rungs.dedup();
                        FinitenessProof::Bounded(rungs)
                    }
                    (FinitenessProof::Collapsed, _) | (_, FinitenessProof::Collapsed) => FinitenessProof::Collapsed,
                })
            }
            _ => ContextFiniteness::Open,
        }
    }
}

impl Fcr {
    /// Decides FCR without a search, if possible: by Thm. 17, by the first contexts, or by Z.
    pub fn new(system: &Cpds) -> Fcr {
        let symmetry = Symmetry::new(system, true);
        let result = Self::before_search(system, &symmetry, usize::MAX, Tuning::SHIPPED, &Cancel::default());
        result.expect("there is no limit").0
    }

    /// Decides FCR before the search, if possible, within so many bytes. Also returns the
    /// exploration of Z, as far as it was computed, if it has begun.
    ///
    /// # Errors
    /// If the caller cancels, or if the memory does not suffice to find any loop.
    pub(crate) fn before_search<'a>(
        system: &'a Cpds,
        symmetry: &Symmetry,
        memory: usize,
        tuning: Tuning,
        cancel: &Cancel,
    ) -> Result<(Fcr, Option<CutOffExploration<'a>>), TooLarge> {
        let limit = memory / Psa::BYTES_A_TRANSITION;
        let mut fcr = Fcr::by_theorem_17(PumpingHeads::within(system, limit, EARLY_TRANSITIONS, cancel)?);
        fcr.check_first_contexts(system, cancel);
        if fcr.holds().is_some() || !fcr.pumping.is_complete() {
            return Ok((fcr, None));
        }
        let Ok(mut z) = CutOffExploration::new(system, symmetry.clone(), Cut::Z, memory, tuning) else {
            return Ok((fcr, None));
        };
        if z.finishes_within(tuning.z_before_search, memory, cancel) {
            fcr.rule_out(system, symmetry, |bad| {
                let is_free = bad.first_violation(z.set(), 0..z.set().len()).is_none();
                is_free.then(|| FinitenessProof::Bounded(vec![Rung::Z]))
            });
        }
        Ok((fcr, Some(z)))
    }

    /// Applies Thm. 17: the contexts of a program without pumping heads are finite.
    pub fn by_theorem_17(pumping: PumpingHeads) -> Fcr {
        let of_program = |program: usize| {
            let is_finite = pumping.heads(program).is_empty() && pumping.is_complete();
            if is_finite { ContextFiniteness::Finite(FinitenessProof::Theorem17) } else { ContextFiniteness::Open }
        };
        let programs = (0..pumping.program_count()).map(of_program).collect();
        Fcr { pumping, programs }
    }

    /// Whether every R_k is finite; `None` if this is not decided.
    pub fn holds(&self) -> Option<bool> {
        let mut is_finite = self.programs.iter().map(ContextFiniteness::is_finite);
        if is_finite.clone().any(|finite| finite == Some(false)) {
            return Some(false);
        }
        is_finite.all(|finite| finite == Some(true)).then_some(true)
    }

    /// Returns the reason: `Thm. 17`, `Z`, `matched-Z ∩ A_1` or `T(R)`; or `T(R_2)`, if it has a
    /// pumping head.
    pub fn by(&self) -> Option<String> {
        let holds = self.holds()?;
        let decisive = self.programs.iter().filter(|contexts| contexts.is_finite() == Some(holds));
        // For infinite contexts, the least k. For finite contexts, T(R), or else all rungs.
        decisive.cloned().reduce(ContextFiniteness::and).and_then(|contexts| contexts.by())
    }

    /// Looks for pumping heads in the initial states, and in the states that the first context of
    /// each thread reaches: post* of the initial stacks of this thread.
    fn check_first_contexts(&mut self, system: &Cpds, cancel: &Cancel) {
        let mut examined = HashSet::new();
        for thread in system.threads() {
            let program = system.program_index(thread);
            let mut starts: Vec<_> =
                system.initial().iter().map(|state| (state.shared, &state.stacks[thread.index()])).collect();
            starts.sort_unstable();
            starts.dedup();
            if self.programs[program].is_finite() == Some(true) || !examined.insert((program, starts.clone())) {
                continue;
            }
            let pumps = |head: &Head| self.pumping.heads(program).binary_search(head).is_ok();
            let heads = starts.iter().filter_map(|(q, stack)| Some((*q, stack.top()?)));
            let contexts = if heads.into_iter().any(|head| pumps(&head)) {
                0
            } else {
                let mut psa = Psa::of_states(starts);
                // Each state that the automaton accepts is reachable, even if post* is incomplete.
                let _ = psa.saturate(&ActionIndex::new(&system.programs()[program]), EARLY_TRANSITIONS, cancel);
                if !psa.heads().any(|head| pumps(&head)) {
                    continue;
                }
                1
            };
            let infinite = ContextFiniteness::Infinite { contexts };
            let before = std::mem::replace(&mut self.programs[program], ContextFiniteness::Open);
            self.programs[program] = if before == ContextFiniteness::Open { infinite } else { before.and(infinite) };
        }
    }

    /// For each undecided program, calls `proof` with its pumping heads. If these are ruled out,
    /// `proof` returns the reason.
    fn rule_out(
        &mut self,
        system: &Cpds,
        symmetry: &Symmetry,
        proof: impl Fn(&BadPatterns) -> Option<FinitenessProof>,
    ) {
        if !self.pumping.is_complete() {
            return;
        }
        for (program, contexts) in self.programs.iter_mut().enumerate() {
            if *contexts == ContextFiniteness::Open
                && let Some(proof) = proof(&BadPatterns::heads(self.pumping.heads(program), program, system, symmetry))
            {
                *contexts = ContextFiniteness::Finite(proof);
            }
        }
    }

    /// Decides further programs by the results of the search. A head in T(R_0), …, T(R_k) is
    /// reachable. `bounded` returns rungs that together rule out all the given heads, if there are
    /// any. If `is_all`, T(R_k) is T(R).
    pub(crate) fn decide_by_search(
        &mut self,
        system: &Cpds,
        symmetry: &Symmetry,
        (visible, k, is_all): (&VisibleLevels, usize, bool),
        bounded: impl Fn(&BadPatterns) -> Option<Vec<Rung>>,
    ) {
        for (program, contexts) in
            self.programs.iter_mut().enumerate().filter(|(_, contexts)| **contexts == ContextFiniteness::Open)
        {
            let bad = BadPatterns::heads(self.pumping.heads(program), program, system, symmetry);
            let has_head = |&k: &usize| bad.first_violation(visible.set(), visible.range(k)).is_some();
            if let Some(level) = (0..=k).find(has_head) {
                *contexts = ContextFiniteness::Infinite { contexts: level };
            }
        }
        self.rule_out(system, symmetry, |bad| bounded(bad).map(FinitenessProof::Bounded));
        self.rule_out(system, symmetry, |_| is_all.then_some(FinitenessProof::Collapsed));
    }
}

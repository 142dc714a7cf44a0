//! FCR, finite context reachability: whether every R_k is finite (paper §5).
//!
//! It holds exactly if no visible state in T(R) has a pumping head (`fcr/pumping_heads.rs`). So for
//! each program it is
//! - **finite**, if it has no pumping head (Thm. 17), or if an overapproximation of T(R), or T(R)
//!   itself, has none of its heads;
//! - **infinite**, if some T(R_k) has one;
//! - **open** otherwise.
//!
//! Finite context reachability holds if every program is finite, and is refuted if one is infinite.
//! It is undecidable for two threads (design note 017), so a third answer is needed.
//!
//! # What is known at once
//! The engine is chosen before anything is explored. By then three things are known: Thm. 17; what
//! the first context of each thread reaches, which may refute it; and Z, if that is soon finished.
//! If every R_k is known to be finite, states are explored one by one.

use crate::automata::action_index::ActionIndex;
use crate::automata::store_automaton::Psa;
use crate::fcr::pumping_heads::{Head, PumpingHeads, SOON};
use crate::limits::Cancel;
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

/// What is known of finite context reachability.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fcr {
    /// The pumping heads.
    pub pumping: PumpingHeads,
    /// For each of [`Cpds::programs`], what is known of its contexts.
    pub programs: Vec<ContextFiniteness>,
}

/// What is known of the contexts of a program's threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContextFiniteness {
    /// From every reachable state, each thread alone reaches finitely many.
    Finite(FinitenessProof),
    /// With so many contexts a thread gets to a pumping head, from which it alone reaches
    /// infinitely many states.
    Infinite {
        /// How many contexts.
        contexts: usize,
    },
    /// Not known.
    Open,
}

/// Why the contexts of a program are finite.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FinitenessProof {
    /// It has no pumping heads (Thm. 17).
    Theorem17,
    /// What these rungs have in common, mostly one alone, has none of its pumping heads.
    Bounded(Vec<Rung>),
    /// T(R) has none of them, and is known: the levels have collapsed.
    Collapsed,
}

impl ContextFiniteness {
    /// Whether they are finite, if that is known.
    pub fn is_finite(&self) -> Option<bool> {
        match self {
            ContextFiniteness::Finite(_) => Some(true),
            ContextFiniteness::Infinite { .. } => Some(false),
            ContextFiniteness::Open => None,
        }
    }

    /// How that is known, in a word or two.
    pub fn by(&self) -> Option<String> {
        match self {
            ContextFiniteness::Finite(FinitenessProof::Theorem17) => Some("Thm. 17".to_owned()),
            ContextFiniteness::Finite(FinitenessProof::Bounded(rungs)) => Some(rung_names(rungs)),
            ContextFiniteness::Finite(FinitenessProof::Collapsed) => Some("T(R)".to_owned()),
            ContextFiniteness::Infinite { contexts } => Some(format!("T(R_{contexts})")),
            ContextFiniteness::Open => None,
        }
    }

    /// What is known of two programs together, if it is the same: both are finite, or both are not.
    fn and(self, other: ContextFiniteness) -> ContextFiniteness {
        match (self, other) {
            (ContextFiniteness::Infinite { contexts }, ContextFiniteness::Infinite { contexts: others }) => {
                ContextFiniteness::Infinite { contexts: contexts.min(others) }
            }
            (ContextFiniteness::Finite(ground), ContextFiniteness::Finite(other)) => {
                ContextFiniteness::Finite(match (ground, other) {
                    (FinitenessProof::Theorem17, ground) | (ground, FinitenessProof::Theorem17) => ground,
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
    /// What is known at once: by Thm. 17, by the first contexts, or by the heads of Z.
    pub fn new(system: &Cpds) -> Fcr {
        let found =
            Self::before_search(system, &Symmetry::new(system, true), usize::MAX, Tuning::SHIPPED, &Cancel::default());
        found.expect("there is no limit").0
    }

    /// What is known at once, within so many bytes; with Z as far as it was explored for that, if
    /// it was.
    ///
    /// # Errors
    /// If it is stopped, or if no loop is found within the memory.
    pub(crate) fn before_search<'a>(
        system: &'a Cpds,
        symmetry: &Symmetry,
        memory: usize,
        tuning: Tuning,
        cancel: &Cancel,
    ) -> Result<(Fcr, Option<CutOffExploration<'a>>), TooLarge> {
        let mut fcr = Fcr::by_theorem_17(PumpingHeads::within(system, memory / Psa::BYTES_A_TRANSITION, SOON, cancel)?);
        fcr.begin(system, cancel);
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

    /// What follows from the pumping heads alone.
    pub fn by_theorem_17(pumping: PumpingHeads) -> Fcr {
        let of_program = |program: usize| {
            let is_finite = pumping.heads(program).is_empty() && pumping.is_complete();
            if is_finite { ContextFiniteness::Finite(FinitenessProof::Theorem17) } else { ContextFiniteness::Open }
        };
        let programs = (0..pumping.program_count()).map(of_program).collect();
        Fcr { pumping, programs }
    }

    /// Whether every R_k is finite, if that is known.
    pub fn holds(&self) -> Option<bool> {
        let mut is_finite = self.programs.iter().map(ContextFiniteness::is_finite);
        if is_finite.clone().any(|finite| finite == Some(false)) {
            return Some(false);
        }
        is_finite.all(|finite| finite == Some(true)).then_some(true)
    }

    /// How it is known: `Thm. 17`, `Z`, `matched-Z ∩ A_1`, `T(R)`; or `T(R_2)`, which has a pumping
    /// head.
    pub fn by(&self) -> Option<String> {
        let holds = self.holds()?;
        let decisive = self.programs.iter().filter(|contexts| contexts.is_finite() == Some(holds));
        // The last word on it: the first k; what is known of T(R); all rungs.
        decisive.cloned().reduce(ContextFiniteness::and).and_then(|contexts| contexts.by())
    }

    /// Looks for pumping heads in the initial states, and in what the first context of each thread
    /// reaches: by post* of the stacks that it has there, since no other thread moves.
    fn begin(&mut self, system: &Cpds, cancel: &Cancel) {
        let mut seen = HashSet::new();
        for thread in system.threads() {
            let program = system.program_index(thread);
            let mut starts: Vec<_> =
                system.initial().iter().map(|it| (it.shared, &it.stacks[thread.index()])).collect();
            starts.sort_unstable();
            starts.dedup();
            if self.programs[program].is_finite() == Some(true) || !seen.insert((program, starts.clone())) {
                continue;
            }
            let pumps = |head: &Head| self.pumping.heads(program).binary_search(head).is_ok();
            let heads = starts.iter().filter_map(|(q, stack)| Some((*q, stack.top()?)));
            let contexts = if heads.into_iter().any(|head| pumps(&head)) {
                0
            } else {
                let mut psa = Psa::of_states(starts);
                // What is there is reachable, complete or not.
                let _ = psa.saturate(&ActionIndex::new(&system.programs()[program]), SOON, cancel);
                if !psa.heads().any(|head| pumps(&head)) {
                    continue;
                }
                1
            };
            let found = ContextFiniteness::Infinite { contexts };
            let known = std::mem::replace(&mut self.programs[program], ContextFiniteness::Open);
            self.programs[program] = if known == ContextFiniteness::Open { found } else { known.and(found) };
        }
    }

    /// For each program of which nothing is known, asks whether all its pumping heads are ruled
    /// out, and why.
    fn rule_out(&mut self, system: &Cpds, symmetry: &Symmetry, why: impl Fn(&BadPatterns) -> Option<FinitenessProof>) {
        if !self.pumping.is_complete() {
            return;
        }
        for (program, contexts) in self.programs.iter_mut().enumerate() {
            if *contexts == ContextFiniteness::Open
                && let Some(ground) = why(&BadPatterns::heads(self.pumping.heads(program), program, system, symmetry))
            {
                *contexts = ContextFiniteness::Finite(ground);
            }
        }
    }

    /// Adds what follows from T(R_0), …, T(R_k), which may be known to be all of T(R), and from
    /// what the rungs have left.
    pub(crate) fn add(
        &mut self,
        system: &Cpds,
        symmetry: &Symmetry,
        (visible, k, is_all): (&VisibleLevels, usize, bool),
        bounded: impl Fn(&BadPatterns) -> Option<Vec<Rung>>,
    ) {
        for (program, contexts) in
            self.programs.iter_mut().enumerate().filter(|(_, it)| **it == ContextFiniteness::Open)
        {
            let bad = BadPatterns::heads(self.pumping.heads(program), program, system, symmetry);
            let has_head = |&k: &usize| bad.first_violation(visible.set(), visible.range(k)).is_some();
            if let Some(contexts_to_it) = (0..=k).find(has_head) {
                *contexts = ContextFiniteness::Infinite { contexts: contexts_to_it };
            }
        }
        self.rule_out(system, symmetry, |bad| bounded(bad).map(FinitenessProof::Bounded));
        self.rule_out(system, symmetry, |_| is_all.then_some(FinitenessProof::Collapsed));
    }
}

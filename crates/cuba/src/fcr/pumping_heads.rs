//! Pumping heads: where a thread alone can raise its stack without end. A system without pumping
//! heads meets the condition of Thm. 17 (paper §5).
//!
//! A *head* is a shared state with the symbol on top of one thread's stack, (q,σ). A *pumping head*
//! is one that a call leads to, with ⟨q|σ⟩ →⁺ ⟨q|σw⟩ for some w ≠ ε by a run that makes this call
//! again: a loop (`fcr/pumping_loop.rs`). They are read off the store automaton of everything that
//! the program reaches from its heads (that of Thm. 17): those are the states made for calls
//! through which a loop of the automaton goes.
//!
//! # What pumping heads decide
//! **Every R_k is finite exactly if no visible state in T(R) has a pumping head.** So finite
//! context reachability is a question about visible states, and whatever answers those answers it:
//! every overapproximation of T(R), and every T(R_k).
//! - If a state of R_k has a pumping head, one more context of its thread reaches infinitely many
//!   states.
//! - If a context reaches infinitely many states from ⟨q|σv⟩, then infinitely many above v, or one
//!   of the finitely many ⟨q'|v⟩ that it pops down to reaches infinitely many: by induction on the
//!   stack some head on the way has infinitely many stacks above it. (There are finitely many
//!   ⟨q|ε⟩, and one action from each leads to finitely many heads.) Among these stacks are some
//!   with more calls on each other than there are heads, so two of the calls lead to the same head:
//!   it pumps, and the context goes through it.
//!
//! # What Theorem 17 decides
//! If no head pumps at all, every R_k is finite, whatever is reachable. The converse is false: a
//! pumping head need not be reachable.

use crate::automata::action_index::ActionIndex;
use crate::automata::store_automaton::Psa;
use crate::fcr::pumping_loop::PumpingLoop;
use crate::limits::Cancel;
use crate::limits::TooLarge;
use cpds::{Cpds, ModelError, Pattern, Problem, Program, Property, SharedState, Symbol, ThreadId, Wild, limits};

/// A shared state and the symbol on top of a thread's stack.
pub type Head = (SharedState, Symbol);

/// The pumping heads of a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PumpingHeads {
    /// For each of [`Cpds::programs`], in order.
    heads: Vec<Vec<Head>>,
    /// For each of them, a loop, if it has any.
    loops: Vec<Option<PumpingLoop>>,
    /// Whether these are all.
    is_complete: bool,
}

/// How many transitions an automaton may have before there is an answer without all loops.
pub(crate) const SOON: usize = 1 << 18;

impl PumpingHeads {
    /// All pumping heads.
    pub fn new(system: &Cpds) -> PumpingHeads {
        Self::within(system, usize::MAX, usize::MAX, &Cancel::default()).expect("there is no limit")
    }

    /// The pumping heads, if no automaton takes more than `limit` transitions and nothing stops it.
    /// Those that are found within `soon` transitions may be enough.
    ///
    /// # Errors
    /// If it is stopped, or if there are too many transitions and no loop among them.
    pub fn within(system: &Cpds, limit: usize, soon: usize, cancel: &Cancel) -> Result<PumpingHeads, TooLarge> {
        let mut pumping = PumpingHeads { heads: Vec::new(), loops: Vec::new(), is_complete: true };
        for program in system.programs() {
            let heads = ActionIndex::new(program);
            let mut psa = Psa::of_heads(heads.sources());
            // What is there is reachable, so that a loop can be seen before everything is there.
            let mut enough = 1 << 10;
            let on_loops = loop {
                match psa.saturate(&heads, enough.min(limit), cancel) {
                    Ok(()) => break psa.on_loops(),
                    Err(TooLarge) if cancel.why().is_some() => return Err(TooLarge),
                    Err(TooLarge) if enough < limit.min(soon) => {}
                    Err(TooLarge) => {
                        let on_loops = psa.on_loops();
                        if !on_loops.is_empty() {
                            pumping.is_complete = false;
                            break on_loops;
                        }
                        if enough >= limit {
                            return Err(TooLarge);
                        }
                    }
                }
                enough = psa.transition_count().saturating_mul(2);
            };
            let found = psa.find_loop();
            pumping.loops.push(found.map(|transitions| psa.show_loop(&transitions, program)));
            let mut of_program: Vec<Head> = on_loops.into_iter().filter_map(|state| psa.call(state)).collect();
            of_program.sort_unstable();
            pumping.heads.push(of_program);
        }
        Ok(pumping)
    }

    /// Whether these are all pumping heads of the system.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether there are no pumping heads: the condition of Thm. 17.
    pub fn is_empty(&self) -> bool {
        self.is_complete && self.heads.iter().all(Vec::is_empty)
    }

    /// How many programs the system has.
    pub(crate) fn program_count(&self) -> usize {
        self.heads.len()
    }

    /// The pumping heads of the program with this number.
    pub fn heads(&self, program: usize) -> &[Head] {
        &self.heads[program]
    }

    /// A loop of the program with this number, if it has any.
    pub fn a_loop(&self, program: usize) -> Option<&PumpingLoop> {
        self.loops[program].as_ref()
    }

    /// The question whether any of these programs can get to a pumping head: a bad pattern for each
    /// head of each of their threads; of interchangeable threads, one is enough if there would be
    /// too many patterns.
    ///
    /// # Errors
    /// If there are too many patterns for a problem all the same.
    pub fn question(&self, system: &Cpds, programs: &[usize]) -> Result<Problem, ModelError> {
        let is_asked = |thread: &&ThreadId| programs.contains(&system.program_index(**thread));
        let groups = system.symmetric_groups();
        let all: Vec<ThreadId> = groups.iter().flatten().filter(is_asked).copied().collect();
        let firsts = || groups.iter().filter_map(|group| group.iter().find(is_asked)).copied().collect();
        self.question_of(system, all).or_else(|_| self.question_of(system, firsts()))
    }

    fn question_of(&self, system: &Cpds, mut threads: Vec<ThreadId>) -> Result<Problem, ModelError> {
        threads.sort_unstable();
        let cells = |thread: &ThreadId| (system.thread_count() + 1) * self.heads(system.program_index(*thread)).len();
        let cells: usize = threads.iter().map(cells).sum();
        if cells as u64 > limits::STACK_CELLS {
            return Err(ModelError::TooLarge { what: "pumping heads to ask for", limit: limits::STACK_CELLS });
        }
        let mut bad = Vec::new();
        for thread in threads {
            for &(q, symbol) in self.heads(system.program_index(thread)) {
                let mut tops = vec![Wild::Any; system.thread_count()];
                tops[thread.index()] = Wild::Is(Some(symbol));
                bad.push(Pattern { shared: Wild::Is(q), tops });
            }
        }
        Problem::new(system.clone(), Property { bad })
    }
}

impl PumpingLoop {
    /// A loop from this head, if it pumps and an automaton of so many transitions shows it.
    pub fn at((q, symbol): Head, program: &Program, limit: usize) -> Option<PumpingLoop> {
        let psa = Psa::of_heads([(q, Some(symbol))]).saturated(&ActionIndex::new(program), limit).ok()?;
        let call = psa.on_loops().into_iter().find(|&state| psa.call(state) == Some((q, symbol)))?;
        Some(psa.show_loop(&psa.loop_through(call), program).shortened(program))
    }
}

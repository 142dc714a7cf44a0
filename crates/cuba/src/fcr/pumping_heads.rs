//! Pumping heads (paper §5, Thm. 17): the heads from which a thread alone can raise its stack
//! without end. A system without pumping heads meets the condition of Thm. 17.
//!
//! A *head* is a shared state with the symbol on top of one thread's stack, (q,σ). It is a *pumping
//! head* if there is a run ⟨q|σ⟩ →⁺ ⟨q|σw⟩ with w ≠ ε that never pops below its start, and whose
//! last step is a call that leads to (q,σ): a loop (`fcr/pumping_loop.rs`). The store automaton for
//! Thm. 17 accepts all thread states that the program reaches from its heads. The pumping heads are
//! the heads of the calls whose states are on a loop of this automaton.
//!
//! # Every R_k is finite exactly if no visible state in T(R) has a pumping head
//! So finite context reachability is a question about visible states. Each overapproximation of
//! T(R), and each T(R_k), may answer it.
//! - If a state of R_k has a pumping head, one more context of its thread reaches infinitely many
//!   states.
//! - Let a context reach infinitely many states from ⟨q|σv⟩. Either it reaches infinitely many
//!   stacks above v, or it pops down to one of finitely many ⟨q'|v⟩ and reaches infinitely many
//!   states from there. By induction on the stack, it reaches infinitely many stacks above some
//!   head. (There are finitely many ⟨q|ε⟩, and one action from each leads to finitely many heads.)
//!   Some of these stacks have more open calls than there are heads. So two of the calls lead to
//!   the same head. This is a pumping head, and the context reaches it.
//!
//! # Theorem 17
//! If there are no pumping heads, every R_k is finite. The converse does not hold, since a pumping
//! head need not be reachable.

use crate::automata::action_index::ActionIndex;
use crate::automata::store_automaton::Psa;
use crate::cancel::Cancel;
use crate::fcr::pumping_loop::PumpingLoop;
use crate::limits::TooLarge;
use cpds::{Cpds, ModelError, Pattern, Problem, Program, Property, SharedState, Symbol, ThreadId, Wild, limits};

/// A shared state and the symbol on top of a thread's stack.
pub type Head = (SharedState, Symbol);

/// The pumping heads of a system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PumpingHeads {
    /// For each of [`Cpds::programs`], in order.
    heads: Vec<Vec<Head>>,
    /// For each program, a loop, if it has any.
    loops: Vec<Option<PumpingLoop>>,
    /// Whether these are all pumping heads.
    is_complete: bool,
}

/// The most transitions for an early answer: from this number on, the loops of an incomplete
/// automaton are an answer. Also the most transitions for the first context of a thread.
pub(crate) const EARLY_TRANSITIONS: usize = 1 << 18;

impl PumpingHeads {
    /// Computes all pumping heads.
    pub fn new(system: &Cpds) -> PumpingHeads {
        Self::within(system, usize::MAX, usize::MAX, &Cancel::default()).expect("there is no limit")
    }

    /// Computes the pumping heads with automata of at most `limit` transitions. If an automaton has
    /// more than `early` transitions and a loop, the heads on its loops are the result for this
    /// program. Then the result is not complete.
    ///
    /// # Errors
    /// If the caller cancels, or if an automaton reaches the limit and has no loop.
    pub fn within(system: &Cpds, limit: usize, early: usize, cancel: &Cancel) -> Result<PumpingHeads, TooLarge> {
        let mut pumping = PumpingHeads { heads: Vec::new(), loops: Vec::new(), is_complete: true };
        for program in system.programs() {
            let heads = ActionIndex::new(program);
            let mut psa = Psa::of_heads(heads.sources());
            // All transitions of an incomplete automaton are valid, so it may already show a loop.
            let mut size = 1 << 10;
            let loop_states = loop {
                match psa.saturate(&heads, size.min(limit), cancel) {
                    Ok(()) => break psa.loop_states(),
                    Err(TooLarge) if cancel.why().is_some() => return Err(TooLarge),
                    Err(TooLarge) if size < limit.min(early) => {}
                    Err(TooLarge) => {
                        let loop_states = psa.loop_states();
                        if !loop_states.is_empty() {
                            pumping.is_complete = false;
                            break loop_states;
                        }
                        if size >= limit {
                            return Err(TooLarge);
                        }
                    }
                }
                size = psa.transition_count().saturating_mul(2);
            };
            let pumping_loop = psa.find_loop().map(|transitions| psa.pumping_loop(&transitions, program));
            pumping.loops.push(pumping_loop);
            let mut of_program: Vec<Head> = loop_states.into_iter().filter_map(|state| psa.call(state)).collect();
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

    /// Returns the number of programs of the system.
    pub(crate) fn program_count(&self) -> usize {
        self.heads.len()
    }

    /// Returns the pumping heads of the program with this number.
    pub fn heads(&self, program: usize) -> &[Head] {
        &self.heads[program]
    }

    /// Returns a loop of the program with this number, if it has any.
    pub fn a_loop(&self, program: usize) -> Option<&PumpingLoop> {
        self.loops[program].as_ref()
    }

    /// Returns the problem whether a thread of these programs can reach a pumping head. It has a
    /// bad pattern for each thread and each of its pumping heads. If these are too many patterns,
    /// it has only those of one thread of each group of interchangeable threads.
    ///
    /// # Errors
    /// If there are still too many patterns for a problem.
    pub fn question(&self, system: &Cpds, programs: &[usize]) -> Result<Problem, ModelError> {
        let is_included = |thread: &&ThreadId| programs.contains(&system.program_index(**thread));
        let groups = system.symmetric_groups();
        let all: Vec<ThreadId> = groups.iter().flatten().filter(is_included).copied().collect();
        let firsts = || groups.iter().filter_map(|group| group.iter().find(is_included)).copied().collect();
        self.question_of(system, all).or_else(|_| self.question_of(system, firsts()))
    }

    /// Returns the problem whether one of these threads can reach a pumping head.
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
    /// Returns a loop from this head, if an automaton of at most `limit` transitions has one.
    pub fn at((q, symbol): Head, program: &Program, limit: usize) -> Option<PumpingLoop> {
        let psa = Psa::of_heads([(q, Some(symbol))]).saturated(&ActionIndex::new(program), limit).ok()?;
        let call = psa.loop_states().into_iter().find(|&state| psa.call(state) == Some((q, symbol)))?;
        Some(psa.pumping_loop(&psa.loop_through(call), program).shortened(program))
    }
}

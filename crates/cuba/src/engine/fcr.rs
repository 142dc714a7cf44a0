//! Finite context reachability, decided as in Thm. 17 (paper §5).
//!
//! For each program, the store automaton of R(Q × Σ^{≤1}): everything that a thread alone reaches from a stack of height at
//! most one. If each of these sets is finite, then so is every R_k. A set is infinite exactly if its automaton has a loop, since
//! every transition is on an accepting path. Thread-visible states in which no action is enabled only reach themselves, so the
//! others are enough to start from.
//!
//! # What a loop is
//! Loops go through states made for calls. A transition m –ρ→ s, with m for (q,σ) and s for (p,γ), says ⟨p|γ⟩ →⁺ ⟨q|σρ⟩. So a
//! loop from m back to m is a run ⟨q|σ⟩ →⁺ ⟨q|σw⟩ with w ≠ ε, which can be repeated for ever.
//!
//! # What may not be concluded
//! A loop may start in a state that no thread ever gets to. Then every R_k is finite although the condition fails: it is
//! sufficient, not necessary, as in the paper.

use super::heads::Heads;
use super::psa::{Psa, TooLarge};
use super::race::Cancel;
use super::run::Run;
use super::visible::{top, top_number};
use cpds::{Cpds, Program, SharedState, Stack, Symbol};

/// Whether finite context reachability holds, program by program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fcr {
    /// For each of [`Cpds::programs`], the loop that refutes it.
    pub loops: Vec<Option<Loop>>,
}

/// A run ⟨q|σ⟩ →⁺ ⟨q|σw⟩ with w ≠ ε.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The run; nothing if it is too long to be written out.
    pub run: Option<Run>,
    /// q.
    pub shared: SharedState,
    /// σ.
    pub top: Symbol,
    /// w.
    pub grown: Stack,
}

/// A loop of more steps than this is not written out.
const MOST_STEPS: usize = 1 << 16;

/// How many transitions may be looked at for a shortest run.
const SOON: usize = 1 << 18;

impl Fcr {
    /// Decides it.
    pub fn new(system: &Cpds) -> Fcr {
        Self::within(system, usize::MAX, &Cancel::default()).expect("there is no limit")
    }

    /// Decides it, if no automaton has more than so many transitions, and nobody stops it.
    pub fn within(system: &Cpds, limit: usize, cancel: &Cancel) -> Result<Fcr, TooLarge> {
        let of_program = |program| {
            let heads = Heads::new(program);
            let mut psa = Psa::of_heads(heads.sources());
            // What is there is reachable, so that a loop can be seen before everything is there.
            let mut enough = 1 << 10;
            loop {
                let done = psa.saturate(&heads, enough.min(limit), cancel);
                if let Some(transitions) = psa.find_loop() {
                    return Ok(Some(psa.show_loop(&transitions, program)));
                }
                match done {
                    Ok(()) => return Ok(None),
                    Err(TooLarge) if enough < limit && cancel.why().is_none() => {
                        enough = psa.transition_count().saturating_mul(2);
                    }
                    Err(TooLarge) => return Err(TooLarge),
                }
            }
        };
        Ok(Fcr { loops: system.programs().iter().map(of_program).collect::<Result<_, _>>()? })
    }

    /// Whether it holds.
    pub fn holds(&self) -> bool {
        self.loops.iter().all(Option::is_none)
    }
}

impl Loop {
    /// The same loop with a shortest run, if that is found soon.
    #[must_use]
    pub fn shortened(self, program: &Program) -> Loop {
        let [(q, stack), (_, end)] = self.ends();
        let given = Psa::of_states([(q, &stack)]).with_lengths();
        match given.saturated(&Heads::new(program), SOON) {
            Ok(psa) => Loop { run: psa.run(q, &end).and_then(|run| run.if_short(program)).or(self.run), ..self },
            Err(TooLarge) => self,
        }
    }

    /// ⟨q|σ⟩ and ⟨q|σw⟩.
    pub fn ends(&self) -> [(SharedState, Stack); 2] {
        let end = std::iter::once(self.top).chain(self.grown.iter());
        [(self.shared, Stack::from_top([self.top])), (self.shared, Stack::from_top(end))]
    }

    /// Whether its run is one of the program and raises the stack as it says.
    pub fn replays(&self, program: &Program) -> bool {
        let Some(run) = &self.run else { return false };
        let [start, end] = self.ends();
        run.start == start && self.grown.height() > 0 && run.states(program).last() == Some(end)
    }
}

impl Psa {
    /// A loop, as transitions one after the other: from a state made for calls back to it; as short as any through that state.
    pub(super) fn find_loop(&self) -> Option<Vec<u32>> {
        let calls = |state: u32| {
            self.out(state).filter(|&t| self.call(self.transitions[t as usize].to).is_some()).collect::<Vec<_>>()
        };
        let to = |t: u32| self.transitions[t as usize].to;
        // States from which every path ends are taken away, until each that is left leads on to another.
        let count = u32::try_from(self.node_count()).expect("numbered so");
        let mut leads_on = vec![0; count as usize];
        let mut into = vec![Vec::new(); count as usize];
        for state in (0..count).filter(|&state| self.call(state).is_some()) {
            let out = calls(state);
            leads_on[state as usize] = out.len();
            for t in out {
                into[to(t) as usize].push(state);
            }
        }
        let mut ends: Vec<u32> = (0..count).filter(|&state| leads_on[state as usize] == 0).collect();
        while let Some(state) = ends.pop() {
            for &before in &into[state as usize] {
                leads_on[before as usize] -= 1;
                if leads_on[before as usize] == 0 {
                    ends.push(before);
                }
            }
        }
        let on = |t: &u32| leads_on[to(*t) as usize] > 0;
        let left = || (0..count).filter(|&state| leads_on[state as usize] > 0);
        // The shortest loop is one from a state to itself. Otherwise whoever goes on comes by somewhere again.
        let itself = left().find(|&state| calls(state).into_iter().any(|t| to(t) == state));
        let start = itself.or_else(|| {
            let mut seen = vec![false; count as usize];
            let mut state = left().next()?;
            while !std::mem::replace(&mut seen[state as usize], true) {
                state = calls(state).into_iter().find(on).map(to).expect("it leads on");
            }
            Some(state)
        })?;
        let mut before = vec![None; count as usize];
        let mut queue = vec![start];
        let mut next = 0;
        while before[start as usize].is_none() {
            let state = queue[next];
            next += 1;
            for t in calls(state).into_iter().filter(on) {
                if before[to(t) as usize].is_none() {
                    before[to(t) as usize] = Some((t, state));
                    queue.push(to(t));
                }
            }
        }
        let mut found = Vec::new();
        let mut state = start;
        while found.is_empty() || state != start {
            let (t, from) = before[state as usize].expect("it was reached");
            found.push(t);
            state = from;
        }
        found.reverse();
        Some(found)
    }

    /// A loop of the automaton as a run of the program. (The transition m –ρ→ s runs from s to m: backwards.)
    fn show_loop(&self, transitions: &[u32], program: &Program) -> Loop {
        let head = |state: u32| self.call(state).expect("a loop goes through calls");
        let (shared, symbol) = head(self.transitions[transitions[0] as usize].from);
        let label = |&t: &u32| top(self.transitions[t as usize].label).expect("no ε-edge leads out of a call");
        let grown = Stack::from_top(transitions.iter().map(label));
        let mut rules = Some(Vec::new());
        for &t in transitions.iter().rev() {
            let called = self.transitions[t as usize].from;
            let (q, symbol) = head(called);
            let call = self.find(q, top_number(Some(symbol)), called).expect("every call has one");
            rules = rules.and_then(|mut rules: Vec<usize>| {
                rules.extend(self.undo(&mut vec![t, call], MOST_STEPS - rules.len())?);
                Some(rules)
            });
        }
        let start = (shared, Stack::from_top([symbol]));
        let run = rules.and_then(|rules| Run { start, rules }.if_short(program));
        Loop { run, shared, top: symbol, grown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;

    /// Where there is no loop, all transitions have to be seen.
    #[test]
    fn there_may_be_too_many_transitions() {
        let problem: Problem =
            "shared 0; init 0|a; thread A { symbols a b c; (0,a) -> (0,b c); (0,b) -> (0,c c); (0,c) -> (0,-) }"
                .parse()
                .unwrap();
        let within = |limit| Fcr::within(problem.system(), limit, &Cancel::default());
        assert_eq!(within(2), Err(TooLarge));
        assert!(within(1000).is_ok_and(|fcr| fcr.holds()));
    }

    /// ⟨0|a⟩ → ⟨1|b a⟩ → ⟨0|a a⟩ is a loop; what is not a run, or starts, ends or grows otherwise, is none.
    #[test]
    fn only_a_loop_replays() {
        let text = "shared 0 1; init 0|a; thread A { symbols a b; (0,a) -> (1,b a); (1,b) -> (0,a); (0,b) -> (0,b) }";
        let problem: Problem = text.parse().unwrap();
        let program = &problem.system().programs()[0];
        let [a, b] = ["a", "b"].map(|name| Symbol(problem.system().symbol_names().get(name).unwrap()));
        let a_loop = |shared, word: &[Symbol], rules: &[usize], top, grown: &[Symbol]| {
            let start = (SharedState(shared), Stack::from_top(word.iter().copied()));
            let run = Some(Run { start, rules: rules.to_vec() });
            Loop { run, shared: SharedState(0), top, grown: Stack::from_top(grown.iter().copied()) }
        };
        let found = a_loop(0, &[a], &[0, 1], a, &[a]);
        assert!(found.replays(program));
        let others = [
            Loop { run: None, ..found.clone() },
            a_loop(1, &[b, a], &[1], a, &[a]),
            a_loop(0, &[a], &[0, 1], a, &[a, a]),
            a_loop(0, &[a], &[0, 1], a, &[]),
            a_loop(0, &[b], &[2], b, &[]),
        ];
        assert_eq!(others.map(|other| other.replays(program)), [false; 5]);
        assert!(Fcr::new(problem.system()).loops[0].as_ref().is_some_and(|found| found.replays(program)));
    }
}

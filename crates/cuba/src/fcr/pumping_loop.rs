//! Pumping loops: runs of one thread that raise its stack and can be repeated for ever.
//!
//! A loop of a store automaton is such a run. Let m be the state for the calls that lead to the
//! head (q,σ), and s the state for (p,γ). A transition m –ρ→ s means ⟨p|γ⟩ →⁺ ⟨q|σρ⟩. So a loop of
//! the automaton through m is a run ⟨q|σ⟩ →⁺ ⟨q|σw⟩ with w ≠ ε. Conversely, if there is such a run,
//! and the automaton accepts all states that are reachable from ⟨q|σ⟩, there is a loop through m.

use crate::automata::action_index::ActionIndex;
use crate::automata::store_automaton::Psa;
use crate::automata::thread_run::ThreadRun;
use crate::limits::TooLarge;
use crate::visible::levels::{top, top_number};
use cpds::{Program, SharedState, Stack, Symbol};

/// A run ⟨q|σ⟩ →⁺ ⟨q|σw⟩ with w ≠ ε.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PumpingLoop {
    /// The run; `None` if it is too long to be written out.
    pub run: Option<ThreadRun>,
    /// q.
    pub shared: SharedState,
    /// σ.
    pub top: Symbol,
    /// w.
    pub grown: Stack,
}

/// The most steps of a loop that is written out.
const MAX_LOOP_STEPS: usize = 1 << 16;

/// The most transitions of the automaton that finds a shortest run.
const MAX_TRANSITIONS: usize = 1 << 18;

impl PumpingLoop {
    /// Replaces the run by a shortest one, if that takes little effort.
    #[must_use]
    pub fn shortened(self, program: &Program) -> PumpingLoop {
        let [(q, stack), (_, end)] = self.ends();
        let given = Psa::of_states([(q, &stack)]).with_lengths();
        match given.saturated(&ActionIndex::new(program), MAX_TRANSITIONS) {
            Ok(psa) => PumpingLoop { run: psa.run(q, &end).and_then(|run| run.if_short(program)).or(self.run), ..self },
            Err(TooLarge) => self,
        }
    }

    /// Returns ⟨q|σ⟩ and ⟨q|σw⟩.
    pub fn ends(&self) -> [(SharedState, Stack); 2] {
        let end = std::iter::once(self.top).chain(self.grown.iter());
        [(self.shared, Stack::from_top([self.top])), (self.shared, Stack::from_top(end))]
    }

    /// Whether the run is a run of the program from ⟨q|σ⟩ to ⟨q|σw⟩ with w ≠ ε.
    pub fn replays(&self, program: &Program) -> bool {
        let Some(run) = &self.run else { return false };
        let [start, end] = self.ends();
        run.start == start && self.grown.height() > 0 && run.states(program).last() == Some(end)
    }
}

impl Psa {
    /// Returns the transitions from a state that lead to states for calls.
    fn to_calls(&self, state: u32) -> impl Iterator<Item = u32> {
        self.out(state).filter(|&t| self.call(self.transitions[t as usize].to).is_some())
    }

    /// Returns the states for calls that are on a loop, in order. They are in strongly connected
    /// components that have an edge; Tarjan's algorithm, without recursion, finds these components.
    pub(crate) fn loop_states(&self) -> Vec<u32> {
        let count = self.node_count();
        let edges: Vec<Vec<u32>> = (0..)
            .take(count)
            .map(|state| match self.call(state) {
                Some(_) => self.to_calls(state).map(|t| self.transitions[t as usize].to).collect(),
                None => Vec::new(),
            })
            .collect();
        // For each state: its number in the order of visits, from 1; the least number to which it
        // leads back; and whether its component is complete.
        let (mut visited, mut low, mut is_complete) = (vec![0_u32; count], vec![0_u32; count], vec![false; count]);
        let (mut last, mut open, mut path, mut loop_states) = (0, Vec::new(), Vec::new(), Vec::new());
        for root in (0..).take(count) {
            if visited[root as usize] == 0 {
                path.push((root, 0));
            }
            while let Some((state, next)) = path.last_mut() {
                let at = *state as usize;
                if visited[at] == 0 {
                    last += 1;
                    (visited[at], low[at]) = (last, last);
                    open.push(*state);
                }
                if let Some(&to) = edges[at].get(*next) {
                    *next += 1;
                    if visited[to as usize] == 0 {
                        path.push((to, 0));
                    } else if !is_complete[to as usize] {
                        low[at] = low[at].min(visited[to as usize]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(before, _)) = path.last() {
                    low[before as usize] = low[before as usize].min(low[at]);
                }
                if low[at] == visited[at] {
                    let start = open.iter().rposition(|&other| other as usize == at).expect("it is open");
                    let component = open.split_off(start);
                    for &state in &component {
                        is_complete[state as usize] = true;
                    }
                    if component.len() > 1 || edges[at].iter().any(|&to| to as usize == at) {
                        loop_states.extend(component);
                    }
                }
            }
        }
        loop_states.sort_unstable();
        loop_states
    }

    /// Returns a loop as a list of transitions, from a state for calls back to this state. If a
    /// transition leads from such a state to itself, the loop is this transition. Otherwise, it is
    /// a shortest loop through the first state that has one.
    pub(crate) fn find_loop(&self) -> Option<Vec<u32>> {
        let loop_states = self.loop_states();
        let is_short = |&&state: &&u32| self.to_calls(state).any(|t| self.transitions[t as usize].to == state);
        let start = loop_states.iter().find(is_short).or(loop_states.first())?;
        Some(self.loop_through(*start))
    }

    /// Returns a shortest loop through a state that has one.
    pub(crate) fn loop_through(&self, start: u32) -> Vec<u32> {
        let to = |t: u32| self.transitions[t as usize].to;
        let mut before = vec![None; self.node_count()];
        let mut queue = vec![start];
        let mut next = 0;
        while before[start as usize].is_none() {
            let state = *queue.get(next).expect("a loop goes through the first state");
            next += 1;
            for t in self.to_calls(state) {
                if before[to(t) as usize].is_none() {
                    before[to(t) as usize] = Some((t, state));
                    queue.push(to(t));
                }
            }
        }
        let mut transitions = Vec::new();
        let mut state = start;
        while transitions.is_empty() || state != start {
            let (t, from) = before[state as usize].expect("it was reached");
            transitions.push(t);
            state = from;
        }
        transitions.reverse();
        transitions
    }

    /// Converts a loop of the automaton to a run of the program. (The transition m –ρ→ s stands for
    /// a run from s to m.)
    pub(crate) fn pumping_loop(&self, transitions: &[u32], program: &Program) -> PumpingLoop {
        let head = |state: u32| self.call(state).expect("a loop goes through calls");
        let (shared, symbol) = head(self.transitions[transitions[0] as usize].from);
        let label = |&t: &u32| top(self.transitions[t as usize].label).expect("no ε-edge leads out of a call");
        let grown = Stack::from_top(transitions.iter().map(label));
        let mut rules = Some(Vec::new());
        for &t in transitions.iter().rev() {
            let called = self.transitions[t as usize].from;
            let (q, symbol) = head(called);
            let call =
                self.find(q, top_number(Some(symbol)), called).expect("a transition leads to each state for calls");
            rules = rules.and_then(|mut rules: Vec<usize>| {
                rules.extend(self.undo(&mut vec![t, call], MAX_LOOP_STEPS - rules.len())?);
                Some(rules)
            });
        }
        let start = (shared, Stack::from_top([symbol]));
        let run = rules.and_then(|rules| ThreadRun { start, rules }.if_short(program));
        PumpingLoop { run, shared, top: symbol, grown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;

    /// ⟨0|a⟩ → ⟨1|b a⟩ → ⟨0|a a⟩ is a loop. It is not a loop without a run, with another start or
    /// end, or without growth.
    #[test]
    fn only_a_loop_replays() {
        let text = "shared 0 1; init 0|a; thread A { symbols a b; (0,a) -> (1,b a); (1,b) -> (0,a); (0,b) -> (0,b) }";
        let problem: Problem = text.parse().unwrap();
        let program = &problem.system().programs()[0];
        let [a, b] = ["a", "b"].map(|name| Symbol(problem.system().symbol_names().get(name).unwrap()));
        let a_loop = |shared, word: &[Symbol], rules: &[usize], top, grown: &[Symbol]| {
            let start = (SharedState(shared), Stack::from_top(word.iter().copied()));
            let run = Some(ThreadRun { start, rules: rules.to_vec() });
            PumpingLoop { run, shared: SharedState(0), top, grown: Stack::from_top(grown.iter().copied()) }
        };
        let valid = a_loop(0, &[a], &[0, 1], a, &[a]);
        assert!(valid.replays(program));
        let others = [
            PumpingLoop { run: None, ..valid.clone() },
            a_loop(1, &[b, a], &[1], a, &[a]),
            a_loop(0, &[a], &[0, 1], a, &[a, a]),
            a_loop(0, &[a], &[0, 1], a, &[]),
            a_loop(0, &[b], &[2], b, &[]),
        ];
        assert_eq!(others.map(|other| other.replays(program)), [false; 5]);
        let psa = Psa::of_states([(SharedState(0), &Stack::from_top([a]))]).post_star(program);
        assert!(psa.pumping_loop(&psa.find_loop().unwrap(), program).replays(program));
    }
}

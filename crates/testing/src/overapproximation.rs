//! Z and G, straight from the definitions (paper §4.1.2, §4.1.3). Slow and obviously right, as the oracle for R_k is.

use cpds::{Action, Cpds, SharedState, Symbol, ThreadId, VisibleState};
use std::collections::BTreeSet;

type ThreadVisible = (SharedState, Option<Symbol>);

/// E for a thread: what can emerge when a symbol is popped.
fn emerging(system: &Cpds, thread: ThreadId) -> BTreeSet<Symbol> {
    let pushed = system.program(thread).rules().iter().filter_map(|rule| match rule.action {
        Action::Push { return_point, .. } => Some(return_point),
        _ => None,
    });
    let initial = system.initial().iter().flat_map(|state| state.stacks[thread.index()].iter().skip(1));
    pushed.chain(initial).collect()
}

/// The transitions of M_i (Alg. 2), and whether each is a pop.
fn transitions(system: &Cpds, thread: ThreadId) -> BTreeSet<(ThreadVisible, ThreadVisible, bool)> {
    let mut transitions = BTreeSet::new();
    for rule in system.program(thread).rules() {
        let (to, mut written) = rule.action.target();
        let pop = matches!(rule.action, Action::Pop { .. });
        transitions.insert((rule.action.source(), (to, written.next()), pop));
        if pop {
            for symbol in emerging(system, thread) {
                transitions.insert((rule.action.source(), (to, Some(symbol)), true));
            }
        }
    }
    transitions
}

/// What M^n reaches.
pub struct Naive {
    /// Z.
    pub z: BTreeSet<VisibleState>,
    /// G ∩ Z.
    pub generators: BTreeSet<VisibleState>,
    /// The targets of pops taken from Z.
    pub popped: BTreeSet<VisibleState>,
}

/// Z and its generators.
pub fn overapproximation(system: &Cpds) -> Naive {
    let transitions: Vec<_> = system.threads().map(|thread| transitions(system, thread)).collect();
    let mut z: BTreeSet<VisibleState> = system.initial().iter().map(cpds::GlobalState::visible).collect();
    let mut popped = BTreeSet::new();
    let mut open: Vec<VisibleState> = z.iter().cloned().collect();
    while let Some(state) = open.pop() {
        for (i, transitions) in transitions.iter().enumerate() {
            for &(from, (to, top), pop) in transitions {
                if from == (state.shared, state.tops[i]) {
                    let mut next = VisibleState { shared: to, tops: state.tops.clone() };
                    next.tops[i] = top;
                    if pop {
                        popped.insert(next.clone());
                    }
                    if z.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
        }
    }
    // Eq. 2.
    let generates = |state: &&VisibleState| {
        system.threads().any(|thread| {
            let pop_to = |to: SharedState| {
                let rules = system.program(thread).rules();
                rules.iter().any(|rule| matches!(rule.action, Action::Pop { to: q, .. } if q == to))
            };
            let top = state.tops[thread.index()];
            pop_to(state.shared) && top.is_none_or(|top| emerging(system, thread).contains(&top))
        })
    };
    let generators = z.iter().filter(generates).cloned().collect();
    Naive { z, generators, popped }
}

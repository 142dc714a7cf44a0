//! Z, its generators and Z_z, directly from the definitions (paper §4.1.2, §4.1.3). Slow and
//! obviously correct, like the oracle for R_k.

use cpds::{Action, Cpds, SharedState, Symbol, ThreadId, VisibleState};
use std::collections::BTreeSet;

type ThreadVisible = (SharedState, Option<Symbol>);

/// Computes E for a thread: the symbols that a pop can reveal.
fn emerging(system: &Cpds, thread: ThreadId) -> BTreeSet<Symbol> {
    let pushed = system.program(thread).rules().iter().filter_map(|rule| match rule.action {
        Action::Push { return_point, .. } => Some(return_point),
        _ => None,
    });
    let initial = system.initial().iter().flat_map(|state| state.stacks[thread.index()].iter().skip(1));
    pushed.chain(initial).collect()
}

/// Computes the transitions of M_i (Alg. 2), and for each whether it is a pop.
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

/// Z and its generators, as M^n reaches them.
pub struct NaiveZ {
    /// Z.
    pub z: BTreeSet<VisibleState>,
    /// G ∩ Z.
    pub generators: BTreeSet<VisibleState>,
    /// The targets of the pops from states of Z.
    pub popped: BTreeSet<VisibleState>,
}

/// Computes Z and its generators.
pub fn overapproximation(system: &Cpds) -> NaiveZ {
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
    NaiveZ { z, generators, popped }
}

/// Computes which symbol may lie directly under which symbol in the stack of a thread, with `None`
/// for the end of the stack.
///
/// The pairs come from initial stacks and from pushes. If a symbol may be replaced by another one,
/// the pairs of the new symbol include those of the old symbol.
fn adjacent(system: &Cpds, thread: ThreadId) -> BTreeSet<(Symbol, Option<Symbol>)> {
    let mut adjacent = BTreeSet::new();
    for state in system.initial() {
        let stack: Vec<Symbol> = state.stacks[thread.index()].iter().collect();
        let under = stack.iter().copied().map(Some).skip(1).chain([None]);
        adjacent.extend(stack.iter().copied().zip(under));
    }
    loop {
        let mut more = adjacent.clone();
        for rule in system.program(thread).rules() {
            let in_place_of = match rule.action {
                Action::Push { top, callee, return_point, .. } => {
                    more.insert((callee, Some(return_point)));
                    Some((top, return_point))
                }
                Action::Overwrite { top, new, .. } => Some((top, new)),
                Action::EmptyPush { new, .. } => {
                    more.insert((new, None));
                    None
                }
                Action::Pop { .. } | Action::EmptyOverwrite { .. } => None,
            };
            if let Some((old, new)) = in_place_of {
                let under = adjacent.iter().filter(|(on, _)| *on == old).map(|&(_, under)| (new, under));
                more.extend(under);
            }
        }
        if more == adjacent {
            return adjacent;
        }
        adjacent = more;
    }
}

/// Computes the visible states of Z_z: stacks are cut off at height z, and returns are matched with
/// calls. For z = 1, the result is matched-Z.
pub fn cut_off(system: &Cpds, z: usize) -> BTreeSet<VisibleState> {
    let adjacent: Vec<_> = system.threads().map(|thread| adjacent(system, thread)).collect();
    let cut = |stack: &mut Vec<Symbol>| stack.truncate(z);
    let mut seen: BTreeSet<(SharedState, Vec<Vec<Symbol>>)> = BTreeSet::new();
    let mut open = Vec::new();
    for state in system.initial() {
        let mut stacks: Vec<Vec<Symbol>> = state.stacks.iter().map(|stack| stack.iter().collect()).collect();
        stacks.iter_mut().for_each(cut);
        open.push((state.shared, stacks));
    }
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let (shared, stacks) = state;
        for thread in system.threads() {
            let (i, stack) = (thread.index(), &stacks[thread.index()]);
            for (_, rule) in system.program(thread).rules_from(shared, stack.first().copied()) {
                let (to, written) = rule.action.target();
                let rest = stack.get(1..).unwrap_or_default();
                let mut next: Vec<Symbol> = written.chain(rest.iter().copied()).collect();
                cut(&mut next);
                let mut nexts = vec![next.clone()];
                if let (Action::Pop { .. }, Some(last)) = (rule.action, stack.last().filter(|_| stack.len() == z)) {
                    let under = adjacent[i].iter().filter(|(on, _)| on == last);
                    nexts = under.map(|&(_, under)| next.iter().copied().chain(under).collect()).collect();
                }
                for next in nexts {
                    let mut stacks = stacks.clone();
                    stacks[i] = next;
                    open.push((to, stacks));
                }
            }
        }
    }
    let visible = |(shared, stacks): (SharedState, Vec<Vec<Symbol>>)| VisibleState {
        shared,
        tops: stacks.iter().map(|stack| stack.first().copied()).collect(),
    };
    seen.into_iter().map(visible).collect()
}

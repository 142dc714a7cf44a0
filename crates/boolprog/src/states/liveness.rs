//! Live variables: the local variables that a thread may read before it writes them.
//!
//! Frames have no values of variables that are not live. So there are fewer stack symbols. Only the
//! thread itself reads its local variables, so this changes no behaviour. Thread-local variables
//! outlive a call and count as live everywhere.

use super::NumberSet;
use crate::graph::{Formula, Graph, Step, Var};

/// Computes the live local variables of each node.
pub(crate) fn live_variables(graph: &Graph) -> Vec<NumberSet> {
    let always = NumberSet::first(graph.thread_locals.len());
    let mut live = vec![NumberSet::EMPTY; graph.nodes.len()];
    let mut before = vec![Vec::new(); graph.nodes.len()];
    for node in 0..graph.nodes.len() {
        let copied = if let Step::StartAt(target, _) = graph.nodes[node].step { Some(target) } else { None };
        for next in graph.successors(node).into_iter().chain(copied) {
            before[next].push(node);
        }
    }
    // Backwards, until nothing changes. Nodes later in a function have lower numbers and are
    // processed first.
    let mut changed: Vec<usize> = (0..graph.nodes.len()).rev().collect();
    let mut is_waiting = vec![true; graph.nodes.len()];
    while let Some(node) = changed.pop() {
        is_waiting[node] = false;
        let after = graph.successors(node).into_iter().fold(NumberSet::EMPTY, |after, next| after.union(&live[next]));
        let (read, written) = access(graph, node, &live);
        let now = after.difference(&written).union(&read).union(&always);
        if live[node] != now {
            live[node] = now;
            changed.extend(before[node].iter().filter(|&&node| !std::mem::replace(&mut is_waiting[node], true)));
        }
    }
    live
}

/// Returns the local variables that a step reads, and those that it writes.
fn access(graph: &Graph, node: usize, live: &[NumberSet]) -> (NumberSet, NumberSet) {
    let it = &graph.nodes[node];
    let (mut read, mut written) = (NumberSet::EMPTY, NumberSet::EMPTY);
    let mut reads = |formulas: &[Formula]| formulas.iter().for_each(|formula| variables(formula, &mut read));
    match &it.step {
        Step::Assume(condition) | Step::Assert(condition) | Step::Branch(condition, ..) => {
            reads(std::slice::from_ref(condition));
        }
        Step::Assign { targets, values, constrain } => {
            reads(values);
            reads(constrain.as_slice());
            written = locals(targets);
        }
        Step::Call { arguments, .. } | Step::Start { arguments, .. } => reads(arguments),
        Step::Await { targets, assign: None } | Step::Results { targets } => written = locals(targets),
        Step::Return(results) => reads(results),
        // The new thread gets a copy of its live variables.
        Step::StartAt(target, _) => read = live[*target].clone(),
        _ => {}
    }
    if let Some(enforce) = &graph.functions[it.function].enforce {
        variables(enforce, &mut read);
    }
    (read, written)
}

fn locals(targets: &[Option<Var>]) -> NumberSet {
    let number = |target: &Option<Var>| if let Some(Var::Local(number)) = target { Some(*number) } else { None };
    targets.iter().filter_map(number).collect()
}

/// Adds the local variables that a formula reads. A primed variable is read after the assignment.
fn variables(formula: &Formula, found: &mut NumberSet) {
    match formula {
        Formula::Variable(Var::Local(number)) => found.insert(*number),
        Formula::Variable(Var::Shared(_)) | Formula::Primed(_) | Formula::Constant(_) | Formula::Choice => {}
        Formula::Not(a) => variables(a, found),
        Formula::Binary(_, a, b) | Formula::Schoose(a, b) => {
            variables(a, found);
            variables(b, found);
        }
        Formula::IfElse(a, b, c) => {
            variables(a, found);
            variables(b, found);
            variables(c, found);
        }
    }
}

//! Counts how often each statement that creates a thread may be executed.
//!
//! The count is for *activations*: a function from its entry on, or from a label on at which
//! threads start. A creation is executed a bounded number of times if it is in no loop, and if the
//! calls and creations that lead to it are in no loop and not recursive.

use crate::graph::{Graph, Step};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The node at which a call or a thread starts.
type Activation = usize;

/// Returns the creations that may be executed, in the order of the text, each with its number of
/// executions. `u64::MAX` means that there is no bound.
pub(super) fn creations(graph: &Graph, roots: &[(usize, u32)]) -> Vec<(usize, u64)> {
    let is_in_loop = is_in_loop(graph);
    // The calls and creations that one activation may execute, with the activations that they
    // start.
    let sites = |start: Activation| -> Vec<(usize, Activation)> {
        let target = |node: usize| match graph.nodes[node].step {
            Step::Call { function, .. } | Step::Start { function, .. } => Some((node, graph.functions[function].entry)),
            Step::StartAt(target, _) => Some((node, target)),
            _ => None,
        };
        graph.reach(start).into_iter().filter_map(target).collect()
    };
    let mut activations: BTreeMap<Activation, Vec<(usize, Activation)>> = BTreeMap::new();
    let mut found: Vec<Activation> = roots.iter().map(|&(function, _)| graph.functions[function].entry).collect();
    while let Some(activation) = found.pop() {
        if let Entry::Vacant(new) = activations.entry(activation) {
            let sites = new.insert(sites(activation));
            found.extend(sites.iter().map(|&(_, target)| target));
        }
    }
    // An activation is counted after all activations that start it. What remains is recursive, or
    // is started by a recursive activation: there is no bound.
    let mut entering: BTreeMap<Activation, usize> = BTreeMap::new();
    for &(_, target) in activations.values().flatten() {
        *entering.entry(target).or_default() += 1;
    }
    let mut counts: BTreeMap<Activation, u64> = BTreeMap::new();
    for &(function, copies) in roots {
        *counts.entry(graph.functions[function].entry).or_default() += u64::from(copies);
    }
    let mut ready: Vec<Activation> =
        activations.keys().copied().filter(|activation| !entering.contains_key(activation)).collect();
    let mut times: BTreeMap<usize, u64> = BTreeMap::new();
    while let Some(activation) = ready.pop() {
        let count = counts.get(&activation).copied().unwrap_or(0);
        for (site, target) in activations.remove(&activation).unwrap_or_default() {
            let here = if is_in_loop[site] { u64::MAX } else { count };
            for total in [times.entry(site).or_default(), counts.entry(target).or_default()] {
                *total = total.saturating_add(here);
            }
            let left = entering.entry(target).or_default();
            *left -= 1;
            if *left == 0 {
                ready.push(target);
            }
        }
    }
    times.extend(activations.values().flatten().map(|&(site, _)| (site, u64::MAX)));
    let is_creation = |node: usize| matches!(graph.nodes[node].step, Step::Start { .. } | Step::StartAt(..));
    let mut creations: Vec<_> = times.into_iter().filter(|&(node, _)| is_creation(node)).collect();
    creations.sort_unstable_by_key(|&(node, _)| graph.nodes[node].span);
    creations
}

/// Computes, for each node, whether it is on a cycle of the graph. Finds the strongly connected
/// components by two searches (Kosaraju).
fn is_in_loop(graph: &Graph) -> Vec<bool> {
    let count = graph.nodes.len();
    let forward: Vec<Vec<usize>> = (0..count).map(|node| graph.successors(node)).collect();
    let mut backward = vec![Vec::new(); count];
    for (node, successors) in forward.iter().enumerate() {
        for &next in successors {
            backward[next].push(node);
        }
    }
    let (mut seen, mut order) = (vec![false; count], Vec::with_capacity(count));
    for node in 0..count {
        depth_first(node, &forward, &mut seen, &mut order);
    }
    let (mut seen, mut is_in_loop) = (vec![false; count], vec![false; count]);
    for &node in order.iter().rev() {
        let mut component = Vec::new();
        depth_first(node, &backward, &mut seen, &mut component);
        for &member in &component {
            is_in_loop[member] = component.len() > 1 || forward[member].contains(&member);
        }
    }
    is_in_loop
}

/// Runs a depth-first search. Adds a node to `order` after all nodes that the node leads to.
fn depth_first(start: usize, edges: &[Vec<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((node, done)) = path.last_mut() {
        let node = *node;
        if let Some(&next) = edges[node].get(*done) {
            *done += 1;
            if !std::mem::replace(&mut seen[next], true) {
                path.push((next, 0));
            }
        } else {
            order.push(node);
            path.pop();
        }
    }
}

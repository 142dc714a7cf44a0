//! Queries on sets of tuples. They create no nodes.

use crate::symbolic::diagram::nodes::{Diagrams, Node};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

impl Diagrams {
    /// Returns the numbers at a place of the tuples, each once, in the order of the edges.
    pub(crate) fn numbers_at(&self, set: Node, place: usize) -> Vec<u32> {
        let (mut nodes, mut reached) = (vec![set], FxHashSet::default());
        for _ in 0..place {
            reached.clear();
            let next = nodes.iter().flat_map(|&node| self.edges(node)).map(|(_, behind)| behind);
            nodes = next.filter(|&behind| reached.insert(behind)).collect();
        }
        let mut numbers = FxHashSet::default();
        nodes
            .iter()
            .flat_map(|&node| self.edges(node))
            .map(|(number, _)| number)
            .filter(|&n| numbers.insert(n))
            .collect()
    }

    /// Returns the first tuple whose numbers all fit their places.
    pub(crate) fn find(&self, set: Node, fits: &impl Fn(usize, u32) -> bool) -> Option<Vec<u32>> {
        let mut failed = FxHashSet::default();
        let mut tuple = Vec::new();
        self.find_from(set, fits, &mut tuple, &mut failed).then_some(tuple)
    }

    fn find_from(
        &self,
        node: Node,
        fits: &impl Fn(usize, u32) -> bool,
        tuple: &mut Vec<u32>,
        failed: &mut FxHashSet<Node>,
    ) -> bool {
        if node == Node::UNIT || failed.contains(&node) {
            return node == Node::UNIT;
        }
        for (number, behind) in self.edges(node) {
            if fits(tuple.len(), number) {
                tuple.push(number);
                if self.find_from(behind, fits, tuple, failed) {
                    return true;
                }
                tuple.pop();
            }
        }
        failed.insert(node);
        false
    }

    /// Visits each tuple of a set, in the order of the numbers, until `visit` breaks.
    pub(crate) fn for_each<B>(&self, set: Node, visit: &mut impl FnMut(&[u32]) -> ControlFlow<B>) -> ControlFlow<B> {
        self.visit_from(set, &mut Vec::new(), visit)
    }

    fn visit_from<B>(
        &self,
        node: Node,
        tuple: &mut Vec<u32>,
        visit: &mut impl FnMut(&[u32]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if node == Node::UNIT {
            return visit(tuple);
        }
        for (number, behind) in self.edges(node) {
            tuple.push(number);
            self.visit_from(behind, tuple, visit)?;
            tuple.pop();
        }
        ControlFlow::Continue(())
    }

    /// Returns the number of tuples of these sets together. `None` if it does not fit into a u128.
    pub(crate) fn count(&self, sets: impl Iterator<Item = Node>) -> Option<u128> {
        let mut counts: FxHashMap<Node, u128> = FxHashMap::default();
        sets.map(|set| self.count_from(set, &mut counts)).try_fold(0_u128, |sum, count| sum.checked_add(count?))
    }

    fn count_from(&self, node: Node, counts: &mut FxHashMap<Node, u128>) -> Option<u128> {
        if let Node::EMPTY | Node::UNIT = node {
            return Some(u128::from(node == Node::UNIT));
        }
        if let Some(&count) = counts.get(&node) {
            return Some(count);
        }
        let mut count = 0_u128;
        for (_, behind) in self.edges(node) {
            count = count.checked_add(self.count_from(behind, counts)?)?;
        }
        counts.insert(node, count);
        Some(count)
    }
}

//! Sets of tuples of numbers as decision diagrams: what many tuples have in common is kept once.
//!
//! A node stands for a set of tuples of the same length. It has an edge for each number that is the
//! first of any of them, and the edge leads to the node of what comes behind that number. Nodes are
//! kept once each, so equal sets are equal nodes, and what is done with two nodes is done once.
//! There are two nodes without edges: that of no tuple, and that of the empty tuple.
//!
//! (Multi-valued decision diagrams, without skipped levels: Srinivasan, Kam, Malik and Brayton,
//! 1990.)
//!
//! # Canonical
//! Edges are sorted by their numbers and none leads to the empty set. So by induction on the
//! length, two nodes that stand for the same set have the same edges.
//!
//! # What is remembered
//! Results are remembered until [`forget`](Diagrams::forget). They say nothing that could not be
//! computed again, but computing them again is counted as work. So whoever saves a diagram has it
//! forget first: then a run that goes on from there counts the same.

use crate::automata::canonical_language::small;
use crate::automata::minimal_dfa::hash;
use crate::limits::Cancel;
use crate::limits::TooLarge;
use crate::limits::bytes_of_table;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::ops::{ControlFlow, Range};

/// A set of tuples.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Node(u32);

impl Node {
    /// No tuple.
    pub(crate) const EMPTY: Node = Node(0);
    /// The empty tuple.
    pub(crate) const UNIT: Node = Node(1);
}

/// Which of two numbers at the same place covers which: for tuples, place by place.
pub(crate) trait Order {
    /// What lies behind those of these numbers that cover a number, other than itself.
    fn behind_above(&mut self, number: u32, others: impl Iterator<Item = (u32, Node)>) -> Vec<Node>;
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Done {
    Union,
    Minus,
    Uncovered,
    Largest,
    Image,
}

/// All nodes.
#[derive(Serialize, Deserialize)]
#[serde(from = "Saved")]
pub(crate) struct Diagrams {
    /// The edges of a node start here, and end where those of the next one start. Nodes come after
    /// those that their edges lead to.
    starts: Vec<u32>,
    /// A number, and where it leads.
    edges: Vec<[u32; 2]>,
    #[serde(skip)]
    table: HashTable<u32>,
    #[serde(skip)]
    known: FxHashMap<(Done, Node, Node), Node>,
    steps: u64,
    /// How many bytes there may be.
    #[serde(skip)]
    most: usize,
    #[serde(skip)]
    cancel: Cancel,
}

/// What is saved of the nodes.
#[derive(Deserialize)]
struct Saved {
    starts: Vec<u32>,
    edges: Vec<[u32; 2]>,
    steps: u64,
}

impl From<Saved> for Diagrams {
    fn from(Saved { starts, edges, steps }: Saved) -> Self {
        let (known, cancel) = (FxHashMap::default(), Cancel::default());
        let mut all = Diagrams { starts, edges, table: HashTable::new(), known, steps, most: usize::MAX, cancel };
        all.find_again();
        all
    }
}

impl Default for Diagrams {
    fn default() -> Self {
        // The two nodes without edges.
        Saved { starts: vec![0, 0, 0], edges: Vec::new(), steps: 0 }.into()
    }
}

impl Diagrams {
    /// Nothing takes more than so many bytes from now on, or goes on when it is cancelled.
    pub(crate) fn limit(&mut self, most: usize, cancel: &Cancel) {
        self.most = most;
        self.cancel = cancel.clone();
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn range(&self, Node(node): Node) -> Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    /// The numbers that tuples start with, and what comes behind each.
    pub(crate) fn edges(&self, node: Node) -> impl ExactSizeIterator<Item = (u32, Node)> {
        self.edges[self.range(node)].iter().map(|&[number, to]| (number, Node(to)))
    }

    /// What comes behind a number.
    pub(crate) fn behind(&self, node: Node, number: u32) -> Node {
        let edges = &self.edges[self.range(node)];
        edges.binary_search_by_key(&number, |edge| edge[0]).map_or(Node::EMPTY, |at| Node(edges[at][1]))
    }

    /// The node with these edges, of which none leads to the empty set, sorted by their numbers.
    pub(crate) fn node(&mut self, edges: &[[u32; 2]]) -> Result<Node, TooLarge> {
        if edges.is_empty() {
            return Ok(Node::EMPTY);
        }
        debug_assert!(edges.is_sorted_by(|a, b| a[0] < b[0]) && edges.iter().all(|edge| edge[1] != 0));
        let of = |id: u32| &self.edges[self.starts[id as usize] as usize..self.starts[id as usize + 1] as usize];
        let hashed = hash(edges.as_flattened());
        if let Some(&id) = self.table.find(hashed, |&id| of(id) == edges) {
            return Ok(Node(id));
        }
        if self.bytes() > self.most {
            return Err(TooLarge);
        }
        let id = u32::try_from(self.len()).map_err(|_| TooLarge)?;
        let end = u32::try_from(self.edges.len() + edges.len()).map_err(|_| TooLarge)?;
        self.table.insert_unique(hashed, id, |&id| hash(of(id).as_flattened()));
        self.edges.extend_from_slice(edges);
        self.starts.push(end);
        Ok(Node(id))
    }

    /// The set of one tuple.
    pub(crate) fn tuple(&mut self, tuple: &[u32]) -> Result<Node, TooLarge> {
        tuple.iter().rev().try_fold(Node::UNIT, |behind, &number| self.node(&[[number, behind.0]]))
    }

    /// The union of what comes behind each number; the numbers may come in any order, and more than
    /// once.
    pub(crate) fn union_of(&mut self, mut edges: Vec<(u32, Node)>) -> Result<Node, TooLarge> {
        edges.sort_unstable();
        let mut all: Vec<[u32; 2]> = Vec::with_capacity(edges.len());
        for (number, behind) in edges {
            match all.last_mut() {
                Some(last) if last[0] == number => last[1] = self.union(Node(last[1]), behind)?.0,
                _ => all.push([number, behind.0]),
            }
        }
        self.node(&all)
    }

    /// Looks up a result, or computes it. Each is a step.
    fn once(
        &mut self,
        done: (Done, Node, Node),
        compute: impl FnOnce(&mut Self) -> Result<Node, TooLarge>,
    ) -> Result<Node, TooLarge> {
        if let Some(&known) = self.known.get(&done) {
            return Ok(known);
        }
        self.step()?;
        let found = compute(self)?;
        self.known.insert(done, found);
        Ok(found)
    }

    /// Counts a step, and says whether there may be more.
    pub(crate) fn step(&mut self) -> Result<(), TooLarge> {
        self.steps += 1;
        let is_over = self.steps.is_multiple_of(1 << 12) && (self.cancel.why().is_some() || self.bytes() > self.most);
        if is_over { Err(TooLarge) } else { Ok(()) }
    }

    /// a ∪ b.
    pub(crate) fn union(&mut self, a: Node, b: Node) -> Result<Node, TooLarge> {
        if a == b || b == Node::EMPTY {
            return Ok(a);
        }
        if a == Node::EMPTY {
            return Ok(b);
        }
        let (a, b) = (a.min(b), a.max(b));
        self.once((Done::Union, a, b), |all| {
            let (mut of_a, mut of_b) = (all.range(a), all.range(b));
            let mut edges = Vec::with_capacity(of_a.len().max(of_b.len()));
            loop {
                let next = |range: &Range<usize>| (!range.is_empty()).then(|| all.edges[range.start]);
                match (next(&of_a), next(&of_b)) {
                    (None, None) => break,
                    (Some([x, in_a]), Some([y, in_b])) if x == y => {
                        edges.push([x, all.union(Node(in_a), Node(in_b))?.0]);
                        of_a.next();
                        of_b.next();
                    }
                    (Some(edge), other) if other.is_none_or(|other| edge[0] < other[0]) => {
                        edges.push(edge);
                        of_a.next();
                    }
                    (_, edge) => {
                        edges.extend(edge);
                        of_b.next();
                    }
                }
            }
            all.node(&edges)
        })
    }

    /// a \ b.
    pub(crate) fn minus(&mut self, a: Node, b: Node) -> Result<Node, TooLarge> {
        if a == b || a == Node::EMPTY {
            return Ok(Node::EMPTY);
        }
        if b == Node::EMPTY {
            return Ok(a);
        }
        self.once((Done::Minus, a, b), |all| {
            let mut edges = Vec::new();
            for at in all.range(a) {
                let [number, in_a] = all.edges[at];
                let in_b = all.behind(b, number);
                edges.extend(left(number, all.minus(Node(in_a), in_b)?));
            }
            all.node(&edges)
        })
    }

    /// The tuples of `a` that none of `b` covers.
    pub(crate) fn uncovered(&mut self, order: &mut impl Order, a: Node, b: Node) -> Result<Node, TooLarge> {
        if a == b || a == Node::EMPTY {
            return Ok(Node::EMPTY);
        }
        if b == Node::EMPTY {
            return Ok(a);
        }
        self.once((Done::Uncovered, a, b), |all| {
            let mut edges = Vec::new();
            for at in all.range(a) {
                let [number, in_a] = all.edges[at];
                // What is covered is covered behind a number that is this one or above it.
                let rest = all.not_below(order, (number, Node(in_a)), b, true)?;
                edges.extend(left(number, rest));
            }
            all.node(&edges)
        })
    }

    /// Of the tuples behind a number, those that none behind numbers of `b` above it covers; or
    /// behind the number itself.
    fn not_below(
        &mut self,
        order: &mut impl Order,
        (number, mut rest): (u32, Node),
        b: Node,
        or_same: bool,
    ) -> Result<Node, TooLarge> {
        if or_same {
            rest = self.uncovered(order, rest, self.behind(b, number))?;
        }
        if rest != Node::EMPTY {
            for in_b in order.behind_above(number, self.edges(b)) {
                rest = self.uncovered(order, rest, in_b)?;
            }
        }
        Ok(rest)
    }

    /// The tuples that no other one covers.
    pub(crate) fn largest(&mut self, order: &mut impl Order, a: Node) -> Result<Node, TooLarge> {
        if a == Node::EMPTY || a == Node::UNIT {
            return Ok(a);
        }
        self.once((Done::Largest, a, a), |all| {
            let mut edges = Vec::new();
            for at in all.range(a) {
                let [number, behind] = all.edges[at];
                edges.push([number, all.largest(order, Node(behind))?.0]);
            }
            let largest = all.node(&edges)?;
            let mut rest = Vec::new();
            for [number, behind] in edges {
                rest.extend(left(number, all.not_below(order, (number, Node(behind)), largest, false)?));
            }
            all.node(&rest)
        })
    }

    /// The tuples with each number replaced by each of some others. Which ones, must be the same
    /// until everything is forgotten.
    pub(crate) fn image(&mut self, a: Node, others: &mut impl FnMut(u32) -> Vec<u32>) -> Result<Node, TooLarge> {
        if a == Node::EMPTY || a == Node::UNIT {
            return Ok(a);
        }
        self.once((Done::Image, a, a), |all| {
            let mut edges = Vec::new();
            for at in all.range(a) {
                let [number, behind] = all.edges[at];
                let behind = all.image(Node(behind), others)?;
                edges.extend(others(number).into_iter().map(|other| (other, behind)));
            }
            all.union_of(edges)
        })
    }

    /// The numbers at a place of the tuples, each once, in the order in which they come up.
    pub(crate) fn numbers_at(&self, set: Node, place: usize) -> Vec<u32> {
        let (mut nodes, mut known) = (vec![set], FxHashSet::default());
        for _ in 0..place {
            known.clear();
            let next = nodes.iter().flat_map(|&node| self.edges(node)).map(|(_, behind)| behind);
            nodes = next.filter(|&behind| known.insert(behind)).collect();
        }
        let mut numbers = FxHashSet::default();
        nodes
            .iter()
            .flat_map(|&node| self.edges(node))
            .map(|(number, _)| number)
            .filter(|&n| numbers.insert(n))
            .collect()
    }

    /// The first tuple whose numbers all fit their places, if there is one.
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

    /// Every tuple of a set, in the order of their numbers, as long as that goes on.
    pub(crate) fn each<B>(&self, set: Node, visit: &mut impl FnMut(&[u32]) -> ControlFlow<B>) -> ControlFlow<B> {
        self.each_from(set, &mut Vec::new(), visit)
    }

    fn each_from<B>(
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
            self.each_from(behind, tuple, visit)?;
            tuple.pop();
        }
        ControlFlow::Continue(())
    }

    /// How many tuples there are in these sets together; nothing if u128 cannot say.
    pub(crate) fn count(&self, sets: impl Iterator<Item = Node>) -> Option<u128> {
        let mut known: FxHashMap<Node, u128> = FxHashMap::default();
        sets.map(|set| self.count_from(set, &mut known)).try_fold(0_u128, |sum, count| sum.checked_add(count?))
    }

    fn count_from(&self, node: Node, known: &mut FxHashMap<Node, u128>) -> Option<u128> {
        if let Node::EMPTY | Node::UNIT = node {
            return Some(u128::from(node == Node::UNIT));
        }
        if let Some(&known) = known.get(&node) {
            return Some(known);
        }
        let mut count = 0_u128;
        for (_, behind) in self.edges(node) {
            count = count.checked_add(self.count_from(behind, known)?)?;
        }
        known.insert(node, count);
        Some(count)
    }

    /// Forgets what was computed.
    pub(crate) fn forget(&mut self) {
        self.known = FxHashMap::default();
    }

    /// Forgets what was computed, and all nodes but those that these sets are made of. The sets get
    /// other numbers.
    pub(crate) fn keep_only<'s>(&mut self, sets: impl Iterator<Item = &'s mut Node>) {
        self.forget();
        let sets: Vec<&mut Node> = sets.collect();
        let mut is_kept = vec![false; self.len()];
        for set in [&Node::EMPTY, &Node::UNIT].into_iter().chain(sets.iter().map(|set| &**set)) {
            is_kept[set.0 as usize] = true;
        }
        // Edges lead to nodes before.
        for id in (0..self.len()).rev() {
            if is_kept[id] {
                for (_, Node(to)) in self.edges(Node(small(id))) {
                    is_kept[to as usize] = true;
                }
            }
        }
        let mut numbers = vec![0; self.len()];
        let (mut starts, mut edges) = (vec![0], Vec::new());
        for id in (0..self.len()).filter(|&id| is_kept[id]) {
            numbers[id] = small(starts.len() - 1);
            let old = &self.edges[self.starts[id] as usize..self.starts[id + 1] as usize];
            edges.extend(old.iter().map(|&[number, to]| [number, numbers[to as usize]]));
            starts.push(small(edges.len()));
        }
        for set in sets {
            set.0 = numbers[set.0 as usize];
        }
        (self.starts, self.edges) = (starts, edges);
        self.find_again();
    }

    /// The table of all nodes, anew.
    fn find_again(&mut self) {
        let Diagrams { starts, edges, table, .. } = self;
        let hash_of = |&id: &u32| {
            let edges = &edges[starts[id as usize] as usize..starts[id as usize + 1] as usize];
            hash(edges.as_flattened())
        };
        *table = HashTable::new();
        for id in 2..small(starts.len() - 1) {
            table.insert_unique(hash_of(&id), id, hash_of);
        }
    }

    /// What has been done, as a number.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// The memory in use.
    pub(crate) fn bytes(&self) -> usize {
        let known = self.known.len().next_power_of_two() * 2 * size_of::<((Done, Node, Node), Node)>();
        self.starts.len().next_power_of_two() * size_of::<u32>()
            + self.edges.len().next_power_of_two() * size_of::<[u32; 2]>()
            + bytes_of_table(self.table.len())
            + if self.known.is_empty() { 0 } else { known }
    }
}

/// An edge, unless it leads to the empty set.
fn left(number: u32, behind: Node) -> Option<[u32; 2]> {
    (behind != Node::EMPTY).then_some([number, behind.0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Numbers are sets of bits.
    struct Subsets;

    impl Order for Subsets {
        fn behind_above(&mut self, number: u32, others: impl Iterator<Item = (u32, Node)>) -> Vec<Node> {
            others.filter(|(other, _)| *other != number && number & !other == 0).map(|(_, node)| node).collect()
        }
    }

    type Tuples = BTreeSet<Vec<u32>>;

    fn drawn(all: &mut Diagrams, tuples: &Tuples) -> Node {
        let mut set = Node::EMPTY;
        for tuple in tuples {
            let tuple = all.tuple(tuple).unwrap();
            set = all.union(set, tuple).unwrap();
        }
        set
    }

    fn listed(all: &Diagrams, set: Node) -> Tuples {
        let mut tuples = Vec::new();
        let _ = all.each(set, &mut |tuple| {
            tuples.push(tuple.to_vec());
            ControlFlow::<()>::Continue(())
        });
        assert!(tuples.is_sorted(), "in their order");
        assert_eq!(all.count([set].into_iter()), Some(tuples.len() as u128));
        tuples.into_iter().collect()
    }

    fn covers(large: &[u32], small: &[u32]) -> bool {
        small.iter().zip(large).all(|(small, large)| small & !large == 0)
    }

    fn tuples() -> impl Strategy<Value = Tuples> {
        prop::collection::btree_set(prop::collection::vec(0_u32..8, 3), 0..12)
    }

    proptest! {
        /// What is done with diagrams is what is done with the tuples, one by one; and equal sets
        /// are equal nodes.
        #[test]
        fn nodes_are_sets(a in tuples(), b in tuples()) {
            let mut all = Diagrams::default();
            let [x, y] = [&a, &b].map(|tuples| drawn(&mut all, tuples));
            prop_assert_eq!((listed(&all, x), listed(&all, y), x == y), (a.clone(), b.clone(), a == b));
            let not_covered = |a: &Tuples, b: &Tuples| -> Tuples {
                a.iter().filter(|small| !b.iter().any(|large| covers(large, small))).cloned().collect()
            };
            let is_largest = |small: &&Vec<u32>| !a.iter().any(|large| large != *small && covers(large, small));
            let odd = |number: u32| vec![number | 1, 8];
            let replaced = |tuple: &Vec<u32>| {
                (0..8).map(|way| tuple.iter().enumerate().map(|(i, &n)| odd(n)[way >> i & 1]).collect()).collect::<Tuples>()
            };
            let results = [
                (all.union(x, y).unwrap(), a.union(&b).cloned().collect()),
                (all.minus(x, y).unwrap(), a.difference(&b).cloned().collect()),
                (all.uncovered(&mut Subsets, x, y).unwrap(), not_covered(&a, &b)),
                (all.largest(&mut Subsets, x).unwrap(), a.iter().filter(is_largest).cloned().collect()),
                (all.image(x, &mut { odd }).unwrap(), a.iter().flat_map(replaced).collect()),
            ];
            for (node, expected) in &results {
                prop_assert_eq!(&listed(&all, *node), expected);
                prop_assert_eq!(drawn(&mut all, expected), *node, "equal sets are equal nodes");
            }
            let found = all.find(x, &|place, number| number % 2 == 0 || place == 1);
            prop_assert_eq!(found.as_ref(), a.iter().find(|tuple| tuple[0] % 2 == 0 && tuple[2] % 2 == 0));
            // What is kept is the same under other numbers, and nothing else is there; also when it
            // was saved and restored.
            let mut kept = [x, results[2].0];
            all.keep_only(kept.iter_mut());
            let saved = postcard::to_allocvec(&all).unwrap();
            let mut restored: Diagrams = postcard::from_bytes(&saved).unwrap();
            prop_assert_eq!((restored.len(), restored.bytes()), (all.len(), all.bytes()));
            for (node, expected) in kept.into_iter().zip([&a, &results[2].1]) {
                prop_assert_eq!(&listed(&restored, node), expected);
                prop_assert_eq!(drawn(&mut restored, expected), node);
            }
        }
    }

    /// 10^40 tuples are too many to be counted, and a few nodes.
    #[test]
    fn many_tuples() {
        let mut all = Diagrams::default();
        let mut set = Node::UNIT;
        for _ in 0..40 {
            set = all.union_of((0..10).map(|number| (number, set)).collect()).unwrap();
        }
        assert_eq!((all.len(), all.count([set].into_iter())), (42, None));
        let half = all.tuple(&[3; 40]).unwrap();
        assert_eq!(all.uncovered(&mut Subsets, half, set), Ok(Node::EMPTY));
    }

    #[test]
    fn what_is_too_large_is_not_made() {
        let mut all = Diagrams::default();
        all.limit(all.bytes() + 1000, &Cancel::default());
        let made = (0..1000).map(|number| all.tuple(&[number])).take_while(Result::is_ok).count();
        assert!((10..200).contains(&made), "{made}");
    }
}

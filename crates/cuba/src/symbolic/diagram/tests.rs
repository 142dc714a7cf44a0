//! Laws of decision diagrams: operations on nodes are operations on sets of tuples.

use crate::cancel::Cancel;
use crate::symbolic::diagram::nodes::{Diagrams, Node};
use crate::symbolic::diagram::operations::Order;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Numbers are sets of bits.
struct Subsets;

impl Order for Subsets {
    fn behind_above(&mut self, number: u32, others: impl Iterator<Item = (u32, Node)>) -> Vec<Node> {
        others.filter(|(other, _)| *other != number && number & !other == 0).map(|(_, node)| node).collect()
    }
}

type TupleSet = BTreeSet<Vec<u32>>;

fn set_of(all: &mut Diagrams, tuples: &TupleSet) -> Node {
    let mut set = Node::EMPTY;
    for tuple in tuples {
        let tuple = all.tuple(tuple).unwrap();
        set = all.union(set, tuple).unwrap();
    }
    set
}

fn listed(all: &Diagrams, set: Node) -> TupleSet {
    let mut tuples = Vec::new();
    let _ = all.for_each(set, &mut |tuple| {
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

fn tuples() -> impl Strategy<Value = TupleSet> {
    prop::collection::btree_set(prop::collection::vec(0_u32..8, 3), 0..12)
}

proptest! {
    /// An operation on nodes is the operation on the sets of tuples, and equal sets are equal
    /// nodes.
    #[test]
    fn nodes_are_sets(a in tuples(), b in tuples()) {
        let mut all = Diagrams::default();
        let [x, y] = [&a, &b].map(|tuples| set_of(&mut all, tuples));
        prop_assert_eq!((listed(&all, x), listed(&all, y), x == y), (a.clone(), b.clone(), a == b));
        let not_covered = |a: &TupleSet, b: &TupleSet| -> TupleSet {
            a.iter().filter(|small| !b.iter().any(|large| covers(large, small))).cloned().collect()
        };
        let is_largest = |small: &&Vec<u32>| !a.iter().any(|large| large != *small && covers(large, small));
        let odd = |number: u32| vec![number | 1, 8];
        let replaced = |tuple: &Vec<u32>| {
            (0..8).map(|way| tuple.iter().enumerate().map(|(i, &n)| odd(n)[way >> i & 1]).collect()).collect::<TupleSet>()
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
            prop_assert_eq!(set_of(&mut all, expected), *node, "equal sets are equal nodes");
        }
        let first = all.find(x, &|place, number| number % 2 == 0 || place == 1);
        prop_assert_eq!(first.as_ref(), a.iter().find(|tuple| tuple[0] % 2 == 0 && tuple[2] % 2 == 0));
        // Needed nodes stand for the same sets under their new numbers, and there are no other
        // nodes. So do restored nodes.
        let mut needed = [x, results[2].0];
        all.collect_garbage(needed.iter_mut());
        let saved = postcard::to_allocvec(&all).unwrap();
        let mut restored: Diagrams = postcard::from_bytes(&saved).unwrap();
        prop_assert_eq!((restored.len(), restored.bytes()), (all.len(), all.bytes()));
        for (node, expected) in needed.into_iter().zip([&a, &results[2].1]) {
            prop_assert_eq!(&listed(&restored, node), expected);
            prop_assert_eq!(set_of(&mut restored, expected), node);
        }
    }
}

/// 10^40 tuples do not fit into a u128, and need only a few nodes.
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
fn a_limit_holds_for_nodes() {
    let mut all = Diagrams::default();
    all.limit(all.bytes() + 1000, &Cancel::default());
    let count = (0..1000).map(|number| all.tuple(&[number])).take_while(Result::is_ok).count();
    assert!((10..200).contains(&count), "{count}");
}

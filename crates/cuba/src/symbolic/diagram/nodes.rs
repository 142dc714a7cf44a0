//! The nodes of decision diagrams: each set of tuples is one node.
//!
//! # Canonical form
//! The edges of a node are sorted by their numbers, and no edge leads to the empty set. By
//! induction on the length, two nodes that stand for the same set have the same edges.
//!
//! # Stored results
//! Results of operations are stored until [`drop_results`](Diagrams::drop_results). A result that
//! is computed again counts as work again. So the results are dropped before diagrams are saved.
//! Then a run that continues from the file counts the same work.

use crate::automata::canonical_language::to_u32;
use crate::automata::minimal_dfa::hash;
use crate::cancel::Cancel;
use crate::limits::TooLarge;
use crate::symbolic::diagram::operations::Operation;
use crate::tables::table_size::bytes_of_table;
use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A set of tuples.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Node(pub(super) u32);

impl Node {
    /// The empty set.
    pub(crate) const EMPTY: Node = Node(0);
    /// The set with only the empty tuple.
    pub(crate) const UNIT: Node = Node(1);
}

/// All nodes.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "SavedDiagrams")]
pub(crate) struct Diagrams {
    /// For each node, the index of its first edge. Its edges end at the first edge of the next
    /// node. The edges of a node lead to nodes with smaller numbers.
    starts: Vec<u32>,
    /// For each edge, its number and the node behind it.
    edges: Vec<[u32; 2]>,
    /// The nodes by their edges.
    #[serde(skip)]
    table: HashTable<u32>,
    /// The stored results of operations.
    #[serde(skip)]
    results: FxHashMap<(Operation, Node, Node), Node>,
    /// The number of steps so far.
    steps: u64,
    /// The most memory that nodes and results may take, in bytes.
    #[serde(skip)]
    most_bytes: usize,
    #[serde(skip)]
    cancel: Cancel,
}

/// The saved part of the nodes.
#[derive(Deserialize)]
struct SavedDiagrams {
    starts: Vec<u32>,
    edges: Vec<[u32; 2]>,
    steps: u64,
}

impl TryFrom<SavedDiagrams> for Diagrams {
    type Error = &'static str;

    fn try_from(SavedDiagrams { starts, edges, steps }: SavedDiagrams) -> Result<Self, Self::Error> {
        let has_leaves = starts.starts_with(&[0, 0, 0]);
        let ends_with_edges = starts.last().is_some_and(|&end| end as usize == edges.len());
        if !has_leaves || !starts.is_sorted() || !ends_with_edges {
            return Err("the edges of diagrams do not belong to their nodes");
        }
        let leads_back = |node: usize| {
            let edges = &edges[starts[node] as usize..starts[node + 1] as usize];
            edges.iter().all(|edge| (edge[1] as usize) < node)
        };
        if !(2..starts.len() - 1).all(leads_back) {
            return Err("an edge of a diagram leads to a later node");
        }
        let mut diagrams = Diagrams { starts, edges, steps, ..Diagrams::default() };
        diagrams.fill_table();
        Ok(diagrams)
    }
}

impl Default for Diagrams {
    fn default() -> Self {
        Diagrams {
            // The two nodes without edges.
            starts: vec![0, 0, 0],
            edges: Vec::new(),
            table: HashTable::new(),
            results: FxHashMap::default(),
            steps: 0,
            most_bytes: usize::MAX,
            cancel: Cancel::default(),
        }
    }
}

impl Diagrams {
    /// Sets the memory limit and the cancel token of the operations.
    pub(crate) fn limit(&mut self, most_bytes: usize, cancel: &Cancel) {
        self.most_bytes = most_bytes;
        self.cancel = cancel.clone();
    }

    /// Returns the number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the indices of a node's edges.
    pub(super) fn range(&self, Node(node): Node) -> Range<usize> {
        self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize
    }

    /// Returns the edge with this index.
    pub(super) fn edge(&self, index: usize) -> [u32; 2] {
        self.edges[index]
    }

    /// Returns the edges of a node: each number with which tuples begin, and the node of the rests.
    pub(crate) fn edges(&self, node: Node) -> impl ExactSizeIterator<Item = (u32, Node)> {
        self.edges[self.range(node)].iter().map(|&[number, to]| (number, Node(to)))
    }

    /// Returns the rests behind a number.
    pub(crate) fn behind(&self, node: Node, number: u32) -> Node {
        let edges = &self.edges[self.range(node)];
        edges.binary_search_by_key(&number, |edge| edge[0]).map_or(Node::EMPTY, |at| Node(edges[at][1]))
    }

    /// Returns the node with these edges. They have to be sorted by their numbers, and no edge may
    /// lead to the empty set.
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
        if self.bytes() > self.most_bytes {
            return Err(TooLarge);
        }
        let id = u32::try_from(self.len()).map_err(|_| TooLarge)?;
        let end = u32::try_from(self.edges.len() + edges.len()).map_err(|_| TooLarge)?;
        self.table.insert_unique(hashed, id, |&id| hash(of(id).as_flattened()));
        self.edges.extend_from_slice(edges);
        self.starts.push(end);
        Ok(Node(id))
    }

    /// Returns the stored result of an operation, or computes it, which is one step.
    pub(super) fn result(
        &mut self,
        operation: (Operation, Node, Node),
        compute: impl FnOnce(&mut Self) -> Result<Node, TooLarge>,
    ) -> Result<Node, TooLarge> {
        if let Some(&result) = self.results.get(&operation) {
            return Ok(result);
        }
        self.step()?;
        let result = compute(self)?;
        self.results.insert(operation, result);
        Ok(result)
    }

    /// Counts one step. At regular intervals, checks the limits.
    pub(crate) fn step(&mut self) -> Result<(), TooLarge> {
        self.steps += 1;
        let is_check_due =
            self.steps.is_multiple_of(1 << 12) && (self.cancel.why().is_some() || self.bytes() > self.most_bytes);
        if is_check_due { Err(TooLarge) } else { Ok(()) }
    }

    /// Drops the stored results of operations.
    pub(crate) fn drop_results(&mut self) {
        self.results = FxHashMap::default();
    }

    /// Drops the stored results, and all nodes that these sets do not need. The nodes that remain
    /// get new numbers.
    pub(crate) fn collect_garbage<'s>(&mut self, sets: impl Iterator<Item = &'s mut Node>) {
        self.drop_results();
        let sets: Vec<&mut Node> = sets.collect();
        let mut is_needed = vec![false; self.len()];
        for set in [&Node::EMPTY, &Node::UNIT].into_iter().chain(sets.iter().map(|set| &**set)) {
            is_needed[set.0 as usize] = true;
        }
        // Edges lead to nodes with smaller numbers.
        for id in (0..self.len()).rev() {
            if is_needed[id] {
                for (_, Node(to)) in self.edges(Node(to_u32(id))) {
                    is_needed[to as usize] = true;
                }
            }
        }
        let mut numbers = vec![0; self.len()];
        let (mut starts, mut edges) = (vec![0], Vec::new());
        for id in (0..self.len()).filter(|&id| is_needed[id]) {
            numbers[id] = to_u32(starts.len() - 1);
            let old = &self.edges[self.starts[id] as usize..self.starts[id + 1] as usize];
            edges.extend(old.iter().map(|&[number, to]| [number, numbers[to as usize]]));
            starts.push(to_u32(edges.len()));
        }
        for set in sets {
            set.0 = numbers[set.0 as usize];
        }
        (self.starts, self.edges) = (starts, edges);
        self.fill_table();
    }

    /// Rebuilds the table.
    fn fill_table(&mut self) {
        let Diagrams { starts, edges, table, .. } = self;
        let hash_of = |&id: &u32| {
            let edges = &edges[starts[id as usize] as usize..starts[id as usize + 1] as usize];
            hash(edges.as_flattened())
        };
        *table = HashTable::new();
        for id in 2..to_u32(starts.len() - 1) {
            table.insert_unique(hash_of(&id), id, hash_of);
        }
    }

    /// Returns the number of steps so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the memory in use.
    pub(crate) fn bytes(&self) -> usize {
        let results = self.results.len().next_power_of_two() * 2 * size_of::<((Operation, Node, Node), Node)>();
        self.starts.len().next_power_of_two() * size_of::<u32>()
            + self.edges.len().next_power_of_two() * size_of::<[u32; 2]>()
            + bytes_of_table(self.table.len())
            + if self.results.is_empty() { 0 } else { results }
    }
}

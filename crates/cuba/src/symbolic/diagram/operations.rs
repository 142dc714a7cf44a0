//! Operations on sets of tuples: union, difference, coverage, images.
//!
//! Each operation works on the edges of its arguments, and calls itself for the nodes to which they
//! lead.

use crate::limits::TooLarge;
use crate::symbolic::diagram::nodes::{Diagrams, Node};
use std::ops::Range;

/// The order of the numbers at a place. A tuple covers another tuple if at each place its number is
/// the same or above.
pub(crate) trait Order {
    /// Returns the nodes of those pairs whose number is above `number`, and not `number` itself.
    fn behind_above(&mut self, number: u32, others: impl Iterator<Item = (u32, Node)>) -> Vec<Node>;
}

/// An operation with stored results.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operation {
    Union,
    Minus,
    Uncovered,
    Largest,
    Image,
}

impl Diagrams {
    /// Returns the set of one tuple.
    pub(crate) fn tuple(&mut self, tuple: &[u32]) -> Result<Node, TooLarge> {
        tuple.iter().rev().try_fold(Node::UNIT, |behind, &number| self.node(&[[number, behind.0]]))
    }

    /// Returns the set with these edges. Their numbers may come in any order and repeatedly.
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

    /// Computes a ∪ b.
    pub(crate) fn union(&mut self, a: Node, b: Node) -> Result<Node, TooLarge> {
        if a == b || b == Node::EMPTY {
            return Ok(a);
        }
        if a == Node::EMPTY {
            return Ok(b);
        }
        let (a, b) = (a.min(b), a.max(b));
        self.result((Operation::Union, a, b), |all| {
            let (mut of_a, mut of_b) = (all.range(a), all.range(b));
            let mut edges = Vec::with_capacity(of_a.len().max(of_b.len()));
            loop {
                let next = |range: &Range<usize>| (!range.is_empty()).then(|| all.edge(range.start));
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

    /// Computes a \ b.
    pub(crate) fn minus(&mut self, a: Node, b: Node) -> Result<Node, TooLarge> {
        if a == b || a == Node::EMPTY {
            return Ok(Node::EMPTY);
        }
        if b == Node::EMPTY {
            return Ok(a);
        }
        self.result((Operation::Minus, a, b), |all| {
            let mut edges = Vec::new();
            for at in all.range(a) {
                let [number, in_a] = all.edge(at);
                let in_b = all.behind(b, number);
                edges.extend(edge_to(number, all.minus(Node(in_a), in_b)?));
            }
            all.node(&edges)
        })
    }

    /// Returns the tuples of `a` that no tuple of `b` covers.
    pub(crate) fn uncovered(&mut self, order: &mut impl Order, a: Node, b: Node) -> Result<Node, TooLarge> {
        if a == b || a == Node::EMPTY {
            return Ok(Node::EMPTY);
        }
        if b == Node::EMPTY {
            return Ok(a);
        }
        self.result((Operation::Uncovered, a, b), |all| {
            let mut edges = Vec::new();
            for at in all.range(a) {
                let [number, in_a] = all.edge(at);
                // The covering tuple begins with this number or one above it.
                let rest = all.not_covered(order, (number, Node(in_a)), b, true)?;
                edges.extend(edge_to(number, rest));
            }
            all.node(&edges)
        })
    }

    /// Returns the tuples of `rest` that no tuple of `b` covers when `number` comes before them.
    /// Tuples of `b` that begin with `number` itself count only with `or_same`.
    fn not_covered(
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

    /// Returns the tuples that no other tuple of the set covers.
    pub(crate) fn largest(&mut self, order: &mut impl Order, a: Node) -> Result<Node, TooLarge> {
        if a == Node::EMPTY || a == Node::UNIT {
            return Ok(a);
        }
        self.result((Operation::Largest, a, a), |all| {
            let mut edges = Vec::new();
            for at in all.range(a) {
                let [number, behind] = all.edge(at);
                edges.push([number, all.largest(order, Node(behind))?.0]);
            }
            let largest = all.node(&edges)?;
            let mut rest = Vec::new();
            for [number, behind] in edges {
                rest.extend(edge_to(number, all.not_covered(order, (number, Node(behind)), largest, false)?));
            }
            all.node(&rest)
        })
    }

    /// Returns the tuples that result if each number is replaced by each of the numbers that
    /// `others` returns for it. `others` has to be the same function until the results are dropped.
    pub(crate) fn image(&mut self, a: Node, others: &mut impl FnMut(u32) -> Vec<u32>) -> Result<Node, TooLarge> {
        if a == Node::EMPTY || a == Node::UNIT {
            return Ok(a);
        }
        self.result((Operation::Image, a, a), |all| {
            let mut edges = Vec::new();
            for at in all.range(a) {
                let [number, behind] = all.edge(at);
                let behind = all.image(Node(behind), others)?;
                edges.extend(others(number).into_iter().map(|other| (other, behind)));
            }
            all.union_of(edges)
        })
    }
}

/// Returns an edge; `None` if it would lead to the empty set.
fn edge_to(number: u32, behind: Node) -> Option<[u32; 2]> {
    (behind != Node::EMPTY).then_some([number, behind.0])
}

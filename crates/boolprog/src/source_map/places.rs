//! Places: the lines of nodes, and the nodes of a place such as `f:12`.

use crate::graph::{Graph, Step};
use std::collections::BTreeMap;

/// The places of all nodes.
#[derive(Debug)]
pub(crate) struct Places {
    /// For each node, its line, and the number of its place among those of its function on that
    /// line. Both are counted from 1.
    nodes: Vec<(usize, usize)>,
    /// For each function, whether a statement calls it. Otherwise only threads start with it.
    is_called: Vec<bool>,
}

impl Places {
    pub(crate) fn new(graph: &Graph, lines: &LineStarts) -> Self {
        let mut order: Vec<usize> = (0..graph.nodes.len()).collect();
        order.sort_by_key(|&node| (graph.nodes[node].span, node));
        let mut on_line: BTreeMap<(usize, usize), Vec<u32>> = BTreeMap::new();
        let mut places = vec![(0, 0); graph.nodes.len()];
        for node in order {
            let it = &graph.nodes[node];
            let line = lines.line(it.span.start);
            let starts = on_line.entry((it.function, line)).or_default();
            if starts.last() != Some(&it.span.start) {
                starts.push(it.span.start);
            }
            places[node] = (line, starts.len());
        }
        let mut is_called = vec![false; graph.functions.len()];
        for node in &graph.nodes {
            if let Step::Call { function, .. } = node.step {
                is_called[function] = true;
            }
        }
        Places { nodes: places, is_called }
    }

    /// Returns whether a statement calls this function.
    pub(crate) fn is_called(&self, function: usize) -> bool {
        self.is_called[function]
    }

    /// Returns the line of a node, and the number of its place on that line.
    pub(crate) fn line_and_number(&self, node: usize) -> (usize, usize) {
        self.nodes[node]
    }

    /// Returns the nodes of a place: a label, a function, a line of a function, or `f:12.2`, the
    /// second place on a line. Includes nodes that await a return only if `with_awaiting` is set.
    pub(crate) fn nodes(&self, graph: &Graph, text: &str, with_awaiting: bool) -> Option<Vec<usize>> {
        if let Some(nodes) = graph.labelled(text) {
            return Some(nodes);
        }
        let (function, line) =
            text.split_once(':').map_or((text, None), |(function, line)| (function.trim(), Some(line.trim())));
        let function = graph.functions.iter().position(|it| it.name == function)?;
        let (line, number) = match line {
            Some(line) => {
                let (line, number) = line.split_once('.').map_or((line, None), |(line, number)| (line, Some(number)));
                let number: Option<usize> =
                    number.map(|number| number.parse().ok()).map_or(Some(None), |it| it.map(Some))?;
                (Some(line.parse().ok()?), number)
            }
            None => (None, None),
        };
        let is_there = |node: &usize| {
            let it = &graph.nodes[*node];
            let is_place = with_awaiting || !matches!(it.step, Step::Await { .. });
            let is_here = line.is_none_or(|line: usize| self.line_and_number(*node).0 == line);
            is_place
                && it.function == function
                && is_here
                && number.is_none_or(|number| self.line_and_number(*node).1 == number)
        };
        let nodes: Vec<usize> = (0..graph.nodes.len()).filter(is_there).collect();
        if nodes.is_empty() { None } else { Some(nodes) }
    }
}

/// The first byte of each line of a text.
#[derive(Debug)]
pub(crate) struct LineStarts(Vec<u32>);

impl LineStarts {
    pub(crate) fn new(text: &str) -> Self {
        let starts =
            text.match_indices('\n').map(|(at, _)| u32::try_from(at + 1).expect("a source is shorter than 4 GiB"));
        LineStarts(std::iter::once(0).chain(starts).collect())
    }

    /// Returns the line of a byte, counted from 1.
    pub(crate) fn line(&self, offset: u32) -> usize {
        self.0.partition_point(|&start| start <= offset)
    }
}

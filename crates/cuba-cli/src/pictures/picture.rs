//! A directed graph as a picture: as text for Graphviz, or as SVG.
//!
//! The graphs are small: store automata, loops, and visible states with the steps between them.
//! Both texts depend only on the graph.

use super::svg;
use crate::text::labels::{shortened, wrapped};
use std::fmt::{self, Write as _};

/// A directed graph to draw.
pub(crate) struct Picture {
    /// The title of the picture, which may be empty.
    pub(crate) title: String,
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
}

pub(crate) struct Node {
    /// The full label.
    pub(crate) label: String,
    /// The lines of text on the node.
    pub(crate) lines: Vec<String>,
    pub(crate) kind: NodeKind,
    /// Whether the border is red.
    pub(crate) bad: bool,
}

impl Node {
    /// Creates a node with its label in one line.
    pub(crate) fn plain(label: String, kind: NodeKind) -> Self {
        Node { lines: vec![label.clone()], label, kind, bad: false }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// With an initial arrow.
    Initial,
    Inner,
    /// With a double border.
    Accepting,
}

/// All edges from one node to another as one edge with several labels.
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) labels: Vec<String>,
    /// Whether the edge is part of a loop to highlight.
    pub(crate) marked: bool,
}

/// The graph is too large for a layout.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PictureTooLarge {
    nodes: usize,
    edges: usize,
}

impl fmt::Display for PictureTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PictureTooLarge { nodes, edges } = self;
        write!(f, "a graph with {nodes} nodes and {edges} edges is too large for SVG; ")?;
        f.write_str("write it with --dot, and draw it with Graphviz")
    }
}

impl std::error::Error for PictureTooLarge {}

/// The cost of a layout that takes about two seconds. The time grows with the square of the cost.
/// The recursion of dagre is as deep as the number of nodes.
const MAX_COST: usize = 4000;

/// A budget for layouts that take about half a second together, in squares of costs.
pub(crate) const QUICK_BUDGET: usize = 1500 * 1500;

impl Picture {
    /// Formats the graph in the language of Graphviz.
    pub(crate) fn dot(&self) -> String {
        let mut out = "digraph {\n".to_owned();
        let mut line = |text: fmt::Arguments<'_>| writeln!(out, "  {text}").expect("writing to a string");
        line(format_args!("rankdir=LR"));
        if !self.title.is_empty() {
            line(format_args!("label={}; labelloc=t", quoted(&[&self.title])));
        }
        line(format_args!("node [shape=ellipse, width=0.5, height=0.5, margin=0.05]"));
        for (v, node) in self.nodes.iter().enumerate() {
            let border = if node.kind == NodeKind::Accepting { ", peripheries=2" } else { "" };
            let bad = if node.bad { ", color=\"#dc2626\", penwidth=2.5" } else { "" };
            let is_full = node.lines.contains(&node.label);
            let full = if is_full { String::new() } else { format!(", tooltip={}", quoted(&[&node.label])) };
            line(format_args!("n{v} [label={}{full}{border}{bad}]", quoted(&node.lines)));
            if node.kind == NodeKind::Initial {
                line(format_args!("i{v} [shape=point, style=invis]; i{v} -> n{v}"));
            }
        }
        for Edge { from, to, labels, marked } in &self.edges {
            let (list, lines) = (labels.join(", "), wrapped(labels));
            let full = if lines.join(" ") == list { String::new() } else { format!(", tooltip={}", quoted(&[list])) };
            let mark = if *marked { ", color=\"#c2410c\", penwidth=2.5" } else { "" };
            line(format_args!("n{from} -> n{to} [label={}{full}{mark}]", quoted(&lines)));
        }
        out + "}\n"
    }

    /// Draws the graph as an SVG file.
    pub(crate) fn svg(&self) -> Result<String, PictureTooLarge> {
        let mut budget = usize::MAX;
        self.svg_within(&mut budget)
    }

    /// Draws the graph as an SVG file, if its cost is within the budget. Subtracts the cost from
    /// the budget.
    pub(crate) fn svg_within(&self, budget: &mut usize) -> Result<String, PictureTooLarge> {
        let (nodes, edges) = (self.nodes.len(), self.edges.len());
        let cost = 2 * nodes + edges + self.columns_crossed();
        match budget.checked_sub(cost * cost).filter(|_| cost <= MAX_COST) {
            Some(left) => *budget = left,
            None => return Err(PictureTooLarge { nodes, edges }),
        }
        Ok(svg::svg(self))
    }

    /// Counts the columns that all edges cross together, if each node is as far to the left as
    /// possible.
    fn columns_crossed(&self) -> usize {
        let count = self.nodes.len();
        let mut successors = vec![Vec::new(); count];
        for edge in &self.edges {
            successors[edge.from].push(edge.to);
        }
        // A depth-first search numbers the nodes in descending order when it leaves them. So only
        // an edge that closes a cycle leads to a smaller number.
        let (mut seen, mut number, mut rest) = (vec![false; count], vec![0; count], count);
        for root in 0..count {
            let mut path = vec![(root, 0)];
            while let Some((v, next)) = path.pop() {
                if next == 0 && std::mem::replace(&mut seen[v], true) {
                    continue;
                }
                if let Some(&w) = successors[v].get(next) {
                    path.extend([(v, next + 1), (w, 0)]);
                } else {
                    rest -= 1;
                    number[v] = rest;
                }
            }
        }
        let ends = self.edges.iter().map(|edge| (number[edge.from], number[edge.to]));
        let mut edges: Vec<(usize, usize)> = ends.map(|(v, w)| (v.min(w), v.max(w))).collect();
        edges.sort_unstable();
        let mut column = vec![0; count];
        for &(v, w) in &edges {
            column[w] = column[w].max(column[v] + usize::from(v < w));
        }
        edges.iter().map(|&(v, w)| column[w] - column[v]).sum()
    }
}

/// Returns the text of a node in short lines.
pub(super) fn shown(node: &Node) -> Vec<String> {
    node.lines.iter().map(|line| shortened(line)).collect()
}

/// Quotes lines as a string for Graphviz, which would read `&lt;` as `<`.
fn quoted(lines: &[impl AsRef<str>]) -> String {
    let lines = lines.iter().map(|line| line.as_ref().replace('\\', r"\\").replace('"', "\\\"").replace('&', "&amp;"));
    format!("\"{}\"", lines.collect::<Vec<_>>().join("\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn picture(nodes: &[(&str, NodeKind)], edges: &[(usize, usize, &str, bool)]) -> Picture {
        let node = |&(label, kind): &(&str, _)| Node::plain(label.to_owned(), kind);
        let edge = |&(from, to, labels, marked): &(usize, usize, &str, bool)| {
            let labels = labels.split(' ').map(str::to_owned).collect();
            Edge { from, to, labels, marked }
        };
        let (nodes, edges) = (nodes.iter().map(node).collect(), edges.iter().map(edge).collect());
        Picture { title: "stacks of A".to_owned(), nodes, edges }
    }

    /// Nodes and edges with equal names.
    fn plain(count: usize, edges: &[(usize, usize)]) -> Picture {
        let edges: Vec<_> = edges.iter().map(|&(from, to)| (from, to, "a b", from == to)).collect();
        let mut picture = picture(&vec![("q", NodeKind::Initial); count], &edges);
        for (v, node) in picture.nodes.iter_mut().enumerate() {
            node.lines.resize(1 + v % 3, "a line".to_owned());
        }
        picture
    }

    fn automaton() -> Picture {
        let nodes = [("q0", NodeKind::Initial), ("q1\\<&\"", NodeKind::Inner), ("s^F", NodeKind::Accepting)];
        picture(&nodes, &[(0, 1, "a b", false), (1, 1, "c", true), (1, 2, "\"&lt;", false), (0, 2, "ε", false)])
    }

    #[test]
    fn dot_text() {
        let expected = r##"digraph {
  rankdir=LR
  label="stacks of A"; labelloc=t
  node [shape=ellipse, width=0.5, height=0.5, margin=0.05]
  n0 [label="q0"]
  i0 [shape=point, style=invis]; i0 -> n0
  n1 [label="q1\\<&amp;\""]
  n2 [label="s^F", peripheries=2]
  n0 -> n1 [label="a, b"]
  n1 -> n1 [label="c", color="#c2410c", penwidth=2.5]
  n1 -> n2 [label="\"&amp;lt;"]
  n0 -> n2 [label="ε"]
}
"##;
        assert_eq!(automaton().dot(), expected);
    }

    #[test]
    fn long_lists_have_a_hint_with_everything() {
        let labels = |count: usize| (0..count).map(|i| format!("label{i}")).collect::<Vec<_>>();
        let mut picture = automaton();
        picture.edges[0].labels = labels(9);
        assert!(picture.dot().contains("label4, label5, …\", tooltip=\"label0, label1, label2,"), "{}", picture.dot());
        assert!(picture.svg().unwrap().contains("<title>q0 → q1\\&lt;&amp;&quot;: label0, label1, label2,"));
    }

    #[test]
    fn bad_nodes_and_long_names() {
        let mut picture = automaton();
        let name = "a long name & another one";
        let lines = vec!["a long name &".to_owned(), "another one".to_owned()];
        picture.nodes[1] = Node { label: name.to_owned(), lines, kind: NodeKind::Inner, bad: true };
        let dot = picture.dot();
        let node = r##"n1 [label="a long name &amp;\nanother one", tooltip="a long name &amp; another one", color="#dc2626", penwidth=2.5]"##;
        assert!(dot.contains(node), "{dot}");
        let svg = checked(&picture);
        assert_eq!(svg.matches("\"node bad\"").count(), 1);
        assert!(svg.contains("<g><title>a long name &amp; another one</title><text"), "{svg}");
    }

    #[test]
    fn each_label_is_drawn_once() {
        let svg = checked(&automaton());
        let drawn: Vec<&str> = svg.split("<text").skip(1).map(|text| between(text, ">", "<")).collect();
        let expected = ["a, b", "&quot;&amp;lt;", "ε", "c", "q0", "q1\\&lt;&amp;&quot;", "s^F", "stacks of A"];
        assert_eq!(drawn, expected);
    }

    #[test]
    fn odd_graphs() {
        let none = plain(0, &[]);
        assert!(checked(&none).contains("viewBox"));
        for count in [1, 2, 50] {
            checked(&plain(count, &[]));
            checked(&plain(count, &[(0, 0); 3]));
        }
        checked(&plain(2, &[(0, 1), (1, 0), (0, 1), (1, 0)]));
        checked(&plain(7, &[(0, 1), (1, 2), (2, 0), (4, 5), (6, 6)]));
        let chain: Vec<_> = (1..500).map(|v| (v - 1, v)).collect();
        checked(&plain(500, &chain));
        let ring: Vec<_> = (0..300).map(|v| ((v + 1) % 300, v)).collect();
        checked(&plain(300, &ring));
        let all: Vec<_> = (0..100).map(|i| (i / 10, i % 10)).collect();
        checked(&plain(10, &all));
        let mut unlabelled = plain(3, &[(0, 1), (1, 2), (2, 2)]);
        unlabelled.edges.iter_mut().for_each(|edge| edge.labels.clear());
        assert!(!checked(&unlabelled).contains("class=\"label\""));
    }

    #[test]
    fn too_large() {
        let chain: Vec<_> = (1..1500).map(|v| (v - 1, v)).collect();
        let message = plain(1500, &chain).svg().unwrap_err().to_string();
        assert!(message.starts_with("a graph with 1500 nodes and 1499 edges is too large for SVG"), "{message}");
        // Few nodes, but edges that cross many columns.
        let comb: Vec<_> = (1..100).flat_map(|v| [(v - 1, v), (v, 99)]).collect();
        assert!(plain(100, &comb).svg().is_err());
    }

    /// Several pictures share a budget.
    #[test]
    fn room_for_several() {
        let picture = plain(20, &[(0, 1), (1, 2)]);
        let mut budget = usize::MAX;
        picture.svg_within(&mut budget).unwrap();
        let needed = usize::MAX - budget;
        let mut budget = 2 * needed + needed / 2;
        for left in [needed + needed / 2, needed / 2] {
            picture.svg_within(&mut budget).unwrap();
            assert_eq!(budget, left);
        }
        assert!(picture.svg_within(&mut budget).is_err());
        assert_eq!(budget, needed / 2);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]
        #[test]
        fn any_graph(count in 1..15_usize, ends in prop::collection::vec((0..15_usize, 0..15_usize), 0..40)) {
            let ends: Vec<_> = ends.iter().map(|&(from, to)| (from % count, to % count)).collect();
            checked(&plain(count, &ends));
        }
    }

    /// The SVG of a picture. Checks that it is well-formed, deterministic, and inside its view box.
    fn checked(picture: &Picture) -> String {
        let svg = picture.svg().unwrap();
        assert!(svg == picture.svg().unwrap());
        let mut open = Vec::new();
        for tag in svg.split('<').skip(1) {
            let tag = &tag[..tag.find('>').unwrap()];
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(tag.split(' ').next().unwrap());
            }
        }
        assert_eq!(open, [""; 0]);

        let numbers = |text: &str| -> Vec<f64> {
            text.split(['M', 'C', ' ', ',']).filter(|word| !word.is_empty()).map(|word| word.parse().unwrap()).collect()
        };
        let page = numbers(between(&svg, "viewBox=\"", "\""));
        let inside = |x: f64, y: f64| {
            let right = (page[0]..=page[0] + page[2] + 0.1).contains(&x);
            assert!(right && (page[1]..=page[1] + page[3] + 0.1).contains(&y), "{x} {y} is outside of {page:?}");
        };
        for line in svg.split("d=\"M").skip(1).filter(|line| !line.starts_with("0,0 L")) {
            numbers(between(line, "", "\"")).chunks(2).for_each(|point| inside(point[0], point[1]));
        }
        for shape in svg.split(" x=\"").skip(1) {
            let (x, y) = (between(shape, "", "\""), between(shape, "y=\"", "\""));
            let (x, y) = (numbers(x)[0], numbers(y)[0]);
            inside(x, y);
            if let Some((_, rest)) = shape[..shape.find('>').unwrap()].split_once("width=\"") {
                inside(x + numbers(between(rest, "", "\""))[0], y + numbers(between(rest, "height=\"", "\""))[0]);
            }
        }
        svg
    }

    fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
        text.split_once(start).unwrap().1.split_once(end).unwrap().0
    }
}

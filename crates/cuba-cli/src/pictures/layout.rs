//! Where nodes and edges are: dagre decides in which column a node stands and how high, all else is
//! decided here.
//!
//! Columns are nodes and labels by turns. An edge is level where it crosses a column, and rises or
//! falls between them. The font has a fixed width, so that a text takes about the room that was
//! kept for it.

use super::picture::{Edge, Node, NodeKind, Picture, shown};
use crate::text::labels::wrapped;
use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir, Ranker};
use unicode_width::UnicodeWidthStr as _;

pub(super) type Point = (f64, f64);

/// How wide a letter is, with a little room around it, and how high a line.
const LETTER: f64 = 8.0;
pub(super) const LINE: f64 = 16.0;
/// Half the height of a node; its ends are half circles.
pub(super) const RADIUS: f64 = 17.0;
pub(super) const ARROW: f64 = 9.0;
/// How far a loop hangs below its node.
const LOOP: f64 = 28.0;
/// How steep an edge may be where it meets a node, so that it keeps clear of the nodes above and
/// below.
const STEEPEST: f64 = 1.0;

/// Where everything is.
pub(super) struct Layout {
    pub(super) nodes: Vec<Place>,
    pub(super) edges: Vec<Line>,
}

/// Where a node is: its border is everywhere `RADIUS` away from a rectangle around its middle, or a
/// level line, that reaches as far to each side as `core` says.
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) core: Point,
}

/// Where an edge is: the start of its curve, then for each cubic two control points and its end;
/// the middle of its label.
pub(super) struct Line {
    pub(super) curve: Vec<Point>,
    pub(super) label: Point,
}

impl Layout {
    pub(super) fn new(picture: &Picture) -> Layout {
        let graph = arranged(picture);
        let stop = |v: usize| {
            let node = graph.node(&v.to_string()).expect("a node that was put in");
            Stop { column: usize::try_from(node.rank.unwrap_or(0)).unwrap_or(0), y: node.y.unwrap_or(0.0) }
        };
        let ends: Vec<Stop> = (0..picture.nodes.len()).map(stop).collect();
        let stops = |(i, edge): (usize, &Edge)| {
            let label = graph.edge(&edge.from.to_string(), &edge.to.to_string(), Some(&i.to_string()));
            let points = &label.expect("an edge that was put in").points;
            stops(ends[edge.from], ends[edge.to], points)
        };
        let stops: Vec<Vec<Stop>> = picture.edges.iter().enumerate().map(stops).collect();
        let columns = columns(picture, &ends, &stops);
        let place = |(node, end): (&Node, &Stop)| {
            let (width, height) = extent(node);
            Place { x: columns[end.column].x, y: end.y, core: (width / 2.0 - RADIUS, height / 2.0 - RADIUS) }
        };
        let nodes: Vec<Place> = picture.nodes.iter().zip(&ends).map(place).collect();
        let line = |(edge, stops): (&Edge, &Vec<Stop>)| {
            let (from, to) = (&nodes[edge.from], &nodes[edge.to]);
            if edge.from == edge.to { hanging(from, edge) } else { curved(from, to, stops, &columns) }
        };
        let edges = picture.edges.iter().zip(&stops).map(line).collect();
        Layout { nodes, edges }
    }
}

impl Place {
    /// The point nearest to `other` that is this far from the border.
    pub(super) fn near(&self, other: Point, distance: f64) -> Point {
        let x = other.0.clamp(self.x - self.core.0, self.x + self.core.0);
        let y = other.1.clamp(self.y - self.core.1, self.y + self.core.1);
        let (dx, dy) = (other.0 - x, other.1 - y);
        let scale = (RADIUS + distance) / dx.hypot(dy).max(1.0);
        (x + dx * scale, y + dy * scale)
    }

    /// Where an edge that goes on to `other`, on the left or on the right, leaves the border at
    /// this distance.
    fn port(&self, other: Point, distance: f64) -> Point {
        let rise = STEEPEST * ((other.0 - self.x).abs() - self.core.0);
        self.near((other.0, other.1.clamp(self.y - rise, self.y + rise)), distance)
    }
}

/// The graph as dagre arranges it: its nodes have a rank and a height, its edges the heights in
/// between.
fn arranged(picture: &Picture) -> Graph<NodeLabel, EdgeLabel> {
    let mut graph = Graph::with_options(GraphOptions { directed: true, multigraph: true, compound: false });
    for (v, node) in picture.nodes.iter().enumerate() {
        graph.set_node(v.to_string(), Some(NodeLabel { height: extent(node).1, ..NodeLabel::default() }));
    }
    for (i, edge) in picture.edges.iter().enumerate() {
        let (width, mut height) = size(&wrapped(&edge.labels));
        if edge.from == edge.to {
            height += LOOP;
        }
        let label = EdgeLabel { width, height, labelpos: LabelPos::Center, ..EdgeLabel::default() };
        graph.set_edge(edge.from.to_string(), edge.to.to_string(), Some(label), Some(&i.to_string()));
    }
    let options = LayoutOptions {
        rankdir: RankDir::LR,
        // Network simplex gives shorter edges, but nothing says that it ends.
        ranker: Ranker::TightTree,
        // Nodes stay in their order where no other has fewer crossings.
        tie_keep_first: true,
        nodesep: 24.0,
        edgesep: 12.0,
        ..LayoutOptions::default()
    };
    dagre::layout(&mut graph, Some(options));
    graph
}

/// Where an edge meets a column.
#[derive(Clone, Copy)]
struct Stop {
    column: usize,
    y: f64,
}

/// All columns that an edge meets, one after the other; dagre's points begin and end on the borders
/// of the nodes.
fn stops(from: Stop, to: Stop, points: &[dagre::Point]) -> Vec<Stop> {
    if from.column == to.column {
        return vec![from];
    }
    let columns: Vec<usize> = if from.column < to.column {
        (from.column..to.column).collect()
    } else {
        (to.column + 1..=from.column).rev().collect()
    };
    let between = columns.iter().zip(points).skip(1).map(|(&column, point)| Stop { column, y: point.y });
    std::iter::once(from).chain(between).chain([to]).collect()
}

/// The stop that dagre keeps free for the label: the middle one, or the one to the left of the
/// middle.
fn label_stop(stops: &[Stop]) -> Stop {
    let last = stops.len() - 1;
    stops[if stops[0].column < stops[last].column { last / 2 } else { last.div_ceil(2) }]
}

struct Column {
    x: f64,
    half: f64,
}

/// Columns are as wide as what they hold; the steeper the lines between two of them, the farther
/// are they apart.
fn columns(picture: &Picture, nodes: &[Stop], edges: &[Vec<Stop>]) -> Vec<Column> {
    let count = nodes.iter().map(|stop| stop.column + 1).max().unwrap_or(0);
    let (mut halves, mut gaps) = (vec![4.0_f64; count], vec![30.0_f64; count]);
    for (node, stop) in picture.nodes.iter().zip(nodes) {
        halves[stop.column] = halves[stop.column].max(extent(node).0 / 2.0);
    }
    for (edge, stops) in picture.edges.iter().zip(edges) {
        let column = label_stop(stops).column;
        halves[column] = halves[column].max(size(&wrapped(&edge.labels)).0 / 2.0 + 4.0);
        for pair in stops.windows(2) {
            let gap = &mut gaps[pair[0].column.min(pair[1].column)];
            *gap = gap.max(30.0 + ((pair[0].y - pair[1].y).abs() / 8.0).min(90.0));
        }
    }
    let mut left = 0.0;
    let column = |(half, gap): (f64, f64)| {
        let x = left + half;
        left = x + half + gap;
        Column { x, half }
    };
    halves.into_iter().zip(gaps).map(column).collect()
}

/// An edge from column to column, level where it crosses one.
fn curved(from: &Place, to: &Place, stops: &[Stop], columns: &[Column]) -> Line {
    let ahead = if from.x < to.x { 1.0 } else { -1.0 };
    let level = |stop: &Stop| {
        let Column { x, half } = columns[stop.column];
        [(x - ahead * half, stop.y), (x + ahead * half, stop.y)]
    };
    let mut points: Vec<Point> = stops[1..stops.len() - 1].iter().flat_map(level).collect();
    let (first, last) = (points[0], points[points.len() - 1]);
    points.insert(0, from.port(first, 0.0));
    points.push(to.port(last, ARROW));
    let mut curve = vec![points[0]];
    for (i, pair) in points.windows(2).enumerate() {
        let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        // Level everywhere except at the nodes.
        let rise = |end: bool| if end { (dy / dx).clamp(-STEEPEST, STEEPEST) * dx / 3.0 } else { 0.0 };
        curve.push((pair[0].0 + dx / 3.0, pair[0].1 + rise(i == 0)));
        curve.push((pair[1].0 - dx / 3.0, pair[1].1 - rise(i + 2 == points.len())));
        curve.push(pair[1]);
    }
    let label = label_stop(stops);
    Line { curve, label: (columns[label.column].x, label.y) }
}

/// A loop, below its node.
fn hanging(node: &Place, edge: &Edge) -> Line {
    let bottom = node.y + node.core.1 + RADIUS + LOOP;
    let (left, right) = ((node.x - 24.0, bottom + 4.0), (node.x + 24.0, bottom + 4.0));
    let curve = vec![node.near(left, 0.0), left, right, node.near(right, ARROW)];
    Line { curve, label: (node.x, bottom + size(&wrapped(&edge.labels)).1 / 2.0) }
}

/// How wide and how high a node is.
fn extent(node: &Node) -> Point {
    let border = if node.kind == NodeKind::Accepting { 8.0 } else { 0.0 };
    let (width, height) = size(&shown(node));
    ((width + 10.0).max(2.0 * RADIUS) + border, height - LINE + 2.0 * RADIUS)
}

/// The room that lines of text take.
#[expect(clippy::cast_precision_loss, reason = "no text is that long")]
pub(super) fn size(lines: &[impl AsRef<str>]) -> Point {
    let columns = lines.iter().map(|line| line.as_ref().width()).max().unwrap_or(0);
    (columns as f64 * LETTER, lines.len() as f64 * LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_where_dagre_keeps_room_for_them() {
        let nodes = (0..7).map(|v| Node::plain(v.to_string(), NodeKind::Inner)).collect();
        let edge = |i: usize| Edge { from: i / 7, to: i % 7, labels: vec!["a".to_owned()], marked: false };
        let edges = (0..49).map(edge).filter(|edge| edge.from != edge.to).collect();
        let picture = Picture { title: String::new(), nodes, edges };
        let graph = arranged(&picture);
        let lines = Layout::new(&picture).edges;
        for (i, (edge, line)) in picture.edges.iter().zip(lines).enumerate() {
            let label = graph.edge(&edge.from.to_string(), &edge.to.to_string(), Some(&i.to_string())).unwrap();
            assert_eq!(label.y, Some(line.label.1));
        }
    }
}

//! The layout of a picture: dagre chooses the column and the height of each node; the rest is
//! computed here.
//!
//! Columns of nodes and columns of labels alternate. An edge is horizontal where it crosses a
//! column, and rises or falls between columns. The font has a fixed width, so that the size of a
//! text is known.

use super::picture::{Edge, Node, NodeKind, Picture, shown};
use crate::text::labels::wrapped;
use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir, Ranker};
use unicode_width::UnicodeWidthStr as _;

pub(super) type Point = (f64, f64);

/// The width of a letter with its spacing, and the height of a line.
const LETTER: f64 = 8.0;
pub(super) const LINE: f64 = 16.0;
/// Half the height of a node. Its ends are half circles.
pub(super) const RADIUS: f64 = 17.0;
pub(super) const ARROW: f64 = 9.0;
/// The height of a loop below its node.
const LOOP: f64 = 28.0;
/// The largest slope of an edge at a node, so that it does not touch the nodes above and below.
const STEEPEST: f64 = 1.0;

/// The positions of all nodes and edges.
pub(super) struct GraphLayout {
    pub(super) nodes: Vec<NodePosition>,
    pub(super) edges: Vec<EdgeCurve>,
}

/// The position of a node. Its border is `RADIUS` away from a rectangle around its middle, which
/// extends by `core` to each side.
pub(super) struct NodePosition {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) core: Point,
}

/// The position of an edge: the start of its curve, then for each cubic two control points and its
/// end; and the middle of its label.
pub(super) struct EdgeCurve {
    pub(super) curve: Vec<Point>,
    pub(super) label: Point,
}

impl GraphLayout {
    pub(super) fn new(picture: &Picture) -> GraphLayout {
        let graph = arranged(picture);
        let crossing = |v: usize| {
            let node = graph.node(&v.to_string()).expect("the node was added");
            Crossing { column: usize::try_from(node.rank.unwrap_or(0)).unwrap_or(0), y: node.y.unwrap_or(0.0) }
        };
        let ends: Vec<Crossing> = (0..picture.nodes.len()).map(crossing).collect();
        let crossings = |(i, edge): (usize, &Edge)| {
            let label = graph.edge(&edge.from.to_string(), &edge.to.to_string(), Some(&i.to_string()));
            let points = &label.expect("the edge was added").points;
            crossings(ends[edge.from], ends[edge.to], points)
        };
        let crossings: Vec<Vec<Crossing>> = picture.edges.iter().enumerate().map(crossings).collect();
        let columns = columns(picture, &ends, &crossings);
        let place = |(node, end): (&Node, &Crossing)| {
            let (width, height) = extent(node);
            NodePosition { x: columns[end.column].x, y: end.y, core: (width / 2.0 - RADIUS, height / 2.0 - RADIUS) }
        };
        let nodes: Vec<NodePosition> = picture.nodes.iter().zip(&ends).map(place).collect();
        let line = |(edge, crossings): (&Edge, &Vec<Crossing>)| {
            let (from, to) = (&nodes[edge.from], &nodes[edge.to]);
            if edge.from == edge.to { hanging(from, edge) } else { curved(from, to, crossings, &columns) }
        };
        let edges = picture.edges.iter().zip(&crossings).map(line).collect();
        GraphLayout { nodes, edges }
    }
}

impl NodePosition {
    /// Returns the point nearest to `other` at this distance from the border.
    pub(super) fn near(&self, other: Point, distance: f64) -> Point {
        let x = other.0.clamp(self.x - self.core.0, self.x + self.core.0);
        let y = other.1.clamp(self.y - self.core.1, self.y + self.core.1);
        let (dx, dy) = (other.0 - x, other.1 - y);
        let scale = (RADIUS + distance) / dx.hypot(dy).max(1.0);
        (x + dx * scale, y + dy * scale)
    }

    /// Returns the point at this distance from the border where an edge to `other`, on the left or
    /// on the right, starts.
    fn port(&self, other: Point, distance: f64) -> Point {
        let rise = STEEPEST * ((other.0 - self.x).abs() - self.core.0);
        self.near((other.0, other.1.clamp(self.y - rise, self.y + rise)), distance)
    }
}

/// Computes dagre's layout of the graph: nodes have a rank and a height, edges have the heights
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
        // Network simplex gives shorter edges, but it is not known to terminate.
        ranker: Ranker::TightTree,
        // Nodes keep their order unless another one has fewer crossings.
        tie_keep_first: true,
        nodesep: 24.0,
        edgesep: 12.0,
        ..LayoutOptions::default()
    };
    dagre::layout(&mut graph, Some(options));
    graph
}

/// The point where an edge crosses a column.
#[derive(Clone, Copy)]
struct Crossing {
    column: usize,
    y: f64,
}

/// Computes the points where an edge crosses columns, in order. The points of dagre begin and end
/// on the borders of the nodes.
fn crossings(from: Crossing, to: Crossing, points: &[dagre::Point]) -> Vec<Crossing> {
    if from.column == to.column {
        return vec![from];
    }
    let columns: Vec<usize> = if from.column < to.column {
        (from.column..to.column).collect()
    } else {
        (to.column + 1..=from.column).rev().collect()
    };
    let between = columns.iter().zip(points).skip(1).map(|(&column, point)| Crossing { column, y: point.y });
    std::iter::once(from).chain(between).chain([to]).collect()
}

/// Returns the crossing that dagre reserves for the label: the middle one, or the one to the left
/// of the middle.
fn label_crossing(crossings: &[Crossing]) -> Crossing {
    let last = crossings.len() - 1;
    crossings[if crossings[0].column < crossings[last].column { last / 2 } else { last.div_ceil(2) }]
}

struct Column {
    x: f64,
    half: f64,
}

/// Computes the positions of the columns. A column is as wide as its content. The steeper the edges
/// between two columns, the larger is the distance between the columns.
fn columns(picture: &Picture, nodes: &[Crossing], edges: &[Vec<Crossing>]) -> Vec<Column> {
    let count = nodes.iter().map(|crossing| crossing.column + 1).max().unwrap_or(0);
    let (mut halves, mut gaps) = (vec![4.0_f64; count], vec![30.0_f64; count]);
    for (node, crossing) in picture.nodes.iter().zip(nodes) {
        halves[crossing.column] = halves[crossing.column].max(extent(node).0 / 2.0);
    }
    for (edge, crossings) in picture.edges.iter().zip(edges) {
        let column = label_crossing(crossings).column;
        halves[column] = halves[column].max(size(&wrapped(&edge.labels)).0 / 2.0 + 4.0);
        for pair in crossings.windows(2) {
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

/// Computes the curve of an edge, which is horizontal where it crosses a column.
fn curved(from: &NodePosition, to: &NodePosition, crossings: &[Crossing], columns: &[Column]) -> EdgeCurve {
    let direction = if from.x < to.x { 1.0 } else { -1.0 };
    let level = |crossing: &Crossing| {
        let Column { x, half } = columns[crossing.column];
        [(x - direction * half, crossing.y), (x + direction * half, crossing.y)]
    };
    let mut points: Vec<Point> = crossings[1..crossings.len() - 1].iter().flat_map(level).collect();
    let (first, last) = (points[0], points[points.len() - 1]);
    points.insert(0, from.port(first, 0.0));
    points.push(to.port(last, ARROW));
    let mut curve = vec![points[0]];
    for (i, pair) in points.windows(2).enumerate() {
        let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        // Horizontal everywhere except at the nodes.
        let rise = |end: bool| if end { (dy / dx).clamp(-STEEPEST, STEEPEST) * dx / 3.0 } else { 0.0 };
        curve.push((pair[0].0 + dx / 3.0, pair[0].1 + rise(i == 0)));
        curve.push((pair[1].0 - dx / 3.0, pair[1].1 - rise(i + 2 == points.len())));
        curve.push(pair[1]);
    }
    let label = label_crossing(crossings);
    EdgeCurve { curve, label: (columns[label.column].x, label.y) }
}

/// Computes the curve of a loop below its node.
fn hanging(node: &NodePosition, edge: &Edge) -> EdgeCurve {
    let bottom = node.y + node.core.1 + RADIUS + LOOP;
    let (left, right) = ((node.x - 24.0, bottom + 4.0), (node.x + 24.0, bottom + 4.0));
    let curve = vec![node.near(left, 0.0), left, right, node.near(right, ARROW)];
    EdgeCurve { curve, label: (node.x, bottom + size(&wrapped(&edge.labels)).1 / 2.0) }
}

/// Returns the width and the height of a node.
fn extent(node: &Node) -> Point {
    let border = if node.kind == NodeKind::Accepting { 8.0 } else { 0.0 };
    let (width, height) = size(&shown(node));
    ((width + 10.0).max(2.0 * RADIUS) + border, height - LINE + 2.0 * RADIUS)
}

/// Returns the width and the height of lines of text.
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
        let lines = GraphLayout::new(&picture).edges;
        for (i, (edge, line)) in picture.edges.iter().zip(lines).enumerate() {
            let label = graph.edge(&edge.from.to_string(), &edge.to.to_string(), Some(&i.to_string())).unwrap();
            assert_eq!(label.y, Some(line.label.1));
        }
    }
}

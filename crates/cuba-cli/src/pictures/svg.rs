//! A picture as SVG.

use super::layout::{ARROW, GraphLayout, LINE, NodePosition, Point, RADIUS, size};
use super::picture::{Edge, Node, NodeKind, Picture, shown};
use crate::text::labels::wrapped;
use cpds::diagnostic::is_printable;

const MARGIN: f64 = 16.0;

const STYLE: &str = "
.picture{font:13px Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;text-anchor:middle}
.picture .paper{fill:#fff}
.picture text{fill:#1f2328}
.picture .node{fill:#eef2f7;stroke:#1f2328;stroke-width:1.3}
.picture .edge{fill:none;stroke:#6a737d;stroke-width:1.2}
.picture .head{fill:#6a737d}
.picture .node.bad{stroke:#dc2626;stroke-width:2.6}
.picture .edge.marked{stroke:#c2410c;stroke-width:2.8}
.picture .head.marked,.picture text.marked{fill:#c2410c}
.picture .title,.picture text.marked{font-weight:bold}
@media (prefers-color-scheme:dark){
.picture .paper{fill:#0d1117}
.picture text{fill:#e6edf3}
.picture .node{fill:#1c2430;stroke:#e6edf3}
.picture .node.bad{stroke:#f87171}
.picture .edge{stroke:#8b949e}
.picture .head{fill:#8b949e}
.picture .edge.marked{stroke:#fb923c}
.picture .head.marked,.picture text.marked{fill:#fb923c}
}
";

pub(super) fn svg(picture: &Picture) -> String {
    let layout = GraphLayout::new(picture);
    let mut canvas = SvgCanvas::new();
    let edges = picture.edges.iter().zip(&layout.edges);
    let (marked, plain): (Vec<_>, Vec<_>) = edges.partition(|(edge, _)| edge.marked);
    for (edge, line) in plain.into_iter().chain(marked) {
        let (from, to) = (&picture.nodes[edge.from].label, &picture.nodes[edge.to].label);
        let hint = format!("{from} → {to}: {}", edge.labels.join(", "));
        canvas.draw(&line.curve, edge.marked, &hint);
        canvas.write_label(line.label, edge, &hint);
    }
    for (v, node) in picture.nodes.iter().enumerate() {
        let place = &layout.nodes[v];
        let entered = picture.edges.iter().any(|edge| edge.to == v && layout.nodes[edge.from].x < place.x);
        canvas.draw_node(place, node, entered);
    }
    canvas.finish(&picture.title)
}

/// The shapes drawn so far, and their extent.
struct SvgCanvas {
    shapes: String,
    /// Drawn after all shapes.
    texts: String,
    low: Point,
    high: Point,
}

impl SvgCanvas {
    fn new() -> SvgCanvas {
        SvgCanvas { shapes: String::new(), texts: String::new(), low: (0.0, 0.0), high: (0.0, 0.0) }
    }

    /// Draws a curve with an arrow head.
    fn draw(&mut self, curve: &[Point], marked: bool, hint: &str) {
        for &point in curve {
            self.reach(point, (1.0, 1.0));
        }
        let points: Vec<String> = curve.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let (start, rest) = (&points[0], points[1..].join(" "));
        let (class, head) = if marked { ("edge marked", "picture-head-marked") } else { ("edge", "picture-head") };
        let path = format!(r#"<path class="{class}" marker-end="url(#{head})" d="M{start} C{rest}">"#);
        self.shapes.extend([&path, &titled(hint), "</path>\n"]);
    }

    /// Draws a node. If an edge enters it from the left, its initial arrow comes from above.
    fn draw_node(&mut self, place: &NodePosition, node: &Node, entered: bool) {
        let &NodePosition { x, y, core } = place;
        if node.kind == NodeKind::Initial {
            let far = (x - core.0 - 99.0, y - if entered { 99.0 } else { 0.0 });
            self.draw(&[18.0, 12.0, 6.0, 0.0].map(|distance| place.near(far, distance + ARROW)), false, "");
        }
        let borders: &[f64] = if node.kind == NodeKind::Accepting { &[RADIUS, RADIUS - 4.0] } else { &[RADIUS] };
        let class = if node.bad { "node bad" } else { "node" };
        for radius in borders {
            self.shapes += &rect(class, (x, y), (core.0 + radius, core.1 + radius), *radius);
        }
        self.reach((x, y), (core.0 + RADIUS, core.1 + RADIUS));
        let lines = shown(node);
        let hint = if lines.contains(&node.label) { "" } else { &node.label };
        self.texts.extend(["<g>", &titled(hint)]);
        self.write("name", (x, y), &lines);
        self.texts += "</g>\n";
    }

    /// Writes lines of text around a point.
    fn write(&mut self, class: &str, middle: Point, lines: &[String]) {
        let mut y = middle.1 - (size(lines).1 - LINE) / 2.0;
        for line in lines {
            self.texts += &text(class, (middle.0, y), line);
            y += LINE;
        }
    }

    fn write_label(&mut self, middle: Point, edge: &Edge, hint: &str) {
        let lines = wrapped(&edge.labels);
        if lines.is_empty() {
            return;
        }
        let (width, height) = size(&lines);
        let half = (width / 2.0 + 2.0, height / 2.0);
        self.reach(middle, half);
        self.texts.extend(["<g>", &titled(hint), &rect("paper", middle, half, 0.0)]);
        self.write(if edge.marked { "marked" } else { "label" }, middle, &lines);
        self.texts += "</g>\n";
    }

    fn reach(&mut self, middle: Point, half: Point) {
        self.low = (self.low.0.min(middle.0 - half.0), self.low.1.min(middle.1 - half.1));
        self.high = (self.high.0.max(middle.0 + half.0), self.high.1.max(middle.1 + half.1));
    }

    fn finish(mut self, title: &str) -> String {
        if !title.is_empty() {
            let (width, height) = size(&[title]);
            let middle = (self.low.0 + width / 2.0, self.low.1 - height);
            self.reach(middle, (width / 2.0, height / 2.0));
            self.texts += &(text("title", middle, title) + "\n");
        }
        let SvgCanvas { shapes, texts, low, high } = self;
        let half = ((high.0 - low.0) / 2.0 + MARGIN, (high.1 - low.1) / 2.0 + MARGIN);
        let (x, y, width, height) = (low.0 - MARGIN, low.1 - MARGIN, 2.0 * half.0, 2.0 * half.1);
        [
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img""#,
            &format!(r#" width="{width:.0}" height="{height:.0}" viewBox="{x:.1} {y:.1} {width:.1} {height:.1}">"#),
            &titled(title),
            "<style>",
            STYLE,
            "</style>\n",
            &head("picture-head", "head"),
            &head("picture-head-marked", "head marked"),
            &rect("paper", (x + half.0, y + half.1), half, 0.0),
            "\n",
            &shapes,
            &texts,
            "</svg>\n",
        ]
        .concat()
    }
}

fn rect(class: &str, (x, y): Point, half: Point, radius: f64) -> String {
    let (x, y, width, height) = (x - half.0, y - half.1, 2.0 * half.0, 2.0 * half.1);
    let round = if radius > 0.0 { format!(r#" rx="{radius:.1}""#) } else { String::new() };
    format!(r#"<rect class="{class}" x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}"{round}/>"#)
}

fn text(class: &str, (x, y): Point, text: &str) -> String {
    // Half the height of a letter below the middle.
    format!(r#"<text class="{class}" x="{x:.1}" y="{:.1}">{}</text>"#, y + 4.5, escaped(text))
}

/// Draws the head of an arrow. The line of the arrow ends `ARROW` before its target.
fn head(id: &str, class: &str) -> String {
    let size = format!(r#"markerWidth="{ARROW}" markerHeight="{ARROW}" refY="4" markerUnits="userSpaceOnUse""#);
    format!(r#"<marker id="{id}" orient="auto" {size}><path class="{class}" d="M0,0 L{ARROW},4 L0,8 z"/></marker>"#)
}

/// Formats the tooltip of a shape.
fn titled(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(hint)) }
}

/// Escapes a text for XML, which cannot contain control characters.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if !is_printable(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

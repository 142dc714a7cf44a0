//! Draws the parts of the chart: axes, lines, the area between the searches, marks and the legend.

use super::scale::{Scale, brief, ratio, round_step, value};
use super::{BOTTOM, Chart, HEIGHT, LEFT, RIGHT, TOP, WIDTH};
use crate::pictures::svg::escaped;
use cuba::{Count, Level, Pause};
use std::fmt::Write as _;

/// Below this height there is no space for numbers.
const FLOOR: f64 = HEIGHT - BOTTOM - 20.0;

/// A line with more points than this has no dots.
const DOTS: usize = 60;
/// The points of a line have numbers if there are at most this many.
const NUMBERS: usize = 14;

/// The width for the name of a rung.
const NAME: f64 = 74.0;

/// Draws a chart.
pub(super) struct ChartCanvas<'c> {
    chart: &'c Chart,
    scale: Scale,
    /// The right end of the levels, and the left end of the rungs.
    middle: (f64, f64),
}

impl<'c> ChartCanvas<'c> {
    pub(super) fn new(chart: &'c Chart) -> Self {
        let (levels, rungs) = (chart.levels.len(), chart.rungs.len());
        // The names of rungs need more space than numbers.
        let share = if rungs == 0 { 0.0 } else { ratio(rungs, levels + rungs).clamp(0.12, 0.5) };
        let width = WIDTH - LEFT - RIGHT;
        let end = LEFT + width - (width * share).max((NAME * ratio(rungs, 1)).min(width / 2.0));
        let room = if rungs == 0 { 12.0 } else { 40.0 } + if chart.last >= levels { 24.0 } else { 0.0 };
        ChartCanvas { chart, scale: Scale::new(&chart.counts()), middle: (end - room, end + 30.0) }
    }

    fn x(&self, k: usize) -> f64 {
        let (start, end) = (LEFT + 18.0, self.middle.0);
        start + (end - start) * ratio(k, self.most())
    }

    /// Returns the last k on the axis.
    fn most(&self) -> usize {
        self.chart.levels.len().saturating_sub(1).max(self.chart.bad.unwrap_or(0))
    }

    /// Returns the position of a rung. The first rung is at the right edge.
    fn x_of_rung(&self, number: usize) -> f64 {
        let (start, end) = (self.middle.1, WIDTH - RIGHT);
        end - (end - start) * ratio(number, (self.chart.rungs.len() - 1).max(1))
    }

    fn y(&self, count: Count) -> f64 {
        self.scale.y(value(count))
    }

    pub(super) fn axes(&self, out: &mut String) {
        let (bottom, end) = (HEIGHT - BOTTOM, WIDTH - RIGHT + 12.0);
        for (tick, name) in self.scale.ticks() {
            let y = self.scale.y(tick);
            let _ = writeln!(out, r#"<path class="grid" d="M{LEFT},{y:.1} H{end}"/>"#);
            let name = escaped(&name);
            let _ = writeln!(
                out,
                r#"<text class="tick" x="{}" y="{:.1}" text-anchor="end">{name}</text>"#,
                LEFT - 8.0,
                y + 4.0
            );
        }
        let _ = writeln!(out, r#"<path class="axis" d="M{LEFT},{bottom} H{end}"/>"#);
        let every = round_step(self.most());
        for k in (0..=self.most()).step_by(every) {
            let x = self.x(k);
            let _ =
                writeln!(out, r#"<text class="tick" x="{x:.1}" y="{}" text-anchor="middle">{k}</text>"#, bottom + 18.0);
        }
        let (x, y) = (f64::midpoint(LEFT + 18.0, self.middle.0), bottom + 42.0);
        let _ = writeln!(out, r#"<text class="quiet" x="{x:.1}" y="{y}" text-anchor="middle">contexts k →</text>"#);
        if self.chart.last > self.most() {
            let (x, y, last) = (self.middle.0 + 14.0, bottom + 18.0, self.chart.last);
            let _ = writeln!(out, r#"<text class="tick" x="{x:.1}" y="{y}">… {last}</text>"#);
        }
        let rungs = self.chart.rungs.len();
        if rungs == 0 {
            return;
        }
        // If there is not enough space, only some rungs have names.
        let room = (WIDTH - RIGHT - self.middle.1) / ratio((rungs - 1).max(1), 1);
        let every = (1..rungs).find(|&every| room * ratio(every, 1) >= NAME - 12.0).unwrap_or(rungs);
        for (number, (rung, _)) in self.chart.rungs.iter().enumerate() {
            let (x, y) = (self.x_of_rung(number), bottom + 18.0);
            if number.is_multiple_of(every) && number + every < rungs || number + 1 == rungs {
                let _ = writeln!(out, r#"<text class="tick" x="{x:.1}" y="{y}" text-anchor="middle">{rung}</text>"#);
            }
        }
        let x = f64::midpoint(self.middle.1, WIDTH - RIGHT);
        let _ =
            writeln!(out, r#"<text class="quiet" x="{x:.1}" y="{y}" text-anchor="middle">← overapproximations</text>"#);
    }

    /// Returns the points of the ceiling from left to right.
    fn ceiling(&self) -> Vec<(f64, f64)> {
        let chart = self.chart;
        let levels = chart.levels.iter().filter_map(|level| Some((self.x(level.k), self.y(level.upper?.0))));
        let rungs = chart.rungs.iter().enumerate().rev().map(|(i, &(_, left))| (self.x_of_rung(i), self.y(left)));
        levels.chain(rungs).collect()
    }

    /// Draws the area between the lower and the upper search.
    pub(super) fn between(&self, out: &mut String) {
        let (ceiling, chart) = (self.ceiling(), self.chart);
        let (Some(&(first, _)), Some(&(end, _)), Some(last)) = (ceiling.first(), ceiling.last(), chart.levels.last())
        else {
            return;
        };
        let mut floor: Vec<(f64, f64)> = chart
            .levels
            .iter()
            .map(|level| (self.x(level.k), self.y(level.visible)))
            .filter(|&(x, _)| x >= first)
            .collect();
        floor.push((end, self.y(last.visible)));
        let all = ceiling.into_iter().chain(floor.into_iter().rev());
        let _ = writeln!(out, r#"<path class="open" d="{} z"/>"#, path(all));
    }

    /// Draws the intervals in which T(R_k) does not grow.
    pub(super) fn pauses(&self, out: &mut String) {
        let [_, visible] = &self.chart.sequences;
        for (k, pause) in visible.pauses().filter(|(_, pause)| *pause != Pause::Collapse) {
            let end = (k + 1..self.chart.levels.len()).take_while(|&next| visible.at(next - 1).is_some()).last();
            let (x, end) = (self.x(k), self.x(end.unwrap_or(k)));
            let (y, height, width) = (TOP, HEIGHT - TOP - BOTTOM, (end - x).max(3.0));
            let word = if pause == Pause::Stutter { "stutter" } else { "plateau" };
            let _ = write!(out, "<g><title>{word} at k = {k}</title>");
            let _ = write!(out, r#"<rect class="pause" x="{x:.1}" y="{y}" width="{width:.1}" height="{height}"/>"#);
            if width > 30.0 {
                let (x, y) = (x + width / 2.0, HEIGHT - BOTTOM - 8.0);
                let _ = write!(out, r#"<text class="tick" x="{x:.1}" y="{y}" text-anchor="middle">{word}</text>"#);
            }
            let _ = writeln!(out, "</g>");
        }
    }

    pub(super) fn lines(&self, out: &mut String) {
        let (chart, s) = (self.chart, self.chart.letter);
        // If there were too many states, tuples continue as another line.
        for (class, name, count) in [("states", "|R_k|", STATES), ("tuples", "|S_k|", TUPLES)] {
            // The higher one of two points has its number above it, the lower one below it. Two
            // equal points have one number.
            self.line(out, (class, name), count, |level| {
                let size = count(level).filter(|&size| size != level.visible)?;
                Some(value(size) > value(level.visible) || self.y(level.visible) > FLOOR)
            });
        }
        self.line(
            out,
            ("visible", &format!("|T({s}_k)|")),
            |level| Some(level.visible),
            |level| {
                let size = STATES(level).or(TUPLES(level)).map(value);
                Some(size.is_some_and(|size| size < value(level.visible)) || self.y(level.visible) > FLOOR)
            },
        );
        let ceiling = self.ceiling();
        if ceiling.is_empty() {
            return;
        }
        let _ = writeln!(out, r#"<path class="line upper" d="{}"/>"#, path(ceiling.iter().copied()));
        if let (Some(last), Some(_)) = (chart.levels.last(), chart.rungs.first()) {
            // T(R) has at least the states of the last level.
            let (start, y, end) = (self.x(last.k), self.y(last.visible), WIDTH - RIGHT);
            let _ = writeln!(out, r#"<path class="line visible known" d="M{start:.1},{y:.1} H{end}"/>"#);
        }
        let numbered = chart.rungs.len() <= NUMBERS;
        let mut before = None;
        for (number, (rung, left)) in chart.rungs.iter().enumerate() {
            let (x, y) = (self.x_of_rung(number), self.y(*left));
            let _ = write!(out, "<g><title>{rung}: {left} visible states are left</title>");
            let _ = write!(out, r#"<path class="upper" d="M{x:.1},{y:.1} m-5,-4 h10 l-5,9 z"/>"#);
            if numbered && before != Some(*left) {
                let y = y - 9.0;
                let _ = write!(
                    out,
                    r#"<text class="number upper" x="{x:.1}" y="{y:.1}" text-anchor="middle">{}</text>"#,
                    brief(*left)
                );
            }
            before = Some(*left);
            let _ = writeln!(out, "</g>");
        }
    }

    /// Draws a line with dots and their numbers, if there are not too many. `above` tells whether a
    /// number is above its dot, below it, or omitted.
    fn line(
        &self,
        out: &mut String,
        (class, name): (&str, &str),
        count: impl Fn(&Level) -> Option<Count>,
        above: impl Fn(&Level) -> Option<bool>,
    ) {
        let points: Vec<(&Level, Count)> =
            self.chart.levels.iter().filter_map(|level| Some((level, count(level)?))).collect();
        if points.is_empty() {
            return;
        }
        let places = points.iter().map(|&(level, count)| (self.x(level.k), self.y(count)));
        let _ = writeln!(out, r#"<path class="line {class}" d="{}"/>"#, path(places));
        if points.len() > DOTS {
            return;
        }
        for (level, count) in points {
            let (x, y) = (self.x(level.k), self.y(count));
            let _ = write!(out, "<g><title>k = {}: {name} = {count}</title>", level.k);
            let _ = write!(out, r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="3.6"/>"#);
            if let Some(above) = above(level).filter(|_| self.chart.levels.len() <= NUMBERS) {
                let (y, count) = (y + if above { -9.0 } else { 18.0 }, brief(count));
                let _ = write!(
                    out,
                    r#"<text class="number {class}" x="{x:.1}" y="{y:.1}" text-anchor="middle">{count}</text>"#
                );
            }
            let _ = writeln!(out, "</g>");
        }
    }

    /// Draws the marks for collapses, for the bad state, and for the proof.
    pub(super) fn marks(&self, out: &mut String) {
        let s = self.chart.letter;
        let [lower, visible] = &self.chart.sequences;
        let marks = [
            ("bad", self.chart.bad, "a bad state is reached".to_owned()),
            ("collapse", visible.collapse(), format!("T({s}_k) collapses")),
            ("collapse", lower.collapse(), format!("{s}_k collapses")),
        ];
        for (row, (class, k, what)) in (0_u8..).zip(marks) {
            let Some(k) = k else { continue };
            Self::mark(out, (class, self.x(k)), row.max(1) - 1, &format!("{what} at k = {k}"));
        }
        if self.chart.is_proved_by_rung {
            let x = self.x_of_rung(self.chart.rungs.len() - 1);
            Self::mark(out, ("collapse", x), 1, "no bad state is left: safe");
        }
    }

    /// Draws a dashed line from top to bottom with its label.
    fn mark(out: &mut String, (class, x): (&str, f64), row: u8, what: &str) {
        let y = TOP - 38.0 + 14.0 * f64::from(row);
        let _ = writeln!(out, r#"<path class="line {class} known" d="M{x:.1},{} V{}"/>"#, y + 5.0, HEIGHT - BOTTOM);
        let (anchor, x) = if x > WIDTH / 2.0 { ("end", x + 4.0) } else { ("start", x - 4.0) };
        let _ =
            writeln!(out, r#"<text class="number {class}" x="{x:.1}" y="{y}" text-anchor="{anchor}">{what}</text>"#);
    }

    pub(super) fn legend(&self, out: &mut String) {
        let (chart, s) = (self.chart, self.chart.letter);
        let has = |count: fn(&Level) -> Option<Count>| chart.levels.iter().any(|level| count(level).is_some());
        let mut entries = Vec::new();
        entries.extend((has(STATES) || s == 'R').then(|| ("states", "|R_k|, states".to_owned())));
        entries.extend(has(TUPLES).then(|| ("tuples", "|S_k|, tuples".to_owned())));
        entries.push(("visible", format!("|T({s}_k)|, visible states")));
        if !self.ceiling().is_empty() {
            entries.push(("upper", "|T(R)| ≤, upper bound".to_owned()));
        }
        let mut x = LEFT;
        for (class, name) in entries {
            let _ = write!(out, r#"<path class="line {class}" d="M{x:.1},44 h22"/>"#);
            let _ = writeln!(out, r#"<text class="number" x="{:.1}" y="48">{name}</text>"#, x + 28.0);
            x += 46.0 + 7.0 * ratio(name.chars().count(), 1);
        }
        if self.scale.is_logarithmic {
            let _ = writeln!(out, r#"<text class="quiet number" x="{x:.1}" y="48">(logarithmic)</text>"#);
        }
    }
}

/// The sizes of a level: states, or tuples.
const STATES: fn(&Level) -> Option<Count> = |level| level.reachable;
const TUPLES: fn(&Level) -> Option<Count> = |level| level.tuples;

/// Formats a line through points.
fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    format!("M{}", points.join(" L"))
}

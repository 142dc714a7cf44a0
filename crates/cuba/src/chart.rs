//! The squeeze as a picture: |R_k| and |T(R_k)| climb with k from the left, and what the overapproximations leave comes down from
//! the right. What is between the two is not known; where they meet, T(R) is.

use crate::engine::analysis::{Conclusion, Level, Proof};
use crate::engine::{Climbed, Count, ObservationSequence, Outcome, Pause};
use crate::explore::Explored;
use crate::picture::escaped;
use std::fmt::Write as _;

const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 458.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 52.0;
const TOP: f64 = 108.0;
const BOTTOM: f64 = 62.0;

/// Below this height there is no room for numbers.
const FLOOR: f64 = HEIGHT - BOTTOM - 20.0;

/// Of more points than this, each is part of a line only.
const DOTS: usize = 60;
/// Of no more points than this, each has its number beside it.
const NUMBERS: usize = 14;

/// The room for the name of a rung.
const NAME: f64 = 74.0;

const STYLE: &str = "
.chart{font:13px system-ui,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}
.chart .paper{fill:#fff}
.chart text{fill:#1f2328}
.chart .quiet,.chart .tick{fill:#57606a}
.chart .tick,.chart .number{font-size:11px}
.chart .grid{stroke:#d0d7de;stroke-width:1}
.chart .axis{stroke:#57606a;stroke-width:1.2}
.chart .line{fill:none;stroke-width:2.2;stroke-linejoin:round}
.chart .open{fill:#c2410c;opacity:.09}
.chart .pause{fill:#57606a;opacity:.13}
.chart .states{stroke:#6e7781;fill:#6e7781}
.chart .visible{stroke:#0969da;fill:#0969da}
.chart .upper{stroke:#c2410c;fill:#c2410c}
.chart .line.states,.chart .line.visible,.chart .line.upper{fill:none}
.chart .known{stroke-dasharray:5 4;stroke-width:1.5}
.chart .collapse{stroke:#1a7f37;fill:#1a7f37}
.chart .bad{stroke:#cf222e;fill:#cf222e}
.chart text.states,.chart text.visible,.chart text.upper,.chart text.collapse,.chart text.bad{stroke:none}
@media (prefers-color-scheme:dark){
.chart .paper{fill:#0d1117}
.chart text{fill:#e6edf3}
.chart .quiet,.chart .tick{fill:#9198a1}
.chart .grid{stroke:#2a313c}
.chart .axis{stroke:#9198a1}
.chart .open{fill:#fb923c;opacity:.12}
.chart .pause{fill:#9198a1;opacity:.2}
.chart .states{stroke:#9198a1;fill:#9198a1}
.chart .visible{stroke:#58a6ff;fill:#58a6ff}
.chart .upper{stroke:#fb923c;fill:#fb923c}
.chart .collapse{stroke:#3fb950;fill:#3fb950}
.chart .bad{stroke:#ff7b72;fill:#ff7b72}
}
";

/// What is drawn.
pub(crate) struct Chart {
    title: String,
    /// R or S.
    levels: char,
    below: Vec<Level>,
    /// What is left after each rung, in the order in which they were taken; those that were given up are left out.
    above: Vec<(String, Count)>,
    sequences: [ObservationSequence; 2],
    /// The k at which a bad state is reached; there may be no level then.
    bad: Option<usize>,
    /// Whether the last rung leaves no bad state.
    is_safe_above: bool,
    /// The last k that was explored; levels after those drawn have nothing new to see.
    last: usize,
}

/// So many levels are drawn in any case.
const FEW: usize = 24;

impl Chart {
    pub(crate) fn new(file: &str, explored: &Explored<'_>) -> Self {
        let analysis = &explored.analysis;
        let left = |climbed: &Climbed| match climbed.outcome {
            Outcome::Bound(bound) => Some((climbed.rung.to_string(), bound.left)),
            Outcome::TooManyTuples(_) | Outcome::TooLarge => None,
        };
        let growth = analysis.levels.iter().rev().find(|level| level.new_visible != Count::ZERO).map_or(0, |it| it.k);
        let drawn = (2 * growth).max(FEW);
        Chart {
            title: file.to_owned(),
            levels: explored.levels(),
            below: analysis.levels.iter().take(drawn + 1).copied().collect(),
            above: analysis.rungs.iter().filter_map(left).collect(),
            sequences: [analysis.lower_sequence.clone(), analysis.visible_sequence.clone()],
            bad: match &analysis.conclusion {
                Conclusion::Unsafe { trace, .. } => Some(trace.contexts.len()),
                _ => None,
            },
            is_safe_above: matches!(analysis.conclusion, Conclusion::Safe(Proof::Bounded(_))),
            last: analysis.k(),
        }
    }

    /// The chart as an SVG file.
    pub(crate) fn svg(&self) -> String {
        let sheet = Sheet::new(self);
        let mut out = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">"#
        );
        let _ = write!(out, "<title>{}</title><style>{STYLE}</style>", escaped(&self.summary()));
        let _ = writeln!(out, r#"<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>"#);
        let _ = writeln!(out, r#"<text x="{LEFT}" y="24" font-weight="600">{}</text>"#, escaped(&self.title));
        sheet.axes(&mut out);
        sheet.between(&mut out);
        sheet.pauses(&mut out);
        sheet.lines(&mut out);
        sheet.marks(&mut out);
        sheet.legend(&mut out);
        out + "</svg>\n"
    }

    /// What can be seen, for those who cannot see it.
    fn summary(&self) -> String {
        let Some(last) = self.below.last() else { return "An initial state is bad".to_owned() };
        let mut out = format!("For k = 0 to {}, |T({}_k)| climbs to {}", self.last, self.levels, last.visible);
        if let Some((rung, left)) = self.above.last() {
            let _ = write!(out, "; the overapproximations up to {rung} leave {left} visible states");
        }
        out
    }

    /// What the levels are made of: states, or tuples.
    fn size(level: &Level) -> Option<Count> {
        level.reachable.or(level.tuples)
    }
}

/// Where everything goes.
struct Sheet<'c> {
    chart: &'c Chart,
    scale: Scale,
    /// Where the levels end, and where the rungs begin.
    middle: (f64, f64),
}

/// Numbers as heights.
struct Scale {
    low: f64,
    high: f64,
    is_logarithmic: bool,
}

/// As a number to draw; what has more than 128 bits is drawn at the upper edge.
#[expect(clippy::cast_precision_loss, reason = "a pixel is coarser")]
fn value(count: Count) -> f64 {
    count.exact().unwrap_or(u128::MAX) as f64
}

#[expect(clippy::cast_precision_loss, reason = "a pixel is coarser")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl Scale {
    fn new(chart: &Chart) -> Self {
        let below = chart.below.iter().flat_map(|level| {
            [Chart::size(level), Some(level.visible), level.upper.map(|(left, _)| left)].into_iter().flatten()
        });
        let values: Vec<f64> = below.chain(chart.above.iter().map(|&(_, left)| left)).map(value).collect();
        let high = values.iter().copied().fold(1.0, f64::max);
        let low = values.iter().copied().fold(high, f64::min).max(1.0);
        if high / low > 20.0 {
            // Whole powers of ten.
            Scale { low: low.log10().floor(), high: (high * 1.02).log10().ceil(), is_logarithmic: true }
        } else {
            let step = Self::step(high);
            Scale { low: 0.0, high: (high * 1.05 / step).ceil() * step, is_logarithmic: false }
        }
    }

    /// A round distance of ticks.
    fn step(high: f64) -> f64 {
        let power = 10_f64.powf((high / 5.0).log10().floor().max(0.0));
        [1.0, 2.0, 5.0, 10.0].map(|step| step * power).into_iter().find(|step| high / step <= 6.0).unwrap_or(power)
    }

    fn y(&self, value: f64) -> f64 {
        let place = if self.is_logarithmic { value.max(1.0).log10() } else { value };
        let part = (place - self.low) / (self.high - self.low);
        TOP + (1.0 - part.clamp(0.0, 1.0)) * (HEIGHT - TOP - BOTTOM)
    }

    /// The values that get a line across, with their names.
    fn ticks(&self) -> Vec<(f64, String)> {
        let mut ticks = Vec::new();
        if self.is_logarithmic {
            let every = ((self.high - self.low) / 8.0).ceil().max(1.0);
            let mut power = self.low;
            while power <= self.high {
                let name = if power < 6.0 { format!("{}", 10_f64.powf(power)) } else { format!("10^{power}") };
                ticks.push((10_f64.powf(power), name));
                power += every;
            }
        } else {
            let step = Self::step(self.high);
            let mut tick = 0.0;
            while tick <= self.high {
                ticks.push((tick, tick.to_string()));
                tick += step;
            }
        }
        ticks
    }
}

impl<'c> Sheet<'c> {
    fn new(chart: &'c Chart) -> Self {
        let (below, above) = (chart.below.len(), chart.above.len());
        // Rungs have names, and need more room than numbers.
        let share = if above == 0 { 0.0 } else { ratio(above, below + above).clamp(0.12, 0.5) };
        let width = WIDTH - LEFT - RIGHT;
        let end = LEFT + width - (width * share).max((NAME * ratio(above, 1)).min(width / 2.0));
        let room = if above == 0 { 12.0 } else { 40.0 } + if chart.last >= below { 24.0 } else { 0.0 };
        Sheet { chart, scale: Scale::new(chart), middle: (end - room, end + 30.0) }
    }

    fn x(&self, k: usize) -> f64 {
        let (start, end) = (LEFT + 18.0, self.middle.0);
        start + (end - start) * ratio(k, self.most())
    }

    /// The last k that there is room for.
    fn most(&self) -> usize {
        self.chart.below.len().saturating_sub(1).max(self.chart.bad.unwrap_or(0))
    }

    /// The first rung is at the right edge.
    fn x_of_rung(&self, number: usize) -> f64 {
        let (start, end) = (self.middle.1, WIDTH - RIGHT);
        end - (end - start) * ratio(number, (self.chart.above.len() - 1).max(1))
    }

    fn y(&self, count: Count) -> f64 {
        self.scale.y(value(count))
    }

    fn axes(&self, out: &mut String) {
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
        let rungs = self.chart.above.len();
        if rungs == 0 {
            return;
        }
        // Where there is not enough room for all names, for some of them.
        let room = (WIDTH - RIGHT - self.middle.1) / ratio((rungs - 1).max(1), 1);
        let every = (1..rungs).find(|&every| room * ratio(every, 1) >= NAME - 12.0).unwrap_or(rungs);
        for (number, (rung, _)) in self.chart.above.iter().enumerate() {
            let (x, y) = (self.x_of_rung(number), bottom + 18.0);
            if number.is_multiple_of(every) && number + every < rungs || number + 1 == rungs {
                let _ = writeln!(out, r#"<text class="tick" x="{x:.1}" y="{y}" text-anchor="middle">{rung}</text>"#);
            }
        }
        let x = f64::midpoint(self.middle.1, WIDTH - RIGHT);
        let _ =
            writeln!(out, r#"<text class="quiet" x="{x:.1}" y="{y}" text-anchor="middle">← overapproximations</text>"#);
    }

    /// From left to right, what is known from above.
    fn ceiling(&self) -> Vec<(f64, f64)> {
        let chart = self.chart;
        let levels = chart.below.iter().filter_map(|level| Some((self.x(level.k), self.y(level.upper?.0))));
        let rungs = chart.above.iter().enumerate().rev().map(|(i, &(_, left))| (self.x_of_rung(i), self.y(left)));
        levels.chain(rungs).collect()
    }

    /// What is between the two ends.
    fn between(&self, out: &mut String) {
        let (ceiling, chart) = (self.ceiling(), self.chart);
        let (Some(&(first, _)), Some(&(end, _)), Some(last)) = (ceiling.first(), ceiling.last(), chart.below.last())
        else {
            return;
        };
        let mut floor: Vec<(f64, f64)> = chart
            .below
            .iter()
            .map(|level| (self.x(level.k), self.y(level.visible)))
            .filter(|&(x, _)| x >= first)
            .collect();
        floor.push((end, self.y(last.visible)));
        let all = ceiling.into_iter().chain(floor.into_iter().rev());
        let _ = writeln!(out, r#"<path class="open" d="{} z"/>"#, path(all));
    }

    /// Where T(R_k) does not grow although it grows later.
    fn pauses(&self, out: &mut String) {
        let [_, visible] = &self.chart.sequences;
        for (k, pause) in visible.pauses().filter(|(_, pause)| *pause != Pause::Collapse) {
            let end = (k + 1..self.chart.below.len()).take_while(|&next| visible.at(next - 1).is_some()).last();
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

    fn lines(&self, out: &mut String) {
        let (chart, s) = (self.chart, self.chart.levels);
        let sizes: Vec<(usize, Count)> =
            chart.below.iter().filter_map(|level| Some((level.k, Chart::size(level)?))).collect();
        let visible: Vec<(usize, Count)> = chart.below.iter().map(|level| (level.k, level.visible)).collect();
        // The number of the higher one of two points is above it, that of the lower one below it; of two in one place, there is one.
        let heights: Vec<Option<f64>> = chart.below.iter().map(|level| Chart::size(level).map(value)).collect();
        let size_above = |k: usize| heights[k].is_some_and(|size| size > value(chart.below[k].visible));
        let same = |k: usize| heights[k] == Some(value(chart.below[k].visible));
        self.line(out, ("states", &format!("|{s}_k|")), &sizes, |k| (!same(k)).then(|| size_above(k)));
        self.line(out, ("visible", &format!("|T({s}_k)|")), &visible, |k| {
            Some(heights[k].is_some() && !size_above(k) && !same(k) || self.y(chart.below[k].visible) > FLOOR)
        });
        let ceiling = self.ceiling();
        if ceiling.is_empty() {
            return;
        }
        let _ = writeln!(out, r#"<path class="line upper" d="{}"/>"#, path(ceiling.iter().copied()));
        if let (Some(last), Some(_)) = (chart.below.last(), chart.above.first()) {
            // What is reached stays reached.
            let (start, y, end) = (self.x(last.k), self.y(last.visible), WIDTH - RIGHT);
            let _ = writeln!(out, r#"<path class="line visible known" d="M{start:.1},{y:.1} H{end}"/>"#);
        }
        let numbered = chart.above.len() <= NUMBERS;
        let mut before = None;
        for (number, (rung, left)) in chart.above.iter().enumerate() {
            let (x, y) = (self.x_of_rung(number), self.y(*left));
            let _ = write!(out, "<g><title>{rung}: {left} visible states are left</title>");
            let _ = write!(out, r#"<path class="upper" d="M{x:.1},{y:.1} m-5,-4 h10 l-5,9 z"/>"#);
            if numbered && before != Some(*left) {
                let y = y - 9.0;
                let _ = write!(
                    out,
                    r#"<text class="number upper" x="{x:.1}" y="{y:.1}" text-anchor="middle">{left}</text>"#
                );
            }
            before = Some(*left);
            let _ = writeln!(out, "</g>");
        }
    }

    /// A line with dots, if they are not too many, and their numbers: above, or else below, or not at all.
    fn line(
        &self,
        out: &mut String,
        (class, name): (&str, &str),
        points: &[(usize, Count)],
        above: impl Fn(usize) -> Option<bool>,
    ) {
        if points.is_empty() {
            return;
        }
        let places = points.iter().map(|&(k, count)| (self.x(k), self.y(count)));
        let _ = writeln!(out, r#"<path class="line {class}" d="{}"/>"#, path(places));
        if points.len() > DOTS {
            return;
        }
        for &(k, count) in points {
            let (x, y) = (self.x(k), self.y(count));
            let _ = write!(out, "<g><title>k = {k}: {name} = {count}</title>");
            let _ = write!(out, r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="3.6"/>"#);
            if let Some(above) = above(k).filter(|_| points.len() <= NUMBERS) {
                let y = y + if above { -9.0 } else { 18.0 };
                let _ = write!(
                    out,
                    r#"<text class="number {class}" x="{x:.1}" y="{y:.1}" text-anchor="middle">{count}</text>"#
                );
            }
            let _ = writeln!(out, "</g>");
        }
    }

    /// Collapses, and the bug.
    fn marks(&self, out: &mut String) {
        let s = self.chart.levels;
        let [lower, visible] = &self.chart.sequences;
        let marks = [
            ("bad", self.chart.bad, "a bad state is reached".to_owned()),
            ("collapse", visible.collapse(), format!("T({s}_k) collapses")),
            ("collapse", lower.collapse(), format!("{s}_k collapses")),
        ];
        for (row, (class, k, what)) in (0_u8..).zip(marks) {
            let Some(k) = k else { continue };
            self.mark(out, (class, self.x(k)), row.max(1) - 1, &format!("{what} at k = {k}"));
        }
        if self.chart.is_safe_above {
            let x = self.x_of_rung(self.chart.above.len() - 1);
            self.mark(out, ("collapse", x), 1, "no bad state is left: safe");
        }
    }

    /// A dashed line from top to bottom, and what it means.
    fn mark(&self, out: &mut String, (class, x): (&str, f64), row: u8, what: &str) {
        let y = TOP - 38.0 + 14.0 * f64::from(row);
        let _ = writeln!(out, r#"<path class="line {class} known" d="M{x:.1},{} V{}"/>"#, y + 5.0, HEIGHT - BOTTOM);
        let (anchor, x) = if x > WIDTH / 2.0 { ("end", x + 4.0) } else { ("start", x - 4.0) };
        let _ =
            writeln!(out, r#"<text class="number {class}" x="{x:.1}" y="{y}" text-anchor="{anchor}">{what}</text>"#);
    }

    fn legend(&self, out: &mut String) {
        let (chart, s) = (self.chart, self.chart.levels);
        let size = if s == 'R' || chart.below.iter().any(|level| level.reachable.is_some()) {
            "|R_k|, states"
        } else {
            "|S_k|, tuples"
        };
        let mut entries = vec![("states", size.to_owned()), ("visible", format!("|T({s}_k)|, visible states"))];
        if !self.ceiling().is_empty() {
            entries.push(("upper", "|T(R)| ≤, what is left above".to_owned()));
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

/// The distance of numbers along k: 1, 2, 5, 10, …, so that there are not more than twenty.
fn round_step(most: usize) -> usize {
    let mut power = 1;
    loop {
        if let Some(step) = [1, 2, 5].map(|step| step * power).into_iter().find(|step| most / step < 20) {
            return step;
        }
        power *= 10;
    }
}

/// A line through points.
fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    format!("M{}", points.join(" L"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::analysis::{Options, Question, analyse};
    use std::time::Duration;

    fn chart(text: &str, question: Question, options: Options) -> String {
        let problem: cpds::Problem = text.parse().unwrap();
        let analysis = analyse(&problem, question, options, |_| ());
        let explored = Explored { problem: &problem, analysis, options, time: Duration::ZERO, made: None };
        inside(Chart::new("a < b", &explored).svg())
    }

    const FIG1: &str = include_str!("../../../models/paper/fig1.cpds");
    const MIRROR: &str = include_str!("../../../models/squeeze/mirror.cpds");
    const LOCK: &str = include_str!("../../../models/squeeze/reentrant-lock.cpds");
    const STEFAN: &str = include_str!("../../../models/paper/stefan8.cpds");

    /// Every place that is drawn is on the sheet.
    fn inside(svg: String) -> String {
        let places = svg.split([' ', 'M', 'L', '"']).filter_map(|word| word.split_once(','));
        let mut count = 0;
        for (x, y) in places.filter_map(|(x, y)| Some((x.parse::<f64>().ok()?, y.parse::<f64>().ok()?))) {
            assert!((LEFT..=WIDTH).contains(&x) && (0.0..=HEIGHT).contains(&y), "{x},{y}");
            count += 1;
        }
        for attribute in svg.split(" x=\"").skip(1) {
            let x: f64 = attribute.split('"').next().unwrap().parse().unwrap();
            assert!((0.0..=WIDTH).contains(&x), "{x}");
            count += 1;
        }
        assert!(count > 10 && svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        svg
    }

    #[test]
    fn fig1_stutters_collapses_and_meets_z() {
        let svg = chart(FIG1, Question::Visible, Options::default());
        for part in [
            "<title>For k = 0 to 5, |T(R_k)| climbs to 8; the overapproximations up to matched-Z leave 8 visible states</title>",
            "<title>k = 5: |R_k| = 14</title>",
            "<title>k = 4: |T(R_k)| = 7</title>",
            "<title>stutter at k = 2</title>",
            "T(R_k) collapses at k = 5",
            "<title>Z: 8 visible states are left</title>",
            "a &lt; b",
        ] {
            assert!(svg.contains(part), "{part}");
        }
        assert!(!svg.contains("plateau") && !svg.contains("a bad state"), "it is known to have collapsed");
    }

    #[test]
    fn the_bug_has_its_place_after_the_last_level() {
        let svg = chart(FIG1, Question::Verify, Options::default());
        assert!(svg.contains("a bad state is reached at k = 4") && svg.contains(">4</text>"), "{svg}");
    }

    #[test]
    fn an_initial_state_that_is_bad() {
        let svg = chart("shared 0\ninit 0|a\nbad 0|a\nthread T { symbols a }", Question::Verify, Options::default());
        assert!(
            svg.contains("a bad state is reached at k = 0") && svg.contains("<title>An initial state is bad</title>")
        );
    }

    #[test]
    fn a_proof_from_above_is_marked() {
        let svg = chart(LOCK, Question::Verify, Options::default());
        assert!(svg.contains("no bad state is left: safe"));
        assert!(!chart(FIG1, Question::Visible, Options::default()).contains("no bad state"));
    }

    #[test]
    fn an_open_question_has_a_plateau_and_all_its_rungs() {
        let options = Options { max_contexts: Some(12), max_depth: Some(9), ..Options::default() };
        let svg = chart(MIRROR, Question::Verify, options);
        assert!(svg.contains("<title>plateau at k = 4</title>"));
        assert_eq!(svg.matches("visible states are left</title>").count(), 12, "Z, matched-Z, A_0 to A_9");
        // What is reached, and what is left.
        assert!(svg.contains(">8</text>") && svg.contains(">10</text>"));
    }

    #[test]
    fn levels_without_news_are_left_out() {
        let svg = chart(LOCK, Question::Verify, Options { max_contexts: Some(500), ..Options::default() });
        assert!(svg.matches("|R_k| = ").count() <= FEW + 1 && !svg.contains("k = 400"));
        let last = svg.split("… ").nth(1).unwrap().split('<').next().unwrap();
        assert!(last.parse::<usize>().unwrap() > FEW, "{last}");
    }

    #[test]
    fn tuples_are_not_called_states() {
        let svg = chart(STEFAN, Question::Visible, Options::default());
        assert!(svg.contains("|S_k|, tuples") && !svg.contains("|R_k|"));
        assert!(svg.contains("(logarithmic)") && svg.contains(">100000</text>"));
    }

    #[test]
    fn ticks() {
        let scale = |high, is_logarithmic| Scale { low: 0.0, high, is_logarithmic };
        let names = |scale: Scale| scale.ticks().into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" ");
        assert_eq!(names(scale(8.0, false)), "0 2 4 6 8");
        assert_eq!(names(scale(1.0, false)), "0 1");
        assert_eq!(names(scale(40.0, false)), "0 10 20 30 40");
        assert_eq!(names(scale(3.0, true)), "1 10 100 1000");
        assert_eq!(names(scale(39.0, true)), "1 100000 10^10 10^15 10^20 10^25 10^30 10^35");
        assert_eq!([1, 19, 20, 39, 40, 99, 100, 2110].map(round_step), [1, 1, 2, 2, 5, 5, 10, 200]);
    }

    #[test]
    fn what_has_more_than_128_bits_is_at_the_upper_edge() {
        let many = value(Count::from(None));
        let scale = Scale { low: 0.0, high: many.log10().ceil(), is_logarithmic: true };
        assert!((TOP..TOP + 10.0).contains(&scale.y(many)));
        assert!(scale.y(0.0) <= HEIGHT - BOTTOM);
    }
}

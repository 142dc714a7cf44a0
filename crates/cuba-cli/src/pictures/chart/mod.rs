//! The squeeze as a picture: |R_k| and |T(R_k)| climb with k from the left, and what the
//! overapproximations leave comes down from the right. What is between the two is not known; where
//! they meet, T(R) is.

mod scale;

use crate::analysis::exploration::Exploration;
use crate::pictures::svg::escaped;
use cuba::{Conclusion, Level, Proof};
use cuba::{Count, ObservationSequence, Outcome, Pause, RungResult};
use scale::{Scale, brief, ratio, round_step, value};
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
.chart .tuples{stroke:#8250df;fill:#8250df}
.chart .visible{stroke:#0969da;fill:#0969da}
.chart .upper{stroke:#c2410c;fill:#c2410c}
.chart .line.states,.chart .line.tuples,.chart .line.visible,.chart .line.upper{fill:none}
.chart .known{stroke-dasharray:5 4;stroke-width:1.5}
.chart .collapse{stroke:#1a7f37;fill:#1a7f37}
.chart .bad{stroke:#cf222e;fill:#cf222e}
.chart text.states,.chart text.tuples,.chart text.visible,.chart text.upper,.chart text.collapse,.chart text.bad{stroke:none}
@media (prefers-color-scheme:dark){
.chart .paper{fill:#0d1117}
.chart text{fill:#e6edf3}
.chart .quiet,.chart .tick{fill:#9198a1}
.chart .grid{stroke:#2a313c}
.chart .axis{stroke:#9198a1}
.chart .open{fill:#fb923c;opacity:.12}
.chart .pause{fill:#9198a1;opacity:.2}
.chart .states{stroke:#9198a1;fill:#9198a1}
.chart .tuples{stroke:#bc8cff;fill:#bc8cff}
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
    /// What is left after each rung, in the order in which they were taken; those that were given
    /// up are left out.
    above: Vec<(String, Count)>,
    sequences: [ObservationSequence; 2],
    /// The k at which a bad state is reached; there may be no level then.
    bad: Option<usize>,
    /// Whether the last rung leaves no bad state.
    is_safe_above: bool,
    /// The last k that was explored; in levels after those drawn nothing new becomes visible.
    last: usize,
}

/// So many levels are drawn in any case.
const FEW: usize = 24;

impl Chart {
    pub(crate) fn new(file: &str, explored: &Exploration<'_>) -> Self {
        let analysis = &explored.analysis;
        let left = |climbed: &RungResult| match climbed.outcome {
            Outcome::Bound(bound) => Some((climbed.rung.to_string(), bound.left)),
            Outcome::TooManyTuples(_) | Outcome::TooManyInitial(_) | Outcome::TooLarge => None,
        };
        let growth = analysis.levels.iter().rev().find(|level| level.new_visible != Count::ZERO).map_or(0, |it| it.k);
        let collapse = analysis.lower_sequence.collapse().map_or(0, |k| k + 1);
        let drawn = (2 * growth).max(collapse).max(FEW);
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

    /// All that is drawn.
    fn counts(&self) -> Vec<Count> {
        let below = self.below.iter().flat_map(|level| {
            [level.reachable, level.tuples, Some(level.visible), level.upper.map(|(left, _)| left)]
                .into_iter()
                .flatten()
        });
        below.chain(self.above.iter().map(|&(_, left)| left)).collect()
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
}

/// Where everything goes.
struct Sheet<'c> {
    chart: &'c Chart,
    scale: Scale,
    /// Where the levels end, and where the rungs begin.
    middle: (f64, f64),
}

impl<'c> Sheet<'c> {
    fn new(chart: &'c Chart) -> Self {
        let (below, above) = (chart.below.len(), chart.above.len());
        // Rungs have names, and need more room than numbers.
        let share = if above == 0 { 0.0 } else { ratio(above, below + above).clamp(0.12, 0.5) };
        let width = WIDTH - LEFT - RIGHT;
        let end = LEFT + width - (width * share).max((NAME * ratio(above, 1)).min(width / 2.0));
        let room = if above == 0 { 12.0 } else { 40.0 } + if chart.last >= below { 24.0 } else { 0.0 };
        Sheet { chart, scale: Scale::new(&chart.counts()), middle: (end - room, end + 30.0) }
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
        // Where there were too many states, tuples come after them: another line.
        for (class, name, count) in [("states", "|R_k|", STATES), ("tuples", "|S_k|", TUPLES)] {
            // The number of the higher one of two points is above it, that of the lower one below;
            // of two in one place, there is one.
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
                    r#"<text class="number upper" x="{x:.1}" y="{y:.1}" text-anchor="middle">{}</text>"#,
                    brief(*left)
                );
            }
            before = Some(*left);
            let _ = writeln!(out, "</g>");
        }
    }

    /// A line with dots, if they are not too many, and their numbers: above, or else below, or not
    /// at all.
    fn line(
        &self,
        out: &mut String,
        (class, name): (&str, &str),
        count: impl Fn(&Level) -> Option<Count>,
        above: impl Fn(&Level) -> Option<bool>,
    ) {
        let points: Vec<(&Level, Count)> =
            self.chart.below.iter().filter_map(|level| Some((level, count(level)?))).collect();
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
            if let Some(above) = above(level).filter(|_| self.chart.below.len() <= NUMBERS) {
                let (y, count) = (y + if above { -9.0 } else { 18.0 }, brief(count));
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
            Self::mark(out, (class, self.x(k)), row.max(1) - 1, &format!("{what} at k = {k}"));
        }
        if self.chart.is_safe_above {
            let x = self.x_of_rung(self.chart.above.len() - 1);
            Self::mark(out, ("collapse", x), 1, "no bad state is left: safe");
        }
    }

    /// A dashed line from top to bottom, and what it means.
    fn mark(out: &mut String, (class, x): (&str, f64), row: u8, what: &str) {
        let y = TOP - 38.0 + 14.0 * f64::from(row);
        let _ = writeln!(out, r#"<path class="line {class} known" d="M{x:.1},{} V{}"/>"#, y + 5.0, HEIGHT - BOTTOM);
        let (anchor, x) = if x > WIDTH / 2.0 { ("end", x + 4.0) } else { ("start", x - 4.0) };
        let _ =
            writeln!(out, r#"<text class="number {class}" x="{x:.1}" y="{y}" text-anchor="{anchor}">{what}</text>"#);
    }

    fn legend(&self, out: &mut String) {
        let (chart, s) = (self.chart, self.chart.levels);
        let has = |count: fn(&Level) -> Option<Count>| chart.below.iter().any(|level| count(level).is_some());
        let mut entries = Vec::new();
        entries.extend((has(STATES) || s == 'R').then(|| ("states", "|R_k|, states".to_owned())));
        entries.extend(has(TUPLES).then(|| ("tuples", "|S_k|, tuples".to_owned())));
        entries.push(("visible", format!("|T({s}_k)|, visible states")));
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

/// What the levels are made of.
const STATES: fn(&Level) -> Option<Count> = |level| level.reachable;
const TUPLES: fn(&Level) -> Option<Count> = |level| level.tuples;

/// A line through points.
fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let points: Vec<String> = points.map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    format!("M{}", points.join(" L"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuba::{Options, Question, search};
    use std::time::Duration;

    fn chart(text: &str, question: Question, options: Options) -> String {
        let problem: cpds::Problem = text.parse().unwrap();
        let analysis = search(&problem, question, &options, |_| ());
        let explored = Exploration::new((&problem, question), analysis, options, Duration::ZERO);
        inside(Chart::new("a < b", &explored).svg())
    }

    const FIG1: &str = include_str!("../../../../../models/paper/fig1.cpds");
    const MIRROR: &str = include_str!("../../../../../models/squeeze/mirror.cpds");
    const LOCK: &str = include_str!("../../../../../models/squeeze/reentrant-lock.cpds");
    const STEFAN: &str = include_str!("../../../../../models/paper/stefan8.cpds");

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

    /// Where states do not fit into the memory, tuples go on: another line, and no fewer states.
    #[test]
    fn states_that_give_way_to_tuples() {
        let problem: cpds::Problem = FIG1.parse().unwrap();
        let options = Options::default();
        let mut analysis = search(&problem, Question::Visible, &options, |_| ());
        for level in &mut analysis.levels[4..] {
            (level.reachable, level.tuples) = (None, Some(Count::from(2)));
        }
        let explored = Exploration::new((&problem, Question::Visible), analysis, options, Duration::ZERO);
        let svg = inside(Chart::new("mixed", &explored).svg());
        assert!(svg.contains("<title>k = 3: |R_k| = 8</title>") && svg.contains("<title>k = 4: |S_k| = 2</title>"));
        assert!(!svg.contains("k = 4: |R_k|") && !svg.contains("k = 3: |S_k|"));
        assert!(svg.contains("|R_k|, states") && svg.contains("|S_k|, tuples"));
    }

    /// (R_k) collapses long after (T(R_k)).
    #[test]
    fn a_late_collapse_is_on_the_sheet() {
        let pushes: Vec<String> = (0..60).map(|i| format!("({i},a) -> ({},a a)", i + 1)).collect();
        let turns: Vec<String> = (0..61).map(|i| format!("({i},x) -> ({i},x)")).collect();
        let (pushes, turns) = (pushes.join("\n"), turns.join("\n"));
        let text =
            format!("shared 0..60\ninit 0|a,x\nthread A {{ symbols a\n{pushes}}}\nthread B {{ symbols x\n{turns}}}");
        let svg = chart(&text, Question::Reachable, Options::default());
        assert!(svg.contains("R_k collapses at k = "), "{svg}");
        assert!(
            svg.split("d=\"M").skip(1).all(|d| d.split(',').next().unwrap().parse::<f64>().unwrap_or(0.0) <= WIDTH)
        );
    }
}

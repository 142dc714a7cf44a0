//! The chart of the squeeze: |R_k| and |T(R_k)| grow with k from the left, and the ceiling of the
//! overapproximations falls from the right. The area between is not known. Where they meet, T(R) is
//! known.
//!
//! In: an analysis. Out: SVG. `scale.rs` maps numbers to heights, and `canvas.rs` draws.

mod canvas;
mod scale;

use crate::analysis::exploration::Exploration;
use crate::pictures::svg::escaped;
use canvas::ChartCanvas;
use cuba::{Conclusion, Count, Level, ObservationSequence, Outcome, Proof, RungResult};
use std::fmt::Write as _;

const WIDTH: f64 = 920.0;
const HEIGHT: f64 = 458.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 52.0;
const TOP: f64 = 108.0;
const BOTTOM: f64 = 62.0;

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

/// The values in a chart.
pub(crate) struct Chart {
    title: String,
    /// R or S.
    letter: char,
    levels: Vec<Level>,
    /// The name of each rung and the size of the ceiling after it. Rungs that were given up are
    /// omitted.
    rungs: Vec<(String, Count)>,
    sequences: [ObservationSequence; 2],
    /// The k at which a bad state is reached. There may be no level for it.
    bad: Option<usize>,
    /// Whether the last rung leaves no bad state.
    is_proved_by_rung: bool,
    /// The last k that was explored. It may be larger than that of the last level in the chart.
    last: usize,
}

/// At least this many levels are drawn.
const FEW: usize = 24;

impl Chart {
    pub(crate) fn new(file: &str, explored: &Exploration<'_>) -> Self {
        let analysis = &explored.analysis;
        let left = |result: &RungResult| match result.outcome {
            Outcome::Bound(bound) => Some((result.rung.to_string(), bound.left)),
            Outcome::TooManyTuples(_) | Outcome::TooManyInitial(_) | Outcome::TooLarge => None,
        };
        let growth = analysis.levels.iter().rev().find(|level| level.new_visible != Count::ZERO).map_or(0, |it| it.k);
        let collapse = analysis.lower_sequence.collapse().map_or(0, |k| k + 1);
        let shown = (2 * growth).max(collapse).max(FEW);
        Chart {
            title: file.to_owned(),
            letter: explored.level_letter(),
            levels: analysis.levels.iter().take(shown + 1).copied().collect(),
            rungs: analysis.rungs.iter().filter_map(left).collect(),
            sequences: [analysis.lower_sequence.clone(), analysis.visible_sequence.clone()],
            bad: match &analysis.conclusion {
                Conclusion::Unsafe { trace, .. } => Some(trace.contexts.len()),
                _ => None,
            },
            is_proved_by_rung: matches!(analysis.conclusion, Conclusion::Safe(Proof::Bounded(_))),
            last: analysis.k(),
        }
    }

    /// Draws the chart as an SVG file.
    pub(crate) fn svg(&self) -> String {
        let canvas = ChartCanvas::new(self);
        let mut out = format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}">"#
        );
        let _ = write!(out, "<title>{}</title><style>{STYLE}</style>", escaped(&self.summary()));
        let _ = writeln!(out, r#"<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>"#);
        let _ = writeln!(out, r#"<text x="{LEFT}" y="24" font-weight="600">{}</text>"#, escaped(&self.title));
        canvas.axes(&mut out);
        canvas.between(&mut out);
        canvas.pauses(&mut out);
        canvas.lines(&mut out);
        canvas.marks(&mut out);
        canvas.legend(&mut out);
        out + "</svg>\n"
    }

    /// Collects all values of the chart.
    fn counts(&self) -> Vec<Count> {
        let levels = self.levels.iter().flat_map(|level| {
            [level.reachable, level.tuples, Some(level.visible), level.upper.map(|(left, _)| left)]
                .into_iter()
                .flatten()
        });
        levels.chain(self.rungs.iter().map(|&(_, left)| left)).collect()
    }

    /// Describes the chart for screen readers.
    fn summary(&self) -> String {
        let Some(last) = self.levels.last() else { return "An initial state is bad".to_owned() };
        let mut out = format!("For k = 0 to {}, |T({}_k)| climbs to {}", self.last, self.letter, last.visible);
        if let Some((rung, left)) = self.rungs.last() {
            let _ = write!(out, "; the overapproximations up to {rung} leave {left} visible states");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuba::{Options, Question, search_unchecked};
    use std::time::Duration;

    fn chart(text: &str, question: Question, options: Options) -> String {
        let problem: cpds::Problem = text.parse().unwrap();
        let analysis = search_unchecked(&problem, question, &options, |_| ());
        let explored = Exploration::new((&problem, question), analysis, options, Duration::ZERO);
        inside(Chart::new("a < b", &explored).svg())
    }

    const FIG1: &str = include_str!("../../../../../models/paper/fig1.cpds");
    const MIRROR: &str = include_str!("../../../../../models/squeeze/mirror.cpds");
    const LOCK: &str = include_str!("../../../../../models/squeeze/reentrant-lock.cpds");
    const STEFAN: &str = include_str!("../../../../../models/paper/stefan8.cpds");

    /// Checks that every point is inside the chart.
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
        // The reached states, and the ceiling.
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

    /// If states do not fit into the memory, tuples continue as another line. The states stay in
    /// the chart.
    #[test]
    fn states_that_give_way_to_tuples() {
        let problem: cpds::Problem = FIG1.parse().unwrap();
        let options = Options::default();
        let mut analysis = search_unchecked(&problem, Question::Visible, &options, |_| ());
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

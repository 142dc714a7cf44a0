//! The progress of an analysis in up to three lines. They depend only on events and the time.

use crate::text::numbers::{bytes, clock, grouped, short};
use crate::text::overapproximations::outcome_words;
use cuba::{Count, Engine, Event, Level, LevelProgress, Outcome, Rung, RungResult};
use std::fmt::Write as _;
use std::time::Duration;

/// The first phase of an analysis, before its first event.
pub(crate) const FCR: &str = "deciding finite context reachability";

/// The interval at which the lines are drawn. A speed is measured over a longer time.
pub(crate) const TICK: Duration = Duration::from_millis(100);

/// The latest events of the lower and the upper search.
pub(crate) struct ProgressLines {
    /// The current activity, if neither search is running.
    pub(crate) activity: Option<String>,
    level: Option<Level>,
    level_progress: Option<LevelProgress>,
    speed: Speed,
    /// The current rung and its progress.
    rung: Option<(Rung, String)>,
    /// The size of the ceiling, and the rung that last ruled something out.
    ceiling: Option<(Count, Rung)>,
    /// The limit for tables, and their sizes: those of the lower search, of its states if it has
    /// changed to tuples, and of the upper search.
    memory: usize,
    bytes: usize,
    bytes_states: usize,
    bytes_upper: usize,
}

impl ProgressLines {
    pub(crate) fn new(activity: &str, memory: usize) -> Self {
        ProgressLines {
            activity: Some(activity.to_owned()),
            level: None,
            level_progress: None,
            speed: Speed::default(),
            rung: None,
            ceiling: None,
            memory,
            bytes: 0,
            bytes_states: 0,
            bytes_upper: 0,
        }
    }

    pub(crate) fn add_event(&mut self, event: &Event, at: Duration) {
        self.activity = None;
        match event {
            Event::Fcr(_) => {}
            Event::Level(level) => self.level = Some(*level),
            Event::Exploring(level_progress) => {
                if self.level_progress.is_some_and(|before| before.engine != level_progress.engine) {
                    self.bytes_states = std::mem::take(&mut self.bytes);
                    self.speed = Speed::default();
                }
                self.speed.observe(level_progress.kept, at);
                self.bytes = level_progress.bytes;
                self.level_progress = Some(*level_progress);
            }
            Event::Overapproximating { rung, states, bytes } => {
                self.rung = Some((*rung, format!("{} kept", grouped((*states).into()))));
                self.bytes_upper = *bytes;
            }
            Event::Rung(result @ RungResult { rung, outcome }) => {
                self.ceiling = result.left_after(self.ceiling);
                let what = match outcome {
                    Outcome::Bound(bound) => format!("{} visible", grouped(bound.visible)),
                    given_up => outcome_words(given_up),
                };
                self.rung = Some((*rung, what));
            }
        }
    }

    /// Formats the lines for a time since the beginning.
    pub(crate) fn lines(&self, at: Duration) -> Vec<String> {
        let mut lines = match &self.activity {
            Some(activity) => vec![activity.clone()],
            None => [self.lower_line(at), self.upper_line()].into_iter().flatten().collect(),
        };
        let mut last = format!("{} elapsed", clock(at));
        let in_use = self.bytes + self.bytes_states + self.bytes_upper;
        if in_use > 0 {
            let _ = write!(last, ", tables of {} (at most {})", bytes(in_use), bytes(self.memory));
        }
        lines.push(last);
        lines
    }

    /// Formats the line of the lower search: its last complete level, and the progress of the next
    /// one.
    fn lower_line(&self, at: Duration) -> Option<String> {
        let level = self.level?;
        let (k, level_progress) = (level.k, self.level_progress);
        let next = if level_progress.is_some_and(|level_progress| level_progress.k == k) {
            format!(" → {}", k + 1)
        } else {
            String::new()
        };
        let is_explicit =
            level_progress.map_or(level.tuples.is_none(), |level_progress| level_progress.engine == Engine::Explicit);
        let (s, what, size) =
            if is_explicit { ('R', "states", level.reachable) } else { ('S', "tuples", level.tuples) };
        let mut parts = Vec::new();
        if let Some(level_progress) = level_progress {
            let speed = self.speed.at(level_progress.kept, at).map(|speed| format!("{} {what}/s", short(speed)));
            parts.push(format!("{} {what} kept", grouped(level_progress.kept.into())));
            parts.extend(speed);
        }
        parts.push(format!("|T({s}_{k})| = {}", grouped(level.visible)));
        parts.extend(size.map(|size| format!("|{s}_{k}| = {}", grouped(size))));
        Some(format!("k = {k}{next}: {}", parts.join(", ")))
    }

    /// Formats the line of the upper search: the current rung, and the bounds of |T(R)|.
    fn upper_line(&self) -> Option<String> {
        let (rung, what) = self.rung.as_ref()?;
        let reached = self.level.map_or(String::new(), |level| format!("{} ≤ ", grouped(level.visible)));
        let bounds = self.ceiling.map(|(left, by)| format!("; {reached}|T(R)| ≤ {} (by {by})", grouped(left)));
        Some(format!("{rung}: {what}{}", bounds.unwrap_or_default()))
    }
}

/// The recent number of states in each second.
#[derive(Default)]
struct Speed {
    /// Two times, at least a window apart, each with its number of states.
    marks: Option<[(Duration, usize); 2]>,
}

impl Speed {
    const WINDOW: Duration = Duration::from_secs(2);

    fn observe(&mut self, count: usize, at: Duration) {
        let [_, last] = *self.marks.get_or_insert([(at, count); 2]);
        if at.saturating_sub(last.0) >= Self::WINDOW {
            self.marks = Some([last, (at, count)]);
        }
    }

    /// Returns the speed, if the time since the first mark is long enough.
    fn at(&self, count: usize, at: Duration) -> Option<f64> {
        let [(since, before), _] = self.marks?;
        let time = at.saturating_sub(since);
        #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
        let count = count.saturating_sub(before) as f64;
        (time >= TICK).then(|| count / time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuba::{Options, Question, search_unchecked};

    const SECOND: Duration = Duration::from_secs(1);

    fn progress(events: impl IntoIterator<Item = (Event, Duration)>) -> ProgressLines {
        let mut progress = ProgressLines::new(FCR, 4 << 30);
        events.into_iter().for_each(|(event, at)| progress.add_event(&event, at));
        progress
    }

    /// The levels and the rungs of the paper's Fig. 1.
    fn fig1(options: Options) -> (Vec<Level>, Vec<RungResult>) {
        let problem: cpds::Problem = include_str!("../../../../models/paper/fig1.cpds").parse().unwrap();
        let analysis = search_unchecked(&problem, Question::Visible, &options, |_| ());
        (analysis.levels, analysis.rungs)
    }

    fn level_progress(engine: Engine, k: usize, kept: usize, bytes: usize) -> Event {
        Event::Exploring(LevelProgress { engine, k, kept, expansions: 0, bytes })
    }

    #[test]
    fn both_ends_time_and_memory() {
        let (levels, rungs) = fig1(Options::default());
        let now = Duration::from_millis(62_500);
        let mut progress = ProgressLines::new(FCR, 4 << 30);
        assert_eq!(progress.lines(now), ["deciding finite context reachability", "1:02 elapsed"]);
        progress.add_event(&Event::Level(levels[0]), SECOND);
        assert_eq!(progress.lines(SECOND), ["k = 0: |T(R_0)| = 1, |R_0| = 1", "0:01 elapsed"]);
        progress.add_event(&level_progress(Engine::Explicit, 4, 1_000_000, 1 << 30), SECOND * 61);
        progress.add_event(&Event::Level(levels[4]), SECOND * 61);
        progress.add_event(&level_progress(Engine::Explicit, 4, 1_234_567, 1 << 30), now);
        progress.add_event(&Event::Overapproximating { rung: Rung::Z, states: 12_345, bytes: 1 << 28 }, now);
        assert_eq!(
            progress.lines(now),
            [
                "k = 4 → 5: 1,234,567 states kept, 156.4 k states/s, |T(R_4)| = 7, |R_4| = 11",
                "Z: 12,345 kept",
                "1:02 elapsed, tables of 1.25 GiB (at most 4.00 GiB)",
            ]
        );
        progress.add_event(&Event::Rung(rungs[0].clone()), now);
        assert_eq!(progress.lines(now)[1], "Z: 8 visible; 7 ≤ |T(R)| ≤ 8 (by Z)");
        progress.add_event(&Event::Overapproximating { rung: Rung::MatchedZ, states: 5, bytes: 1 << 28 }, now);
        assert_eq!(progress.lines(now)[1], "matched-Z: 5 kept; 7 ≤ |T(R)| ≤ 8 (by Z)");
        let given_up = RungResult { rung: Rung::Abstract(0), outcome: Outcome::TooManyTuples(100) };
        progress.add_event(&Event::Rung(given_up), now);
        assert_eq!(progress.lines(now)[1], "A_0: given up, more than 100 tuples or states; 7 ≤ |T(R)| ≤ 8 (by Z)");
        progress.activity = Some("making and checking the evidence".to_owned());
        assert_eq!(progress.lines(now)[0], "making and checking the evidence");
        assert_eq!(progress.lines(now).len(), 2);
    }

    /// A rung that rules nothing out does not give the bound.
    #[test]
    fn the_bound_is_by_the_rung_that_last_ruled_something_out() {
        let problem: cpds::Problem = include_str!("../../../../models/squeeze/mirror.cpds").parse().unwrap();
        let options = Options { max_contexts: Some(20), max_depth: Some(4), ..Options::default() };
        let rungs = search_unchecked(&problem, Question::Verify, &options, |_| ()).rungs;
        let progress = progress(rungs.into_iter().map(|result| (Event::Rung(result), SECOND)));
        assert_eq!(progress.upper_line().unwrap(), "A_4: 10 visible; |T(R)| ≤ 10 (by matched-Z)");
    }

    /// Tuples begin at k = 0 again. The tables of the states before them still count.
    #[test]
    fn tuples_come_after_states() {
        let (levels, _) = fig1(Options { engine: Some(Engine::Symbolic), ..Options::default() });
        let progress = progress([
            (level_progress(Engine::Explicit, 3, 5_000_000, 2 << 30), SECOND),
            (Event::Level(levels[0]), SECOND * 2),
            (level_progress(Engine::Symbolic, 0, 1000, 1 << 20), SECOND * 2),
            (level_progress(Engine::Symbolic, 0, 2000, 1 << 30), SECOND * 3),
        ]);
        assert_eq!(
            progress.lines(SECOND * 3),
            [
                "k = 0 → 1: 2,000 tuples kept, 1.0 k tuples/s, |T(S_0)| = 1, |S_0| = 1",
                "0:03 elapsed, tables of 3.00 GiB (at most 4.00 GiB)",
            ]
        );
    }

    /// The speed is that of the last seconds.
    #[test]
    fn the_recent_speed() {
        let mut speed = Speed::default();
        assert_eq!(speed.at(0, SECOND), None);
        for second in 0..10 {
            speed.observe(1000 * second, SECOND * u32::try_from(second).unwrap());
        }
        assert_eq!(speed.at(9000, SECOND * 9), Some(1000.0));
        speed.observe(9000, SECOND * 20);
        speed.observe(9500, SECOND * 25);
        assert_eq!(speed.at(9500, SECOND * 25), Some(100.0));
        assert_eq!(speed.at(9500, SECOND * 30), Some(50.0), "no event for a while");
    }
}

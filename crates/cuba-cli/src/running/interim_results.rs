//! What a run knows while it goes on, for the guard, which may have to print it (`guard.rs`).
//!
//! During the search it comes from events alone. At the end of the search, what both searches found
//! together takes its place. It is never an answer: an answer needs evidence that was checked.

use crate::analysis::finding::{Check, Finding};
use crate::analysis::model::Loaded;
use crate::analysis::phase::{Ended, Phase};
use crate::analysis::summary::Summary;
use crate::json::{self, ModelFacts};
use crate::running::answer::{Answer, exit};
use crate::running::checkpoint::Checkpoint;
use crate::running::lock::lock;
use crate::running::run::Run;
use crate::text::style;
use cuba::{Analysis, Count, Engine, Event, Level, ObservationSequence, Options, Rung, RungResult};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What a run knows so far: the threads of the search write it, the guard reads it.
#[derive(Clone)]
pub(crate) struct InterimResults(Arc<Mutex<Record>>);

/// What is known of an analysis.
struct Record {
    start: Instant,
    /// The model, once it was read.
    model: Option<Model>,
    options: Options,
    fcr: Option<(bool, String)>,
    levels: Vec<Level>,
    rungs: Vec<RungResult>,
    /// How many visible states are left above, and by which rung.
    left: Option<(Count, Rung)>,
    /// What the search has come to, if it is over.
    over: Option<Over>,
    /// Where the run saves what it has.
    checkpoint: Option<Arc<Checkpoint>>,
}

/// What a search has come to.
struct Over {
    engine: Engine,
    sequences: (ObservationSequence, ObservationSequence),
    collapse_of_states: Option<usize>,
    /// The answer, if it is one.
    finding: Option<Finding>,
}

/// A model, as far as an answer needs it.
struct Model {
    facts: ModelFacts,
    /// The same assumptions and warnings, as text.
    assuming: String,
    remarks: String,
}

/// How a verb prints what is known.
pub(crate) struct Layout {
    /// The model's file.
    pub(crate) file: String,
    pub(crate) json: bool,
    /// What comes before the verdict.
    pub(crate) table: fn(&Summary<'_>, Option<usize>) -> String,
    pub(crate) verdict: fn(&Summary<'_>) -> String,
}

impl InterimResults {
    pub(crate) fn new() -> Self {
        InterimResults(Arc::new(Mutex::new(Record::new())))
    }

    fn change(&self, change: impl FnOnce(&mut Record)) {
        change(&mut lock(&self.0));
    }

    /// The model was read.
    pub(crate) fn read(&self, loaded: &Loaded) {
        let facts = json::model_facts(loaded);
        let model = Model { facts, assuming: loaded.assuming(), remarks: loaded.warnings() };
        self.change(|record| record.model = Some(model));
    }

    /// The run saves what it has here.
    pub(crate) fn saved(&self, checkpoint: Option<Arc<Checkpoint>>) {
        self.change(|record| record.checkpoint = checkpoint);
    }

    /// The search begins, with these options.
    pub(crate) fn begin(&self, options: Options) {
        self.change(|record| record.options = options);
    }

    /// Something was found.
    pub(crate) fn hear(&self, event: &Event) {
        self.change(|record| record.hear(event));
    }

    /// The search is over, with this answer, if it is one.
    pub(crate) fn found(&self, analysis: &Analysis<'_>, finding: Option<Finding>) {
        self.change(|record| {
            record.levels.clone_from(&analysis.levels);
            record.rungs.clone_from(&analysis.rungs);
            record.over = Some(Over {
                engine: analysis.level_store.engine(),
                sequences: (analysis.lower_sequence.clone(), analysis.visible_sequence.clone()),
                collapse_of_states: analysis.collapse_of_states,
                finding,
            });
        });
    }

    /// The evidence for the answer was accepted.
    pub(crate) fn checked(&self) {
        self.change(|record| {
            if let Some(finding) = record.over.as_mut().and_then(|over| over.finding.as_mut()) {
                finding.check = Check::Passed;
            }
        });
    }

    /// The answer, if the run ends here.
    pub(crate) fn answer(&self, ended: Ended, layout: &Layout, run: &Run) -> Answer {
        let mut record = lock(&self.0);
        record.settle();
        let summary = record.summary(ended);
        let assuming = record.model.as_ref().map_or("", |model| &model.assuming);
        let verdict = (layout.verdict)(&summary) + assuming;
        let stdout = if layout.json {
            let facts = record.model.as_ref().map(|model| &model.facts);
            let usage = run.usage(record.start.elapsed());
            json::print(&json::interim(layout.file.clone(), &summary, &verdict, facts, usage))
        } else {
            (layout.table)(&summary, run.console.width()) + &style::verdict(&verdict) + "\n"
        };
        let mut remarks = record.model.as_ref().map_or(String::new(), |model| model.remarks.clone());
        remarks += &record.checkpoint.as_ref().map_or(String::new(), |checkpoint| checkpoint.note());
        Answer { stdout, remarks, errors: String::new(), code: exit::UNKNOWN }
    }
}

impl Record {
    fn new() -> Self {
        Record {
            start: Instant::now(),
            model: None,
            options: Options::default(),
            fcr: None,
            levels: Vec::new(),
            rungs: Vec::new(),
            left: None,
            over: None,
            checkpoint: None,
        }
    }

    fn hear(&mut self, event: &Event) {
        match event {
            Event::Fcr(known) => self.fcr.clone_from(known),
            // A level of tuples may come after one of states.
            Event::Level(level) => {
                let mut level = *level;
                level.upper = self.levels.get(level.k).map_or(self.left, |before| before.upper);
                match self.levels.get_mut(level.k) {
                    Some(before) => *before = level,
                    None => self.levels.push(level),
                }
            }
            Event::Rung(climbed) => {
                self.left = climbed.left_after(self.left);
                self.rungs.push(climbed.clone());
            }
            Event::Exploring(_) | Event::Overapproximating { .. } => {}
        }
    }

    /// What the levels are made of: states, unless tuples have got further.
    fn engine(&self) -> Option<Engine> {
        if let Some(over) = &self.over {
            return Some(over.engine);
        }
        let last = self.levels.last()?;
        Some(if last.reachable.is_some() { Engine::Explicit } else { Engine::Symbolic })
    }

    /// Tuples that have not got further than states are not told.
    fn settle(&mut self) {
        if self.engine() == Some(Engine::Explicit) {
            self.levels.iter_mut().for_each(|level| level.tuples = None);
        }
    }

    fn summary(&self, ended: Ended) -> Summary<'_> {
        let over = self.over.as_ref();
        let (lower_sequence, visible_sequence) =
            over.map_or_else(|| Level::sequences(&self.levels), |over| over.sequences.clone());
        let finding = over.and_then(|over| over.finding.as_ref());
        let is_search = ended.phase == Phase::Searching && !self.levels.is_empty() && finding.is_none();
        Summary {
            levels: &self.levels,
            rungs: &self.rungs,
            engine: self.engine(),
            fcr: self.fcr.as_ref().map(|(holds, _)| *holds),
            fcr_by: self.fcr.as_ref().map(|(_, by)| by.clone()),
            lower_sequence,
            visible_sequence,
            collapse_of_states: over.and_then(|over| over.collapse_of_states),
            between: None,
            reason: Some(ended.why.into()),
            finding,
            limits: ended.limits.clone(),
            ended: (!is_search).then_some(ended),
            options: self.options,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::limits::RunLimits;
    use crate::running::console::Console;
    use crate::text::verdict::not_verified;
    use cuba::Halt;
    use cuba::{Question, search};

    fn ended(why: Halt, phase: Phase) -> Ended {
        Ended { why, phase, limits: RunLimits::default() }
    }

    const FIG_1: &str = include_str!("../../../../models/paper/fig1.cpds");

    /// What is heard of an analysis, and what it says when it has come to its end, is the same.
    #[test]
    fn what_was_heard_is_what_is_told_at_the_end() {
        let problem: cpds::Problem = FIG_1.parse().unwrap();
        for engine in [Engine::Explicit, Engine::Symbolic] {
            let options =
                Options { engine: Some(engine), max_contexts: Some(4), max_depth: Some(0), ..Options::default() };
            let results = InterimResults::new();
            let found = search(&problem, Question::Visible, &options, |event| results.hear(&event));
            let mut record = lock(&results.0);
            record.settle();
            let summary = record.summary(ended(Halt::TimeOut, Phase::Searching));
            assert_eq!((summary.engine, summary.fcr), (Some(engine), Some(true)));
            assert_eq!(summary.rungs, found.rungs);
            assert_eq!(
                (&summary.lower_sequence, &summary.visible_sequence),
                (&found.lower_sequence, &found.visible_sequence)
            );
            // When the rungs were heard of, in between, depends on the threads.
            let levels = |levels: &[Level]| {
                let mut levels = levels.to_vec();
                for level in &mut levels {
                    level.upper = None;
                }
                levels
            };
            assert_eq!(levels(summary.levels), levels(&found.levels));
        }
    }

    /// States are what is told until tuples have got further.
    #[test]
    fn tuples_after_states() {
        let problem: cpds::Problem = FIG_1.parse().unwrap();
        let [states, tuples] = [Engine::Explicit, Engine::Symbolic].map(|engine| {
            let options = Options { engine: Some(engine), max_contexts: Some(2), ..Options::default() };
            search(&problem, Question::Visible, &options, |_| ()).levels
        });
        let mut record = Record { levels: states.clone(), ..Record::new() };
        let both = |k: usize| {
            let mut level = states[k];
            level.tuples = tuples[k].tuples;
            level
        };
        record.hear(&Event::Level(both(0)));
        record.hear(&Event::Level(both(1)));
        record.settle();
        assert_eq!((record.engine(), record.levels[1].tuples), (Some(Engine::Explicit), None));
        record.hear(&Event::Level(both(2)));
        let mut further = tuples[2];
        further.k = 3;
        record.hear(&Event::Level(further));
        record.settle();
        assert_eq!((record.engine(), record.levels.len()), (Some(Engine::Symbolic), 4));
    }

    #[test]
    fn without_a_level_nothing_is_safe() {
        let results = InterimResults::new();
        let layout =
            Layout { file: "m.bp".to_owned(), json: false, table: |_, _| String::new(), verdict: not_verified };
        let run = Run::new(Vec::new(), Console::captured().0, None);
        let answer = results.answer(ended(Halt::Interrupted, Phase::Lowering), &layout, &run);
        assert_eq!(
            (&*style::plain(&answer.stdout), answer.code),
            ("unknown: nothing is known yet; it was interrupted while making a system of the program\n", 5)
        );
    }
}

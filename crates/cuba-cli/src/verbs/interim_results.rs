//! The results of a run so far. The guard prints them if a limit ends the run (`running/guard.rs`).
//!
//! During the search, they come from events. At the end of the search, the analysis replaces them.
//! They are never an answer, because an answer needs checked evidence.

use crate::analysis::finding::{Check, Finding};
use crate::analysis::model::LoadedModel;
use crate::analysis::phase::{Phase, RunEnd};
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

/// The results so far. The threads of the search write them, the guard reads them.
#[derive(Clone)]
pub(crate) struct InterimResults(Arc<Mutex<Record>>);

/// The results of an analysis so far.
struct Record {
    start: Instant,
    /// The model, after it was read.
    model: Option<Model>,
    options: Options,
    fcr: Option<(bool, String)>,
    levels: Vec<Level>,
    rungs: Vec<RungResult>,
    /// The size of the ceiling, and the rung that last reduced it.
    ceiling: Option<(Count, Rung)>,
    /// The result of the search, if it is over.
    search: Option<SearchResult>,
    /// The checkpoint of the run.
    checkpoint: Option<Arc<Checkpoint>>,
}

/// The result of a search.
struct SearchResult {
    engine: Engine,
    sequences: (ObservationSequence, ObservationSequence),
    collapse_of_states: Option<usize>,
    /// The answer, if there is one.
    finding: Option<Finding>,
}

/// The facts about the model that an answer needs.
struct Model {
    facts: ModelFacts,
    /// The assumptions and warnings as text.
    assuming: String,
    remarks: String,
}

/// How a verb prints the results so far.
pub(crate) struct InterimOutput {
    /// The model's file.
    pub(crate) file: String,
    pub(crate) json: bool,
    /// The text before the verdict.
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

    /// Sets the model.
    pub(crate) fn set_model(&self, loaded: &LoadedModel) {
        let facts = json::model_facts(loaded);
        let model = Model { facts, assuming: loaded.assuming(), remarks: loaded.warnings() };
        self.change(|record| record.model = Some(model));
    }

    /// Sets the checkpoint.
    pub(crate) fn set_checkpoint(&self, checkpoint: Option<Arc<Checkpoint>>) {
        self.change(|record| record.checkpoint = checkpoint);
    }

    /// Sets the options of the search.
    pub(crate) fn set_options(&self, options: Options) {
        self.change(|record| record.options = options);
    }

    /// Adds an event of the search.
    pub(crate) fn add_event(&self, event: &Event) {
        self.change(|record| record.add_event(event));
    }

    /// Sets the result of the search, with its answer, if there is one.
    pub(crate) fn set_result(&self, analysis: &Analysis<'_>, finding: Option<Finding>) {
        self.change(|record| {
            record.levels.clone_from(&analysis.levels);
            record.rungs.clone_from(&analysis.rungs);
            record.search = Some(SearchResult {
                engine: analysis.level_store.engine(),
                sequences: (analysis.lower_sequence.clone(), analysis.visible_sequence.clone()),
                collapse_of_states: analysis.collapse_of_states,
                finding,
            });
        });
    }

    /// Records that the checker has accepted the evidence.
    pub(crate) fn accept_evidence(&self) {
        self.change(|record| {
            if let Some(finding) = record.search.as_mut().and_then(|search| search.finding.as_mut()) {
                finding.check = Check::Passed;
            }
        });
    }

    /// Builds the answer for a run that ends now.
    pub(crate) fn answer(&self, ended: RunEnd, output: &InterimOutput, run: &Run) -> Answer {
        let mut record = lock(&self.0);
        record.drop_tuple_counts();
        let summary = record.summary(ended);
        let assuming = record.model.as_ref().map_or("", |model| &model.assuming);
        let verdict = (output.verdict)(&summary) + assuming;
        let stdout = if output.json {
            let facts = record.model.as_ref().map(|model| &model.facts);
            let usage = run.usage(record.start.elapsed());
            json::print(&json::interim(output.file.clone(), &summary, &verdict, facts, usage))
        } else {
            (output.table)(&summary, run.console.width()) + &style::verdict(&verdict) + "\n"
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
            ceiling: None,
            search: None,
            checkpoint: None,
        }
    }

    fn add_event(&mut self, event: &Event) {
        match event {
            Event::Fcr(known) => self.fcr.clone_from(known),
            // A level of tuples may replace one of states.
            Event::Level(level) => {
                let mut level = *level;
                level.upper = self.levels.get(level.k).map_or(self.ceiling, |before| before.upper);
                match self.levels.get_mut(level.k) {
                    Some(before) => *before = level,
                    None => self.levels.push(level),
                }
            }
            Event::Rung(result) => {
                self.ceiling = result.left_after(self.ceiling);
                self.rungs.push(result.clone());
            }
            Event::Exploring(_) | Event::Overapproximating { .. } => {}
        }
    }

    /// Returns the engine of the levels: explicit, unless the symbolic engine has more levels.
    fn engine(&self) -> Option<Engine> {
        if let Some(search) = &self.search {
            return Some(search.engine);
        }
        let last = self.levels.last()?;
        Some(if last.reachable.is_some() { Engine::Explicit } else { Engine::Symbolic })
    }

    /// Removes the counts of tuples unless there are more levels of tuples than of states.
    fn drop_tuple_counts(&mut self) {
        if self.engine() == Some(Engine::Explicit) {
            self.levels.iter_mut().for_each(|level| level.tuples = None);
        }
    }

    fn summary(&self, ended: RunEnd) -> Summary<'_> {
        let search = self.search.as_ref();
        let (lower_sequence, visible_sequence) =
            search.map_or_else(|| Level::sequences(&self.levels), |search| search.sequences.clone());
        let finding = search.and_then(|search| search.finding.as_ref());
        let is_search = ended.phase == Phase::Searching && !self.levels.is_empty() && finding.is_none();
        Summary {
            levels: &self.levels,
            rungs: &self.rungs,
            engine: self.engine(),
            fcr: self.fcr.as_ref().map(|(holds, _)| *holds),
            fcr_by: self.fcr.as_ref().map(|(_, by)| by.clone()),
            lower_sequence,
            visible_sequence,
            collapse_of_states: search.and_then(|search| search.collapse_of_states),
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
    use cuba::{Question, search_unchecked};

    fn ended(why: Halt, phase: Phase) -> RunEnd {
        RunEnd { why, phase, limits: RunLimits::default() }
    }

    const FIG_1: &str = include_str!("../../../../models/paper/fig1.cpds");

    /// The events of an analysis and its final result give the same levels, rungs and sequences.
    #[test]
    fn events_give_the_same_results_as_the_analysis() {
        let problem: cpds::Problem = FIG_1.parse().unwrap();
        for engine in [Engine::Explicit, Engine::Symbolic] {
            let options =
                Options { engine: Some(engine), max_contexts: Some(4), max_depth: Some(0), ..Options::default() };
            let results = InterimResults::new();
            let found = search_unchecked(&problem, Question::Visible, &options, |event| results.add_event(&event));
            let mut record = lock(&results.0);
            record.drop_tuple_counts();
            let summary = record.summary(ended(Halt::TimeOut, Phase::Searching));
            assert_eq!((summary.engine, summary.fcr), (Some(engine), Some(true)));
            assert_eq!(summary.rungs, found.rungs);
            assert_eq!(
                (&summary.lower_sequence, &summary.visible_sequence),
                (&found.lower_sequence, &found.visible_sequence)
            );
            // The order of the events of rungs depends on the threads.
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

    /// The levels are of states until there are more levels of tuples.
    #[test]
    fn tuples_after_states() {
        let problem: cpds::Problem = FIG_1.parse().unwrap();
        let [states, tuples] = [Engine::Explicit, Engine::Symbolic].map(|engine| {
            let options = Options { engine: Some(engine), max_contexts: Some(2), ..Options::default() };
            search_unchecked(&problem, Question::Visible, &options, |_| ()).levels
        });
        let mut record = Record { levels: states.clone(), ..Record::new() };
        let both = |k: usize| {
            let mut level = states[k];
            level.tuples = tuples[k].tuples;
            level
        };
        record.add_event(&Event::Level(both(0)));
        record.add_event(&Event::Level(both(1)));
        record.drop_tuple_counts();
        assert_eq!((record.engine(), record.levels[1].tuples), (Some(Engine::Explicit), None));
        record.add_event(&Event::Level(both(2)));
        let mut further = tuples[2];
        further.k = 3;
        record.add_event(&Event::Level(further));
        record.drop_tuple_counts();
        assert_eq!((record.engine(), record.levels.len()), (Some(Engine::Symbolic), 4));
    }

    #[test]
    fn without_a_level_nothing_is_safe() {
        let results = InterimResults::new();
        let output =
            InterimOutput { file: "m.bp".to_owned(), json: false, table: |_, _| String::new(), verdict: not_verified };
        let run = Run::new(Vec::new(), Console::captured().0, None);
        let answer = results.answer(ended(Halt::Interrupted, Phase::Lowering), &output, &run);
        assert_eq!(
            (&*style::plain(&answer.stdout), answer.code),
            ("unknown: nothing is known yet; it was interrupted while translating the program into a system\n", 5)
        );
    }
}

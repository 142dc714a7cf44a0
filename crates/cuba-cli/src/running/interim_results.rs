//! What is known of an analysis while it goes on, for the guard, which may have to tell it (`limits.rs`).
//!
//! It comes from events alone, as long as the search goes on. When it is over, what both ends have made of it together takes the place of that. There is
//! never an answer here: one whose evidence was not checked is none.

use crate::analysis::finding::{Check, Found};
use crate::analysis::summary::Outline;
use crate::arguments::model::Loaded;
use crate::json::{self, WarningJson};
use crate::running::checkpoint::Checkpoint;
use crate::running::limits::{Ended, Phase};
use crate::text::style;
use crate::verbs::command_line::{Answer, exit};
use cuba::{Analysis, Event, Level, Options};
use cuba::{Climbed, Count, Engine, ObservationSequence, Outcome, Rung};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What is known so far, by those who find it out and by the guard.
#[derive(Clone)]
pub(crate) struct SoFar(Arc<Mutex<Known>>);

/// What is known of an analysis.
pub(crate) struct Known {
    start: Instant,
    /// What there is to say of the model, once it was read.
    pub(crate) model: Option<Model>,
    options: Options,
    fcr: Option<(bool, String)>,
    levels: Vec<Level>,
    rungs: Vec<Climbed>,
    /// How many visible states are left above, and by which rung.
    left: Option<(Count, Rung)>,
    /// What the search has come to, if it is over.
    over: Option<Over>,
    /// Where what there is is kept.
    checkpoint: Option<Arc<Checkpoint>>,
}

/// What a search has come to.
struct Over {
    engine: Engine,
    sequences: (ObservationSequence, ObservationSequence),
    collapse_of_states: Option<usize>,
    /// The answer, if it is one.
    found: Option<Found>,
}

/// What there is to say of a model.
pub(crate) struct Model {
    pub(crate) threads: usize,
    pub(crate) assumptions: Vec<String>,
    pub(crate) warnings: Vec<WarningJson>,
    /// The same assumptions and warnings, as text.
    assuming: String,
    remarks: String,
}

/// What is to be said of what is known, for a verb.
pub(crate) struct Words {
    /// The model's file.
    pub(crate) file: String,
    pub(crate) json: bool,
    /// What comes before the verdict.
    pub(crate) table: fn(&Outline<'_>) -> String,
    pub(crate) verdict: fn(&Outline<'_>) -> String,
}

impl SoFar {
    pub(crate) fn new() -> Self {
        SoFar(Arc::new(Mutex::new(Known::new())))
    }

    fn change(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The model was read.
    pub(crate) fn read(&self, loaded: &Loaded) {
        let model = Model {
            threads: loaded.problem().system().thread_count(),
            assumptions: loaded.assumptions().to_vec(),
            warnings: json::warnings(&loaded.reading),
            assuming: loaded.assuming(),
            remarks: loaded.warnings(),
        };
        self.change(|known| known.model = Some(model));
    }

    /// What there is is kept here.
    pub(crate) fn kept(&self, checkpoint: Option<Arc<Checkpoint>>) {
        self.change(|known| known.checkpoint = checkpoint);
    }

    /// The search begins, with these options.
    pub(crate) fn begin(&self, options: Options) {
        self.change(|known| known.options = options);
    }

    /// Something was found.
    pub(crate) fn hear(&self, event: &Event) {
        self.change(|known| known.hear(event));
    }

    /// The search is over, with this answer, if it is one.
    pub(crate) fn found(&self, analysis: &Analysis<'_>, found: Option<Found>) {
        self.change(|known| {
            known.levels.clone_from(&analysis.levels);
            known.rungs.clone_from(&analysis.rungs);
            known.over = Some(Over {
                engine: analysis.lower.engine(),
                sequences: (analysis.lower_sequence.clone(), analysis.visible_sequence.clone()),
                collapse_of_states: analysis.collapse_of_states,
                found,
            });
        });
    }

    /// The evidence for the answer was accepted.
    pub(crate) fn checked(&self) {
        self.change(|known| {
            if let Some(found) = known.over.as_mut().and_then(|over| over.found.as_mut()) {
                found.check = Check::Passed;
            }
        });
    }

    /// What is to be said, if it ends here.
    pub(crate) fn answer(&self, ended: Ended, words: &Words) -> Answer {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.settle();
        let outline = known.outline(ended);
        let assuming = known.model.as_ref().map_or("", |model| &model.assuming);
        let verdict = (words.verdict)(&outline) + assuming;
        let stdout = if words.json {
            json::print(&json::so_far(words.file.clone(), &outline, &verdict, &known))
        } else {
            (words.table)(&outline) + &style::verdict(&verdict) + "\n"
        };
        let mut remarks = known.model.as_ref().map_or(String::new(), |model| model.remarks.clone());
        remarks += &known.checkpoint.as_ref().map_or(String::new(), |checkpoint| checkpoint.note());
        Answer { stdout, remarks, errors: String::new(), code: exit::UNKNOWN }
    }
}

impl Known {
    fn new() -> Self {
        Known {
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

    /// How long it has taken.
    pub(crate) fn time(&self) -> Duration {
        self.start.elapsed()
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
            Event::Climbed(climbed) => {
                if let Outcome::Bound(bound) = climbed.outcome
                    && (self.left.is_none() || bound.ruled_out != Count::ZERO)
                {
                    self.left = Some((bound.left, climbed.rung));
                }
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

    fn outline(&self, ended: Ended) -> Outline<'_> {
        let over = self.over.as_ref();
        let (lower_sequence, visible_sequence) =
            over.map_or_else(|| Level::sequences(&self.levels), |over| over.sequences.clone());
        let found = over.and_then(|over| over.found.as_ref());
        let is_search = ended.phase == Phase::Searching && !self.levels.is_empty() && found.is_none();
        Outline {
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
            found,
            ended: (!is_search).then_some(ended),
            options: self.options,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuba::Halt;
    use cuba::{Question, search};

    const FIG_1: &str = include_str!("../../../../models/paper/fig1.cpds");

    /// What is heard of an analysis, and what it says when it has come to its end, is the same.
    #[test]
    fn what_was_heard_is_what_is_told_at_the_end() {
        let problem: cpds::Problem = FIG_1.parse().unwrap();
        for engine in [Engine::Explicit, Engine::Symbolic] {
            let options =
                Options { engine: Some(engine), max_contexts: Some(4), max_depth: Some(0), ..Options::default() };
            let known = SoFar::new();
            let found = search(&problem, Question::Visible, &options, |event| known.hear(&event));
            let mut known = known.0.lock().unwrap();
            known.settle();
            let outline = known.outline(Ended { why: Halt::TimeOut, phase: Phase::Searching });
            assert_eq!((outline.engine, outline.fcr), (Some(engine), Some(true)));
            assert_eq!(outline.rungs, found.rungs);
            assert_eq!(
                (&outline.lower_sequence, &outline.visible_sequence),
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
            assert_eq!(levels(outline.levels), levels(&found.levels));
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
        let mut known = Known { levels: states.clone(), ..Known::new() };
        let both = |k: usize| {
            let mut level = states[k];
            level.tuples = tuples[k].tuples;
            level
        };
        known.hear(&Event::Level(both(0)));
        known.hear(&Event::Level(both(1)));
        known.settle();
        assert_eq!((known.engine(), known.levels[1].tuples), (Some(Engine::Explicit), None));
        known.hear(&Event::Level(both(2)));
        let mut further = tuples[2];
        further.k = 3;
        known.hear(&Event::Level(further));
        known.settle();
        assert_eq!((known.engine(), known.levels.len()), (Some(Engine::Symbolic), 4));
    }

    #[test]
    fn without_a_level_nothing_is_safe() {
        let known = SoFar::new();
        let words = Words {
            file: "m.bp".to_owned(),
            json: false,
            table: |_| String::new(),
            verdict: crate::verbs::verify::unknown,
        };
        let answer = known.answer(Ended { why: Halt::Interrupted, phase: Phase::Lowering }, &words);
        assert_eq!(
            (&*style::plain(&answer.stdout), answer.code),
            ("unknown: nothing is known yet; it was interrupted while making a system of the program\n", 5)
        );
    }
}

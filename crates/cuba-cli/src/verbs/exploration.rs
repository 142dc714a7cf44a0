//! Answers a question about a model with the library, and shows progress: common to `cuba verify`,
//! `cuba reach`, `cuba fcr` and `cuba show`.

use crate::analysis::exploration::Exploration;
use crate::analysis::finding::Finding;
use crate::analysis::model::LoadedModel;
use crate::analysis::phase::{Phase, RunEnd};
use crate::analysis::summary::Summary;
use crate::arguments::cluster::ShareOptions;
use crate::arguments::evidence::EvidenceArgs;
use crate::arguments::search::{EngineChoice, SearchArgs};
use crate::html::page::{Page, ReportHeader};
use crate::pictures::chart::Chart;
use crate::running::answer::{Answer, VerbError};
use crate::running::checkpoint::{Checkpoint, SharesFolder};
use crate::running::output_files::write;
use crate::running::progress::Progress;
use crate::running::run::Run;
use crate::text::file_names::printable_path;
use crate::text::{progress, statistics};
use crate::verbs::evidence_files::write_certificate;
use crate::verbs::interim_results::{InterimOutput, InterimResults};
use cuba::checkpoint::{CheckpointWriter, StartPoint};
use cuba::distributed::Elsewhere;
use cuba::{AnswerEvent, Control, Engine, Event, Fcr, Mistake, MistakeKind, Options, Question};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Everything that an analysis needs besides the question.
pub(crate) struct AnalysisSetup<'s> {
    pub(crate) run: &'s Arc<Run>,
    pub(crate) options: Options,
    pub(crate) evidence: &'s EvidenceArgs,
    pub(crate) results: &'s InterimResults,
    pub(crate) quiet: bool,
    /// The start of both searches.
    pub(crate) start: StartPoint,
    pub(crate) checkpoint: Option<&'s Checkpoint>,
}

impl SearchArgs {
    /// Checks before the search that all outputs can be written and that none of them is an input.
    pub(crate) fn check_outputs(&self, run: &Run, trace: Option<&PathBuf>, quiet: bool) -> Result<(), VerbError> {
        // Only process 0 writes. The folders need not exist on the other machines.
        if self.cluster.is_other_process() {
            return Ok(());
        }
        let mut inputs = self.model.files();
        inputs.extend(self.cluster.hosts().cloned());
        let outputs = || {
            let new_checkpoint = self.checkpoint.output(self.cluster.is_wanted());
            trace.into_iter().chain(self.evidence.certificate()).chain(self.report.outputs()).chain(new_checkpoint)
        };
        let check_writable = run.files.check_writable(&inputs, outputs());
        check_writable.and_then(|()| self.report.check_names(&run.files)).map_err(VerbError::Usage)?;
        run.files.expect(outputs(), quiet);
        Ok(())
    }

    /// Starts the guard, which enforces the limits. The search adds what it finds to the interim
    /// results.
    pub(crate) fn enforce_limits(
        &self,
        run: &Arc<Run>,
        quiet: bool,
        verdict: fn(&Summary<'_>) -> String,
        table: fn(&Summary<'_>, Option<usize>) -> String,
    ) -> InterimResults {
        let results = InterimResults::new();
        let processes = self.cluster.local_processes();
        if self.cluster.is_other_process() {
            let answer = move |ended: RunEnd| Err(VerbError::Limit(ended.to_string()));
            let quiet = quiet || self.cluster.is_started();
            self.limits.for_other_process(self.cluster.memory()).enforce_for(processes, run, quiet, answer);
            return results;
        }
        let output = InterimOutput { file: printable_path(&self.model.file), json: self.json, table, verdict };
        let (known, of_guard) = (results.clone(), Arc::clone(run));
        let answer = move |ended| Ok(known.answer(ended, &output, &of_guard));
        self.limits.enforce_for(processes, run, quiet, answer);
        results
    }

    /// Answers the question and checks the evidence. Shows progress on a terminal.
    ///
    /// # Errors
    /// If the engines contradict each other or the checker: the report of this mistake.
    pub(crate) fn explore<'a>(
        &self,
        run: &Arc<Run>,
        loaded: &'a LoadedModel,
        question: Question,
        results: &InterimResults,
        quiet: bool,
    ) -> Result<Exploration<'a>, Box<Answer>> {
        let remarks = |explored: &Exploration<'_>| self.remarks(run, loaded, explored);
        let refused = |why: String| Box::new(Answer::refused(&why));
        let (problem, is_shared) = (loaded.problem(), self.cluster.is_wanted());
        let folder =
            if is_shared { self.checkpoint.folder(run, problem).map_err(refused)?.map(Arc::new) } else { None };
        // The other processes may already wait for this one. Only process 0 continues after this
        // call.
        let elsewhere = if is_shared { Some(self.join(run, problem, folder, quiet)?) } else { None };
        let (mut start, checkpoint) = self.checkpoint.begin(run, problem, is_shared).map_err(refused)?;
        start.elsewhere = elsewhere;
        let checkpoint = checkpoint.map(Arc::new);
        results.set_checkpoint(checkpoint.clone());
        let setup = AnalysisSetup {
            run,
            options: self.options(run.memory()),
            evidence: &self.evidence,
            results,
            quiet,
            start,
            checkpoint: checkpoint.as_deref(),
        };
        explore(problem, question, setup, remarks)
    }

    /// Connects the processes. Only process 0 gets them; the others get their answer at the end.
    fn join(
        &self,
        run: &Arc<Run>,
        problem: &cpds::Problem,
        folder: Option<Arc<SharesFolder>>,
        quiet: bool,
    ) -> Result<Elsewhere, Box<Answer>> {
        let Options { symmetry, memory, engine, .. } = self.options(run.memory());
        // Process 0 also computes the ladder, and perhaps tuples.
        let quarter = memory / 4;
        let ladder = if engine.is_some() { quarter } else { 2 * quarter };
        let memory = if self.cluster.is_other_process() { memory } else { memory - ladder };
        run.enter(Phase::Joining);
        let options = ShareOptions { symmetry, memory, jobs: self.jobs, quiet: quiet || self.cluster.is_started() };
        let others: Elsewhere = self.cluster.join(run, problem, &options, folder)?;
        Ok(others)
    }

    /// Collects the remarks: warnings about the model, notes, and statistics.
    pub(crate) fn remarks(&self, run: &Run, loaded: &LoadedModel, explored: &Exploration<'_>) -> String {
        let mut remarks = loaded.warnings();
        if self.engine == EngineChoice::Lower(Engine::Explicit) {
            remarks += match explored.analysis.fcr.as_ref().and_then(Fcr::holds) {
                Some(true) => "",
                Some(false) => {
                    "note: finite context reachability does not hold, so a context may be infinite; see `cuba fcr`\n"
                }
                None => "note: it is not known whether every context is finite; see `cuba fcr`\n",
            };
        }
        if self.cluster.is_wanted() && explored.analysis.level_store.engine() == Engine::Symbolic {
            remarks += "note: only the explicit engine distributes its states; all tuples are in process 0\n";
        }
        remarks += explored.checkpoint_note.as_deref().unwrap_or_default();
        if self.stats {
            remarks += &explored.statistics();
            remarks += &explored.sent();
            remarks += &explored.evidence.as_ref().map_or(String::new(), statistics::of_evidence);
            let _ = writeln!(remarks, "memory: at most {}", run.memory());
        }
        remarks
    }

    /// Writes the certificate, the chart and the report that the user wants.
    pub(crate) fn write_files(
        &self,
        run: &Run,
        header: &ReportHeader<'_>,
        explored: &Exploration<'_>,
        loaded: &LoadedModel,
        answer: &mut Answer,
    ) {
        if let Some(path) = self.evidence.certificate() {
            answer.wrote(run, path, write_certificate(run, path, explored));
        }
        if self.report.outputs().next().is_none() {
            return;
        }
        let chart = Chart::new(header.file, explored).svg();
        if let Some(path) = &self.report.plot {
            answer.wrote(run, path, write(run, path, |out| out.write_all(chart.as_bytes())).map(|()| String::new()));
        }
        if let Some(path) = &self.report.report {
            let page = Page::new(header, explored, loaded, chart).html();
            answer.wrote(run, path, write(run, path, |out| out.write_all(page.as_bytes())).map(|()| String::new()));
        }
    }
}

/// Answers a question and checks the evidence for the answer.
///
/// # Errors
/// If the engines contradict each other or the checker: the report of this mistake.
pub(crate) fn explore<'a>(
    problem: &'a cpds::Problem,
    question: Question,
    setup: AnalysisSetup<'_>,
    remarks: impl Fn(&Exploration<'_>) -> String,
) -> Result<Exploration<'a>, Box<Answer>> {
    let AnalysisSetup { run, options, evidence, results, quiet, start, checkpoint } = setup;
    let progress = Progress::start_unless(quiet, run, progress::FCR, options.memory);
    results.set_options(options);
    run.enter(Phase::Searching);
    let faults = run.fault_writer();
    let checkpoint_writer = match checkpoint {
        Some(checkpoint) => Some(checkpoint as &dyn CheckpointWriter),
        None => faults.as_ref().map(|faults| faults as &dyn CheckpointWriter),
    };
    let control = Control { start, cancel: run.cancel.clone(), checkpoint_writer };
    let mut finding = None;
    let answered = cuba::answer(problem, question, &options, control, |event| match event {
        AnswerEvent::Search(event) => {
            results.add_event(event);
            if matches!(event, Event::Level(level) if level.k > 1) {
                run.fault("Searching");
            }
            if let Some(progress) = &progress {
                progress.add_event(event);
            }
        }
        AnswerEvent::Searched(analysis) => {
            if let Some(progress) = &progress {
                progress.show("making and checking the evidence");
            }
            finding = Finding::of(question, analysis, evidence.check());
            results.set_result(analysis, finding.clone());
            run.enter(Phase::MakingEvidence);
            run.fault("evidence");
        }
        AnswerEvent::CheckingEvidence => run.enter(Phase::CheckingEvidence),
        AnswerEvent::EvidenceAccepted => results.accept_evidence(),
    });
    run.enter(Phase::Writing);
    drop(progress);
    let question = (problem, question);
    match answered {
        Ok(cuba::Answer { analysis, evidence, unconfirmed, search_time }) => {
            let ended = unconfirmed.map(|it| run.ended(it.why, it.phase.into()));
            let mut explored = Exploration::new(question, analysis, options, search_time);
            explored.limits = run.limits();
            explored.evidence = evidence;
            explored.unconfirmed = finding.zip(ended);
            explored.time += checkpoint.map_or(Duration::ZERO, Checkpoint::time_before);
            explored.checkpoint_note =
                checkpoint.and_then(|checkpoint| checkpoint.finish(&explored.analysis.conclusion));
            Ok(explored)
        }
        Err(mistake) => {
            let Mistake { analysis, search_time, kind } = *mistake;
            let explored = Exploration::new(question, analysis, options, search_time);
            let remarks = remarks(&explored);
            Err(Box::new(match &kind {
                MistakeKind::Contradiction(contradiction) => explored.contradiction(run, contradiction, remarks),
                MistakeKind::Rejected(rejected) => explored.rejected(run, rejected, remarks),
            }))
        }
    }
}

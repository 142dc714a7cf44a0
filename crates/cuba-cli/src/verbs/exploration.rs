//! What `cuba reach` and `cuba verify` have in common: options, progress, and words for what was found.

use crate::analysis::finding::Found;
use crate::analysis::summary::Outline;
use crate::arguments::evidence::{self, EvidenceArgs};
use crate::arguments::model::{Loaded, ModelArgs, shown};
use crate::html::page::ReportArgs;
use crate::running::checkpoint::{Checkpoint, CheckpointArgs, Folder, Resumed};
use crate::running::cluster::{ClusterArgs, Run};
use crate::running::crash_report;
use crate::running::faults;
use crate::running::interim_results::{SoFar, Words};
use crate::running::limits::{self, Ended, LimitArgs, Phase};
use crate::running::machine;
use crate::running::output_files::{self, may_write};
use crate::running::progress::{self, Progress};
use crate::text::numbers;
use crate::verbs::command_line::{Answer, Stopped, exit, heading};
use crate::verbs::show::plural;
use clap::Args;
use cpds::{Cpds, Trace};
use cpds_check::Rejected;
use cuba::checkpoint::{Keeper, Start};
use cuba::distributed::Elsewhere;
use cuba::{Analysis, Conclusion, Contradiction, Control, Event, Options, Proof, Question};
use cuba::{AnswerEvent, MadeEvidence, Mistake, MistakeKind};
use cuba::{Engine, Fcr, Ladder, Outcome, Rung, Statistics, names};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// The options of an exploration.
#[derive(Args, Debug)]
pub(crate) struct ExploreArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Stop after K contexts
    ///
    /// What is safe up to K contexts is not called safe.
    #[arg(long, value_name = "K", help_heading = heading::LIMITS)]
    max_contexts: Option<usize>,
    /// What to work with, from below or from above
    ///
    /// auto; or from below explicit (states one by one) or symbolic (tuples of stack languages); or from above abstract (A_0, A_1, …) or
    /// one overapproximation: Z, matched-Z, Z_2, Z_3, …, A_0, A_1, …
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = heading::SEARCH)]
    engine: Choice,
    /// Go on up to A_D, and no further
    ///
    /// A_D is the overapproximation of depth D. --max-contexts does not end this earlier.
    #[arg(long, value_name = "D", help_heading = heading::LIMITS)]
    max_depth: Option<usize>,
    /// Give up an A_d that has more than N tuples
    ///
    /// Or a Z_z of more states, and go on with the next one [default: 100000; with no limit at all, it is tried again with more].
    /// If the initial states alone are more, no deeper one is tried.
    #[arg(long, value_name = "N", help_heading = heading::LIMITS)]
    max_tuples: Option<usize>,
    /// Do not use that threads are interchangeable
    ///
    /// The answers are the same.
    #[arg(long, help_heading = heading::SEARCH)]
    no_symmetry: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// How many threads may work at a time [default: one for each core]
    ///
    /// The answers are the same.
    #[arg(long, short, value_name = "N", value_parser = jobs, help_heading = heading::SEARCH)]
    jobs: Option<usize>,
    /// Say on standard error what it took
    #[arg(long)]
    stats: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) checkpoint: CheckpointArgs,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// What can be asked for with `--engine`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    Auto,
    Below(Engine),
    Abstract,
    Above(Rung),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match &*text.to_ascii_lowercase() {
            "auto" => Ok(Choice::Auto),
            "explicit" => Ok(Choice::Below(Engine::Explicit)),
            "symbolic" => Ok(Choice::Below(Engine::Symbolic)),
            "abstract" => Ok(Choice::Abstract),
            _ => text.parse().map(Choice::Above).map_err(|_| {
                "one of auto, explicit, symbolic, abstract, Z, matched-Z, Z_2, Z_3, …, A_0, A_1, …".to_owned()
            }),
        }
    }
}

/// `500ms`, `90s`, `30m`, `2h`; a number alone is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wanted = || "a number with ms, s, m, h or d behind it".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let milliseconds = match &text[digits.len()..] {
        "ms" => 1,
        "" | "s" => 1000,
        "m" => 60 * 1000,
        "h" => 60 * 60 * 1000,
        "d" => 24 * 60 * 60 * 1000,
        _ => return Err(wanted()),
    };
    let number: u64 = digits.parse().map_err(|_| wanted())?;
    number.checked_mul(milliseconds).map(Duration::from_millis).ok_or_else(|| "longer than anybody waits".to_owned())
}

pub(crate) fn jobs(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&jobs| jobs > 0).ok_or_else(|| "a number from 1 on".to_owned())
}

/// `512M`, `16G`: bytes in powers of 1024.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err("a number with K, M, G or T behind it".to_owned()),
    };
    let number: usize = digits.parse().map_err(|_| "a number with K, M, G or T behind it".to_owned())?;
    number.checked_mul(1 << shift).ok_or_else(|| "more than a machine can have".to_owned())
}

/// An analysis, and what it took.
pub(crate) struct Explored<'a> {
    pub(crate) problem: &'a cpds::Problem,
    pub(crate) question: Question,
    pub(crate) analysis: Analysis<'a>,
    pub(crate) options: Options,
    pub(crate) time: Duration,
    /// The evidence for the answer.
    pub(crate) made: Option<MadeEvidence>,
    /// What there is to say of the checkpoint.
    pub(crate) kept: Option<String>,
    /// What the search has found, if its evidence could not be made or checked, and why not. Then the conclusion is unknown.
    unconfirmed: Option<(Found, Ended)>,
}

/// How an analysis is made, apart from what is asked.
pub(crate) struct Setup<'s> {
    pub(crate) options: Options,
    pub(crate) evidence: &'s EvidenceArgs,
    pub(crate) so_far: &'s SoFar,
    pub(crate) quiet: bool,
    /// What both ends start with, and where they keep what they have.
    pub(crate) start: Start,
    pub(crate) checkpoint: Option<&'s Checkpoint>,
}

impl ExploreArgs {
    fn options(&self) -> Options {
        let (engine, ladder) = match self.engine {
            Choice::Auto => (None, Ladder::All),
            Choice::Below(engine) => (Some(engine), Ladder::All),
            Choice::Abstract => (None, Ladder::Abstract),
            Choice::Above(rung) => (None, Ladder::Only(rung)),
        };
        Options {
            engine,
            ladder,
            symmetry: !self.no_symmetry,
            evidence: self.evidence.policy(),
            max_contexts: self.max_contexts,
            max_depth: self.max_depth,
            max_tuples: self.max_tuples,
            memory: limits::memory().for_tables(),
            // Of many processes, those that have the states wait for none of the ends.
            jobs: self.jobs.unwrap_or_else(machine::cores).max(if self.cluster.is_asked() { 2 } else { 1 }),
            timeout: self.limits.timeout(),
        }
    }

    /// Checks before the search that all outputs can be written, to files that are no inputs.
    pub(crate) fn check_outputs(&self, trace: Option<&PathBuf>, quiet: bool) -> Result<(), Stopped> {
        // Only process 0 writes; the folders need not exist on the machines of the others.
        if self.cluster.is_other() {
            return Ok(());
        }
        let mut inputs = self.model.files();
        inputs.extend(self.cluster.hosts().cloned());
        let outputs = || {
            let new_checkpoint = self.checkpoint.output(self.cluster.is_asked());
            trace.into_iter().chain(self.evidence.certificate()).chain(self.report.outputs()).chain(new_checkpoint)
        };
        may_write(&inputs, outputs()).and_then(|()| self.report.check_names()).map_err(Stopped::Usage)?;
        output_files::expect(outputs(), quiet);
        Ok(())
    }

    /// From now on the limits hold. What is found out goes to what is known so far.
    pub(crate) fn watch(
        &self,
        quiet: bool,
        verdict: fn(&Outline<'_>) -> String,
        table: fn(&Outline<'_>) -> String,
    ) -> SoFar {
        let so_far = SoFar::new();
        let processes = self.cluster.here();
        if self.cluster.is_other() {
            let tell = move |ended: Ended| Err(Stopped::Limit(ended.to_string()));
            let quiet = quiet || self.cluster.is_started();
            self.limits.of_another(self.cluster.memory()).watch_one_of(processes, quiet, tell);
            return so_far;
        }
        let (known, words) = (so_far.clone(), Words { file: shown(&self.model.file), json: self.json, table, verdict });
        self.limits.watch_one_of(processes, quiet, move |ended| Ok(known.answer(ended, &words)));
        so_far
    }

    /// Answers the question, with progress on a terminal if that is wanted, and checks the evidence for the answer.
    ///
    /// # Errors
    /// If the engines contradict each other or the checker: then there is no answer but that.
    pub(crate) fn explore<'a>(
        &self,
        loaded: &'a Loaded,
        question: Question,
        so_far: &SoFar,
        quiet: bool,
    ) -> Result<Explored<'a>, Box<Answer>> {
        let remarks = |explored: &Explored<'_>| self.remarks(loaded, explored);
        let refused = |why: String| Box::new(Answer::refused(&why));
        let (problem, is_shared) = (loaded.problem(), self.cluster.is_asked());
        let folder = if is_shared { self.checkpoint.folder(problem).map_err(refused)?.map(Arc::new) } else { None };
        // Others may be waiting for this process; and only process 0 goes on from here.
        let elsewhere = if is_shared { Some(self.join(problem, folder, quiet)?) } else { None };
        let (mut start, checkpoint) = self.checkpoint.begin(problem, is_shared).map_err(refused)?;
        start.elsewhere = elsewhere;
        let checkpoint = checkpoint.map(Arc::new);
        so_far.kept(checkpoint.clone());
        let setup = Setup {
            options: self.options(),
            evidence: &self.evidence,
            so_far,
            quiet,
            start,
            checkpoint: checkpoint.as_deref(),
        };
        Self::explore_with(loaded.problem(), question, setup, remarks)
    }

    /// Brings many processes together. Only process 0 goes on from here.
    fn join(
        &self,
        problem: &cpds::Problem,
        folder: Option<Arc<Folder>>,
        quiet: bool,
    ) -> Result<Elsewhere, Box<Answer>> {
        let Options { symmetry, memory, engine, .. } = self.options();
        // Process 0 has the ladder, too, and perhaps tuples.
        let quarter = memory / 4;
        let ladder = if engine.is_some() { quarter } else { 2 * quarter };
        let room = if self.cluster.is_other() { memory } else { memory - ladder };
        limits::enter(Phase::Joining);
        let run = Run { symmetry, room, jobs: self.jobs, quiet: quiet || self.cluster.is_started() };
        let others: Elsewhere = self.cluster.join(problem, &run, folder)?;
        Ok(others)
    }

    /// Goes on from what a run with these options has kept. What limits it may be other.
    pub(crate) fn go_on(&mut self, resumed: Resumed, limits: LimitArgs) {
        self.cluster.go_on(&resumed.header.arguments);
        self.checkpoint.go_on(resumed);
        self.limits = limits.or(self.limits);
    }

    /// The same for whoever has no such arguments.
    pub(crate) fn explore_with<'a>(
        problem: &'a cpds::Problem,
        question: Question,
        setup: Setup<'_>,
        remarks: impl Fn(&Explored<'_>) -> String,
    ) -> Result<Explored<'a>, Box<Answer>> {
        let Setup { options, evidence, so_far, quiet, start, checkpoint } = setup;
        let progress = Progress::unless(quiet, progress::FCR, options.memory);
        so_far.begin(options);
        limits::enter(Phase::Searching);
        let keeper = match checkpoint {
            Some(checkpoint) => Some(checkpoint as &dyn Keeper),
            None => faults::keeper(),
        };
        let control = Control { start, cancel: limits::stop().clone(), keeper };
        let mut found = None;
        let answered = cuba::answer(problem, question, &options, control, |event| match event {
            AnswerEvent::Search(event) => {
                so_far.hear(event);
                if matches!(event, Event::Level(level) if level.k > 1) {
                    faults::here("Searching");
                }
                if let Some(progress) = &progress {
                    progress.hear(event);
                }
            }
            AnswerEvent::Searched(analysis) => {
                if let Some(progress) = &progress {
                    progress.tell("making and checking the evidence");
                }
                found = Found::of(question, analysis, evidence.check());
                so_far.found(analysis, found.clone());
                limits::enter(Phase::MakingEvidence);
                faults::here("evidence");
            }
            AnswerEvent::CheckingEvidence => limits::enter(Phase::CheckingEvidence),
            AnswerEvent::EvidenceAccepted => so_far.checked(),
        });
        limits::enter(Phase::Writing);
        drop(progress);
        let mut explored = match answered {
            Ok(answer) => Explored::of((problem, question), options, answer, found),
            Err(mistake) => {
                let Mistake { analysis, search_time, kind } = *mistake;
                let explored = Explored::new((problem, question), analysis, options, search_time);
                let remarks = remarks(&explored);
                return Err(Box::new(match &kind {
                    MistakeKind::Contradiction(contradiction) => explored.contradiction(contradiction, remarks),
                    MistakeKind::Rejected(rejected) => explored.rejected(Path::new(""), rejected, remarks),
                }));
            }
        };
        explored.time += checkpoint.map_or(Duration::ZERO, Checkpoint::time_before);
        explored.kept = checkpoint.and_then(|checkpoint| checkpoint.over(&explored.analysis.conclusion));
        Ok(explored)
    }

    /// The remarks: warnings about the model, and what the exploration took.
    pub(crate) fn remarks(&self, loaded: &Loaded, explored: &Explored<'_>) -> String {
        let mut remarks = loaded.warnings();
        if self.engine == Choice::Below(Engine::Explicit) {
            remarks += match explored.analysis.fcr.as_ref().and_then(Fcr::holds) {
                Some(true) => "",
                Some(false) => {
                    "note: finite context reachability does not hold, so a context may be infinite; see `cuba fcr`\n"
                }
                None => "note: it is not known whether every context is finite; see `cuba fcr`\n",
            };
        }
        if self.cluster.is_asked() && explored.analysis.lower.engine() == Engine::Symbolic {
            remarks += "note: only states one by one are shared out; tuples of languages are all in process 0\n";
        }
        remarks += explored.kept.as_deref().unwrap_or_default();
        if self.stats {
            remarks += &explored.statistics();
            remarks += &explored.sent();
            remarks += &explored.made.as_ref().map_or(String::new(), evidence::statistics);
            let _ = writeln!(remarks, "memory: at most {}", limits::memory());
        }
        remarks
    }
}

/// What came of a rung.
pub(crate) fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Bound(bound) => plural(bound.visible, "visible state"),
        Outcome::TooManyTuples(limit) => format!("given up, more than {limit} tuples or states"),
        Outcome::TooManyInitial(limit) => {
            format!("given up, the initial states alone are more than {limit} tuples or states")
        }
        Outcome::TooLarge => "given up, more than a quarter of the memory".to_owned(),
    }
}

impl<'a> Explored<'a> {
    pub(crate) fn new(
        (problem, question): (&'a cpds::Problem, Question),
        analysis: Analysis<'a>,
        options: Options,
        time: Duration,
    ) -> Self {
        Explored { problem, question, analysis, options, time, made: None, kept: None, unconfirmed: None }
    }

    /// An answer; or, without evidence for it, what was found.
    fn of(
        (problem, question): (&'a cpds::Problem, Question),
        options: Options,
        answer: cuba::Answer<'a>,
        found: Option<Found>,
    ) -> Self {
        let cuba::Answer { analysis, evidence, unconfirmed, search_time } = answer;
        let mut explored = Explored::new((problem, question), analysis, options, search_time);
        explored.made = evidence;
        explored.unconfirmed = found.zip(unconfirmed.map(|it| Ended { why: it.why, phase: it.phase.into() }));
        explored
    }
}

impl Explored<'_> {
    /// There is no evidence for the answer, and so there is no answer.
    #[cfg(test)]
    pub(crate) fn leave_unconfirmed(&mut self, found: Option<Found>, ended: Ended) {
        self.unconfirmed = found.map(|found| (found, ended));
        self.analysis.conclusion = Conclusion::Unknown(ended.why.into());
    }

    /// Whether there is no answer because something new may still become visible.
    pub(crate) fn is_open(&self) -> bool {
        self.unconfirmed.is_none() && self.analysis.is_open()
    }

    pub(crate) fn system(&self) -> &Cpds {
        self.problem.system()
    }

    pub(crate) fn statistics(&self) -> String {
        let statistics = &self.analysis.statistics;
        let counters = match *statistics {
            Statistics::Explicit { states_kept, expansions, stacks, .. } => {
                [plural(states_kept, "state") + " kept", plural(expansions, "expansion"), plural(stacks, "stack")]
                    .join(", ")
            }
            Statistics::Symbolic { tuples_kept, expansions, languages, posts, transitions, .. } => [
                plural(tuples_kept, "tuple") + " kept",
                plural(expansions, "expansion"),
                plural(languages, "language"),
                format!("post* computed {} with {}", times(posts), plural(transitions, "transition")),
            ]
            .join(", "),
        };
        let (tables, time) = (numbers::bytes(statistics.table_bytes()), self.time.as_secs_f64() * 1000.0);
        format!("{counters}, {tables} of tables, {time:.1} ms\n")
    }

    /// What was sent, if the states are in several processes.
    fn sent(&self) -> String {
        let Some((parts, supersteps, sent)) = self.analysis.lower.sent() else { return String::new() };
        let what = [plural(sent.states, "state"), plural(sent.stacks, "stack")].join(" and ");
        let (supersteps, blocks) = (plural(supersteps, "superstep"), plural(sent.blocks, "block"));
        let bytes = numbers::bytes(usize::try_from(sent.bytes).unwrap_or(usize::MAX));
        format!("{parts} shares, {supersteps}: {what} sent, {bytes} in {blocks}\n")
    }

    /// What the levels are called: R_k, or S_k.
    pub(crate) fn levels(&self) -> char {
        levels(&self.analysis)
    }

    /// Why the answer holds for every number of contexts.
    pub(crate) fn proof(&self, proof: &Proof) -> String {
        self.proof_of(proof, "none of them bad")
    }

    /// The same, with these words for what no state of an overapproximation is.
    pub(crate) fn proof_of(&self, proof: &Proof, none: &str) -> String {
        let (k, s) = (self.analysis.k(), self.levels());
        match proof {
            Proof::LowerCollapsed => {
                format!("{s}_{} = {s}_{k}, and so no further context adds a state (Scheme 1)", k - 1)
            }
            Proof::Bounded(rungs) => {
                let names = names(rungs);
                let have = if rungs.len() == 1 { "which has" } else { "which have" };
                if matches!(self.analysis.conclusion, Conclusion::Safe(_)) {
                    let alone = |rung: Rung| matches!(rungs[..], [only] if only == rung);
                    let size = self.analysis.rungs.iter().rev().find_map(|climbed| match climbed.outcome {
                        Outcome::Bound(bound) if alone(climbed.rung) => Some(bound.visible),
                        Outcome::Bound(bound) if rungs.len() > 1 => Some(bound.left),
                        _ => None,
                    });
                    let states = plural(size.expect("a rung was taken"), "state");
                    format!(
                        "{names}, {have} every visible state that is reachable, {} {states}{}, {none}",
                        if rungs.len() == 1 { "has" } else { "have" },
                        if rungs.len() == 1 { "" } else { " in common" }
                    )
                } else {
                    format!("there is nothing else in {names}, {have} every visible state that is reachable")
                }
            }
        }
    }

    /// What there is to tell of it, answer or not.
    pub(crate) fn outline(&self) -> Outline<'_> {
        let analysis = &self.analysis;
        Outline {
            levels: &analysis.levels,
            rungs: &analysis.rungs,
            engine: Some(analysis.lower.engine()),
            fcr: analysis.fcr.as_ref().and_then(Fcr::holds),
            fcr_by: analysis.fcr.as_ref().and_then(Fcr::by),
            lower_sequence: analysis.lower_sequence.clone(),
            visible_sequence: analysis.visible_sequence.clone(),
            collapse_of_states: analysis.collapse_of_states,
            between: analysis.between.as_ref().map(|between| (self.system(), between)),
            reason: if let Conclusion::Unknown(reason) = analysis.conclusion { Some(reason) } else { None },
            found: self.unconfirmed.as_ref().map(|(found, _)| found),
            ended: self.unconfirmed.as_ref().map(|&(_, ended)| ended),
            options: self.options,
        }
    }

    /// The answer if two engines contradict each other: what they say, with a file to report.
    pub(crate) fn contradiction(&self, contradiction: &Contradiction, remarks: String) -> Answer {
        self.report_to(Path::new(""), contradiction, remarks)
    }

    fn report_to(&self, folder: &Path, contradiction: &Contradiction, remarks: String) -> Answer {
        let what = match contradiction {
            Contradiction::RuledOut { state, rung, .. } => {
                let (state, s) = (self.system().paper(state), self.levels());
                format!("{state} is in T({s}_k), and {rung} rules it out")
            }
            Contradiction::Levels { k } => format!("R_{k} and S_{k} have different visible states"),
        };
        let trace = match contradiction {
            Contradiction::RuledOut { trace, .. } => trace.as_ref(),
            Contradiction::Levels { .. } => None,
        };
        let errors =
            format!("error: two engines contradict each other, so at least one is wrong: {what}; please report it\n");
        self.mistake(folder, (&what, errors), trace, remarks)
    }

    /// The answer if the evidence is rejected: why, with a file to report.
    pub(crate) fn rejected(&self, folder: &Path, rejected: &Rejected, remarks: String) -> Answer {
        let trace = match &self.analysis.conclusion {
            Conclusion::Unsafe { trace, pattern } => Some((trace.clone(), *pattern)),
            _ => None,
        };
        let what = format!("the evidence for the answer does not pass the check: {rejected}");
        let errors = format!("error: {what}; please report it\n");
        self.mistake(folder, (&what, errors), trace.as_ref(), remarks)
    }

    /// The answer if there is a mistake in cuba itself.
    fn mistake(
        &self,
        folder: &Path,
        (what, mut errors): (&str, String),
        trace: Option<&(Trace, usize)>,
        remarks: String,
    ) -> Answer {
        errors += &crash_report::contradiction(folder, self, what, trace);
        Answer { stdout: format!("error: {what}\n"), remarks, errors, code: exit::INTERNAL }
    }
}

/// What the levels are called: R_k, or S_k.
pub(crate) fn levels(analysis: &Analysis<'_>) -> char {
    match analysis.lower.engine() {
        Engine::Explicit => 'R',
        Engine::Symbolic => 'S',
    }
}

/// `once`, `2 times`.
fn times(n: usize) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuba::search;

    #[test]
    fn sizes() {
        assert_eq!(size("512M"), Ok(512 << 20));
        assert_eq!(size("16g"), Ok(16 << 30));
        assert_eq!(size("1000"), Ok(1000));
        assert_eq!(size("2KiB"), Ok(2048));
        for wrong in ["", "G", "4X", "-1", "1.5G", "99999999999999T"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    /// What the user gets if engines contradict each other, which so far they do not: here, what they said is made up.
    #[test]
    fn a_contradiction_makes_a_report() {
        let problem: cpds::Problem = include_str!("../../../../models/paper/fig1.cpds").parse().unwrap();
        let options = Options::default();
        let analysis = search(&problem, Question::Verify, &options, |_| ());
        let Conclusion::Unsafe { trace, pattern } = analysis.conclusion.clone() else { panic!("unsafe") };
        let contradiction = Contradiction::RuledOut {
            state: trace.last().visible(),
            rung: Rung::Abstract(1),
            trace: Some((trace, pattern)),
        };
        let explored = Explored::new((&problem, Question::Verify), analysis, options, Duration::ZERO);
        let folder = tempfile::tempdir().unwrap();
        for number in 1..=2 {
            let answer = explored.report_to(folder.path(), &contradiction, String::new());
            assert_eq!((answer.code, &*answer.stdout), (6, "error: ⟨0|1,6⟩ is in T(R_k), and A_1 rules it out\n"));
            let text =
                std::fs::read_to_string(folder.path().join(format!("cuba-contradiction-{number}.json"))).unwrap();
            let report: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(
                report["model"].as_str().unwrap().parse::<cpds::Problem>().unwrap(),
                problem,
                "it can be run again"
            );
            assert_eq!(report["trace"]["contexts"].as_array().unwrap().len(), 4);
        }
        let answer = explored.report_to(&folder.path().join("nowhere"), &Contradiction::Levels { k: 3 }, String::new());
        let elsewhere = answer.errors.split('`').nth(1).expect("a name");
        assert!(answer.code == 6 && Path::new(elsewhere).starts_with(std::env::temp_dir()), "{}", answer.errors);
        std::fs::remove_file(elsewhere).unwrap();
    }

    #[test]
    fn durations() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(duration("30m"), Ok(Duration::from_secs(1800)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "h", "1.5h", "-1s", "5 s", "10us", "99999999999999999d"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}

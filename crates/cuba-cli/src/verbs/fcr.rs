//! `cuba fcr`: decides finite context reachability (FCR, paper §5). If it does not hold, prints a
//! loop that refutes it, and the trace to that loop.

use crate::analysis::exploration::Exploration;
use crate::analysis::fcr_answer::FcrAnswer;
use crate::analysis::limits::MemoryLimit;
use crate::analysis::model::LoadedModel;
use crate::analysis::phase::{Phase, RunEnd};
use crate::arguments::evidence::EvidenceArgs;
use crate::arguments::heading;
use crate::arguments::limits::LimitArgs;
use crate::arguments::model::ModelArgs;
use crate::json;
use crate::running::answer::{Answer, VerbError, exit};
use crate::running::machine;
use crate::running::progress::Progress;
use crate::running::run::Run;
use crate::text::file_names::printable_path;
use crate::text::state_notation::StateNotation;
use crate::text::terminal::fitted;
use crate::text::{program_trace, progress, pumping_loop, style, system_trace};
use crate::verbs::exploration::{AnalysisSetup, explore};
use crate::verbs::interim_results::InterimResults;
use clap::Args;
use cpds::diagnostic::plural;
use cpds::{Cpds, Problem, Property, Stack, ThreadId, Wild};
use cuba::checkpoint::StartPoint;
use cuba::{
    Conclusion, ContextFiniteness, FinitenessProof, Halt, Head, Options, Proof, Psa, PumpingHeads, PumpingLoop,
    Question,
};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  cuba fcr models/paper/fig1.cpds
  cuba fcr models/paper/fig2.cpds
  cuba fcr models/paper/stefan8.cpds --json
  cuba show models/paper/fig2.cpds --psa foo --svg > fig4.svg   draw the loop

Exit codes: 0 it holds, 10 it does not, 5 unknown, 1 usage, 2 bad input, 6 internal error")]
pub(crate) struct Fcr {
    #[command(flatten)]
    model: ModelArgs,
    /// Stop after K contexts
    ///
    /// A loop that is reachable only with more contexts is not found.
    #[arg(long, value_name = "K", help_heading = heading::LIMITS)]
    max_contexts: Option<usize>,
    #[command(flatten)]
    limits: LimitArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The limit of tuples for an overapproximation that decides about a further program, when the
/// answer is known already.
const FEW_TUPLES: usize = 300;

pub(crate) fn answer(args: &Fcr, run: &Arc<Run>, quiet: bool) -> Result<Answer, VerbError> {
    let start = Instant::now();
    let (file, is_json) = (printable_path(&args.model.file), args.json);
    let of_guard = Arc::clone(run);
    args.limits
        .enforce(run, quiet, move |ended| Ok(answer_at_limit(&ended, file, is_json, of_guard.usage(start.elapsed()))));
    let loaded = args.model.load(run)?;
    let start = Instant::now();
    run.enter(Phase::Searching);
    run.fault("Searching");
    let (decided, verdict) = match Search::new(args, run, &loaded, quiet) {
        Ok(search) => match search.decide() {
            Ok((decided, verdict)) => (Some(decided), verdict),
            Err(mistake) => return Ok(*mistake),
        },
        Err(why) => (None, why),
    };
    let verdict = verdict + &loaded.assuming();
    let time = start.elapsed();
    let code = match decided.as_ref().and_then(|decided| decided.fcr.holds()) {
        Some(true) => exit::OK,
        Some(false) => exit::UNSAFE,
        None => exit::UNKNOWN,
    };
    let stdout = if args.json {
        json::print(&json::fcr(printable_path(&args.model.file), &loaded, decided.as_ref(), &verdict, run.usage(time)))
    } else {
        decided.map_or(String::new(), |decided| text(&decided, &loaded, run.console.width()))
            + &style::verdict(&verdict)
            + "\n"
    };
    let mut remarks = loaded.warnings();
    if let Some(option) = args.model.property_option() {
        let _ = writeln!(remarks, "note: {option} has no effect: `cuba fcr` does not look for bad states");
    }
    Ok(Answer { stdout, remarks, errors: String::new(), code })
}

/// Searches for a reachable pumping head, with the squeeze.
struct Search<'a> {
    run: &'a Arc<Run>,
    loaded: &'a LoadedModel,
    pumping: PumpingHeads,
    max_contexts: Option<usize>,
    quiet: bool,
}

impl<'a> Search<'a> {
    /// Computes the pumping heads. The error says why that is not possible.
    fn new(args: &Fcr, run: &'a Arc<Run>, loaded: &'a LoadedModel, quiet: bool) -> Result<Self, String> {
        let memory = run.memory().for_tables();
        let _progress = Progress::start_unless(quiet, run, progress::FCR, memory);
        let cancel = run.cancel.clone();
        let limit = memory / Psa::BYTES_A_TRANSITION;
        let pumping = PumpingHeads::within(loaded.problem().system(), limit, limit, &cancel);
        let why = |_| no_pumping_heads(cancel.why().map(|why| run.ended(why, Phase::Searching)).as_ref(), run.memory());
        Ok(Search { run, loaded, pumping: pumping.map_err(why)?, max_contexts: args.max_contexts, quiet })
    }

    fn system(&self) -> &'a Cpds {
        self.loaded.problem().system()
    }

    /// Decides finite context reachability. Returns the answer and its verdict line.
    ///
    /// # Errors
    /// If the engines contradict each other or the checker: the report of this mistake.
    fn decide(self) -> Result<(FcrAnswer, String), Box<Answer>> {
        let system = self.system();
        let a_loop = |program: usize| {
            let found = self.pumping.a_loop(program).cloned();
            found.map(|found| found.shortened(&system.programs()[program]))
        };
        let mut decided = FcrAnswer {
            fcr: cuba::Fcr::by_theorem_17(self.pumping.clone()),
            loops: (0..system.programs().len()).map(a_loop).collect(),
            reached: None,
        };
        if decided.fcr.holds() == Some(true) {
            let why = "within one context, every thread reaches finitely many states (Theorem 17)";
            return Ok((decided, format!("holds: {why}; so every R_k is finite")));
        }
        let open: Vec<usize> = decided.open_programs();
        let Ok(question) = self.pumping.question(system, &open) else {
            return Ok((decided, "unknown: there are too many pumping heads to look for".to_owned()));
        };
        let explored = self.explore(&question, self.max_contexts, None)?;
        let verdict = match &explored.analysis.conclusion {
            Conclusion::Safe(proof) if self.pumping.is_complete() => {
                for program in open {
                    decided.fcr.programs[program] = ContextFiniteness::Finite(finiteness_proof(proof));
                }
                format!("holds: no pumping head is reachable, so every R_k is finite ({})", explored.grounds(proof))
            }
            Conclusion::Safe(_) => {
                format!(
                    "unknown: not all pumping heads are known; {}",
                    no_pumping_heads(None, self.run.memory()).trim_start_matches("unknown: ")
                )
            }
            Conclusion::Unsafe { trace, pattern } => {
                let (thread, head) = head(&question, *pattern);
                let contexts = trace.contexts.len();
                self.refute(&mut decided, system.program_index(thread), head, contexts);
                let bad = vec![question.property().bad[*pattern].clone()];
                let alone = Problem::new(system.clone(), Property { bad }).expect("it was a pattern before");
                decided.reached = Some((alone, trace.clone()));
                self.decide_others(&mut decided, contexts)?;
                let (name, at) = (system.thread_name(thread), head_state(&StateNotation::of(self.loaded), head));
                match contexts {
                    0 => format!("refuted: {name} starts in {at}, from where it alone can raise its stack for ever"),
                    _ => format!(
                        "refuted: with {} {name} gets to {at}, from where it alone can raise its stack for ever",
                        plural(contexts, "context")
                    ),
                }
            }
            Conclusion::Unknown(_) => {
                let summary = explored.summary();
                if let Some(unconfirmed) = summary.unconfirmed() {
                    return Ok((
                        decided,
                        format!("unknown: an answer was found, but it was not checked: {}", unconfirmed.ended),
                    ));
                }
                let known = match summary.last() {
                    Some(last) => {
                        format!("no pumping head is reachable with up to {}, open beyond", plural(last.k, "context"))
                    }
                    None => "nothing is known yet".to_owned(),
                };
                format!("unknown: {known}; {}", summary.why())
            }
            Conclusion::Converged(_) | Conclusion::Contradiction(_) => unreachable!("not an answer to this question"),
        };
        Ok((decided, verdict))
    }

    /// Decides about the other programs with low limits, because the answer is already known: with
    /// as many contexts as the first one needed, and with few tuples.
    fn decide_others(&self, decided: &mut FcrAnswer, contexts: usize) -> Result<(), Box<Answer>> {
        for program in decided.open_programs() {
            let Ok(question) = self.pumping.question(self.system(), &[program]) else { continue };
            let explored = self.explore(&question, Some(contexts), Some(FEW_TUPLES))?;
            match &explored.analysis.conclusion {
                Conclusion::Safe(proof) if self.pumping.is_complete() => {
                    decided.fcr.programs[program] = ContextFiniteness::Finite(finiteness_proof(proof));
                }
                Conclusion::Unsafe { trace, pattern } => {
                    let (_, head) = head(&question, *pattern);
                    self.refute(decided, program, head, trace.contexts.len());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Records that a thread of this program reaches this pumping head.
    fn refute(&self, decided: &mut FcrAnswer, program: usize, head: Head, contexts: usize) {
        decided.fcr.programs[program] = ContextFiniteness::Infinite { contexts };
        let limit = self.run.memory().for_tables() / Psa::BYTES_A_TRANSITION;
        let of_program = &self.system().programs()[program];
        let found = PumpingLoop::at(head, of_program, limit);
        // A loop that does not replay is a mistake in the library.
        let is_one = found.as_ref().is_none_or(|found| found.run.is_none() || found.replays(of_program));
        assert!(is_one, "the loop of {} is a run of it", of_program.name());
        decided.loops[program] = found.or(decided.loops[program].take());
    }

    /// Answers the question with the squeeze and checks the evidence.
    fn explore<'p>(
        &self,
        question: &'p Problem,
        max_contexts: Option<usize>,
        max_tuples: Option<usize>,
    ) -> Result<Exploration<'p>, Box<Answer>> {
        let options = Options {
            max_contexts,
            max_tuples,
            memory: self.run.memory().for_tables(),
            jobs: machine::cores(),
            ..Options::default()
        };
        let setup = AnalysisSetup {
            run: self.run,
            options,
            evidence: &EvidenceArgs::default(),
            results: &InterimResults::new(),
            quiet: self.quiet,
            start: StartPoint::default(),
            checkpoint: None,
        };
        explore(question, Question::Verify, setup, |_| self.loaded.warnings())
    }
}

/// Translates a proof that no pumping head of a program is reachable into a proof that its contexts
/// are finite.
fn finiteness_proof(proof: &Proof) -> FinitenessProof {
    match proof {
        Proof::Bounded(rungs) => FinitenessProof::Bounded(rungs.clone()),
        Proof::LowerCollapsed => FinitenessProof::Collapsed,
    }
}

/// Returns the thread and the pumping head of a pattern of the question.
fn head(question: &Problem, pattern: usize) -> (ThreadId, Head) {
    let pattern = &question.property().bad[pattern];
    let named = |(thread, top): (ThreadId, &Wild<_>)| match top {
        Wild::Is(Some(symbol)) => Some((thread, *symbol)),
        _ => None,
    };
    let top = question.system().threads().zip(&pattern.tops).find_map(named);
    match (pattern.shared, top) {
        (Wild::Is(q), Some((thread, symbol))) => (thread, (q, symbol)),
        _ => unreachable!("a pattern of a question has a head"),
    }
}

fn head_state(words: &StateNotation<'_>, (q, symbol): Head) -> String {
    words.thread_state((q, &Stack::from_top([symbol])))
}

/// Formats the trace to a loop, and all loops except those that are known to be unreachable.
fn text(decided: &FcrAnswer, loaded: &LoadedModel, width: Option<usize>) -> String {
    let system = loaded.problem().system();
    let mut out = match &decided.reached {
        Some((_, trace)) if !trace.contexts.is_empty() => match &loaded.program {
            Some(program) => program_trace::steps(loaded, program, trace, width),
            None => system_trace::steps(system, trace, width),
        },
        _ => String::new(),
    };
    for ((program, found), contexts) in system.programs().iter().zip(&decided.loops).zip(&decided.fcr.programs) {
        let Some(found) = found else { continue };
        let start = head_state(&StateNotation::of(loaded), (found.shared, found.top));
        let reachable = match contexts {
            ContextFiniteness::Finite(_) => continue,
            ContextFiniteness::Infinite { contexts: 0 } => format!("{start} is initial"),
            ContextFiniteness::Infinite { contexts } => {
                format!("{start} is reachable with {}", plural(contexts, "context"))
            }
            ContextFiniteness::Open => format!("it is not known whether {start} is reachable"),
        };
        out += &fitted(&pumping_loop::steps(loaded, program, found, Some(&reachable), width), width);
        out += "\n";
    }
    out
}

/// Formats the verdict if the pumping heads are not known: because of a limit, or because of the
/// memory.
fn no_pumping_heads(ended: Option<&RunEnd>, memory: MemoryLimit) -> String {
    match ended {
        Some(ended) if ended.why != Halt::Memory || ended.phase != Phase::Searching => format!("unknown: {ended}"),
        _ => format!("unknown: a store automaton takes more memory than {}", memory.hint()),
    }
}

/// Builds the answer if the guard ends the run at a limit.
fn answer_at_limit(ended: &RunEnd, file: String, is_json: bool, usage: json::Usage) -> Answer {
    let verdict = no_pumping_heads(Some(ended), ended.limits.memory);
    let stdout =
        if is_json { json::print(&json::no_fcr(file, &verdict, usage)) } else { style::verdict(&verdict) + "\n" };
    Answer { stdout, remarks: String::new(), errors: String::new(), code: exit::UNKNOWN }
}

//! `cuba show`: prints a model with a summary, the steps from a state, a store automaton, or the
//! graph of visible states.

use crate::analysis::exploration::Exploration;
use crate::analysis::model::LoadedModel;
use crate::analysis::phase::Phase;
use crate::arguments::evidence::EvidenceArgs;
use crate::arguments::limits::LimitArgs;
use crate::arguments::model::ModelArgs;
use crate::arguments::pictures::{GraphArgs, PictureArgs, PsaArgs};
use crate::json;
use crate::pictures::automaton::{Automaton, TRANSITION_LIMIT};
use crate::pictures::visible_graph;
use crate::running::answer::{Answer, VerbError, exit};
use crate::running::run::Run;
use crate::text::file_names::printable_path;
use crate::text::state_notation::StateNotation;
use crate::text::{model_summary, program_trace};
use crate::verbs::exploration::{AnalysisSetup, explore};
use crate::verbs::interim_results::InterimResults;
use clap::Args;
use cpds::{Cpds, GlobalState, ThreadId, print_cpds};
use cuba::checkpoint::StartPoint;
use cuba::{Options, Psa, Question, TooLarge};
use std::sync::Arc;

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  cuba show models/paper/fig1.cpds
  cuba show models/paper/fig1.cpds --successors '0|1,4'
  cuba show models/paper/fig1.cpds --successors '3|2,4 6' --json
  cuba show models/table2/turns.bp --successors
  cuba show models/paper/fig1.cpds --svg > fig1.svg
  cuba show models/table2/turns.bp --max-contexts 1 --dot
  cuba show models/paper/fig2.cpds --psa foo
  cuba show models/paper/fig2.cpds --psa foo --svg > fig4.svg
  cuba show models/paper/fig7.cpds --psa P --from 'q0|σ0' --dot")]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Print every step from this state, or from the initial state
    ///
    /// E.g. '0|1,4 6': the shared state, then each stack, top first; '-' is an empty stack. For a
    /// Boolean program, e.g. 'x=1 & y=0|f:12, g:7(a=1)', or any state that cuba has printed.
    /// Without a state, put the option after the file.
    #[arg(long, value_name = "STATE", num_args = 0..=1, default_missing_value = "")]
    successors: Option<String>,
    #[command(flatten)]
    psa: PsaArgs,
    #[command(flatten)]
    picture: PictureArgs,
    #[command(flatten)]
    graph: GraphArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn answer(args: &Show, run: &Arc<Run>, quiet: bool) -> Result<Answer, VerbError> {
    args.limits.enforce(run, quiet, |ended| Err(VerbError::Limit(ended.to_string())));
    let loaded = args.model.load(run)?;
    run.enter(Phase::Searching);
    run.fault("Searching");
    let file = printable_path(&args.model.file);
    let system = loaded.problem().system();
    let warnings = || json::warnings(&loaded.reading);
    let stdout = match (&args.psa.psa, &args.successors) {
        (Some(thread), _) => {
            store_automaton(&args.psa, thread, &loaded, &args.picture, args.json.then(|| (file, warnings())))?
        }
        (None, Some(text)) => {
            let state = start_state(&loaded, text)?;
            match &loaded.program {
                _ if args.json => json::print(&json::successors(file, &loaded, &state, warnings())),
                Some(program) => program_trace::successors(&loaded, program, &state),
                None => model_summary::successors(system, &state, run.console.width()),
            }
        }
        (None, None) if args.picture.is_wanted() => match explore_graph(&args.graph, run, &loaded, quiet) {
            Ok(explored) => {
                run.check_not_stopped()?;
                let picture = visible_graph::picture(&explored, &loaded).map_err(VerbError::Usage)?;
                args.picture.draw(&picture, ", or stop earlier with --max-contexts")?
            }
            Err(mistake) => return Ok(*mistake),
        },
        (None, None) if args.json => json::print(&json::ShowJson {
            file,
            format: loaded.format,
            model: json::model(loaded.problem()),
            summary: json::summary(system),
            warnings: warnings(),
        }),
        (None, None) => format!("# {file}\n{}\n{}", print_cpds(loaded.problem()), model_summary::summary(&loaded)),
    };
    Ok(Answer { stdout, remarks: loaded.warnings(), errors: String::new(), code: exit::OK })
}

/// Reads the state in the text. An empty text stands for the initial state.
fn start_state(loaded: &LoadedModel, text: &str) -> Result<GlobalState, VerbError> {
    let words = StateNotation::of(loaded);
    match (text, words.system.initial()) {
        ("", [initial]) => Ok(initial.clone()),
        ("", initial) => {
            let first: Vec<String> =
                initial.iter().take(5).map(|state| format!("'{}'", words.system.text(state))).collect();
            let (count, more) = (initial.len(), if initial.len() > first.len() { ", …" } else { "" });
            let states = first.join(", ");
            Err(VerbError::Usage(format!("there are {count} initial states; choose one: --successors {states}{more}")))
        }
        (text, _) => Ok(words.read_state("--successors", text)?),
    }
}

/// Formats the store automaton as text, as a picture or as JSON.
fn store_automaton(
    args: &PsaArgs,
    thread: &str,
    loaded: &LoadedModel,
    picture_args: &PictureArgs,
    as_json: Option<(String, Vec<json::WarningJson>)>,
) -> Result<String, VerbError> {
    let words = &StateNotation::of(loaded);
    let system = words.system;
    let thread = find_thread(system, thread)?;
    let automaton = if let Some(text) = &args.from {
        let (shared, stack) = words.read_thread_state("--from", thread, text)?;
        let from = words.thread_state((shared, &stack));
        Automaton::of(words, thread, Psa::of_states([(shared, &stack)]), &from, TRANSITION_LIMIT)
    } else {
        Automaton::of_contexts(words, thread, TRANSITION_LIMIT)
    };
    let automaton = automaton.map_err(|TooLarge| {
        VerbError::Usage(format!("the store automaton has more than {TRANSITION_LIMIT} transitions, too many to show"))
    })?;
    if picture_args.is_wanted() {
        return picture_args.draw(&automaton.picture(), "");
    }
    Ok(match as_json {
        Some((file, warnings)) => json::print(&automaton.json(file, warnings)),
        None => automaton.text(),
    })
}

/// Finds the thread with this name or number. The name of a program stands for its first thread.
fn find_thread(system: &Cpds, wanted: &str) -> Result<ThreadId, VerbError> {
    let number = || wanted.parse::<usize>().ok()?.checked_sub(1).and_then(|i| system.threads().nth(i));
    let named = || system.threads().find(|&thread| system.thread_name(thread) == wanted);
    let program = || system.threads().find(|&thread| system.program(thread).name() == wanted);
    named().or_else(program).or_else(number).ok_or_else(|| {
        let all: Vec<String> = system.threads().take(20).map(|thread| system.thread_name(thread)).collect();
        let more = if system.thread_count() > all.len() { " …" } else { "" };
        VerbError::Usage(format!("there is no thread `{wanted}`; the threads are {}{more}", all.join(" ")))
    })
}

/// The limits of the search for a graph. A graph that can be read needs far less.
const MEMORY: usize = 1 << 24;
const DEPTH: usize = 3;
const TUPLES: usize = 1000;

/// Computes T(R), or the part of it that the limits allow.
fn explore_graph<'a>(
    args: &GraphArgs,
    run: &Arc<Run>,
    loaded: &'a LoadedModel,
    quiet: bool,
) -> Result<Exploration<'a>, Box<Answer>> {
    let options = Options {
        max_contexts: Some(args.max_contexts),
        max_depth: Some(DEPTH),
        max_tuples: Some(TUPLES),
        memory: MEMORY.min(run.memory().for_tables()),
        ..Options::default()
    };
    let (problem, remarks) = (loaded.problem(), |_: &Exploration<'_>| loaded.warnings());
    let (evidence, results) = (&EvidenceArgs::default(), &InterimResults::new());
    let setup =
        AnalysisSetup { run, options, evidence, results, quiet, start: StartPoint::default(), checkpoint: None };
    explore(problem, Question::Visible, setup, remarks)
}

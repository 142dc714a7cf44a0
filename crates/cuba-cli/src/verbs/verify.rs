//! `cuba verify`: is a bad state reachable, with any number of contexts?

use crate::analysis::summary::Outline;
use crate::arguments::evidence::write_trace;
use crate::arguments::model::{Loaded, shown};
use crate::html::page::Said;
use crate::json;
use crate::text::state_notation::Words;
use crate::text::{program_trace, style, system_trace, terminal};
use crate::verbs::command_line::{Answer, Stopped, exit, heading};
use crate::verbs::exploration::ExploreArgs;
use crate::verbs::show::plural;
use boolprog::{Asked, SourceMap};
use clap::Args;
use cpds::diagnostic::printable;
use cuba::{Conclusion, Question, Reason};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  cuba verify models/table2/turns.bp
  cuba verify models/table2/bluetooth-1.bp --instances adder=1,stopper=1
  cuba verify models/table2/peterson.bp --target 'want1 & want2|first,second'
  cuba verify models/paper/fig1.cpds
  cuba verify models/paper/fig1.cpds --target '2|1,*'
  cuba verify models/paper/fig1.cpds --trace bug.json
  cuba verify models/table2/turns.bp --report turns.html
  cuba verify models/paper/fig2.cpds --certificate proof.json
  cuba-check models/paper/fig2.cpds proof.json
  cuba verify models/paper/fig1.cpds --max-contexts 3 --json

Exit codes: 0 safe, 10 unsafe, 5 unknown, 1 usage, 2 bad input, 6 internal error")]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) explore: ExploreArgs,
    /// Write the way to a bad state, if there is one, to this file
    ///
    /// As JSON for `cuba-check`; for trace viewers, if its name ends in .itf.json.
    #[arg(long, value_name = "FILE", help_heading = heading::EVIDENCE)]
    trace: Option<PathBuf>,
}

pub(crate) fn answer(args: &Verify, quiet: bool) -> Result<Answer, Stopped> {
    args.explore.cluster.hand_over()?;
    let file = shown(&args.explore.model.file);
    let so_far = args.explore.watch(quiet, unknown, |outline| squeezed(outline, None));
    args.explore.check_outputs(args.trace.as_ref(), quiet)?;
    let loaded = args.explore.model.load()?;
    so_far.read(&loaded);
    // A label of a program that nobody can reach is a question all the same.
    let is_asked = loaded.program.as_ref().is_some_and(|program| program.asked != Asked::Errors);
    if loaded.problem().property().bad.is_empty() && !is_asked {
        let bad = if loaded.program.is_some() {
            "has no `assert` that could be reached"
        } else {
            "says of no state that it is bad"
        };
        return Err(Stopped::Usage(format!(
            "`{file}` {bad}, so there is nothing to verify; name bad states with --target, or see all reachable ones with `cuba reach`"
        )));
    }
    let explored = match args.explore.explore(&loaded, Question::Verify, &so_far, quiet) {
        Ok(explored) => explored,
        Err(mistake) => return Ok(*mistake),
    };
    let system = explored.system();
    let conclusion = &explored.analysis.conclusion;
    let (verdict, code) = match conclusion {
        Conclusion::Safe(proof) => {
            let why = explored.proof(proof);
            (format!("safe: no bad state is reachable, with any number of contexts; {why}"), exit::OK)
        }
        Conclusion::Unsafe { trace, .. } => {
            let contexts = match trace.contexts.len() {
                0 => "0 contexts: it holds initially".to_owned(),
                contexts => plural(contexts, "context") + ", and with no fewer",
            };
            let bad = match &loaded.program {
                Some(program) => program_trace::bad(&loaded, program, trace),
                None => format!("the bad state {} is reachable", system.paper(trace.last())),
            };
            (format!("unsafe: {bad} with {contexts}"), exit::UNSAFE)
        }
        Conclusion::Unknown(_) => (unknown(&explored.outline()), exit::UNKNOWN),
        Conclusion::Converged(_) | Conclusion::Contradiction(_) => unreachable!("not an answer to this question"),
    };
    let verdict = verdict + &loaded.assuming() + args.explore.evidence.doubt(&explored);
    let stdout = if args.explore.json {
        json::print(&json::analysis(file.clone(), &explored, &verdict, false, &loaded))
    } else {
        let mut out = match conclusion {
            Conclusion::Unsafe { trace, .. } => match &loaded.program {
                Some(program) => program_trace::steps(&loaded, program, trace, terminal::width()),
                None => system_trace::steps(system, trace, terminal::width()),
            },
            Conclusion::Unknown(_) if explored.is_open() => squeezed(&explored.outline(), Words::of(&loaded).map),
            _ => String::new(),
        };
        let _ = writeln!(out, "{}", style::verdict(&verdict));
        out
    };
    let remarks = args.explore.remarks(&loaded, &explored);
    let mut answer = Answer { stdout, remarks, errors: String::new(), code };
    if let Some(path) = &args.trace {
        answer.wrote(path, write_trace(path, &explored, &loaded, &file));
    }
    args.explore.evidence.write(&explored, &mut answer);
    let said = Said { file: &file, asked: asked(&loaded), patterns: patterns(&loaded), verdict: &verdict };
    args.explore.report.write(&said, &explored, &loaded, &mut answer);
    Ok(answer)
}

/// The verdict, if there is no answer.
pub(crate) fn unknown(outline: &Outline<'_>) -> String {
    if let Some(unconfirmed) = outline.unconfirmed() {
        return format!("unknown: {}", unconfirmed.told());
    }
    let why = outline.why();
    let Some(last) = outline.last() else { return format!("unknown: nothing is known yet; {why}") };
    let beyond = if let Some(Reason::LongTrace { .. }) = outline.reason { "" } else { ", open beyond" };
    format!("unknown: safe up to {}{beyond}; {why}", plural(last.k, "context"))
}

/// What is known, if there is no answer, and something is.
fn squeezed(outline: &Outline<'_>, map: Option<&SourceMap>) -> String {
    if outline.found.is_some() || outline.levels.is_empty() && outline.rungs.is_empty() {
        return String::new();
    }
    outline.squeezed(terminal::width(), map)
}

/// The question, in words.
fn asked(loaded: &Loaded) -> &'static str {
    match loaded.program.as_ref().map(|program| &program.asked) {
        Some(Asked::Errors) => "Can an assertion fail, with any number of contexts?",
        Some(Asked::Labels(_)) => "Can a thread stand at a label, with any number of contexts?",
        Some(Asked::Targets(_)) | None => "Is a bad state reachable, with any number of contexts?",
    }
}

/// Of more bad patterns, the first ones are told.
const PATTERNS: usize = 20;

/// What the question is about.
fn patterns(loaded: &Loaded) -> Vec<String> {
    let (system, bad) = (loaded.problem().system(), &loaded.problem().property().bad);
    let mut patterns: Vec<String> = match loaded.program.as_ref().map(|program| &program.asked) {
        Some(Asked::Errors) => return Vec::new(),
        Some(Asked::Labels(texts) | Asked::Targets(texts)) => texts.iter().map(|text| printable(text)).collect(),
        None => bad.iter().take(PATTERNS + 1).map(|pattern| system.paper(pattern).to_string()).collect(),
    };
    if patterns.len() > PATTERNS {
        patterns.truncate(PATTERNS);
        patterns.push("…".to_owned());
    }
    patterns
}

//! `cuba verify`: decides whether a bad state is reachable, with any number of contexts.

use crate::analysis::model::LoadedModel;
use crate::analysis::summary::Summary;
use crate::arguments::heading;
use crate::arguments::search::SearchArgs;
use crate::html::page::ReportHeader;
use crate::json;
use crate::running::answer::{Answer, VerbError, exit};
use crate::running::run::Run;
use crate::text::file_names::printable_path;
use crate::text::state_notation::StateNotation;
use crate::text::verdict::{not_verified, safe};
use crate::text::{program_trace, style, system_trace};
use crate::verbs::evidence_files::write_trace;
use boolprog::{BadStates, SourceMap};
use clap::Args;
use cpds::diagnostic::{plural, printable};
use cuba::{Conclusion, Question};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

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
    pub(crate) search: SearchArgs,
    /// Write the trace to a bad state, if there is one, to this file
    ///
    /// The file is JSON for `cuba-check`, or for trace viewers if its name ends in .itf.json.
    #[arg(long, value_name = "FILE", help_heading = heading::EVIDENCE)]
    trace: Option<PathBuf>,
}

pub(crate) fn answer(args: &Verify, run: &Arc<Run>, quiet: bool) -> Result<Answer, VerbError> {
    if let Some(answer) = args.search.cluster.run_cluster_program(run)? {
        return Ok(answer);
    }
    let file = printable_path(&args.search.model.file);
    let results = args.search.enforce_limits(run, quiet, not_verified, |summary, width| squeezed(summary, None, width));
    args.search.check_outputs(run, args.trace.as_ref(), quiet)?;
    let loaded = args.search.model.load(run)?;
    results.set_model(&loaded);
    // A label that cannot be reached gives no bad pattern, but it is still a question.
    let has_own_property = loaded.program.as_ref().is_some_and(|program| program.property != BadStates::Errors);
    if loaded.problem().property().bad.is_empty() && !has_own_property {
        let bad = if loaded.program.is_some() { "has no reachable `assert`" } else { "names no bad state" };
        return Err(VerbError::Usage(format!(
            "`{file}` {bad}, so there is nothing to verify; name bad states with `--target`, or print all reachable ones with `cuba reach`"
        )));
    }
    let explored = match args.search.explore(run, &loaded, Question::Verify, &results, quiet) {
        Ok(explored) => explored,
        Err(mistake) => return Ok(*mistake),
    };
    let (system, width) = (explored.system(), run.console.width());
    let conclusion = &explored.analysis.conclusion;
    let (verdict, code) = match conclusion {
        Conclusion::Safe(proof) => (safe(&explored, &loaded, proof), exit::OK),
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
        Conclusion::Unknown(_) => (not_verified(&explored.summary()), exit::UNKNOWN),
        Conclusion::Converged(_) | Conclusion::Contradiction(_) => unreachable!("not an answer to this question"),
    };
    let verdict = verdict + &loaded.assuming() + args.search.evidence.unchecked_trace_note(&explored);
    let stdout = if args.search.json {
        json::print(&json::analysis(file.clone(), &explored, &verdict, false, &loaded, run.usage(explored.time)))
    } else {
        let mut out = match conclusion {
            Conclusion::Unsafe { trace, .. } => match &loaded.program {
                Some(program) => program_trace::steps(&loaded, program, trace, width),
                None => system_trace::steps(system, trace, width),
            },
            Conclusion::Unknown(_) if explored.is_open() => {
                squeezed(&explored.summary(), StateNotation::of(&loaded).map, width)
            }
            _ => String::new(),
        };
        let _ = writeln!(out, "{}", style::verdict(&verdict));
        out
    };
    let remarks = args.search.remarks(run, &loaded, &explored);
    let mut answer = Answer { stdout, remarks, errors: String::new(), code };
    if let Some(path) = &args.trace {
        answer.wrote(run, path, write_trace(run, path, &explored, &loaded, &file));
    }
    let header =
        ReportHeader { file: &file, question: question(&loaded), patterns: patterns(&loaded), verdict: &verdict };
    args.search.write_files(run, &header, &explored, &loaded, &mut answer);
    Ok(answer)
}

/// Formats the overapproximations, if there is no answer but some result.
fn squeezed(summary: &Summary<'_>, map: Option<&SourceMap>, width: Option<usize>) -> String {
    if summary.finding.is_some() || summary.levels.is_empty() && summary.rungs.is_empty() {
        return String::new();
    }
    summary.squeezed(width, map)
}

/// Returns the question for the report.
fn question(loaded: &LoadedModel) -> &'static str {
    match loaded.program.as_ref().map(|program| &program.property) {
        Some(BadStates::Errors) => "Can an assertion fail, with any number of contexts?",
        Some(BadStates::Labels(_)) => "Can a thread stand at a label, with any number of contexts?",
        Some(BadStates::Targets(_)) | None => "Is a bad state reachable, with any number of contexts?",
    }
}

/// The number of bad patterns that the report lists.
const PATTERNS: usize = 20;

/// Lists the bad patterns for the report.
fn patterns(loaded: &LoadedModel) -> Vec<String> {
    let (system, bad) = (loaded.problem().system(), &loaded.problem().property().bad);
    let mut patterns: Vec<String> = match loaded.program.as_ref().map(|program| &program.property) {
        Some(BadStates::Errors) => return Vec::new(),
        Some(BadStates::Labels(labels)) => labels.iter().map(|label| printable(label)).collect(),
        Some(BadStates::Targets(targets)) => targets.iter().map(|target| printable(&target.text)).collect(),
        None => bad.iter().take(PATTERNS + 1).map(|pattern| system.paper(pattern).to_string()).collect(),
    };
    if patterns.len() > PATTERNS {
        patterns.truncate(PATTERNS);
        patterns.push("…".to_owned());
    }
    patterns
}

//! `cuba reach`: prints |R_k| and |T(R_k)| for each k, as in the paper's Fig. 1 (right), and where
//! the sequences plateau, stutter and collapse.

use crate::analysis::summary::Summary;
use crate::arguments::heading;
use crate::arguments::search::SearchArgs;
use crate::html::page::ReportHeader;
use crate::json;
use crate::running::answer::{Answer, VerbError, exit};
use crate::running::run::Run;
use crate::text::file_names::printable_path;
use crate::text::state_notation::StateNotation;
use crate::text::terminal::fitted;
use crate::text::verdict::{not_converged, of_reach};
use crate::text::{levels, style};
use clap::Args;
use cuba::{Conclusion, Count, Question};
use std::fmt::Write as _;
use std::sync::Arc;

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  cuba reach models/paper/fig1.cpds
  cuba reach models/paper/fig1.cpds --states
  cuba reach models/paper/fig1.cpds --full --max-contexts 10
  cuba reach models/tiny/stutter.cpds --json
  cuba reach models/paper/fig1.cpds --plot fig1.svg
  cuba reach models/paper/fig1.cpds --certificate all.json
  cuba-check --exact models/paper/fig1.cpds all.json

Exit codes: 0 converged, 5 unknown, 1 usage, 2 bad input, 6 internal error")]
pub(crate) struct Reach {
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// List the states that are new at each k
    #[arg(long)]
    states: bool,
    /// Continue until (R_k) itself collapses
    ///
    /// The run may then never end. Without this option, it ends when (T(R_k)) collapses.
    #[arg(long, help_heading = heading::SEARCH)]
    full: bool,
}

/// The question in the report.
const QUESTION: &str = "Which visible states T(R) are reachable, with any number of contexts?";
const QUESTION_FULL: &str = "Which states R are reachable, with any number of contexts?";

/// States with more stacks than this in total are not listed.
const MOST_LISTED: u128 = 10_000_000;

pub(crate) fn answer(args: &Reach, run: &Arc<Run>, quiet: bool) -> Result<Answer, VerbError> {
    if let Some(answer) = args.search.cluster.run_cluster_program(run)? {
        return Ok(answer);
    }
    let results = args.search.enforce_limits(run, quiet, not_converged, so_far);
    args.search.check_outputs(run, None, quiet)?;
    let loaded = args.search.model.load(run)?;
    results.set_model(&loaded);
    let question = if args.full { Question::Reachable } else { Question::Visible };
    let explored = match args.search.explore(run, &loaded, question, &results, quiet) {
        Ok(explored) => explored,
        Err(mistake) => return Ok(*mistake),
    };
    let mut remarks = args.search.remarks(run, &loaded, &explored);
    let last = explored.analysis.levels.last().map_or(Count::ZERO, |level| level.reachable.unwrap_or(level.visible));
    let stacks = last.exact().map(|states| states.saturating_mul(explored.system().thread_count() as u128));
    let few = stacks.is_some_and(|stacks| stacks <= MOST_LISTED);
    if args.states && !few {
        let _ = writeln!(remarks, "note: there are {last} states, too many to list; stop earlier with --max-contexts");
    }
    let states = args.states && few;
    let verdict = of_reach(&explored) + &loaded.assuming() + args.search.evidence.unchecked_trace_note(&explored);
    let width = run.console.width();
    let file = printable_path(&args.search.model.file);
    let stdout = if args.search.json {
        json::print(&json::analysis(file.clone(), &explored, &verdict, states, &loaded, run.usage(explored.time)))
    } else {
        let mut out = fitted(&levels::table(&explored.summary()), width);
        if states {
            out += "\n";
            out += &fitted(&levels::new_states(&explored, &StateNotation::of(&loaded)), width);
        }
        out += "\n";
        if explored.is_open() {
            out += &explored.summary().squeezed(width, StateNotation::of(&loaded).map);
        }
        let _ = writeln!(out, "{}", style::verdict(&verdict));
        out
    };
    let code = match explored.analysis.conclusion {
        Conclusion::Converged(_) => exit::OK,
        _ => exit::UNKNOWN,
    };
    let mut answer = Answer { stdout, remarks, errors: String::new(), code };
    let question = if args.full { QUESTION_FULL } else { QUESTION };
    let header = ReportHeader { file: &file, question, patterns: Vec::new(), verdict: &verdict };
    args.search.write_files(run, &header, &explored, &loaded, &mut answer);
    Ok(answer)
}

/// Formats the table of the results so far, if a limit ends the run.
fn so_far(summary: &Summary<'_>, width: Option<usize>) -> String {
    if summary.levels.is_empty() {
        return String::new();
    }
    let squeezed = if summary.finding.is_some() { String::new() } else { summary.squeezed(width, None) };
    fitted(&levels::table(summary), width) + "\n" + &squeezed
}

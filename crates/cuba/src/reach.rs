//! `cuba reach`: R_k and T(R_k) by k, as in the paper's Fig. 1 (right), and where the sequences plateau, stutter and collapse.

use crate::cli::{Answer, Stopped, exit};
use crate::engine::Count;
use crate::engine::analysis::{Conclusion, Question};
use crate::explore::{ExploreArgs, Explored};
use crate::json;
use crate::load::shown;
use crate::show::{indented, plain_table, plural};
use clap::Args;
use comfy_table::CellAlignment;
use std::fmt::Write as _;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cuba reach models/paper/fig1.cpds
  cuba reach models/paper/fig1.cpds --states
  cuba reach models/paper/fig1.cpds --full --max-contexts 10
  cuba reach models/tiny/stutter.cpds --json

Exit codes: 0 converged, 5 unknown, 1 usage, 2 bad input, 6 internal error")]
pub(crate) struct Reach {
    #[command(flatten)]
    explore: ExploreArgs,
    /// List the states that are new at each k
    #[arg(long)]
    states: bool,
    /// Go on until (R_k) itself collapses, which it may never do, not just (T(R_k))
    #[arg(long)]
    full: bool,
}

/// More stacks than this, in all states together, are not listed: nobody reads them, and the memory may not be enough.
const MOST_LISTED: u128 = 10_000_000;

/// Of a longer table, so many rows are shown at its beginning, and as many at its end.
const ROWS: usize = 1000;

pub(crate) fn answer(args: &Reach, quiet: bool) -> Result<Answer, Stopped> {
    let loaded = args.explore.model.load()?;
    let question = if args.full { Question::Reachable } else { Question::Visible };
    let explored = args.explore.explore(&loaded, question, quiet);
    let mut remarks = args.explore.remarks(&loaded, &explored);
    let last = explored.analysis.levels.last().map_or(Count::ZERO, |level| level.reachable);
    let stacks = last.exact().map(|states| states.saturating_mul(explored.system().thread_count() as u128));
    let few = stacks.is_some_and(|stacks| stacks <= MOST_LISTED);
    if args.states && !few {
        let _ = writeln!(remarks, "note: there are {last} states, too many to list; stop earlier with --max-contexts");
    }
    let states = args.states && few;
    let verdict = verdict(&explored, args.full);
    let stdout = if args.explore.json {
        let file = shown(&args.explore.model.file);
        json::print(&json::analysis(file, &explored, &verdict, states, json::warnings(&loaded.reading)))
    } else {
        let mut out = table(&explored);
        if states {
            out += "\n";
            out += &new_states(&explored);
        }
        out += "\n";
        out += &explored.blocking();
        let _ = writeln!(out, "{verdict}");
        out
    };
    let code = match explored.analysis.conclusion {
        Conclusion::Converged(_) => exit::OK,
        _ => exit::UNKNOWN,
    };
    Ok(Answer { stdout, remarks, errors: String::new(), code })
}

/// The answer in words.
fn verdict(explored: &Explored<'_>, full: bool) -> String {
    let analysis = &explored.analysis;
    let last = analysis.levels[analysis.reachable.k()];
    let known = match (analysis.reachable_sequence.collapse(), analysis.visible_sequence.collapse()) {
        (Some(r), Some(t)) if full => {
            let states = plural(last.reachable, "state");
            format!("R = R_{r} has {states}, T(R) = T(R_{t}) has {}", plural(last.visible, "visible state"))
        }
        (_, Some(t)) => format!("T(R) = T(R_{t}) has {}", plural(last.visible, "visible state")),
        (_, None) => String::new(),
    };
    match &analysis.conclusion {
        Conclusion::Converged(proof) => format!("converged: {known}; {}", explored.proof(*proof)),
        Conclusion::Unknown(reason) if known.is_empty() => {
            format!("unknown: (T(R_k)) has not converged up to k = {}; {}", last.k, explored.reason(reason))
        }
        Conclusion::Unknown(reason) => {
            format!("unknown: {known}, but (R_k) has not converged up to k = {}; {}", last.k, explored.reason(reason))
        }
        Conclusion::Safe(_) | Conclusion::Unsafe { .. } => unreachable!("the question was another"),
    }
}

/// The reachability table.
fn table(explored: &Explored<'_>) -> String {
    let analysis = &explored.analysis;
    let mut table = plain_table();
    table.add_row(["k", "|R_k|", "new", "|T(R_k)|", "new", ""]);
    let sequences = [("R_k", &analysis.reachable_sequence), ("T(R_k)", &analysis.visible_sequence)];
    let mut pauses = sequences.map(|(name, sequence)| (name, sequence.pauses().peekable()));
    let count = analysis.levels.len();
    for level in &analysis.levels {
        let mut remarks = Vec::new();
        for (name, pauses) in &mut pauses {
            if let Some((k, pause)) = pauses.next_if(|&(k, _)| k == level.k) {
                remarks.push(format!("{name} {pause} at {k}"));
            }
        }
        if level.k == ROWS && count > 2 * ROWS {
            table.add_row(["…"; 5]);
        }
        if level.k < ROWS || level.k + ROWS >= count {
            let counts = [level.reachable, level.new_reachable, level.visible, level.new_visible];
            let row = std::iter::once(level.k.to_string()).chain(counts.iter().map(ToString::to_string));
            table.add_row(row.chain([remarks.join(", ")]));
        }
    }
    for column in table.column_iter_mut().take(5) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    indented(&table, "")
}

/// R_k \ R_{k-1} and T(R_k) \ T(R_{k-1}) for each k, side by side.
fn new_states(explored: &Explored<'_>) -> String {
    let (system, reachable) = (explored.system(), &explored.analysis.reachable);
    let mut rows = vec![["k", "R_k \\ R_{k-1}", "T(R_k) \\ T(R_{k-1})"].map(str::to_owned)];
    for k in 0..=reachable.k() {
        let (states, visible) = (reachable.states(k), reachable.visible_states(k));
        let mut states = states.iter().map(|state| system.paper(state).to_string());
        let mut visible = visible.iter().map(|state| system.paper(state).to_string());
        let mut first = Some(k.to_string());
        loop {
            let (state, visible) = (states.next(), visible.next());
            if state.is_none() && visible.is_none() && first.is_none() {
                break;
            }
            let none = if first.is_some() { "–" } else { "" };
            let cell = |cell: Option<String>| cell.unwrap_or_else(|| none.to_owned());
            let row = [first.take().unwrap_or_default(), cell(state), cell(visible)];
            rows.push(row);
        }
    }
    let widths = [0, 1].map(|i| rows.iter().map(|row: &[String; 3]| row[i].chars().count()).max().unwrap_or(0));
    let mut out = String::new();
    for [k, state, visible] in rows {
        let line = format!("{k:>0$}  {state:<1$}  {visible}", widths[0], widths[1]);
        out += line.trim_end();
        out += "\n";
    }
    out
}

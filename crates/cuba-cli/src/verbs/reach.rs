//! `cuba reach`: R_k and T(R_k) by k, as in the paper's Fig. 1 (right), and where the sequences plateau, stutter and collapse.

use crate::analysis::summary::Outline;
use crate::arguments::model::shown;
use crate::html::page::Said;
use crate::json;
use crate::text::state_notation::Words;
use crate::text::style::{self, headed};
use crate::text::terminal::{self, fitted};
use crate::verbs::command_line::{Answer, Stopped, exit, heading};
use crate::verbs::exploration::{ExploreArgs, Explored};
use crate::verbs::show::{indented, plain_table, plural};
use clap::Args;
use comfy_table::CellAlignment;
use cuba::{Analysis, Conclusion, Level, Question};
use cuba::{Count, Engine};
use std::fmt::Write as _;

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
    pub(crate) explore: ExploreArgs,
    /// List the states that are new at each k
    #[arg(long)]
    states: bool,
    /// Go on until (R_k) itself collapses
    ///
    /// Which it may never do; not just (T(R_k)).
    #[arg(long, help_heading = heading::SEARCH)]
    full: bool,
}

/// The question, in words.
const ASKED: &str = "Which visible states T(R) are reachable, with any number of contexts?";
const ASKED_FULL: &str = "Which states R are reachable, with any number of contexts?";

/// More stacks than this, in all states together, are not listed: nobody reads them, and the memory may not be enough.
const MOST_LISTED: u128 = 10_000_000;

/// Of a longer table, so many rows are shown at its beginning, and as many at its end.
const ROWS: usize = 1000;

pub(crate) fn answer(args: &Reach, quiet: bool) -> Result<Answer, Stopped> {
    args.explore.cluster.hand_over()?;
    let so_far = args.explore.watch(quiet, unknown, so_far);
    args.explore.check_outputs(None, quiet)?;
    let loaded = args.explore.model.load()?;
    so_far.read(&loaded);
    let question = if args.full { Question::Reachable } else { Question::Visible };
    let explored = match args.explore.explore(&loaded, question, &so_far, quiet) {
        Ok(explored) => explored,
        Err(mistake) => return Ok(*mistake),
    };
    let mut remarks = args.explore.remarks(&loaded, &explored);
    let last = explored.analysis.levels.last().map_or(Count::ZERO, |level| level.reachable.unwrap_or(level.visible));
    let stacks = last.exact().map(|states| states.saturating_mul(explored.system().thread_count() as u128));
    let few = stacks.is_some_and(|stacks| stacks <= MOST_LISTED);
    if args.states && !few {
        let _ = writeln!(remarks, "note: there are {last} states, too many to list; stop earlier with --max-contexts");
    }
    let states = args.states && few;
    let verdict = verdict(&explored) + &loaded.assuming() + args.explore.evidence.doubt(&explored);
    let file = shown(&args.explore.model.file);
    let stdout = if args.explore.json {
        json::print(&json::analysis(file.clone(), &explored, &verdict, states, &loaded))
    } else {
        let mut out = fitted(&table(&explored.outline()), terminal::width());
        if states {
            out += "\n";
            out += &fitted(&new_states(&explored, &Words::of(&loaded)), terminal::width());
        }
        out += "\n";
        if explored.is_open() {
            out += &explored.outline().squeezed(terminal::width(), Words::of(&loaded).map);
        }
        let _ = writeln!(out, "{}", style::verdict(&verdict));
        out
    };
    let code = match explored.analysis.conclusion {
        Conclusion::Converged(_) => exit::OK,
        _ => exit::UNKNOWN,
    };
    let mut answer = Answer { stdout, remarks, errors: String::new(), code };
    args.explore.evidence.write(&explored, &mut answer);
    let asked = if args.full { ASKED_FULL } else { ASKED };
    let said = Said { file: &file, asked, patterns: Vec::new(), verdict: &verdict };
    args.explore.report.write(&said, &explored, &loaded, &mut answer);
    Ok(answer)
}

/// What is known of R, if (R_k) has converged and that was the question, and of T(R), if (T(R_k)) has.
pub(crate) fn known(question: Question, analysis: &Analysis<'_>) -> String {
    let last = analysis.levels[analysis.k()];
    let visible = plural(last.visible, "visible state");
    match (analysis.lower_sequence.collapse(), analysis.visible_sequence.collapse()) {
        (Some(r), Some(t)) if question == Question::Reachable => match last.reachable {
            Some(states) => {
                format!("R = R_{r} has {}; T(R) has {visible}, and collapses at k = {t}", plural(states, "state"))
            }
            None => format!("R = γ(S_{r}); T(R) has {visible}, and collapses at k = {t}"),
        },
        (_, Some(t)) => format!("T(R) has {visible}, and collapses at k = {t}"),
        (_, None) => String::new(),
    }
}

/// The answer in words.
fn verdict(explored: &Explored<'_>) -> String {
    let (known, outline) = (known(explored.question, &explored.analysis), explored.outline());
    match &explored.analysis.conclusion {
        Conclusion::Converged(proof) => format!("converged: {known}; {}", explored.proof(proof)),
        Conclusion::Unknown(_) if known.is_empty() || outline.found.is_some() => unknown(&outline),
        Conclusion::Unknown(_) => {
            let (k, s) = (explored.analysis.k(), outline.name());
            format!("unknown: {known}, but ({s}_k) has not converged up to k = {k}; {}", outline.why())
        }
        Conclusion::Safe(_) | Conclusion::Unsafe { .. } | Conclusion::Contradiction(_) => {
            unreachable!("not an answer to this question")
        }
    }
}

/// The verdict, if nothing has converged.
fn unknown(outline: &Outline<'_>) -> String {
    if let Some(unconfirmed) = outline.unconfirmed() {
        return format!("unknown: {}", unconfirmed.told());
    }
    let (why, s) = (outline.why(), outline.name());
    match outline.last() {
        Some(last) => format!("unknown: (T({s}_k)) has not converged up to k = {}; {why}", last.k),
        None => format!("unknown: nothing is known yet; {why}"),
    }
}

/// What is known, if the limits end it.
fn so_far(outline: &Outline<'_>) -> String {
    if outline.levels.is_empty() {
        return String::new();
    }
    let width = terminal::width();
    let squeezed = if outline.found.is_some() { String::new() } else { outline.squeezed(width, None) };
    fitted(&table(outline), width) + "\n" + &squeezed
}

/// The reachability table.
pub(crate) fn table(outline: &Outline<'_>) -> String {
    let mut table = plain_table();
    // Where there were too many states, the last levels have tuples.
    let is_counted = |count: fn(&Level) -> Option<Count>| outline.levels.iter().any(|level| count(level).is_some());
    let (states, tuples) = (is_counted(|level| level.reachable), is_counted(|level| level.tuples));
    let s = outline.name();
    let mut heading = vec!["k".to_owned()];
    heading.extend(states.then_some(["|R_k|", "new"]).into_iter().flatten().map(str::to_owned));
    heading.extend(tuples.then(|| "|S_k|".to_owned()));
    heading.extend([format!("|T({s}_k)|"), "new".to_owned(), "|T(R)| ≤".to_owned(), String::new()]);
    table.add_row(&heading);
    let sequences = [(format!("{s}_k"), &outline.lower_sequence), (format!("T({s}_k)"), &outline.visible_sequence)];
    let mut pauses = sequences.map(|(name, sequence)| (name, sequence.pauses().peekable()));
    let count = outline.levels.len();
    let mut by = None;
    for level in outline.levels {
        let mut remarks = Vec::new();
        if let Some((_, rung)) = level.upper.filter(|(_, rung)| by.replace(*rung) != Some(*rung)) {
            remarks.push(format!("by {rung}"));
        }
        for (name, pauses) in &mut pauses {
            if let Some((k, pause)) = pauses.next_if(|&(k, _)| k == level.k) {
                remarks.push(format!("{name} {pause} at {k}"));
            }
        }
        if level.k == ROWS && count > 2 * ROWS {
            table.add_row(vec!["…"; heading.len() - 1]);
        }
        if level.k < ROWS || level.k + ROWS >= count {
            let shown = |count: Option<Count>| count.map_or("–".to_owned(), |count| count.to_string());
            let mut row = vec![level.k.to_string()];
            row.extend(states.then_some([level.reachable, level.new_reachable]).into_iter().flatten().map(shown));
            row.extend(tuples.then(|| shown(level.tuples)));
            let left = level.upper.map(|(left, _)| left);
            row.extend([Some(level.visible), Some(level.new_visible), left].map(shown));
            row.push(remarks.join(", "));
            table.add_row(row);
        }
    }
    for column in table.column_iter_mut().take(heading.len() - 1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    headed(&indented(&table, ""))
}

/// T(R_k) \ T(R_{k-1}) for each k, and beside it R_k \ R_{k-1}, if states are kept one by one.
fn new_states(explored: &Explored<'_>, words: &Words<'_>) -> String {
    let lower = &explored.analysis.lower;
    let (mut heading, s) = (vec!["k".to_owned()], explored.levels());
    if lower.engine() == Engine::Explicit {
        heading.push("R_k \\ R_{k-1}".to_owned());
    }
    heading.push(format!("T({s}_k) \\ T({s}_{{k-1}})"));
    let mut rows = vec![heading];
    for k in 0..=explored.analysis.k() {
        let mut columns = Vec::new();
        if let Some(states) = lower.states(k) {
            columns.push(states.iter().map(|state| words.state(state)).collect::<Vec<_>>());
        }
        columns.push(lower.visible().states(k).iter().map(|state| words.visible(state)).collect());
        let height = columns.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for i in 0..height {
            let (first, none) = if i == 0 { (k.to_string(), "–") } else { (String::new(), "") };
            let cells = columns.iter().map(|column| column.get(i).map_or(none, String::as_str).to_owned());
            rows.push(std::iter::once(first).chain(cells).collect());
        }
    }
    let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate();
        let cells =
            cells.map(|(i, (cell, width))| if i == 0 { format!("{cell:>width$}") } else { format!("{cell:<width$}") });
        out += cells.collect::<Vec<_>>().join("  ").trim_end();
        out += "\n";
    }
    headed(&out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::finding::{Check, Found};
    use crate::running::limits::{Ended, Phase};
    use cuba::Halt;
    use cuba::{Options, search};
    use std::time::Duration;

    #[test]
    fn what_was_not_checked_is_not_called_converged() {
        let problem: cpds::Problem = include_str!("../../../../models/paper/fig1.cpds").parse().unwrap();
        let options = Options::default();
        let analysis = search(&problem, Question::Visible, &options, |_| ());
        let mut explored = Explored::new((&problem, Question::Visible), analysis, options, Duration::ZERO);
        assert!(verdict(&explored).starts_with("converged: T(R) has 8 visible states"));
        let found = Found::of(Question::Visible, &explored.analysis, Check::Pending);
        explored.leave_unconfirmed(found, Ended { why: Halt::Interrupted, phase: Phase::CheckingEvidence });
        assert_eq!(
            verdict(&explored),
            "unknown: a proof was found (Z has no other visible state) that T(R) has 8 visible states, and collapses at k = 5, but it was not \
             checked: it was interrupted while checking the evidence; rerun without an interrupt, or with `--no-check` to accept the unchecked proof"
        );
    }
}

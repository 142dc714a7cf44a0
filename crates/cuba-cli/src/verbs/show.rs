//! `cuba show`: the model read back, with a summary; or the steps from a state; or a store automaton; or the graph of visible states.

use crate::arguments::model::{Loaded, ModelArgs, shown};
use crate::json;
use crate::pictures::automaton::PsaArgs;
use crate::pictures::picture::PictureArgs;
use crate::pictures::visible_graph::{self, GraphArgs};
use crate::running::faults;
use crate::running::limits::{self, LimitArgs, Phase};
use crate::text::program_trace;
use crate::text::state_notation::Words;
use crate::text::terminal::{self, fitted, length};
use crate::verbs::command_line::{Answer, Stopped, exit};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use cpds::{ActionKind, Cpds, GlobalState, Rule, SharedState, Stack, print_cpds};
use std::fmt::Write as _;

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
    /// Show every step from this state, or from the initial one
    ///
    /// E.g. '0|1,4 6': the shared state, then each stack, top first, '-' if it is empty. Of a Boolean program such as 'x=1 & y=0|f:12, g:7(a=1)',
    /// or as it is printed. Without a state, put it behind the file.
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

pub(crate) fn answer(args: &Show, quiet: bool) -> Result<Answer, Stopped> {
    args.limits.watch(quiet, |ended| Err(Stopped::Limit(ended.to_string())));
    let loaded = args.model.load()?;
    limits::enter(Phase::Searching);
    faults::here("Searching");
    let file = shown(&args.model.file);
    let system = loaded.problem().system();
    let warnings = || json::warnings(&loaded.reading);
    let stdout = match (&args.psa.psa, &args.successors) {
        (Some(thread), _) => {
            args.psa.show(thread, &Words::of(&loaded), &args.picture, args.json.then(|| (file, warnings())))?
        }
        (None, Some(text)) => {
            let state = start(&loaded, text)?;
            match &loaded.program {
                _ if args.json => json::print(&json::successors(file, &loaded, &state, warnings())),
                Some(program) => program_trace::successors(&loaded, program, &state),
                None => successors(system, &state),
            }
        }
        (None, None) if args.picture.is_wanted() => match args.graph.explore(&loaded, quiet) {
            Ok(explored) => {
                limits::check()?;
                let picture = visible_graph::picture(&explored, &loaded)?;
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
        (None, None) => format!("# {file}\n{}\n{}", print_cpds(loaded.problem()), summary(&loaded)),
    };
    Ok(Answer { stdout, remarks: loaded.warnings(), errors: String::new(), code: exit::OK })
}

/// The state that is asked about; where the text is empty, the initial one.
fn start(loaded: &Loaded, text: &str) -> Result<GlobalState, Stopped> {
    let words = Words::of(loaded);
    match (text, words.system.initial()) {
        ("", [initial]) => Ok(initial.clone()),
        ("", initial) => {
            let first: Vec<String> =
                initial.iter().take(5).map(|state| format!("'{}'", words.system.text(state))).collect();
            let (count, more) = (initial.len(), if initial.len() > first.len() { ", …" } else { "" });
            let states = first.join(", ");
            Err(Stopped::Usage(format!("there are {count} initial states: say which one: --successors {states}{more}")))
        }
        (text, _) => Ok(words.read_state("--successors", text)?),
    }
}

/// Every enabled step, by thread, in the paper's notation.
fn successors(system: &Cpds, state: &GlobalState) -> String {
    let mut table = plain_table();
    let mut count = 0;
    for thread in system.threads() {
        let before = count;
        for step in system.steps_of(thread, state) {
            count += 1;
            let label = step.rule.label.as_ref().map_or(String::new(), |label| format!("{label}:"));
            let (action, target) = (system.paper(&step.rule.action), system.paper(&step.state));
            table.add_row([system.thread_name(thread), label, action.to_string(), target.to_string()]);
        }
        if count == before {
            table.add_row([&system.thread_name(thread), "", "no step", ""]);
        }
    }
    let steps = plural(count, "successor");
    let lines = fitted(&indented(&table, "  "), terminal::width());
    format!("{} has {steps}\n{lines}", system.paper(state))
}

/// How large the model is, as comments: what is printed stays a model.
fn summary(loaded: &Loaded) -> String {
    let system = loaded.problem().system();
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "# {text}").expect("writing to a string");
    line(format!(
        "|Q| = {}, {}, {}, {}",
        system.shared_names().len(),
        plural(system.thread_count(), "thread"),
        plural(system.initial().len(), "initial state"),
        plural(loaded.problem().property().bad.len(), "bad pattern"),
    ));
    let groups: Vec<String> = system
        .symmetric_groups()
        .iter()
        .filter(|group| group.len() > 1)
        .map(|group| group.iter().map(|&thread| system.thread_name(thread)).collect::<Vec<_>>().join(" "))
        .map(|names| format!("{{{names}}}"))
        .collect();
    line(match groups.len() {
        0 => "no symmetric threads".to_owned(),
        1 => format!("symmetric group: {}", groups[0]),
        _ => format!("symmetric groups: {}", groups.join(" ")),
    });
    let mut table = plain_table();
    let kinds = ActionKind::ALL.iter().map(|kind| kind.word());
    table.add_row(["thread", "copies", "|Σ|", "actions"].into_iter().chain(kinds));
    for program in system.programs() {
        let counts = [program.copies() as usize, program.alphabet().len(), program.rules().len()];
        let counts = counts.into_iter().chain(ActionKind::ALL.iter().map(|&kind| program.count(kind)));
        table.add_row(std::iter::once(program.name().to_owned()).chain(counts.map(|n| n.to_string())));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    out + &indented(&table, "# ")
}

pub(crate) fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

pub(crate) fn indented(table: &Table, indent: &str) -> String {
    table.lines().flat_map(|line| [indent, line.trim(), "\n"].map(str::to_owned)).collect()
}

/// An action with its label, if it has one.
pub(crate) fn labelled(system: &Cpds, rule: &Rule) -> String {
    let label = rule.label.as_ref().map_or(String::new(), |label| format!("{label}: "));
    format!("{label}{}", system.paper(&rule.action))
}

/// The state of one thread alone.
pub(crate) fn thread_state(shared: SharedState, stack: &Stack) -> GlobalState {
    GlobalState { shared, stacks: vec![stack.clone()] }
}

/// Of more than twice as many, so many at the beginning and at the end, and something instead of the others.
pub(crate) fn shortened<T>(mut lines: Vec<T>, most: usize, instead: impl Fn(usize) -> T) -> Vec<T> {
    if lines.len() > 2 * most {
        let left_out = lines.len() - 2 * most;
        lines.splice(most..most + left_out, [instead(left_out)]);
    }
    lines
}

/// Two columns.
pub(crate) fn in_columns(lines: Vec<(String, String)>) -> String {
    let width = lines.iter().map(|(left, _)| length(left)).max().unwrap_or(0);
    let line = |(left, right): (String, String)| {
        let gap = width - length(&left) + 2;
        format!("{left}{:gap$}{right}", "").trim_end().to_owned() + "\n"
    };
    lines.into_iter().map(line).collect()
}

/// `1 state`, `2 states`.
pub(crate) fn plural(n: impl ToString + Copy, one: &str) -> String {
    let n = n.to_string();
    format!("{n} {one}{}", if n == "1" { "" } else { "s" })
}

//! `cuba fcr`: does finite context reachability hold? If not, the loop that refutes it.

use crate::cli::{Answer, Stopped, exit};
use crate::engine::{self, Cancel, Halt, Loop, Psa};
use crate::fault;
use crate::json;
use crate::limits::{self, Ended, LimitArgs, Phase};
use crate::load::{ModelArgs, shown};
use crate::picture::{Edge, Node, NodeKind, Picture};
use crate::progress::{self, Progress};
use crate::show::{in_columns, labelled, thread_state};
use crate::style::{self, BOLD, paint};
use crate::terminal::{self, fitted};
use clap::Args;
use cpds::{Cpds, Program, SharedState, Stack};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

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
    #[command(flatten)]
    limits: LimitArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Of a longer loop, so many steps are shown at its beginning, and as many at its end.
const STEPS: usize = 500;

pub(crate) fn answer(args: &Fcr, quiet: bool) -> Result<Answer, Stopped> {
    let start = Instant::now();
    let (model, is_json) = (shown(&args.model.file), args.json);
    args.limits.watch(quiet, move |ended| Ok(ended_by(ended, model, is_json, start.elapsed())));
    let loaded = args.model.load()?;
    let system = loaded.problem().system();
    let memory = limits::memory();
    let progress = Progress::unless(quiet, progress::FCR, memory.for_tables());
    let start = Instant::now();
    limits::enter(Phase::Searching);
    fault::here("Searching");
    let cancel = Cancel::when(Some(limits::stop()), None);
    let decided = engine::Fcr::within(system, memory.for_tables() / Psa::BYTES_A_TRANSITION, &cancel).map(|mut fcr| {
        for (found, program) in fcr.loops.iter_mut().zip(system.programs()) {
            *found = found.take().map(|found| found.shortened(program));
        }
        fcr
    });
    let time = start.elapsed();
    drop(progress);
    let (verdict, code) = match &decided {
        Ok(fcr) if fcr.holds() => (
            "holds: within one context, every thread reaches finitely many states; so every R_k is finite".to_owned(),
            exit::OK,
        ),
        Ok(fcr) => (refuted(system, fcr), exit::UNSAFE),
        Err(_) => (unknown(cancel.why().map(|why| Ended { why, phase: Phase::Searching })), exit::UNKNOWN),
    };
    let verdict = verdict + &loaded.assuming();
    let decided = decided.ok();
    if let Some(fcr) = &decided {
        // A loop is believed only if it replays.
        for (program, found) in system.programs().iter().zip(&fcr.loops) {
            let fine = found.as_ref().is_none_or(|found| found.run.is_none() || found.replays(program));
            assert!(fine, "the loop of {} is a run of it", program.name());
        }
    }
    let stdout = if args.json {
        let file = shown(&args.model.file);
        json::print(&json::fcr(file, &loaded, decided.as_ref(), &verdict, time))
    } else {
        let mut out = String::new();
        let loops = decided.iter().flat_map(|fcr| system.programs().iter().zip(&fcr.loops));
        for (program, found) in loops {
            if let Some(found) = found {
                out += &fitted(&shown_loop(system, program, found), terminal::width());
                out += "\n";
            }
        }
        let _ = writeln!(out, "{}", style::verdict(&verdict));
        out
    };
    Ok(Answer { stdout, remarks: loaded.warnings(), errors: String::new(), code })
}

/// The verdict if there is no answer: a limit has ended it, or the memory is not enough.
fn unknown(ended: Option<Ended>) -> String {
    match ended {
        Some(ended) if ended.why != Halt::Memory || ended.phase != Phase::Searching => format!("unknown: {ended}"),
        _ => format!("unknown: a store automaton takes more memory than {}", limits::memory().hint()),
    }
}

/// What is to be said if a limit ends it from outside.
fn ended_by(ended: Ended, file: String, is_json: bool, time: Duration) -> Answer {
    let verdict = unknown(Some(ended));
    let stdout =
        if is_json { json::print(&json::no_fcr(file, &verdict, time)) } else { style::verdict(&verdict) + "\n" };
    Answer { stdout, remarks: String::new(), errors: String::new(), code: exit::UNKNOWN }
}

fn refuted(system: &Cpds, fcr: &engine::Fcr) -> String {
    let with_loop = system.programs().iter().zip(&fcr.loops).filter(|(_, found)| found.is_some());
    let names: Vec<&str> = with_loop.map(|(program, _)| program.name()).collect();
    let stacks = if names.len() == 1 { "its stack" } else { "their stacks" };
    format!("refuted: within one context, {} can raise {stacks} for ever", names.join(" and "))
}

/// The run, step by step: the actions on the left, the states they lead to on the right.
pub(crate) fn shown_loop(system: &Cpds, program: &Program, found: &Loop) -> String {
    let state = |(shared, stack): &(SharedState, Stack)| system.paper(&thread_state(*shared, stack)).to_string();
    let [start, end] = found.ends();
    let name = paint(BOLD, program.name());
    let heading = format!("{name}: {} →⁺ {}, and so on for ever\n", state(&start), state(&end));
    let Some(run) = &found.run else { return heading + "  (the run is too long to be written out)\n" };
    let mut lines = vec![(String::new(), state(&run.start))];
    let steps = run.rules.iter().zip(run.states(program));
    lines.extend(steps.map(|(&rule, to)| (format!("  {}", labelled(system, &program.rules()[rule])), state(&to))));
    if lines.len() > 2 * STEPS {
        let left_out = lines.len() - 2 * STEPS;
        lines.splice(STEPS..STEPS + left_out, [(format!("  … {left_out} steps …"), String::new())]);
    }
    heading + &in_columns(lines)
}

/// A loop that is longer than this cannot be read as a picture.
const DRAWN: usize = 40;

/// The run as a picture: from ⟨q|σ⟩ to ⟨q|σw⟩, where it starts again.
pub(crate) fn loop_picture(system: &Cpds, program: &Program, found: &Loop) -> Option<Picture> {
    let run = found.run.as_ref().filter(|run| run.rules.len() <= DRAWN)?;
    let states: Vec<_> = std::iter::once(run.start.clone()).chain(run.states(program)).collect();
    let name = |(shared, stack): &(SharedState, Stack)| system.paper(&thread_state(*shared, stack)).to_string();
    let kind = |i: usize| if i == 0 { NodeKind::Initial } else { NodeKind::Inner };
    let nodes = states.iter().enumerate().map(|(i, state)| Node::plain(name(state), kind(i))).collect();
    let label = |rule: usize| {
        let rule = &program.rules()[rule];
        rule.label.as_ref().map_or_else(|| rule.action.kind().word().to_owned(), ToString::to_string)
    };
    let step = |(i, &rule): (usize, &usize)| Edge {
        from: i,
        to: i + 1,
        labels: vec![label(rule)],
        marked: false,
        dashed: false,
    };
    let mut edges: Vec<Edge> = run.rules.iter().enumerate().map(step).collect();
    edges.push(Edge { from: run.rules.len(), to: 0, labels: vec!["again".to_owned()], marked: true, dashed: false });
    Some(Picture { title: format!("{}: the loop", program.name()), nodes, edges })
}

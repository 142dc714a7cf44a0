//! Lowering: from the graph of a program to a pushdown system with its property.
//!
//! In: a graph, its threads, and the bad states. Out: a [`Problem`] and a [`SourceMap`], or
//! diagnostics.

mod naming;
mod property;
mod system;

pub use property::BadStates;

use crate::exploration::{ExploredSystem, Role, RoleStart, StepRelation, TooLarge, explore};
use crate::graph::{Graph, Step};
use crate::source_map::{LineStarts, Meaning, Places, SourceMap};
use crate::states::{Shared, live_variables};
use crate::syntax::Dialect;
use crate::threads::Threads;
use cpds::diagnostic::{Diagnostic, Diagnostics};
use cpds::{Names, Problem, Property, Source};
use naming::Naming;
use system::{numbered, system};

/// Builds the system of a program, with its property and its source map. `memory` limits the memory
/// of the system, in bytes. The texts of targets are added to `sources`.
pub(crate) fn lower(
    graph: Graph,
    threads: Threads,
    (bad_states, dialect): (&BadStates, Dialect),
    memory: u64,
    sources: &mut Vec<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<(Problem, SourceMap)> {
    let live = live_variables(&graph);
    let relation = StepRelation::new(&graph, &threads, &live, *bad_states == BadStates::Errors);
    let roots = threads.roots.iter().map(|&(function, copies)| Role { start: RoleStart::Root(function), copies });
    let pools = (0..).zip(&threads.pools).map(|(pool, it)| Role { start: RoleStart::Pool(pool), copies: it.slots });
    let roles: Vec<Role> = roots.chain(pools).collect();
    let mut explored = match explore(&relation, &roles, memory) {
        Ok(explored) => explored,
        Err(error) => {
            diagnostics.error(|| too_large(&error));
            return None;
        }
    };
    let may_run = may_run(&graph, &threads);
    if relation.has_errors {
        // Each error that a thread may run into has a shared state, also if no run reaches it.
        for node in errors(&graph, &may_run) {
            explored.shared.insert(Shared::Error(node));
        }
    }
    let naming = Naming::new(&graph, &sources[0]);
    let (symbols, frames) = numbered(&explored, &relation, &roles);
    let mut symbol_names = Names::default();
    for frame in &frames {
        naming.symbol(&mut symbol_names, frame);
    }
    let names = naming.shared_state_names(&explored.shared);
    let ExploredSystem { shared, frames: found, actions } = explored;
    let system = system(names, symbol_names, (&found, actions), &symbols, &relation, &roles);
    let lines = LineStarts::new(&sources[0].text);
    let places = Places::new(&graph, &lines);
    let meaning = Meaning { shared, frames, lines, places };
    let system = match system {
        Ok(system) => system,
        Err(error) => {
            let help = "reduce the number of threads or of variables";
            diagnostics.error(|| Diagnostic::error(format!("the program is too large: {error}")).help(help));
            return None;
        }
    };
    let context = property::PatternBuilder {
        system: &system,
        graph: &graph,
        map: &meaning,
        threads: &threads,
        may_run: &may_run,
        dialect,
    };
    let bad = property::patterns(&context, bad_states, sources, diagnostics);
    match Problem::new(system, Property { bad }) {
        Ok(problem) => Some((problem, SourceMap::new(graph, threads, meaning, live))),
        Err(error) => {
            diagnostics.error(|| {
                Diagnostic::error(format!("the bad states need too many patterns: {error}"))
                    .help("use fewer labels or targets")
            });
            None
        }
    }
}

/// Builds the diagnostic for a system that is too large.
fn too_large(error: &TooLarge) -> Diagnostic {
    let message = match error {
        TooLarge::Many { what, limit } => format!("the program has more than {limit} {what}"),
        TooLarge::Memory(bytes) => format!("the system of the program takes more than {} MiB of memory", bytes >> 20),
    };
    Diagnostic::error(message)
        .help("too many of its variables are live at the same time; give them values, or leave some out")
}

/// Computes, for each node, whether a path of the graph leads a thread to it. Conditions are
/// ignored.
fn may_run(graph: &Graph, threads: &Threads) -> Vec<bool> {
    let mut entered: Vec<usize> = threads.roots.iter().map(|&(function, _)| graph.functions[function].entry).collect();
    let (mut reached, mut done) = (vec![false; graph.nodes.len()], 0);
    while let Some(&start) = entered.get(done) {
        done += 1;
        if reached[start] {
            continue;
        }
        for node in graph.reach(start) {
            reached[node] = true;
            match graph.nodes[node].step {
                Step::Call { function, .. } | Step::Start { function, .. } => {
                    entered.push(graph.functions[function].entry);
                }
                Step::StartAt(target, _) => entered.push(target),
                _ => {}
            }
        }
    }
    reached
}

/// Returns the nodes at which an error can happen, restricted to those to which a path leads.
fn errors(graph: &Graph, may_run: &[bool]) -> Vec<usize> {
    let is_error =
        |node: &usize| may_run[*node] && matches!(graph.nodes[*node].step, Step::Assert(_) | Step::Unlock(_));
    let mut errors: Vec<usize> = (0..graph.nodes.len()).filter(is_error).collect();
    errors.sort_by_key(|&node| graph.nodes[node].span);
    errors
}

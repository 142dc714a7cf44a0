//! The threads of a program: the initial ones, and slots for created ones.
//!
//! In: the graph of the program, and the options. Out: [`Threads`], or diagnostics.
//!
//! If the number of executions of each creation is bounded, there is one slot for each execution.
//! Otherwise the user has to set a limit on the number of created threads.

mod creations;

use crate::graph::{Graph, Step};
use cpds::diagnostic::{Diagnostic, Diagnostics, Setting, nearest, plural};
use cpds::limits;
use creations::creations;

/// The threads of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Threads {
    /// The functions that the initial threads run, each with the number of threads.
    pub roots: Vec<(usize, u32)>,
    /// The slots for created threads.
    pub pools: Vec<Pool>,
    /// The limit on the number of created threads at a time, if it has an effect.
    pub limit: Option<u32>,
    /// The function `main`, if it only starts threads. Then it is not a thread itself.
    pub launcher: Option<usize>,
}

/// Slots for threads with the same starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pool {
    /// Where these threads start.
    pub starts: Vec<Start>,
    /// The number of slots.
    pub slots: u32,
}

/// Where a created thread starts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Start {
    /// At the entry of a function.
    Function(usize),
    /// At a label of a function.
    Label(usize, String),
}

/// Computes the threads for these options. Reports errors in the options.
pub(crate) fn plan(
    graph: &Graph,
    instances: &[(String, u32)],
    threads: Option<u32>,
    diagnostics: &mut Diagnostics,
) -> Threads {
    let (roots, launcher) = roots(graph, instances, diagnostics);
    let mut started: Vec<(Start, u64)> = Vec::new();
    let mut endless = None;
    for (node, times) in creations(graph, &roots) {
        if times == u64::MAX && endless.is_none() {
            endless = Some(node);
        }
        let start = start(graph, node);
        match started.iter_mut().find(|(known, _)| *known == start) {
            Some((_, total)) => *total = total.saturating_add(times),
            None => started.push((start, times)),
        }
    }
    let total = started.iter().map(|(_, times)| times).fold(0, |sum: u64, times| sum.saturating_add(*times));
    let (pools, limit) = match (endless, threads) {
        (Some(node), None) => {
            let span = graph.nodes[node].span;
            diagnostics.error(|| {
                Diagnostic::error("the number of threads that this creates has no bound")
                    .at(span, "in a loop, or in a function that is called or started repeatedly")
                    .help("set the number of created threads that may exist at a time")
                    .setting(Setting::Threads, "2")
            });
            (Vec::new(), None)
        }
        (_, Some(limit)) if total > u64::from(limit) => {
            let starts = started.into_iter().map(|(start, _)| start).collect();
            (vec![Pool { starts, slots: limit }], Some(limit))
        }
        _ => {
            if let Some(limit) = threads {
                diagnostics.warning(|| needless_limit(limit, total, launcher.is_some()));
            }
            let pool = |(start, times): (Start, u64)| Pool {
                starts: vec![start],
                slots: u32::try_from(times).unwrap_or(u32::MAX),
            };
            (started.into_iter().map(pool).collect(), None)
        }
    };
    let all = pools.iter().map(|pool| u64::from(pool.slots)).chain(roots.iter().map(|&(_, copies)| u64::from(copies)));
    if all.sum::<u64>() > limits::THREADS {
        diagnostics.error(|| {
            Diagnostic::error(format!("more than {} threads", limits::THREADS))
                .help("reduce the number of threads")
                .setting(Setting::Threads, None)
                .setting(Setting::Instances, None)
        });
        return Threads::default();
    }
    Threads { roots, pools: pools.into_iter().filter(|pool| pool.slots > 0).collect(), limit, launcher }
}

/// Builds the warning that a limit changes nothing, because the program creates no more threads.
fn needless_limit(limit: u32, created: u64, are_started_by_main: bool) -> Diagnostic {
    let why = match created {
        0 if are_started_by_main => "the threads that `main` starts are initial threads".to_owned(),
        0 => "no thread is created".to_owned(),
        1 => "one thread is created at most".to_owned(),
        _ => format!("{created} threads are created at most"),
    };
    let limit = plural(limit, "created thread");
    Diagnostic::warning(format!("a limit of {limit} changes nothing: {why}")).about(Setting::Threads)
}

/// Returns where the thread that a node creates starts.
pub(crate) fn start(graph: &Graph, node: usize) -> Start {
    match &graph.nodes[node].step {
        Step::Start { function, .. } => Start::Function(*function),
        Step::StartAt(target, label) => Start::Label(graph.nodes[*target].function, label.clone()),
        _ => unreachable!("not a creation"),
    }
}

/// Computes the initial threads. Also returns `main` if it only starts them.
fn roots(
    graph: &Graph,
    instances: &[(String, u32)],
    diagnostics: &mut Diagnostics,
) -> (Vec<(usize, u32)>, Option<usize>) {
    let mut roots: Vec<(usize, u32)> = Vec::new();
    let mut add = |function: usize, copies: u32| match roots.iter_mut().find(|(known, _)| *known == function) {
        Some((_, total)) => *total = total.saturating_add(copies),
        None => roots.push((function, copies)),
    };
    let index = |name: &str| graph.functions.iter().position(|function| function.name == name);
    let names = || graph.functions.iter().map(|function| function.name.as_str());
    for (name, copies) in instances {
        match index(name) {
            Some(function) => add(function, *copies),
            None => diagnostics.error(|| {
                let error = Diagnostic::error(format!("there is no function `{name}`")).about(Setting::Instances);
                let near = nearest(name, names());
                error.help(near.map_or_else(
                    || format!("there are: {}", names().collect::<Vec<_>>().join(", ")),
                    |near| format!("did you mean `{near}`?"),
                ))
            }),
        }
    }
    if !instances.is_empty() {
        roots.retain(|&(_, copies)| copies > 0);
        if roots.is_empty() && diagnostics.is_ok() {
            diagnostics.error(|| {
                Diagnostic::error("no threads at all")
                    .about(Setting::Instances)
                    .help("start at least one")
                    .setting(Setting::Instances, "f=1")
            });
        }
        return (roots, None);
    }
    let Some(main) = index("main") else {
        diagnostics.error(|| {
            Diagnostic::error("there is no function `main`")
                .help("name the functions to start")
                .setting(Setting::Instances, "f=2,g=1")
        });
        return (roots, None);
    };
    let started = only_starts(graph, main);
    let launcher = started.is_some().then_some(main);
    started.unwrap_or_else(|| vec![main]).into_iter().for_each(|function| add(function, 1));
    (roots, launcher)
}

/// Returns the functions that a function starts, if it does nothing else.
fn only_starts(graph: &Graph, function: usize) -> Option<Vec<usize>> {
    let (mut node, mut started) = (graph.functions[function].entry, Vec::new());
    if graph.functions[function].enforce.is_some() {
        return None;
    }
    loop {
        match &graph.nodes[node].step {
            Step::Start { function: started_here, arguments } if arguments.is_empty() && *started_here != function => {
                started.push(*started_here);
            }
            Step::Return(values) if values.is_empty() && !started.is_empty() => return Some(started),
            _ => return None,
        }
        node = graph.nodes[node].next;
    }
}

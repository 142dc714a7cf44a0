//! From a graph to a pushdown system: what was unfolded, with names, and the property.

use crate::asked::{self, Asked};
use crate::graph::{Graph, Step};
use crate::live::live;
use crate::map::{Meaning, SourceMap};
use crate::names::{Lines, Naming};
use crate::state::{Frame, FrameKind, Shared};
use crate::step::Machine;
use crate::syntax::Dialect;
use crate::table::Table;
use crate::threads::{Start, Threads};
use crate::unfold::{Role, RoleStart, TooLarge, Unfold, Unfolded, unfold};
use crate::words::Places;
use cpds::diagnostic::{Diagnostic, Diagnostics};
use cpds::{
    Action, Alphabet, Cpds, GlobalState, Names, Problem, Program, Property, Rule, SharedState, Source, Stack, Symbol,
};

/// A program as a pushdown system, and how to find back.
pub(crate) fn lower(
    graph: Graph,
    threads: Threads,
    (asked, dialect): (&Asked, Dialect),
    memory: u64,
    sources: &mut Vec<Source>,
    diagnostics: &mut Diagnostics,
) -> Option<(Problem, SourceMap)> {
    let live = live(&graph);
    let machine = Machine::new(&graph, &threads, &live, *asked == Asked::Errors);
    let roots = threads.roots.iter().map(|&(function, copies)| Role { start: RoleStart::Root(function), copies });
    let pools = (0..).zip(&threads.pools).map(|(pool, it)| Role { start: RoleStart::Pool(pool), copies: it.places });
    let roles: Vec<Role> = roots.chain(pools).collect();
    let mut unfolded = match unfold(&machine, &roles, memory) {
        Ok(unfolded) => unfolded,
        Err(error) => {
            diagnostics.error(|| too_large(&error));
            return None;
        }
    };
    let may_run = may_run(&graph, &threads);
    if machine.has_errors {
        // Every error that the program speaks of has its state, whether it is ever reached or not.
        for node in errors(&graph, &may_run) {
            unfolded.shared.insert(Shared::Error(node));
        }
    }
    let naming = Naming::new(&graph, &sources[0]);
    let (symbols, frames) = numbered(&unfolded, &machine, &roles);
    let mut symbol_names = Names::default();
    for frame in &frames {
        naming.symbol(&mut symbol_names, frame);
    }
    let names = naming.of_all(&unfolded.shared);
    let Unfolded { shared, frames: found, actions } = unfolded;
    let system = system(names, symbol_names, (&found, actions), &symbols, &machine, &roles);
    let lines = Lines::new(&sources[0].text);
    let places = Places::new(&graph, &lines);
    let meaning = Meaning { shared, frames, lines, places };
    let system = match system {
        Ok(system) => system,
        Err(error) => {
            let help = "ask for fewer threads, or leave variables out";
            diagnostics.error(|| Diagnostic::error(format!("the program is too large: {error}")).help(help));
            return None;
        }
    };
    let context =
        asked::Context { system: &system, graph: &graph, map: &meaning, threads: &threads, may_run: &may_run, dialect };
    let bad = asked::patterns(&context, asked, sources, diagnostics);
    match Problem::new(system, Property { bad }) {
        Ok(problem) => Some((problem, SourceMap::new(graph, threads, meaning, live))),
        Err(error) => {
            diagnostics.error(|| {
                Diagnostic::error(format!("too many states are asked for: {error}")).help("say more about them")
            });
            None
        }
    }
}

/// That a program has too large a system.
fn too_large(error: &TooLarge) -> Diagnostic {
    let message = match error {
        TooLarge::Many { what, limit } => format!("the program has more than {limit} {what}"),
        TooLarge::Memory(bytes) => format!("the system of the program takes more than {} MiB of memory", bytes >> 20),
    };
    Diagnostic::error(message)
        .help("it has too many variables that matter at the same time; give them values, or leave some out")
}

/// The places that a thread may come to, whatever the conditions are.
fn may_run(graph: &Graph, threads: &Threads) -> Vec<bool> {
    let mut entered: Vec<usize> = threads.roots.iter().map(|&(function, _)| graph.functions[function].entry).collect();
    let (mut seen, mut done) = (vec![false; graph.nodes.len()], 0);
    while let Some(&start) = entered.get(done) {
        done += 1;
        if seen[start] {
            continue;
        }
        for node in graph.reach(start) {
            seen[node] = true;
            match graph.nodes[node].step {
                Step::Call { function, .. } | Step::Start { function, .. } => {
                    entered.push(graph.functions[function].entry);
                }
                Step::StartAt(target, _) => entered.push(target),
                _ => {}
            }
        }
    }
    seen
}

/// The places at which an error can happen, among those that a thread may come to.
fn errors(graph: &Graph, may_run: &[bool]) -> Vec<usize> {
    let is_error =
        |node: &usize| may_run[*node] && matches!(graph.nodes[*node].step, Step::Assert(_) | Step::Unlock(_));
    let mut errors: Vec<usize> = (0..graph.nodes.len()).filter(is_error).collect();
    errors.sort_by_key(|&node| graph.nodes[node].span);
    errors
}

/// The symbol of each frame, and the frame of each symbol: in the order in which the programs
/// mention them.
fn numbered(unfolded: &Unfolded, machine: &Machine<'_>, roles: &[Role]) -> (Vec<Option<Symbol>>, Vec<Frame>) {
    let (mut symbols, mut frames) = (vec![None; unfolded.frames.len()], Vec::new());
    for (role, actions) in roles.iter().zip(&unfolded.actions) {
        for frame in mentioned(&unfolded.frames, machine, *role, actions) {
            if symbols[frame].is_none() {
                symbols[frame] = Some(Symbol(u32::try_from(frames.len()).expect("limited")));
                frames.push(unfolded.frames[frame].clone());
            }
        }
    }
    (symbols, frames)
}

/// The frames of a program, as it mentions them.
fn mentioned<'u>(
    frames: &Table<Frame>,
    machine: &Machine<'_>,
    role: Role,
    actions: &'u [Unfold],
) -> impl Iterator<Item = usize> + use<'u> {
    let first = first_frame(machine, role).and_then(|frame| frames.get_index_of(&frame));
    first.into_iter().chain(actions.iter().flat_map(Unfold::frames).map(|frame| frame as usize))
}

fn first_frame(machine: &Machine<'_>, role: Role) -> Option<Frame> {
    match role.start {
        RoleStart::Root(function) => Some(machine.first_frame(function, FrameKind::Root)),
        RoleStart::Pool(_) => None,
    }
}

fn system(
    shared: Names,
    symbol_names: Names,
    (frames, actions): (&Table<Frame>, Vec<Vec<Unfold>>),
    symbols: &[Option<Symbol>],
    machine: &Machine<'_>,
    roles: &[Role],
) -> Result<Cpds, cpds::ModelError> {
    let symbol = |frame: u32| symbols[frame as usize].expect("every frame that is mentioned has a symbol");
    let mut names = Names::default();
    let (mut programs, mut stacks) = (Vec::new(), Vec::new());
    for (role, actions) in roles.iter().zip(actions) {
        let rule = |action: &Unfold| {
            let read = action.top().map(symbol);
            let (mut written, mut count) = ([Symbol(0); 2], 0);
            for frame in action.written() {
                written[count] = symbol(frame);
                count += 1;
            }
            let (from, to) = ((SharedState(action.from), read.as_slice()), (SharedState(action.to), &written[..count]));
            let action = Action::new(from, to);
            Rule { label: None, action: action.expect("a step reads one symbol and writes two at most") }
        };
        let alphabet = Alphabet::new(mentioned(frames, machine, *role, &actions).filter_map(|frame| symbols[frame]));
        let name = program_name(machine, role.start, &mut names);
        let all = actions.iter().map(rule).collect();
        drop(actions);
        programs.push(Program::new(&name, role.copies, alphabet, all)?);
        let first = first_frame(machine, *role).and_then(|frame| frames.get_index_of(&frame));
        let stack = Stack::from_top(first.and_then(|frame| symbols[frame]));
        stacks.extend(std::iter::repeat_n(stack, role.copies as usize));
    }
    Cpds::new(shared, symbol_names, programs, vec![GlobalState { shared: SharedState(0), stacks }])
}

/// A program is called after what it starts with.
fn program_name(machine: &Machine<'_>, start: RoleStart, names: &mut Names) -> String {
    let function = |function: usize| machine.graph.functions[function].name.clone();
    let name = match start {
        RoleStart::Root(root) => function(root),
        RoleStart::Pool(pool) => match machine.threads.pools[pool as usize].starts.as_slice() {
            [Start::Function(started)] => function(*started),
            [Start::Label(within, label)] => format!("{}.{label}", function(*within)),
            _ => "created".to_owned(),
        },
    };
    let name = if names.get(&name).is_some() { format!("{name}.created") } else { name };
    names.insert(&name);
    name
}

//! Builds the system from the explored actions: programs, alphabets and the initial state.

use crate::exploration::{ExploredSystem, NumberedAction, Role, RoleStart, StepRelation};
use crate::states::{Frame, FrameKind, Table};
use crate::threads::Start;
use cpds::{Action, Alphabet, Cpds, GlobalState, Names, Program, Rule, SharedState, Stack, Symbol};

/// Numbers the symbols in the order in which the programs first mention their frames. Returns the
/// symbol of each frame, and the frame of each symbol.
pub(super) fn numbered(
    explored: &ExploredSystem,
    relation: &StepRelation<'_>,
    roles: &[Role],
) -> (Vec<Option<Symbol>>, Vec<Frame>) {
    let (mut symbols, mut frames) = (vec![None; explored.frames.len()], Vec::new());
    for (role, actions) in roles.iter().zip(&explored.actions) {
        for frame in mentioned(&explored.frames, relation, *role, actions) {
            if symbols[frame].is_none() {
                symbols[frame] = Some(Symbol(u32::try_from(frames.len()).expect("limited")));
                frames.push(explored.frames[frame].clone());
            }
        }
    }
    (symbols, frames)
}

/// Iterates over the frames of a program, in the order in which the program mentions them.
fn mentioned<'u>(
    frames: &Table<Frame>,
    relation: &StepRelation<'_>,
    role: Role,
    actions: &'u [NumberedAction],
) -> impl Iterator<Item = usize> + use<'u> {
    let first = first_frame(relation, role).and_then(|frame| frames.get_index_of(&frame));
    first.into_iter().chain(actions.iter().flat_map(NumberedAction::frames).map(|frame| frame as usize))
}

fn first_frame(relation: &StepRelation<'_>, role: Role) -> Option<Frame> {
    match role.start {
        RoleStart::Root(function) => Some(relation.first_frame(function, FrameKind::Root)),
        RoleStart::Pool(_) => None,
    }
}

pub(super) fn system(
    shared: Names,
    symbol_names: Names,
    (frames, actions): (&Table<Frame>, Vec<Vec<NumberedAction>>),
    symbols: &[Option<Symbol>],
    relation: &StepRelation<'_>,
    roles: &[Role],
) -> Result<Cpds, cpds::ModelError> {
    let symbol = |frame: u32| symbols[frame as usize].expect("every frame that is mentioned has a symbol");
    let mut names = Names::default();
    let (mut programs, mut stacks) = (Vec::new(), Vec::new());
    for (role, actions) in roles.iter().zip(actions) {
        let rule = |action: &NumberedAction| {
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
        let alphabet = Alphabet::new(mentioned(frames, relation, *role, &actions).filter_map(|frame| symbols[frame]));
        let name = program_name(relation, role.start, &mut names);
        let all = actions.iter().map(rule).collect();
        drop(actions);
        programs.push(Program::new(&name, role.copies, alphabet, all)?);
        let first = first_frame(relation, *role).and_then(|frame| frames.get_index_of(&frame));
        let stack = Stack::from_top(first.and_then(|frame| symbols[frame]));
        stacks.extend(std::iter::repeat_n(stack, role.copies as usize));
    }
    Cpds::new(shared, symbol_names, programs, vec![GlobalState { shared: SharedState(0), stacks }])
}

/// Returns the name of a program: the name of the function or label at which its threads start.
fn program_name(relation: &StepRelation<'_>, start: RoleStart, names: &mut Names) -> String {
    let function = |function: usize| relation.graph.functions[function].name.clone();
    let name = match start {
        RoleStart::Root(root) => function(root),
        RoleStart::Pool(pool) => match relation.threads.pools[pool as usize].starts.as_slice() {
            [Start::Function(started)] => function(*started),
            [Start::Label(within, label)] => format!("{}.{label}", function(*within)),
            _ => "created".to_owned(),
        },
    };
    let name = if names.get(&name).is_some() { format!("{name}.created") } else { name };
    names.insert(&name);
    name
}

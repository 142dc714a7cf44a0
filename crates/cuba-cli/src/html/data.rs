//! The data for the script of the report: the states of the table and of the trace. Each name and
//! each stack occurs only once.

use crate::analysis::exploration::Exploration;
use crate::analysis::model::{LoadedModel, LoadedProgram};
use crate::text::program_trace;
use crate::text::state_notation::{StateNotation, labelled};
use crate::text::style::plain;
use boolprog::{ProgramStep, Synchronisation};
use cpds::diagnostic::printable_lines;
use cpds::{GlobalState, SharedState, Stack, Symbol, ThreadId, Trace};
use cuba::{Count, Engine, LevelStore};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A table with more rows than this is cut after the last level that fits.
const ROWS: usize = 200_000;

/// The limit for the entries of a table. Each row has a shared state and a stack for each thread.
const ENTRIES: usize = 1 << 21;

/// The limit for the symbols on all stacks of a table of states.
const SYMBOLS: usize = 1_000_000;

/// A longer trace, or one with more stacks and symbols than [`SYMBOLS`], shows only its last steps.
const STEPS: usize = 5000;

/// The data of the script.
#[derive(Serialize)]
pub(super) struct ScriptData {
    threads: Vec<String>,
    shared: Vec<String>,
    symbols: Vec<String>,
    /// The names in words of the program, if the model is one.
    words: Option<WordsData>,
    /// Each stack: its top symbol and the stack below. Stack 0 is empty and is not listed.
    stacks: Vec<(usize, usize)>,
    /// T(R_k) \ T(R_{k-1}).
    visible: StateTable,
    /// R_k \ R_{k-1}, with the explicit engine.
    states: Option<StateTable>,
    trace: Option<TraceData>,
}

#[derive(Serialize)]
struct WordsData {
    shared: Vec<String>,
    symbols: Vec<String>,
}

/// The new states of each level.
#[derive(Serialize)]
struct StateTable {
    /// For k = 0, 1, …: for each state, a shared state and a stack for each thread.
    levels: Vec<Vec<usize>>,
    /// Whether these are all levels.
    is_complete: bool,
    /// The number of all states.
    of_states: String,
}

#[derive(Serialize)]
struct TraceData {
    /// The states from the initial state to the bad one, or only the last ones.
    states: Vec<Vec<usize>>,
    /// The steps from each state to the next.
    steps: Vec<StepData>,
    /// The number of omitted steps before these.
    left_out: usize,
    /// The program, if the model is one.
    source: Option<SourceData>,
}

#[derive(Serialize)]
struct StepData {
    /// Counted from 0.
    context: usize,
    thread: usize,
    /// The action or the statement.
    text: String,
    /// The changes in words.
    changes: String,
    /// The line of the program.
    line: Option<usize>,
    /// The place in the C program that the program was made from.
    origin: Option<String>,
    /// Whether the step is part of the step before.
    is_hidden: bool,
}

#[derive(Serialize)]
struct SourceData {
    text: String,
    /// The shared states in which the program has failed.
    errors: Vec<usize>,
    /// The variables of the shared states of the trace, with their values.
    shared: BTreeMap<usize, Vec<(String, Option<bool>)>>,
    /// The frames of the symbols of the trace.
    symbols: BTreeMap<usize, FrameData>,
    /// The locks, the atomic section and the waiting threads in each state of the trace.
    synchronised: Vec<SynchronisedData>,
}

#[derive(Serialize)]
struct SynchronisedData {
    /// The held locks: their names, and the threads that hold them, in words.
    locks: Vec<(String, String)>,
    /// The locks of each thread that holds any.
    holds: BTreeMap<usize, Vec<String>>,
    /// The thread that is in an atomic section.
    atomic: Option<usize>,
    /// The threads that wait to start, in words.
    waiting: Vec<String>,
}

impl SynchronisedData {
    fn new(now: &Synchronisation<'_>, name: &dyn Fn(ThreadId) -> String) -> Self {
        let mut holds: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for lock in now.locks.iter().filter(|lock| !lock.has_ended) {
            if let Some(holder) = lock.holder {
                holds.entry(holder.index()).or_default().push(lock.name.to_owned());
            }
        }
        SynchronisedData {
            locks: now.locks.iter().map(|lock| (lock.name.to_owned(), program_trace::held(lock, name))).collect(),
            holds,
            atomic: now.atomic.map(ThreadId::index),
            waiting: program_trace::waiting(&now.waiting),
        }
    }
}

#[derive(Serialize)]
struct FrameData {
    function: String,
    line: usize,
    variables: Vec<(String, Option<bool>)>,
}

/// The numbers of names and stacks so far.
struct Numbering<'a> {
    explored: &'a Exploration<'a>,
    shared: HashMap<SharedState, usize>,
    symbols: HashMap<Symbol, usize>,
    stacks: HashMap<(usize, usize), usize>,
}

/// Returns the number of an item. A new item gets the next number.
fn number<T: std::hash::Hash + Eq>(numbers: &mut HashMap<T, usize>, it: T) -> usize {
    let next = numbers.len();
    *numbers.entry(it).or_insert(next)
}

/// Returns the items in the order of their numbers.
fn in_order<T>(numbers: HashMap<T, usize>) -> Vec<T> {
    let mut all: Vec<(usize, T)> = numbers.into_iter().map(|(it, number)| (number, it)).collect();
    all.sort_unstable_by_key(|&(number, _)| number);
    all.into_iter().map(|(_, it)| it).collect()
}

impl Numbering<'_> {
    fn stack(&mut self, symbols: impl DoubleEndedIterator<Item = Symbol>) -> usize {
        symbols.rev().fold(0, |below, symbol| {
            let top = number(&mut self.symbols, symbol);
            number(&mut self.stacks, (top, below)) + 1
        })
    }

    fn state(&mut self, GlobalState { shared, stacks }: &GlobalState) -> Vec<usize> {
        let mut row = vec![number(&mut self.shared, *shared)];
        row.extend(stacks.iter().map(|stack| self.stack(stack.iter())));
        row
    }

    /// Builds a table of the first levels, up to the limits.
    fn table(
        &mut self,
        count: fn(&LevelStore<'_>, usize) -> Count,
        states: fn(&LevelStore<'_>, usize) -> Vec<GlobalState>,
        mut symbols: usize,
    ) -> StateTable {
        let (lower, of_levels) = (&self.explored.analysis.level_store, self.explored.analysis.levels.len());
        let mut rows = ROWS.min(ENTRIES / (1 + self.explored.system().thread_count())) as u128;
        let mut levels: Vec<Vec<usize>> = Vec::new();
        for k in 0..of_levels {
            let Some(left) = count(lower, k).exact().and_then(|count| rows.checked_sub(count)) else { break };
            let states = states(lower, k);
            let needed = states.iter().flat_map(|state| &state.stacks).map(Stack::height).sum();
            let Some(left_symbols) = symbols.checked_sub(needed) else { break };
            (rows, symbols) = (left, left_symbols);
            levels.push(states.iter().flat_map(|state| self.state(state)).collect());
        }
        let of_states = (0..of_levels).map(|k| count(lower, k)).sum::<Count>().to_string();
        let is_complete = levels.len() == of_levels;
        // Empty levels at the end are omitted.
        while levels.pop_if(|level| level.is_empty()).is_some() {}
        StateTable { levels, is_complete, of_states }
    }
}

/// Returns visible states as states with stacks of height at most one.
fn visible(lower: &LevelStore<'_>, k: usize) -> Vec<GlobalState> {
    let stack = |top: &Option<Symbol>| Stack::from_top(*top);
    let states = lower.visible().states(k).into_iter();
    states.map(|state| GlobalState { shared: state.shared, stacks: state.tops.iter().map(stack).collect() }).collect()
}

impl ScriptData {
    pub(super) fn new(explored: &Exploration<'_>, trace: Option<&Trace>, loaded: &LoadedModel) -> Self {
        let system = explored.system();
        let mut numbering =
            Numbering { explored, shared: HashMap::new(), symbols: HashMap::new(), stacks: HashMap::new() };
        let visible = numbering.table(|lower, k| lower.visible().count(k), visible, usize::MAX);
        let states = (explored.analysis.level_store.engine() == Engine::Explicit).then(|| {
            let count = |lower: &LevelStore<'_>, k: usize| lower.new_states(k).unwrap_or(Count::ZERO);
            let states = |lower: &LevelStore<'_>, k: usize| lower.states(k).into_iter().flatten().collect();
            numbering.table(count, states, SYMBOLS)
        });
        let trace = trace.map(|trace| trace_data(&mut numbering, trace, loaded));
        let Numbering { shared, symbols, stacks, .. } = numbering;
        let (shared, symbols, words) = (in_order(shared), in_order(symbols), StateNotation::of(loaded));
        ScriptData {
            threads: system.threads().map(|thread| system.thread_name(thread)).collect(),
            shared: shared.iter().map(|&q| system.shared_name(q).to_owned()).collect(),
            symbols: symbols.iter().map(|&symbol| system.symbol_name(symbol).to_owned()).collect(),
            words: words.map.map(|_| WordsData {
                shared: shared.iter().map(|&q| words.shared(q)).collect(),
                symbols: symbols.iter().map(|&symbol| words.symbol(symbol)).collect(),
            }),
            stacks: in_order(stacks),
            visible,
            states,
            trace,
        }
    }
}

fn trace_data(numbering: &mut Numbering<'_>, trace: &Trace, loaded: &LoadedModel) -> TraceData {
    let (system, program) = (loaded.problem().system(), loaded.program.as_ref());
    let mut path = Vec::new();
    let mut before = &trace.initial;
    for (number, context) in trace.contexts.iter().enumerate() {
        for step in &context.steps {
            path.push((number, context, before, step));
            before = &step.state;
        }
    }
    // The end of the trace is the important part.
    let height = |state: &GlobalState| state.stacks.iter().map(|stack| 1 + stack.height()).sum::<usize>() + 1;
    let heights = path.iter().rev().take(STEPS).scan(0, |sum, (.., before, _)| {
        *sum += height(before);
        Some(*sum)
    });
    let left_out = path.len() - heights.take_while(|&sum| sum <= SYMBOLS).count();
    let path = &path[left_out..];
    let first = path.first().map_or(trace.last(), |&(_, _, before, _)| before);
    let mut states = vec![numbering.state(first)];
    let mut steps = Vec::new();
    let name = |thread: ThreadId| system.thread_name(thread);
    let mut walk = program.map(|program| program.map.trace(system, trace).into_steps());
    // The locks and threads in the first state that is shown.
    let mut now = program.map(|program| program.map.synchronisation(&trace.initial, None));
    if let Some(skipped) = left_out.checked_sub(1) {
        now = walk.as_mut().and_then(|walk| walk.nth(skipped)).map(|step| step.now);
    }
    let mut synchronised: Vec<SynchronisedData> = now.iter().map(|now| SynchronisedData::new(now, &name)).collect();
    for &(number, context, _, step) in path {
        states.push(numbering.state(&step.state));
        let mut data = StepData {
            context: number,
            thread: context.thread.index(),
            text: labelled(system, context.rule(system, step)),
            changes: String::new(),
            line: None,
            origin: None,
            is_hidden: false,
        };
        if let Some(ProgramStep { step: taken, now, .. }) = walk.as_mut().and_then(Iterator::next) {
            data.line = Some(taken.line);
            data.origin = taken.origin.map(|origin| format!("{}:{}", origin.file, origin.line));
            match program_trace::describe_step(loaded, &taken, &name(context.thread)) {
                Some((text, changes)) => (data.text, data.changes) = (text, plain(&changes)),
                None => data.is_hidden = true,
            }
            synchronised.push(SynchronisedData::new(&now, &name));
        }
        steps.push(data);
    }
    let source = program.map(|LoadedProgram { map, .. }| {
        let owned = |variables: Vec<(&str, Option<bool>)>| {
            variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        };
        let all = || std::iter::once(first).chain(path.iter().map(|(.., step)| &step.state));
        // Each shared state and each symbol once.
        let shared_states: BTreeSet<SharedState> = all().map(|state| state.shared).collect();
        let frames: BTreeSet<Symbol> = all().flat_map(|state| state.stacks.iter().flat_map(Stack::iter)).collect();
        let shared = shared_states.iter().map(|&q| (numbering.shared[&q], owned(map.shared_variables(q))));
        let symbols = frames.into_iter().map(|symbol| {
            let frame = map.frame(symbol);
            let (function, variables) = (frame.function.to_owned(), owned(frame.variables));
            (numbering.symbols[&symbol], FrameData { function, line: frame.line, variables })
        });
        SourceData {
            text: printable_lines(&loaded.reading.sources[0].text),
            errors: all().filter(|it| map.error(it.shared).is_some()).map(|it| numbering.shared[&it.shared]).collect(),
            shared: shared.collect(),
            symbols: symbols.collect(),
            synchronised,
        }
    });
    TraceData { states, steps, left_out, source }
}

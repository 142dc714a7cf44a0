//! What a Boolean program does, straight from docs/boolean-programs.md: its states after k
//! contexts.
//!
//! Slow and obviously right: sets of whole concrete states, breadth-first, one step after the other
//! over the syntax tree. A variable with any value is two states. Nothing is shared with the
//! lowering but the tree, and the plan of which threads there are. Never optimised.
//!
//! # What may not be concluded
//! Stacks higher than a given bound are not explored; what was left out is recorded, and only if
//! nothing was left out are the sets exactly R_k. Otherwise they are subsets. The program is taken
//! to be valid, and read from a text: statements are told apart by where they stand.

mod state;

pub use state::{ErrorKind, Place, ProjectedFrame, Projection, State};

use boolprog::syntax::{At, Expr, ExprKind, Function, Name, Program, Statement, StatementKind, Target, Variable};
use boolprog::threads::{Start, Threads};
use state::{Frame, Section, Thread};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The last k.
    pub contexts: usize,
    /// The highest stack of a thread.
    pub height: usize,
    /// The most states of a level.
    pub states: usize,
}

/// R_0 ⊆ R_1 ⊆ …, as far as it was asked for.
pub struct Levels {
    /// R_k, for k = 0, 1, …
    pub reachable: Vec<BTreeSet<State>>,
    /// Whether no state was left out because a stack was too high.
    pub exact: bool,
}

/// R_0, …, R_k up to the limits; nothing if there are too many states.
pub fn levels(program: &Program, threads: &Threads, limits: Limits) -> Option<Levels> {
    let machine = Machine::new(program, threads);
    let mut levels = Levels { reachable: vec![machine.initial()], exact: true };
    for k in 0..limits.contexts {
        let mut next = levels.reachable[k].clone();
        for thread in 0..machine.pool_of.len() {
            let (contexts, exact) = machine.one_context(thread, &levels.reachable[k], limits)?;
            next.extend(contexts);
            levels.exact &= exact;
        }
        if next.len() > limits.states {
            return None;
        }
        levels.reachable.push(next);
    }
    Some(levels)
}

impl Levels {
    /// R_k, as far as it is compared.
    pub fn projections(&self, k: usize) -> BTreeSet<Projection> {
        self.reachable[k].iter().map(State::projection).collect()
    }
}

/// A program with its threads, ready to run.
pub struct Machine<'a> {
    program: &'a Program,
    threads: &'a Threads,
    functions: Vec<Code<'a>>,
    /// For each thread the pool that it starts from, unless it is there from the start.
    pool_of: Vec<Option<usize>>,
}

/// A function, and what comes after what in it.
struct Code<'a> {
    function: &'a Function,
    statements: BTreeMap<u32, Node<'a>>,
    labels: BTreeMap<&'a str, u32>,
    /// For the bracket at the end of an atomic block, the block.
    block_ends: BTreeMap<u32, u32>,
}

struct Node<'a> {
    statement: &'a Statement,
    /// Where it goes on after the statement.
    next: Place,
    /// The atomic blocks around it.
    blocks: Vec<u32>,
}

/// Where a variable is: its position among those of its kind.
enum Slot {
    Shared(usize),
    ThreadLocal(usize),
    Local(usize),
}

/// What an expression is about: a thread in a state, and for primed variables, the state after.
#[derive(Clone, Copy)]
struct Scope<'s> {
    thread: usize,
    before: &'s State,
    after: &'s State,
}

impl<'a> Code<'a> {
    fn new(function: &'a Function) -> Self {
        let mut code =
            Code { function, statements: BTreeMap::new(), labels: BTreeMap::new(), block_ends: BTreeMap::new() };
        code.lay_out(&function.body, code.end(), &[]);
        code
    }

    fn end(&self) -> Place {
        Place::End(offset(self.function.end))
    }

    /// Notes what comes after each statement of a block that stands within these atomic blocks, and
    /// is followed by `after`.
    fn lay_out(&mut self, block: &'a [Statement], after: Place, blocks: &[u32]) {
        for (i, statement) in block.iter().enumerate() {
            let at = offset(statement.at);
            let next = first(&block[i + 1..], after);
            self.labels.extend(statement.labels.iter().map(|label| (label.text.as_str(), at)));
            match &statement.kind {
                StatementKind::If { then, otherwise, .. } => {
                    self.lay_out(then, next, blocks);
                    self.lay_out(otherwise, next, blocks);
                }
                StatementKind::While { body, .. } => self.lay_out(body, Place::At(at), blocks),
                StatementKind::Atomic { body, end } => {
                    let earlier = self.block_ends.insert(offset(*end), at);
                    assert!(earlier.is_none(), "each block ends somewhere else");
                    self.lay_out(body, Place::LeaveAtomic(offset(*end)), &[blocks, &[at]].concat());
                }
                _ => {}
            }
            let earlier = self.statements.insert(at, Node { statement, next, blocks: blocks.to_vec() });
            assert!(earlier.is_none(), "each statement stands somewhere else");
        }
    }
}

impl<'a> Machine<'a> {
    /// The program with these threads.
    pub fn new(program: &'a Program, threads: &'a Threads) -> Self {
        let roots = threads.roots.iter().flat_map(|&(_, copies)| (0..copies).map(|_| None));
        let places = threads.pools.iter().enumerate();
        let places = places.flat_map(|(i, pool)| (0..pool.slots).map(move |_| Some(i)));
        let functions = program.functions.iter().map(Code::new).collect();
        Machine { program, threads, functions, pool_of: roots.chain(places).collect() }
    }

    /// The states before the first step, one for each choice of values.
    pub fn initial(&self) -> BTreeSet<State> {
        let shared = all(self.variables(false).map(|variable| variable.value));
        let empty = |shared| State {
            error: None,
            shared,
            locks: BTreeMap::new(),
            section: None,
            pending: vec![Vec::new(); self.threads.pools.len()],
            threads: vec![Thread::default(); self.pool_of.len()],
        };
        let mut states: Vec<State> = shared.into_iter().map(empty).collect();
        let roots = self.threads.roots.iter();
        for (thread, function) in roots.flat_map(|&(function, copies)| (0..copies).map(move |_| function)).enumerate() {
            let starts = self.threads_in(function, &[]);
            let started = |state: &State| with_each(state, &starts, |state, start| state.threads[thread] = start);
            states = states.iter().flat_map(started).collect();
        }
        states.into_iter().collect()
    }

    /// Every state that `thread` alone reaches from one of these, and whether that is all of them;
    /// nothing if there are too many.
    fn one_context(&self, thread: usize, from: &BTreeSet<State>, limits: Limits) -> Option<(BTreeSet<State>, bool)> {
        let mut reached = from.clone();
        let mut queue: VecDeque<State> = from.iter().cloned().collect();
        let mut exact = true;
        while let Some(state) = queue.pop_front() {
            for next in self.steps(&state, thread) {
                if next.threads[thread].stack.len() > limits.height {
                    exact = false;
                } else if reached.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
            if reached.len() > limits.states {
                return None;
            }
        }
        Some((reached, exact))
    }

    /// The states after a step of the thread.
    pub fn steps(&self, state: &State, thread: usize) -> Vec<State> {
        let kept_out = state.section.as_ref().is_some_and(|section| section.thread != thread);
        if state.error.is_some() || kept_out {
            return Vec::new();
        }
        let Some(top) = state.threads[thread].stack.last() else { return self.pick_up(state, thread) };
        match top.place {
            Place::Results(at) => self.assign_results(state, thread, at),
            Place::Calling(_) => unreachable!("the innermost call calls nothing"),
            _ if !self.enforced(state, thread) => Vec::new(),
            Place::At(at) => self.execute(state, thread, at),
            Place::LeaveAtomic(end) => vec![self.leave_atomic(state, thread, end)],
            Place::End(_) => {
                let results = all((0..self.code(state, thread).function.results).map(|_| None));
                results.into_iter().map(|results| self.hand_back(state, thread, results)).collect()
            }
        }
    }

    /// A place without a thread takes one that was created.
    fn pick_up(&self, state: &State, thread: usize) -> Vec<State> {
        let Some(pool) = self.pool_of[thread] else { return Vec::new() };
        let pick = |i| {
            let mut state = state.clone();
            state.threads[thread] = state.pending[pool].remove(i);
            state
        };
        (0..state.pending[pool].len()).map(pick).collect()
    }

    /// The table of statements.
    fn execute(&self, state: &State, thread: usize, at: u32) -> Vec<State> {
        let node = &self.code(state, thread).statements[&at];
        let can = |e: &Expr, value| self.can(Scope { thread, before: state, after: state }, e, value);
        let go = |place| state.moved(thread, place);
        let next = go(node.next);
        let steps = match &node.statement.kind {
            StatementKind::Skip => vec![next],
            StatementKind::Goto(labels) => labels.iter().map(|label| self.jump(state, thread, node, label)).collect(),
            StatementKind::Assume(e) => only_if(can(e, true), next),
            StatementKind::AbortIf(e) => only_if(can(e, false), next),
            StatementKind::Assert(e) => {
                [only_if(can(e, false), state.failed(ErrorKind::Assert, at)), only_if(can(e, true), next)].concat()
            }
            StatementKind::Assign { targets, values, constrain } => {
                let values = self.values(state, thread, values);
                let assigned = with_each(&next, &values, |next, values| self.assign(next, thread, targets, &values));
                let fits = |after: &State| {
                    let scope = Scope { thread, before: state, after };
                    constrain.as_ref().is_none_or(|e| self.can(scope, e, true))
                };
                assigned.into_iter().filter(fits).collect()
            }
            StatementKind::Call { function, arguments, .. } => {
                return self.call(&go(Place::Calling(at)), thread, function, arguments);
            }
            StatementKind::Return(values) => {
                let results = self.values(state, thread, values).into_iter();
                return results.map(|results| self.hand_back(state, thread, results)).collect();
            }
            StatementKind::Dead(names) => with_each(&next, &all(names.iter().map(|_| None)), |next, values| {
                names.iter().zip(values).for_each(|(name, value)| self.write(next, thread, name, value));
            }),
            StatementKind::Lock(name) => {
                let lock = lock(name.as_ref());
                let held = state.locks.contains_key(&lock);
                only_if(!held, changed(next, |next| _ = next.locks.insert(lock, Some(thread))))
            }
            StatementKind::Unlock(name) => {
                let lock = lock(name.as_ref());
                let held = state.locks.get(&lock) == Some(&Some(thread));
                let failed = state.failed(ErrorKind::Unlock, at);
                vec![if held { changed(next, |next| _ = next.locks.remove(&lock)) } else { failed }]
            }
            StatementKind::StartThread { function, arguments } => {
                let function = self.function(function);
                let arguments = self.values(state, thread, arguments).into_iter();
                let threads: Vec<Thread> = arguments.flat_map(|values| self.threads_in(function, &values)).collect();
                self.create(&next, &Start::Function(function), &threads)
            }
            StatementKind::StartGoto(label) => {
                let copy = Frame { place: self.label(state, thread, label), ..state.top(thread).clone() };
                let start = Start::Label(copy.function, label.text.clone());
                let thread_locals = state.threads[thread].thread_locals.clone();
                self.create(&next, &start, &[Thread { thread_locals, stack: vec![copy] }])
            }
            StatementKind::EndThread => return vec![changed(next, |next| next.end_thread(thread))],
            StatementKind::AtomicBegin => vec![begin_section(next, thread, None)],
            StatementKind::AtomicEnd => vec![State { section: None, ..next }],
            StatementKind::If { condition, then, otherwise } => [
                only_if(can(condition, true), go(first(then, node.next))),
                only_if(can(condition, false), go(first(otherwise, node.next))),
            ]
            .concat(),
            StatementKind::While { condition, body } => {
                let again = go(first(body, Place::At(at)));
                [only_if(can(condition, true), again), only_if(can(condition, false), next)].concat()
            }
            StatementKind::Atomic { body, end } => {
                let height = state.threads[thread].stack.len();
                let inside = go(first(body, Place::LeaveAtomic(offset(*end))));
                vec![begin_section(inside, thread, Some((height, at)))]
            }
        };
        steps.into_iter().filter(|after| self.enforced(after, thread)).collect()
    }

    /// Whether what the thread's function enforces can be true.
    fn enforced(&self, state: &State, thread: usize) -> bool {
        let scope = Scope { thread, before: state, after: state };
        self.code(state, thread).function.enforce.iter().all(|e| self.can(scope, e, true))
    }

    /// Goes to a label, and out of the atomic blocks that are not around it.
    fn jump(&self, state: &State, thread: usize, from: &Node<'_>, label: &Name) -> State {
        let code = self.code(state, thread);
        let around = &code.statements[&code.labels[label.text.as_str()]].blocks;
        assert!(from.blocks.starts_with(around), "no goto leads into an atomic block");
        let left = |block| from.blocks.contains(&block) && !around.contains(&block);
        changed(state.moved(thread, self.label(state, thread, label)), |state| state.leave_blocks(thread, left))
    }

    fn leave_atomic(&self, state: &State, thread: usize, end: u32) -> State {
        let code = self.code(state, thread);
        let block = code.block_ends[&end];
        let next = state.moved(thread, code.statements[&block].next);
        changed(next, |next| next.leave_blocks(thread, |left| left == block))
    }

    /// Enters a function, with each value that the arguments can have.
    fn call(&self, state: &State, thread: usize, function: &Name, arguments: &[Expr]) -> Vec<State> {
        let arguments = self.values(state, thread, arguments).into_iter();
        let frames: Vec<Frame> = arguments.flat_map(|values| self.frames(self.function(function), &values)).collect();
        with_each(state, &frames, |state, frame| state.threads[thread].stack.push(frame))
    }

    /// Returns to the caller with these results, and if nobody else can see it, assigns them. The
    /// outermost call ends the thread.
    fn hand_back(&self, state: &State, thread: usize, results: Vec<bool>) -> State {
        let mut state = state.clone();
        state.leave_blocks(thread, |_| true);
        state.threads[thread].stack.pop();
        let Some(caller) = state.threads[thread].stack.last() else {
            return changed(state, |state| state.end_thread(thread));
        };
        let Place::Calling(at) = caller.place else { unreachable!("below the innermost call there are calls") };
        let code = self.code(&state, thread);
        let is_local = |target: &Target| match target {
            Target::Variable(name) => matches!(self.slot(&state, thread, name), Slot::Local(_)),
            Target::Nothing(_) => true,
        };
        let node = &code.statements[&at];
        let targets = call_targets(node);
        if code.function.enforce.is_empty() && targets.iter().all(is_local) {
            self.assign(&mut state, thread, targets, &results);
            state.moved(thread, node.next)
        } else {
            state.top_mut(thread).results = results;
            state.moved(thread, Place::Results(at))
        }
    }

    /// Assigns the results that a call has handed back. Only then is the call statement over, and
    /// what is enforced after it.
    fn assign_results(&self, state: &State, thread: usize, at: u32) -> Vec<State> {
        let node = &self.code(state, thread).statements[&at];
        let mut next = state.moved(thread, node.next);
        let results = std::mem::take(&mut next.top_mut(thread).results);
        self.assign(&mut next, thread, call_targets(node), &results);
        only_if(self.enforced(&next, thread), next)
    }

    /// One of these threads is there, but has not started; none if there are as many as there may
    /// be.
    fn create(&self, state: &State, start: &Start, threads: &[Thread]) -> Vec<State> {
        let pending: usize = state.pending.iter().map(Vec::len).sum();
        let places = self.pool_of.iter().zip(&state.threads);
        let running = places.filter(|(pool, thread)| pool.is_some() && !thread.stack.is_empty()).count();
        if self.threads.limit.is_some_and(|limit| pending + running >= limit as usize) {
            return Vec::new();
        }
        let pool =
            self.threads.pools.iter().position(|pool| pool.starts.contains(start)).expect("a pool for each start");
        with_each(state, threads, |state, thread| {
            state.pending[pool].push(thread);
            state.pending[pool].sort();
        })
    }

    /// The new threads that start with a function, one for each choice of values; missing arguments
    /// have any.
    fn threads_in(&self, function: usize, arguments: &[bool]) -> Vec<Thread> {
        let frames = self.frames(function, arguments);
        let thread_locals = all(self.variables(true).map(|variable| variable.value)).into_iter();
        let thread = |thread_locals: Vec<bool>| {
            let stacks = frames.iter().map(|frame| vec![frame.clone()]);
            stacks.map(|stack| Thread { thread_locals: thread_locals.clone(), stack }).collect::<Vec<_>>()
        };
        thread_locals.flat_map(thread).collect()
    }

    /// The new calls of a function, one for each choice of values; missing arguments have any.
    fn frames(&self, function: usize, arguments: &[bool]) -> Vec<Frame> {
        let code = &self.functions[function];
        let parameters = (0..code.function.parameters.len()).map(|i| arguments.get(i).copied());
        let locals = all(parameters.chain(code.function.locals.iter().map(|variable| variable.value)));
        let place = first(&code.function.body, code.end());
        locals.into_iter().map(|locals| Frame { function, place, locals, results: Vec::new() }).collect()
    }

    /// The values that these expressions can have together.
    fn values(&self, state: &State, thread: usize, exprs: &[Expr]) -> Vec<Vec<bool>> {
        let scope = Scope { thread, before: state, after: state };
        let value = |e| match (self.can(scope, e, true), self.can(scope, e, false)) {
            (true, true) => None,
            (value, _) => Some(value),
        };
        // Each `*` is a choice of its own, so that the expressions do not depend on each other.
        all(exprs.iter().map(value))
    }

    /// Whether an expression can have this value. No two parts of it have a `*` in common.
    fn can(&self, scope: Scope<'_>, e: &Expr, value: bool) -> bool {
        let can = |e: &Expr, value| self.can(scope, e, value);
        match &e.kind {
            ExprKind::Constant(constant) => *constant == value,
            ExprKind::Choice => true,
            ExprKind::Variable(name) => self.read(scope.before, scope.thread, name) == value,
            ExprKind::Primed(name) => self.read(scope.after, scope.thread, name) == value,
            ExprKind::Not(a) => can(a, !value),
            ExprKind::Binary(operator, a, b) => {
                BOTH.iter().any(|&x| BOTH.iter().any(|&y| can(a, x) && can(b, y) && operator.apply(x, y) == value))
            }
            ExprKind::IfElse(a, b, c) => can(a, true) && can(b, value) || can(a, false) && can(c, value),
            ExprKind::Schoose(a, b) => {
                let (yes, no, choice) = (can(a, true), can(a, false) && can(b, true), can(a, false) && can(b, false));
                if value { yes || choice } else { no || choice }
            }
        }
    }

    fn read(&self, state: &State, thread: usize, name: &Name) -> bool {
        match self.slot(state, thread, name) {
            Slot::Shared(i) => state.shared[i],
            Slot::ThreadLocal(i) => state.threads[thread].thread_locals[i],
            Slot::Local(i) => state.top(thread).locals[i],
        }
    }

    fn write(&self, state: &mut State, thread: usize, name: &Name, value: bool) {
        match self.slot(state, thread, name) {
            Slot::Shared(i) => state.shared[i] = value,
            Slot::ThreadLocal(i) => state.threads[thread].thread_locals[i] = value,
            Slot::Local(i) => state.top_mut(thread).locals[i] = value,
        }
    }

    /// Assigns values, except to `_` and where there are no targets at all.
    fn assign(&self, state: &mut State, thread: usize, targets: &[Target], values: &[bool]) {
        for (target, &value) in targets.iter().zip(values) {
            if let Target::Variable(name) = target {
                self.write(state, thread, name, value);
            }
        }
    }

    /// What a name means in the innermost call: a local variable hides the others.
    fn slot(&self, state: &State, thread: usize, name: &Name) -> Slot {
        let function = self.code(state, thread).function;
        let mut locals = function.parameters.iter().chain(function.locals.iter().map(|variable| &variable.name));
        let global = |is_thread_local| self.variables(is_thread_local).position(|variable| variable.name == *name);
        let local = locals.position(|local| local == name).map(Slot::Local);
        let other = || global(true).map(Slot::ThreadLocal).or_else(|| global(false).map(Slot::Shared));
        local.or_else(other).expect("names are declared")
    }

    fn variables(&self, is_thread_local: bool) -> impl Iterator<Item = &'a Variable> {
        self.program.variables.iter().filter(move |variable| variable.is_thread_local == is_thread_local)
    }

    fn function(&self, name: &Name) -> usize {
        self.program.functions.iter().position(|function| function.name == *name).expect("functions are declared")
    }

    /// The function of the innermost call.
    fn code(&self, state: &State, thread: usize) -> &Code<'a> {
        &self.functions[state.top(thread).function]
    }

    fn label(&self, state: &State, thread: usize, label: &Name) -> Place {
        Place::At(self.code(state, thread).labels[label.text.as_str()])
    }
}

const BOTH: [bool; 2] = [false, true];

fn offset(at: At) -> u32 {
    at.0.start
}

/// Where a block begins, if after it comes `after`.
fn first(block: &[Statement], after: Place) -> Place {
    block.first().map_or(after, |statement| Place::At(offset(statement.at)))
}

fn lock(name: Option<&Name>) -> Option<String> {
    name.map(|name| name.text.clone())
}

fn call_targets<'a>(node: &Node<'a>) -> &'a [Target] {
    let StatementKind::Call { targets, .. } = &node.statement.kind else { unreachable!("a call is under way") };
    targets
}

/// Within a section, nothing changes.
fn begin_section(state: State, thread: usize, block: Option<(usize, u32)>) -> State {
    State { section: state.section.or(Some(Section { thread, block })), ..state }
}

/// All ways to choose values, where nothing is any value.
fn all(values: impl Iterator<Item = Option<bool>>) -> Vec<Vec<bool>> {
    values.fold(vec![Vec::new()], |chosen, value| {
        let extended = |chosen: Vec<bool>| {
            BOTH.iter()
                .filter(|&&v| value.is_none_or(|value| value == v))
                .map(|&v| [&*chosen, &[v]].concat())
                .collect::<Vec<_>>()
        };
        chosen.into_iter().flat_map(extended).collect()
    })
}

/// A copy of the state for each choice, changed by it.
fn with_each<T: Clone>(state: &State, choices: &[T], change: impl Fn(&mut State, T)) -> Vec<State> {
    choices.iter().map(|choice| changed(state.clone(), |state| change(state, choice.clone()))).collect()
}

fn changed(mut state: State, change: impl FnOnce(&mut State)) -> State {
    change(&mut state);
    state
}

fn only_if(condition: bool, state: State) -> Vec<State> {
    if condition { vec![state] } else { Vec::new() }
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

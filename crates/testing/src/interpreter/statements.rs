//! The steps of a thread: from a state, the states after executing its next statement.

use super::control_flow::{Node, call_targets, first, offset};
use super::expressions::{Evaluation, Slot, choices};
use super::state::{Frame, Section, Thread};
use super::{ErrorKind, Machine, Place, State, changed, with_each};
use boolprog::syntax::{Expr, Name, StatementKind, Target};
use boolprog::threads::Start;

impl Machine<'_> {
    /// Returns the states after a step of the thread.
    pub fn steps(&self, state: &State, thread: usize) -> Vec<State> {
        let is_blocked = state.section.as_ref().is_some_and(|section| section.thread != thread);
        if state.error.is_some() || is_blocked {
            return Vec::new();
        }
        let Some(top) = state.threads[thread].stack.last() else { return self.start_pending(state, thread) };
        match top.place {
            Place::Results(at) => self.assign_results(state, thread, at),
            Place::Calling(_) => unreachable!("the innermost call is in no other call"),
            _ if !self.enforced(state, thread) => Vec::new(),
            Place::At(at) => self.execute(state, thread, at),
            Place::LeaveAtomic(end) => vec![self.leave_atomic(state, thread, end)],
            Place::End(_) => {
                let results = choices((0..self.code(state, thread).function.results).map(|_| None));
                results.into_iter().map(|results| self.return_to_caller(state, thread, results)).collect()
            }
        }
    }

    /// Starts one of the pending threads of the pool in this slot, which has no running thread.
    fn start_pending(&self, state: &State, thread: usize) -> Vec<State> {
        let Some(pool) = self.pool_of[thread] else { return Vec::new() };
        let start = |i| {
            let mut state = state.clone();
            state.threads[thread] = state.pending[pool].remove(i);
            state
        };
        (0..state.pending[pool].len()).map(start).collect()
    }

    /// Executes a statement, as in the table of statements of docs/boolean-programs.md.
    fn execute(&self, state: &State, thread: usize, at: u32) -> Vec<State> {
        let node = &self.code(state, thread).statements[&at];
        let can = |e: &Expr, value| self.can(Evaluation { thread, before: state, after: state }, e, value);
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
                    let evaluation = Evaluation { thread, before: state, after };
                    constrain.as_ref().is_none_or(|e| self.can(evaluation, e, true))
                };
                assigned.into_iter().filter(fits).collect()
            }
            StatementKind::Call { function, arguments, .. } => {
                return self.call(&go(Place::Calling(at)), thread, function, arguments);
            }
            StatementKind::Return(values) => {
                let results = self.values(state, thread, values).into_iter();
                return results.map(|results| self.return_to_caller(state, thread, results)).collect();
            }
            StatementKind::Dead(names) => with_each(&next, &choices(names.iter().map(|_| None)), |next, values| {
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

    /// Whether the `enforce` expressions of the thread's function can be true.
    fn enforced(&self, state: &State, thread: usize) -> bool {
        let evaluation = Evaluation { thread, before: state, after: state };
        self.code(state, thread).function.enforce.iter().all(|e| self.can(evaluation, e, true))
    }

    /// Goes to a label, and leaves the atomic blocks that are not around the label.
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

    /// Enters a function, once for each choice of values of the arguments.
    fn call(&self, state: &State, thread: usize, function: &Name, arguments: &[Expr]) -> Vec<State> {
        let arguments = self.values(state, thread, arguments).into_iter();
        let frames: Vec<Frame> = arguments.flat_map(|values| self.frames(self.function(function), &values)).collect();
        with_each(state, &frames, |state, frame| state.threads[thread].stack.push(frame))
    }

    /// Returns to the caller with these results. If no other thread can observe the assignment, the
    /// same step assigns them. A return of the outermost call ends the thread.
    fn return_to_caller(&self, state: &State, thread: usize, results: Vec<bool>) -> State {
        let mut state = state.clone();
        state.leave_blocks(thread, |_| true);
        state.threads[thread].stack.pop();
        let Some(caller) = state.threads[thread].stack.last() else {
            return changed(state, |state| state.end_thread(thread));
        };
        let Place::Calling(at) = caller.place else { unreachable!("an outer call is in a call") };
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

    /// Assigns the results that a call has returned. This ends the call statement, so `enforce`
    /// holds after it.
    fn assign_results(&self, state: &State, thread: usize, at: u32) -> Vec<State> {
        let node = &self.code(state, thread).statements[&at];
        let mut next = state.moved(thread, node.next);
        let results = std::mem::take(&mut next.top_mut(thread).results);
        self.assign(&mut next, thread, call_targets(node), &results);
        only_if(self.enforced(&next, thread), next)
    }

    /// Creates one of these threads as a pending one. Returns no state if the limit on threads is
    /// reached.
    fn create(&self, state: &State, start: &Start, threads: &[Thread]) -> Vec<State> {
        let pending: usize = state.pending.iter().map(Vec::len).sum();
        let slots = self.pool_of.iter().zip(&state.threads);
        let running = slots.filter(|(pool, thread)| pool.is_some() && !thread.stack.is_empty()).count();
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
}

fn lock(name: Option<&Name>) -> Option<String> {
    name.map(|name| name.text.clone())
}

/// Begins an atomic section, unless the thread is already in one.
fn begin_section(state: State, thread: usize, block: Option<(usize, u32)>) -> State {
    State { section: state.section.or(Some(Section { thread, block })), ..state }
}

fn only_if(condition: bool, state: State) -> Vec<State> {
    if condition { vec![state] } else { Vec::new() }
}

//! One step of one thread: the effect of a statement on the state.

use super::{Effect, MOST_CASES, StepRelation};
use crate::graph::{Formula, Node, Step, Var};
use crate::states::{
    Cutoff, Frame, FrameKind, Handover, NumberSet, OpenVariable, ReturnData, Running, Section, Shared, Stop, Store,
    Valuation, evaluate,
};
use crate::threads;

/// The computation of the steps from one state of a thread.
pub(super) struct ThreadStep<'m, 'a, 'f> {
    pub(super) relation: &'m StepRelation<'a>,
    /// The shared state without its variables.
    pub(super) running: &'m Running,
    pub(super) variables: &'m Valuation,
    pub(super) frame: &'m Frame,
    pub(super) node: &'m Node,
    pub(super) successors: &'f mut Vec<(Shared, Effect)>,
    /// The number of choices of open variables tried so far.
    pub(super) cases: u64,
}

impl<'m> ThreadStep<'m, '_, '_> {
    pub(super) fn step(&mut self) -> Result<(), Cutoff> {
        let store = Store { shared: self.variables.clone(), local: self.frame.local.clone() };
        // The assignment of results belongs to the call statement, at which `enforce` was checked.
        let is_inside = matches!(self.node.step, Step::Results { .. });
        let enforce = self.relation.graph.functions[self.node.function].enforce.as_ref().filter(|_| !is_inside);
        store.cases(&mut |store| {
            self.count()?;
            if let Some(enforce) = enforce
                && !evaluate(enforce, store, store)?.yes
            {
                return Ok(());
            }
            self.step_from(store)
        })
    }

    /// Counts a choice of open variables, up to the limit.
    fn count(&mut self) -> Result<(), Cutoff> {
        self.cases += 1;
        if self.cases > MOST_CASES { Err(Cutoff) } else { Ok(()) }
    }

    fn step_from(&mut self, store: &Store) -> Result<(), Stop> {
        let (node, frame) = (self.node, self.frame);
        match &node.step {
            Step::Skip => self.continue_at(store, node.next)?,
            Step::Goto(targets) => {
                for &target in targets {
                    let section = match frame.section {
                        Section::Block(block) if !self.relation.graph.nodes[target].blocks.contains(&block) => {
                            Section::Outside
                        }
                        section => section,
                    };
                    let next = NextFrame { section, ..self.next(target) };
                    self.continue_with(store, next)?;
                }
            }
            Step::Assume(condition) => {
                if evaluate(condition, store, store)?.yes {
                    self.continue_at(store, node.next)?;
                }
            }
            Step::Assert(condition) => {
                let possible = evaluate(condition, store, store)?;
                if possible.no {
                    self.error(store)?;
                }
                if possible.yes {
                    self.continue_at(store, node.next)?;
                }
            }
            Step::Branch(condition, then, otherwise) => {
                let possible = evaluate(condition, store, store)?;
                if possible.yes {
                    self.continue_at(store, *then)?;
                }
                if possible.no {
                    self.continue_at(store, *otherwise)?;
                }
            }
            Step::Assign { targets, values, constrain } => {
                return self.assign(store, targets, values, constrain.as_ref());
            }
            Step::Results { targets } => {
                let mut after = store.clone();
                for (number, target) in targets.iter().enumerate() {
                    if let Some(target) = target {
                        after.set(*target, frame.results.get(number));
                    }
                }
                let next = NextFrame { has_results: false, ..self.next(node.next) };
                self.continue_with(&after, next)?;
            }
            Step::Call { function, arguments, returned } => {
                let arguments = values(arguments, store)?;
                self.call(store, *function, &arguments, *returned);
            }
            Step::Return(results) => {
                let results = values(results, store)?;
                self.leave(store, results.into_iter().collect());
            }
            Step::EndThread => self.end(store),
            Step::Enter(_) | Step::Leave | Step::AtomicBegin | Step::AtomicEnd => {
                let next = NextFrame { section: self.section(), ..self.next(node.next) };
                self.continue_with(store, next)?;
            }
            Step::Lock(lock) | Step::Unlock(lock) => self.lock(store, *lock, matches!(node.step, Step::Lock(_)))?,
            Step::Start { function, arguments } => {
                let arguments = values(arguments, store)?;
                let graph = self.relation.graph;
                let thread_locals = graph.thread_locals.iter().map(|variable| variable.value).collect();
                let first = self.relation.entered(*function, FrameKind::Created, &thread_locals, &arguments);
                self.create(store, first)?;
            }
            Step::StartAt(target, _) => {
                // Both threads must have the same values of the variables that are live in the new
                // thread. So these are chosen first.
                let open = self.relation.live[*target].difference(store.local.chosen());
                if let Some(number) = open.iter().next() {
                    return Err(Stop::Open(Var::Local(number)));
                }
                let (kind, section) =
                    (self.relation.lowest_frame_kind(node.function, FrameKind::Created), Section::Outside);
                let (held, local, results) = (NumberSet::EMPTY, store.local.clone(), frame.results.clone());
                let copy = self.relation.trimmed(Frame { node: *target, kind, section, held, local, results });
                self.create(store, copy)?;
            }
            Step::Await { .. } => unreachable!("it does not take steps of its own"),
        }
        Ok(())
    }

    /// Returns the atomic section after a step that begins or ends one.
    fn section(&self) -> Section {
        match (&self.node.step, self.frame.section) {
            (Step::Enter(block), Section::Outside) => Section::Block(*block),
            (Step::AtomicBegin, Section::Outside) => Section::Begun,
            (Step::Leave, Section::Block(block)) if block == self.frame.node => Section::Outside,
            (Step::AtomicEnd, _) => Section::Outside,
            (_, section) => section,
        }
    }

    /// Takes a lock, or releases it.
    fn lock(&mut self, store: &Store, lock: usize, is_taken: bool) -> Result<(), Cutoff> {
        let (mut running, mut held) = (self.running.clone(), self.frame.held.clone());
        match (is_taken, running.locked.contains(lock), held.contains(lock)) {
            (true, false, _) => {
                running.locked.insert(lock);
                held.insert(lock);
                self.arrive(store, NextFrame { held: &held, ..self.next(self.node.next) }, &running)
            }
            (false, _, true) => {
                running.locked.remove(lock);
                held.remove(lock);
                self.arrive(store, NextFrame { held: &held, ..self.next(self.node.next) }, &running)
            }
            (true, true, _) => Ok(()), // the thread waits
            (false, _, false) => self.error(store),
        }
    }

    /// Returns this frame at another node, without any other change.
    fn next(&self, node: usize) -> NextFrame<'m> {
        NextFrame { node, section: self.frame.section, held: &self.frame.held, has_results: true }
    }

    /// Continues at this node.
    fn continue_at(&mut self, store: &Store, next: usize) -> Result<(), Cutoff> {
        let next = self.next(next);
        self.continue_with(store, next)
    }

    /// Continues with this frame.
    fn continue_with(&mut self, store: &Store, next: NextFrame<'_>) -> Result<(), Cutoff> {
        self.arrive(store, next, self.running)
    }

    /// Continues with this frame and the variables of the store, if `enforce` holds there.
    fn arrive(&mut self, store: &Store, next: NextFrame<'_>, running: &Running) -> Result<(), Cutoff> {
        let enforce = self.relation.graph.functions[self.node.function].enforce.as_ref();
        store.cases(&mut |store| {
            if let Some(enforce) = enforce {
                self.count()?;
                if !evaluate(enforce, store, store)?.yes {
                    return Ok(());
                }
            }
            let results = if next.has_results { self.frame.results.clone() } else { Valuation::default() };
            let (held, local) = (next.held.clone(), store.local.masked(&self.relation.live[next.node]));
            let frame = Frame { node: next.node, kind: self.frame.kind, section: next.section, held, local, results };
            let is_atomic = frame.section != Section::Outside;
            let running = running.with(store.shared.clone(), is_atomic);
            self.successors.push((Shared::Running(running), Effect::To(frame)));
            Ok(())
        })
    }

    fn assign(
        &mut self,
        store: &Store,
        targets: &[Option<Var>],
        formulas: &[Formula],
        constrain: Option<&Formula>,
    ) -> Result<(), Stop> {
        let values = values(formulas, store)?;
        let mut after = store.clone();
        for (target, value) in targets.iter().zip(values) {
            if let Some(target) = target {
                after.set(*target, value);
            }
        }
        let next = self.node.next;
        let Some(constrain) = constrain else { return Ok(self.continue_at(&after, next)?) };
        // Variables that are open before the assignment are chosen first. Then only values after
        // the assignment are chosen here.
        if let Some(OpenVariable(variable)) = open_before(constrain, store) {
            return Err(Stop::Open(variable));
        }
        after.cases(&mut |after| {
            self.count()?;
            if evaluate(constrain, store, after)?.yes {
                self.continue_at(after, next)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn call(&mut self, store: &Store, function: usize, arguments: &[Option<bool>], returned: usize) {
        let (relation, frame) = (self.relation, self.frame);
        let count = relation.graph.thread_locals.len();
        let callee = relation.entered(function, FrameKind::Called, &store.local.first(count), arguments);
        let section = if frame.section == Section::Outside { Section::Outside } else { Section::Inherited };
        let callee = Frame { section, held: frame.held.clone(), ..callee };
        let node = match relation.graph.nodes[returned].step {
            _ if relation.hands_over[function] => returned,
            Step::Await { assign: Some(assign), .. } => assign,
            _ => self.node.next,
        };
        let below = relation.trimmed(Frame { node, local: store.local.clone(), ..frame.clone() });
        let running = self.running.with(store.shared.clone(), self.running.is_atomic);
        self.successors.push((Shared::Running(running), Effect::Push(callee, below)));
    }

    /// Returns from the function with these results.
    fn leave(&mut self, store: &Store, results: Valuation) {
        let frame = self.frame;
        if frame.kind != FrameKind::Called {
            return self.end(store);
        }
        // An atomic section that a block of this call began ends with the call.
        let section = if let Section::Block(_) = frame.section { Section::Outside } else { frame.section };
        let handover = if self.relation.hands_over[self.node.function] {
            let thread_locals = store.local.first(self.relation.graph.thread_locals.len());
            Handover::Results(Box::new(ReturnData { results, section, held: frame.held.clone(), thread_locals }))
        } else {
            Handover::Nothing
        };
        let is_atomic = section != Section::Outside;
        let running = Running { handover, ..self.running.with(store.shared.clone(), is_atomic) };
        self.successors.push((Shared::Running(running), Effect::Pop));
    }

    /// Ends the thread.
    fn end(&mut self, store: &Store) {
        let running = self.running.with(store.shared.clone(), self.running.is_atomic);
        let running = if self.frame.kind == FrameKind::Called {
            Running { handover: Handover::End, ..running }
        } else {
            self.relation.without_thread(running, self.frame)
        };
        self.successors.push((Shared::Running(running), Effect::Pop));
    }

    /// Adds the error of a failed `assert` or `unlock`.
    fn error(&mut self, store: &Store) -> Result<(), Cutoff> {
        if !self.relation.has_errors {
            return self.continue_at(store, self.node.next);
        }
        self.successors.push((Shared::Error(self.frame.node), Effect::To(self.frame.clone())));
        Ok(())
    }

    /// Creates a thread, if a slot is free.
    fn create(&mut self, store: &Store, first: Frame) -> Result<(), Cutoff> {
        let StepRelation { graph, threads, .. } = self.relation;
        let start = threads::start(graph, self.frame.node);
        let pool = threads.pools.iter().position(|pool| pool.starts.contains(&start));
        let Some(pool) = pool else { return Ok(()) };
        // Without a limit, there is a slot for each creation. With one, the counter decides.
        let number = u32::try_from(pool).expect("few pools");
        let waiting = self.running.pending.iter().filter(|(of, _)| *of == number).count();
        if waiting >= threads.pools[pool].slots as usize || threads.limit == Some(self.running.created) {
            return Ok(());
        }
        let mut running = self.running.clone();
        running.created += u32::from(threads.limit.is_some());
        running.pending.push((number, first));
        running.pending.sort_unstable();
        let next = self.next(self.node.next);
        self.arrive(store, next, &running)
    }
}

/// The frame on top after a step, without its variables.
#[derive(Clone, Copy)]
struct NextFrame<'n> {
    node: usize,
    section: Section,
    held: &'n NumberSet,
    /// Whether the frame still has results of a call that are not assigned.
    has_results: bool,
}

/// Evaluates each formula; `None` stands for any value.
fn values(formulas: &[Formula], store: &Store) -> Result<Vec<Option<bool>>, OpenVariable> {
    formulas.iter().map(|formula| Ok(evaluate(formula, store, store)?.value())).collect()
}

/// Finds a variable of the formula that is open before the assignment.
fn open_before(formula: &Formula, store: &Store) -> Option<OpenVariable> {
    match formula {
        Formula::Variable(variable) => store.get(*variable).is_none().then_some(OpenVariable(*variable)),
        Formula::Constant(_) | Formula::Choice | Formula::Primed(_) => None,
        Formula::Not(a) => open_before(a, store),
        Formula::Binary(_, a, b) | Formula::Schoose(a, b) => open_before(a, store).or_else(|| open_before(b, store)),
        Formula::IfElse(a, b, c) => {
            open_before(a, store).or_else(|| open_before(b, store)).or_else(|| open_before(c, store))
        }
    }
}

//! What a thread does in one step: the meaning of programs (docs/boolean-programs.md), as actions
//! of a pushdown system.
//!
//! A shared state has the shared variables and what synchronisation needs; a stack symbol is a
//! [`Frame`]: a place with its local variables, and with what the thread has to remember of itself.
//!
//! A return cannot reach below the top of the stack. What it hands over lies in the shared state
//! until the caller's frame, which awaits it, picks it up. Meanwhile nobody else can move, so the
//! two actions are one step; and only the thread that returns has an awaiting frame on top.

use crate::graph::{Formula, Graph, Node, Step, Var};
use crate::set::Set;
use crate::state::{Frame, FrameKind, Handed, Handover, Running, Section, Shared};
use crate::store::{Bits, Enough, Open, Stop, Store, evaluate};
use crate::threads::{self, Threads};

/// What a step does to the stack.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Effect {
    /// Another frame on top.
    To(Frame),
    /// The callee, and the caller as it awaits the return.
    Push(Frame, Frame),
    Pop,
}

/// A program with its threads.
pub(crate) struct Machine<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) threads: &'a Threads,
    /// Whether a failed `assert` or `unlock` ends the run; otherwise it does nothing.
    pub(crate) has_errors: bool,
    /// For each function, whether its returns hand something over.
    hands_over: Vec<bool>,
    /// For each node, the local variables that matter there.
    live: &'a [Set],
}

/// More choices of open variables than this are not tried for one step.
pub(crate) const MOST_CASES: u64 = 1 << 20;

impl<'a> Machine<'a> {
    pub(crate) fn new(graph: &'a Graph, threads: &'a Threads, live: &'a [Set], has_errors: bool) -> Self {
        Machine { graph, threads, has_errors, hands_over: hands_over(graph), live }
    }

    /// Whether a return of this function hands something over.
    pub(crate) fn hands_over(&self, function: usize) -> bool {
        self.hands_over[function]
    }

    /// The shared state at the start.
    pub(crate) fn initial(&self) -> Shared {
        Shared::Running(Running {
            variables: self.graph.shared.iter().map(|variable| variable.value).collect(),
            locked: Set::EMPTY,
            is_atomic: false,
            handover: Handover::Nothing,
            pending: Vec::new(),
            created: 0,
        })
    }

    /// The first frame of a function that is not called.
    pub(crate) fn first_frame(&self, function: usize, kind: FrameKind) -> Frame {
        let thread_locals: Bits = self.graph.thread_locals.iter().map(|variable| variable.value).collect();
        self.entered(function, kind, &thread_locals, &[])
    }

    /// A frame without what does not matter where it is.
    fn trimmed(&self, frame: Frame) -> Frame {
        Frame { local: frame.local.masked(&self.live[frame.node]), ..frame }
    }

    /// The frame of a function at its beginning.
    fn entered(&self, function: usize, kind: FrameKind, thread_locals: &Bits, arguments: &[Option<bool>]) -> Frame {
        let count = self.graph.thread_locals.len();
        let kind = self.lowest(function, kind);
        let function = &self.graph.functions[function];
        let mut local = Bits::default().with_first(count, thread_locals);
        for (number, variable) in function.locals.iter().enumerate() {
            local.set(count + number, arguments.get(number).copied().unwrap_or(variable.value));
        }
        let (section, held, results) = (Section::Outside, Set::EMPTY, Bits::default());
        self.trimmed(Frame { node: function.entry, kind, section, held, local, results })
    }

    /// The kind of a frame that is the lowest of its thread: where nothing is handed over, and
    /// nothing counted, there is no difference.
    fn lowest(&self, function: usize, kind: FrameKind) -> FrameKind {
        match kind {
            FrameKind::Created if self.threads.limit.is_some() => kind,
            _ if self.hands_over[function] => kind,
            _ => FrameKind::Called,
        }
    }

    /// Threads of this pool that can start: the frame that the first of each kind starts with, and
    /// the shared state then.
    pub(crate) fn pick_up((rest, variables): (&Shared, &Bits), pool: u32) -> Vec<(Shared, Frame)> {
        let Shared::Running(running) = rest else { return Vec::new() };
        if running.is_atomic || running.handover != Handover::Nothing {
            return Vec::new();
        }
        let mut starts = Vec::new();
        for (i, start) in running.pending.iter().enumerate() {
            if start.0 == pool && running.pending.get(i + 1) != Some(start) {
                let mut running = running.with(variables.clone(), false);
                let (_, frame) = running.pending.remove(i);
                starts.push((Shared::Running(running), frame));
            }
        }
        starts
    }

    /// Whether a thread with this frame on top is the only one that can take a step.
    pub(crate) fn is_alone(&self, shared: &Shared, frame: &Frame) -> bool {
        match shared {
            Shared::Error(_) => true,
            Shared::Running(running) if running.handover != Handover::Nothing => {
                matches!(self.graph.nodes[frame.node].step, Step::Await { .. })
            }
            Shared::Running(running) => running.is_atomic && frame.section != Section::Outside,
        }
    }

    /// Every step that a thread can take with this frame on top; of the shared state, the variables
    /// are given by themselves.
    pub(crate) fn steps(
        &self,
        (rest, variables): (&Shared, &Bits),
        frame: &Frame,
    ) -> Result<Vec<(Shared, Effect)>, Enough> {
        let Shared::Running(running) = rest else { return Ok(Vec::new()) };
        let node = &self.graph.nodes[frame.node];
        let mut found = Vec::new();
        match (&node.step, &running.handover) {
            (Step::Await { targets, assign }, _) => {
                self.picked_up((running, variables), frame, targets, *assign, &mut found);
            }
            (_, Handover::Nothing) if running.is_atomic == (frame.section != Section::Outside) => {
                Now { machine: self, running, variables, frame, node, found: &mut found, cases: 0 }.step()?;
            }
            _ => {}
        }
        Ok(found)
    }

    /// What an awaiting frame does.
    fn picked_up(
        &self,
        (running, variables): (&Running, &Bits),
        frame: &Frame,
        targets: &[Option<Var>],
        assign: Option<usize>,
        found: &mut Vec<(Shared, Effect)>,
    ) {
        match &running.handover {
            Handover::Nothing => {}
            Handover::End if frame.kind == FrameKind::Called => {
                found.push((Shared::Running(running.with(variables.clone(), running.is_atomic)), Effect::Pop));
            }
            Handover::End => {
                let running = running.with(variables.clone(), false);
                found.push((Shared::Running(self.without_thread(running, frame)), Effect::Pop));
            }
            Handover::Results(handed) => {
                let Handed { results, section, held, thread_locals } = &**handed;
                let section = if *section == Section::Inherited { frame.section } else { *section };
                let local = frame.local.with_first(self.graph.thread_locals.len(), thread_locals);
                let node = self.graph.nodes[frame.node].next;
                let mut frame = Frame { node, section, held: held.clone(), local, ..frame.clone() };
                if let Some(assign) = assign {
                    (frame.node, frame.results) = (assign, results.clone());
                } else {
                    for (number, target) in targets.iter().enumerate() {
                        if let Some(Var::Local(target)) = target {
                            frame.local.set(*target, results.get(number));
                        }
                    }
                }
                let running = running.with(variables.clone(), running.is_atomic);
                let running = Running { handover: Handover::Nothing, ..running };
                found.push((Shared::Running(running), Effect::To(self.trimmed(frame))));
            }
        }
    }

    /// The shared state after the end of the thread with this frame.
    fn without_thread(&self, running: Running, frame: &Frame) -> Running {
        let is_counted = frame.kind == FrameKind::Created && self.threads.limit.is_some();
        let created = running.created.saturating_sub(u32::from(is_counted));
        Running { is_atomic: false, handover: Handover::Nothing, created, ..running }
    }
}

/// For each function, whether its returns hand something over: it has results, or does something to
/// its thread that lasts, or `end_thread` may leave it.
fn hands_over(graph: &Graph) -> Vec<bool> {
    let mut callers = vec![Vec::new(); graph.functions.len()];
    let (mut lasts, mut ends) =
        (vec![!graph.thread_locals.is_empty(); graph.functions.len()], vec![false; graph.functions.len()]);
    for node in &graph.nodes {
        match node.step {
            Step::Call { function, .. } => callers[function].push(node.function),
            Step::AtomicBegin | Step::AtomicEnd | Step::Lock(_) | Step::Unlock(_) => lasts[node.function] = true,
            Step::EndThread => ends[node.function] = true,
            _ => {}
        }
    }
    // What a callee does, its caller does.
    let mut found: Vec<usize> = (0..lasts.len()).filter(|&function| lasts[function]).collect();
    while let Some(callee) = found.pop() {
        for &caller in &callers[callee] {
            if !std::mem::replace(&mut lasts[caller], true) {
                found.push(caller);
            }
        }
    }
    let unwinds = (0..ends.len()).any(|function| ends[function] && !callers[function].is_empty());
    let results = graph.functions.iter().map(|function| function.results > 0);
    let own = results.zip(lasts).zip(ends);
    own.map(|((has_results, lasts), ends)| has_results || lasts || ends || unwinds).collect()
}

/// One step of one thread.
struct Now<'m, 'a, 'f> {
    machine: &'m Machine<'a>,
    /// The shared state without its variables.
    running: &'m Running,
    variables: &'m Bits,
    frame: &'m Frame,
    node: &'m Node,
    found: &'f mut Vec<(Shared, Effect)>,
    /// How many choices of open variables have been tried.
    cases: u64,
}

impl<'m> Now<'m, '_, '_> {
    fn step(&mut self) -> Result<(), Enough> {
        let store = Store { shared: self.variables.clone(), local: self.frame.local.clone() };
        // Results that arrive are part of a statement that has begun.
        let is_inside = matches!(self.node.step, Step::Results { .. });
        let enforce = self.machine.graph.functions[self.node.function].enforce.as_ref().filter(|_| !is_inside);
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

    /// Counts a case.
    fn count(&mut self) -> Result<(), Enough> {
        self.cases += 1;
        if self.cases > MOST_CASES { Err(Enough) } else { Ok(()) }
    }

    fn step_from(&mut self, store: &Store) -> Result<(), Stop> {
        let (node, frame) = (self.node, self.frame);
        match &node.step {
            Step::Skip => self.go(store, node.next)?,
            Step::Goto(targets) => {
                for &target in targets {
                    let section = match frame.section {
                        Section::Block(block) if !self.machine.graph.nodes[target].blocks.contains(&block) => {
                            Section::Outside
                        }
                        section => section,
                    };
                    let next = Next { section, ..self.next(target) };
                    self.to(store, next)?;
                }
            }
            Step::Assume(condition) => {
                if evaluate(condition, store, store)?.yes {
                    self.go(store, node.next)?;
                }
            }
            Step::Assert(condition) => {
                let possible = evaluate(condition, store, store)?;
                if possible.no {
                    self.error(store)?;
                }
                if possible.yes {
                    self.go(store, node.next)?;
                }
            }
            Step::Branch(condition, then, otherwise) => {
                let possible = evaluate(condition, store, store)?;
                if possible.yes {
                    self.go(store, *then)?;
                }
                if possible.no {
                    self.go(store, *otherwise)?;
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
                let next = Next { has_results: false, ..self.next(node.next) };
                self.to(&after, next)?;
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
                let next = Next { section: self.section(), ..self.next(node.next) };
                self.to(store, next)?;
            }
            Step::Lock(lock) | Step::Unlock(lock) => self.lock(store, *lock, matches!(node.step, Step::Lock(_)))?,
            Step::Start { function, arguments } => {
                let arguments = values(arguments, store)?;
                let graph = self.machine.graph;
                let thread_locals = graph.thread_locals.iter().map(|variable| variable.value).collect();
                let first = self.machine.entered(*function, FrameKind::Created, &thread_locals, &arguments);
                self.create(store, first)?;
            }
            Step::StartAt(target, _) => {
                // A copy: both threads must know the same values, as far as they matter to the new
                // one.
                let open = self.machine.live[*target].difference(store.local.known());
                if let Some(number) = open.iter().next() {
                    return Err(Stop::Open(Var::Local(number)));
                }
                let (kind, section) = (self.machine.lowest(node.function, FrameKind::Created), Section::Outside);
                let (held, local, results) = (Set::EMPTY, store.local.clone(), frame.results.clone());
                let copy = self.machine.trimmed(Frame { node: *target, kind, section, held, local, results });
                self.create(store, copy)?;
            }
            Step::Await { .. } => unreachable!("it does not take steps of its own"),
        }
        Ok(())
    }

    /// The section after a step that begins or ends one.
    fn section(&self) -> Section {
        match (&self.node.step, self.frame.section) {
            (Step::Enter(block), Section::Outside) => Section::Block(*block),
            (Step::AtomicBegin, Section::Outside) => Section::Begun,
            (Step::Leave, Section::Block(block)) if block == self.frame.node => Section::Outside,
            (Step::AtomicEnd, _) => Section::Outside,
            (_, section) => section,
        }
    }

    /// Takes a lock, or gives it up.
    fn lock(&mut self, store: &Store, lock: usize, is_taken: bool) -> Result<(), Enough> {
        let (mut running, mut held) = (self.running.clone(), self.frame.held.clone());
        match (is_taken, running.locked.contains(lock), held.contains(lock)) {
            (true, false, _) => {
                running.locked.insert(lock);
                held.insert(lock);
                self.arrive(store, Next { held: &held, ..self.next(self.node.next) }, &running)
            }
            (false, _, true) => {
                running.locked.remove(lock);
                held.remove(lock);
                self.arrive(store, Next { held: &held, ..self.next(self.node.next) }, &running)
            }
            (true, true, _) => Ok(()), // it waits
            (false, _, false) => self.error(store),
        }
    }

    /// The frame that goes on at this node, and is the same otherwise.
    fn next(&self, node: usize) -> Next<'m> {
        Next { node, section: self.frame.section, held: &self.frame.held, has_results: true }
    }

    /// Goes on at this node.
    fn go(&mut self, store: &Store, next: usize) -> Result<(), Enough> {
        let next = self.next(next);
        self.to(store, next)
    }

    /// Goes on with this frame.
    fn to(&mut self, store: &Store, next: Next<'_>) -> Result<(), Enough> {
        self.arrive(store, next, self.running)
    }

    /// Goes on with this frame, whose variables are in the store, if what is enforced allows it.
    fn arrive(&mut self, store: &Store, next: Next<'_>, running: &Running) -> Result<(), Enough> {
        let enforce = self.machine.graph.functions[self.node.function].enforce.as_ref();
        store.cases(&mut |store| {
            if let Some(enforce) = enforce {
                self.count()?;
                if !evaluate(enforce, store, store)?.yes {
                    return Ok(());
                }
            }
            let results = if next.has_results { self.frame.results.clone() } else { Bits::default() };
            let (held, local) = (next.held.clone(), store.local.masked(&self.machine.live[next.node]));
            let frame = Frame { node: next.node, kind: self.frame.kind, section: next.section, held, local, results };
            let is_atomic = frame.section != Section::Outside;
            let running = running.with(store.shared.clone(), is_atomic);
            self.found.push((Shared::Running(running), Effect::To(frame)));
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
        let Some(constrain) = constrain else { return Ok(self.go(&after, next)?) };
        // What is open before is chosen before: then only the values after the assignment are left
        // to be chosen here.
        if let Some(Open(variable)) = open_before(constrain, store) {
            return Err(Stop::Open(variable));
        }
        after.cases(&mut |after| {
            self.count()?;
            if evaluate(constrain, store, after)?.yes {
                self.go(after, next)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    fn call(&mut self, store: &Store, function: usize, arguments: &[Option<bool>], returned: usize) {
        let (machine, frame) = (self.machine, self.frame);
        let count = machine.graph.thread_locals.len();
        let callee = machine.entered(function, FrameKind::Called, &store.local.first(count), arguments);
        let section = if frame.section == Section::Outside { Section::Outside } else { Section::Inherited };
        let callee = Frame { section, held: frame.held.clone(), ..callee };
        let node = match machine.graph.nodes[returned].step {
            _ if machine.hands_over[function] => returned,
            Step::Await { assign: Some(assign), .. } => assign,
            _ => self.node.next,
        };
        let below = machine.trimmed(Frame { node, local: store.local.clone(), ..frame.clone() });
        let running = self.running.with(store.shared.clone(), self.running.is_atomic);
        self.found.push((Shared::Running(running), Effect::Push(callee, below)));
    }

    /// Returns with these results.
    fn leave(&mut self, store: &Store, results: Bits) {
        let frame = self.frame;
        if frame.kind != FrameKind::Called {
            return self.end(store);
        }
        // A section that a block of this call began, ends with it.
        let section = if let Section::Block(_) = frame.section { Section::Outside } else { frame.section };
        let handover = if self.machine.hands_over[self.node.function] {
            let thread_locals = store.local.first(self.machine.graph.thread_locals.len());
            Handover::Results(Box::new(Handed { results, section, held: frame.held.clone(), thread_locals }))
        } else {
            Handover::Nothing
        };
        let is_atomic = section != Section::Outside;
        let running = Running { handover, ..self.running.with(store.shared.clone(), is_atomic) };
        self.found.push((Shared::Running(running), Effect::Pop));
    }

    /// The thread ends.
    fn end(&mut self, store: &Store) {
        let running = self.running.with(store.shared.clone(), self.running.is_atomic);
        let running = if self.frame.kind == FrameKind::Called {
            Running { handover: Handover::End, ..running }
        } else {
            self.machine.without_thread(running, self.frame)
        };
        self.found.push((Shared::Running(running), Effect::Pop));
    }

    /// An `assert` or `unlock` that failed.
    fn error(&mut self, store: &Store) -> Result<(), Enough> {
        if !self.machine.has_errors {
            return self.go(store, self.node.next);
        }
        self.found.push((Shared::Error(self.frame.node), Effect::To(self.frame.clone())));
        Ok(())
    }

    /// A new thread, if there is room for it.
    fn create(&mut self, store: &Store, first: Frame) -> Result<(), Enough> {
        let Machine { graph, threads, .. } = self.machine;
        let start = threads::start(graph, self.frame.node);
        let pool = threads.pools.iter().position(|pool| pool.starts.contains(&start));
        let Some(pool) = pool else { return Ok(()) };
        // More have never been created than there are places, or there are as many as there may be.
        let number = u32::try_from(pool).expect("few pools");
        let waiting = self.running.pending.iter().filter(|(of, _)| *of == number).count();
        if waiting >= threads.pools[pool].places as usize || threads.limit == Some(self.running.created) {
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

/// What becomes of a frame that stays the topmost one, apart from its variables.
#[derive(Clone, Copy)]
struct Next<'n> {
    node: usize,
    section: Section,
    held: &'n Set,
    /// Whether it keeps the results of a call that are not assigned.
    has_results: bool,
}

/// The value of each, or that it may be any.
fn values(formulas: &[Formula], store: &Store) -> Result<Vec<Option<bool>>, Open> {
    formulas.iter().map(|formula| Ok(evaluate(formula, store, store)?.value())).collect()
}

/// A variable in the formula that is open before the assignment.
fn open_before(formula: &Formula, store: &Store) -> Option<Open> {
    match formula {
        Formula::Variable(variable) => store.get(*variable).is_none().then_some(Open(*variable)),
        Formula::Constant(_) | Formula::Choice | Formula::Primed(_) => None,
        Formula::Not(a) => open_before(a, store),
        Formula::Binary(_, a, b) | Formula::Schoose(a, b) => open_before(a, store).or_else(|| open_before(b, store)),
        Formula::IfElse(a, b, c) => {
            open_before(a, store).or_else(|| open_before(b, store)).or_else(|| open_before(c, store))
        }
    }
}

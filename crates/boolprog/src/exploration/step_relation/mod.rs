//! What a thread does in one step: the meaning of programs (docs/boolean-programs.md), as actions
//! of a pushdown system.
//!
//! A shared state has the shared variables and what synchronisation needs; a stack symbol is a
//! [`Frame`]: a place with its local variables, and with what the thread has to remember of itself.
//!
//! A return cannot reach below the top of the stack. What it hands over lies in the shared state
//! until the caller's frame, which awaits it, picks it up. Meanwhile nobody else can move, so the
//! two actions are one step; and only the thread that returns has an awaiting frame on top.

mod thread_step;

use crate::graph::{Graph, Step, Var};
use crate::states::{Cutoff, Frame, FrameKind, Handover, NumberSet, ReturnData, Running, Section, Shared, Valuation};
use crate::threads::Threads;
use thread_step::ThreadStep;

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
pub(crate) struct StepRelation<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) threads: &'a Threads,
    /// Whether a failed `assert` or `unlock` ends the run; otherwise it does nothing.
    pub(crate) has_errors: bool,
    /// For each function, whether its returns hand something over.
    hands_over: Vec<bool>,
    /// For each node, the local variables that matter there.
    live: &'a [NumberSet],
}

/// More choices of open variables than this are not tried for one step.
pub(crate) const MOST_CASES: u64 = 1 << 20;

impl<'a> StepRelation<'a> {
    pub(crate) fn new(graph: &'a Graph, threads: &'a Threads, live: &'a [NumberSet], has_errors: bool) -> Self {
        StepRelation { graph, threads, has_errors, hands_over: hands_over(graph), live }
    }

    /// Whether a return of this function hands something over.
    pub(crate) fn hands_over(&self, function: usize) -> bool {
        self.hands_over[function]
    }

    /// The shared state at the start.
    pub(crate) fn initial(&self) -> Shared {
        Shared::Running(Running {
            variables: self.graph.shared.iter().map(|variable| variable.value).collect(),
            locked: NumberSet::EMPTY,
            is_atomic: false,
            handover: Handover::Nothing,
            pending: Vec::new(),
            created: 0,
        })
    }

    /// The first frame of a function that is not called.
    pub(crate) fn first_frame(&self, function: usize, kind: FrameKind) -> Frame {
        let thread_locals: Valuation = self.graph.thread_locals.iter().map(|variable| variable.value).collect();
        self.entered(function, kind, &thread_locals, &[])
    }

    /// A frame without what does not matter where it is.
    fn trimmed(&self, frame: Frame) -> Frame {
        Frame { local: frame.local.masked(&self.live[frame.node]), ..frame }
    }

    /// The frame of a function at its beginning.
    fn entered(
        &self,
        function: usize,
        kind: FrameKind,
        thread_locals: &Valuation,
        arguments: &[Option<bool>],
    ) -> Frame {
        let count = self.graph.thread_locals.len();
        let kind = self.lowest(function, kind);
        let function = &self.graph.functions[function];
        let mut local = Valuation::default().with_first(count, thread_locals);
        for (number, variable) in function.locals.iter().enumerate() {
            local.set(count + number, arguments.get(number).copied().unwrap_or(variable.value));
        }
        let (section, held, results) = (Section::Outside, NumberSet::EMPTY, Valuation::default());
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
    pub(crate) fn pick_up((rest, variables): (&Shared, &Valuation), pool: u32) -> Vec<(Shared, Frame)> {
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
        (rest, variables): (&Shared, &Valuation),
        frame: &Frame,
    ) -> Result<Vec<(Shared, Effect)>, Cutoff> {
        let Shared::Running(running) = rest else { return Ok(Vec::new()) };
        let node = &self.graph.nodes[frame.node];
        let mut found = Vec::new();
        match (&node.step, &running.handover) {
            (Step::Await { targets, assign }, _) => {
                self.picked_up((running, variables), frame, targets, *assign, &mut found);
            }
            (_, Handover::Nothing) if running.is_atomic == (frame.section != Section::Outside) => {
                ThreadStep { relation: self, running, variables, frame, node, found: &mut found, cases: 0 }.step()?;
            }
            _ => {}
        }
        Ok(found)
    }

    /// What an awaiting frame does.
    fn picked_up(
        &self,
        (running, variables): (&Running, &Valuation),
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
                let ReturnData { results, section, held, thread_locals } = &**handed;
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

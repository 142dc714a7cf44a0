//! The step relation of a program: its meaning (docs/boolean-programs.md) as actions of a pushdown
//! system.
//!
//! In: a graph, its threads, and a head. Out: the steps from this head.
//!
//! A shared state consists of the shared variables and the state of locks, atomic sections and
//! created threads. A stack symbol is a [`Frame`]: a place, its local variables, and the locks and
//! the atomic section of the thread.
//!
//! A pop cannot change the symbol below the top. So a return takes two actions if it may pass
//! something to the caller: results, thread-local variables, locks, the atomic section, or the end
//! of the thread. The first action stores these in the shared state ([`Handover`]). The second one
//! is a step of the caller's frame, which awaits and takes them. Between the two, no other thread
//! can take a step: only the returning thread has an awaiting frame on top. Every other return
//! takes one action. The function determines which kind its returns are (`hands_over`).

mod thread_step;

use crate::graph::{Graph, Step, Var};
use crate::states::{Cutoff, Frame, FrameKind, Handover, NumberSet, ReturnData, Running, Section, Shared, Valuation};
use crate::threads::Threads;
use thread_step::ThreadStep;

/// The effect of a step on the stack.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Effect {
    /// Replaces the top by this frame.
    To(Frame),
    /// A call: the callee's frame, and the caller's frame, which awaits the return.
    Push(Frame, Frame),
    Pop,
}

/// The step relation of a program and its threads.
pub(crate) struct StepRelation<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) threads: &'a Threads,
    /// Whether a failed `assert` or `unlock` ends the run. Otherwise it has no effect.
    pub(crate) has_errors: bool,
    /// For each function, whether its return stores a handover in the shared state.
    hands_over: Vec<bool>,
    /// For each node, the live local variables.
    live: &'a [NumberSet],
}

/// The most choices of open variables for one step.
pub(crate) const MOST_CASES: u64 = 1 << 20;

impl<'a> StepRelation<'a> {
    pub(crate) fn new(graph: &'a Graph, threads: &'a Threads, live: &'a [NumberSet], has_errors: bool) -> Self {
        StepRelation { graph, threads, has_errors, hands_over: hands_over(graph), live }
    }

    /// Returns whether a return of this function stores a handover in the shared state.
    pub(crate) fn hands_over(&self, function: usize) -> bool {
        self.hands_over[function]
    }

    /// Returns the initial shared state.
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

    /// Returns the first frame of a thread that starts with this function.
    pub(crate) fn first_frame(&self, function: usize, kind: FrameKind) -> Frame {
        let thread_locals: Valuation = self.graph.thread_locals.iter().map(|variable| variable.value).collect();
        self.entered(function, kind, &thread_locals, &[])
    }

    /// Removes the values of variables that are not live from a frame.
    fn trimmed(&self, frame: Frame) -> Frame {
        Frame { local: frame.local.masked(&self.live[frame.node]), ..frame }
    }

    /// Creates the frame at the entry of a function.
    fn entered(
        &self,
        function: usize,
        kind: FrameKind,
        thread_locals: &Valuation,
        arguments: &[Option<bool>],
    ) -> Frame {
        let count = self.graph.thread_locals.len();
        let kind = self.lowest_frame_kind(function, kind);
        let function = &self.graph.functions[function];
        let mut local = Valuation::default().with_first(count, thread_locals);
        for (number, variable) in function.locals.iter().enumerate() {
            local.set(count + number, arguments.get(number).copied().unwrap_or(variable.value));
        }
        let (section, held, results) = (Section::Outside, NumberSet::EMPTY, Valuation::default());
        self.trimmed(Frame { node: function.entry, kind, section, held, local, results })
    }

    /// Returns the kind of the lowest frame of a thread. If its return hands nothing over, and
    /// created threads are not counted, the frame behaves like a called one and has the same kind.
    fn lowest_frame_kind(&self, function: usize, kind: FrameKind) -> FrameKind {
        match kind {
            FrameKind::Created if self.threads.limit.is_some() => kind,
            _ if self.hands_over[function] => kind,
            _ => FrameKind::Called,
        }
    }

    /// Returns the starts of threads from this pool. For each pending frame: the shared state after
    /// the start, and the frame.
    pub(crate) fn starts_from_pool((rest, variables): (&Shared, &Valuation), pool: u32) -> Vec<(Shared, Frame)> {
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

    /// Returns whether a thread with this frame on top is the only thread that can take a step.
    pub(crate) fn is_alone(&self, shared: &Shared, frame: &Frame) -> bool {
        match shared {
            Shared::Error(_) => true,
            Shared::Running(running) if running.handover != Handover::Nothing => {
                matches!(self.graph.nodes[frame.node].step, Step::Await { .. })
            }
            Shared::Running(running) => running.is_atomic && frame.section != Section::Outside,
        }
    }

    /// Computes all steps of a thread with this frame on top. The shared state is given as its
    /// variables and the rest.
    pub(crate) fn steps(
        &self,
        (rest, variables): (&Shared, &Valuation),
        frame: &Frame,
    ) -> Result<Vec<(Shared, Effect)>, Cutoff> {
        let Shared::Running(running) = rest else { return Ok(Vec::new()) };
        let node = &self.graph.nodes[frame.node];
        let mut successors = Vec::new();
        match (&node.step, &running.handover) {
            (Step::Await { targets, assign }, _) => {
                self.add_step_after_return((running, variables), frame, targets, *assign, &mut successors);
            }
            (_, Handover::Nothing) if running.is_atomic == (frame.section != Section::Outside) => {
                ThreadStep { relation: self, running, variables, frame, node, successors: &mut successors, cases: 0 }
                    .step()?;
            }
            _ => {}
        }
        Ok(successors)
    }

    /// Adds the step of a frame that awaits a return.
    fn add_step_after_return(
        &self,
        (running, variables): (&Running, &Valuation),
        frame: &Frame,
        targets: &[Option<Var>],
        assign: Option<usize>,
        successors: &mut Vec<(Shared, Effect)>,
    ) {
        match &running.handover {
            Handover::Nothing => {}
            Handover::End if frame.kind == FrameKind::Called => {
                successors.push((Shared::Running(running.with(variables.clone(), running.is_atomic)), Effect::Pop));
            }
            Handover::End => {
                let running = running.with(variables.clone(), false);
                successors.push((Shared::Running(self.without_thread(running, frame)), Effect::Pop));
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
                successors.push((Shared::Running(running), Effect::To(self.trimmed(frame))));
            }
        }
    }

    /// Returns the shared state after the thread with this lowest frame has ended.
    fn without_thread(&self, running: Running, frame: &Frame) -> Running {
        let is_counted = frame.kind == FrameKind::Created && self.threads.limit.is_some();
        let created = running.created.saturating_sub(u32::from(is_counted));
        Running { is_atomic: false, handover: Handover::Nothing, created, ..running }
    }
}

/// Computes, for each function, whether its return stores a handover in the shared state. It does
/// if the function has results, if a call of it may change thread-local variables, locks or the
/// atomic section of its thread, or if `end_thread` may end its calls.
fn hands_over(graph: &Graph) -> Vec<bool> {
    let mut callers = vec![Vec::new(); graph.functions.len()];
    let (mut has_lasting_effect, mut ends) =
        (vec![!graph.thread_locals.is_empty(); graph.functions.len()], vec![false; graph.functions.len()]);
    for node in &graph.nodes {
        match node.step {
            Step::Call { function, .. } => callers[function].push(node.function),
            Step::AtomicBegin | Step::AtomicEnd | Step::Lock(_) | Step::Unlock(_) => {
                has_lasting_effect[node.function] = true;
            }
            Step::EndThread => ends[node.function] = true,
            _ => {}
        }
    }
    // A caller has the effects of its callees.
    let mut found: Vec<usize> =
        (0..has_lasting_effect.len()).filter(|&function| has_lasting_effect[function]).collect();
    while let Some(callee) = found.pop() {
        for &caller in &callers[callee] {
            if !std::mem::replace(&mut has_lasting_effect[caller], true) {
                found.push(caller);
            }
        }
    }
    let unwinds = (0..ends.len()).any(|function| ends[function] && !callers[function].is_empty());
    let results = graph.functions.iter().map(|function| function.results > 0);
    let own = results.zip(has_lasting_effect).zip(ends);
    own.map(|((has_results, has_lasting_effect), ends)| has_results || has_lasting_effect || ends || unwinds).collect()
}

//! Writes a state of a program as text: `x=1 & y=*|f:12(a=1) main:7, -`.
//!
//! Before `|` are the shared variables, and the locks and atomic sections that no frame mentions.
//! After it are the frames of each thread, innermost first: function and line, and in parentheses
//! the live local variables. `state_reader.rs` reads this text back.

use super::SourceMap;
use crate::graph::{Declaration, Step};
use crate::states::{Frame, FrameKind, Handover, NumberSet, ReturnData, Running, Section, Shared, Valuation};
use cpds::{GlobalState, SharedState, Stack, Symbol};

/// The facts about the shared state that follow from the frames of all threads.
#[derive(Default)]
struct ImpliedByThreads {
    held: NumberSet,
    is_atomic: bool,
    created: u32,
}

impl SourceMap {
    /// Formats a state.
    pub fn state_text(&self, state: &GlobalState) -> String {
        self.text(state.shared, &state.stacks)
    }

    /// Formats the state of one thread.
    pub fn thread_state_text(&self, (q, stack): (SharedState, &Stack)) -> String {
        self.text(q, std::slice::from_ref(stack))
    }

    fn text(&self, q: SharedState, stacks: &[Stack]) -> String {
        let shared = match &self.shared(q) {
            Shared::Running(running) => {
                let by_thread = stacks.iter().map(|stack| self.thread_synchronisation(running, stack));
                let of_threads = by_thread.fold(ImpliedByThreads::default(), |implied, thread| ImpliedByThreads {
                    held: implied.held.union(&thread.held),
                    is_atomic: implied.is_atomic || thread.is_atomic,
                    created: 0,
                });
                let created = stacks.iter().filter(|stack| self.is_created(stack)).count() + running.pending.len();
                let created = u32::try_from(created).expect("few threads");
                self.running_text(running, &ImpliedByThreads { created, ..of_threads })
            }
            Shared::Error(_) => self.shared_text(q),
        };
        let stacks: Vec<String> = stacks.iter().map(|stack| self.stack_text(stack)).collect();
        format!("{shared}|{}", stacks.join(", "))
    }

    /// Formats a shared state.
    pub fn shared_text(&self, q: SharedState) -> String {
        match &self.shared(q) {
            Shared::Running(running) => self.running_text(running, &ImpliedByThreads::default()),
            Shared::Error(node) => {
                let kind = if let Step::Unlock(_) = self.graph.nodes[*node].step { "unlock" } else { "assert" };
                format!("{kind} fails at {}", self.place_text(*node))
            }
        }
    }

    /// Formats a stack symbol.
    pub fn symbol_text(&self, symbol: Symbol) -> String {
        let frame = self.meaning.frame(symbol);
        let function = self.graph.nodes[frame.node].function;
        let is_marked = frame.kind != FrameKind::Called && self.meaning.places.is_called(function);
        let outermost = is_marked.then(|| "outermost".to_owned());
        self.frame_text(frame, outermost)
    }

    /// Returns whether a thread is in the middle of a step, with a handover in the shared state.
    /// Then no other thread can take a step.
    pub fn is_mid_step(&self, q: SharedState) -> bool {
        matches!(self.rest(q), Shared::Running(running) if running.handover != Handover::Nothing)
    }

    /// Returns whether this is the stack of a created thread. Always false if created threads are
    /// not counted.
    pub(super) fn is_created(&self, stack: &Stack) -> bool {
        stack.iter().next_back().is_some_and(|symbol| self.meaning.frame(symbol).kind == FrameKind::Created)
    }

    fn running_text(&self, running: &Running, implied: &ImpliedByThreads) -> String {
        let mut items = variables(&self.graph.shared, &running.variables, 0, None);
        items.extend(self.locks(&running.locked.difference(&implied.held)).map(|(_, lock)| format!("{lock} held")));
        if running.is_atomic && !implied.is_atomic {
            items.push("in atomic".to_owned());
        }
        items.extend(running.pending.iter().map(|(_, frame)| format!("{} waits", self.frame_text(frame, None))));
        if self.threads().limit.is_some() && running.created != implied.created {
            items.push(format!("{} created", running.created));
        }
        match &running.handover {
            Handover::Nothing => {}
            Handover::End => items.push("ending".to_owned()),
            Handover::Results(handed) => {
                let ReturnData { results, section, held, thread_locals } = &**handed;
                let most = self.graph.most_results();
                let mut parts: Vec<String> = (most > 0).then(|| results_text(results, most)).into_iter().collect();
                parts.extend(variables(&self.graph.thread_locals, thread_locals, 0, None));
                parts.extend(self.locks(held).map(|(_, lock)| format!("holds {lock}")));
                parts.extend(section_text(*section));
                items.push("returning".to_owned() + &in_parentheses(&parts));
            }
        }
        if items.is_empty() { "*".to_owned() } else { items.join(" & ") }
    }

    fn stack_text(&self, stack: &Stack) -> String {
        let frames: Vec<String> =
            stack.iter().map(|symbol| self.frame_text(self.meaning.frame(symbol), None)).collect();
        if frames.is_empty() { "-".to_owned() } else { frames.join(" ") }
    }

    pub(super) fn frame_text(&self, frame: &Frame, further: Option<String>) -> String {
        let node = &self.graph.nodes[frame.node];
        let (count, live) = (self.graph.thread_locals.len(), Some(&self.live[frame.node]));
        let mut items = variables(&self.graph.thread_locals, &frame.local, 0, live);
        items.extend(variables(&self.graph.functions[node.function].locals, &frame.local, count, live));
        match &node.step {
            Step::Await { .. } => items.push("calling".to_owned()),
            Step::Results { targets } => items.push(results_text(&frame.results, targets.len())),
            _ => {}
        }
        items.extend(self.locks(&frame.held).map(|(_, lock)| format!("holds {lock}")));
        items.extend(section_text(frame.section));
        items.extend(further);
        self.place_text(frame.node) + &in_parentheses(&items)
    }

    /// Formats a place: `f:12`, or `f:12.2` for the second place on that line.
    fn place_text(&self, node: usize) -> String {
        let function = &self.graph.functions[self.graph.nodes[node].function];
        let (line, number) = self.meaning.places.line_and_number(node);
        // If the number of the line is also a label, `f:12` would mean the label.
        let is_label = function.labels.iter().any(|(label, _)| *label == line.to_string());
        let number = if number > 1 || is_label { format!(".{number}") } else { String::new() };
        format!("{}:{line}{number}", function.name)
    }
}

/// Formats the live variables: `x=1`, `y=*`.
fn variables(declared: &[Declaration], values: &Valuation, from: usize, live: Option<&NumberSet>) -> Vec<String> {
    let numbered = (from..).zip(declared).filter(|(number, _)| live.is_none_or(|live| live.contains(*number)));
    numbered.map(|(number, variable)| format!("{}={}", variable.name, sign(values.get(number)))).collect()
}

/// Formats the results of a call.
pub(super) fn results_text(results: &Valuation, count: usize) -> String {
    let values: String = (0..count).map(|number| sign(results.get(number))).collect();
    if count == 0 { "results".to_owned() } else { format!("results {values}") }
}

/// Formats a value: `1`, `0`, or `*` for any value.
fn sign(value: Option<bool>) -> char {
    value.map_or('*', |value| if value { '1' } else { '0' })
}

fn section_text(section: Section) -> Option<String> {
    let text = match section {
        Section::Outside => return None,
        Section::Block(_) => "in atomic",
        Section::Begun => "after atomic_begin",
        Section::Inherited => "called in atomic",
    };
    Some(text.to_owned())
}

fn in_parentheses(items: &[String]) -> String {
    if items.is_empty() { String::new() } else { format!("({})", items.join(", ")) }
}

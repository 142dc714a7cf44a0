//! The names of the shared states and stack symbols of a lowered program.
//!
//! `x=1&y=?&m.locked` is a shared state. `f.12/a=0` is a symbol: function f, before line 12. A name
//! that would be too long becomes a number.

use crate::graph::{Declaration, Graph, Step};
use crate::source_map::{LineStarts, Places};
use crate::states::{
    Frame, FrameKind, Handover, NumberSet, ReturnData, Running, Section, Shared, SharedStates, Valuation,
};
use cpds::{MAX_NAME, Names, Source, is_name};

/// The most shared states that get names from their values. More names would take too much memory.
const MOST_NAMED_STATES: usize = 1 << 20;

/// Names for the nodes of a graph: function and line, with a number if the line has several places.
pub(crate) struct Naming<'a> {
    graph: &'a Graph,
    nodes: Vec<String>,
    places: Places,
}

/// Builds a name from parts. It adds no more parts when the name is too long already.
#[derive(Default)]
struct NameBuilder {
    text: String,
    is_begun: bool,
}

impl NameBuilder {
    fn is_too_long(&self) -> bool {
        self.text.len() > MAX_NAME
    }

    /// Starts a new part.
    fn next(&mut self) -> &mut String {
        if std::mem::replace(&mut self.is_begun, true) {
            self.text.push('&');
        }
        &mut self.text
    }

    fn push(&mut self, part: &str) {
        self.next().push_str(part);
    }

    /// Adds a part for each variable: `x=1`, `y=?`.
    fn variables(&mut self, before: &str, declared: &[Declaration], values: &Valuation, from: usize) {
        for (number, variable) in (from..).zip(declared) {
            if self.is_too_long() {
                return;
            }
            let text = self.next();
            text.push_str(before);
            text.push_str(&variable.name);
            text.push('=');
            text.push(digit(values.get(number)));
        }
    }

    /// Adds a part for each lock.
    fn locks(&mut self, before: &str, graph: &Graph, locks: &NumberSet, after: &str) {
        for lock in locks.iter().take_while(|_| self.text.len() <= MAX_NAME).collect::<Vec<_>>() {
            let text = self.next();
            text.push_str(before);
            text.push_str(&graph.locks[lock]);
            text.push_str(after);
        }
    }
}

impl<'a> Naming<'a> {
    pub(crate) fn new(graph: &'a Graph, source: &Source) -> Self {
        let places = Places::new(graph, &LineStarts::new(&source.text));
        let mut nodes = vec![String::new(); graph.nodes.len()];
        for (node, it) in graph.nodes.iter().enumerate() {
            let (line, number) = places.line_and_number(node);
            let number = match number {
                1 => String::new(),
                more => format!(".{more}"),
            };
            let phase = match it.step {
                Step::Await { .. } => ".returned",
                Step::Results { .. } => ".results",
                _ => "",
            };
            nodes[node] = format!("{}.{line}{number}{phase}", graph.functions[it.function].name);
        }
        Naming { graph, nodes, places }
    }

    /// Names all shared states: by their values, or by numbers if there are too many.
    pub(crate) fn shared_state_names(&self, shared: &SharedStates) -> Names {
        let mut names = Names::default();
        if shared.len() > MOST_NAMED_STATES {
            return (0..shared.len()).map(|number| format!("s{number}")).collect();
        }
        for shared in shared.iter() {
            self.shared(&mut names, &shared);
        }
        names
    }

    fn shared(&self, names: &mut Names, shared: &Shared) -> u32 {
        match shared {
            Shared::Running(running) => insert(names, &self.running(running), "s"),
            Shared::Error(node) => {
                let kind = if let Step::Unlock(_) = self.graph.nodes[*node].step { "unlock" } else { "assert" };
                insert(names, &format!("{kind}.{}", self.nodes[*node]), "error")
            }
        }
    }

    fn running(&self, running: &Running) -> String {
        let mut parts = NameBuilder::default();
        parts.variables("", &self.graph.shared, &running.variables, 0);
        parts.locks("", self.graph, &running.locked, ".locked");
        if running.is_atomic {
            parts.push("atomic");
        }
        match &running.handover {
            Handover::Nothing => {}
            Handover::End => parts.push("ending"),
            Handover::Results(handed) => {
                let ReturnData { results, section, held, thread_locals } = &**handed;
                // A shared state does not store the number of results: it writes the largest number
                // of any function.
                let most = self.graph.most_results();
                parts.push("return");
                if most > 0 {
                    parts.text.push('=');
                    parts.text += &digits(results, most);
                }
                match section {
                    Section::Begun => parts.push("return.begun"),
                    Section::Inherited => parts.push("return.inatomic"),
                    Section::Outside | Section::Block(_) => {}
                }
                parts.locks("return.", self.graph, held, "");
                parts.variables("return.", &self.graph.thread_locals, thread_locals, 0);
            }
        }
        for (_, frame) in running.pending.iter().take_while(|_| parts.text.len() <= MAX_NAME).collect::<Vec<_>>() {
            parts.push("start=");
            parts.text += &self.symbol_text(frame);
        }
        if running.created > 0 {
            parts.push(&format!("threads={}", running.created));
        }
        if parts.text.is_empty() { "run".to_owned() } else { parts.text }
    }

    pub(crate) fn symbol(&self, names: &mut Names, frame: &Frame) -> u32 {
        insert(names, &self.symbol_text(frame), &format!("{}.s", self.nodes[frame.node]))
    }

    fn symbol_text(&self, frame: &Frame) -> String {
        let mut text = self.nodes[frame.node].clone();
        let function = &self.graph.functions[self.graph.nodes[frame.node].function];
        let count = self.graph.thread_locals.len();
        if count + function.locals.len() > 0 {
            let mut parts = NameBuilder { text: text + "/", is_begun: false };
            parts.variables("", &self.graph.thread_locals, &frame.local, 0);
            parts.variables("", &function.locals, &frame.local, count);
            text = parts.text;
        }
        if let Step::Results { targets } = &self.graph.nodes[frame.node].step {
            text += "/results=";
            text += &digits(&frame.results, targets.len());
        }
        text += match frame.section {
            Section::Outside => "",
            Section::Block(_) => "/atomic",
            Section::Begun => "/begun",
            Section::Inherited => "/inatomic",
        };
        for lock in frame.held.iter() {
            text += "/holds.";
            text += &self.graph.locks[lock];
        }
        match frame.kind {
            FrameKind::Root if self.places.is_called(self.graph.nodes[frame.node].function) => text + "/root",
            FrameKind::Created => text + "/created",
            _ => text,
        }
    }
}

fn digit(value: Option<bool>) -> char {
    value.map_or('?', |value| if value { '1' } else { '0' })
}

fn digits(values: &Valuation, count: usize) -> String {
    (0..count).map(|number| digit(values.get(number))).collect()
}

/// Adds a name. If it is not valid, or not new, adds `other` with a number instead.
fn insert(names: &mut Names, name: &str, other: &str) -> u32 {
    if name.len() <= MAX_NAME && is_name(name) && names.get(name).is_none() {
        return names.insert(name);
    }
    let mut number = names.len();
    loop {
        let name = format!("{other}{number}");
        if names.get(&name).is_none() {
            return names.insert(&name);
        }
        number += 1;
    }
}

//! What shared states and stack symbols of a lowered program are called.
//!
//! `x=1&y=?&m.locked` is a shared state, `f.12/a=0` a symbol: function f, before line 12. Where a name would be too long, it is a number.

use crate::graph::{Declared, Graph, Step};
use crate::state::{Frame, FrameKind, Handover, Running, Section, Shared};
use crate::store::Bits;
use crate::words::Places;
use cpds::{MAX_NAME, Names, Source, is_name};

/// Names for the nodes of a graph: function and line, with a number where several are on one line.
pub(crate) struct Naming<'a> {
    graph: &'a Graph,
    nodes: Vec<String>,
    places: Places,
}

impl<'a> Naming<'a> {
    pub(crate) fn new(graph: &'a Graph, source: &Source) -> Self {
        let places = Places::new(graph, &Lines::new(&source.text));
        let mut nodes = vec![String::new(); graph.nodes.len()];
        for (node, it) in graph.nodes.iter().enumerate() {
            let (line, number) = places.of(node);
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

    pub(crate) fn shared(&self, names: &mut Names, shared: &Shared) -> u32 {
        match shared {
            Shared::Running(running) => insert(names, &self.running(running), "s"),
            Shared::Error(node) => {
                let kind = if let Step::Unlock(_) = self.graph.nodes[*node].step { "unlock" } else { "assert" };
                insert(names, &format!("{kind}.{}", self.nodes[*node]), "error")
            }
        }
    }

    fn running(&self, running: &Running) -> String {
        let mut parts = variables(&self.graph.shared, running.variables, 0);
        let locks = |locked: u32| {
            let locks = self.graph.locks.iter().enumerate().filter(move |(number, _)| locked >> number & 1 == 1);
            locks.map(|(_, lock)| lock.as_str())
        };
        parts.extend(locks(running.locked).map(|lock| format!("{lock}.locked")));
        if running.is_atomic {
            parts.push("atomic".to_owned());
        }
        match running.handover {
            Handover::Nothing => {}
            Handover::End => parts.push("ending".to_owned()),
            Handover::Results { results, section, held, thread_locals } => {
                // A shared state says nothing of how many there are: as many as any function has.
                let most = self.graph.functions.iter().map(|function| function.results).max().unwrap_or(0);
                let values = digits(results, most);
                parts.push(if values.is_empty() { "return".to_owned() } else { format!("return={values}") });
                match section {
                    Section::Begun => parts.push("return.begun".to_owned()),
                    Section::Inherited => parts.push("return.inatomic".to_owned()),
                    Section::Outside | Section::Block(_) => {}
                }
                parts.extend(locks(held).map(|lock| format!("return.{lock}")));
                parts.extend(
                    variables(&self.graph.thread_locals, thread_locals, 0).iter().map(|part| format!("return.{part}")),
                );
            }
        }
        parts.extend(running.pending.iter().map(|(_, frame)| format!("start={}", self.symbol_text(frame))));
        if running.created > 0 {
            parts.push(format!("threads={}", running.created));
        }
        if parts.is_empty() { "run".to_owned() } else { parts.join("&") }
    }

    pub(crate) fn symbol(&self, names: &mut Names, frame: &Frame) -> u32 {
        insert(names, &self.symbol_text(frame), &format!("{}.s", self.nodes[frame.node]))
    }

    fn symbol_text(&self, frame: &Frame) -> String {
        let mut text = self.nodes[frame.node].clone();
        let function = &self.graph.functions[self.graph.nodes[frame.node].function];
        let count = self.graph.thread_locals.len();
        let mut parts = variables(&self.graph.thread_locals, frame.local, 0);
        parts.extend(variables(&function.locals, frame.local, count));
        if !parts.is_empty() {
            text.push('/');
            text += &parts.join("&");
        }
        if let Step::Results { targets } = &self.graph.nodes[frame.node].step {
            text += "/results=";
            text += &digits(frame.results, targets.len());
        }
        text += match frame.section {
            Section::Outside => "",
            Section::Block(_) => "/atomic",
            Section::Begun => "/begun",
            Section::Inherited => "/inatomic",
        };
        for (number, lock) in self.graph.locks.iter().enumerate() {
            if frame.held >> number & 1 == 1 {
                text += "/holds.";
                text += lock;
            }
        }
        match frame.kind {
            FrameKind::Root if self.places.is_called(self.graph.nodes[frame.node].function) => text + "/root",
            FrameKind::Created => text + "/created",
            _ => text,
        }
    }
}

/// `x=1`, `y=?`.
fn variables(declared: &[Declared], values: Bits, from: usize) -> Vec<String> {
    let value = |number: usize| values.get(from + number).map_or('?', |value| if value { '1' } else { '0' });
    declared.iter().enumerate().map(|(number, variable)| format!("{}={}", variable.name, value(number))).collect()
}

fn digits(values: Bits, count: usize) -> String {
    (0..count).map(|number| values.get(number).map_or('?', |value| if value { '1' } else { '0' })).collect()
}

/// Adds a name; if it is none, or is taken, another one.
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

/// Where the lines of a text start.
#[derive(Debug)]
pub(crate) struct Lines(Vec<u32>);

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let starts =
            text.match_indices('\n').map(|(at, _)| u32::try_from(at + 1).expect("a source is shorter than 4 GiB"));
        Lines(std::iter::once(0).chain(starts).collect())
    }

    /// The line of a place, counted from 1.
    pub(crate) fn line(&self, offset: u32) -> usize {
        self.0.partition_point(|&start| start <= offset)
    }
}

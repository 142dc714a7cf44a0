//! Reads a state of a program from text, as `state_text.rs` writes it.
//!
//! The text describes a shared state and the frames of each thread. A variable that it does not
//! mention may have any value. A lock, an atomic section or a waiting thread that it does not
//! mention does not exist. It is an error if no state fits the text, or more than one.

use super::SourceMap;
use super::state_text::results_text;
use crate::graph::Step;
use crate::states::{Frame, FrameKind, Handover, NumberSet, Running, Section, Shared};
use cpds::diagnostic::{Diagnostic, Diagnostics, Span, nearest, plural};
use cpds::{Alphabet, Cpds, GlobalState, ReadError, SharedState, Source, Stack, Symbol, ThreadId};

/// The most candidates that a message lists.
const MOST_SHOWN: usize = 4;

/// Variables with their values in the text. `None` is an open variable.
type Values<'t> = Vec<(&'t str, Option<bool>)>;

/// The description of a frame in the text.
struct FrameDescription<'t> {
    nodes: Vec<usize>,
    variables: Values<'t>,
    held: NumberSet,
    section: Option<SectionDescription>,
    is_calling: bool,
    results: Option<&'t str>,
    span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SectionDescription {
    /// `in atomic`: a section that a block began. If no such frame fits: any other section.
    Any,
    Begun,
    Inherited,
}

/// The description of the shared state, before `|` in the text.
#[derive(Default)]
struct SharedDescription<'t> {
    variables: Values<'t>,
    locked: NumberSet,
    is_atomic: bool,
    waiting: Vec<FrameDescription<'t>>,
    created: Option<u32>,
    error: Option<(bool, Vec<usize>)>,
}

impl SourceMap {
    /// Reads a state in the notation of [`SourceMap::state_text`]. With a thread, reads the state
    /// of that thread alone, in the notation of [`SourceMap::thread_state_text`].
    ///
    /// # Errors
    /// If the text has a mistake, or does not describe exactly one state.
    pub fn read_state(&self, system: &Cpds, alone: Option<ThreadId>, source: Source) -> Result<GlobalState, ReadError> {
        let mut diagnostics = Diagnostics::default();
        let read = StateReader { map: self, system, text: &source.text, diagnostics: &mut diagnostics }.state(alone);
        match read {
            Some(state) if diagnostics.is_ok() => Ok(state),
            _ => Err(ReadError { sources: vec![source], diagnostics }),
        }
    }
}

struct StateReader<'r, 't> {
    map: &'r SourceMap,
    system: &'r Cpds,
    text: &'t str,
    diagnostics: &'r mut Diagnostics,
}

impl<'t> StateReader<'_, 't> {
    /// Returns the span of a part of the text.
    fn span(&self, part: &str) -> Span {
        let start = part.as_ptr().addr() - self.text.as_ptr().addr();
        let narrow = |at: usize| u32::try_from(at).expect("a source is shorter than 4 GiB");
        Span { source: 0, start: narrow(start), end: narrow(start + part.len()) }
    }

    fn error(&mut self, message: String, span: Span, label: &str, help: String) {
        self.diagnostics.error(|| Diagnostic::error(message).at(span, label).help(help));
    }

    fn state(mut self, alone: Option<ThreadId>) -> Option<GlobalState> {
        let whole = self.text.trim().trim_start_matches('⟨').trim_end_matches('⟩');
        let Some((shared, stacks)) = whole.split_once('|') else {
            let help = "as in 'x=1 & y=0|f:12, g:7(a=1)'";
            self.error(
                "a state without `|`".to_owned(),
                self.span(whole),
                "the shared variables, `|`, then a place for each thread",
                help.to_owned(),
            );
            return None;
        };
        let threads: Vec<ThreadId> = alone.map_or_else(|| self.system.threads().collect(), |thread| vec![thread]);
        let places = split(stacks, ',');
        if places.len() != threads.len() {
            let message = format!("{} for {}", plural(places.len(), "place"), plural(threads.len(), "thread"));
            let names: Vec<String> = threads.iter().map(|&thread| self.system.thread_name(thread)).collect();
            let help = format!("the threads are: {}; `-` is a thread that is not running", names.join(", "));
            self.error(message, self.span(stacks), "one for each thread", help);
            return None;
        }
        let stacks: Vec<Option<Stack>> =
            threads.iter().zip(places).map(|(&thread, text)| self.stack(thread, text)).collect();
        let described = self.shared_description(shared);
        let stacks: Vec<Stack> = stacks.into_iter().collect::<Option<_>>()?;
        let shared = self.shared(&described?, &stacks, self.span(shared))?;
        Some(GlobalState { shared, stacks })
    }

    /// Reads the stack of a thread: its frames, innermost first.
    fn stack(&mut self, thread: ThreadId, text: &'t str) -> Option<Stack> {
        let frames: Vec<&str> = split(text, ' ').into_iter().filter(|frame| !frame.is_empty()).collect();
        if frames.is_empty() {
            let help = "as in `f:12`; `-` is a thread that is not running".to_owned();
            self.error("a thread without a place".to_owned(), self.span(text), "expected a place", help);
            return None;
        }
        if matches!(frames[..], ["-" | "ε"]) {
            return Some(Stack::from_top([]));
        }
        let system = self.system;
        let (alphabet, height) = (system.program(thread).alphabet(), frames.len());
        let symbols: Vec<Option<Symbol>> = frames
            .into_iter()
            .enumerate()
            .map(|(depth, frame)| {
                let described = self.frame_description(frame)?;
                self.symbol(thread, alphabet, &described, (depth == 0, depth + 1 == height))
            })
            .collect();
        symbols.into_iter().collect::<Option<Vec<Symbol>>>().map(Stack::from_top)
    }

    fn frame_description(&mut self, text: &'t str) -> Option<FrameDescription<'t>> {
        let (place, items) = match text.split_once('(') {
            Some((place, items)) => (place, items.trim_end().strip_suffix(')').unwrap_or(items)),
            None => (text, ""),
        };
        let span = self.span(text);
        let nodes = self.nodes(place.trim())?;
        let mut described = FrameDescription {
            nodes,
            variables: Vec::new(),
            held: NumberSet::EMPTY,
            section: None,
            is_calling: false,
            results: None,
            span,
        };
        for item in items.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            match item {
                "calling" => described.is_calling = true,
                "results" => described.results = Some(item),
                "in atomic" => described.section = Some(SectionDescription::Any),
                "called in atomic" => described.section = Some(SectionDescription::Inherited),
                "after atomic_begin" => described.section = Some(SectionDescription::Begun),
                _ => match item.split_once(' ').map(|(first, rest)| (first, rest.trim())) {
                    Some(("holds", lock)) => described.held.insert(self.lock(lock)?),
                    Some(("results", _)) => described.results = Some(item),
                    _ => described.variables.push(self.value(item)?),
                },
            }
        }
        let map = self.map;
        let functions = described.nodes.iter().map(|&node| &map.graph.functions[map.graph.nodes[node].function]);
        let mut declared: Vec<&str> =
            functions.flat_map(|function| &function.locals).map(|it| it.name.as_str()).collect();
        declared.extend(map.graph.thread_locals.iter().map(|it| it.name.as_str()));
        for (name, _) in described.variables.clone() {
            self.check_declared(name, &declared, "local variable")?;
        }
        Some(described)
    }

    /// Finds the nodes of a place: a label, a function, or `f:12.2`. `f:12` is the first place on
    /// the line.
    fn nodes(&mut self, text: &'t str) -> Option<Vec<usize>> {
        let (graph, meaning) = (&self.map.graph, &self.map.meaning);
        // Without a number, the first place on the line.
        let is_line = text.split_once(':').is_some_and(|(_, line)| line.trim().parse::<usize>().is_ok());
        let place = if is_line { &*format!("{text}.1") } else { text };
        let found = graph.labelled(text).or_else(|| meaning.places.nodes(graph, place, true));
        if found.is_none() {
            let span = self.span(text);
            let functions = graph.functions.iter().map(|function| function.name.as_str());
            let near = nearest(text.split(':').next().unwrap_or(text), functions)
                .filter(|near| text.split(':').next() != Some(near));
            let help = near.map_or_else(
                || "a line `f:12`, the second place on it `f:12.2`, a label `L` or `f:L`, or `-`".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            self.error(format!("there is no place `{text}`"), span, "not in the program", help);
        }
        found
    }

    /// Reads `x=1`, `x=*`, `x` or `!x`.
    fn value(&mut self, text: &'t str) -> Option<(&'t str, Option<bool>)> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), value.trim_start_matches('=').trim()),
            None => match text.strip_prefix(['!', '~']) {
                Some(name) => (name.trim(), "0"),
                None => (text, "1"),
            },
        };
        let value = match value {
            "0" | "F" | "false" => Some(false),
            "1" | "T" | "true" => Some(true),
            "*" | "?" => None,
            _ => {
                let help = format!("write `{name}=0` or `{name}=1`; or `{name}=*` for an open variable");
                self.error(format!("`{text}` gives no value"), self.span(text), "0, 1 or *", help);
                return None;
            }
        };
        Some((name, value))
    }

    fn check_declared(&mut self, name: &'t str, declared: &[&str], what: &str) -> Option<()> {
        if declared.contains(&name) {
            return Some(());
        }
        let help = match nearest(name, declared.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if declared.is_empty() => format!("there is no {what} here"),
            None => format!("there are: {}", declared.join(", ")),
        };
        self.error(format!("there is no {what} `{name}`"), self.span(name), "not declared", help);
        None
    }

    fn lock(&mut self, name: &'t str) -> Option<usize> {
        let map = self.map;
        let declared: Vec<&str> = map.graph.locks.iter().map(String::as_str).collect();
        self.check_declared(name, &declared, "lock")?;
        declared.iter().position(|lock| *lock == name)
    }

    fn shared_description(&mut self, text: &'t str) -> Option<SharedDescription<'t>> {
        let mut described = SharedDescription::default();
        let map = self.map;
        let declared: Vec<&str> = map.graph.shared.iter().map(|it| it.name.as_str()).collect();
        for item in split(text, '&').into_iter().map(str::trim).filter(|item| !item.is_empty() && *item != "*") {
            if let Some((kind, place)) = item.split_once(" fails at ") {
                described.error = Some((kind.trim() == "unlock", self.nodes(place.trim())?));
            } else if item == "in atomic" {
                described.is_atomic = true;
            } else if let Some(lock) = item.strip_suffix(" held") {
                described.locked.insert(self.lock(lock.trim())?);
            } else if let Some(frame) = item.strip_suffix(" waits") {
                let frame = self.frame_description(frame.trim())?;
                described.waiting.push(frame);
            } else if let Some(Ok(created)) = item.strip_suffix(" created").map(|number| number.trim().parse()) {
                described.created = Some(created);
            } else {
                let (name, value) = self.value(item)?;
                self.check_declared(name, &declared, "shared variable")?;
                described.variables.push((name, value));
            }
        }
        Some(described)
    }

    /// Finds the symbol of a frame of this thread that fits the description.
    fn symbol(
        &mut self,
        thread: ThreadId,
        alphabet: &Alphabet,
        described: &FrameDescription<'t>,
        (is_top, is_lowest): (bool, bool),
    ) -> Option<Symbol> {
        let map = self.map;
        let frame = |symbol: &Symbol| map.meaning.frame(*symbol);
        let is_awaiting = |symbol: &Symbol| matches!(map.graph.nodes[frame(symbol).node].step, Step::Await { .. });
        let mut fitting: Vec<Symbol> = alphabet.iter().filter(|symbol| map.fits(described, frame(symbol))).collect();
        let others = |fitting: &[Symbol]| fitting.iter().any(|symbol| !is_awaiting(symbol));
        if is_top || !described.is_calling && others(&fitting) {
            fitting.retain(|symbol| !is_awaiting(symbol));
        }
        if is_lowest && fitting.iter().any(|symbol| frame(symbol).kind != FrameKind::Called) {
            fitting.retain(|symbol| frame(symbol).kind != FrameKind::Called);
        } else if !is_lowest {
            fitting.retain(|symbol| frame(symbol).kind == FrameKind::Called);
        }
        let is_block = |symbol: &Symbol| matches!(frame(symbol).section, Section::Block(_));
        if fitting.len() > 1 && fitting.iter().any(is_block) {
            fitting.retain(is_block);
        }
        let name = self.system.thread_name(thread);
        let shown = |symbols: &[Symbol]| -> Vec<String> {
            symbols.iter().map(|symbol| map.frame_text(frame(symbol), None)).collect()
        };
        match fitting[..] {
            [symbol] => Some(symbol),
            [] => {
                let is_there = |symbol: &Symbol| described.nodes.contains(&frame(symbol).node);
                let there: Vec<Symbol> = alphabet.iter().filter(is_there).collect();
                let help = if there.is_empty() {
                    "no run of this thread reaches the place".to_owned()
                } else {
                    format!("at this place there is {}", first_few(&shown(&there)))
                };
                self.error(format!("thread `{name}` never has this state"), described.span, "not in any run", help);
                None
            }
            _ => {
                let help = format!("choose one of {}", first_few(&shown(&fitting)));
                self.error(format!("thread `{name}` has several states like this"), described.span, "ambiguous", help);
                None
            }
        }
    }

    /// Finds the shared state that fits the description when the threads have these stacks.
    fn shared(&mut self, described: &SharedDescription<'t>, stacks: &[Stack], span: Span) -> Option<SharedState> {
        let map = self.map;
        let tops = || stacks.iter().filter_map(Stack::top).map(|top| map.meaning.frame(top));
        let locked = tops().fold(described.locked.clone(), |locked, top| locked.union(&top.held));
        let is_atomic = described.is_atomic || tops().any(|top| top.section != Section::Outside);
        let counted = stacks.iter().filter(|stack| map.is_created(stack)).count() + described.waiting.len();
        let counted = u32::try_from(counted).expect("few threads");
        let created = map.threads().limit.map(|_| described.created.unwrap_or(counted));
        let number = |name: &str| map.graph.shared.iter().position(|it| it.name == name);
        let values: Vec<_> = described.variables.iter().map(|&(name, value)| (number(name), value)).collect();
        let has_values = |q: SharedState, running: &Running| {
            let variables = map.meaning.shared.variables(q.0);
            let is_so = |&(number, value): &(Option<usize>, Option<bool>)| {
                number.is_some_and(|number| variables.get(number) == value)
            };
            running.handover == Handover::Nothing && values.iter().all(is_so)
        };
        let fits = |q: SharedState, shared: &Shared| match (shared, &described.error) {
            (Shared::Running(running), None) => {
                has_values(q, running)
                    && running.locked == locked
                    && running.is_atomic == is_atomic
                    && created.is_none_or(|created| running.created == created)
                    && map.waits(&described.waiting, running)
            }
            (Shared::Error(node), Some((is_unlock, nodes))) => {
                let is_lock = matches!(map.graph.nodes[*node].step, Step::Unlock(_));
                nodes.contains(node) && is_lock == *is_unlock
            }
            _ => false,
        };
        let of = |fits: &dyn Fn(SharedState, &Shared) -> bool| -> Vec<SharedState> {
            map.meaning.rests().filter(|&(q, rest)| fits(q, rest)).map(|(q, _)| q).collect()
        };
        let fitting = of(&fits);
        let shown = |states: &[SharedState]| first_few(&states.iter().map(|&q| map.shared_text(q)).collect::<Vec<_>>());
        match fitting[..] {
            [q] => Some(q),
            [] => {
                let near = of(&|q, rest| matches!(rest, Shared::Running(running) if has_values(q, running)));
                let help = if near.is_empty() {
                    "no run has these values".to_owned()
                } else {
                    format!("with these values there is {}", shown(&near))
                };
                self.error("no state fits this text".to_owned(), span, "not in any run", help);
                None
            }
            _ => {
                let help = format!("choose one of {}", shown(&fitting));
                self.error("this describes several states".to_owned(), span, "ambiguous", help);
                None
            }
        }
    }
}

impl SourceMap {
    /// Returns whether a frame fits its description.
    fn fits(&self, described: &FrameDescription<'_>, frame: &Frame) -> bool {
        if !described.nodes.contains(&frame.node) || described.held != frame.held {
            return false;
        }
        let node = &self.graph.nodes[frame.node];
        let results = match &node.step {
            Step::Results { targets } => Some(results_text(&frame.results, targets.len())),
            Step::Await { .. } => None,
            _ if described.is_calling => return false,
            _ => None,
        };
        let section = match described.section {
            None => frame.section == Section::Outside,
            Some(SectionDescription::Any) => frame.section != Section::Outside,
            Some(SectionDescription::Begun) => frame.section == Section::Begun,
            Some(SectionDescription::Inherited) => frame.section == Section::Inherited,
        };
        section && results.as_deref() == described.results && self.has_values(&described.variables, frame)
    }

    /// Returns whether the live local variables of a frame have these values. If a thread-local
    /// variable and a local one have the same name, the local one comes second.
    fn has_values(&self, values: &Values<'_>, frame: &Frame) -> bool {
        let function = &self.graph.functions[self.graph.nodes[frame.node].function];
        let declared = || self.graph.thread_locals.iter().chain(&function.locals).enumerate();
        values.iter().enumerate().all(|(i, &(name, value))| {
            let numbers: Vec<usize> = declared().filter(|(_, it)| it.name == name).map(|(number, _)| number).collect();
            let same = values.iter().filter(|(other, _)| *other == name).count();
            let earlier = values[..i].iter().filter(|(other, _)| *other == name).count();
            // If the text mentions only one of them, this is the local one.
            let Some(&number) = numbers.get((numbers.len().saturating_sub(same)) + earlier) else { return false };
            !self.live[frame.node].contains(number) || frame.local.get(number) == value
        })
    }

    /// Returns whether the threads that wait to start are exactly the described ones.
    fn waits(&self, described: &[FrameDescription<'_>], running: &Running) -> bool {
        let mut left: Vec<&FrameDescription<'_>> = described.iter().collect();
        let taken = running.pending.iter().all(|(_, frame)| {
            let found = left.iter().position(|described| self.fits(described, frame));
            found.map(|at| left.remove(at)).is_some()
        });
        taken && left.is_empty()
    }
}

/// Lists the first items, for a message.
fn first_few(all: &[String]) -> String {
    let more = if all.len() > MOST_SHOWN { ", …" } else { "" };
    all.iter().take(MOST_SHOWN).map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ") + more
}

/// Splits a text at separators outside of parentheses.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, sign) in text.char_indices() {
        match sign {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if sign == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + sign.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

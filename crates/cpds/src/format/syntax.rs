//! The syntax tree of both formats: the structure of the text, with names that are not resolved.
//!
//! A name is a [`Span`]. Its text is in the source.

use crate::diagnostic::{Source, Span};
use std::num::NonZeroU32;

/// The content of a text in either format.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent remarks on what was read")]
pub(super) struct Tree {
    pub(super) shared: Vec<NameItem>,
    pub(super) threads: Vec<ThreadNode>,
    pub(super) initial: Vec<StateNode>,
    pub(super) bad: Vec<StateNode>,
    /// The number of threads for each template that the caller has named.
    pub(super) instances: Vec<(String, u32)>,
    /// Whether the text is in the artifact's format. Then names are numbers (`07` is `7`), and the
    /// symbols of an action need not be declared.
    pub(super) numeric: bool,
    /// Whether a declaration of shared states had a mistake. Then unknown names may be declared
    /// there.
    pub(super) shared_unclear: bool,
    pub(super) threads_unclear: bool,
    pub(super) initial_unclear: bool,
    /// The source that should have the initial states.
    pub(super) init_source: u32,
}

/// An item in a list of declared names.
#[derive(Clone, Copy)]
pub(super) enum NameItem {
    One(Span),
    /// `low..high`, both included.
    Range {
        low: u64,
        high: u64,
        span: Span,
    },
}

impl NameItem {
    pub(super) fn count(&self) -> u64 {
        match *self {
            NameItem::One(_) => 1,
            NameItem::Range { low, high, .. } => (high - low).saturating_add(1),
        }
    }

    pub(super) fn span(&self) -> Span {
        match *self {
            NameItem::One(span) | NameItem::Range { span, .. } => span,
        }
    }
}

pub(super) struct ThreadNode {
    /// The place of the name; in the artifact's format, which has no names, the word `PDA`.
    pub(super) name: Span,
    /// The number of copies; 1 if `any` is given.
    pub(super) copies: u32,
    /// The word `any`, if any number of threads may run the program.
    pub(super) any: Option<Span>,
    pub(super) symbols: Vec<NameItem>,
    pub(super) symbols_unclear: bool,
    pub(super) actions: Vec<ActionNode>,
}

/// An action. There may be millions of actions, so each name takes only eight bytes, also an absent
/// one.
#[derive(Clone, Copy)]
pub(super) struct ActionNode {
    pub(super) span: Span,
    label: Option<Word>,
    from: Word,
    read: Option<Word>,
    to: Word,
    written: [Option<Word>; 2],
}

/// A name in the same source as the action that mentions it.
#[derive(Clone, Copy)]
struct Word {
    start: u32,
    end: NonZeroU32,
}

impl Word {
    fn new(span: Span) -> Word {
        Word { start: span.start, end: NonZeroU32::new(span.end).expect("a name is not empty") }
    }

    fn in_source(self, source: u32) -> Span {
        Span { source, start: self.start, end: self.end.get() }
    }
}

impl ActionNode {
    pub(super) fn new(
        span: Span,
        label: Option<Span>,
        (from, read): (Span, Option<Span>),
        (to, written): (Span, [Option<Span>; 2]),
    ) -> Self {
        ActionNode {
            span,
            label: label.map(Word::new),
            from: Word::new(from),
            read: read.map(Word::new),
            to: Word::new(to),
            written: written.map(|word| word.map(Word::new)),
        }
    }

    pub(super) fn label(&self) -> Option<Span> {
        self.label.map(|word| word.in_source(self.span.source))
    }

    pub(super) fn from(&self) -> Span {
        self.from.in_source(self.span.source)
    }

    pub(super) fn read(&self) -> Option<Span> {
        self.read.map(|word| word.in_source(self.span.source))
    }

    pub(super) fn to(&self) -> Span {
        self.to.in_source(self.span.source)
    }

    pub(super) fn written(&self) -> impl Iterator<Item = Span> + use<> {
        let source = self.span.source;
        self.written.into_iter().flatten().map(move |word| word.in_source(source))
    }

    /// Returns the places of all symbols of the action.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Span> + use<> {
        self.read().into_iter().chain(self.written())
    }
}

/// A state or a pattern.
pub(super) struct StateNode {
    pub(super) span: Span,
    pub(super) shared: WildNode<Span>,
    pub(super) stacks: Vec<StackNode>,
    /// Whether the state is from the artifact's `.init` or `.spec`. Then its symbols need not be
    /// declared.
    pub(super) declares: bool,
}

/// `*`, or a value.
pub(super) enum WildNode<T> {
    Any(Span),
    Is(T),
}

/// A stack, top first, which is written once for `times` consecutive threads.
pub(super) struct StackNode {
    pub(super) span: Span,
    pub(super) word: WildNode<Vec<Span>>,
    /// The number of threads; 1 if `any` is given.
    pub(super) times: u64,
    /// Whether the stack is that of all other threads of a template: `STACK * any`.
    pub(super) any: bool,
}

/// Adds an item, unless the list already exceeds the limit. A later check reports a list that
/// exceeds the limit by one item.
pub(super) fn push_up_to<T>(limit: u64, items: &mut Vec<T>, item: T) {
    if items.len() as u64 <= limit {
        items.push(item);
    }
}

/// Returns the text of a span.
pub(super) fn text(sources: &[Source], span: Span) -> &str {
    &sources[span.source as usize].text[span.start as usize..span.end as usize]
}

/// Returns the name at a span. If names are numbers, leading zeros are removed.
pub(super) fn canonical(sources: &[Source], numeric: bool, span: Span) -> &str {
    let name = text(sources, span);
    match name.trim_start_matches('0') {
        _ if !numeric || name.is_empty() => name,
        "" => "0",
        digits => digits,
    }
}

/// Returns the beginning of the first source.
pub(super) fn file_start() -> Span {
    Span { source: 0, start: 0, end: 0 }
}

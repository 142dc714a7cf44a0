//! The syntax tree that both formats are read into: the text's structure, names not yet looked up.
//!
//! A name is a [`Span`]; its text stays in the source.

use crate::diagnostic::{Source, Span};
use std::num::NonZeroU32;

/// What a text says, whichever format it is written in.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent remarks on what was read")]
pub(super) struct Tree {
    pub(super) shared: Vec<NameItem>,
    pub(super) threads: Vec<ThreadNode>,
    pub(super) initial: Vec<StateNode>,
    pub(super) bad: Vec<StateNode>,
    /// The artifact's format: names are numbers (`07` is `7`), and an action's symbols need
    /// not be declared.
    pub(super) numeric: bool,
    /// A declaration was not understood, so what is missing may have been declared there.
    pub(super) shared_unclear: bool,
    pub(super) threads_unclear: bool,
    pub(super) initial_unclear: bool,
    /// Where the initial states should be, if not in the first source.
    pub(super) init_source: u32,
}

/// Declared names.
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
    /// Where the name stands; in the artifact's format, which has none, the word `PDA`.
    pub(super) name: Span,
    pub(super) copies: u32,
    pub(super) symbols: Vec<NameItem>,
    pub(super) symbols_unclear: bool,
    pub(super) actions: Vec<ActionNode>,
}

/// An action. There may be millions of them, so that each name takes eight bytes, also if there is
/// none.
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

    /// Where symbols are mentioned.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Span> + use<> {
        self.read().into_iter().chain(self.written())
    }
}

/// A state or a pattern.
pub(super) struct StateNode {
    pub(super) span: Span,
    pub(super) shared: WildNode<Span>,
    pub(super) stacks: Vec<StackNode>,
    /// From the artifact's `.init` or `.spec`: a symbol need not be declared.
    pub(super) declares: bool,
}

/// `*`, or something.
pub(super) enum WildNode<T> {
    Any(Span),
    Is(T),
}

/// A stack, top first, written once for `times` threads in a row.
pub(super) struct StackNode {
    pub(super) span: Span,
    pub(super) word: WildNode<Vec<Span>>,
    pub(super) times: u64,
}

/// Adds an item, up to one more than the limit: that there are too many is found out later, how
/// many does not matter.
pub(super) fn push_up_to<T>(limit: u64, items: &mut Vec<T>, item: T) {
    if items.len() as u64 <= limit {
        items.push(item);
    }
}

/// The text of a span.
pub(super) fn text(sources: &[Source], span: Span) -> &str {
    &sources[span.source as usize].text[span.start as usize..span.end as usize]
}

/// The name at a span; where names are numbers, without leading zeros.
pub(super) fn canonical(sources: &[Source], numeric: bool, span: Span) -> &str {
    let name = text(sources, span);
    match name.trim_start_matches('0') {
        _ if !numeric || name.is_empty() => name,
        "" => "0",
        digits => digits,
    }
}

/// The beginning of the first source.
pub(super) fn file_start() -> Span {
    Span { source: 0, start: 0, end: 0 }
}

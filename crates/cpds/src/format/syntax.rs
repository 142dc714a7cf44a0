//! The syntax tree that both formats are read into: the text's structure, names not yet looked up.
//!
//! A name is a [`Span`]; its text stays in the source.

use crate::diagnostic::{Source, Span};

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

#[derive(Clone, Copy)]
pub(super) struct ActionNode {
    pub(super) span: Span,
    pub(super) label: Option<Span>,
    pub(super) from: Span,
    pub(super) read: Option<Span>,
    pub(super) to: Span,
    pub(super) written: [Option<Span>; 2],
}

impl ActionNode {
    /// Where symbols are mentioned.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Span> + use<> {
        self.read.into_iter().chain(self.written.into_iter().flatten())
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

/// Adds an item, up to one more than the limit: that there are too many is found out later, how many does not matter.
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

//! Declarations: collects the shared states, threads and alphabets that a tree declares.
//!
//! Sizes are checked before memory is allocated. Each result says whether it is **complete**. If a
//! declaration had a mistake, the result is incomplete, and unknown names are not reported, because
//! that declaration may have contained them.

use super::name_lists::summary;
use super::syntax::{ActionNode, NameItem, StateNode, ThreadNode, Tree, WildNode, canonical, file_start, text};
use crate::diagnostic::{Diagnostic, Diagnostics, Source, Span};
use crate::message_text::shortened;
use crate::names::plain_number;
use crate::system::limits;
use crate::{Alphabet, Names, Symbol};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// The kind of names that are declared, and the number of names that are still possible.
struct Kind {
    what: &'static str,
    limit: u64,
    room: u64,
    /// The number of threads for which each name counts.
    copies: u64,
}

impl Kind {
    fn new(what: &'static str, limit: u64) -> Self {
        Kind { what, limit, room: limit, copies: 1 }
    }
}

/// Declares the names of an item with `insert`, which returns the place of the first declaration of
/// a name. Reports names that are already declared. If the item is too large, reports it, declares
/// nothing, and returns `false`.
fn declare(
    sources: &[Source],
    item: &NameItem,
    kind: &mut Kind,
    diagnostics: &mut Diagnostics,
    mut insert: impl FnMut(&str) -> Span,
) -> bool {
    let what = kind.what;
    let needed = item.count().saturating_mul(kind.copies);
    if needed > kind.room {
        diagnostics.error(|| {
            let copies = if kind.copies == 1 { String::new() } else { format!(" for {} threads", kind.copies) };
            Diagnostic::error(format!("too many {what}s"))
                .at(item.span(), format!("with these {}{copies}, more than {}", item.count(), kind.limit))
                .help("declare only those that the actions mention")
        });
        return false;
    }
    kind.room -= needed;
    let mut reported = false;
    let mut one = |name: &str| {
        let first = insert(name);
        if first != item.span() && !reported {
            reported = true; // only once for a range
            diagnostics.error(|| {
                Diagnostic::error(format!("{what} `{}` is declared twice", shortened(name)))
                    .at(item.span(), "declared again")
                    .see(first, "first declared here")
                    .help("remove one of them")
            });
        }
    };
    match *item {
        NameItem::One(span) => one(text(sources, span)),
        NameItem::Range { low, high, .. } => (low..=high).for_each(|number| one(&number.to_string())),
    }
    true
}

/// Returns Q, and whether it is complete.
pub(super) fn shared(sources: &[Source], tree: &Tree, diagnostics: &mut Diagnostics) -> (Names, bool) {
    let mut names = Names::default();
    if tree.shared.is_empty() && !tree.shared_unclear {
        let mut mentions = tree.threads.iter().flat_map(|t| &t.actions).flat_map(|a| [a.from(), a.to()]).peekable();
        let at = mentions.peek().copied().unwrap_or(file_start());
        let used: Names = mentions.map(|span| text(sources, span)).collect();
        diagnostics.error(|| {
            let names = if used.is_empty() { "q".to_owned() } else { summary(used.iter()) };
            Diagnostic::error("no shared states are declared")
                .at(at, "not declared")
                .help(format!("add `shared {names}`"))
        });
        return (names, false);
    }
    let mut complete = !tree.shared_unclear;
    let mut places: FxHashMap<u32, Span> = FxHashMap::default();
    let mut kind = Kind::new("shared state", limits::of_text::SHARED_STATES);
    for item in &tree.shared {
        complete &= declare(sources, item, &mut kind, diagnostics, |name| {
            *places.entry(names.insert(name)).or_insert(item.span())
        });
    }
    (names, complete)
}

/// Returns the number of threads; `None` if a declaration has a mistake or if there are too many.
pub(super) fn count_threads(tree: &Tree, diagnostics: &mut Diagnostics) -> Option<u64> {
    let mut count = 0;
    for thread in &tree.threads {
        count += u64::from(thread.copies);
        if count > limits::THREADS {
            diagnostics.error(|| {
                Diagnostic::error("too many threads")
                    .at(thread.name, format!("at most {} altogether, copies counted", limits::THREADS))
                    .help("a fixed, small number of threads can be analysed")
            });
            return None;
        }
    }
    (!tree.threads_unclear && count > 0).then_some(count)
}

/// Returns the name of each program. The artifact's format has no names; its programs get the names
/// of the paper.
pub(super) fn thread_names(sources: &[Source], tree: &Tree, diagnostics: &mut Diagnostics) -> Vec<String> {
    if tree.numeric {
        return (1..=tree.threads.len()).map(|i| format!("P{i}")).collect();
    }
    let mut places = HashMap::new();
    for thread in &tree.threads {
        let name = text(sources, thread.name);
        let first = *places.entry(name).or_insert(thread.name);
        if first != thread.name {
            diagnostics.error(|| {
                Diagnostic::error(format!("thread `{name}` is declared twice"))
                    .at(thread.name, "declared again")
                    .see(first, "first declared here")
                    .help(format!("for several threads with one program, write `thread {name} * 2 {{ … }}`"))
            });
        }
    }
    tree.threads.iter().map(|thread| text(sources, thread.name).to_owned()).collect()
}

/// The alphabets of the programs.
pub(super) struct Alphabets {
    /// All symbols, numbered in the order in which the alphabets first mention them.
    pub(super) symbols: Names,
    /// Σ_i for each program, and whether it is complete.
    pub(super) of_program: Vec<(Alphabet, bool)>,
}

/// Returns the alphabet of each program: the declared symbols and, in the artifact's format, also
/// all symbols that the thread mentions. Returns `None` if there are far too many symbols.
pub(super) fn alphabets(sources: &[Source], tree: &Tree, diagnostics: &mut Diagnostics) -> Option<Alphabets> {
    let mut symbols = Names::default();
    let mut of_program = Vec::new();
    let mut kind = Kind::new("stack symbol", limits::of_text::SYMBOLS);
    let (in_states, mut undeclared) = (mentioned_in_states(tree), 0);
    for (i, thread) in tree.threads.iter().enumerate() {
        kind.copies = u64::from(thread.copies).min(limits::THREADS);
        let mut complete = !thread.symbols_unclear;
        let mut places: FxHashMap<Symbol, Span> = FxHashMap::default();
        let mut ordered = Vec::new();
        let mut insert = |name: &str, place: Span| {
            let symbol = Symbol(symbols.insert(name));
            *places.entry(symbol).or_insert_with(|| {
                ordered.push(symbol);
                place
            })
        };
        for item in &thread.symbols {
            complete &= declare(sources, item, &mut kind, diagnostics, |name| insert(name, item.span()));
        }
        if tree.numeric {
            let in_actions = thread.actions.iter().flat_map(ActionNode::symbols);
            let mut outside = Vec::new();
            for span in in_actions.chain(in_states[i].iter().copied()) {
                let name = canonical(sources, true, span);
                // Other symbols come only from the command line, and are reported as unknown.
                if plain_number(name).is_some() && insert(name, span) == span {
                    outside.push(span);
                    undeclared += 1;
                }
                if undeclared > limits::of_text::SYMBOLS {
                    diagnostics.error(|| {
                        Diagnostic::error("too many stack symbols")
                            .at(
                                span,
                                format!("with this one, more than {} that are not declared", limits::of_text::SYMBOLS),
                            )
                            .help("a system that large cannot be explored; look for a smaller model")
                    });
                    return None;
                }
            }
            if complete {
                warn_outside(sources, i, thread, &outside, diagnostics);
            }
        } else {
            complete &= declares_what_it_uses(sources, thread, diagnostics);
        }
        of_program.push((Alphabet::new(ordered), complete));
    }
    Some(Alphabets { symbols, of_program })
}

/// Returns for each thread of the artifact's format the symbols on its stack in `.init` and
/// `.spec`.
fn mentioned_in_states(tree: &Tree) -> Vec<Vec<Span>> {
    let mut mentioned = vec![Vec::new(); tree.threads.len()];
    for StateNode { stacks, .. } in tree.initial.iter().chain(&tree.bad).filter(|state| state.declares) {
        let mut threads = mentioned.iter_mut();
        for stack in stacks {
            for symbols in threads.by_ref().take(usize::try_from(stack.times).unwrap_or(usize::MAX)) {
                if let WildNode::Is(word) = &stack.word {
                    symbols.extend_from_slice(word);
                }
            }
        }
    }
    mentioned
}

/// Warns about symbols outside the declared range. The artifact's own files have such symbols.
fn warn_outside(sources: &[Source], i: usize, thread: &ThreadNode, outside: &[Span], diagnostics: &mut Diagnostics) {
    let Some(&first) = outside.first() else { return };
    diagnostics.warning(|| {
        let symbols = if outside.len() == 1 { "a symbol" } else { "symbols" };
        let listed = summary(outside.iter().map(|&span| canonical(sources, true, span)));
        let diagnostic =
            Diagnostic::warning(format!("thread {} mentions {symbols} outside its declared range: {listed}", i + 1))
                .at(first, "taken as one of its symbols")
                .help("declare a range that covers all symbols");
        match thread.symbols.first() {
            Some(range) => diagnostic.see(range.span(), "the declared range"),
            None => diagnostic,
        }
    });
}

/// Whether a thread that uses symbols declares some. If not, reports this once, with the line to
/// add.
fn declares_what_it_uses(sources: &[Source], thread: &ThreadNode, diagnostics: &mut Diagnostics) -> bool {
    if !thread.symbols.is_empty() || thread.symbols_unclear {
        return true;
    }
    let used: Names = thread.actions.iter().flat_map(ActionNode::symbols).map(|span| text(sources, span)).collect();
    if !used.is_empty() {
        diagnostics.error(|| {
            Diagnostic::error(format!("thread `{}` declares no stack symbols", text(sources, thread.name)))
                .at(thread.name, "but its actions use some")
                .help(format!("add `symbols {}`", summary(used.iter())))
        });
    }
    used.is_empty()
}

//! From the syntax tree to the model: looking names up, counting stacks, enforcing limits.
//!
//! Nothing is skipped in silence: what cannot be resolved is reported, and then there is no model. Where a
//! declaration was not understood, the names that may have been in it are not reported a second time.

use super::parser::shortened;
use super::scope::{Scope, canonical, column};
use super::syntax::{ActionNode, NameItem, StateNode, ThreadNode, Tree, WildNode, text};
use super::words::summary;
use crate::diagnostic::{Diagnostic, Diagnostics, Source, Span};
use crate::system::limits;
use crate::{Alphabet, Cpds, Names, Problem, Program, Property, Rule, Symbol};
use rustc_hash::FxBuildHasher;
use std::collections::HashMap;

type FastMap<K, V> = HashMap<K, V, FxBuildHasher>;

/// Builds the model that the tree describes, unless something is wrong with it.
pub(super) fn resolve(sources: &[Source], tree: &Tree, diagnostics: &mut Diagnostics) -> Option<Problem> {
    let nothing = tree.shared.is_empty() && tree.threads.is_empty() && tree.initial.is_empty() && tree.bad.is_empty();
    if nothing && diagnostics.is_ok() {
        let help = if tree.numeric {
            "the first line is the number of shared states; then `PDA low high` opens a thread"
        } else {
            "a system has `shared` states, an `init` state and a `thread NAME { … }`"
        };
        diagnostics.error(|| {
            Diagnostic::error("the file declares nothing").at(file_start(), "no statement in this file").help(help)
        });
    }
    if nothing {
        return None;
    }
    let mut resolver = Resolver { sources, tree, diagnostics, symbols: Names::default() };
    let (shared, shared_complete) = resolver.shared();
    let (alphabets, complete) = resolver.alphabets();
    let threads = resolver.threads();
    let names = resolver.thread_names();
    let scope = Scope {
        sources,
        numeric: tree.numeric,
        shared: &shared,
        shared_complete,
        symbols: &resolver.symbols,
        programs: names.iter().map(String::as_str).zip(&alphabets).collect(),
        complete,
        threads: threads.as_deref(),
    };
    let diagnostics = &mut *resolver.diagnostics;
    let rules: Vec<Vec<Rule>> =
        tree.threads.iter().enumerate().map(|(i, thread)| rules(&scope, i, thread, diagnostics)).collect();
    let initial = all_states(&scope, &tree.initial, "initial state", diagnostics, Scope::state);
    let bad = all_states(&scope, &tree.bad, "bad pattern", diagnostics, Scope::pattern);
    missing(tree, diagnostics);
    if !diagnostics.is_ok() {
        return None;
    }
    let symbols = resolver.symbols;
    let programs = tree.threads.iter().zip(names).zip(alphabets).zip(rules);
    let programs =
        programs.map(|(((thread, name), alphabet), rules)| Program::new(&name, thread.copies, alphabet, rules));
    let system = Cpds::new(shared, symbols, programs.collect(), initial).expect("the resolver has checked it");
    Some(Problem::new(system, Property { bad }).expect("the resolver has checked it"))
}

/// What every system needs, reported once if it is not there.
fn missing(tree: &Tree, diagnostics: &mut Diagnostics) {
    let mut report = |is_missing: bool, what: &str, help: &str| {
        if is_missing {
            diagnostics.error(|| {
                Diagnostic::error(format!("no {what}")).at(file_start(), format!("this file has no {what}")).help(help)
            });
        }
    };
    let in_text = |numeric, text| if tree.numeric { numeric } else { text };
    report(
        tree.threads.is_empty() && !tree.threads_unclear,
        "thread",
        in_text("open one with `PDA low high`", "add a `thread NAME { … }`"),
    );
    report(
        tree.initial.is_empty() && !tree.initial_unclear,
        "initial state",
        in_text("put it into a `.init` file of the same name, or give it with `--init`", "add `init q|w1,…,wn`"),
    );
}

/// The beginning of the first source.
fn file_start() -> Span {
    Span { source: 0, start: 0, end: 0 }
}

struct Resolver<'a> {
    sources: &'a [Source],
    tree: &'a Tree,
    diagnostics: &'a mut Diagnostics,
    symbols: Names,
}

impl Resolver<'_> {
    /// Q, and whether all of it is there.
    fn shared(&mut self) -> (Names, bool) {
        let mut complete = !self.tree.shared_unclear && !self.tree.shared.is_empty();
        let mut names = Names::default();
        let mut places = FastMap::default();
        let mut room = limits::SHARED_STATES;
        for item in &self.tree.shared {
            complete &= self.declare(item, "shared state", &mut room, |name| {
                let number = names.insert(name);
                *places.entry(number).or_insert(item.span())
            });
        }
        if self.tree.shared.is_empty() && !self.tree.shared_unclear {
            let mentions = self.tree.threads.iter().flat_map(|t| &t.actions).flat_map(|a| [a.from, a.to]);
            let at = mentions.clone().next().unwrap_or(file_start());
            let used: Names = mentions.map(|span| text(self.sources, span)).collect();
            self.diagnostics.error(|| {
                let names = if used.is_empty() { "q".to_owned() } else { summary(used.iter()) };
                Diagnostic::error("no shared states are declared")
                    .at(at, "not declared")
                    .help(format!("add `shared {names}`"))
            });
        }
        (names, complete)
    }

    /// The alphabet of each program, and whether all of it is there. Symbols are numbered in the order in which the
    /// alphabets first mention them.
    fn alphabets(&mut self) -> (Vec<Alphabet>, Vec<bool>) {
        let tree = self.tree;
        let mut room = limits::SYMBOLS;
        let (mut alphabets, mut all_complete) = (Vec::new(), Vec::new());
        for (i, thread) in tree.threads.iter().enumerate() {
            let mut symbols = std::mem::take(&mut self.symbols);
            let mut places = FastMap::default();
            let mut ordered = Vec::new();
            let mut complete = !thread.symbols_unclear;
            for item in &thread.symbols {
                complete &= self.declare(item, "stack symbol", &mut room, |name| {
                    let number = symbols.insert(name);
                    *places.entry(number).or_insert_with(|| {
                        ordered.push(Symbol(number));
                        item.span()
                    })
                });
            }
            if tree.numeric {
                let in_states = tree.initial.iter().chain(&tree.bad).filter(|state| state.declares);
                let in_states =
                    in_states.filter_map(|state| column(&state.stacks, i)).flat_map(|stack| match &stack.word {
                        WildNode::Is(word) => &word[..],
                        WildNode::Any(_) => &[],
                    });
                let mentioned = thread.actions.iter().flat_map(ActionNode::symbols).chain(in_states.copied());
                let mut outside = Names::default();
                let mut first = None;
                for span in mentioned {
                    let name = canonical(self.sources, true, span);
                    let number = symbols.insert(name);
                    places.entry(number).or_insert_with(|| {
                        ordered.push(Symbol(number));
                        outside.insert(name);
                        *first.get_or_insert(span)
                    });
                }
                if let (Some(first), true) = (first, complete) {
                    self.warn_outside(i, thread, &outside, first);
                }
            } else {
                complete &= self.declares_what_it_uses(thread);
            }
            self.symbols = symbols;
            alphabets.push(Alphabet::new(ordered));
            all_complete.push(complete);
        }
        (alphabets, all_complete)
    }

    /// The artifact's files do this; it is most likely an oversight, but a harmless one.
    fn warn_outside(&mut self, i: usize, thread: &ThreadNode, outside: &Names, first: Span) {
        self.diagnostics.warning(|| {
            let symbols = if outside.len() == 1 { "a symbol" } else { "symbols" };
            let listed = summary(outside.iter());
            let message = format!("thread {} mentions {symbols} outside its declared range: {listed}", i + 1);
            let diagnostic = Diagnostic::warning(message)
                .at(first, "taken as one of its symbols")
                .help("declare a range that covers all symbols");
            match thread.symbols.first() {
                Some(range) => diagnostic.see(range.span(), "the declared range"),
                None => diagnostic,
            }
        });
    }

    /// A thread that uses symbols and declares none has forgotten the declaration: said once, with the line to add.
    fn declares_what_it_uses(&mut self, thread: &ThreadNode) -> bool {
        if !thread.symbols.is_empty() || thread.symbols_unclear {
            return true;
        }
        let used = thread.actions.iter().flat_map(ActionNode::symbols).map(|span| text(self.sources, span));
        let used: Names = used.collect();
        if !used.is_empty() {
            self.diagnostics.error(|| {
                let name = text(self.sources, thread.name);
                Diagnostic::error(format!("thread `{name}` declares no stack symbols"))
                    .at(thread.name, "but its actions use some")
                    .help(format!("add `symbols {}`", summary(used.iter())))
            });
        }
        used.is_empty()
    }

    /// Declares the names of an item with `insert`, which gives the place of their first declaration; reports what
    /// does not fit (and answers `false`) or is there already.
    fn declare(&mut self, item: &NameItem, what: &str, room: &mut u64, mut insert: impl FnMut(&str) -> Span) -> bool {
        let limit = if what == "shared state" { limits::SHARED_STATES } else { limits::SYMBOLS };
        if item.count() > *room {
            self.diagnostics.error(|| {
                Diagnostic::error(format!("too many {what}s: {}", item.count()))
                    .at(item.span(), format!("at most {limit} altogether"))
                    .help("declare only those that the actions mention")
            });
            return false;
        }
        *room -= item.count();
        let mut twice = |name: &str, first: Span| {
            if first != item.span() {
                self.diagnostics.error(|| {
                    Diagnostic::error(format!("{what} `{}` is declared twice", shortened(name)))
                        .at(item.span(), "declared again")
                        .see(first, "first declared here")
                        .help("remove one of them")
                });
            }
        };
        match *item {
            NameItem::One(span) => {
                let name = text(self.sources, span);
                let first = insert(name);
                twice(name, first);
            }
            NameItem::Range { low, high, .. } => {
                for number in low..=high {
                    let name = number.to_string();
                    let first = insert(&name);
                    if first != item.span() {
                        twice(&name, first); // one of them is enough
                        break;
                    }
                }
            }
        }
        true
    }

    /// Which program each thread runs; nothing if there are too many threads, or if it is not clear how many.
    fn threads(&mut self) -> Option<Vec<u32>> {
        let mut count = 0;
        for thread in &self.tree.threads {
            count += u64::from(thread.copies);
            if count > limits::THREADS {
                self.diagnostics.error(|| {
                    Diagnostic::error("too many threads")
                        .at(thread.name, format!("at most {} altogether, copies counted", limits::THREADS))
                        .help("a fixed, small number of threads can be analysed")
                });
                return None;
            }
        }
        let threads = (0..).zip(&self.tree.threads).flat_map(|(i, t)| std::iter::repeat_n(i, t.copies as usize));
        (!self.tree.threads_unclear && count > 0).then(|| threads.collect())
    }

    /// The name of each program; the artifact's format has none, so there they are called as in the paper.
    fn thread_names(&mut self) -> Vec<String> {
        let tree = self.tree;
        if tree.numeric {
            return (1..=tree.threads.len()).map(|i| format!("P{i}")).collect();
        }
        let mut places = HashMap::new();
        for thread in &tree.threads {
            let name = text(self.sources, thread.name);
            let first = *places.entry(name).or_insert(thread.name);
            if first != thread.name {
                self.diagnostics.error(|| {
                    Diagnostic::error(format!("thread `{name}` is declared twice"))
                        .at(thread.name, "declared again")
                        .see(first, "first declared here")
                        .help(format!("for several threads with one program, write `thread {name} * 2 {{ … }}`"))
                });
            }
        }
        tree.threads.iter().map(|thread| text(self.sources, thread.name).to_owned()).collect()
    }
}

/// Δ of one program. Δ is a set, so a repeated action changes nothing; but it may be a slip.
fn rules(scope: &Scope<'_>, program: usize, thread: &ThreadNode, diagnostics: &mut Diagnostics) -> Vec<Rule> {
    let mut places = FastMap::default();
    let mut rules = Vec::with_capacity(thread.actions.len());
    for node in &thread.actions {
        let Some(action) = scope.action(program, node, diagnostics) else { continue };
        let first = *places.entry(action).or_insert(node.span);
        if first == node.span {
            rules.push(Rule { label: node.label.map(|span| text(scope.sources, span).into()), action });
        } else {
            repeated("action", first, node.span, diagnostics);
        }
    }
    rules
}

fn repeated(what: &str, first: Span, again: Span, diagnostics: &mut Diagnostics) {
    diagnostics.warning(|| {
        Diagnostic::warning(format!("{what} given twice"))
            .at(again, "counts once")
            .see(first, "first given here")
            .help("remove one of them")
    });
}

fn all_states<'a, T: Clone + Eq + std::hash::Hash>(
    scope: &Scope<'a>,
    nodes: &[StateNode],
    what: &str,
    diagnostics: &mut Diagnostics,
    resolve: impl Fn(&Scope<'a>, &StateNode, &mut Diagnostics) -> Option<T>,
) -> Vec<T> {
    let threads = scope.threads.map_or(1, |threads| threads.len() as u64);
    if let Some(node) = usize::try_from(limits::STACKS / threads).ok().and_then(|room| nodes.get(room)) {
        diagnostics.error(|| {
            Diagnostic::error(format!("too many {what}s: {}", nodes.len()))
                .at(node.span, format!("at most {} for {threads} threads", limits::STACKS / threads))
                .help("one state whose first steps choose, or `*` in a pattern, may say the same")
        });
        return Vec::new();
    }
    let mut places: FastMap<T, Span> = FastMap::default();
    let mut states = Vec::new();
    for node in nodes {
        let Some(state) = resolve(scope, node, diagnostics) else { continue };
        let first = *places.entry(state.clone()).or_insert(node.span);
        if first == node.span {
            states.push(state);
        } else {
            repeated(what, first, node.span, diagnostics);
        }
    }
    states
}

//! Name resolution: from the names of a state or an action to their numbers.

use super::name_lists::summary;
use super::syntax::{ActionNode, StackNode, StateNode, WildNode, canonical};
use crate::diagnostic::{Diagnostic, Diagnostics, Source, Span};
use crate::message_text::{nearest, plural, shortened};
use crate::{Action, Alphabet, Cpds, GlobalState, Names, Pattern, SharedState, Stack, Symbol, Wild};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

/// The declared names.
pub(super) struct Scope<'a> {
    pub(super) sources: &'a [Source],
    pub(super) numeric: bool,
    pub(super) shared: &'a Names,
    /// Whether all declarations of shared states were read. If not, unknown names are not reported.
    pub(super) shared_complete: bool,
    pub(super) symbols: &'a Names,
    pub(super) programs: Vec<(&'a str, &'a Alphabet)>,
    /// For each program, whether all declarations of its symbols were read.
    pub(super) complete: Vec<bool>,
    /// The program of each thread, if all declarations of threads were read.
    pub(super) threads: Option<&'a [u32]>,
    pub(super) summaries: Summaries,
}

/// Short lists of the declared names, for messages. They are made when they are first needed,
/// because this visits all names.
#[derive(Default)]
pub(super) struct Summaries {
    shared: OnceCell<String>,
    symbols: RefCell<HashMap<usize, String>>,
}

impl<'a> Scope<'a> {
    /// Makes a scope with the names of a system.
    pub(super) fn of(system: &'a Cpds, sources: &'a [Source]) -> Self {
        Scope {
            sources,
            numeric: false,
            shared: system.shared_names(),
            shared_complete: true,
            symbols: system.symbol_names(),
            programs: system.programs().iter().map(|p| (p.name(), p.alphabet())).collect(),
            complete: vec![true; system.programs().len()],
            threads: Some(system.thread_programs()),
            summaries: Summaries::default(),
        }
    }

    fn name(&self, span: Span) -> &'a str {
        canonical(self.sources, self.numeric, span)
    }

    fn shared(&self, span: Span, diagnostics: &mut Diagnostics) -> Option<SharedState> {
        let name = self.name(span);
        let found = self.shared.get(name).map(SharedState);
        if found.is_none() && self.shared_complete {
            diagnostics.error(|| {
                let help = match nearest(name, self.shared.iter()) {
                    Some(known) => format!("did you mean `{known}`?"),
                    None if self.numeric => "the first line of the file is the number of shared states".to_owned(),
                    None => "declare it with `shared`".to_owned(),
                };
                let declared = self.summaries.shared.get_or_init(|| summary(self.shared.iter()));
                Diagnostic::error(format!("unknown shared state `{}`", shortened(name)))
                    .at(span, format!("the shared states are {declared}"))
                    .help(help)
            });
        }
        found
    }

    fn symbol(&self, program: usize, span: Span, diagnostics: &mut Diagnostics) -> Option<Symbol> {
        let name = self.name(span);
        let (thread, alphabet) = self.programs[program];
        let found = self.symbols.get(name).map(Symbol).filter(|&symbol| alphabet.contains(symbol));
        if found.is_none() && self.complete[program] {
            diagnostics.error(|| {
                let known = || alphabet.iter().map(|symbol| self.symbols.name(symbol.0));
                let is_known = |part| self.symbols.get(part).is_some_and(|n| alphabet.contains(Symbol(n)));
                let dotted = name.contains('.') && name.split('.').all(is_known);
                let help = match nearest(name, known()) {
                    _ if dotted => {
                        let top_first = name.rsplit('.').take(20).collect::<Vec<_>>().join(" ");
                        format!("here a stack is written top first, with blanks: `{}`", shortened(&top_first))
                    }
                    Some(known) => format!("did you mean `{known}`?"),
                    None if alphabet.is_empty() => "the thread declares no symbols; `-` is the empty stack".to_owned(),
                    None => "add it to the thread's symbols".to_owned(),
                };
                let mut summaries = self.summaries.symbols.borrow_mut();
                let declared = summaries.entry(program).or_insert_with(|| summary(known()));
                Diagnostic::error(format!("unknown stack symbol `{}`", shortened(name)))
                    .at(span, format!("thread `{thread}` declares {declared}"))
                    .help(help)
            });
        }
        found
    }

    /// Resolves all symbols of a word, or reports the unknown ones.
    fn word(&self, program: usize, word: &[Span], diagnostics: &mut Diagnostics) -> Option<Vec<Symbol>> {
        let symbols: Vec<_> = word.iter().map(|&span| self.symbol(program, span, diagnostics)).collect();
        symbols.into_iter().collect()
    }

    pub(super) fn action(&self, program: usize, node: &ActionNode, diagnostics: &mut Diagnostics) -> Option<Action> {
        let from = self.shared(node.from(), diagnostics);
        let read = self.word(program, node.read().as_slice(), diagnostics);
        let to = self.shared(node.to(), diagnostics);
        let written: Vec<_> = node.written().collect();
        let written = self.word(program, &written, diagnostics);
        Some(Action::new((from?, &read?), (to?, &written?)).expect("the parser has checked its shape"))
    }

    /// Resolves the stack of each thread, and reports all mistakes.
    fn stacks<T: Clone>(
        &self,
        (node, threads): (&StateNode, &[u32]),
        diagnostics: &mut Diagnostics,
        resolve: impl Fn(&StackNode, usize, &mut Diagnostics) -> Option<T>,
    ) -> Option<Vec<T>> {
        let found = node.stacks.iter().fold(0_u64, |sum, stack| sum.saturating_add(stack.times));
        if found != threads.len() as u64 {
            self.report_wrong_number(node, found, threads, diagnostics);
            return None;
        }
        let mut programs = threads.iter().map(|&program| program as usize);
        let mut resolved = Some(Vec::with_capacity(threads.len()));
        for stack in &node.stacks {
            let mut last: Option<(usize, Option<T>)> = None;
            for program in programs.by_ref().take(usize::try_from(stack.times).expect("at most all threads")) {
                // The stack is written once for several threads, so a mistake in it is reported
                // once.
                let one = match last.take() {
                    Some((same, one)) if same == program => one,
                    _ => resolve(stack, program, diagnostics),
                };
                if let (Some(all), Some(one)) = (&mut resolved, &one) {
                    all.push(one.clone());
                } else {
                    resolved = None;
                }
                last = Some((program, one));
            }
        }
        resolved
    }

    fn report_wrong_number(&self, node: &StateNode, found: u64, threads: &[u32], diagnostics: &mut Diagnostics) {
        diagnostics.error(|| {
            let names: Vec<_> = threads.iter().take(8).map(|&p| self.programs[p as usize].0).collect();
            let more = if threads.len() > names.len() { ", …" } else { "" };
            let (stacks, n) = (plural(found, "stack"), plural(threads.len(), "thread"));
            Diagnostic::error(format!("a state with {stacks} in a system with {n}"))
                .at(node.span, format!("{stacks}, but {n}"))
                .help(format!("write one stack for each of {}{more}; `-` is the empty stack", names.join(", ")))
        });
    }

    /// Resolves a state of the declared threads.
    pub(super) fn state(&self, node: &StateNode, diagnostics: &mut Diagnostics) -> Option<GlobalState> {
        without_any(node, diagnostics)?;
        self.state_of(node, self.threads?, diagnostics)
    }

    /// Resolves a state of threads with these programs.
    pub(super) fn state_of(
        &self,
        node: &StateNode,
        threads: &[u32],
        diagnostics: &mut Diagnostics,
    ) -> Option<GlobalState> {
        let shared = match node.shared {
            WildNode::Any(span) => report_any(span, diagnostics),
            WildNode::Is(span) => self.shared(span, diagnostics),
        };
        let stacks = self.stacks((node, threads), diagnostics, |stack, program, diagnostics| match &stack.word {
            WildNode::Any(span) => report_any(*span, diagnostics),
            WildNode::Is(word) => self.word(program, word, diagnostics).map(Stack::from_top),
        });
        Some(GlobalState { shared: shared?, stacks: stacks? })
    }

    /// Resolves a pattern for the declared threads.
    pub(super) fn pattern(&self, node: &StateNode, diagnostics: &mut Diagnostics) -> Option<Pattern> {
        without_any(node, diagnostics)?;
        self.pattern_of(node, self.threads?, diagnostics)
    }

    /// Resolves a pattern for threads with these programs.
    pub(super) fn pattern_of(
        &self,
        node: &StateNode,
        threads: &[u32],
        diagnostics: &mut Diagnostics,
    ) -> Option<Pattern> {
        let shared = match node.shared {
            WildNode::Any(_) => Some(Wild::Any),
            WildNode::Is(span) => self.shared(span, diagnostics).map(Wild::Is),
        };
        let tops = self.stacks((node, threads), diagnostics, |stack, program, diagnostics| match &stack.word {
            WildNode::Any(_) => Some(Wild::Any),
            WildNode::Is(word) if word.len() > 1 => {
                diagnostics.error(|| {
                    Diagnostic::error("a bad pattern describes visible states: only the top of each stack")
                        .at(stack.span, "more than a top")
                        .help(format!("write its top only: `{}`", shortened(self.name(word[0]))))
                });
                None
            }
            WildNode::Is(word) => self.word(program, word, diagnostics).map(|word| Wild::Is(word.first().copied())),
        });
        Some(Pattern { shared: shared?, tops: tops? })
    }
}

/// Reports a stack of any number of threads, which only a template has.
fn without_any(node: &StateNode, diagnostics: &mut Diagnostics) -> Option<()> {
    let Some(any) = node.stacks.iter().find(|stack| stack.any) else { return Some(()) };
    diagnostics.error(|| {
        Diagnostic::error("`* any` in a system with a fixed number of threads")
            .at(any.span, "this stack has any number of threads")
            .help("write a number, or declare a template: `thread NAME * any { … }`")
    });
    None
}

fn report_any<T>(span: Span, diagnostics: &mut Diagnostics) -> Option<T> {
    diagnostics.error(|| {
        Diagnostic::error("`*` in a state")
            .at(span, "only a bad pattern can leave this open")
            .help("write one state for each possibility")
    });
    None
}

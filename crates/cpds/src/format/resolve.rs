//! From the syntax tree to the model: resolves names, counts stacks, and enforces limits.
//!
//! Everything that cannot be resolved is reported as an error, and then there is no model.

use super::declare::{self, Alphabets};
use super::family;
use super::scope::{Scope, Summaries};
use super::syntax::{StateNode, ThreadNode, Tree, WildNode, file_start, text};
use crate::diagnostic::{Diagnostic, Diagnostics, Setting, Source, Span};
use crate::system::limits;
use crate::{Alphabet, Cpds, Family, ModelError, Problem, Program, Property, Replicated, Rule};
use rustc_hash::FxHashMap;

/// Makes the model of a tree, or reports its mistakes.
pub(super) fn resolve(sources: &[Source], tree: &Tree, diagnostics: &mut Diagnostics) -> Option<Problem> {
    let in_format = |pds, cpds| if tree.numeric { pds } else { cpds };
    if tree.shared.is_empty() && tree.threads.is_empty() && tree.initial.is_empty() && tree.bad.is_empty() {
        if diagnostics.is_ok() {
            let help = in_format(
                "the first line is the number of shared states; then `PDA low high` opens a thread",
                "a system has `shared` states, an `init` state and a `thread NAME { … }`",
            );
            let error = Diagnostic::error("the file declares nothing").at(file_start(), "no statement in this file");
            diagnostics.error(|| error.help(help));
        }
        return None;
    }
    if tree.threads.is_empty() && !tree.threads_unclear {
        let help = in_format("open one with `PDA low high`", "add a `thread NAME { … }`");
        diagnostics.error(|| missing("thread", 0, help));
    }
    if tree.initial.is_empty() && !tree.initial_unclear {
        let pds = "write `q|w1,…,wn` into a `.init` file of the same name, or give it";
        diagnostics.error(|| {
            let error = missing("initial state", tree.init_source, in_format(pds, "add `init q|w1,…,wn`"));
            if tree.numeric { error.setting(Setting::Initial, None) } else { error }
        });
    }
    let count = declare::count_threads(tree, diagnostics);
    for (states, what) in [(&tree.initial, "initial state"), (&tree.bad, "bad pattern")] {
        if !are_few(states, what, count.unwrap_or(tree.threads.len() as u64), diagnostics) {
            return None;
        }
    }
    if tree.threads.len() as u64 > limits::THREADS {
        return None;
    }

    let (shared, shared_complete) = declare::shared(sources, tree, diagnostics);
    let names = declare::thread_names(sources, tree, diagnostics);
    let Alphabets { symbols, of_program } = declare::alphabets(sources, tree, diagnostics)?;
    let programs = (0..).zip(&tree.threads).flat_map(|(i, t)| std::iter::repeat_n(i, t.copies as usize));
    let threads: Option<Vec<u32>> = count.map(|_| programs.collect());
    let scope = Scope {
        sources,
        numeric: tree.numeric,
        shared: &shared,
        shared_complete,
        symbols: &symbols,
        programs: names.iter().map(String::as_str).zip(of_program.iter().map(|(alphabet, _)| alphabet)).collect(),
        complete: of_program.iter().map(|(_, complete)| *complete).collect(),
        threads: threads.as_deref(),
        summaries: Summaries::default(),
    };
    let rules = tree.threads.iter().enumerate().map(|(i, thread)| rules(&scope, i, thread, diagnostics));
    let rules: Vec<Vec<Rule>> = rules.collect();
    let instances = family::instances(sources, tree, diagnostics);
    if tree.threads.iter().any(|thread| thread.any.is_some()) {
        let (initial, bad) = (
            all_states(&tree.initial, "initial state", diagnostics, |node, d| family::state(&scope, tree, node, d)),
            all_states(&tree.bad, "bad pattern", diagnostics, |node, d| family::pattern(&scope, tree, node, d)),
        );
        if !diagnostics.is_ok() {
            return None;
        }
        let programs = of_program.into_iter().zip(names).zip(rules).zip(&tree.threads);
        let programs = programs.map(|((((alphabet, _), name), rules), thread)| {
            let is_template = thread.any.is_some();
            Program::new(&name, thread.copies, alphabet, rules).map(|program| Replicated { program, is_template })
        });
        let family = programs
            .collect::<Result<_, _>>()
            .and_then(|programs| Family::new(shared, symbols, programs, initial, bad));
        return family.and_then(|family| family.member(&instances)).map_err(|error| report(&error, diagnostics)).ok();
    }
    let initial = all_states(&tree.initial, "initial state", diagnostics, |node, d| scope.state(node, d));
    let bad = all_states(&tree.bad, "bad pattern", diagnostics, |node, d| scope.pattern(node, d));
    if !diagnostics.is_ok() {
        return None;
    }

    let alphabets = of_program.into_iter().map(|(alphabet, _): (Alphabet, bool)| alphabet);
    let programs = tree.threads.iter().zip(names).zip(alphabets).zip(rules);
    let programs =
        programs.map(|(((thread, name), alphabet), rules)| Program::new(&name, thread.copies, alphabet, rules));
    let problem = programs
        .collect::<Result<_, _>>()
        .and_then(|programs| Cpds::new(shared, symbols, programs, initial))
        .and_then(Cpds::fits_a_text)
        .and_then(|system| Problem::new(system, Property { bad }));
    problem.map_err(|error| report(&error, diagnostics)).ok()
}

/// Reports why the parts of a text make no system. For a system without templates, the only
/// possible reason is a limit: on actions, or on symbols that are mentioned but not declared.
fn report(error: &ModelError, diagnostics: &mut Diagnostics) {
    let diagnostic = Diagnostic::error(error.to_string());
    diagnostics.error(|| match error {
        ModelError::TooFewThreads => {
            diagnostic.about(Setting::Instances).help("the threads that an initial state names are always there")
        }
        _ => diagnostic
            .at(file_start(), "this system has more")
            .help("a system that large cannot be explored; look for a smaller model"),
    });
}

fn missing(what: &str, source: u32, help: &str) -> Diagnostic {
    let place = Span { source, ..file_start() };
    Diagnostic::error(format!("no {what}")).at(place, format!("this file has no {what}")).help(help)
}

/// Whether the stacks of these states, with their symbols, are within the limit.
pub(super) fn are_few(nodes: &[StateNode], what: &str, threads: u64, diagnostics: &mut Diagnostics) -> bool {
    let mut cells = 0_u64;
    for node in nodes {
        for stack in &node.stacks {
            let height = match &stack.word {
                WildNode::Is(word) => word.len() as u64,
                WildNode::Any(_) => 0,
            };
            // A wrong number of stacks is reported by `Scope`.
            cells = cells.saturating_add(stack.times.min(threads) * (1 + height));
        }
        if cells > limits::STACK_CELLS {
            diagnostics.error(|| {
                Diagnostic::error(format!("too many {what}s, or too high stacks"))
                    .at(node.span, format!("with this one, more than {} stacks and symbols", limits::STACK_CELLS))
                    .help("let the first steps of one state build the others; in a pattern, use `*`")
            });
            return false;
        }
    }
    true
}

/// Returns Δ of one program. Δ is a set, so a repeated action has no effect. It may be a mistake,
/// so it gives a warning.
fn rules(scope: &Scope<'_>, program: usize, thread: &ThreadNode, diagnostics: &mut Diagnostics) -> Vec<Rule> {
    let mut places = FxHashMap::default();
    let mut rules = Vec::with_capacity(thread.actions.len());
    for node in &thread.actions {
        let Some(action) = scope.action(program, node, diagnostics) else { continue };
        let first = *places.entry(action).or_insert(node.span);
        if first == node.span {
            rules.push(Rule { label: node.label().map(|span| text(scope.sources, span).into()), action });
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

/// Resolves states or patterns, without repetitions.
fn all_states<T: Clone + Eq + std::hash::Hash>(
    nodes: &[StateNode],
    what: &str,
    diagnostics: &mut Diagnostics,
    resolve: impl Fn(&StateNode, &mut Diagnostics) -> Option<T>,
) -> Vec<T> {
    let mut places: FxHashMap<T, Span> = FxHashMap::default();
    let mut states = Vec::new();
    for node in nodes {
        let Some(state) = resolve(node, diagnostics) else { continue };
        let first = *places.entry(state.clone()).or_insert(node.span);
        if first == node.span {
            states.push(state);
        } else {
            repeated(what, first, node.span, diagnostics);
        }
    }
    states
}

//! The property: the bad states, as patterns.

use crate::graph::{Formula, Graph, Var, formula};
use crate::source_map::Meaning;
use crate::states::{Frame, Handover, Shared, Stop, Store, Valuation, evaluate};
use crate::syntax::Dialect;
use crate::text::parse_expression;
use crate::threads::Threads;
use cpds::diagnostic::{Diagnostic, Diagnostics, Setting, Span, nearest, plural};
use cpds::{Cpds, Pattern, SharedState, Source, Symbol, Wild};

/// The bad states of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum BadStates {
    /// Errors: a failed `assert`, or an `unlock` of a lock that the thread does not hold.
    #[default]
    Errors,
    /// A thread is at one of these labels: `L`, or `f:L` for the label of one function.
    Labels(Vec<String>),
    /// States that fit one of these targets: `x & !y|L,*`. The name of a source is shown in
    /// diagnostics.
    Targets(Vec<Source>),
}

/// The tops that a target allows for one thread.
type Choice = Wild<Vec<Option<Symbol>>>;

/// The limit for the number of patterns of a target.
const MOST_PATTERNS: usize = 1 << 19;

/// Builds patterns for a program and its system.
pub(crate) struct PatternBuilder<'a> {
    pub(crate) system: &'a Cpds,
    pub(crate) graph: &'a Graph,
    pub(crate) map: &'a Meaning,
    pub(crate) threads: &'a Threads,
    /// For each node, whether a path of the graph leads a thread to it.
    pub(crate) may_run: &'a [bool],
    pub(crate) dialect: Dialect,
}

/// Builds the bad patterns. Reports errors in labels and targets.
pub(crate) fn patterns(
    context: &PatternBuilder<'_>,
    bad_states: &BadStates,
    sources: &mut Vec<Source>,
    diagnostics: &mut Diagnostics,
) -> Vec<Pattern> {
    let PatternBuilder { system, map, .. } = context;
    let any = || vec![Wild::Any; system.thread_count()];
    match bad_states {
        BadStates::Errors => {
            let shared = map.rests().filter(|(_, shared)| matches!(shared, Shared::Error(_)));
            shared.map(|(q, _)| Pattern { shared: Wild::Is(q), tops: any() }).collect()
        }
        BadStates::Labels(labels) => {
            let mut patterns = Vec::new();
            for label in labels {
                let Some(nodes) = context.graph.labelled(label) else {
                    diagnostics.error(|| context.unknown_label(label));
                    continue;
                };
                context.check_reached(label, &nodes, diagnostics);
                let is_there = |frame: &Frame| nodes.contains(&frame.node);
                // A created thread that has not started is at its label, too.
                let pending = map.rests().filter(|(_, shared)| match shared {
                    Shared::Running(running) => running.pending.iter().any(|(_, frame)| is_there(frame)),
                    Shared::Error(_) => false,
                });
                patterns.extend(pending.map(|(q, _)| Pattern { shared: Wild::Is(q), tops: any() }));
                for (i, thread) in system.threads().enumerate() {
                    let alphabet = system.program(thread).alphabet();
                    for symbol in alphabet.iter().filter(|symbol| is_there(map.frame(*symbol))) {
                        let mut tops = any();
                        tops[i] = Wild::Is(Some(symbol));
                        patterns.push(Pattern { shared: Wild::Any, tops });
                    }
                }
            }
            patterns
        }
        BadStates::Targets(targets) => {
            let mut patterns = Vec::new();
            for target in targets {
                let source = u32::try_from(sources.len()).expect("a handful of sources");
                sources.push(target.clone());
                context.target(&target.text, source, &mut patterns, diagnostics);
            }
            patterns
        }
    }
}

impl PatternBuilder<'_> {
    /// Reports a label that no thread reaches. This is an error if `main` only starts threads and
    /// has the label: then `main` reaches it in the program, but it is not a thread of the system.
    fn check_reached(&self, label: &str, nodes: &[usize], diagnostics: &mut Diagnostics) {
        let PatternBuilder { graph, threads, may_run, .. } = self;
        let named = |node: usize| {
            let name = &graph.functions[graph.nodes[node].function].name;
            let label = label.split_once(':').map_or(label, |(_, label)| label).trim();
            (name, format!("{name}:{label}"))
        };
        let is_in_launcher = |node: &&usize| !may_run[**node] && Some(graph.nodes[**node].function) == threads.launcher;
        if let Some(&node) = nodes.iter().find(is_in_launcher) {
            let (name, place) = named(node);
            diagnostics.error(|| {
                Diagnostic::error(format!("no thread reaches `{place}`"))
                    .about(Setting::Label)
                    .at(graph.nodes[node].span, format!("`{name}` only starts threads and is not a thread itself"))
                    .help(format!(
                        "choose a label of a function that it starts; or begin `{name}` with `skip;`, which makes it a thread"
                    ))
            });
        } else if let (Some(&node), false) = (nodes.first(), nodes.iter().any(|node| may_run[*node])) {
            let (name, place) = named(node);
            let is_entered = may_run[graph.functions[graph.nodes[node].function].entry];
            let why =
                if is_entered { "no statement leads here".to_owned() } else { format!("no thread runs `{name}`") };
            diagnostics.warning(|| {
                Diagnostic::warning(format!("no thread reaches `{place}`"))
                    .about(Setting::Label)
                    .at(graph.nodes[node].span, why)
                    .help("the answer `safe` then says nothing about the program; do you mean another label?")
            });
        }
    }

    /// Finds the nodes of a place: a label, a function, or a line of a function.
    fn place(&self, text: &str) -> Option<Vec<usize>> {
        // A frame that awaits a return is on top only in the middle of a step.
        self.map.places.nodes(self.graph, text, false)
    }

    fn label_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.graph.functions.iter().flat_map(|function| function.labels.iter().map(|(label, _)| label.as_str()))
    }

    fn unknown_label(&self, label: &str) -> Diagnostic {
        let help = match nearest(label, self.label_names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "a label of the program: `L`, or `f:L` for that of one function".to_owned(),
        };
        Diagnostic::error(format!("there is no label `{label}`")).about(Setting::Label).help(help)
    }

    fn unknown_place(&self, place: &str, span: Span) -> Diagnostic {
        let functions = self.graph.functions.iter().map(|function| function.name.as_str());
        let help = match nearest(place, self.label_names().chain(functions)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "a label `L` or `f:L`, a function `f`, a line `f:12`, `*` or `-`".to_owned(),
        };
        Diagnostic::error(format!("there is no place `{place}`")).at(span, "not in the program").help(help)
    }

    /// Adds the patterns of a target such as `x & !y|L,*`.
    fn target(&self, text: &str, source: u32, patterns: &mut Vec<Pattern>, diagnostics: &mut Diagnostics) {
        let narrow = |at: usize| u32::try_from(at).expect("short");
        let whole = Span { source, start: 0, end: narrow(text.len()) };
        let Some((shared, places)) = text.rsplit_once('|') else {
            diagnostics.error(|| {
                Diagnostic::error("a target without `|`")
                    .at(whole, "the shared variables, `|`, then a place for each thread")
                    .help("as in 'x & !y|L,*'")
            });
            return;
        };
        let count = self.system.thread_count();
        let places: Vec<&str> = places.split(',').collect();
        if places.len() != count {
            diagnostics.error(|| {
                let (places, threads) = (plural(places.len(), "place"), plural(count, "thread"));
                Diagnostic::error(format!("{places} for {threads}"))
                    .at(Span { start: narrow(shared.len() + 1), ..whole }, "one for each thread")
                    .help(format!("the threads are, in this order: {}; `*` is anywhere", self.thread_names()))
            });
            return;
        }
        let mut at = shared.len() + 1;
        let mut choices: Vec<Choice> = Vec::new();
        for (place, thread) in places.iter().zip(self.system.threads()) {
            let span = Span { source, start: narrow(at), end: narrow(at + place.len()) };
            at += place.len() + 1;
            let alphabet = self.system.program(thread).alphabet();
            choices.push(match place.trim() {
                "*" => Wild::Any,
                "-" => Wild::Is(vec![None]),
                name => {
                    let Some(nodes) = self.place(name) else {
                        diagnostics.error(|| self.unknown_place(name, span));
                        return;
                    };
                    let symbols = alphabet.iter().filter(|symbol| nodes.contains(&self.map.frame(*symbol).node));
                    let symbols: Vec<_> = symbols.map(Some).collect();
                    if symbols.is_empty() {
                        let thread_name = self.system.thread_name(thread);
                        diagnostics.warning(|| {
                            Diagnostic::warning(format!("thread `{thread_name}` is never at `{name}`"))
                                .at(span, "so no state fits this target")
                                .help(format!("the threads are, in this order: {}", self.thread_names()))
                        });
                    }
                    Wild::Is(symbols)
                }
            });
        }
        let Some(shared) = self.shared(shared, source, diagnostics) else { return };
        let size = |choice: &Choice| if let Wild::Is(symbols) = choice { symbols.len() } else { 1 };
        let total = choices.iter().map(size).fold(shared.len(), usize::saturating_mul);
        if total > MOST_PATTERNS {
            diagnostics.error(|| {
                Diagnostic::error(format!("the target stands for {total} patterns"))
                    .at(whole, format!("more than {MOST_PATTERNS}"))
                    .help("be more specific: use labels instead of functions, and `*` for threads that do not matter")
            });
            return;
        }
        for q in shared {
            product(&choices, &mut Vec::new(), &mut |tops| patterns.push(Pattern { shared: q, tops: tops.to_vec() }));
        }
    }

    fn thread_names(&self) -> String {
        self.system.threads().map(|thread| self.system.thread_name(thread)).collect::<Vec<_>>().join(", ")
    }

    /// Computes the shared states in which an expression can be true.
    fn shared(&self, text: &str, source: u32, diagnostics: &mut Diagnostics) -> Option<Vec<Wild<SharedState>>> {
        if text.trim() == "*" {
            return Some(vec![Wild::Any]);
        }
        let expr = parse_expression(text, source, self.dialect, diagnostics)?;
        let before = diagnostics.errors();
        let names = || self.graph.shared.iter().map(|variable| variable.name.as_str());
        let condition = formula(&expr, &mut |name, is_primed| {
            if is_primed {
                diagnostics.error(|| {
                    let error = Diagnostic::error("a prime in a target").at(name.at.0, "there is no assignment here");
                    error.help(format!("for the value now, write `{}`", name.text))
                });
                return None;
            }
            let found = names().position(|known| known == name.text);
            if found.is_none() {
                diagnostics.error(|| {
                    let error = Diagnostic::error(format!("there is no shared variable `{}`", name.text))
                        .at(name.at.0, "not declared");
                    let known = || format!("there are: {}", names().collect::<Vec<_>>().join(", "));
                    error
                        .help(nearest(&name.text, names()).map_or_else(known, |near| format!("did you mean `{near}`?")))
                });
            }
            found.map(|number| Formula::Variable(Var::Shared(number)))
        });
        let is_true = |variables: &Valuation| {
            // One case is enough.
            let cases = Store { shared: variables.clone(), local: Valuation::default() }.cases(&mut |store| {
                if evaluate(&condition, store, store)?.yes { Err(Stop::Cutoff) } else { Ok(()) }
            });
            cases.is_err()
        };
        let states = self.map.rests().filter_map(|(q, rest)| match rest {
            // A shared state in the middle of a step is not a state of the program.
            Shared::Running(running) if running.handover == Handover::Nothing => {
                is_true(self.map.shared.variables(q.0)).then_some(Wild::Is(q))
            }
            _ => None,
        });
        let states = states.collect();
        (diagnostics.errors() == before).then_some(states)
    }
}

/// Calls `visit` for every combination of the choices.
fn product(choices: &[Choice], tops: &mut Vec<Wild<Option<Symbol>>>, visit: &mut impl FnMut(&[Wild<Option<Symbol>>])) {
    let Some(choice) = choices.get(tops.len()) else { return visit(tops) };
    let options: Vec<Wild<Option<Symbol>>> = match choice {
        Wild::Any => vec![Wild::Any],
        Wild::Is(symbols) => symbols.iter().map(|&symbol| Wild::Is(symbol)).collect(),
    };
    for option in options {
        tops.push(option);
        product(choices, tops, visit);
        tops.pop();
    }
}

//! A store automaton (PSA, paper App. C) as text, as a picture or as JSON, for `cuba show --psa`.

use crate::json;
use crate::pictures::picture::{Edge, Node, NodeKind, Picture};
use crate::text::state_notation::StateNotation;
use crate::text::table::Table;
use cpds::diagnostic::plural;
use cpds::{SharedState, Symbol, ThreadId};
use cuba::{ActionIndex, InnerRole, Psa, PsaState, TooLarge};
use std::collections::{BTreeMap, HashSet};

/// An automaton with more transitions than this is not shown.
pub(crate) const TRANSITION_LIMIT: usize = 1 << 20;

/// A store automaton with the names of its states.
pub(crate) struct Automaton {
    title: String,
    states: Vec<(StateName, NodeKind)>,
    transitions: Vec<NamedTransition>,
    /// Whether it accepts finitely many states.
    finite: bool,
    is_program: bool,
}

/// A transition between states, by their positions.
struct NamedTransition {
    from: usize,
    /// Nothing for ε.
    symbol: Option<StateName>,
    to: usize,
    on_loop: bool,
}

/// The names of a state or a symbol.
struct StateName {
    /// With the names of the system.
    name: String,
    /// In words of the program; for a system, the same as `name`.
    shown: String,
    /// In lines of a picture.
    lines: Vec<String>,
}

impl StateName {
    /// Creates a name from the texts that `of` makes in both notations.
    fn new(words: &StateNotation<'_>, of: impl Fn(&StateNotation<'_>) -> String) -> Self {
        let shown = of(words);
        StateName { name: of(&StateNotation { map: None, ..*words }), lines: vec![shown.clone()], shown }
    }

    /// Names a shared state, or a pair of a shared state and a symbol. For a program, the name
    /// takes several lines in a picture.
    fn state(words: &StateNotation<'_>, q: SharedState, symbol: Option<Symbol>) -> Self {
        let state = StateName::new(words, |words| match symbol {
            Some(symbol) => format!("({},{})", words.shared(q), words.symbol(symbol)),
            None => words.shared(q),
        });
        if words.map.is_none() {
            return state;
        }
        let symbol = symbol.map(|symbol| words.symbol(symbol));
        StateName { lines: words.lines(q).into_iter().chain(symbol).collect(), ..state }
    }

    /// Returns the name in words of the program, if the model is one.
    fn source(&self, is_program: bool) -> Option<String> {
        is_program.then(|| self.shown.clone())
    }
}

impl NamedTransition {
    fn label(&self) -> &str {
        self.symbol.as_ref().map_or("ε", |symbol| &symbol.shown)
    }
}

impl Automaton {
    /// Accepts everything that a thread alone reaches from stacks of height at most one. Fails if
    /// there are more than `most` transitions.
    pub(crate) fn of_contexts(words: &StateNotation<'_>, thread: ThreadId, most: usize) -> Result<Self, TooLarge> {
        let system = words.system;
        let alphabet = system.program(thread).alphabet();
        let tops = || std::iter::once(None).chain(alphabet.iter().map(Some));
        let shared = (0..).map(SharedState).take(system.shared_names().len());
        if system.shared_names().len().saturating_mul(alphabet.len() + 1) > most {
            return Err(TooLarge);
        }
        let start = Psa::of_heads(shared.flat_map(|q| tops().map(move |top| (q, top))));
        Self::of(words, thread, start, "Q × Σ≤1", most)
    }

    /// Accepts everything that a thread alone reaches from the states of `start`. `from` describes
    /// these.
    pub(crate) fn of(
        words: &StateNotation<'_>,
        thread: ThreadId,
        start: Psa,
        from: &str,
        most: usize,
    ) -> Result<Self, TooLarge> {
        let system = words.system;
        let psa = start.saturated(&ActionIndex::new(system.program(thread)), most)?;
        Ok(Automaton::new(words, &psa, format!("{}: R({from})", system.thread_name(thread))))
    }

    fn new(words: &StateNotation<'_>, psa: &Psa, title: String) -> Self {
        // Shared states first, then the states made for calls, and the accepting one last.
        let mut states: BTreeMap<(u8, PsaState), (StateName, NodeKind)> = BTreeMap::new();
        let mut places = BTreeMap::new();
        let mut given = 0;
        let key = |state: PsaState| match state {
            PsaState::Shared(_) => 0,
            PsaState::Inner(inner) => match psa.inner(inner) {
                (_, true) => 3,
                (InnerRole::Called(..), _) => 2,
                _ => 1,
            },
        };
        for (from, _, to) in psa.transitions() {
            for state in [from, PsaState::Inner(to)] {
                states.entry((key(state), state)).or_insert_with(|| match state {
                    PsaState::Shared(q) => (StateName::state(words, q, None), NodeKind::Initial),
                    PsaState::Inner(inner) => match psa.inner(inner) {
                        (_, true) => (StateName::new(words, |_| "sF".to_owned()), NodeKind::Accepting),
                        (InnerRole::Called(q, symbol), _) => {
                            (StateName::state(words, q, Some(symbol)), NodeKind::Inner)
                        }
                        _ => {
                            given += 1;
                            (StateName::new(words, |_| format!("s{given}")), NodeKind::Inner)
                        }
                    },
                });
            }
        }
        for (place, &(_, state)) in states.keys().enumerate() {
            places.insert(state, place);
        }
        let on_loop: HashSet<usize> = psa.loop_transitions().into_iter().collect();
        let transitions = psa.transitions().enumerate().map(|(i, (from, symbol, to))| NamedTransition {
            from: places[&from],
            symbol: symbol.map(|symbol| StateName::new(words, |words| words.symbol(symbol))),
            to: places[&PsaState::Inner(to)],
            on_loop: on_loop.contains(&i),
        });
        let mut transitions: Vec<NamedTransition> = transitions.collect();
        transitions.sort_by(|a, b| (a.from, a.to, a.label()).cmp(&(b.from, b.to, b.label())));
        let is_program = words.map.is_some();
        Automaton { title, states: states.into_values().collect(), transitions, finite: on_loop.is_empty(), is_program }
    }

    pub(crate) fn text(&self) -> String {
        let mut table = Table::new();
        for shown in &self.transitions {
            let mark = if shown.on_loop { "loop" } else { "" };
            let [from, to] = [shown.from, shown.to].map(|state| self.states[state].0.shown.as_str());
            table.add_row([from, "–", shown.label(), "→", to, mark]);
        }
        let size = if self.finite { "finitely many" } else { "infinitely many, because of the loop" };
        let (states, transitions) = (plural(self.states.len(), "state"), plural(self.transitions.len(), "transition"));
        format!("{}\n{}{states}, {transitions}; accepted: {size}\n", self.title, table.lines("  "))
    }

    pub(crate) fn json(&self, file: String, warnings: Vec<json::WarningJson>) -> json::PsaJson {
        let kind = |kind: NodeKind| match kind {
            NodeKind::Initial => "shared",
            NodeKind::Inner => "inner",
            NodeKind::Accepting => "accepting",
        };
        let states = self.states.iter().map(|(called, of)| json::PsaStateJson {
            name: called.name.clone(),
            kind: kind(*of),
            source: called.source(self.is_program),
        });
        let transitions = self.transitions.iter().map(|shown| json::PsaTransitionJson {
            from: shown.from,
            symbol: shown.symbol.as_ref().map(|symbol| symbol.name.clone()),
            to: shown.to,
            on_loop: shown.on_loop,
            source: shown.symbol.as_ref().and_then(|symbol| symbol.source(self.is_program)),
        });
        json::PsaJson {
            file,
            title: self.title.clone(),
            finite: self.finite,
            states: states.collect(),
            transitions: transitions.collect(),
            warnings,
        }
    }

    /// Draws the automaton. Parallel transitions become one edge.
    pub(crate) fn picture(&self) -> Picture {
        let mut edges: Vec<Edge> = Vec::new();
        for shown @ &NamedTransition { from, to, on_loop, .. } in &self.transitions {
            let label = shown.label().to_owned();
            match edges.last_mut().filter(|edge| (edge.from, edge.to) == (from, to)) {
                Some(edge) => {
                    edge.labels.push(label);
                    edge.marked |= on_loop;
                }
                None => edges.push(Edge { from, to, labels: vec![label], marked: on_loop }),
            }
        }
        let nodes = self
            .states
            .iter()
            .map(|(called, kind)| Node { lines: called.lines.clone(), ..Node::plain(called.shown.clone(), *kind) });
        Picture { title: self.title.clone(), nodes: nodes.collect(), edges }
    }
}

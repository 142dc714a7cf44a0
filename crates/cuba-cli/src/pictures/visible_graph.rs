//! The graph of reachable visible states, T(R), and the steps between them.
//!
//! The nodes are T(R_k) for the k at which (T(R_k)) collapses, and so all of T(R). If that k is not
//! known, they are T(R_k) for the last k. There is an edge from t to t' if a state s of R_k with
//! T(s) = t has a step to a state s' with T(s') = t'.
//!
//! # What may not be concluded
//! If R_k is all of R, the edges are all steps of R. If only T(R_k) is all of T(R), a pop may be
//! missing: it depends on the symbol under the top (`cuba::revealed_symbols`), and R may have more
//! such symbols. All other steps depend only on t. So the title says that the graph has every step
//! only if the proof has no further step.

use crate::analysis::exploration::Exploration;
use crate::analysis::model::LoadedModel;
use crate::pictures::picture::{Edge, Node, NodeKind, Picture};
use crate::text::labels::{shortened, wrapped};
use crate::text::state_notation::StateNotation;
use cpds::diagnostic::plural;
use cpds::{Action, Certificate, Cpds, GlobalState, Problem, Symbol, ThreadId, VisibleState};
use cpds_check::Evidence;
use cuba::{Conclusion, LevelStore, Proof, revealed_symbols};
use std::collections::{BTreeMap, BTreeSet};

/// The limits for the visible states and the steps of a graph.
const MOST_STATES: u128 = 10_000;
const MOST_STEPS: usize = 100_000;

/// A step between two visible states: their numbers, the thread, and the position of its rule.
type VisibleStep = (usize, usize, ThreadId, usize);

/// The graph.
struct Graph {
    /// T(R_k). Each state has the k at which it is new.
    states: Vec<(VisibleState, usize)>,
    /// Whether this is all of T(R).
    is_all: bool,
    /// The steps of R_k, for this k.
    steps: BTreeSet<VisibleStep>,
    k: usize,
    /// Whether R has no other step.
    has_every_step: bool,
}

/// Draws the graph of an exploration.
pub(crate) fn picture(explored: &Exploration<'_>, loaded: &LoadedModel) -> Result<Picture, String> {
    let graph = Graph::new(explored)
        .map_err(|GraphTooLarge(why)| format!("{why}, too many to be drawn; stop earlier with --max-contexts"))?;
    let mut picture = graph.picture(explored.problem, &StateNotation::of(loaded));
    picture.title += &loaded.assuming();
    Ok(picture)
}

/// Returns R_k as tuples, if they fit into the memory.
fn tuples(lower: &LevelStore<'_>, k: usize) -> Result<Certificate, GraphTooLarge> {
    lower.up_to(k).map_err(|_| GraphTooLarge(format!("R_{k} has more tuples than fit into the memory")))
}

/// Why a graph is not drawn.
#[derive(Debug)]
struct GraphTooLarge(String);

impl Graph {
    fn new(explored: &Exploration<'_>) -> Result<Self, GraphTooLarge> {
        let (system, analysis) = (explored.system(), &explored.analysis);
        let (lower, k) = (&analysis.level_store, analysis.k());
        let count = analysis.levels[k].visible;
        if count.exact().is_none_or(|count| count > MOST_STATES) {
            return Err(GraphTooLarge(format!("R_{k} has {count} visible states, more than {MOST_STATES}")));
        }
        let new = |k: usize| lower.visible().states(k).into_iter().map(move |state| (state, k));
        let mut graph = Graph {
            states: (0..=k).flat_map(new).collect(),
            is_all: matches!(analysis.conclusion, Conclusion::Converged(_)),
            steps: BTreeSet::new(),
            k,
            has_every_step: false,
        };
        graph.steps = graph.steps_of(system, &tuples(lower, k)?)?;
        let evidence = explored.evidence.as_ref().map(|made| &made.evidence);
        graph.has_every_step = match (&analysis.conclusion, evidence) {
            (Conclusion::Converged(Proof::LowerCollapsed), _) => true,
            (Conclusion::Converged(Proof::Bounded(_)), Some(Evidence::Certificate(proof))) => {
                graph.steps_of(system, proof)?.is_subset(&graph.steps)
            }
            _ => false,
        };
        Ok(graph)
    }

    /// Computes the steps from states of these tuples to visible states of the graph.
    fn steps_of(&self, system: &Cpds, tuples: &Certificate) -> Result<BTreeSet<VisibleStep>, GraphTooLarge> {
        let revealed = revealed_symbols(tuples);
        let numbers: BTreeMap<&VisibleState, usize> = self.states.iter().map(|(state, _)| state).zip(0..).collect();
        let mut steps = BTreeSet::new();
        for (from, (state, _)) in self.states.iter().enumerate() {
            for thread in system.threads() {
                for (index, rule) in system.program(thread).rules_from(state.shared, state.tops[thread.index()]) {
                    let (shared, mut written) = rule.action.target();
                    let tops = match rule.action {
                        Action::Pop { .. } => {
                            revealed.get(&(state.clone(), thread)).into_iter().flatten().copied().collect()
                        }
                        _ => vec![written.next()],
                    };
                    for top in tops {
                        let mut next = VisibleState { shared, tops: state.tops.clone() };
                        next.tops[thread.index()] = top;
                        steps.extend(numbers.get(&next).map(|&to| (from, to, thread, index)));
                    }
                }
            }
            if steps.len() > MOST_STEPS {
                let states = self.states.len();
                return Err(GraphTooLarge(format!(
                    "there are more than {MOST_STEPS} steps between {states} visible states"
                )));
            }
        }
        Ok(steps)
    }

    fn picture(&self, problem: &Problem, words: &StateNotation<'_>) -> Picture {
        let system = problem.system();
        let initial: BTreeSet<VisibleState> = system.initial().iter().map(GlobalState::visible).collect();
        let node = |(state, k): &(VisibleState, usize)| Node {
            label: words.visible(state),
            lines: lines(words, state).into_iter().chain([format!("k = {k}")]).collect(),
            kind: if initial.contains(state) { NodeKind::Initial } else { NodeKind::Inner },
            bad: problem.property().violation(state).is_some(),
        };
        let mut edges: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
        for &(from, to, thread, index) in &self.steps {
            let labels = edges.entry((from, to)).or_default();
            let action = &system.program(thread).rules()[index].label;
            let label =
                system.thread_name(thread) + &action.as_ref().map_or(String::new(), |action| format!(" {action}"));
            if labels.last() != Some(&label) {
                labels.push(label);
            }
        }
        let edge = |((from, to), labels)| Edge { from, to, labels, marked: false };
        Picture {
            title: self.title(),
            nodes: self.states.iter().map(node).collect(),
            edges: edges.into_iter().map(edge).collect(),
        }
    }

    fn title(&self) -> String {
        let (states, k) = (plural(self.states.len(), "visible state"), self.k);
        match (self.is_all, self.has_every_step) {
            (false, _) => format!("T(R_{k}): {states}, perhaps not all, with the steps of R_{k}"),
            (true, true) => format!("T(R): {states}, with every step"),
            (true, false) => format!("T(R): {states}, with the steps of R_{k}"),
        }
    }
}

/// Formats a visible state in one line. If the line is too long, the shared state and the tops take
/// several lines, and `x=0&y=1` is shortened to its values.
fn lines(words: &StateNotation<'_>, state: &VisibleState) -> Vec<String> {
    let whole = words.visible(state);
    if shortened(&whole) == whole {
        return vec![whole];
    }
    let mut lines = words.lines(state.shared);
    let empty = if words.map.is_some() { "-" } else { "ε" };
    let name = |top: &Option<Symbol>| top.map_or_else(|| empty.to_owned(), |symbol| words.symbol(symbol));
    lines.extend(wrapped(&state.tops.iter().map(name).collect::<Vec<_>>()));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds_testing::oracle;
    use cpds_testing::random::{Shape, problem};
    use cuba::checkpoint::StartPoint;
    use cuba::{Cancel, Control, Engine, Options, Question};
    use proptest::prelude::*;
    use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
    use std::cell::Cell;

    /// The graph of an analysis with its evidence.
    fn graph(problem: &Problem, options: Options) -> Graph {
        let control = Control { start: StartPoint::default(), cancel: Cancel::new(), checkpoint_writer: None };
        let answer = cuba::answer(problem, Question::Visible, &options, control, |_| ());
        let answer = answer.expect("no engine is wrong");
        let question = (problem, Question::Visible);
        let mut explored = Exploration::new(question, answer.analysis, options, answer.search_time);
        explored.evidence = answer.evidence;
        Graph::new(&explored).unwrap()
    }

    /// The steps from a set of states.
    fn naive(graph: &Graph, system: &Cpds, states: &BTreeSet<GlobalState>) -> BTreeSet<VisibleStep> {
        let number = |state: &GlobalState| graph.states.iter().position(|(other, _)| *other == state.visible());
        let steps = states.iter().flat_map(|state| system.steps(state).map(move |step| (state, step)));
        steps.filter_map(|(from, to)| Some((number(from)?, number(&to.state)?, to.thread, to.index))).collect()
    }

    /// Both engines give the steps of R_k. If R_k is infinite, states with stacks up to some height
    /// have every step. If the title claims every step, R has no other one.
    #[test]
    fn steps_are_those_of_the_states() {
        let [finite, infinite, all, every] = [const { Cell::new(0) }; 4];
        let count = |cell: &Cell<u32>, is_so: bool| cell.set(cell.get() + u32::from(is_so));
        let check = |problem: &Problem| {
            let system = problem.system();
            for (engine, symmetry, max_contexts) in [(None, true, 2), (Some(Engine::Symbolic), false, 1)] {
                let max_contexts = Some(max_contexts);
                let graph = graph(problem, Options { engine, symmetry, max_contexts, ..Options::default() });
                let height = if system.thread_count() > 2 { 5 } else { 6 };
                let levels = oracle::levels(system, graph.k + 1, height);
                let [steps, later] = [graph.k, graph.k + 1].map(|k| naive(&graph, system, &levels.reachable[k]));
                assert_eq!(graph.steps, steps);
                count(if levels.exact { &finite } else { &infinite }, true);
                count(&all, graph.is_all);
                count(&every, graph.has_every_step);
                assert!(!graph.has_every_step || graph.is_all && later == steps);
            }
        };
        let shape = Shape { programs: 1..=2, shared: 1..=3, symbols: 1..=2, actions: 2..=6, ..Shape::default() };
        let config = ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let few = problem(&shape).prop_filter("few threads", |problem| problem.system().thread_count() < 4);
        let outcome = runner.run(&few, |problem| {
            check(&problem);
            Ok(())
        });
        outcome.unwrap_or_else(|error| panic!("{error}"));
        let counts = [finite, infinite, all, every].map(Cell::into_inner);
        let enough = [500, 300, 600, 500];
        assert!(counts.iter().zip(enough).all(|(&count, enough)| count >= enough), "{counts:?}");
    }

    /// T(R_k) collapses at 8, but R_8 does not have every step.
    #[test]
    fn a_pop_may_be_missing() {
        let problem: Problem = include_str!("../../../../models/squeeze/tree-walk.cpds").parse().unwrap();
        let graph = graph(&problem, Options { max_contexts: Some(20), ..Options::default() });
        assert!(graph.is_all && !graph.has_every_step);
        let levels = oracle::levels(problem.system(), 13, 20);
        let steps = |k: usize| naive(&graph, problem.system(), &levels.reachable[k]);
        assert!(levels.exact && levels.visible(8) == levels.visible(13));
        assert_eq!((steps(8).len(), steps(11).len(), graph.k), (14, 15, 8));
        assert_eq!(graph.steps, steps(8));
    }

    #[test]
    fn long_names_take_several_lines() {
        let text = "shared flag=0 flag=1&other_flag=0&mode
            init flag=0|a,b,-; init flag=0|a.very.long.name,b,-; init flag=1&other_flag=0&mode|a,b,-
            thread A { symbols a a.very.long.name }
            thread B * 2 { symbols b }";
        let problem: Problem = text.parse().unwrap();
        let system = problem.system();
        let words = StateNotation { system, map: None };
        let lines: Vec<_> = system.initial().iter().map(|state| lines(&words, &state.visible())).collect();
        assert_eq!(lines[0], ["⟨flag=0|a,b,ε⟩"]);
        assert_eq!(lines[1], ["flag=0", "a.very.long.name, b,", "ε"]);
        assert_eq!(lines[2], ["1&0&mode", "a, b, ε"]);
    }
}

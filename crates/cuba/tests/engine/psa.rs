//! Compares post*, its languages, and pumping heads with exhaustive searches.

use crate::laws::law_on;
use cpds::{Cpds, Problem, SharedState, Stack, Symbol, ThreadId};
use cpds_testing::families::random_system;
use cpds_testing::oracle::{finite_contexts, one_context};
use cpds_testing::random::{Shape, problem};
use cpds_testing::renaming::renamed;
use cuba::{Cancel, Languages, Psa, PsaState, PumpingHeads, PumpingLoop};
use proptest::strategy::Strategy;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Generates systems with one thread and all kinds of actions.
fn sequential() -> impl Strategy<Value = Problem> {
    let shape = Shape { programs: 1..=1, copies: 1..=1, initial: 1..=3, ..Shape::default() };
    let busy = Shape { actions: 4..=14, symbols: 2..=4, ..shape.clone() };
    proptest::prop_oneof![problem(&shape), problem(&busy)]
}

const THREAD: ThreadId = ThreadId(0);

type ThreadState = (SharedState, Stack);

fn initial(system: &Cpds) -> Vec<ThreadState> {
    system.initial().iter().map(|state| (state.shared, state.stacks[0].clone())).collect()
}

fn post_star(system: &Cpds, from: &[ThreadState]) -> Psa {
    Psa::of_states(from.iter().map(|(q, stack)| (*q, stack))).post_star(&system.programs()[0])
}

/// Returns all states with stacks up to this height.
fn all_states(system: &Cpds, height: usize) -> Vec<ThreadState> {
    let mut stacks = vec![Stack::default()];
    let mut layer = stacks.clone();
    for _ in 0..height {
        let longer = |stack: &Stack| {
            let stack = stack.clone();
            system.programs()[0]
                .alphabet()
                .iter()
                .map(move |symbol| Stack::from_top(std::iter::once(symbol).chain(stack.iter())))
        };
        layer = layer.iter().flat_map(longer).collect();
        stacks.extend(layer.iter().cloned());
    }
    let shared = 0..u32::try_from(system.shared_names().len()).unwrap();
    shared.flat_map(|q| stacks.iter().map(move |stack| (SharedState(q), stack.clone()))).collect()
}

/// Returns the states that are reachable from `from` with stacks up to this height, and whether
/// these are all reachable states.
fn reachable(system: &Cpds, from: &[ThreadState], height: usize) -> (BTreeSet<ThreadState>, bool) {
    let mut found = BTreeSet::new();
    let mut exact = true;
    for (shared, stack) in from {
        let start = cpds::GlobalState { shared: *shared, stacks: vec![stack.clone()] };
        let (states, all) = one_context(system, THREAD, &start, height);
        found.extend(states.into_iter().map(|mut state| (state.shared, state.stacks.remove(0))));
        exact &= all;
    }
    (found, exact)
}

/// post* accepts every state that the exhaustive search reaches. Every accepted state has a run
/// that the step relation confirms, so it is reachable.
#[test]
fn post_star_accepts_exactly_the_reachable_states() {
    let (exact, deep, empty) = (Cell::new(0), Cell::new(0), Cell::new(0));
    law_on(&sequential(), 4000, |problem| {
        let system = problem.system();
        let program = &system.programs()[0];
        let from = initial(system);
        let psa = post_star(system, &from);
        let (found, complete) = reachable(system, &from, 6);
        for (q, stack) in &found {
            assert!(psa.accepts(*q, stack), "⟨{q:?}|{stack:?}⟩ is reachable");
        }
        for (q, stack) in all_states(system, 3) {
            if psa.accepts(q, &stack) {
                let run = psa.run(q, &stack).expect("short");
                assert!(from.contains(&run.start), "a run starts in a given state");
                assert_eq!(run.states(program).last().unwrap_or_else(|| run.start.clone()), (q, stack));
                deep.set(deep.get() + usize::from(run.rules.len() > 4));
            } else {
                assert!(!found.contains(&(q, stack)));
            }
        }
        exact.set(exact.get() + u32::from(complete));
        empty.set(empty.get() + u32::from(found.iter().any(|(_, stack)| stack.height() == 0)));
        found.len() > 3
    });
    let (exact, deep, empty) = (exact.get(), deep.get(), empty.get());
    assert!(exact > 1000 && deep > 1000 && empty > 500, "{exact} finite, {deep} long runs, {empty} with empty stacks");
}

/// With lengths, runs are shortest runs: they are not longer than those of a breadth-first search
/// up to some height. They may be shorter, because a shortest run may need higher stacks.
#[test]
fn runs_are_shortest() {
    let (runs, shorter) = (Cell::new(0), Cell::new(0));
    law_on(&sequential(), 2500, |problem| {
        let system = problem.system();
        let program = &system.programs()[0];
        let from = initial(system);
        let psa = Psa::of_states(from.iter().map(|(q, stack)| (*q, stack))).with_lengths().post_star(program);
        let plain = post_star(system, &from);
        assert_eq!(psa.transition_count(), plain.transition_count(), "lengths change nothing else");
        // Breadth-first, layer by layer.
        let mut distance: BTreeMap<ThreadState, usize> = from.iter().map(|state| (state.clone(), 0)).collect();
        let mut layer = from.clone();
        for steps in 1..=12 {
            let mut next = Vec::new();
            for (q, stack) in layer {
                for (_, rule) in program.rules_from(q, stack.top()) {
                    let state = rule.action.apply(q, &stack).expect("enabled");
                    if state.1.height() <= 5 && !distance.contains_key(&state) {
                        distance.insert(state.clone(), steps);
                        next.push(state);
                    }
                }
            }
            layer = next;
        }
        for ((q, stack), &steps) in distance.iter().filter(|((_, stack), _)| stack.height() <= 3) {
            let run = psa.run(*q, stack).expect("short");
            assert!(from.contains(&run.start));
            assert_eq!(run.states(program).last().unwrap_or_else(|| run.start.clone()), (*q, stack.clone()));
            let lower = run.states(program).all(|(_, stack)| stack.height() <= 5);
            assert!(run.rules.len() == steps || (run.rules.len() < steps && !lower), "{} {steps}", run.rules.len());
            runs.set(runs.get() + u32::from(steps > 2));
            let found = plain.run(*q, stack).expect("short");
            assert!(found.rules.len() >= run.rules.len());
            shorter.set(shorter.get() + u32::from(found.rules.len() > run.rules.len()));
        }
        true
    });
    assert!(
        runs.get() > 2000 && shorter.get() > 20,
        "{} runs, {} of them shorter than without",
        runs.get(),
        shorter.get()
    );
}

/// post* of an automaton with loops, ε-edges and dead states is post* of all words that the
/// automaton accepts, up to a length.
#[test]
fn post_star_from_an_arbitrary_automaton() {
    let infinite = Cell::new(0);
    law_on(
        &(sequential(), proptest::collection::vec((0..6_u32, 0..4_u32, 0..4_u32), 1..8)),
        1500,
        |(problem, edges)| {
            let system = problem.system();
            let program = &system.programs()[0];
            let symbols: Vec<Symbol> = program.alphabet().iter().collect();
            let shared = u32::try_from(system.shared_names().len()).unwrap();
            let mut given = Psa::default();
            let states: Vec<_> = (0..4).map(|i| given.add_state(i % 2 == 1)).collect();
            for &(from, symbol, to) in edges {
                let label = symbols.get(symbol as usize).copied();
                let source = if from < 2 || label.is_none() {
                    PsaState::Shared(SharedState(from % shared))
                } else {
                    PsaState::Inner(states[from as usize - 2])
                };
                given.add(source, label, states[to as usize]);
            }
            let words: Vec<_> =
                all_states(system, 4).into_iter().filter(|(q, stack)| given.accepts(*q, stack)).collect();
            let psa = given.clone().post_star(program);
            let (found, _) = reachable(system, &words, 5);
            for (q, stack) in &found {
                assert!(psa.accepts(*q, stack), "⟨{q:?}|{stack:?}⟩ is reachable");
            }
            for (q, stack) in all_states(system, 2).into_iter().filter(|(q, stack)| psa.accepts(*q, stack)) {
                let run = psa.run(q, &stack).expect("short");
                assert!(given.accepts(run.start.0, &run.start.1));
                assert_eq!(run.states(program).last().unwrap_or_else(|| run.start.clone()), (q, stack));
            }
            let mut languages = Languages::default();
            let all = languages.of_psa(&given, usize::MAX).unwrap();
            infinite.set(infinite.get() + u32::from(all.iter().any(|&(_, language)| !languages.is_finite(language))));
            found.len() > words.len()
        },
    );
    assert!(infinite.get() > 100, "only {} of the given sets were infinite", infinite.get());
}

/// The language of each shared state contains exactly the words that the automaton accepts. Every
/// operation on languages gives the same result as on their words.
#[test]
fn languages_are_their_words() {
    let (included, not, infinite) = (Cell::new(0), Cell::new(0), Cell::new(0));
    law_on(&sequential(), 1500, |problem| {
        let system = problem.system();
        let mut languages = Languages::default();
        // Two different minimal automata of n and m states differ on a word of at most n + m
        // symbols. If a language is not included in another one, a word of fewer than n(m + 1)
        // symbols shows it.
        let words: Vec<Stack> =
            all_states(system, 5).into_iter().filter(|(q, _)| q.0 == 0).map(|(_, stack)| stack).collect();
        let mut seen = Vec::new();
        for start in initial(system) {
            let psa = post_star(system, std::slice::from_ref(&start));
            let found = languages.of_psa(&psa, usize::MAX).unwrap();
            for (q, language) in found {
                let accepted: BTreeSet<_> = words.iter().filter(|word| psa.accepts(q, word)).collect();
                let again = languages.psa(q, language);
                for word in &words {
                    assert_eq!(languages.contains(language, word), accepted.contains(word));
                    assert_eq!(again.accepts(q, word), accepted.contains(word));
                }
                let closed = languages.of_psa(&again.post_star(&system.programs()[0]), usize::MAX).unwrap();
                assert!(closed.contains(&(q, language)), "post* is idempotent");
                seen.push(language);
            }
        }
        seen.sort_unstable();
        seen.dedup();
        let words_of = |languages: &Languages, language| -> BTreeSet<Stack> {
            words.iter().filter(|word| languages.contains(language, word)).cloned().collect()
        };
        for &a in &seen {
            let of_a = words_of(&languages, a);
            assert_ne!(a, Languages::EMPTY);
            let tops: BTreeSet<_> = languages.tops(a).collect();
            let states = languages.states(a);
            if states <= 5 {
                assert_eq!(tops, of_a.iter().map(Stack::top).collect(), "a shortest word with a top is short");
            }
            if states <= 3 {
                // A word with as many symbols as there are states contains a cycle. If there is a
                // cycle, some word contains it exactly once.
                let long = of_a.iter().any(|word| word.height() >= states);
                assert_eq!(languages.is_finite(a), !long);
                infinite.set(infinite.get() + u32::from(long));
            }
            for top in tops {
                let shortest = languages.shortest_word(a, Some(top)).expect("the language has a word with this top");
                assert!(languages.contains(a, &shortest) && shortest.top() == top);
                let shorter = of_a.iter().find(|word| word.top() == top && word.height() < shortest.height());
                assert_eq!(shorter, None);
            }
            let shortest = languages.shortest_word(a, None).expect("not empty").height();
            assert_eq!(of_a.iter().map(Stack::height).min().unwrap_or(shortest), shortest);
            for &b in &seen {
                let of_b = words_of(&languages, b);
                if states + languages.states(b) <= 5 {
                    assert_eq!(a == b, of_a == of_b, "equal languages have equal numbers");
                }
                if states * (languages.states(b) + 1) <= 6 {
                    assert_eq!(languages.is_included(a, b), of_a.is_subset(&of_b));
                }
                assert!(!languages.is_included(a, b) || of_a.is_subset(&of_b));
                let counter = if languages.is_included(a, b) { &included } else { &not };
                counter.set(counter.get() + 1);
                let union = languages.union(a, b);
                assert_eq!(words_of(&languages, union), &of_a | &of_b);
                assert_eq!(union, languages.union(b, a));
                assert!(languages.is_included(a, union) && languages.is_included(b, union));
                assert_eq!(languages.is_included(a, b), union == b, "L ⊆ M exactly if L ∪ M = M");
            }
            assert_eq!(languages.union(a, Languages::EMPTY), a);
        }
        seen.len() > 2
    });
    let (included, not, infinite) = (included.get(), not.get(), infinite.get());
    assert!(included > 1000 && not > 1000 && infinite > 100, "{included} included, {not} not, {infinite} infinite");
}

/// Pumping heads give the same answer to the condition of Thm. 17 as the exhaustive search, with
/// any numbers. Every loop is a run whose stack grows.
#[test]
fn pumping_heads_decide_the_condition_of_theorem_17() {
    let (yes, no) = (Cell::new(0), Cell::new(0));
    let two = problem(&Shape { programs: 1..=2, copies: 1..=1, actions: 0..=7, ..Shape::default() });
    law_on(&two, 4000, |problem| {
        let system = problem.system();
        let pumping = PumpingHeads::new(system);
        for (index, program) in system.programs().iter().enumerate() {
            let thread = system.threads().find(|&thread| system.program_index(thread) == index).unwrap();
            let found = pumping.a_loop(index);
            assert_eq!(found.is_none(), finite_contexts(system, thread), "{}", program.name());
            assert_eq!(found.is_none(), pumping.heads(index).is_empty());
            assert!(found.is_none_or(|found| found.replays(program)));
            for &head in pumping.heads(index) {
                let found = PumpingLoop::at(head, program, usize::MAX).expect("it pumps");
                assert!(found.replays(program) && (found.shared, found.top) == head);
            }
        }
        let n = system.thread_count();
        let shared = u32::try_from(system.shared_names().len()).unwrap();
        let threads: Vec<usize> = (0..n).rev().collect();
        let rotated: Vec<u32> = (0..shared).map(|q| (q + 1) % shared).collect();
        let other = PumpingHeads::new(renamed(problem, &threads, &rotated).problem.system());
        let counts = |pumping: &PumpingHeads| -> Vec<usize> {
            (0..system.programs().len()).map(|program| pumping.heads(program).len()).collect()
        };
        assert_eq!(counts(&pumping).into_iter().rev().collect::<Vec<_>>(), counts(&other));
        let counter = if pumping.is_empty() { &yes } else { &no };
        counter.set(counter.get() + 1);
        true
    });
    assert!(yes.get() > 500 && no.get() > 500, "{} with, {} without", yes.get(), no.get());
}

/// Each symbol can call each symbol. The complete automaton would have a transition for each of ten
/// thousand thread-visible states and each call. A loop is found much earlier.
#[test]
fn a_loop_is_found_early() {
    let system = random_system(1, 20_000, 100, 100, 1);
    let pumping =
        PumpingHeads::within(&system, 100_000, 1000, &Cancel::default()).expect("the automaton need not be complete");
    assert!(!pumping.is_complete() && !pumping.is_empty());
    assert!(pumping.a_loop(0).is_some_and(|found| found.replays(&system.programs()[0])));
}

/// The only reachable state with shared state b is ⟨b|z⟩, but an ε-edge leaves b. Alg. 4, as
/// printed, would also report ε as a top.
#[test]
fn epsilon_is_a_top_only_of_the_empty_stack() {
    let text = "shared a b; init a|x; thread P { symbols x y z; (a,x) -> (a,y z); (a,y) -> (b,-) }";
    let problem: Problem = text.parse().unwrap();
    let system = problem.system();
    let psa = post_star(system, &initial(system));
    let b = SharedState(1);
    assert!(psa.transitions().any(|(from, label, _)| (from, label) == (PsaState::Shared(b), None)));
    let mut languages = Languages::default();
    let found = languages.of_psa(&psa, usize::MAX).unwrap();
    let (_, language) = found.into_iter().find(|(q, _)| *q == b).unwrap();
    let tops: Vec<_> = languages.tops(language).map(|top| top.map(|symbol| system.symbol_name(symbol))).collect();
    assert_eq!(tops, [Some("z")]);
}

//! Certificates with changes: the engines make a certificate of a small system, then the
//! certificate and the system are changed.
//!
//! The checker must accept the result exactly if the naive test of the conditions accepts it. An
//! accepted certificate must contain all states that the oracle finds.

use super::changes::{Choices, Draft, limits, without_property};
use super::evidence::lists_reachable_states;
use cpds::{Automaton, Certificate, Problem, Symbol};
use cpds_check::{Claim, Condition, Evidence, Rejected, check, read};
use cpds_testing::certificates::{contains, is_invariant};
use cpds_testing::oracle;
use cuba::{Cancel, Engine, Ladder};
use cuba::{Conclusion, Options, Question, search_unchecked};

/// The bytes choose a system, the options of the proof, and the changes.
pub fn certificate(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let mut draft = Draft::new(&mut choices);
    let problem = draft.problem();
    let Some(certificate) = engine_certificate(&problem, &mut choices) else { return };
    for _ in 0..choices.below(3) {
        draft.grow(&mut choices);
    }
    let problem = draft.problem();
    let mut parts = Parts::of(&certificate);
    while !choices.is_over() {
        parts.change(&problem, &mut choices);
    }
    let certificate = parts.certificate();
    for claim in [Claim::Verdict, Claim::Exact] {
        check_decision(&problem, &certificate, claim);
    }
}

/// Makes a certificate with one of the engines, if there is a proof. Checks that the checker
/// accepts it, and that writing and reading it gives the same certificate.
fn engine_certificate(problem: &Problem, choices: &mut Choices<'_>) -> Option<Certificate> {
    let limits = limits();
    let options = match choices.below(4) {
        0 => limits,
        1 => Options { symmetry: false, ..limits },
        2 => Options { ladder: Ladder::None, engine: Some(Engine::Symbolic), ..limits },
        _ => Options { ladder: Ladder::Abstract, ..limits },
    };
    let question = [Question::Verify, Question::Visible][choices.below(2)];
    let analysis = search_unchecked(problem, question, &options, |_| ());
    let (proof, claim) = match &analysis.conclusion {
        Conclusion::Safe(proof) => (proof, Claim::Verdict),
        Conclusion::Converged(proof) => (proof, Claim::Exact),
        Conclusion::Contradiction(_) => panic!("engines contradict each other"),
        Conclusion::Unsafe { .. } | Conclusion::Unknown(_) => return None,
    };
    let certificate = analysis.certificate(proof, 1 << 24, &Cancel::default()).expect("it is small");
    let evidence = Evidence::Certificate(certificate.clone());
    assert_eq!(check(problem, &evidence, claim, &|_| true), Ok(()));
    let json =
        serde_json::to_vec(&cuba_cli::json::certificate(problem, "fuzz".to_owned(), &certificate)).expect("numbers");
    assert_eq!(read(problem, &*json), Ok(evidence));
    Some(certificate)
}

/// The parts of a certificate, for changes.
struct Parts {
    certificate: Certificate,
    states: Vec<(bool, Vec<(Symbol, u32)>)>,
    tuples: Vec<Vec<u32>>,
}

impl Parts {
    fn of(certificate: &Certificate) -> Parts {
        let automaton = &certificate.automaton;
        let states =
            (0..).take(automaton.len()).map(|state| (automaton.is_accepting(state), automaton.out(state).to_vec()));
        let tuples = certificate.tuples().map(|(q, languages)| [&[q.0], languages].concat());
        Parts { certificate: certificate.clone(), states: states.collect(), tuples: tuples.collect() }
    }

    fn certificate(self) -> Certificate {
        let mut automaton = Automaton::default();
        for (accepting, mut out) in self.states {
            out.sort_unstable();
            automaton.push(accepting, out);
        }
        Certificate { automaton, tuples: self.tuples.concat(), ..self.certificate }
    }

    /// Makes one change. The result may be malformed.
    fn change(&mut self, problem: &Problem, choices: &mut Choices<'_>) {
        let narrow = |number: usize| u32::try_from(number).expect("small");
        let (system, states) = (problem.system(), self.states.len());
        let symbol = |choices: &mut Choices<'_>| Symbol(narrow(choices.below(system.symbol_names().len())));
        let entry = |tuple: &mut Vec<u32>, choices: &mut Choices<'_>| match choices.below(tuple.len()) {
            0 => tuple[0] = narrow(choices.below(system.shared_names().len())),
            place => tuple[place] = narrow(choices.below(states)),
        };
        match choices.below(10) {
            0 => choices.one_of(&mut self.tuples).map(|tuple| tuple.clone()).into_iter().for_each(|mut tuple| {
                entry(&mut tuple, choices);
                self.tuples.push(tuple);
            }),
            1 => {
                if let Some(at) = choices.below(self.tuples.len()).checked_sub(1) {
                    self.tuples.swap_remove(at);
                }
            }
            2 => {
                let at = choices.below(self.tuples.len());
                self.tuples.get_mut(at).into_iter().for_each(|tuple| entry(tuple, choices));
            }
            3 => choices.one_of(&mut self.states).into_iter().for_each(|(accepting, _)| *accepting ^= true),
            4 => {
                let at = choices.below(states);
                let transition = self.states.get_mut(at).and_then(|(_, out)| choices.one_of(out));
                if let Some((_, to)) = transition {
                    *to = narrow(choices.below(states));
                }
            }
            5 => {
                let (at, transition) = (choices.below(states), (symbol(choices), narrow(choices.below(states))));
                self.states.get_mut(at).into_iter().for_each(|(_, out)| out.push(transition));
            }
            6 => {
                let at = choices.below(states);
                self.states.get_mut(at).into_iter().for_each(|(_, out)| out.truncate(out.len().saturating_sub(1)));
            }
            7 => self.states.push((choices.below(2) == 0, vec![(symbol(choices), narrow(choices.below(states)))])),
            8 => {
                let moved = choices.one_of(&mut self.certificate.groups).and_then(Vec::pop);
                let groups = &mut self.certificate.groups;
                groups.retain(|group| !group.is_empty());
                match (moved, choices.below(2)) {
                    (Some(thread), 0) => groups.push(vec![thread]),
                    (Some(thread), _) => match choices.one_of(groups) {
                        Some(group) => group.push(thread),
                        None => groups.push(vec![thread]),
                    },
                    (None, _) => {}
                }
            }
            _ => self.certificate.visible.iter_mut().for_each(|visible| {
                if let Some(state) = choices.one_of(visible) {
                    let top = choices.below(state.tops.len());
                    state.tops[top] = (!system.symbol_names().is_empty()).then(|| symbol(choices));
                }
            }),
        }
    }
}

/// Checks that the checker decides correctly about a certificate.
fn check_decision(problem: &Problem, certificate: &Certificate, claim: Claim) {
    let checked = check(problem, &Evidence::Certificate(certificate.clone()), claim, &|steps| steps < 1_000_000);
    let conditions = [Condition::Initial, Condition::Step, Condition::Bad];
    let is_accepted = match &checked {
        Ok(()) => true,
        Err(Rejected::Violated(condition, _)) if conditions.contains(condition) => false,
        Err(_) => return,
    };
    let judged = if claim == Claim::Verdict { problem.clone() } else { without_property(problem) };
    assert_eq!(is_invariant(&judged, certificate), is_accepted, "{checked:?}: {certificate:?}");
    if is_accepted {
        let levels = oracle::levels(problem.system(), 3, 2);
        let reached = levels.reachable.last().expect("the initial states at least");
        assert!(!reached.iter().any(|state| judged.is_bad(state)), "accepted, and a bad state is reachable");
        assert!(reached.iter().take(50).all(|state| contains(certificate, state)));
        if claim == Claim::Exact {
            lists_reachable_states(problem, certificate);
        }
    }
}

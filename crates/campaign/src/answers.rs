//! Compares the answers to one problem: each question, by each engine and each rung, with and
//! without symmetry, with one worker and with two.

use crate::judge::{Agreed, Answer, judge};
use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, ensure, evidence};
use cpds::Problem;
use cuba::{Analysis, Conclusion, EvidencePolicy, Options, Question, Tuning, search_unchecked};
use cuba::{Engine, Ladder, Rung};

/// Limits with which each run ends soon.
pub const LIMITS: Options = Options {
    evidence: EvidencePolicy::Checked,
    engine: None,
    ladder: Ladder::All,
    symmetry: true,
    max_contexts: Some(8),
    max_depth: Some(2),
    max_tuples: Some(150),
    memory: 1 << 23,
    jobs: 1,
    timeout: None,
    tuning: Tuning::SHIPPED,
};

/// The number of configurations that one turn runs. The next turn runs the next ones.
const CONFIGURATIONS_PER_TURN: usize = 3;

/// The number of turns that run all configurations, each with and without symmetry, and with each
/// question.
pub const ALL_TURNS: u64 = 20;

/// Returns [`LIMITS`] with at most two contexts more than the oracle's levels.
pub fn limits(truth: &Truth) -> Options {
    Options { max_contexts: Some((truth.levels.k() + 2).min(8)), ..LIMITS }
}

const QUESTIONS: [Question; 3] = [Question::Verify, Question::Visible, Question::Reachable];

/// Returns all configurations except the default one, each with its name.
pub fn configurations(limits: Options) -> Vec<(String, Options)> {
    let mut configurations = Vec::new();
    for (name, engine) in [("explicit", Engine::Explicit), ("symbolic", Engine::Symbolic)] {
        // If a context is infinite, the explicit engine runs until its memory is full.
        let memory = if engine == Engine::Explicit { 1 << 21 } else { limits.memory };
        configurations
            .push((name.to_owned(), Options { engine: Some(engine), ladder: Ladder::None, memory, ..limits }));
    }
    configurations.push(("abstract".to_owned(), Options { ladder: Ladder::Abstract, ..limits }));
    let cuts = [Rung::Z, Rung::MatchedZ, Rung::CutOff(2), Rung::CutOff(3)];
    let rungs = cuts.into_iter().chain([0, 1, 2].map(Rung::Abstract));
    configurations.extend(rungs.map(|rung| (rung.to_string(), Options { ladder: Ladder::Only(rung), ..limits })));
    configurations
}

/// Checks the answers of the default configuration and of some others, and that all definite
/// answers are the same.
pub fn check(problem: &Problem, truth: &Truth, turn: u64, tally: &mut Tally) -> Result<Agreed, crate::Disagreement> {
    let mut agreed = Agreed::default();
    for question in QUESTIONS {
        check_default(problem, question, truth, turn, &mut agreed, tally)?;
    }
    let configurations = configurations(limits(truth));
    let is_finite = !truth.finite.then_infinite;
    let first = usize::try_from(turn % configurations.len() as u64).expect("less than their number");
    for (name, options) in configurations.iter().cycle().skip(first).take(CONFIGURATIONS_PER_TURN) {
        if options.engine == Some(Engine::Explicit) && !is_finite && !turn.is_multiple_of(4) {
            // Here the explicit engine runs until its memory is full, which takes as long as all
            // other configurations together.
            continue;
        }
        let other = if turn.is_multiple_of(2) { Question::Visible } else { Question::Reachable };
        let symmetry = (turn / 2).is_multiple_of(2);
        for (question, symmetry) in [(Question::Verify, symmetry), (other, !symmetry)] {
            let options = Options { symmetry, jobs: 1 + usize::from(turn.is_multiple_of(3)), ..*options };
            let found = search_unchecked(problem, question, &options, |_| ());
            let answer = answered(problem, question, name, options, &found, truth, &mut agreed)?;
            evidence::check(problem, &answer, &found, truth, None, tally)?;
            tally.count("answers, by configuration", name);
        }
    }
    Ok(agreed)
}

/// Checks the answer of the default configuration: that it is the same with any number of workers
/// and in each run, and that it holds without symmetry too.
fn check_default(
    problem: &Problem,
    question: Question,
    truth: &Truth,
    turn: u64,
    agreed: &mut Agreed,
    tally: &mut Tally,
) -> Checked {
    let usual = limits(truth);
    let first = search_unchecked(problem, question, &usual, |_| ());
    let answer = answered(problem, question, "auto", usual, &first, truth, agreed)?;
    let jobs: &[usize] = if turn.is_multiple_of(8) { &[2, 1, 2] } else { &[2] };
    for &jobs in jobs {
        let again = search_unchecked(problem, question, &Options { jobs, ..usual }, |_| ());
        let detail = || format!("{question:?}, jobs {jobs}:\n{}\n{}", complete_text(&first), complete_text(&again));
        ensure("same-output", complete_text(&first) == complete_text(&again), detail)?;
    }
    evidence::check(problem, &answer, &first, truth, Some(turn >> 16), tally)?;
    if has_symmetry(problem) {
        let options = Options { symmetry: false, ..usual };
        let without = search_unchecked(problem, question, &options, |_| ());
        answered(problem, question, "auto", options, &without, truth, agreed)?;
        tally.count("answers, by configuration", "auto, without symmetry");
    }
    tally.add("answers, by configuration", "auto", 1 + jobs.len());
    tally.count(heading(question), kind(&first));
    tally.highest("k of a computed level", first.levels.len().saturating_sub(1));
    Ok(())
}

/// Whether some threads are interchangeable. If not, symmetry makes no difference.
pub fn has_symmetry(problem: &Problem) -> bool {
    problem.system().symmetric_groups().len() < problem.system().thread_count()
}

fn heading(question: Question) -> &'static str {
    match question {
        Question::Verify => "verify",
        Question::Visible => "visible",
        Question::Reachable => "reachable",
    }
}

/// Makes an answer of an analysis, and compares it with the truth and with the other answers.
pub fn answered(
    problem: &Problem,
    question: Question,
    name: &str,
    options: Options,
    found: &Analysis<'_>,
    truth: &Truth,
    agreed: &mut Agreed,
) -> Result<Answer, crate::Disagreement> {
    let configuration = format!("{name}, symmetry {}, jobs {}", options.symmetry, options.jobs);
    let answer = Answer::of(configuration, question, found);
    judge(problem, truth, &answer)?;
    agreed.with(&answer)?;
    Ok(answer)
}

/// Returns the conclusion in a few words.
fn kind(found: &Analysis<'_>) -> String {
    let by = found.proved_by().unwrap_or_default();
    match &found.conclusion {
        Conclusion::Safe(_) => format!("safe by {by}"),
        Conclusion::Unsafe { trace, .. } => format!("unsafe with {:>2} contexts", trace.contexts.len()),
        Conclusion::Converged(_) => format!("converged by {by}"),
        Conclusion::Unknown(reason) => format!("unknown, {reason:?}"),
        Conclusion::Contradiction(_) => "contradiction".to_owned(),
    }
}

/// Returns everything that the analysis reports, as text.
fn complete_text(found: &Analysis<'_>) -> String {
    let sequences = (&found.lower_sequence, &found.visible_sequence, found.collapse_of_states);
    let (levels, rungs, between) = (&found.levels, &found.rungs, &found.between);
    format!("{:?}\n{levels:?}\n{:?}\n{rungs:?}\n{sequences:?}\n{between:?}", found.conclusion, found.statistics)
}

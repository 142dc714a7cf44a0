//! Every way to an answer: each question, engine and rung, with symmetry and without, with one
//! thread and with two.

use crate::judge::{Agreed, Answer, judge};
use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, ensure, evidence};
use cpds::Problem;
use cuba::{Analysis, Conclusion, EvidencePolicy, Options, Question, Tuning, search};
use cuba::{Engine, Ladder, Rung};

/// So that each run ends soon.
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

/// How many of the ways are taken with one turn; the next ones with the next turn.
const AT_A_TIME: usize = 3;

/// As many turns as it takes to go through all ways, each with and without symmetry, and with each
/// question.
pub const ALL_TURNS: u64 = 20;

/// The same, with no more contexts than there is something to compare with, and a few more.
pub fn limits(truth: &Truth) -> Options {
    Options { max_contexts: Some((truth.levels.k() + 2).min(8)), ..LIMITS }
}

const QUESTIONS: [Question; 3] = [Question::Verify, Question::Visible, Question::Reachable];

/// Each way by its name; the usual one is not among them.
pub fn ways(limits: Options) -> Vec<(String, Options)> {
    let mut ways = Vec::new();
    for (name, engine) in [("explicit", Engine::Explicit), ("symbolic", Engine::Symbolic)] {
        // Where a context is infinite, states one by one go on until there is no room.
        let memory = if engine == Engine::Explicit { 1 << 21 } else { limits.memory };
        ways.push((name.to_owned(), Options { engine: Some(engine), ladder: Ladder::None, memory, ..limits }));
    }
    ways.push(("abstract".to_owned(), Options { ladder: Ladder::Abstract, ..limits }));
    let cuts = [Rung::Z, Rung::MatchedZ, Rung::CutOff(2), Rung::CutOff(3)];
    let rungs = cuts.into_iter().chain([0, 1, 2].map(Rung::Abstract));
    ways.extend(rungs.map(|rung| (rung.to_string(), Options { ladder: Ladder::Only(rung), ..limits })));
    ways
}

/// Asks in every way; what is definite is the same everywhere.
pub fn check(problem: &Problem, truth: &Truth, turn: u64, tally: &mut Tally) -> Result<Agreed, crate::Disagreement> {
    let mut agreed = Agreed::default();
    for question in QUESTIONS {
        the_same_is_told(problem, question, truth, turn, &mut agreed, tally)?;
    }
    let ways = ways(limits(truth));
    let is_finite = !truth.finite.then_infinite;
    let first = usize::try_from(turn % ways.len() as u64).expect("below their number");
    for (name, options) in ways.iter().cycle().skip(first).take(AT_A_TIME) {
        if options.engine == Some(Engine::Explicit) && !is_finite && !turn.is_multiple_of(4) {
            // States one by one go on until there is no room, which takes as long as everything
            // else.
            continue;
        }
        let other = if turn.is_multiple_of(2) { Question::Visible } else { Question::Reachable };
        let symmetry = (turn / 2).is_multiple_of(2);
        for (question, symmetry) in [(Question::Verify, symmetry), (other, !symmetry)] {
            let options = Options { symmetry, jobs: 1 + usize::from(turn.is_multiple_of(3)), ..*options };
            let found = search(problem, question, &options, |_| ());
            let answer = answered(problem, question, name, options, &found, truth, &mut agreed)?;
            evidence::check(problem, &answer, &found, truth, None, tally)?;
            tally.count("answers, by way", name);
        }
    }
    Ok(agreed)
}

/// The usual way, with one thread and with two, and again: everything is the same. And without
/// symmetry.
fn the_same_is_told(
    problem: &Problem,
    question: Question,
    truth: &Truth,
    turn: u64,
    agreed: &mut Agreed,
    tally: &mut Tally,
) -> Checked {
    let usual = limits(truth);
    let first = search(problem, question, &usual, |_| ());
    let answer = answered(problem, question, "auto", usual, &first, truth, agreed)?;
    let jobs: &[usize] = if turn.is_multiple_of(8) { &[2, 1, 2] } else { &[2] };
    for &jobs in jobs {
        let again = search(problem, question, &Options { jobs, ..usual }, |_| ());
        let detail = || format!("{question:?}, jobs {jobs}:\n{}\n{}", told(&first), told(&again));
        ensure("same-told", told(&first) == told(&again), detail)?;
    }
    evidence::check(problem, &answer, &first, truth, Some(turn >> 16), tally)?;
    if has_symmetry(problem) {
        let options = Options { symmetry: false, ..usual };
        let without = search(problem, question, &options, |_| ());
        answered(problem, question, "auto", options, &without, truth, agreed)?;
        tally.count("answers, by way", "auto, without symmetry");
    }
    tally.add("answers, by way", "auto", 1 + jobs.len());
    tally.count(heading(question), kind(&first));
    tally.highest("k of a level that was asked for", first.levels.len().saturating_sub(1));
    Ok(())
}

/// Whether there are interchangeable threads: otherwise it does not matter whether they are treated
/// as such.
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

/// One answer, judged.
pub fn answered(
    problem: &Problem,
    question: Question,
    name: &str,
    options: Options,
    found: &Analysis<'_>,
    truth: &Truth,
    agreed: &mut Agreed,
) -> Result<Answer, crate::Disagreement> {
    let way = format!("{name}, symmetry {}, jobs {}", options.symmetry, options.jobs);
    let answer = Answer::of(way, question, found);
    judge(problem, truth, &answer)?;
    agreed.with(&answer)?;
    Ok(answer)
}

/// The verdict in a few words.
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

/// Everything that is told.
fn told(found: &Analysis<'_>) -> String {
    let sequences = (&found.lower_sequence, &found.visible_sequence, found.collapse_of_states);
    let (levels, rungs, between) = (&found.levels, &found.rungs, &found.between);
    format!("{:?}\n{levels:?}\n{:?}\n{rungs:?}\n{sequences:?}\n{between:?}", found.conclusion, found.statistics)
}

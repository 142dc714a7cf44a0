//! Answers with evidence.
//!
//! A search ends with a conclusion ([`search`](crate::search())). Here the conclusion
//! becomes an answer: its evidence is made, a trace or a certificate, and the independent checker
//! `cpds-check` has to accept it.
//!
//! # What may not be concluded
//! Without evidence that was accepted there is no answer: the conclusion is then
//! [`Unknown`](Conclusion::Unknown), and [`Answer::unconfirmed`] says what the search had found and
//! why the evidence is missing. Evidence that the checker rejects is a [`Mistake`] in this library.

use crate::limits::{Cancel, Halt};
use crate::squeeze::analysis::{Analysis, Conclusion, Contradiction, Proof, Reason};
use crate::squeeze::event::Event;
use crate::squeeze::question::{Control, EvidencePolicy, Options, Question};
use crate::squeeze::search::search_with;
use cpds::{Certificate, Problem, Trace};
use cpds_check::{Claim, Evidence, Rejected, check};
use std::fmt::{self, Debug, Display, Formatter};
use std::time::{Duration, Instant};

/// An answer, and what the search has found on the way.
pub struct Answer<'a> {
    /// What the search has found. Its conclusion is confirmed by [`evidence`](Self::evidence), or
    /// unknown.
    pub analysis: Analysis<'a>,
    /// The evidence for the conclusion.
    pub evidence: Option<TimedEvidence>,
    /// What the search had found, if its evidence could not be made or checked.
    pub unconfirmed: Option<Unconfirmed>,
    /// How long the search took, without the evidence.
    pub search_time: Duration,
}

/// Evidence, and how long it took.
pub struct TimedEvidence {
    /// A trace or a certificate.
    pub evidence: Evidence,
    /// How long it took to make it.
    pub time: Duration,
    /// How long it took to check it; nothing if the caller did not want a check.
    pub check: Option<Duration>,
}

/// A conclusion whose evidence could not be made or checked.
pub struct Unconfirmed {
    /// What the search had found.
    pub conclusion: Conclusion,
    /// What ended the work on the evidence.
    pub why: Halt,
    /// What was being done.
    pub phase: EvidencePhase,
}

/// What is done for evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvidencePhase {
    /// It is made.
    Making,
    /// It is checked.
    Checking,
}

/// What happens on the way to an answer.
#[derive(Clone, Debug)]
pub enum AnswerEvent<'e> {
    /// Something happened in the search.
    Search(&'e Event),
    /// The search is over. Evidence for its conclusion is made next.
    Searched(&'e Analysis<'e>),
    /// Evidence was made, and is checked next.
    CheckingEvidence,
    /// The checker has accepted the evidence.
    EvidenceAccepted,
}

/// The answer, with its evidence at hand.
#[derive(Clone, Copy, Debug)]
pub enum Verdict<'v> {
    /// No bad state is reachable, for any number of contexts.
    Safe {
        /// Why.
        proof: &'v Proof,
        /// What a checker needs; nothing if the caller did not want it.
        certificate: Option<&'v Certificate>,
    },
    /// A bad state is reachable.
    Unsafe {
        /// The path to it, with the least number of contexts.
        trace: &'v Trace,
        /// The pattern that it fits, as a position in [`Property::bad`](cpds::Property::bad).
        pattern: usize,
    },
    /// What is reachable is known.
    Converged {
        /// Why.
        proof: &'v Proof,
        /// What a checker needs; nothing if the caller did not want it.
        certificate: Option<&'v Certificate>,
    },
    /// No answer, never a guess.
    Unknown(Reason),
}

impl Answer<'_> {
    /// The answer.
    pub fn verdict(&self) -> Verdict<'_> {
        let certificate = match self.evidence.as_ref().map(|made| &made.evidence) {
            Some(Evidence::Certificate(certificate)) => Some(certificate),
            _ => None,
        };
        match &self.analysis.conclusion {
            Conclusion::Safe(proof) => Verdict::Safe { proof, certificate },
            Conclusion::Converged(proof) => Verdict::Converged { proof, certificate },
            Conclusion::Unsafe { trace, pattern } => Verdict::Unsafe { trace, pattern: *pattern },
            Conclusion::Unknown(reason) => Verdict::Unknown(*reason),
            Conclusion::Contradiction(_) => unreachable!("a contradiction is a mistake, and no answer"),
        }
    }
}

/// A mistake in this library, found out before it became a wrong answer.
pub struct Mistake<'a> {
    /// The search that came to it.
    pub analysis: Analysis<'a>,
    /// How long the search took.
    pub search_time: Duration,
    /// What is wrong.
    pub kind: MistakeKind,
}

/// What is wrong.
#[derive(Clone, Debug)]
pub enum MistakeKind {
    /// Two searches contradict each other.
    Contradiction(Contradiction),
    /// The checker rejects the evidence.
    Rejected(Rejected),
}

impl Display for Mistake<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            MistakeKind::Contradiction(_) => {
                f.write_str("two searches contradict each other, so at least one is wrong")
            }
            MistakeKind::Rejected(rejected) => {
                write!(f, "the evidence for the answer does not pass the check: {rejected}")
            }
        }
    }
}

impl Debug for Mistake<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mistake").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl std::error::Error for Mistake<'_> {}

/// Decides whether a bad state is reachable, with any number of contexts.
///
/// # Errors
/// If the library has made a mistake: searches that contradict each other, or evidence that the
/// checker rejects.
pub fn verify<'a>(problem: &'a Problem, options: &Options) -> Result<Answer<'a>, Box<Mistake<'a>>> {
    answer(problem, Question::Verify, options, Control::default(), |_| ())
}

/// Computes T(R): the visible states that are reachable, with any number of contexts.
///
/// # Errors
/// Likewise.
pub fn reach<'a>(problem: &'a Problem, options: &Options) -> Result<Answer<'a>, Box<Mistake<'a>>> {
    answer(problem, Question::Visible, options, Control::default(), |_| ())
}

/// Answers a question under a caller's control, and reports every event.
///
/// # Errors
/// Likewise.
pub fn answer<'a>(
    problem: &'a Problem,
    question: Question,
    options: &Options,
    control: Control<'_>,
    mut event: impl FnMut(AnswerEvent<'_>),
) -> Result<Answer<'a>, Box<Mistake<'a>>> {
    let (start, cancel) = (Instant::now(), control.cancel.clone());
    let analysis = search_with(control, problem, question, options, |it| event(AnswerEvent::Search(&it)));
    let search_time = start.elapsed();
    if let Conclusion::Contradiction(contradiction) = &analysis.conclusion {
        let kind = MistakeKind::Contradiction(contradiction.clone());
        return Err(Box::new(Mistake { analysis, search_time, kind }));
    }
    event(AnswerEvent::Searched(&analysis));
    let left = options.timeout.map(|timeout| timeout.saturating_sub(search_time));
    let cancel = cancel.child(left);
    let mut answer = Answer { analysis, evidence: None, unconfirmed: None, search_time };
    match make(problem, &answer.analysis, options, &cancel, &mut event) {
        Ok(made) => answer.evidence = made,
        Err(NoEvidence::Limit(phase)) => {
            let lost = answer.analysis.level_store.is_lost().then_some(Halt::Lost);
            // What was not stopped lacks memory.
            let why = lost.or(cancel.why()).unwrap_or(Halt::Memory);
            answer.leave_unconfirmed(why, phase);
        }
        Err(NoEvidence::Rejected(rejected)) => {
            let kind = MistakeKind::Rejected(rejected);
            return Err(Box::new(Mistake { analysis: answer.analysis, search_time, kind }));
        }
    }
    Ok(answer)
}

impl Answer<'_> {
    /// There is no evidence for the conclusion, and so there is no answer.
    fn leave_unconfirmed(&mut self, why: Halt, phase: EvidencePhase) {
        let conclusion = std::mem::replace(&mut self.analysis.conclusion, Conclusion::Unknown(why.into()));
        self.unconfirmed = Some(Unconfirmed { conclusion, why, phase });
    }
}

/// Why there is no evidence.
enum NoEvidence {
    /// A limit came first.
    Limit(EvidencePhase),
    Rejected(Rejected),
}

/// Makes evidence for the conclusion, if there is one, and checks it.
fn make(
    problem: &Problem,
    analysis: &Analysis<'_>,
    options: &Options,
    cancel: &Cancel,
    event: &mut impl FnMut(AnswerEvent<'_>),
) -> Result<Option<TimedEvidence>, NoEvidence> {
    let (start, is_checked) = (Instant::now(), options.evidence == EvidencePolicy::Checked);
    let (evidence, claim) = match &analysis.conclusion {
        Conclusion::Unsafe { trace, .. } => {
            (Evidence::Trace { trace: trace.clone(), contexts: trace.contexts.len() }, Claim::Verdict)
        }
        Conclusion::Safe(proof) | Conclusion::Converged(proof) if options.evidence != EvidencePolicy::TraceOnly => {
            let is_exact = matches!(analysis.conclusion, Conclusion::Converged(_));
            let claim = if is_exact { Claim::Exact } else { Claim::Verdict };
            // The tables are still there, and have three quarters of the memory at most.
            let tables = analysis.statistics.table_bytes().saturating_sub(analysis.level_store.bytes_elsewhere());
            let room = (options.memory / 3 * 4).saturating_sub(tables);
            match analysis.certificate(proof, room, cancel) {
                Ok(certificate) => (Evidence::Certificate(certificate), claim),
                Err(_) if is_checked => return Err(NoEvidence::Limit(EvidencePhase::Making)),
                Err(_) => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    let mut made = TimedEvidence { evidence, time: start.elapsed(), check: None };
    if is_checked {
        let start = Instant::now();
        event(AnswerEvent::CheckingEvidence);
        match check(problem, &made.evidence, claim, &|_| cancel.why().is_none()) {
            Ok(()) => made.check = Some(start.elapsed()),
            Err(Rejected::Stopped) => return Err(NoEvidence::Limit(EvidencePhase::Checking)),
            Err(rejected) => return Err(NoEvidence::Rejected(rejected)),
        }
        event(AnswerEvent::EvidenceAccepted);
    }
    Ok(Some(made))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squeeze::search::search;
    use cpds_check::Condition;

    /// Two overapproximations together prove it.
    const SAFE: &str = include_str!("../../../models/squeeze/get-and-put.cpds");

    fn found(problem: &Problem) -> Analysis<'_> {
        search(problem, Question::Verify, &Options::default(), |_| ())
    }

    fn made(problem: &Problem, options: &Options, cancel: &Cancel) -> Result<Option<TimedEvidence>, NoEvidence> {
        let analysis = found(problem);
        assert!(matches!(analysis.conclusion, Conclusion::Safe(_)));
        make(problem, &analysis, options, cancel, &mut |_| ())
    }

    #[test]
    fn without_memory_or_time_there_is_no_evidence() {
        let problem: Problem = SAFE.parse().unwrap();
        let little = Options { memory: 1000, ..Options::default() };
        let none = made(&problem, &little, &Cancel::new());
        assert!(matches!(none, Err(NoEvidence::Limit(EvidencePhase::Making))));
        let unchecked = Options { evidence: EvidencePolicy::Unchecked, ..little };
        assert!(matches!(made(&problem, &unchecked, &Cancel::new()), Ok(None)));
        let stopped = Cancel::new();
        stopped.stop(Halt::TimeOut);
        let none = made(&problem, &Options::default(), &stopped);
        assert!(matches!(none, Err(NoEvidence::Limit(EvidencePhase::Checking))));
    }

    #[test]
    fn without_evidence_there_is_no_answer() {
        let problem: Problem = SAFE.parse().unwrap();
        let analysis = found(&problem);
        let mut answer = Answer { analysis, evidence: None, unconfirmed: None, search_time: Duration::ZERO };
        answer.leave_unconfirmed(Halt::Memory, EvidencePhase::Making);
        assert!(matches!(answer.verdict(), Verdict::Unknown(Reason::Memory)));
        let unconfirmed = answer.unconfirmed.as_ref().expect("something was found");
        assert!(matches!(unconfirmed.conclusion, Conclusion::Safe(_)));
    }

    /// No evidence was ever rejected: here, the proof belongs to another question.
    #[test]
    fn a_wrong_answer_is_a_mistake() {
        let problem: Problem = SAFE.parse().unwrap();
        let everything = SAFE.lines().map(|line| if line.starts_with("bad") { "bad *|*,*" } else { line });
        let unsafe_problem: Problem = everything.collect::<Vec<_>>().join("\n").parse().unwrap();
        let rejected = make(&unsafe_problem, &found(&problem), &Options::default(), &Cancel::new(), &mut |_| ());
        let Err(NoEvidence::Rejected(rejected)) = rejected else { panic!("it has bad states") };
        assert!(matches!(rejected, Rejected::Violated(Condition::Bad, _)), "{rejected}");
    }

    #[test]
    fn the_policy_decides_what_is_made() {
        let problem: Problem = SAFE.parse().unwrap();
        let certificate = |evidence| {
            let answer = verify(&problem, &Options { evidence, ..Options::default() }).unwrap();
            let Verdict::Safe { certificate, .. } = answer.verdict() else { panic!("it is safe") };
            let is_checked = answer.evidence.as_ref().map(|made| made.check.is_some());
            (certificate.is_some(), is_checked)
        };
        assert_eq!(certificate(EvidencePolicy::Checked), (true, Some(true)));
        assert_eq!(certificate(EvidencePolicy::Unchecked), (true, Some(false)));
        assert_eq!(certificate(EvidencePolicy::TraceOnly), (false, None));
    }
}

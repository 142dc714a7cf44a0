//! Answers with evidence.
//!
//! A search ends with a conclusion ([`search_unchecked`](crate::search_unchecked())). This module
//! makes the evidence for the conclusion: a trace or a certificate. The independent checker
//! `cpds-check` checks the evidence. If the checker accepts it, the conclusion is an answer.
//!
//! # What may not be concluded
//! Without accepted evidence there is no answer, unless the caller declines the check. The
//! conclusion is then [`Unknown`](Conclusion::Unknown), and [`Answer::unconfirmed`] has the
//! conclusion of the search and the reason why its evidence is missing. If the checker rejects
//! evidence, this library contains a mistake, and the result is a [`Mistake`].

use crate::cancel::{Cancel, Halt};
use crate::squeeze::analysis::{Analysis, Conclusion, Contradiction, Proof, Reason};
use crate::squeeze::event::Event;
use crate::squeeze::question::{Control, EvidencePolicy, Options, Question};
use crate::squeeze::search::search_unchecked_with;
use cpds::{Certificate, Problem, Trace};
use cpds_check::{Claim, Evidence, Rejected, check};
use std::fmt::{self, Debug, Display, Formatter};
use std::time::{Duration, Instant};

/// An answer, with the results of the search.
pub struct Answer<'a> {
    /// The results of the search. The conclusion is unknown, or [`evidence`](Self::evidence)
    /// confirms it.
    pub analysis: Analysis<'a>,
    /// The evidence for the conclusion.
    pub evidence: Option<TimedEvidence>,
    /// The conclusion of the search, if its evidence could not be made or checked.
    pub unconfirmed: Option<Unconfirmed>,
    /// The time of the search, without the evidence.
    pub search_time: Duration,
}

/// Evidence, with the times to make and to check it.
pub struct TimedEvidence {
    /// A trace or a certificate.
    pub evidence: Evidence,
    /// The time to make the evidence.
    pub time: Duration,
    /// The time to check the evidence. `None` if the caller declined the check.
    pub check: Option<Duration>,
}

/// A conclusion whose evidence could not be made or checked.
pub struct Unconfirmed {
    /// The conclusion of the search.
    pub conclusion: Conclusion,
    /// The reason why the work on the evidence ended.
    pub why: Halt,
    /// The phase in which it ended.
    pub phase: EvidencePhase,
}

/// A phase of the work on evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvidencePhase {
    /// The library makes the evidence.
    Making,
    /// The checker checks the evidence.
    Checking,
}

/// An event on the way to an answer.
#[derive(Clone, Debug)]
pub enum AnswerEvent<'e> {
    /// An event of the search.
    Search(&'e Event),
    /// The search has ended. The next phase makes the evidence.
    Searched(&'e Analysis<'e>),
    /// The evidence exists. The next phase checks it.
    CheckingEvidence,
    /// The checker has accepted the evidence.
    EvidenceAccepted,
}

/// The verdict of an answer, with its evidence.
#[derive(Clone, Copy, Debug)]
pub enum Verdict<'v> {
    /// No bad state is reachable, for any number of contexts.
    Safe {
        /// The proof.
        proof: &'v Proof,
        /// The evidence. `None` only if [`EvidencePolicy`] allows that.
        certificate: Option<&'v Certificate>,
    },
    /// A bad state is reachable.
    Unsafe {
        /// A path to a bad state, with the least number of contexts.
        trace: &'v Trace,
        /// The pattern that the bad state fits, as a position in
        /// [`Property::bad`](cpds::Property::bad).
        pattern: usize,
    },
    /// The sequence of the question has converged: T(R) or R is computed.
    Converged {
        /// The proof.
        proof: &'v Proof,
        /// The evidence. `None` only if [`EvidencePolicy`] allows that.
        certificate: Option<&'v Certificate>,
    },
    /// No answer, never a guess.
    Unknown(Reason),
}

impl Answer<'_> {
    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict<'_> {
        let certificate = match self.evidence.as_ref().map(|timed| &timed.evidence) {
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

/// A mistake in this library, detected before it became a wrong answer.
pub struct Mistake<'a> {
    /// The results of the search.
    pub analysis: Analysis<'a>,
    /// The time of the search.
    pub search_time: Duration,
    /// The kind of the mistake.
    pub kind: MistakeKind,
}

/// The kind of a mistake.
#[derive(Clone, Debug)]
pub enum MistakeKind {
    /// Two searches contradict each other.
    Contradiction(Contradiction),
    /// The checker rejects the evidence.
    Rejected(Rejected),
}

impl Display for MistakeKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
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

impl std::error::Error for MistakeKind {}

impl Display for Mistake<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.kind, f)
    }
}

impl std::error::Error for Mistake<'_> {}

impl From<Box<Mistake<'_>>> for MistakeKind {
    fn from(mistake: Box<Mistake<'_>>) -> Self {
        mistake.kind
    }
}

impl Debug for Answer<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("verdict", &self.verdict()).finish_non_exhaustive()
    }
}

/// Decides whether a bad state is reachable, with any number of contexts.
///
/// # Errors
/// If this library contains a mistake: two searches contradict each other, or the checker rejects
/// the evidence.
pub fn verify<'a>(problem: &'a Problem, options: &Options) -> Result<Answer<'a>, MistakeKind> {
    answer(problem, Question::Verify, options, Control::default(), |_| ()).map_err(|mistake| mistake.kind)
}

/// Computes T(R): the visible states that are reachable, with any number of contexts.
///
/// # Errors
/// As for [`verify`].
pub fn reach<'a>(problem: &'a Problem, options: &Options) -> Result<Answer<'a>, MistakeKind> {
    answer(problem, Question::Visible, options, Control::default(), |_| ()).map_err(|mistake| mistake.kind)
}

/// Answers a question under a caller's control, and reports every event.
///
/// The calling thread calls `event`, which may stop the token of `control`. It should return soon,
/// since the searches wait for it.
///
/// # Errors
/// As for [`verify`]. The error also has the results of the search.
pub fn answer<'a>(
    problem: &'a Problem,
    question: Question,
    options: &Options,
    control: Control<'_>,
    mut event: impl FnMut(AnswerEvent<'_>),
) -> Result<Answer<'a>, Box<Mistake<'a>>> {
    let (start, cancel) = (Instant::now(), control.cancel.clone());
    let analysis = search_unchecked_with(control, problem, question, options, |search_event| {
        event(AnswerEvent::Search(&search_event));
    });
    let search_time = start.elapsed();
    if let Conclusion::Contradiction(contradiction) = &analysis.conclusion {
        let kind = MistakeKind::Contradiction(contradiction.clone());
        return Err(Box::new(Mistake { analysis, search_time, kind }));
    }
    event(AnswerEvent::Searched(&analysis));
    let remaining = options.timeout.map(|timeout| timeout.saturating_sub(search_time));
    let cancel = cancel.child(remaining);
    let mut answer = Answer { analysis, evidence: None, unconfirmed: None, search_time };
    match make_evidence(problem, &answer.analysis, options, &cancel, &mut event) {
        Ok(evidence) => answer.evidence = evidence,
        Err(NoEvidence::Limit(phase)) => {
            let lost = answer.analysis.level_store.is_lost().then_some(Halt::Lost);
            // If nothing has stopped the work, the evidence needs too much memory.
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
    /// Replaces the conclusion by [`Conclusion::Unknown`], since it has no evidence.
    fn leave_unconfirmed(&mut self, why: Halt, phase: EvidencePhase) {
        let conclusion = std::mem::replace(&mut self.analysis.conclusion, Conclusion::Unknown(why.into()));
        self.unconfirmed = Some(Unconfirmed { conclusion, why, phase });
    }
}

/// Why there is no evidence.
enum NoEvidence {
    /// A limit ended this phase.
    Limit(EvidencePhase),
    /// The checker rejected the evidence.
    Rejected(Rejected),
}

/// Makes and checks the evidence for a conclusion. Returns `None` if the conclusion is unknown, or
/// if the evidence policy allows an answer without evidence.
fn make_evidence(
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
            // The tables of the search still exist. They take at most three quarters of the memory.
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
    let mut timed = TimedEvidence { evidence, time: start.elapsed(), check: None };
    if is_checked {
        let start = Instant::now();
        event(AnswerEvent::CheckingEvidence);
        match check(problem, &timed.evidence, claim, &|_| cancel.why().is_none()) {
            Ok(()) => timed.check = Some(start.elapsed()),
            Err(Rejected::Stopped) => return Err(NoEvidence::Limit(EvidencePhase::Checking)),
            Err(rejected) => return Err(NoEvidence::Rejected(rejected)),
        }
        event(AnswerEvent::EvidenceAccepted);
    }
    Ok(Some(timed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squeeze::search::search_unchecked;
    use cpds_check::Condition;

    /// Two overapproximations together prove this system safe.
    const SAFE: &str = include_str!("../../../models/squeeze/get-and-put.cpds");

    fn analysis(problem: &Problem) -> Analysis<'_> {
        search_unchecked(problem, Question::Verify, &Options::default(), |_| ())
    }

    fn evidence(problem: &Problem, options: &Options, cancel: &Cancel) -> Result<Option<TimedEvidence>, NoEvidence> {
        let analysis = analysis(problem);
        assert!(matches!(analysis.conclusion, Conclusion::Safe(_)));
        make_evidence(problem, &analysis, options, cancel, &mut |_| ())
    }

    #[test]
    fn without_memory_or_time_there_is_no_evidence() {
        let problem: Problem = SAFE.parse().unwrap();
        let little = Options { memory: 1000, ..Options::default() };
        let result = evidence(&problem, &little, &Cancel::new());
        assert!(matches!(result, Err(NoEvidence::Limit(EvidencePhase::Making))));
        let unchecked = Options { evidence: EvidencePolicy::Unchecked, ..little };
        assert!(matches!(evidence(&problem, &unchecked, &Cancel::new()), Ok(None)));
        let stopped = Cancel::new();
        stopped.stop(Halt::TimeOut);
        let result = evidence(&problem, &Options::default(), &stopped);
        assert!(matches!(result, Err(NoEvidence::Limit(EvidencePhase::Checking))));
    }

    #[test]
    fn without_evidence_there_is_no_answer() {
        let problem: Problem = SAFE.parse().unwrap();
        let analysis = analysis(&problem);
        let mut answer = Answer { analysis, evidence: None, unconfirmed: None, search_time: Duration::ZERO };
        answer.leave_unconfirmed(Halt::Memory, EvidencePhase::Making);
        assert!(matches!(answer.verdict(), Verdict::Unknown(Reason::Memory)));
        let unconfirmed = answer.unconfirmed.as_ref().expect("the search has a conclusion");
        assert!(matches!(unconfirmed.conclusion, Conclusion::Safe(_)));
    }

    /// The proof belongs to another property, so the checker rejects the evidence.
    #[test]
    fn rejected_evidence_is_a_mistake() {
        let problem: Problem = SAFE.parse().unwrap();
        let everything = SAFE.lines().map(|line| if line.starts_with("bad") { "bad *|*,*" } else { line });
        let unsafe_problem: Problem = everything.collect::<Vec<_>>().join("\n").parse().unwrap();
        let rejected =
            make_evidence(&unsafe_problem, &analysis(&problem), &Options::default(), &Cancel::new(), &mut |_| ());
        let Err(NoEvidence::Rejected(rejected)) = rejected else { panic!("it has bad states") };
        assert!(matches!(rejected, Rejected::Violated(Condition::Bad, _)), "{rejected}");
    }

    #[test]
    fn the_policy_decides_whether_evidence_is_made_and_checked() {
        let problem: Problem = SAFE.parse().unwrap();
        let certificate = |evidence| {
            let answer = verify(&problem, &Options { evidence, ..Options::default() }).unwrap();
            let Verdict::Safe { certificate, .. } = answer.verdict() else { panic!("it is safe") };
            let is_checked = answer.evidence.as_ref().map(|timed| timed.check.is_some());
            (certificate.is_some(), is_checked)
        };
        assert_eq!(certificate(EvidencePolicy::Checked), (true, Some(true)));
        assert_eq!(certificate(EvidencePolicy::Unchecked), (true, Some(false)));
        assert_eq!(certificate(EvidencePolicy::TraceOnly), (false, None));
    }
}

//! Checks that a problem gives the same answers after printing and reading, and after renumbering.

use crate::answers::limits;
use crate::judge::{Answer, Verdict};
use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, ensure};
use cpds::{Problem, Reader, Source, print_cpds, print_pds};
use cpds_testing::renaming::renamed;
use cuba::{Question, search_unchecked};

/// Prints the problem as `.cpds` and reads it; then, depending on the turn, either the same with
/// `.pds`, or with other numbers and orders.
pub fn check(problem: &Problem, truth: &Truth, turn: u64, tally: &mut Tally) -> Checked {
    let text = print_cpds(problem);
    match text.parse::<Problem>() {
        Ok(read) => ensure("cpds-format", read == *problem, || text)?,
        Err(error) => ensure("cpds-format", false, || format!("{error}\n{text}"))?,
    }
    tally.count("formats", "cpds and back, the same");
    if turn.is_multiple_of(2) { pds(problem, truth, tally) } else { other_numbers(problem, truth, tally) }
}

fn pds(problem: &Problem, truth: &Truth, tally: &mut Tally) -> Checked {
    let text = print_pds(problem);
    let mut reader = Reader::pds(Source::new("printed.pds", text.pds.clone()));
    reader.init_file(Source::new("printed.init", text.init.clone()));
    reader.spec_file(Source::new("printed.spec", text.spec.clone()));
    let here = Summary::of(problem, truth);
    match reader.finish() {
        Ok(reading) => {
            let there = Summary::of(&reading.problem, truth);
            ensure("pds-format", here.agrees_with(&there), || format!("{here:?}\n{there:?}\n{text:?}"))?;
        }
        Err(error) => ensure("pds-format", false, || format!("{error}\n{text:?}"))?,
    }
    tally.count("formats", "pds and back, the same answers");
    Ok(())
}

fn other_numbers(problem: &Problem, truth: &Truth, tally: &mut Tally) -> Checked {
    let n = problem.system().thread_count();
    let shared = u32::try_from(problem.system().shared_names().len()).expect("few");
    let other =
        renamed(problem, &(0..n).rev().collect::<Vec<_>>(), &(0..shared).map(|q| (q + 1) % shared).collect::<Vec<_>>());
    let (here, there) = (Summary::of(problem, truth), Summary::of(&other.problem, truth));
    ensure("renamed", here.agrees_with(&there), || format!("{here:?}\n{there:?}"))?;
    tally.count("formats", "renamed, the same answers");
    Ok(())
}

/// The results that do not depend on names and numbers: the verdict, and the number of states of
/// each level.
///
/// The work may depend on names and numbers. So, within limits, a verdict may be missing and the
/// number of finished levels may differ.
#[derive(Debug)]
struct Summary {
    verdict: Option<Verdict>,
    fcr: Option<bool>,
    levels: Vec<(Option<u128>, Option<u128>)>,
}

impl Summary {
    fn of(problem: &Problem, truth: &Truth) -> Summary {
        let found = search_unchecked(problem, Question::Verify, &limits(truth), |_| ());
        let answer = Answer::of(String::new(), Question::Verify, &found);
        Summary { verdict: answer.verdict(), fcr: answer.fcr, levels: answer.levels }
    }

    fn agrees_with(&self, other: &Summary) -> bool {
        let verdicts = self.verdict.is_none() || other.verdict.is_none() || self.verdict == other.verdict;
        let mut levels = self.levels.iter().zip(&other.levels);
        verdicts && self.fcr == other.fcr && levels.all(|(here, there)| here == there)
    }
}

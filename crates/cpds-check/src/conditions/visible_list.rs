//! The check of `Claim::Exact`: the visible states of the tuples are exactly those that the
//! certificate lists, up to permutations within groups.

use super::CertificateChecker;
use crate::languages::TABLE_LIMIT;
use crate::{Condition, Rejected};
use cpds::Symbol;
use std::collections::{HashMap, HashSet};

impl CertificateChecker<'_> {
    /// Checks that the visible states of the tuples are those that are listed.
    pub(super) fn check_visible_list(&mut self) -> Result<(), Rejected> {
        let violated = |message: String| Err(Rejected::Violated(Condition::Exact, message));
        let Some(visible) = &self.certificate.visible else {
            return violated("the certificate has no list of visible states".to_owned());
        };
        let layout = self.tuples.layout;
        let number = |top: Option<Symbol>| top.map_or(0, |symbol| symbol.0 + 1);
        let listed = visible.iter().map(|state| layout.row(state.shared, |thread| number(state.tops[thread])));
        let mut listed: HashMap<Vec<u32>, bool> = listed.map(|state| (state, false)).collect();
        let (mut found, mut done) = (0, HashSet::new());
        for (at, row) in self.tuples.rows.iter().enumerate() {
            let tops = |&language: &u32| -> Vec<u32> {
                let empty = self.tuples.languages.is_accepting(language).then_some(0);
                empty
                    .into_iter()
                    .chain(self.tuples.languages.out(language).iter().map(|&(s, _)| number(Some(s))))
                    .collect()
            };
            let mut tops: Vec<Vec<u32>> = row[1..].iter().map(tops).collect();
            for group in &layout.groups {
                tops[group.start - 1..group.end - 1].sort_unstable();
            }
            if !done.insert((row[0], tops.clone())) {
                continue;
            }
            // Threads of one group with the same set of tops form a run. For each run, all sorted
            // combinations of tops are counted through, digit by digit.
            let groups = layout.groups.iter();
            let alike = groups.flat_map(|group| {
                let runs = tops[group.start - 1..group.end - 1].chunk_by(|a, b| a == b);
                runs.map(move |run| (group, run))
            });
            let mut states = vec![vec![row[0]]];
            let mut alike = alike.peekable();
            while let Some((group, run)) = alike.next() {
                let (mut longer, is_last) = (Vec::new(), alike.peek().is_none());
                for state in states {
                    let mut digits = vec![0; run.len()];
                    loop {
                        self.tuples.languages.add_work(row.len())?;
                        let tops = digits.iter().map(|&digit| run[0][digit]);
                        let mut state: Vec<u32> = state.iter().copied().chain(tops).collect();
                        if run.len() < group.len() {
                            state[group.start..].sort_unstable();
                        }
                        if !is_last {
                            longer.push(state);
                        } else if let Some(seen) = listed.get_mut(&state) {
                            found += usize::from(!std::mem::replace(seen, true));
                        } else {
                            return violated(format!("tuples[{at}] contains a visible state that is not listed"));
                        }
                        let Some(next) = digits.iter().rposition(|&digit| digit + 1 < run[0].len()) else { break };
                        let digit = digits[next] + 1;
                        digits[next..].fill(digit);
                    }
                    if longer.len() * row.len() > 8 * TABLE_LIMIT {
                        return Err(Rejected::Stopped);
                    }
                }
                longer.sort_unstable();
                longer.dedup();
                states = longer;
            }
        }
        if found < visible.len() {
            return violated("a visible state is listed that no tuple contains, or one is listed twice".to_owned());
        }
        Ok(())
    }
}

//! T of symbolic states: {q} × T(L₁) × … × T(Lₙ) (paper App. E).
//!
//! Only sorted visible states are kept. Of interchangeable threads it does not matter which of them has which top, so the
//! product is not taken thread by thread: for r threads with the same m tops there are C(r+m-1, r) ways and not m^r.

use super::languages::{Languages, TopsId};
use super::psa::TooLarge;
use super::symmetry::Symmetry;
use super::visible::VisibleLevels;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What has been projected.
#[derive(Default)]
pub(super) struct Projection {
    /// Shared state and sets of tops, sorted within groups.
    done: FxHashSet<(u32, Vec<TopsId>)>,
    /// For sets of tops that interchangeable threads have, in order: which tops they may have together, each sorted.
    together: FxHashMap<Vec<TopsId>, Rc<Vec<Vec<u32>>>>,
    words: usize,
}

impl Projection {
    /// Adds the visible states of a symbolic state, whose languages have these sets of tops; as long as the table takes no more
    /// than `room` bytes.
    pub(super) fn project(
        &mut self,
        visible: &mut VisibleLevels,
        symmetry: &Symmetry,
        languages: &Languages,
        shared: u32,
        mut tops: Vec<TopsId>,
        room: usize,
    ) -> Result<(), TooLarge> {
        symmetry.sort(&mut tops);
        if !self.done.insert((shared, tops.clone())) {
            return Ok(());
        }
        self.words += tops.len();
        let mut choices = Vec::new();
        for group in symmetry.groups() {
            choices.push(self.together(languages, &tops[group], room)?);
        }
        // Counting up, with the choices of the groups as digits.
        let mut digits = vec![0; choices.len()];
        let mut chosen = Vec::new();
        loop {
            chosen.clear();
            for (choices, &digit) in choices.iter().zip(&digits) {
                chosen.extend_from_slice(&choices[digit]);
            }
            visible.insert(shared, &mut chosen);
            if visible.set().bytes_after(1) > room {
                return Err(TooLarge);
            }
            let Some(place) = (0..digits.len()).rev().find(|&i| digits[i] + 1 < choices[i].len()) else {
                return Ok(());
            };
            digits[place] += 1;
            digits[place + 1..].fill(0);
        }
    }

    /// Every sorted list of tops that has one of each set.
    fn together(&mut self, languages: &Languages, sets: &[TopsId], room: usize) -> Result<Rc<Vec<Vec<u32>>>, TooLarge> {
        if let Some(known) = self.together.get(sets) {
            return Ok(known.clone());
        }
        let mut found: FxHashSet<Vec<u32>> = FxHashSet::default();
        found.insert(Vec::new());
        for run in sets.chunk_by(|a, b| a == b) {
            let ways = multisets(languages.tops_of(run[0]), run.len(), room)?;
            let mut merged = FxHashSet::default();
            for before in &found {
                for way in &ways {
                    let mut list = [&before[..], way].concat();
                    list.sort_unstable();
                    merged.insert(list);
                    if merged.len() * (sets.len() + 8) * size_of::<u32>() > room {
                        return Err(TooLarge);
                    }
                }
            }
            found = merged;
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable();
        self.words += found.len() * (sets.len() + 8);
        let found = Rc::new(found);
        self.together.insert(sets.to_vec(), found.clone());
        Ok(found)
    }

    /// The memory in use.
    pub(super) fn bytes(&self) -> usize {
        self.words * size_of::<u32>() + (self.done.capacity() + self.together.capacity()) * 2 * size_of::<Vec<u32>>()
    }
}

/// Every sorted list of `count` of these.
fn multisets(of: &[u32], count: usize, room: usize) -> Result<Vec<Vec<u32>>, TooLarge> {
    let mut lists = vec![(0, Vec::with_capacity(count))];
    for _ in 0..count {
        let mut longer = Vec::new();
        for (from, list) in lists {
            for (i, &top) in of.iter().enumerate().skip(from) {
                let mut list: Vec<u32> = list.clone();
                list.push(top);
                longer.push((i, list));
            }
            if longer.len() * (count + 8) * size_of::<u32>() > room {
                return Err(TooLarge);
            }
        }
        lists = longer;
    }
    Ok(lists.into_iter().map(|(_, list)| list).collect())
}

//! T(S_k): the projection of a symbolic state is {q} × T(L₁) × … × T(Lₙ) (paper App. E, Eq. 4).
//!
//! Only sorted visible states are kept. Of interchangeable threads it does not matter which of them
//! has which top, so the product is not taken thread by thread: for r threads with the same m tops
//! there are C(r+m-1, r) ways and not m^r.

use crate::automata::canonical_language::TopsId;
use crate::automata::language_table::Languages;
use crate::limits::Cancel;
use crate::limits::TooLarge;
use crate::visible::levels::VisibleLevels;
use crate::visible::symmetry::Symmetry;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What has been projected.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Projection {
    /// Shared state and sets of tops, sorted within groups.
    done: FxHashSet<(u32, Vec<TopsId>)>,
    /// For sets of tops that interchangeable threads have, in order: which tops they may have
    /// together, each sorted.
    together: FxHashMap<Vec<TopsId>, Arc<Lists>>,
    bytes: usize,
}

/// Lists of the same length, one after the other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Lists {
    length: usize,
    numbers: Vec<u32>,
}

impl Lists {
    fn len(&self) -> usize {
        self.numbers.len() / self.length
    }

    fn get(&self, i: usize) -> &[u32] {
        &self.numbers[i * self.length..][..self.length]
    }
}

impl Projection {
    /// Adds the visible states of a symbolic state, whose languages have these sets of tops; as
    /// long as everything takes no more than `room` bytes.
    pub(crate) fn project(
        &mut self,
        visible: &mut VisibleLevels,
        symmetry: &Symmetry,
        languages: &Languages,
        shared: u32,
        mut tops: Vec<TopsId>,
        (room, cancel): (usize, &Cancel),
    ) -> Result<(), TooLarge> {
        symmetry.sort(&mut tops);
        if !self.done.insert((shared, tops.clone())) {
            return Ok(());
        }
        self.bytes += size_of_val(&*tops) + 2 * size_of::<(u32, Vec<TopsId>)>();
        let mut choices = Vec::new();
        for group in symmetry.groups() {
            let left = room.checked_sub(self.bytes(visible)).ok_or(TooLarge)?;
            choices.push(self.together(languages, &tops[group], left)?);
        }
        // Counting up, with the choices of the groups as digits.
        let mut digits = vec![0; choices.len()];
        let mut chosen = Vec::new();
        let mut looked = 0_u32;
        loop {
            chosen.clear();
            for (choices, &digit) in choices.iter().zip(&digits) {
                chosen.extend_from_slice(choices.get(digit));
            }
            visible.insert(shared, &mut chosen);
            looked += 1;
            let is_cancelled = looked.is_multiple_of(1 << 12) && cancel.why().is_some();
            if is_cancelled || visible.set().bytes_after(1) + self.bytes > room {
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
    fn together(&mut self, languages: &Languages, sets: &[TopsId], room: usize) -> Result<Arc<Lists>, TooLarge> {
        if let Some(known) = self.together.get(sets) {
            return Ok(known.clone());
        }
        let mut found = Lists { length: 0, numbers: Vec::new() };
        for run in sets.chunk_by(|a, b| a == b) {
            let ways = multisets(languages.tops_of(run[0]), run.len(), room / 4)?;
            found = if found.length == 0 { ways } else { merged(&found, &ways, room / 4)? };
        }
        self.bytes += size_of_val(&*found.numbers) + 2 * size_of_val(sets);
        let found = Arc::new(found);
        self.together.insert(sets.to_vec(), found.clone());
        Ok(found)
    }

    /// The memory in use, with that of the visible states.
    pub(crate) fn bytes(&self, visible: &VisibleLevels) -> usize {
        self.bytes + visible.set().bytes_after(0)
    }
}

/// Every sorted list of `count` of these.
fn multisets(of: &[u32], count: usize, room: usize) -> Result<Lists, TooLarge> {
    let mut lists = Lists { length: count, numbers: Vec::new() };
    let mut digits = vec![0; count];
    loop {
        lists.numbers.extend(digits.iter().map(|&digit| of[digit]));
        if size_of_val(&*lists.numbers) > room {
            return Err(TooLarge);
        }
        let Some(place) = digits.iter().rposition(|&digit| digit + 1 < of.len()) else { return Ok(lists) };
        let digit = digits[place] + 1;
        digits[place..].fill(digit);
    }
}

/// Every list of one and every list of the other, put together and sorted; each once.
fn merged(a: &Lists, b: &Lists, room: usize) -> Result<Lists, TooLarge> {
    let mut found: FxHashSet<Vec<u32>> = FxHashSet::default();
    let length = a.length + b.length;
    for i in 0..a.len() {
        for j in 0..b.len() {
            let mut list = [a.get(i), b.get(j)].concat();
            list.sort_unstable();
            found.insert(list);
            // A list of its own has a few bytes more.
            if found.len() * (length * size_of::<u32>() + 64) > room {
                return Err(TooLarge);
            }
        }
    }
    let mut lists: Vec<_> = found.into_iter().collect();
    lists.sort_unstable();
    Ok(Lists { length, numbers: lists.concat() })
}

//! T(S_k): projects each tuple to {q} × T(L₁) × … × T(Lₙ) (paper App. E, Eq. 4).
//!
//! Only sorted visible states are stored, since the order of interchangeable threads is irrelevant.
//! So the product is computed group by group, and not thread by thread: for r threads with the same
//! m tops, there are only C(r+m-1, r) sorted lists, instead of m^r lists.

use crate::automata::canonical_language::TopsId;
use crate::automata::language_table::Languages;
use crate::cancel::Cancel;
use crate::limits::TooLarge;
use crate::visible::levels::VisibleLevels;
use crate::visible::symmetry::Symmetry;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The projected tuples, and the computed products of groups.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Projection {
    /// The projected tuples: shared states and sets of tops, sorted within groups.
    projected: FxHashSet<(u32, Vec<TopsId>)>,
    /// For the sorted sets of tops of a group, each sorted list with one top of each set.
    products: FxHashMap<Vec<TopsId>, Arc<Lists>>,
    bytes: usize,
}

/// Lists of the same length, one after the other.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Lists {
    length: usize,
    numbers: Vec<u32>,
}

impl Lists {
    /// Returns the number of lists.
    fn len(&self) -> usize {
        self.numbers.len() / self.length
    }

    /// Returns the list with this number.
    fn get(&self, i: usize) -> &[u32] {
        &self.numbers[i * self.length..][..self.length]
    }
}

impl Projection {
    /// Adds the visible states of a tuple whose languages have these sets of tops.
    ///
    /// # Errors
    /// If the visible states and this table take more than `room` bytes.
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
        if !self.projected.insert((shared, tops.clone())) {
            return Ok(());
        }
        self.bytes += size_of_val(&*tops) + 2 * size_of::<(u32, Vec<TopsId>)>();
        let mut choices = Vec::new();
        for group in symmetry.groups() {
            let remaining = room.checked_sub(self.bytes + visible.set().bytes_after(0)).ok_or(TooLarge)?;
            choices.push(self.product(languages, &tops[group], remaining)?);
        }
        // Counts up. Each group is a digit, and its lists are the values of the digit.
        let mut digits = vec![0; choices.len()];
        let mut chosen = Vec::new();
        let mut visited = 0_u32;
        loop {
            chosen.clear();
            for (choices, &digit) in choices.iter().zip(&digits) {
                chosen.extend_from_slice(choices.get(digit));
            }
            visible.insert(shared, &mut chosen);
            visited += 1;
            let is_cancelled = visited.is_multiple_of(1 << 12) && cancel.why().is_some();
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

    /// Returns each sorted list with one top of each set.
    fn product(&mut self, languages: &Languages, sets: &[TopsId], room: usize) -> Result<Arc<Lists>, TooLarge> {
        if let Some(product) = self.products.get(sets) {
            return Ok(product.clone());
        }
        let mut product = Lists { length: 0, numbers: Vec::new() };
        for run in sets.chunk_by(|a, b| a == b) {
            let lists = multisets(languages.tops_of(run[0]), run.len(), room / 4)?;
            product = if product.length == 0 { lists } else { joined(&product, &lists, room / 4)? };
        }
        self.bytes += size_of_val(&*product.numbers) + 2 * size_of_val(sets);
        let product = Arc::new(product);
        self.products.insert(sets.to_vec(), product.clone());
        Ok(product)
    }

    /// Returns the memory in use, without that of the visible states.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Returns each sorted list of `count` of these tops, which may repeat.
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

/// Joins each list of `a` with each list of `b`, and sorts it. Returns each result once.
fn joined(a: &Lists, b: &Lists, room: usize) -> Result<Lists, TooLarge> {
    let mut joined: FxHashSet<Vec<u32>> = FxHashSet::default();
    let length = a.length + b.length;
    for i in 0..a.len() {
        for j in 0..b.len() {
            let mut list = [a.get(i), b.get(j)].concat();
            list.sort_unstable();
            joined.insert(list);
            // A list in the set takes a few more bytes.
            if joined.len() * (length * size_of::<u32>() + 64) > room {
                return Err(TooLarge);
            }
        }
    }
    let mut lists: Vec<_> = joined.into_iter().collect();
    lists.sort_unstable();
    Ok(Lists { length, numbers: lists.concat() })
}

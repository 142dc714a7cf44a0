//! Lookup tables for condition (ii): find the tuples of a certificate that contain a given tuple.
//!
//! An image is covered if it is listed, if a single tuple includes it, or if several tuples
//! together do. The three cases are tried in this order, from cheap to expensive.

use super::layout::Layout;
use super::matching::{can_be_matched, without_common};
use crate::Rejected;
use crate::languages::{EMPTY_LANGUAGE, Languages, TABLE_LIMIT};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The rows that have a given language, for each language.
type RowsByLanguage<'c> = HashMap<u32, Vec<&'c [u32]>>;

type Rows<'c> = Rc<[&'c [u32]]>;

/// The tuples of a certificate, as rows.
pub(super) struct TupleSet<'c> {
    pub(super) layout: &'c Layout,
    pub(super) languages: Languages<'c>,
    pub(super) rows: &'c [&'c [u32]],
    /// The rows again, for lookups.
    listed: HashSet<&'c [u32]>,
    /// Images that several tuples cover together: the row without the language of the thread that
    /// moved, and that language.
    covered_images: HashSet<(Vec<u32>, u32)>,
    /// The place at which a row last differed from the tuple that includes it.
    last_difference: usize,
    // The first lookup fills the following tables.
    /// From the hash of a row without one language: the rows, and the place of that language.
    rows_without_one: HashMap<u64, Vec<(&'c [u32], usize)>>,
    /// The random factor of the hashes, which the author of a certificate cannot predict.
    hash_factor: u64,
    /// By shared state and group, and then by language: the rows that have the language in the
    /// group.
    rows_with: HashMap<(u32, usize), RowsByLanguage<'c>>,
    /// By shared state, group and language: the rows that have in the group a language that
    /// includes the given one.
    rows_including: HashMap<(u32, usize, u32), Rows<'c>>,
    /// The number of entries of `rows_including`.
    rows_including_size: usize,
}

impl<'c> TupleSet<'c> {
    pub(super) fn new(rows: &'c [&'c [u32]], layout: &'c Layout, languages: Languages<'c>, hash_factor: u64) -> Self {
        TupleSet {
            layout,
            languages,
            rows,
            listed: rows.iter().copied().collect(),
            covered_images: HashSet::new(),
            last_difference: 1,
            rows_without_one: HashMap::new(),
            hash_factor,
            rows_with: HashMap::new(),
            rows_including: HashMap::new(),
            rows_including_size: 0,
        }
    }

    /// Whether a row is one of the tuples.
    pub(super) fn is_listed(&self, row: &[u32]) -> bool {
        self.listed.contains(row)
    }

    /// Whether the tuples together contain the image of a row: the row with another shared state,
    /// and with another language at one place.
    pub(super) fn covers_image(
        &mut self,
        row: &[u32],
        place: usize,
        (shared, image): (u32, u32),
    ) -> Result<bool, Rejected> {
        let replaced = |language| {
            let mut row = row.to_vec();
            (row[0], row[place]) = (shared, language);
            self.layout.sort(&mut row);
            row
        };
        let moved = replaced(image);
        if self.listed.contains(&*moved) {
            return Ok(true);
        }
        let others = replaced(EMPTY_LANGUAGE);
        let key = (others, image);
        if self.covered_images.contains(&key) || self.is_in_one(&moved)? {
            return Ok(true);
        }
        // First the tuples with the same languages for the other threads. If these are not
        // sufficient, all tuples that include the languages of the other threads.
        let group = self.layout.groups[self.layout.group_of[place - 1]].clone();
        let at = group.clone().find(|&at| moved[at] == image).expect("the image is in the row");
        let mut union: Vec<u32> = self.completing(&moved, self.hash(&moved), at).map(|(row, at)| row[at]).collect();
        if !self.languages.is_included_in_union(image, union.clone())? {
            for candidate in self.candidates(&key.0)?.iter() {
                for at in self.layout.distinct_places(candidate).filter(|at| group.contains(at)) {
                    let mut rest = candidate.to_vec();
                    rest[at] = EMPTY_LANGUAGE;
                    if !union.contains(&candidate[at]) && self.includes(&rest, &key.0)? {
                        union.push(candidate[at]);
                    }
                }
            }
            if !self.languages.is_included_in_union(image, union)? {
                return Ok(false);
            }
        }
        if self.covered_images.len() * row.len() > TABLE_LIMIT {
            self.covered_images.clear();
        }
        self.covered_images.insert(key);
        Ok(true)
    }

    /// Whether a single tuple includes a row.
    pub(super) fn is_in_one(&mut self, row: &[u32]) -> Result<bool, Rejected> {
        self.fill_tables()?;
        self.languages.add_work(row.len())?;
        let hash = self.hash(row);
        // Try tuples that differ in one language, first at the place where the last one differed.
        for place in std::iter::once(self.last_difference).chain(self.layout.distinct_places(row)) {
            let completing: Vec<u32> = self.completing(row, hash, place).map(|(other, at)| other[at]).collect();
            for language in completing {
                if self.languages.is_included(row[place], language)? {
                    self.last_difference = place;
                    return Ok(true);
                }
            }
        }
        for candidate in self.candidates(row)?.iter() {
            if self.includes(candidate, row)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The tuples that equal a row except for the language at one place, each with the place of
    /// its own differing language. `hash` is the hash of the row.
    fn completing<'r>(
        &'r self,
        row: &'r [u32],
        hash: u64,
        place: usize,
    ) -> impl Iterator<Item = (&'c [u32], usize)> + 'r {
        let group = self.layout.group_of[place - 1];
        let found = self.rows_without_one.get(&hash.wrapping_sub(self.hash_of(group, row[place])));
        found.into_iter().flatten().copied().filter(move |&(other, at)| {
            let without = |row: &'r [u32], place: usize| row[..place].iter().chain(&row[place + 1..]);
            self.layout.group_of[at - 1] == group && without(row, place).eq(without(other, at))
        })
    }

    /// A sum over the places of a row, so that it does not depend on the order within groups.
    /// Different rows may have the same hash.
    fn hash(&self, row: &[u32]) -> u64 {
        let hashes =
            self.layout.group_of.iter().zip(&row[1..]).map(|(&group, &language)| self.hash_of(group, language));
        hashes.fold(self.hash_of(usize::MAX, row[0]), u64::wrapping_add)
    }

    fn hash_of(&self, group: usize, language: u32) -> u64 {
        let mixed = (u64::from(language) ^ (group as u64) << 32).wrapping_mul(self.hash_factor);
        (mixed ^ mixed >> 32).wrapping_mul(self.hash_factor)
    }

    /// Fills the tables for lookups, when the first lookup needs them.
    fn fill_tables(&mut self) -> Result<(), Rejected> {
        if !self.rows_with.is_empty() {
            return Ok(());
        }
        for &row in self.rows {
            self.languages.add_work(row.len())?;
            let hash = self.hash(row);
            for place in self.layout.distinct_places(row) {
                let group = self.layout.group_of[place - 1];
                self.rows_with.entry((row[0], group)).or_default().entry(row[place]).or_default().push(row);
                let rest = hash.wrapping_sub(self.hash_of(group, row[place]));
                self.rows_without_one.entry(rest).or_default().push((row, place));
            }
        }
        Ok(())
    }

    /// Candidates for including a row: the tuples that include one of its languages, chosen such
    /// that there are few candidates.
    fn candidates(&mut self, row: &[u32]) -> Result<Rows<'c>, Rejected> {
        let mut fewest: Option<Rows<'c>> = None;
        for place in self.layout.distinct_places(row) {
            let including = self.including(row[0], self.layout.group_of[place - 1], row[place])?;
            if fewest.as_ref().is_none_or(|fewest| including.len() < fewest.len()) {
                fewest = Some(including);
            }
        }
        Ok(fewest.unwrap_or_default())
    }

    /// The tuples with this shared state that have a language in this group which includes the
    /// given language.
    fn including(&mut self, shared: u32, group: usize, language: u32) -> Result<Rows<'c>, Rejected> {
        if let Some(cached) = self.rows_including.get(&(shared, group, language)) {
            return Ok(cached.clone());
        }
        let mut including = Vec::new();
        for (&other, rows) in self.rows_with.get(&(shared, group)).into_iter().flatten() {
            self.languages.add_work(1)?;
            if self.languages.is_included(language, other)? {
                including.extend(rows);
            }
        }
        let including: Rows<'c> = including.into();
        self.rows_including_size += 1 + including.len();
        if self.rows_including_size > TABLE_LIMIT {
            self.rows_including.clear();
            self.rows_including_size = 0;
        }
        self.rows_including.insert((shared, group, language), including.clone());
        Ok(including)
    }

    /// Whether the languages of one row include those of another row, after a permutation within
    /// groups.
    fn includes(&mut self, large: &[u32], small: &[u32]) -> Result<bool, Rejected> {
        for group in &self.layout.groups {
            let (large, small) = without_common(&large[group.clone()], &small[group.clone()]);
            self.languages.add_work(group.len() + large.len() * small.len())?;
            let mut fits = Vec::new();
            for &small in &small {
                let fit = large.iter().map(|&large| self.languages.is_included(small, large));
                fits.push(fit.collect::<Result<Vec<bool>, _>>()?);
            }
            if !can_be_matched(&fits) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

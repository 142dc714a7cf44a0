//! Tuples of languages that no step leads out of: the common form of all proofs.
//!
//! The tuples contain the initial states and no bad state, and each step from one of their states
//! leads to one of their states. `cpds-check` checks exactly this. Each kind of proof becomes such
//! tuples:
//! - **R_k** (Scheme 1): a state is a tuple of languages with one word each. **S_k**: the largest
//!   tuples.
//! - **Z, matched-Z, Z_z**: a cut-off stack stands for all stacks from which it may be cut off, a
//!   regular language (`overapproximation/cut_off_stacks.rs`).
//! - **A_d**: the largest tuples. Each tuple has been expanded for each thread, and a tuple covers
//!   each successor.
//! - **Several of these together**: the intersection (`certificate/intersection.rs`).
//!
//! `certificate/merging.rs` reduces the number of tuples.

use crate::automata::minimal_dfa::Dfa;
use crate::certificate::limits::CertificateLimits;
use crate::certificate::numbering::Numbering;
use crate::limits::TooLarge;
use crate::tables::packed_rows::Layout;
use crate::visible::levels::top;
use crate::visible::symmetry::Symmetry;
use cpds::Certificate;
use serde::{Serialize, Serializer};

/// Tuples of languages. No step leads out of them.
#[derive(Clone)]
pub(crate) struct Tuples {
    pub(super) symmetry: Symmetry,
    /// Each state of this automaton is a language.
    pub(super) automaton: Dfa,
    /// The tuples, one after the other: the shared state, and a language for each position.
    pub(super) rows: Vec<u32>,
    /// Whether each tuple stands for one state, or for one cut-off state. Then two tuples that
    /// differ in only one thread do not overlap.
    pub(super) are_states: bool,
}

/// The saved part of tuples.
pub(crate) type SavedTuples = (Dfa, Vec<u32>, bool);

impl Serialize for Tuples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.automaton, &self.rows, self.are_states).serialize(serializer)
    }
}

impl Tuples {
    /// Converts packed rows to tuples. `language` returns the automaton state for the number at a
    /// position.
    pub(crate) fn new<'s>(
        symmetry: &Symmetry,
        automaton: Dfa,
        states: impl Iterator<Item = (&'s Layout, &'s [u64])>,
        language: impl Fn(usize, u32) -> u32,
        are_states: bool,
    ) -> Self {
        let mut rows = Vec::new();
        for (layout, row) in states {
            rows.push(layout.shared(row));
            let start = rows.len();
            rows.extend(layout.locals(row).enumerate().map(|(position, local)| language(position, local)));
            symmetry.sort(&mut rows[start..]);
        }
        Tuples { symmetry: symmetry.clone(), automaton, rows, are_states }
    }

    /// Restores saved tuples.
    pub(crate) fn restored(symmetry: &Symmetry, (automaton, rows, are_states): SavedTuples) -> Self {
        Tuples { symmetry: symmetry.clone(), automaton, rows, are_states }
    }

    /// Returns the length of a row.
    pub(super) fn width(&self) -> usize {
        1 + self.symmetry.threads().len()
    }

    /// Returns the approximate memory in use.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.rows) + (self.automaton.len() + self.automaton.transition_count()) * size_of::<u64>()
    }

    /// Minimises the automaton, and removes empty and repeated tuples.
    pub(super) fn minimal(mut self) -> Tuples {
        let (automaton, class) = self.automaton.minimal();
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in self.rows.chunks_exact(self.width()) {
            let start = rows.len();
            rows.push(row[0]);
            rows.extend(row[1..].iter().map_while(|&language| class[language as usize]));
            if rows.len() < start + self.width() {
                rows.truncate(start);
            } else {
                self.symmetry.sort(&mut rows[start + 1..]);
            }
        }
        let mut sorted: Vec<&[u32]> = rows.chunks_exact(self.width()).collect();
        sorted.sort_unstable();
        sorted.dedup();
        self.rows = sorted.concat();
        Tuples { automaton, ..self }
    }

    /// Makes the certificate.
    ///
    /// # Errors
    /// If it exceeds the limits.
    pub(crate) fn certificate(self, limits: &CertificateLimits<'_>) -> Result<Certificate, TooLarge> {
        let tuples = self.merged(limits)?.minimal();
        let symmetry = &tuples.symmetry;
        let thread = |position: usize| symmetry.threads()[position];
        let mut certificate = Certificate {
            groups: symmetry.groups().map(|group| group.map(thread).collect()).collect(),
            ..Certificate::default()
        };
        // Languages are numbered in the order in which they are first needed.
        let mut numbers: Numbering<u32> = Numbering::new(0);
        certificate.tuples.reserve_exact(tuples.rows.len());
        for row in tuples.rows.chunks_exact(tuples.width()) {
            let start = certificate.tuples.len();
            certificate.tuples.resize(start + row.len(), row[0]);
            for (thread, &language) in symmetry.threads().iter().zip(&row[1..]) {
                certificate.tuples[start + 1 + thread.index()] = numbers.number(language);
            }
        }
        while let Some(state) = numbers.open.pop_front() {
            let out = tuples.automaton.out(state).iter();
            let transitions = out.map(|&(label, to)| (top(label).expect("no ε-edges"), numbers.number(to)));
            certificate.automaton.push(tuples.automaton.is_accepting(state), transitions);
        }
        Ok(certificate)
    }
}

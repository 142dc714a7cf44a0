//! From a proof to a certificate, for the independent checker (`cpds-check`).

use crate::certificate::limits::CertificateLimits;
use crate::limits::{Cancel, TooLarge};
use crate::overapproximation::ladder::{Rung, rung_names};
use crate::squeeze::analysis::{Analysis, Conclusion, Proof};
use crate::squeeze::level_store::LevelStore;
use cpds::Certificate;

impl Analysis<'_> {
    /// The tuples of languages behind a proof, for a checker. They contain all reachable states. If
    /// the question is about bad states, they contain none; otherwise, their visible states are
    /// exactly those that were found.
    ///
    /// # Errors
    /// If it takes more than `memory` bytes, or if it is cancelled.
    pub fn certificate(&self, proof: &Proof, memory: usize, cancel: &Cancel) -> Result<Certificate, TooLarge> {
        let room = &CertificateLimits::new(memory, cancel);
        let mut certificate = match proof {
            Proof::LowerCollapsed => self.level_store.invariant(memory)?.certificate(room)?,
            Proof::Bounded(rungs) => {
                let invariant = |rung: &Rung| {
                    let found =
                        self.rungs.iter().zip(&self.invariants).find_map(|(climbed, invariant)| {
                            if climbed.rung == *rung { invariant.as_ref() } else { None }
                        });
                    found.expect("a rung that proves something is stored").tuples()
                };
                let (first, others) = rungs.split_first().expect("a proof names a rung");
                let mut others = others.iter().map(invariant);
                others.try_fold(invariant(first), |all, other| all.and(other, room))?.certificate(room)?
            }
        };
        if let Conclusion::Converged(_) = self.conclusion {
            certificate.visible = Some(self.level_store.visible().sorted_states(self.k()));
        }
        Ok(certificate)
    }

    /// What the proof rests on, if there is one: `A_1`, or `matched-Z ∩ A_0`; or `R_k` or `S_k`
    /// (Scheme 1).
    pub fn proved_by(&self) -> Option<String> {
        match &self.conclusion {
            Conclusion::Safe(Proof::Bounded(rungs)) | Conclusion::Converged(Proof::Bounded(rungs)) => {
                Some(rung_names(rungs))
            }
            Conclusion::Safe(_) | Conclusion::Converged(_) => Some(match self.level_store {
                LevelStore::Explicit(_) | LevelStore::Shares(_) => "R_k".to_owned(),
                LevelStore::Symbolic(_) => "S_k".to_owned(),
            }),
            _ => None,
        }
    }
}

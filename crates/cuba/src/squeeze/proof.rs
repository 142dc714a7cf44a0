//! Makes the certificate of a proof, for the independent checker (`cpds-check`).

use crate::cancel::Cancel;
use crate::certificate::limits::CertificateLimits;
use crate::limits::TooLarge;
use crate::overapproximation::ladder::{Rung, rung_names};
use crate::squeeze::analysis::{Analysis, Conclusion, Proof};
use crate::squeeze::level_store::LevelStore;
use cpds::Certificate;

impl Analysis<'_> {
    /// Makes the certificate of a proof: tuples of languages that contain all reachable states. If
    /// the question is about bad states, they contain no bad state. Otherwise, their visible states
    /// are T(R).
    ///
    /// # Errors
    /// If it takes more than `memory` bytes, or if the caller cancels.
    pub fn certificate(&self, proof: &Proof, memory: usize, cancel: &Cancel) -> Result<Certificate, TooLarge> {
        let limits = &CertificateLimits::new(memory, cancel);
        let mut certificate = match proof {
            Proof::LowerCollapsed => self.level_store.invariant(memory)?.certificate(limits)?,
            Proof::Bounded(rungs) => {
                let invariant = |rung: &Rung| {
                    let mut attempts =
                        self.rungs.iter().zip(&self.invariants).filter(|(result, _)| result.rung == *rung);
                    let invariant = attempts.find_map(|(_, invariant)| invariant.as_ref());
                    invariant.expect("the invariant of a computed rung is stored").tuples()
                };
                let (first, others) = rungs.split_first().expect("a proof names a rung");
                let mut others = others.iter().map(invariant);
                others.try_fold(invariant(first), |all, other| all.and(other, limits))?.certificate(limits)?
            }
        };
        if let Conclusion::Converged(_) = self.conclusion {
            certificate.visible = Some(self.level_store.visible().sorted_states(self.k()));
        }
        Ok(certificate)
    }

    /// Returns the name of the proof, if there is one: rungs such as `A_1` or `matched-Z ∩ A_0`; or
    /// `R_k` or `S_k`, for Scheme 1.
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

//! Checkpoints.

use cuba::Side;
use cuba::checkpoint::StartPoint;

/// The first byte chooses the search: `u` for the upper search, any other byte for the lower one.
/// The other bytes are its saved state, which is read or refused.
///
/// No search continues from it. A changed checkpoint has a wrong checksum. A forged checkpoint with
/// a right checksum can mislead a run, but the run still checks the evidence of its answer.
pub fn checkpoint(bytes: &[u8]) {
    let Some((&side, mut saved)) = bytes.split_first() else { return };
    let side = if side == b'u' { Side::Upper } else { Side::Lower };
    let _ = StartPoint::default().read(side, &mut saved);
}

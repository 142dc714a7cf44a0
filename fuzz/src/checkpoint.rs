//! What a run has kept.

use cuba::Side;
use cuba::checkpoint::StartPoint;

/// A letter for the end of the search, `u`pper or lower, and what it has kept. It is read, or
/// refused. Nobody goes on from it: a checksum says whether a checkpoint is as it was written, and
/// who forges one can make a run believe anything, except for an answer without evidence.
pub fn checkpoint(bytes: &[u8]) {
    let Some((&end, mut kept)) = bytes.split_first() else { return };
    let end = if end == b'u' { Side::Upper } else { Side::Lower };
    let _ = StartPoint::default().read(end, &mut kept);
}

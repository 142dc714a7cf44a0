//! The ladder of overapproximations of T(R), from cheap to tight.
//!
//! Every rung has all of T(R), and so has what they have in common: the *ceiling*
//! (`overapproximation/remaining.rs`). `overapproximation/z.rs` and
//! `overapproximation/abstraction.rs` say why, rung by rung.

use crate::overapproximation::z::Cut;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// An overapproximation of T(R).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Rung {
    /// Z, the paper's: stacks cut off at height 1, from which anything emerges.
    Z,
    /// Z with matched returns: only what a symbol was put on emerges from under it.
    MatchedZ,
    /// Z_z: stacks cut off at height z ≥ 2, with matched returns.
    CutOff(usize),
    /// A_d: tuples of languages, widened to depth d.
    Abstract(usize),
}

impl Rung {
    /// Where stacks are cut off, if they are.
    pub(crate) fn cut(self) -> Option<Cut> {
        match self {
            Rung::Z => Some(Cut::Z),
            Rung::MatchedZ => Some(Cut::matched(1)),
            Rung::CutOff(z) => Some(Cut::matched(z)),
            Rung::Abstract(_) => None,
        }
    }
}

impl Display for Rung {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Rung::Z => f.pad("Z"),
            Rung::MatchedZ => f.pad("matched-Z"),
            Rung::CutOff(z) => f.pad(&format!("Z_{z}")),
            Rung::Abstract(d) => f.pad(&format!("A_{d}")),
        }
    }
}

/// `A_1`, or `matched-Z ∩ A_1`.
pub fn rung_names(rungs: &[Rung]) -> String {
    rungs.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ∩ ")
}

/// The text is no rung.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParseRungError;

impl FromStr for Rung {
    type Err = ParseRungError;

    /// Reads `Z`, `matched-Z`, `Z_2`, `A_1` and the like, in upper or lower case.
    fn from_str(text: &str) -> Result<Self, ParseRungError> {
        let text = text.to_ascii_lowercase();
        let number = |prefix| text.strip_prefix(prefix).and_then(|rest: &str| rest.parse().ok());
        match (text.as_str(), number("z_"), number("a_")) {
            ("z", ..) => Ok(Rung::Z),
            ("matched-z", ..) => Ok(Rung::MatchedZ),
            (_, Some(z @ 2..), _) => Ok(Rung::CutOff(z)),
            (_, _, Some(depth)) => Ok(Rung::Abstract(depth)),
            _ => Err(ParseRungError),
        }
    }
}

/// Which rungs to take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ladder {
    /// Z, matched-Z, A_0, A_1, A_2, …; and Z_{d+1} where A_d has too many tuples.
    All,
    /// A_0, A_1, …
    Abstract,
    /// This one.
    Only(Rung),
    /// None: levels alone.
    None,
}

impl Ladder {
    /// The rungs in order, with A_d, and Z_{d+1} in case it has too many tuples, for every d up to
    /// a depth.
    pub(crate) fn rungs(self, max_depth: usize) -> impl Iterator<Item = Rung> {
        let (cuts, only) = match self {
            Ladder::All => (&[Rung::Z, Rung::MatchedZ][..], None),
            Ladder::Only(rung) => (&[][..], Some(rung)),
            Ladder::Abstract | Ladder::None => (&[][..], None),
        };
        let depths = if matches!(self, Ladder::All | Ladder::Abstract) { 0..max_depth.saturating_add(1) } else { 0..0 };
        let deeper = depths.flat_map(move |depth| {
            let cut_off = (self == Ladder::All && depth > 0).then_some(Rung::CutOff(depth + 1));
            std::iter::once(Rung::Abstract(depth)).chain(cut_off)
        });
        cuts.iter().copied().chain(only).chain(deeper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_are_read_as_they_are_written() {
        for rung in [Rung::Z, Rung::MatchedZ, Rung::CutOff(2), Rung::CutOff(17), Rung::Abstract(0), Rung::Abstract(3)] {
            assert_eq!(rung.to_string().parse(), Ok(rung));
        }
        for text in ["", "Z_1", "Z_0", "Z_", "A", "A_", "A_x", "A_-1", "B", "matched"] {
            assert_eq!(text.parse::<Rung>(), Err(ParseRungError), "{text}");
        }
    }

    #[test]
    fn the_ladder_goes_up_to_a_depth() {
        let names = |ladder: Ladder, depth| ladder.rungs(depth).map(|rung| rung.to_string()).collect::<Vec<_>>();
        assert_eq!(names(Ladder::All, 2), ["Z", "matched-Z", "A_0", "A_1", "Z_2", "A_2", "Z_3"]);
        assert_eq!(names(Ladder::Abstract, 1), ["A_0", "A_1"]);
        assert_eq!(names(Ladder::Only(Rung::CutOff(2)), 7), ["Z_2"]);
        assert_eq!(Ladder::All.rungs(usize::MAX).nth(1001), Some(Rung::Abstract(500)));
    }
}

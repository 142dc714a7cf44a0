//! The ladder of overapproximations of T(R), from cheap to tight.
//!
//! Each rung contains T(R), and so does the intersection of all rungs, the *ceiling*
//! (`overapproximation/ceiling.rs`). The reasons are in `overapproximation/z.rs` and
//! `overapproximation/a_d.rs`.

use crate::overapproximation::z::Cut;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A rung of the ladder: an overapproximation of T(R).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Rung {
    /// Z, the paper's overapproximation: stacks are cut off at height 1, and a pop may reveal any
    /// symbol of E.
    Z,
    /// Z with matched returns: a pop reveals only a symbol that may lie below the popped one.
    MatchedZ,
    /// Z_z: stacks are cut off at height z ≥ 2, with matched returns.
    CutOff(usize),
    /// A_d: tuples of languages that are widened to depth d.
    Abstract(usize),
}

impl Rung {
    /// Returns the cut of Z, matched-Z or Z_z; `None` for A_d.
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

/// Returns the names of rungs, joined by ∩: `A_1`, or `matched-Z ∩ A_1`.
pub fn rung_names(rungs: &[Rung]) -> String {
    rungs.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ∩ ")
}

/// The error for a text that does not name a rung.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParseRungError;

impl Display for ParseRungError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad("not a rung: a rung is Z, matched-Z, Z_2, Z_3, …, A_0, A_1, …")
    }
}

impl std::error::Error for ParseRungError {}

impl FromStr for Rung {
    type Err = ParseRungError;

    /// Reads `Z`, `matched-Z`, `Z_z` for z ≥ 2, or `A_d`, in upper or lower case.
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

/// Which rungs the upper search computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ladder {
    /// Z, matched-Z, A_0, A_1, A_2, …, and Z_{d+1} if A_d has too many tuples.
    All,
    /// Only A_0, A_1, A_2, ….
    Abstract,
    /// Only this rung.
    Only(Rung),
    /// No rung: only the lower search works.
    None,
}

impl Ladder {
    /// Returns the rungs in order: each A_d up to a depth, and Z_{d+1} after A_d. (The search skips
    /// Z_{d+1}, unless A_d has too many tuples.)
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
    fn the_ladder_ends_at_the_given_depth() {
        let names = |ladder: Ladder, depth| ladder.rungs(depth).map(|rung| rung.to_string()).collect::<Vec<_>>();
        assert_eq!(names(Ladder::All, 2), ["Z", "matched-Z", "A_0", "A_1", "Z_2", "A_2", "Z_3"]);
        assert_eq!(names(Ladder::Abstract, 1), ["A_0", "A_1"]);
        assert_eq!(names(Ladder::Only(Rung::CutOff(2)), 7), ["Z_2"]);
        assert_eq!(Ladder::All.rungs(usize::MAX).nth(1001), Some(Rung::Abstract(500)));
    }
}

//! The sequences (R_k), (S_k) and (T(R_k)) of an answer, and its overapproximations, as JSON.

use cuba::{ObservationSequence, Outcome, Pause, RungResult};
use serde::Serialize;

/// R_k and T(R_k) for one k.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LevelJson {
    /// k.
    pub k: usize,
    /// |R_k|; null if it has more than 128 bits, or if the engine is symbolic.
    pub reachable: Option<u128>,
    /// |S_k|, if the engine is symbolic; null if it has more than 128 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbolic: Option<Option<u128>>,
    /// |T(R_k)|; null if it has more than 128 bits.
    pub visible: Option<u128>,
    /// The number of visible states that no overapproximation had ruled out when the level was
    /// complete; null if none was computed by then, or if the number has more than 128 bits.
    pub upper: Option<u128>,
    /// R_k \ R_{k-1}, with `--states`, if the engine is explicit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_states: Option<Vec<String>>,
    /// T(R_k) \ T(R_{k-1}), with `--states`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_visible_states: Option<Vec<String>>,
}

/// The least k from which a sequence does not grow; null if that is not known.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CollapseJson {
    /// (R_k).
    pub reachable: Option<usize>,
    /// (S_k), which may collapse later than (R_k); null if the engine is explicit.
    pub symbolic: Option<usize>,
    /// (T(R_k)).
    pub visible: Option<usize>,
}

/// Where the sequences pause or stop growing.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PausesJson {
    /// (R_k), if the engine is explicit.
    pub reachable: Vec<PauseJson>,
    /// (S_k), if the engine is symbolic.
    pub symbolic: Vec<PauseJson>,
    /// (T(R_k)).
    pub visible: Vec<PauseJson>,
}

/// A sequence grows up to k, but not from k to k+1.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PauseJson {
    /// k.
    pub k: usize,
    /// `stutter` if the sequence grows again later, `collapse` if it is known not to, otherwise
    /// `plateau`.
    pub kind: &'static str,
}

/// An overapproximation of T(R).
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UpperJson {
    /// `Z`, `matched-Z`, `Z_2` and so on, or `A_0`, `A_1` and so on.
    pub abstraction: String,
    /// The number of its visible states; null if this has more than 128 bits, or if the
    /// overapproximation was given up.
    pub visible: Option<u128>,
    /// The number of visible states that it was the first to rule out; null in the same cases.
    pub ruled_out: Option<u128>,
    /// Why it was given up: `tuples` or `memory`; null if it was computed.
    pub given_up: Option<&'static str>,
    /// For `Z`, the number of its states that are generators: |G ∩ Z|.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generators: Option<u128>,
    /// For `Z`, the number of its states that a pop from a state of Z reaches: a smaller set of
    /// generators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub popped: Option<u128>,
}

/// The visible states that are neither reached with the last k nor ruled out by an
/// overapproximation.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BetweenJson {
    /// The number of these states; null if it has more than 128 bits.
    pub count: Option<u128>,
    /// The states. If there are many, only as many as have a million stack tops in total.
    pub states: Vec<String>,
    /// For `verify`, the bad states among them, with the same limit.
    pub bad: Vec<String>,
}

pub(super) fn upper(RungResult { rung, outcome }: &RungResult) -> UpperJson {
    let (bound, given_up) = match outcome {
        Outcome::Bound(bound) => (Some(bound), None),
        Outcome::TooManyTuples(_) | Outcome::TooManyInitial(_) => (None, Some("tuples")),
        Outcome::TooLarge => (None, Some("memory")),
    };
    let generators = bound.and_then(|bound| bound.generators);
    UpperJson {
        abstraction: rung.to_string(),
        visible: bound.and_then(|bound| bound.visible.exact()),
        ruled_out: bound.and_then(|bound| bound.ruled_out.exact()),
        given_up,
        generators: generators.and_then(|(generators, _)| generators.exact()),
        popped: generators.and_then(|(_, popped)| popped.exact()),
    }
}

pub(super) fn pauses(sequence: &ObservationSequence) -> Vec<PauseJson> {
    let kind = |pause| match pause {
        Pause::Plateau => "plateau",
        Pause::Stutter => "stutter",
        Pause::Collapse => "collapse",
    };
    sequence.pauses().map(|(k, pause)| PauseJson { k, kind: kind(pause) }).collect()
}

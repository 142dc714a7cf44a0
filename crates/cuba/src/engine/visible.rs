//! Visible states as packed rows: the numbers of tops, and the way back.

use super::packed::PackedSet;
use super::symmetry::Symmetry;
use cpds::{SharedState, Symbol, VisibleState};

/// The number of a top: ε is 0.
pub(crate) fn top_number(top: Option<Symbol>) -> u32 {
    top.map_or(0, |symbol| symbol.0 + 1)
}

/// The top with this number.
pub(crate) fn top(number: u32) -> Option<Symbol> {
    number.checked_sub(1).map(Symbol)
}

/// The visible states that the sorted ones with these numbers stand for.
pub(crate) fn visible_states(
    symmetry: &Symmetry,
    set: &PackedSet,
    ids: impl IntoIterator<Item = usize>,
) -> impl Iterator<Item = VisibleState> {
    let members = |id: usize| {
        let locals: Vec<u32> = set.layout().locals(set.row(id)).collect();
        let shared = SharedState(set.layout().shared(set.row(id)));
        symmetry.members(locals).map(move |member| (shared, member))
    };
    let states = ids.into_iter().flat_map(members);
    states.map(|(shared, member)| VisibleState { shared, tops: symmetry.by_thread(member.into_iter().map(top)) })
}

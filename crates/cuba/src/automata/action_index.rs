//! The actions of a program, by the head at which each of them is enabled.

use crate::visible::levels::top_number;
use cpds::{Action, Program, SharedState, Symbol};
use rustc_hash::FxHashMap;

/// The actions of a program, by shared state and top.
pub struct ActionIndex {
    ranges: FxHashMap<(SharedState, u32), (u32, u32)>,
    /// The position of the rule, and its action, sorted by shared state and top.
    pub(crate) actions: Vec<(u32, Action)>,
}

impl ActionIndex {
    /// Creates the index for a program.
    pub fn new(program: &Program) -> Self {
        let mut actions: Vec<_> = (0..).zip(program.rules()).map(|(position, rule)| (position, rule.action)).collect();
        actions.sort_by_key(|(_, action)| action.source());
        let mut index = ActionIndex { ranges: FxHashMap::default(), actions };
        let mut start = 0;
        for run in index.actions.chunk_by(|a, b| a.1.source() == b.1.source()) {
            let end = start + u32::try_from(run.len()).expect("actions are limited");
            let (q, top) = run[0].1.source();
            index.ranges.insert((q, top_number(top)), (start, end));
            start = end;
        }
        index
    }

    /// Returns the actions that are enabled in this shared state with this top, as a range of
    /// `actions`.
    #[inline]
    pub(crate) fn range(&self, q: SharedState, label: u32) -> std::ops::Range<usize> {
        self.ranges.get(&(q, label)).map_or(0..0, |&(start, end)| start as usize..end as usize)
    }

    /// Returns the shared states and tops with an enabled action, sorted.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (SharedState, Option<Symbol>)> {
        self.actions.chunk_by(|a, b| a.1.source() == b.1.source()).map(|run| run[0].1.source())
    }
}

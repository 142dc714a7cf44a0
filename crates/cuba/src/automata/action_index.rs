//! The actions of a program by where they are enabled.

use crate::visible::levels::top_number;
use cpds::{Action, Program, SharedState, Symbol};
use rustc_hash::FxHashMap;

/// A program's actions by the thread-visible state in which they are enabled.
pub struct Heads {
    ranges: FxHashMap<(SharedState, u32), (u32, u32)>,
    pub(crate) actions: Vec<(u32, Action)>,
}

impl Heads {
    /// The actions of a program.
    pub fn new(program: &Program) -> Self {
        let mut actions: Vec<_> = (0..).zip(program.rules()).map(|(index, rule)| (index, rule.action)).collect();
        actions.sort_by_key(|(_, action)| action.source());
        let mut heads = Heads { ranges: FxHashMap::default(), actions };
        let mut start = 0;
        for run in heads.actions.chunk_by(|a, b| a.1.source() == b.1.source()) {
            let end = start + u32::try_from(run.len()).expect("actions are limited");
            let (q, top) = run[0].1.source();
            heads.ranges.insert((q, top_number(top)), (start, end));
            start = end;
        }
        heads
    }

    #[inline]
    pub(crate) fn range(&self, q: SharedState, label: u32) -> std::ops::Range<usize> {
        self.ranges.get(&(q, label)).map_or(0..0, |&(start, end)| start as usize..end as usize)
    }

    /// The thread-visible states in which an action is enabled, sorted.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (SharedState, Option<Symbol>)> {
        self.actions.chunk_by(|a, b| a.1.source() == b.1.source()).map(|run| run[0].1.source())
    }
}

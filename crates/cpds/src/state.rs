//! States (paper §2.1, §2.2): stacks, global states ⟨q|w₁,…,wₙ⟩ and their visible projection T.

/// A shared state q ∈ Q, as its number in [`Cpds::shared_names`](crate::Cpds::shared_names).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SharedState(pub u32);

/// A stack symbol σ, as its number in [`Cpds::symbol_names`](crate::Cpds::symbol_names).
///
/// One table numbers the symbols of all threads. A name in two threads is the same symbol, so
/// threads with the same program can have equal stacks. Each thread has its own alphabet Σ_i of
/// these symbols. `Option<Symbol>` is Σ_i^{≤1}; `None` is ε.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(pub u32);

/// The number of a thread: thread `i` of the paper is `ThreadId(i - 1)`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadId(pub u32);

impl ThreadId {
    /// Returns the thread's position in a list with one entry for each thread.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A stack w ∈ Σ*.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Stack {
    /// Bottom first, so that the top is cheap to change.
    bottom_up: Vec<Symbol>,
}

impl Stack {
    /// Makes a stack of these symbols, top first, as in the paper.
    pub fn from_top(symbols: impl IntoIterator<Item = Symbol>) -> Self {
        let mut bottom_up: Vec<_> = symbols.into_iter().collect();
        bottom_up.reverse();
        Stack { bottom_up }
    }

    /// Returns T(w): the top symbol, or ε (Eq. 1).
    pub fn top(&self) -> Option<Symbol> {
        self.bottom_up.last().copied()
    }

    /// Returns |w|.
    pub fn height(&self) -> usize {
        self.bottom_up.len()
    }

    /// Returns the symbols from top to bottom.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Symbol> + '_ {
        self.bottom_up.iter().rev().copied()
    }

    pub(crate) fn push(&mut self, symbol: Symbol) {
        self.bottom_up.push(symbol);
    }

    pub(crate) fn pop(&mut self) {
        self.bottom_up.pop();
    }
}

impl std::fmt::Debug for Stack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(|s| s.0)).finish()
    }
}

/// A state ⟨q|w₁,…,wₙ⟩ of a concurrent pushdown system.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GlobalState {
    /// q.
    pub shared: SharedState,
    /// w₁,…,wₙ.
    pub stacks: Vec<Stack>,
}

impl GlobalState {
    /// Returns T(s): the shared state and the top of each stack.
    pub fn visible(&self) -> VisibleState {
        VisibleState { shared: self.shared, tops: self.stacks.iter().map(Stack::top).collect() }
    }
}

/// A visible state ⟨q|σ₁,…,σₙ⟩ with σ_i ∈ Σ_i^{≤1}.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VisibleState {
    /// q.
    pub shared: SharedState,
    /// σ₁,…,σₙ.
    pub tops: Vec<Option<Symbol>>,
}

//! Writes states, actions and patterns in the notation of the paper or of our files.
//!
//! | | paper | text |
//! |---|---|---|
//! | state | `⟨3\|2,4 6⟩` | `3\|2,4 6` |
//! | pop | `(0,4) → (0,ε)` | `(0,4) -> (0,-)` |
//!
//! Stacks are written top first, with blanks between symbols. States in both notations can be
//! parsed.

use crate::{Action, Cpds, GlobalState, Pattern, SharedState, Stack, Symbol, VisibleState, Wild};
use std::fmt::{self, Display, Formatter};

/// An item together with the system that has its names.
#[derive(Clone, Copy)]
pub struct Notation<'a, T> {
    system: &'a Cpds,
    item: &'a T,
    paper: bool,
}

impl Cpds {
    /// Writes `item` in the paper's notation: ⟨q|w₁,…,wₙ⟩, (q,w) → (q',w'), ε.
    pub fn paper<'a, T>(&'a self, item: &'a T) -> Notation<'a, T> {
        Notation { system: self, item, paper: true }
    }

    /// Writes `item` in the notation of our files and of the command line: `q|w1,…,wn`, `(q,w) ->
    /// (q',w')`, `-`.
    pub fn text<'a, T>(&'a self, item: &'a T) -> Notation<'a, T> {
        Notation { system: self, item, paper: false }
    }

    /// Returns the name of a shared state.
    pub fn shared_name(&self, q: SharedState) -> &str {
        self.shared_names().name(q.0)
    }

    /// Returns the name of a stack symbol.
    pub fn symbol_name(&self, symbol: Symbol) -> &str {
        self.symbol_names().name(symbol.0)
    }
}

impl<T> Notation<'_, T> {
    fn word(&self, f: &mut Formatter<'_>, word: impl Iterator<Item = Symbol>) -> fmt::Result {
        let mut empty = true;
        for symbol in word {
            if !empty {
                f.write_str(" ")?;
            }
            empty = false;
            f.write_str(self.system.symbol_name(symbol))?;
        }
        if empty { f.write_str(if self.paper { "ε" } else { "-" }) } else { Ok(()) }
    }

    fn state<S>(
        &self,
        f: &mut Formatter<'_>,
        shared: &str,
        stacks: &[S],
        write: impl Fn(&mut Formatter<'_>, &S) -> fmt::Result,
    ) -> fmt::Result {
        f.write_str(if self.paper { "⟨" } else { "" })?;
        f.write_str(shared)?;
        for (i, stack) in stacks.iter().enumerate() {
            f.write_str(if i == 0 { "|" } else { "," })?;
            write(f, stack)?;
        }
        f.write_str(if self.paper { "⟩" } else { "" })
    }
}

impl Display for Notation<'_, GlobalState> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let shared = self.system.shared_name(self.item.shared);
        self.state(f, shared, &self.item.stacks, |f, stack: &Stack| self.word(f, stack.iter()))
    }
}

impl Display for Notation<'_, VisibleState> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let shared = self.system.shared_name(self.item.shared);
        self.state(f, shared, &self.item.tops, |f, top| self.word(f, top.iter().copied()))
    }
}

impl Display for Notation<'_, Pattern> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let shared = match self.item.shared {
            Wild::Any => "*",
            Wild::Is(q) => self.system.shared_name(q),
        };
        self.state(f, shared, &self.item.tops, |f, top| match top {
            Wild::Any => f.write_str("*"),
            Wild::Is(top) => self.word(f, top.iter().copied()),
        })
    }
}

impl Display for Notation<'_, Action> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (from, read) = self.item.source();
        let (to, written) = self.item.target();
        write!(f, "({},", self.system.shared_name(from))?;
        self.word(f, read.into_iter())?;
        let arrow = if self.paper { "→" } else { "->" };
        write!(f, ") {arrow} ({},", self.system.shared_name(to))?;
        self.word(f, written)?;
        f.write_str(")")
    }
}

//! Limits of a program. Larger programs are refused.

use cpds::MAX_NAME;

/// The most shared variables, thread-local variables, variables of a function, and results of a
/// function.
pub(crate) const MOST_VARIABLES: usize = 1 << 14;

/// The most locks.
pub(crate) const MOST_LOCKS: usize = 1 << 12;

/// The longest name, in bytes.
pub(crate) const LONGEST_NAME: usize = MAX_NAME / 2;

/// The deepest nesting of blocks, and of expressions in a text.
pub(crate) const DEEPEST: usize = 250;

/// The most tokens of a text. A program with more would have too many places.
pub(crate) const MOST_TOKENS: usize = 1 << 19;

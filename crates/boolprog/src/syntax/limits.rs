//! Limits of a program: what is larger is refused.

use cpds::MAX_NAME;

/// The most variables of a kind: shared ones, thread-local ones, those of a function; and the most
/// results of a function.
pub(crate) const MOST_VARIABLES: usize = 1 << 14;

/// The most locks.
pub(crate) const MOST_LOCKS: usize = 1 << 12;

/// The longest name, in bytes.
pub(crate) const LONGEST_NAME: usize = MAX_NAME / 2;

/// How deep blocks may be nested, and expressions of a text.
pub(crate) const DEEPEST: usize = 250;

/// The most tokens of a text: a program with more would have too many places.
pub(crate) const MOST_TOKENS: usize = 1 << 19;

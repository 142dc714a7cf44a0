//! The text of a program: parsing and printing.
//!
//! In: a text. Out: a syntax tree and diagnostics. Or in: a syntax tree that was built in code.
//! Out: its text, and the tree with its places in that text.

mod keywords;
mod lexer;
mod parser;
mod print;
mod well_formed;

pub(crate) use keywords::STARTS;
pub(crate) use parser::{instead_of_constant, parse, parse_expression};
pub(crate) use print::placed;
pub use print::print;
pub(crate) use well_formed::check_built_tree;

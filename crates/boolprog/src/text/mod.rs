//! The text of a program.

mod lexer;
mod parser;
mod print;
mod well_formed;

pub(crate) use parser::{STARTS, instead_of_constant, parse, parse_expression};
pub(crate) use print::placed;
pub use print::print;
pub(crate) use well_formed::check_built_tree;

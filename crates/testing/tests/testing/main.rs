//! Tests of the oracle, of the interpreter, of the models, of the project's prose, and of the
//! search for cycles of imports.

mod artifact;
mod corpus;
mod interpreter;
mod oracle;
mod prose;
mod rooms;

//! Tests of the oracle, of the interpreter, of the models and of the project's prose.

mod artifact;
mod corpus;
mod interpreter;
mod oracle;
mod prose;

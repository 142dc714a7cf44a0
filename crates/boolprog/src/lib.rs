//! Concurrent Boolean programs (the paper's App. B): reading them, and lowering them to concurrent
//! pushdown systems.
//!
//! The language and its meaning are described in `docs/boolean-programs.md`. Data flows one way:
//!
//! ```text
//! text ── lex, parse ── syntax ── check ── graph ── explore (state, step, store) ── lower ── cpds::Problem
//! code ── tree, print ────┘          threads ┘                                └──── SourceMap: the way back
//! ```
//!
//! The result is an ordinary system: engines, certificates and the checker know nothing of
//! programs. Shared states are the values of the shared variables, and what synchronisation needs;
//! stack symbols are places with the values of local variables. Only combinations that a
//! thread-modular exploration can reach are there.

mod exploration;
mod graph;
mod lowering;
mod source_map;
mod states;
pub mod syntax;
mod text;
pub mod threads;

pub use lowering::BadStates;
pub use source_map::{
    Change, FramePlace, HeldLock, ProgramContext, ProgramFrame, ProgramState, ProgramStep, ProgramTrace, SourceError,
    SourceFrame, SourceMap, SourceStep, StepKind, Synchronisation, SynchronisationEvent, VariableKind,
};
pub use text::print;

use cpds::diagnostic::{Diagnostic, Diagnostics};
use cpds::{ReadError, Reading, Source};
use std::collections::BTreeSet;
use std::fmt;
use syntax::Program;

/// Which threads there are, and what is bad_states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Functions to start instead of `main`, and in how many threads.
    pub instances: Vec<(String, u32)>,
    /// How many threads that were created may be there at a time, where the program does not say.
    pub threads: Option<u32>,
    /// What is bad_states.
    pub bad_states: BadStates,
    /// About how many bytes the system may take while it is made. A program that takes more is
    /// refused.
    pub memory: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options { instances: Vec::new(), threads: None, bad_states: BadStates::Errors, memory: 4 << 30 }
    }
}

/// A program as a pushdown system.
#[derive(Debug)]
pub struct Lowered {
    /// The system and its property, and what there is to say about the text.
    pub reading: Reading,
    /// The way back.
    pub map: SourceMap,
    /// The program itself.
    pub program: Program,
}

impl Lowered {
    /// What an answer rests on: less than everything that the program may do.
    pub fn assumptions(&self) -> Vec<Assumption> {
        self.map.threads().limit.map(Assumption::CreatedThreads).into_iter().collect()
    }
}

/// What an answer rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assumption {
    /// At most so many threads that were created are there at a time.
    CreatedThreads(u32),
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Assumption::CreatedThreads(limit) = self;
        let plural = if *limit == 1 { "" } else { "s" };
        write!(f, "at most {limit} created thread{plural} at a time")
    }
}

/// The syntax tree of a text, as far as it can be understood, and what is wrong with the text.
/// Names are not looked up.
pub fn parse(source: &Source) -> (Program, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let (program, _) = text::parse(source, &mut diagnostics);
    diagnostics.sort();
    (program, diagnostics)
}

/// Reads a program, and writes it again in its own dialect. Comments are lost.
pub fn format(source: Source) -> Result<String, ReadError> {
    let mut diagnostics = Diagnostics::default();
    let (program, possibly_declared) = text::parse(&source, &mut diagnostics);
    graph::resolve(&program, &possibly_declared, &mut diagnostics);
    if diagnostics.is_ok() {
        return Ok(print(&program));
    }
    diagnostics.sort();
    Err(ReadError { sources: vec![source], diagnostics })
}

/// Reads a program and lowers it.
pub fn read(source: Source, options: &Options) -> Result<Lowered, ReadError> {
    let mut diagnostics = Diagnostics::default();
    let (program, possibly_declared) = text::parse(&source, &mut diagnostics);
    lowered((program, &possibly_declared), source, options, diagnostics)
}

/// Lowers a program that was built in code.
///
/// Its text is what [`print`] makes of it, and there everything has its place. So what is wrong
/// with the program is told as for one that was read, lines are lines of that text, and states can
/// be written in words and read back. [`Lowered::program`] is the program with these places.
/// Statements keep their [`StatementId`](syntax::StatementId).
///
/// # Errors
/// If the program has no meaning, or cannot be written down: names that are none, nesting that is
/// too deep.
pub fn lower(program: &Program, options: &Options) -> Result<Lowered, ReadError> {
    let mut diagnostics = Diagnostics::default();
    text::check_built_tree(program, &mut diagnostics);
    if !diagnostics.is_ok() {
        return Err(ReadError { sources: Vec::new(), diagnostics });
    }
    let (text, program) = text::placed(program.clone());
    if u32::try_from(text.len()).is_err() {
        return Err(ReadError::new(Vec::new(), Diagnostic::error("too large a program: its text is 4 GiB or more")));
    }
    lowered((program, &BTreeSet::new()), Source::new("program", text), options, diagnostics)
}

/// Lowers a program with its places in a text. `possibly_declared` are names that may have been declared
/// where the text was not understood.
fn lowered(
    (program, possibly_declared): (Program, &BTreeSet<String>),
    source: Source,
    options: &Options,
    mut diagnostics: Diagnostics,
) -> Result<Lowered, ReadError> {
    let graph = graph::resolve(&program, possibly_declared, &mut diagnostics);
    let (mut sources, mut lowered) = (vec![source], None);
    if diagnostics.is_ok() {
        let threads = threads::plan(&graph, &options.instances, options.threads, &mut diagnostics);
        if diagnostics.is_ok() {
            let bad_states = (&options.bad_states, program.dialect);
            lowered = lowering::lower(graph, threads, bad_states, options.memory, &mut sources, &mut diagnostics);
        }
    }
    diagnostics.sort();
    match lowered {
        Some((problem, map)) if diagnostics.is_ok() => {
            Ok(Lowered { reading: Reading { problem, sources, diagnostics }, map, program })
        }
        _ => Err(ReadError { sources, diagnostics }),
    }
}

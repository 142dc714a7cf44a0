//! Concurrent Boolean programs (paper, App. B): parses them, and lowers them to concurrent pushdown
//! systems.
//!
//! `docs/boolean-programs.md` describes the language and its meaning. Data flows one way through
//! the folders:
//!
//! ```text
//! text ── text ── syntax ── graph ── threads ── exploration ── lowering ── cpds::Problem
//! code ─────────────┘                            (states)          └── source_map: the way back
//! ```
//!
//! The result is an ordinary system. Engines, certificates and the checker do not depend on this
//! crate. A shared state consists of the values of the shared variables, and the state of locks,
//! atomic sections and created threads. A stack symbol is a place with the values of the local
//! variables. The system contains only the symbols and shared states that a thread-modular
//! exploration reaches.

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

use cpds::diagnostic::{Diagnostic, Diagnostics, plural};
use cpds::{ReadError, Reading, Source};
use std::collections::BTreeSet;
use std::fmt;
use syntax::Program;

/// The threads of the system, its bad states, and the limit for its memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The functions to start instead of `main`, each with its number of threads.
    pub instances: Vec<(String, u32)>,
    /// The limit for the number of created threads at a time. A program without a bound of its own
    /// needs it.
    pub threads: Option<u32>,
    /// The bad states.
    pub bad_states: BadStates,
    /// The limit for the memory of the system while it is computed, in bytes. The memory is
    /// estimated. A program that needs more is an error.
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
    /// The system and its property, with warnings about the text.
    pub reading: Reading,
    /// The map from the system back to the program.
    pub map: SourceMap,
    /// The program itself.
    pub program: Program,
}

impl Lowered {
    /// Returns the assumptions that an answer depends on: restrictions of the program's behaviour.
    pub fn assumptions(&self) -> Vec<Assumption> {
        self.map.threads().limit.map(Assumption::CreatedThreads).into_iter().collect()
    }
}

/// An assumption of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assumption {
    /// There are at most this many created threads at a time.
    CreatedThreads(u32),
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Assumption::CreatedThreads(limit) = self;
        write!(f, "at most {} at a time", plural(*limit, "created thread"))
    }
}

/// Parses a text. Returns the diagnostics, and the syntax tree without the parts that have errors.
/// Does not resolve names.
pub fn parse(source: &Source) -> (Program, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let (program, _) = text::parse(source, &mut diagnostics);
    diagnostics.sort();
    (program, diagnostics)
}

/// Reads a program, and prints it in its own dialect, without its comments.
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
/// [`print()`] makes the text of the program. All places refer to that text. So diagnostics, lines,
/// and states as text work as for a program that was read. [`Lowered::program`] is the program with
/// these places. Statements keep their [`StatementId`](syntax::StatementId).
///
/// # Errors
/// If the program is not valid, or if it cannot be printed because of invalid names or deep
/// nesting.
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

/// Lowers a program with its places in a text. `possibly_declared` are words of statements that the
/// parser did not understand.
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

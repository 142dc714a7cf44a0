//! Reads and writes systems as text: `.cpds`, our own format, and `.pds` with `.init` and `.spec`,
//! the format of the published artifact.
//!
//! Both formats have the same syntax tree and the same name resolution, so names have the same
//! meaning and mistakes have the same messages. The input is [`Source`]s, and the output is
//! strings. Only [`read_file`] and [`read_text`] access files.

mod cpds;
mod declare;
mod family;
mod file;
mod fingerprint;
mod lex;
mod name_lists;
mod parser;
mod pds;
mod print;
mod resolve;
mod scope;
mod syntax;

pub use file::{Format, FromFile, is_program, read_file, read_text};
pub use print::{PdsText, print_cpds, print_pds};

use crate::diagnostic::{Diagnostics, ReadError, Source};
use crate::{Cpds, GlobalState, Problem};
use syntax::{StateNode, Tree};

/// Collects the texts of a system, and makes the system.
///
/// ```
/// use cpds::{Reader, Source};
/// let mut reader = Reader::pds(Source::new("tiny.pds", "1\nPDA 0 1\n0 0 -> 0 1\n"));
/// reader.init_file(Source::new("tiny.init", "0|0\n"));
/// let problem = reader.finish()?.problem;
/// assert_eq!(problem.system().initial().len(), 1);
/// # Ok::<(), cpds::ReadError>(())
/// ```
pub struct Reader {
    sources: Vec<Source>,
    tree: Tree,
    diagnostics: Diagnostics,
}

/// The result of a [`Reader`].
#[derive(Debug)]
pub struct Reading {
    /// The system and its property.
    pub problem: Problem,
    /// The texts.
    pub sources: Vec<Source>,
    /// The warnings about the texts.
    pub diagnostics: Diagnostics,
}

impl Reader {
    /// Makes a reader for a `.cpds` text.
    pub fn cpds(source: Source) -> Self {
        Self::start(source, cpds::parse_file)
    }

    /// Makes a reader for a `.pds` text.
    pub fn pds(source: Source) -> Self {
        Self::start(source, pds::parse_file)
    }

    fn start(source: Source, parse: fn(&[Source], u32, &mut Tree, &mut Diagnostics)) -> Self {
        let mut reader = Reader { sources: vec![source], tree: Tree::default(), diagnostics: Diagnostics::default() };
        parse(&reader.sources, 0, &mut reader.tree, &mut reader.diagnostics);
        reader
    }

    fn add(&mut self, source: Source) -> u32 {
        self.sources.push(source);
        u32::try_from(self.sources.len() - 1).expect("a handful of sources")
    }

    /// Adds the initial states of a `.init` text.
    pub fn init_file(&mut self, source: Source) {
        let source = self.add(source);
        self.tree.init_source = source;
        let (states, unclear) = pds::parse_states(&self.sources, source, &mut self.diagnostics);
        self.tree.initial.extend(states);
        self.tree.initial_unclear |= unclear;
    }

    /// Adds the bad patterns of a `.spec` text.
    pub fn spec_file(&mut self, source: Source) {
        let source = self.add(source);
        self.tree.bad.extend(pds::parse_states(&self.sources, source, &mut self.diagnostics).0);
    }

    /// Replaces the initial states by these, each written as in a `.cpds` file.
    pub fn replace_initial(&mut self, states: impl IntoIterator<Item = Source>) {
        let before = self.diagnostics.errors();
        self.tree.initial = self.states(states);
        self.tree.initial_unclear = self.diagnostics.errors() > before;
    }

    /// Replaces the bad patterns by these, each written as in a `.cpds` file.
    pub fn replace_bad(&mut self, patterns: impl IntoIterator<Item = Source>) {
        self.tree.bad = self.states(patterns);
    }

    /// Sets the number of threads for each template. The result is a system with these threads.
    pub fn instances(&mut self, threads: impl IntoIterator<Item = (String, u32)>) {
        self.tree.instances = threads.into_iter().collect();
    }

    fn states(&mut self, texts: impl IntoIterator<Item = Source>) -> Vec<StateNode> {
        let mut states = Vec::new();
        for text in texts {
            let source = self.add(text);
            states.extend(cpds::parse_state(&self.sources, source, &mut self.diagnostics));
        }
        if self.tree.numeric {
            for state in &mut states {
                state.declares = true;
            }
        }
        states
    }

    /// Resolves all names, and makes the system.
    pub fn finish(mut self) -> Result<Reading, ReadError> {
        let problem = resolve::resolve(&self.sources, &self.tree, &mut self.diagnostics);
        self.diagnostics.sort();
        let Reader { sources, diagnostics, .. } = self;
        assert_eq!(problem.is_some(), diagnostics.is_ok(), "there is either a system or an error");
        match problem {
            Some(problem) => Ok(Reading { problem, sources, diagnostics }),
            None => Err(ReadError { sources, diagnostics }),
        }
    }
}

/// Reads a `.cpds` text, without its warnings.
impl std::str::FromStr for Problem {
    type Err = ReadError;

    fn from_str(text: &str) -> Result<Problem, ReadError> {
        Ok(Reader::cpds(text.into()).finish()?.problem)
    }
}

impl Cpds {
    /// Reads a state of this system, written as in a `.cpds` file or as in the paper.
    ///
    /// ```
    /// let problem: cpds::Problem = "shared 0; init 0|a; thread P { symbols a b }".parse()?;
    /// let state = problem.system().read_state("⟨0|a b⟩")?;
    /// assert_eq!(problem.system().text(&state).to_string(), "0|a b");
    /// # Ok::<(), cpds::ReadError>(())
    /// ```
    pub fn read_state(&self, text: impl Into<Source>) -> Result<GlobalState, ReadError> {
        let sources = vec![text.into()];
        let mut diagnostics = Diagnostics::default();
        let node = cpds::parse_state(&sources, 0, &mut diagnostics);
        let scope = scope::Scope::of(self, &sources);
        let threads = self.thread_count() as u64;
        let node = node.filter(|node| resolve::are_few(std::slice::from_ref(node), "state", threads, &mut diagnostics));
        match node.and_then(|node| scope.state(&node, &mut diagnostics)) {
            Some(state) => Ok(state),
            None => Err(ReadError { sources, diagnostics }),
        }
    }
}

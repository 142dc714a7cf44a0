//! From a file name to a problem.

use crate::running::limits::{self, Phase};
use crate::running::{crash_report, faults};
use crate::text::diagnostics;
use crate::verbs::command_line::{Stopped, heading};
use boolprog::{Asked, SourceMap};
use clap::Args;
use cpds::diagnostic::printable;
use cpds::{FromFile, Problem, Reading, is_program, read_file, read_text};
use std::iter;
use std::path::{Path, PathBuf};

/// Which model: the same for every verb.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    /// The model: a file that ends in .bp, .cpds or .pds
    ///
    /// A Boolean program (.bp), a .cpds file, or a .pds file with a .init and perhaps a .spec of the same name beside it.
    pub(crate) file: PathBuf,
    /// Start here instead of where the file says
    ///
    /// A state such as '0|1,4 6': the shared state, then each stack, top first, '-' if it is empty. Repeatable.
    #[arg(long, value_name = "STATE", help_heading = heading::MODEL)]
    init: Vec<String>,
    /// Take this as bad instead of what the file says
    ///
    /// A pattern such as '0|1,*' ('*' is anything, '-' is empty); for a .bp file, such as 'x & !y|crit,*', with a place for each
    /// thread: the threads that main starts are grouped by function, and then come those that are created. Repeatable.
    #[arg(long, value_name = "PATTERN", help_heading = heading::MODEL)]
    target: Vec<String>,
    #[command(flatten)]
    program: ProgramArgs,
}

/// What can be said of a Boolean program.
#[derive(Args, Debug)]
struct ProgramArgs {
    /// Start these functions of a .bp file, not main
    ///
    /// Each in so many threads, e.g. adder=2,stopper=1.
    #[arg(long, value_name = "F=N,…", value_delimiter = ',', value_parser = instance, help_heading = heading::MODEL)]
    instances: Vec<(String, u32)>,
    /// How many threads a .bp file may create
    ///
    /// So many at a time, where it may create any number. Where it creates no more anyway, that changes nothing.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = heading::MODEL)]
    threads: Option<u32>,
    /// Take it as bad to be at this label of a .bp file
    ///
    /// Instead of a failed assertion. The label is L, or f:L in the function f; not one of a main that only starts threads.
    /// Repeatable.
    #[arg(long, value_name = "LABEL", conflicts_with = "target", help_heading = heading::MODEL)]
    label: Vec<String>,
}

/// `adder=2`.
fn instance(text: &str) -> Result<(String, u32), String> {
    let (function, number) = text.split_once('=').ok_or("a function and a number, as in adder=2")?;
    let number = number.trim().parse().map_err(|_| "a function and a number, as in adder=2")?;
    Ok((function.trim().to_owned(), number))
}

/// The file formats, by extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Our own
    Cpds,
    /// The published tool's, with .init and .spec beside it
    Pds,
    /// A Boolean program, formatted; from a Boolean program only
    Bp,
}

/// A problem, with what there is to say about its text.
pub(crate) struct Loaded {
    pub(crate) reading: Reading,
    pub(crate) format: Format,
    /// If it was a Boolean program: that, and the way back to it.
    pub(crate) program: Option<LoadedProgram>,
}

/// A Boolean program.
pub(crate) struct LoadedProgram {
    pub(crate) map: SourceMap,
    /// What is asked.
    pub(crate) asked: Asked,
    /// What the answer rests on.
    pub(crate) assumptions: Vec<String>,
}

impl Loaded {
    pub(crate) fn problem(&self) -> &Problem {
        &self.reading.problem
    }

    /// What the answer rests on, if it is less than everything that the program may do.
    pub(crate) fn assumptions(&self) -> &[String] {
        self.program.as_ref().map_or(&[], |program| &program.assumptions)
    }

    /// What an answer says about that.
    pub(crate) fn assuming(&self) -> String {
        match self.assumptions() {
            [] => String::new(),
            assumptions => format!("; assuming {}", assumptions.join(", ")),
        }
    }

    /// The warnings, as text.
    pub(crate) fn warnings(&self) -> String {
        diagnostics::warnings(&self.reading.sources, &self.reading.diagnostics)
    }
}

impl ModelArgs {
    /// The file, and those that may belong to it. Not all of them need be there.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let is_pds = known_format(&self.file) == Some(Format::Pds);
        let neighbours =
            ["init", "spec"].iter().filter(|_| is_pds).map(|extension| self.file.with_extension(extension));
        iter::once(self.file.clone()).chain(neighbours).collect()
    }

    /// The option that says what is bad, if there is one.
    pub(crate) fn bad_option(&self) -> Option<&'static str> {
        let given = [("--target", !self.target.is_empty()), ("--label", !self.program.label.is_empty())];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Reads the model and its neighbours.
    pub(crate) fn load(&self) -> Result<Loaded, Stopped> {
        let files = self.files();
        limits::enter(Phase::Reading);
        crash_report::reads(&files);
        faults::here("reading");
        let ProgramArgs { instances, threads, label } = &self.program;
        if known_format(&self.file) != Some(Format::Bp) {
            let given = [
                ("--instances", !instances.is_empty()),
                ("--threads", threads.is_some()),
                ("--label", !label.is_empty()),
            ];
            if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
                return Err(Stopped::Usage(format!(
                    "{option} is for Boolean programs, and `{}` is none",
                    shown(&self.file)
                )));
            }
            let FromFile { reading, format, .. } = read_file(&self.file, &self.init, &self.target)?;
            return Ok(Loaded { reading, format: format.into(), program: None });
        }
        if !self.init.is_empty() {
            let message = "a Boolean program starts where it says; see --instances, and give variables a value where they are declared";
            return Err(Stopped::Usage(format!("--init: {message}")));
        }
        let asked = match (label.as_slice(), self.target.as_slice()) {
            ([], []) => Asked::Errors,
            ([], targets) => Asked::Targets(targets.to_vec()),
            (labels, _) => Asked::Labels(labels.to_vec()),
        };
        let options = boolprog::Options { instances: instances.clone(), threads: *threads, asked: asked.clone() };
        let text = read_text(&self.file)?;
        limits::enter(Phase::Lowering);
        let lowered = boolprog::read(text, &options)?;
        let assumptions = lowered.assumptions();
        let program = LoadedProgram { map: lowered.map, asked, assumptions };
        Ok(Loaded { reading: lowered.reading, format: Format::Bp, program: Some(program) })
    }
}

impl From<cpds::Format> for Format {
    fn from(format: cpds::Format) -> Self {
        match format {
            cpds::Format::Cpds => Format::Cpds,
            cpds::Format::Pds => Format::Pds,
        }
    }
}

/// The format that the file's name stands for.
pub(crate) fn known_format(path: &Path) -> Option<Format> {
    if is_program(path) {
        return Some(Format::Bp);
    }
    cpds::Format::of_name(path).map(Format::from)
}

/// A path as it can be shown.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::{ReadError, Reader, Source, print_cpds, print_pds};
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;

    /// Reads bytes as every kind of file and shows what there is to say. Nothing may panic.
    fn answers(bytes: &[u8]) {
        let source = match Source::decode("fuzz", bytes.to_vec()) {
            Ok(source) => source,
            Err(ReadError { sources, diagnostics }) => {
                assert!(diagnostics::errors(&sources, &diagnostics).contains("not UTF-8"));
                return;
            }
        };
        let options = boolprog::Options { threads: Some(1), ..boolprog::Options::default() };
        if let Err(ReadError { sources, diagnostics }) = boolprog::read(source.clone(), &options) {
            assert_ne!(diagnostics::errors(&sources, &diagnostics), "");
        }
        let small = || Reader::pds(Source::new("small", "1\nPDA 0 0\n"));
        let mut with_init = small();
        with_init.init_file(source.clone());
        let mut with_option = small();
        with_option.replace_initial([source.clone()]);
        for reader in [Reader::cpds(source.clone()), Reader::pds(source), with_init, with_option] {
            match reader.finish() {
                Ok(Reading { sources, diagnostics, .. }) => assert_eq!(diagnostics::errors(&sources, &diagnostics), ""),
                Err(ReadError { sources, diagnostics }) => assert_ne!(diagnostics::errors(&sources, &diagnostics), ""),
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_get_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            answers(&bytes);
        }

        #[test]
        fn mutated_files_get_an_answer(
            problem in problem(&Shape::default()),
            pds in any::<bool>(),
            edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        ) {
            let text = if pds { print_pds(&problem).pds } else { print_cpds(&problem) };
            let mut bytes = text.into_bytes();
            for (place, byte) in edits {
                let at = place.index(bytes.len());
                bytes[at] = byte;
            }
            answers(&bytes);
        }
    }
}

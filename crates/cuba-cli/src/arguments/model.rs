//! The model of a command: from the name of a file to a problem.

use crate::analysis::model::{Format, Loaded, LoadedProgram};
use crate::analysis::phase::Phase;
use crate::arguments::heading;
use crate::running::answer::Stopped;
use crate::running::run::Run;
use crate::text::file_names::shown;
use boolprog::{Assumption, BadStates};
use clap::Args;
use cpds::{FromFile, ReadError, Source, read_file, read_text};
use std::iter;
use std::path::{Path, PathBuf};

/// Which model: the same for every verb.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    /// The model: a file that ends in .bp, .cpds or .pds
    ///
    /// A Boolean program (.bp), a .cpds file, or a .pds file with a .init and perhaps a .spec of
    /// the same name beside it.
    pub(crate) file: PathBuf,
    /// Start here instead of where the file says
    ///
    /// A state such as '0|1,4 6': the shared state, then each stack, top first, '-' if it is empty.
    /// Repeatable.
    #[arg(long, value_name = "STATE", help_heading = heading::MODEL)]
    init: Vec<String>,
    /// Take this as bad instead of what the file says
    ///
    /// A pattern such as '0|1,*' ('*' is anything, '-' is empty); for a .bp file, such as 'x &
    /// !y|crit,*', with a place for each thread: the threads that main starts are grouped by
    /// function, and then come those that are created. Repeatable.
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
    /// So many at a time, where it may create any number. Where it creates no more anyway, that
    /// changes nothing.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = heading::MODEL)]
    threads: Option<u32>,
    /// Take it as bad to be at this label of a .bp file
    ///
    /// Instead of a failed assertion. The label is L, or f:L in the function f; not one of a main
    /// that only starts threads. Repeatable.
    #[arg(long, value_name = "LABEL", conflicts_with = "target", help_heading = heading::MODEL)]
    label: Vec<String>,
}

/// `adder=2`.
fn instance(text: &str) -> Result<(String, u32), String> {
    let (function, number) = text.split_once('=').ok_or("a function and a number, as in adder=2")?;
    let number = number.trim().parse().map_err(|_| "a function and a number, as in adder=2")?;
    Ok((function.trim().to_owned(), number))
}

impl ModelArgs {
    /// The file, and those that may belong to it. Not all of them need be there.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let is_pds = Format::of_name(&self.file) == Some(Format::Pds);
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
    pub(crate) fn load(&self, run: &Run) -> Result<Loaded, Stopped> {
        let files = self.files();
        run.enter(Phase::Reading);
        run.reads(&files);
        run.fault("reading");
        let path = run.files.resolve(&self.file);
        let ProgramArgs { instances, threads, label } = &self.program;
        if Format::of_name(&self.file) != Some(Format::Bp) {
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
            let (init, target) = (named("--init", &self.init), named("--target", &self.target));
            let read = read_file(&path, &init, &target);
            let FromFile { mut reading, format, .. } = read.map_err(|mut error| {
                self.name_sources(run, &mut error.sources);
                error
            })?;
            self.name_sources(run, &mut reading.sources);
            return Ok(Loaded { reading, format: format.into(), program: None });
        }
        if !self.init.is_empty() {
            let message = "a Boolean program starts where it says; see --instances, and give variables a value where they are declared";
            return Err(Stopped::Usage(format!("--init: {message}")));
        }
        let asked = match (label.as_slice(), self.target.as_slice()) {
            ([], []) => BadStates::Errors,
            ([], targets) => BadStates::Targets(named("--target", targets)),
            (labels, _) => BadStates::Labels(labels.to_vec()),
        };
        // The rest is for what is not counted, and for the analysis.
        let memory = run.memory().bytes as u64 / 4 * 3;
        let options =
            boolprog::Options { instances: instances.clone(), threads: *threads, bad_states: asked.clone(), memory };
        let text = read_program(run, &self.file)?;
        run.enter(Phase::Lowering);
        let lowered = boolprog::read(text, &options)?;
        let assumptions = lowered.assumptions().into_iter().map(|assumption| match assumption {
            Assumption::CreatedThreads(limit) => format!("{assumption} (--threads {limit})"),
        });
        let assumptions = assumptions.collect();
        let program = LoadedProgram { map: lowered.map, asked, assumptions };
        Ok(Loaded { reading: lowered.reading, format: Format::Bp, program: Some(program) })
    }

    /// Calls the texts of the model as the user does, wherever they are.
    fn name_sources(&self, run: &Run, sources: &mut [Source]) {
        for file in self.files() {
            let resolved = shown(&run.files.resolve(&file));
            for source in sources.iter_mut().filter(|source| source.name == resolved) {
                source.name = shown(&file);
            }
        }
    }
}

/// The text of a program, which has the name that the user gives it.
pub(crate) fn read_program(run: &Run, file: &Path) -> Result<Source, ReadError> {
    let text = read_text(&run.files.resolve(file))?;
    Ok(Source { name: shown(file), ..text })
}

/// Texts that were given with an option.
fn named(option: &str, texts: &[String]) -> Vec<Source> {
    texts.iter().map(|text| Source::new(option, text.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::diagnostics;
    use cpds::{Reader, Reading, print_cpds, print_pds};
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

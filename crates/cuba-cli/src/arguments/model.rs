//! The options that choose the model. Reads the model from its files.

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

/// The model, the same for every verb.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    /// The model: a .bp, .cpds or .pds file
    ///
    /// A .bp file has a Boolean program, the others have a system. Beside a .pds file, the .init
    /// and .spec files of the same name are read, too.
    pub(crate) file: PathBuf,
    /// Replace the initial states of the model by this state
    ///
    /// A state such as '0|1,4 6': the shared state, then each stack, top first; '-' is an empty
    /// stack. Can be given several times.
    #[arg(long, value_name = "STATE", help_heading = heading::MODEL)]
    init: Vec<String>,
    /// Replace the bad patterns of the model by this pattern
    ///
    /// A pattern such as '0|1,*'; '*' fits anything, '-' is an empty stack. For a .bp file, a
    /// pattern such as 'x & !y|crit,*', with a place for each thread: first the threads that main
    /// starts, grouped by function, then the threads that are created. Can be given several times.
    #[arg(long, value_name = "PATTERN", help_heading = heading::MODEL)]
    target: Vec<String>,
    #[command(flatten)]
    program: ProgramArgs,
}

/// The options that only a Boolean program has.
#[derive(Args, Debug)]
struct ProgramArgs {
    /// Start these functions of a .bp file instead of main
    ///
    /// With the number of threads for each function, e.g. adder=2,stopper=1.
    #[arg(long, value_name = "F=N,…", value_delimiter = ',', value_parser = instance, help_heading = heading::MODEL)]
    instances: Vec<(String, u32)>,
    /// Allow at most N created threads of a .bp file at a time
    ///
    /// For a program that may create any number of threads. The option has no effect on a program
    /// that never creates more.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = heading::MODEL)]
    threads: Option<u32>,
    /// Ask whether a thread can reach this label of a .bp file
    ///
    /// Instead of whether an assertion can fail. The label is L, or f:L in the function f. It must
    /// not be in a main that only starts threads. Can be given several times.
    #[arg(long, value_name = "LABEL", conflicts_with = "target", help_heading = heading::MODEL)]
    label: Vec<String>,
}

/// Reads a function and a number: `adder=2`.
fn instance(text: &str) -> Result<(String, u32), String> {
    let (function, number) = text.split_once('=').ok_or("expected a function and a number, as in adder=2")?;
    let number = number.trim().parse().map_err(|_| "expected a function and a number, as in adder=2")?;
    Ok((function.trim().to_owned(), number))
}

impl ModelArgs {
    /// Returns the model file and its neighbours, which may be missing.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let is_pds = Format::of_name(&self.file) == Some(Format::Pds);
        let neighbours =
            ["init", "spec"].iter().filter(|_| is_pds).map(|extension| self.file.with_extension(extension));
        iter::once(self.file.clone()).chain(neighbours).collect()
    }

    /// Returns the option that replaces the bad patterns, if it is given.
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
                    "{option} is only for Boolean programs, and `{}` is not one",
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
            let message = "a Boolean program has its own initial states; choose functions with --instances, and give variables a value in their declaration";
            return Err(Stopped::Usage(format!("--init: {message}")));
        }
        let asked = match (label.as_slice(), self.target.as_slice()) {
            ([], []) => BadStates::Errors,
            ([], targets) => BadStates::Targets(named("--target", targets)),
            (labels, _) => BadStates::Labels(labels.to_vec()),
        };
        // The rest is for uncounted memory and for the analysis.
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
        let program = LoadedProgram { map: lowered.map, property: asked, assumptions };
        Ok(Loaded { reading: lowered.reading, format: Format::Bp, program: Some(program) })
    }

    /// Gives the sources the names that the user gave, which may be relative to another folder.
    fn name_sources(&self, run: &Run, sources: &mut [Source]) {
        for file in self.files() {
            let resolved = shown(&run.files.resolve(&file));
            for source in sources.iter_mut().filter(|source| source.name == resolved) {
                source.name = shown(&file);
            }
        }
    }
}

/// Reads the text of a program. The source has the name that the user gave.
pub(crate) fn read_program(run: &Run, file: &Path) -> Result<Source, ReadError> {
    let text = read_text(&run.files.resolve(file))?;
    Ok(Source { name: shown(file), ..text })
}

/// Turns the values of an option into sources.
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

    /// Reads bytes as every kind of file and prints the diagnostics. Nothing may panic.
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

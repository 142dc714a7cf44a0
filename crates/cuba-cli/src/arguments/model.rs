//! The options that choose the model. Reads the model from its files.

use crate::analysis::model::{Format, LoadedModel, LoadedProgram};
use crate::analysis::phase::Phase;
use crate::arguments::heading;
use crate::running::answer::VerbError;
use crate::running::run::Run;
use crate::text::file_names::printable_path;
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
    /// A .bp file has a Boolean program, the others have a pushdown system. With a .pds file, the
    /// .init and .spec files of the same name are read, too.
    pub(crate) file: PathBuf,
    /// Replace the initial states of the model by this state
    ///
    /// The state is written as '0|1,4 6': first the shared state, then each stack, top first. '-'
    /// is an empty stack. Can be given several times.
    #[arg(long, value_name = "STATE", help_heading = heading::MODEL)]
    init: Vec<String>,
    /// Replace the bad patterns of the model by this pattern
    ///
    /// The pattern is written as '0|1,*'. '*' fits anything, '-' is an empty stack. For a .bp file,
    /// it is written as 'x & !y|crit,*', with a place for each thread: first the threads that main
    /// starts, grouped by function, then the threads that are created. Can be given several times.
    #[arg(long, value_name = "PATTERN", help_heading = heading::MODEL)]
    target: Vec<String>,
    #[command(flatten)]
    program: ProgramArgs,
}

/// The options that only a Boolean program has.
#[derive(Args, Debug)]
struct ProgramArgs {
    /// Start so many threads of these functions or templates
    ///
    /// For a .bp file, these functions start instead of main, e.g. adder=2,stopper=1. For a .cpds
    /// file, each template (thread NAME * any) needs its number of threads.
    #[arg(long, value_name = "F=N,…", value_delimiter = ',', value_parser = instance, help_heading = heading::MODEL)]
    instances: Vec<(String, u32)>,
    /// Allow at most N created threads of a .bp file at a time
    ///
    /// A program that may create any number of threads needs this option. It has no effect on a
    /// program that never creates more than N threads.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = heading::MODEL)]
    threads: Option<u32>,
    /// Make a state bad if a thread is at this label of a .bp file
    ///
    /// Failed assertions are then not bad. The label is written as L, or as f:L for a label of the
    /// function f. It must not be in a main that only starts threads. Can be given several times.
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
    pub(crate) fn property_option(&self) -> Option<&'static str> {
        let given = [("--target", !self.target.is_empty()), ("--label", !self.program.label.is_empty())];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Reads the model and its neighbours.
    pub(crate) fn load(&self, run: &Run) -> Result<LoadedModel, VerbError> {
        let files = self.files();
        run.enter(Phase::Reading);
        run.record_inputs(&files);
        run.fault("reading");
        let path = run.files.resolve(&self.file);
        let ProgramArgs { instances, threads, label } = &self.program;
        if Format::of_name(&self.file) != Some(Format::Bp) {
            let given = [
                ("--instances", !instances.is_empty() && Format::of_name(&self.file) == Some(Format::Pds)),
                ("--threads", threads.is_some()),
                ("--label", !label.is_empty()),
            ];
            if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
                let kinds =
                    if option == "--instances" { "Boolean programs and .cpds files" } else { "Boolean programs" };
                return Err(VerbError::Usage(format!(
                    "{option} is only for {kinds}, and `{}` is not one",
                    printable_path(&self.file)
                )));
            }
            let (init, target) = (option_sources("--init", &self.init), option_sources("--target", &self.target));
            let read = read_file(&path, &init, &target, instances);
            let FromFile { mut reading, format, .. } = read.map_err(|mut error| {
                self.restore_source_names(run, &mut error.sources);
                error
            })?;
            self.restore_source_names(run, &mut reading.sources);
            return Ok(LoadedModel { reading, format: format.into(), program: None });
        }
        if !self.init.is_empty() {
            let message = "a Boolean program has its own initial states; choose functions with --instances, and give variables a value in their declaration";
            return Err(VerbError::Usage(format!("--init: {message}")));
        }
        let bad_states = match (label.as_slice(), self.target.as_slice()) {
            ([], []) => BadStates::Errors,
            ([], targets) => BadStates::Targets(option_sources("--target", targets)),
            (labels, _) => BadStates::Labels(labels.to_vec()),
        };
        // The remaining quarter is for uncounted memory and for the analysis.
        let memory = run.memory().bytes as u64 / 4 * 3;
        let options = boolprog::Options {
            instances: instances.clone(),
            threads: *threads,
            bad_states: bad_states.clone(),
            memory,
        };
        let text = read_program(run, &self.file)?;
        run.enter(Phase::Lowering);
        let lowered = boolprog::read(text, &options)?;
        let assumptions = lowered.assumptions().into_iter().map(|assumption| match assumption {
            Assumption::CreatedThreads(limit) => format!("{assumption} (--threads {limit})"),
        });
        let assumptions = assumptions.collect();
        let program = LoadedProgram { map: lowered.map, property: bad_states, assumptions };
        Ok(LoadedModel { reading: lowered.reading, format: Format::Bp, program: Some(program) })
    }

    /// Restores the names that the user gave. They may be relative to another folder than the
    /// current one.
    fn restore_source_names(&self, run: &Run, sources: &mut [Source]) {
        for file in self.files() {
            let resolved = printable_path(&run.files.resolve(&file));
            for source in sources.iter_mut().filter(|source| source.name == resolved) {
                source.name = printable_path(&file);
            }
        }
    }
}

/// Reads the text of a program. The source has the name that the user gave.
pub(crate) fn read_program(run: &Run, file: &Path) -> Result<Source, ReadError> {
    let text = read_text(&run.files.resolve(file))?;
    Ok(Source { name: printable_path(file), ..text })
}

/// Turns the values of an option into sources.
fn option_sources(option: &str, texts: &[String]) -> Vec<Source> {
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

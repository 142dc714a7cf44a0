//! `cuba convert`: converts a model to another format.

use crate::analysis::model::Format;
use crate::analysis::phase::Phase;
use crate::arguments::limits::LimitArgs;
use crate::arguments::model::{ModelArgs, read_program};
use crate::json;
use crate::running::answer::{Answer, VerbError, exit};
use crate::running::output_files::{PreparedFile, prepare};
use crate::running::run::Run;
use crate::text::file_names::printable_path;
use clap::Args;
use cpds::{PdsText, is_program, print_cpds, print_pds};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  cuba convert stutter.pds --to cpds
  cuba convert models/table2/dekker.bp --to cpds -o dekker.cpds
  cuba convert models/paper/fig2.cpds --to pds -o fig2.pds   with .init, .spec")]
pub(crate) struct Convert {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Choose the output format
    #[arg(long, value_name = "FORMAT")]
    to: Format,
    /// Write to this file [default: standard output]
    ///
    /// The .init and .spec files go beside a .pds file.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The texts to write, and the remarks and warnings about the model.
struct ConvertedModel {
    /// Texts with their extensions, as in [`extensions`].
    texts: Vec<(&'static str, String)>,
    remarks: String,
    warnings: Vec<json::WarningJson>,
}

fn converted(args: &Convert, run: &Run) -> Result<ConvertedModel, VerbError> {
    let file = &args.model.file;
    if args.to == Format::Bp {
        if !is_program(file) {
            return Err(VerbError::Usage(format!(
                "`{}` is not a Boolean program and cannot be converted to one",
                printable_path(file)
            )));
        }
        run.record_inputs([file]);
        // The program is not lowered, so the number of its threads does not matter.
        let texts = vec![("bp", boolprog::format(read_program(run, file)?)?)];
        let remarks =
            "note: comments are not kept, except for those that say which line a statement comes from\n".to_owned();
        return Ok(ConvertedModel { texts, remarks, warnings: Vec::new() });
    }
    let loaded = args.model.load(run)?;
    run.enter(Phase::Writing);
    let texts = if args.to == Format::Cpds {
        vec![("cpds", print_cpds(loaded.problem()))]
    } else {
        let PdsText { pds, init, spec } = print_pds(loaded.problem());
        vec![("pds", pds), ("init", init), ("spec", spec)]
    };
    let (remarks, warnings) = (loaded.warnings(), json::warnings(&loaded.reading));
    Ok(ConvertedModel { texts, remarks, warnings })
}

pub(crate) fn answer(args: &Convert, run: &Arc<Run>, quiet: bool) -> Result<Answer, VerbError> {
    args.limits.enforce(run, quiet, |ended| Err(VerbError::Limit(ended.to_string())));
    let paths = args.output.as_ref().map_or(Ok(Vec::new()), |output| args.outputs(run, output, quiet))?;
    let ConvertedModel { texts, remarks, warnings } = converted(args, run)?;
    if !paths.is_empty() {
        write(run, &paths, &texts)?;
    }
    let (stdout, note) = if args.json {
        let output = texts.into_iter().enumerate().map(|(i, (extension, text))| {
            let path = paths.get(i).map(|path| printable_path(path));
            let text = path.is_none().then_some(text);
            json::OutputJson { extension, path, text }
        });
        let object = json::ConvertJson {
            file: printable_path(&args.model.file),
            to: args.to,
            output: output.collect(),
            warnings,
        };
        (json::print(&object), String::new())
    } else if args.output.is_some() {
        let wrote: Vec<_> = paths.iter().map(|path| format!("wrote {}\n", printable_path(path))).collect();
        (String::new(), wrote.concat())
    } else {
        let note = match args.to {
            Format::Cpds | Format::Bp => "",
            Format::Pds => "note: this is the .pds file alone; with -o FILE.pds its .init and .spec are written too\n",
        };
        (texts[0].1.clone(), note.to_owned())
    };
    Ok(Answer { stdout, remarks: remarks + &note, errors: String::new(), code: exit::OK })
}

/// Returns the extensions of the files of a model in this format.
fn extensions(format: Format) -> &'static [&'static str] {
    match format {
        Format::Cpds => &["cpds"],
        Format::Pds => &["pds", "init", "spec"],
        Format::Bp => &["bp"],
    }
}

impl Convert {
    /// Lists the output files: the first one is `output`, the others are beside it. Checks that all
    /// of them can be written.
    fn outputs(&self, run: &Run, output: &Path, quiet: bool) -> Result<Vec<PathBuf>, VerbError> {
        let extensions = extensions(self.to);
        if Format::of_name(output) != Some(self.to) {
            let name = printable_path(&output.with_extension(extensions[0]));
            let message = format!(
                "`{}` does not have the extension .{}; name it `{name}`",
                printable_path(output),
                extensions[0]
            );
            return Err(VerbError::Usage(message));
        }
        let beside = extensions[1..].iter().map(|extension| output.with_extension(extension));
        let paths: Vec<PathBuf> = std::iter::once(output.to_owned()).chain(beside).collect();
        run.files.check_writable(&self.model.files(), &paths).map_err(VerbError::Usage)?;
        run.files.expect(&paths, quiet);
        Ok(paths)
    }
}

/// Writes each text to its file. No file is replaced before all of them are complete.
fn write(run: &Run, paths: &[PathBuf], texts: &[(&str, String)]) -> Result<(), VerbError> {
    let prepared =
        paths.iter().zip(texts).map(|(path, (_, text))| prepare(run, path, |out| out.write_all(text.as_bytes())));
    let prepared: Result<Vec<PreparedFile<'_>>, String> = prepared.collect();
    prepared.and_then(|files| files.into_iter().try_for_each(PreparedFile::finish)).map_err(VerbError::Usage)
}

//! `cuba convert`: the model in another format.

use crate::cli::{Answer, Stopped, exit};
use crate::json;
use crate::load::{Format, Loaded, ModelArgs, known_format, shown};
use clap::Args;
use cpds::{PdsText, print_cpds, print_pds};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cuba convert stutter.pds --to cpds
  cuba convert models/table2/dekker.bp --to cpds -o dekker.cpds
  cuba convert models/paper/fig2.cpds --to pds -o fig2.pds     writes fig2.pds, fig2.init and fig2.spec")]
pub(crate) struct Convert {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// The format to write
    #[arg(long, value_name = "FORMAT")]
    to: Format,
    /// Where to write it; .init and .spec files go beside a .pds file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn answer(args: &Convert) -> Result<Answer, Stopped> {
    let loaded = args.model.load()?;
    let texts = match args.to {
        Format::Cpds => vec![("cpds", print_cpds(loaded.problem()))],
        Format::Pds => {
            let PdsText { pds, init, spec } = print_pds(loaded.problem());
            vec![("pds", pds), ("init", init), ("spec", spec)]
        }
        Format::Bp => {
            let Some(program) = &loaded.program else {
                let message = format!("`{}` is no Boolean program, and cannot be made one", shown(&args.model.file));
                return Err(Stopped::Usage(message));
            };
            vec![("bp", boolprog::print(&program.syntax))]
        }
    };
    let paths = match &args.output {
        Some(output) if known_format(output) != Some(args.to) => {
            let name = shown(&output.with_extension(texts[0].0));
            let message = format!("`{}` would not be read as .{}; call it `{name}`", shown(output), texts[0].0);
            return Err(Stopped::Usage(message));
        }
        Some(output) => write(output, &texts, &loaded)?,
        None => Vec::new(),
    };
    let (stdout, note) = if args.json {
        let output = texts.into_iter().enumerate().map(|(i, (extension, text))| {
            let path = paths.get(i).map(|path| shown(path));
            let text = path.is_none().then_some(text);
            json::OutputJson { extension, path, text }
        });
        let object = json::ConvertJson {
            file: shown(&args.model.file),
            to: args.to,
            output: output.collect(),
            warnings: json::warnings(&loaded.reading),
        };
        (json::print(&object), String::new())
    } else if args.output.is_some() {
        let wrote: Vec<_> = paths.iter().map(|path| format!("wrote {}\n", shown(path))).collect();
        (String::new(), wrote.concat())
    } else {
        let note = match args.to {
            Format::Cpds | Format::Bp => "",
            Format::Pds => "note: this is the .pds file alone; with -o FILE.pds its .init and .spec are written too\n",
        };
        (texts[0].1.clone(), note.to_owned())
    };
    Ok(Answer { stdout, remarks: loaded.warnings() + &note, errors: String::new(), code: exit::OK })
}

/// Writes the first text to `output` and the others beside it.
fn write(output: &Path, texts: &[(&str, String)], loaded: &Loaded) -> Result<Vec<PathBuf>, Stopped> {
    let beside = texts.iter().skip(1).map(|(extension, _)| output.with_extension(extension));
    let paths: Vec<PathBuf> = std::iter::once(output.to_owned()).chain(beside).collect();
    paths.iter().try_for_each(|path| loaded.may_write(path)).map_err(Stopped::Usage)?;
    for (path, (_, text)) in paths.iter().zip(texts) {
        fs::write(path, text).map_err(|error| Stopped::Usage(format!("cannot write `{}`: {error}", shown(path))))?;
    }
    Ok(paths)
}

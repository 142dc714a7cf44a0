//! `cuba completions` and `cuba man`: generate completion scripts and manual pages from the
//! definitions of the command line.

use crate::running::answer::{Answer, VerbError, exit};
use crate::running::output_files;
use crate::running::run::Run;
use crate::text::file_names::printable_path;
use crate::verbs::command_line::Cli;
use clap::{Args, Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::roff::{Roff, roman};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  cuba completions bash > ~/.local/share/bash-completion/completions/cuba
  cuba completions zsh > ~/.zfunc/_cuba                (a folder of your fpath)
  cuba completions fish > ~/.config/fish/completions/cuba.fish")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  cuba man | man -l -
  cuba man verify | man -l -
  cuba man -o ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// The verb of the page [default: the page of cuba itself]
    verb: Option<String>,
    /// Write all pages to this folder: cuba.1, cuba-verify.1, …
    #[arg(long, short, value_name = "FOLDER", conflicts_with = "verb")]
    output: Option<PathBuf>,
}

pub(crate) fn completions(args: &Completions) -> Answer {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cuba", &mut script);
    answer(script, String::new())
}

pub(crate) fn man(args: &Man, run: &Run) -> Result<Answer, VerbError> {
    let mut cuba = Cli::command().disable_help_subcommand(true);
    // This gives the verbs their full names and the global options.
    cuba.build();
    if let Some(folder) = &args.output {
        return Ok(answer(Vec::new(), write(run, folder, &cuba).map_err(VerbError::Usage)?));
    }
    let page = match &args.verb {
        None => page(&cuba),
        Some(verb) => page(cuba.find_subcommand(verb).ok_or_else(|| {
            let verbs: Vec<&str> = cuba.get_subcommands().map(Command::get_name).collect();
            VerbError::Usage(format!("there is no verb `{verb}`; the verbs are {}", verbs.join(", ")))
        })?),
    };
    Ok(answer(page, String::new()))
}

fn answer(text: Vec<u8>, remarks: String) -> Answer {
    let stdout = String::from_utf8(text).expect("it consists of strings");
    Answer { stdout, remarks, errors: String::new(), code: exit::OK }
}

/// Writes the pages of `cuba` and of each verb. Returns a remark for each file.
fn write(run: &Run, folder: &Path, cuba: &Command) -> Result<String, String> {
    fs::create_dir_all(folder).map_err(|error| format!("cannot write to `{}`: {error}", printable_path(folder)))?;
    let mut wrote = String::new();
    for command in std::iter::once(cuba).chain(cuba.get_subcommands()) {
        let path = folder.join(clap_mangen::Man::new(command.clone()).get_filename());
        output_files::write(run, &path, |out| out.write_all(&page(command)))?;
        let _ = writeln!(wrote, "wrote {}", printable_path(&path));
    }
    Ok(wrote)
}

/// Formats a page for `man`. The examples have a heading of their own.
fn page(command: &Command) -> Vec<u8> {
    let man = clap_mangen::Man::new(command.clone()).source(concat!("cuba ", env!("CARGO_PKG_VERSION")));
    let mut page = Vec::new();
    let write = |page: &mut Vec<u8>| -> io::Result<()> {
        man.render_title(page)?;
        man.render_name_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_description_section(page)?;
        man.render_options_section(page)?;
        if command.has_subcommands() {
            man.render_subcommands_section(page)?;
        }
        let after = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        sections(&after).to_writer(page)
    };
    write(&mut page).expect("there is room for a page");
    page
}

/// Formats the paragraphs after the options in the help. The words before the colon become the
/// heading.
fn sections(text: &str) -> Roff {
    let mut roff = Roff::new();
    for (heading, text) in text.split("\n\n").filter_map(|part| part.split_once(':')) {
        roff.control("SH", [heading.to_uppercase().as_str()]);
        match text.strip_prefix('\n') {
            None => {
                roff.text([roman(text.trim())]);
            }
            Some(lines) => {
                roff.control("nf", []);
                for line in lines.lines() {
                    roff.text([roman(line.trim_start())]);
                }
                roff.control("fi", []);
            }
        }
    }
    roff
}

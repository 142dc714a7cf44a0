//! The command line: its words, its exit codes, and the one place that prints.

use crate::running::checkpoint;
use crate::running::cluster;
use crate::running::crash_report;
use crate::running::limits;
use crate::running::output_files;
use crate::running::panic_hook;
use crate::text::diagnostics;
use crate::verbs::bench::{self, Bench};
use crate::verbs::convert::{self, Convert};
use crate::verbs::fcr::{self, Fcr};
use crate::verbs::generate::{self, Completions, Man};
use crate::verbs::reach::{self, Reach};
use crate::verbs::resume::{self, Resume};
use crate::verbs::show::{self, Show};
use crate::verbs::verify::{self, Verify};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, Parser, Subcommand, ValueEnum as _};
use cpds::ReadError;
use cpds::diagnostic::{is_printable, printable, printable_lines};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// What the process answers with; the same numbers as CBMC's where both have the case.
pub mod exit {
    /// The job was done; for `verify`, safe; for `reach`, converged; for `fcr`, it holds.
    pub const OK: u8 = 0;
    /// The command line was not understood, or an output cannot be written.
    pub const USAGE: u8 = 1;
    /// The input is not a system.
    pub const BAD_INPUT: u8 = 2;
    /// There is no answer.
    pub const UNKNOWN: u8 = 5;
    /// A mistake in cuba itself; for `bench`, an answer that is not the expected one.
    pub const INTERNAL: u8 = 6;
    /// A bad state is reachable; for `fcr`, it does not hold.
    pub const UNSAFE: u8 = 10;
}

/// Context-unbounded analysis of concurrent threads with recursion and shared memory
#[derive(Parser, Debug)]
#[command(name = "cuba", version, max_term_width = 100, after_long_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// Print no warnings, and show no progress
    #[arg(long, short, global = true, display_order = 100)]
    pub(crate) quiet: bool,
    /// Use colours
    #[arg(long, global = true, display_order = 100, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
}

const EXAMPLES: &str = "\
Examples:
  cuba verify models/table2/turns.bp                     can an assertion fail?
  cuba verify models/paper/fig1.cpds                     can it go wrong?
  cuba reach models/paper/fig1.cpds                      what is reachable?
  cuba fcr models/paper/fig2.cpds                        are contexts finite?
  cuba show models/paper/fig1.cpds                       read a model back
  cuba show models/paper/fig1.cpds --successors '0|1,4'  step through it
  cuba show models/paper/fig1.cpds --svg                 draw what is reachable
  cuba show models/paper/fig7.cpds --psa P --svg         draw a store automaton
  cuba convert stutter.pds --to cpds -o stutter.cpds     from another format
  cuba convert models/table2/turns.bp --to cpds          a program as a system
  cuba bench models/tiny                                 many models at once

Exit codes: 0 done, safe, converged or finite, 10 unsafe or not finite, 5 unknown, 1 usage, 2 bad input, 6 internal error";

/// What options are about, where there are many. Those of the output have no heading of their own.
pub(crate) mod heading {
    pub(crate) const MODEL: &str = "Model";
    pub(crate) const SEARCH: &str = "Search";
    pub(crate) const LIMITS: &str = "Limits";
    pub(crate) const CLUSTER: &str = "Many processes";
    pub(crate) const EVIDENCE: &str = "Evidence";
    pub(crate) const PICTURES: &str = "Pictures";
}

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Decide whether a bad state is reachable, with any number of contexts
    Verify(Verify),
    /// Compute what is reachable with k = 0, 1, … contexts, until nothing new can appear
    Reach(Reach),
    /// Go on with a run from its checkpoint
    Resume(Resume),
    /// Decide whether finite context reachability holds; if not, show the loop
    Fcr(Fcr),
    /// Print the model as it was understood, or steps, or draw what is reachable, or a store automaton
    Show(Show),
    /// Write the model in another format
    Convert(Convert),
    /// Run many models, and compare the answers with the expected ones
    Bench(Bench),
    /// Print a script with which a shell completes commands
    Completions(Completions),
    /// Print a page of the manual, or write all of it
    Man(Man),
}

/// What a verb has to say.
pub(crate) struct Answer {
    /// For standard output.
    pub(crate) stdout: String,
    /// Remarks for standard error, unless the user wants quiet.
    pub(crate) remarks: String,
    /// What went wrong although there is an answer; for standard error.
    pub(crate) errors: String,
    /// The exit code.
    pub(crate) code: u8,
}

impl Answer {
    /// Nothing but why it cannot be done.
    pub(crate) fn refused(why: &str) -> Self {
        let errors = diagnostics::plain_error(why);
        Answer { stdout: String::new(), remarks: String::new(), errors, code: exit::USAGE }
    }

    /// What there is to say after a file was written, or was not. The answer stands all the same.
    pub(crate) fn wrote(&mut self, path: &Path, written: Result<String, String>) {
        output_files::settle(path);
        match written {
            Ok(note) => self.remarks += &note,
            Err(error) => {
                self.errors += &diagnostics::plain_error(&error);
                self.code = exit::USAGE;
            }
        }
    }
}

/// Why a verb has nothing to say on standard output.
pub(crate) enum Stopped {
    BadInput(ReadError),
    Usage(String),
    /// A limit came first, for this reason.
    Limit(String),
}

impl From<ReadError> for Stopped {
    fn from(error: ReadError) -> Self {
        Stopped::BadInput(error)
    }
}

/// Colours as these arguments ask for, whatever else is wrong with them: help and errors have colours, too.
fn choose_colors(arguments: impl IntoIterator<Item = String>) {
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let value = match argument.strip_prefix("--color") {
            Some("") => arguments.next(),
            Some(value) => value.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        if let Some(choice) = value.and_then(|value| ColorChoice::from_str(&value, false).ok()) {
            use_colors(choice);
        }
    }
}

fn use_colors(choice: ColorChoice) {
    match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
}

/// All of the program.
pub fn main() -> ExitCode {
    panic_hook::report();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(mut error) => {
            hint(&mut error, &std::env::args_os().map(|it| it.to_string_lossy().into_owned()).collect::<Vec<_>>());
            let asked_for = !error.use_stderr(); // --help, --version
            choose_colors(std::env::args_os().filter_map(|argument| argument.into_string().ok()));
            let text = error.render().to_string();
            if asked_for || text.chars().all(|c| is_printable(c) || c == '\n') {
                let _ = error.print();
            } else {
                // It quotes an argument.
                remark(&printable_lines(&text));
            }
            return ExitCode::from(if asked_for { exit::OK } else { exit::USAGE });
        }
    };
    let code = run(&cli);
    panic_hook::wait();
    ExitCode::from(code)
}

/// Says what is wrong where an option that needs no value has taken the file for one.
fn hint(error: &mut clap::Error, arguments: &[String]) {
    let taken = arguments.windows(2).find(|pair| pair[0] == "--successors").map(|pair| &pair[1]);
    if let (ErrorKind::MissingRequiredArgument, Some(taken)) = (error.kind(), taken) {
        let taken = printable(taken);
        let text = format!(
            "`{taken}` was taken for the state of --successors; the file comes first: `cuba show FILE --successors`"
        );
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![text.into()]));
    }
}

/// Does what the command line asks for, and gives the exit code.
fn run(cli: &Cli) -> u8 {
    use_colors(cli.color);
    crash_report::has_options(format!("{cli:?}"));
    let result = match &cli.verb {
        Verb::Verify(args) => verify::answer(args, cli.quiet),
        Verb::Reach(args) => reach::answer(args, cli.quiet),
        Verb::Resume(args) => resume::answer(args, cli.quiet),
        Verb::Fcr(args) => fcr::answer(args, cli.quiet),
        Verb::Show(args) => show::answer(args, cli.quiet),
        Verb::Convert(args) => convert::answer(args, cli.quiet),
        Verb::Bench(args) => bench::answer(args, cli.quiet),
        Verb::Completions(args) => Ok(generate::completions(args)),
        Verb::Man(args) => generate::man(args),
    };
    limits::take_the_word();
    let code = say(result, cli.quiet);
    let is_done = code != exit::USAGE && checkpoint::remove();
    cluster::finish(cluster::End { code, is_done });
    code
}

/// Prints what a verb has to say, names the outputs that are missing, and gives the exit code. Who calls this has the word.
pub(crate) fn say(result: Result<Answer, Stopped>, quiet: bool) -> u8 {
    // Where nothing was begun, the error says enough.
    let is_refused = match &result {
        Ok(answer) => answer.code == exit::USAGE,
        Err(Stopped::Limit(_)) => false,
        Err(Stopped::BadInput(_) | Stopped::Usage(_)) => true,
    };
    if !is_refused {
        remark(&output_files::missing());
    }
    match result {
        Ok(Answer { stdout, remarks, errors, code }) => {
            if !quiet {
                remark(&remarks);
            }
            remark(&errors);
            match print(&stdout) {
                Ok(()) => code,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => code, // the reader has seen enough
                Err(error) => {
                    remark(&diagnostics::plain_error(&format!("cannot write to standard output: {error}")));
                    exit::USAGE
                }
            }
        }
        Err(Stopped::BadInput(error)) => {
            remark(&diagnostics::errors(&error.sources, &error.diagnostics));
            if !quiet {
                remark(&diagnostics::warnings(&error.sources, &error.diagnostics));
            }
            exit::BAD_INPUT
        }
        Err(Stopped::Usage(message)) => {
            remark(&diagnostics::plain_error(&message));
            exit::USAGE
        }
        Err(Stopped::Limit(why)) => {
            remark(&format!("unknown: {why}\n"));
            exit::UNKNOWN
        }
    }
}

/// Writes to standard error. If it is closed, the exit code still says it.
pub fn remark(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

//! The command line: reads it, runs its verb, and prints the answer.

use crate::running::answer::{self, exit};
use crate::running::cluster::{ClusterEnd, Transport};
use crate::running::console::Console;
use crate::running::faults::Faults;
use crate::running::panic_hook;
use crate::running::run::Run;
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
use cpds::diagnostic::{is_printable, printable, printable_lines};
use std::env;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

/// Context-unbounded analysis of concurrent threads with recursion and shared memory
#[derive(Parser, Debug)]
#[command(name = "cuba", version, max_term_width = 100, after_long_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    /// Suppress warnings, notes and progress
    #[arg(long, short, global = true, display_order = 100)]
    pub(crate) quiet: bool,
    /// Use colours
    #[arg(long, global = true, display_order = 100, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
}

const EXAMPLES: &str = "\
Examples:
  cuba verify models/table2/turns.bp                     can an assertion fail?
  cuba verify models/paper/fig1.cpds                     find a bad state
  cuba reach models/paper/fig1.cpds                      what is reachable?
  cuba fcr models/paper/fig2.cpds                        are contexts finite?
  cuba show models/paper/fig1.cpds                       print a model
  cuba show models/paper/fig1.cpds --successors '0|1,4'  steps from a state
  cuba show models/paper/fig1.cpds --svg                 draw reachable states
  cuba show models/paper/fig7.cpds --psa P --svg         draw a store automaton
  cuba convert stutter.pds --to cpds -o stutter.cpds     to another format
  cuba convert models/table2/turns.bp --to cpds          from a program
  cuba bench models/tiny                                 run many models

Exit codes: 0 done, safe, converged or finite, 10 unsafe or not finite, 5 unknown, 1 usage, 2 bad input, 6 internal error";

#[derive(Subcommand, Debug)]
pub(crate) enum Verb {
    /// Decide whether a bad state is reachable, with any number of contexts
    Verify(Verify),
    /// Compute what is reachable with k = 0, 1, … contexts, until nothing new can appear
    Reach(Reach),
    /// Continue a run from its checkpoint
    ///
    /// The run continues in the folder where it began and with the same options. Only --timeout and
    /// --memory can be changed.
    Resume(Resume),
    /// Decide whether every context is finite; if not, show a loop
    ///
    /// A context is finite if the thread alone reaches only finitely many states. If every context
    /// is finite, the model has finite context reachability (FCR).
    Fcr(Fcr),
    /// Print a model, the steps from a state or a store automaton, or draw the reachable states
    Show(Show),
    /// Convert a model to another format
    Convert(Convert),
    /// Run many models and compare the answers with the expected ones
    Bench(Bench),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print a manual page, or write all of them
    Man(Man),
}

/// Runs the command of this process. This is the whole program.
pub fn main(transport: Option<&'static dyn Transport>) -> ExitCode {
    let arguments = env::args_os().collect();
    let run = Run::with_faults(arguments, Console::process(), transport, Faults::from_environment());
    panic_hook::install(&run);
    let code = execute(&run);
    panic_hook::wait(&run);
    ExitCode::from(code)
}

/// Runs a command within this process and returns its exit code. The first of the `arguments` is
/// the name of the program.
///
/// The process ends if the run does not stop by itself at a limit, and at the second Ctrl-C.
pub fn run(arguments: Vec<OsString>, console: Console) -> u8 {
    let run = Run::new(arguments, console, None);
    let code = execute(&run);
    run.finish();
    code
}

/// Runs the verb and returns the exit code.
fn execute(run: &Arc<Run>) -> u8 {
    let cli = match Cli::try_parse_from(&run.arguments) {
        Ok(cli) => cli,
        Err(error) => return refuse(run, error),
    };
    run.console.use_colors(colors(cli.color));
    run.record_options(format!("{cli:?}"));
    let quiet = cli.quiet;
    let result = match &cli.verb {
        Verb::Verify(args) => verify::answer(args, run, quiet),
        Verb::Reach(args) => reach::answer(args, run, quiet),
        Verb::Resume(args) => resume::answer(args, run, quiet),
        Verb::Fcr(args) => fcr::answer(args, run, quiet),
        Verb::Show(args) => show::answer(args, run, quiet),
        Verb::Convert(args) => convert::answer(args, run, quiet),
        Verb::Bench(args) => bench::answer(args, run, quiet),
        Verb::Completions(args) => Ok(generate::completions(args)),
        Verb::Man(args) => generate::man(args, run),
    };
    run.claim_output();
    let code = answer::print(run, result, quiet);
    let is_done = code != exit::USAGE && run.remove_checkpoint();
    run.cluster.finish(ClusterEnd { code, is_done });
    code
}

/// Prints help, the version, or the error in the command.
fn refuse(run: &Run, mut error: clap::Error) -> u8 {
    let words: Vec<String> = run.arguments.iter().map(|it| it.to_string_lossy().into_owned()).collect();
    hint(&mut error, &words);
    let is_answer = !error.use_stderr(); // --help, --version
    run.console.use_colors(wanted_colors(run));
    let text = error.render();
    if is_answer {
        let _ = run.console.print(&text.ansi().to_string());
        return exit::OK;
    }
    let plain = text.to_string();
    if plain.chars().all(|c| is_printable(c) || c == '\n') {
        run.remark(&text.ansi().to_string());
    } else {
        // The text quotes an argument with special characters.
        run.remark(&printable_lines(&plain));
    }
    exit::USAGE
}

/// Reads the value of `--color`, even if the other arguments are wrong. Help and errors have
/// colours, too.
fn wanted_colors(run: &Run) -> anstream::ColorChoice {
    let mut arguments = run.arguments.iter().filter_map(|argument| argument.to_str());
    let mut wanted = ColorChoice::Auto;
    while let Some(argument) = arguments.next() {
        let value = match argument.strip_prefix("--color") {
            Some("") => arguments.next(),
            Some(value) => value.strip_prefix('='),
            None => None,
        };
        if let Some(choice) = value.and_then(|value| ColorChoice::from_str(value, false).ok()) {
            wanted = choice;
        }
    }
    colors(wanted)
}

fn colors(choice: ColorChoice) -> anstream::ColorChoice {
    match choice {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
}

/// Adds a hint to the error if `--successors`, which needs no value, has taken the file as its
/// value.
fn hint(error: &mut clap::Error, arguments: &[String]) {
    let taken = arguments.windows(2).find(|pair| pair[0] == "--successors").map(|pair| &pair[1]);
    if let (ErrorKind::MissingRequiredArgument, Some(taken)) = (error.kind(), taken) {
        let taken = printable(taken);
        let text = format!(
            "`{taken}` was read as the state of --successors; put the file first: `cuba show FILE --successors`"
        );
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![text.into()]));
    }
}

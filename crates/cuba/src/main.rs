//! The `cuba` command.

use clap::Parser as _;
use cuba::cli::{Cli, choose_colors, exit, remark, run};
use std::panic::catch_unwind;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let asked_for = !error.use_stderr(); // --help, --version
            choose_colors(std::env::args_os().filter_map(|argument| argument.into_string().ok()));
            let _ = error.print();
            return ExitCode::from(if asked_for { exit::OK } else { exit::USAGE });
        }
    };
    let code = catch_unwind(|| run(&cli)).unwrap_or_else(|_| {
        remark("error: this is a mistake in cuba itself, not in your input; please report it\n");
        exit::INTERNAL
    });
    ExitCode::from(code)
}

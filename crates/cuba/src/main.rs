//! The `cuba` command.

use clap::Parser as _;
use cuba::cli::{Cli, choose_colors, exit, run};
use cuba::panics;
use std::process::ExitCode;

fn main() -> ExitCode {
    panics::report();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let asked_for = !error.use_stderr(); // --help, --version
            choose_colors(std::env::args_os().filter_map(|argument| argument.into_string().ok()));
            let _ = error.print();
            return ExitCode::from(if asked_for { exit::OK } else { exit::USAGE });
        }
    };
    let code = run(&cli);
    panics::wait();
    ExitCode::from(code)
}

//! The `cuba` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    cuba::cli::main()
}

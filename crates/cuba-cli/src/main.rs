//! The `cuba` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    cuba_cli::cli::main()
}

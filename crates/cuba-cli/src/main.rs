//! The `cuba` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    cuba_cli::verbs::command_line::main(None)
}

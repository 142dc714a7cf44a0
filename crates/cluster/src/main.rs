//! The `cuba-cluster` command: `cuba`, which can work together with others.

use std::process::ExitCode;

fn main() -> ExitCode {
    cuba_cli::verbs::command_line::main(Some(&cuba_cluster::join::Network))
}

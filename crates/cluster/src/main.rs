//! The `cuba-cluster` command: `cuba`, which can work together with others.

use std::process::ExitCode;

fn main() -> ExitCode {
    cuba_cli::running::cluster::can_join(&cuba_cluster::join::Network);
    cuba_cli::verbs::command_line::main()
}

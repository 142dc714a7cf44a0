//! The `cuba-cluster` command: `cuba` with support for runs in many processes.

use std::process::ExitCode;

fn main() -> ExitCode {
    cuba_cli::verbs::command_line::main(Some(&cuba_cluster::transport::ClusterTransport))
}

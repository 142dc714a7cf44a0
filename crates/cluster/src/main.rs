//! The `cuba-cluster` command: `cuba`, which can work together with others.

use std::process::ExitCode;

fn main() -> ExitCode {
    cuba::cluster::can_join(&cuba_cluster::join::Network);
    cuba::cli::main()
}

//! Running the real `cuba` in a scratch folder.

use std::path::Path;
use std::process::{Command, Output};

/// What the command answered.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `cuba` with these arguments in this folder.
pub fn cuba(folder: &Path, args: &[&str]) -> Ran {
    let command = Command::new(env!("CARGO_BIN_EXE_cuba")).args(args).current_dir(folder).output();
    let Output { status, stdout, stderr } = command.expect("cuba starts");
    let text = |bytes| String::from_utf8(bytes).expect("cuba prints UTF-8");
    Ran { code: status.code().expect("cuba ends by itself"), stdout: text(stdout), stderr: text(stderr) }
}

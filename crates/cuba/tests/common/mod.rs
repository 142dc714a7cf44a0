//! Running the real `cuba` in a scratch folder.

use std::path::Path;
use std::process::{Command, Output};

/// What the command answered.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `cuba` with these arguments in this folder.
pub(crate) fn cuba(folder: &Path, args: &[&str]) -> Ran {
    let command = Command::new(env!("CARGO_BIN_EXE_cuba")).args(args).current_dir(folder).output();
    let Output { status, stdout, stderr } = command.expect("cuba starts");
    let text = |bytes| String::from_utf8(bytes).expect("cuba prints UTF-8");
    Ran { code: status.code().expect("cuba ends by itself"), stdout: text(stdout), stderr: text(stderr) }
}

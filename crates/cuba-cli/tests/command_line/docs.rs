//! Every command in the documentation prints what the page shows.
//!
//! A page is one session of a shell, in a folder with copies of `docs` and `models`, so that later
//! commands can read the files that earlier ones write. A `console` block has commands after `$ `,
//! each with all of its standard output. An `sh` block has only commands. A command continues on
//! the next line after a backslash.

use crate::common::CUBA_CHECK;
use crate::markdown::{blocks, pages};
use cpds_testing::corpus::{all_files, repository};
use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

#[test]
fn the_commands_in_the_documentation_print_the_shown_output() {
    let mut found = [0; 2];
    for page in pages() {
        let mut session = Session::new(&page);
        // `cuba` after a build and after an installation is the same.
        let text = fs::read_to_string(&page).unwrap().replace("cargo run --release --bin cuba -- ", "cuba ");
        for block in blocks(&text) {
            match block.language {
                "console" if block.text.starts_with("$ ") => {
                    for (command, expected) in shown(block.text) {
                        assert_eq!(session.run(&command), expected, "{}: {command}", page.display());
                        found[0] += 1;
                    }
                }
                "sh" if is_ours(block.text) => {
                    for command in commands(block.text) {
                        session.run(&command);
                        found[1] += 1;
                    }
                }
                _ => {}
            }
        }
        session.end();
    }
    assert!(found[0] >= 40 && found[1] >= 8, "the documentation shows commands: {found:?}");
}

/// The commands of a `console` block, each with its output.
fn shown(block: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in block.split_inclusive('\n') {
        match commands.last_mut() {
            Some((command, _)) if is_continued(command) => command.push_str(line),
            _ if line.starts_with("$ ") => commands.push((line["$ ".len()..].to_owned(), String::new())),
            Some((_, printed)) => printed.push_str(line),
            None => {}
        }
    }
    commands
}

/// The commands of an `sh` block.
fn commands(block: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    for line in block.split_inclusive('\n') {
        match commands.last_mut() {
            Some(command) if is_continued(command) => command.push_str(line),
            _ => commands.push(line.to_owned()),
        }
    }
    commands
}

/// Returns whether a command continues on the next line.
fn is_continued(command: &str) -> bool {
    command.ends_with("\\\n")
}

#[test]
fn commands_may_be_broken_over_lines() {
    let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|&(command, printed)| (command.to_owned(), printed.to_owned())).collect()
    };
    let block = "$ one \\\n    two\nprinted \\\n$ three\n$ four\nprinted\n";
    let expected = owned(&[("one \\\n    two\n", "printed \\\n"), ("three\n", ""), ("four\n", "printed\n")]);
    assert_eq!(shown(block), expected);
    assert_eq!(commands("one \\\n    two\nthree\n"), ["one \\\n    two\n", "three\n"]);
}

fn is_ours(command: &str) -> bool {
    ["cuba ", "cuba-check "].iter().any(|start| command.starts_with(start))
}

/// The shell session of a page.
struct Session<'a> {
    page: &'a Path,
    folder: TempDir,
    /// The exit code of the last command.
    code: i32,
}

impl<'a> Session<'a> {
    fn new(page: &'a Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in contents(&repository()) {
            let copy = folder.path().join(path);
            fs::create_dir_all(copy.parent().expect("a folder")).unwrap();
            fs::write(copy, content).unwrap();
        }
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_cuba"), bin.join("cuba")).unwrap();
        symlink(&*CUBA_CHECK, bin.join("cuba-check")).unwrap();
        Session { page, folder, code: 0 }
    }

    /// Runs a command and returns its output. A command of this project must not fail.
    fn run(&mut self, command: &str) -> String {
        let mut path = vec![self.folder.path().join("bin")];
        path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        let shell = Command::new("sh")
            // For `echo $?`.
            .args(["-c", &format!("(exit {})\n{command}", self.code)])
            .current_dir(self.folder.path())
            .env("PATH", env::join_paths(path).expect("a path"))
            .env("HOME", self.folder.path())
            .output()
            .expect("there is a shell");
        self.code = shell.status.code().expect("it ends by itself");
        let errors = String::from_utf8_lossy(&shell.stderr);
        let is_failed = is_ours(command) && [1, 2, 6].contains(&self.code) || self.code == 127;
        assert!(!is_failed, "{}: {command}: exit code {}\n{errors}", self.page.display(), self.code);
        String::from_utf8(shell.stdout).expect("UTF-8")
    }

    /// Checks that the files that the commands write to `docs` are equal to those in the
    /// repository, so that pictures are up to date.
    fn end(self) {
        let (written, kept) = (contents(self.folder.path()), contents(&repository()));
        for (path, content) in &written {
            let is_kept = kept.iter().any(|(other, text)| other == path && text == content);
            assert!(is_kept, "{}: its commands write another `{}`", self.page.display(), path.display());
        }
    }
}

/// Every file in `docs` and `models`.
fn contents(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let folders = ["docs", "models"].map(|folder| root.join(folder));
    let found = folders.iter().flat_map(|folder| all_files(folder));
    found.map(|path| (path.strip_prefix(root).expect("below it").to_owned(), fs::read(&path).unwrap())).collect()
}

//! `cuba completions` and `cuba man`: scripts and manual pages.

use crate::common::{cuba, done, in_repository};
use cpds_testing::skipped::skip;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The verbs, as `cuba -h` lists them.
fn verbs() -> Vec<String> {
    let help = done(&["-h"]);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let listed = listed.filter(|line| !line.starts_with("   ")); // a long line continues in the next one
    let names = listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// The long options of a verb, as its help lists them.
fn options(verb: &str) -> Vec<String> {
    let help = done(&[verb, "-h"]);
    let words = help.lines().filter(|line| line.trim_start().starts_with('-'));
    words.flat_map(str::split_whitespace).filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

/// Runs a shell with this text as its standard input. `None` if there is no such shell.
fn shell(command: &[&str], input: &str) -> Option<(bool, String)> {
    let started = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        skip(&format!("there is no {}", command[0]));
        return None;
    };
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    Some((output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()))
}

#[test]
fn completions_for_each_shell() {
    let verbs = verbs();
    assert!(verbs.len() >= 7 && verbs.contains(&"completions".to_owned()), "{verbs:?}");
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = done(&["completions", name]);
        for verb in &verbs {
            assert!(script.contains(verb.as_str()), "{name}: {verb}");
        }
        assert!(script.contains("max-contexts") && script.contains("certificate"), "{name}");
        if ["bash", "zsh", "fish"].contains(&name) {
            let checked = shell(&[name, "-n"], &script);
            assert!(checked.as_ref().is_none_or(|(fine, _)| *fine), "{name}: {checked:?}");
        }
    }
}

#[test]
fn bash_completes() {
    let script = done(&["completions", "bash"]);
    for (words, expected) in [
        ("cuba ver", "verify"),
        ("cuba verify --max-c", "--max-contexts"),
        ("cuba convert --to b", "bp"),
        ("cuba completions f", "fish"),
    ] {
        let last = words.split(' ').count() - 1;
        let (before, word) = words.rsplit_once(' ').unwrap();
        let before = before.rsplit(' ').next().unwrap();
        let ask = format!(
            "{script}\nCOMP_WORDS=({words}) COMP_CWORD={last}\n_cuba cuba '{word}' '{before}'\necho \"${{COMPREPLY[*]}}\"\n"
        );
        let Some((_, completed)) = shell(&["bash", "--norc"], &ask) else { return };
        assert_eq!(completed.trim(), expected, "{words}");
    }
}

#[test]
fn a_page_for_each_verb() {
    let roff = |text: &str| text.replace('-', "\\-");
    for verb in verbs() {
        let page = done(&["man", &verb]);
        assert!(page.contains(&format!(".TH cuba-{verb} 1")), "{page}");
        let options = options(&verb);
        assert!(options.len() >= 3, "{options:?}");
        for option in options {
            assert!(page.contains(&roff(&option)), "{verb}: {option}");
        }
        assert!(page.contains(".SH EXAMPLES\n.nf\n"), "{page}");
    }
    let page = done(&["man"]);
    assert!(page.contains(".TH cuba 1") && page.contains(".SH \"EXIT CODES\""), "{page}");
    for verb in verbs() {
        assert!(page.contains(&roff(&format!("cuba-{verb}(1)"))), "{verb}: {page}");
    }
}

#[test]
fn pages_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let ran = cuba(folder.path(), &["man", "-o", "share/man1"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let written = |name: &str| fs::read_to_string(folder.path().join("share/man1").join(name)).unwrap();
    assert_eq!(written("cuba.1"), done(&["man"]));
    for verb in verbs() {
        assert_eq!(written(&format!("cuba-{verb}.1")), done(&["man", &verb]));
    }
    assert_eq!(fs::read_dir(folder.path().join("share/man1")).unwrap().count(), verbs().len() + 1);
    fs::write(folder.path().join("file"), "").unwrap();
    let ran = cuba(folder.path(), &["man", "-o", "file"]);
    assert!(ran.code == 1 && ran.stderr.starts_with("error: cannot write to `file`"), "{}", ran.stderr);
}

#[test]
fn unknown_shells_and_verbs() {
    let ran = in_repository(&["completions", "tcsh"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("invalid value 'tcsh' for '<SHELL>'") && ran.stderr.contains("zsh"), "{}", ran.stderr);
    let ran = in_repository(&["man", "verfy"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.starts_with("error: there is no verb `verfy`; the verbs are verify, reach, "), "{}", ran.stderr);
}

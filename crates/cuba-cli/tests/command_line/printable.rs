//! Texts with characters that a terminal or a browser interprets, in models and the files beside
//! them, in options, and in names of files. The output never has these characters.
#![cfg(unix)]

use crate::common::{CUBA_CHECK, at_once, cuba, cuba_with};
use cpds::diagnostic::is_printable;
use std::fs;
use std::process::Command;

/// Control sequences in both encodings, marks and isolates of direction, separators, and characters
/// without width.
const HOSTILE: [&str; 10] = [
    "\u{1b}]0;x\u{7}",
    "\u{9b}2J",
    "\r",
    "\u{8}",
    "\u{202e}",
    "\u{2066}",
    "\u{200f}",
    "\u{2028}",
    "\u{feff}",
    "\u{e0041}",
];

/// A program with an error, and a comment with the original place.
const PROGRAM: &str =
    "decl x;\n// {}\nvoid main() { /* {} */\n// file {}.c line 3\nx := 1; // file {}.c line 4 {}\nL: assert(!x);\n}\n";

const SYSTEM: &str = "shared 0 # {}\ninit 0|a # {}\nbad 0|-\nthread A { symbols a # {}\n  f: (0,a) -> (0,-) # {}\n}\n";

/// Files with their texts, and a command.
type Case = (&'static [(&'static str, &'static str)], &'static str);

/// `{}` is the hostile text, `{e}` the same text with escaped control characters.
const CASES: &[Case] = &[
    // Correct systems with hostile comments.
    (&[("m.cpds", SYSTEM)], "show m.cpds"),
    (&[("m.cpds", SYSTEM)], "verify m.cpds"),
    (&[("m.cpds", SYSTEM)], "verify m.cpds --json --report r.html --plot p.svg --trace t.itf.json"),
    (&[("m.cpds", SYSTEM)], "convert m.cpds --to pds"),
    // Systems with mistakes.
    (&[("m.cpds", "shared 0 a{}\n")], "show m.cpds"),
    (&[("m.cpds", "shared {}\n")], "show m.cpds --color always"),
    (&[("m.cpds", "shared 0; init 0|{}a\nthread A { symbols a }")], "show m.cpds"),
    (&[("m.cpds", "shared 0; init 0|a\nthread {}A { symbols a }")], "show m.cpds"),
    (&[("m.cpds", "shared 0; init 0|a\nthread A { symbols a; {}f: (0,a) -> (0,b) }")], "show m.cpds"),
    (&[("m.cpds", "{}")], "fcr m.cpds"),
    (&[("m.pds", "1\nPDA 0 0 {}\n"), ("m.init", "0|0")], "show m.pds"),
    (&[("m.pds", "1\nPDA 0 0\n"), ("m.init", "0|{}0")], "show m.pds"),
    (&[("m.pds", "1\nPDA 0 0\n"), ("m.init", "0|0"), ("m.spec", "{}")], "reach m.pds"),
    (&[("m.pds", "1 # {}\nPDA 0 0 # {}\n0 1 -> 0 1 # {}"), ("m.init", "0|0 # {}")], "reach m.pds"),
    // Programs.
    (&[("m.bp", PROGRAM)], "verify m.bp"),
    (&[("m.bp", PROGRAM)], "verify m.bp --json --report r.html --plot p.svg --trace t.itf.json"),
    (&[("m.bp", PROGRAM)], "show m.bp"),
    (&[("m.bp", PROGRAM)], "convert m.bp --to bp"),
    (&[("m.bp", PROGRAM)], "convert m.bp --to cpds --json"),
    (&[("m.bp", PROGRAM)], "verify m.bp --target x/*{}*/|* --report r.html"),
    (&[("m.bp", PROGRAM)], "verify m.bp --label {}L"),
    (&[("m.bp", PROGRAM)], "verify m.bp --instances {}=1"),
    (&[("m.bp", "decl x{};\nvoid main() { }")], "verify m.bp"),
    (&[("m.bp", "decl x;\nvoid main() { x := {}y; y{} := x; goto {}; }")], "verify m.bp"),
    (&[("m.bp", "void main() { /* {}")], "verify m.bp"),
    // Options and names.
    (&[("m.cpds", SYSTEM)], "verify m.cpds --init {}"),
    (&[("m.cpds", SYSTEM)], "verify m.cpds --target 0|{}"),
    (&[("m.cpds", SYSTEM)], "verify m.cpds --engine {} --timeout {}"),
    (&[("m.cpds", SYSTEM)], "verify m.cpds --{}"),
    (&[("m.cpds", SYSTEM)], "verify m.cpds --report {}.txt"),
    (&[("m.cpds", SYSTEM)], "verify m.cpds --report {}.html --trace {}.json"),
    (&[("m.cpds", SYSTEM)], "verify m.cpds --trace {}/x --certificate {}/y"),
    (&[("m.cpds", SYSTEM)], "verify m.cpds --checkpoint {}/x"),
    (&[("m.cpds", SYSTEM)], "show m.cpds --psa {}"),
    (&[("m.cpds", SYSTEM)], "show m.cpds --psa A --from {}"),
    (&[("m.cpds", SYSTEM)], "show m.cpds --successors {}"),
    (&[("m.cpds", SYSTEM)], "convert m.cpds --to pds -o {}.cpds"),
    (&[("m.cpds", SYSTEM)], "convert m.cpds --to pds -o {}.pds"),
    (&[("m.cpds", SYSTEM)], "convert m.cpds --to bp"),
    (&[("{}.cpds", SYSTEM)], "verify {}.cpds --report r.html"),
    (&[("{}.cpds", SYSTEM)], "verify {}.cpds --json"),
    (&[("{}.cpds", "x")], "verify {}.cpds"),
    (&[("{}.bp", PROGRAM)], "verify {}.bp --plot p.svg"),
    (&[("{}.bp", PROGRAM)], "verify .bp"),
    (&[], "verify {}"),
    (&[], "verify {}.cpds"),
    (&[], "{}"),
    (&[], "man {}"),
    (&[], "completions {}"),
    // Files beside models, and checkpoints.
    (&[("m.cpds", SYSTEM), ("m.toml", "verdict = '{}'")], "bench m.cpds"),
    (&[("m.cpds", SYSTEM), ("m.toml", "{} = 1")], "bench m.cpds"),
    (&[("m.cpds", SYSTEM), ("m.toml", "verdict = 'unsafe'\n\"{e}\" = 1")], "bench m.cpds"),
    (&[("m.cpds", SYSTEM), ("m.toml", "verdict = \"unsafe\"\nnote = \"{e}\"")], "bench m.cpds --format markdown"),
    (&[("m.cpds", SYSTEM), ("m.toml", "verdict = \"safe\"\nnote = \"{e}\"")], "bench m.cpds --format json"),
    (&[("m.cpds", SYSTEM), ("m.toml", "verdict = \"safe\"\nnote = \"{e}\"")], "bench m.cpds --format csv"),
    (&[("m.bp", PROGRAM), ("m.toml", "verdict = 'unsafe'\ninstances = \"{e}=1\"")], "bench m.bp"),
    (&[("{}.cpds", SYSTEM)], "bench . --format markdown"),
    (&[("{}.cpds", "{}")], "bench ."),
    (&[("c", "{}")], "resume c"),
    (&[("c", "cuba checkpoint 4\n\u{4}\0\0\0{}{}{}")], "resume c"),
    (&[], "resume {}"),
    // The checker.
    (&[("m.cpds", SYSTEM), ("e.json", "{\"{e}\": 1}")], "cuba-check m.cpds e.json"),
    (&[("m.cpds", SYSTEM), ("e.json", "{}")], "cuba-check m.cpds e.json"),
    (&[("m.cpds", "{}"), ("e.json", "{}")], "cuba-check m.cpds e.json"),
    (&[("m.cpds", SYSTEM)], "cuba-check m.cpds {}"),
    (&[("m.cpds", SYSTEM)], "cuba-check --{} m.cpds"),
    (&[], "cuba-check {} e.json"),
    (&[("{}.cpds", "{}")], "cuba-check {}.cpds e.json"),
    (&[("m.cpds", SYSTEM)], "cuba-check m.cpds --init {} e.json"),
];

/// The text with the escapes of JSON and TOML.
fn escaped(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }).collect()
}

/// The output has no special characters except line ends.
fn check(text: &str, what: &str) {
    let obeyed = text.chars().find(|&c| !is_printable(c) && c != '\n');
    assert!(obeyed.is_none(), "{what}: {obeyed:?} in {text:?}");
}

#[test]
fn no_output_has_control_characters() {
    at_once(&HOSTILE, |hostile| {
        for (files, command) in CASES {
            let folder = tempfile::tempdir().unwrap();
            let put = |text: &str| text.replace("{}", hostile).replace("{e}", &escaped(hostile));
            for (name, text) in *files {
                fs::write(folder.path().join(put(name)), put(text)).unwrap();
            }
            let args: Vec<String> = command.split(' ').map(put).collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let what = format!("{hostile:?}: {command}");
            let (code, stdout, stderr) = if args[0] == "cuba-check" {
                let mut checker = Command::new(&*CUBA_CHECK);
                let output = checker.args(&args[1..]).current_dir(folder.path()).output().unwrap();
                let text = |bytes| String::from_utf8(bytes).unwrap();
                (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
            } else {
                let ran = cuba(folder.path(), &args);
                (ran.code, ran.stdout, ran.stderr)
            };
            assert!([0, 1, 2, 5, 6, 10].contains(&code) && (code != 6 || args[0] == "bench"), "{what}: {stderr}");
            check(&without_colors(&stdout), &what);
            check(&without_colors(&stderr), &what);
            for name in ["r.html", "p.svg", "t.itf.json"] {
                let path = folder.path().join(name);
                assert_eq!(path.exists(), args.contains(&name), "{what}: {stderr}");
                if path.exists() {
                    check(&fs::read_to_string(path).unwrap(), &what);
                }
            }
        }
    });
}

/// A text without the colours of cuba. No hostile text has colours.
fn without_colors(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (codes, rest) = part.split_once('m').expect("a colour");
        assert!(codes.chars().all(|c| c.is_ascii_digit() || c == ';'), "{text:?}");
        plain += rest;
    }
    plain
}

/// Special characters are shown escaped, not omitted.
#[test]
fn control_characters_are_shown_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("m.bp", &PROGRAM.replace("{}", "\u{202e}\u{1b}[2J"));
    let ran = cuba(folder.path(), &["verify", "m.bp", "--report", "r.html"]);
    assert!(ran.stdout.contains(r"\u{202e}\u{1b}[2J.c:4"), "{}", ran.stdout);
    let page = fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(page.contains(r"\u{202e}\u{1b}[2J.c"));
    write("m.cpds", "shared 0 a\u{202e}b\n");
    let ran = cuba(folder.path(), &["show", "m.cpds"]);
    assert!(ran.stderr.contains(r"shared 0 a\u{202e}b"), "{}", ran.stderr);
    // The same with colours.
    let colored = cuba_with(folder.path(), &[("CLICOLOR_FORCE", "1")], &["show", "m.cpds"]);
    assert!(colored.stderr.contains('\u{1b}'));
    assert_eq!(without_colors(&colored.stderr), ran.stderr);
}

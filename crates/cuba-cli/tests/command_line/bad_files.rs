//! Files that are not text, or that are too large.

use crate::common::{cuba, refused, refused_with, with};
use insta::assert_snapshot;
use std::fs;

#[test]
fn absurd_sizes() {
    let text = "shared 0..3999999999\nthread P * 4000000000 {\n  symbols 1..99999999999999999999999\n}\n";
    assert_snapshot!(refused("m.cpds", text), @"
    error: no initial state
     --> m.cpds:1:1
      |
    1 | shared 0..3999999999
      | ^ this file has no initial state
      |
      = help: add `init q|w1,…,wn`

    error: too many shared states
     --> m.cpds:1:8
      |
    1 | shared 0..3999999999
      |        ^^^^^^^^^^^^^ with these 4000000000, more than 1048576
      |
      = help: declare only those that the actions mention

    error: too many threads
     --> m.cpds:2:8
      |
    2 | thread P * 4000000000 {
      |        ^ at most 1024 altogether, copies counted
      |
      = help: a fixed, small number of threads can be analysed

    error: `99999999999999999999999` is too large a number
     --> m.cpds:3:14
      |
    3 |   symbols 1..99999999999999999999999
      |              ^^^^^^^^^^^^^^^^^^^^^^^ more than 64 bits
      |
      = help: write a smaller number
    ");
}

#[test]
fn stacks_that_are_too_high_for_so_many_threads() {
    let text = format!("shared 0\nthread P * 1000 {{ symbols a }}\ninit 0|a {}* 1000\n", "a ".repeat(2000));
    let shown = refused("m.cpds", text);
    assert!(shown.starts_with("error: too many initial states, or too high stacks\n --> m.cpds:3:6\n"), "{shown}");
}

#[test]
fn a_name_without_end() {
    assert_snapshot!(refused("m.cpds", format!("shared 0 {}\n", "x".repeat(5000))), @"
    error: no thread
     --> m.cpds:1:1
      |
    1 | shared 0 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
      | ^ this file has no thread
      |
      = help: add a `thread NAME { … }`

    error: no initial state
     --> m.cpds:1:1
      |
    1 | shared 0 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
      | ^ this file has no initial state
      |
      = help: add `init q|w1,…,wn`

    error: a name of 5000 bytes
     --> m.cpds:1:10
      |
    1 | ... 0 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
      |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^...^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ at most 255
      |
      = help: choose a shorter one
    ");
}

#[test]
fn control_characters() {
    assert_snapshot!(refused("m.cpds", with("\u{1b}[31mbad", "(idle,main\u{202e}) -> (busy,work)")), @r"
    error: expected `shared`, `init`, `bad` or `thread`, found `\u{1b}`
     --> m.cpds:2:1
      |
    2 | \u{1b}[31mbad
      | ^^^^^^ expected `shared`, `init`, `bad` or `thread`
      |
      = help: a system is made of these statements; see docs/formats.md

    error: expected `)`, found `\u{202e}`
     --> m.cpds:7:13
      |
    7 |   (idle,main\u{202e}) -> (busy,work)
      |             ^^^^^^^^ expected `)`
      |
      = help: an action is written `(q,a) -> (q',b)`
    ");
}

#[test]
fn the_list_of_mistakes_is_limited() {
    let text = with("", &"(idle,main) -> (nowhere,main)\n".repeat(30));
    let shown = refused("m.cpds", text);
    assert_eq!(shown.matches("error: unknown shared state `nowhere`").count(), 20);
    assert!(shown.ends_with("… and 10 more errors\n\n"));
}

#[test]
fn not_utf_8() {
    assert_snapshot!(refused("m.cpds", b"shared 0\ninit \xff|a\n"), @"
    error: the file is not UTF-8 text
     --> m.cpds:2:6
      |
    2 | init �|a
      |      ^ byte 0xff
      |
      = help: save the file as UTF-8
    ");
}

#[test]
fn utf_16() {
    let bytes: Vec<u8> = "\u{feff}shared 0".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_snapshot!(refused("m.cpds", bytes), @r"
    error: the file is not UTF-8 text
     --> m.cpds:1:1
      |
    1 | ��s\u{0}h\u{0}a\u{0}r\u{0}e\u{0}d\u{0} \u{0}0\u{0}
      | ^ byte 0xff
      |
      = help: it looks like UTF-16; save it as UTF-8
    ");
}

/// Both are accepted, so only the mistake in the text is reported.
#[test]
fn line_ends_and_byte_order_mark_of_another_system() {
    assert_snapshot!(refused("m.cpds", "\u{feff}shared 0\r\ninit 0|a\r\nthread P {\r\n  symbols a\r\n  (0,a) -> (0,b)\r\n}\r\n"), @"
    error: unknown stack symbol `b`
     --> m.cpds:5:15
      |
    5 |   (0,a) -> (0,b)
      |               ^ thread `P` declares a
      |
      = help: add it to the thread's symbols
    ");
}

#[test]
fn an_empty_file() {
    assert_snapshot!(refused("m.cpds", ""), @"
    error: the file declares nothing
     --> m.cpds:1:1
      |
    1 |
      | ^ no statement in this file
      |
      = help: a system has `shared` states, an `init` state and a `thread NAME { … }`
    ");
    assert_snapshot!(refused("m.pds", "# only a comment\n"), @"
    error: the file declares nothing
     --> m.pds:1:1
      |
    1 | # only a comment
      | ^ no statement in this file
      |
      = help: the first line is the number of shared states; then `PDA low high` opens a thread
    ");
}

#[test]
fn a_directory() {
    assert_snapshot!(refused_with(&[], &["show", "."]), @"
    error: `.` is a directory
     |
     = help: name a file in it
    ");
}

#[test]
fn a_directory_called_like_a_model() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("m.cpds")).unwrap();
    let ran = cuba(folder.path(), &["show", "m.cpds"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert_snapshot!(ran.stderr, @"
    error: `m.cpds` is a directory
     |
     = help: name a file in it
    ");
}

#[test]
fn a_missing_file_and_one_that_was_meant() {
    assert_snapshot!(refused_with(&[("fig1.cpds", b"")], &["show", "fig.cpds"]), @"
    error: there is no file `fig.cpds`
     |
     = help: did you mean `fig1.cpds`?
    ");
    assert_snapshot!(refused_with(&[], &["show", "nowhere/fig1.cpds"]), @"
    error: there is no file `nowhere/fig1.cpds`
     |
     = help: there is no folder `nowhere` either
    ");
}

#[test]
fn a_format_that_is_not_known() {
    assert_snapshot!(refused("m.txt", ""), @"
    error: `m.txt` has no known format
     |
     = help: the name of a model ends in .bp, .cpds or .pds
    ");
}

//! Every kind of bad input: what the user sees, exit code 2, and nothing on standard output.

mod common;

use common::cuba;
use insta::assert_snapshot;
use std::fs;

/// Shows a file with this content, which must be refused; what standard error says.
fn refused(name: &str, content: impl AsRef<[u8]>) -> String {
    refused_with(&[(name, content.as_ref())], &["show", name])
}

fn refused_with(files: &[(&str, &[u8])], args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let ran = cuba(folder.path(), args);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    ran.stderr
}

/// A system in which everything is right, with one more line before, or in its thread.
fn with(statement: &str, in_thread: &str) -> String {
    format!(
        "shared idle busy\n{statement}\ninit idle|main,-\n\nthread A {{\n  symbols main work\n  {in_thread}\n}}\nthread B {{ symbols x }}\n"
    )
}

#[test]
fn the_template_is_right() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.cpds"), with("", "")).unwrap();
    let ran = cuba(folder.path(), &["show", "m.cpds"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn unknown_names_and_the_nearest_known_ones() {
    assert_snapshot!(refused("m.cpds", with("bad  bsuy|*,*", "(idle,mian) -> (gone,work other)")), @"
    error: unknown shared state `bsuy`
     --> m.cpds:2:6
      |
    2 | bad  bsuy|*,*
      |      ^^^^ the shared states are idle busy
      |
      = help: did you mean `busy`?

    error: unknown stack symbol `mian`
     --> m.cpds:7:9
      |
    7 |   (idle,mian) -> (gone,work other)
      |         ^^^^ thread `A` declares main work
      |
      = help: did you mean `main`?

    error: unknown shared state `gone`
     --> m.cpds:7:19
      |
    7 |   (idle,mian) -> (gone,work other)
      |                   ^^^^ the shared states are idle busy
      |
      = help: declare it with `shared`

    error: unknown stack symbol `other`
     --> m.cpds:7:29
      |
    7 |   (idle,mian) -> (gone,work other)
      |                             ^^^^^ thread `A` declares main work
      |
      = help: add it to the thread's symbols
    ");
}

#[test]
fn unknown_numbers() {
    assert_snapshot!(refused("m.cpds", "shared 0..3\ninit 0|1\nthread P {\n  symbols 1..6\n  (0,3) -> (4,1 7)\n}\n"), @"
    error: unknown shared state `4`
     --> m.cpds:5:13
      |
    5 |   (0,3) -> (4,1 7)
      |             ^ the shared states are 0..3
      |
      = help: declare it with `shared`

    error: unknown stack symbol `7`
     --> m.cpds:5:17
      |
    5 |   (0,3) -> (4,1 7)
      |                 ^ thread `P` declares 1..6
      |
      = help: add it to the thread's symbols
    ");
}

#[test]
fn a_stack_symbol_of_a_thread_that_has_none() {
    assert_snapshot!(refused("m.cpds", "shared 0\ninit 0|a\nthread P { }\n"), @"
    error: unknown stack symbol `a`
     --> m.cpds:2:8
      |
    2 | init 0|a
      |        ^ thread `P` declares nothing
      |
      = help: the thread declares no symbols; `-` is the empty stack
    ");
}

#[test]
fn forgotten_declarations() {
    assert_snapshot!(refused("m.cpds", "init 0|a\nthread P {\n  (0,a) -> (1,b)\n}\n"), @"
    error: thread `P` declares no stack symbols
     --> m.cpds:2:8
      |
    2 | thread P {
      |        ^ but its actions use some
      |
      = help: add `symbols a b`

    error: no shared states are declared
     --> m.cpds:3:4
      |
    3 |   (0,a) -> (1,b)
      |    ^ not declared
      |
      = help: add `shared 0 1`
    ");
}

#[test]
fn nothing_but_a_thread() {
    assert_snapshot!(refused("m.cpds", "shared 0\nthread P { symbols a }\n"), @"
    error: no initial state
     --> m.cpds:1:1
      |
    1 | shared 0
      | ^ this file has no initial state
      |
      = help: add `init q|w1,…,wn`
    ");
}

#[test]
fn no_thread() {
    assert_snapshot!(refused("m.cpds", "shared 0\ninit 0|a\n"), @"
    error: no thread
     --> m.cpds:1:1
      |
    1 | shared 0
      | ^ this file has no thread
      |
      = help: add a `thread NAME { … }`
    ");
}

#[test]
fn a_wrong_number_of_stacks() {
    assert_snapshot!(refused("m.cpds", with("init busy|main\nbad *|main,x*3", "")), @"
    error: a state with 1 stack in a system with 2 threads
     --> m.cpds:2:6
      |
    2 | init busy|main
      |      ^^^^^^^^^ 1 stack, but 2 threads
      |
      = help: write one stack for each of A, B; `-` is the empty stack

    error: a state with 4 stacks in a system with 2 threads
     --> m.cpds:3:5
      |
    3 | bad *|main,x*3
      |     ^^^^^^^^^^ 4 stacks, but 2 threads
      |
      = help: write one stack for each of A, B; `-` is the empty stack
    ");
}

#[test]
fn duplicate_declarations() {
    let text = "shared 0..3 2\ninit 0|a,a\nthread P { symbols a b a }\nthread P { symbols a }\n";
    assert_snapshot!(refused("m.cpds", text), @"
    error: shared state `2` is declared twice
     --> m.cpds:1:13
      |
    1 | shared 0..3 2
      |        ---- ^ declared again
      |        |
      |        first declared here
      |
      = help: remove one of them

    error: stack symbol `a` is declared twice
     --> m.cpds:3:24
      |
    3 | thread P { symbols a b a }
      |                    -   ^ declared again
      |                    |
      |                    first declared here
      |
      = help: remove one of them

    error: thread `P` is declared twice
     --> m.cpds:4:8
      |
    3 | thread P { symbols a b a }
      |        - first declared here
    4 | thread P { symbols a }
      |        ^ declared again
      |
      = help: for several threads with one program, write `thread P * 2 { … }`
    ");
}

/// One message: the rest of the range is declared all the same.
#[test]
fn a_range_that_overlaps() {
    let text = "shared 1 2 0..5\ninit 5|a\nthread P { symbols a; (4,a) -> (3,-) }\n";
    assert_snapshot!(refused("m.cpds", text), @"
    error: shared state `1` is declared twice
     --> m.cpds:1:12
      |
    1 | shared 1 2 0..5
      |        -   ^^^^ declared again
      |        |
      |        first declared here
      |
      = help: remove one of them
    ");
}

#[test]
fn an_action_from_the_empty_stack_that_pushes_two_symbols() {
    assert_snapshot!(refused("m.cpds", with("", "(idle,-) -> (busy,main work)")), @"
    error: an action from the empty stack pushes at most one symbol
     --> m.cpds:7:21
      |
    7 |   (idle,-) -> (busy,main work)
      |                     ^^^^^^^^^ there is no symbol to overwrite
      |
      = help: push the lower symbol first, and the other one from there
    ");
}

#[test]
fn an_action_that_reads_or_writes_too_much() {
    let text = with("", "(idle,main work) -> (busy,-); (idle,main) -> (busy,main work main)");
    assert_snapshot!(refused("m.cpds", text), @"
    error: an action reads only the top symbol
     --> m.cpds:7:9
      |
    7 |   (idle,main work) -> (busy,-); (idle,main) -> (busy,main work main)
      |         ^^^^^^^^^ only the top of the stack is seen
      |
      = help: name one symbol, or `-` for the empty stack

    error: an action writes at most two symbols
     --> m.cpds:7:54
      |
    7 |   (idle,main work) -> (busy,-); (idle,main) -> (busy,main work main)
      |                                                      ^^^^^^^^^^^^^^ at most the callee and its return point
      |
      = help: push in several actions, through intermediate symbols
    ");
}

#[test]
fn a_missing_arrow() {
    assert_snapshot!(refused("m.cpds", with("", "(idle,main) (busy,work)")), @"
    error: expected `->`, found `(`
     --> m.cpds:7:15
      |
    7 |   (idle,main) (busy,work)
      |               ^ expected `->`
      |
      = help: an action is written `(q,a) -> (q',b)`
    ");
}

#[test]
fn several_mistakes_at_once() {
    let text = with(
        "ini busy|main,x\nshared",
        "(idle,main) - > (busy,work)\n  (idle main) -> (busy,work)\n  (idle,main) -> (busy,work",
    );
    assert_snapshot!(refused("m.cpds", text), @"
    error: expected `shared`, `init`, `bad` or `thread`, found `ini`
     --> m.cpds:2:1
      |
    2 | ini busy|main,x
      | ^^^ expected `shared`, `init`, `bad` or `thread`
      |
      = help: did you mean `init`?

    error: expected a name, found end of line
     --> m.cpds:3:7
      |
    3 | shared
      |       ^ expected a name
      |
      = help: a name is a word or a number: `main`, `x.1`, `7`

    error: expected `->`, found `-`
     --> m.cpds:8:15
      |
    8 |   (idle,main) - > (busy,work)
      |               ^ expected `->`
      |
      = help: an action is written `(q,a) -> (q',b)`

    error: expected `,` after the shared state, found `main`
     --> m.cpds:9:9
      |
    9 |   (idle main) -> (busy,work)
      |         ^^^^ expected `,` after the shared state
      |
      = help: an action is written `(q,a) -> (q',b)`

    error: expected `)`, found end of line
      --> m.cpds:10:28
       |
    10 |   (idle,main) -> (busy,work
       |                            ^ expected `)`
       |
       = help: an action is written `(q,a) -> (q',b)`
    ");
}

#[test]
fn a_dash_in_names() {
    let text = "shared 0-3\ninit 0|a\nthread P {\n  symbols a-1 b\n  (1,a) -> (2,b)\n}\n";
    assert_snapshot!(refused("m.cpds", text), @"
    error: `-` in a list of names
     --> m.cpds:1:9
      |
    1 | shared 0-3
      |         ^ not part of a name
      |
      = help: a range is written `0..3`; in a name, use `_` or `.`

    error: `-` in a list of names
     --> m.cpds:4:12
      |
    4 |   symbols a-1 b
      |            ^ not part of a name
      |
      = help: a range is written `0..3`; in a name, use `_` or `.`
    ");
}

#[test]
fn a_thread_that_is_not_closed_before_the_next() {
    let text = "shared 0\ninit 0|a,a\nthread A {\n  symbols a\n  (0,a) -> (0,-)\n\nthread B {\n  symbols a\n  (0,b) -> (0,-)\n}\n";
    assert_snapshot!(refused("m.cpds", text), @"
    error: thread `A` is not closed
     --> m.cpds:3:10
      |
    3 | thread A {
      |          ^ opened here
      |
      = help: add a `}`

    error: unknown stack symbol `b`
     --> m.cpds:9:6
      |
    9 |   (0,b) -> (0,-)
      |      ^ thread `B` declares a
      |
      = help: add it to the thread's symbols
    ");
}

#[test]
fn no_copies() {
    assert_snapshot!(refused("m.cpds", with("init busy|nonsense*0,main,x", "")), @"
    error: no copies at all
     --> m.cpds:2:20
      |
    2 | init busy|nonsense*0,main,x
      |                    ^ at least 1
      |
      = help: leave out what is not there
    ");
}

#[test]
fn ends_of_ranges() {
    let text = "shared 01..03 99999999999999999999..99999999999999999999\nthread P { symbols 3..1 }\ninit 1|-\n";
    assert_snapshot!(refused("m.cpds", text), @"
    error: the end of a range is a number below 2^32, without leading zeros
     --> m.cpds:1:8
      |
    1 | shared 01..03 99999999999999999999..99999999999999999999
      |        ^^ not of that form
      |
      = help: names that look otherwise must be listed one by one

    error: a range that runs backwards
     --> m.cpds:2:20
      |
    2 | thread P { symbols 3..1 }
      |                    ^^^^ it has no elements
      |
      = help: the lower end comes first: 1, then 3
    ");
}

#[test]
fn statements_in_the_wrong_place() {
    let text = "(0,a) -> (0,b)\nshared 0\ninit 0|a b*1,*\nthread P {\n  symbols a b\n  init 0|a\n  (0,a) -> (0,b) (0,b) -> (0,a)\n";
    assert_snapshot!(refused("m.cpds", text), @"
    error: an action outside a thread
     --> m.cpds:1:1
      |
    1 | (0,a) -> (0,b)
      | ^ whose action is this?
      |
      = help: put it into a `thread NAME { … }`

    error: a state with 2 stacks in a system with 1 thread
     --> m.cpds:3:6
      |
    3 | init 0|a b*1,*
      |      ^^^^^^^^^ 2 stacks, but 1 thread
      |
      = help: write one stack for each of P; `-` is the empty stack

    error: thread `P` is not closed
     --> m.cpds:4:10
      |
    4 | thread P {
      |          ^ opened here
      |
      = help: add a `}`

    error: expected `symbols` or an action, found `init`
     --> m.cpds:6:3
      |
    6 |   init 0|a
      |   ^^^^ expected `symbols` or an action
      |
      = help: an action is written `(q,a) -> (q',b)`

    error: expected the end of the line, found `(`
     --> m.cpds:7:18
      |
    7 |   (0,a) -> (0,b) (0,b) -> (0,a)
      |                  ^ expected the end of the line
      |
      = help: one statement a line, or `;` between them
    ");
}

#[test]
fn a_tall_stack_in_a_pattern_and_a_dotted_one() {
    assert_snapshot!(refused("m.cpds", with("bad  *|main work,-\ninit idle|main.work,-", "")), @"
    error: a bad pattern describes visible states: only the top of each stack
     --> m.cpds:2:8
      |
    2 | bad  *|main work,-
      |        ^^^^^^^^^ more than a top
      |
      = help: write its top only: `main`

    error: unknown stack symbol `main.work`
     --> m.cpds:3:11
      |
    3 | init idle|main.work,-
      |           ^^^^^^^^^ thread `A` declares main work
      |
      = help: here a stack is written top first, with blanks: `work main`
    ");
}

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

/// Names and ranges that would be slow to look through for every message, in a file of a few hundred kilobytes.
#[test]
fn suggestions_do_not_take_forever() {
    let long = |i: usize| format!("{i:0>255}");
    let declared: Vec<_> = (0..1000).map(|i| format!("shared {}", long(i))).collect();
    let unknown: Vec<_> = (0..100).map(|i| format!("init {}|-", long(5000 + i))).collect();
    refused("m.cpds", format!("{}\n{}\nthread P {{ }}\n", declared.join("\n"), unknown.join("\n")));
    let actions = "(q,-) -> (q,-)\n".repeat(100);
    refused("m.cpds", format!("shared 0..1000000\ninit 0|-\nthread P {{\n{actions}}}\n"));
    let dotted = vec!["100000"; 10_000].join(".");
    refused("m.cpds", format!("shared 0\ninit 0|{dotted}\nthread P {{ symbols 0..100000 }}\n"));
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
    2 | ␛[31mbad
      | ^ expected `shared`, `init`, `bad` or `thread`
      |
      = help: a system is made of these statements; see docs/formats.md

    error: expected `)`, found `\u{202e}`
     --> m.cpds:7:13
      |
    7 |   (idle,main�) -> (busy,work)
      |             ^ expected `)`
      |
      = help: an action is written `(q,a) -> (q',b)`
    ");
}

#[test]
fn more_mistakes_than_anybody_reads() {
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
    assert_snapshot!(refused("m.cpds", bytes), @"
    error: the file is not UTF-8 text
     --> m.cpds:1:1
      |
    1 | ��s␀h␀a␀r␀e␀d␀ ␀0␀
      | ^ byte 0xff
      |
      = help: it looks like UTF-16; save it as UTF-8
    ");
}

/// Accepted, both of them; so the mistake shown is the one in the text.
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
     = help: the name of a model ends in .cpds or .pds
    ");
    assert_snapshot!(refused("m.bp", "decl x;"), @"
    error: `m.bp` is a Boolean program, which this version cannot read
     |
     = help: write it as a .cpds file
    ");
}

#[test]
fn pds_mistakes() {
    let text =
        "2\n0 1 -> 1 2\nPDA 1 2\n0 1 -> 5 2\n0 1 1 2\n0 - -> 1 1 2\n0 a -> 1 -\nPDA 3 1\nPDB 1 2\n0 1 -> 0 1 1 1\n";
    assert_snapshot!(refused_with(&[("m.pds", text.as_bytes()), ("m.init", b"0|1,1")], &["show", "m.pds"]), @"
    error: an action before the first thread
     --> m.pds:2:1
      |
    2 | 0 1 -> 1 2
      | ^^^^^^^^^^ whose action is this?
      |
      = help: open a thread before it: `PDA low high`

    error: unknown shared state `5`
     --> m.pds:4:8
      |
    4 | 0 1 -> 5 2
      |        ^ the shared states are 0 1
      |
      = help: the first line of the file is the number of shared states

    error: expected `->`, found `1`
     --> m.pds:5:5
      |
    5 | 0 1 1 2
      |     ^ expected `->`
      |
      = help: an action is written `q a -> q' b`

    error: an action from the empty stack pushes at most one symbol
     --> m.pds:6:10
      |
    6 | 0 - -> 1 1 2
      |          ^^^ there is no symbol to overwrite
      |
      = help: push the lower symbol first, and the other one from there

    error: `a` is not a number below 2^32
     --> m.pds:7:3
      |
    7 | 0 a -> 1 -
      |   ^ expected a number
      |
      = help: in this format shared states and symbols are numbers

    error: a range that runs backwards
     --> m.pds:8:5
      |
    8 | PDA 3 1
      |     ^^^ it has no elements
      |
      = help: the lower end comes first: 1, then 3

    error: expected `PDA` or an action, found `PDB`
     --> m.pds:9:1
      |
    9 | PDB 1 2
      | ^^^ expected `PDA` or an action
      |
      = help: an action is written `q a -> q' b`

    error: an action writes at most two symbols
      --> m.pds:10:10
       |
    10 | 0 1 -> 0 1 1 1
       |          ^^^^^ at most the callee and its return point
       |
       = help: push in several actions, through intermediate symbols
    ");
}

#[test]
fn pds_absurd_sizes() {
    let files: [(&str, &[u8]); 2] = [("m.pds", b"4000000000\nPDA 0 4000000000\n"), ("m.init", b"0|0")];
    assert_snapshot!(refused_with(&files, &["show", "m.pds"]), @"
    error: too many shared states
     --> m.pds:1:1
      |
    1 | 4000000000
      | ^^^^^^^^^^ with these 4000000000, more than 1048576
      |
      = help: declare only those that the actions mention

    error: too many stack symbols
     --> m.pds:2:5
      |
    2 | PDA 0 4000000000
      |     ^^^^^^^^^^^^ with these 4000000001, more than 1048576
      |
      = help: declare only those that the actions mention
    ");
}

#[test]
fn pds_with_more_symbols_mentioned_than_there_is_room_for() {
    let files: [(&str, &[u8]); 2] = [("m.pds", b"1\nPDA 0 1048575\n0 2000000 -> 0 -\n"), ("m.init", b"0|0")];
    assert_snapshot!(refused_with(&files, &["show", "m.pds"]), @"
    error: more than 1048576 stack symbols, all threads together
     --> m.pds:1:1
      |
    1 | 1
      | ^ this system has more
      |
      = help: a system that large cannot be explored; look for a smaller model

    warning: thread 1 mentions a symbol outside its declared range: 2000000
     --> m.pds:3:3
      |
    2 | PDA 0 1048575
      |     --------- the declared range
    3 | 0 2000000 -> 0 -
      |   ^^^^^^^ taken as one of its symbols
      |
      = help: declare a range that covers all symbols
    ");
}

#[test]
fn an_init_file_without_a_state() {
    let files: [(&str, &[u8]); 2] = [("m.pds", b"1\nPDA 0 1\n"), ("m.init", b"# later\n")];
    assert_snapshot!(refused_with(&files, &["show", "m.pds"]), @"
    error: no initial state
     --> m.init:1:1
      |
    1 | # later
      | ^ this file has no initial state
      |
      = help: write `q|w1,…,wn` into a `.init` file of the same name, or give it with `--init`
    ");
}

#[test]
fn quiet_shows_errors_only() {
    let files: [(&str, &[u8]); 2] = [("m.pds", b"1\nPDA 0 1\n0 7 -> 5 0\n"), ("m.init", b"0|0")];
    assert!(refused_with(&files, &["show", "m.pds"]).contains("warning: thread 1 mentions a symbol"));
    assert!(!refused_with(&files, &["show", "m.pds", "-q"]).contains("warning"));
}

#[test]
fn pds_without_an_initial_state() {
    assert_snapshot!(refused("m.pds", "1\nPDA 0 1\n0 0 -> 0 1\n"), @"
    error: no initial state
     --> m.pds:1:1
      |
    1 | 1
      | ^ this file has no initial state
      |
      = help: write `q|w1,…,wn` into a `.init` file of the same name, or give it with `--init`
    ");
}

#[test]
fn init_and_spec_mistakes() {
    let files: [(&str, &[u8]); 3] =
        [("m.pds", b"2\nPDA 0 1\n"), ("m.init", b"0|0 1\n7|0\n0|0,0\nx|0\n0|1.\n0|0;0|1\n"), ("m.spec", b"0|0.1\n")];
    assert_snapshot!(refused_with(&files, &["show", "m.pds"]), @"
    error: a stack written with blanks
     --> m.init:1:3
      |
    1 | 0|0 1
      |   ^^^ which end is the top?
      |
      = help: in `.init` and `.spec` files write it bottom to top, with dots: `1.2` has 2 on top

    error: unknown shared state `7`
     --> m.init:2:1
      |
    2 | 7|0
      | ^ the shared states are 0 1
      |
      = help: the first line of the file is the number of shared states

    error: a state with 2 stacks in a system with 1 thread
     --> m.init:3:1
      |
    3 | 0|0,0
      | ^^^^^ 2 stacks, but 1 thread
      |
      = help: write one stack for each of P1; `-` is the empty stack

    error: `x` is not a number below 2^32
     --> m.init:4:1
      |
    4 | x|0
      | ^ expected a number
      |
      = help: in this format shared states and symbols are numbers

    error: a dot without a symbol
     --> m.init:5:5
      |
    5 | 0|1.
      |     ^ expected a number
      |
      = help: in this format shared states and symbols are numbers

    error: expected the end of the line, found `;`
     --> m.init:6:4
      |
    6 | 0|0;0|1
      |    ^ expected the end of the line
      |
      = help: one action or one state a line

    error: a bad pattern describes visible states: only the top of each stack
     --> m.spec:1:3
      |
    1 | 0|0.1
      |   ^^^ more than a top
      |
      = help: write its top only: `1`
    ");
}

#[test]
fn states_on_the_command_line() {
    let model = with("", "");
    let files: [(&str, &[u8]); 1] = [("m.cpds", model.as_bytes())];
    let init = ["show", "m.cpds", "--init", "idle|mian,-", "--target", "idle|main", "--target", "idle"];
    assert_snapshot!(refused_with(&files, &init), @"
    error: unknown stack symbol `mian`
     --> --init:1:6
      |
    1 | idle|mian,-
      |      ^^^^ thread `A` declares main work
      |
      = help: did you mean `main`?

    error: a state with 1 stack in a system with 2 threads
     --> --target:1:1
      |
    1 | idle|main
      | ^^^^^^^^^ 1 stack, but 2 threads
      |
      = help: write one stack for each of A, B; `-` is the empty stack

    error: expected `|` after the shared state, found end of text
     --> --target:1:5
      |
    1 | idle
      |     ^ expected `|` after the shared state
      |
      = help: a state is written `q|w1,…,wn`
    ");
    assert_snapshot!(refused_with(&files, &["show", "m.cpds", "--successors", "idle|main work.main,*"]), @"
    error: unknown stack symbol `work.main`
     --> --successors:1:11
      |
    1 | idle|main work.main,*
      |           ^^^^^^^^^ thread `A` declares main work
      |
      = help: here a stack is written top first, with blanks: `main work`

    error: `*` in a state
     --> --successors:1:21
      |
    1 | idle|main work.main,*
      |                     ^ only a bad pattern can leave this open
      |
      = help: write one state for each possibility
    ");
}

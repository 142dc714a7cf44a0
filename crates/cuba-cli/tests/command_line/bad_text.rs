//! Mistakes in a `.cpds` text: the messages.

use crate::common::{cuba, refused, refused_with, with};
use insta::assert_snapshot;
use std::fs;

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

/// One message. The rest of the range is still declared.
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
    error: the number of copies is 0
     --> m.cpds:2:20
      |
    2 | init busy|nonsense*0,main,x
      |                    ^ must be at least 1
      |
      = help: write a larger number, or remove the item with its number
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
      | ^ this action belongs to no thread
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

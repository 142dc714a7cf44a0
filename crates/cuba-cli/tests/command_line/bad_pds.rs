//! Mistakes in the three files of the `.pds` format.

use crate::common::{refused, refused_with};
use insta::assert_snapshot;

#[test]
fn pds_mistakes() {
    let text =
        "2\n0 1 -> 1 2\nPDA 1 2\n0 1 -> 5 2\n0 1 1 2\n0 - -> 1 1 2\n0 a -> 1 -\nPDA 3 1\nPDB 1 2\n0 1 -> 0 1 1 1\n";
    assert_snapshot!(refused_with(&[("m.pds", text.as_bytes()), ("m.init", b"0|1,1")], &["show", "m.pds"]), @"
    error: an action before the first thread
     --> m.pds:2:1
      |
    2 | 0 1 -> 1 2
      | ^^^^^^^^^^ this action belongs to no thread
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
      |   ^^^ the order of the symbols is not clear
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

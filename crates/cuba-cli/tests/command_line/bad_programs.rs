//! Mistakes in the text of a Boolean program: the messages.

use crate::common::{cuba, refused};
use insta::assert_snapshot;
use std::fs;

/// The errors of a program: the message, the place and the help of each, without the source lines.
pub(crate) fn briefly(program: &str) -> String {
    let is_said = |line: &&str| ["error", "-->", "= help"].iter().any(|start| line.trim_start().starts_with(start));
    let refused = refused("p.bp", program);
    refused.lines().filter(is_said).map(str::trim_start).collect::<Vec<_>>().join("\n")
}

/// A message with a place, a second place that explains it, and a hint.
#[test]
fn a_mistake_as_it_is_shown() {
    assert_snapshot!(refused("p.bp", "decl x;\nbool f(a) { return a; }\nvoid main() { x, _ := f(1); L: skip; goto K; }"), @"
    error: `f` has 1 result
     --> p.bp:3:15
      |
    2 | bool f(a) { return a; }
      |      - declared here
    3 | void main() { x, _ := f(1); L: skip; goto K; }
      |               ^^^^^^^^^^^^ assigned to 2 variables
      |
      = help: use `_` for a result that is not wanted

    error: unknown label `K`
     --> p.bp:3:43
      |
    3 | void main() { x, _ := f(1); L: skip; goto K; }
      |                                           ^ not in this function
      |
      = help: write `K:` before a statement of this function
    ");
}

/// Texts that are not statements.
#[test]
fn mistakes_in_the_text() {
    let program = "decl flag = 2;
decl T, x;
void main() {
  int x;
  x = 1;
  x := f(1) & 1;
  if x then skip; fi
  atomic skip;
  x := 1
  x := (1;
  L:
}
dfs void f() { sync; }
bool y;
void g() begin end
";
    assert_snapshot!(briefly(program), @"
    error: expected a constant, found `2`
    --> p.bp:1:13
    = help: `0`, `1`, or `*` for any value; assign any other value in a statement
    error: a variable with a type
    --> p.bp:4:3
    = help: declare it: `decl x;`
    error: expected `:=`, found `=`
    --> p.bp:5:5
    = help: an assignment is written `x := e;`
    error: a call inside an expression
    --> p.bp:6:8
    = help: assign its result first: `x := call f(…);`
    error: expected `(`, found `x`
    --> p.bp:7:6
    = help: the condition is in parentheses, followed by `{`: this file does not use `then` and `do`
    error: expected `{`, found `skip`
    --> p.bp:8:10
    = help: a block starts here
    error: expected `;`, found `x`
    --> p.bp:9:9
    = help: a statement ends with `;`
    error: expected a statement after the label, found `}`
    --> p.bp:12:1
    = help: `skip;` does nothing
    error: `dfs` is not supported
    --> p.bp:13:1
    = help: leave it out, if this does not change the meaning of the program
    error: `sync` is not supported
    --> p.bp:13:16
    = help: leave it out, if this does not change the meaning of the program
    error: a variable with a type
    --> p.bp:14:1
    = help: declare it: `decl y;`
    error: expected `{`, found `begin`
    --> p.bp:15:10
    = help: use one dialect in a file: `{ … }` or `begin … end`
    ");
}

/// Mistakes in the text and in the meaning are reported together. There is no message about names
/// that a part with a mistake may declare.
#[test]
fn mistakes_of_both_kinds() {
    let program = "decl x, y = 3;
void main() {
  y := z;
  x := ;
  L2 x := 1;
  goto L2, M;
  nof(T);
}
";
    assert_snapshot!(briefly(program), @"
    error: expected a constant, found `3`
    --> p.bp:1:13
    = help: `0`, `1`, or `*` for any value; assign any other value in a statement
    error: undeclared variable `z`
    --> p.bp:3:8
    = help: declare it: `decl z;`
    error: expected an expression, found `;`
    --> p.bp:4:8
    = help: a variable, `0`, `1`, `*`, or an expression in parentheses
    error: expected `:=`, found `x`
    --> p.bp:5:6
    = help: an assignment is written `x := e;`, a call `call f(e);`
    error: unknown label `M`
    --> p.bp:6:12
    = help: write `M:` before a statement of this function
    error: unknown function `nof`
    --> p.bp:7:3
    = help: define it: `void nof() …`
    error: undeclared variable `T`
    --> p.bp:7:7
    = help: in a file that is written with `{ … }`, the constants are `0` and `1`
    ");
}

/// Programs with correct syntax but without a meaning.
#[test]
fn mistakes_in_the_meaning() {
    let program = "decl x, x;
bool f(a, a) {
  decl b;
  y := 1;
  b, x := 1;
  x := call g(1);
  x, b := call f(1, 0);
  call f(1);
  L: skip;
  L: goto M, INSIDE;
  b := 'x;
  b, b := 0, 1;
  x := 1 constrain 'z;
  atomic { INSIDE: skip; }
  dead c;
  return 1, 0;
}
void main() {
  asume(x);
  x := main();
  goto L;
  thread_create(&f);
}
";
    assert_snapshot!(briefly(program), @"
    error: variable `x` is declared twice
    --> p.bp:1:9
    = help: remove or rename one of them
    error: variable `a` is declared twice
    --> p.bp:2:11
    = help: remove or rename one of them
    error: undeclared variable `y`
    --> p.bp:4:3
    = help: declare it: `decl y;`
    error: an assignment of 1 value to 2 variables
    --> p.bp:5:3
    = help: use `_` for a value that is not wanted, `*` for any value
    error: unknown function `g`
    --> p.bp:6:13
    = help: define it: `void g() …`
    error: `f` has 1 result
    --> p.bp:7:3
    = help: use `_` for a result that is not wanted
    error: `f` takes 2 arguments
    --> p.bp:8:8
    = help: pass one value for each parameter; `*` is any value
    error: label `L` occurs twice in one function
    --> p.bp:9:3
    = help: rename one of them
    error: unknown label `M`
    --> p.bp:10:11
    = help: write `M:` before a statement of this function
    error: `INSIDE` is inside an atomic block
    --> p.bp:10:14
    = help: put the label before the block
    error: `'x` outside of `constrain`
    --> p.bp:11:9
    = help: for the value now, write `x`
    error: `b` is assigned twice in one statement
    --> p.bp:12:6
    = help: use `_` for a value that is not wanted
    error: undeclared variable `z`
    --> p.bp:13:21
    = help: declare it: `decl z;`
    error: undeclared variable `c`
    --> p.bp:15:8
    = help: declare it: `decl c;`
    error: `f` has 1 result, not 2
    --> p.bp:16:3
    = help: return 1 value
    error: unknown function `asume`
    --> p.bp:19:3
    = help: did you mean `assume`?
    error: `main` has no results
    --> p.bp:20:3
    = help: call it without an assignment: `call main(…);`
    error: unknown label `L`
    --> p.bp:21:8
    = help: it is a label of `f`, and a jump stays in its function
    error: `f` takes 2 arguments
    --> p.bp:22:18
    = help: pass one value for each parameter; `*` is any value
    ");
}

#[test]
fn warnings() {
    let program = "decl m; bool f() { lock(m); m := 1; } void main() { m := f(); assert(m); }";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.bp"), program).unwrap();
    assert_snapshot!(cuba(folder.path(), &["show", "p.bp", "--json"]).stderr, @"
    warning: `m` is a variable and a lock
     --> p.bp:1:6
      |
    1 | decl m; bool f() { lock(m); m := 1; } void main() { m := f(); assert(m); }
      |      ^ locking neither reads nor changes this variable
      |
      = help: give one of them another name to avoid confusion

    warning: the end of `f` is reached without a `return`
     --> p.bp:1:37
      |
    1 | decl m; bool f() { lock(m); m := 1; } void main() { m := f(); assert(m); }
      |                                     ^ returns any value
      |
      = help: add a `return`
    ");
}

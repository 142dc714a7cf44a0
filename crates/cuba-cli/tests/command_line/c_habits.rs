//! Habits of C programmers: each mistake gets one message, which says what to write instead.

use crate::bad_programs::briefly;
use crate::common::{at_once, refused};
use insta::assert_snapshot;
use std::sync::Mutex;

/// Returns the message about the only mistake of a text, in one line: place, message and hint.
fn message(program: &str) -> String {
    let refused = refused("p.bp", program);
    let lines = |start: &'static str| refused.lines().filter_map(move |line| line.trim_start().strip_prefix(start));
    let errors: Vec<_> = lines("error: ").zip(lines("--> p.bp:")).zip(lines("= help: ")).collect();
    let [((error, place), help)] = errors[..] else { panic!("{program}\n{refused}") };
    assert_eq!(lines("error: ").count(), 1, "{program}\n{refused}");
    format!("  {place}: {error}\n  {help}\n")
}

/// Each text with the message about it. `program` puts the text into a program.
fn all_messages(texts: &str, program: impl Fn(&str) -> String + Sync) -> String {
    let texts: Vec<(usize, &str)> = texts.lines().map(str::trim).filter(|text| !text.is_empty()).enumerate().collect();
    let found = Mutex::new(Vec::new());
    at_once(&texts, |&(number, text)| {
        let said = format!("{text}\n{}", message(&program(text)));
        found.lock().unwrap().push((number, said));
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    found.into_iter().map(|(_, said)| said).collect()
}

/// The messages about these statements, in a function. The statements before and after them use the
/// names that they may declare.
fn of_statements(texts: &str) -> String {
    all_messages(texts, |text| {
        format!(
            "decl x, y;\nvoid f() {{ x := 1; }}\nvoid main() {{\n  y := x;\n  {text}\n  y := x;\n  if (y) {{ x := 0; }}\n}}\n"
        )
    })
}

/// Control flow of C.
#[test]
fn control_flow() {
    let texts = "
        for (int i = 0; i < 3; i++) { x := i; L: skip; }
        for (;;) x := 1;
        while (*) { if (x) { break; } x := 1; }
        while (*) { if (x) continue; else x := 1; }
        switch (x) { case 0: x := 1; L: break; default: y := i; }
        do { x := 1; L: skip; } while (x);
        { x := 1; L: skip; }";
    assert_snapshot!(of_statements(texts), @"
    for (int i = 0; i < 3; i++) { x := i; L: skip; }
      5:3: there is no statement `for`
      loops are written `while (e) { … }`; `while (*)` may end at any time
    for (;;) x := 1;
      5:3: there is no statement `for`
      loops are written `while (e) { … }`; `while (*)` may end at any time
    while (*) { if (x) { break; } x := 1; }
      5:24: there is no statement `break`
      write `goto done;`, and `done: skip;` after the loop
    while (*) { if (x) continue; else x := 1; }
      5:22: there is no statement `continue`
      write `goto next;`, and `next: skip;` at the end of the loop's body
    switch (x) { case 0: x := 1; L: break; default: y := i; }
      5:3: there is no statement `switch`
      write `if (e) { … } else if (e) { … } else { … }`
    do { x := 1; L: skip; } while (x);
      5:3: there is no statement `do`
      write a `while` loop, and its body once before it
    { x := 1; L: skip; }
      5:3: a block that belongs to no statement
      remove its brackets; in an `atomic` block, no other thread takes a step
    ");
}

/// Variables that C changes without `:=`.
#[test]
fn changed_variables() {
    let texts = "
        x++;
        ++x;
        if (x) y--; else x := 1;
        x += 1;
        x -= 1;
        x |= y;
        x <<= 1;
        x = 1;
        x = x + 1;
        *x = 1;
        x[0] := 1;
        p->x := 1;";
    assert_snapshot!(of_statements(texts), @"
    x++;
      5:4: `++` is not an operator of this language
      a number is one variable for each bit: `b1, b0 := b1 ^ b0, !b0;` adds 1 to two bits
    ++x;
      5:3: `++` is not an operator of this language
      a number is one variable for each bit: `b1, b0 := b1 ^ b0, !b0;` adds 1 to two bits
    if (x) y--; else x := 1;
      5:11: `--` is not an operator of this language
      a number is one variable for each bit: `b1, b0 := b1 ^ !b0, !b0;` subtracts 1 from two bits
    x += 1;
      5:5: `+=` is not an operator of this language
      a number is one variable for each bit: `b1, b0 := b1 ^ b0, !b0;` adds 1 to two bits
    x -= 1;
      5:5: `-=` is not an operator of this language
      a number is one variable for each bit: `b1, b0 := b1 ^ !b0, !b0;` subtracts 1 from two bits
    x |= y;
      5:5: `|=` is not an operator of this language
      write `x := x | y;`
    x <<= 1;
      5:5: `<<=` is not an operator of this language
      a number is one variable for each bit; compute each bit with `!`, `&`, `|` and `^`
    x = 1;
      5:5: expected `:=`, found `=`
      an assignment is written `x := e;`
    x = x + 1;
      5:5: expected `:=`, found `=`
      an assignment is written `x := e;`
    *x = 1;
      5:3: `*` before a variable
      use the variable itself; functions return results: `x, y := call f(x);`
    x[0] := 1;
      5:4: `[` is not an operator of this language
      there are no arrays: declare one variable for each element
    p->x := 1;
      5:4: `->` is not an operator of this language
      there are no structures: declare one variable for each field
    ");
}

/// Variables of a function, with types.
#[test]
fn declared_in_functions() {
    let texts = "
        int i = 0; x := i;
        int i = nondet(), j; x := i;
        bool i; x := i;
        struct s *i = { 1, 2 }; x := i;
        pthread_t i, j; x := i;";
    assert_snapshot!(of_statements(texts), @"
    int i = 0; x := i;
      5:3: a variable with a type
      at the beginning of the function, write `decl i = 0;`
    int i = nondet(), j; x := i;
      5:3: a variable with a type
      at the beginning of the function, write `decl i;`; its value is assigned in a statement: `i := …;`
    bool i; x := i;
      5:3: a variable with a type
      at the beginning of the function, write `decl i;`
    struct s *i = { 1, 2 }; x := i;
      5:3: a variable with a type
      at the beginning of the function, write `decl i;`; its value is assigned in a statement: `i := …;`
    pthread_t i, j; x := i;
      5:3: a variable with a type
      at the beginning of the function, write `decl i;`
    ");
}

/// Functions and constants of the C library.
#[test]
fn functions_of_c() {
    let texts = "
        x := nondet();
        __VERIFIER_nondet_bool();
        thread_create(&f, x);
        thread_create(f, NULL);
        pthread_create(&t, NULL, f, NULL);
        pthread_join(t, NULL);
        pthread_exit(NULL);
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
        lock(&m);
        __VERIFIER_atomic_begin();
        __VERIFIER_assume(x);
        __VERIFIER_assert(x == 1);
        reach_error();
        printf(\"{ %d; }\\n\", x);
        return NULL;";
    assert_snapshot!(of_statements(texts), @r#"
    x := nondet();
      5:8: there is no function `nondet`
      any value is written `*`: `x := *;`, `if (*) …`
    __VERIFIER_nondet_bool();
      5:3: there is no function `__VERIFIER_nondet_bool`
      any value is written `*`: `x := *;`, `if (*) …`
    thread_create(&f, x);
      5:19: `thread_create` passes no arguments
      with arguments, a thread is started like this: `start_thread f(x);`
    thread_create(f, NULL);
      5:18: `thread_create` passes no arguments
      with arguments, a thread is started like this: `start_thread f(x);`
    pthread_create(&t, NULL, f, NULL);
      5:3: there is no function `pthread_create`
      a thread is created with `thread_create(&f);`, with arguments `start_thread f(x);`
    pthread_join(t, NULL);
      5:3: there is no function `pthread_join`
      let the thread end with `done := 1;`, and wait for it with `assume(done);`
    pthread_exit(NULL);
      5:3: there is no function `pthread_exit`
      a thread ends with `end_thread;`
    pthread_mutex_lock(&m);
      5:3: there is no function `pthread_mutex_lock`
      a lock is taken with `lock(m);`
    pthread_mutex_unlock(&m);
      5:3: there is no function `pthread_mutex_unlock`
      a lock is released with `unlock(m);`
    lock(&m);
      5:8: `&` before a variable
      a lock is named without it: `lock(m);`
    __VERIFIER_atomic_begin();
      5:3: there is no function `__VERIFIER_atomic_begin`
      write `atomic_begin;`, or `atomic { … }` around all of it
    __VERIFIER_assume(x);
      5:3: there is no function `__VERIFIER_assume`
      write `assume(e);`
    __VERIFIER_assert(x == 1);
      5:3: there is no function `__VERIFIER_assert`
      write `assert(e);`
    reach_error();
      5:3: there is no function `reach_error`
      an error is a failed assertion: `assert(0);`
    printf("{ %d; }\n", x);
      5:3: there is no function `printf`
      leave it out: it changes no variable
    return NULL;
      5:10: undeclared variable `NULL`
      there are no pointers: a variable is `0` or `1`
    "#);
}

/// The messages about these expressions, in every position of an expression.
fn of_expressions(texts: &str) -> String {
    let heads = [
        |text: &str| format!("x := {text};"),
        |text: &str| format!("if ({text}) {{ x := 1; L: skip; }} else {{ x := 0; goto L; }}"),
        |text: &str| format!("while ({text}) x := y;"),
        |text: &str| format!("assert(({text}) => x);"),
        |text: &str| format!("L: x, y := h({text}, x, y); goto L;"),
        |text: &str| format!("return {text};"),
        |text: &str| format!("y := 1 constrain {text};"),
    ];
    let said = heads.iter().map(|head| {
        all_messages(texts, |text| {
            format!("decl x, y;\nbool<2> h(a, b, c) {{ return a, b; }}\nbool main() {{\n{}\nx := 0; }}", head(text))
        })
    });
    let said: Vec<String> = said.collect();
    // The messages are equal except for the place.
    let without_places = |said: &str| -> Vec<String> {
        said.lines()
            .map(|line| line.trim_start_matches(|c: char| " :".contains(c) || c.is_ascii_digit()).to_owned())
            .collect()
    };
    assert!(said.iter().all(|other| without_places(other) == without_places(&said[0])));
    said[0].clone()
}

/// Operators of C, and numbers.
#[test]
fn operators_of_c() {
    let texts = "
        x + 1
        x - y
        1 + x + y - 1
        -1
        x * y
        x / 2 + 1
        x % 2 == 0
        x < 10
        (x <= 1) & !(y > 3)
        x >= y
        x << 1
        x == 2 & y < 3
        2";
    assert_snapshot!(of_expressions(texts), @"
    x + 1
      4:8: `+` is not an operator of this language
      a number is one variable for each bit: `b1, b0 := b1 ^ b0, !b0;` adds 1 to two bits
    x - y
      4:8: `-` is not an operator of this language
      a number is one variable for each bit: `b1, b0 := b1 ^ !b0, !b0;` subtracts 1 from two bits
    1 + x + y - 1
      4:8: `+` is not an operator of this language
      a number is one variable for each bit: `b1, b0 := b1 ^ b0, !b0;` adds 1 to two bits
    -1
      4:6: `-` is not an operator of this language
      a number is one variable for each bit: `b1, b0 := b1 ^ !b0, !b0;` subtracts 1 from two bits
    x * y
      4:8: `*` is not an operator of this language
      a number is one variable for each bit; compute each bit with `!`, `&`, `|` and `^`
    x / 2 + 1
      4:8: `/` is not an operator of this language
      a number is one variable for each bit; compute each bit with `!`, `&`, `|` and `^`
    x % 2 == 0
      4:8: `%` is not an operator of this language
      a number is one variable for each bit; compute each bit with `!`, `&`, `|` and `^`
    x < 10
      4:8: `<` is not an operator of this language
      of two Boolean values, `x < y` is `!x & y`; a number is one variable for each bit
    (x <= 1) & !(y > 3)
      4:9: `<=` is not an operator of this language
      of two Boolean values, `x <= y` is `x => y`; a number is one variable for each bit
    x >= y
      4:8: `>=` is not an operator of this language
      of two Boolean values, `x >= y` is `y => x`; a number is one variable for each bit
    x << 1
      4:8: `<<` is not an operator of this language
      a number is one variable for each bit; compute each bit with `!`, `&`, `|` and `^`
    x == 2 & y < 3
      4:11: `2` is not a value of this language
      a number is one variable for each bit: 2 is `b1, b0 := 1, 0;`
    2
      4:6: `2` is not a value of this language
      a number is one variable for each bit: 2 is `b1, b0 := 1, 0;`
    ");
}

/// Other expressions of C.
#[test]
fn operands_of_c() {
    let texts = "
        nondet()
        !__VERIFIER_nondet_bool() & x
        rand() % 2
        TRUE
        x == FALSE
        NULL
        &x
        *x & y
        a[x] & y
        p->x
        (bool) x
        (int)x & y";
    assert_snapshot!(of_expressions(texts), @"
    nondet()
      4:6: there is no function `nondet`
      any value is written `*`: `x := *;`, `if (*) …`
    !__VERIFIER_nondet_bool() & x
      4:7: there is no function `__VERIFIER_nondet_bool`
      any value is written `*`: `x := *;`, `if (*) …`
    rand() % 2
      4:6: there is no function `rand`
      any value is written `*`: `x := *;`, `if (*) …`
    TRUE
      4:6: undeclared variable `TRUE`
      the constants are `1` and `0`, or `true` and `false`
    x == FALSE
      4:11: undeclared variable `FALSE`
      the constants are `0` and `1`, or `false` and `true`
    NULL
      4:6: undeclared variable `NULL`
      there are no pointers: a variable is `0` or `1`
    &x
      4:6: `&` before a variable
      use the variable itself; functions return results: `x, y := call f(x);`
    *x & y
      4:6: `*` before a variable
      use the variable itself; functions return results: `x, y := call f(x);`
    a[x] & y
      4:7: `[` is not an operator of this language
      there are no arrays: declare one variable for each element
    p->x
      4:7: `->` is not an operator of this language
      there are no structures: declare one variable for each field
    (bool) x
      4:7: a type in an expression
      leave it out, with its parentheses
    (int)x & y
      4:7: a type in an expression
      leave it out, with its parentheses
    ");
}

/// Declarations and heads of functions. `↵` is the end of a line.
#[test]
fn declarations_and_functions() {
    let texts = "
        int x; void main() { x := 1; }
        bool x = 0; void main() { x := 1; }
        static unsigned int x = 0, y = 1; void main() { x := y; }
        decl int x; void main() { x := 1; }
        decl bool x, y; void main() { x := y; }
        decl x[3], y; void main() { x := y; }
        decl x = TRUE; void main() { x := 1; }
        struct s { int a; bool b; }; void main() { skip; }
        decl x; void f(int a) { x := a; } void main() { f(x); }
        decl x; void f(bool a, const bool b) { x := a & b; } void main() { f(x, x); }
        decl x; void *f(void *arg) { x := 1; return 0; } void main() { thread_create(&f); }
        decl x; void f(void) { x := 1; } void main() { f(); }
        decl x; int main(int argc, char *argv[]) { x := 1; return 0; }
        decl x; static void f(a) { x := a; } void main() { f(1); }
        extern void abort(void); void main() { abort(); }
        extern bool __VERIFIER_nondet_bool(); void main() { skip; }
        void f(); void main() { f(); } void f() { skip; }
        #include <pthread.h>↵#include <stdio.h>↵void main() { skip; }
        void main() {↵#define N 3↵skip; }";
    let program = |text: &str| text.replace('↵', "\n");
    assert_snapshot!(all_messages(texts, program), @"
    int x; void main() { x := 1; }
      1:1: a variable with a type
      declare it: `decl x;`
    bool x = 0; void main() { x := 1; }
      1:1: a variable with a type
      declare it: `decl x = 0;`
    static unsigned int x = 0, y = 1; void main() { x := y; }
      1:1: a variable with a type
      declare it: `decl x = 0;`
    decl int x; void main() { x := 1; }
      1:6: a variable with a type
      leave the type out: `decl x;`
    decl bool x, y; void main() { x := y; }
      1:6: a variable with a type
      leave the type out: `decl x;`
    decl x[3], y; void main() { x := y; }
      1:7: `[` is not an operator of this language
      there are no arrays: declare one variable for each element
    decl x = TRUE; void main() { x := 1; }
      1:10: expected a constant, found `TRUE`
      `0`, `1`, or `*` for any value; assign any other value in a statement
    struct s { int a; bool b; }; void main() { skip; }
      1:1: a variable with a type
      declare one variable for each field: `decl x, y;`
    decl x; void f(int a) { x := a; } void main() { f(x); }
      1:16: a parameter with a type
      leave the type out: `a`
    decl x; void f(bool a, const bool b) { x := a & b; } void main() { f(x, x); }
      1:16: a parameter with a type
      leave the type out: `a`
    decl x; void *f(void *arg) { x := 1; return 0; } void main() { thread_create(&f); }
      1:9: expected `void` or `bool` before the name of the function
      a function without a result is `void f()`, one with a result `bool f()`
    decl x; void f(void) { x := 1; } void main() { f(); }
      1:16: `void` as a parameter
      without parameters, the parentheses are empty: `()`
    decl x; int main(int argc, char *argv[]) { x := 1; return 0; }
      1:9: expected `void` or `bool` before the name of the function
      a function without a result is `void f()`, one with a result `bool f()`
    decl x; static void f(a) { x := a; } void main() { f(1); }
      1:9: expected `void` or `bool` before the name of the function
      a function without a result is `void f()`, one with a result `bool f()`
    extern void abort(void); void main() { abort(); }
      1:13: `abort` has no body
      leave the declaration out: a function may be used before it is defined
    extern bool __VERIFIER_nondet_bool(); void main() { skip; }
      1:13: `__VERIFIER_nondet_bool` has no body
      leave the declaration out: a function may be used before it is defined
    void f(); void main() { f(); } void f() { skip; }
      1:6: `f` has no body
      leave the declaration out: a function may be used before it is defined
    #include <pthread.h>↵#include <stdio.h>↵void main() { skip; }
      1:1: `#include <pthread.h>` is for the C preprocessor
      remove such lines; one file contains the whole program
    void main() {↵#define N 3↵skip; }
      2:1: `#define N 3` is for the C preprocessor
      remove such lines; one file contains the whole program
    ");
}

/// The hints for SLAM's dialect use its words.
#[test]
fn in_the_other_dialect() {
    let texts = "
        for (i = 0; i < 3; i++) begin x := 1; end
        switch (x) { case 0: x := 1; }
        if x + 1 then x := 0; L: skip else goto L fi
        while nondet() do x := 0 od
        x = 1
        int y; y := x
        if (x) { x := 1; } else { x := 0; }
        while (x) { x := 1; }";
    let program = |text: &str| format!("decl x;\nvoid main() begin\nx := 0;\n{text}\nend\n");
    assert_snapshot!(all_messages(texts, program), @"
    for (i = 0; i < 3; i++) begin x := 1; end
      4:1: there is no statement `for`
      loops are written `while e do … od`; `while *` may end at any time
    switch (x) { case 0: x := 1; }
      4:1: there is no statement `switch`
      write `if e then … elsif e then … else … fi`
    if x + 1 then x := 0; L: skip else goto L fi
      4:6: `+` is not an operator of this language
      a number is one variable for each bit: `b1, b0 := b1 ^ b0, !b0;` adds 1 to two bits
    while nondet() do x := 0 od
      4:7: there is no function `nondet`
      any value is written `*`: `x := *;`, `if (*) …`
    x = 1
      4:3: expected `:=`, found `=`
      an assignment is written `x := e;`
    int y; y := x
      4:1: a variable with a type
      at the beginning of the function, write `decl y;`
    if (x) { x := 1; } else { x := 0; }
      4:8: expected `then`, found `{`
      use one dialect in a file: `{ … }` or `begin … end`
    while (x) { x := 1; }
      4:11: expected `do`, found `{`
      use one dialect in a file: `{ … }` or `begin … end`
    ");
}

/// Several mistakes with one message each.
#[test]
fn several_at_once() {
    let program = "#include <pthread.h>
int x = 0;
bool lock_held;

void *worker(void *arg) {
  int i;
  for (i = 0; i < 2; i++) {
    pthread_mutex_lock(&m);
    x = x + 1;
    if (x > 1) break;
    x--;
  }
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, worker, NULL);
  assert(x + 1 < 2);
  x := undeclared;
}
";
    assert_snapshot!(briefly(program), @"
    error: `#include <pthread.h>` is for the C preprocessor
    --> p.bp:1:1
    = help: remove such lines; one file contains the whole program
    error: a variable with a type
    --> p.bp:2:1
    = help: declare it: `decl x = 0;`
    error: a variable with a type
    --> p.bp:3:1
    = help: declare it: `decl lock_held;`
    error: expected `void` or `bool` before the name of the function
    --> p.bp:5:1
    = help: a function without a result is `void f()`, one with a result `bool f()`
    error: a variable with a type
    --> p.bp:6:3
    = help: declare it: `decl i;`
    error: there is no statement `for`
    --> p.bp:7:3
    = help: loops are written `while (e) { … }`; `while (*)` may end at any time
    error: there is no function `pthread_mutex_lock`
    --> p.bp:8:5
    = help: a lock is taken with `lock(m);`
    error: expected `:=`, found `=`
    --> p.bp:9:7
    = help: an assignment is written `x := e;`
    error: `>` is not an operator of this language
    --> p.bp:10:11
    = help: of two Boolean values, `x > y` is `x & !y`; a number is one variable for each bit
    error: there is no statement `break`
    --> p.bp:10:16
    = help: write `goto done;`, and `done: skip;` after the loop
    error: `--` is not an operator of this language
    --> p.bp:11:6
    = help: a number is one variable for each bit: `b1, b0 := b1 ^ !b0, !b0;` subtracts 1 from two bits
    error: undeclared variable `NULL`
    --> p.bp:13:10
    = help: there are no pointers: a variable is `0` or `1`
    error: expected `void` or `bool` before the name of the function
    --> p.bp:16:1
    = help: a function without a result is `void f()`, one with a result `bool f()`
    error: a variable with a type
    --> p.bp:17:3
    = help: declare it: `decl t;`
    error: there is no function `pthread_create`
    --> p.bp:18:3
    = help: a thread is created with `thread_create(&f);`, with arguments `start_thread f(x);`
    error: `+` is not an operator of this language
    --> p.bp:19:12
    = help: a number is one variable for each bit: `b1, b0 := b1 ^ b0, !b0;` adds 1 to two bits
    error: undeclared variable `undeclared`
    --> p.bp:20:8
    = help: declare it: `decl undeclared;`
    ");
}

/// A missing brace is reported where its block begins.
#[test]
fn blocks_that_are_not_closed() {
    let inner = "decl x;
void f() {
  while (*) {
    if (x) {
      x := 0;
  }
}

void main() {
  f();
}
";
    assert_snapshot!(refused("p.bp", inner), @"
    error: `{` without `}`
     --> p.bp:4:12
      |
    4 |     if (x) {
      |            ^ this block is not closed
    5 |       x := 0;
    6 |   }
      |   - this `}` is further left: does it close another block?
      |
      = help: write `}` where the block ends
    ");
    let at_the_end = "decl x;
void main() {
  while (*) {
    x := 1;
    if (x) { x := 0; }
";
    assert_snapshot!(refused("p.bp", at_the_end), @"
    error: `{` without `}`
     --> p.bp:3:13
      |
    3 |   while (*) {
      |             ^ this block is not closed
    4 |     x := 1;
    5 |     if (x) { x := 0; }
      |                       - the text ends here
      |
      = help: write `}` where the block ends
    ");
    let slam = "decl x;
void main() begin
  while * do
    if x then
      x := 0;
  od;
  atomic begin
    x := 1;
end
";
    assert_snapshot!(refused("p.bp", slam), @"
    error: `if` without `fi`
     --> p.bp:4:5
      |
    4 |     if x then
      |     ^^ this block is not closed
    5 |       x := 0;
    6 |   od;
      |   -- expected `fi`
      |
      = help: write `fi` where the block ends

    error: `begin` without `end`
     --> p.bp:7:10
      |
    7 |   atomic begin
      |          ^^^^^ this block is not closed
    8 |     x := 1;
    9 | end
      | --- this `end` is further left: does it close another block?
      |
      = help: write `end` where the block ends
    ");
    assert_snapshot!(refused("p.bp", "void main() { if (*) { /* }\n}\n"), @"
    error: expected a variable, found a comment without an end
     --> p.bp:1:24
      |
    1 |   void main() { if (*) { /* }
      |  ________________________^
    2 | | }
      | |__^ expected a variable
      |
      = help: a name starts with a letter, `_` or `$`
    ");
}

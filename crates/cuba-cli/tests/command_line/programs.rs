//! Boolean programs: traces in source lines, threads, questions, and mistakes.

use crate::common::{cuba, done, in_repository, refused_with};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

/// Runs `cuba` on this program. Returns its output and exit code.
pub(crate) fn on(program: &str, args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.bp"), program).unwrap();
    let ran = cuba(folder.path(), args);
    format!("{}{}exit code {}\n", ran.stdout, ran.stderr, ran.code)
}

/// The bug in the Bluetooth driver that KISS found: the flag is read before the request is counted.
#[test]
fn a_trace_in_source_lines() {
    let ran = in_repository(&["verify", "models/table2/bluetooth-1.bp", "--instances", "adder=1,stopper=1"]);
    assert_eq!(ran.code, 10);
    assert_snapshot!(ran.stdout, @"
    models/table2/bluetooth-1.bp
    context 1: adder
      37  adder         load()
      22  load            atomic                          in atomic
      22  load            if (!loaded)                    yes
      22  load            loaded := 1                     loaded = 1
      22  load            thread_create(&counter)         counter waits to start
      22  load            end of atomic
      23  load            end of load
      38  adder         ok := io_increment()
      26  io_increment    if (stoppingFlag)               no
    context 2: stopper  (counter waits to start)
      44  stopper       load()
      22  load            atomic                          in atomic
      22  load            if (!loaded)                    no
      22  load            end of atomic
      23  load            end of load
      45  stopper       stoppingFlag := 1                 stoppingFlag = 1
      46  stopper       io_decrement()
      32  io_decrement    dec := 1 constrain !inc & !dec  dec = 1
      33  io_decrement    end of io_decrement
    context 3: counter#1
      62  counter       the thread starts
      62  counter       pending()
      52  pending         assume(inc | dec)
      53  pending         while (inc)                     no
      58  pending         dec := 0                        dec = 0
      59  pending         end of pending
      63  counter       stoppingEvent := 1                stoppingEvent = 1
    context 4: stopper
      47  stopper       assume(stoppingEvent)
      48  stopper       stopped := 1                      stopped = 1
    context 5: adder
      27  io_increment    inc := 1 constrain !inc & !dec  inc = 1
      28  io_increment    return 1
      38  adder         ok := io_increment()              ok = 1
      39  adder         if (ok)                           yes
      39  adder         assert(!stopped)                  fails

    unsafe: `assert(!stopped)` at models/table2/bluetooth-1.bp:39 in adder fails with 5 contexts, and with no fewer
    ");
}

#[test]
fn the_corrected_driver_is_proved_safe() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = folder.path().join("c.json");
    let program = ["models/table2/bluetooth-3.bp", "--instances", "adder=1,stopper=1"];
    let path = certificate.to_str().unwrap();
    let verdict = done(&[&["verify"], &program[..], &["--certificate", path]].concat());
    assert!(
        verdict.starts_with("safe: no assertion can fail, with any number of contexts (1 assertion; "),
        "{verdict}"
    );
    assert!(certificate.exists());
}

/// Calls with results, choices, and open variables.
#[test]
fn values_in_a_trace() {
    let program = "
        decl x, y = 0;
        bool<2> pick(a) {
          return a, *;
        }
        void main() {
          decl l, m;
          l, m := pick(1);
          y, _ := pick(l & x);
          dead l;
          if (l) { assert(!(y & m)); }
        }";
    assert_snapshot!(on(program, &["verify", "p.bp"]), @"
    p.bp
    context 1: main
       8  main  l, m := pick(1)      a = 1
       4  pick    return a, *
       8  main  l, m := pick(1)      l = 1
       9  main  y, _ := pick(l & x)  x = 1, a = 1
       4  pick    return a, *
       9  main  y, _ := pick(l & x)  y = 1
      10  main  dead l
      11  main  if (l)               yes
      11  main  assert(!(y & m))     fails: m = 1

    unsafe: `assert(!(y & m))` at p.bp:11 in main fails with 1 context, and with no fewer
    exit code 10
    ");
}

#[test]
fn an_unlock_that_fails() {
    let program = "
        void f() { lock(m); unlock(m); }
        void g() { if (*) { lock(m); } call h(); }
        void h() { unlock(m); }
        void main() { thread_create(&f); thread_create(&g); }";
    assert_snapshot!(on(program, &["verify", "p.bp"]), @"
    p.bp
    context 1: g
      3  g  if (*)       no
      3  g  call h()
      4  h    unlock(m)  fails: the lock is not held

    unsafe: `unlock(m)` at p.bp:4 in h gives up a lock that is not held, with 1 context, and with no fewer
    exit code 10
    ");
}

const CREATES: &str = "
    decl x = 0;
    void main() begin
      while * do
        // file server.c line 7
        start_thread goto work;
      od;
      end_thread;
      work: assume x = 0;
      // file server.c line 12
      x := 1;
      crit: assert x;
      x := 0;
    end";

#[test]
fn how_many_threads_must_be_said() {
    assert_snapshot!(on(CREATES, &["verify", "p.bp"]), @"
    error: the number of threads that this creates has no bound
     --> p.bp:6:9
      |
    6 |         start_thread goto work;
      |         ^^^^^^^^^^^^^^^^^^^^^^ in a loop, or in a function that is called or started repeatedly
      |
      = help: set the number of created threads that may exist at a time: --threads 2

    exit code 2
    ");
    assert_snapshot!(on(CREATES, &["verify", "p.bp", "--threads", "1"]), @"
    safe: no assertion can fail, with any number of contexts (1 assertion; proved by Z, 28 states; proof checked); assuming at most 1 created thread at a time (--threads 1)
    exit code 0
    ");
    let graph = on(CREATES, &["show", "p.bp", "--threads", "1", "--dot"]);
    let title = "T(R): 28 visible states, with every step; assuming at most 1 created thread at a time (--threads 1)";
    assert!(graph.contains(&format!("label=\"{title}\"")), "{graph}");
    assert_snapshot!(on(CREATES, &["verify", "p.bp", "--threads", "2"]), @"
    p.bp
    context 1: main
                     4  main  while *                 yes
        (server.c:7) 6  main  start_thread goto work  main:9 waits to start
                     4  main  while *                 yes
        (server.c:7) 6  main  start_thread goto work  main:9 waits to start
    context 2: main.work#1  (main:9 waits to start)
                     9  main  the thread starts
                     9  main  assume x = 0
    context 3: main.work#2
                     9  main  the thread starts
                     9  main  assume x = 0
      (server.c:12) 11  main  x := 1                  x = 1
    context 4: main.work#1
      (server.c:12) 11  main  x := 1
                    12  main  assert x
                    13  main  x := 0                  x = 0
    context 5: main.work#2
                    12  main  assert x                fails

    unsafe: `assert x` at p.bp:12 in main fails with 5 contexts, and with no fewer; assuming at most 2 created threads at a time (--threads 2)
    exit code 10
    ");
    let json: Value = {
        let printed = on(CREATES, &["verify", "p.bp", "--threads", "2", "--json"]);
        serde_json::from_str(printed.strip_suffix("exit code 10\n").unwrap()).unwrap()
    };
    assert_eq!(json["assumptions"], serde_json::json!(["at most 2 created threads at a time (--threads 2)"]));
    assert_eq!(json["error"]["kind"], "assert");
    assert_eq!((&json["error"]["line"], &json["error"]["function"]), (&12.into(), &"main".into()));
    let first = &json["trace"]["contexts"][0]["steps"][1]["source"];
    assert_eq!(first["origin"], serde_json::json!({ "file": "server.c", "line": 7 }));
}

/// A program that creates a limited number of threads has no assumptions.
#[test]
fn as_many_threads_as_there_can_be() {
    let program = "
        decl x = 0;
        void f(v) { x := v; }
        void twice() { start_thread f(0); start_thread f(1); }
        void main() { twice(); if (*) { twice(); } assert(!x); }";
    let shown = on(program, &["show", "p.bp"]);
    assert!(shown.contains("thread f * 4 {"), "{shown}");
    let verdict = on(program, &["verify", "p.bp"]);
    assert!(verdict.contains("fails with 3 contexts, and with no fewer\nexit code 10"), "{verdict}");
    let limited = on(program, &["verify", "p.bp", "--threads", "1"]);
    assert!(limited.contains("; assuming at most 1 created thread at a time (--threads 1)\n"), "{limited}");
}

const MUTEX: &str = "
    decl a = 0, b = 0;
    void first() { a := 1; assume(!b); CRIT: skip; a := 0; }
    void second() { b := 1; if (!a) { CRIT: skip; } b := 0; assert(0); }
    void main() { thread_create(&first); thread_create(&second); }";

#[test]
fn other_questions() {
    // One thread at the label. The assertion does not matter.
    assert_snapshot!(on(MUTEX, &["verify", "p.bp", "--label", "first:CRIT"]), @"
    p.bp
    context 1: first
      3  first  a := 1      a = 1
      3  first  assume(!b)

    unsafe: a thread stands at first:CRIT with 1 context, and with no fewer
    exit code 10
    ");
    assert!(on(MUTEX, &["verify", "p.bp", "--target", "*|CRIT,CRIT"]).starts_with("safe: "));
    assert!(on(MUTEX, &["verify", "p.bp", "--target", "a & b|CRIT,second"]).contains("unsafe: the bad state "));
    assert!(on(MUTEX, &["verify", "p.bp", "--target", "a|-,*"]).starts_with("safe: "));
    assert!(on(MUTEX, &["verify", "p.bp", "--target", "a|first:3,-"]).contains("unsafe: "));
    assert!(on(MUTEX, &["verify", "p.bp", "--target", "!a & !b|-,-"]).contains("unsafe: "));
    assert_snapshot!(on(MUTEX, &["verify", "p.bp", "--label", "CRAT"]), @"
    error: --label: there is no label `CRAT`
     |
     = help: did you mean `CRIT`?

    exit code 2
    ");
    assert_snapshot!(on(MUTEX, &["verify", "p.bp", "--target", "a & c|CRIT,nowhere"]), @"
    error: there is no place `nowhere`
     --> --target:1:12
      |
    1 | a & c|CRIT,nowhere
      |            ^^^^^^^ not in the program
      |
      = help: a label `L` or `f:L`, a function `f`, a line `f:12`, `*` or `-`

    exit code 2
    ");
    assert_snapshot!(on(MUTEX, &["verify", "p.bp", "--target", "a|CRIT"]), @"
    error: 1 place for 2 threads
     --> --target:1:3
      |
    1 | a|CRIT
      |   ^^^^ one for each thread
      |
      = help: the threads are, in this order: first, second; `*` is anywhere

    exit code 2
    ");
    assert_snapshot!(on(MUTEX, &["verify", "p.bp", "--target", "a &|CRIT,*"]), @"
    error: expected an expression, found the end of the text
     --> --target:1:4
      |
    1 | a &|CRIT,*
      |    ^ expected an expression
      |
      = help: a variable, `0`, `1`, `*`, or an expression in parentheses

    exit code 2
    ");
}

/// No thread is at a place in the middle of a step.
#[test]
fn no_thread_is_between_two_places() {
    let ends =
        "decl x = 0; void g() { x := 1; end_thread; } void f() { skip; call g(); skip; } void main() { call f(); }";
    assert!(on(ends, &["verify", "p.bp", "--target", "x|f"]).starts_with("safe: "));
    let returns = "decl x = 0;\nbool g() { x := 1; return 1; }\nvoid main() {\n decl r;\n M: r := g();\n skip; }";
    assert!(on(returns, &["verify", "p.bp", "--target", "x|main:5"]).starts_with("safe: "));
    assert!(on(returns, &["verify", "p.bp", "--target", "x|main:6"]).contains("unsafe: "));
}

#[test]
fn a_place_that_its_thread_is_never_at() {
    let program = "decl x = 0; void f() { x := 1; x := 0; } void main() { thread_create(&f); L: skip; }";
    assert!(on(program, &["verify", "p.bp", "--target", "x|L,f"]).contains("unsafe: "));
    assert_snapshot!(on(program, &["verify", "p.bp", "--target", "x|f,L"]), @"
    safe: no bad state is reachable, with any number of contexts (proved by Z, 16 states; proof checked)
    warning: thread `main` is never at `f`
     --> --target:1:3
      |
    1 | x|f,L
      |   ^ so no state fits this target
      |
      = help: the threads are, in this order: main, f

    warning: thread `f` is never at `L`
     --> --target:1:5
      |
    1 | x|f,L
      |     ^ so no state fits this target
      |
      = help: the threads are, in this order: main, f

    exit code 0
    ");
    assert_snapshot!(on(program, &["verify", "p.bp", "--target", "'x|*,*"]), @"
    error: a prime in a target
     --> --target:1:2
      |
    1 | 'x|*,*
      |  ^ there is no assignment here
      |
      = help: for the value now, write `x`

    exit code 2
    ");
}

/// Every answer names its assumptions.
#[test]
fn assumptions_of_other_verbs() {
    let told = "; assuming at most 2 created threads at a time (--threads 2)\n";
    assert!(on(CREATES, &["fcr", "p.bp", "--threads", "2"]).contains(told));
    assert!(on(CREATES, &["reach", "p.bp", "--threads", "2"]).contains(told));
    assert!(on(CREATES, &["fcr", "p.bp", "--threads", "2", "--json"]).contains("\"at most 2 created threads"));
}

/// A change of a thread-local variable in a call is printed once.
#[test]
fn a_thread_local_variable_in_a_trace() {
    let program = "thread_local decl t = 0;\nvoid set() { t := 1; }\nvoid main() { call set(); assert(!t); }";
    assert_snapshot!(on(program, &["verify", "p.bp"]), @"
    p.bp
    context 1: main
      3  main  call set()
      2  set     t := 1      t = 1
      2  set     end of set
      3  main  assert(!t)    fails

    unsafe: `assert(!t)` at p.bp:3 in main fails with 1 context, and with no fewer
    exit code 10
    ");
}

#[test]
fn options_that_do_not_fit() {
    assert_snapshot!(on(MUTEX, &["verify", "p.bp", "--instances", "frist=1"]), @"
    error: --instances: there is no function `frist`
     |
     = help: did you mean `first`?

    exit code 2
    ");
    assert_snapshot!(on(MUTEX, &["verify", "p.bp", "--init", "0|1"]), @"
    error: --init: a Boolean program has its own initial states; choose functions with --instances, and give variables a value in their declaration
    exit code 1
    ");
    assert_snapshot!(on("void f() { }", &["verify", "p.bp"]), @"
    error: there is no function `main`
     |
     = help: name the functions to start: --instances f=2,g=1

    exit code 2
    ");
    assert_snapshot!(on("void main() { skip; }", &["verify", "p.bp"]), @"
    error: `p.bp` has no reachable `assert`, so there is nothing to verify; name bad states with `--target`, or print all reachable ones with `cuba reach`
    exit code 1
    ");
    let ran = in_repository(&["verify", "models/paper/fig1.cpds", "--threads", "1"]);
    assert_eq!(ran.code, 1);
    assert_snapshot!(ran.stderr, @"error: --threads is only for Boolean programs, and `models/paper/fig1.cpds` is not one");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.pds"), "1\nPDA 0 1\n").unwrap();
    let ran = cuba(folder.path(), &["verify", "m.pds", "--instances", "f=1"]);
    assert_eq!(ran.code, 1);
    assert_snapshot!(ran.stderr, @"error: --instances is only for Boolean programs and .cpds files, and `m.pds` is not one");
}

#[test]
fn converted() {
    assert_snapshot!(on("decl x; void main() { x := !x; assert(x); }", &["convert", "p.bp", "--to", "cpds"]), @"
    shared x=? x=1 x=0 assert.main.1.2
    init x=?|main.1
    bad assert.main.1.2|*

    thread main {
      symbols main.1 main.1.2 main.1.3
      (x=?,main.1) -> (x=1,main.1.2)
      (x=?,main.1) -> (x=0,main.1.2)
      (x=0,main.1.2) -> (assert.main.1.2,main.1.2)
      (x=1,main.1.2) -> (x=1,main.1.3)
      (x=1,main.1.3) -> (x=1,-)
    }
    exit code 0
    ");
    let slam =
        "decl g; void main() begin if g & T then skip; elsif !g then f(); else g := F; fi; end void f() begin end";
    assert_snapshot!(on(slam, &["convert", "p.bp", "--to", "bp"]), @"
    decl g;

    void main() begin
      if g & 1 then
        skip;
      else
        if !g then
          call f();
        else
          g := 0;
        fi;
      fi;
    end

    void f() begin
    end
    note: comments are not kept, except for those that say which line a statement comes from
    exit code 0
    ");
    // For any number of created threads.
    assert!(
        on(CREATES, &["convert", "p.bp", "--to", "bp"])
            .contains("    // file server.c line 7\n    start_thread goto work;\n")
    );
    let ran = in_repository(&["convert", "models/paper/fig1.cpds", "--to", "bp"]);
    assert_eq!(ran.code, 1);
    assert_snapshot!(ran.stderr, @"error: `models/paper/fig1.cpds` is not a Boolean program and cannot be converted to one");
}

#[test]
fn a_name_that_is_nearly_right() {
    let error = refused_with(&[("p.bp", b"void main() { }"), ("x.pds", b"1\nPDA 0 0\n")], &["show", "p.pb"]);
    assert_snapshot!(error, @"
    error: there is no file `p.pb`
     |
     = help: did you mean `p.bp`?
    ");
}

//! The threads of a program: when they start, and what that means for questions.

use crate::common::cuba;
use crate::programs::on;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

/// A created thread takes its slot with its first step. In a slot that is free again, it continues
/// in the same context.
#[test]
fn a_created_thread_takes_its_place_at_its_first_step() {
    // The second thread starts in the slot of the first one, which has ended: two contexts, that of
    // `main` and that of the slot.
    let one_after_the_other = "
        decl seen = 0;
        void f() { assert(!seen); seen := 1; }
        void main() { thread_create(&f); skip; thread_create(&f); }";
    assert_snapshot!(on(one_after_the_other, &["verify", "p.bp"]), @"
    p.bp
    context 1: main
      4  main  thread_create(&f)  f waits to start
      4  main  skip
      4  main  thread_create(&f)  f waits to start
    context 2: f#1  (f waits to start)
      3  f     the thread starts
      3  f     assert(!seen)
      3  f     seen := 1          seen = 1
      3  f     end of f
      3  f     the thread starts
      3  f     assert(!seen)      fails

    unsafe: `assert(!seen)` at p.bp:3 in f fails with 2 contexts, and with no fewer
    exit code 10
    ");
    // Threads that exist from the start have their own slots.
    let from_the_start = one_after_the_other.replace("skip;", "");
    assert_snapshot!(on(&from_the_start, &["verify", "p.bp"]), @"
    p.bp
    context 1: f#1
      3  f  assert(!seen)
      3  f  seen := 1      seen = 1
    context 2: f#2
      3  f  assert(!seen)  fails

    unsafe: `assert(!seen)` at p.bp:3 in f fails with 2 contexts, and with no fewer
    exit code 10
    ");
    // While the first thread exists, the second one takes the other slot: three contexts.
    let at_the_same_time = "
        decl inside = 0;
        void f() { assert(!inside); inside := 1; skip; inside := 0; }
        void main() { thread_create(&f); skip; thread_create(&f); }";
    assert!(on(at_the_same_time, &["verify", "p.bp"]).contains("fails with 3 contexts, and with no fewer"));
    // A created thread without a step needs no context.
    let never = "decl x = 0; void f() { x := 1; } void main() { thread_create(&f); assert(0); }";
    assert!(on(never, &["verify", "p.bp"]).contains("fails with 1 context, and with no fewer"));
}

/// The places of a target are for the threads that `main` starts, grouped by function.
#[test]
fn threads_are_grouped_by_function() {
    let program = "
        decl x = 0;
        void f() { x := 1; F: skip; }
        void g() { G: assume(x); GG: skip; }
        void main() { thread_create(&g); thread_create(&f); thread_create(&g); }";
    assert!(on(program, &["verify", "p.bp", "--target", "x|GG,G,F"]).contains("unsafe: "));
    assert_snapshot!(on(program, &["verify", "p.bp", "--target", "x|GG,F,G"]), @"
    safe: no bad state is reachable, with any number of contexts (proved by Z, 49 states; proof checked)
    warning: thread `g#2` is never at `F`
     --> --target:1:6
      |
    1 | x|GG,F,G
      |      ^ so no state fits this target
      |
      = help: the threads are, in this order: g#1, g#2, f

    warning: thread `f` is never at `G`
     --> --target:1:8
      |
    1 | x|GG,F,G
      |        ^ so no state fits this target
      |
      = help: the threads are, in this order: g#1, g#2, f

    exit code 0
    ");
    assert_snapshot!(on(program, &["verify", "p.bp", "--target", "x|GG,F"]), @"
    error: 2 places for 3 threads
     --> --target:1:3
      |
    1 | x|GG,F
      |   ^^^^ one for each thread
      |
      = help: the threads are, in this order: g#1, g#2, f; `*` is anywhere

    exit code 2
    ");
}

const ONLY_STARTS: &str = "decl x = 0;
void f() { L: x := 1; }
void main() {
  M: thread_create(&f);
  L: thread_create(&f);
}";

/// A `main` that is not a thread is never at a label, although its statements are executed. So the
/// question is an error.
#[test]
fn a_label_of_a_main_that_is_not_a_thread() {
    assert_snapshot!(on(ONLY_STARTS, &["verify", "p.bp", "--label", "main:M"]), @"
    error: --label: no thread reaches `main:M`
     --> p.bp:4:6
      |
    4 |   M: thread_create(&f);
      |      ^^^^^^^^^^^^^^^^^ `main` only starts threads and is not a thread itself
      |
      = help: choose a label of a function that it starts; or begin `main` with `skip;`, which makes it a thread

    exit code 2
    ");
    // The label of `f` does not hide that of `main`.
    assert_snapshot!(on(ONLY_STARTS, &["verify", "p.bp", "--label", "L"]), @"
    error: --label: no thread reaches `main:L`
     --> p.bp:5:6
      |
    5 |   L: thread_create(&f);
      |      ^^^^^^^^^^^^^^^^^ `main` only starts threads and is not a thread itself
      |
      = help: choose a label of a function that it starts; or begin `main` with `skip;`, which makes it a thread

    exit code 2
    ");
    assert!(on(ONLY_STARTS, &["verify", "p.bp", "--label", "f:L"]).ends_with("\nexit code 10\n"));
    // The hint of the error.
    let thread = ONLY_STARTS.replace("M:", "skip; M:");
    assert!(on(&thread, &["verify", "p.bp", "--label", "main:M"]).contains("stands at main:M with 1 context"));
    // A `main` that is called is run by a thread.
    let called = ONLY_STARTS.replace("L: x := 1;", "main();");
    assert!(
        on(&called, &["verify", "p.bp", "--label", "main:M", "--threads", "1"])
            .contains("stands at main:M with 1 context")
    );
}

#[test]
fn labels_that_no_thread_comes_to() {
    let program = "decl x = 0;
void f() { x := 1; end_thread; DEAD: skip; BOTH: skip; }
void g() { UNCALLED: skip; }
void main() { x := 0; BOTH: f(); }";
    assert_snapshot!(on(program, &["verify", "p.bp", "--label", "DEAD"]), @"
    safe: no thread reaches `DEAD`, with any number of contexts (proved by Z, 8 states; proof checked)
    warning: --label: no thread reaches `f:DEAD`
     --> p.bp:2:38
      |
    2 | void f() { x := 1; end_thread; DEAD: skip; BOTH: skip; }
      |                                      ^^^^ no statement leads here
      |
      = help: the answer `safe` then says nothing about the program; do you mean another label?

    exit code 0
    ");
    assert_snapshot!(on(program, &["verify", "p.bp", "--label", "g:UNCALLED"]), @"
    safe: no thread reaches `g:UNCALLED`, with any number of contexts (proved by Z, 8 states; proof checked)
    warning: --label: no thread reaches `g:UNCALLED`
     --> p.bp:3:22
      |
    3 | void g() { UNCALLED: skip; }
      |                      ^^^^ no thread runs `g`
      |
      = help: the answer `safe` then says nothing about the program; do you mean another label?

    exit code 0
    ");
    assert_snapshot!(on(program, &["verify", "p.bp", "--label", "main:BOTH", "--instances", "f=2"]), @"
    safe: no thread reaches `main:BOTH`, with any number of contexts (proved by Z, 9 states; proof checked)
    warning: --label: no thread reaches `main:BOTH`
     --> p.bp:4:29
      |
    4 | void main() { x := 0; BOTH: f(); }
      |                             ^^^ no thread runs `main`
      |
      = help: the answer `safe` then says nothing about the program; do you mean another label?

    exit code 0
    ");
    // One of several places is enough.
    assert!(on(program, &["verify", "p.bp", "--label", "BOTH"]).ends_with("with no fewer\nexit code 10\n"));
}

#[test]
fn a_limit_that_changes_nothing() {
    let warning = |program: &str| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("p.bp"), program).unwrap();
        let ran = cuba(folder.path(), &["reach", "p.bp", "--threads", "3"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let json: Value =
            serde_json::from_str(&cuba(folder.path(), &["reach", "p.bp", "--threads", "3", "--json"]).stdout).unwrap();
        let in_json: Vec<_> =
            json["warnings"].as_array().unwrap().iter().map(|it| it["message"].as_str().unwrap()).collect();
        assert_eq!(ran.stderr.trim(), in_json.iter().map(|it| format!("warning: {it}")).collect::<Vec<_>>().join("\n"));
        assert_eq!(cuba(folder.path(), &["reach", "p.bp", "--threads", "3", "--quiet"]).stderr, "");
        assert_eq!(json["assumptions"].as_array().unwrap().is_empty(), !in_json.is_empty());
        ran.stderr
    };
    let f = "decl x; void f() { x := 1; }";
    assert_snapshot!(warning(&format!("{f} void main() {{ thread_create(&f); thread_create(&f); }}")), @"warning: --threads: a limit of 3 created threads changes nothing: the threads that `main` starts are initial threads");
    assert_snapshot!(warning(&format!("{f} void main() {{ call f(); }}")), @"warning: --threads: a limit of 3 created threads changes nothing: no thread is created");
    assert_snapshot!(warning(&format!("{f} void main() {{ thread_create(&f); skip; }}")), @"warning: --threads: a limit of 3 created threads changes nothing: one thread is created at most");
    assert_snapshot!(warning(&format!("{f} void main() {{ skip; thread_create(&f); thread_create(&f); }}")), @"warning: --threads: a limit of 3 created threads changes nothing: 2 threads are created at most");
    // Here the limit is needed, or it is smaller than the number of threads.
    assert_eq!(warning(&format!("{f} void main() {{ while (*) {{ thread_create(&f); }} }}")), "");
    let four = "thread_create(&f); ".repeat(4);
    assert_eq!(warning(&format!("{f} void main() {{ skip; {four} }}")), "");
}

/// If an initial state is bad, the trace has no step and says so.
#[test]
fn a_bad_initial_state() {
    assert_snapshot!(on(ONLY_STARTS, &["verify", "p.bp", "--target", "!x|*,*"]), @"
    p.bp
      no step: the initial state is bad

    unsafe: the bad state ⟨x=0|f:2, f:2⟩ is reachable with 0 contexts: it holds initially
    exit code 10
    ");
    assert_snapshot!(on(ONLY_STARTS, &["verify", "p.bp", "--label", "f:L"]), @"
    p.bp
      no step: the initial state is bad

    unsafe: a thread stands at f:L with 0 contexts: it holds initially
    exit code 10
    ");
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("m.cpds"),
        "shared 0 1\ninit 0|a,b\nthread A { symbols a\n(0,a) -> (1,a) }\nthread B { symbols b }\n",
    )
    .unwrap();
    let args = ["verify", "m.cpds", "--target", "0|a,*", "--trace", "t.json", "--report", "r.html"];
    let ran = cuba(folder.path(), &args);
    assert_snapshot!(ran.stdout, @"
      no step: this initial state is bad  ⟨0|a,b⟩

    unsafe: the bad state ⟨0|a,b⟩ is reachable with 0 contexts: it holds initially
    ");
    assert_eq!((ran.code, ran.stderr.as_str()), (10, ""));
    let trace: Value = serde_json::from_str(&fs::read_to_string(folder.path().join("t.json")).unwrap()).unwrap();
    assert_eq!((&trace["context_count"], &trace["contexts"]), (&0.into(), &Value::Array(Vec::new())));
    assert_eq!(trace["initial"], trace["state"]);
    let report = fs::read_to_string(folder.path().join("r.html")).unwrap();
    assert!(report.contains("0: an initial state is bad"), "{report}");
}

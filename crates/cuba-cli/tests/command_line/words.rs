//! Output in words of the program: locks, atomic sections and created threads in traces; states,
//! automata and ITF traces in lines and variables.

use crate::common::{cuba, done, fits, in_repository};
use crate::evidence::cuba_check;
use cpds_testing::corpus::{files, repository};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::fs;

/// Runs `cuba` on this program. Returns its output and exit code.
fn on(program: &str, args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.bp"), program).unwrap();
    let ran = cuba(folder.path(), args);
    format!("{}{}exit code {}\n", ran.stdout, ran.stderr, ran.code)
}

/// The content of the file that `cuba` writes.
fn written(program: &str, args: &[&str], file: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.bp"), program).unwrap();
    let ran = cuba(folder.path(), &[args, &[file]].concat());
    assert!([0, 5, 10].contains(&ran.code), "{}", ran.stderr);
    fs::read_to_string(folder.path().join(file)).unwrap()
}

const QUEUE: &str = "
decl full = 0, open = 1;
void take() { lock(m); }
void consumer() {
  while (*) {
    take();
    atomic { assume(full); full := 0; atomic { open := !open; } if (*) { goto out; } }
    out: unlock(m);
  }
}
void quitter() { lock(m); end_thread; }
void producer() {
  lock;
  start_thread quitter();
  full := 1;
  unlock;
  assert(open);
}
void main() { thread_create(&consumer); thread_create(&producer); }
";

const SLAM: &str = "
decl x;
void f() begin
  lock(m); atomic_begin; x := 1; atomic_end; atomic_end; unlock(m);
end
void g() begin
  lock(m); assert(!x); unlock(m);
end
void main() begin thread_create(&f); thread_create(&g); end
";

const ENDS: &str = "
decl late = 0;
void keeper() { lock(m); end_thread; }
void other() { late := 1; lock(m); }
void main() { thread_create(&keeper); thread_create(&other); }
";

const NAMES: &str = "
decl line, x = 0;
thread_local t = 1;
bool f(a) { return a & line; }
void main() { decl l; lock(m); l := f(1); x := l; unlock(m); assert(!x); }
";

/// Locks that callees take and free, nested sections, a section that a jump leaves, and the state
/// at the start of a context.
#[test]
fn locks_sections_and_new_threads_in_a_trace() {
    let trace = on(QUEUE, &["verify", "p.bp"]);
    for line in [
        "  13  producer  lock                    lock held by producer\n",
        "  14  producer  start_thread quitter()  quitter waits to start\n",
        "  16  producer  unlock                  lock free\n",
        "context 2: consumer  (quitter waits to start)\n",
        "   3  take        lock(m)               m held by consumer\n",
        "   7  consumer  atomic                  in atomic\n",
        "   7  consumer  atomic\n",
        "   7  consumer  end of atomic           still in atomic\n",
    ] {
        assert!(trace.contains(line), "{line}{trace}");
    }
    let left = on(QUEUE, &["verify", "p.bp", "--target", "!open|consumer:out,-,*"]);
    assert!(left.contains("consumer  goto out") && left.contains("  out of atomic\n"), "{left}");
    let taken = on(QUEUE, &["verify", "p.bp", "--target", "*|take:3.2,-,quitter:11"]);
    assert!(
        taken.contains("quitter  the thread starts\n") || taken.contains("quitter   the thread starts\n"),
        "{taken}"
    );
}

#[test]
fn the_other_dialect() {
    assert_snapshot!(on(SLAM, &["verify", "p.bp"]), @"
    p.bp
    context 1: g
      7  g  lock(m)     m held by g
      7  g  assert(!x)  fails: x = 1

    unsafe: `assert(!x)` at p.bp:7 in g fails with 1 context, and with no fewer
    exit code 10
    ");
}

#[test]
fn a_thread_that_ends_with_a_lock() {
    let trace = on(ENDS, &["verify", "p.bp", "--target", "late|-,other"]);
    for part in [
        "  3  keeper  lock(m)     m held by keeper\n",
        "  3  keeper  end_thread  m held for ever: keeper ends\n",
        "unsafe: the bad state ⟨late=1 & m held|-, other:4.2⟩ is reachable with 2 contexts",
    ] {
        assert!(trace.contains(part), "{part}{trace}");
    }
    let held = "late=0 & m held|-, other:4";
    assert_snapshot!(on(ENDS, &["show", "p.bp", "--successors", held]), @"
    ⟨late=0 & m held|-, other:4⟩ has 1 successor
    keeper  no step
    other
      4  other  late := 1  late = 1
         ⟨late=1 & m held|-, other:4.2⟩
    exit code 0
    ");
}

/// Threads that start the same function with different arguments are distinguished.
#[test]
fn arguments_of_threads_that_start() {
    let text =
        "void f(a) { assert(a); }\nvoid main() { skip; start_thread f(1); start_thread f(1); start_thread f(0); }";
    assert_snapshot!(on(text, &["verify", "p.bp"]), @"
    p.bp
    context 1: main
      2  main  skip
      2  main  start_thread f(1)  f(a=1) waits to start
      2  main  start_thread f(1)  f(a=1) waits to start
      2  main  start_thread f(0)  f(a=0) waits to start
    context 2: f#1  (2 × f(a=1) wait to start)
      1  f     the thread starts  a = 0
      1  f     assert(a)          fails

    unsafe: `assert(a)` at p.bp:1 in f fails with 2 contexts, and with no fewer
    exit code 10
    ");
}

/// A label is a place, even if the shared state is written with the names of the system.
#[test]
fn a_label_is_a_place() {
    let text = "decl x = 0;\nvoid w() { W: x := 1; X: skip; }\nvoid main() { skip; thread_create(&w); x := 0; }";
    let shown = on(text, &["show", "p.bp", "--successors", "x=1|-,W"]);
    assert!(shown.starts_with("⟨x=1|-, w:2⟩ has 1 successor\n"), "{shown}");
    assert_eq!(
        on(text, &["show", "p.bp", "--psa", "w", "--from", "x=1|W"]),
        on(text, &["show", "p.bp", "--psa", "w", "--from", "x=1|w:2"])
    );
}

#[test]
fn locks_in_json() {
    let trace = written(ENDS, &["verify", "p.bp", "--target", "late|-,other:4.2", "--trace"], "t.json");
    let trace: Value = serde_json::from_str(&trace).unwrap();
    let contexts = trace["contexts"].as_array().unwrap();
    let steps: Vec<&Value> =
        contexts.iter().flat_map(|it| it["steps"].as_array().unwrap()).map(|it| &it["source"]).collect();
    let taken = steps.iter().find(|step| step["statement"] == "lock(m)").unwrap();
    assert_eq!(taken["locks"], json!({ "m": "keeper" }));
    let held = json!([{ "lock": "m", "thread": "keeper", "has_ended": false }]);
    assert_eq!(taken["threads"], json!({ "locks": held, "atomic": null, "waiting": [] }));
    let last = steps.last().unwrap();
    assert_eq!(last["threads"]["locks"], json!([{ "lock": "m", "thread": "keeper", "has_ended": true }]));
    assert_eq!(last.get("locks"), None);

    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (trace, system, pay) = (path("t.json"), path("p.cpds"), "docs/guide/programs/pay.bp");
    assert_eq!(in_repository(&["verify", pay, "--trace", &trace]).code, 10);
    done(&["convert", pay, "--to", "cpds", "-o", &system, "--quiet"]);
    assert!(fs::read_to_string(&trace).unwrap().contains(r#""m": "cancel""#));
    let checked = cuba_check(&[&system, &trace], b"");
    assert!(checked.stdout.starts_with("accepted: unsafe: "), "{}{}", checked.stdout, checked.stderr);
}

/// The data of the report has the locks of each state, and names in words of the program.
#[test]
fn locks_in_the_report() {
    let page = written(QUEUE, &["verify", "p.bp", "--target", "!open|consumer:out,-,*", "--report"], "r.html");
    let start = page.split_once(r#"<script type="application/json" id="data">"#).expect("there is data").1;
    let data: Value = serde_json::from_str(start.split_once("</script>").unwrap().0).unwrap();
    let trace = &data["trace"];
    let states = trace["source"]["synchronised"].as_array().unwrap();
    assert_eq!(states.len(), trace["states"].as_array().unwrap().len());
    assert_eq!(states[0], json!({ "locks": [], "holds": {}, "atomic": null, "waiting": [] }));
    let after = |text: &str| {
        let steps = trace["steps"].as_array().unwrap();
        &states[1 + steps.iter().position(|step| step["text"] == text).unwrap()]
    };
    assert_eq!(after("lock")["locks"], json!([["lock", "lock held by producer"]]));
    assert_eq!(after("start_thread quitter()")["waiting"], json!(["quitter waits to start"]));
    assert_eq!(after("lock(m)")["holds"], json!({ "0": ["m"] }));
    assert_eq!(after("atomic")["atomic"], 0);
    let words = data["words"]["symbols"].as_array().unwrap();
    assert!(words.contains(&json!("consumer:8(holds m)")), "{words:?}");
}

/// Every step, with the state that it leads to in the notation of `--successors`.
#[test]
fn successors_of_a_program() {
    let queue = |state: &[&str]| on(QUEUE, &[&["show", "p.bp", "--successors"], state].concat());
    assert_snapshot!(queue(&[]), @"
    ⟨full=0 & open=1|consumer:5, producer:13, -⟩ has 3 successors
    consumer
       5  consumer  while (*)  yes
          ⟨full=0 & open=1|consumer:6, producer:13, -⟩
       5  consumer  while (*)  no
          ⟨full=0 & open=1|consumer:10, producer:13, -⟩
    producer
      13  producer  lock       lock held by producer
          ⟨full=0 & open=1|consumer:5, producer:14(holds lock), -⟩
    quitter  no step
    exit code 0
    ");
    // A return is one step. States can also have the names of the system.
    let returns = "full=1 & open=1 & quitter:11 waits|take:3.2(holds m) consumer:6(calling), producer:17, -";
    assert_snapshot!(queue(&[returns]), @"
    ⟨full=1 & open=1 & quitter:11 waits|take:3.2(holds m) consumer:6(calling), producer:17, -⟩ has 3 successors
    consumer
       3  take      end of take
          ⟨full=1 & open=1 & quitter:11 waits|consumer:7(holds m), producer:17, -⟩
    producer
      17  producer  assert(open)
          ⟨full=1 & open=1 & quitter:11 waits|take:3.2(holds m) consumer:6(calling), producer:18, -⟩
    quitter
      11  quitter   the thread starts
          ⟨full=1 & open=1|take:3.2(holds m) consumer:6(calling), producer:17, quitter:11⟩
    exit code 0
    ");
    assert_eq!(queue(&["full=0&open=1|consumer.5,producer.13,-"]), queue(&[]));
    assert_snapshot!(queue(&["full=0 & open=1|consumer:5, producer:14, -"]), @"
    error: thread `producer` never has this state
     --> --successors:1:29
      |
    1 | full=0 & open=1|consumer:5, producer:14, -
      |                             ^^^^^^^^^^^ not in any run
      |
      = help: at this place there is `producer:14(holds lock)`

    exit code 2
    ");
}

/// Printed states can be given as options, in every model.
#[test]
fn states_can_be_pasted() {
    let mut count = 0;
    for path in files(&repository().join("models"), "bp") {
        let successors = |state: &[&str]| {
            let show = ["show", path.to_str().unwrap()];
            let ran = in_repository(&[&show[..], &["--successors"], state].concat());
            // Some create any number of threads.
            if ran.code == 0 {
                ran.stdout
            } else {
                done(&[&show[..], &["--threads", "1", "--successors"], state].concat())
            }
        };
        let (mut printed, mut seen) = (successors(&[]), Vec::new());
        // The last state is the farthest one.
        for _ in 0..6 {
            let lines = printed.lines().skip(1).map(str::trim);
            let states: Vec<String> = lines.filter(|line| line.starts_with('⟨')).map(str::to_owned).collect();
            let Some(next) = states.into_iter().rfind(|state| !seen.contains(state)) else { break };
            printed = successors(&[&next]);
            assert!(printed.starts_with(&format!("{next} has ")), "{next}\n{printed}");
            seen.push(next);
            count += 1;
        }
    }
    assert!(count >= 40, "{count}");
}

#[test]
fn where_the_steps_start() {
    let ran = cuba(&repository(), &["show", "--successors", "models/table2/turns.bp"]);
    assert_eq!((ran.code, &*ran.stdout), (1, ""));
    assert_snapshot!(ran.stderr, @"
    error: the following required arguments were not provided:
      <FILE>

      tip: `models/table2/turns.bp` was read as the state of --successors; put the file first: `cuba show FILE --successors`

    Usage: cuba show --successors [<STATE>] <FILE>

    For more information, try '--help'.
    ");
    let fig1 = done(&["show", "models/paper/fig1.cpds", "--successors"]);
    assert_eq!(fig1, done(&["show", "models/paper/fig1.cpds", "--successors", "0|1,4"]));
    let two = ["show", "models/paper/fig1.cpds", "--init", "0|1,4", "--init", "1|2,4", "--successors"];
    let ran = in_repository(&two);
    assert_eq!((ran.code, &*ran.stdout), (1, ""));
    assert_snapshot!(ran.stderr, @"
    error: there are 2 initial states; choose one: --successors '0|1,4', '1|2,4'
    ");
}

#[test]
fn successors_of_a_program_as_json() {
    let printed = on(
        NAMES,
        &[
            "show",
            "p.bp",
            "--successors",
            "line=* & x=0|f:4(t=1, a=1, holds m) main:5.2(t=1, calling, holds m)",
            "--json",
        ],
    );
    let object: Value = serde_json::from_str(printed.strip_suffix("exit code 0\n").unwrap()).unwrap();
    let source = &object["source"];
    assert_eq!(source["shared"], json!({ "line": null, "x": false }));
    assert_eq!(source["threads"]["locks"][0]["thread"], "main");
    assert_eq!(
        source["stacks"][0]["frames"][0],
        json!({ "function": "f", "line": 4, "variables": { "t": true, "a": true } })
    );
    let step = &object["successors"][0]["source"];
    assert_eq!((&step["statement"], &step["line"]), (&json!("return a & line"), &json!(4)));
    // All actions of the return have fired.
    assert_eq!(step["reached"]["text"], "line=0 & x=0|main:5.3(t=1, l=0, holds m)");
}

/// The ITF trace has a variable for each variable of the program. It distinguishes names of the
/// format itself.
#[test]
fn traces_for_viewers() {
    let trace = written(NAMES, &["verify", "p.bp", "--trace"], "t.itf.json");
    let object: Value = serde_json::from_str(&trace).unwrap();
    fits("itf", &object, "ITF");
    let fixed = [
        "context",
        "thread",
        "function",
        "line",
        "statement",
        "effect",
        "stacks",
        "locals",
        "locks",
        "atomic",
        "waiting",
    ];
    let vars: Vec<&str> = object["vars"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(vars, [&fixed[..], &["shared:line", "x"]].concat());
    let states = object["states"].as_array().unwrap();
    for state in states {
        let mut keys: Vec<&str> =
            state.as_object().unwrap().keys().map(String::as_str).filter(|key| *key != "#meta").collect();
        let mut expected = vars.clone();
        keys.sort_unstable();
        expected.sort_unstable();
        assert_eq!(keys, expected);
    }
    assert_eq!(states[0]["shared:line"], json!({ "#unserializable": "*" }));
    let told: Vec<String> = states
        .iter()
        .map(|it| {
            format!("{} {} {} {}", it["line"]["#bigint"], it["statement"], it["effect"], it["locks"]["#map"][0][1])
        })
        .collect();
    assert_snapshot!(told.join("\n"), @r#"
    "0" "" "" ""
    "5" "lock(m)" "m held by main" "main"
    "5" "l := f(1)" "a = 1" "main"
    "4" "return a & line" "line = 1, l = 1" "main"
    "5" "x := l" "x = 1" "main"
    "5" "unlock(m)" "m free" ""
    "5" "assert(!x)" "fails" ""
    "#);
    assert_eq!(states.last().unwrap()["stacks"], json!({ "#map": [["main", ["main:5"]]] }));
    assert_eq!(states[2]["locals"], json!({ "#map": [["main", { "#map": [["t", true], ["a", true]] }]] }));
    assert!(!trace.contains("main.5"), "{trace}");
}

/// Automata, tables, pictures and open states have no symbols of the system.
#[test]
fn everything_is_in_words_of_the_program() {
    let keeper = ["show", "p.bp", "--psa", "keeper"];
    assert_snapshot!(on(ENDS, &keeper), @"
    keeper: R(Q × Σ≤1)
      late=0           –  keeper:3             →  sF
      late=0           –  keeper:3.2(holds m)  →  sF
      late=0           –  ε                    →  sF
      late=1           –  keeper:3             →  sF
      late=1           –  keeper:3.2(holds m)  →  sF
      late=1           –  ε                    →  sF
      late=1 & m held  –  keeper:3             →  sF
      late=1 & m held  –  keeper:3.2(holds m)  →  sF
      late=1 & m held  –  ε                    →  sF
      late=0 & m held  –  keeper:3             →  sF
      late=0 & m held  –  keeper:3.2(holds m)  →  sF
      late=0 & m held  –  ε                    →  sF
    5 states, 12 transitions; accepted: finitely many
    exit code 0
    ");
    let printed = on(ENDS, &[&keeper[..], &["--from", "late=0|keeper:3", "--json"]].concat());
    let object: Value = serde_json::from_str(printed.strip_suffix("exit code 0\n").unwrap()).unwrap();
    assert_eq!(object["title"], "keeper: R(⟨late=0|keeper:3⟩)");
    assert_eq!(object["states"][0], json!({ "name": "late=0", "kind": "shared", "source": "late=0" }));
    let symbols: Vec<(&Value, &Value)> =
        object["transitions"].as_array().unwrap().iter().map(|it| (&it["symbol"], &it["source"])).collect();
    assert!(symbols.contains(&(&json!("keeper.3"), &json!("keeper:3"))), "{symbols:?}");
    let all = [
        on(ENDS, &[&keeper[..], &["--dot"]].concat()),
        on(ENDS, &[&keeper[..], &["--svg"]].concat()),
        on(ENDS, &["show", "p.bp", "--dot"]),
        on(ENDS, &["show", "p.bp", "--svg"]),
        on(ENDS, &["reach", "p.bp", "--states"]),
        on(ENDS, &["verify", "p.bp", "--target", "late|keeper:3,-"]),
        on(ENDS, &["verify", "p.bp", "--target", "late|keeper:3,-", "--max-contexts", "0", "--engine", "A_0"]),
    ];
    for printed in all {
        assert!(printed.contains("keeper:3"), "{printed}");
        for symbol in ["keeper.3", "m.locked", "holds.m"] {
            assert!(!printed.contains(symbol), "{symbol}: {printed}");
        }
    }
}

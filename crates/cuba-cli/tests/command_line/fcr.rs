//! `cuba fcr`: verdicts, loops and traces.

use crate::common::{cuba, done, doubling, fits, in_repository, on};
use insta::assert_snapshot;
use serde_json::{Value, json};

#[test]
fn it_holds() {
    assert_snapshot!(done(&["fcr", "models/paper/fig1.cpds"]), @"holds: within one context, every thread reaches finitely many states (Theorem 17); so every R_k is finite");
}

/// A loop that is not reachable refutes nothing. The verdict names the overapproximation that
/// proves it.
#[test]
fn it_holds_although_there_is_a_loop() {
    assert_snapshot!(done(&["fcr", "models/tiny/unreachable-loop.cpds"]), @"holds: no pumping head is reachable, so every R_k is finite (proved by Z, 4 states; proof checked)");
    assert_snapshot!(done(&["fcr", "models/tiny/spurious-loop.cpds"]), @"holds: no pumping head is reachable, so every R_k is finite (proved by matched-Z, 5 states; proof checked)");
}

/// The trace to a pumping head, then its loop, then the loop of the other program, which is also
/// reachable.
#[test]
fn loops() {
    let ran = in_repository(&["fcr", "models/paper/fig2.cpds"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (10, ""));
    assert_snapshot!(ran.stdout, @"
                         ⟨⊥|2,6⟩
    context 1: foo
      f0: (⊥,2) → (0,2)  ⟨0|2,6⟩

    foo: ⟨0|2⟩ →⁺ ⟨0|2 4⟩, and so on for ever; ⟨0|2⟩ is reachable with 1 context
                           ⟨0|2⟩
      f2a: (0,2) → (0,3)   ⟨0|3⟩
      f3: (0,3) → (0,2 4)  ⟨0|2 4⟩

    bar: ⟨0|6⟩ →⁺ ⟨0|6 8⟩, and so on for ever; ⟨0|6⟩ is reachable with 1 context
                           ⟨0|6⟩
      b6a: (0,6) → (0,7)   ⟨0|7⟩
      b7: (0,7) → (0,6 8)  ⟨0|6 8⟩

    refuted: with 1 context foo gets to ⟨0|2⟩, from where it alone can raise its stack for ever
    ");
    let ran = in_repository(&["fcr", "models/paper/fig7.cpds"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (10, ""));
    assert_snapshot!(ran.stdout, @"
                            ⟨q0|σ0⟩
    context 1: P
      (q0,σ0) → (q1,σ1 σ0)  ⟨q1|σ1 σ0⟩

    P: ⟨q1|σ1⟩ →⁺ ⟨q1|σ1 σ0⟩, and so on for ever; ⟨q1|σ1⟩ is reachable with 1 context
                            ⟨q1|σ1⟩
      (q1,σ1) → (q2,σ2 σ0)  ⟨q2|σ2 σ0⟩
      (q2,σ2) → (q0,σ1)     ⟨q0|σ1 σ0⟩
      (q0,σ1) → (q0,ε)      ⟨q0|σ0⟩
      (q0,σ0) → (q1,σ1 σ0)  ⟨q1|σ1 σ0⟩

    refuted: with 1 context P gets to ⟨q1|σ1⟩, from where it alone can raise its stack for ever
    ");
}

/// The first copy that moves is the first thread. Bad patterns have no effect.
#[test]
fn copies_are_numbered_as_they_move() {
    let text =
        "shared 0 1; init 0|a,a; thread A * 2 { symbols a b c; (0,a) -> (1,b); (1,a) -> (1,a c); (1,c) -> (0,-) }";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.cpds"), text).unwrap();
    let ran = cuba(folder.path(), &["fcr", "m.cpds", "--target", "0|*,*"]);
    assert_eq!(ran.stderr, "note: --target has no effect: `cuba fcr` does not look for bad states\n");
    assert_snapshot!(ran.stdout, @"
                     ⟨0|a,a⟩
    context 1: A#1
      (0,a) → (1,b)  ⟨1|b,a⟩

    A: ⟨1|a⟩ →⁺ ⟨1|a c⟩, and so on for ever; ⟨1|a⟩ is reachable with 1 context
                       ⟨1|a⟩
      (1,a) → (1,a c)  ⟨1|a c⟩

    refuted: with 1 context A#2 gets to ⟨1|a⟩, from where it alone can raise its stack for ever
    ");
}

/// The pumping head is neither reached nor ruled out: whether the server reaches `finished` with an
/// open session depends on the heights of two stacks.
#[test]
fn it_is_open() {
    let model = include_str!("../../../../models/squeeze/mirror.cpds");
    let last = "(finished,serve)  -> (finished,-)";
    assert!(model.contains(last));
    let model = model.replace(last, &format!("{last}\n  (finished,session) -> (finished,session session)"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.cpds"), model).unwrap();
    let ran = cuba(folder.path(), &["fcr", "m.cpds", "--max-contexts", "3"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (5, ""));
    assert_snapshot!(ran.stdout, @"
    server: ⟨finished|session⟩ →⁺ ⟨finished|session session⟩, and so on for ever; it is not known whether ⟨finished|session⟩ is reachable
                                                       ⟨finished|session⟩
      (finished,session) → (finished,session session)  ⟨finished|session session⟩

    unknown: no pumping head is reachable with up to 3 contexts, open beyond; --max-contexts ends the search there
    ");
    let ran = cuba(folder.path(), &["fcr", "m.cpds", "--max-contexts", "3", "--json"]);
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    fits("fcr", &object, "open");
    assert_eq!((ran.code, &object["fcr"], &object["fcr_by"]), (5, &Value::Null, &Value::Null));
    let finite: Vec<_> = object["programs"].as_array().unwrap().iter().map(|it| &it["finite"]).collect();
    assert_eq!(finite, [&Value::Bool(true), &Value::Null]);
    assert_eq!(object["programs"][1]["loop"]["reachable"], Value::Null);
}

/// The value of `fcr` in the answer of `verify`, and its proof. The choice of the engine depends on
/// what is known before the search.
#[test]
fn verify_reports_finite_context_reachability() {
    for (model, fcr, by, engine) in [
        ("paper/fig1", json!(true), json!("Thm. 17"), "explicit"),
        ("tiny/unreachable-loop", json!(true), json!("Z"), "explicit"),
        ("tiny/spurious-loop", json!(true), json!("matched-Z"), "symbolic"),
        ("tiny/non-fcr", json!(false), json!("T(R_0)"), "symbolic"),
        ("paper/fig2", json!(false), json!("T(R_1)"), "symbolic"),
    ] {
        let model = format!("models/{model}.cpds");
        let ran = in_repository(&["reach", &model, "--json"]);
        let object: Value = serde_json::from_str(&ran.stdout).unwrap();
        fits("analysis", &object, &model);
        assert_eq!((&object["fcr"], &object["fcr_by"], &object["engine"]), (&fcr, &by, &json!(engine)), "{model}");
    }
}

/// The trace to a pumping head is evidence like any other.
#[test]
fn the_trace_to_a_loop_is_accepted() {
    let ran = in_repository(&["fcr", "models/paper/fig2.cpds", "--json"]);
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    fits("fcr", &object, "refuted");
    let trace = &object["trace"];
    let problem: cpds::Problem = include_str!("../../../../models/paper/fig2.cpds").parse().unwrap();
    let target = cpds::Source::new("--target", trace["bad"].as_str().unwrap());
    let mut reader = cpds::Reader::cpds(cpds::Source::new("fig2", cpds::print_cpds(&problem)));
    reader.replace_bad([target]);
    let asked = reader.finish().unwrap().problem;
    let evidence = cpds_check::read(&asked, trace.to_string().as_bytes()).unwrap();
    assert_eq!(cpds_check::check(&asked, &evidence, cpds_check::Claim::Verdict, &|_| true), Ok(()));
}

#[test]
fn as_json() {
    let ran = in_repository(&["fcr", "models/tiny/non-fcr.cpds", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (10, ""));
    let mut object: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(object["time_s"].take().is_f64());
    object["peak_memory_bytes"].take();
    object["memory_limit_bytes"].take();
    let action = json!({
        "label": null,
        "kind": "push",
        "from": {"shared": "0", "word": ["a"]},
        "to": {"shared": "0", "word": ["a", "a"]},
    });
    let steps = json!([{"action": action, "state": "0|a a"}]);
    let a_loop = json!({"start": "0|a", "reachable": true, "end": "0|a a", "steps": steps});
    let trace = object["trace"].take();
    assert_eq!((&trace["context_count"], &trace["bad"], &trace["initial"]), (&json!(0), &json!("0|a"), &json!("0|a")));
    assert_eq!(
        object,
        json!({
            "file": "models/tiny/non-fcr.cpds",
            "assumptions": [],
            "fcr": false,
            "fcr_by": "T(R_0)",
            "reason": "refuted: recurse starts in ⟨0|a⟩, from where it alone can raise its stack for ever",
            "programs": [{"name": "recurse", "finite": false, "by": "T(R_0)", "loop": a_loop}],
            "trace": null,
            "time_s": null,
            "peak_memory_bytes": null,
            "memory_limit_bytes": null,
            "warnings": [],
        })
    );
}

#[test]
fn the_memory_is_limited() {
    let ran = in_repository(&["fcr", "models/paper/fig2.cpds", "--memory", "100"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (5, ""));
    assert_snapshot!(ran.stdout, @"unknown: a store automaton takes more memory than 100 B, see --memory");
}

/// Each procedure calls the next one twice, so the stack of c grows by one only after 2^40 steps.
/// The loop is found, but it is too long to print.
#[test]
fn a_loop_that_is_too_long() {
    let (symbols, calls) = doubling();
    let rules = format!("{calls}\n(1,c) -> (0,a0 c)\n(0,c) -> (1,c c)");
    let ran = on(&format!("shared 0 1\ninit 1|c\nthread P {{\nsymbols {symbols} c\n{rules}\n}}\n"), "fcr");
    assert_eq!((ran.code, ran.stderr.as_str()), (10, ""));
    assert_snapshot!(ran.stdout, @"
    P: ⟨1|c⟩ →⁺ ⟨1|c c⟩, and so on for ever; ⟨1|c⟩ is initial
      (the run is too long to be written out)

    refuted: P starts in ⟨1|c⟩, from where it alone can raise its stack for ever
    ");
}

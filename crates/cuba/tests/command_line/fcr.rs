//! `cuba fcr`.

use crate::common::{done, doubling, in_repository, on};
use insta::assert_snapshot;
use serde_json::{Value, json};

#[test]
fn it_holds() {
    assert_snapshot!(done(&["fcr", "models/paper/fig1.cpds"]), @"holds: within one context, every thread reaches finitely many states; so every R_k is finite");
}

#[test]
fn loops() {
    let ran = in_repository(&["fcr", "models/paper/fig2.cpds"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (10, ""));
    assert_snapshot!(ran.stdout, @"
    foo: ⟨0|2⟩ →⁺ ⟨0|2 4⟩, and so on for ever
                           ⟨0|2⟩
      f2a: (0,2) → (0,3)   ⟨0|3⟩
      f3: (0,3) → (0,2 4)  ⟨0|2 4⟩

    bar: ⟨0|6⟩ →⁺ ⟨0|6 8⟩, and so on for ever
                           ⟨0|6⟩
      b6a: (0,6) → (0,7)   ⟨0|7⟩
      b7: (0,7) → (0,6 8)  ⟨0|6 8⟩

    refuted: within one context, foo and bar can raise their stacks for ever
    ");
    let ran = in_repository(&["fcr", "models/paper/fig7.cpds"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (10, ""));
    assert_snapshot!(ran.stdout, @"
    P: ⟨q1|σ1⟩ →⁺ ⟨q1|σ1 σ0⟩, and so on for ever
                            ⟨q1|σ1⟩
      (q1,σ1) → (q2,σ2 σ0)  ⟨q2|σ2 σ0⟩
      (q2,σ2) → (q0,σ1)     ⟨q0|σ1 σ0⟩
      (q0,σ1) → (q0,ε)      ⟨q0|σ0⟩
      (q0,σ0) → (q1,σ1 σ0)  ⟨q1|σ1 σ0⟩

    refuted: within one context, P can raise its stack for ever
    ");
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
    assert_eq!(
        object,
        json!({
            "file": "models/tiny/non-fcr.cpds",
            "assumptions": [],
            "fcr": false,
            "reason": "refuted: within one context, recurse can raise its stack for ever",
            "programs": [{"name": "recurse", "finite": false, "loop": {"start": "0|a", "end": "0|a a", "steps": steps}}],
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

/// Each procedure calls the next one twice, so that the stack of c grows by one only after 2^40 steps. The loop is found, but
/// not written out.
#[test]
fn a_loop_that_is_too_long() {
    let (symbols, calls) = doubling();
    let rules = format!("{calls}\n(1,c) -> (0,a0 c)\n(0,c) -> (1,c c)");
    let ran = on(&format!("shared 0 1\ninit 0|a0\nthread P {{\nsymbols {symbols} c\n{rules}\n}}\n"), "fcr");
    assert_eq!((ran.code, ran.stderr.as_str()), (10, ""));
    assert_snapshot!(ran.stdout, @"
    P: ⟨1|c⟩ →⁺ ⟨1|c c⟩, and so on for ever
      (the run is too long to be written out)

    refuted: within one context, P can raise its stack for ever
    ");
}

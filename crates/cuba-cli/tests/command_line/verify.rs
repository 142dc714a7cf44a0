//! `cuba verify`: verdicts and traces.

use crate::common::{cuba, doubling, in_repository, on};
use cpds_testing::artifact::{SYSTEMS, names};
use cpds_testing::corpus::artifact;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

fn verify(args: &[&str]) -> (i32, String) {
    let ran = in_repository(&[&["verify"], args].concat());
    assert_eq!(ran.stderr, "", "{args:?}");
    (ran.code, ran.stdout)
}

#[test]
fn a_bug_with_its_trace() {
    let (code, out) = verify(&["models/paper/fig1.cpds"]);
    assert_eq!(code, 10);
    assert_snapshot!(out, @"
                           ⟨0|1,4⟩
    context 1: P1
      f1: (0,1) → (1,2)    ⟨1|2,4⟩
    context 2: P2
      b2: (1,4) → (2,5)    ⟨2|2,5⟩
      b3: (2,5) → (3,4 6)  ⟨3|2,4 6⟩
    context 3: P1
      f2: (3,2) → (0,1)    ⟨0|1,4 6⟩
    context 4: P2
      b1: (0,4) → (0,ε)    ⟨0|1,6⟩

    unsafe: the bad state ⟨0|1,6⟩ is reachable with 4 contexts, and with no fewer
    ");
    let (code, out) = verify(&["models/tiny/symmetric.cpds", "--target", "taken|out,out,in,out"]);
    assert_eq!(code, 10);
    assert_snapshot!(out, @"
                                     ⟨free|out,out,out,out⟩
    context 1: worker#3
      take: (free,out) → (taken,in)  ⟨taken|out,out,in,out⟩

    unsafe: the bad state ⟨taken|out,out,in,out⟩ is reachable with 1 context, and with no fewer
    ");
    let (code, out) = verify(&["models/paper/fig1.cpds", "--target", "0|1,4"]);
    assert_eq!(code, 10);
    assert_snapshot!(out, @"
      no step: this initial state is bad  ⟨0|1,4⟩

    unsafe: the bad state ⟨0|1,4⟩ is reachable with 0 contexts: it holds initially
    ");
}

#[test]
fn safe() {
    let (code, out) = verify(&["models/paper/fig1.cpds", "--target", "2|1,*"]);
    assert_eq!(code, 0);
    assert_snapshot!(out, @"safe: no bad state is reachable, with any number of contexts (proved by Z, 8 states; proof checked)");
    let (code, out) = verify(&["models/tiny/stutter.cpds", "--target", "1|-,b"]);
    assert_eq!(code, 0);
    assert_snapshot!(out, @"safe: no bad state is reachable, with any number of contexts (proved by matched-Z, 4 states; proof checked)");
}

#[test]
fn unknown() {
    let (code, out) = verify(&["models/paper/fig1.cpds", "--max-contexts", "3"]);
    assert_eq!(code, 5);
    assert_snapshot!(out, @"
    6 visible states reached: T(R_3)
    overapproximations of what is reachable, in visible states:
      Z to A_4  8
    2 visible states neither reached nor ruled out, 1 of them bad:
      ⟨0|1,6⟩
    to try: more contexts (--max-contexts), a deeper overapproximation (--max-depth 6)
    unknown: safe up to 3 contexts, open beyond; --max-contexts ends the search there
    ");
}

/// There are proofs and traces even if contexts are infinite.
#[test]
fn infinite_contexts() {
    let (code, out) = verify(&["models/paper/fig2.cpds", "--target", "*|4,9"]);
    assert_eq!(code, 10);
    assert_snapshot!(out, @"
                          ⟨⊥|2,6⟩
    context 1: foo
      f0: (⊥,2) → (1,2)   ⟨1|2,6⟩
      f2b: (1,2) → (1,4)  ⟨1|4,6⟩
    context 2: bar
      b6b: (1,6) → (1,8)  ⟨1|4,8⟩
      b8b: (1,8) → (1,9)  ⟨1|4,9⟩

    unsafe: the bad state ⟨1|4,9⟩ is reachable with 2 contexts, and with no fewer
    ");
    let (code, out) = verify(&["models/paper/stefan4.cpds", "--target", "q2|σ2,-,σ1,σ0"]);
    assert_eq!(code, 10);
    assert_snapshot!(out, @"
                            ⟨q0|σ0,σ0,σ0,σ0⟩
    context 1: P#3
      (q0,σ0) → (q1,σ1 σ0)  ⟨q1|σ0,σ0,σ1 σ0,σ0⟩
      (q1,σ1) → (q2,σ2 σ0)  ⟨q2|σ0,σ0,σ2 σ0 σ0,σ0⟩
      (q2,σ2) → (q0,σ1)     ⟨q0|σ0,σ0,σ1 σ0 σ0,σ0⟩
    context 2: P#2
      (q0,σ0) → (q0,ε)      ⟨q0|σ0,ε,σ1 σ0 σ0,σ0⟩
    context 3: P#1
      (q0,σ0) → (q1,σ1 σ0)  ⟨q1|σ1 σ0,ε,σ1 σ0 σ0,σ0⟩
      (q1,σ1) → (q2,σ2 σ0)  ⟨q2|σ2 σ0 σ0,ε,σ1 σ0 σ0,σ0⟩

    unsafe: the bad state ⟨q2|σ2 σ0 σ0,ε,σ1 σ0 σ0,σ0⟩ is reachable with 3 contexts, and with no fewer
    ");
}

/// One trace has 2^40 steps, another one has three hundred. The search sees the long one first,
/// because it summarises calls.
#[test]
fn a_short_trace_beside_a_long_one() {
    let (symbols, calls) = doubling();
    let names: Vec<String> = (0..=300).map(|i| format!("d{i}")).collect();
    let steps: Vec<String> = names.windows(2).map(|pair| format!("(0,{}) -> (0,{})", pair[0], pair[1])).collect();
    let (names, steps) = (names.join(" "), steps.join("\n"));
    let rules = "(0,x) -> (0,a0)\n(0,x) -> (0,d0)\n(0,d300) -> (0,-)\n(0,-) -> (1,-)\n(0,c) -> (0,c c)";
    let ran = on(
        &format!(
            "shared 0 1\ninit 0|x\nbad 1|-\nthread P {{\nsymbols x {symbols} {names} c\n{calls}\n{steps}\n{rules}\n}}\n"
        ),
        "verify",
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (10, ""));
    assert_eq!(ran.stdout.lines().filter(|line| line.contains(" → ")).count(), 303);
}

/// The bad state is 2^40 steps away, too many to print.
#[test]
fn a_trace_that_is_too_long() {
    let (symbols, calls) = doubling();
    let rules = format!("{calls}\n(0,-) -> (1,-)\n(0,c) -> (0,c c)");
    let model = format!("shared 0 1\ninit 0|a0\nbad 1|-\nthread P {{\nsymbols {symbols} c\n{rules}\n}}\n");
    let ran = on(&model, "verify");
    assert_eq!((ran.code, ran.stderr.as_str()), (5, ""));
    assert_snapshot!(ran.stdout, @"unknown: safe up to 0 contexts; with 1 context a bad state is reachable, but the trace to it is too long to be written out");
}

/// Each symbol may be called from the previous one: a context is finite, but it has 2^30 stacks.
#[test]
fn the_memory_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let symbols: Vec<String> = (0..30).map(|i| format!("a{i}")).collect();
    let calls: Vec<String> = symbols
        .windows(2)
        .map(|pair| format!("(0,{0}) -> (0,{1} {0})\n (0,{0}) -> (0,{1} {1})\n (0,{0}) -> (0,-)", pair[0], pair[1]))
        .collect();
    let model = format!(
        "shared 0\ninit 0|a0,a0\nbad 0|-,-\nthread T * 2 {{\n symbols {}\n {}\n}}\n",
        symbols.join(" "),
        calls.join("\n ")
    );
    fs::write(folder.path().join("large.cpds"), model).unwrap();
    let ran = cuba(folder.path(), &["verify", "large.cpds", "--memory", "16M", "--engine", "explicit"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (5, ""));
    assert_snapshot!(ran.stdout, @"
    1 visible state reached: T(R_0)
    overapproximations of what is reachable, in visible states:
      Z to A_1  961
    960 visible states neither reached nor ruled out, 1 of them bad:
      ⟨0|ε,ε⟩
    in A_1 nothing was widened, so all of these are reachable, with more contexts
    to try: more memory (--memory)
    unknown: safe up to 0 contexts, open beyond; context 1 does not fit into the memory of 16.00 MiB, see --memory
    ");
    // Few languages represent these stacks.
    let ran = cuba(folder.path(), &["verify", "large.cpds", "--memory", "16M"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (10, ""));
    assert_snapshot!(ran.stdout, @"
                      ⟨0|a0,a0⟩
    context 1: T#1
      (0,a0) → (0,ε)  ⟨0|ε,a0⟩
    context 2: T#2
      (0,a0) → (0,ε)  ⟨0|ε,ε⟩

    unsafe: the bad state ⟨0|ε,ε⟩ is reachable with 2 contexts, and with no fewer
    ");
}

#[test]
fn nothing_to_verify() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.cpds"), "shared 0\ninit 0|a\nthread A { symbols a }\n").unwrap();
    let ran = cuba(folder.path(), &["verify", "m.cpds"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_snapshot!(ran.stderr, @"error: `m.cpds` names no bad state, so there is nothing to verify; name bad states with `--target`, or print all reachable ones with `cuba reach`");
}

#[test]
fn the_trace_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.json");
    let file = path.to_str().unwrap();
    let (code, _) = verify(&["models/paper/fig1.cpds", "--trace", file]);
    assert_eq!(code, 10);
    let written: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let printed = in_repository(&["verify", "models/paper/fig1.cpds", "--json"]).stdout;
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(written, printed["trace"]);
    assert_snapshot!(serde_json::to_string(&written["contexts"][3]).unwrap(), @r#"{"steps":[{"action":{"from":{"shared":"0","word":["4"]},"kind":"pop","label":"b1","to":{"shared":"0","word":[]}},"state":"0|1,6"}],"thread":2,"thread_name":"P2"}"#);
    assert_eq!((&written["bad"], &written["initial"]), (&"0|1,6".into(), &"0|1,4".into()));

    fs::remove_file(&path).unwrap();
    let ran = in_repository(&["verify", "models/paper/fig1.cpds", "--target", "2|1,*", "--trace", file]);
    assert_eq!(ran.code, 0);
    assert!(!path.exists());
    assert!(ran.stderr.ends_with("was not written: there is no trace\n"), "{}", ran.stderr);

    fs::write(&path, "old").unwrap();
    let ran = in_repository(&["verify", "models/paper/fig1.cpds", "--target", "2|1,*", "--trace", file]);
    let said = " was not written (the file there is an older one): there is no trace\n";
    assert!(ran.code == 0 && ran.stderr.ends_with(said), "{}", ran.stderr);

    let ran = in_repository(&["verify", "models/paper/fig1.cpds", "--trace", "models/../models/paper/fig1.cpds"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_snapshot!(ran.stderr, @"error: `models/../models/paper/fig1.cpds` is an input; write to another file");
}

/// The output for the bugs in the Bluetooth drivers.
#[test]
fn the_bluetooth_drivers() {
    let buggy = || SYSTEMS.iter().filter(|known| known.file.contains("Bluetooth"));
    let Some(folder) = artifact(&names(buggy())) else { return };
    for known in buggy() {
        let file = folder.join(known.file).with_extension("pds");
        let ran = in_repository(&["verify", file.to_str().unwrap(), "--quiet"]);
        let last = ran.stdout.lines().last().unwrap();
        match known.bug {
            Some(contexts) => {
                assert_eq!(ran.code, 10, "{}", known.file);
                assert!(last.starts_with("unsafe: ") && last.contains(&format!("with {contexts} contexts")), "{last}");
                let contexts_shown = ran.stdout.lines().filter(|line| line.starts_with("context ")).count();
                assert_eq!(contexts_shown, contexts);
            }
            None => assert!(ran.code == 0 && last.starts_with("safe: "), "{last}"),
        }
    }
}

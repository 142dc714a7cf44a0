//! Evidence that was written by hand, and the condition that each kind of change violates.

use cpds::Problem;
use cpds_check::{Claim, Condition, Rejected, check, read};

const MODEL: &str = "\
shared 0 1
init 0|a,x
bad 1|b,-
thread A {
  symbols a b
  call: (0,a) -> (0,a b)
  (0,a) -> (0,-)
  (0,b) -> (1,b)
}
thread B {
  symbols x y
  (1,x) -> (0,y)
}
";

/// A's stacks: 0 is a b*, 1 is b*, 2 is b b*. B's: 3 is x, 4 is y, 5 is ε.
const CERTIFICATE: &str = r#"{
"format": "cuba-certificate",
"version": 1,
"model": "MODEL",
"shared": ["1", "0"],
"symbols": ["-", "a", "b", "x", "y"],
"groups": [[1], [2]],
"automaton": [[0, 1, 1], [1, 2, 1], [0, 2, 1], [0, 3, 5], [0, 4, 5], [1]],
"tuples": [[1, 0, 3], [1, 1, 3], [0, 2, 3], [1, 2, 4], [0, 2, 4]]
}"#;

const TRACE: &str = r#"{
"format": "cuba-trace",
"version": 1,
"model": "MODEL",
"context_count": 1,
"bad": "1|b,*",
"state": "1|b,x",
"initial": "0|a,x",
"contexts": [{"thread": 1, "thread_name": "A", "steps": [
  {"action": {"label": "call", "kind": "push", "from": {"shared": "0", "word": ["a"]}, "to": {"shared": "0", "word": ["a", "b"]}}, "state": "0|a b,x"},
  {"action": {"label": null, "kind": "pop", "from": {"shared": "0", "word": ["a"]}, "to": {"shared": "0", "word": []}}, "state": "0|b,x"},
  {"action": {"label": null, "kind": "overwrite", "from": {"shared": "0", "word": ["b"]}, "to": {"shared": "1", "word": ["b"]}}, "state": "1|b,x"}
]}]
}"#;

fn problem(model: &str) -> Problem {
    model.parse().unwrap()
}

fn checked(model: &str, evidence: &str, claim: Claim) -> Result<(), Rejected> {
    let problem = problem(model);
    let evidence = evidence.replace("MODEL", &problem.fingerprint());
    check(&problem, &read(&problem, evidence.as_bytes())?, claim, &|steps| steps < 1_000_000)
}

/// Returns the checker's message about the certificate, with the first text of each pair replaced
/// by the second one.
fn certificate(changes: &[(&str, &str)]) -> String {
    message(MODEL, CERTIFICATE, changes, Claim::Verdict)
}

/// Returns the checker's message about the trace, after the same replacements. Here every state
/// with b on top is bad.
fn trace(changes: &[(&str, &str)]) -> String {
    message(&MODEL.replace("bad 1|b,-", "bad 1|b,*"), TRACE, changes, Claim::Verdict)
}

fn message(model: &str, evidence: &str, changes: &[(&str, &str)], claim: Claim) -> String {
    let mut evidence = evidence.to_owned();
    for (from, to) in changes {
        assert!(evidence.contains(from), "{from}");
        evidence = evidence.replacen(from, to, 1);
    }
    match checked(model, &evidence, claim) {
        Ok(()) => "accepted".to_owned(),
        Err(rejected) => rejected.to_string(),
    }
}

#[test]
fn the_unchanged_evidence_is_accepted() {
    assert_eq!(certificate(&[]), "accepted");
    assert_eq!(trace(&[]), "accepted");
}

#[test]
fn condition_i() {
    assert_eq!(
        certificate(&[("[1, 0, 3], ", "")]),
        "rejected: condition (i), initial states: no tuple contains the initial state ⟨0|a,x⟩"
    );
    assert_eq!(
        certificate(&[("[0, 3, 5]", "[0, 4, 5]")]),
        "rejected: condition (i), initial states: no tuple contains the initial state ⟨0|a,x⟩"
    );
}

#[test]
fn condition_ii() {
    // A tuple is dropped.
    assert_eq!(
        certificate(&[("[1, 1, 3], ", "")]),
        "rejected: condition (ii), steps: tuples[0], thread 1 (A), action (0,a) → (0,ε): the image is not covered"
    );
    assert_eq!(
        certificate(&[(", [1, 2, 4]", "")]),
        "rejected: condition (ii), steps: tuples[2], thread 2 (B), action (1,x) → (0,y): the image is not covered"
    );
    // A language is smaller: a instead of a b*.
    assert_eq!(
        certificate(&[("[0, 1, 1]", "[0, 1, 5]")]),
        "rejected: condition (ii), steps: tuples[0], thread 1 (A), action (0,a) → (0,a b): the image is not covered"
    );
    // A language is larger: A's stack may now have a on top, and may become empty.
    assert_eq!(
        certificate(&[("[1]],", "[1], [0, 1, 1, 2, 1]],"), ("[1, 2, 4]", "[1, 6, 4]")]),
        "rejected: condition (ii), steps: tuples[3], thread 1 (A), action (0,a) → (0,ε): the image is not covered"
    );
    // The languages of the threads are swapped.
    assert_eq!(
        certificate(&[("[1, 2, 4]", "[1, 4, 2]")]),
        "rejected: condition (ii), steps: tuples[2], thread 2 (B), action (1,x) → (0,y): the image is not covered"
    );
    // Another symbol: x instead of y.
    assert_eq!(
        certificate(&[("[0, 4, 5]", "[0, 3, 5]")]),
        "rejected: condition (ii), steps: tuples[2], thread 2 (B), action (1,x) → (0,y): the image is not covered"
    );
}

#[test]
fn condition_iii() {
    assert_eq!(
        certificate(&[("[0, 2, 4]]", "[0, 2, 4], [0, 2, 5]]")]),
        "rejected: condition (iii), bad states: tuples[5] contains a bad state, which fits 1|b,-"
    );
    // A language is larger: B's stack may be empty, too.
    assert_eq!(
        certificate(&[("[0, 3, 5]", "[1, 3, 5]")]),
        "rejected: condition (iii), bad states: tuples[2] contains a bad state, which fits 1|b,-"
    );
}

/// An image that no single tuple contains, but two tuples together contain.
#[test]
fn unions() {
    let split = [("[1, 1, 3]", "[1, 5, 3], [1, 2, 3]")];
    assert_eq!(certificate(&split), "accepted");
    // One of the two tuples has a larger language for the thread that does not move.
    let larger = [("[1]],", "[1], [0, 3, 5, 4, 5]],"), ("[1, 1, 3]", "[1, 5, 6], [1, 2, 3]")];
    assert_eq!(certificate(&larger), "accepted");
    let smaller = [("[1, 1, 3]", "[1, 5, 4], [1, 2, 3]")];
    assert!(certificate(&smaller).starts_with("rejected: condition (ii)"));
    // b*, as the union of the words of even and of odd length.
    let even_and_odd = [("[1]],", "[1], [1, 2, 7], [0, 2, 6]],"), ("[1, 1, 3]", "[1, 6, 3], [1, 7, 3]")];
    assert_eq!(certificate(&even_and_odd), "accepted");
    let only_even = [("[1]],", "[1], [1, 2, 7], [0, 2, 6]],"), ("[1, 1, 3]", "[1, 6, 3]")];
    assert!(certificate(&only_even).starts_with("rejected: condition (ii)"));
    let without_one = [("[1, 1, 3]", "[1, 2, 3]")];
    assert_eq!(
        certificate(&without_one),
        "rejected: condition (ii), steps: tuples[0], thread 1 (A), action (0,a) → (0,ε): the image is not covered"
    );
}

#[test]
fn groups() {
    assert_eq!(
        certificate(&[("[[1], [2]]", "[[1, 2]]")]),
        "rejected: groups: thread 1 (A) and thread 2 (B) are in one group, but have different actions"
    );
    let model = "shared 0; init 0|a,a; bad 0|c,c\nthread A * 2 { symbols a b c; (0,a) -> (0,b) }";
    let evidence = |bad: &str, tuples: &str| {
        let model = model.replace("0|c,c", bad);
        let evidence = format!(
            r#"{{"format": "cuba-certificate", "version": 1, "model": "MODEL", "shared": ["0"], "symbols": ["-", "a", "b"],
            "groups": [[2, 1]], "automaton": [[0, 1, 2], [0, 2, 2], [1]], "tuples": [{tuples}]}}"#
        );
        message(&model, &evidence, &[], Claim::Verdict)
    };
    assert_eq!(evidence("0|c,c", "[0, 0, 0], [0, 0, 1], [0, 1, 1]"), "accepted");
    assert_eq!(evidence("0|c,c", "[0, 0, 0], [0, 1, 0], [0, 1, 1]"), "accepted");
    // The permutations of a tuple are not listed, but they belong to the certificate.
    for bad in ["0|a,b", "0|b,a"] {
        assert_eq!(
            evidence(bad, "[0, 0, 0], [0, 0, 1], [0, 1, 1]"),
            format!("rejected: condition (iii), bad states: tuples[1] contains a bad state, which fits {bad}")
        );
    }
    assert_eq!(
        evidence("0|c,c", "[0, 0, 0], [0, 0, 1]"),
        "rejected: condition (ii), steps: tuples[1], thread 1 (A#1), action (0,a) → (0,b): the image is not covered"
    );
}

/// Each language of a group is checked, not only the first one, in any order.
#[test]
fn every_thread_of_a_group_moves() {
    let model = "shared 0; init 0|a,b\nthread A * 2 { symbols a b c; (0,b) -> (0,c) }";
    let evidence = |tuples: &str| {
        let evidence = format!(
            r#"{{"format": "cuba-certificate", "version": 1, "model": "MODEL", "shared": ["0"], "symbols": ["-", "a", "b", "c"],
            "groups": [[1, 2]], "automaton": [[0, 1, 3], [0, 2, 3], [0, 3, 3], [1]], "tuples": [{tuples}]}}"#
        );
        message(model, &evidence, &[], Claim::Verdict)
    };
    for order in ["[0, 0, 1], [0, 0, 2]", "[0, 1, 0], [0, 2, 0]", "[0, 0, 1], [0, 2, 0]"] {
        assert_eq!(evidence(order), "accepted");
    }
    for (only, thread) in [("[0, 0, 1]", "2 (A#2)"), ("[0, 1, 0]", "1 (A#1)")] {
        assert_eq!(
            evidence(only),
            format!(
                "rejected: condition (ii), steps: tuples[0], thread {thread}, action (0,b) → (0,c): the image is not covered"
            )
        );
    }
}

/// Threads may be in one group if they have the same actions; the names of their programs do not
/// matter.
#[test]
fn groups_of_programs_with_the_same_actions() {
    let model =
        "shared 0; init 0|a,a; thread A { symbols a b; (0,a) -> (0,b) }\nthread B { symbols a b; x: (0,a) -> (0,b) }";
    let evidence = r#"{"format": "cuba-certificate", "version": 1, "model": "MODEL", "shared": ["0"], "symbols": ["-", "a", "b"],
        "groups": [[1, 2]], "automaton": [[0, 1, 2], [0, 2, 2], [1]], "tuples": [[0, 0, 0], [0, 0, 1], [0, 1, 1]]}"#;
    assert_eq!(message(model, evidence, &[], Claim::Verdict), "accepted");
}

#[test]
fn exactness() {
    let exact = |visible: &str| {
        let list = format!("\"visible\": [{visible}],\n\"tuples\"");
        message(MODEL, CERTIFICATE, &[("\"tuples\"", &list)], Claim::Exact)
    };
    let all = "[1, 1, 3], [1, 2, 3], [1, 0, 3], [0, 2, 3], [1, 2, 4], [0, 2, 4]";
    assert_eq!(exact(all), "accepted");
    assert_eq!(
        exact("[1, 1, 3], [1, 2, 3], [0, 2, 3], [1, 2, 4], [0, 2, 4]"),
        "rejected: visible states: tuples[1] contains a visible state that is not listed"
    );
    let too_many = "rejected: visible states: a visible state is listed that no tuple contains, or one is listed twice";
    assert_eq!(exact(&format!("{all}, [0, 1, 3]")), too_many);
    assert_eq!(exact(&format!("{all}, [0, 2, 4]")), too_many);
    assert_eq!(
        message(MODEL, CERTIFICATE, &[], Claim::Exact),
        "rejected: visible states: the certificate has no list of visible states"
    );
    // With --exact, a certificate may contain bad states.
    let model = MODEL.replace("bad 1|b,-", "bad 1|b,*");
    let list = format!("\"visible\": [{all}],\n\"tuples\"");
    assert_eq!(message(&model, CERTIFICATE, &[("\"tuples\"", &list)], Claim::Exact), "accepted");
    assert!(matches!(checked(&model, CERTIFICATE, Claim::Verdict), Err(Rejected::Violated(Condition::Bad, _))));
}

/// Visible states up to permutations: two equal threads and a different one.
#[test]
fn exactness_with_groups() {
    let model = "shared 0; init 0|a,a,a\nthread A * 2 { symbols a b; (0,a) -> (0,b) }\nthread B { symbols a }";
    let exact = |visible: &str| {
        let evidence = format!(
            r#"{{"format": "cuba-certificate", "version": 1, "model": "MODEL", "shared": ["0"], "symbols": ["-", "a", "b"],
            "groups": [[3], [1, 2]], "automaton": [[0, 1, 2, 2, 2], [0, 1, 2], [1]], "tuples": [[0, 0, 0, 1]],
            "visible": [{visible}]}}"#
        );
        message(model, &evidence, &[], Claim::Exact)
    };
    assert_eq!(exact("[0, 1, 1, 1], [0, 1, 2, 1], [0, 2, 2, 1]"), "accepted");
    assert_eq!(exact("[0, 2, 2, 1], [0, 2, 1, 1], [0, 1, 1, 1]"), "accepted");
    for missing in ["[0, 1, 2, 1], [0, 2, 2, 1]", "[0, 1, 1, 1], [0, 2, 2, 1]", "[0, 1, 1, 1], [0, 1, 2, 1]"] {
        assert_eq!(exact(missing), "rejected: visible states: tuples[0] contains a visible state that is not listed");
    }
    for more in ["[0, 2, 1, 1]", "[0, 1, 1, 2]", "[0, 0, 1, 1]"] {
        assert_eq!(
            exact(&format!("[0, 1, 1, 1], [0, 1, 2, 1], [0, 2, 2, 1], {more}")),
            "rejected: visible states: a visible state is listed that no tuple contains, or one is listed twice"
        );
    }
}

/// Two threads of a group with different languages: their tops are not mixed up, and the list may
/// have them in any order.
#[test]
fn exactness_with_different_languages_in_a_group() {
    let model = "shared 0; init 0|b,c\nthread A * 2 { symbols a b c }";
    let exact = |visible: &str| {
        let evidence = format!(
            r#"{{"format": "cuba-certificate", "version": 1, "model": "MODEL", "shared": ["0"], "symbols": ["-", "a", "b", "c"],
            "groups": [[1, 2]], "automaton": [[0, 1, 2, 3, 2], [0, 2, 2], [1]], "tuples": [[0, 0, 1]], "visible": [{visible}]}}"#
        );
        message(model, &evidence, &[], Claim::Exact)
    };
    assert_eq!(exact("[0, 1, 2], [0, 2, 3]"), "accepted");
    assert_eq!(exact("[0, 3, 2], [0, 2, 1]"), "accepted");
    for missing in ["[0, 1, 2]", "[0, 2, 3]", "[0, 1, 1], [0, 1, 3], [0, 3, 3]"] {
        assert_eq!(exact(missing), "rejected: visible states: tuples[0] contains a visible state that is not listed");
    }
}

/// The last state of a trace has to fit a bad pattern of the problem that is checked.
#[test]
fn the_last_state_is_bad() {
    let model = |bad: &str| problem(&MODEL.replace("bad 1|b,-", bad));
    let found_for = model("bad 1|b,*");
    let evidence = read(&found_for, TRACE.replace("MODEL", &found_for.fingerprint()).as_bytes()).unwrap();
    let checked = |bad: &str| check(&model(bad), &evidence, Claim::Verdict, &|_| true);
    for bad in ["bad 1|b,*", "bad 1|b,x", "bad *|b,x", "bad *|*,*", "bad 0|*,*; bad 1|*,*"] {
        assert_eq!(checked(bad), Ok(()), "{bad}");
    }
    let not_bad = Rejected::Violated(Condition::Bad, "the last state, ⟨1|b,x⟩, is not bad".to_owned());
    for bad in ["", "bad 0|b,x", "bad 1|a,x", "bad 1|b,y", "bad 1|b,-", "bad *|*,y", "bad 0|*,*"] {
        assert_eq!(checked(bad), Err(not_bad.clone()), "{bad}");
    }
}

#[test]
fn paths_that_are_not_traces() {
    let pop = r#"  {"action": {"label": null, "kind": "pop", "from": {"shared": "0", "word": ["a"]}, "to": {"shared": "0", "word": []}}, "state": "0|b,x"},
"#;
    // A step is dropped.
    assert_eq!(
        trace(&[(pop, "")]),
        "rejected: condition (ii), steps: contexts[0].steps[1], thread 1 (A): action (0,b) → (1,b) is not enabled in ⟨0|a b,x⟩"
    );
    // Another symbol.
    assert_eq!(
        trace(&[("0|a b,x", "0|a a,x")]),
        "rejected: condition (ii), steps: contexts[0].steps[0], thread 1 (A): action (0,a) → (0,a b) leads to ⟨0|a b,x⟩, not to `state`"
    );
    assert_eq!(
        trace(&[("\"word\": [\"a\", \"b\"]", "\"word\": [\"b\", \"b\"]")]),
        "rejected: condition (ii), steps: contexts[0].steps[0]: the thread has no such action"
    );
    assert_eq!(
        trace(&[("\"call\"", "\"return\"")]),
        "rejected: condition (ii), steps: contexts[0].steps[0]: the thread has no such action"
    );
    // Another number of contexts is claimed.
    for claimed in ["0", "2"] {
        assert_eq!(
            trace(&[("\"context_count\": 1", &format!("\"context_count\": {claimed}"))]),
            format!("rejected: contexts: `context_count` is {claimed}, but the trace has 1")
        );
    }
    // A context is split into two of the same thread.
    assert_eq!(
        trace(&[
            ("\"0|b,x\"},", "\"0|b,x\"}]}, {\"thread\": 1, \"thread_name\": \"A\", \"steps\": ["),
            ("count\": 1", "count\": 2")
        ]),
        "rejected: contexts: contexts[1] has no steps, or has the same thread as the context before"
    );
    assert_eq!(
        trace(&[("\"initial\": \"0|a,x\"", "\"initial\": \"0|a b,x\"")]),
        "rejected: condition (i), initial states: the first state is not initial"
    );
    // The last state is not the claimed one, or is not bad.
    assert_eq!(
        trace(&[("\"state\": \"1|b,x\"", "\"state\": \"0|b,x\"")]),
        "rejected: condition (iii), bad states: `state` is not the last state of the trace"
    );
    assert_eq!(
        message(MODEL, TRACE, &[], Claim::Verdict),
        "rejected: condition (iii), bad states: `bad` is not a bad pattern of the model, or the last state does not fit it"
    );
    for thread in [0, 2, 3] {
        assert_eq!(
            trace(&[("\"thread\": 1", &format!("\"thread\": {thread}"))]),
            format!("malformed: the model has no thread {thread} with the name `A`")
        );
    }
    // A trace shows one visible state, not all of them.
    let model = MODEL.replace("bad 1|b,-", "bad 1|b,*");
    assert_eq!(
        message(&model, TRACE, &[], Claim::Exact),
        "rejected: visible states: a trace does not show which visible states are reachable"
    );
}

/// Evidence is of one kind. A single member of the other kind is an error.
#[test]
fn both_a_certificate_and_a_trace() {
    let both = "malformed: members of a certificate and of a trace";
    for member in [
        r#""context_count": 1"#,
        r#""contexts": []"#,
        r#""bad": "1|b,-""#,
        r#""state": "0|a,x""#,
        r#""initial": "0|a,x""#,
    ] {
        assert_eq!(certificate(&[("\"tuples\"", &format!("{member},\n\"tuples\""))]), both, "{member}");
    }
    for member in ["shared", "symbols", "groups", "automaton", "tuples", "visible"] {
        let member = format!("\"{member}\": []");
        assert_eq!(trace(&[("\"bad\"", &format!("{member},\n\"bad\""))]), both, "{member}");
    }
}

#[test]
fn another_model() {
    let problem = problem(MODEL);
    let evidence = CERTIFICATE.replace("MODEL", &self::problem(&MODEL.replace("bad 1|b,-", "")).fingerprint());
    let rejected = read(&problem, evidence.as_bytes()).unwrap_err();
    assert!(matches!(rejected, Rejected::OtherProblem(_)), "{rejected}");
}

//! Hostile evidence: it must not make the checker panic, hang, or fill the memory.

use cpds::diagnostic::is_printable;
use cpds::{Automaton, Certificate, Problem, Symbol, ThreadId};
use cpds_check::{Claim, Condition, Evidence, Rejected, check, read};
use std::fmt::Write as _;
use std::io::{self, Read};
#[cfg(target_os = "linux")]
use std::{fs, path::Path, process::Command};

const MODEL: &str = "shared 0; init 0|a; bad 0|-\nthread A { symbols a b; (0,a) -> (0,a b); (0,a) -> (0,b) }";

const CERTIFICATE: &str = r#"{"format": "cuba-certificate", "version": 1, "model": "MODEL", "shared": ["0"],
    "symbols": ["-", "a", "b"], "groups": [[1]], "automaton": [[0, 1, 1], [1, 2, 1], [0, 2, 1]], "tuples": [[0, 0], [0, 2]]}"#;

fn problem() -> Problem {
    MODEL.parse().unwrap()
}

fn message(text: &str) -> String {
    let problem = problem();
    let text = text.replace("MODEL", &problem.fingerprint());
    let checked = read(&problem, text.as_bytes())
        .and_then(|evidence| check(&problem, &evidence, Claim::Verdict, &|steps| steps < 1_000_000));
    match checked {
        Ok(()) => "accepted".to_owned(),
        Err(rejected) => rejected.to_string(),
    }
}

/// The certificate with one text in place of another.
fn with(from: &str, to: &str) -> String {
    assert!(CERTIFICATE.contains(from), "{from}");
    message(&CERTIFICATE.replacen(from, to, 1))
}

#[test]
fn truncated() {
    assert_eq!(message(CERTIFICATE), "accepted");
    let problem = problem();
    let text = CERTIFICATE.replace("MODEL", &problem.fingerprint());
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        let read = read(&problem, &text.as_bytes()[..end]);
        assert!(matches!(read, Err(Rejected::Malformed(_))), "{end}: {read:?}");
    }
}

#[test]
fn malformed_evidence_is_refused() {
    for (from, to, why) in [
        ("cuba-certificate", "certificate", "format `certificate`, which is neither cuba-certificate nor cuba-trace"),
        ("\"version\": 1", "\"version\": 2", "version 2; this checker reads version 1"),
        ("[\"0\"]", "[\"1\"]", "the model has no shared state `1`"),
        ("\"b\"]", "\"c\"]", "the model has no stack symbol `c`"),
        ("[\"-\", ", "[", "symbols: the first is not `-`, the empty word"),
        ("[[1]]", "[[0]]", "groups: threads are counted from 1"),
        ("[[1]]", "[[2]]", "groups: not every thread is in exactly one group"),
        ("[[1]]", "[[1], [1]]", "groups: not every thread of the model is in exactly one group"),
        ("[0, 1, 1]", "[2, 1, 1]", "automaton[0] is not 0 or 1 and then pairs of a symbol and a state"),
        ("[0, 1, 1]", "[0, 1]", "automaton[0] is not 0 or 1 and then pairs of a symbol and a state"),
        ("[0, 1, 1]", "[]", "automaton[0] is not 0 or 1 and then pairs of a symbol and a state"),
        ("[0, 1, 1]", "[0, 0, 1]", "automaton[0] is not 0 or 1 and then pairs of a symbol and a state"),
        ("[0, 1, 1]", "[0, 3, 1]", "automaton[0] is not 0 or 1 and then pairs of a symbol and a state"),
        ("[0, 1, 1]", "[0, 1, 3]", "automaton[0] leads to a state that does not exist"),
        ("[0, 1, 1]", "[0, 1, 1, 1, 2]", "automaton[0] has two transitions with one symbol, or they are not sorted"),
        // States in a cycle without an accepting state.
        ("[1, 2, 1]", "[0, 2, 1]", "automaton[0] leads to no accepting state"),
        ("[0, 2]]", "[0, 3]]", "tuples[1]: a number without a shared state or a language"),
        ("[0, 2]]", "[1, 2]]", "tuples[1] is not a shared state and one language for each thread"),
        ("[0, 2]]", "[0, 2, 2]]", "tuples[1] is not a shared state and one language for each thread"),
        ("[0, 2]]", "[]]", "tuples[1] is not a shared state and one language for each thread"),
        ("\"groups\"", "\"group\"", "unknown field `group`"),
        ("\"groups\": [[1]], ", "", "the member `groups` is missing"),
        ("\"groups\": [[1]], ", "\"groups\": [[1]], \"groups\": [[1]], ", "duplicate field `groups`"),
        ("[0, 2]]", "[0, -1]]", "invalid value: integer `-1`"),
        ("[0, 2]]", "[0, 2.5]]", "invalid type: floating point `2.5`"),
        ("[0, 2]]", "[0, 99999999999999999999999]]", "invalid type: floating point"),
        ("[0, 2]]", "[0, 4294967296]]", "invalid value: integer `4294967296`"),
        ("[0, 2]]", "[0, 4294967295]]", "tuples[1]: a number without a shared state or a language"),
        ("[0, 1, 1]", "[0, 1, 4294967295]", "automaton[0] leads to a state that does not exist"),
        ("[0, 2]]", "[0, 2]]]", "expected `,` or `}`"),
        ("[0, 2]]}", "[0, 2]]} x", "trailing characters"),
        ("[0, 2]]}", "[0, 2]], \"bad\": \"0|-\"}", "members of a certificate and of a trace"),
    ] {
        let message = with(from, to);
        assert!(message.starts_with(&format!("malformed: {why}")), "{from} -> {to}: {message}");
    }
    for text in ["", "null", "[]", "1e999", "{}", "\"cuba-certificate\"", "\u{feff}{}"] {
        assert!(message(text).starts_with("malformed: "), "{text}");
    }
}

#[test]
fn deep_nesting() {
    for open in ["[", "{\"tuples\":"] {
        let deep = open.repeat(1_000_000);
        assert!(message(&deep).starts_with("malformed: "));
        let message = with("[[0, 0], [0, 2]]", &deep);
        assert!(message.starts_with("malformed: "), "{message}");
    }
}

/// Texts without an end are refused.
#[test]
fn endless_texts() {
    let message = |start: &str, rest: &[u8]| {
        let text = start.as_bytes().chain(Endless { bytes: rest.to_vec(), at: 0 });
        read(&problem(), text).unwrap_err().to_string()
    };
    for (start, rest, why) in [
        ("{\"format\": \"", "x", "a string of more than 16777216 bytes"),
        ("{\"shared\": [\"\\\"", ", \\\"", "a string of more than 16777216 bytes"),
        ("", " ", "a row of blanks of more than 1048576 bytes"),
        ("{\"version\": 1, \"tuples\": [[0", "\n", "a row of blanks of more than 1048576 bytes"),
        ("{\"symbols\": [", "\"\",", "more than 2097152 names"),
    ] {
        let message = message(start, rest.as_bytes());
        assert!(message.starts_with(&format!("malformed: {why}")), "{start}: {message}");
    }
}

/// A string may be long. The text after it is read.
#[test]
fn long_strings() {
    let source = "x".repeat(1 << 23);
    let message = with("\"groups\"", &format!("\"proved_by\": \"{source}\",   \"groups\""));
    assert_eq!(message, "accepted");
}

/// The same bytes, repeated without an end.
struct Endless {
    bytes: Vec<u8>,
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        for byte in &mut *buffer {
            *byte = self.bytes[self.at];
            self.at = (self.at + 1) % self.bytes.len();
        }
        Ok(buffer.len())
    }
}

/// Messages about long texts are short.
#[test]
fn long_names() {
    let message = with("\"groups\"", &format!("\"{}\"", "x".repeat(1_000_000)));
    assert!(message.starts_with("malformed: unknown field `xxx") && message.contains("x…"), "{message}");
    assert!(message.len() < 1000 && message.contains("at line 2 column"), "{message}");
}

/// Messages escape characters that control a terminal, also in names of members.
#[test]
fn characters_that_control_a_terminal_are_escaped() {
    for hostile in ["\u{1b}]0;x\u{7}", "\u{202e}", "\u{9b}2J", "\u{2028}", "\u{2066}"] {
        // In JSON, control characters must be escaped; other characters need not.
        let written = serde_json::to_string(hostile).unwrap();
        let inner = &written[1..written.len() - 1];
        for (from, to) in [
            ("\"groups\"", &*written),
            ("\"groups\"", &format!("{written}: 1, \"groups\"")),
            ("\"cuba-certificate\"", &written),
            ("\"MODEL\"", &written),
            ("\"0\"", &written),
            ("\"b\"]", &format!("{written}]")),
            ("[[1]]", &written),
            ("\"version\": 1", &format!("\"version\": {written}")),
            ("[[0, 0], [0, 2]]", &format!("[], \"initial{inner}\": 1")),
        ] {
            let message = with(from, to);
            assert!(message != "accepted" && message.chars().all(is_printable), "{message:?}");
        }
    }
}

/// A few characters can describe a thousand equal stacks, and each step has a state.
#[cfg(target_os = "linux")]
#[test]
fn repetition_does_not_fill_the_memory() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let model =
        "shared 0 1; init 0|a*1024; bad 1|a*1024; thread A * 1024 { symbols a; (0,a) -> (0,a); (0,a) -> (1,a) }";
    let problem: Problem = model.parse().unwrap();
    let step = |to: u32| {
        let action = format!(
            r#"{{"kind": "overwrite", "from": {{"shared": "0", "word": ["a"]}}, "to": {{"shared": "{to}", "word": ["a"]}}}}"#
        );
        format!(r#"{{"action": {action}, "state": "{to}|a*1024"}}"#)
    };
    let mut steps = vec![step(0); 4000];
    steps.push(step(1));
    let text = format!(
        r#"{{"format": "cuba-trace", "version": 1, "model": "{}", "context_count": 1, "initial": "0|a*1024",
        "state": "1|a*1024", "bad": "{}",
        "contexts": [{{"thread": 1, "thread_name": "{}", "steps": [{}]}}]}}"#,
        problem.fingerprint(),
        problem.system().text(&problem.property().bad[0]),
        problem.system().thread_name(ThreadId(0)),
        steps.join(",")
    );
    fs::write(folder.join("repetition.cpds"), model).unwrap();
    fs::write(folder.join("repetition.json"), text).unwrap();
    // All states together would take more than 200 MB.
    let script = "ulimit -v 100000; exec \"$0\" repetition.cpds repetition.json";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_cuba-check")]).current_dir(folder);
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stdout);
    assert_eq!(message, "accepted: unsafe: a trace with 1 context leads to a bad state\n", "{output:?}");
}

/// The format has no lengths, so no text can claim more than it contains. The text is read once.
#[test]
fn a_large_automaton() {
    let mut states = String::from("[0, 1, 1], [1, 2, 1], [0, 2, 1]");
    for state in 3..100_000 {
        write!(states, ", [0, 1, {}]", state - 1).unwrap();
    }
    assert_eq!(with("[0, 1, 1], [1, 2, 1], [0, 2, 1]", &states), "accepted");
}

/// Inclusion of a language in a union may take exponential time. Then the check ends without a
/// result.
#[test]
fn a_hard_union() {
    let problem: Problem = "shared 0; init 0|a; thread A { symbols a b; (0,a) -> (0,-) }".parse().unwrap();
    let [a, b] = [0, 1].map(Symbol);
    let check_with = |primes: &[u32], steps: u64| {
        // b* with a before it, and for each prime n: b^m, unless m + 1 is a multiple of n.
        let mut automaton = Automaton::default();
        automaton.push(true, [(b, 0)]);
        automaton.push(false, [(a, 0)]);
        let mut tuples = vec![0, 1];
        for n in primes {
            let start = u32::try_from(automaton.len()).unwrap();
            tuples.extend([0, start]);
            for i in 0..*n {
                automaton.push(i + 1 < *n, [(b, start + (i + 1) % n)]);
            }
        }
        let groups = vec![vec![ThreadId(0)]];
        let evidence = Evidence::Certificate(Certificate { groups, automaton, tuples, visible: None });
        check(&problem, &evidence, Claim::Verdict, &|taken| taken < steps)
    };
    let message = "tuples[0], thread 1 (A), action (0,a) → (0,ε): the image is not covered".to_owned();
    assert_eq!(check_with(&[2, 3, 5, 7], 1_000_000), Err(Rejected::Violated(Condition::Step, message)));
    let primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
    assert_eq!(check_with(&primes, 1_000_000), Err(Rejected::Stopped));
}

/// Many threads, and many tuples that nearly cover each other. The check may be long, but respects
/// its limit.
#[test]
fn a_wide_certificate() {
    let problem: Problem =
        "shared 0; init 0|a*50; thread A * 50 { symbols a b; (0,a) -> (0,b); (0,b) -> (0,-) }".parse().unwrap();
    let [a, b] = [0, 1].map(Symbol);
    let mut automaton = Automaton::default();
    automaton.push(true, []);
    automaton.push(false, [(a, 0)]);
    automaton.push(false, [(b, 0)]);
    automaton.push(false, [(a, 0), (b, 0)]);
    automaton.push(true, [(a, 0), (b, 0)]);
    let mut random = 1_u32;
    let mut tuples = Vec::new();
    for number in 0..500 {
        tuples.push(0);
        for _ in 0..50 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            tuples.push(if number == 0 { 1 } else { 1 + (random >> 16) % 4 });
        }
    }
    let single: Vec<_> = (0..50).map(|thread| vec![ThreadId(thread)]).collect();
    for groups in [single.clone(), vec![single.concat()]] {
        let (automaton, tuples) = (automaton.clone(), tuples.clone());
        let evidence = Evidence::Certificate(Certificate { groups, automaton, tuples, visible: None });
        assert!(check(&problem, &evidence, Claim::Verdict, &|steps| steps < 1_000_000).is_err());
    }
}

/// An empty certificate, and an empty trace.
#[test]
fn nothing() {
    assert_eq!(
        with("[[0, 0], [0, 2]]", "[]"),
        "rejected: condition (i), initial states: no tuple contains the initial state ⟨0|a⟩"
    );
    assert_eq!(
        message(
            r#"{"format": "cuba-trace", "version": 1, "model": "MODEL", "context_count": 0, "contexts": [],
            "bad": "0|-", "state": "0|a", "initial": "0|a"}"#
        ),
        "rejected: condition (iii), bad states: `bad` is not a bad pattern of the model, or the last state does not fit it"
    );
}

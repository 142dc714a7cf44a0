//! Models that try to exhaust time or memory. Each one is refused with a clear message, or answered
//! if it is smaller than it seems.
//!
//! In the tests, the models are just large enough to be refused. `just hostile` uses much larger
//! ones and measures.

use crate::common::cuba;
use cpds_testing::corpus::repository;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A command, the files that it reads, and its output.
struct Case {
    what: &'static str,
    files: Vec<(&'static str, Vec<u8>)>,
    args: Vec<String>,
    says: &'static str,
}

impl Case {
    fn new(what: &'static str, name: &'static str, text: impl Into<Vec<u8>>, says: &'static str) -> Case {
        Case { what, files: vec![(name, text.into())], args: vec!["show".to_owned(), name.to_owned()], says }
    }

    /// Adds another file.
    fn and(mut self, name: &'static str, text: impl Into<Vec<u8>>) -> Case {
        self.files.push((name, text.into()));
        self
    }

    /// Sets the arguments.
    fn with(self, args: &str) -> Case {
        Case { args: args.split(' ').map(str::to_owned).collect(), ..self }
    }
}

/// The text once for each number, which replaces `{}`.
fn each(count: usize, template: &str) -> String {
    let (before, after) = template.split_once("{}").expect("a place for the number");
    (0..count).fold(String::new(), |mut text, number| {
        write!(text, "{before}{number}{after}").expect("writing to a string");
        text
    })
}

const THREAD: &str = "thread A { symbols a b; (0,a) -> (0,b) }\n";

/// Systems of size `n`.
fn systems(n: usize) -> Vec<Case> {
    let cpds = |what, text: String, says| Case::new(what, "m.cpds", text, says);
    let x = "x".repeat(n);
    vec![
        cpds(
            "2^32 shared states",
            format!("shared 0..4294967295\ninit 0|a\n{THREAD}"),
            "error: too many shared states",
        ),
        cpds(
            "2^32 symbols",
            "shared 0\ninit 0|a\nthread A { symbols a 0..4294967295 }".to_owned(),
            "error: too many stack symbols",
        ),
        cpds("a long name", format!("shared {x}\ninit 0|a\n{THREAD}"), "bytes\n"),
        cpds("a long unknown name", format!("shared 0\ninit {x}|a\n{THREAD}"), "error: unknown shared state `xxx"),
        cpds("a long label", format!("shared 0\ninit 0|a\nthread A {{ symbols a; {x}: (0,a) -> (0,a) }}"), "bytes\n"),
        cpds(
            "names with dots",
            format!("shared 0\ninit 0|{}a\n{THREAD}", "a.".repeat(n / 2)),
            "error: unknown stack symbol `a.a.",
        ),
        cpds(
            "2^64 threads",
            "shared 0\ninit 0|a\nthread A * 18446744073709551615 { symbols a }".to_owned(),
            "error: too many threads",
        ),
        cpds(
            "many threads",
            format!("shared 0\ninit 0|a\n{}", each(n / 50, "thread A{} { symbols a }\n")),
            "error: too many threads",
        ),
        cpds(
            "2^63 stacks",
            format!("shared 0\ninit 0|a*9000000000000000000\n{THREAD}"),
            "error: a state with 9000000000000000000 stacks",
        ),
        cpds(
            "a high stack",
            format!("shared 0\ninit 0|{}\n{THREAD}", "a ".repeat((n / 2).max(1_100_000))),
            "error: too many initial states, or too high stacks",
        ),
        cpds("many brackets", format!("shared 0\nthread A {}", "{".repeat(n)), "error: "),
        cpds("many parentheses", format!("shared 0\n{}", "(".repeat(n)), "error: an action outside a thread"),
        cpds("nothing but mistakes", "x\n".repeat(n), "more errors"),
        cpds(
            "mistakes in one line",
            format!("shared 0; {}", "shared 0; ".repeat(n / 10)),
            "error: shared state `0` is declared twice",
        ),
        cpds("blanks", " ".repeat(n), "error: the file declares nothing"),
        cpds("line ends", "\n".repeat(n), "error: the file declares nothing"),
        cpds("zeros", "\0".repeat(n), "error: expected `shared`, `init`, `bad` or `thread`, found `\\u{0}`"),
        Case::new("no text", "m.cpds", vec![0xff; n], "error: the file is not UTF-8 text"),
        Case::new("a large file", "m.cpds", vec![b' '; (16 << 20) + 1], "error: `m.cpds` is larger than 16 MiB"),
        Case::new("2^64 shared states", "m.pds", "18446744073709551615\nPDA 0 1\n", "error: too many shared states")
            .and("m.init", "0|0"),
        Case::new("2^32 symbols", "m.pds", "1\nPDA 0 4294967295\n", "error: too many stack symbols")
            .and("m.init", "0|0"),
        Case::new("many threads", "m.pds", format!("1\n{}", "PDA 0 1\n".repeat(n / 10)), "error: too many threads")
            .and("m.init", "0|0"),
        Case::new(
            "a long action",
            "m.pds",
            format!("1\nPDA 0 1\n0 0 -> 0 {}", "0 ".repeat(n / 2)),
            "error: an action writes at most two symbols",
        )
        .and("m.init", "0|0"),
        Case::new("a high stack", "m.pds", "1\nPDA 0 1\n", "error: too many initial states, or too high stacks")
            .and("m.init", format!("0|{}0", "0.".repeat((n / 2 - 1).max(1_100_000)))),
        Case::new("a long number", "m.pds", format!("1\nPDA 0 {}", "1".repeat(n)), "is too large a number")
            .and("m.init", "0|0"),
        Case::new(
            "many undeclared symbols",
            "m.pds",
            format!("1\nPDA 0 1\n{}", each((n / 20).max(1_050_000), "0 {} -> 0 0\n")),
            "error: too many stack symbols",
        )
        .and("m.init", "0|0"),
        Case::new(
            "many actions, and a mistake",
            "m.pds",
            format!("1\nPDA 0 1\n{}x", "0 0 -> 0 0\n".repeat(n / 11)),
            "error: expected `PDA` or an action",
        )
        .and("m.init", "0|0"),
    ]
}

/// Programs of size `n`.
fn programs(n: usize) -> Vec<Case> {
    const TOO_LARGE: &str = "error: too large a program";
    let bp = |what, text: String, says| Case::new(what, "m.bp", text, says);
    let main = |body: String| format!("decl x; void main() {{ {body} }}");
    // As many words as a program may have, this many at a time.
    let most = |each: usize| 500_000 / each;
    vec![
        bp("many parentheses", main(format!("x := {}", "(".repeat(n))), "error: "),
        bp("nested ifs", main("if (*) { ".repeat(n / 10)), "error: "),
        bp("nested ifs, not too many words", main("if (*) { ".repeat(most(5))), "error: nested too deeply"),
        bp("nested blocks, not too many words", main("atomic { ".repeat(most(2))), "error: nested too deeply"),
        bp(
            "a long condition, not too many words",
            main(format!("x := {}x;", "x => ".repeat(most(2)))),
            "error: nested too deeply",
        ),
        bp("many statements", main("skip; ".repeat(n / 5)), TOO_LARGE),
        bp(
            "many enforced conditions",
            format!("decl x := 1; void main() begin {} assert x; end", "enforce x; ".repeat(most(3))),
            "\ninit ",
        ),
        bp("many labels", main("L: ; ".repeat(most(3))), "error: label `L` occurs twice in one function"),
        bp("a label again and again", main("L: ".repeat(most(2)) + "skip;"), "\ninit "),
        bp(
            "every label from every label",
            main(each(450, &format!("L{{}}: goto {};", each(450, "L{},") + "L0"))),
            "\ninit ",
        ),
        bp(
            "a jump to many labels",
            main(format!("goto {}L0; {}", each(most(7), "L{},"), each(most(7), "L{}: skip;"))),
            "\ninit ",
        ),
        bp("many mistakes", main("x; ".repeat(most(2))), "more errors"),
        bp(
            "many variables",
            format!("decl {}; void main() {{ }}", each(most(2), "x{},") + "x"),
            "error: more than 16384 shared variables",
        ),
        bp("many locks", main(each(most(5), "lock(l{}); ")), "error: more than 4096 locks"),
        bp("many functions", each(most(6), "void f{}() { }\n") + "void main() { }", "\ninit "),
        bp(
            "a long chain of calls",
            each(most(12), "void f{}() { call g(); }\n") + "void g() { } void main() { }",
            "\ninit ",
        ),
        bp(
            "2^30 results",
            "bool<1000000000> f() { } void main() { }".to_owned(),
            "error: expected a number of results",
        ),
        bp("2^32 instances", main("assert x;".to_owned()), "error: more than 1024 threads")
            .with("show m.bp --instances main=4000000000"),
        bp(
            "2^32 threads",
            format!("void f() {{ }} {}", main("while (*) { start_thread f(); }".to_owned())),
            "error: more than 1024 threads",
        )
        .with("show m.bp --threads 4000000000"),
        bp("a long comment", format!("/*{}", " ".repeat(n)), "a comment without an end"),
        bp("a long name", format!("decl {};", "x".repeat(n)), "error: a name of"),
    ]
}

/// TOML files with expected answers, of size `n`.
fn answers(n: usize) -> Vec<Case> {
    let toml = |what, text: String, says| {
        let model = format!("shared 0\ninit 0|a\nbad 0|b\n{THREAD}");
        Case::new(what, "m.toml", text, says).and("m.cpds", model).with("bench m.cpds")
    };
    vec![
        toml("nested lists", format!("visible = {}", "[".repeat(n / 10)), "error: "),
        toml("a long key", format!("{} = 1", "x".repeat(n)), "error: "),
        toml("a key of many parts", format!("{}a = 1", "a.".repeat(n / 10)), "error: "),
        toml("many runs", format!("verdict = 'safe'\n{}", "[[run]]\n".repeat(n / 10)), "error: "),
    ]
}

#[test]
fn systems_that_are_refused() {
    systems(100_000).iter().for_each(is_answered);
}

#[test]
fn programs_that_are_refused() {
    programs(1_400_000).iter().for_each(is_answered);
}

#[test]
fn answers_that_are_refused() {
    answers(100_000).iter().for_each(is_answered);
}

fn is_answered(case: &Case) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), case);
    let args: Vec<&str> = case.args.iter().map(String::as_str).collect();
    let ran = cuba(folder.path(), &args);
    assert!(ran.stderr.contains(case.says) || ran.stdout.contains(case.says), "{}: {}", case.what, brief(&ran.stderr));
    assert!(ran.stderr.len() < 100_000, "{}: {}", case.what, brief(&ran.stderr));
}

fn brief(text: &str) -> String {
    text.chars().take(1000).collect()
}

fn write(folder: &Path, case: &Case) {
    for (name, text) in &case.files {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// Prints the time and memory of each command, and checks that none needs more than a second or 200
/// MB.
#[test]
#[ignore = "for the release build: `just hostile`"]
fn in_full() {
    let folder = tempfile::Builder::new().tempdir_in(repository().join("target")).unwrap();
    let mut too_much = Vec::new();
    for case in [systems(16_500_000), programs(16_500_000), answers(16_500_000)].into_iter().flatten() {
        write(folder.path(), &case);
        let (seconds, megabytes) = measured(folder.path(), &case.args);
        println!("{:8} {:40} {seconds:6.2} s {megabytes:6} MB", case.files[0].0, case.what);
        if seconds > 1.0 || megabytes > 200 {
            too_much.push(case.what);
        }
    }
    assert!(too_much.is_empty(), "{too_much:?}");
}

/// The seconds and the peak megabytes of a command, sampled every millisecond.
fn measured(folder: &Path, args: &[String]) -> (f64, u64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuba"));
    let start = Instant::now();
    let mut child = command.args(args).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut kilobytes = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        kilobytes = line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(kilobytes);
        sleep(Duration::from_millis(1));
    }
    (start.elapsed().as_secs_f64(), kilobytes / 1000)
}

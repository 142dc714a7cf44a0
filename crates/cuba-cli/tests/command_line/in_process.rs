//! Several runs within one process, one after the other and at the same time.

use cpds_testing::corpus::repository;
use cuba_cli::running::console::Console;
use cuba_cli::verbs::command_line::run;
use std::ffi::OsString;
use std::thread;

/// The exit code, standard output and standard error of a command.
fn printed(words: &[&str]) -> (u8, String, String) {
    let folder = repository();
    let path = |word: &&str| match word.strip_prefix("models/") {
        Some(_) => folder.join(word).into_os_string(),
        None => OsString::from(word),
    };
    let arguments = ["cuba"].iter().chain(words).map(path).collect();
    let (console, captured) = Console::captured();
    let code = run(arguments, console);
    (code, captured.stdout(), captured.stderr())
}

const UNSAFE: [&str; 2] = ["verify", "models/paper/fig1.cpds"];
const SAFE: [&str; 2] = ["verify", "models/squeeze/get-and-put.cpds"];
const CONVERGED: [&str; 5] = ["reach", "models/paper/fig1.cpds", "--quiet", "--memory", "1G"];
const STOPPED: [&str; 4] = ["verify", "models/squeeze/mirror.cpds", "--max-contexts", "3"];
const BAD: [&str; 2] = ["show", "models/nothing.cpds"];

/// The exit code of each command, and what its output has.
const EXPECTED: [(&[&str], u8, &str); 5] = [
    (&UNSAFE, 10, "unsafe: the bad state"),
    (&SAFE, 0, "safe: no bad state is reachable"),
    (&CONVERGED, 0, "converged: T(R) has 8 visible states"),
    (&STOPPED, 5, "unknown: safe up to 3 contexts"),
    (&BAD, 2, ""),
];

fn check((words, code, text): (&[&str], u8, &str)) -> (u8, String, String) {
    let found = printed(words);
    assert_eq!(found.0, code, "{words:?}: {}{}", found.1, found.2);
    assert!(found.1.contains(text), "{words:?}: {}", found.1);
    found
}

/// A run has no effect on the next one: the same commands print the same again.
#[test]
fn one_after_the_other() {
    let first = EXPECTED.map(check);
    let second = EXPECTED.map(check);
    assert_eq!(first, second);
    assert!(first[4].2.contains("there is no file"), "{}", first[4].2);
    assert_eq!(printed(&["--version"]), (0, format!("cuba {}\n", env!("CARGO_PKG_VERSION")), String::new()));
}

/// The end of one run does not end another one, and each prints to its own streams.
#[test]
fn at_the_same_time() {
    let alone = EXPECTED.map(check);
    thread::scope(|scope| {
        let runs: Vec<_> = (0..4).flat_map(|_| EXPECTED.map(|expected| scope.spawn(move || check(expected)))).collect();
        for (number, run) in runs.into_iter().enumerate() {
            assert_eq!(run.join().unwrap(), alone[number % EXPECTED.len()]);
        }
    });
}

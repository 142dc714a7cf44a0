//! Tests common to all verbs: exit codes, help, warnings, JSON.

use crate::common::{cuba, done, fits, in_repository, words};
use cpds_testing::corpus::models;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

#[test]
fn json_fits_its_schema_on_every_model() {
    for model in models() {
        let arguments: Vec<&str> = model.arguments.iter().map(String::as_str).collect();
        let check = |schema: &str, verb: &str, options: &[&str]| -> Value {
            let args = [&[verb], &*arguments, &["--json"], options].concat();
            let object = serde_json::from_str(&in_repository(&args).stdout).unwrap();
            fits(schema, &object, &args.join(" "));
            object
        };
        let system = model.problem.system();
        check("show", "show", &[]);
        let state = system.text(&system.initial()[0]).to_string();
        check("show-successors", "show", &["--successors", &state]);
        check("show-psa", "show", &["--psa", "1"]);
        check("show-psa", "show", &["--psa", "1", "--from", &state]);
        check("fcr", "fcr", &[]);
        check("convert", "convert", &["--to", "pds"]);
        // Undecided models would never end, and some others list hundreds of levels.
        let limits: &[&str] = if model.expected.undecided.is_some() { &["--max-contexts", "9"] } else { &[] };
        let few_levels = ["--max-contexts", "9"];
        // The lists of the largest models are too long.
        let states: &[&str] = if model.expected.visible_total < Some(5000) { &["--states"] } else { &[] };
        check("analysis", "reach", &[states, &few_levels].concat());
        check("analysis", "reach", &[&["--full"], &few_levels[..]].concat());
        let verified = check("analysis", "verify", limits);
        match model.expected.contexts {
            Some(contexts) => {
                assert_eq!((&verified["verdict"], &verified["contexts"]), (&"unsafe".into(), &contexts.into()));
            }
            None if model.expected.undecided.is_some() => assert_eq!(verified["verdict"], "unknown", "{}", model.name),
            None => {
                assert_eq!(verified["verdict"], "safe", "{}", model.name);
                assert_eq!(verified["proved_by"].as_str(), model.expected.proved_by.as_deref(), "{}", model.name);
            }
        }
        if verified["verdict"] == "unsafe" {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("trace.json");
            in_repository(&[&["verify"], &*arguments, &["--trace", path.to_str().unwrap()]].concat());
            fits("trace", &serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap(), &model.name);
        }
    }
}

#[test]
fn warnings_go_to_standard_error_and_into_the_json() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.pds"), "2\nPDA 1 2\n0 1 -> 1 2\n0 01 -> 1 2\n1 2 -> 0 9 1\n1 9 -> 1 8\n").unwrap();
    fs::write(folder.path().join("m.init"), "0|2.1\n0|2.1\n").unwrap();
    let ran = cuba(folder.path(), &["show", "m.pds", "--json"]);
    assert_eq!(ran.code, 0);
    assert_snapshot!(ran.stderr, @"
    warning: action given twice
     --> m.pds:4:1
      |
    3 | 0 1 -> 1 2
      | ---------- first given here
    4 | 0 01 -> 1 2
      | ^^^^^^^^^^^ counts once
      |
      = help: remove one of them

    warning: thread 1 mentions symbols outside its declared range: 9 8
     --> m.pds:5:10
      |
    2 | PDA 1 2
      |     --- the declared range
    ...
    5 | 1 2 -> 0 9 1
      |          ^ taken as one of its symbols
      |
      = help: declare a range that covers all symbols

    warning: initial state given twice
     --> m.init:2:1
      |
    1 | 0|2.1
      | ----- first given here
    2 | 0|2.1
      | ^^^^^ counts once
      |
      = help: remove one of them
    ");
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_snapshot!(serde_json::to_string_pretty(&object["warnings"]).unwrap(), @r#"
    [
      {
        "column": 1,
        "file": "m.pds",
        "line": 4,
        "message": "action given twice"
      },
      {
        "column": 10,
        "file": "m.pds",
        "line": 5,
        "message": "thread 1 mentions symbols outside its declared range: 9 8"
      },
      {
        "column": 1,
        "file": "m.init",
        "line": 2,
        "message": "initial state given twice"
      }
    ]
    "#);
    assert_eq!(object["model"]["initial"], serde_json::json!(["0|1 2"]));
}

/// The exit code does not depend on whether the messages can be printed.
#[cfg(target_os = "linux")]
#[test]
fn closed_and_full_streams() {
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.cpds"), "nonsense").unwrap();
    fs::write(folder.path().join("good.pds"), "1\nPDA 0 0\n0 9 -> 0 -\n").unwrap();
    fs::write(folder.path().join("good.init"), "0|0\n").unwrap();
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let command = |file: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cuba"));
        command.args(["show", file]).current_dir(folder.path());
        command
    };
    assert_eq!(command("bad.cpds").stderr(full()).output().unwrap().status.code(), Some(2));
    let warned = command("good.pds").stderr(full()).output().unwrap();
    assert_eq!(warned.status.code(), Some(0));
    assert!(warned.stdout.starts_with(b"# good.pds"));
    let lost = command("good.pds").stdout(full()).output().unwrap();
    assert_eq!(lost.status.code(), Some(1));
    assert!(String::from_utf8(lost.stderr).unwrap().contains("error: cannot write to standard output"));
}

#[test]
fn a_wrong_command_line_is_exit_code_1() {
    for args in [&["shwo", "x.cpds"][..], &[], &["show"], &["convert", "x.cpds"], &["convert", "x.cpds", "--to", "xml"]]
    {
        let ran = in_repository(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}");
        assert!(ran.stderr.contains("--help"), "{}", ran.stderr);
    }
    assert_snapshot!(in_repository(&["shwo"]).stderr, @"
    error: unrecognized subcommand 'shwo'

      tip: a similar subcommand exists: 'show'

    Usage: cuba [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn help_has_examples_that_work() {
    let mut tried = 0;
    for verb in ["", "verify", "reach", "fcr", "show", "convert", "bench"] {
        let help = done(&[verb, "--help"].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>());
        let examples = help.lines().skip_while(|line| *line != "Examples:");
        assert!(examples.clone().all(|line| !line.contains("cuba") || line.chars().count() < 80), "they fit: {help}");
        let examples = examples.filter(|line| line.trim_start().starts_with("cuba ") && line.contains("models/"));
        for example in examples {
            let command = example.split("  ").find(|part| !part.is_empty()).expect("a command");
            let command = command.split(" > ").next().expect("text before the command goes to the output");
            let args = &words(command)[1..];
            if !["-o", "--trace", "--certificate", "--report", "--plot"].iter().any(|option| args.contains(option)) {
                let ran = in_repository(args);
                assert!([0, 5, 10].contains(&ran.code) && ran.stderr.is_empty(), "{args:?}: {}", ran.stderr);
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 36);
}

#[test]
fn short_help_has_a_line_for_each_option() {
    for verb in ["verify", "reach", "fcr", "show", "convert", "bench"] {
        let [short, long] = ["-h", "--help"].map(|help| done(&[verb, help]));
        assert!(short.len() < long.len() && !short.contains("Examples:"), "{verb}");
        assert!(short.lines().all(|line| !line.starts_with(&" ".repeat(9))), "a line goes on in the next: {short}");
    }
    assert_snapshot!(done(&["show", "-h"]), @"
    Print a model, the steps from a state or a store automaton, or draw the reachable states

    Usage: cuba show [OPTIONS] <FILE>

    Arguments:
      <FILE>  The model: a .bp, .cpds or .pds file

    Options:
          --successors [<STATE>]  Print every step from this state, or from the initial state
          --psa <THREAD>          Print the store automaton of this thread
          --from <STATE>          With --psa: start in this state
          --dot                   Draw the reachable visible states for Graphviz
          --svg                   Draw the reachable visible states as SVG
          --max-contexts <K>      With --dot or --svg: stop after K contexts [default: 50]
          --json                  Print JSON
          --color <WHEN>          Use colours [default: auto] [possible values: auto, always, never]
      -q, --quiet                 Suppress warnings, notes and progress
      -h, --help                  Print help (see more with '--help')

    Model:
          --init <STATE>       Replace the initial states of the model by this state
          --target <PATTERN>   Replace the bad patterns of the model by this pattern
          --instances <F=N,…>  Start so many threads of these functions or templates
          --threads <N>        Allow at most N created threads of a .bp file at a time
          --label <LABEL>      Make a state bad if a thread is at this label of a .bp file

    Limits:
          --memory <SIZE>   Stop when the process needs more memory than this
          --timeout <TIME>  Stop after this time and print the results so far
    ");
}

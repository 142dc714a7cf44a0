//! The verbs as a user runs them, on the models of the collection.

mod common;

use common::{Ran, cuba};
use cpds_testing::corpus::{artifact, files, models, repository};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::path::Path;

fn in_repository(args: &[&str]) -> Ran {
    cuba(&repository(), args)
}

fn done(args: &[&str]) -> String {
    let ran = in_repository(args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    ran.stdout
}

#[test]
fn show_reads_a_model_back_and_sums_it_up() {
    assert_snapshot!(done(&["show", "models/paper/fig1.cpds"]), @"
    # models/paper/fig1.cpds
    shared 0..3
    init 0|1,4
    bad 0|1,6

    thread P1 {
      symbols 1 2
      f1: (0,1) -> (1,2)
      f2: (3,2) -> (0,1)
    }

    thread P2 {
      symbols 4..6
      b1: (0,4) -> (0,-)
      b2: (1,4) -> (2,5)
      b3: (2,5) -> (3,4 6)
    }

    # |Q| = 4, 2 threads, 1 initial state, 1 bad pattern
    # no symmetric threads
    # thread  copies  |Σ|  actions  pop  overwrite  push  empty-overwrite  empty-push
    # P1           1    2        2    0          2     0                0           0
    # P2           1    3        3    1          1     1                0           0
    ");
}

#[test]
fn show_names_symmetric_groups_and_empty_stack_actions() {
    assert_snapshot!(done(&["show", "models/tiny/symmetric.cpds"]), @"
    # models/tiny/symmetric.cpds
    shared free taken
    init free|out,out,out,out
    bad *|in,in,*,*

    thread worker * 4 {
      symbols out in
      take: (free,out) -> (taken,in)
      give: (taken,in) -> (free,out)
    }

    # |Q| = 2, 4 threads, 1 initial state, 1 bad pattern
    # symmetric group: {worker#1 worker#2 worker#3 worker#4}
    # thread  copies  |Σ|  actions  pop  overwrite  push  empty-overwrite  empty-push
    # worker       4    2        2    0          2     0                0           0
    ");
    assert_snapshot!(done(&["show", "models/tiny/empty-stack.cpds"]), @"
    # models/tiny/empty-stack.cpds
    shared idle asked
    init idle|-,-
    bad asked|reply,-

    thread server {
      symbols serve reply
      take: (asked,-) -> (asked,serve)
      work: (asked,serve) -> (idle,reply)
      done: (idle,reply) -> (idle,-)
    }

    thread client {
      ask: (idle,-) -> (asked,-)
    }

    # |Q| = 2, 2 threads, 1 initial state, 1 bad pattern
    # no symmetric threads
    # thread  copies  |Σ|  actions  pop  overwrite  push  empty-overwrite  empty-push
    # server       1    2        3    1          1     0                0           1
    # client       1    0        1    0          0     0                1           0
    ");
}

#[test]
fn successors_by_thread_in_the_papers_notation() {
    assert_snapshot!(done(&["show", "models/paper/fig1.cpds", "--successors", "0|1,4 6"]), @"
    ⟨0|1,4 6⟩ has 2 successors
      P1  f1:  (0,1) → (1,2)  ⟨1|2,4 6⟩
      P2  b1:  (0,4) → (0,ε)  ⟨0|1,6⟩
    ");
    assert_snapshot!(done(&["show", "models/paper/fig2.cpds", "--successors", "⟨⊥|2,6⟩"]), @"
    ⟨⊥|2,6⟩ has 4 successors
      foo  f0:  (⊥,2) → (0,2)  ⟨0|2,6⟩
      foo  f0:  (⊥,2) → (1,2)  ⟨1|2,6⟩
      bar  b0:  (⊥,6) → (0,6)  ⟨0|2,6⟩
      bar  b0:  (⊥,6) → (1,6)  ⟨1|2,6⟩
    ");
    assert_snapshot!(done(&["show", "models/tiny/empty-stack.cpds", "--successors", "⟨asked|ε,-⟩"]), @"
    ⟨asked|ε,ε⟩ has 1 successor
      server  take:  (asked,ε) → (asked,serve)  ⟨asked|serve,ε⟩
      client         no step
    ");
    assert_snapshot!(done(&["show", "models/tiny/symmetric.cpds", "--successors", "taken|in,out*3"]), @"
    ⟨taken|in,out,out,out⟩ has 1 successor
      worker#1  give:  (taken,in) → (free,out)  ⟨free|out,out,out,out⟩
      worker#2         no step
      worker#3         no step
      worker#4         no step
    ");
}

#[test]
fn a_newcomer_steps_through_fig_1() {
    // The path of the crate's front page, each state pasted from the output before.
    let mut state = "⟨0|1,4⟩".to_owned();
    for thread in ["P1", "P2", "P2", "P1", "P2"] {
        let shown = done(&["show", "models/paper/fig1.cpds", "--successors", &state]);
        let line = shown.lines().skip(1).find(|line| line.trim_start().starts_with(thread)).expect("a step");
        state = line[line.find('⟨').expect("a state")..].trim().to_owned();
    }
    assert_eq!(state, "⟨0|1,6⟩");
}

#[test]
fn options_replace_the_initial_states_and_the_property() {
    let shown = done(&[
        "show",
        "models/paper/fig1.cpds",
        "--init",
        "0|1,4 6",
        "--init",
        "1|2,-",
        "--target",
        "*|*,5",
        "--target",
        "3|-,*",
    ]);
    assert_snapshot!(shown.lines().take(6).collect::<Vec<_>>().join("\n"), @"
    # models/paper/fig1.cpds
    shared 0..3
    init 0|1,4 6
    init 1|2,-
    bad *|*,5
    bad 3|-,*
    ");
}

#[test]
fn json_of_show() {
    assert_snapshot!(done(&["show", "models/tiny/non-fcr.cpds", "--json"]), @r#"
    {
      "file": "models/tiny/non-fcr.cpds",
      "format": "cpds",
      "model": {
        "shared": [
          "0"
        ],
        "initial": [
          "0|a"
        ],
        "bad": [
          "0|-"
        ],
        "programs": [
          {
            "name": "recurse",
            "copies": 1,
            "symbols": [
              "a"
            ],
            "actions": [
              {
                "label": null,
                "kind": "push",
                "from": {
                  "shared": "0",
                  "word": [
                    "a"
                  ]
                },
                "to": {
                  "shared": "0",
                  "word": [
                    "a",
                    "a"
                  ]
                }
              }
            ]
          }
        ]
      },
      "summary": {
        "shared_states": 1,
        "threads": 1,
        "thread_names": [
          "recurse"
        ],
        "symmetric_groups": [
          [
            1
          ]
        ],
        "symbols": [
          1
        ],
        "actions": {
          "empty-overwrite": 0,
          "empty-push": 0,
          "overwrite": 0,
          "pop": 0,
          "push": 1
        }
      },
      "warnings": []
    }
    "#);
}

#[test]
fn json_of_successors() {
    assert_snapshot!(done(&["show", "models/tiny/non-fcr.cpds", "--json", "--successors", "0|a a"]), @r#"
    {
      "file": "models/tiny/non-fcr.cpds",
      "state": "0|a a",
      "successors": [
        {
          "thread": 1,
          "thread_name": "recurse",
          "action": {
            "label": null,
            "kind": "push",
            "from": {
              "shared": "0",
              "word": [
                "a"
              ]
            },
            "to": {
              "shared": "0",
              "word": [
                "a",
                "a"
              ]
            }
          },
          "state": "0|a a a"
        }
      ],
      "warnings": []
    }
    "#);
}

#[test]
fn json_of_convert() {
    assert_snapshot!(done(&["convert", "models/tiny/non-fcr.cpds", "--json", "--to", "pds"]), @r#"
    {
      "file": "models/tiny/non-fcr.cpds",
      "to": "pds",
      "output": [
        {
          "extension": "pds",
          "path": null,
          "text": "1\nPDA 0 0 # recurse\n# symbol 0 is a\n0 0 -> 0 0 0\n"
        },
        {
          "extension": "init",
          "path": null,
          "text": "0|0\n"
        },
        {
          "extension": "spec",
          "path": null,
          "text": "0|-\n"
        }
      ],
      "warnings": []
    }
    "#);
}

#[test]
fn json_fits_its_schema_on_every_model() {
    let check = |schema: &str, args: &[&str]| {
        let path = repository().join(format!("docs/schema/{schema}.schema.json"));
        let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let object: Value = serde_json::from_str(&done(args)).unwrap();
        jsonschema::validate(&schema, &object).unwrap_or_else(|e| panic!("{args:?}: {e}"));
        assert!(jsonschema::validate(&schema, &Value::Null).is_err(), "the schema asks for something");
    };
    for model in models() {
        let file = format!("models/{}.cpds", model.name);
        let system = model.problem.system();
        check("show", &["show", &file, "--json"]);
        let state = system.text(&system.initial()[0]).to_string();
        check("show-successors", &["show", &file, "--json", "--successors", &state]);
        check("convert", &["convert", &file, "--json", "--to", "pds"]);
    }
}

#[test]
fn what_show_prints_is_a_model() {
    let folder = tempfile::tempdir().unwrap();
    for model in models() {
        let file = format!("models/{}.cpds", model.name);
        let shown = done(&["show", &file]);
        fs::write(folder.path().join("shown.cpds"), &shown).unwrap();
        let again = cuba(folder.path(), &["show", "shown.cpds"]);
        let body = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(body(&again.stdout), body(&shown), "{file}");
    }
}

#[test]
fn convert_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let fig2 = repository().join("models/paper/fig2.cpds");
    let run = |args: &[&str]| {
        let ran = cuba(folder.path(), args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran
    };
    let wrote = run(&["convert", fig2.to_str().unwrap(), "--to", "pds", "-o", "fig2.pds"]);
    assert_eq!(wrote.stdout, "");
    assert_snapshot!(wrote.stderr, @"
    wrote fig2.pds
    wrote fig2.init
    wrote fig2.spec
    ");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_snapshot!(read("fig2.pds").lines().take(8).collect::<Vec<_>>().join("\n"), @"
    3
    # shared state 0 is ⊥
    # shared state 1 is 0
    # shared state 2 is 1
    PDA 2 5 # foo
    0 2 -> 1 2 # f0
    0 2 -> 2 2 # f0
    1 2 -> 1 3 # f2a
    ");
    assert_snapshot!(read("fig2.init") + &read("fig2.spec"), @"
    0|2,6
    *|5,9
    ");

    run(&["convert", "fig2.pds", "--to", "cpds", "-o", "back.cpds"]);
    run(&["convert", "back.cpds", "--to", "pds", "-o", "again.pds"]);
    let actions =
        |name: &str| read(name).lines().filter(|line| line.contains("->")).map(without_comment).collect::<Vec<_>>();
    assert_eq!(actions("again.pds"), actions("fig2.pds"));
    assert_eq!((read("again.init"), read("again.spec")), (read("fig2.init"), read("fig2.spec")));
}

fn without_comment(line: &str) -> String {
    line.split('#').next().unwrap_or_default().trim().to_owned()
}

#[test]
fn convert_to_pds_on_standard_output_says_what_is_missing() {
    let ran = in_repository(&["convert", "models/tiny/non-fcr.cpds", "--to", "pds"]);
    assert_eq!(ran.code, 0);
    assert_snapshot!(ran.stdout, @"
    1
    PDA 0 0 # recurse
    # symbol 0 is a
    0 0 -> 0 0 0
    ");
    assert_snapshot!(ran.stderr, @"note: this is the .pds file alone; with -o FILE.pds its .init and .spec are written too");
    let quiet = in_repository(&["convert", "models/tiny/non-fcr.cpds", "--to", "pds", "--quiet"]);
    assert_eq!((quiet.stdout, quiet.stderr), (ran.stdout, String::new()));
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

/// The artifact's own state, whose symbols are outside the declared range, is a warning on the command line as well.
#[test]
fn states_on_the_command_line_may_mention_other_symbols_of_a_pds_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.pds"), "2\nPDA 2 5\n1 2 -> 0 2 5\n").unwrap();
    let ran = cuba(folder.path(), &["show", "m.pds", "--init", "1|6 07"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("init 1|6 7\n"), "{}", ran.stdout);
    assert_snapshot!(ran.stderr, @"
    warning: thread 1 mentions symbols outside its declared range: 6 7
     --> --init:1:3
      |
    1 | 1|6 07
      |   ^ taken as one of its symbols
      |
     ::: m.pds:2:5
      |
    2 | PDA 2 5
      |     --- the declared range
      |
      = help: declare a range that covers all symbols
    ");
    assert_eq!(cuba(folder.path(), &["show", "m.pds", "--init", "1|six"]).code, 2);
}

#[test]
fn a_header_and_its_brace_may_stand_apart() {
    let folder = tempfile::tempdir().unwrap();
    let text = "shared 0; init 0|a,a; thread A { symbols a } thread B\n\n{\nsymbols a }";
    fs::write(folder.path().join("M.CPDS"), text).unwrap();
    let ran = cuba(folder.path(), &["show", "M.CPDS"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

/// The exit code does not depend on whether anybody reads the messages.
#[cfg(target_os = "linux")]
#[test]
fn outputs_that_nobody_can_read() {
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
fn an_output_never_replaces_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let text = "shared 0\ninit 0|a\nthread P { symbols a }\n";
    fs::write(folder.path().join("m.cpds"), text).unwrap();
    let ran = cuba(folder.path(), &["convert", "m.cpds", "--to", "cpds", "-o", "./m.cpds"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_snapshot!(ran.stderr, @"error: `./m.cpds` is an input; write to another file");
    let ran = cuba(folder.path(), &["convert", "m.cpds", "--to", "pds", "-o", "m.init"]);
    assert_eq!(ran.code, 1);
    assert_snapshot!(ran.stderr, @"error: `m.init` would not be read as .pds; call it `m.pds`");
    let ran = cuba(folder.path(), &["convert", "m.cpds", "--to", "pds", "-o", "nowhere/m.pds"]);
    assert_eq!(ran.code, 1);
    assert_eq!(fs::read_to_string(folder.path().join("m.cpds")).unwrap(), text);
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
    for verb in [&["--help"][..], &["show", "--help"], &["convert", "--help"]] {
        let help = done(verb);
        let examples = help.lines().filter(|line| line.trim_start().starts_with("cuba ") && line.contains("models/"));
        for example in examples {
            let words = example.split("  ").find(|part| !part.is_empty()).expect("a command").trim();
            let args: Vec<String> = words
                .split('\'')
                .enumerate()
                .flat_map(|(i, part)| match i % 2 {
                    0 => part.split_whitespace().map(str::to_owned).collect(),
                    _ => vec![part.to_owned()],
                })
                .collect();
            let args: Vec<&str> = args.iter().skip(1).map(String::as_str).filter(|arg| !arg.is_empty()).collect();
            if !args.contains(&"-o") {
                done(&args);
            }
        }
    }
    assert_snapshot!(done(&["show", "-h"]), @"
    Print the model as it was understood, with a summary; or the steps from a state

    Usage: cuba show [OPTIONS] <FILE>

    Arguments:
      <FILE>  The model: a .cpds file, or a .pds file with a .init and perhaps a .spec of the same name
              beside it

    Options:
          --init <STATE>        Start here instead of where the file says, e.g. '0|1,4 6' (stacks top
                                first); repeatable
          --target <PATTERN>    Take this as bad instead of what the file says, e.g. '0|1,*' ('*'
                                anything, '-' empty); repeatable
      -q, --quiet               Print no warnings
          --successors <STATE>  Show every step from this state, e.g. '0|1,4 6': shared state, then each
                                stack, top first, '-' if empty
          --json                Print JSON
      -h, --help                Print help

    Examples:
      cuba show models/paper/fig1.cpds
      cuba show models/paper/fig1.cpds --successors '0|1,4'
      cuba show models/paper/fig1.cpds --successors '3|2,4 6' --json
    ");
}

#[test]
fn every_file_of_the_artifact_is_shown() {
    let Some(folder) = artifact("the artifact's 24 .pds files") else { return };
    let file_name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut seen = Vec::new();
    for file in files(&folder, "pds") {
        let ran = cuba(file.parent().unwrap(), &["show", &file_name(&file), "--json", "-q"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", file.display());
        let object: Value = serde_json::from_str(&ran.stdout).unwrap();
        let summary = &object["summary"];
        let total: u64 = summary["actions"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        let warnings = object["warnings"].as_array().unwrap().len();
        seen.push(format!(
            "{} |Q| = {}, |Σ_i| = {}, {total} actions, groups {}, {warnings} warnings",
            file_name(&file),
            summary["shared_states"],
            summary["symbols"],
            summary["symmetric_groups"],
        ));
    }
    assert_snapshot!(seen.join("\n"), @"
    Bluetooth1-11.pds |Q| = 21, |Σ_i| = [24,24,2], 402 actions, groups [[1],[2],[3]], 1 warnings
    Bluetooth1-12.pds |Q| = 21, |Σ_i| = [24,23,24,2], 579 actions, groups [[1],[2,3],[4]], 1 warnings
    Bluetooth1-21.pds |Q| = 21, |Σ_i| = [24,23,23,2], 623 actions, groups [[1],[2],[3],[4]], 2 warnings
    Bluetooth2-11.pds |Q| = 21, |Σ_i| = [24,24,2], 410 actions, groups [[1],[2],[3]], 1 warnings
    Bluetooth2-12.pds |Q| = 21, |Σ_i| = [24,23,23,2], 587 actions, groups [[1],[2,3],[4]], 1 warnings
    Bluetooth2-21.pds |Q| = 21, |Σ_i| = [24,23,23,2], 639 actions, groups [[1],[2],[3],[4]], 2 warnings
    Bluetooth3-11.pds |Q| = 21, |Σ_i| = [24,24,2], 409 actions, groups [[1],[2],[3]], 1 warnings
    Bluetooth3-12.pds |Q| = 21, |Σ_i| = [24,23,23,2], 587 actions, groups [[1],[2,3],[4]], 1 warnings
    Bluetooth3-21.pds |Q| = 21, |Σ_i| = [24,23,23,2], 638 actions, groups [[1],[2],[3],[4]], 2 warnings
    bst-11.pds |Q| = 5, |Σ_i| = [26,26], 42 actions, groups [[1],[2]], 0 warnings
    bst-21.pds |Q| = 5, |Σ_i| = [26,26,26], 71 actions, groups [[1,2],[3]], 0 warnings
    bst-22.pds |Q| = 5, |Σ_i| = [26,26,26,26], 80 actions, groups [[1,2],[3,4]], 0 warnings
    filecrawer.pds |Q| = 9, |Σ_i| = [5,22,22], 99 actions, groups [[1],[2,3]], 3 warnings
    k-induction.pds |Q| = 2, |Σ_i| = [5,5], 24 actions, groups [[1],[2]], 2 warnings
    proc-2.pds |Q| = 4, |Σ_i| = [7,7,2,2], 20 actions, groups [[1,2],[3,4]], 0 warnings
    stefan-2.pds |Q| = 3, |Σ_i| = [3,3], 10 actions, groups [[1,2]], 0 warnings
    stefan-4.pds |Q| = 3, |Σ_i| = [3,3,3,3], 20 actions, groups [[1,2,3,4]], 0 warnings
    stefan-8.pds |Q| = 3, |Σ_i| = [3,3,3,3,3,3,3,3], 40 actions, groups [[1,2,3,4,5,6,7,8]], 0 warnings
    dekker.pds |Q| = 129, |Σ_i| = [36,36], 2698 actions, groups [[1],[2]], 0 warnings
    DelayExampleStutter.pds |Q| = 7, |Σ_i| = [2,3,2], 8 actions, groups [[1],[2],[3]], 0 warnings
    converge-11.pds |Q| = 2, |Σ_i| = [5,5], 24 actions, groups [[1],[2]], 2 warnings
    diverge-11.pds |Q| = 2, |Σ_i| = [4,2], 8 actions, groups [[1],[2]], 0 warnings
    diverge-12.pds |Q| = 2, |Σ_i| = [4,5,2], 12 actions, groups [[1],[2],[3]], 1 warnings
    stutter-11.pds |Q| = 4, |Σ_i| = [2,3], 5 actions, groups [[1],[2]], 0 warnings
    ");
}

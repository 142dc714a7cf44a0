//! `cuba show`: the model, its summary, its steps.

use crate::common::{cuba, done};
use cpds_testing::corpus::{artifact, files, models};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::path::Path;

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
    // The path on the front page of the crate. Each state is copied from the previous output.
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
fn the_output_of_show_is_a_model() {
    let folder = tempfile::tempdir().unwrap();
    for model in models() {
        let arguments: Vec<&str> = model.arguments.iter().map(String::as_str).collect();
        let shown = done(&[&["show"], &*arguments].concat());
        fs::write(folder.path().join("shown.cpds"), &shown).unwrap();
        let again = cuba(folder.path(), &["show", "shown.cpds"]);
        let body = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(body(&again.stdout), body(&shown), "{}", model.name);
    }
}

/// The initial state of the artifact has symbols outside the declared range, which gives a warning.
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

//! `cuba show --psa`, `--dot` and `--svg`: store automata, and the graph of visible states.

use crate::common::{cuba, done, in_repository};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

/// Fig. 4 (left): no loop. Fig. 4 (right): a loop. Fig. 7.
#[test]
fn store_automata() {
    assert_snapshot!(done(&["show", "models/paper/fig1.cpds", "--psa", "P1"]), @"
    P1: R(Q × Σ≤1)
      0  –  1  →  sF
      0  –  2  →  sF
      0  –  ε  →  sF
      1  –  1  →  sF
      1  –  2  →  sF
      1  –  ε  →  sF
      2  –  1  →  sF
      2  –  2  →  sF
      2  –  ε  →  sF
      3  –  1  →  sF
      3  –  2  →  sF
      3  –  ε  →  sF
    5 states, 12 transitions; accepted: finitely many
    ");
    assert_snapshot!(done(&["show", "models/paper/fig2.cpds", "--psa", "foo", "--from", "⊥|2"]), @"
    foo: R(⟨⊥|2⟩)
      ⊥      –  2  →  sF
      0      –  2  →  (0,2)
      0      –  3  →  (0,2)
      0      –  4  →  (0,2)
      0      –  5  →  (0,2)
      0      –  2  →  sF
      0      –  3  →  sF
      0      –  4  →  sF
      0      –  5  →  sF
      1      –  4  →  (0,2)
      1      –  ε  →  (0,2)
      1      –  2  →  (1,2)
      1      –  3  →  (1,2)
      1      –  4  →  (1,2)
      1      –  2  →  sF
      1      –  3  →  sF
      1      –  4  →  sF
      1      –  ε  →  sF
      (0,2)  –  4  →  (0,2)  loop
      (0,2)  –  4  →  sF
      (1,2)  –  4  →  (1,2)
      (1,2)  –  4  →  sF
    6 states, 22 transitions; accepted: infinitely many, because of the loop
    ");
    let fig7 = ["show", "models/paper/fig7.cpds", "--psa", "P", "--from", "q0|σ0"];
    assert_snapshot!(done(&[&fig7[..], &["--dot"]].concat()), @r##"
    digraph {
      rankdir=LR
      label="P: R(⟨q0|σ0⟩)"; labelloc=t
      node [shape=ellipse, width=0.5, height=0.5, margin=0.05]
      n0 [label="q0"]
      i0 [shape=point, style=invis]; i0 -> n0
      n1 [label="q1"]
      i1 [shape=point, style=invis]; i1 -> n1
      n2 [label="q2"]
      i2 [shape=point, style=invis]; i2 -> n2
      n3 [label="(q1,σ1)"]
      n4 [label="(q2,σ2)"]
      n5 [label="sF", peripheries=2]
      n0 -> n3 [label="σ0"]
      n0 -> n4 [label="ε, σ1"]
      n0 -> n5 [label="σ0"]
      n1 -> n3 [label="σ1"]
      n2 -> n4 [label="σ2"]
      n3 -> n3 [label="σ0", color="#c2410c", penwidth=2.5]
      n3 -> n5 [label="σ0"]
      n4 -> n3 [label="σ0"]
    }
    "##);
    let svg = done(&[&fig7[..], &["--svg"]].concat());
    for part in ["<svg ", ">P: R(⟨q0|σ0⟩)<", ">(q1,σ1)<", ">ε, σ1<", "</svg>"] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
    assert_eq!(svg, done(&[&fig7[..], &["--svg"]].concat()));
}

/// From a whole state or from the part of the thread, with actions from the empty stack.
#[test]
fn store_automata_from_a_state() {
    let whole = done(&["show", "models/paper/fig1.cpds", "--psa", "2", "--from", "⟨2|1,5 6⟩"]);
    assert_eq!(whole, done(&["show", "models/paper/fig1.cpds", "--psa", "P2", "--from", "⟨2|5 6⟩"]));
    assert_snapshot!(whole, @"
    P2: R(⟨2|5 6⟩)
      2      –  5  →  s1
      3      –  4  →  (3,4)
      s1     –  6  →  sF
      (3,4)  –  6  →  s1
    5 states, 4 transitions; accepted: finitely many
    ");
    assert_snapshot!(done(&["show", "models/tiny/empty-stack.cpds", "--psa", "server", "--from", "asked|-"]), @"
    server: R(⟨asked|ε⟩)
      idle   –  reply  →  sF
      idle   –  ε      →  sF
      asked  –  serve  →  sF
      asked  –  ε      →  sF
    3 states, 4 transitions; accepted: finitely many
    ");
    let json = done(&["show", "models/tiny/non-fcr.cpds", "--psa", "recurse", "--json"]);
    let object: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&object["finite"], object["states"].as_array().unwrap().len()), (&Value::Bool(false), 3));
}

#[test]
fn store_automata_that_cannot_be_shown() {
    let refused = |args: &[&str], code| {
        let ran = in_repository(&[&["show", "models/paper/fig1.cpds"], args].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""));
        ran.stderr
    };
    assert_snapshot!(refused(&["--psa", "consumer"], 1), @"error: there is no thread `consumer`; the threads are P1 P2");
    assert_snapshot!(refused(&["--psa", "0"], 1), @"error: there is no thread `0`; the threads are P1 P2");
    assert_snapshot!(refused(&["--psa", "P2", "--from", "0|4 7"], 2), @"
    error: unknown stack symbol `7`
     --> --from:1:7
      |
    1 | 0|-,4 7
      |       ^ thread `P2` declares 4..6
      |
      = help: add it to the thread's symbols
    ");
    assert_snapshot!(refused(&["--psa", "P2", "--svg", "--dot"], 1), @"
    error: the argument '--svg' cannot be used with '--dot'

    Usage: cuba show --psa <THREAD> --svg <FILE>

    For more information, try '--help'.
    ");
}

/// Fig. 1: the eight visible states of the table on the right, and every step between them.
#[test]
fn the_graph_of_visible_states() {
    assert_snapshot!(done(&["show", "models/paper/fig1.cpds", "--dot"]), @r##"
    digraph {
      rankdir=LR
      label="T(R): 8 visible states, with every step"; labelloc=t
      node [shape=ellipse, width=0.5, height=0.5, margin=0.05]
      n0 [label="⟨0|1,4⟩\nk = 0"]
      i0 [shape=point, style=invis]; i0 -> n0
      n1 [label="⟨0|1,ε⟩\nk = 1"]
      n2 [label="⟨1|2,4⟩\nk = 1"]
      n3 [label="⟨1|2,ε⟩\nk = 2"]
      n4 [label="⟨2|2,5⟩\nk = 2"]
      n5 [label="⟨3|2,4⟩\nk = 2"]
      n6 [label="⟨0|1,6⟩\nk = 4", color="#dc2626", penwidth=2.5]
      n7 [label="⟨1|2,6⟩\nk = 5"]
      n0 -> n1 [label="P2 b1"]
      n0 -> n2 [label="P1 f1"]
      n0 -> n6 [label="P2 b1"]
      n1 -> n3 [label="P1 f1"]
      n2 -> n4 [label="P2 b2"]
      n4 -> n5 [label="P2 b3"]
      n5 -> n0 [label="P1 f2"]
      n6 -> n7 [label="P1 f1"]
    }
    "##);
    let svg = done(&["show", "models/paper/fig1.cpds", "--svg"]);
    for part in [
        "<svg ",
        ">T(R): 8 visible states, with every step<",
        "\"node bad\"",
        ">⟨0|1,6⟩<",
        ">k = 4<",
        ">P2 b1<",
        "</svg>",
    ] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
    // With infinitely many states.
    assert_snapshot!(done(&["show", "models/paper/fig7.cpds", "--dot"]), @r#"
    digraph {
      rankdir=LR
      label="T(R): 4 visible states, with every step"; labelloc=t
      node [shape=ellipse, width=0.5, height=0.5, margin=0.05]
      n0 [label="⟨q0|σ0⟩\nk = 0"]
      i0 [shape=point, style=invis]; i0 -> n0
      n1 [label="⟨q0|σ1⟩\nk = 1"]
      n2 [label="⟨q1|σ1⟩\nk = 1"]
      n3 [label="⟨q2|σ2⟩\nk = 1"]
      n0 -> n2 [label="P"]
      n1 -> n0 [label="P"]
      n2 -> n3 [label="P"]
      n3 -> n1 [label="P"]
    }
    "#);
}

#[test]
fn a_part_of_the_graph() {
    assert_snapshot!(done(&["show", "models/paper/fig1.cpds", "--dot", "--max-contexts", "2"]), @r#"
    digraph {
      rankdir=LR
      label="T(R_2): 6 visible states, perhaps not all, with the steps of R_2"; labelloc=t
      node [shape=ellipse, width=0.5, height=0.5, margin=0.05]
      n0 [label="⟨0|1,4⟩\nk = 0"]
      i0 [shape=point, style=invis]; i0 -> n0
      n1 [label="⟨0|1,ε⟩\nk = 1"]
      n2 [label="⟨1|2,4⟩\nk = 1"]
      n3 [label="⟨1|2,ε⟩\nk = 2"]
      n4 [label="⟨2|2,5⟩\nk = 2"]
      n5 [label="⟨3|2,4⟩\nk = 2"]
      n0 -> n1 [label="P2 b1"]
      n0 -> n2 [label="P1 f1"]
      n1 -> n3 [label="P1 f1"]
      n2 -> n4 [label="P2 b2"]
      n4 -> n5 [label="P2 b3"]
      n5 -> n0 [label="P1 f2"]
    }
    "#);
    let title = |args: &[&str]| {
        let dot = done(&[&["show"], args, &["--dot"]].concat());
        dot.lines().find(|line| line.contains("labelloc")).unwrap().trim().to_owned()
    };
    assert_snapshot!(title(&["models/squeeze/mirror.cpds"]), @r#"label="T(R_50): 8 visible states, perhaps not all, with the steps of R_50"; labelloc=t"#);
    assert_snapshot!(title(&["models/table2/quicksort.bp", "--max-contexts", "1"]), @r#"label="T(R_1): 2 visible states, perhaps not all, with the steps of R_1"; labelloc=t"#);
}

/// The shared state determines where f returns to, but the overapproximations of the proof ignore
/// this. So the proof has more steps than R_k, and the title does not claim every step of R.
#[test]
fn steps_that_the_proof_does_not_rule_out() {
    let model = "shared 0 1; init 0|m1,g
        thread P {
          symbols m1 m2 f r1 r2
          (0,m1) -> (0,f r1); (0,f) -> (0,-); (0,r1) -> (1,r1); (1,r1) -> (1,m2)
          (1,m2) -> (1,f r2); (1,f) -> (1,-); (1,r2) -> (0,r2); (0,r2) -> (0,m1)
        }
        thread G { symbols g h; (0,g) -> (0,h g); (1,h) -> (1,g) }";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.cpds"), model).unwrap();
    let dot = cuba(folder.path(), &["show", "m.cpds", "--dot"]).stdout;
    assert_snapshot!(dot.lines().nth(2).unwrap(), @r#"  label="T(R): 16 visible states, with the steps of R_2"; labelloc=t"#);
    let edge = |from: &str, to: &str| {
        let node = |name: &str| {
            let line = dot.lines().find(|line| line.contains(&format!("[label=\"{name}\\n"))).expect(name);
            line.split_whitespace().next().unwrap().to_owned()
        };
        dot.contains(&format!("{} -> {} [", node(from), node(to)))
    };
    assert!(edge("⟨0|f,g⟩", "⟨0|r1,g⟩") && !edge("⟨0|f,g⟩", "⟨0|r2,g⟩"));
}

/// Boolean programs have long names. Tooltips have them in full.
#[test]
fn the_graph_of_a_program() {
    let args = ["show", "models/table2/bluetooth-1.bp", "--instances", "adder=1,stopper=1", "--max-contexts", "1"];
    let dot = done(&[&args[..], &["--dot"]].concat());
    assert_snapshot!(dot.lines().skip(2).take(6).collect::<Vec<_>>().join("\n"), @r#"
    label="T(R_1): 27 visible states, perhaps not all, with the steps of R_1"; labelloc=t
    node [shape=ellipse, width=0.5, height=0.5, margin=0.05]
    n0 [label="0&amp;0&amp;0&amp;0&amp;0&amp;0\nadder:37,\nstopper:44, -, -\nk = 0", tooltip="⟨stoppingFlag=0 &amp; stoppingEvent=0 &amp; stopped=0 &amp; inc=0 &amp; dec=0 &amp; loaded=0|adder:37, stopper:44, -, -⟩"]
    i0 [shape=point, style=invis]; i0 -> n0
    n1 [label="0&amp;0&amp;0&amp;0&amp;0&amp;0\nadder:37, load:22,\n-, -\nk = 1", tooltip="⟨stoppingFlag=0 &amp; stoppingEvent=0 &amp; stopped=0 &amp; inc=0 &amp; dec=0 &amp; loaded=0|adder:37, load:22, -, -⟩"]
    n2 [label="0&amp;0&amp;0&amp;0&amp;0&amp;0\nload:22, stopper:44,\n-, -\nk = 1", tooltip="⟨stoppingFlag=0 &amp; stoppingEvent=0 &amp; stopped=0 &amp; inc=0 &amp; dec=0 &amp; loaded=0|load:22, stopper:44, -, -⟩"]
    "#);
    let svg = done(&[&args[..], &["--svg"]].concat());
    assert!(svg.contains("<title>⟨stoppingFlag=0 &amp; stoppingEvent=0 &amp; "), "{svg}");
}

#[test]
fn graphs_that_cannot_be_drawn() {
    let refused = |args: &[&str]| {
        let ran = in_repository(&[&["show"], args].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
        ran.stderr
    };
    assert_snapshot!(refused(&["models/paper/stefan8.cpds", "--dot"]), @"error: R_8 has 30362 visible states, more than 10000, too many to be drawn; stop earlier with --max-contexts");
    assert_snapshot!(refused(&["models/table2/quicksort.bp", "--svg"]), @"error: a graph with 381 nodes and 996 edges is too large for SVG; write it with --dot, and draw it with Graphviz, or stop earlier with --max-contexts");
    let fig1 = |args: &[&str]| refused(&[&["models/paper/fig1.cpds"], args].concat());
    assert_snapshot!(fig1(&["--dot", "--successors", "0|1,4"]), @"
    error: the argument '--dot' cannot be used with '--successors [<STATE>]'

    Usage: cuba show --dot <FILE>

    For more information, try '--help'.
    ");
    assert_snapshot!(fig1(&["--max-contexts", "2"]), @"
    error: the following required arguments were not provided:
      <--dot|--svg>

    Usage: cuba show --max-contexts <K> <--dot|--svg> <FILE>

    For more information, try '--help'.
    ");
    assert_snapshot!(fig1(&["--psa", "P1", "--svg", "--max-contexts", "2"]), @"
    error: the argument '--psa <THREAD>' cannot be used with '--max-contexts <K>'

    Usage: cuba show --psa <THREAD> --svg <FILE>

    For more information, try '--help'.
    ");
    assert_snapshot!(fig1(&["--dot", "--json"]), @"
    error: the argument '--dot' cannot be used with '--json'

    Usage: cuba show --dot <FILE>

    For more information, try '--help'.
    ");
}

//! The rules of docs/boolean-programs.md, each on small programs whose states were determined by
//! hand.

use boolprog::threads::{Pool, Start, Threads};
use cpds::Source;
use cpds_testing::interpreter::{Limits, Place, ProjectedFrame, Projection, levels};
use std::collections::BTreeSet;

const LIMITS: Limits = Limits { contexts: 5, height: 4, states: 10_000 };

/// Computes the exact levels of a program with these functions as threads. States are texts.
fn run(text: &str, roots: &[&str]) -> Vec<BTreeSet<String>> {
    run_with(text, roots, Vec::new(), None)
}

fn run_with(text: &str, roots: &[&str], pools: Vec<Pool>, limit: Option<u32>) -> Vec<BTreeSet<String>> {
    let (program, diagnostics) = boolprog::parse(&Source::from(text));
    assert!(diagnostics.is_ok(), "{:?}", diagnostics.kept());
    let function = |root| program.functions.iter().position(|function| function.name.text == root);
    let roots = roots.iter().map(|root| (function(*root).expect("declared"), 1)).collect();
    let levels = levels(&program, &Threads { roots, pools, limit, launcher: None }, LIMITS).expect("few states");
    assert!(levels.exact);
    (0..=LIMITS.contexts).map(|k| levels.projections(k).iter().map(|state| show(text, state)).collect()).collect()
}

/// Makes a pool with slots for threads that start in the function with this number.
fn pool(function: usize, slots: u32) -> Pool {
    Pool { starts: vec![Start::Function(function)], slots }
}

/// Writes a state: `shared | thread | …`, then `+ pending`. A thread is the list of its calls, the
/// innermost first, with thread-local and local variables.
fn show(text: &str, state: &Projection) -> String {
    if let Some((kind, at)) = state.error {
        return format!("{kind:?} error: {}", show_place(text, Place::At(at)));
    }
    let bits = |values: &[bool]| values.iter().map(|&value| if value { '1' } else { '0' }).collect::<String>();
    let frame = |frame: &ProjectedFrame| {
        let variables = [bits(&frame.thread_locals), bits(&frame.locals)].concat();
        [show_place(text, frame.place), variables].join(" ").trim_end().to_string()
    };
    let stack = |stack: &Vec<ProjectedFrame>| match stack.as_slice() {
        [] => "-".to_string(),
        frames => frames.iter().rev().map(frame).collect::<Vec<_>>().join(" < "),
    };
    let threads = state.threads.iter().map(stack);
    let shown = std::iter::once(bits(&state.shared)).filter(|shared| !shared.is_empty()).chain(threads);
    let pending = state.pending.iter().flatten().map(|start| format!(" + {}", frame(start)));
    shown.collect::<Vec<_>>().join(" | ") + &pending.collect::<String>()
}

fn show_place(text: &str, place: Place) -> String {
    let (before, at) = match place {
        Place::At(at) => ("", at),
        Place::Results(at) => ("results ", at),
        Place::Calling(at) => ("in ", at),
        Place::LeaveAtomic(_) => return "leave".to_string(),
        Place::End(_) => return "end".to_string(),
    };
    let statement = text[at as usize..].split([';', '{', '}']).next().expect("`split` gives at least one part");
    format!("{before}{}", statement.trim())
}

/// Whether the text of a state of the last level contains this part.
fn some(levels: &[BTreeSet<String>], part: &str) -> bool {
    levels[LIMITS.contexts].iter().any(|state| state.contains(part))
}

#[track_caller]
fn assert_states(states: &BTreeSet<String>, expected: &[&str]) {
    assert_eq!(*states, expected.iter().map(ToString::to_string).collect());
}

#[test]
fn statements_follow_each_other_and_loops_go_back() {
    let levels = run("decl s = 0; void f() { while (*) { if (s) { s := 0; } else { s := 1; } } }", &["f"]);
    let expected = ["while (*)", "if (s)"].map(|place| [format!("0 | {place}"), format!("1 | {place}")]).concat();
    let mut expected: BTreeSet<String> = expected.into_iter().collect();
    expected.extend(["1 | s := 0", "0 | s := 1", "0 | end", "1 | end", "0 | -", "1 | -"].map(str::to_string));
    assert_eq!(levels[1], expected);
    assert_states(&levels[0], &["0 | while (*)"]);
}

#[test]
fn a_lock_waits_for_the_thread_itself_too() {
    let levels = run("void f() { lock(m); lock(m); }", &["f"]);
    assert_states(&levels[5], &["lock(m)"]);
    let levels = run("void f() { lock(m); lock; lock(n); }", &["f"]);
    assert!(some(&levels, "-"));
}

#[test]
fn a_thread_can_unlock_only_a_lock_that_it_holds() {
    let text = "decl s = 0; void f() { lock(m); s := 1; unlock(m); } void g() { assume(s); unlock(m); }";
    let levels = run(text, &["f", "g"]);
    // At the end of f, the thread has released the lock, and no other thread holds it.
    assert!(some(&levels, "1 | end | assume(s)") && some(&levels, "1 | - | unlock(m)"));
    assert!(some(&levels, "Unlock error: unlock(m)") && !some(&levels, "1 | - | -"));
    assert_states(&run("void f() { unlock; }", &["f"])[1], &["unlock", "Unlock error: unlock"]);
}

#[test]
fn a_later_thread_in_a_slot_does_not_hold_the_locks_of_the_earlier_one() {
    let text = "decl s = 0; void f() { if (s) { unlock(m); } else { lock(m); s := 1; } } \
                void main() { start_thread f(); assume(s); start_thread f(); }";
    let levels = run_with(text, &["main"], vec![pool(0, 1)], None);
    let errors: Vec<_> = levels.iter().map(|states| states.contains("Unlock error: unlock(m)")).collect();
    assert_eq!(errors, [false, false, false, false, true, true]);
    assert!(levels[4].contains("1 | - | unlock(m)") && !levels[5].contains("1 | - | end"));
}

#[test]
fn an_atomic_block_blocks_other_threads_even_if_it_waits() {
    let text = "decl s = 0, t = 0; void f() { atomic { t := 1; assume(s); } } void g() { assume(t); s := 1; }";
    let levels = run(text, &["f", "g"]);
    let expected = ["00 | atomic | assume(t)", "00 | t := 1 | assume(t)", "01 | assume(s) | assume(t)"];
    assert_states(&levels[5], &expected);
}

#[test]
fn leaving_an_atomic_block_is_a_step() {
    let levels = run("decl s = 0; void f() { atomic { s := 1; } } void g() { }", &["f", "g"]);
    let of_f = ["0 | atomic | end", "0 | s := 1 | end", "1 | leave | end", "1 | end | end", "1 | - | end"];
    assert_states(&levels[1], &[of_f.as_slice(), &["0 | atomic | -"]].concat());
    // Leaving the inner block does not end the section. Leaving the outer block ends it.
    let text = "decl s = 0; void f() { atomic { atomic { s := 1; } s := 0; } s := 1; } void g() { assert(!s); }";
    let errors: Vec<_> =
        run(text, &["f", "g"]).iter().map(|states| states.iter().any(|s| s.contains("error"))).collect();
    assert_eq!(errors, [false, false, true, true, true, true]);
    assert!(!some(&run(&text.replace("s := 0; } s := 1;", "s := 0; }"), &["f", "g"]), "error"));
}

#[test]
fn results_for_shared_variables_are_assigned_in_a_step_of_their_own() {
    let text = "decl s = 0; bool g() { return 1; } void f() { s := g(); assert(0); } void h() { assert(!s); }";
    let levels = run(text, &["f", "h"]);
    assert!(some(&levels, "0 | results s := g() | assert(!s)") && some(&levels, "0 | results s := g() | -"));
    let text = "bool g() { return 1; } void f() { decl x = 0; x := g(); skip; }";
    let expected = ["x := g() 0", "return 1 < in x := g() 0", "skip 1", "end 1", "-"];
    assert_states(&run(text, &["f"])[1], &expected);
}

#[test]
fn missing_results_and_arguments_have_any_value() {
    let expected = ["x := g(*) 0", "end 0 < in x := g(*) 0", "end 1 < in x := g(*) 0", "end 0", "end 1", "-"];
    assert_states(&run("bool g(p) { } void f() { decl x = 0; x := g(*); }", &["f"])[1], &expected);
    assert_states(
        &run("decl s; void f(p) { decl x = 1, y; }", &["f"])[0],
        &[
            "0 | end 010",
            "0 | end 011",
            "0 | end 110",
            "0 | end 111",
            "1 | end 010",
            "1 | end 011",
            "1 | end 110",
            "1 | end 111",
        ],
    );
}

#[test]
fn end_thread_ends_the_outer_calls_too() {
    let levels = run("void g() { end_thread; } void f() { g(); skip; }", &["f"]);
    assert_states(&levels[1], &["g()", "end_thread < in g()", "-"]);
}

#[test]
fn a_thread_started_at_a_label_has_copies_of_the_variables() {
    let text = "decl thread_local t = 0; void f() { decl x = 0; t, x := 1, 1; start_thread goto l; t, x := 0, 0; end_thread; \
                l: skip; }";
    let pools = vec![Pool { starts: vec![Start::Label(0, "l".to_string())], slots: 1 }];
    let levels = run_with(text, &["f"], pools, None);
    assert!(levels[1].contains("end_thread 00 | - + skip 11") && levels[1].contains("- | - + skip 11"));
    assert!(levels[2].contains("- | skip 11") && levels[2].contains("- | end 11"));
    assert!(!some(&levels, "skip 0"));
}

#[test]
fn a_section_ends_with_its_thread() {
    for last in ["end_thread;", "return;", "atomic_begin; return;"] {
        let text = format!("decl s = 0; void f() {{ atomic {{ {last} }} }} void g() {{ s := 1; }}");
        assert!(run(&text, &["f", "g"])[2].contains("1 | - | end"), "{last}");
    }
}

#[test]
fn a_new_thread_is_picked_up_in_a_context_of_its_own() {
    let text = "decl s = 0; void f(p) { s := p; } void main() { atomic { start_thread f(1); skip; } }";
    let levels = run_with(text, &["main"], vec![pool(0, 1)], None);
    assert!(levels[1].contains("0 | skip | - + s := p 1") && levels[1].contains("0 | - | - + s := p 1"));
    assert!(!levels[1].iter().any(|state| state.starts_with('1')));
    assert!(levels[2].contains("0 | - | s := p 1") && levels[2].contains("1 | - | end 1"));
    // The new thread does not start before the section ends.
    assert!(!some(&levels, "skip | s") && !some(&levels, "skip | end"));
}

#[test]
fn a_creation_waits_while_the_limit_on_threads_is_reached() {
    let text = "void f() { } void main() { start_thread f(); thread_create(&f); skip; }";
    let levels = run_with(text, &["main"], vec![pool(0, 1)], Some(1));
    let first: Vec<_> = (0..=5).map(|k| levels[k].iter().any(|state| state.starts_with("skip"))).collect();
    assert_eq!(first, [false, false, false, true, true, true]);
    assert!(levels[2].contains("thread_create(&f) | -") && levels[4].contains("skip | end"));
    let levels = run_with(text, &["main"], vec![pool(0, 1)], None);
    assert!(levels[1].contains("- | - + end + end") && levels[2].contains("- | end + end"));
}

#[test]
fn an_enforced_condition_holds_before_and_after_each_statement() {
    assert_states(&run("decl s = 0; void f() { enforce !s; s := 1; }", &["f"])[5], &["0 | s := 1"]);
    assert_states(&run("decl s = 1; void f() { enforce !s; s := 0; }", &["f"])[5], &["1 | s := 0"]);
    // Both conditions can be true. There is no place after a return.
    assert!(some(&run("decl s; void f() { enforce s | *; enforce !s | *; s := !s; return; }", &["f"]), "| -"));
    let text = "decl s = 0; void g() { s := 1; } void f() { enforce !s; g(); skip; }";
    assert!(some(&run(text, &["f"]), "1 | results g()") && !some(&run(text, &["f"]), "| skip"));
}

#[test]
fn after_a_call_a_condition_is_enforced_when_the_results_are_assigned() {
    let text = "bool g() { return 1; } void f() { decl x = 0; enforce !x; x := g(); skip; }";
    let expected = ["x := g() 0", "return 1 < in x := g() 0", "results x := g() 0"];
    assert_states(&run(text, &["f"])[5], &expected);
    // It is not enforced before: the result of g restores s.
    let text = "decl s = 0; bool g() { s := 1; return 0; } void f() { enforce !s; s := g(); skip; }";
    assert!(some(&run(text, &["f"]), "0 | skip"));
}

#[test]
fn constrain_relates_before_and_after() {
    let text = "decl s = 0; void f() { decl x = 1, y = 0; x, y := *, * constrain 'x != 'y & x = 'y & 's = s; skip; }";
    let levels = run(text, &["f"]);
    assert_eq!(levels[1].iter().filter(|state| state.contains("skip")).collect::<Vec<_>>(), ["0 | skip 01"]);
    assert!(!some(&run("void f() { decl x = 0; x := 1 constrain !'x; skip; }", &["f"]), "skip"));
}

#[test]
fn all_values_are_evaluated_before_any_is_assigned() {
    let levels = run("decl s = 0; void f() { decl x = 1; s, x := x, s; _ := 1; skip; }", &["f"]);
    assert!(some(&levels, "1 | skip 0") && !some(&levels, "skip 1"));
}

#[test]
fn dead_variables_have_any_value() {
    let levels = run("decl s = 0; void f() { decl x = 0, y = 0; dead s, x; skip; }", &["f"]);
    let expected = ["0 | skip 00", "0 | skip 10", "1 | skip 00", "1 | skip 10"];
    assert_eq!(levels[1].iter().filter(|state| state.contains("skip")).collect::<Vec<_>>(), expected);
}

#[test]
fn choices_are_fresh_at_each_place() {
    // The two arguments of `schoose`, and the values that it can have.
    let table = [("0, 0", "01"), ("0, 1", "0"), ("1, 0", "1"), ("1, 1", "1"), ("*, 1", "01"), ("0, *", "01")];
    for (arguments, values) in table {
        let levels = run(&format!("void f() {{ decl x = 0; x := schoose[{arguments}]; skip; }}"), &["f"]);
        let found = |value: &char| some(&levels, &format!("skip {value}"));
        assert_eq!(['0', '1'].iter().filter(|value| found(value)).collect::<String>(), values, "{arguments}");
    }
    for (e, passes) in [("* != *", true), ("* & !*", true), ("(* ? 0 : *)", true), ("* & 0", false)] {
        assert_eq!(some(&run(&format!("void f() {{ assume({e}); skip; }}"), &["f"]), "skip"), passes, "{e}");
    }
    let expected = ["assert(*)", "Assert error: assert(*)", "abortif(*)", "end", "-"];
    assert_states(&run("void f() { assert(*); abortif(*); }", &["f"])[1], &expected);
}

#[test]
fn thread_local_variables_of_a_new_thread_have_their_initial_values() {
    let text = "decl thread_local t = 0; void f() { t := 1; start_thread f(); }";
    let levels = run_with(text, &["f"], vec![pool(0, 1)], Some(1));
    assert!(levels[2].contains("- | t := 1 0") && levels[2].contains("- | start_thread f() 1"));
    assert!(!some(&levels, "+ t := 1 1") && !some(&levels, "| t := 1 1"));
    let levels = run("decl thread_local t = 0; void f() { t := 1; }", &["f", "f"]);
    assert!(levels[1].contains("end 1 | t := 1 0") && !some(&levels, "t := 1 1"));
}

#[test]
fn atomic_end_ends_the_section_of_a_caller() {
    let text =
        "decl s = 0; void g() { atomic_end; } void f() { atomic { assume(!s); g(); skip; } } void h() { s := 1; }";
    let levels = run(text, &["f", "h"]);
    assert!(levels[2].contains("1 | end < in g() | end") && levels[2].contains("1 | skip | end"));
    assert!(!some(&levels, "1 | g()") && !some(&levels, "1 | atomic_end"));
    // Without a section, it has no effect. Then an inner block begins a section.
    assert!(some(&run("void f() { atomic_end; skip; }", &["f"]), "skip"));
    let text = "decl s = 0; void h() { s := 1; } \
                void f() { atomic { atomic_end; atomic { assume(!s); assert(!s | 0); } assert(!s); } }";
    let levels = run(text, &["f", "h"]);
    assert!(some(&levels, "error: assert(!s)") && !some(&levels, "error: assert(!s | 0)"));
}

#[test]
fn atomic_begin_outlives_its_function_and_blocks() {
    let text = "decl s = 0; void g() { atomic_begin; } \
                void f() { g(); atomic { skip; } assume(!s); atomic_end; assert(!s); } void h() { s := 1; }";
    let levels = run(text, &["f", "h"]);
    assert!(levels[2].contains("1 | assert(!s) | end") && some(&levels, "Assert error"));
    assert!(!some(&levels, "1 | atomic_end"));
}

#[test]
fn a_block_that_a_callee_leaves_does_not_end_the_section_of_its_caller() {
    let text = "decl s = 0; void g() { atomic { return; } } \
                void f() { atomic { assume(!s); g(); assert(!s); } } void h() { s := 1; }";
    assert!(!some(&run(text, &["f", "h"]), "error"));
    let text =
        "decl s = 0; void g() { atomic { assume(!s); return; } } void f() { g(); assert(!s); } void h() { s := 1; }";
    assert!(some(&run(text, &["f", "h"]), "error"));
}

#[test]
fn a_goto_out_of_an_atomic_block_ends_it() {
    let text = "decl s = 0; void h() { s := 1; } \
                void f() { atomic { assume(!s); atomic { goto l; } l: assert(!s | 0); } m: assert(!s); }";
    let levels = run(text, &["f", "h"]);
    assert!(levels[3].contains("Assert error: assert(!s)") && !some(&levels, "error: assert(!s | 0)"));
    let levels = run(&text.replace("goto l", "goto m"), &["f", "h"]);
    assert!(levels[3].contains("Assert error: assert(!s)") && !some(&levels, "leave"));
}

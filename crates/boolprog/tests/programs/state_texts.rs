//! Texts of states: reading a printed state gives the same state, shorter texts have a meaning, and
//! mistakes are reported.

use boolprog::syntax::Program;
use boolprog::{Lowered, Options, print, read};
use cpds::{GlobalState, Source};
use cpds_testing::bounded::{self, Bounds};
use cpds_testing::corpus::{files, repository};
use cpds_testing::programs::{self, ProgramShape};
use proptest::prelude::*;
use std::fs;

/// Prints and reads each reachable state that is not in the middle of a step, and also the state of
/// each thread alone.
fn read_back(lowered: &Lowered, bounds: Bounds) -> usize {
    let (system, map) = (lowered.reading.problem.system(), &lowered.map);
    let mut count = 0;
    for state in bounded::levels(system, bounds).new.into_iter().flatten() {
        let text = map.state_text(&state);
        if map.is_mid_step(state.shared) {
            assert!(map.read_state(system, None, Source::from(&*text)).is_err(), "{text}");
            continue;
        }
        let again = map.read_state(system, None, Source::from(&*text));
        let why = |error| format!("{text}: {error:?}\n{}", lowered.reading.sources[0].text);
        assert_eq!(again.unwrap_or_else(|error| panic!("{}", why(error))), state, "{text}");
        for thread in system.threads() {
            let stack = &state.stacks[thread.index()];
            let text = map.thread_state_text((state.shared, stack));
            let own = map.read_state(system, Some(thread), Source::from(&*text));
            let expected = GlobalState { shared: state.shared, stacks: vec![stack.clone()] };
            assert_eq!(own.unwrap_or_else(|error| panic!("{text}: {error}")), expected, "{text}");
        }
        count += 1;
    }
    count
}

fn lower(program: &Program, options: &Options) -> Lowered {
    let text = print(program);
    read(Source::new("random.bp", &*text), options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn printed_states_are_read_back(program in programs::program(&ProgramShape::default()), threads in 1u32..=2) {
        let lowered = lower(&program, &Options { threads: Some(threads), ..Options::default() });
        read_back(&lowered, Bounds { contexts: 3, height: 3, states: 300 });
    }
}

proptest! {
    #[test]
    fn any_text_has_a_state_or_a_diagnostic(text in "[ -~⟨⟩ε]{0,30}", edits in proptest::collection::vec((any::<prop::sample::Index>(), "[-x=&|,.:()* 0-9é]?"), 0..6)) {
        let mut known: Vec<char> = "x=0 & y=0 & h:4 waits|h:4 main:5.3(calling), f:2.2(a=1, holds m), -".chars().collect();
        for (at, with) in edits {
            let at = at.index(known.len());
            known.splice(at..=at, with.chars());
        }
        let known: String = known.into_iter().collect();
        for text in [text, known] {
            prop_assert!(!meaning_of(&text).is_empty());
        }
    }
}

#[test]
fn the_states_of_the_models() {
    let mut count = 0;
    for path in files(&repository().join("models"), "bp") {
        let text = fs::read_to_string(&path).unwrap();
        let options = Options { threads: Some(2), ..Options::default() };
        let lowered = read(Source::new("model.bp", text), &options).unwrap_or_else(|error| panic!("{error}"));
        count += read_back(&lowered, Bounds { contexts: 3, height: 4, states: 300 });
    }
    assert!(count > 1000, "{count}");
}

const PROGRAM: &str = "decl x = 0, y;
void f(a) { lock(m); g(a); unlock(m); end_thread; }
void g(b) { if (b & x) { g(!b); } atomic { y := b; y := 0; } y := 1; }
void h() { 3: skip; x := 1; x := y; }
void main() { start_thread f(1); h(); start_thread h(); x := 0; }";

/// The complete text of the state that a text describes, or its first error with its help.
fn meaning_of(text: &str) -> String {
    let lowered = read(Source::new("p.bp", PROGRAM), &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let (system, map) = (lowered.reading.problem.system(), &lowered.map);
    match map.read_state(system, None, Source::new("--successors", text)) {
        Ok(state) => map.state_text(&state),
        Err(error) => {
            let first = &error.diagnostics.kept()[0];
            format!("{}: {}; {}", first.message, first.label.as_ref().unwrap().1, first.help.as_ref().unwrap())
        }
    }
}

/// A text may leave out what is unambiguous.
#[test]
fn shorter_texts() {
    assert_eq!(meaning_of("⟨x=0 & y=*|main:5, -, -⟩"), "x=0 & y=*|main:5, -, -");
    assert_eq!(meaning_of("!x & y = *|main:5,-,-"), "x=0 & y=*|main:5, -, -");
    // A lock is held exactly if a thread of the text holds it.
    assert_eq!(meaning_of("x & y=*|h:4,f:2.2(holds m),-"), "x=1 & y=*|h:4, f:2.2(a=1, holds m), -");
    // Variables that are not live may be mentioned.
    assert_eq!(meaning_of("x=1 & y=0|-,f:2.3(a=0,holds m),-"), "x=1 & y=0|-, f:2.3(holds m), -");
    // After the colon, a label takes precedence over a line.
    assert_eq!(meaning_of("x=0 & y=0 & h:4.1 waits|h:4 main:5.3,-,-"), "x=0 & y=0 & h:4 waits|h:4 main:5.3, -, -");
}

#[test]
fn mistakes_in_texts_of_states() {
    assert_eq!(
        meaning_of("x=0"),
        "a state without `|`: the shared variables, `|`, then a place for each thread; as in 'x=1 & y=0|f:12, g:7(a=1)'"
    );
    assert_eq!(
        meaning_of("x=0 & y=0|main:5"),
        "1 place for 3 threads: one for each thread; the threads are: main, f, h; `-` is a thread that is not running"
    );
    assert_eq!(meaning_of("x=0 & z=0|main:5,-,-"), "there is no shared variable `z`: not declared; there are: x, y");
    assert_eq!(
        meaning_of("x=2 & y=0|main:5,-,-"),
        "`x=2` gives no value: 0, 1 or *; write `x=0` or `x=1`; or `x=*` for an open variable"
    );
    assert_eq!(
        meaning_of("x|main:5,-,-"),
        "this describes several states: ambiguous; choose one of `x=1 & y=1`, `x=1 & y=*`, `x=1 & y=0`"
    );
    assert_eq!(
        meaning_of("x=0 & y=0|mian:5,-,-"),
        "there is no place `mian:5`: not in the program; did you mean `main`?"
    );
    assert_eq!(
        meaning_of("x=0 & y=0|main:50,-,-"),
        "there is no place `main:50`: not in the program; a line `f:12`, the second place on it `f:12.2`, a label `L` or `f:L`, or `-`"
    );
    assert_eq!(
        meaning_of("x=0 & y=0|main:5,f:2.2,-"),
        "thread `f` never has this state: not in any run; at this place there is `f:2.2(a=1, holds m)`"
    );
    assert_eq!(
        meaning_of("x=0 & y=0|main:5,h:4,-"),
        "thread `f` never has this state: not in any run; no run of this thread reaches the place"
    );
    assert_eq!(
        meaning_of("x=0 & y=0|main,-,-"),
        "thread `main` has several states like this: ambiguous; choose one of `main:5`, `main:5.2`, `main:5.3`, `main:5.4`, …"
    );
    assert_eq!(meaning_of("x=0 & y=0|main:5,f:2(holds n),-"), "there is no lock `n`: not declared; there are: m");
    assert_eq!(meaning_of("x=0 & y=0|main:5,f:2(b=1),-"), "there is no local variable `b`: not declared; there are: a");
    assert_eq!(
        meaning_of("x=0 & y=0|main:5,,-"),
        "a thread without a place: expected a place; as in `f:12`; `-` is a thread that is not running"
    );
    assert_eq!(meaning_of("x=0 & y=0 & m held|main:5,-,-"), "x=0 & y=0 & m held|main:5, -, -");
}

//! Texts: programs of SatAbs, printed programs, and texts that are not programs.

use boolprog::{BadStates, Options, parse, print, read};
use cpds::Source;
use cpds_testing::corpus::{files, repository};
use cpds_testing::programs::{ProgramShape, program};
use cpds_testing::skipped::skip;
use proptest::prelude::*;
use std::fs;
use std::path::PathBuf;

/// Returns the programs that SatAbs made from C, in a folder next to this repository. If the folder
/// does not exist, the current test is listed as skipped.
fn satabs() -> Vec<PathBuf> {
    let folder = repository().join("../shared/data/satabs-bp");
    if !folder.is_dir() {
        skip("../shared/data/satabs-bp does not exist");
        return Vec::new();
    }
    files(&folder, "bp")
}

#[test]
fn the_programs_of_satabs_are_lowered() {
    for path in satabs() {
        let name = path.display().to_string();
        let source = Source::new(&name, fs::read_to_string(&path).unwrap());
        let options = Options { threads: Some(2), ..Options::default() };
        let lowered = read(source.clone(), &options).unwrap_or_else(|error| panic!("{error}"));
        // The only possible warning is that the limit has no effect.
        assert!(
            lowered
                .reading
                .diagnostics
                .kept()
                .iter()
                .all(|it| it.message.starts_with("a limit of 2 created threads changes nothing")),
            "{name}"
        );
        assert_eq!(lowered.reading.diagnostics.warnings() == 0, lowered.map.threads().limit.is_some(), "{name}");
        let system = lowered.reading.problem.system();
        assert!(system.thread_count() > 1 && !lowered.reading.problem.property().bad.is_empty(), "{name}");
        assert_eq!(lowered.assumptions().is_empty(), lowered.map.threads().limit.is_none(), "{name}");
        // The printed text has the lines of the C program, and is an equal program.
        let printed = print(&lowered.program);
        assert!(printed.contains("main.c line "), "{name}");
        assert_eq!(parse(&Source::new(&name, printed)).0, lowered.program, "{name}");
        // If threads are created in a loop, a limit is necessary.
        assert_eq!(read(source, &Options::default()).is_err(), lowered.map.threads().limit.is_some(), "{name}");
    }
}

#[test]
fn the_models_are_printed_and_read_back() {
    for path in files(&repository().join("models"), "bp") {
        let text = fs::read_to_string(&path).unwrap();
        let (program, diagnostics) = parse(&Source::from(&*text));
        assert!(diagnostics.is_ok(), "{}", path.display());
        assert_eq!(parse(&Source::from(&*print(&program))).0, program, "{}", path.display());
    }
}

/// Different texts of equal programs.
#[test]
fn spellings() {
    let same = |a: &str, b: &str| {
        let program = |text: &str| {
            let (program, diagnostics) = parse(&Source::from(text));
            assert!(diagnostics.is_ok(), "{text}");
            program
        };
        assert_eq!(program(a), program(b), "{a}");
    };
    let in_main = |a: &str, b: &str| same(&format!("void main() {{ {a} }}"), &format!("void main() {{ {b} }}"));
    let in_slam = |a: &str, b: &str| same(&format!("void main() begin {a} end"), &format!("void main() begin {b} end"));
    in_main("thread_create(&f);", "start_thread f();");
    in_main("create_thread(f);", "start_thread f();");
    in_slam("ASYNC_1: f(x);", "ASYNC_1: start_thread f(x);");
    in_slam(
        "if a then skip; elsif b then x := 1; else x := 0; fi",
        "if a then skip; else if b then x := 1; else x := 0; fi fi",
    );
    in_slam("x := T & !F;", "x := true & !false;");
    in_main("if (a) skip; else if (b) x := 1;", "if (a) { skip; } else { if (b) { x := 1; } }");
    in_main("while (a) ; ; L: ; skip; ;", "while (a) { } L: skip; skip;");
    in_main("x := a && b || ~c == d;", "x := a & b | !c = d;");
    in_main("x := a <=> b => c | d ^ e & f = g;", "x := a <=> (b => (c | (d ^ (e & (f = g)))));");
    in_main(
        "x := a => b => c; x := a = b = c; x := a ? b : c ? d : e;",
        "x := a => (b => c); x := (a = b) = c; x := a ? b : (c ? d : e);",
    );
    in_main("lock(); unlock(); f(x); x, _ := f();", "lock; unlock; call f(x); x, _ := call f();");
    in_main("assume x; assert(x) ; abortif (x) | y;", "assume(x); assert x; abortif((x) | y);");
    same(
        "decl a = 0, b := 1, c := *, d; thread_local e; thread_local decl f;",
        "decl a := 0; decl b := 1; decl c; decl d; decl thread_local e, f;",
    );
    in_main("L: L: M: L: skip;", "L: M: skip;");
    in_slam("L: 1: L: while x do skip od; skip", "L: 1: while x do skip; od skip;");
    in_slam(
        "if a then x := 1 elsif b then L: skip else call f() fi; atomic begin goto L end; return",
        "if a then x := 1; elsif b then L: skip; else call f(); fi; atomic begin goto L; end return;",
    );
    same("void f() { }; decl x;", "decl x; void f() { }");
    assert!(
        parse(&Source::from("void main() begin ASYNC_1: x := f(); end")).1.errors() == 1,
        "a thread has no results"
    );
}

/// Words of C that are not keywords here can be names.
#[test]
fn words_of_c_are_names() {
    let text = "decl int, x, TRUE = 1, size_t;
        bool nondet(unsigned, char) { decl long; long := unsigned; return long; }
        void for(x) { break: if (*) { goto break; } }
        void switch(double) { static: skip; }
        bool rand() { return (int) ^ TRUE; }
        void printf() { int := *; continue: for(int); }
        void main() { size_t := nondet(x, int); call switch(1); x := rand(); printf(); assert(int => *); }";
    let (program, diagnostics) = parse(&Source::from(text));
    assert_eq!(diagnostics.kept(), []);
    assert_eq!(parse(&Source::from(&*print(&program))).0, program);
    assert!(read(Source::from(text), &Options::default()).is_ok());
}

/// Every text has a system, or a diagnostic.
fn read_with_each_question(text: &str) {
    let bad_states = [
        BadStates::Errors,
        BadStates::Labels(vec![text.chars().take(20).collect()]),
        BadStates::Targets(vec![Source::from(&*text.chars().take(40).collect::<String>())]),
    ];
    for bad_states in bad_states {
        let options = Options { threads: Some(1), bad_states, ..Options::default() };
        if let Err(error) = read(Source::from(text), &options) {
            assert!(!error.diagnostics.is_ok() && !error.to_string().is_empty());
            for diagnostic in error.diagnostics.kept() {
                for (span, _) in diagnostic.label.iter().chain(&diagnostic.related) {
                    let text = &error.sources[span.source as usize].text;
                    assert!(text.get(span.start as usize..span.end as usize).is_some(), "a place in the text");
                }
            }
        }
    }
}

/// Random sequences of words of the language.
fn random_words() -> impl Strategy<Value = String> {
    let words = "decl thread_local void bool < 2 > main f x y ( ) { } begin end if then else elsif fi while do od atomic lock unlock ; ; , := = \
                 goto L L: assume assert * ! & | ^ 'x constrain call return schoose [ ] dead enforce start_thread thread_create end_thread \
                 atomic_begin atomic_end abortif skip 0 1 T F ? : => <=> != _ /* */ // dfs sync \
                 for break continue switch int struct * ++ + < -> nondet 2 NULL # \"";
    let words: Vec<&'static str> = words.split_whitespace().collect();
    prop::collection::vec(prop::sample::select(words), 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_a_system_or_a_diagnostic(text in "\\PC{0,80}") {
        read_with_each_question(&text);
    }

    #[test]
    fn any_words_have_a_system_or_a_diagnostic(text in random_words(), body in random_words()) {
        read_with_each_question(&text);
        read_with_each_question(&format!("decl x; void f(y) {{ L: skip; {body} }} {text}"));
        read_with_each_question(&format!("decl x; bool<2> f() begin decl y; {body} end {text} void main() begin f(); end"));
    }

    #[test]
    fn changed_programs_have_a_system_or_a_diagnostic(
        program in program(&ProgramShape::default()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), "[ -~]{0,4}"), 1..4),
    ) {
        let mut text = print(&program);
        for (from, to, new) in edits {
            let (from, to) = (from.index(text.len()), to.index(text.len()));
            let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 10));
            text.replace_range(from..to, &new);
        }
        read_with_each_question(&text);
    }
}

/// Joins texts.
fn each(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect::<Vec<_>>().concat()
}

/// Very deep, very long and very many constructs.
#[test]
fn hostile_texts() {
    let many = 100_000;
    let body = |body: String| format!("decl x; void main() {{ {body} }}");
    read_with_each_question(&"(".repeat(many));
    read_with_each_question(&"{".repeat(many));
    read_with_each_question(&body("{".repeat(many)));
    read_with_each_question(&body("if (x) ".repeat(many)));
    read_with_each_question(&body("while (x) { atomic { ".repeat(many)));
    read_with_each_question(&body(format!("x := {}x;", "!".repeat(many))));
    read_with_each_question(&body(format!("x := {}x;", "(".repeat(many))));
    read_with_each_question(&body(format!("x := {}x;", "x & ".repeat(many))));
    read_with_each_question(&body(format!("x := {}x;", "x => ".repeat(many))));
    read_with_each_question(&body(format!("x := {}x;", "x ? x : ".repeat(many))));
    read_with_each_question(&body(format!("x := {}x{};", "schoose[x, ".repeat(many), "]".repeat(many))));
    read_with_each_question(&body("x := *; ".repeat(20_000)));
    read_with_each_question(&body("L: goto L, L; ".repeat(1000)));
    read_with_each_question(&body("L: ".repeat(many)));
    read_with_each_question(&body(each(many, |i| format!("L{i}: "))));
    read_with_each_question(&body("for (; ".repeat(many)));
    read_with_each_question(&body("if x ".repeat(many)));
    read_with_each_question(&body("{ ; ".repeat(many)));
    read_with_each_question(&body("x + ".repeat(many)));
    read_with_each_question(&body("(int) ".repeat(many)));
    read_with_each_question(&"void f( ".repeat(many));
    read_with_each_question(&"int int* ".repeat(many));
    read_with_each_question(&"void f(int ".repeat(many));
    read_with_each_question(&"struct s { ".repeat(many));
    read_with_each_question(&"#\n".repeat(many));
    read_with_each_question(&"\"".repeat(many));
    read_with_each_question(&format!("decl {};", vec!["x"; many].join(", ")));
    read_with_each_question(&each(2000, |i| format!("decl x{i};")));
    let doubling = |i: usize| format!("void f{i}() {{ f{}(); f{}(); }} ", i + 1, i + 1);
    read_with_each_question(&each(2000, doubling));
    let chain = each(500, doubling);
    read_with_each_question(&format!(
        "{chain} void f500() {{ thread_create(&g); }} void g() {{ }} void main() {{ f0(); }}"
    ));
    // Forty variables that may change at any time: too large.
    let names = (0..40).map(|i| format!("x{i}")).collect::<Vec<_>>().join(", ");
    let flips = each(40, |i| format!("if (x{i}) {{ x{i} := 0; }} else {{ x{i} := 1; }} "));
    let program = format!("decl {names}; void main() {{ while (*) {{ {flips} }} }}");
    let options = Options { memory: 64 << 20, ..Options::default() };
    let error = read(Source::from(&*program), &options).unwrap_err();
    assert!(error.to_string().contains("the system of the program takes more than 64 MiB of memory"), "{error}");
}

//! Laws of the formats: reading a printed system gives the same system, and no text makes a reader
//! panic.

use cpds::{Problem, ReadError, Reader, Reading, Source, print_cpds, print_pds};
use cpds_testing::corpus::{artifact, files, models};
use cpds_testing::oracle::levels;
use cpds_testing::random::{Shape, problem};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn read_cpds(text: &str) -> Result<Reading, ReadError> {
    Reader::cpds(Source::new("printed.cpds", text)).finish()
}

fn read_pds(pds: &str, init: &str, spec: &str) -> Result<Reading, ReadError> {
    let mut reader = Reader::pds(Source::new("printed.pds", pds));
    reader.init_file(Source::new("printed.init", init));
    reader.spec_file(Source::new("printed.spec", spec));
    reader.finish()
}

fn through_cpds(problem: &Problem) -> Problem {
    let reading = read_cpds(&print_cpds(problem)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(reading.diagnostics.kept(), [], "a printed system gives no warnings");
    reading.problem
}

/// Prints a system as `.pds` and reads it without a warning.
fn through_pds(problem: &Problem) -> Problem {
    let text = print_pds(problem);
    let reading = read_pds(&text.pds, &text.init, &text.spec).unwrap_or_else(|e| panic!("{e}\n{text:?}"));
    assert_eq!(reading.diagnostics.warnings(), 0, "{:?}\n{text:?}", reading.diagnostics.kept());
    reading.problem
}

/// Returns counts that do not depend on names.
fn fingerprint(problem: &Problem) -> (Vec<usize>, Vec<usize>, Option<usize>, usize) {
    let levels = levels(problem.system(), 2, 3);
    let groups = problem.system().symmetric_groups().len();
    (levels.reachable_counts(), levels.visible_counts(), levels.first_violation(problem), groups)
}

fn read_artifact(pds: &Path) -> Problem {
    let read = |path: &Path| Source::new(path.display().to_string(), fs::read_to_string(path).expect("readable"));
    let mut reader = Reader::pds(read(pds));
    reader.init_file(read(&pds.with_extension("init")));
    let spec = pds.with_extension("spec");
    if spec.exists() {
        reader.spec_file(read(&spec));
    }
    reader.finish().unwrap_or_else(|e| panic!("{e}")).problem
}

proptest! {
    #[test]
    fn print_then_parse_is_the_identity(problem in problem(&Shape::default())) {
        prop_assert_eq!(through_cpds(&problem), problem);
    }

    #[test]
    fn pds_keeps_the_system_up_to_names(problem in problem(&Shape { symbols: 0..=3, height: 0..=2, actions: 0..=6, ..Shape::default() })) {
        let numbered = through_pds(&problem);
        prop_assert_eq!(fingerprint(&numbered), fingerprint(&problem));
        // A second pass changes nothing.
        prop_assert_eq!(&through_pds(&through_cpds(&numbered)), &numbered);
    }

    #[test]
    fn states_read_back_in_both_notations(problem in problem(&Shape::default())) {
        let system = problem.system();
        for state in system.initial() {
            prop_assert_eq!(&system.read_state(system.text(state).to_string().as_str()).unwrap(), state);
            prop_assert_eq!(&system.read_state(system.paper(state).to_string().as_str()).unwrap(), state);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        readers_answer(&text);
    }

    #[test]
    fn almost_right_text_is_read_or_refused(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "shared", "init", "bad", "thread", "symbols", "PDA", "0", "1", "4000000000", "18446744073709551616", "a",
                "x.y", "any", "thread a * any", "a*any", "..", "->", "→", "-", "ε", "*", ",", "|", ":", "(", ")", "{", "}", "<", "⟨", "⟩", ";", "\n", "#",
                "\r\n", "\u{feff}", "\0", "\"", " ",
            ]),
            0..60,
        ),
        spaced in any::<bool>(),
    ) {
        readers_answer(&words.join(if spaced { " " } else { "" }));
    }

    #[test]
    fn mutated_systems_are_read_or_refused(
        problem in problem(&Shape::default()),
        pds in any::<bool>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<char>(), 0..3), 1..6),
    ) {
        let text = if pds { print_pds(&problem).pds } else { print_cpds(&problem) };
        let mut text: Vec<char> = text.chars().collect();
        for (place, c, edit) in edits {
            let at = place.index(text.len());
            match edit {
                0 => text[at] = c,
                1 => text.insert(at, c),
                _ if text.len() > 1 => drop(text.remove(at)),
                _ => {}
            }
        }
        readers_answer(&text.into_iter().collect::<String>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// Typical mistakes: a word or a line is missing, repeated, or replaced by another one.
    #[test]
    fn systems_with_words_and_lines_out_of_place_are_read_or_refused(
        problem in problem(&Shape { actions: 0..=3, ..Shape::default() }),
        pds in any::<bool>(),
        by_line in any::<bool>(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3), 1..4),
    ) {
        let text = if pds { print_pds(&problem).pds } else { print_cpds(&problem) };
        let ends = |c: char| if by_line { c == '\n' } else { !c.is_alphanumeric() };
        let mut pieces: Vec<&str> = text.split_inclusive(ends).collect();
        for (place, other, edit) in edits {
            let (at, other) = (place.index(pieces.len()), other.index(pieces.len()));
            match edit {
                0 => pieces[at] = pieces[other],
                1 => pieces.insert(at, pieces[other]),
                _ if pieces.len() > 1 => drop(pieces.remove(at)),
                _ => {}
            }
        }
        readers_answer(&pieces.concat());
    }
}

/// Checks that each reader either makes a system of a text or reports errors, whose places are in
/// the text.
fn readers_answer(text: &str) {
    let one = "1\nPDA 0 0\n";
    // Every template that has one of these names gets threads.
    let mut family = Reader::cpds(Source::new("family.cpds", text));
    family.instances(
        ["P", "a", "x.y"]
            .map(|name| (name.to_owned(), 2))
            .into_iter()
            .filter(|(name, _)| text.contains(&format!("{name} * any"))),
    );
    for reading in [
        read_cpds(text),
        family.finish(),
        read_pds(text, "0|0", ""),
        read_pds(one, text, ""),
        read_pds(one, "0|0", text),
    ] {
        let (sources, diagnostics) = match reading {
            Ok(Reading { problem, sources, diagnostics }) => {
                assert!(diagnostics.is_ok());
                assert_eq!(through_cpds(&problem), problem);
                (sources, diagnostics)
            }
            Err(ReadError { sources, diagnostics }) => {
                assert!(!diagnostics.is_ok());
                (sources, diagnostics)
            }
        };
        for diagnostic in diagnostics.kept() {
            for (span, _) in diagnostic.label.iter().chain(&diagnostic.related) {
                let text = &sources[span.source as usize].text;
                assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} in {text:?}");
            }
        }
    }
}

/// Alphabets that are not ranges: with names, with numbers, with gaps that are too wide, and with
/// so many symbols that not all of them can be in ranges.
#[test]
fn alphabets_that_are_not_ranges() {
    let printed = |text: &str| {
        let problem: Problem = text.parse().unwrap();
        let text = print_pds(&problem);
        let numbered = through_pds(&problem);
        assert_eq!(through_pds(&through_cpds(&numbered)), numbered);
        text.pds.lines().filter(|line| line.starts_with("PDA")).collect::<Vec<_>>().join("\n")
    };
    let symbols = |names: &str| if names.is_empty() { String::new() } else { format!("symbols {names}") };
    let two = |a: &str, b: &str| {
        format!("shared 0; init 0|-,-; thread A {{ {} }}\nthread B {{ {} }}", symbols(a), symbols(b))
    };
    assert_eq!(printed(&two("x y z", "z x")), "PDA 0 2 # A\nPDA 0 2 # B");
    assert_eq!(printed(&two("1 5", "3 2")), "PDA 1 5 # A\nPDA 2 3 # B");
    assert_eq!(printed(&two("0 4000000000", "4000000000")), "PDA 0 1 # A\nPDA 1 1 # B");
    assert_eq!(printed(&two("", "7")), "PDA 0 0 # A\nPDA 7 7 # B");

    let many: Vec<String> = (0..4000).map(|i| format!("s{i}")).collect();
    let others: Vec<_> = (0..1000).map(|i| format!("thread T{i} {{ symbols s0 s3999 }}\n")).collect();
    let others = others.concat();
    let text = format!("shared 0\ninit 0|-*1001\nthread A {{ symbols {} }}\n{others}", many.join(" "));
    let text = print_pds(&text.parse().unwrap());
    assert!(
        text.pds.contains("PDA 0 3999 # A\n") && text.pds.contains("PDA 0 0 # T0\n"),
        "a million symbols are too many"
    );
    read_pds(&text.pds, &text.init, &text.spec).unwrap();
}

#[test]
fn every_model_prints_and_reads_back() {
    for model in models() {
        assert_eq!(through_cpds(&model.problem), model.problem, "{}", model.name);
        let numbered = through_pds(&model.problem);
        assert_eq!(through_pds(&through_cpds(&numbered)), numbered, "{}", model.name);
    }
}

#[test]
fn every_file_of_the_artifact_loads_and_survives_both_formats() {
    let Some(folder) = artifact("the artifact's 24 .pds files") else { return };
    let files = files(&folder, "pds");
    assert_eq!(files.len(), 24);
    for file in files {
        let (name, original) = (file.display(), read_artifact(&file));
        let as_cpds = through_cpds(&original);
        assert_eq!(as_cpds, original, "{name}");
        // If a file mentions symbols outside its ranges, the printed ranges are larger.
        let is_range = |symbols: Vec<u32>| symbols.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let symbol = |symbol| original.system().symbol_name(symbol).parse::<u32>().unwrap();
        let mut programs = original.system().programs().iter();
        let numbered = through_pds(&as_cpds);
        if programs.all(|program| is_range(program.alphabet().iter().map(symbol).collect())) {
            assert_eq!(numbered, original, "{name}");
        }
        assert_eq!(through_pds(&numbered), numbered, "{name}");
    }
}

#[test]
fn replacing_the_initial_states_by_none_leaves_none() {
    let mut reader = Reader::pds("1\nPDA 0 0\n".into());
    reader.init_file("0|0".into());
    reader.replace_initial([]);
    assert!(reader.finish().unwrap_err().to_string().contains("no initial state"));
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_text() {
    let problem: Problem = "\u{feff}shared 0; init 0|-; thread P { }".parse().unwrap();
    assert_eq!(problem.system().shared_names().len(), 1);
}

/// Limits count each copy of a thread, so a system with separate copies does not exceed them.
#[test]
fn the_largest_systems_convert() {
    let most_threads: Problem = "shared 0; init 0|-*1024; thread P*1024 { symbols 0..99 }".parse().unwrap();
    assert_eq!(through_pds(&most_threads).system().programs().len(), 1024);
    let too_many_threads = "shared 0; init 0|-*1025; thread P*1024 { } thread Q { }";
    let too_many_symbols = "shared 0; init 0|-*2; thread P*2 { symbols 0..600000 }";
    for text in [too_many_threads, too_many_symbols] {
        assert!(text.parse::<Problem>().is_err(), "{text}");
    }
}

/// Given initial states and bad patterns replace those of the files. A mistake in them is an error.
#[test]
fn given_states_and_patterns_replace_those_of_the_files() {
    let text = "shared 0 1; init 0|a; bad 1|b; thread P { symbols a b }";
    let read = |init: &[&str], bad: &[&str]| {
        let mut reader = Reader::cpds(Source::new("x", text));
        if !init.is_empty() {
            reader.replace_initial(init.iter().map(|&text| text.into()));
        }
        if !bad.is_empty() {
            reader.replace_bad(bad.iter().map(|&text| text.into()));
        }
        let problem = reader.finish().map_err(|error| error.to_string())?.problem;
        let system = problem.system();
        let init: Vec<_> = system.initial().iter().map(|state| system.text(state).to_string()).collect();
        let bad: Vec<_> = problem.property().bad.iter().map(|state| system.text(state).to_string()).collect();
        Ok::<_, String>((init.join(" "), bad.join(" ")))
    };
    let told = |init: &str, bad: &str| Ok((init.to_owned(), bad.to_owned()));
    assert_eq!(read(&[], &[]), told("0|a", "1|b"));
    assert_eq!(read(&["1|a b", "0|-"], &[]), told("1|a b 0|-", "1|b"));
    assert_eq!(read(&[], &["*|a", "0|-"]), told("0|a", "*|a 0|-"));
    // Missing initial states are not reported, because one was given, though with a mistake.
    assert_eq!(
        read(&["1"], &[]),
        Err("text:1:2: error: expected `|` after the shared state, found end of text".to_owned())
    );
    assert_eq!(read(&["1|a; 0|a"], &[]), Err("text:1:6: error: expected the end of the state, found `0`".to_owned()));
}

/// Mistakes in states. A stack that is written once for several threads is resolved for each
/// program.
#[test]
fn states_that_do_not_fit_are_refused() {
    let told = |states: &str| {
        let text = format!("shared 0; {states}\nthread A {{ symbols a }}\nthread B {{ symbols b }}");
        read_cpds(&text).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(told("init 0|a,b; bad 0|a,*"), Ok(()));
    for (states, why) in [
        ("init 0|a*2", "1:18: error: unknown stack symbol `a`"),
        ("init 0|a", "1:16: error: a state with 1 stack in a system with 2 threads"),
        ("init 0|a,b,b", "1:16: error: a state with 3 stacks in a system with 2 threads"),
        ("init 0|a,b; bad 0|a a,*", "1:29: error: a bad pattern describes visible states"),
        ("init 0|*,b", "1:18: error: `*` in a state"),
    ] {
        let error = told(states).unwrap_err();
        assert!(error.starts_with(&format!("printed.cpds:{why}")), "{states}: {error}");
    }
}

/// `07` is the number 7 in the artifact's format, and a name in our format.
#[test]
fn numbers_and_names() {
    let names = read_cpds("shared 7 07 007 0 00; init 07|a; thread A { symbols a }").unwrap().problem;
    assert_eq!(names.system().shared_names().len(), 5);
    let numbers = read_pds("8\nPDA 00 01\n007 01 -> 000 1\n", "7|1", "").unwrap();
    let twice = read_pds("8\nPDA 0 1\n7 1 -> 0 1\n07 01 -> 00 01\n", "7|1", "").unwrap();
    assert_eq!(print_cpds(&numbers.problem), print_cpds(&twice.problem));
    assert_eq!(numbers.diagnostics.kept(), []);
    let [warning] = twice.diagnostics.kept() else { panic!("{:?}", twice.diagnostics.kept()) };
    assert_eq!(warning.message, "action given twice");
}

/// The limit is on the number of elements of a range, not on its highest element.
#[test]
fn ranges() {
    let shared = |ranges: &str| format!("shared {ranges}; init 9000000|a; thread A {{ symbols a }}").parse::<Problem>();
    assert_eq!(shared("9000000..9000009").unwrap().system().shared_names().len(), 10);
    let error = shared("0..600000 9000000..9600000").unwrap_err().to_string();
    assert!(error.contains("too many shared states"), "{error}");
}

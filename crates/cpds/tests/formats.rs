//! Laws of the formats: what is printed reads back as the same system, and nothing makes the readers panic.

use cpds::{Problem, Reader, Reading, Source, print_cpds, print_pds};
use cpds_testing::corpus::{artifact, files, models};
use cpds_testing::oracle::levels;
use cpds_testing::random::{Shape, problem};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn read_cpds(text: &str) -> Reading {
    Reader::cpds(Source::new("printed.cpds", text)).finish()
}

fn read_pds(pds: &str, init: &str, spec: &str) -> Reading {
    let mut reader = Reader::pds(Source::new("printed.pds", pds));
    reader.init_file(Source::new("printed.init", init));
    reader.spec_file(Source::new("printed.spec", spec));
    reader.finish()
}

fn through_cpds(problem: &Problem) -> Problem {
    let reading = read_cpds(&print_cpds(problem));
    assert_eq!(reading.diagnostics.kept(), [], "what is printed needs no remarks");
    reading.problem.expect("no diagnostics")
}

fn through_pds(problem: &Problem) -> Problem {
    let text = print_pds(problem);
    let reading = read_pds(&text.pds, &text.init, &text.spec);
    let diagnostics = reading.diagnostics;
    reading.problem.unwrap_or_else(|| panic!("{diagnostics:?}\n{text:?}"))
}

/// Counts that do not depend on what anything is called.
fn fingerprint(problem: &Problem) -> (Vec<usize>, Vec<usize>, Option<usize>, usize) {
    let levels = levels(&problem.system, 3, 5);
    let groups = problem.system.symmetric_groups().len();
    (levels.reachable_counts(), levels.visible_counts(), levels.first_violation(problem), groups)
}

fn read_artifact(pds: &Path) -> Reading {
    let read = |path: &Path| Source::new(path.display().to_string(), fs::read_to_string(path).expect("readable"));
    let mut reader = Reader::pds(read(pds));
    reader.init_file(read(&pds.with_extension("init")));
    let spec = pds.with_extension("spec");
    if spec.exists() {
        reader.spec_file(read(&spec));
    }
    reader.finish()
}

proptest! {
    #[test]
    fn print_then_parse_is_the_identity(problem in problem(&Shape::default())) {
        prop_assert_eq!(through_cpds(&problem), problem);
    }

    #[test]
    fn pds_keeps_the_system_up_to_names(problem in problem(&Shape { copies: 1..=2, actions: 0..=6, ..Shape::default() })) {
        let numbered = through_pds(&problem);
        prop_assert_eq!(fingerprint(&numbered), fingerprint(&problem));
        // Once in that format, nothing is lost any more.
        prop_assert_eq!(&through_pds(&through_cpds(&numbered)), &numbered);
    }

    #[test]
    fn states_read_back_in_both_notations(problem in problem(&Shape::default())) {
        let system = &problem.system;
        for state in system.initial() {
            prop_assert_eq!(&system.read_state(&system.text(state).to_string()).unwrap(), state);
            prop_assert_eq!(&system.read_state(&system.paper(state).to_string()).unwrap(), state);
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
                "x.y", "..", "->", "→", "-", "ε", "*", ",", "|", ":", "(", ")", "{", "}", "<", "⟨", "⟩", ";", "\n", "#",
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

    /// Mistakes as people make them: a word or a line left out, repeated, or in the place of another.
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

/// Whatever the text is, each reader either makes a system or gives a reason, at places that are in the text.
fn readers_answer(text: &str) {
    let one = "1\nPDA 0 0\n";
    for reading in [read_cpds(text), read_pds(text, "0|0", ""), read_pds(one, text, ""), read_pds(one, "0|0", text)] {
        assert_eq!(reading.problem.is_some(), reading.diagnostics.is_ok());
        for diagnostic in reading.diagnostics.kept() {
            for (span, _) in diagnostic.label.iter().chain(&diagnostic.related) {
                let text = &reading.sources[span.source as usize].text;
                assert!(text.get(span.start as usize..span.end as usize).is_some(), "{span:?} in {text:?}");
            }
        }
    }
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
        let reading = read_artifact(&file);
        let name = file.display();
        let original = reading.problem.unwrap_or_else(|| panic!("{name}: {:?}", reading.diagnostics));
        let as_cpds = through_cpds(&original);
        assert_eq!(as_cpds, original, "{name}");
        assert_eq!(through_pds(&as_cpds), original, "{name}");
    }
}

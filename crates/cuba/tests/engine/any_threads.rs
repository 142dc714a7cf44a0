//! Members of families with known answers: a bug needs the expected number of threads and contexts,
//! and fewer threads have no bug.

use cpds::{Problem, Reader, Source};
use cpds_testing::corpus::repository;
use cpds_testing::skipped::skip;
use cuba::{Options, Verdict, verify};
use std::fs;

/// Returns the member of a family with these threads; `None` if no initial state has so few.
fn member(name: &str, text: &str, instances: &[(String, u32)]) -> Option<Problem> {
    let mut reader = Reader::cpds(Source::new(name, text));
    reader.instances(instances.iter().cloned());
    match reader.finish() {
        Ok(reading) => Some(reading.problem),
        Err(error) => {
            let error = error.to_string();
            let has_no_thread = instances.iter().all(|(_, threads)| *threads == 0);
            assert!(has_no_thread || error.contains("names more threads"), "{error}");
            None
        }
    }
}

/// Returns the number of contexts of a bug in a member, if there is one within twelve contexts.
fn contexts_of_bug(name: &str, text: &str, instances: &[(String, u32)]) -> Option<usize> {
    let problem = member(name, text, instances)?;
    let options = Options { max_contexts: Some(12), max_depth: Some(1), ..Options::default() };
    let answer = verify(&problem, &options).unwrap_or_else(|mistake| panic!("{name}: {mistake}"));
    match answer.verdict() {
        Verdict::Unsafe { trace, .. } => Some(trace.contexts.len()),
        _ => None,
    }
}

/// Returns all ways to give this number of threads to the templates.
fn vectors(templates: &[String], sum: u32) -> Vec<Vec<(String, u32)>> {
    let Some((first, rest)) = templates.split_first() else {
        return if sum == 0 { vec![Vec::new()] } else { Vec::new() };
    };
    let with = |threads: u32| {
        let others = vectors(rest, sum - threads).into_iter();
        others.map(move |others| [&[(first.clone(), threads)], &others[..]].concat())
    };
    (0..=sum).flat_map(with).collect()
}

#[test]
fn bugs_of_families_need_the_expected_threads() {
    let folder = repository().join("../shared/data/any-threads");
    let Ok(expected) = fs::read_to_string(folder.join("expected.tsv")) else {
        return skip("../shared/data/any-threads does not exist, so not tested: members of families");
    };
    let mut bugs = 0;
    for row in expected.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let text = fs::read_to_string(folder.join(cells[0])).expect("the file of the row");
        let headers = text.lines().filter_map(|line| line.strip_prefix("thread ")?.split_once(" * any"));
        let templates: Vec<String> = headers.map(|(name, _)| name.trim().to_owned()).collect();
        assert!(!templates.is_empty(), "{}", cells[0]);
        if cells[2] == "safe" {
            for instances in (0..=2).flat_map(|sum| vectors(&templates, sum)) {
                assert_eq!(contexts_of_bug(cells[0], &text, &instances), None, "{}: {instances:?}", cells[0]);
            }
            continue;
        }
        let least = cells[3].split(' ').next().expect("a cell");
        let named = |name: &str| {
            let found = least.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('=')?.parse().ok());
            found.unwrap_or(0)
        };
        let instances: Vec<(String, u32)> = templates.iter().map(|name| (name.clone(), named(name))).collect();
        let contexts = cells[4].parse().expect("the number of contexts");
        assert_eq!(contexts_of_bug(cells[0], &text, &instances), Some(contexts), "{}: {instances:?}", cells[0]);
        let sum: u32 = instances.iter().map(|(_, threads)| threads).sum();
        for fewer in vectors(&templates, sum - 1) {
            assert_eq!(contexts_of_bug(cells[0], &text, &fewer), None, "{}: {fewer:?}", cells[0]);
        }
        bugs += 1;
    }
    assert!(bugs >= 8, "only {bugs} families with a bug");
}

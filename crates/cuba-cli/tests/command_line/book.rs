//! The documentation as a book: links are valid, every page is in the table of contents, and
//! programs on the pages are equal to the files.

use crate::markdown::{anchors, blocks, links, pages};
use cpds_testing::corpus::{all_files, files, repository};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The local files that the links of a page lead to, each with its anchor, if there is one.
fn targets(page: &Path) -> Vec<(PathBuf, Option<String>)> {
    let text = fs::read_to_string(page).unwrap();
    let local = links(&text).into_iter().filter(|link| !link.contains("://"));
    let target = |link: String| {
        let (path, anchor) = match link.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor.to_owned())),
            None => (&*link, None),
        };
        (if path.is_empty() { page.to_owned() } else { plain(&page.with_file_name("").join(path)) }, anchor)
    };
    local.map(target).collect()
}

/// The path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    plain
}

fn docs(path: &str) -> PathBuf {
    plain(&repository().join("docs").join(path))
}

#[test]
fn links_lead_somewhere() {
    let mut found = 0;
    for page in pages() {
        for (target, anchor) in targets(&page) {
            assert!(target.exists(), "{} links to {}, which does not exist", page.display(), target.display());
            if let Some(anchor) = anchor {
                let anchors = anchors(&fs::read_to_string(&target).unwrap());
                assert!(anchors.contains(&anchor), "{}: {} has no #{anchor}", page.display(), target.display());
            }
            found += 1;
        }
    }
    assert!(found >= 100, "the documentation has links: {found}");
}

#[test]
fn every_page_is_in_the_table_of_contents_once() {
    let mut listed: Vec<PathBuf> = targets(&docs("SUMMARY.md")).into_iter().map(|(target, _)| target).collect();
    listed.sort();
    let mut pages = files(&docs(""), "md");
    pages.retain(|page| *page != docs("SUMMARY.md"));
    assert_eq!(listed, pages);
}

/// Even without the table of contents, by links from the front page.
#[test]
fn every_page_can_be_reached() {
    let (mut reached, mut next) = (BTreeSet::new(), vec![docs("README.md")]);
    while let Some(page) = next.pop() {
        if page.extension().is_some_and(|found| found == "md") && reached.insert(page.clone()) {
            next.extend(targets(&page).into_iter().map(|(target, _)| target));
        }
    }
    for page in files(&docs(""), "md") {
        assert!(reached.contains(&page) || page == docs("SUMMARY.md"), "nothing leads to {}", page.display());
    }
}

/// A program in the guide is equal to the file that the sentence before it names. Every such file
/// is used.
#[test]
fn programs_in_the_guide_are_those_in_the_files() {
    const FOLDER: &str = "docs/guide/programs/";
    let mut pages = String::new();
    for page in files(&docs("guide"), "md") {
        let text = fs::read_to_string(&page).unwrap();
        for block in blocks(&text).iter().filter(|block| ["bp", "cpds"].contains(&block.language)) {
            let paragraph = block.before.trim_end().rsplit("\n\n").next().expect("a part");
            let name = paragraph.rsplit_once(FOLDER).and_then(|(_, rest)| rest.split('`').next());
            let name = name.unwrap_or_else(|| panic!("{}: which file is this?\n{}", page.display(), block.text));
            let file = fs::read_to_string(repository().join(FOLDER).join(name)).unwrap();
            assert_eq!(block.text, file, "{}: {name}", page.display());
        }
        pages += &text;
    }
    for file in all_files(&repository().join(FOLDER)) {
        let name = file.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(pages.contains(&format!("{FOLDER}{name}")), "no page mentions {name}");
    }
}

/// The times in the README are those in the benchmark page.
#[test]
fn the_time_of_fifty_million_states() {
    let measured = fs::read_to_string(repository().join("docs/benchmark.md")).unwrap();
    let rows: Vec<Vec<&str>> = measured
        .lines()
        .filter(|line| line.starts_with("| 50199300 |"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let [one, two] = &rows[..] else { panic!("one core, and two") };
    // Two digits.
    let seconds = |row: &[&str]| {
        let time: f64 = row[4].parse().unwrap();
        if time < 10.0 { format!("{time:.1} s") } else { format!("{time:.0} s") }
    };
    let bytes: f64 = one[9].parse().unwrap();
    let sentence = format!(
        "A system of 50 million states takes {} on one core, {} on two, and {bytes:.0} bytes of memory a state in all.",
        seconds(one),
        seconds(two)
    );
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let readme: Vec<&str> = readme.split_whitespace().collect();
    assert!(readme.join(" ").contains(&sentence), "{sentence}");
}

//! A parser for the part of Markdown that the pages of the documentation use.

use cpds_testing::corpus::{files, repository};
use std::path::PathBuf;

/// Every page: those in `docs` and its subfolders, and the README.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages = files(&repository().join("docs"), "md");
    pages.push(repository().join("README.md"));
    pages
}

/// A block between fences.
pub(crate) struct Block<'a> {
    pub(crate) language: &'a str,
    pub(crate) text: &'a str,
    /// Everything on the page before it.
    pub(crate) before: &'a str,
}

const FENCE: &str = "```";

pub(crate) fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let (mut start, mut open) = (0, None);
    for line in page.split_inclusive('\n') {
        let end = start + line.len();
        if let Some(language) = line.trim_start().strip_prefix(FENCE) {
            open = match open {
                None => Some((language.trim(), start, end)),
                Some((language, from, inside)) => {
                    blocks.push(Block { language, text: &page[inside..start], before: &page[..from] });
                    None
                }
            };
        }
        start = end;
    }
    assert!(open.is_none(), "a block does not end");
    blocks
}

/// The lines that are not in blocks.
fn lines(page: &str) -> Vec<&str> {
    let mut is_block = false;
    let mut is_text = |line: &&str| {
        let is_fence = line.trim_start().starts_with(FENCE);
        is_block ^= is_fence;
        !is_block && !is_fence
    };
    page.lines().filter(|line| is_text(line)).collect()
}

/// The targets of the links and pictures of the page. Text between backquotes has no links.
pub(crate) fn links(page: &str) -> Vec<String> {
    let text = lines(page).join("\n");
    let prose: String = text.split("\n\n").flat_map(|paragraph| paragraph.split('`').step_by(2)).collect();
    let targets = prose.split("](").skip(1);
    targets.map(|target| target.split(')').next().expect("a part").to_owned()).collect()
}

/// The anchors of the headings: lower case, words joined by hyphens, without punctuation.
pub(crate) fn anchors(page: &str) -> Vec<String> {
    let headings = lines(page).into_iter().filter(|line| line.starts_with('#'));
    let name = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.chars().filter(|&c| c.is_alphanumeric() || " -_".contains(c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(name).collect()
}

#[test]
fn the_parts_of_a_page() {
    let page =
        "# A `b`: c\n[x](y.md#z), `[no](link)`\n\n```sh\n# no heading\n[no](link)\n```\n\n![](p.svg)\n## D e-f\n";
    assert_eq!(links(page), ["y.md#z", "p.svg"]);
    assert_eq!(anchors(page), ["a-b-c", "d-e-f"]);
    let [block] = &blocks(page)[..] else { panic!("one") };
    assert_eq!((block.language, block.text), ("sh", "# no heading\n[no](link)\n"));
    assert!(block.before.ends_with("`[no](link)`\n\n"));
}

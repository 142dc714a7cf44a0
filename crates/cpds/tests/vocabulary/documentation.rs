//! Every model in the documentation is valid.

use cpds::{Reader, Source};
use cpds_testing::corpus::{files, repository};
use std::fs;

#[test]
fn every_model_in_the_documentation_is_valid() {
    let mut pages = files(&repository().join("docs"), "md");
    pages.push(repository().join("README.md"));
    let mut found = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("```cpds\n").skip(1) {
            let block = block.split("```").next().unwrap();
            let reading = Reader::cpds(Source::new(page.display().to_string(), block)).finish();
            let reading = reading.unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(reading.diagnostics.kept(), [], "in {}:\n{block}", page.display());
            found += 1;
        }
    }
    assert!(found >= 3, "the documentation has only {found} examples");
}

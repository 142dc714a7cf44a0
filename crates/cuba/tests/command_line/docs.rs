//! Every command that the documentation shows prints what it shows.

use crate::common::{in_repository, words};
use cpds_testing::corpus::{files, repository};
use std::fs;

#[test]
fn the_commands_in_the_documentation_print_what_it_says() {
    let mut pages = files(&repository().join("docs"), "md");
    pages.push(repository().join("README.md"));
    let mut found = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("```console\n$ cuba ").skip(1) {
            let block = block.split("```").next().unwrap();
            let (command, expected) = block.split_once('\n').unwrap();
            let printed = in_repository(&words(command)).stdout;
            assert_eq!(printed, expected, "{}: cuba {command}", page.display());
            found += 1;
        }
    }
    assert!(found >= 4, "the documentation shows commands");
}

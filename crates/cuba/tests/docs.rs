//! Every command that the documentation shows prints what it shows.

use cpds_testing::corpus::{files, repository};
use std::fs;
use std::process::Command;

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
            // Words, where '…' is one.
            let quoted = command.split('\'').enumerate();
            let args = quoted.flat_map(|(i, part)| match i % 2 {
                0 => part.split_whitespace().map(str::to_owned).collect(),
                _ => vec![part.to_owned()],
            });
            let cuba = Command::new(env!("CARGO_BIN_EXE_cuba")).args(args).current_dir(repository()).output().unwrap();
            assert_eq!(String::from_utf8(cuba.stdout).unwrap(), expected, "{}: cuba {command}", page.display());
            found += 1;
        }
    }
    assert!(found >= 4, "the documentation shows commands");
}

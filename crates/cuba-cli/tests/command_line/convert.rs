//! `cuba convert`: from one format to another, and back.

use crate::common::{cuba, done, in_repository};
use cpds_testing::corpus::repository;
use insta::assert_snapshot;
use std::fs;

#[test]
fn json_of_convert() {
    assert_snapshot!(done(&["convert", "models/tiny/non-fcr.cpds", "--json", "--to", "pds"]), @r#"
    {
      "file": "models/tiny/non-fcr.cpds",
      "to": "pds",
      "output": [
        {
          "extension": "pds",
          "path": null,
          "text": "1\nPDA 0 0 # recurse\n# symbol 0 is a\n0 0 -> 0 0 0\n"
        },
        {
          "extension": "init",
          "path": null,
          "text": "0|0\n"
        },
        {
          "extension": "spec",
          "path": null,
          "text": "0|-\n"
        }
      ],
      "warnings": []
    }
    "#);
}

#[test]
fn convert_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let fig2 = repository().join("models/paper/fig2.cpds");
    let run = |args: &[&str]| {
        let ran = cuba(folder.path(), args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran
    };
    let wrote = run(&["convert", fig2.to_str().unwrap(), "--to", "pds", "-o", "fig2.pds"]);
    assert_eq!(wrote.stdout, "");
    assert_snapshot!(wrote.stderr, @"
    wrote fig2.pds
    wrote fig2.init
    wrote fig2.spec
    ");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_snapshot!(read("fig2.pds").lines().take(8).collect::<Vec<_>>().join("\n"), @"
    3
    # shared state 0 is ⊥
    # shared state 1 is 0
    # shared state 2 is 1
    PDA 2 5 # foo
    0 2 -> 1 2 # f0
    0 2 -> 2 2 # f0
    1 2 -> 1 3 # f2a
    ");
    assert_snapshot!(read("fig2.init") + &read("fig2.spec"), @"
    0|2,6
    *|5,9
    ");

    run(&["convert", "fig2.pds", "--to", "cpds", "-o", "back.cpds"]);
    run(&["convert", "back.cpds", "--to", "pds", "-o", "again.pds"]);
    let actions =
        |name: &str| read(name).lines().filter(|line| line.contains("->")).map(without_comment).collect::<Vec<_>>();
    assert_eq!(actions("again.pds"), actions("fig2.pds"));
    assert_eq!((read("again.init"), read("again.spec")), (read("fig2.init"), read("fig2.spec")));
}

fn without_comment(line: &str) -> String {
    line.split('#').next().unwrap_or_default().trim().to_owned()
}

#[test]
fn convert_to_pds_on_standard_output_says_what_is_missing() {
    let ran = in_repository(&["convert", "models/tiny/non-fcr.cpds", "--to", "pds"]);
    assert_eq!(ran.code, 0);
    assert_snapshot!(ran.stdout, @"
    1
    PDA 0 0 # recurse
    # symbol 0 is a
    0 0 -> 0 0 0
    ");
    assert_snapshot!(ran.stderr, @"note: this is the .pds file alone; with -o FILE.pds its .init and .spec are written too");
    let quiet = in_repository(&["convert", "models/tiny/non-fcr.cpds", "--to", "pds", "--quiet"]);
    assert_eq!((quiet.stdout, quiet.stderr), (ran.stdout, String::new()));
}

#[test]
fn an_output_never_replaces_an_input() {
    let folder = tempfile::tempdir().unwrap();
    let text = "shared 0\ninit 0|a\nthread P { symbols a }\n";
    fs::write(folder.path().join("m.cpds"), text).unwrap();
    let ran = cuba(folder.path(), &["convert", "m.cpds", "--to", "cpds", "-o", "./m.cpds"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_snapshot!(ran.stderr, @"error: `./m.cpds` is an input; write to another file");
    let ran = cuba(folder.path(), &["convert", "m.cpds", "--to", "pds", "-o", "m.init"]);
    assert_eq!(ran.code, 1);
    assert_snapshot!(ran.stderr, @"error: `m.init` does not have the extension .pds; name it `m.pds`");
    let ran = cuba(folder.path(), &["convert", "m.cpds", "--to", "pds", "-o", "nowhere/m.pds"]);
    assert_eq!(ran.code, 1);
    assert_eq!(fs::read_to_string(folder.path().join("m.cpds")).unwrap(), text);
}

//! Families: `.cpds` files with templates, and the number of threads for each template.

use crate::common::{cuba, in_repository};
use cpds_testing::corpus::repository;
use insta::assert_snapshot;
use std::fs;
use tempfile::TempDir;

/// Returns a folder with the example of `docs/formats.md` as `gate.cpds`.
fn gate() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let page = fs::read_to_string(repository().join("docs/formats.md")).unwrap();
    let family = page.split("### Families").nth(1).unwrap().split("```text\n").nth(1).unwrap();
    fs::write(folder.path().join("gate.cpds"), family.split("```").next().unwrap()).unwrap();
    folder
}

#[test]
fn a_family_needs_the_number_of_threads() {
    let folder = gate();
    for verb in ["verify", "reach", "fcr", "show"] {
        let ran = cuba(folder.path(), &[verb, "gate.cpds"]);
        assert_eq!((ran.code, &*ran.stdout), (2, ""), "{verb}");
        assert!(ran.stderr.contains("`worker` has no number of threads"), "{verb}: {}", ran.stderr);
    }
    let ran = cuba(folder.path(), &["verify", "gate.cpds"]);
    assert_snapshot!(ran.stderr, @"
    error: `worker` has no number of threads
     --> gate.cpds:6:17
      |
    6 | thread worker * any {
      |                 ^^^ any number of threads
      |
      = help: an analysis needs a number, as in `worker=2` with `--instances`
    ");
    let ran = cuba(folder.path(), &["verify", "gate.cpds", "--instances", "wroker=3"]);
    assert_snapshot!(ran.stderr, @"
    error: --instances: no thread is named `wroker`
     |
     = help: did you mean `worker`?

    error: `worker` has no number of threads
     --> gate.cpds:6:17
      |
    6 | thread worker * any {
      |                 ^^^ any number of threads
      |
      = help: an analysis needs a number, as in `worker=2` with `--instances`
    ");
    let ran = in_repository(&["verify", "models/paper/fig1.cpds", "--instances", "P1=2"]);
    assert_eq!(ran.code, 2);
    assert_snapshot!(ran.stderr, @"
    error: --instances: `P1` has a fixed number of threads
     |
     = help: give one number for each template (`thread NAME * any`)
    ");
}

#[test]
fn a_member_is_a_system() {
    let folder = gate();
    let converted = cuba(folder.path(), &["convert", "gate.cpds", "--instances", "worker=3", "--to", "cpds"]);
    assert_snapshot!(converted.stdout, @"
    shared free taken
    init free|gate,boss,out,out
    bad *|*,in,in,*
    bad *|*,in,*,in
    bad *|*,*,in,in

    thread gate {
      symbols gate
    }

    thread worker * 3 {
      symbols boss out in
      take: (free,out) -> (taken,in)
      give: (taken,in) -> (free,out)
    }
    ");
    let verified = cuba(folder.path(), &["verify", "gate.cpds", "--instances", "worker=3"]);
    assert_snapshot!(verified.stdout, @"safe: no bad state is reachable, with any number of contexts (proved by Z, 3 states; proof checked)");
    let none = cuba(folder.path(), &["verify", "gate.cpds", "--instances", "worker=0"]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("each initial state names more threads than there are"), "{}", none.stderr);
}

/// Options that replace states have groups, too.
#[test]
fn states_of_options_have_groups() {
    let folder = gate();
    let options = ["verify", "gate.cpds", "--instances", "worker=2", "--init", "free|gate,out*any"];
    let verified = cuba(folder.path(), &[&options[..], &["--target", "taken|gate,in,out,* * any"]].concat());
    assert_eq!(verified.code, 10, "{}", verified.stderr);
    let wrong = cuba(folder.path(), &[&options[..], &["--target", "taken|gate,in*any"]].concat());
    assert_eq!(wrong.code, 2);
    assert_snapshot!(wrong.stderr, @"
    error: a bad pattern cannot be about all threads of a template
     --> --target:1:12
      |
    1 | taken|gate,in*any
      |            ^^^^^^ with more threads, this would not be bad any more
      |
      = help: name the threads that make the state bad, and end the group with `* * any`
    ");
}

//! Output files: written completely or not at all, through links, and never over an input.
#![cfg(unix)]

use crate::common::{Ran, cuba, cuba_with, kill};
use crate::faults::models;
use cpds_testing::skipped::{has_faults, skip};
use insta::assert_snapshot;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The names of the files in a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

const VERIFY: [&str; 3] = ["verify", "fig2.cpds", "--certificate"];

/// The command that writes the certificate for Fig. 2 to this file.
fn certificate(folder: &Path, name: &str) -> Ran {
    cuba(folder, &[&VERIFY[..], &[name]].concat())
}

/// A command line for a shell, after some preparation.
fn shell(folder: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]).env("CUBA", env!("CARGO_BIN_EXE_cuba")).current_dir(folder);
    command
}

#[test]
fn through_links() {
    let folder = models();
    let path = |name: &str| folder.path().join(name);
    assert_eq!(certificate(folder.path(), "plain.json").code, 0);
    let expected = fs::read_to_string(path("plain.json")).unwrap();
    fs::create_dir(path("other")).unwrap();
    fs::write(path("other/there.json"), "old").unwrap();
    for (link, to) in [
        ("to-there", "other/there.json"),
        ("to-link", "to-there"),
        ("to-nothing", "other/new.json"),
        ("to-to-nothing", "to-nothing"),
        ("to-folder", "other"),
    ] {
        symlink(to, path(link)).unwrap();
    }
    for (name, file) in [
        ("to-there", "other/there.json"),
        ("to-link", "other/there.json"),
        ("to-to-nothing", "other/new.json"),
        ("to-folder/new.json", "other/new.json"),
    ] {
        let _ = fs::write(path("other/there.json"), "old");
        let ran = certificate(folder.path(), name);
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{name}");
        assert_eq!(fs::read_to_string(path(file)).unwrap(), expected, "{name}");
        assert!(fs::symlink_metadata(path(name.split('/').next().unwrap())).unwrap().is_symlink(), "{name}");
        let _ = fs::remove_file(path("other/new.json"));
    }
    assert_eq!(names(&path("other")), ["there.json"]);
    symlink("loop", path("loop")).unwrap();
    let ran = certificate(folder.path(), "loop");
    assert_snapshot!(ran.stderr, @"error: cannot write `loop`: there are too many symbolic links");
    assert_eq!(ran.code, 1);
}

/// Hard links to the old file keep the old content. Permissions are kept. A new file has the
/// default permissions of the user.
#[test]
fn links_and_permissions_of_a_file() {
    let folder = models();
    let path = |name: &str| folder.path().join(name);
    let mode = |name: &str| fs::metadata(path(name)).unwrap().permissions().mode() & 0o777;
    fs::write(path("a.json"), "old").unwrap();
    fs::set_permissions(path("a.json"), Permissions::from_mode(0o604)).unwrap();
    fs::hard_link(path("a.json"), path("b.json")).unwrap();
    assert_eq!(certificate(folder.path(), "a.json").code, 0);
    assert_eq!((mode("a.json"), fs::read_to_string(path("b.json")).unwrap().as_str()), (0o604, "old"));
    let script = "umask 027; \"$CUBA\" verify fig2.cpds --certificate new.json";
    assert!(shell(folder.path(), script).output().unwrap().status.success());
    assert_eq!(mode("new.json"), 0o640);
}

#[test]
fn an_input_under_any_name() {
    let folder = models();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("m.pds"), "1\nPDA 0 0\n0 0 -> 0 -\n").unwrap();
    fs::write(path("m.init"), "0|0\n").unwrap();
    fs::write(path("m.spec"), "0|-\n").unwrap();
    fs::write(path("fig1.toml"), "verdict = 'unsafe'\n").unwrap();
    fs::create_dir(path("sub")).unwrap();
    for (name, to) in [("soft", "fig2.cpds"), ("softer", "sub/../soft"), ("here", "."), ("spec", "m.spec")] {
        symlink(to, path(name)).unwrap();
    }
    for (name, to) in [("hard", "fig2.cpds"), ("init", "m.init"), ("toml", "fig1.toml"), ("hard.pds", "fig1.cpds")] {
        fs::hard_link(path(to), path(name)).unwrap();
    }
    symlink("hard.pds", path("x.init")).unwrap();
    let before: Vec<(String, Vec<u8>)> =
        names(folder.path()).into_iter().filter_map(|name| Some((name.clone(), fs::read(path(&name)).ok()?))).collect();
    let of_pds = ["verify", "m.pds", "--target", "0|0", "--init", "0|0", "--report"];
    for (args, output) in [
        (&VERIFY[..], "fig2.cpds"),
        (&VERIFY, "./sub/../fig2.cpds"),
        (&VERIFY, "soft"),
        (&VERIFY, "softer"),
        (&VERIFY, "hard"),
        (&VERIFY, "here/here/hard"),
        (&["reach", "m.pds", "--plot"], "init"),
        (&["reach", "m.pds", "--plot"], "spec"),
        // Even if options replace its content.
        (&of_pds, "m.init"),
        (&of_pds, "spec"),
        (&["convert", "fig1.cpds", "--to", "pds", "-o"], "hard.pds"),
        (&["convert", "./fig1.cpds", "--to", "pds", "-o"], "x.pds"),
        (&["convert", "here/fig1.cpds", "--to", "cpds", "-o"], "fig1.cpds"),
        (&["bench", "fig1.cpds", "-o"], "toml"),
        (&["bench", "m.pds", "-o"], "init"),
    ] {
        let ran = cuba(folder.path(), &[args, &[output]].concat());
        assert_eq!((ran.code, &*ran.stdout), (1, ""), "{args:?} {output}: {}", ran.stderr);
        assert!(ran.stderr.contains(" is an input; write to another file"), "{args:?} {output}: {}", ran.stderr);
    }
    for (name, content) in before {
        assert!(fs::read(path(&name)).unwrap() == content, "{name} is what it was");
    }
}

#[test]
fn two_names_of_one_output() {
    let folder = models();
    let path = |name: &str| folder.path().join(name);
    symlink(".", path("here")).unwrap();
    symlink("new", path("dangling")).unwrap();
    fs::write(path("a"), "old").unwrap();
    fs::hard_link(path("a"), path("hard")).unwrap();
    fs::write(path("x.pds"), "old").unwrap();
    fs::hard_link(path("x.pds"), path("x.spec")).unwrap();
    let both =
        |report: &str, plot: &str| cuba(folder.path(), &["reach", "fig2.cpds", "--report", report, "--plot", plot]);
    for (report, plot) in
        [("a", "a"), ("a", "./a"), ("a", "hard"), ("new", "./new"), ("new", "here/new"), ("new", "dangling")]
    {
        let ran = both(report, plot);
        assert_eq!((ran.code, &*ran.stdout), (1, ""), "{report} {plot}");
        assert_eq!(ran.stderr, format!("error: `{plot}` is given for two outputs\n"));
    }
    let ran = cuba(folder.path(), &["convert", "fig1.cpds", "--to", "pds", "-o", "x.pds"]);
    assert_eq!((ran.code, &*ran.stderr), (1, "error: `x.spec` is given for two outputs\n"));
    assert_eq!(fs::read_to_string(path("a")).unwrap(), "old");
    assert_eq!(both("/dev/null", "/dev/null").code, 0, "several outputs may go there");
    assert_eq!(both("new.html", "new.svg").code, 0);
}

#[test]
fn devices_and_pipes() {
    let folder = models();
    let path = |name: &str| folder.path().join(name);
    assert_eq!(certificate(folder.path(), "plain.json").code, 0);
    let expected = fs::read_to_string(path("plain.json")).unwrap();
    let run = |script: &str| shell(folder.path(), script).output().unwrap().status.code();
    let mut before = names(folder.path());
    assert_eq!(
        run("mkfifo pipe && { cat pipe > piped.json & } && \"$CUBA\" verify fig2.cpds --certificate pipe && wait"),
        Some(0)
    );
    assert_eq!(fs::read_to_string(path("piped.json")).unwrap(), expected);
    // Standard output gets both outputs.
    for (name, to) in [("/dev/stdout", "> both"), ("/dev/fd/1", "> both"), ("/dev/stdout", "| cat > both")] {
        assert_eq!(run(&format!("\"$CUBA\" verify fig2.cpds --certificate {name} {to}")), Some(0));
        let both = fs::read_to_string(path("both")).unwrap();
        assert!(
            both.strip_prefix(&expected).is_some_and(|verdict| verdict.starts_with("safe: ")),
            "{name} {to}: {both}"
        );
    }
    // A pipe that a shell has opened, as in `--certificate >(gzip > c.gz)`.
    for to in ["3> both > /dev/null", "3>&1 > /dev/null | cat > both"] {
        assert_eq!(run(&format!("\"$CUBA\" verify fig2.cpds --certificate /dev/fd/3 {to}")), Some(0));
        assert_eq!(fs::read_to_string(path("both")).unwrap(), expected, "{to}");
    }
    if cfg!(target_os = "linux") {
        let ran = certificate(folder.path(), "/dev/full");
        assert!(ran.stdout.starts_with("safe: ") && ran.code == 1, "the verdict stands");
        assert_snapshot!(ran.stderr, @"error: cannot write `/dev/full`: No space left on device (os error 28)");
    }
    before.extend(["both", "pipe", "piped.json"].map(str::to_owned));
    before.sort();
    assert_eq!(names(folder.path()), before);
    assert!(!names("/dev".as_ref()).iter().any(|name| name.starts_with("cuba")));
}

/// Runs a command that must be refused before the model is read. In a debug build, reading a model
/// would panic.
fn refused(folder: &Path, args: &[&str]) -> String {
    let ran = cuba_with(folder, &[("CUBA_FAULT", "panic:reading")], args);
    assert_eq!((ran.code, &*ran.stdout), (1, ""), "{args:?}: {}", ran.stderr);
    ran.stderr
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = models();
    fs::create_dir(folder.path().join("sub")).unwrap();
    let said = |name: &str| refused(folder.path(), &[&VERIFY[..], &[name]].concat());
    assert_snapshot!(said("sub"), @"error: cannot write `sub`: it is a folder; name a file in it");
    assert_snapshot!(said("."), @"error: cannot write `.`: it is a folder; name a file in it");
    assert_snapshot!(said("new/"), @"error: cannot write `new/`: this is not the name of a file");
    assert_snapshot!(said("no/such/c.json"), @"error: cannot write `no/such/c.json`: there is no folder `no/such`; create it, or name another file");
    assert_snapshot!(said("fig1.cpds/c.json"), @"error: cannot write `fig1.cpds/c.json`: `fig1.cpds` is not a folder");
    symlink("no/such/c.json", folder.path().join("dangling")).unwrap();
    assert_snapshot!(said("dangling"), @"error: cannot write `dangling`: there is no folder `no/such`; create it, or name another file");
    for args in [
        &["verify", "fig1.cpds", "--trace", "no/x"][..],
        &["verify", "fig1.cpds", "--checkpoint", "no/x"],
        &["reach", "fig1.cpds", "--certificate", "no/x"],
        &["reach", "fig1.cpds", "--report", "no/x.html"],
        &["reach", "fig1.cpds", "--plot", "no/x.svg"],
        &["convert", "fig1.cpds", "--to", "cpds", "-o", "no/x.cpds"],
        &["convert", "fig1.cpds", "--to", "pds", "-o", "no/x.pds"],
        &["bench", "fig1.cpds", "-o", "no/x"],
    ] {
        assert!(refused(folder.path(), args).contains(": there is no folder `no`; create it"), "{args:?}");
    }
    assert_eq!(names(folder.path()), ["dangling", "fig1.cpds", "fig2.cpds", "sub"]);
}

/// The extension of an output must fit its content.
#[test]
fn names_of_another_format() {
    let folder = models();
    let said = |option: &str, name: &str| refused(folder.path(), &["reach", "fig1.cpds", option, name]);
    assert_snapshot!(said("--plot", "x.png"), @"error: --plot writes SVG, and the name `x.png` does not end in .svg; use the name `x.svg`");
    assert_snapshot!(said("--plot", "x"), @"error: --plot writes SVG, and the name `x` does not end in .svg; use the name `x.svg`");
    assert_snapshot!(said("--report", "sub/x.txt"), @"error: cannot write `sub/x.txt`: there is no folder `sub`; create it, or name another file");
    assert_snapshot!(said("--report", "x.txt"), @"error: --report writes HTML, and the name `x.txt` does not end in .html or .htm; use the name `x.html`");
    assert_snapshot!(said("--report", "x.svg.gz"), @"error: --report writes HTML, and the name `x.svg.gz` does not end in .html or .htm; use the name `x.svg.html`");
    assert_snapshot!(said("--report", "-"), @"error: --report writes HTML, and the name `-` does not end in .html or .htm; for standard output, use /dev/stdout");
    for (option, name) in
        [("--plot", "x.SVG"), ("--plot", "x.svg.gz"), ("--report", "x.Htm"), ("--report", "x.html.gz")]
    {
        let ran = cuba(folder.path(), &["reach", "fig1.cpds", option, name]);
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{option} {name}");
        assert!(folder.path().join(name).is_file());
    }
    for option in ["--plot", "--report"] {
        let ran = cuba(folder.path(), &["reach", "fig1.cpds", option, "/dev/stdout"]);
        assert!(ran.code == 0 && ran.stdout.contains("<svg"), "{option}: {}", ran.stderr);
    }
}

/// Whether the user is root. Permissions have no effect for root, so the test is listed as skipped.
fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().unwrap().stdout;
    let is_root = id.trim_ascii() == b"0";
    if is_root {
        skip("permissions have no effect for root");
    }
    is_root
}

#[test]
fn permissions() {
    if is_root() {
        return;
    }
    let folder = models();
    let sub = folder.path().join("sub");
    fs::create_dir(&sub).unwrap();
    fs::write(sub.join("mine.json"), "old").unwrap();
    fs::write(sub.join("not-mine.json"), "old").unwrap();
    fs::set_permissions(sub.join("not-mine.json"), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(&sub, Permissions::from_mode(0o555)).unwrap();
    // The file is writable, but its folder is not.
    assert_eq!(certificate(folder.path(), "sub/mine.json").code, 0);
    assert!(fs::read_to_string(sub.join("mine.json")).unwrap().starts_with('{'));
    for name in ["sub/not-mine.json", "sub/new.json"] {
        let ran = certificate(folder.path(), name);
        assert_eq!(
            (ran.code, ran.stderr),
            (1, format!("error: cannot write `{name}`: Permission denied (os error 13)\n"))
        );
    }
    fs::set_permissions(&sub, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(certificate(folder.path(), "sub/not-mine.json").code, 1, "a read-only file is not replaced");
    assert_eq!(fs::read_to_string(sub.join("not-mine.json")).unwrap(), "old");
    assert_eq!(names(&sub), ["mine.json", "not-mine.json"]);
}

/// The disk has space for only a part of the file.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_in_the_middle() {
    let folder = models();
    let path = folder.path().join("r.html");
    fs::write(&path, "old").unwrap();
    let report = "ulimit -f 8; exec \"$CUBA\" verify fig1.cpds --report r.html";
    let refused = shell(folder.path(), &format!("trap '' XFSZ; {report}")).output().unwrap();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(
        (refused.status.code(), &*stderr),
        (Some(1), "error: cannot write `r.html`: File too large (os error 27)\n")
    );
    assert_eq!(names(folder.path()), ["fig1.cpds", "fig2.cpds", "r.html"], "nothing is left behind");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    // Here the system kills the process immediately.
    let killed = shell(folder.path(), report).output().unwrap();
    assert!(killed.status.code().is_none_or(|code| code > 128), "{:?}", killed.status);
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}

/// Waits until a file is being written in the folder.
fn being_written(folder: &Path, child: &mut Child) {
    let start = Instant::now();
    while !names(folder).iter().any(|name| name.starts_with("cuba-unfinished-")) {
        assert!(start.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(1));
    }
}

fn start(folder: &Path, fault: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuba"));
    command.args(VERIFY).arg("c.json").env("CUBA_FAULT", fault).current_dir(folder);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A killed process leaves the old file or the complete new one.
#[test]
fn killed_in_the_middle() {
    let folder = models();
    let path = folder.path().join("c.json");
    assert_eq!(certificate(folder.path(), "c.json").code, 0);
    let new = fs::read_to_string(&path).unwrap();
    let mut left = 0;
    for delay in 0..20 {
        fs::write(&path, "old").unwrap();
        let is_stopped = delay % 4 == 0 && cfg!(debug_assertions);
        let mut child = start(folder.path(), if is_stopped { "hang:writing" } else { "" });
        if is_stopped {
            being_written(folder.path(), &mut child);
        } else {
            thread::sleep(Duration::from_millis(delay));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let found = fs::read_to_string(&path).unwrap();
        assert!(found == "old" || (found == new && !is_stopped), "{found}");
        for name in names(folder.path()).iter().filter(|name| name.starts_with("cuba-unfinished-")) {
            fs::remove_file(folder.path().join(name)).unwrap();
            left += 1;
        }
    }
    assert!(left >= 5 || !cfg!(debug_assertions), "it was killed in the middle");
    assert_eq!(names(folder.path()), ["c.json", "fig1.cpds", "fig2.cpds"]);
}

/// The second Ctrl-C ends the process immediately, but removes temporary files.
#[test]
fn interrupted_in_the_middle() {
    if !has_faults() {
        return;
    }
    let folder = models();
    let mut child = start(folder.path(), "hang:writing");
    being_written(folder.path(), &mut child);
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(60));
        kill(&["INT"], &child);
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(child.wait().unwrap().code(), Some(5));
    assert_eq!(names(folder.path()), ["fig1.cpds", "fig2.cpds"]);
}

//! Evidence on the command line: the files, and the answers of `cuba-check` about them.

use crate::common::{self, CUBA_CHECK, Ran, done, in_repository};
use cpds_testing::corpus::{models, repository};
use flate2::read::GzDecoder;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Output, Stdio};

pub(crate) fn cuba_check(args: &[&str], input: &[u8]) -> Ran {
    let mut command = Command::new(&*CUBA_CHECK);
    command.args(args).current_dir(repository()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    // The checker may end before it has read the whole input.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: status.code().expect("it ends by itself"), stdout: text(stdout), stderr: text(stderr) }
}

/// The output of `cuba-check` and its exit code.
fn said(args: &[&str]) -> String {
    let Ran { code, stdout, stderr } = cuba_check(args, b"");
    format!("{code}: {stdout}{stderr}")
}

fn fits(schema: &str, text: &str) -> Value {
    let object: Value = serde_json::from_str(text).unwrap();
    common::fits(schema, &object, schema);
    object
}

/// `cuba verify MODEL --certificate c.json && cuba-check MODEL c.json`, and the same with traces
/// and with `cuba reach`.
#[test]
fn every_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (certificate, trace, itf, all) = (file("c.json"), file("t.json"), file("t.itf.json"), file("all.json"));
    let system = file("system.cpds");
    let mut found = [0; 3];
    for model in models() {
        let arguments: Vec<&str> = model.arguments.iter().map(String::as_str).collect();
        let limit = ["--max-contexts", "12", "--quiet"];
        let run = |verb: &str, more: &[&str]| in_repository(&[&[verb], &*arguments, &limit, more].concat());
        let ran = run("verify", &["--certificate", &certificate, "--trace", &trace]);
        // The checker reads only systems, not programs.
        let path = if cpds::is_program(arguments[0].as_ref()) {
            let converted = in_repository(&[&["convert"], &*arguments, &["--to", "cpds", "-o", &system]].concat());
            assert_eq!(converted.code, 0, "{}", converted.stderr);
            &*system
        } else {
            arguments[0]
        };
        match ran.code {
            0 => {
                fits("certificate", &fs::read_to_string(&certificate).unwrap());
                let checked = cuba_check(&[path, &certificate], b"");
                assert_eq!((checked.code, &*checked.stderr), (0, ""), "{path}");
                assert!(checked.stdout.starts_with("accepted: safe: "), "{}", checked.stdout);
                assert!(cuba_check(&["--exact", path, &certificate], b"").code == 10, "there is no list");
                found[0] += 1;
            }
            10 => {
                fits("trace", &fs::read_to_string(&trace).unwrap());
                let checked = cuba_check(&[path, &trace], b"");
                assert_eq!((checked.code, &*checked.stderr), (0, ""), "{path}");
                assert!(checked.stdout.starts_with("accepted: unsafe: "), "{}", checked.stdout);
                run("verify", &["--trace", &itf]);
                let object = fits("itf", &fs::read_to_string(&itf).unwrap());
                assert_eq!(object["#meta"]["format"], "ITF");
                found[1] += 1;
            }
            code => assert!([1, 5].contains(&code), "{path}: {code}"),
        }
        if run("reach", &["--certificate", &all]).code == 0 {
            fits("certificate", &fs::read_to_string(&all).unwrap());
            let checked = cuba_check(&["--exact", path, &all], b"");
            assert_eq!((checked.code, &*checked.stderr), (0, ""), "{path}");
            // Without the list of reachable visible states, it accepts safety exactly if that was
            // the verdict.
            let expected = if ran.code == 10 { 10 } else { 0 };
            assert!(ran.code == 5 || cuba_check(&[path, &all], b"").code == expected, "{path}");
            found[2] += 1;
        }
    }
    assert!(found[0] >= 15 && found[1] >= 5 && found[2] >= 15, "{found:?}");
}

/// The checker reads only systems. Its message says how to convert a program.
#[test]
fn the_checker_refuses_programs() {
    let ran = cuba_check(&["models/table2/turns.bp", "-"], b"");
    assert_eq!((ran.code, &*ran.stdout), (2, ""));
    assert_snapshot!(ran.stderr, @"error: `models/table2/turns.bp` is a Boolean program; convert it to a system first: cuba convert models/table2/turns.bp --to cpds -o FILE.cpds");
}

/// A family has no number of threads, so it is no system either.
#[test]
fn the_checker_refuses_families() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.cpds");
    fs::write(&path, "shared 0; init 0|a*any; thread P * any { symbols a }").unwrap();
    let ran = cuba_check(&[path.to_str().unwrap(), "-"], b"");
    assert_eq!((ran.code, &*ran.stdout), (2, ""));
    let stderr = ran.stderr.replace(path.to_str().unwrap(), "f.cpds");
    assert_snapshot!(stderr, @"
    f.cpds:1:36: error: `P` has no number of threads
    convert the family to a system first: cuba convert f.cpds --instances … --to cpds -o FILE.cpds
    ");
}

/// The list in the certificate is the one in the answer.
#[test]
fn all_that_is_visible() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.json");
    let args = ["reach", "models/tiny/symmetric.cpds", "--json", "--states", "--no-symmetry", "--certificate"];
    let told: Value = serde_json::from_str(&done(&[&args[..], &[path.to_str().unwrap()]].concat())).unwrap();
    let all: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let name = |names: &str, at: &Value| {
        all[names][usize::try_from(at.as_u64().unwrap()).unwrap()].as_str().unwrap().to_owned()
    };
    let listed = all["visible"].as_array().unwrap().iter().map(|state| {
        let (q, tops) = state.as_array().unwrap().split_first().unwrap();
        let tops: Vec<String> = tops.iter().map(|top| name("symbols", top)).collect();
        Value::from(format!("{}|{}", name("shared", q), tops.join(",")))
    });
    assert_eq!(listed.collect::<Vec<_>>(), *told["visible_states"].as_array().unwrap());
}

#[test]
fn the_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (plain, compressed) = (file("c.json"), file("c.json.gz"));
    for path in [&plain, &compressed] {
        done(&["verify", "models/paper/fig7.cpds", "--certificate", path]);
    }
    let text = fs::read_to_string(&plain).unwrap();
    assert_snapshot!(text.replacen(&text[text.find("sha256:").unwrap()..][..71], "sha256:…", 1), @r#"
    {
    "format":"cuba-certificate",
    "version":1,
    "model":"sha256:…",
    "cuba":"0.1.0",
    "proved_by":"Z",
    "shared":["q0","q1","q2"],
    "symbols":["-","σ0","σ1","σ2"],
    "groups":[
    [1]],
    "automaton":[
    [1,1,3,2,3],
    [0,2,3],
    [0,3,3],
    [1,1,3]],
    "tuples":[
    [0,0],
    [1,1],
    [2,2]]
    }
    "#);
    let mut uncompressed = String::new();
    GzDecoder::new(fs::File::open(&compressed).unwrap()).read_to_string(&mut uncompressed).unwrap();
    assert_eq!(uncompressed, text, "the same in each run");
    assert_snapshot!(said(&["models/paper/fig7.cpds", &plain]), @"0: accepted: safe: no bad state is reachable; 3 tuples over 4 languages");
    assert_snapshot!(said(&["models/paper/fig7.cpds", &compressed]), @"2: malformed: the evidence is compressed; decompress it: gunzip -c FILE | cuba-check MODEL -");
    let from_input = cuba_check(&["models/paper/fig7.cpds", "-"], text.as_bytes());
    assert_eq!((from_input.code, from_input.stderr.as_str()), (0, ""));
    // Evidence for one property is not evidence for another one.
    assert_snapshot!(said(&["models/paper/fig7.cpds", &plain, "--target", "q0|σ0"]).split("sha256").next().unwrap(), @"2: other options or another model: the evidence is for");
}

/// The certificate does not depend on the speed of threads or the numbers of languages.
#[test]
fn the_same_in_each_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    for model in
        ["paper/stefan4", "squeeze/get-and-put", "squeeze/journal-records", "squeeze/tree-walk", "tiny/stutter"]
    {
        let file = format!("models/{model}.cpds");
        for verb in ["verify", "reach"] {
            let written = |jobs: &str| {
                let _ = fs::remove_file(&path);
                let limits = ["--max-contexts", "12", "--quiet", "--jobs", jobs];
                in_repository(&[&[verb, &*file, "--certificate", path.to_str().unwrap()], &limits[..]].concat());
                fs::read(&path).ok()
            };
            let first = written("1");
            assert!(["2", "2", "4"].iter().all(|jobs| written(jobs) == first), "{verb} {model}");
        }
    }
}

#[test]
fn with_other_bad_and_initial_states() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    let path = path.to_str().unwrap();
    let options = ["--target", "2|1,*", "--init", "0|1,4 6"];
    done(&[&["verify", "models/paper/fig1.cpds", "--certificate", path], &options[..]].concat());
    assert_eq!(cuba_check(&[&["models/paper/fig1.cpds", path], &options[..]].concat(), b"").code, 0);
    // The options are wrong, not the evidence.
    let told = "other options or another model: the evidence is for sha256:";
    let is_refused = |args: &[&str]| {
        let ran = cuba_check(args, b"");
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
        assert!(ran.stderr.starts_with(told), "{}", ran.stderr);
    };
    is_refused(&["models/paper/fig1.cpds", path]);
    is_refused(&["models/paper/fig1.cpds", path, "--exact"]);
    is_refused(&["models/paper/fig2.cpds", path]);
    // The same holds for the options with which a program was converted.
    let system = folder.path().join("system.cpds");
    let system = system.to_str().unwrap();
    let program = ["models/table2/bluetooth-3.bp", "--instances", "adder=1,stopper=1"];
    let convert = |program: &[&str]| {
        assert_eq!(in_repository(&[&["convert"], program, &["--to", "cpds", "-o", system]].concat()).code, 0);
    };
    done(&[&["verify"], &program[..], &["--certificate", path]].concat());
    convert(&program);
    assert_eq!(cuba_check(&[system, path], b"").code, 0);
    convert(&["models/table2/bluetooth-3.bp", "--instances", "adder=2,stopper=1"]);
    is_refused(&[system, path]);
    // Wrong evidence for this question is rejected.
    convert(&program);
    let mut wrong: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    wrong["tuples"] = Value::Array(Vec::new());
    fs::write(path, wrong.to_string()).unwrap();
    assert!(said(&[system, path]).starts_with("10: rejected: condition (i), initial states: "));
}

#[test]
fn usage_of_cuba_check() {
    assert_snapshot!(cuba_check(&["--help"], b"").stdout, @"
    Check evidence about a concurrent pushdown system: a trace or a certificate, as `cuba verify` and `cuba reach` write it

    Usage: cuba-check [OPTIONS] MODEL EVIDENCE

      MODEL     a .cpds file, or a .pds file with a .init and perhaps a .spec of the same name beside it
      EVIDENCE  a JSON file, or - for standard input

    Options:
      --exact           check the list of visible states of a certificate, instead of the absence of bad states
      --init STATE      use this initial state instead of those of the file; repeatable
      --target PATTERN  use this bad pattern instead of those of the file; repeatable
      --max-steps N     give up after N elementary steps [default: 1000000000]
      -h, --help        print this
      -V, --version     print the version

    Examples:
      cuba verify models/paper/fig2.cpds --certificate proof.json && cuba-check models/paper/fig2.cpds proof.json
      cuba verify models/paper/fig1.cpds --trace bug.json; cuba-check models/paper/fig1.cpds bug.json
      gunzip -c proof.json.gz | cuba-check models/paper/fig2.cpds -

    Evidence belongs to one model and one question. Give the same --init and --target with which it was made. If `cuba
    convert` made MODEL from a program, give it the same --instances, --threads, --label and --target.

    Exit codes: 0 accepted, 10 rejected, 2 malformed, or for other options or another model, 1 usage, 6 internal error
    ");
    assert_snapshot!(said(&["--version"]), @"0: cuba-check 0.1.0");
    assert_snapshot!(said(&["models/paper/fig1.cpds"]), @"
    1: error: two files are needed, MODEL and EVIDENCE

    For help: cuba-check --help
    ");
    assert_snapshot!(said(&["models/paper/fig1.cpds", "c.json", "--exakt"]), @"
    1: error: unknown option --exakt

    For help: cuba-check --help
    ");
    assert_snapshot!(said(&["models/paper/fig1.cpds", "c.json", "--target"]), @"
    1: error: --target needs a value

    For help: cuba-check --help
    ");
    assert_snapshot!(said(&["models/paper/fig1.cpds", "c.json", "--max-steps", "many"]), @"
    1: error: --max-steps takes a number

    For help: cuba-check --help
    ");
    assert_snapshot!(said(&["models/paper/fig1.cpds", "no-such.json"]), @"
    1: error: cannot read no-such.json: No such file or directory (os error 2)

    For help: cuba-check --help
    ");
    assert_snapshot!(said(&["models/paper/fig0.cpds", "-"]), @"2: error: there is no file `models/paper/fig0.cpds`");
    assert_snapshot!(said(&["models/paper/fig1.cpds", "models/paper/fig1.cpds"]), @"2: malformed: expected value at line 1 column 1");
    assert_snapshot!(said(&["models/paper/fig1.cpds", "models/paper"]), @"
    1: error: cannot read models/paper: Is a directory (os error 21)

    For help: cuba-check --help
    ");
}

/// An unchecked verdict says that it was not checked.
#[test]
fn without_a_check() {
    let verdict = |args: &[&str]| in_repository(args).stdout.lines().last().unwrap_or_default().to_owned();
    assert!(verdict(&["verify", "models/paper/fig2.cpds", "--no-check"]).ends_with("; proof not checked)"));
    assert!(verdict(&["verify", "models/paper/fig1.cpds", "--no-check"]).ends_with("; trace not checked"));
    assert!(verdict(&["reach", "models/paper/fig1.cpds", "--no-check"]).ends_with("; proof not checked)"));
    let unknown = verdict(&["verify", "models/squeeze/mirror.cpds", "--no-check", "--max-contexts", "2"]);
    assert!(unknown.starts_with("unknown: ") && !unknown.contains("checked"), "{unknown}");
    let told: Value =
        serde_json::from_str(&done(&["verify", "models/paper/fig2.cpds", "--no-check", "--json"])).unwrap();
    assert_eq!(told["evidence"], Value::Null, "no evidence is made");
}

#[test]
fn evidence_that_cannot_be_written() {
    let ran = in_repository(&["verify", "models/paper/fig1.cpds", "--certificate", "c.json"]);
    assert_eq!(ran.code, 10);
    assert_snapshot!(ran.stderr, @"note: `c.json` was not written: there is no certificate");
    assert!(!repository().join("c.json").exists());
    let ran = in_repository(&["reach", "models/paper/fig2.cpds", "--certificate", "models/paper/fig2.cpds"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_snapshot!(ran.stderr, @"error: `models/paper/fig2.cpds` is an input; write to another file");
}

//! Runs the binaries `cuba` and `cuba-check`.

use boon::{Compiler, SchemaIndex, Schemas};
use cpds_testing::corpus::repository;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;

/// The binary `cuba-check`, which is built first if necessary.
pub(crate) static CUBA_CHECK: LazyLock<PathBuf> = LazyLock::new(|| {
    let build = ["build", "--quiet", "--package", "cpds-check", "--bin", "cuba-check", "--message-format", "json"];
    let built = Command::new(env!("CARGO")).args(build).current_dir(repository()).output().expect("cargo starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let lines = String::from_utf8(built.stdout).unwrap();
    let objects = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let executable = objects.filter_map(|object| object["executable"].as_str().map(PathBuf::from)).next_back();
    executable.expect("there is a binary")
});

/// The result of a command.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `cuba` with these arguments in this folder.
pub(crate) fn cuba(folder: &Path, args: &[&str]) -> Ran {
    cuba_with(folder, &[], args)
}

/// Runs `cuba` like [`cuba`], with these variables in its environment.
pub(crate) fn cuba_with(folder: &Path, variables: &[(&str, &str)], args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuba"));
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").envs(variables.iter().copied());
    let Output { status, stdout, stderr } = command.args(args).current_dir(folder).output().expect("cuba starts");
    let text = |bytes| String::from_utf8(bytes).expect("cuba prints UTF-8");
    Ran { code: status.code().expect("cuba ends by itself"), stdout: text(stdout), stderr: text(stderr) }
}

/// Sends signals to a process, one immediately after the other.
pub(crate) fn kill(signals: &[&str], child: &Child) {
    let kills: Vec<String> = signals.iter().map(|signal| format!("kill -{signal} {}", child.id())).collect();
    assert!(Command::new("sh").args(["-c", &kills.join(" && ")]).status().unwrap().success());
}

/// Checks all items at the same time, because most checks only wait.
pub(crate) fn at_once<T: Sync>(items: &[T], check: impl Fn(&T) + Sync) {
    thread::scope(|scope| {
        for item in items {
            scope.spawn(|| check(item));
        }
    });
}

/// Runs `cuba show` on a file with this content, which must be refused. Returns standard error.
pub(crate) fn refused(name: &str, content: impl AsRef<[u8]>) -> String {
    refused_with(&[(name, content.as_ref())], &["show", name])
}

pub(crate) fn refused_with(files: &[(&str, &[u8])], args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let ran = cuba(folder.path(), args);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    ran.stderr
}

/// A correct system with one more statement, or one more line in a thread.
pub(crate) fn with(statement: &str, in_thread: &str) -> String {
    format!(
        "shared idle busy\n{statement}\ninit idle|main,-\n\nthread A {{\n  symbols main work\n  {in_thread}\n}}\nthread B {{ symbols x }}\n"
    )
}

/// The words of a command, split as by a shell. Text between single quotes is one word.
pub(crate) fn words(command: &str) -> Vec<&str> {
    let quoted = command.split('\'').enumerate();
    quoted.flat_map(|(i, part)| if i % 2 == 0 { part.split_whitespace().collect() } else { vec![part] }).collect()
}

pub(crate) fn in_repository(args: &[&str]) -> Ran {
    cuba(&repository(), args)
}

pub(crate) fn done(args: &[&str]) -> String {
    let ran = in_repository(args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    ran.stdout
}

/// Checks that the output of `--json` fits its published schema.
pub(crate) fn fits(schema: &str, object: &Value, what: &str) {
    let (schemas, index) = &*compiled(schema);
    schemas.validate(object, *index).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(schemas.validate(&Value::Null, *index).is_err(), "the schema asks for something");
}

/// Returns a published schema, compiled. Each is compiled once.
fn compiled(schema: &str) -> Arc<(Schemas, SchemaIndex)> {
    static COMPILED: Mutex<BTreeMap<String, Arc<(Schemas, SchemaIndex)>>> = Mutex::new(BTreeMap::new());
    let mut ready = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let compile = || {
        let path = repository().join(format!("docs/schema/{schema}.schema.json"));
        let text = fs::read_to_string(path).unwrap();
        let mut all = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.add_resource("schema.json", serde_json::from_str(&text).unwrap()).unwrap();
        let index = compiler.compile("schema.json", &mut all).unwrap();
        Arc::new((all, index))
    };
    Arc::clone(ready.entry(schema.to_owned()).or_insert_with(compile))
}

/// Runs `cuba` on a model that is written to a file first.
pub(crate) fn on(model: &str, verb: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("m.cpds"), model).unwrap();
    cuba(folder.path(), &[verb, "m.cpds"])
}

/// The symbols and actions of procedures that each call the next one twice, so that a call of a0
/// returns after 2^40 steps.
pub(crate) fn doubling() -> (String, String) {
    let symbols: Vec<String> = (0..40).map(|i| format!("a{i} b{i}")).collect();
    let calls: Vec<String> =
        (0..40).map(|i| format!("(0,a{i}) -> (0,a{} b{i})\n(0,b{i}) -> (0,a{})", i + 1, i + 1)).collect();
    (symbols.join(" ") + " a40", calls.join("\n") + "\n(0,a40) -> (0,-)")
}

//! Every model with 1, 2 and 4 processes. They are processes of the operating system, connected by
//! sockets.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use cpds_testing::skipped::skip;
use serde_json::Value;

/// The fields of an answer that depend on the distribution of the states, or on time.
const VARIABLE_FIELDS: [&str; 8] = [
    "/time_s",
    "/peak_memory_bytes",
    "/memory_limit_bytes",
    "/statistics/stacks",
    "/statistics/table_bytes",
    "/statistics/bytes_per_state",
    "/evidence/time_s",
    "/evidence/check_time_s",
];

/// A model that takes minutes without optimisation. Its contexts are infinite, so process 0 does
/// all the work.
const SLOW: &str = "walker=8";

/// Runs `cuba-cluster`. Returns the exit code, the answer without the variable fields, and the
/// number of shares.
fn answer(arguments: &[String]) -> ((Option<i32>, Value), Option<u64>) {
    let output = Command::new(env!("CARGO_BIN_EXE_cuba-cluster")).args(arguments).output().expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut answer: Value = serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}{}", String::from_utf8_lossy(&output.stderr)));
    let shares = answer.as_object_mut().and_then(|answer| answer.remove("shares"));
    let shares = shares.and_then(|shares| shares["parts"].as_u64());
    for field in VARIABLE_FIELDS {
        if let Some(value) = answer.pointer_mut(field) {
            *value = Value::Null;
        }
    }
    ((output.status.code(), answer), shares)
}

#[test]
fn many_processes_give_the_same_answer_as_one() {
    many_processes_give_the_same_answer(5);
}

#[test]
#[ignore = "a long version: `just long`"]
fn many_processes_give_the_same_answer_as_one_long() {
    many_processes_give_the_same_answer(1);
}

/// Many processes give the same answer as one, with all its counts and its trace: for every model,
/// or for each `step`th question about a model.
fn many_processes_give_the_same_answer(step: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut questions = Vec::new();
    for model in cpds_models::find(&root.join("models")).expect("the models") {
        for run in cpds_models::runs(&model).expect("the expected answers") {
            if run.instances.as_deref() == Some(SLOW) {
                skip(&format!("it takes too long: {} --instances {SLOW}", model.display()));
                continue;
            }
            // Tuples of languages are not distributed.
            let is_distributed = run.expected.as_ref().is_some_and(|expected| expected.fcr == Some(true));
            let contexts = format!("--max-contexts={}", if is_distributed { 12 } else { 3 });
            let mut model = vec![model.display().to_string(), "--json".to_owned(), contexts];
            model.extend(run.instances.map(|instances| format!("--instances={instances}")));
            model.extend(run.threads.map(|threads| format!("--threads={threads}")));
            for verb in ["verify", "reach"] {
                questions.push([&[verb.to_owned()], &*model].concat());
            }
        }
    }
    assert!(questions.len() > 80, "only {}", questions.len());
    let (next, distributed) = (Mutex::new(questions.iter().enumerate().step_by(step)), Mutex::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((number, question)) = next.lock().expect("no thread panics").next() else { break };
                    let (one, shares) = answer(question);
                    assert_eq!(shares, None);
                    let is_distributed = one.1["engine"] == "explicit";
                    *distributed.lock().expect("no thread panics") += usize::from(is_distributed);
                    for (processes, jobs) in [(1, 2), (2, 1), (4, 1)] {
                        let more = ["--processes", "--jobs", "--partition"].into_iter().zip([processes, jobs, number]);
                        let more = more.map(|(name, value)| format!("{name}={value}"));
                        let (many, parts) = answer(&question.iter().cloned().chain(more).collect::<Vec<_>>());
                        assert_eq!(many, one, "{question:?} with {processes} processes");
                        assert_eq!(parts, is_distributed.then_some((processes * jobs) as u64), "{question:?}");
                    }
                }
            });
        }
    });
    let distributed = distributed.into_inner().expect("no thread panics");
    assert!(distributed > 40 / step, "only {distributed} answers with distributed states");
}

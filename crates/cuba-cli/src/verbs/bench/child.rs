//! One run of `cuba bench` in its own process: reads its answer, or how it ended.

use crate::json::{BenchAnswerJson, BenchCollapseJson};
use crate::running::answer::exit;
use crate::running::child_processes::end;
use crate::running::lock::lock;
use crate::running::run::Run;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt::{self, Formatter};
use std::io::{self, BufReader, Read};
use std::process::{ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How a run ended.
pub(super) enum ChildEnd {
    Answered(ChildAnswer),
    /// Without an answer.
    Failed {
        why: String,
        code: u8,
    },
    /// By Ctrl-C.
    Interrupted,
}

/// The part of the output of `cuba verify --json` or `cuba reach --json` that the table needs.
#[derive(Deserialize)]
pub(super) struct ChildAnswer {
    pub(super) verdict: String,
    pub(super) reason: String,
    pub(super) peak_memory_bytes: Option<u64>,
    threads: Option<usize>,
    contexts: Option<usize>,
    proved_by: Option<String>,
    fcr: Option<bool>,
    #[serde(rename = "sequence", deserialize_with = "last")]
    last: Option<ChildLevel>,
    collapse: BenchCollapseJson,
}

#[derive(Deserialize)]
struct ChildLevel {
    visible: Option<u128>,
}

/// Reads the last level only. There may be very many others.
fn last<'de, D: Deserializer<'de>>(sequence: D) -> Result<Option<ChildLevel>, D::Error> {
    struct Last;

    impl<'de> Visitor<'de> for Last {
        type Value = Option<ChildLevel>;

        fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
            f.write_str("levels")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut levels: A) -> Result<Option<ChildLevel>, A::Error> {
            let mut last = None;
            while let Some(level) = levels.next_element()? {
                last = Some(level);
            }
            Ok(last)
        }
    }

    sequence.deserialize_seq(Last)
}

impl ChildAnswer {
    /// Returns the answer, unless a limit ended the run before anything was known.
    pub(super) fn answer(&self) -> Option<BenchAnswerJson> {
        Some(BenchAnswerJson {
            threads: self.threads?,
            contexts: self.contexts?,
            proved_by: self.proved_by.clone(),
            fcr: self.fcr,
            visible: self.last.as_ref().and_then(|level| level.visible),
            collapse: self.collapse,
        })
    }
}

/// The interval of the checks for Ctrl-C.
const POLL: Duration = Duration::from_millis(20);

/// The limit for the saved bytes of a process's standard error.
const STDERR_LIMIT: u64 = 1 << 16;

/// Runs the process to its end and measures the time. Kills the process after `limit`, or if the
/// user presses Ctrl-C.
pub(super) fn run(run: &Run, command: &mut Command, limit: Duration) -> (ChildEnd, Duration) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).env("NO_COLOR", "1");
    // Ctrl-C reaches only this process, which then kills its child.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let start = Instant::now();
    let failed = |error: io::Error| ChildEnd::Failed { why: format!("cannot run it: {error}"), code: exit::INTERNAL };
    let child = match run.children.start(command) {
        Ok(child) => child,
        Err(error) => return (failed(error), start.elapsed()),
    };
    let mut started = lock(&child);
    let (stdout, stderr) = (started.stdout.take().expect("piped"), started.stderr.take().expect("piped"));
    drop(started);
    thread::scope(|scope| {
        // This sender is dropped at the end of standard output. That ends the wait below.
        let (reading, wait) = channel::<()>();
        let found = scope.spawn(move || {
            let _reading = reading;
            read(stdout)
        });
        let stderr_text = scope.spawn(|| read_stderr(stderr));
        let status = loop {
            match lock(&child).try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => break Ok(status),
                Err(error) => break Err(failed(error)),
            }
            if run.signals.is_interrupted() {
                break Err(ChildEnd::Interrupted);
            }
            if start.elapsed() > limit {
                let why = format!("killed: it had not ended by itself after {} s", limit.as_secs());
                break Err(ChildEnd::Failed { why, code: exit::UNKNOWN });
            }
            if wait.recv_timeout(POLL) == Err(RecvTimeoutError::Disconnected) {
                thread::sleep(Duration::from_millis(1));
            }
        };
        let time = start.elapsed();
        let status = status.inspect_err(|_| end(&mut lock(&child)));
        run.children.forget(&child);
        let (found, stderr_text) = (found.join().expect("no panic"), stderr_text.join().expect("no panic"));
        (status.map_or_else(|ended| ended, |status| child_end(status, found, &stderr_text)), time)
    })
}

/// Reads the answer, and then to the end, so that the child never blocks on a full pipe. Keeps only
/// the values that the table needs.
fn read(stdout: ChildStdout) -> Option<ChildAnswer> {
    let mut stdout = BufReader::new(stdout);
    let found = serde_json::from_reader(&mut stdout).ok();
    let _ = io::copy(&mut stdout, &mut io::sink());
    found
}

fn read_stderr(mut stderr: ChildStderr) -> String {
    let mut bytes = Vec::new();
    let _ = stderr.by_ref().take(STDERR_LIMIT).read_to_end(&mut bytes);
    let _ = io::copy(&mut stderr, &mut io::sink());
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

fn child_end(status: ExitStatus, found: Option<ChildAnswer>, stderr_text: &str) -> ChildEnd {
    match (status.code().and_then(|code| u8::try_from(code).ok()), found) {
        (Some(exit::OK | exit::UNSAFE | exit::UNKNOWN), Some(found)) => ChildEnd::Answered(found),
        (code, _) => {
            // A killed process may have printed a text before.
            let how = if stderr_text.is_empty() || code.is_none() {
                format!("it ended with {status}")
            } else {
                String::new()
            };
            let why = [stderr_text.to_owned(), how]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("\n");
            let is_input = matches!(code, Some(exit::USAGE | exit::BAD_INPUT));
            ChildEnd::Failed { why, code: if is_input { exit::BAD_INPUT } else { exit::INTERNAL } }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::running::console::Console;

    fn ended(script: &str, seconds: u64, interrupted: bool) -> ChildEnd {
        let mut command = Command::new("sh");
        let this = Run::new(Vec::new(), Console::captured().0, None);
        if interrupted {
            this.signals.record_interrupt();
        }
        run(&this, command.args(["-c", script]), Duration::from_secs(seconds)).0
    }

    fn failed(script: &str, seconds: u64) -> (String, u8) {
        match ended(script, seconds, false) {
            ChildEnd::Failed { why, code } => (why, code),
            _ => panic!("{script} has no answer"),
        }
    }

    #[test]
    fn a_run_that_does_not_end_is_ended() {
        let killed = || ("killed: it had not ended by itself after 1 s".to_owned(), 5);
        assert_eq!(failed("exec sleep 1000", 1), killed());
        assert_eq!(failed("exec sleep 1000 > /dev/null", 1), killed());
        assert!(matches!(ended("exec sleep 1000", 500, true), ChildEnd::Interrupted));
    }

    #[test]
    fn a_run_without_an_answer_fails() {
        assert_eq!(failed("echo 'error: why' >&2; exit 2", 60), ("error: why".to_owned(), 2));
        assert_eq!(failed("echo 'error: nothing is bad' >&2; exit 1", 60), ("error: nothing is bad".to_owned(), 2));
        assert_eq!(failed("exit 6", 60), ("it ended with exit status: 6".to_owned(), 6));
        assert_eq!(failed("kill -9 $$", 60), ("it ended with signal: 9 (SIGKILL)".to_owned(), 6));
        let overflow = "echo 'has overflowed its stack' >&2; kill -ABRT $$";
        assert!(failed(overflow, 60).0.starts_with("has overflowed its stack\nit ended with signal: 6 (SIGABRT)"));
        assert_eq!(failed("echo '{}'", 60), ("it ended with exit status: 0".to_owned(), 6), "that is no answer");
        let this = Run::new(Vec::new(), Console::captured().0, None);
        let missing = run(&this, &mut Command::new("/nowhere/cuba"), Duration::from_secs(1)).0;
        assert!(matches!(missing, ChildEnd::Failed { why, code: 6 } if why.starts_with("cannot run it: ")));
    }

    #[test]
    fn an_answer_may_be_longer_than_a_pipe_and_so_may_complaints() {
        let answer = r#"{"verdict":"safe","reason":"why","peak_memory_bytes":7,"threads":2,"contexts":4,"proved_by":"Z","fcr":true,
            "collapse":{"reachable":null,"symbolic":null,"visible":3},"sequence":[{"k":0,"visible":1},
            {"k":1,"visible":340282366920938463463374607431768211455}],"more":["#;
        let script = format!(
            "head -c 1000000 /dev/zero | tr '\\0' x >&2; echo '{answer}'; yes '\"long\",' | head -n 100000; echo '0]}}'; exit 10"
        );
        let ChildEnd::Answered(found) = ended(&script, 60, false) else { panic!("there is an answer") };
        assert_eq!((&*found.verdict, found.peak_memory_bytes), ("safe", Some(7)));
        let answer = found.answer().unwrap();
        assert_eq!((answer.contexts, answer.collapse.visible), (4, Some(3)));
        assert_eq!(answer.visible, Some(u128::MAX));
    }
}

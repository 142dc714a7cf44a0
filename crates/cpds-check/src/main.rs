//! `cuba-check MODEL EVIDENCE`: accepts evidence, or reports the condition that it violates.

use cpds::Source;
use cpds::diagnostic::{Setting, plural, printable_lines};
use cpds_check::{Claim, Condition, Evidence, Rejected, check, read};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "\
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
";

/// The help for evidence that belongs to another problem.
const SAME_QUESTION: &str = "nothing was checked; give the options that the evidence was made with: --init and --target here, \
    --instances, --threads, --label and --target to `cuba convert`, if the model was a program";

struct Args {
    model: String,
    evidence: String,
    claim: Claim,
    init: Vec<String>,
    target: Vec<String>,
    max_steps: u64,
}

enum Failure {
    Usage(String),
    BadModel(String),
    Rejected(Rejected),
    Panicked,
}

fn main() -> ExitCode {
    let mut arguments = Vec::new();
    for argument in std::env::args_os().skip(1) {
        match argument.into_string() {
            Ok(argument) => arguments.push(argument),
            Err(_) => return fail(1, "error: an argument is not UTF-8"),
        }
    }
    let has_option = |names: [&str; 2]| arguments.iter().any(|argument| names.contains(&argument.as_str()));
    if has_option(["-h", "--help"]) {
        return print(HELP);
    }
    if has_option(["-V", "--version"]) {
        return print(concat!("cuba-check ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    let checked = guarded(|| parse(arguments).map_err(Failure::Usage).and_then(|args| run(&args)));
    match checked {
        Ok(accepted) => print(&format!("{accepted}\n")),
        Err(Failure::Usage(message)) => fail(1, &format!("error: {message}\n\nFor help: cuba-check --help")),
        Err(Failure::BadModel(message)) => fail(2, &message),
        Err(Failure::Rejected(rejected @ Rejected::Malformed(_))) => fail(2, &rejected.to_string()),
        Err(Failure::Rejected(rejected @ Rejected::OtherProblem(_))) => {
            fail(2, &format!("{rejected}\n{SAME_QUESTION}"))
        }
        Err(Failure::Rejected(rejected)) => fail(10, &rejected.to_string()),
        Err(Failure::Panicked) => fail(
            6,
            "error: this is a mistake in cuba-check itself; nothing was accepted; please report it with both files",
        ),
    }
}

/// A panic accepts nothing. The panic hook has printed its message.
fn guarded(check: impl FnOnce() -> Result<String, Failure>) -> Result<String, Failure> {
    catch_unwind(AssertUnwindSafe(check)).unwrap_or(Err(Failure::Panicked))
}

fn print(text: &str) -> ExitCode {
    let written = io::stdout().lock().write_all(text.as_bytes());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(1, &format!("error: {error}")),
        _ => ExitCode::SUCCESS,
    }
}

fn fail(code: u8, message: &str) -> ExitCode {
    // If standard error is closed, the exit code still reports the failure. The message may quote a
    // file or the command line, so it is made printable.
    let _ = writeln!(io::stderr(), "{}", printable_lines(message));
    ExitCode::from(code)
}

fn parse(arguments: Vec<String>) -> Result<Args, String> {
    let (mut files, mut init, mut target) = (Vec::new(), Vec::new(), Vec::new());
    let (mut claim, mut max_steps) = (Claim::Verdict, 1_000_000_000);
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--exact" => claim = Claim::Exact,
            "--init" => init.push(value()?),
            "--target" => target.push(value()?),
            "--max-steps" => max_steps = value()?.parse().map_err(|_| "--max-steps takes a number".to_owned())?,
            option if option.starts_with('-') && option != "-" => return Err(format!("unknown option {option}")),
            _ => files.push(argument),
        }
    }
    let [model, evidence] =
        <[String; 2]>::try_from(files).map_err(|_| "two files are needed, MODEL and EVIDENCE".to_owned())?;
    Ok(Args { model, evidence, claim, init, target, max_steps })
}

fn run(args: &Args) -> Result<String, Failure> {
    let path = Path::new(&args.model);
    if cpds::is_program(path) && path.is_file() {
        return Err(Failure::BadModel(format!(
            "error: `{0}` is a Boolean program; convert it to a system first: cuba convert {0} --to cpds -o FILE.cpds",
            args.model
        )));
    }
    let named = |option: &str, texts: &[String]| -> Vec<Source> {
        texts.iter().map(|text| Source::new(option, text.clone())).collect()
    };
    let (init, target) = (named("--init", &args.init), named("--target", &args.target));
    let model = cpds::read_file(path, &init, &target, &[]).map_err(|error| {
        let is_family = error.diagnostics.kept().iter().any(|it| it.settings.contains(&(Setting::Instances, None)));
        let how = if is_family {
            format!(
                "\nconvert the family to a system first: cuba convert {} --instances … --to cpds -o FILE.cpds",
                args.model
            )
        } else {
            String::new()
        };
        Failure::BadModel(format!("{error}{how}"))
    })?;
    let problem = &model.reading.problem;
    let cannot = |error: io::Error| Failure::Usage(format!("cannot read {}: {error}", args.evidence));
    let text: Box<dyn Read> = match args.evidence.as_str() {
        "-" => Box::new(io::stdin().lock()),
        path => Box::new(File::open(path).map_err(cannot)?),
    };
    let mut text = BufReader::with_capacity(1 << 16, text);
    if text.fill_buf().map_err(cannot)?.starts_with(&[0x1f, 0x8b]) {
        let how = "the evidence is compressed; decompress it: gunzip -c FILE | cuba-check MODEL -".to_owned();
        return Err(Failure::Rejected(Rejected::Malformed(how)));
    }
    let evidence = read(problem, text).map_err(Failure::Rejected)?;
    let checked = check(problem, &evidence, args.claim, &|steps| steps <= args.max_steps);
    checked.map_err(|rejected| match (rejected, &evidence) {
        (Rejected::Violated(Condition::Bad, what), Evidence::Certificate(it)) if it.visible.is_some() => {
            let hint = format!("{what} (use --exact to check its list of visible states)");
            Failure::Rejected(Rejected::Violated(Condition::Bad, hint))
        }
        (rejected, _) => Failure::Rejected(rejected),
    })?;
    Ok(match evidence {
        Evidence::Trace { contexts, .. } | Evidence::UnparsedTrace { contexts, .. } => {
            format!("accepted: unsafe: a trace with {} leads to a bad state", plural(contexts, "context"))
        }
        Evidence::Certificate(certificate) => {
            let (tuples, states) = (certificate.tuples().len(), certificate.automaton.len());
            let size = format!("{tuples} tuples over {states} languages");
            match args.claim {
                Claim::Verdict => format!("accepted: safe: no bad state is reachable; {size}"),
                Claim::Exact => format!("accepted: no visible state is reachable but those that are listed; {size}"),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_accepts_nothing() {
        assert!(matches!(guarded(|| panic!("a fault on purpose")), Err(Failure::Panicked)));
        assert!(matches!(guarded(|| Ok("accepted".to_owned())), Ok(accepted) if accepted == "accepted"));
    }
}

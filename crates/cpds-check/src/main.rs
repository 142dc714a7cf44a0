//! `cuba-check MODEL EVIDENCE`: accepts evidence, or says what is wrong with it.

use cpds::Source;
use cpds::diagnostic::printable_lines;
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
  --exact           check that the visible states of the certificate are those that it lists, instead of that none is bad
  --init STATE      start here instead of where the file says; repeatable
  --target PATTERN  take this as bad instead of what the file says; repeatable
  --max-steps N     give up after N elementary steps [default: 1000000000]
  -h, --help        print this
  -V, --version     print the version

Examples:
  cuba verify models/paper/fig2.cpds --certificate proof.json && cuba-check models/paper/fig2.cpds proof.json
  cuba verify models/paper/fig1.cpds --trace bug.json; cuba-check models/paper/fig1.cpds bug.json
  gunzip -c proof.json.gz | cuba-check models/paper/fig2.cpds -

The evidence is about one model and one question: --init and --target are those that it was made with, and so are the
--instances, --threads, --label and --target with which `cuba convert` made MODEL from a program.

Exit codes: 0 accepted, 10 rejected, 2 malformed, or for other options or another model, 1 usage, 6 internal error
";

/// What to do about evidence for something else.
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

enum Stopped {
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
    let is_asked = |names: [&str; 2]| arguments.iter().any(|argument| names.contains(&argument.as_str()));
    if is_asked(["-h", "--help"]) {
        return say(HELP);
    }
    if is_asked(["-V", "--version"]) {
        return say(concat!("cuba-check ", env!("CARGO_PKG_VERSION"), "\n"));
    }
    let checked = guarded(|| parse(arguments).map_err(Stopped::Usage).and_then(|args| run(&args)));
    match checked {
        Ok(accepted) => say(&format!("{accepted}\n")),
        Err(Stopped::Usage(message)) => fail(1, &format!("error: {message}\n\nFor help: cuba-check --help")),
        Err(Stopped::BadModel(message)) => fail(2, &message),
        Err(Stopped::Rejected(rejected @ Rejected::Malformed(_))) => fail(2, &rejected.to_string()),
        Err(Stopped::Rejected(rejected @ Rejected::Other(_))) => fail(2, &format!("{rejected}\n{SAME_QUESTION}")),
        Err(Stopped::Rejected(rejected)) => fail(10, &rejected.to_string()),
        Err(Stopped::Panicked) => fail(
            6,
            "error: this is a mistake in cuba-check itself, and nothing was accepted; please report it with both files",
        ),
    }
}

/// What panics accepts nothing. The panic itself has been told by now.
fn guarded(check: impl FnOnce() -> Result<String, Stopped>) -> Result<String, Stopped> {
    catch_unwind(AssertUnwindSafe(check)).unwrap_or(Err(Stopped::Panicked))
}

fn say(text: &str) -> ExitCode {
    let written = io::stdout().lock().write_all(text.as_bytes());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(1, &format!("error: {error}")),
        _ => ExitCode::SUCCESS,
    }
}

fn fail(code: u8, message: &str) -> ExitCode {
    // If standard error is closed, the exit code still says it. What the message quotes may come
    // from a file or from the command line.
    let _ = writeln!(io::stderr(), "{}", printable_lines(message));
    ExitCode::from(code)
}

fn parse(arguments: Vec<String>) -> Result<Args, String> {
    let (mut files, mut init, mut target) = (Vec::new(), Vec::new(), Vec::new());
    let (mut claim, mut max_steps) = (Claim::Verdict, 1_000_000_000);
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} lacks its value"));
        match argument.as_str() {
            "--exact" => claim = Claim::Exact,
            "--init" => init.push(value()?),
            "--target" => target.push(value()?),
            "--max-steps" => max_steps = value()?.parse().map_err(|_| "--max-steps takes a number".to_owned())?,
            option if option.starts_with('-') && option != "-" => return Err(format!("there is no option {option}")),
            _ => files.push(argument),
        }
    }
    let [model, evidence] =
        <[String; 2]>::try_from(files).map_err(|_| "two files are needed, MODEL and EVIDENCE".to_owned())?;
    Ok(Args { model, evidence, claim, init, target, max_steps })
}

fn run(args: &Args) -> Result<String, Stopped> {
    let path = Path::new(&args.model);
    if cpds::is_program(path) && path.is_file() {
        return Err(Stopped::BadModel(format!(
            "error: `{0}` is a Boolean program; make a system of it first: cuba convert {0} --to cpds -o FILE.cpds",
            args.model
        )));
    }
    let named = |option: &str, texts: &[String]| -> Vec<Source> {
        texts.iter().map(|text| Source::new(option, text.clone())).collect()
    };
    let (init, target) = (named("--init", &args.init), named("--target", &args.target));
    let model = cpds::read_file(path, &init, &target).map_err(|error| Stopped::BadModel(error.to_string()))?;
    let problem = &model.reading.problem;
    let cannot = |error: io::Error| Stopped::Usage(format!("cannot read {}: {error}", args.evidence));
    let text: Box<dyn Read> = match args.evidence.as_str() {
        "-" => Box::new(io::stdin().lock()),
        path => Box::new(File::open(path).map_err(cannot)?),
    };
    let mut text = BufReader::with_capacity(1 << 16, text);
    if text.fill_buf().map_err(cannot)?.starts_with(&[0x1f, 0x8b]) {
        let how = "compressed; uncompress it: gunzip -c FILE | cuba-check MODEL -".to_owned();
        return Err(Stopped::Rejected(Rejected::Malformed(how)));
    }
    let evidence = read(problem, text).map_err(Stopped::Rejected)?;
    let checked = check(problem, &evidence, args.claim, &|steps| steps <= args.max_steps);
    checked.map_err(|rejected| match (rejected, &evidence) {
        (Rejected::Violated(Condition::Bad, what), Evidence::Certificate(it)) if it.visible.is_some() => {
            let hint = format!("{what} (the list of visible states that it has is checked with --exact)");
            Stopped::Rejected(Rejected::Violated(Condition::Bad, hint))
        }
        (rejected, _) => Stopped::Rejected(rejected),
    })?;
    Ok(match evidence {
        Evidence::Trace { contexts, .. } | Evidence::WrittenTrace { contexts, .. } => {
            let s = if contexts == 1 { "" } else { "s" };
            format!("accepted: unsafe: a trace with {contexts} context{s} leads to a bad state")
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
        assert!(matches!(guarded(|| panic!("a fault on purpose")), Err(Stopped::Panicked)));
        assert!(matches!(guarded(|| Ok("accepted".to_owned())), Ok(accepted) if accepted == "accepted"));
    }
}

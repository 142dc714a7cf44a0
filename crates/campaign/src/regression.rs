//! Regressions: stores findings as files, and checks stored files.

use crate::answers::ALL_TURNS;
use crate::case::{CaseKind, Finding};
use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, Disagreement, program, system};
use boolprog::parse;
use cpds::{Problem, Source};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Writes a finding to a file, with the law and the command that repeats the case.
pub fn save(folder: &Path, finding: &Finding) -> io::Result<PathBuf> {
    let Finding { case, disagreement, text } = finding;
    let (extension, comment) = if case.kind == CaseKind::Program { ("bp", "//") } else { ("cpds", "#") };
    let path = folder.join(format!("{}-{}-{}.{extension}", disagreement.law, case.seed, case.number));
    let mut head = format!("{comment} {}\n{comment} campaign --case {case}\n", disagreement.law);
    for line in disagreement.detail.lines().take(12) {
        let _ = writeln!(head, "{comment} {}", line.chars().take(160).collect::<String>());
    }
    fs::create_dir_all(folder)?;
    fs::write(&path, format!("{head}\n{text}"))?;
    Ok(path)
}

/// Makes every comparison on the model in a file.
pub fn check(path: &Path, tally: &mut Tally) -> Checked {
    let unreadable = |error: String| Disagreement { law: "regression-read", detail: error };
    let text = fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    if path.extension().is_some_and(|extension| extension == "bp") {
        let (program, diagnostics) = parse(&Source::from(text.as_str()));
        if !diagnostics.is_ok() {
            return Err(unreadable("not a Boolean program".to_owned()));
        }
        for (turn, options) in (0..).zip(program::starts(&program)) {
            program::check(&program, &options, &Truth::of, turn, tally)?;
        }
        return Ok(());
    }
    let problem: Problem = text.parse().map_err(|error: cpds::ReadError| unreadable(error.to_string()))?;
    (0..ALL_TURNS).try_for_each(|turn| system::check(&problem, &Truth::of, turn, tally))
}

//! The answer of a verb, and how a run prints it.

use crate::running::run::Run;
use crate::text::diagnostics;
use cpds::ReadError;
use std::io;
use std::path::Path;

/// The exit codes. Those that CBMC also has are equal to the ones of CBMC.
pub(crate) mod exit {
    /// Success; for `verify`, safe; for `reach`, converged; for `fcr`, it holds.
    pub(crate) const OK: u8 = 0;
    /// The command line is wrong, or an output cannot be written.
    pub(crate) const USAGE: u8 = 1;
    /// The model cannot be read.
    pub(crate) const BAD_INPUT: u8 = 2;
    /// There is no answer.
    pub(crate) const UNKNOWN: u8 = 5;
    /// A mistake in cuba itself; for `bench`, an answer that is not the expected one.
    pub(crate) const INTERNAL: u8 = 6;
    /// A bad state is reachable; for `fcr`, it does not hold.
    pub(crate) const UNSAFE: u8 = 10;
}

/// The answer of a verb.
pub(crate) struct Answer {
    /// For standard output.
    pub(crate) stdout: String,
    /// Remarks for standard error, unless `--quiet` is given.
    pub(crate) remarks: String,
    /// Errors for standard error, beside the answer.
    pub(crate) errors: String,
    /// The exit code.
    pub(crate) code: u8,
}

impl Answer {
    /// Creates an answer that consists of an error.
    pub(crate) fn refused(why: &str) -> Self {
        let errors = diagnostics::plain_error(why);
        Answer { stdout: String::new(), remarks: String::new(), errors, code: exit::USAGE }
    }

    /// Creates an answer without text, only with an exit code.
    pub(crate) fn silent(code: u8) -> Self {
        Answer { stdout: String::new(), remarks: String::new(), errors: String::new(), code }
    }

    /// Adds the remark about a written file, or the error. The answer stays valid in both cases.
    pub(crate) fn wrote(&mut self, run: &Run, path: &Path, written: Result<String, String>) {
        run.files.remove_expected(path);
        match written {
            Ok(note) => self.remarks += &note,
            Err(error) => {
                self.errors += &diagnostics::plain_error(&error);
                self.code = exit::USAGE;
            }
        }
    }
}

/// Why a verb has no answer for standard output.
pub(crate) enum VerbError {
    BadInput(ReadError),
    Usage(String),
    /// A limit has ended the run, for this reason.
    Limit(String),
}

impl From<ReadError> for VerbError {
    fn from(error: ReadError) -> Self {
        VerbError::BadInput(error)
    }
}

/// Prints the answer of a verb, names the missing outputs, and returns the exit code. The caller
/// must have claimed the right to print.
pub(crate) fn print(run: &Run, result: Result<Answer, VerbError>, quiet: bool) -> u8 {
    let console = &run.console;
    // If the verb did not start, the error is enough.
    let is_refused = match &result {
        Ok(answer) => answer.code == exit::USAGE,
        Err(VerbError::Limit(_)) => false,
        Err(VerbError::BadInput(_) | VerbError::Usage(_)) => true,
    };
    if !is_refused {
        console.remark(&run.files.missing());
    }
    match result {
        Ok(Answer { stdout, remarks, errors, code }) => {
            if !quiet {
                console.remark(&remarks);
            }
            console.remark(&errors);
            match console.print(&stdout) {
                Ok(()) => code,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => code, // the reader has closed the pipe
                Err(error) => {
                    let message = format!("cannot write to standard output: {error}");
                    console.remark(&diagnostics::plain_error(&message));
                    exit::USAGE
                }
            }
        }
        Err(VerbError::BadInput(error)) => {
            console.remark(&diagnostics::errors(&error.sources, &error.diagnostics));
            if !quiet {
                console.remark(&diagnostics::warnings(&error.sources, &error.diagnostics));
            }
            exit::BAD_INPUT
        }
        Err(VerbError::Usage(message)) => {
            console.remark(&diagnostics::plain_error(&message));
            exit::USAGE
        }
        Err(VerbError::Limit(why)) => {
            console.remark(&format!("unknown: {why}\n"));
            exit::UNKNOWN
        }
    }
}

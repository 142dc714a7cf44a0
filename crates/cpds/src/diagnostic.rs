//! Diagnostics: a mistake in a text, its position, and how to correct it.
//!
//! Diagnostics are plain data. The command line prints them with the underlined text. [`ReadError`]
//! prints one line for each, for other programs.

pub use crate::message_text::{is_printable, nearest, plural, printable, printable_lines, shortened};
use std::fmt;

/// A text with its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The name for messages: a file name, or for example an option of a command line.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// Makes a source. A byte order mark is not part of the text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        Source { name: name.into(), text }
    }

    /// Decodes bytes as UTF-8.
    pub fn decode(name: impl Into<String>, mut bytes: Vec<u8>) -> Result<Self, ReadError> {
        if bytes.starts_with("\u{feff}".as_bytes()) {
            bytes.drain(..3);
        }
        let (error, bytes) = match String::from_utf8(bytes) {
            Ok(text) => return Ok(Source::new(name, text)),
            Err(error) => (error.utf8_error(), error.into_bytes()),
        };
        let (start, byte) = (error.valid_up_to(), bytes[error.valid_up_to()]);
        // The text after the mistake is not shown, because it may be long.
        let shown = &bytes[..bytes.len().min(start + 100)];
        let lossy = Source { name: name.into(), text: String::from_utf8_lossy(shown).into_owned() };
        let end = start + char::REPLACEMENT_CHARACTER.len_utf8();
        let narrow = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        let span = Span { source: 0, start: narrow(start), end: narrow(end) };
        let help = if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            "it looks like UTF-16; save it as UTF-8"
        } else {
            "save the file as UTF-8"
        };
        let error = Diagnostic::error("the file is not UTF-8 text").at(span, format!("byte 0x{byte:02x}")).help(help);
        Err(ReadError::new(vec![lossy], error))
    }

    /// Returns the line and the column of a position, counted from 1. Columns count characters.
    pub fn position(&self, offset: u32) -> (usize, usize) {
        let before = self.text.get(..offset as usize).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

/// A text without a name.
impl From<&str> for Source {
    fn from(text: &str) -> Self {
        Source::new("text", text)
    }
}

/// A part of a source: bytes `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Span {
    /// The number of the source in [`Reading::sources`](crate::Reading::sources).
    pub source: u32,
    /// First byte.
    pub start: u32,
    /// First byte after it.
    pub end: u32,
}

impl Span {
    /// Returns the span from the start of this span to the end of the other one.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end.max(self.start), ..self }
    }
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The text is not valid.
    Error,
    /// The text is valid, but perhaps not as intended.
    Warning,
}

/// An input that is not in the text of the model. Diagnostics contain this value; the command line
/// prints the name of its option.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Setting {
    /// Initial states that replace those of the model.
    Initial,
    /// Bad patterns that replace those of the model.
    Target,
    /// Labels of a program that are bad.
    Label,
    /// The functions in which threads start, and the number of threads for each.
    Instances,
    /// The limit on threads that a program creates.
    Threads,
}

/// A message about a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The mistake, in one line, in lower case.
    pub message: String,
    /// The position, and the text at the position.
    pub label: Option<(Span, String)>,
    /// A second position that explains the first one.
    pub related: Option<(Span, String)>,
    /// How to correct it.
    pub help: Option<String>,
    /// The setting that is wrong or has no effect.
    pub about: Option<Setting>,
    /// The settings that correct it, some with an example of a value.
    pub settings: Vec<(Setting, Option<&'static str>)>,
}

impl Diagnostic {
    /// Makes an error without a position.
    pub fn error(message: impl Into<String>) -> Self {
        let (severity, message) = (Severity::Error, message.into());
        Diagnostic { severity, message, label: None, related: None, help: None, about: None, settings: Vec::new() }
    }

    /// Makes a warning without a position.
    pub fn warning(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message) }
    }

    /// Sets the position.
    #[must_use]
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.label = Some((span, label.into()));
        self
    }

    /// Sets the second position.
    #[must_use]
    pub fn see(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related = Some((span, label.into()));
        self
    }

    /// Sets the help text.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the wrong setting.
    #[must_use]
    pub fn about(mut self, setting: Setting) -> Self {
        self.about = Some(setting);
        self
    }

    /// Adds a setting that corrects the mistake, with an example of a value.
    #[must_use]
    pub fn setting(mut self, setting: Setting, example: impl Into<Option<&'static str>>) -> Self {
        self.settings.push((setting, example.into()));
        self
    }
}

/// The diagnostics of one reading. Only the first hundred errors and the first hundred warnings are
/// stored. The others are only counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Diagnostics {
    const STORED: usize = 100;
    /// After this number of errors, reading stops.
    const MANY: usize = 10_000;

    /// Adds an error. `make` is called only if the error is stored, so that a file with very many
    /// mistakes takes little time.
    pub fn error(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.errors += 1;
        if self.errors <= Self::STORED {
            let diagnostic = make();
            debug_assert_eq!(diagnostic.severity, Severity::Error);
            self.kept.push(diagnostic);
        }
    }

    /// Adds a warning, like [`Diagnostics::error`].
    pub fn warning(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.warnings += 1;
        if self.warnings <= Self::STORED {
            let diagnostic = make();
            debug_assert_eq!(diagnostic.severity, Severity::Warning);
            self.kept.push(diagnostic);
        }
    }

    /// Whether there are no errors.
    pub fn is_ok(&self) -> bool {
        self.errors == 0
    }

    /// Whether there are so many errors that reading should stop.
    pub fn are_many(&self) -> bool {
        self.errors >= Self::MANY
    }

    /// Returns the stored diagnostics, errors first, each in the order of the text.
    pub fn kept(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// Returns the number of errors.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// Returns the number of warnings.
    pub fn warnings(&self) -> usize {
        self.warnings
    }

    /// Sorts the stored diagnostics: errors first, each in the order of the text.
    pub fn sort(&mut self) {
        self.kept.sort_by_key(|d| (d.severity, d.label.as_ref().map(|(span, _)| *span)));
    }
}

/// The errors of a text that is not valid. Each prints as a line `file:line:column: error: …`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The texts.
    pub sources: Vec<Source>,
    /// The diagnostics; at least one error.
    pub diagnostics: Diagnostics,
}

impl ReadError {
    /// Makes a `ReadError` with a single error.
    pub fn new(sources: Vec<Source>, error: Diagnostic) -> Self {
        let mut diagnostics = Diagnostics::default();
        diagnostics.error(|| error);
        ReadError { sources, diagnostics }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.diagnostics.kept.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            if let Some((span, _)) = &diagnostic.label {
                let source = &self.sources[span.source as usize];
                let (line, column) = source.position(span.start);
                write!(f, "{}:{line}:{column}: ", printable(&source.name))?;
            }
            let severity = match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            write!(f, "{severity}: {}", printable_lines(&diagnostic.message))?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let source = Source::new("x", "ab\r\n⟨c⟩d");
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(3), (1, 4));
        assert_eq!(source.position(4), (2, 1));
        assert_eq!(source.position(u32::try_from(source.text.len()).unwrap()), (2, 5));
        assert_eq!(source.position(1000), (2, 5));
    }

    #[test]
    fn only_the_first_diagnostics_are_stored_but_all_are_counted() {
        let mut diagnostics = Diagnostics::default();
        for _ in 0..1000 {
            diagnostics.warning(|| Diagnostic::warning("x"));
        }
        assert_eq!((diagnostics.kept().len(), diagnostics.warnings(), diagnostics.is_ok()), (100, 1000, true));
        for _ in 0..1000 {
            diagnostics.error(|| Diagnostic::error("x"));
        }
        assert_eq!((diagnostics.kept().len(), diagnostics.errors(), diagnostics.is_ok()), (200, 1000, false));
        assert_eq!(diagnostics.warnings(), 1000);
    }

    /// Errors come first, each in the order of the text.
    #[test]
    fn one_line_each() {
        let at = |start, end| Span { source: 0, start, end };
        let mut diagnostics = Diagnostics::default();
        diagnostics.warning(|| Diagnostic::warning("w").at(at(0, 1), ""));
        diagnostics.error(|| Diagnostic::error("e2").at(at(3, 4), ""));
        diagnostics.error(|| Diagnostic::error("e1").at(at(0, 1), ""));
        diagnostics.sort();
        let error = ReadError { sources: vec![Source::new("x", "a\nbc")], diagnostics };
        assert_eq!(error.to_string(), "x:1:1: error: e1\nx:2:2: error: e2\nx:1:1: warning: w");
    }

    #[test]
    fn bytes_that_are_not_utf_8() {
        let told = |bytes: &[u8]| {
            let error = Source::decode("x", bytes.to_vec()).unwrap_err();
            let [diagnostic] = error.diagnostics.kept() else { panic!("one diagnostic") };
            let (span, label) = diagnostic.label.clone().unwrap();
            (span.start, span.end, label, diagnostic.help.clone().unwrap())
        };
        let (utf8, utf16) = ("save the file as UTF-8".to_owned(), "it looks like UTF-16; save it as UTF-8".to_owned());
        assert_eq!(told(b"ab\xffc"), (2, 5, "byte 0xff".to_owned(), utf8));
        assert_eq!(told(b"\xff\xfea\0"), (0, 3, "byte 0xff".to_owned(), utf16.clone()));
        assert_eq!(told(b"\xfe\xff\0a"), (0, 3, "byte 0xfe".to_owned(), utf16));
        assert_eq!(Source::decode("x", b"\xef\xbb\xbfab".to_vec()), Ok(Source::new("x", "ab")));
    }
}

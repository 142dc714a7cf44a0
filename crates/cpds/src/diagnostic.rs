//! Diagnostics: what is wrong with a text, where, and what to do about it.
//!
//! Plain data. Turning them into underlined text is the command line's business; [`ReadError`]
//! prints one line each, for everybody else.

pub use crate::format::words::{nearest, shortened};
use crate::names::is_invisible;
use std::fmt;

/// A text with the name under which the user knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// A file name, or what else the user calls it, such as an option of a command line.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Source {
    /// A text and its name. A byte order mark is not part of the text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let mut text = text.into();
        if text.starts_with('\u{feff}') {
            text.remove(0);
        }
        Source { name: name.into(), text }
    }

    /// The text that these bytes are, if they are UTF-8.
    pub fn decode(name: impl Into<String>, mut bytes: Vec<u8>) -> Result<Self, ReadError> {
        if bytes.starts_with("\u{feff}".as_bytes()) {
            bytes.drain(..3);
        }
        let (error, bytes) = match String::from_utf8(bytes) {
            Ok(text) => return Ok(Source::new(name, text)),
            Err(error) => (error.utf8_error(), error.into_bytes()),
        };
        let (start, byte) = (error.valid_up_to(), bytes[error.valid_up_to()]);
        // What comes after the mistake is not shown: it may be long, and becomes longer here.
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

    /// Line and column of a place, both counted from 1; columns count characters.
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
    /// Which source, as its position in [`Reading::sources`](crate::Reading::sources).
    pub source: u32,
    /// First byte.
    pub start: u32,
    /// First byte after it.
    pub end: u32,
}

impl Span {
    /// From the start of this to the end of the other.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end.max(self.start), ..self }
    }
}

/// Whether a character can be seen, and no terminal or browser obeys it.
pub fn is_printable(c: char) -> bool {
    !is_invisible(c)
}

/// A text with nothing in it that a terminal would obey, or that cannot be seen.
///
/// All text that comes from a file or from the command line passes through here, or through
/// [`printable_lines`], before it is shown.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_invisible(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// The same for a text of several lines: the ends of lines stay, and so do tabs.
pub fn printable_lines(text: &str) -> String {
    if text.chars().all(|c| is_printable(c) || matches!(c, '\n' | '\t')) {
        return text.to_owned(); // nearly always
    }
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let end = if line.ends_with("\r\n") { 2 } else { usize::from(line.ends_with('\n')) };
        let (line, end) = line.split_at(line.len() - end);
        let parts: Vec<String> = line.split('\t').map(printable).collect();
        shown += &parts.join("\t");
        shown += if end.is_empty() { "" } else { "\n" };
    }
    shown
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The text has no meaning.
    Error,
    /// The text has a meaning, but perhaps not the one that was meant.
    Warning,
}

/// A part of a question that the text of the model does not have. Diagnostics name it like this; a
/// command line names its option for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Setting {
    /// Initial states, in place of those of the model.
    Initial,
    /// Bad states, in place of those of the model.
    Target,
    /// Labels of a program; it is bad to stand there.
    Label,
    /// The functions of a program that threads start with, and how many of each.
    Instances,
    /// How many threads a program may create.
    Threads,
}

/// One thing to tell the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one line, lower case.
    pub message: String,
    /// The place, and what to say there.
    pub label: Option<(Span, String)>,
    /// A second place that explains the first.
    pub related: Option<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
    /// The setting that is wrong, or that changes nothing.
    pub about: Option<Setting>,
    /// The settings that help, some with an example of a value.
    pub settings: Vec<(Setting, Option<&'static str>)>,
}

impl Diagnostic {
    /// An error, so far without a place.
    pub fn error(message: impl Into<String>) -> Self {
        let (severity, message) = (Severity::Error, message.into());
        Diagnostic { severity, message, label: None, related: None, help: None, about: None, settings: Vec::new() }
    }

    /// A warning, so far without a place.
    pub fn warning(message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message) }
    }

    /// Points at a place.
    #[must_use]
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.label = Some((span, label.into()));
        self
    }

    /// Points at a second place.
    #[must_use]
    pub fn see(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related = Some((span, label.into()));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says which setting it is about.
    #[must_use]
    pub fn about(mut self, setting: Setting) -> Self {
        self.about = Some(setting);
        self
    }

    /// Adds a setting that helps, with an example of a value.
    #[must_use]
    pub fn setting(mut self, setting: Setting, example: impl Into<Option<&'static str>>) -> Self {
        self.settings.push((setting, example.into()));
        self
    }
}

/// The diagnostics of one reading. Only the first hundred errors and the first hundred warnings are
/// kept; the rest are counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

impl Diagnostics {
    const KEEP: usize = 100;
    /// After so many errors nobody reads on.
    const MANY: usize = 10_000;

    /// Adds an error. It is made only if it will be kept, so that a file of nothing but mistakes
    /// stays cheap.
    pub fn error(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.errors += 1;
        if self.errors <= Self::KEEP {
            let diagnostic = make();
            debug_assert_eq!(diagnostic.severity, Severity::Error);
            self.kept.push(diagnostic);
        }
    }

    /// Adds a warning, in the same way.
    pub fn warning(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.warnings += 1;
        if self.warnings <= Self::KEEP {
            let diagnostic = make();
            debug_assert_eq!(diagnostic.severity, Severity::Warning);
            self.kept.push(diagnostic);
        }
    }

    /// Whether there are no errors.
    pub fn is_ok(&self) -> bool {
        self.errors == 0
    }

    /// Whether there are so many errors that looking for more is of no use.
    pub fn are_many(&self) -> bool {
        self.errors >= Self::MANY
    }

    /// Those that were kept, in the order of the text; errors first.
    pub fn kept(&self) -> &[Diagnostic] {
        &self.kept
    }

    /// How many errors there were.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// How many warnings there were.
    pub fn warnings(&self) -> usize {
        self.warnings
    }

    /// Puts them into the order of the text; errors first.
    pub fn sort(&mut self) {
        self.kept.sort_by_key(|d| (d.severity, d.label.as_ref().map(|(span, _)| *span)));
    }
}

/// The text was not understood; prints as `file:line:column: error: …`, one line each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The texts.
    pub sources: Vec<Source>,
    /// What there is to say about them; at least one error.
    pub diagnostics: Diagnostics,
}

impl ReadError {
    /// A single error.
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
    fn a_flood_is_counted_but_not_kept() {
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

    /// Errors first, and each in the order of the text.
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
    fn bytes_that_are_no_text() {
        let told = |bytes: &[u8]| {
            let error = Source::decode("x", bytes.to_vec()).unwrap_err();
            let [diagnostic] = error.diagnostics.kept() else { panic!("one is enough") };
            let (span, label) = diagnostic.label.clone().unwrap();
            (span.start, span.end, label, diagnostic.help.clone().unwrap())
        };
        let (utf8, utf16) = ("save the file as UTF-8".to_owned(), "it looks like UTF-16; save it as UTF-8".to_owned());
        assert_eq!(told(b"ab\xffc"), (2, 5, "byte 0xff".to_owned(), utf8));
        assert_eq!(told(b"\xff\xfea\0"), (0, 3, "byte 0xff".to_owned(), utf16.clone()));
        assert_eq!(told(b"\xfe\xff\0a"), (0, 3, "byte 0xfe".to_owned(), utf16));
        assert_eq!(Source::decode("x", b"\xef\xbb\xbfab".to_vec()), Ok(Source::new("x", "ab")));
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(printable("aε\u{1b}[1m\u{202e}b"), "aε\\u{1b}[1m\\u{202e}b");
        assert_eq!(printable("a\r\n\tb"), "a\\r\\n\\tb");
        assert_eq!(printable_lines("a\r\n\tb\u{2066}\n\rc"), "a\n\tb\\u{2066}\n\\rc");
        assert_eq!(printable_lines("a\r\n"), "a\n");
        // A few of each block of the category Cf, the separators, and others that cannot be seen.
        let unseen = "\u{0}\u{7f}\u{9b}\u{ad}\u{600}\u{61c}\u{6dd}\u{70f}\u{891}\u{8e2}\u{180e}\u{200b}\u{200d}\u{200f}\u{2028}\u{2029}\u{202a}\
            \u{202e}\u{2060}\u{2066}\u{2069}\u{206f}\u{feff}\u{fff9}\u{fffb}\u{110bd}\u{110cd}\u{13430}\u{1bca0}\u{1d173}\u{e0001}\u{e007f}\
            \u{34f}\u{115f}\u{17b5}\u{3164}\u{fe0f}";
        assert!(unseen.chars().all(|c| !is_printable(c)) && printable(unseen).is_ascii());
        assert!("aε⟨語é\u{301}→ \u{fffd}😀".chars().all(is_printable));
    }
}

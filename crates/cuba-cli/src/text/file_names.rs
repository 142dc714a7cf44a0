//! Names of files as text.

use cpds::diagnostic::printable;
use std::path::Path;

/// Formats a path without characters that a terminal would interpret.
pub(crate) fn printable_path(path: &Path) -> String {
    printable(&path.display().to_string())
}

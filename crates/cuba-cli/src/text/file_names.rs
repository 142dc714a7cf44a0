//! Names of files as text.

use cpds::diagnostic::printable;
use std::path::Path;

/// A path without characters that a terminal would interpret.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

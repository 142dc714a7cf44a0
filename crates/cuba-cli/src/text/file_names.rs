//! Names of files.

use cpds::diagnostic::printable;
use std::path::Path;

/// A path as it can be printed.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

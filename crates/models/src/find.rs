//! Finds the models in a folder.

use cpds::diagnostic::{Diagnostic, printable};
use cpds::{Format, ReadError, is_program, read_text};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Returns the models of a path: the path itself; or, for a folder, all models in it and its
/// subfolders, sorted. In a folder, a `.pds` file is a model only if a `.init` file is next to it.
pub fn find(path: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let refused = |message: String, help: &str| ReadError::new(Vec::new(), Diagnostic::error(message).help(help));
    let shown = printable(&path.display().to_string());
    if !path.is_dir() {
        read_text(path)?;
        if !is_program(path) && Format::of_name(path).is_none() {
            let help = "the name of a model ends in .bp, .cpds or .pds";
            return Err(refused(format!("`{shown}` has no known format"), help));
        }
        return Ok(vec![path.to_owned()]);
    }
    let is_model = |path: &Path| match Format::of_name(path) {
        Some(Format::Cpds) => true,
        Some(Format::Pds) => path.with_extension("init").exists(),
        None => is_program(path),
    };
    let found = below(path, is_model)
        .map_err(|error| refused(format!("`{shown}` cannot be read: {error}"), "check its permissions"))?;
    if found.is_empty() {
        let help = "models are .bp files, .cpds files, and .pds files with a .init beside them";
        return Err(refused(format!("there is no model below `{shown}`"), help));
    }
    Ok(found)
}

/// Returns all wanted files in a folder and its subfolders, sorted. Links to folders are not
/// followed, because they may form a cycle.
pub fn below(folder: &Path, is_wanted: impl Fn(&Path) -> bool) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if is_wanted(&path) && path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a folder with empty files of these names.
    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    #[test]
    fn models_are_found_in_the_order_of_their_paths() {
        let names = ["b/z.bp", "b/a.cpds", "c.pds", "c.init", "d.pds", "a.CPDS", "a.toml", "e.txt", "b.bp"];
        let folder = folder(&names);
        let found = find(folder.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(names, ["a.CPDS", "b/a.cpds", "b/z.bp", "b.bp", "c.pds"].map(Path::new));
        let given = folder.path().join("d.pds");
        assert_eq!(find(&given).unwrap(), [given], "a file that is named needs no `.init` next to it");
    }

    #[test]
    fn a_path_that_is_not_a_model_is_refused() {
        let folder = folder(&["none/readme.txt", "m.cpds"]);
        let refused = |name: &str| {
            let shown = folder.path().display().to_string();
            find(&folder.path().join(name)).unwrap_err().to_string().replace(&shown, "…")
        };
        assert_eq!(refused("none"), "error: there is no model below `…/none`");
        assert_eq!(refused("none/readme.txt"), "error: `…/none/readme.txt` has no known format");
        assert_eq!(refused("n.cpds"), "error: there is no file `…/n.cpds`");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_folder_is_not_followed() {
        let folder = folder(&["m.cpds"]);
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
        assert_eq!(find(folder.path()).unwrap().len(), 1);
    }
}

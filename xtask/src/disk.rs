//! Files and folders. What is said about an error begins with the path.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// What is said about an error at `path`.
pub fn at(path: &Path) -> impl Fn(io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

/// Reads a file. Some tests print what is no text.
pub fn read(path: &Path) -> Result<String, String> {
    Ok(String::from_utf8_lossy(&fs::read(path).map_err(at(path))?).into_owned())
}

/// Writes a file and the folders that it is in.
pub fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), String> {
    let made = fs::create_dir_all(path.parent().unwrap_or(path));
    made.and_then(|()| fs::write(path, text)).map_err(at(path))
}

/// What is in a folder, sorted.
pub fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(at(folder))?.flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// The files of a folder with this ending, sorted.
pub fn files_with(ending: &str, folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut paths = entries(folder)?;
    paths.retain(|path| path.extension().is_some_and(|it| it == ending));
    Ok(paths)
}

/// Copies a file into a folder: the text and not the rights, for sources of a registry may be read-only. Returns where
/// it is.
pub fn copy_into(folder: &Path, from: &Path) -> Result<PathBuf, String> {
    let to = folder.join(from.file_name().unwrap_or_default());
    write(&to, fs::read(from).map_err(at(from))?).map(|()| to)
}

/// Makes an empty folder, in the place of one that is there.
pub fn make_empty(folder: &Path) -> Result<(), String> {
    let removed = if folder.exists() { fs::remove_dir_all(folder) } else { Ok(()) };
    removed.and_then(|()| fs::create_dir_all(folder)).map_err(at(folder))
}

/// Returns true if a program is installed.
pub fn is_program(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Complains if packages of Debian are missing.
pub fn are_installed(missing: &[&str]) -> Result<(), String> {
    match missing.join(" ") {
        none if none.is_empty() => Ok(()),
        packages => Err(format!(
            "did not run, because packages of Debian are missing: apt-get install --no-install-recommends {packages}"
        )),
    }
}

//! Rules about files as such, and finding them.

use super::{Finding, Source};
use std::path::Path;

/// Directories that are not part of the product.
const NOT_OURS: &[&str] = &["target", ".git", "plots"];
/// What is read as text.
const TEXT: &[&str] = &["rs", "md", "toml", "sh", "csv", "yml", "c", "h", "map", "pml"];

/// All text files below `root`, in order of their paths.
pub fn read_all(root: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    read_directory(root, root, &mut sources);
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

fn read_directory(root: &Path, directory: &Path, sources: &mut Vec<Source>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !NOT_OURS.contains(&name.as_str()) {
                read_directory(root, &path, sources);
            }
            continue;
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let is_text = TEXT.contains(&&*extension) || directory == root.join(".ci");
        if let (true, Ok(text)) = (is_text, std::fs::read_to_string(&path)) {
            let below = path.strip_prefix(root).unwrap_or(&path);
            sources.push(Source::new(below.to_string_lossy(), text));
        }
    }
}

/// No file is named after the fact that somebody did not know where to put things.
pub fn names_say_something(source: &Source, _: &[Source]) -> Vec<Finding> {
    const EMPTY: &[&str] = &["util", "utils", "common", "helper", "helpers", "misc"];
    let name = source.path.rsplit('/').next().unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let in_such_folder = source.path.split('/').any(|part| EMPTY.contains(&part));
    if in_such_folder || EMPTY.contains(&stem) {
        return vec![source.finding(1, "this name says nothing about what is inside")];
    }
    Vec::new()
}

/// The documents at the root are short enough to be read.
pub fn documents_are_short(source: &Source, _: &[Source]) -> Vec<Finding> {
    let lines_max = match source.path.as_str() {
        "README.md" => 150,
        "ARCHITECTURE.md" => 200,
        _ => return Vec::new(),
    };
    let lines = source.text.lines().count();
    if lines > lines_max {
        return vec![source.finding(lines_max + 1, format!("{lines} lines, at most {lines_max}"))];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn names_that_say_nothing_are_found() {
        assert_eq!(findings(names_say_something, "crates/a/src/helpers.rs", "").len(), 1);
        assert_eq!(findings(names_say_something, "crates/a/src/util/mod.rs", "").len(), 1);
        assert!(findings(names_say_something, "crates/a/src/commons.rs", "").is_empty());
    }

    #[test]
    fn long_documents_are_found() {
        let lines = |count: usize| "line\n".repeat(count);
        assert_eq!(findings(documents_are_short, "README.md", &lines(151)).len(), 1);
        assert!(findings(documents_are_short, "README.md", &lines(150)).is_empty());
        assert_eq!(findings(documents_are_short, "ARCHITECTURE.md", &lines(201)).len(), 1);
        assert!(findings(documents_are_short, "crates/a/README.md", &lines(500)).is_empty());
    }
}

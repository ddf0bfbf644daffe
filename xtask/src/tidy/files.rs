//! Rules about files as such, and finding them.

use super::{Finding, Source};
use crate::disk::entries;
use std::path::Path;

/// Directories that are not part of the product.
const NOT_OURS: &[&str] = &["target", ".git", "plots"];
/// What is read as text.
const TEXT: &[&str] = &["rs", "md", "toml", "sh", "csv", "yml", "c", "h", "map", "pml", "txt"];

/// All text files below `root`, in order of their paths.
pub fn read_all(root: &Path) -> Vec<Source> {
    let mut sources = Vec::new();
    read_directory(root, root, &mut sources);
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources
}

fn read_directory(root: &Path, directory: &Path, sources: &mut Vec<Source>) {
    for path in entries(directory).unwrap_or_default() {
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

/// The name of a file says what is inside.
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

/// How many lines and words a document at the root may have. What is as wide as it likes has few lines, so words count.
const DOCUMENTS: &[(&str, usize, usize)] =
    &[("README.md", 100, 1_000), ("ARCHITECTURE.md", 200, 2_500)];

/// The documents at the root are short enough to be read.
pub fn documents_are_short(source: &Source, _: &[Source]) -> Vec<Finding> {
    let limits = DOCUMENTS.iter().find(|it| it.0 == source.path);
    let Some(&(_, lines_max, words_max)) = limits else { return Vec::new() };
    let lines = source.text.lines().count();
    let words = source.text.split_whitespace().count();
    let mut findings = Vec::new();
    if lines > lines_max {
        let message = format!("{lines} lines, at most {lines_max}: move details to docs/");
        findings.push(source.finding(lines_max + 1, message));
    }
    if words > words_max {
        let message = format!("{words} words, at most {words_max}: move details to docs/");
        findings.push(source.finding(1, message));
    }
    findings
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
        let document = |lines: usize, words: usize| {
            let text = "word ".repeat(words - lines) + &"line\n".repeat(lines);
            findings(documents_are_short, "README.md", &text).len()
        };
        assert_eq!(document(100, 1_000), 0);
        assert_eq!(document(101, 1_000), 1);
        assert_eq!(document(100, 1_001), 1);
        assert_eq!(document(101, 1_001), 2);
        let other = "line\n".repeat(2_000);
        assert!(findings(documents_are_short, "crates/a/README.md", &other).is_empty());
    }
}

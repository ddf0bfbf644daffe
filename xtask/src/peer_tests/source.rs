//! The tests of parking_lot, as its package has them.

use crate::sanitize;
use serde::Deserialize;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use syn::token::Brace;
use syn::{Attribute, Item, ItemFn};

/// The files of `src` that have tests. Those of `deadlock` need a feature that Lockwright refuses.
const FILES: [&str; 6] = ["mutex", "fair_mutex", "remutex", "condvar", "rwlock", "once"];

/// What cargo says of a package.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    name: String,
    pub version: String,
    pub edition: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Clone, Debug, Deserialize)]
struct Dependency {
    name: String,
    req: String,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// Finds parking_lot 0.12 among the packages that the workspace is built with.
pub fn package(root: &Path) -> Result<Package, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version", "1", "--offline", "--filter-platform"]);
    let output = cargo.arg(sanitize::target()).current_dir(root).output();
    let output = output.map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim_end().to_string();
        return Err(format!("a package is missing; type `cargo fetch`. cargo says: {said}"));
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("`cargo metadata` cannot be read: {error}"))?;
    let is_it = |it: &Package| it.name == "parking_lot" && it.version.starts_with("0.12.");
    let package = metadata.packages.into_iter().find(is_it);
    package.ok_or_else(|| "the workspace no longer uses parking_lot 0.12".into())
}

/// A file with tests.
#[derive(Debug)]
pub struct TestFile {
    /// Its name without the ending.
    pub name: &'static str,
    text: String,
    /// The bytes of its modules of tests.
    modules: Vec<Range<usize>>,
    /// The tests that stand there as functions; a macro makes others.
    pub tests: Vec<Test>,
}

/// A test that is a function.
#[derive(Debug)]
pub struct Test {
    pub name: String,
    /// Where it is, with its attributes.
    span: Range<usize>,
}

/// Reads the files.
pub fn files(package: &Package) -> Result<Vec<TestFile>, String> {
    read(&package.manifest_path.with_file_name("src"), &FILES, TestFile::of)
}

/// Reads Rust files of a folder, each by `of`, which gets its name without the ending and its text.
pub fn read<T>(
    folder: &Path,
    names: &[&'static str],
    of: impl Fn(&'static str, String) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let read = |name: &&'static str| {
        let path = folder.join(name).with_extension("rs");
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        let file = text.and_then(|text| of(name, text));
        file.map_err(|error| format!("{}: {error}", path.display()))
    };
    names.iter().map(read).collect()
}

impl Package {
    /// What its tests need, as a part of a `Cargo.toml`.
    pub fn test_dependencies(&self) -> String {
        let is_for_tests = |it: &&Dependency| it.kind.as_deref() == Some("dev");
        let needed = self.dependencies.iter().filter(is_for_tests);
        needed.map(|Dependency { name, req, .. }| format!("{name} = {req:?}\n")).collect()
    }

    /// The programs of its folder `tests`: names and texts.
    pub fn programs(&self) -> io::Result<Vec<(String, String)>> {
        rust_files(&self.manifest_path.with_file_name("tests"))
    }

    /// The comments with examples: a name of the place, and the text.
    pub fn examples(&self) -> io::Result<Vec<(String, String)>> {
        let files = rust_files(&self.manifest_path.with_file_name("src"))?;
        Ok(files.iter().flat_map(|(name, text)| examples(name, text)).collect())
    }
}

/// The Rust files of a folder, sorted: names without the ending, and texts.
fn rust_files(folder: &Path) -> io::Result<Vec<(String, String)>> {
    let entries = std::fs::read_dir(folder)?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "rs"));
    paths.sort();
    let name = |path: &Path| path.file_stem().map(|it| it.to_string_lossy().into_owned());
    let read =
        |path: &PathBuf| Ok((name(path).unwrap_or_default(), std::fs::read_to_string(path)?));
    paths.iter().map(read).collect()
}

/// The comments of a file that have an example.
fn examples(file: &str, text: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_going_on = false;
    for (line, text) in text.lines().enumerate() {
        let text = text.trim_start();
        let comment = text.strip_prefix("///").or_else(|| text.strip_prefix("//!"));
        if let Some(comment) = comment {
            if !is_going_on {
                found.push((format!("{file}_{}", line + 1), String::new()));
            }
            let (_, whole) = found.last_mut().expect("one was just added");
            *whole += comment.strip_prefix(' ').unwrap_or(comment);
            whole.push('\n');
        }
        is_going_on = comment.is_some();
    }
    found.retain(|(_, text)| text.contains("```"));
    found
}

impl TestFile {
    pub fn of(name: &'static str, text: String) -> Result<Self, String> {
        let syntax = syn::parse_file(&text).map_err(|error| error.to_string())?;
        let mut file = Self { name, text, modules: vec![], tests: vec![] };
        for item in &syntax.items {
            let Item::Mod(module) = item else { continue };
            let Some((braces, items)) =
                module.content.as_ref().filter(|_| is_for_tests(&module.attrs))
            else {
                continue;
            };
            file.modules.push(span(&module.attrs, braces));
            for item in items {
                if let Item::Fn(function) = item {
                    file.tests.extend(test(function));
                }
            }
        }
        let is_empty = file.tests.is_empty();
        if is_empty { Err("it has no tests".into()) } else { Ok(file) }
    }

    /// The modules of tests, without the tests for which `is_kept` returns false.
    pub fn text(&self, is_kept: &dyn Fn(&str) -> bool) -> String {
        let cut = self.tests.iter().filter(|test| !is_kept(&test.name));
        let cut: Vec<_> = cut.map(|test| test.span.clone()).collect();
        self.modules.iter().map(|module| self.without(&cut, module.clone()) + "\n\n").collect()
    }

    /// The text of `part` without what is `cut`, in the order of the text.
    fn without(&self, cut: &[Range<usize>], part: Range<usize>) -> String {
        let (mut text, mut at) = (String::new(), part.start);
        for span in cut.iter().filter(|span| part.start <= span.start && span.end <= part.end) {
            text += &self.text[at..span.start];
            at = span.end;
        }
        text + &self.text[at..part.end]
    }
}

/// The bytes of an item, from the first of its attributes to the end of its body.
fn span(attributes: &[Attribute], body: &Brace) -> Range<usize> {
    let starts = attributes.iter().map(|attribute| attribute.pound_token.span.byte_range().start);
    let end = body.span.close().byte_range().end;
    starts.min().unwrap_or(end)..end
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    let is_test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    };
    attributes.iter().any(is_test)
}

fn test(function: &ItemFn) -> Option<Test> {
    let has = |name| function.attrs.iter().any(|attribute| attribute.path().is_ident(name));
    has("test").then(|| Test {
        name: function.sig.ident.to_string(),
        span: span(&function.attrs, &function.block.brace_token),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "pub struct Bell;
#[cfg(test)]
mod tests {
    use crate::{Bell, Gong};
    use std::thread;

    #[test]
    fn rings() { Bell; }

    // It needs a gong.
    #[test]
    #[should_panic]
    fn booms() { Gong; }

    #[cfg(feature = \"loud\")]
    #[test]
    fn is_loud() {}
}
fn ring() {}
#[cfg(test)]
mod others { use crate::Bell; fn help() { Bell; } }
";

    fn file() -> TestFile {
        TestFile::of("bell", TEXT.into()).expect("Rust with tests")
    }

    #[test]
    fn tests_are_found() {
        let found = file();
        let found = found.tests.iter().map(|test| &*test.name);
        assert_eq!(found.collect::<Vec<_>>(), ["rings", "booms", "is_loud"]);
    }

    #[test]
    fn modules_of_tests_are_taken_without_what_is_left_out() {
        let text = file().text(&|test| test != "booms");
        assert_eq!(
            text,
            "#[cfg(test)]
mod tests {
    use crate::{Bell, Gong};
    use std::thread;

    #[test]
    fn rings() { Bell; }

    // It needs a gong.
\x20\x20\x20\x20

    #[cfg(feature = \"loud\")]
    #[test]
    fn is_loud() {}
}

#[cfg(test)]
mod others { use crate::Bell; fn help() { Bell; } }

"
        );
        assert!(file().text(&|_| true).contains("fn booms() { Gong; }"));
    }

    #[test]
    fn comments_with_examples_are_found() {
        let text = "//! A bell.\n\nstruct Bell;\nimpl Bell {\n    /// Rings.\n    ///\n    /// ```\n    /// \
                    ring();\n    /// ```\n    fn ring() {}\n}\n";
        let expected = ("bell_5".to_string(), "Rings.\n\n```\nring();\n```\n".to_string());
        assert_eq!(examples("bell", text), [expected]);
    }

    #[test]
    fn a_file_without_tests_is_an_error() {
        assert!(TestFile::of("bell", "fn ring() {}".into()).is_err());
    }
}

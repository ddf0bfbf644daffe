//! The tests of parking_lot, as its package has them.

use crate::sanitize;
use serde::Deserialize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use syn::token::Brace;
use syn::{Attribute, Item, ItemFn, ItemUse, UseTree};

/// The files whose tests are about locks that we have, too.
const FILES: [&str; 5] = ["mutex", "fair_mutex", "remutex", "condvar", "rwlock"];

/// What cargo says of a package.
#[derive(Clone, Debug, Deserialize)]
pub struct Package {
    name: String,
    pub version: String,
    pub edition: String,
    manifest_path: PathBuf,
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
    /// The imports of parking_lot's types.
    imports: Vec<Import>,
}

/// A test that is a function.
#[derive(Debug)]
pub struct Test {
    pub name: String,
    /// Where it is, with its attributes.
    span: Range<usize>,
    /// True if it is compiled on a condition only.
    pub is_conditional: bool,
}

/// `use crate::{...};`
#[derive(Debug)]
struct Import {
    span: Range<usize>,
    names: Vec<String>,
}

/// Reads the files.
pub fn files(package: &Package) -> Result<Vec<TestFile>, String> {
    let folder = package.manifest_path.with_file_name("src");
    let read = |name: &'static str| {
        let path = folder.join(name).with_extension("rs");
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        let file = text.and_then(|text| TestFile::of(name, text));
        file.map_err(|error| format!("{}: {error}", path.display()))
    };
    FILES.into_iter().map(read).collect()
}

impl TestFile {
    pub fn of(name: &'static str, text: String) -> Result<Self, String> {
        let syntax = syn::parse_file(&text).map_err(|error| error.to_string())?;
        let mut file = Self { name, text, modules: vec![], tests: vec![], imports: vec![] };
        for item in &syntax.items {
            let Item::Mod(module) = item else { continue };
            let Some((braces, items)) =
                module.content.as_ref().filter(|_| is_for_tests(&module.attrs))
            else {
                continue;
            };
            file.modules.push(span(&module.attrs, braces));
            for item in items {
                match item {
                    Item::Fn(function) => file.tests.extend(test(function)),
                    Item::Use(item) => file.imports.extend(import(item)),
                    _ => {}
                }
            }
        }
        let is_empty = file.tests.is_empty();
        if is_empty { Err("it has no tests".into()) } else { Ok(file) }
    }

    /// The modules of tests, with the types of `library` and without the tests for which `is_kept` returns false. An
    /// import that nothing uses any longer is left out: the library may not have what it names.
    pub fn text(&self, library: &str, is_kept: &dyn Fn(&str) -> bool) -> String {
        let cut = self.tests.iter().filter(|test| !is_kept(&test.name));
        let mut cut: Vec<_> = cut.map(|test| test.span.clone()).collect();
        cut.extend(self.imports.iter().map(|import| import.span.clone()));
        cut.sort_by_key(|span| span.start);
        let modules = self.modules.iter();
        let used: String = modules.map(|module| self.without(&cut, module.clone())).collect();
        let words: Vec<_> = used.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let mut text = String::new();
        for module in &self.modules {
            let mut at = module.start;
            for import in self.imports.iter().filter(|it| module.contains(&it.span.start)) {
                text += &self.without(&cut, at..import.span.start);
                let names = import.names.iter().map(String::as_str);
                let names: Vec<_> = names.filter(|name| words.contains(name)).collect();
                text += &format!("use {library}::{{{}}};", names.join(", "));
                at = import.span.end;
            }
            text += &self.without(&cut, at..module.end);
            text += "\n\n";
        }
        text
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
        is_conditional: has("cfg"),
    })
}

fn import(item: &ItemUse) -> Option<Import> {
    let UseTree::Path(path) = &item.tree else { return None };
    let names = match &*path.tree {
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Group(group) => {
            let name = |tree: &UseTree| match tree {
                UseTree::Name(name) => Some(name.ident.to_string()),
                _ => None,
            };
            group.items.iter().map(name).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let span = item.use_token.span.byte_range().start..item.semi_token.span.byte_range().end;
    (path.ident == "crate").then_some(Import { span, names })
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
    fn tests_are_found_and_their_conditions() {
        let found = file();
        let found = found.tests.iter().map(|test| (&*test.name, test.is_conditional));
        let expected = [("rings", false), ("booms", false), ("is_loud", true)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn modules_of_tests_are_taken_without_what_is_left_out_and_with_other_imports() {
        let text = file().text("ours", &|test| test != "booms");
        assert_eq!(
            text,
            "#[cfg(test)]
mod tests {
    use ours::{Bell};
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
mod others { use ours::{Bell}; fn help() { Bell; } }

"
        );
        assert!(file().text("ours", &|_| true).contains("use ours::{Bell, Gong};"));
    }

    #[test]
    fn a_file_without_tests_is_an_error() {
        assert!(TestFile::of("bell", "fn ring() {}".into()).is_err());
    }
}

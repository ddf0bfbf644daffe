//! Files with tests, as their library has them.

use super::table::Suite;
use crate::disk::{files_with, read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::{Attribute, Item, ItemMod};

/// The macro with which std makes a test for locks with and without poisoning.
const MACRO: &str = "nonpoison_and_poison_unwrap_test";

/// A file with tests.
#[derive(Debug)]
pub struct TestFile {
    /// Its name without the ending.
    pub name: String,
    text: String,
    /// The bytes that have tests: its modules for tests or, if it has none, the whole file.
    parts: Vec<Range<usize>>,
    /// In the order of the text.
    functions: Vec<Function>,
}

/// A function, or a test that the macro makes.
#[derive(Debug)]
struct Function {
    name: String,
    is_test: bool,
    /// Where it is, with its attributes.
    span: Range<usize>,
}

/// Reads the files of a suite.
pub fn files(folder: &Path, suite: &Suite) -> Result<Vec<TestFile>, String> {
    let files = suite.files.iter().map(|file| folder.join(file).with_extension("rs"));
    let is_package = suite.is_package;
    let programs = if is_package { files_with("rs", &folder.join("tests"))? } else { Vec::new() };
    let of = |path: PathBuf| {
        let file = TestFile::of(&name_of(&path), read(&path)?);
        file.map_err(|error| format!("{}: {error}", path.display()))
    };
    files.chain(programs).map(of).collect()
}

/// The comments of the files of a package that have examples: the name of a file, and the text.
pub fn examples(folder: &Path) -> Result<Vec<(String, String)>, String> {
    let files = files_with("rs", &folder.join("src"))?;
    let comments = files.iter().map(|path| Ok((name_of(path), comments(&read(path)?))));
    let has_some = |it: &Result<(_, String), _>| it.as_ref().is_ok_and(|it| it.1.contains("```"));
    comments.filter(|it| it.is_err() || has_some(it)).collect()
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The comments of a file. An empty line stands for one that is none.
fn comments(text: &str) -> String {
    let comment = |line: &str| {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).unwrap_or("");
        comment.strip_prefix(' ').unwrap_or(comment).to_string() + "\n"
    };
    text.lines().map(comment).collect()
}

impl TestFile {
    pub fn of(name: &str, text: String) -> Result<Self, String> {
        let syntax = syn::parse_file(&text).map_err(|error| error.to_string())?;
        let modules: Vec<_> = syntax.items.iter().filter_map(module_for_tests).collect();
        let items = modules.iter().flat_map(|module| &module.content).flat_map(|(_, items)| items);
        let mut functions: Vec<_> = items.filter_map(function).collect();
        let mut parts: Vec<_> = modules.iter().map(|module| module.span().byte_range()).collect();
        if parts.is_empty() {
            parts.push(0..text.len());
            functions.extend(syntax.items.iter().filter_map(function));
        }
        match functions.iter().any(|it| it.is_test) {
            true => Ok(Self { name: name.into(), text, parts, functions }),
            false => Err("it has no tests".into()),
        }
    }

    /// The names of its tests, without those that it has twice.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        let tests = self.functions.iter().filter(|it| it.is_test && !self.is_twin(it));
        tests.map(|test| &*test.name)
    }

    /// The tests that it has twice: for locks with poisoning, and for locks without.
    pub fn twins(&self) -> usize {
        self.functions.iter().filter(|it| self.is_twin(it)).count()
    }

    /// Returns true for the one of two tests that is about locks with poisoning.
    fn is_twin(&self, test: &Function) -> bool {
        let name = test.name.strip_prefix("poison_").map(|name| format!("nonpoison_{name}"));
        name.is_some_and(|name| self.functions.iter().any(|it| it.name == name))
    }

    /// The file, changed as the suite says and without the tests for which `is_kept` returns false. A function that
    /// nothing else names then is left out, too.
    pub fn text(&self, suite: &Suite, is_kept: &dyn Fn(&str) -> bool) -> String {
        let is_cut = |it: &Function| it.is_test && (self.is_twin(it) || !is_kept(&it.name));
        let text = self.without(&is_cut);
        let words = || text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let is_unused = |name: &str| words().filter(|word| *word == name).count() == 1;
        let text = self.without(&|it| is_cut(it) || !it.is_test && is_unused(&it.name));
        let rules = suite.replaced.iter();
        let rules = rules.filter(|it| it.files.is_empty() || it.files.contains(&self.name));
        rules.fold(text, |text, rule| text.replace(&rule.from, &rule.to)) + &suite.added
    }

    /// The parts with tests, without what is cut.
    fn without(&self, is_cut: &dyn Fn(&Function) -> bool) -> String {
        let (mut text, mut functions) = (String::new(), self.functions.iter().peekable());
        for part in &self.parts {
            let mut at = part.start;
            while let Some(function) = functions.next_if(|it| it.span.end <= part.end) {
                if is_cut(function) {
                    text += &self.text[at..function.span.start];
                    at = function.span.end;
                }
            }
            text += &self.text[at..part.end];
            text += "\n";
        }
        text
    }
}

fn module_for_tests(item: &Item) -> Option<&ItemMod> {
    let Item::Mod(module) = item else { return None };
    let is_test = |attribute: &Attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|condition| condition == "test")
    };
    module.attrs.iter().any(is_test).then_some(module)
}

fn function(item: &Item) -> Option<Function> {
    let (name, is_test) = match item {
        Item::Fn(function) => {
            let is_test = function.attrs.iter().any(|it| it.path().is_ident("test"));
            (function.sig.ident.to_string(), is_test)
        }
        // name: NAME, test_body: {...}
        Item::Macro(call) if call.mac.path.is_ident(MACRO) => {
            (call.mac.tokens.clone().into_iter().nth(2)?.to_string(), true)
        }
        _ => return None,
    };
    Some(Function { name, is_test, span: item.span().byte_range() })
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::*;

    const OF_STD: &str = "//! About bells.
use std::panic::{self, AssertUnwindSafe};
use super::nonpoison_and_poison_unwrap_test;
nonpoison_and_poison_unwrap_test!(
    name: rings,
    test_body: { bell().lock(); }
);
/// Makes one.
fn bell() -> std::sync::Mutex<()> {}
fn gong() {}
#[test]
fn poison_hums() { bell().lock().unwrap(); }
#[test]
fn nonpoison_hums() { bell().lock(); }
#[test]
fn poison_bites() { bell().lock().unwrap(); }
#[test]
#[should_panic]
fn booms() { gong(); }
";

    const OF_A_PACKAGE: &str = "pub struct Bell;
#[cfg(test)]
mod tests {
    use crate::{Bell, Gong};
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
mod others { fn help() { help(); } }
";

    fn file(name: &str, text: &str) -> TestFile {
        TestFile::of(name, text.into()).expect("Rust with tests")
    }

    #[test]
    fn tests_are_found_once_for_both_kinds_of_locks() {
        let of_std = file("bell", OF_STD);
        let tests: Vec<_> = of_std.tests().collect();
        assert_eq!(tests, ["rings", "nonpoison_hums", "poison_bites", "booms"]);
        assert_eq!(of_std.twins(), 1);
        let of_a_package = file("bell", OF_A_PACKAGE);
        assert_eq!(of_a_package.tests().collect::<Vec<_>>(), ["rings", "booms", "is_loud"]);
        assert!(TestFile::of("bell", "fn ring() {}".into()).is_err());
    }

    #[test]
    fn the_text_has_other_imports_and_no_function_that_nothing_uses() {
        let text = |name, is_kept: &dyn Fn(&str) -> bool| {
            file(name, OF_STD).text(&TABLE.std_tests, is_kept)
        };
        let without_booms = text("bell", &|test| test != "booms");
        let lines: Vec<_> = without_booms.lines().filter(|line| !line.is_empty()).collect();
        let expected = "//! About bells.
use std::panic::{self, AssertUnwindSafe};
use crate::nonpoison_and_poison_unwrap_test;
nonpoison_and_poison_unwrap_test!(
    name: rings,
    test_body: { bell().lock(); }
);
/// Makes one.
fn bell() -> crate::sync::Mutex<()> {}
#[test]
fn nonpoison_hums() { bell().lock(); }
#[test]
fn poison_bites() { bell().lock(); }
use crate::sync::{CondvarCalls, MutexCalls, RwLockCalls, WouldBlock};";
        assert_eq!(lines.join("\n"), expected);
        let booms = text("bell", &|test| test == "booms");
        assert!(booms.contains("fn gong") && booms.contains("#[should_panic]\nfn booms"));
        assert!(!booms.contains("fn bell") && !booms.contains("rings"));
        // Locks of `lock_api` need not be unwind safe.
        assert!(text("mutex", &|_| true).contains("use crate::panic::{self,"));
    }

    #[test]
    fn modules_of_tests_are_taken_without_what_is_left_out() {
        let text = file("bell", OF_A_PACKAGE).text(&TABLE.peer_tests, &|test| test != "booms");
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let cut = "    #[test]\n    #[should_panic]\n    fn booms() { Gong; }\n";
        let expected = OF_A_PACKAGE.replace(cut, "");
        let expected = expected.replace("pub struct Bell;\n", "").replace("fn ring() {}\n", "");
        assert_eq!(lines.join("\n"), expected.trim_end());
    }

    #[test]
    fn comments_are_found() {
        let text =
            "//! A bell.\nimpl Bell {\n    /// ```\n    /// ring();\n    ///\n    fn ring() {}\n";
        assert_eq!(comments(text), "A bell.\n\n```\nring();\n\n\n");
    }
}

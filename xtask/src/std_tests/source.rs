//! The tests of std's locks, as the source of the library has them.

use crate::peer_tests::source;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use syn::spanned::Spanned;
use syn::{Attribute, Item};

/// The files whose tests are about what we have, too.
const FILES: [&str; 8] =
    ["barrier", "condvar", "lazy_lock", "mutex", "once", "once_lock", "reentrant_lock", "rwlock"];

/// The macro with which std makes a test for locks with and without poisoning.
const MACRO: &str = "nonpoison_and_poison_unwrap_test";

/// Where the tests are, in the source of Rust's libraries.
const FOLDER: &str = "std/tests/sync";

/// How the text is changed: what docs/migrating.md says about calls, and names of the harness. Tests are written so
/// that the rest is done by its traits.
const RULES: [(&str, &str); 10] = [
    ("std::sync", "crate::sync"),
    (".lock().unwrap()", ".lock()"),
    (".read().unwrap()", ".read()"),
    (".write().unwrap()", ".write()"),
    // The tests that look at the error.
    ("match lock.try_lock() {", "match lock.try_lock().ok_or(WouldBlock) {"),
    ("match lock.try_write() {", "match lock.try_write().ok_or(WouldBlock) {"),
    (
        "let write_result = lock.try_write();",
        "let write_result = lock.try_write().ok_or(WouldBlock);",
    ),
    ("::filter_map", "::try_map"),
    ("use super::", "use crate::"),
    ("use rand::Rng;", "use crate::common::Rng;"),
];

/// A rule for the files whose locks are of `lock_api`. The others have to be `RefUnwindSafe`, as std's are.
const RULE_OF_LOCK_API: (&str, &str) = ("use std::panic::", "use crate::panic::");

/// The folder with the tests: in `library`, or in the source that rustup adds to the toolchain.
pub fn folder(root: &Path, library: Option<&Path>) -> Result<Option<PathBuf>, String> {
    if let Some(library) = library {
        let folder = library.join(FOLDER);
        let missing = || format!("{} is not there; give the folder `library`", folder.display());
        return if folder.is_dir() { Ok(Some(folder)) } else { Err(missing()) };
    }
    let output = Command::new("rustc").args(["--print", "sysroot"]).current_dir(root).output();
    let output = output.map_err(|error| format!("rustc cannot be run: {error}"))?;
    let sysroot = String::from_utf8_lossy(&output.stdout).trim_end().to_string();
    let folder = Path::new(&sysroot).join("lib/rustlib/src/rust/library").join(FOLDER);
    Ok(folder.is_dir().then_some(folder))
}

/// A file with tests.
#[derive(Debug)]
pub struct TestFile {
    /// Its name without the ending.
    pub name: &'static str,
    text: String,
    items: Vec<Part>,
}

/// An item of a file.
#[derive(Debug)]
struct Part {
    /// Where it is, with its attributes.
    span: Range<usize>,
    /// A function has one; a macro makes a test with one.
    name: Option<String>,
    is_test: bool,
}

/// Reads the files.
pub fn files(folder: &Path) -> Result<Vec<TestFile>, String> {
    source::read(folder, &FILES, TestFile::of)
}

impl TestFile {
    pub fn of(name: &'static str, text: String) -> Result<Self, String> {
        let syntax = syn::parse_file(&text).map_err(|error| error.to_string())?;
        let items: Vec<_> = syntax.items.iter().map(part).collect();
        let has_tests = items.iter().any(|item| item.is_test);
        if has_tests { Ok(Self { name, text, items }) } else { Err("it has no tests".into()) }
    }

    /// The names of its tests, without those that it has twice.
    pub fn tests(&self) -> impl Iterator<Item = &str> {
        let tests = self.items.iter().filter(|item| item.is_test && !self.is_twin(item));
        tests.filter_map(|item| item.name.as_deref())
    }

    /// The tests that it has twice: for locks with poisoning, and for locks without.
    pub fn twins(&self) -> usize {
        self.items.iter().filter(|item| self.is_twin(item)).count()
    }

    /// True for the one of two tests that is about locks with poisoning.
    fn is_twin(&self, item: &Part) -> bool {
        let name = item.name.as_deref().and_then(|name| name.strip_prefix("poison_"));
        let is_other = |it: &Part, name| it.name.as_deref() == Some(&*format!("nonpoison_{name}"));
        name.is_some_and(|name| self.items.iter().any(|it| is_other(it, name)))
    }

    /// The file, with Lockwright's types and without the tests for which `is_kept` returns false. A function that only
    /// those use is left out, too.
    pub fn text(&self, is_kept: &dyn Fn(&str) -> bool) -> String {
        let is_wanted = |item: &Part| {
            !self.is_twin(item) && (!item.is_test || item.name.as_deref().is_some_and(is_kept))
        };
        let items: Vec<_> = self.items.iter().filter(|item| is_wanted(item)).collect();
        let is_function = |item: &Part| !item.is_test && item.name.is_some();
        let tests = items.iter().filter(|item| !is_function(item));
        let used: BTreeSet<_> =
            tests.flat_map(|item| words(&self.text[item.span.clone()])).collect();
        let is_used = |item: &Part| item.name.as_deref().is_some_and(|it| used.contains(it));
        let kept = items.iter().filter(|item| !is_function(item) || is_used(item));
        let text: String =
            kept.map(|item| self.text[item.span.clone()].to_string() + "\n\n").collect();
        let of_lock_api = ["mutex", "rwlock"].contains(&self.name).then_some(RULE_OF_LOCK_API);
        let rules = RULES.into_iter().chain(of_lock_api);
        let text = rules.fold(text, |text, (from, to)| text.replace(from, to));
        format!("use crate::sync::{{CondvarCalls, MutexCalls, RwLockCalls, WouldBlock}};\n{text}")
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn part(item: &Item) -> Part {
    let span = item.span().byte_range();
    match item {
        Item::Fn(function) => {
            let name = Some(function.sig.ident.to_string());
            Part { span, name, is_test: has(&function.attrs, "test") }
        }
        Item::Macro(call) if call.mac.path.is_ident(MACRO) => {
            // name: NAME, test_body: {...}
            let name = call.mac.tokens.clone().into_iter().nth(2).map(|token| token.to_string());
            Part { span, name, is_test: true }
        }
        _ => Part { span, name: None, is_test: false },
    }
}

fn has(attributes: &[Attribute], name: &str) -> bool {
    attributes.iter().any(|attribute| attribute.path().is_ident(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! About bells.
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use super::nonpoison_and_poison_unwrap_test;

nonpoison_and_poison_unwrap_test!(
    name: rings,
    test_body: { bell().lock(); }
);

/// Makes one.
fn bell() -> Mutex<()> { Mutex::new(()) }
fn gong() -> Mutex<()> { Mutex::new(()) }

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

    fn file(name: &'static str) -> TestFile {
        TestFile::of(name, TEXT.into()).expect("Rust with tests")
    }

    #[test]
    fn tests_of_functions_and_of_the_macro_are_found_once_for_both_kinds_of_locks() {
        let file = file("bell");
        let tests: Vec<_> = file.tests().collect();
        assert_eq!(tests, ["rings", "nonpoison_hums", "poison_bites", "booms"]);
        assert_eq!(file.twins(), 1);
    }

    #[test]
    fn the_text_has_other_imports_and_no_function_that_nothing_uses() {
        let text = file("bell").text(&|test| test != "booms");
        assert_eq!(
            text,
            "use crate::sync::{CondvarCalls, MutexCalls, RwLockCalls, WouldBlock};
use std::panic::{self, AssertUnwindSafe};

use crate::sync::{Arc, Mutex};

use crate::nonpoison_and_poison_unwrap_test;

nonpoison_and_poison_unwrap_test!(
    name: rings,
    test_body: { bell().lock(); }
);

/// Makes one.
fn bell() -> Mutex<()> { Mutex::new(()) }

#[test]
fn nonpoison_hums() { bell().lock(); }

#[test]
fn poison_bites() { bell().lock(); }

"
        );
        let text = file("bell").text(&|test| test == "booms");
        assert!(text.contains("fn gong") && !text.contains("fn bell") && !text.contains("rings"));
        assert!(text.contains("#[should_panic]\nfn booms"));
    }

    #[test]
    fn locks_of_lock_api_need_not_be_unwind_safe() {
        assert!(file("mutex").text(&|_| true).contains("use crate::panic::{self,"));
    }

    #[test]
    fn a_file_without_tests_is_an_error() {
        assert!(TestFile::of("bell", "fn ring() {}".into()).is_err());
    }
}

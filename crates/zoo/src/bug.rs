//! A bug of the zoo, as data.

use crate::seen::{Checker, Detection, EXPLORED};

/// A bug that locks can be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bug {
    /// The number it is selected by, with the letter of a variant.
    pub row: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What goes wrong and why.
    pub what: &'static str,
    /// Where it happened.
    pub source: &'static str,
    /// The registered locks that have it.
    pub locks: &'static [&'static str],
    /// What it is about, and which checkers must see it.
    pub seen: Detection,
    /// The client of `explore` that shows it soonest, for some of the locks.
    pub shown_by: &'static [(&'static str, &'static str)],
    /// The tests that must see it, each.
    pub tests: &'static [Test],
    /// All are made together.
    pub edits: &'static [Edit],
}

/// One place of a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Its file, below `crates/locks/src`.
    pub file: &'static str,
    /// What stands there, once in the file: an expression, statements, or the body of a function.
    pub old: &'static str,
    /// What stands there with the bug.
    pub new: &'static str,
    /// True if the new text stands in the copy at all times: an item that other edits of the bug use.
    pub is_always: bool,
}

/// A test of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// Its package.
    pub package: &'static str,
    /// The arguments of `cargo test` that choose the program of tests in the package.
    pub program: &'static [&'static str],
    /// Its name in there.
    pub name: &'static str,
    /// What kind of checker it is.
    pub checker: Checker,
}

impl Edit {
    pub(crate) const fn new(file: &'static str, old: &'static str, new: &'static str) -> Self {
        Self { file, old, new, is_always: false }
    }
    pub(crate) const fn always(file: &'static str, old: &'static str, new: &'static str) -> Self {
        Self { file, old, new, is_always: true }
    }
}

impl Bug {
    /// What an entry need not say.
    pub(crate) const NONE: Self = Self {
        row: "",
        name: "",
        what: "",
        source: "",
        locks: &[],
        seen: EXPLORED,
        shown_by: &[],
        tests: &[],
        edits: &[],
    };

    /// Returns `true` if the registered lock of this name has it.
    pub fn is_in(&self, lock: &str) -> bool {
        self.locks.contains(&lock)
    }
    /// The client of `explore` that shows it soonest in this lock, if one is known.
    pub fn shown_by(&self, lock: &str) -> Option<&'static str> {
        self.shown_by.iter().find(|(of, _)| *of == lock).map(|(_, client)| *client)
    }
    /// One line of [`what`](Self::what): its first sentence, or the part of it before a colon.
    pub fn headline(&self) -> &'static str {
        self.what.split(['.', ':']).next().unwrap_or(self.what)
    }
}

//! A bug of the zoo, as data.

use crate::seen::{Checker, Detection};

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
    /// Its file, below the sources of one of the packages with locks.
    pub file: &'static str,
    /// What stands there, once in the file: an expression, statements, or the body of a function.
    pub old: &'static str,
    /// What stands there with the bug; `None` if it is the same with its first strong ordering relaxed.
    pub new: Option<&'static str>,
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
    /// Something else stands there with the bug.
    pub(crate) const fn change(file: &'static str, old: &'static str, new: &'static str) -> Self {
        Self { file, old, new: Some(new), is_always: false }
    }
    /// Nothing stands there with the bug.
    pub(crate) const fn remove(file: &'static str, old: &'static str) -> Self {
        Self::change(file, old, "")
    }
    /// The access there is relaxed with the bug.
    pub(crate) const fn relax(file: &'static str, old: &'static str) -> Self {
        Self { file, old, new: None, is_always: false }
    }
    /// The new text begins with the old one, and stands in the copy at all times.
    pub(crate) const fn add(file: &'static str, old: &'static str, new: &'static str) -> Self {
        Self { file, old, new: Some(new), is_always: true }
    }

    /// What stands there with the bug.
    pub fn new_text(&self) -> String {
        let strong = ["AcqRel", "Acquire", "Release"].into_iter();
        let first = || strong.min_by_key(|order| self.old.find(order).unwrap_or(usize::MAX));
        let relaxed = || self.old.replacen(first().unwrap_or_default(), "Relaxed", 1);
        self.new.map_or_else(relaxed, str::to_string)
    }
}

/// Declares the bugs of a file, in the order of their numbers. An edit is `change FILE: OLD => NEW`,
/// `remove FILE: OLD`, `relax FILE: OLD` or `add FILE: OLD => NEW`, as [`Edit`] says.
macro_rules! bugs {
    ($($row:literal $name:ident in $locks:expr, seen $seen:ident {
        what: $what:literal,
        source: $source:expr,
        $(shown_by: [$($shown:expr),+],)?
        $(tests: [$($test:expr),+ $(,)?],)?
        edits: [$($kind:ident $file:literal: $old:literal $(=> $new:literal)?),+ $(,)?],
    })+) => {
        /// In the order of their numbers.
        pub const BUGS: &[crate::Bug] = &[$(crate::Bug {
            row: $row,
            name: stringify!($name),
            what: $what,
            source: $source,
            locks: $locks,
            seen: $seen,
            shown_by: &[$($($shown),+)?],
            tests: &[$($($test),+)?],
            edits: &[$(crate::Edit::$kind($file, $old $(, $new)?)),+],
        }),+];
    };
}
pub(crate) use bugs;

impl Bug {
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

//! The tests of parking_lot that Lockwright's types do not take, and why.

use super::crates::Built;
use std::borrow::Cow;

/// This file, for messages.
pub const HERE: &str = "xtask/src/peer_tests/left_out.rs";

/// The tests of a library that are left out.
pub struct Table {
    /// The library whose tests they are.
    pub library: &'static str,
    /// The file with the table.
    pub here: &'static str,
    pub rows: Cow<'static, [LeftOut]>,
}

/// A test that is left out.
#[derive(Clone, Copy)]
pub struct LeftOut {
    pub file: &'static str,
    pub test: &'static str,
    pub why: Why,
}

/// Why a test is left out. Each reason is checked.
#[derive(Clone, Copy)]
pub enum Why {
    /// It uses this item, which Lockwright does not have: it does not compile.
    Missing(&'static str),
    /// It needs the second, which our types are not: it does not compile, and the compiler says the first.
    Rejected(&'static str, &'static str),
    /// It compiles, and expects this, which Lockwright promises not to do: it does not pass.
    Differs(&'static str),
}

pub const fn missing(file: &'static str, test: &'static str, item: &'static str) -> LeftOut {
    LeftOut { file, test, why: Why::Missing(item) }
}
pub const fn differs(file: &'static str, test: &'static str, what: &'static str) -> LeftOut {
    LeftOut { file, test, why: Why::Differs(what) }
}

/// A function of parking_lot that is not public.
const PRIVATE: &str = "wait_while_until_internal";

pub static LEFT_OUT: Table =
    Table { library: "parking_lot", here: HERE, rows: Cow::Borrowed(&ROWS) };

static ROWS: [LeftOut; 4] = [
    missing("condvar", "wait_while_until_internal_does_not_wait_if_initially_false", PRIVATE),
    missing("condvar", "wait_while_until_internal_times_out_before_false", PRIVATE),
    missing("condvar", "wait_while_until_internal", PRIVATE),
    differs(
        "condvar",
        "two_mutexes",
        "a panic if two mutexes are used at once, which Lockwright allows",
    ),
];

impl LeftOut {
    /// The program that has this test and no other.
    pub fn target(&self) -> String {
        format!("{}-{}", self.file, self.test)
    }
}

impl Table {
    /// Returns true if the test is in the table.
    pub fn contains(&self, file: &str, test: &str) -> bool {
        self.rows.iter().any(|it| it.file == file && it.test == test)
    }

    fn named(&self, row: &LeftOut) -> String {
        format!("{}: {} `{}`", self.here, row.file, row.test)
    }

    /// Rows about tests that the library no longer has.
    pub fn complaints(&self, is_there: &dyn Fn(&LeftOut) -> bool) -> Vec<String> {
        let gone = self.rows.iter().filter(|row| !is_there(row));
        gone.map(|row| format!("{} is no longer a test of {}", self.named(row), self.library))
            .collect()
    }

    /// Tests that compile with Lockwright and should not, or the other way round.
    pub fn complaints_of_build(&self, built: &Built) -> Vec<String> {
        self.rows.iter().filter_map(|row| self.complaint_of_build(row, built)).collect()
    }

    fn complaint_of_build(&self, row: &LeftOut, built: &Built) -> Option<String> {
        let (target, named) = (row.target(), self.named(row));
        let errors = built.errors.get(&target).map_or("", String::as_str);
        match row.why {
            Why::Missing(item) if built.programs.contains_key(&target) => {
                Some(format!("{named} compiles, although `{item}` is said to be missing"))
            }
            Why::Rejected(..) if built.programs.contains_key(&target) => {
                Some(format!("{named} compiles"))
            }
            Why::Missing(item) | Why::Rejected(item, _) if !errors.contains(item) => Some(format!(
                "{named} does not compile, for another reason than `{item}`:\n{errors}"
            )),
            Why::Differs(_) if !built.programs.contains_key(&target) => {
                Some(format!("{named} does not compile:\n{errors}"))
            }
            _ => None,
        }
    }

    /// Tests that compile and should not pass, and what to say if one does.
    pub fn that_compile(&self) -> impl Iterator<Item = (&LeftOut, String)> {
        self.rows.iter().filter_map(|row| match row.why {
            Why::Differs(what) => {
                Some((row, format!("{} passes, although it expects {what}", self.named(row))))
            }
            _ => None,
        })
    }

    /// The table, for the reader.
    pub fn text(&self) -> String {
        let line = |row: &LeftOut| {
            let why = match row.why {
                Why::Missing(item) => format!("needs `{item}`"),
                Why::Differs(what) | Why::Rejected(_, what) => format!("expects {what}"),
            };
            format!("  {} {}: {why}\n", row.file, row.test)
        };
        let lines: String = self.rows.iter().map(line).collect();
        format!("\n{} tests are left out:\n{lines}", self.rows.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(programs: &[&str], errors: &[(&str, &str)]) -> Built {
        Built {
            by_source: Default::default(),
            programs: programs.iter().map(|name| (name.to_string(), "program".into())).collect(),
            errors: errors
                .iter()
                .map(|(name, text)| (name.to_string(), text.to_string()))
                .collect(),
        }
    }

    #[test]
    fn a_left_out_test_that_compiles_or_fails_for_another_reason_is_noticed() {
        let row = missing("bell", "booms", "Gong");
        let said = |built| LEFT_OUT.complaint_of_build(&row, &built);
        assert_eq!(said(built(&[], &[("bell-booms", "no `Gong` in the root")])), None);
        let compiles = said(built(&["bell-booms"], &[]));
        assert!(compiles.is_some_and(|it| it.contains("`booms` compiles")));
        for errors in [&[("bell-booms", "unclosed brace")][..], &[]] {
            assert!(said(built(&[], errors)).is_some_and(|it| it.contains("another reason")));
        }
        let row = LeftOut { file: "bell", test: "hums", why: Why::Rejected("moved", "copies") };
        let said = |built| LEFT_OUT.complaint_of_build(&row, &built);
        assert_eq!(said(built(&[], &[("bell-hums", "use of moved value")])), None);
        assert!(said(built(&["bell-hums"], &[])).is_some_and(|it| it.ends_with("compiles")));
        assert!(said(built(&[], &[])).is_some_and(|it| it.contains("another reason")));
        let row = differs("bell", "rings", "a panic");
        assert_eq!(LEFT_OUT.complaint_of_build(&row, &built(&["bell-rings"], &[])), None);
        assert!(LEFT_OUT.complaint_of_build(&row, &built(&[], &[])).is_some());
    }

    #[test]
    fn a_row_about_a_test_that_is_gone_is_noticed() {
        static ROWS: [LeftOut; 2] =
            [missing("bell", "rings", "Gong"), missing("bell", "booms", "Gong")];
        let table = Table { library: "bells", here: HERE, rows: Cow::Borrowed(&ROWS) };
        let said = table.complaints(&|row| row.test == "rings");
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("`booms` is no longer a test of bells"));
    }
}

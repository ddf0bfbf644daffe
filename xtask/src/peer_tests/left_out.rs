//! The tests of parking_lot that Lockwright's types do not take, and why.

use super::crates::Built;
use super::source::TestFile;

/// This file, for messages.
pub const HERE: &str = "xtask/src/peer_tests/left_out.rs";

/// A test that is left out.
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
    /// It compiles, and expects this, which Lockwright promises not to do: it does not pass.
    Differs(&'static str),
}

const fn missing(file: &'static str, test: &'static str, item: &'static str) -> LeftOut {
    LeftOut { file, test, why: Why::Missing(item) }
}

/// A function of parking_lot that is not public.
const PRIVATE: &str = "wait_while_until_internal";

pub static LEFT_OUT: [LeftOut; 4] = [
    missing("condvar", "wait_while_until_internal_does_not_wait_if_initially_false", PRIVATE),
    missing("condvar", "wait_while_until_internal_times_out_before_false", PRIVATE),
    missing("condvar", "wait_while_until_internal", PRIVATE),
    LeftOut {
        file: "condvar",
        test: "two_mutexes",
        why: Why::Differs("a panic if two mutexes are used at once, which Lockwright allows"),
    },
];

/// Returns true if the test is in the table.
pub fn contains(file: &str, test: &str) -> bool {
    LEFT_OUT.iter().any(|it| it.file == file && it.test == test)
}

impl LeftOut {
    /// The program that has this test and no other.
    pub fn target(&self) -> String {
        format!("{}-{}", self.file, self.test)
    }
    fn named(&self) -> String {
        format!("{HERE}: {} `{}`", self.file, self.test)
    }
}

/// Rows about tests that parking_lot no longer has.
pub fn complaints(files: &[TestFile]) -> Vec<String> {
    complaints_about(&LEFT_OUT, files)
}

fn complaints_about(rows: &[LeftOut], files: &[TestFile]) -> Vec<String> {
    let is_there = |row: &&LeftOut| {
        let file = files.iter().find(|file| file.name == row.file);
        file.is_some_and(|file| file.tests.iter().any(|test| test.name == row.test))
    };
    let gone = rows.iter().filter(|row| !is_there(row));
    gone.map(|row| format!("{} is no longer a test of parking_lot", row.named())).collect()
}

/// Tests that compile with Lockwright and should not, or the other way round.
pub fn complaints_of_build(built: &Built) -> Vec<String> {
    LEFT_OUT.iter().filter_map(|row| complaint_of_build(row, built)).collect()
}

fn complaint_of_build(row: &LeftOut, built: &Built) -> Option<String> {
    let (target, named) = (row.target(), row.named());
    let errors = built.errors.get(&target).map_or("", String::as_str);
    match row.why {
        Why::Missing(item) if built.programs.contains_key(&target) => {
            Some(format!("{named} compiles, although `{item}` is said to be missing"))
        }
        Why::Missing(item) if !errors.contains(item) => {
            Some(format!("{named} does not compile, for another reason than `{item}`:\n{errors}"))
        }
        Why::Differs(_) if !built.programs.contains_key(&target) => {
            Some(format!("{named} does not compile:\n{errors}"))
        }
        _ => None,
    }
}

/// Tests that compile and should not pass, and what to say if one does.
pub fn that_compile() -> impl Iterator<Item = (&'static LeftOut, String)> {
    LEFT_OUT.iter().filter_map(|row| match row.why {
        Why::Differs(what) => {
            Some((row, format!("{} passes, although it expects {what}", row.named())))
        }
        _ => None,
    })
}

/// The table, for the reader.
pub fn table() -> String {
    let line = |row: &LeftOut| {
        let why = match row.why {
            Why::Missing(item) => format!("needs `{item}`"),
            Why::Differs(what) => format!("expects {what}"),
        };
        format!("  {} {}: {why}\n", row.file, row.test)
    };
    let lines: String = LEFT_OUT.iter().map(line).collect();
    format!("\n{} tests are left out:\n{lines}", LEFT_OUT.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(programs: &[&str], errors: &[(&str, &str)]) -> Built {
        Built {
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
        let said = |built| complaint_of_build(&row, &built);
        assert_eq!(said(built(&[], &[("bell-booms", "no `Gong` in the root")])), None);
        let compiles = said(built(&["bell-booms"], &[]));
        assert!(compiles.is_some_and(|it| it.contains("`booms` compiles")));
        for errors in [&[("bell-booms", "unclosed brace")][..], &[]] {
            assert!(said(built(&[], errors)).is_some_and(|it| it.contains("another reason")));
        }
        let row = LeftOut { file: "bell", test: "rings", why: Why::Differs("a panic") };
        assert_eq!(complaint_of_build(&row, &built(&["bell-rings"], &[])), None);
        assert!(complaint_of_build(&row, &built(&[], &[])).is_some());
    }

    #[test]
    fn a_row_about_a_test_that_is_gone_is_noticed() {
        let text = "#[cfg(test)] mod tests { #[test] fn rings() {} }";
        let files = [TestFile::of("bell", text.into()).expect("Rust with tests")];
        let rows = ["rings", "booms"].map(|test| missing("bell", test, "Gong"));
        let said = complaints_about(&rows, &files);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("`booms` is no longer a test"));
    }
}

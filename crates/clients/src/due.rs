//! Which rows of the registry a test suite runs.
//!
//! A suite that walks the registry for longer than a second asks [`is_due`] of each row. What takes long, and is needed
//! by no mutant and no seeded bug, asks [`is_asked_for`].

use lockwright_catalog::registry::{LockClass, LockRow, find};
use std::env;

/// The variable of the environment that names the rows to run, separated by commas.
pub const ROWS: &str = "LOCKWRIGHT_ROWS";
/// The variable that says how much is run: `usual` for continuous integration, `full` for everything.
pub const CHECK: &str = "LOCKWRIGHT_CHECK";

/// Returns true if a suite runs this row. If [`ROWS`] is set, these are the rows that it names; otherwise all but those
/// of class [`History`](LockClass::History), and these, too, if [`CHECK`] is `full`.
///
/// # Panics
/// If `ROWS` names a lock that this build does not have, or if `CHECK` is something else.
pub fn is_due(row: &LockRow) -> bool {
    Asked::of_environment().has(row, row.class != LockClass::History)
}

/// Returns true if [`ROWS`] names this row, or if it is not set and [`CHECK`] is `full`.
///
/// # Panics
/// As [`is_due`].
pub fn is_asked_for(row: &LockRow) -> bool {
    Asked::of_environment().has(row, false)
}

/// What this process is asked for.
#[derive(Default)]
struct Asked {
    rows: Option<String>,
    check: Option<String>,
}

impl Asked {
    fn of_environment() -> Self {
        // Bytes that are no text become the sign for that, which names nothing.
        let asked = |name| env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        Self { rows: asked(ROWS), check: asked(CHECK) }
    }
    fn has(&self, row: &LockRow, usually: bool) -> bool {
        let check = self.check.as_deref().unwrap_or("usual");
        assert!(["usual", "full"].contains(&check), "{CHECK} is usual or full, not {check}");
        let Some(names) = &self.rows else { return usually || check == "full" };
        // All of them are looked up, so that no wrong name goes unnoticed.
        names.split(',').filter(|name| named(name.trim()).name == row.name).count() > 0
    }
}

fn named(name: &str) -> &'static LockRow {
    find(name).unwrap_or_else(|| {
        panic!(
            "{ROWS} names `{name}`, which is not a lock of this build; type names that `lockwright locks` lists, \
             separated by commas, such as {ROWS}=ticket,mcs"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_catalog::registry::LOCKS;

    /// The rows that are due, and those that are asked for.
    fn rows(rows: Option<&str>, check: Option<&str>) -> [Vec<&'static str>; 2] {
        let asked = Asked { rows: rows.map(str::to_owned), check: check.map(str::to_owned) };
        let is_usual = |row: &LockRow| row.class != LockClass::History;
        let due = LOCKS.iter().filter(|row| asked.has(row, is_usual(row)));
        let asked_for = LOCKS.iter().filter(|row| asked.has(row, false));
        [due.map(|row| row.name).collect(), asked_for.map(|row| row.name).collect()]
    }

    #[test]
    fn rows_of_history_are_run_if_they_are_named_or_if_everything_is_run() {
        let [due, asked_for] = rows(None, None);
        assert!(due.contains(&"rwsem-current") && due.contains(&"busted"));
        assert!(!due.contains(&"rwsem-v5_11") && asked_for.is_empty());
        assert_eq!(rows(None, Some("usual")), [due, asked_for]);
        let all: Vec<_> = LOCKS.iter().map(|row| row.name).collect();
        assert_eq!(rows(None, Some("full")), [all.clone(), all]);
        let named = vec!["rwsem-v5_11", "ticket"];
        for check in [None, Some("full")] {
            assert_eq!(rows(Some("ticket, rwsem-v5_11"), check), [named.clone(), named.clone()]);
        }
    }

    #[test]
    #[should_panic(
        expected = "LOCKWRIGHT_ROWS names `tiket`, which is not a lock of this build; type names"
    )]
    fn a_name_that_is_no_lock_is_refused_wherever_it_stands() {
        rows(Some("qspinlock,tiket"), None);
    }

    #[test]
    #[should_panic(expected = "LOCKWRIGHT_CHECK is usual or full, not ful")]
    fn another_word_for_how_much_is_run_is_refused() {
        rows(Some("ticket"), Some("ful"));
    }
}

//! Walks the tables of the locks of pthread: in each state, each attempt has the result that stands there.

use crate::{compiled, run, with_library};
use std::process::Command;

const TABLES: &str = include_str!("../../../catalog/tests/it/results.md");

/// Asserts that the tables have this row.
fn has(row: &str) {
    assert!(TABLES.lines().any(|line| line == row), "results.md has no such row:\n{row}");
}

#[test]
fn attempts_have_the_results_of_the_table_with_glibc_and_with_ours() {
    let program = compiled("results", "cc");
    let (theirs, ours) = (run(Command::new(&program)), run(with_library(&program)));
    assert_eq!(theirs.lines().count(), ours.lines().count());
    for (theirs, ours) in theirs.lines().zip(ours.lines()) {
        let mut row = String::from("|");
        for (theirs, ours) in theirs.split('|').zip(ours.split('|')) {
            match theirs == ours {
                true => row = format!("{row} {ours} |"),
                false => row = format!("{row} {ours}; glibc: {theirs} |"),
            }
        }
        has(&row);
    }
}

#[test]
fn a_mutex_that_is_given_is_held() {
    let mut program = with_library(&compiled("results", "cc"));
    program.arg("given").env("LOCKWRIGHT_POLICY", "fair");
    let printed = run(program);
    let cells: Vec<_> = printed.trim().split('|').collect();
    let [kind, state, result] = cells[..] else { panic!("{printed}") };
    has(&format!("| {kind} | {state} | {result}; glibc: 0 | - |"));
}

#[test]
fn a_reader_that_cannot_be_counted_is_told_so() {
    let mut program = with_library(&compiled("results", "cc"));
    program.arg("full");
    let results = "|8388608|EAGAIN|EAGAIN|EAGAIN|EBUSY|ETIMEDOUT|0\n";
    let kinds = ["prefers readers", "prefers writers", "prefers writers, not recursive"];
    assert_eq!(run(program), kinds.map(|kind| format!("{kind}{results}")).concat());
}

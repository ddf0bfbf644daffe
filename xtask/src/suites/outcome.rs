//! What `cargo test` printed.

use super::table::{Dependent, Fails, HERE};
use std::collections::BTreeSet;

/// The tests of a crate.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Test programs that were started, and `rustdoc` for the examples.
    pub programs: usize,
    /// Programs that failed, for cargo, and programs that printed that they did.
    programs_failed: usize,
    programs_failed_themselves: usize,
    /// What the last lines say.
    pub passed: usize,
    failures: usize,
    ignored: usize,
    /// All tests that ran.
    names: BTreeSet<String>,
    pub failed: BTreeSet<String>,
}

impl Outcome {
    /// Reads the two streams.
    pub fn of(stdout: &str, stderr: &str) -> Self {
        let mut outcome = Self::default();
        for line in stdout.lines() {
            if let Some(result) = line.strip_prefix("test result: ") {
                outcome.add_program(result);
            } else if let Some((name, verdict)) =
                line.strip_prefix("test ").and_then(|test| test.rsplit_once(" ... "))
            {
                let name = name.trim_end_matches(" - should panic").to_string();
                if verdict.starts_with("FAILED") {
                    outcome.failed.insert(name.clone());
                }
                outcome.names.insert(name);
            }
        }
        let is_start =
            |line: &&str| line.starts_with("     Running ") || line.starts_with("   Doc-tests ");
        outcome.programs = stderr.lines().filter(is_start).count();
        // `error: 1 target failed:`, and below it which one.
        let mut lines = stderr.lines().filter_map(|line| line.strip_prefix("error: "));
        let count = lines.find_map(|line| line.split_once(" target")?.0.parse().ok());
        outcome.programs_failed = count.unwrap_or(0);
        outcome
    }
    /// Adds the numbers of a line such as `ok. 17 passed; 0 failed; 1 ignored; 0 measured`.
    fn add_program(&mut self, result: &str) {
        self.programs_failed_themselves += usize::from(result.starts_with("FAILED"));
        let number = |what: &str| {
            let mut words = result.split([' ', ';']).rev().skip_while(|word| *word != what);
            words.nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        self.passed += number("passed");
        self.failures += number("failed");
        self.ignored += number("ignored");
    }
    /// True if nothing failed or ended early.
    pub fn is_green(&self) -> bool {
        self.failures == 0 && self.programs_failed == 0
    }
    /// The numbers, for readers.
    pub fn counts(&self) -> String {
        let Self { passed, failures, ignored, .. } = self;
        format!("{passed} passed, {failures} failed, {ignored} ignored")
    }
    /// What the table does not say, and what it says wrongly.
    pub fn complaints(&self, row: &Dependent, is_root: bool) -> Vec<String> {
        let is_known = |name: &str| {
            let may_fail = |it: &Fails| is_root || !it.by_root;
            row.fails.iter().any(|it| it.test == name && may_fail(it))
        };
        let unknown = self.failed.iter().filter(|name| !is_known(name));
        let mut complaints: Vec<_> = unknown.map(|name| format!("{name} fails")).collect();
        if self.failed.len() < self.failures {
            complaints.push(format!("{} tests fail, not all with a name", self.failures));
        }
        let early = self.programs_failed.saturating_sub(self.programs_failed_themselves);
        if early > 0 {
            complaints.push(format!("{early} of {} test programs ended early", self.programs));
        }
        if self.passed == 0 {
            complaints.push("no test passed".into());
        }
        for Fails { test, by_root, .. } in &row.fails {
            if !self.names.contains(test) {
                complaints.push(format!("{HERE}: {test} is no longer a test"));
            } else if is_root && *by_root && !self.failed.contains(test) {
                complaints.push(format!("{HERE}: {test} no longer fails"));
            }
        }
        complaints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTS: &str = "   Compiling bell v1.0.0
     Running unittests src/lib.rs (target/debug/deps/bell-1)
     Running tests/bell.rs (target/debug/deps/bell-2)
   Doc-tests bell
";
    const ERRORS: &str = "error: test failed, to rerun pass `--lib`
error: 1 target failed:
    `--lib`
";
    const PRINTED: &str = "running 3 tests
test rings ... ok
test tests::falls - should panic ... FAILED
test slow ... ignored, it takes an hour
test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
test booms has been running for over 60 seconds
test booms ... ok
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 61.00s
test src/lib.rs - (line 1) ... ok
test result: ok. 10 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    fn row(fails: &[(&str, bool)]) -> Dependent {
        let of =
            |&(test, by_root): &(&str, bool)| Fails { test: test.into(), by_root, why: "".into() };
        let fails = fails.iter().map(of).collect();
        Dependent { fails, ..Dependent::default() }
    }

    fn failing() -> Outcome {
        Outcome::of(PRINTED, &format!("{STARTS}{ERRORS}"))
    }

    fn passing() -> Outcome {
        Outcome::of(&PRINTED.replace("FAILED", "ok").replace("1 failed", "0 failed"), STARTS)
    }

    #[test]
    fn the_numbers_of_all_programs_are_added() {
        let outcome = failing();
        assert_eq!(outcome.counts(), "12 passed, 1 failed, 1 ignored");
        assert_eq!((outcome.programs, outcome.is_green()), (3, false));
        assert!(passing().is_green());
    }

    #[test]
    fn a_failure_that_is_not_in_the_table_is_a_complaint() {
        assert_eq!(failing().complaints(&row(&[]), true), ["tests::falls fails"]);
        for by_root in [true, false] {
            let known = row(&[("tests::falls", by_root)]);
            assert!(failing().complaints(&known, true).is_empty(), "{known:?}");
        }
        let known = row(&[("tests::falls", true)]);
        assert_eq!(failing().complaints(&known, false), ["tests::falls fails"]);
        assert!(passing().complaints(&known, false).is_empty());
    }

    #[test]
    fn a_row_about_a_test_that_passes_or_is_not_there_is_a_complaint() {
        let complaints =
            |test, by_root| passing().complaints(&row(&[(test, by_root)]), true).concat();
        assert!(complaints("rings", true).ends_with("rings no longer fails"));
        assert_eq!(complaints("rings", false), "");
        for by_root in [true, false] {
            assert!(complaints("rongs", by_root).ends_with("rongs is no longer a test"));
        }
    }

    #[test]
    fn a_program_that_ends_early_is_a_complaint() {
        let printed = "test rings ... ok\n";
        let outcome = Outcome::of(printed, &format!("{STARTS}{ERRORS}"));
        assert!(!outcome.is_green());
        let complaints = outcome.complaints(&row(&[]), true);
        assert_eq!(complaints, ["1 of 3 test programs ended early", "no test passed"]);
    }
}

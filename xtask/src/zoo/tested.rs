//! Bugs under tests: of the locks on the real machine, of clients in explored schedules, and of random programs.

use crate::limit::{Stopped, output_within};
use crate::weaken::{self, copy};
use lockwright_zoo::{Bug, Test};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// What one test may take. With the right code each takes some seconds on two slow cores.
const SECONDS_MAX: u64 = 60;

/// The tests of a copy of the crate that has both forms of each edit.
pub struct Tests {
    copy: PathBuf,
    target: PathBuf,
}

/// What a test said.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It passed.
    Held,
    /// It failed; its complaint.
    Failed(String),
    /// It does not run on this machine; why.
    NotRun(String),
}

impl Tests {
    /// Builds the tests of some bugs in the copy of that folder.
    pub fn build(copy: PathBuf, target: PathBuf, bugs: &[&Bug]) -> Result<Self, String> {
        let tests = Self { copy, target };
        let programs: BTreeSet<_> = bugs
            .iter()
            .flat_map(|bug| bug.tests)
            .map(|test| (test.package, test.program))
            .collect();
        eprintln!("building the tests of bugs that are edits; this can take some minutes");
        for (package, program) in programs {
            let status =
                tests.cargo(package, program).arg("--no-run").args(weaken::hush()).status();
            if !status.is_ok_and(|status| status.success()) {
                return Err(
                    "the tests of the copy do not build: see above, and target/weaken".into()
                );
            }
        }
        Ok(tests)
    }
    /// Runs a test, with a bug or without; and how long that took.
    pub fn run(&self, test: Test, bug: Option<&Bug>) -> Result<(Outcome, f64), String> {
        let start = Instant::now();
        let mut command = self.cargo(test.package, test.program);
        command.args(["--quiet", "--", "--exact", test.name, "--nocapture"]);
        if let Some(bug) = bug {
            command.env(copy::VARIABLE, bug.choice());
        }
        let output = match output_within(&mut command, Duration::from_secs(SECONDS_MAX)) {
            Err(late @ Stopped::Late(_)) => {
                let said = Outcome::Failed(format!("the test {late}"));
                return Ok((said, start.elapsed().as_secs_f64()));
            }
            Err(stopped) => return Err(format!("{} {stopped}", test.name)),
            Ok(output) => output,
        };
        let printed = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
        let outcome = outcome(output.status.success(), &printed.concat());
        let outcome = outcome.ok_or_else(|| format!("there is no test {}", test.name))?;
        Ok((outcome, start.elapsed().as_secs_f64()))
    }
    fn cargo(&self, package: &str, program: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command.args(["test", "--package", package]).args(program);
        if package == "lockwright-catalog" {
            command.args(["--features", "std"]);
        }
        command.arg("--manifest-path").arg(self.copy.join("Cargo.toml"));
        command.arg("--target-dir").arg(&self.target).env_remove(copy::VARIABLE);
        command
    }
}

/// What a run of one test means that ended like this; nothing if it was none.
fn outcome(is_success: bool, printed: &str) -> Option<Outcome> {
    let not_run = printed.lines().find(|line| line.starts_with("not run: "));
    match (is_success, not_run) {
        (true, Some(line)) => Some(Outcome::NotRun(line.to_string())),
        (true, None) if printed.contains("1 passed") => Some(Outcome::Held),
        (true, None) => None,
        (false, _) => {
            let panicked = printed.lines().position(|line| line.contains("panicked at"));
            let said = panicked.and_then(|at| printed.lines().nth(at + 1));
            Some(Outcome::Failed(said.unwrap_or("the process ended").to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_is_not_there_is_none_that_holds() {
        assert_eq!(outcome(true, "test result: ok. 1 passed; 0 failed"), Some(Outcome::Held));
        assert_eq!(outcome(true, "test result: ok. 0 passed; 0 failed"), None);
        let not_run = "not run: a: no membarrier";
        let printed = format!("{not_run}\ntest result: ok. 1 passed");
        assert_eq!(outcome(true, &printed), Some(Outcome::NotRun(not_run.into())));
        let failed = "thread 'a' panicked at b.rs:1:1:\na reader next to a writer\nnote: more";
        assert_eq!(
            outcome(false, failed),
            Some(Outcome::Failed("a reader next to a writer".into()))
        );
    }
}

//! Running the checks of one mutant, and of none.

use super::copy::{CHECK, VARIABLE};
use super::table::Test;
use crate::limit::{output_within, status_within};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One check: a lock, a client and a machine.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, Hash)]
pub struct Check {
    /// The lock, or the package whose test it is.
    pub lock: String,
    /// The client, or the test.
    pub client: String,
    /// The machine.
    pub on: String,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({})", self.lock, self.client, self.on)
    }
}

/// A check as the check program lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub check: Check,
    /// Variants of a lock have checks of the same name, and these are run together.
    pub variants: usize,
}

/// What one check said.
#[derive(Clone, Debug, Deserialize)]
pub struct Said {
    #[serde(flatten)]
    pub check: Check,
    pub threads: u64,
    pub violated: bool,
    pub complaint: Option<String>,
    pub executions: u64,
    pub seconds: f64,
}

/// A check that a mutant violates and the unmodified code does not.
#[derive(Clone, Debug, Serialize)]
pub struct Kill {
    #[serde(flatten)]
    pub check: Check,
    pub threads: u64,
    pub executions: u64,
    pub seconds: f64,
    pub complaint: String,
}

/// What the checks of one mutant came to.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    pub kills: Vec<Kill>,
    /// Checks that the mutant passes.
    pub held: Vec<Check>,
    /// What was stopped or could not be used.
    pub notes: Vec<String>,
}

/// How a mutant is run.
pub struct Runner {
    /// The copy with weakened sites.
    pub copy: PathBuf,
    /// The target directory of the repository.
    pub target: PathBuf,
    /// True to explore with the wider bounds.
    pub full: bool,
    /// What one check may take.
    pub seconds_max: u64,
    /// By check: true if the unmodified code passes it.
    pub baseline: Mutex<HashMap<Check, bool>>,
}

/// Seeds of the interpreter.
const SEEDS: u32 = 16;
const SEEDS_FULL: u32 = 128;
/// How much longer a test may take there than a model check.
const MIRI_TAKES: u64 = 5;

impl Runner {
    /// Asks the check program for the checks of `locks`: the first of each, then the second of each,
    /// because a mutant that one lock cannot show is often shown by the next.
    pub fn checks_of(&self, locks: &[&str]) -> Result<Vec<Listed>, String> {
        let mut of_each = Vec::new();
        for lock in locks {
            let printed = self.output(self.program(lock).arg("--list"));
            let listed = printed.and_then(|printed| listed(&printed));
            of_each.push(listed.map_err(|why| format!("{CHECK} {lock} --list {why}"))?);
        }
        let rounds = of_each.iter().map(Vec::len).max().unwrap_or_default();
        let in_round = |round| {
            of_each.iter().filter_map(move |checks: &Vec<Listed>| checks.get(round).cloned())
        };
        Ok((0..rounds).flat_map(in_round).collect())
    }

    /// Runs one model check with `mutant`, the value of the variable.
    pub fn loom(&self, listed: &Listed, mutant: &str, findings: &mut Findings) {
        let holds = || self.explore(listed, None).is_ok_and(|said| !said.violated);
        match self.explore(listed, Some(mutant)) {
            Ok(said) if !said.violated => findings.held.push(said.check),
            Ok(said) if !self.holds_unmodified(&listed.check, holds) => {
                findings.notes.push(format!("{} fails without the mutant", said.check));
            }
            Ok(Said { check, threads, executions, seconds, complaint, .. }) => {
                let complaint = complaint.unwrap_or_default();
                findings.kills.push(Kill { check, threads, executions, seconds, complaint });
            }
            Err(note) => findings.notes.push(note),
        }
    }

    /// Returns true if the code as it is passes `check` within the same bounds. Each check is run once.
    fn holds_unmodified(&self, check: &Check, holds: impl FnOnce() -> bool) -> bool {
        let known = || self.baseline.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(holds) = known().get(check) {
            return *holds;
        }
        let holds = holds();
        known().insert(check.clone(), holds);
        holds
    }

    /// Runs one model check, with a mutant or without: the first variant that is violated, or any.
    fn explore(&self, listed: &Listed, mutant: Option<&str>) -> Result<Said, String> {
        let check = &listed.check;
        let mut command = self.program(&check.lock);
        command.args(["--client", &check.client, "--on", &check.on]);
        if self.full {
            command.arg("--full");
        }
        if let Some(mutant) = mutant {
            command.env(VARIABLE, mutant);
        }
        let printed = self.output(&mut command);
        let said = printed.and_then(|printed| said_of_all(listed, &printed));
        said.map_err(|why| format!("{check} {why}"))
    }

    fn program(&self, lock: &str) -> Command {
        let mut command = Command::new(self.target.join("debug").join(CHECK));
        command.arg(lock).env_remove(VARIABLE);
        command
    }

    /// What a program prints that succeeds in time.
    fn output(&self, command: &mut Command) -> Result<String, String> {
        let limit = Duration::from_secs(self.seconds_max);
        let output = output_within(command, limit).map_err(|stopped| stopped.to_string())?;
        if !output.status.success() {
            let printed = String::from_utf8_lossy(&output.stderr);
            let why = printed.lines().last().unwrap_or_default();
            return Err(format!("failed with {}: {why}", output.status));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Builds `tests` for the interpreter. Without a mutant in the environment: a program under it
    /// sees the environment of its build.
    pub fn build_for_miri(&self, tests: &[Test]) -> Result<(), String> {
        let programs: HashSet<_> = tests.iter().map(|test| test.program).collect();
        for program in programs {
            let mut command = self.cargo_miri();
            command.arg("--quiet").arg("--package").args(program).arg("--no-run");
            let status = status_within(&mut command, self.limit_of_miri());
            if !status.is_ok_and(|status| status.success()) {
                return Err("the copy does not build for Miri: see above, and target/weaken".into());
            }
        }
        Ok(())
    }

    /// Interprets `test` with `mutant`.
    pub fn miri(&self, test: &Test, mutant: &str, findings: &mut Findings) {
        let package = test.program[0].to_string();
        let check = Check { lock: package, client: test.name.into(), on: "Miri".into() };
        let start = Instant::now();
        let complaint = match self.interpret(test, Some(mutant)) {
            Ok(None) => return findings.held.push(check),
            Ok(Some(complaint)) => complaint,
            Err(note) => return findings.notes.push(note),
        };
        let seconds = start.elapsed().as_secs_f64();
        if self.holds_unmodified(&check, || self.interpret(test, None) == Ok(None)) {
            findings.kills.push(Kill { check, threads: 2, executions: 0, seconds, complaint });
        } else {
            findings.notes.push(format!("{check} fails without the mutant"));
        }
    }

    /// Runs one test under Miri, with many seeds; what it complains about, if it does.
    fn interpret(&self, test: &Test, mutant: Option<&str>) -> Result<Option<String>, String> {
        let mut command = self.cargo_miri();
        command.arg("--package").args(test.program).args([test.name, "--", "--exact"]);
        if let Some(mutant) = mutant {
            command.env(VARIABLE, mutant);
        }
        let output = output_within(&mut command, self.limit_of_miri())
            .map_err(|stopped| format!("{} {stopped}", test.name))?;
        let printed = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        match output.status.success() {
            // A name that no test has is no test that holds.
            true if !printed.contains("1 passed") => Err(format!("there is no test {}", test.name)),
            true => Ok(None),
            false => match complaint(&printed) {
                Some(complaint) => Ok(Some(complaint)),
                None => Err(format!("{}: {}", test.name, output.status)),
            },
        }
    }

    /// What a test under Miri may take, and the build of it.
    fn limit_of_miri(&self) -> Duration {
        Duration::from_secs(self.seconds_max * MIRI_TAKES)
    }

    /// Tests of the copy under Miri.
    fn cargo_miri(&self) -> Command {
        let seeds = if self.full { SEEDS_FULL } else { SEEDS };
        let flags = format!("-Zmiri-disable-isolation -Zmiri-many-seeds=0..{seeds}");
        let mut command = Command::new("cargo");
        command.args(["+nightly", "miri", "test"]);
        command.arg("--manifest-path").arg(self.copy.join("Cargo.toml"));
        command.arg("--target-dir").arg(self.target.join("miri"));
        // The toolchain that runs this program would be taken for the one that is asked for.
        command.env("MIRIFLAGS", flags).env_remove("RUSTUP_TOOLCHAIN").env_remove(VARIABLE);
        command
    }
}

/// The checks of a list, one of each name.
fn listed(printed: &str) -> Result<Vec<Listed>, String> {
    let mut listed: Vec<Listed> = Vec::new();
    for line in printed.lines() {
        let check = serde_json::from_str(line).map_err(nonsense)?;
        match listed.iter_mut().find(|known| known.check == check) {
            Some(known) => known.variants += 1,
            None => listed.push(Listed { check, variants: 1 }),
        }
    }
    if listed.is_empty() { Err("printed nothing".into()) } else { Ok(listed) }
}

/// What the variants of a check said, all of them: the first that is violated, or any.
fn said_of_all(listed: &Listed, printed: &str) -> Result<Said, String> {
    let said: Vec<Said> =
        printed.lines().map(serde_json::from_str).collect::<Result<_, _>>().map_err(nonsense)?;
    let Listed { check, variants } = listed;
    if said.len() != *variants || said.iter().any(|said| said.check != *check) {
        return Err(format!("printed {} lines for {variants} checks", said.len()));
    }
    said.into_iter().rev().max_by_key(|said| said.violated).ok_or("printed nothing".into())
}

fn nonsense(error: serde_json::Error) -> String {
    format!("printed nonsense: {error}")
}

/// What a test under Miri complains about: undefined behaviour, or the message of a panic.
fn complaint(printed: &str) -> Option<String> {
    let lines: Vec<_> = printed.lines().map(str::trim).collect();
    if let Some(line) = lines.iter().find(|line| line.starts_with("error: Undefined Behavior")) {
        return Some(line.to_string());
    }
    let at = lines.iter().position(|line| line.contains("panicked at"))?;
    lines.get(at + 1).map(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELD: &str = r#"{"lock": "a", "client": "b", "on": "c", "threads": 2, "violated": false,
        "complaint": null, "executions": 1, "seconds": 0.1}"#;

    fn runner(seconds_max: u64) -> Runner {
        let (copy, target) = (PathBuf::new(), PathBuf::new());
        Runner { copy, target, full: false, seconds_max, baseline: Mutex::default() }
    }
    fn output_of(script: &str, seconds_max: u64) -> Result<String, String> {
        runner(seconds_max).output(Command::new("sh").args(["-c", script]))
    }

    #[test]
    fn a_check_holds_when_each_of_its_variants_says_so() {
        let held = HELD.replace('\n', "");
        let violated = held.replace("false", "true").replace("null", "\"race\"");
        let list = r#"{"lock": "a", "client": "b", "on": "c"}"#;
        let listed = |lines: usize| listed(&format!("{list}\n").repeat(lines));
        assert!(listed(0).is_err());
        let both = &listed(2).expect("a list")[0];
        assert_eq!(both.variants, 2);
        let said = |printed: String| said_of_all(both, &printed).map(|said| said.violated);
        assert_eq!(said(format!("{held}\n{held}")), Ok(false));
        assert_eq!(said(format!("{held}\n{violated}")), Ok(true));
        for wrong in [String::new(), held.clone(), format!("{held}\n{held}\n{held}")] {
            assert!(said(wrong).is_err());
        }
        assert!(said(format!("{held}\n{}", held.replace("\"b\"", "\"other\""))).is_err());
    }

    #[test]
    fn a_program_that_dies_or_hangs_has_said_nothing() {
        assert_eq!(output_of("echo held", 60), Ok("held\n".into()));
        let died = output_of("echo held; echo stack overflow >&2; exit 101", 60);
        assert!(died.is_err_and(|why| why.contains("101: stack overflow")));
        assert!(output_of("echo held; kill -9 $$", 60).is_err());
        assert!(output_of("echo held; sleep 60", 1).is_err_and(|why| why.contains("after 1 s")));
        let long = output_of("head -c 200000 /dev/zero", 60);
        assert_eq!(long.map(|printed| printed.len()), Ok(200_000));
    }
}

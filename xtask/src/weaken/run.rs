//! Running the checks of one mutant, and of none.

use super::copy::{CHECK, VARIABLE};
use super::table::Test;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
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
    /// Whether to explore with the wider bounds.
    pub full: bool,
    /// What one check may take.
    pub seconds_max: u64,
    /// Whether the unmodified code passes a check.
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
    pub fn checks_of(&self, locks: &[&str]) -> Result<Vec<Check>, String> {
        let mut of_each = Vec::new();
        for lock in locks {
            let output = self.program(lock).arg("--list").output();
            let output = output.map_err(|error| format!("{CHECK} cannot be started: {error}"))?;
            let printed = String::from_utf8_lossy(&output.stdout);
            let mut checks: Vec<Check> = printed
                .lines()
                .map(serde_json::from_str)
                .collect::<Result<_, _>>()
                .map_err(|error| format!("{CHECK} {lock} --list: {error}"))?;
            // Variants of a lock have checks of the same name, and these are run together.
            let mut seen = HashSet::new();
            checks.retain(|check| seen.insert(check.clone()));
            of_each.push(checks);
        }
        let rounds = of_each.iter().map(Vec::len).max().unwrap_or_default();
        let in_round = |round| of_each.iter().filter_map(move |checks| checks.get(round).cloned());
        Ok((0..rounds).flat_map(in_round).collect())
    }

    /// Runs one model check with `mutant`, the value of the variable.
    pub fn loom(&self, check: &Check, mutant: &str, findings: &mut Findings) {
        match self.explore(check, Some(mutant)) {
            Ok(said) if !said.violated => findings.held.push(said.check),
            Ok(_) if !self.holds_unmodified(check) => {
                findings.notes.push(format!("{check} fails without the mutant"));
            }
            Ok(Said { check, threads, executions, seconds, complaint, .. }) => {
                let complaint = complaint.unwrap_or_default();
                findings.kills.push(Kill { check, threads, executions, seconds, complaint });
            }
            Err(note) => findings.notes.push(note),
        }
    }

    /// Whether the code as it is passes `check` within the same bounds. Asked once for each.
    fn holds_unmodified(&self, check: &Check) -> bool {
        let known = || self.baseline.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(holds) = known().get(check) {
            return *holds;
        }
        let holds = self.explore(check, None).is_ok_and(|said| !said.violated);
        known().insert(check.clone(), holds);
        holds
    }

    /// Runs one model check, with a mutant or without: the first variant that is violated, or any.
    fn explore(&self, check: &Check, mutant: Option<&str>) -> Result<Said, String> {
        let mut command = self.program(&check.lock);
        command.args(["--client", &check.client, "--on", &check.on]);
        if self.full {
            command.arg("--full");
        }
        if let Some(mutant) = mutant {
            command.env(VARIABLE, mutant);
        }
        let printed = self.output(command).map_err(|why| format!("{check} {why}"))?;
        let variants: Vec<Said> = printed
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .map_err(|error| format!("{check} printed nonsense: {error}"))?;
        let nothing = || format!("{check} printed nothing");
        variants.into_iter().max_by_key(|said| said.violated).ok_or_else(nothing)
    }

    fn program(&self, lock: &str) -> Command {
        let mut command = Command::new(self.target.join("debug").join(CHECK));
        command.arg(lock).env_remove(VARIABLE);
        command
    }

    /// What a program prints that ends by itself in time. What it prints fits into a pipe, so it can
    /// be read afterwards.
    fn output(&self, mut command: Command) -> Result<String, String> {
        let end = Instant::now() + Duration::from_secs(self.seconds_max);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("cannot be started: {error}"))?;
        loop {
            match child.try_wait() {
                Ok(Some(_)) => break,
                Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
                Ok(None) => {
                    // An error means that it has ended by itself after all.
                    let _ = child.kill();
                    let _ = child.wait();
                    return Err(format!("was stopped after {} s", self.seconds_max));
                }
                Err(error) => return Err(format!("cannot be waited for: {error}")),
            }
        }
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Builds `tests` for the interpreter. Without a mutant in the environment: a program under it
    /// sees the environment of its build.
    pub fn build_for_miri(&self, tests: &[Test]) -> Result<(), String> {
        let programs: HashSet<_> = tests.iter().map(|test| test.program).collect();
        for program in programs {
            let mut command = self.cargo_miri();
            command.arg("--quiet").arg("--package").args(program).arg("--no-run");
            if !command.status().is_ok_and(|status| status.success()) {
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
        if self.is_silent_unmodified(test, &check) {
            findings.kills.push(Kill { check, threads: 2, executions: 0, seconds, complaint });
        } else {
            findings.notes.push(format!("{check} fails without the mutant"));
        }
    }

    /// As [`holds_unmodified`](Self::holds_unmodified).
    fn is_silent_unmodified(&self, test: &Test, check: &Check) -> bool {
        let known = || self.baseline.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(holds) = known().get(check) {
            return *holds;
        }
        let holds = self.interpret(test, None) == Ok(None);
        known().insert(check.clone(), holds);
        holds
    }

    /// Runs one test under Miri, with many seeds; what it complains about, if it does.
    fn interpret(&self, test: &Test, mutant: Option<&str>) -> Result<Option<String>, String> {
        let mut command = self.cargo_miri();
        command.arg("--package").args(test.program).args([test.name, "--", "--exact"]);
        if let Some(mutant) = mutant {
            command.env(VARIABLE, mutant);
        }
        let output = command.output().map_err(|error| format!("cannot be started: {error}"))?;
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

    /// Tests of the copy under Miri, within a time limit.
    fn cargo_miri(&self) -> Command {
        let seeds = if self.full { SEEDS_FULL } else { SEEDS };
        let flags = format!("-Zmiri-disable-isolation -Zmiri-many-seeds=0..{seeds}");
        let limit = format!("{}s", self.seconds_max * MIRI_TAKES);
        let mut command = Command::new("timeout");
        command.args(["--kill-after=1s", &limit, "cargo", "+nightly", "miri", "test"]);
        command.arg("--manifest-path").arg(self.copy.join("Cargo.toml"));
        command.arg("--target-dir").arg(self.target.join("miri"));
        // The toolchain that runs this program would be taken for the one that is asked for.
        command.env("MIRIFLAGS", flags).env_remove("RUSTUP_TOOLCHAIN").env_remove(VARIABLE);
        command
    }
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

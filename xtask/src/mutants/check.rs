//! One check of the copy: a question to a program, and its answer.

use super::copy::{Built, CHECK, FAIRNESS_PROGRAM, LAB, VARIABLE};
use super::explored;
use crate::limit::{Printed, Stopped, output_within};
use lockwright_zoo::{Checker, Test};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

/// One client of a lock under a checker, or a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub checker: Checker,
    pub lock: String,
    /// The client, or the test. Empty for all clients that the checker has for the lock.
    pub client: String,
    /// The machine; empty for any.
    pub on: String,
    test: Option<Test>,
}

/// What one check said.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Said {
    #[serde(skip_deserializing)]
    pub checker: &'static str,
    pub lock: String,
    pub client: String,
    pub on: String,
    #[serde(skip_serializing)]
    pub violated: bool,
    /// What it found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complaint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Where the schedules came from, if from a seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The schedule, if it can be repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// Executions or schedules tried up to there.
    pub executions: u64,
    /// How long that took.
    pub seconds: f64,
}

impl Check {
    /// The checks of a lock by `checker` with this client, or with all.
    pub fn new(checker: Checker, lock: &str, client: &str) -> Self {
        let (lock, client, on) = (lock.into(), client.into(), String::new());
        Self { checker, lock, client, on, test: None }
    }
    /// A test that is about this lock.
    pub fn of_test(test: Test, lock: &str) -> Self {
        let on = match test.checker {
            Checker::Native => "this machine",
            Checker::Miri => "Miri",
            _ => "simulated",
        };
        let check = Self::new(test.checker, lock, test.name);
        Self { on: on.into(), test: Some(test), ..check }
    }
    /// The answer if it found this, or nothing.
    pub fn said(&self, complaint: Option<String>) -> Said {
        let Self { checker, lock, client, on, .. } = self.clone();
        let violated = complaint.is_some();
        let checker = checker.name();
        Said { checker, lock, client, on, violated, complaint, executions: 1, ..Said::default() }
    }
}

impl Said {
    /// One line for a reader. Schedules are long, and in the document.
    pub fn line(&self) -> String {
        let Self { checker, lock, client, on, executions, seconds, .. } = self;
        let complaint = self.complaint.as_deref().unwrap_or_default();
        let complaint = complaint.lines().next().unwrap_or_default();
        let seed = self.seed.map_or(String::new(), |seed| format!(", seed {seed}"));
        format!(
            "{lock} by {checker}, {client} ({on}){seed}: {executions} tried, {seconds:.2} s: {complaint}"
        )
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [&*self.lock, "by", self.checker.name(), &*self.client];
        f.write_str(words.join(" ").trim_end())?;
        if self.on.is_empty() { Ok(()) } else { write!(f, " ({})", self.on) }
    }
}

/// What loom's program says about a check that it has.
#[derive(Deserialize)]
struct Listed {
    client: String,
    on: String,
}

/// Asks the programs of the copy.
pub struct Runner {
    pub copy: Built,
    /// True to explore with the wider bounds.
    pub full: bool,
}

impl Runner {
    /// All checks that a lock has under loom. Variants of a lock have checks of the same name, and these are run
    /// together.
    ///
    /// # Errors
    /// If loom's program does not say which.
    pub fn listed(&self, lock: &str) -> Result<Vec<Check>, String> {
        let all = Check::new(Checker::Loom, lock, "");
        let printed = self.output(&all, self.command(&all).arg("--list"));
        let mut listed = Vec::new();
        for Listed { client, on } in lines(&all, &printed_by(&all, printed)?)? {
            let check = Check { on, ..Check::new(Checker::Loom, lock, &client) };
            if !listed.contains(&check) {
                listed.push(check);
            }
        }
        Ok(listed)
    }

    /// Puts a check to a mutant, or to the code as it is. The answer has a line for each client, and for each variant
    /// of the lock. It has none if the check does not run on this machine.
    ///
    /// # Errors
    /// A sentence if the check has said nothing that can be used.
    pub fn ask(&self, check: &Check, mutant: Option<usize>) -> Result<Vec<Said>, String> {
        let mut command = self.command(check);
        command.env_remove(VARIABLE).envs(mutant.map(|number| (VARIABLE, number.to_string())));
        let start = Instant::now();
        let output = self.output(check, &mut command);
        let seconds = start.elapsed().as_secs_f64();
        let mut said = answer(check, output)?;
        for it in &mut said {
            it.checker = check.checker.name();
            // The others say it themselves, for each client.
            if check.test.is_some() || check.checker == Checker::Explore {
                it.seconds = seconds;
            }
        }
        Ok(said)
    }

    /// Builds what runs the tests among these checks. Without a mutant in the environment: a program under Miri sees
    /// the environment of its build.
    ///
    /// # Errors
    /// If it does not build.
    pub fn build<'a>(&self, checks: impl Iterator<Item = &'a Check>) -> Result<(), String> {
        let tests = checks.filter_map(|check| check.test);
        let mut programs: Vec<_> = tests.map(|it| Test { name: "", ..it }).collect();
        programs.sort_by_key(|it| (it.package, it.program, it.checker.name()));
        programs.dedup();
        programs.iter().try_for_each(|program| {
            self.copy.build_by(self.cargo_test(program).arg("--no-run").env_remove(VARIABLE))
        })
    }

    fn output(&self, check: &Check, command: &mut Command) -> Result<Printed, Stopped> {
        let seconds_max = match (check.checker, self.full) {
            (Checker::Native | Checker::Explored, _) => 60,
            (Checker::Loom, false) => 120,
            (Checker::Loom, true) => 900,
            (_, false) => 300,
            (_, true) => 3600,
        };
        output_within(command, Duration::from_secs(seconds_max))
    }

    fn command(&self, check: &Check) -> Command {
        let Check { lock, client, on, .. } = check;
        if let Some(test) = check.test {
            let mut cargo = self.cargo_test(&test);
            cargo.args(["--", "--exact", test.name, "--nocapture"]);
            return cargo;
        }
        let mut command = Command::new(self.copy.program(match check.checker {
            Checker::Loom => CHECK,
            Checker::Explore => LAB,
            _ => FAIRNESS_PROGRAM,
        }));
        match check.checker {
            Checker::Explore => command.args(explored::arguments(lock, client)),
            _ => command.arg(lock),
        };
        if check.checker == Checker::Loom {
            let options = [("--client", client), ("--on", on)].into_iter();
            let options = options.filter(|(_, value)| !value.is_empty());
            command.args(options.flat_map(|(name, value)| [name, value]));
            command.args(self.full.then_some("--full"));
        }
        command
    }

    /// Runs tests of the copy, under Miri if it is asked for, which then tries many seeds.
    fn cargo_test(&self, test: &Test) -> Command {
        let mut cargo = Command::new("cargo");
        if test.checker == Checker::Miri {
            let seeds = if self.full { 128 } else { 16 };
            let flags = format!("-Zmiri-disable-isolation -Zmiri-many-seeds=0..{seeds}");
            cargo.args(["+nightly", "miri"]).env("MIRIFLAGS", flags);
            // The toolchain that runs this program would be taken for the one that is asked for.
            cargo.env_remove("RUSTUP_TOOLCHAIN");
        }
        cargo.args(["test", "--package", test.package]).args(test.program);
        cargo.args((test.package == "lockwright-catalog").then_some("--features=std"));
        cargo.args(self.copy.options(if test.checker == Checker::Miri { "miri" } else { "" }));
        cargo
    }
}

/// What the answer to a check is if its program ended like this.
fn answer(check: &Check, output: Result<Printed, Stopped>) -> Result<Vec<Said>, String> {
    if check.test.is_some() {
        return match output {
            // A test that hangs has failed. Under Miri the correct code may take as long.
            Err(late @ Stopped::Late(_)) if check.checker != Checker::Miri => {
                Ok(vec![check.said(Some(format!("the test {late}")))])
            }
            Err(stopped) => Err(format!("{check} {stopped}")),
            Ok(it) => answer_of_test(check, it.status.success(), &(it.out + &it.err)),
        };
    }
    let printed = printed_by(check, output)?;
    let said: Vec<Said> = match check.checker {
        Checker::Explore => explored::said(&printed).map_err(|why| nonsense(check, &why))?,
        _ => lines(check, &printed)?,
    };
    let is_other = |it: &Said| {
        let names = [(&it.lock, &check.lock), (&it.client, &check.client), (&it.on, &check.on)];
        names.iter().any(|(said, asked)| !asked.is_empty() && said != asked)
    };
    match said.iter().find(|it| is_other(it)) {
        Some(it) => Err(format!("{check} was answered about {} of {}", it.client, it.lock)),
        None => Ok(said),
    }
}

/// What a run of one test means that ended like this.
fn answer_of_test(check: &Check, is_success: bool, printed: &str) -> Result<Vec<Said>, String> {
    let mut lines = printed.lines().map(str::trim);
    match is_success {
        true if lines.any(|line| line.starts_with("not run: ")) => Ok(Vec::new()),
        true if printed.contains("1 passed") => Ok(vec![check.said(None)]),
        // A name that no test has is no test that holds.
        true => Err(format!("there is no test {}", check.client)),
        false => {
            let undefined = lines.find(|line| line.starts_with("error: Undefined Behavior"));
            let mut lines = printed.lines().skip_while(|line| !line.contains("panicked at"));
            let complaint = undefined.or_else(|| lines.nth(1)).unwrap_or("the process ended");
            Ok(vec![check.said(Some(complaint.to_string()))])
        }
    }
}

/// What a program printed that ended as it should.
fn printed_by(check: &Check, output: Result<Printed, Stopped>) -> Result<String, String> {
    let output = output.map_err(|stopped| format!("{check} {stopped}"))?;
    // An exploration that finds something says so by 1.
    let codes: &[i32] = if check.checker == Checker::Explore { &[0, 1] } else { &[0] };
    if !output.status.code().is_some_and(|code| codes.contains(&code)) {
        let why = output.err.lines().last().unwrap_or_default();
        return Err(format!("{check} failed with {}: {why}", output.status));
    }
    let printed = output.out;
    if printed.is_empty() { Err(format!("{check} printed nothing")) } else { Ok(printed) }
}

fn lines<T: DeserializeOwned>(check: &Check, printed: &str) -> Result<Vec<T>, String> {
    let lines = printed.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().map_err(|why| nonsense(check, &why))
}

fn nonsense(check: &Check, why: &serde_json::Error) -> String {
    format!("{check} printed nonsense: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loom() -> Check {
        Check { on: "c".into(), ..Check::new(Checker::Loom, "a", "b") }
    }
    fn answer_of(check: &Check, script: &str) -> Result<Vec<bool>, String> {
        let output =
            output_within(Command::new("sh").args(["-c", script]), Duration::from_millis(500));
        let said = answer(check, output)?;
        Ok(said.iter().map(|it| it.violated).collect())
    }

    #[test]
    fn each_variant_of_a_check_answers_and_nothing_else() {
        let held = r#"{"lock": "a", "client": "b", "on": "c", "threads": 2, "violated": false,
            "complaint": null, "executions": 1, "seconds": 0.1}"#;
        let held = held.replace('\n', "");
        let violated = held.replace("false", "true").replace("null", "\"race\"");
        let other = held.replace("\"b\"", "\"other\"");
        let said =
            |lines: &[&str]| answer_of(&loom(), &format!("printf '%s\\n' '{}'", lines.join("' '")));
        assert_eq!(said(&[&held, &violated]), Ok(vec![false, true]));
        for wrong in [&["a word"][..], &[&held, &other]] {
            assert!(said(wrong).is_err(), "{wrong:?}");
        }
        assert!(answer_of(&loom(), "true").is_err());
    }

    #[test]
    fn a_check_that_dies_or_hangs_has_said_nothing() {
        let hung = answer_of(&loom(), "echo line; sleep 60").expect_err("a limit");
        assert!(hung.starts_with("a by loom b (c) was still running"), "{hung}");
        let died = answer_of(&loom(), "echo line; echo stack overflow >&2; exit 101");
        assert!(died.is_err_and(|why| why.ends_with("101: stack overflow")));
        let explore = Check::new(Checker::Explore, "a", "b");
        let found = "echo '{\"seed\": 1, \"results\": []}'; exit 1";
        assert_eq!(answer_of(&explore, found), Ok(Vec::new()));
        assert!(answer_of(&loom(), found).is_err());
        assert!(answer_of(&explore, &found.replace("exit 1", "kill -9 $$")).is_err());
    }

    #[test]
    fn a_test_that_hangs_has_failed_and_one_that_is_not_there_does_not_hold() {
        let test = Test { package: "a", program: &[], name: "b", checker: Checker::Native };
        let native = Check::of_test(test, "c");
        assert_eq!(answer_of(&native, "sleep 60"), Ok(vec![true]));
        let miri = Check { checker: Checker::Miri, ..native.clone() };
        assert!(answer_of(&miri, "sleep 60").is_err());
        let said = |is_success, printed| answer_of_test(&native, is_success, printed);
        assert!(!said(true, "test result: ok. 1 passed; 0 failed").expect("it holds")[0].violated);
        assert!(said(true, "test result: ok. 0 passed; 0 failed").is_err());
        let not_run = "not run: a: no membarrier\ntest result: ok. 1 passed";
        assert_eq!(said(true, not_run).expect("an answer").len(), 0);
        for (printed, complaint) in [
            ("thread 'a' panicked at b.rs:1:1:\na reader\nnote: more", "a reader"),
            ("error: Undefined Behavior: a race\n", "error: Undefined Behavior: a race"),
            ("", "the process ended"),
        ] {
            let said = said(false, printed).expect("a failure");
            assert_eq!(said[0].complaint.as_deref(), Some(complaint));
        }
    }
}

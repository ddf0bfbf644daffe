//! Tests that run, each in a process of its own, and what that came to.

use crate::limit::{Stopped, output_within, printed};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// No test takes as long, on two slow cores either: a test that does hangs.
pub const TIME_MAX: Duration = Duration::from_secs(120);
/// Shorter tests are not compared: they take as long as a process takes to start.
const LONG: Duration = Duration::from_millis(100);
/// The ratio above which a long test is named.
const RATIO: f64 = 1.2;

/// The runs of one test with one library.
#[derive(Debug, Default)]
pub struct Runs {
    /// How long each run took that passed.
    pub times: Vec<Duration>,
    /// What each run printed that failed.
    pub failures: Vec<String>,
}

/// The names of the tests of a program.
pub fn list(program: &Path) -> Result<Vec<String>, String> {
    let mut command = Command::new(program);
    command.args(["--list", "--format", "terse"]);
    let printed = printed(&mut command, TIME_MAX)?;
    let names = printed.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(String::from).collect())
}

/// A process that runs one test of a program.
pub fn one_test(program: &Path, name: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", name, "--test-threads", "1"]);
    // To print the stack of a panic that a test expects takes longer than most tests.
    command.env_remove("RUST_BACKTRACE");
    command
}

impl Runs {
    /// Runs a command that fails if a test fails.
    pub fn add(&mut self, command: &mut Command, limit: Duration) -> Result<(), String> {
        let start = Instant::now();
        match output_within(command, limit) {
            Ok(output) if output.status.success() => self.times.push(start.elapsed()),
            Ok(output) => {
                let mut printed = output.out + &output.err;
                if output.status.code().is_none() {
                    printed += &format!("it was ended by a {}\n", output.status);
                }
                self.failures.push(printed);
            }
            Err(late @ Stopped::Late(_)) => self.failures.push(format!("it {late}")),
            Err(stopped) => return Err(format!("the test {stopped}")),
        }
        Ok(())
    }
    /// The upper one of the two in the middle, if their number is even.
    fn median(&self) -> Option<Duration> {
        let mut times = self.times.clone();
        times.sort();
        times.get(times.len() / 2).copied()
    }
    fn text(&self) -> String {
        let verdict = match (self.failures.len(), self.times.len()) {
            (0, _) => "passed".into(),
            (failed, passed) => format!("FAILED {failed} of {}", failed + passed),
        };
        let median = self.median().map_or("-".into(), |it| format!("{:.0}", millis(it)));
        format!("{verdict} {median:>5} ms")
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A test with Lockwright and, if it is compared, with the library that it is from.
#[derive(Debug)]
pub struct Measured {
    /// With its file and without the module in it.
    pub name: String,
    pub ours: Runs,
    pub theirs: Option<(String, Runs)>,
}

impl Measured {
    /// True if it passed in each run with Lockwright.
    pub fn passes(&self) -> bool {
        self.ours.failures.is_empty()
    }
    /// Our median time divided by the other.
    fn ratio(&self) -> Option<f64> {
        let (_, theirs) = self.theirs.as_ref()?;
        Some(millis(self.ours.median()?) / millis(theirs.median()?))
    }
    /// True if it is a long test.
    fn is_long(&self) -> bool {
        let theirs = self.theirs.as_ref().and_then(|(_, runs)| runs.median());
        self.ours.median().max(theirs).is_some_and(|median| median > LONG)
    }
    fn is_slow(&self) -> bool {
        self.is_long() && self.ratio().is_some_and(|ratio| ratio > RATIO)
    }
    /// A line for the reader.
    pub fn line(&self) -> String {
        let Self { name, ours, theirs } = self;
        let Some((library, theirs)) = theirs else {
            return format!("{name}: {}", if self.passes() { "passed" } else { "FAILED" });
        };
        let ratio = self.ratio().map_or("-".into(), |ratio| format!("{ratio:.2}"));
        let mark = match (self.is_long(), self.is_slow()) {
            (false, _) => " (short)",
            (true, true) => " slow",
            (true, false) => "",
        };
        format!("{name}: {}, {library} {}, ratio {ratio}{mark}", ours.text(), theirs.text())
    }
}

/// The last lines.
pub fn summary(measured: &[Measured]) -> String {
    let lines = |is_one: &dyn Fn(&Measured) -> bool| -> Vec<String> {
        measured.iter().filter(|it| is_one(it)).map(|it| format!("  {}\n", it.line())).collect()
    };
    let failed = lines(&|it| !it.passes());
    let passed = measured.len() - failed.len();
    let mut text = format!("\n{passed} of {} tests pass with Lockwright.\n", measured.len());
    if !failed.is_empty() {
        text += &format!("These fail:\n{}", failed.concat());
    }
    if let Some((library, _)) = measured.first().and_then(|it| it.theirs.as_ref()) {
        let (long, slow) = (lines(&Measured::is_long).len(), lines(&Measured::is_slow));
        text += &format!("{long} take more than {} ms, ", LONG.as_millis());
        let than = format!("more than {RATIO} times {library}'s time");
        text += &match slow.len() {
            0 => format!("none of them {than}.\n"),
            count => format!("{count} of them {than}:\n{}", slow.concat()),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ours: &[u64], theirs: &[u64]) -> Measured {
        let runs = |times: &[u64]| Runs {
            times: times.iter().copied().map(Duration::from_millis).collect(),
            failures: vec![],
        };
        let theirs = Some(("parking_lot".into(), runs(theirs)));
        Measured { name: "mutex::a".into(), ours: runs(ours), theirs }
    }

    #[test]
    fn a_long_test_above_the_ratio_is_named_and_no_other() {
        for (ours, theirs, is_slow) in [
            (&[300, 130, 100][..], &[100, 100, 100][..], true),
            (&[130, 100, 100], &[100, 100, 100], false),
            (&[90, 90, 90], &[10, 10, 10], false),
            (&[100, 100, 100], &[300, 300, 300], false),
            (&[], &[100], false),
        ] {
            let test = measured(ours, theirs);
            assert_eq!(test.is_slow(), is_slow, "{ours:?} {theirs:?}");
            assert_eq!(summary(&[test]).contains("mutex::a: "), is_slow);
        }
    }

    #[test]
    fn a_line_has_the_verdicts_the_medians_and_the_ratio() {
        let mut test = measured(&[150, 100], &[100]);
        let slow = "mutex::a: passed   150 ms, parking_lot passed   100 ms, ratio 1.50 slow";
        assert_eq!(test.line(), slow);
        test.ours.failures.push("why".into());
        assert!(test.line().starts_with("mutex::a: FAILED 1 of 3   150 ms, "));
        let text = summary(&[test]);
        assert!(text.contains("0 of 1 tests pass") && text.contains("These fail:\n  mutex::a"));
    }

    #[test]
    fn a_test_that_fails_or_hangs_in_one_of_its_runs_is_not_passed() {
        let mut measured = Measured { theirs: None, ..measured(&[], &[]) };
        let mut run = |script: &str, limit| {
            let mut command = Command::new("sh");
            measured.ours.add(command.args(["-c", script]), limit).expect("it runs");
            measured.passes()
        };
        assert!(run("exit 0", TIME_MAX));
        assert!(!run("echo why; exit 101", TIME_MAX));
        assert!(!run("exit 0", TIME_MAX));
        assert!(!run("sleep 60", Duration::from_millis(100)));
        assert!(!run("echo why; kill -9 $$", TIME_MAX));
        let killed = "why\nit was ended by a signal: 9 (SIGKILL)\n";
        let why = ["why\n", "it was still running after 0.1 s", killed];
        assert_eq!(measured.ours.failures, why);
        assert_eq!(measured.ours.times.len(), 2);
        assert_eq!(measured.line(), "mutex::a: FAILED");
    }
}

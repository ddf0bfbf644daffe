//! What is printed and written.

use super::checker::{Job, Said};
use super::tested::Outcome;
use lockwright_zoo::{Bug, Checker, Test};
use serde::Serialize;

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// In each of its locks, by each checker that must see it.
    Killed,
    /// Not in all of them.
    Survived,
    /// The test that must see it does not run on this machine.
    #[serde(rename = "NOT RUN")]
    NotRun,
}

/// A check, and what it said.
#[derive(Clone, Debug, Serialize)]
pub struct CheckReport {
    checker: &'static str,
    lock: String,
    client: String,
    on: String,
    /// If it found something: how to find it again.
    #[serde(flatten)]
    found: Option<Origin>,
    executions: u64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    complaint: Option<String>,
}

/// Where a schedule comes from.
#[derive(Clone, Debug, Default, Serialize)]
struct Origin {
    seed: Option<u64>,
    schedule: Option<String>,
}

/// Where a test runs.
fn place(test: Test) -> &'static str {
    if test.checker == Checker::Native { "this machine" } else { "simulated" }
}

/// True if a checker is a test.
fn is_a_test(checker: &str) -> bool {
    [Checker::Native, Checker::Explored].iter().any(|it| it.name() == checker)
}

/// One bug.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The bug.
    pub row: &'static str,
    what: &'static str,
    source: &'static str,
    locks: &'static [&'static str],
    /// What became of it.
    pub verdict: Verdict,
    kills: Vec<CheckReport>,
    survived: Vec<CheckReport>,
}

/// The result of a run.
#[derive(Debug, Serialize)]
pub struct Document {
    schema: &'static str,
    bounds: &'static str,
    /// The bugs.
    pub rows: Vec<Row>,
    /// The real code, in the same checks.
    pub clean: Vec<CheckReport>,
    /// What should have passed and did not.
    pub reported: Vec<CheckReport>,
    seconds: f64,
}

impl Row {
    /// What the jobs of `bug` came to.
    pub fn new(bug: &Bug, said: &[(Job, Vec<Said>)]) -> Self {
        let is_seen = |(_, said): &(Job, Vec<Said>)| said.iter().any(|it| it.violated);
        let is_killed = !said.is_empty() && said.iter().all(is_seen);
        let (kills, survived) = CheckReport::of_all(said);
        let Bug { row, what, source, locks, .. } = *bug;
        let verdict = if is_killed { Verdict::Killed } else { Verdict::Survived };
        Self { row, what, source, locks, verdict, kills, survived }
    }

    /// What the tests of `bug` said without it, and with it.
    pub fn of_tests(bug: &Bug, said: Vec<(Test, Outcome, (Outcome, f64))>) -> Self {
        let Bug { row, what, source, locks, .. } = *bug;
        let report = |test: Test, complaint: Option<String>, seconds| CheckReport {
            checker: test.checker.name(),
            lock: locks[0].into(),
            client: test.name.into(),
            on: place(test).into(),
            found: complaint.is_some().then(Origin::default),
            executions: 1,
            seconds,
            complaint,
        };
        let (mut kills, mut silent, mut has_run) = (Vec::new(), Vec::new(), false);
        for (test, without, (with, seconds)) in said {
            has_run |= !matches!(without, Outcome::NotRun(_));
            match (without, with) {
                (Outcome::Held, Outcome::Failed(complaint)) => {
                    kills.push(report(test, Some(complaint), seconds));
                }
                (Outcome::NotRun(_), Outcome::NotRun(_)) => {}
                (Outcome::Failed(complaint), _) => {
                    silent.push(report(test, Some(complaint), seconds))
                }
                _ => silent.push(report(test, None, seconds)),
            }
        }
        let verdict = match (has_run, silent.is_empty()) {
            (_, false) => Verdict::Survived,
            (true, true) => Verdict::Killed,
            (false, true) => Verdict::NotRun,
        };
        Self { row, what, source, locks, verdict, kills, survived: silent }
    }

    /// The same bug, with what other checkers said about it.
    pub fn and(mut self, other: Self) -> Self {
        self.verdict = match (self.verdict, other.verdict) {
            (Verdict::Survived, _) | (_, Verdict::Survived) => Verdict::Survived,
            (Verdict::NotRun, verdict) | (verdict, _) => verdict,
        };
        self.kills.extend(other.kills);
        self.survived.extend(other.survived);
        self
    }

    /// Its part of the matrix: the bug, and a line for each kill.
    pub fn text(&self) -> String {
        let Self { row, what, .. } = self;
        let verdict = match self.verdict {
            Verdict::Killed => "killed",
            Verdict::Survived => "SURVIVED",
            Verdict::NotRun => "not run: its test does not run on this machine",
        };
        let mut text = format!("bug {row}: {verdict}. {what}");
        for kill in &self.kills {
            text += &format!("\n    {}", kill.line());
        }
        if self.verdict != Verdict::Survived {
            return text;
        }
        for held in self.survived.iter().filter(|held| is_a_test(held.checker)) {
            let CheckReport { checker, client, .. } = held;
            text += &match &held.complaint {
                Some(why) => {
                    format!("\n    {checker}, {client}: fails without the bug, too: {why}")
                }
                None => {
                    format!("\n    {checker}, {client}: says the same without the bug and with it")
                }
            };
        }
        let is_silent = |lock: &&&str| !self.kills.iter().any(|kill| kill.lock == **lock);
        for lock in self.locks.iter().filter(is_silent) {
            text += &format!("\n    {lock}: no check sees it");
        }
        text
    }
}

impl CheckReport {
    /// What the checks of some jobs found, and those that found nothing.
    fn of_all(said: &[(Job, Vec<Said>)]) -> (Vec<Self>, Vec<Self>) {
        let said = said.iter().flat_map(|(job, said)| said.iter().map(|it| (job.checker, it)));
        let (violated, held): (Vec<_>, Vec<_>) = said.partition(|(_, it)| it.violated);
        let reports = |said: Vec<(Checker, &Said)>| said.into_iter().map(Self::of).collect();
        (reports(violated), reports(held))
    }
    fn of((checker, said): (Checker, &Said)) -> Self {
        let Said { seed, executions, seconds, violated, .. } = *said;
        Self {
            checker: checker.name(),
            lock: said.lock.clone(),
            client: said.client.clone(),
            on: said.on.clone(),
            found: violated.then(|| Origin { seed, schedule: said.schedule.clone() }),
            executions,
            seconds,
            complaint: violated.then(|| said.complaint.clone().unwrap_or_default()),
        }
    }

    /// One line of the matrix. Schedules are long, and in the document.
    pub fn line(&self) -> String {
        let Self { checker, lock, client, on, executions, seconds, .. } = self;
        let complaint = self.complaint.as_deref().unwrap_or_default();
        let complaint = complaint.lines().next().unwrap_or_default();
        let seed = self.found.as_ref().and_then(|found| found.seed);
        let seed = seed.map_or(String::new(), |seed| format!(", seed {seed}"));
        format!(
            "{lock} by {checker}, {client} ({on}){seed}: \
             {executions} tried, {seconds:.2} s: {complaint}"
        )
    }
}

impl Document {
    /// The result of a run.
    pub fn new(is_full: bool, rows: Vec<Row>, clean: Vec<(Job, Vec<Said>)>, seconds: f64) -> Self {
        let (reported, clean) = CheckReport::of_all(&clean);
        let bounds = if is_full { "full" } else { "quick" };
        Self { schema: "lockwright.zoo/1", bounds, rows, clean, reported, seconds }
    }
    /// True if every bug is killed and the correct code passes the checks that killed it.
    pub fn is_green(&self) -> bool {
        let is_seen = |row: &Row| row.verdict != Verdict::Survived;
        let is_native = |row: &Row| row.kills.iter().all(|kill| is_a_test(kill.checker));
        // The right code has been through the checks that found something, or through the tests.
        let is_compared =
            !self.clean.is_empty() || !self.rows.is_empty() && self.rows.iter().all(is_native);
        self.reported.is_empty() && is_compared && self.rows.iter().all(is_seen)
    }
    /// True if `bug` is killed, and only with the bug.
    pub fn is_killed(&self, bug: &Bug) -> bool {
        let is_killed = |row: &Row| row.row == bug.row && row.verdict == Verdict::Killed;
        self.reported.is_empty() && self.rows.iter().any(is_killed)
    }
    /// One line.
    pub fn summary(&self) -> String {
        let survived = self.rows.iter().filter(|row| row.verdict == Verdict::Survived).count();
        format!(
            "zoo: {} bug{}, {} survived; the correct code passes {} check{} and fails {}; {:.0} s",
            self.rows.len(),
            if self.rows.len() == 1 { "" } else { "s" },
            survived,
            self.clean.len(),
            if self.clean.len() == 1 { "" } else { "s" },
            self.reported.len(),
            self.seconds
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_fails_without_the_bug_survives_and_says_why() {
        let bug = Bug::of_row("17").expect("a bug with a test");
        let late = || Outcome::Failed("the test was still running after 60 s".into());
        let text =
            |without, with| Row::of_tests(bug, vec![(bug.tests[0], without, (with, 0.1))]).text();
        let both = text(late(), late());
        assert!(
            both.contains("SURVIVED") && both.contains("fails without the bug, too: the test was"),
            "{both}"
        );
        let neither = text(Outcome::Held, Outcome::Held);
        assert!(neither.contains("SURVIVED") && neither.contains("says the same"), "{neither}");
        assert!(text(Outcome::Held, late()).contains("killed"));
    }
}

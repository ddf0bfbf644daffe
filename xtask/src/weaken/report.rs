//! What is printed and written.

use super::run::{Check, Findings, Kill};
use super::scan::Site;
use super::survivors::Survivor;
use super::table::Checker;
use serde::Serialize;
use std::time::Duration;

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// A check saw the difference.
    Killed,
    /// No check did, and there is an argument why.
    Argued,
    /// No check did.
    Survived,
    /// Its checker was not asked for, or is missing.
    NotRun,
}

/// One mutant.
#[derive(Clone, Debug, Serialize)]
pub struct MutantReport {
    /// `file:line`.
    site: String,
    code: String,
    ids: Vec<String>,
    from: String,
    /// What it becomes; empty if it is removed.
    pub to: String,
    locks: Vec<String>,
    checker: &'static str,
    /// What became of it.
    pub verdict: Verdict,
    kills: Vec<Kill>,
    held: Vec<Check>,
    notes: Vec<String>,
    argument: Option<String>,
    bound: Option<String>,
    seconds: f64,
}

/// The result of a run.
#[derive(Debug, Serialize)]
pub struct Document {
    pub schema: &'static str,
    pub bounds: &'static str,
    /// How many sites there are, and how many a plain text search finds.
    pub sites: usize,
    pub text_search: usize,
    pub mutants: Vec<MutantReport>,
}

impl MutantReport {
    /// The mutant of `site` that makes it `to`.
    pub fn new(
        site: &Site,
        to: &str,
        checker: Checker,
        verdict: Verdict,
        findings: Findings,
        argued: Option<&Survivor>,
        took: Duration,
    ) -> Self {
        let (checker, locks) = match checker {
            Checker::Loom(locks) => ("loom", locks.iter().map(ToString::to_string).collect()),
            Checker::Miri(_) => ("miri", vec!["native".to_string()]),
            Checker::Nobody => ("none", Vec::new()),
        };
        let Findings { kills, held, notes } = findings;
        Self {
            site: site.place(),
            code: site.code.clone(),
            ids: site.ids.clone(),
            from: site.now().to_string(),
            to: to.to_string(),
            locks,
            checker,
            verdict,
            kills,
            held,
            notes,
            argument: argued.map(|it| it.argument.clone()),
            bound: argued.map(|it| it.bound.clone()),
            seconds: took.as_secs_f64(),
        }
    }

    /// True if this is about the mutant of `site` that makes it `to`.
    pub fn is(&self, site: &Site, to: &str) -> bool {
        self.site == site.place() && self.from == site.now() && self.to == to
    }

    /// One line, and more where a reader has something to do.
    pub fn line(&self) -> String {
        let Self { site, from, seconds, .. } = self;
        let (to, ids) = (self.shown_to(), self.ids.join(" "));
        let head = format!("{seconds:6.1} s  {site} {ids} {from} -> {to}:");
        let mut line = match self.verdict {
            Verdict::Killed => {
                let kills: Vec<_> = self.kills.iter().map(shown_kill).collect();
                format!("{head} killed by {}", kills.join("; "))
            }
            Verdict::Argued => format!("{head} survives as argued"),
            Verdict::Survived => {
                let held = self.held.len();
                format!("{head} SURVIVED {held} checks\n           {}", self.code)
            }
            Verdict::NotRun => format!("{head} not run"),
        };
        for note in &self.notes {
            line += &format!("\n           note: {note}");
        }
        line
    }

    fn shown_to(&self) -> &str {
        if self.to.is_empty() { "removed" } else { &self.to }
    }
}

fn shown_kill(kill: &Kill) -> String {
    let what = kill.complaint.lines().next().unwrap_or_default();
    let what: String = what.chars().take(70).collect();
    format!("{}: {what}", kill.check)
}

impl Document {
    fn count(&self, verdict: Verdict) -> usize {
        self.mutants.iter().filter(|mutant| mutant.verdict == verdict).count()
    }
    /// One line.
    pub fn summary(&self) -> String {
        let count = |verdict| self.count(verdict);
        format!(
            "weaken: {} mutants, {} killed, {} argued, {} not run, {} SURVIVED",
            self.mutants.len(),
            count(Verdict::Killed),
            count(Verdict::Argued),
            count(Verdict::NotRun),
            count(Verdict::Survived)
        )
    }
    /// True if nothing survives without an argument, and, with `needs_all`, if every mutant was run.
    pub fn is_green(&self, needs_all: bool) -> bool {
        self.count(Verdict::Survived) == 0 && !(needs_all && self.count(Verdict::NotRun) > 0)
    }
}

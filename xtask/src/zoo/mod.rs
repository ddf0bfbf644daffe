//! `cargo xtask zoo`: do the checkers find the bugs that people made?
//!
//! Each bug of the zoo is seeded in each lock that can have it, and each checker that must see it is
//! run. Then the right code goes through every check that found something: a check that complains
//! about right code, too, has found nothing.

mod checker;
mod docs;
mod edited;
mod report;

use crate::commands::not_an_option;
use crate::edits::{EDITED, Edited};
use crate::output::{self, Place, say};
use crate::workers::on_all;
use checker::{How, Job, Said};
use lockwright::registry::{LOCKS, LockClass};
use lockwright::zoo::{Bug, Checker, Entry};
use report::{Document, Kill, Row};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// As they stand in the help.
pub const OPTIONS: &str = "[--only BUG] [--json FILE|-] [--matrix] [--full] | --docs";

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The row.
    only: Option<&'static str>,
    json: Place,
    /// All checks of each row, and not only up to the first kill.
    matrix: bool,
    /// Wider bounds.
    full: bool,
    /// Write the document about the zoo instead.
    docs: bool,
}

impl Request {
    /// Reads the arguments behind `zoo`.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        let mut request = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = |such_as: &str| {
                let none = || format!("`{argument}` needs a value, such as `{such_as}`");
                arguments.next().ok_or_else(none)
            };
            match *argument {
                "--only" => {
                    let row = value("--only 9")?;
                    let found = rows().find(|known| known == row);
                    let all = || rows().collect::<Vec<_>>().join(", ");
                    let none =
                        || format!("`{row}` is not a bug of the zoo; the bugs are {}", all());
                    request.only = Some(found.ok_or_else(none)?);
                }
                "--json" => request.json = Some(value("--json FILE")?.to_string()),
                "--matrix" => request.matrix = true,
                "--full" => request.full = true,
                "--docs" => request.docs = true,
                other => return Err(not_an_option(other, OPTIONS)),
            }
        }
        Ok(request)
    }
    fn how(&self) -> How<'static> {
        How { all: self.matrix, full: self.full, only: None }
    }
}

/// What the checks of some jobs said.
type Results = Vec<(Job, Vec<Said>)>;

/// Does what is asked for. Returns true if every bug is killed and the correct code is not.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    if request.docs {
        let path = root.join(docs::FILE);
        std::fs::write(path, docs::text()).map_err(|error| format!("{}: {error}", docs::FILE))?;
        return Ok(true);
    }
    let folder = build(root)?;
    let start = Instant::now();
    let bugs: Vec<Bug> = Bug::ALL.iter().copied().filter(|bug| wants(request, *bug)).collect();
    let edited: Vec<&Edited> = EDITED.iter().filter(|it| wants_row(request, it.row)).collect();
    let of_edits = run_edited(root, &edited, request)?;
    let seen = on_all(&bugs, |bug| {
        let said = jobs_of(*bug).map(|job| Ok((job, job.run(&folder, request.how())?)));
        let said = said.collect::<Result<Results, String>>()?;
        say(&request.json, &Row::new(*bug, &said).text());
        Ok(said)
    })?;
    let mut rows: Vec<_> = bugs.iter().zip(&seen).map(|(bug, said)| Row::new(*bug, said)).collect();
    let clean = clean(&folder, request, &seen)?;
    let seconds = start.elapsed().as_secs_f64();
    rows.extend(of_edits);
    let document = Document::new(request.full, rows, clean, seconds);
    for kill in &document.reported {
        say(&request.json, &format!("a check fails on the correct code: {}", Kill::line(kill)));
    }
    say(&request.json, &document.summary());
    output::write(&request.json, &document)?;
    Ok(document.is_green())
}

fn wants(request: &Request, bug: Bug) -> bool {
    wants_row(request, bug.row())
}
fn wants_row(request: &Request, row: &str) -> bool {
    request.only.is_none_or(|only| only == row)
}

/// All rows, those that are edits last.
pub fn rows() -> impl Iterator<Item = &'static str> {
    Entry::all().map(|entry| entry.row)
}

/// Runs the tests of bugs that are edits, with the bug and without.
fn run_edited(root: &Path, edited: &[&Edited], request: &Request) -> Result<Vec<Row>, String> {
    if edited.is_empty() {
        return Ok(Vec::new());
    }
    let tests = edited::Tests::build(root, edited)?;
    // One at a time: two would be in each other's way on a machine with few CPUs.
    let run = |bug: &&Edited| {
        let said = bug.tests.iter().map(|test| {
            let (without, _) = tests.run(*test, None)?;
            Ok((*test, without, tests.run(*test, Some(bug))?))
        });
        let row = Row::edited(bug, said.collect::<Result<_, String>>()?);
        say(&request.json, &row.text());
        Ok(row)
    };
    edited.iter().map(run).collect()
}

/// A job for each lock that can have `bug` and each checker that must see it.
fn jobs_of(bug: Bug) -> impl Iterator<Item = Job> {
    let asked = Checker::OF_SEEDED.into_iter();
    asked.filter(move |&checker| checker::must_see(checker, bug)).flat_map(move |checker| {
        let asked = bug.locks().iter();
        let asked = asked.filter(move |lock| checker::is_asked_in(checker, bug, lock));
        asked.map(move |lock| Job { bug: Some(bug), lock, checker })
    })
}

/// The right code in every check that has complained, once each.
fn clean(folder: &Path, request: &Request, seen: &[Results]) -> Result<Results, String> {
    let mut known = BTreeSet::new();
    let mut checks = Vec::new();
    for (job, said) in seen.iter().flatten() {
        let is_wanted = |said: &&Said| said.violated || request.matrix;
        for said in said.iter().filter(is_wanted) {
            let name = (job.checker.name(), &said.lock, &said.client, &said.on);
            if known.insert(name) {
                checks.push((Job { bug: None, ..*job }, said));
            }
        }
    }
    let mut clean = on_all(&checks, |(job, check)| {
        let how = How { all: true, only: Some(check), ..request.how() };
        Ok((*job, job.run(folder, how)?))
    })?;
    if request.matrix {
        // Variants of a lock that no row names.
        let is_known = |lock: &str| checks.iter().any(|(_, check)| check.lock == lock);
        let right = LOCKS.iter().filter(|row| row.class != LockClass::Busted);
        let others: Vec<_> = right.map(|row| row.name).filter(|lock| !is_known(lock)).collect();
        clean.extend(on_all(&others, |lock| {
            let job = Job { bug: None, lock, checker: Checker::Loom };
            Ok((job, job.run(folder, How { all: true, ..request.how() })?))
        })?);
    }
    Ok(clean)
}

/// What keeps cargo from telling what it compiles, unless a person watches.
fn hush() -> Option<&'static str> {
    (!std::io::stderr().is_terminal()).then_some("--quiet")
}

/// Builds the programs of all checkers; the folder they are in.
fn build(root: &Path) -> Result<PathBuf, String> {
    // Packages that are built one by one are built with other features than the tests, and twice.
    eprintln!("building the checkers; this can take ten minutes if they are not built yet");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--workspace", "--bins", "--examples"]).current_dir(root);
    cargo.args(hush());
    let status = cargo.status().map_err(|error| format!("cargo cannot run: {error}"))?;
    if !status.success() {
        return Err("the programs of the checkers do not build".to_string());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    Ok(root.join(target).join("debug"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let request = Request::of(&["--only", "31a", "--matrix"]).expect("a request");
        assert_eq!(request.only, Some("31a"));
        assert!(request.matrix);
    }

    #[test]
    fn a_row_that_one_of_its_locks_hides_survives() {
        let bug = Bug::of_row("48").expect("a row");
        let said = |violated| Said {
            lock: "cna".into(),
            client: "exclusion".into(),
            on: "flat".into(),
            violated,
            complaint: violated.then(|| "stuck".into()),
            executions: 1,
            seconds: 0.0,
            seed: None,
            schedule: None,
        };
        let results = |violated: &[bool]| -> Results {
            jobs_of(bug).zip(violated).map(|(job, it)| (job, vec![said(*it)])).collect()
        };
        assert_eq!(Row::new(bug, &results(&[true, true])).verdict, report::Verdict::Killed);
        assert_eq!(Row::new(bug, &results(&[true, false])).verdict, report::Verdict::Survived);
        assert_eq!(Row::new(bug, &[]).verdict, report::Verdict::Survived);
        let clean = |violated| Document::new(false, Vec::new(), results(&[violated]), 0.0);
        assert!(clean(false).is_green());
        assert!(!clean(true).is_green());
        assert!(!Document::new(false, Vec::new(), Vec::new(), 0.0).is_green());
    }
}

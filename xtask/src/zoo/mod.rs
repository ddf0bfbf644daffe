//! `cargo xtask zoo`: do the checkers find the bugs that people made?
//!
//! A copy of the crates has all bugs behind a switch. Each bug is seeded in each lock that can have it, and each
//! checker that must see it is run. Then the correct code goes through every check that found something: a check that
//! complains about correct code, too, has found nothing.

mod checker;
mod report;
mod tested;

use crate::options::not_an_option;
use crate::output::{self, Place, say};
use crate::packages::SOURCES;
use crate::record::{self, Item, Record};
use crate::tidy::{Source, files};
use crate::weaken;
use crate::workers::on_all;
use checker::{How, Job, Said};
use lockwright_catalog::registry::{LOCKS, LockClass};
use lockwright_zoo::{Bug, Checker};
use report::{Document, Row};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// As they stand in the help.
pub const OPTIONS: &str = "[--only BUG] [--json FILE|-] [--matrix] [--full] [--changed]";

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
    /// Only bugs that are due by the record, which is not written.
    changed: bool,
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
                    let none = || {
                        format!(
                            "`{row}` is not a bug of the zoo; `lockwright bugs` lists them; type a number such as `--only 9`"
                        )
                    };
                    request.only = Some(found.ok_or_else(none)?);
                }
                "--json" => request.json = Some(value("--json FILE")?.to_string()),
                "--matrix" => request.matrix = true,
                "--full" => request.full = true,
                record::OPTION => request.changed = true,
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
    let all = files::read_all(root);
    let record = Record::read(root, &all, request.changed)?;
    let wanted = Bug::all().filter(|bug| request.only.is_none_or(|only| only == bug.row));
    let wanted = record.due("zoo", wanted.collect(), |bug| item(bug));
    if wanted.is_empty() {
        return Ok(true);
    }
    // What shuttle takes longest to compile for, others find, too: a test says so.
    let samples = !request.changed;
    let (copy, folder) = (build(root, &all, samples)?, programs(root));
    let start = Instant::now();
    let tested: Vec<_> = wanted.iter().copied().filter(|bug| !bug.tests.is_empty()).collect();
    let has_jobs = |bug: &&'static Bug| jobs_of(bug, samples).next().is_some();
    let bugs: Vec<_> = wanted.iter().copied().filter(has_jobs).collect();
    let of_tests = run_tests(root, copy, &tested, request)?;
    let seen = on_all(&bugs, |bug| {
        let said = jobs_of(bug, samples).map(|job| Ok((job, job.run(&folder, request.how())?)));
        let said = said.collect::<Result<Results, String>>()?;
        say(&request.json, &Row::new(bug, &said).text());
        Ok(said)
    })?;
    let mut rows: Vec<_> = bugs.iter().zip(&seen).map(|(bug, said)| Row::new(bug, said)).collect();
    let clean = clean(&folder, request, &seen)?;
    let seconds = start.elapsed().as_secs_f64();
    for of_tests in of_tests {
        match rows.iter().position(|row| row.row == of_tests.row) {
            Some(at) => {
                let row = rows.remove(at);
                rows.insert(at, row.and(of_tests));
            }
            None => rows.push(of_tests),
        }
    }
    let document = Document::new(request.full, rows, clean, seconds);
    for kill in &document.reported {
        say(&request.json, &format!("a check fails on the correct code: {}", kill.line()));
    }
    say(&request.json, &document.summary());
    output::write(&request.json, &document)?;
    // Not before the correct code has passed the same checks.
    for bug in wanted.iter().filter(|_| !request.full) {
        record.write(&item(bug), document.is_killed(bug))?;
    }
    Ok(document.is_green())
}

/// What decides whether a bug is found: its locks and its checkers.
fn item(bug: &'static Bug) -> Item<'static> {
    let always = ["clients/src/", "conformance/", "../xtask/src/weaken/", "../xtask/src/zoo/"];
    let of_checkers = bug.seen.by.iter().flat_map(|checker| match checker {
        Checker::Loom | Checker::Shuttle => &["model/src/"][..],
        Checker::Explore | Checker::Fairness | Checker::Explored => &["sim/", "cells/src/"],
        Checker::Native => &["catalog/tests/"],
    });
    let of_tests = bug.tests.iter().map(|test| test.package.trim_start_matches("lockwright-"));
    let of_edits = bug.edits.iter().flat_map(|edit| SOURCES.map(|it| format!("{it}{}", edit.file)));
    let files = always.iter().chain(of_checkers).copied().chain(of_tests);
    let files = files.map(|it| format!("crates/{it}").replace("crates/../", "")).chain(of_edits);
    // A test of a package runs more than the locks of the bug.
    let locks = bug.tests.is_empty().then(|| bug.locks.to_vec());
    let (name, text) = (format!("bug {}", bug.row), format!("{bug:?}"));
    Item { name, locks, files: files.collect(), text }
}

/// The rows of all bugs.
pub fn rows() -> impl Iterator<Item = &'static str> {
    Bug::sorted().into_iter().map(|bug| bug.row)
}

/// Runs the tests that must see some bugs, with the bug and without.
fn run_tests(
    root: &Path,
    copy: PathBuf,
    bugs: &[&'static Bug],
    request: &Request,
) -> Result<Vec<Row>, String> {
    if bugs.is_empty() {
        return Ok(Vec::new());
    }
    let tests = tested::Tests::build(copy, weaken::target_of(root), bugs)?;
    // One at a time: two would be in each other's way on a machine with few CPUs.
    let run = |bug: &&'static Bug| {
        let said = bug.tests.iter().map(|test| {
            let (without, _) = tests.run(*test, None)?;
            Ok((*test, without, tests.run(*test, Some(bug))?))
        });
        let row = Row::of_tests(bug, said.collect::<Result<_, String>>()?);
        say(&request.json, &row.text());
        Ok(row)
    };
    bugs.iter().map(run).collect()
}

/// A job for each lock that can have `bug` and each checker that must see it, shuttle among them if `samples`.
fn jobs_of(bug: &'static Bug, samples: bool) -> impl Iterator<Item = Job> {
    let asked = Checker::OF_SEEDED.into_iter().filter(move |it| samples || *it != Checker::Shuttle);
    asked.filter(move |&checker| checker::must_see(checker, bug)).flat_map(move |checker| {
        let asked = bug.locks.iter();
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

/// Where the programs of the copy's build are.
fn programs(root: &Path) -> PathBuf {
    weaken::target_of(root).join("debug")
}

/// Builds the programs of all checkers, that of shuttle if `samples`. Returns the folder of the copy.
fn build(root: &Path, all: &[Source], samples: bool) -> Result<PathBuf, String> {
    eprintln!(
        "building a copy of the locks with all bugs, and its checkers; this can take ten minutes if it is not built yet"
    );
    let features: &[&str] = if samples { &["--features", "lockwright-model/samples"] } else { &[] };
    weaken::build_copy(root, all, &weaken::sites(all)?, features)
}

/// Runs `lockwright explore` where the locks have a bug. The arguments are its own, `--bug` among them.
pub fn explore(root: &Path, given: &[&str]) -> Result<u8, String> {
    let row = given.iter().position(|it| *it == "--bug").and_then(|at| given.get(at + 1).copied());
    let row = row.or_else(|| given.iter().find_map(|it| it.strip_prefix("--bug=")));
    let bug = row.and_then(Bug::called);
    let bug = bug.ok_or("name a bug, such as `--bug 45`; `lockwright bugs` lists all")?;
    build(root, &files::read_all(root), false)?;
    let mut command = Command::new(programs(root).join(weaken::copy::LAB));
    command.arg("explore").args(given).env(weaken::copy::VARIABLE, bug.choice());
    let status = command.status().map_err(|error| format!("explore cannot run: {error}"))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_zoo::fault_of;

    #[test]
    fn options_are_read() {
        let request = Request::of(&["--only", "31a", "--matrix"]).expect("a request");
        assert_eq!(request.only, Some("31a"));
        assert!(request.matrix);
    }

    #[test]
    fn a_row_that_one_of_its_locks_hides_survives() {
        let bug = Bug::of_row("48").expect("a bug");
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
            jobs_of(bug, true).zip(violated).map(|(job, it)| (job, vec![said(*it)])).collect()
        };
        assert_eq!(Row::new(bug, &results(&[true, true])).verdict, report::Verdict::Killed);
        assert_eq!(Row::new(bug, &results(&[true, false])).verdict, report::Verdict::Survived);
        assert_eq!(Row::new(bug, &[]).verdict, report::Verdict::Survived);
        let clean = |violated| Document::new(false, Vec::new(), results(&[violated]), 0.0);
        assert!(clean(false).is_green());
        assert!(!clean(true).is_green());
        assert!(!Document::new(false, Vec::new(), Vec::new(), 0.0).is_green());
    }

    #[test]
    fn every_bug_has_a_row_of_its_own_a_lock_an_edit_and_a_checker_that_must_see_it() {
        let all: Vec<&Bug> = Bug::all().collect();
        for (number, bug) in all.iter().enumerate() {
            let is_once =
                |same: fn(&Bug) -> &str| all.iter().filter(|it| same(it) == same(bug)).count() == 1;
            assert!(is_once(|it| it.row) && is_once(|it| it.name), "{bug:?}");
            let words = [bug.source, bug.what, bug.headline()];
            assert!(!bug.locks.is_empty() && words.iter().all(|it| !it.is_empty()), "{bug:?}");
            assert!(!bug.seen.by.is_empty() && !bug.edits.is_empty(), "{bug:?}");
            let is_hidden = bug.seen.kind.hides_from_explore().is_some();
            assert!(!is_hidden || !bug.seen.by.contains(&Checker::Explore), "{bug:?}");
            assert_eq!((bug.number(), Bug::of_row(bug.row)), (number, Some(*bug)));
        }
    }

    #[test]
    fn a_bug_that_shuttle_must_see_is_looked_for_without_it_in_every_lock() {
        let locks = |bug, samples| jobs_of(bug, samples).map(|it| it.lock).collect::<BTreeSet<_>>();
        for bug in Bug::all() {
            assert_eq!(locks(bug, true), locks(bug, false), "{bug:?}");
        }
    }

    #[test]
    fn every_bug_that_tests_must_see_has_them_and_every_program_of_a_lock_is_one_of_it() {
        for bug in Bug::all() {
            for checker in bug.seen.by.iter().filter(|it| !Checker::OF_SEEDED.contains(it)) {
                assert!(bug.tests.iter().any(|test| test.checker == *checker), "{bug:?}");
            }
            assert!(bug.shown_by.iter().all(|(lock, _)| bug.is_in(lock)), "{bug:?}");
        }
    }

    #[test]
    fn every_lock_that_is_broken_on_purpose_says_what_is_wrong_with_it() {
        for row in LOCKS {
            let is_broken = row.class == LockClass::Busted;
            assert_eq!(fault_of(row.name).is_some(), is_broken, "{}", row.name);
        }
    }
}

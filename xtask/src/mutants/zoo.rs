//! `cargo xtask zoo`: do the checkers find the bugs that people made?
//!
//! Each bug is seeded in each lock that can have it, and each checker that must see it is run. The correct code goes
//! through every check that found something: a check that complains about correct code, too, has found nothing.

use super::check::Check;
use super::copy::{Built, LAB, VARIABLE};
use super::engine::{self, Mutant, Options, Verdict};
use super::explored;
use crate::output::{self, say};
use crate::packages::SOURCES;
use crate::record::Item;
use crate::tidy::files;
use lockwright_catalog::registry::{LOCKS, LockClass};
use lockwright_zoo::{Bug, BugKind, Checker, locks};
use serde_json::json;
use std::path::Path;
use std::process::Command;

/// Seed each bug of the zoo in the locks, and see if it is found.
///
/// One at a time, and each checker has to find it. `lockwright bugs` lists them.
#[derive(clap::Args)]
pub struct Request {
    /// Seed this bug only, such as 9.
    #[arg(long, value_name = "BUG", value_parser = known)]
    only: Option<String>,
    #[command(flatten)]
    options: Options,
}

/// Reads the row of a bug.
fn known(row: &str) -> Result<String, String> {
    match rows().any(|known| known == row) {
        true => Ok(row.into()),
        false => Err("`lockwright bugs` lists them; type a number such as `--only 9`".into()),
    }
}

/// The rows of all bugs.
pub fn rows() -> impl Iterator<Item = &'static str> {
    Bug::sorted().into_iter().map(|bug| bug.row)
}

/// Seeds what is asked for. Returns true if every bug is killed and the correct code is not.
///
/// # Errors
/// A sentence that says what cannot be done.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let (all, options) = (files::read_all(root), &request.options);
    let wanted = Bug::all().filter(|bug| request.only.as_ref().is_none_or(|only| only == bug.row));
    let mutants = wanted.map(|bug| mutant(bug, options.matrix)).collect();
    // Variants of a lock that no row names, too.
    let right = LOCKS.iter().filter(|row| row.class != LockClass::Busted);
    let others = right.map(|row| Check::new(Checker::Loom, row.name, "")).collect();
    let outcome = engine::run(root, ("zoo", &all), mutants, others, options)?;
    let Some(outcome) = outcome else { return Ok(true) };
    let survived = outcome.count(Verdict::Survived);
    let (reported, clean): (Vec<_>, Vec<_>) = outcome.clean.iter().partition(|it| it.violated);
    for said in &reported {
        say(&options.json, &format!("a check fails on the correct code: {}", said.line()));
    }
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let summary = format!(
        "zoo: {} bug{}, {survived} survived; the correct code passes {} check{} and fails {}; {:.0} s",
        outcome.judged.len(),
        plural(outcome.judged.len()),
        clean.len(),
        plural(clean.len()),
        reported.len(),
        outcome.seconds
    );
    say(&options.json, &summary);
    let document = json!({
        "schema": "lockwright.zoo/1", "bounds": options.bounds(), "rows": outcome.reports("survived"),
        "clean": clean, "reported": reported, "seconds": outcome.seconds,
    });
    output::write(&options.json, &document)?;
    Ok(survived == 0 && reported.is_empty())
}

/// A bug, with a group of checks for each checker that must see it in each of its locks, and for each of its tests.
fn mutant(bug: &'static Bug, matrix: bool) -> Mutant<'static> {
    let Bug { row, what, source, locks, .. } = *bug;
    let asked = Checker::OF_SEEDED.into_iter().filter(|checker| bug.seen.by.contains(checker));
    let of_locks = asked.flat_map(|checker| {
        let locks = locks.iter().filter(move |lock| is_asked_in(checker, bug, lock));
        locks.map(move |lock| match (checker, bug.shown_by(lock).filter(|_| !matrix)) {
            (Checker::Explore, Some(client)) => vec![Check::new(checker, lock, client)],
            (Checker::Explore, None) => {
                explored::clients(lock).map(|client| Check::new(checker, lock, client)).collect()
            }
            _ => vec![Check::new(checker, lock, "")],
        })
    });
    let of_tests = bug.tests.iter().map(|test| vec![Check::of_test(*test, locks[0])]);
    Mutant {
        item: item(bug),
        title: format!("bug {row}"),
        what: what.into(),
        facts: json!({ "row": row, "what": what, "source": source, "locks": locks }),
        number: bug.number(),
        groups: of_locks.chain(of_tests).collect(),
        argument: None,
    }
}

/// True if `checker`, which must see `bug`, is asked in `lock`, too: a bounded hybrid seldom sleeps in a schedule that
/// was not chosen for it, and loom's clients have few threads.
fn is_asked_in(checker: Checker, bug: &Bug, lock: &str) -> bool {
    match checker {
        Checker::Explore if bug.seen.kind == BugKind::Sleeping => {
            !locks::SELDOM_SLEEPING.contains(&lock)
        }
        Checker::Loom => !locks::HIDDEN_FROM_LOOM.contains(&(bug.row, lock)),
        _ => true,
    }
}

/// Where the checkers of a bug are.
fn checkers_of(bug: &'static Bug) -> impl Iterator<Item = String> {
    let always = ["clients/src/", "conformance/", "../xtask/src/mutants/"];
    let of_checkers = bug.seen.by.iter().flat_map(|checker| match checker {
        Checker::Loom | Checker::Miri => &["model/src/"][..],
        Checker::Explore => &["sim/", "measure/src/client.rs", "lab/src/commands/explore/"],
        Checker::Fairness | Checker::Explored => &["sim/"],
        Checker::Native => &["catalog/tests/"],
    });
    let of_tests = bug.tests.iter().map(|test| test.package.trim_start_matches("lockwright-"));
    let files = always.into_iter().chain(of_checkers.copied()).chain(of_tests);
    files.map(|it| format!("crates/{it}").replace("crates/../", ""))
}

/// What decides whether a bug is found: its locks and its checkers.
fn item(bug: &'static Bug) -> Item<'static> {
    let of_edits =
        bug.edits.iter().flat_map(|edit| SOURCES.map(|folder| format!("{folder}{}", edit.file)));
    let files = checkers_of(bug).chain(of_edits);
    // A test of a package runs more than the locks of the bug.
    let locks = bug.tests.is_empty().then(|| bug.locks.to_vec());
    let (name, text) = (format!("bug {}", bug.row), format!("{bug:?}"));
    Item { name, locks, files: files.collect(), text }
}

/// Runs `lockwright explore` where the locks have a bug. The arguments are its own, `--bug` among them.
///
/// # Errors
/// A sentence that says what cannot be done.
pub fn explore(root: &Path, given: &[String]) -> Result<i32, String> {
    let row = given.iter().position(|it| it == "--bug").and_then(|at| given.get(at + 1));
    let row = row.map(String::as_str);
    let row = row.or_else(|| given.iter().find_map(|it| it.strip_prefix("--bug=")));
    let bug = row.and_then(Bug::called);
    let bug = bug.ok_or("name a bug, such as `--bug 45`; `lockwright bugs` lists all")?;
    let copy = Built::build(root, &files::read_all(root))?;
    let mut command = Command::new(copy.program(LAB));
    command.arg("explore").args(given).env(VARIABLE, bug.number().to_string());
    let status = command.status().map_err(|error| format!("explore cannot run: {error}"))?;
    Ok(status.code().unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_zoo::fault_of;

    #[test]
    fn a_bug_without_tests_is_looked_for_in_each_of_its_locks() {
        for bug in Bug::all().filter(|bug| bug.tests.is_empty()) {
            let checks = mutant(bug, false).groups.concat();
            let is_asked = |lock: &&str| checks.iter().any(|check| check.lock == *lock);
            assert!(bug.locks.iter().all(is_asked), "{bug:?}");
        }
    }

    #[test]
    fn what_decides_whether_a_bug_is_found_is_there() {
        let all = files::read_all(&crate::root());
        for begin in Bug::all().flat_map(checkers_of) {
            let is_there = all.iter().any(|source| source.path.starts_with(&begin));
            assert!(is_there, "no file is at {begin}");
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

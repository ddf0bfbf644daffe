//! `cargo xtask quick`: what a change usually breaks, in two minutes.

use crate::packages::{SOURCES, below_sources};
use crate::record::{Record, Sources};
use crate::stage::{Stage, Step, run_all};
use crate::tidy::{Source, files};
use crate::{root, rows, tidy};
use lockwright_catalog::registry::{self, LOCKS, LockClass};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// As they stand in the help.
pub const OPTIONS: &str = "[FILE | LOCK]...";

/// What has changed.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    files: Vec<String>,
    locks: Vec<&'static str>,
}

impl Request {
    /// Reads the arguments behind `quick`. Without any, the files count that differ from the last commit or, if there
    /// are none, those of the last commit.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        let (mut files, mut locks) = (Vec::new(), Vec::new());
        for argument in arguments {
            let path = argument.trim_start_matches("./");
            // From the root of the repository, or below the sources of a package with locks.
            let mut paths = [""].into_iter().chain(SOURCES).map(|folder| format!("{folder}{path}"));
            match (registry::find(argument), paths.find(|it| root().join(it).is_file())) {
                (Some(row), _) => locks.push(row.name),
                (None, Some(file)) => files.push(file),
                (None, None) => {
                    return Err(format!(
                        "`{argument}` is neither a file nor a lock; name one, such as `mutex` or `crates/linux/src/ticket.rs`"
                    ));
                }
            }
        }
        if arguments.is_empty() {
            files = changed(&["diff", "--name-only", "HEAD"])?;
            files.extend(changed(&["ls-files", "--others", "--exclude-standard"])?);
            if files.is_empty() {
                files = changed(&["diff", "--name-only", "HEAD~1", "HEAD"])?;
            }
        }
        Ok(Self { files, locks })
    }
}

fn changed(arguments: &[&str]) -> Result<Vec<String>, String> {
    let output = Command::new("git").args(arguments).current_dir(root()).output();
    let output =
        output.map_err(|error| format!("git cannot be asked what has changed: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect())
}

/// Runs what the change can break. Returns true if nothing is red.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let all = files::read_all(root);
    let locks = touched(request, &Sources::of(root, &all)?);
    let packages = packages(request, &all);
    let mut stages = vec![
        Stage::command("fmt", 60, &["cargo", "fmt", "--all", "--check"]),
        Stage::new("tidy", 60, Step::Call(|| tidy::run(&crate::root(), true))),
    ];
    for package in &packages {
        let of = if package == TESTS_PACKAGE { &["--features", "std"][..] } else { &[] };
        let of = [&["--package", package][..], of].concat();
        let clippy =
            [&["cargo", "clippy", "--all-targets"], &of[..], &["--", "--deny", "warnings"]];
        // Of the locks, the tests in files and folders that are called as one that is touched.
        let modules = locks.iter().filter_map(|lock| lock.split('-').next());
        let modules: BTreeSet<_> = modules.filter(|_| package == TESTS_PACKAGE).collect();
        let modules = [["--lib", "--test", "it", "--"].to_vec(), modules.into_iter().collect()];
        let modules = if package == TESTS_PACKAGE { modules.concat() } else { Vec::new() };
        let test = [&["cargo", "test", "--quiet"], &of[..], &modules];
        stages.push(Stage::command("clippy", 300, &clippy.concat()));
        stages.push(Stage::command("unit tests", 900, &test.concat()));
    }
    if !run_all(&stages, false) {
        return Ok(false);
    }
    if locks.is_empty() {
        return Ok(true);
    }
    let has_passed = rows::hold(root, &locks)?;
    let record = Record::read(root, &all, false)?;
    let of_history = rows::of_history();
    let recorded = locks.iter().filter(|lock| of_history.contains(lock));
    recorded.map(|lock| rows::item(lock)).try_for_each(|it| record.write(&it, has_passed))?;
    Ok(has_passed)
}

/// The package with the tests of the locks on real threads.
const TESTS_PACKAGE: &str = "lockwright-catalog";

/// The locks that the change can break: those that are named, and those that a file is a part of.
fn touched(request: &Request, sources: &Sources<'_>) -> Vec<&'static str> {
    let files =
        request.files.iter().filter(|it| below_sources(it).is_some() && it.ends_with(".rs"));
    let files: Vec<_> = files.collect();
    let right = LOCKS.iter().filter(|row| row.class != LockClass::Busted).map(|row| row.name);
    let is_reached = |lock: &str| files.iter().any(|file| sources.reaches(lock, file));
    right.filter(|lock| request.locks.contains(lock) || is_reached(lock)).collect()
}

/// The packages of the changed files.
fn packages(request: &Request, all: &[Source]) -> BTreeSet<String> {
    let package = |path: &String| {
        let folders = Path::new(path).ancestors().skip(1);
        let mut manifests = folders.map(|folder| folder.join("Cargo.toml"));
        let is_there = |path: &Path| all.iter().find(|source| Path::new(&source.path) == path);
        let manifest = manifests.find_map(|path| is_there(&path))?;
        let name = manifest.text.lines().find_map(|line| line.strip_prefix("name = \""))?;
        Some(name.trim_end_matches('"').to_string())
    };
    let is_of_locks = |path: &String| below_sources(path).is_some();
    let has_locks = !request.locks.is_empty() || request.files.iter().any(is_of_locks);
    let of_locks = has_locks.then(|| TESTS_PACKAGE.to_string());
    request.files.iter().filter_map(package).chain(of_locks).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stands_for_its_package_and_for_the_locks_that_reach_it() {
        let all = files::read_all(&root());
        let sources = Sources::of(&root(), &all).expect("the sources");
        let of = |arguments: &[&str]| {
            let request = Request::of(arguments).expect("a request");
            (packages(&request, &all), touched(&request, &sources))
        };
        let (packages, locks) = of(&["crates/linux/src/hq/list.rs"]);
        assert_eq!(
            (packages, locks),
            (
                ["lockwright-catalog", "lockwright-linux"].map(String::from).into(),
                vec!["hq", "hq-bounded"]
            )
        );
        assert!(of(&["platform/cells.rs"]).1.len() > 50);
        assert_eq!(of(&["xtask/src/main.rs", "README.md"]), (["xtask".to_string()].into(), vec![]));
        assert_eq!(of(&["fifo"]), (["lockwright-catalog".to_string()].into(), vec!["qspinlock"]));
    }
}

//! `cargo xtask quick`: what a change usually breaks, in two minutes.

use crate::limit::{command, printed};
use crate::packages::{SOURCES, below_sources};
use crate::record::{Record, Sources};
use crate::stage::{Stage, Step, run_all};
use crate::tidy::{Source, files};
use crate::{root, rows, tidy};
use clap::Parser;
use lockwright_catalog::registry::{self, LOCKS};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Check what a change usually breaks.
///
/// That is: format, lints, tidy, unit tests, and the clients of the locks that the change touches under loom, explored,
/// and on real threads. Two minutes after a change in one lock.
#[derive(Parser)]
pub struct Request {
    /// What has changed. Without any, the files that differ from the last commit, or those of the last commit.
    #[arg(value_name = "FILE | LOCK", value_parser = known)]
    changed: Vec<Changed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Changed {
    File(String),
    Lock(&'static str),
}

/// Reads the name of a lock or of a file, from the root of the repository or below the sources of a package with locks.
fn known(name: &str) -> Result<Changed, String> {
    if let Some(row) = registry::find(name) {
        return Ok(Changed::Lock(row.name));
    }
    let path = name.trim_start_matches("./");
    let mut paths = [""].into_iter().chain(SOURCES).map(|folder| format!("{folder}{path}"));
    let file = paths.find(|it| root().join(it).is_file()).map(Changed::File);
    let examples = "`mutex` or `crates/linux/src/ticket.rs`";
    file.ok_or_else(|| format!("name a file or a lock, such as {examples}"))
}

/// The files that differ from the last commit or, if there are none, those of the last commit.
fn since_last_commit() -> Result<Vec<Changed>, String> {
    let mut files = changed("git diff --name-only HEAD")?;
    files.extend(changed("git ls-files --others --exclude-standard")?);
    if files.is_empty() {
        files = changed("git diff --name-only HEAD~1 HEAD")?;
    }
    Ok(files)
}

fn changed(git: &str) -> Result<Vec<Changed>, String> {
    let printed = printed(command(git).current_dir(root()), Duration::MAX)?;
    Ok(printed.lines().map(|it| Changed::File(it.into())).collect())
}

/// Runs what the change can break. Returns true if nothing is red.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let all = files::read_all(root);
    let changed = match &*request.changed {
        [] => since_last_commit()?,
        changed => changed.to_vec(),
    };
    let locks = touched(&changed, &Sources::of(root, &all)?);
    let packages = packages(&changed, &all);
    let mut stages = vec![
        Stage::command("fmt", 60, "cargo fmt --all --check"),
        Stage::new("tidy", 60, Step::Call(|| tidy::run(&crate::root(), true))),
    ];
    for package in &packages {
        // Of the locks, the tests in files and folders that are called as one that is touched.
        let modules: BTreeSet<_> = locks.iter().filter_map(|lock| lock.split('-').next()).collect();
        let modules: String = modules.iter().map(|module| format!(" {module}")).collect();
        let (features, tests) = match package == TESTS_PACKAGE {
            true => (" --features std", format!(" --lib --test it --{modules}")),
            false => ("", String::new()),
        };
        let of = format!("--package {package}{features}");
        let clippy = format!("cargo clippy --all-targets {of} -- --deny warnings");
        stages.push(Stage::command("clippy", 300, &clippy));
        stages.push(Stage::command("unit tests", 900, &format!("cargo test --quiet {of}{tests}")));
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
fn touched(changed: &[Changed], sources: &Sources<'_>) -> Vec<&'static str> {
    let reaches = |lock: &'static str| {
        changed.iter().any(|it| match it {
            Changed::File(file) => {
                below_sources(file).is_some()
                    && file.ends_with(".rs")
                    && sources.reaches(lock, file)
            }
            Changed::Lock(name) => *name == lock,
        })
    };
    let right = LOCKS.iter().filter(|row| row.is_correct()).map(|row| row.name);
    right.filter(|lock| reaches(lock)).collect()
}

/// The packages of the changed files.
fn packages(changed: &[Changed], all: &[Source]) -> BTreeSet<String> {
    let package = |path: &String| {
        let folders = Path::new(path).ancestors().skip(1);
        let mut manifests = folders.map(|folder| folder.join("Cargo.toml"));
        let is_there = |path: &Path| all.iter().find(|source| Path::new(&source.path) == path);
        let manifest = manifests.find_map(|path| is_there(&path))?;
        let name = manifest.text.lines().find_map(|line| line.strip_prefix("name = \""))?;
        Some(name.trim_end_matches('"').to_string())
    };
    let of_locks = || Some(TESTS_PACKAGE.to_string());
    let packages = changed.iter().flat_map(|it| match it {
        Changed::File(file) => [package(file), below_sources(file).and_then(|_| of_locks())],
        Changed::Lock(_) => [None, of_locks()],
    });
    packages.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stands_for_its_package_and_for_the_locks_that_reach_it() {
        let all = files::read_all(&root());
        let sources = Sources::of(&root(), &all).expect("the sources");
        let of = |arguments: &[&str]| {
            let it = Request::try_parse_from([&["quick"], arguments].concat()).expect("a request");
            (packages(&it.changed, &all), touched(&it.changed, &sources))
        };
        let of_linux = ["lockwright-catalog", "lockwright-linux"].map(String::from).into();
        let of_hq = (of_linux, vec!["hq"]);
        assert_eq!(of(&["crates/linux/src/hq/queue.rs"]), of_hq);
        assert!(of(&["platform/cells.rs"]).1.len() > 50);
        assert_eq!(of(&["xtask/src/main.rs", "README.md"]), (["xtask".to_string()].into(), vec![]));
        assert_eq!(of(&["fifo"]), (["lockwright-catalog".to_string()].into(), vec!["qspinlock"]));
    }
}

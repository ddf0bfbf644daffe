//! `cargo xtask dependents`: the tests of crates that use parking_lot, with our package `parking_lot` in its place.
//!
//! Each crate's package comes from the registry when the command runs, and no line of it is in this repository. A copy
//! of it gets the lines that docs/programs.md tells users to write, and `cargo test` runs there. A failing test makes
//! the command fail, unless it is in the table of tests that also fail with parking_lot's own locks.

mod bench;
mod outcome;
mod packages;
mod table;

use crate::limit::status_within;
use crate::options::not_an_option;
use crate::rounds::Rounds;
use outcome::Outcome;
use packages::Copy;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};
use table::{DEPENDENTS, Dependent, When};

/// As they stand in the help.
pub const OPTIONS: &str = "[--only CRATE] [--without-patch] [--bench] [--runs N]";

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// Only this crate.
    only: Option<&'static str>,
    /// With parking_lot's own locks.
    without_patch: bool,
    /// Benchmarks of tokio, and no tests: this many rounds.
    bench: Option<Rounds>,
}

impl Request {
    /// Reads the arguments behind `dependents`.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        let (mut only, mut without_patch, mut bench, mut runs) = (None, false, false, None);
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--only" => only = Some(named(arguments.next())?),
                "--without-patch" => without_patch = true,
                "--bench" => bench = true,
                "--runs" => runs = Some(Rounds::of(arguments.next())?),
                other => return Err(not_an_option(other, OPTIONS)),
            }
        }
        if bench && (only.is_some() || without_patch) {
            return Err("`--bench` measures tokio with and without the patch; \
                give it alone or with `--runs N`"
                .into());
        }
        if runs.is_some() && !bench {
            return Err("`--runs` is the number of rounds of `--bench`; give both".into());
        }
        let bench = bench.then(|| runs.unwrap_or_default());
        Ok(Self { only, without_patch, bench })
    }
}

/// The crate of the table that has this name.
fn named(name: Option<&&str>) -> Result<&'static str, String> {
    let row = DEPENDENTS.iter().find(|row| Some(&row.name) == name);
    row.map(|row| row.name).ok_or_else(|| {
        let names: Vec<_> = DEPENDENTS.iter().map(|row| row.name).collect();
        format!("`--only` needs the name of a crate; the crates are {}", names.join(", "))
    })
}

/// tokio's suite takes 7 minutes on two slow cores, with the time to compile it.
const TIME_MAX: Duration = Duration::from_secs(2400);
/// How often a test runs again that fails sometimes.
const AGAIN: usize = 10;

/// Runs the tests. Returns true if no test fails that is not in the table, and all that are have to be.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    if let Some(rounds) = &request.bench {
        return bench::run(root, rounds);
    }
    let is_asked = |row: &&Dependent| request.only.is_none_or(|name| name == row.name);
    let rows: Vec<_> = DEPENDENTS.iter().filter(is_asked).collect();
    let copies = packages::copy(root, &rows, request.without_patch)?;
    let (mut lines, mut complaints) = (Vec::new(), Vec::new());
    for (row, copy) in rows.into_iter().zip(&copies) {
        eprintln!("dependents: {}: {}", row.shown(), row.command());
        // What keeps one crate from running is no reason to leave out the next ones.
        let (line, of_row) = copy
            .check(row)
            .and_then(|()| test(copy, row))
            .unwrap_or_else(|why| (format!("{}: not run to its end", row.shown()), vec![why]));
        eprintln!("dependents: {line}");
        lines.push(line);
        lines.extend(row.notes());
        complaints.extend(of_row.iter().map(|complaint| format!("{}: {complaint}", row.shown())));
    }
    let locks = if request.without_patch { "parking_lot's" } else { "Lockwright's" };
    println!("With {locks} locks:\n{}", lines.join("\n"));
    for complaint in &complaints {
        eprintln!("dependents: {complaint}");
    }
    Ok(complaints.is_empty())
}

/// Runs the tests of a crate. Returns a line for the reader, and what is wrong.
fn test(copy: &Copy, row: &Dependent) -> Result<(String, Vec<String>), String> {
    let start = Instant::now();
    let outcome = cargo_test(copy, row, &[], "tests")?;
    let seconds = start.elapsed().as_secs();
    let mut complaints = outcome.complaints(row, is_root());
    if !complaints.is_empty() {
        complaints.push(format!("what it printed is in {}", copy.log("tests").0.display()));
    }
    for test in row.fails.iter().filter(|it| it.when == When::Sometimes).map(|it| it.test) {
        if outcome.failed.contains(test) && !passes_once(copy, row, test)? {
            complaints.push(format!("{test} failed {AGAIN} times more; the table says sometimes"));
        }
    }
    Ok((
        format!("{}: {} in {seconds} s: {}", row.shown(), outcome.counts(), row.command()),
        complaints,
    ))
}

/// True if the tests may read everything.
fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|of_this_process| of_this_process.uid() == 0)
}

/// Runs one test again, until it passes.
fn passes_once(copy: &Copy, row: &Dependent, test: &str) -> Result<bool, String> {
    for _ in 0..AGAIN {
        let again = cargo_test(copy, row, &["--", "--exact", test], "again")?;
        if again.failed.is_empty() && again.passed > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Runs `cargo test`; what it prints goes to a file.
fn cargo_test(copy: &Copy, row: &Dependent, more: &[&str], log: &str) -> Result<Outcome, String> {
    let (out, err) = copy.log(log);
    let file = |path: &Path| File::create(path).map_err(|why| format!("{}: {why}", path.display()));
    let mut cargo = copy.cargo();
    cargo.args(row.arguments()).args(more).stdout(file(&out)?).stderr(file(&err)?);
    let status = status_within(&mut cargo, TIME_MAX);
    let status = status.map_err(|why| format!("cargo test {why}"))?;
    let read = |path: &Path| fs::read(path).map_err(|why| format!("{}: {why}", path.display()));
    let (out, printed) = (read(&out)?, read(&err)?);
    let printed = String::from_utf8_lossy(&printed);
    let outcome = Outcome::of(&String::from_utf8_lossy(&out), &printed);
    if outcome.programs == 0 || (!status.success() && outcome.is_green()) {
        return Err(format!("cargo test fails without a failed test; see {}", err.display()));
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_crate_and_a_number_of_rounds_are_read() {
        let tests = Request::of(&["--only", "tokio", "--without-patch"]);
        assert_eq!(tests, Ok(Request { only: Some("tokio"), without_patch: true, bench: None }));
        let rounds = |arguments: &[&str]| Request::of(arguments).map(|request| request.bench);
        let seven = Rounds::of(Some(&"7")).expect("a number");
        assert_eq!(rounds(&["--runs", "7", "--bench"]), Ok(Some(seven)));
        assert_eq!(rounds(&["--bench"]), Ok(Some(Rounds::default())));
        assert_eq!(rounds(&[]), Ok(None));
    }
}

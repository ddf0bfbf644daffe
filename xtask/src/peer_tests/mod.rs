//! `cargo xtask peer-tests`: parking_lot's own tests and examples, with our package `parking_lot` in its place.
//!
//! The tests come from parking_lot's package when the command runs, and no line of them is in this repository. They are
//! compiled twice, with the locks of either library, and each test runs in a process of its own, alternately with one
//! and with the other. A failing test makes the command fail. A slow test does not: it is only named. The examples of
//! the documentation run with Lockwright alone.

pub mod crates;
pub mod left_out;
pub mod report;
pub mod source;

use crate::limit::{Stopped, output_within};
use crate::options::not_an_option;
use crates::{Built, OURS, THEIRS};
use left_out::{HERE, LEFT_OUT, LeftOut, Table};
use report::{Measured, Runs};
use source::TestFile;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// As they stand in the help.
pub const OPTIONS: &str = "[--runs N] [--only TEXT]";

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// How often each test runs with each library.
    runs: usize,
    /// Only tests with this text in their name.
    only: String,
}

impl Request {
    /// Reads the arguments behind `peer-tests`.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        let mut request = Self { runs: 5, only: String::new() };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--runs" => {
                    let runs = arguments.next().and_then(|value| value.parse().ok());
                    let runs = runs.filter(|it: &usize| *it > 0);
                    request.runs =
                        runs.ok_or("`--runs` needs a number above 0, such as `--runs 5`")?;
                }
                "--only" => {
                    let complaint =
                        "`--only` needs a part of a test's name, such as `--only rwlock`";
                    request.only = arguments.next().ok_or(complaint)?.to_string();
                }
                other => return Err(not_an_option(other, OPTIONS)),
            }
        }
        Ok(request)
    }
}

/// No test of parking_lot takes as long, on two slow cores either: a test that does hangs.
const TIME_MAX: Duration = Duration::from_secs(120);
/// The same for a test that is expected to hang.
const HANG_MAX: Duration = Duration::from_secs(5);

/// Runs the tests. Returns true if all pass with Lockwright, and all that are left out have to be.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let package = source::package(root)?;
    let files = source::files(&package)?;
    let mut complaints = LEFT_OUT.complaints(&|row| is_there(&files, row));
    crates::write(root, &package, &files)?;
    eprintln!("peer-tests: compiling the tests of parking_lot {}", package.version);
    let built = crates::build(root)?;
    complaints.extend(LEFT_OUT.complaints_of_build(&built));
    complaints.extend(left_out_that_pass(&LEFT_OUT, &built)?);
    let names = names(&built, &files)?;
    let mut measured = Vec::new();
    for name in names.iter().filter(|name| report::shown(name).contains(&request.only)) {
        let test = measure(&built, name, request.runs)?;
        println!("{}", test.line());
        measured.push(test);
    }
    if measured.is_empty() {
        let only = &request.only;
        return Err(format!(
            "no test has `{only}` in its name; without `--only` all names are printed"
        ));
    }
    print!("{}", report::summary(&measured));
    print!("{}", LEFT_OUT.text());
    if request.only.is_empty() {
        println!(
            "
examples of the documentation: {}",
            crates::run_examples(root)?
        );
    }
    for complaint in &complaints {
        eprintln!("peer-tests: {complaint}");
    }
    Ok(complaints.is_empty() && measured.iter().all(Measured::passes))
}

/// Returns true if parking_lot has the test.
fn is_there(files: &[TestFile], row: &LeftOut) -> bool {
    let file = files.iter().find(|file| file.name == row.file);
    file.is_some_and(|file| file.tests.iter().any(|test| test.name == row.test))
}

/// The names of the tests of a program.
pub fn list(program: &Path) -> Result<Vec<String>, String> {
    let mut command = Command::new(program);
    command.args(["--list", "--format", "terse"]);
    let output = output_within(&mut command, TIME_MAX).map_err(|why| format!("--list {why}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = printed.lines().filter_map(|line| line.strip_suffix(": test"));
    Ok(names.map(String::from).collect())
}

/// The tests that both programs have.
fn names(built: &Built, files: &[TestFile]) -> Result<Vec<String>, String> {
    let (ours, theirs) = (list(built.tests_of(OURS)?)?, list(built.tests_of(THEIRS)?)?);
    if ours != theirs {
        return Err("the tests of both libraries are not the same".into());
    }
    // A test behind a feature that is off is in the file and not in the program.
    let is_listed = |file: &str, test: &str| {
        let (begin, end) = (format!("{file}::"), format!("::{test}"));
        ours.iter().any(|name| name.starts_with(&begin) && name.ends_with(&end))
    };
    let expected = files.iter().flat_map(|file| file.tests.iter().map(|test| (file.name, test)));
    let mut lost = expected.filter(|(file, test)| {
        !LEFT_OUT.contains(file, &test.name) && !is_listed(file, &test.name)
    });
    match lost.next() {
        Some((file, test)) => {
            Err(format!("{file}: `{}` is not compiled and not in the table of {}", test.name, HERE))
        }
        None => Ok(ours),
    }
}

/// Runs a test with both libraries, which take turns.
fn measure(built: &Built, name: &str, runs: usize) -> Result<Measured, String> {
    let mut measured = Measured::new(name);
    for _ in 0..runs {
        for (side, of_side) in [(OURS, &mut measured.ours), (THEIRS, &mut measured.theirs)] {
            run_test(built.tests_of(side)?, name, of_side)?;
        }
    }
    if let Some(printed) = measured.ours.failures.first() {
        eprintln!("peer-tests: {name} fails with Lockwright:\n{printed}");
    }
    Ok(measured)
}

/// Runs a test of a program in a process of its own.
pub fn run_test(program: &Path, name: &str, runs: &mut Runs) -> Result<(), String> {
    run_once(&mut one_test(program, name), TIME_MAX, runs)
}

/// A process that runs one test of a program.
pub fn one_test(program: &Path, name: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", name, "--test-threads", "1"]);
    // To print the stack of a panic that a test expects takes longer than most tests.
    command.env_remove("RUST_BACKTRACE");
    command
}

/// Runs a command that fails if a test fails.
pub fn run_once(command: &mut Command, limit: Duration, runs: &mut Runs) -> Result<(), String> {
    let start = Instant::now();
    match output_within(command, limit) {
        Ok(output) if output.status.success() => runs.times.push(start.elapsed()),
        Ok(output) => {
            let printed = [output.stdout, output.stderr].concat();
            let mut printed = String::from_utf8_lossy(&printed).into_owned();
            if output.status.code().is_none() {
                printed += &format!("it was ended by a {}\n", output.status);
            }
            runs.failures.push(printed);
        }
        Err(late @ Stopped::Late(_)) => runs.failures.push(format!("it {late}")),
        Err(stopped) => return Err(format!("the test {stopped}")),
    }
    Ok(())
}

/// Left-out tests that compile and should fail, and do not.
pub fn left_out_that_pass(table: &Table, built: &Built) -> Result<Vec<String>, String> {
    let mut complaints = Vec::new();
    for (row, complaint) in table.that_compile() {
        let Some(program) = built.programs.get(&row.target()) else { continue };
        let mut runs = Runs::default();
        run_once(Command::new(program).arg(row.test), HANG_MAX, &mut runs)?;
        complaints.extend(runs.failures.is_empty().then_some(complaint));
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_a_part_of_a_name_are_read() {
        let request = Request::of(&["--runs", "3", "--only", "rwlock"]);
        assert_eq!(request, Ok(Request { runs: 3, only: "rwlock".into() }));
        assert_eq!(Request::of(&[]).map(|request| request.runs), Ok(5));
    }

    #[test]
    fn a_test_that_fails_or_hangs_in_one_of_its_runs_is_not_passed() {
        let mut measured = Measured::new("mutex::tests::smoke");
        let mut run = |script: &str, limit| {
            let mut command = Command::new("sh");
            run_once(command.args(["-c", script]), limit, &mut measured.ours).expect("it runs");
            measured.passes()
        };
        assert!(run("exit 0", TIME_MAX));
        assert!(!run("echo why; exit 101", TIME_MAX));
        assert!(!run("exit 0", TIME_MAX));
        assert!(!run("sleep 60", Duration::from_millis(100)));
        assert!(!run("echo why; kill -9 $$", TIME_MAX));
        let why = [
            "why\n",
            "it was still running after 0.1 s",
            "why\nit was ended by a signal: 9 (SIGKILL)\n",
        ];
        assert_eq!(measured.ours.failures, why);
        assert_eq!(measured.ours.times.len(), 2);
    }
}

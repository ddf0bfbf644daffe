//! The runner of tests that are built in packages of their own.

use super::package::{self, Built};
use super::runs::{self, Measured, Runs};
use super::source::{self, TestFile};
use super::table::{LeftOut, Suite};
use crate::output::complain;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The longest time of a test that is expected to hang.
const HANG_MAX: Duration = Duration::from_secs(5);

/// Runs each test of a folder that has this text in its name, `runs` times. Returns true if all pass with Lockwright,
/// and all that are left out have to be.
pub fn run(
    root: &Path,
    suite: &Suite,
    (folder, version): (&Path, &str),
    only: &str,
    runs: usize,
) -> Result<bool, String> {
    let files = source::files(folder, suite)?;
    let (suite, mut complaints) = without_gone(suite, &files);
    let examples = if suite.is_package { source::examples(folder)? } else { Vec::new() };
    package::write_suite(root, &suite, version, (&files, &examples))?;
    if suite.is_package {
        eprintln!("{}: compiling the tests of {} {version}", suite.command, suite.library);
    } else {
        // The table may be for another version than these files are of.
        for notice in complaints.drain(..) {
            eprintln!("{}: {notice}, or not yet", suite.command);
        }
        eprintln!("{}: compiling the tests in {}", suite.command, folder.display());
    }
    let built = package::build(root, &suite)?;
    complaints.extend(suite.left_out.iter().filter_map(|row| built.complaint(row)));
    complaints.extend(left_out_that_pass(&suite, &built)?);
    let names = names(&suite, &built, &files)?;
    let names: Vec<_> = names.iter().filter(|name| shown(name).contains(only)).collect();
    if names.is_empty() {
        let why = "in its name; without `--only` all names are printed";
        return Err(format!("no test has `{only}` {why}"));
    }
    let mut measured = Vec::new();
    for name in names {
        let test = measure(&suite, &built, name, runs)?;
        println!("{}", test.line());
        measured.push(test);
    }
    print!("{}{}", runs::summary(&measured), suite.left_out_text());
    let twins: usize = files.iter().map(TestFile::twins).sum();
    if twins > 0 {
        println!("{twins} more are about locks with poisoning; the same tests of others have run.");
    }
    if !examples.is_empty() && only.is_empty() {
        println!("\nexamples of the documentation: {}", package::run_examples(root, &suite)?);
    }
    Ok(complain(&suite.command, &complaints) && measured.iter().all(Measured::passes))
}

/// The suite without the left-out tests that these files do not have, and what to say of those.
fn without_gone(suite: &Suite, files: &[TestFile]) -> (Suite, Vec<String>) {
    let is_there = |row: &&LeftOut| {
        let file = files.iter().find(|file| file.name == row.file);
        file.is_some_and(|file| file.tests().any(|test| test == row.test))
    };
    let (left_out, gone): (Vec<_>, Vec<_>) = suite.left_out.iter().partition(is_there);
    let say = |row: &LeftOut| format!("{} is no longer a test of {}", row.shown(), suite.library);
    let left_out = left_out.into_iter().cloned().collect();
    (Suite { left_out, ..suite.clone() }, gone.into_iter().map(say).collect())
}

/// The name of a test, with its file and without the module in it.
fn shown(name: &str) -> String {
    match (name.split_once("::"), name.rsplit_once("::")) {
        (Some((file, _)), Some((_, test))) => format!("{file}::{test}"),
        _ => name.into(),
    }
}

/// The names of the tests of the programs, which are all in the files but those that are left out.
fn names(suite: &Suite, built: &Built, files: &[TestFile]) -> Result<Vec<String>, String> {
    let lists = suite.sides.iter().map(|side| runs::list(&built.programs[&suite.program(side)]));
    let lists = lists.collect::<Result<Vec<_>, _>>()?;
    if lists.windows(2).any(|pair| pair[0] != pair[1]) {
        return Err("the tests of both libraries are not the same".into());
    }
    let names = lists.into_iter().next().unwrap_or_default();
    complete(suite, &names, files).map(|()| names)
}

/// Complains if a test is lost, as one behind a feature that is off.
fn complete(suite: &Suite, names: &[String], files: &[TestFile]) -> Result<(), String> {
    let expected = files.iter().flat_map(|file| file.tests().map(|test| (&*file.name, test)));
    let mut expected = expected.filter(|(file, test)| !suite.leaves_out(file, test));
    let is_lost = |(file, test): &(&str, &str)| {
        let full = format!("{file}::{test}");
        !names.iter().any(|name| shown(name) == full)
    };
    match expected.find(is_lost) {
        Some((file, test)) => {
            let table = super::table::HERE;
            Err(format!("{file}: `{test}` is not compiled and not in the table of {table}"))
        }
        None => Ok(()),
    }
}

/// Runs a test with each library; they take turns.
fn measure(suite: &Suite, built: &Built, name: &str, runs: usize) -> Result<Measured, String> {
    let mut of_sides: Vec<_> = suite.sides.iter().map(|_| Runs::default()).collect();
    for _ in 0..runs {
        for (side, of_side) in suite.sides.iter().zip(&mut of_sides) {
            let program = &built.programs[&suite.program(side)];
            of_side.add(&mut runs::one_test(program, name), runs::TIME_MAX)?;
        }
    }
    let mut of_sides = suite.sides.iter().map(|side| side.library.clone()).zip(of_sides);
    let ours = of_sides.next().map(|(_, runs)| runs).unwrap_or_default();
    if let Some(printed) = ours.failures.first() {
        eprintln!("{}: {name} fails with Lockwright:\n{printed}", suite.command);
    }
    Ok(Measured { name: shown(name), ours, theirs: of_sides.next() })
}

/// Left-out tests that compile and should not pass, and do.
fn left_out_that_pass(suite: &Suite, built: &Built) -> Result<Vec<String>, String> {
    let mut complaints = Vec::new();
    for row in suite.left_out.iter().filter(|row| row.needs.is_none()) {
        let Some(program) = built.programs.get(&row.program()) else { continue };
        let mut runs = Runs::default();
        runs.add(Command::new(program).arg(&row.test), HANG_MAX)?;
        if runs.failures.is_empty() {
            let expected = row.expects.as_deref().unwrap_or_default();
            complaints.push(format!("{} passes, although it expects {expected}", row.shown()));
        }
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::*;

    fn files(text: &str) -> [TestFile; 1] {
        [TestFile::of("condvar", text.into()).expect("Rust with a test")]
    }

    #[test]
    fn a_row_about_a_test_that_is_gone_is_noticed_and_not_used() {
        let files = files("#[test] fn test_arc_condvar_poison() {}");
        let (suite, gone) = without_gone(&TABLE.std_tests, &files);
        let named: Vec<_> = suite.left_out.iter().map(|row| (&*row.file, &*row.test)).collect();
        assert_eq!(named, [("condvar", "test_arc_condvar_poison")]);
        assert_eq!(gone.len() + 1, TABLE.std_tests.left_out.len());
        assert!(gone[0].contains("`test_into_inner_poison` is no longer a test of std"));
    }

    #[test]
    fn a_test_that_is_not_compiled_is_noticed_unless_it_is_left_out() {
        let files = files("#[test] fn two_mutexes() {}\n#[test] fn rings() {}");
        let lacks = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            complete(&TABLE.peer_tests, &names, &files)
        };
        assert_eq!(lacks(&["condvar::tests::rings"]), Ok(()));
        assert!(lacks(&["mutex::tests::rings"]).is_err_and(|it| it.contains("condvar: `rings`")));
    }

    #[test]
    fn a_left_out_test_that_passes_is_noticed() {
        let pass = |program: &str| {
            let row = "condvar-two_mutexes".to_string();
            let built = Built { programs: [(row, program.into())].into(), ..Built::default() };
            left_out_that_pass(&TABLE.peer_tests, &built).expect("it runs")
        };
        assert_eq!(pass("false"), [""; 0]);
        assert!(pass("true").concat().contains("`two_mutexes` passes"));
    }
}

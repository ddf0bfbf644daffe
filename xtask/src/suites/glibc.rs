//! glibc's own tests of its locks. They are unpacked and built when this runs, and nothing of them is kept.

use super::package::TIME_MAX;
use super::table::TABLE;
use crate::disk::{make_empty, write};
use crate::limit::{self, Stopped, printed};
use crate::workers;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// They sleep more than they run.
const AT_ONCE: usize = 16;
/// A test ends by itself after at most 20 s, but for a few.
const LIMIT: Duration = Duration::from_secs(100);
/// A difference that does not show each time is one of the tests.
const ATTEMPTS: usize = 3;

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    /// It says that it cannot run here.
    Unsupported,
}

/// Builds the tests from the archive of the sources and runs them. Returns false if one ends in another way with the
/// library.
pub fn run(archive: &Path, folder: &Path, library: &Path, is_quick: bool) -> Result<bool, String> {
    let began = Instant::now();
    let folder = folder.join("glibc");
    // What another version has left is not to be mixed with this one.
    make_empty(&folder)?;
    let (built, not_built): (Vec<_>, Vec<_>) = build(archive, &folder)?
        .into_iter()
        .filter(|name| !(is_quick && TABLE.glibc.slow.contains(name)))
        .partition(|name| folder.join("tests").join(name).exists());
    let both =
        |name: &String| Ok([ends(&folder, name, None)?, ends(&folder, name, Some(library))?]);
    let mut all = workers::on_all_by(AT_ONCE, &built, both)?;
    for (name, ends) in built.iter().zip(&mut all) {
        for _ in 0..ATTEMPTS {
            if ends[0] != ends[1] {
                *ends = both(name)?;
            }
        }
    }
    let tests = || built.iter().zip(&all);
    let passed = tests().filter(|(_, ends)| ends[1] == End::Passed).count();
    let both_fail = tests().filter(|(_, ends)| ends[0] == ends[1] && ends[0] != End::Passed);
    let both_fail: Vec<_> = both_fail.map(|(name, _)| name.as_str()).collect();
    println!(
        "glibc's tests: {passed} of {} pass with the library; {} fail with and without it ({}); {} cannot be built \
         outside of glibc ({}); {:.0} s",
        built.len(),
        both_fail.len(),
        both_fail.join(" "),
        not_built.len(),
        not_built.join(" "),
        began.elapsed().as_secs_f64()
    );
    let mut is_alike = true;
    for (name, [without, with]) in tests().filter(|(_, ends)| ends[0] != ends[1]) {
        println!("glibc's test {name}: {without:?} with glibc's locks, {with:?} with the library");
        is_alike &= *with == End::Passed;
    }
    if passed < built.len() / 2 {
        return Err(format!("only {passed} of {} tests of glibc pass at all", built.len()));
    }
    Ok(is_alike)
}

/// Builds the tests. Returns their names, also of those that cannot be built.
fn build(archive: &Path, folder: &Path) -> Result<Vec<String>, String> {
    let pattern = format!("/tst-({})", TABLE.glibc.tests.join("|"));
    let mut script = Command::new("sh");
    script.arg(crate::root().join("xtask/src/suites/glibc.sh")).arg(archive).arg(pattern);
    let names = printed(script.current_dir(folder), TIME_MAX)?;
    let is_run = |name: &&str| !TABLE.glibc.leave_a_process.iter().any(|it| it == name);
    Ok(names.lines().filter(is_run).map(String::from).collect())
}

/// Runs a test in a folder of its own.
fn ends(folder: &Path, name: &str, library: Option<&Path>) -> Result<End, String> {
    let tests = folder.join("tests");
    let own = folder.join(format!("{name}.{}", if library.is_some() { "with" } else { "without" }));
    // With a file that one of them opens.
    write(&own.join("Makefile"), "")?;
    let mut test = Command::new(tests.join(name));
    test.env("LD_LIBRARY_PATH", tests).env_remove("LD_PRELOAD");
    test.envs(library.map(|library| ("LD_PRELOAD", library)));
    test.current_dir(&own).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let end = match limit::status_within(&mut test, LIMIT) {
        Ok(status) if status.success() => End::Passed,
        Ok(status) if status.code() == Some(77) => End::Unsupported,
        Ok(_) | Err(Stopped::Late(_)) => End::Failed,
        Err(why) => return Err(format!("{name}: {why}")),
    };
    // What it has left there.
    let _ = fs::remove_dir_all(own);
    Ok(end)
}

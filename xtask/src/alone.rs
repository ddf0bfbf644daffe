//! `cargo xtask alone`: each native test in a process of its own.
//!
//! In a run of all tests of a program, a test may pass only because of what an earlier one did: it asked for the number
//! of forks, filled the pool of nodes, changed a setting. Such a test fails here. One that an earlier test breaks fails
//! with `--shuffle`, which runs the tests of a program in another order. One test runs at a time: many of them spin or
//! wait for a time, and a second one would take their CPU.

use crate::options::not_an_option;
use crate::peer_tests::crates::{Built, compile_by};
use crate::peer_tests::report::Runs;
use crate::peer_tests::{list, one_test, run_once};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// As they stand in the help.
pub const OPTIONS: &str = "[--shuffle SEED]";

/// The programs with native tests, by their source.
///
/// - Not those of lockwright-c and lockwright-pthread: each of their tests first compiles and installs a library, which
///   can take minutes, and then runs programs, which are processes of their own already.
/// - Not those of lockwright-cells: most are simulated.
const PROGRAMS: [&str; 7] = [
    "crates/locks/src/lib.rs",
    "crates/locks/tests/it/main.rs",
    "crates/clients/src/lib.rs",
    "crates/clients/tests/clients.rs",
    "crates/clients/tests/native.rs",
    "crates/peers/src/lib.rs",
    "crates/workloads/src/lib.rs",
];

/// A test that takes longer hangs.
const TEST_MAX: Duration = Duration::from_secs(60);
/// All tests of a program that take longer hang.
const PROGRAM_MAX: Duration = Duration::from_secs(600);
/// How much is shown of what a failed test printed.
const LINES_MAX: usize = 20;

/// The seed that `--shuffle` names.
pub fn seed(arguments: &[&str]) -> Result<Option<u64>, String> {
    match arguments {
        [] => Ok(None),
        ["--shuffle", rest @ ..] => {
            let seed = rest.first().and_then(|seed| seed.parse().ok());
            seed.map(Some).ok_or("`--shuffle` needs a whole number, such as `--shuffle 1`".into())
        }
        [other, ..] => Err(not_an_option(other, OPTIONS)),
    }
}

/// Runs the tests and, with a seed, each program also as a whole, in the order of the seed. Returns true if none fails.
pub fn run(root: &Path, seed: &Option<u64>) -> Result<bool, String> {
    eprintln!("alone: compiling the tests");
    let built = build(root)?;
    let (mut tests, mut failed) = (0, Vec::new());
    for source in PROGRAMS {
        let program = built.by_source.get(&root.join(source));
        let program = program.ok_or_else(|| format!("{source} is not a program with tests"))?;
        let (names, start) = (list(program)?, Instant::now());
        tests += names.len();
        for name in &names {
            failed.extend(failure(name, &mut one_test(program, name), TEST_MAX)?);
        }
        if let Some(seed) = *seed {
            let name = format!("{source}, shuffled,");
            failed.extend(failure(&name, &mut shuffled(program, seed), PROGRAM_MAX)?);
        }
        let (count, seconds) = (names.len(), start.elapsed().as_secs_f64());
        eprintln!("alone: {source}: {count} tests in {seconds:.1} s");
    }
    print!("{}", failed.concat());
    println!("alone: {tests} tests, each in a process of its own; {} failed", failed.len());
    Ok(failed.is_empty())
}

/// Compiles the programs. With the workspace, as other commands do, so that nothing is compiled again.
fn build(root: &Path) -> Result<Built, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--workspace", "--no-run"]).current_dir(root);
    let (built, said) = compile_by(&mut cargo)?;
    match built.errors.is_empty() {
        true => Ok(built),
        false => Err(format!("the tests do not compile:\n{said}")),
    }
}

/// A process that runs all tests of a program, one after the other in the order of the seed.
fn shuffled(program: &Path, seed: u64) -> Command {
    let mut command = Command::new(program);
    // libtest accepts the option only with this variable.
    command.env("RUSTC_BOOTSTRAP", "1").env_remove("RUST_BACKTRACE");
    command.args(["-Z", "unstable-options", "--shuffle-seed", &seed.to_string()]);
    command.args(["--test-threads", "1", "--exact"]);
    command
}

/// Runs a command that fails if a test fails. Returns what to print if it does.
fn failure(name: &str, command: &mut Command, limit: Duration) -> Result<Option<String>, String> {
    let mut runs = Runs::default();
    run_once(command, limit, &mut runs)?;
    Ok(runs.failures.pop().map(|printed| {
        // First comes a line for each test. The last of them is the one that ended the program.
        let begin = printed.find("\nfailures:\n").or(printed.rfind("\ntest ")).unwrap_or(0);
        let lines: Vec<_> = printed[begin..].trim_start().lines().take(LINES_MAX).collect();
        format!("{name} failed; this repeats it: {command:?}\n{}\n", lines.join("\n"))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Option<String> {
        failure("bell::rings", Command::new("sh").args(["-c", script]), limit).expect("it runs")
    }

    #[test]
    fn a_seed_is_read() {
        assert_eq!(seed(&["--shuffle", "7"]), Ok(Some(7)));
        assert_eq!(seed(&[]), Ok(None));
        assert!(seed(&["--shuffle"]).is_err() && seed(&["--shufle", "7"]).is_err());
    }

    #[test]
    fn a_failure_shows_its_reason_and_how_to_repeat_it() {
        let long = Duration::from_secs(60);
        assert_eq!(shell("echo test bell::rings ... ok", long), None);
        let script = "for it in a b c; do echo test $it ... FAILED; done; echo; echo failures:; echo; seq 30; exit 101";
        let told = shell(script, long).expect("a failure");
        assert!(told.starts_with("bell::rings failed; this repeats it: \"sh\" \"-c\""), "{told}");
        assert!(told.contains("failures:\n\n1\n") && told.ends_with("\n18\n"), "{told}");
        let killed = shell("echo; echo test a ... ok; echo test b ...; kill -9 $$", long);
        let told = killed.expect("a failure");
        assert!(told.ends_with("\ntest b ...\nit was ended by a signal: 9 (SIGKILL)\n"), "{told}");
    }

    #[test]
    fn a_test_that_hangs_is_a_failure() {
        let told = shell("sleep 3600", Duration::from_millis(100)).expect("a failure");
        assert!(told.ends_with("\nit was still running after 0.1 s\n"), "{told}");
    }

    #[test]
    fn each_test_of_a_program_runs_alone_and_all_of_them_in_the_order_of_a_seed() {
        let this = std::env::current_exe().expect("this program");
        let names = list(&this).expect("its tests");
        let [name, other] = ["a_seed_is_read", "a_test_that_hangs_is_a_failure"]
            .map(|name| format!("alone::tests::{name}"));
        assert!(names.contains(&name) && names.contains(&other), "{names:?}");
        let order = |seed| {
            // Without names, this test would run itself.
            let output = shuffled(&this, seed).args([&name, &other]).output().expect("it runs");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let orders: Vec<_> = (1..=8).map(order).collect();
        assert!(orders.iter().all(|it| it.contains("ok. 2 passed")), "{orders:?}");
        let begins_with = |order: &&String| order.find(&name) < order.find(&other);
        let count = orders.iter().filter(begins_with).count();
        assert!((1..8).contains(&count), "{orders:?}");
        assert_eq!(failure(&name, &mut one_test(&this, &name), TEST_MAX), Ok(None));
    }
}

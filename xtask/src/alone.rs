//! `cargo xtask alone`: each native test in a process of its own.
//!
//! In a run of all tests of a program, a test may pass only because of what an earlier one did: it asked for the number
//! of forks, filled the pool of nodes, changed a setting. Such a test fails here. One that an earlier test breaks fails
//! with `--shuffle`, which runs the tests of a program in another order. With `--nodes`, the pool of queue nodes is
//! smaller. One test runs at a time: many of them spin or wait for a time, and a second one would take their CPU.

use crate::limit::command;
use crate::suites::package::{Built, compile};
use crate::suites::runs::{Runs, list, one_test};
use clap::Parser;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Run each test on real threads in a process of its own.
///
/// One fails that needs what another test did before it. A minute and, at first, some to compile; a part of ci and of
/// full.
#[derive(Debug, Default, Parser, PartialEq, Eq)]
pub struct Request {
    /// Run each test program as a whole, too, in a random order that this decides, such as 1.
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    /// Run the tests of locks with this many queue nodes in the process, such as 0.
    #[arg(long, value_name = "COUNT")]
    nodes: Option<u64>,
}

/// The programs with native tests, by their source.
///
/// - Not those of lockwright-c and lockwright-pthread: each of their tests first compiles and installs a library, which
///   can take minutes, and then runs programs, which are processes of their own already.
const PROGRAMS: [&str; 8] = [
    "crates/core/src/lib.rs",
    "crates/linux/src/lib.rs",
    "crates/locks/src/lib.rs",
    "crates/catalog/tests/it/main.rs",
    "crates/clients/src/lib.rs",
    "crates/clients/tests/clients.rs",
    "crates/clients/tests/native.rs",
    "crates/measure/src/lib.rs",
];

/// Those that run with another number of queue nodes, and the variable by which they learn it.
const PROGRAMS_WITH_NODES: [&str; 2] =
    ["crates/catalog/tests/it/main.rs", "crates/clients/tests/clients.rs"];
const NODES: &str = "LOCKWRIGHT_NODES";

/// Tests that need this many queue nodes, and why.
const NEED_NODES: &[(&str, u64)] = &[
    // It takes or counts nodes itself.
    ("children::a_program_that_is_started_leaves_locks_and_nodes_alone", MANY),
    ("fork::a_forked_child_forgets_a_queue_of_spinners_that_do_not_exist_in_it", MANY),
    ("mutex::more_threads_than_queue_nodes_share_a_mutex_and_a_condition_variable", MANY),
    ("nodes::a_hundred_thousand_short_threads_leave_no_node_behind", MANY),
    ("nodes::attempts_that_time_out_leave_no_more_than_one_node_of_a_thread", MANY),
    ("nodes::hundreds_of_threads_that_sleep_for_a_lock_all_get_it", MANY),
    // Waiters that are in a table or a queue, each: without a node one keeps no place.
    ("children::a_reader_beside_others_does_not_look_for_sleepers_in_a_child", 1),
    ("faults::a_handler_mends_a_fault_that_a_waiter_of_the_table_makes", 1),
    ("results::attempts_on_a_reader_writer_lock_have_the_results_of_the_table", 2),
    ("results::attempts_on_a_semaphore_have_the_results_of_the_table", 1),
    ("rwlock::where_it_is_first_come_first_served_nobody_passes_a_waiting_writer", 1),
    ("semaphore::waiters_are_served_in_the_order_they_came", 4),
    ("semaphore::whoever_gives_up_lets_those_behind_have_what_is_there", 1),
    ("signals::a_handler_may_lock_while_its_thread_sleeps_in_the_queue", 3),
    // An owner of an MCS, CLH or optimistic spin queue lock has a node.
    ("spinners_that_leave_their_queue_leave_nobody_behind", MANY),
    ("registry::every_lock_excludes_and_busted_does_not", 1),
    ("registry::try_lock_fails_exactly_while_the_lock_is_held", 1),
];
const MANY: u64 = u64::MAX;

/// A test that takes longer hangs.
const TEST_MAX: Duration = Duration::from_secs(60);
/// All tests of a program that take longer hang.
const PROGRAM_MAX: Duration = Duration::from_secs(600);
/// How much is shown of what a failed test printed.
const LINES_MAX: usize = 20;

impl Request {
    /// The programs whose tests run.
    fn programs(&self) -> &'static [&'static str] {
        if self.nodes.is_some() { &PROGRAMS_WITH_NODES } else { &PROGRAMS }
    }

    /// Returns true if the test can run with so few nodes.
    fn has_enough_nodes(&self, test: &str) -> bool {
        let needed = NEED_NODES.iter().find(|(name, _)| *name == test).map_or(0, |row| row.1);
        self.nodes.is_none_or(|nodes| nodes >= needed)
    }

    /// The command with as many nodes as are asked for.
    fn limit<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.envs(self.nodes.map(|nodes| (NODES, nodes.to_string())))
    }
}

/// Runs the tests and, with a seed, each program also as a whole, in the order of the seed. Returns true if none fails.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    eprintln!("alone: compiling the tests");
    let built = build(root)?;
    let (mut tests, mut failed) = (0, Vec::new());
    for source in request.programs() {
        let program = built.by_source.get(&root.join(source));
        let program = program.ok_or_else(|| format!("{source} is not a program with tests"))?;
        let (mut names, start) = (list(program)?, Instant::now());
        names.retain(|name| request.has_enough_nodes(name));
        tests += names.len();
        for name in &names {
            let mut command = one_test(program, name);
            failed.extend(failure(name, request.limit(&mut command), TEST_MAX)?);
        }
        if let Some(seed) = request.shuffle {
            let (name, mut command) = (format!("{source}, shuffled,"), shuffled(program, seed));
            failed.extend(failure(&name, request.limit(&mut command), PROGRAM_MAX)?);
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
    let (built, said) = compile(command("cargo test --workspace --no-run").current_dir(root))?;
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
    runs.add(command, limit)?;
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
    fn a_seed_and_a_number_of_nodes_are_read() {
        let read = |words: &str| Request::try_parse_from(words.split(' ')).map_err(drop);
        let request = |shuffle, nodes| Ok(Request { shuffle, nodes });
        assert_eq!(read("alone --shuffle 7"), request(Some(7), None));
        assert_eq!(read("alone --nodes 0 --shuffle 7"), request(Some(7), Some(0)));
        assert_eq!(read("alone"), request(None, None));
        assert_eq!(read("alone --nodes none"), Err(()));
    }

    #[test]
    fn a_test_that_needs_more_nodes_does_not_run() {
        let (name, needed) = NEED_NODES[NEED_NODES.len() - 1];
        let with = |nodes| Request { shuffle: None, nodes }.has_enough_nodes(name);
        assert!(with(None) && with(Some(needed)) && !with(Some(needed - 1)));
        assert!(Request { shuffle: None, nodes: Some(0) }.has_enough_nodes("hen::wakes"));
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
        let [name, other] =
            ["a_seed_and_a_number_of_nodes_are_read", "a_test_that_hangs_is_a_failure"]
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

//! Tests that run once more, each in a process of its own.

use super::not_run;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Runs the calling test once more, in a process that has this variable.
pub(super) fn again(variable: &str, value: &str) -> Command {
    let thread = thread::current();
    let name = thread.name().filter(|name| name.contains("::")).expect("a test has a thread");
    let mut again = Command::new(std::env::current_exe().expect("the path of this test"));
    again.args(["--exact", name, "--nocapture"]).env(variable, value);
    again
}

/// Runs `body` in a process of its own, which this test is when it is started for that. There it may use up what all
/// tests share, and it comes first.
pub(super) fn in_a_process_of_its_own(body: impl FnOnce()) {
    in_an_environment(&[], body);
}

/// The same with these variables set. Returns what the process said on standard error, and nothing in that process.
pub(super) fn in_an_environment(variables: &[(&str, &str)], body: impl FnOnce()) -> String {
    const MARK: &str = "LOCKWRIGHT_TEST_OF_ITS_OWN";
    if std::env::var_os(MARK).is_some() {
        body();
        return String::new();
    }
    let mut again = again(MARK, "1");
    let output = again.envs(variables.iter().copied()).output().expect("this test can be run");
    let printed = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}\n{said}");
    if said.contains("not run:") {
        not_run("see the process that it started");
    }
    said.into_owned()
}

/// Runs the calling test again for each of the functions, in a process that ends by it and says why.
pub(super) fn each_ends_the_process(why: &str, functions: &[fn()]) {
    const MARK: &str = "LOCKWRIGHT_TEST_ENDS";
    if let Some(number) = std::env::var_os(MARK) {
        let number: usize = number.to_str().and_then(|text| text.parse().ok()).expect("a number");
        functions[number]();
        return;
    }
    for number in 0..functions.len() {
        let mut again = again(MARK, &number.to_string());
        let mut child = again.stderr(Stdio::piped()).spawn().expect("this test can be run");
        let begin = Instant::now();
        let ended = loop {
            match child.try_wait().expect("a child") {
                Some(ended) => break ended,
                None if begin.elapsed() > Duration::from_secs(60) => {
                    child.kill().expect("a child");
                    panic!("function {number} does not end");
                }
                None => thread::sleep(Duration::from_millis(20)),
            }
        };
        let mut said = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        assert!(said.contains(why) && !ended.success(), "function {number}: {said}");
    }
}

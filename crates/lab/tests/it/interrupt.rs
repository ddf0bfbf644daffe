//! Ctrl-C keeps what was measured.

use super::{ONE_AT_A_TIME, files_in, started};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Presses Ctrl-C half a second after the start of `line`, and waits for its end.
fn interrupted(directory: &Path, line: &str) -> ExitStatus {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut child = started(directory, line);
    std::thread::sleep(Duration::from_millis(500));
    press_ctrl_c(&child);
    ends_soon(&mut child)
}

fn press_ctrl_c(child: &Child) {
    // SAFETY: sends a signal to a child of ours that has not been waited for.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
}

fn ends_soon(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("a child of ours") {
            return status;
        }
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().expect("a child of ours");
            panic!("Ctrl-C did not end it");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn document(path: &Path) -> Value {
    let text = std::fs::read(path).expect("the document was written");
    serde_json::from_slice(&text).expect("one complete JSON document")
}

#[test]
fn a_benchmark_keeps_the_repetition_that_was_cut_short() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let line = "bench --lock unfair --threads 1 --secs 60 --runs 3 --json out.json";
    assert_eq!(interrupted(directory.path(), line).code(), Some(130));
    assert_eq!(files_in(directory.path()), ["out.json"]);
    let document = document(&directory.path().join("out.json"));
    assert_eq!(document["interrupted"], true);
    assert_eq!(document["results"][0]["runs"], 1);
    assert!(document["results"][0]["ops_per_s"]["median"].as_f64() > Some(0.0));
}

#[test]
fn a_comparison_keeps_the_cells_that_were_begun() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let line = "compare --cell cs1-t2,cs20-t2 --peer std --secs 60 --json out.json";
    assert_eq!(interrupted(directory.path(), line).code(), Some(130));
    let document = document(&directory.path().join("out.json"));
    assert_eq!(document["interrupted"], true);
    let cells = document["cells"].as_array().expect("cells");
    assert_eq!((cells.len(), &cells[0]["name"]), (1, &"cs1-t2".into()));
    assert!(cells[0]["locks"]["mutex"]["ops_per_s"].as_f64() > Some(0.0));
    assert!(cells[0]["ratio"].is_null(), "one repetition is no comparison");
}

#[test]
fn a_torture_keeps_its_verdict_so_far() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let line = "torture --lock unfair,ticket --secs 60 --json out.json";
    assert_eq!(interrupted(directory.path(), line).code(), Some(130));
    let document = document(&directory.path().join("out.json"));
    assert_eq!(document["results"][0]["verdict"], "SUCCESS");
    assert_eq!(document["results"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_exploration_keeps_what_it_has_seen() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let line = "explore --lock ticket,mcs --schedules 1000000000 --json out.json";
    assert_eq!(interrupted(directory.path(), line).code(), Some(130));
    let document = document(&directory.path().join("out.json"));
    assert_eq!(document["interrupted"], true);
    assert_eq!(document["results"][0]["verdict"], "HELD");
    assert!(document["results"][0]["schedules"].as_u64() > Some(0));
}

/// Starts a simulation that takes hours, waits until `started` is on standard error, or half a
/// second without it, and presses Ctrl-C twice. Returns all that was said after `started`.
fn interrupted_twice(more: &str, started: Option<&str>) -> String {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let line = format!("bench --on x5-4 --lock mcs --threads 8 --secs 3600 --runs 1 {more}");
    let mut child = Command::new(env!("CARGO_BIN_EXE_lockwright"))
        .args(line.split_whitespace())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut said = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut first = String::new();
    if let Some(started) = started {
        said.read_line(&mut first).expect("text");
        assert!(first.starts_with(started), "{first}");
    }
    std::thread::sleep(Duration::from_millis(500));
    press_ctrl_c(&child);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(child.try_wait().expect("a child of ours"), None, "the first Ctrl-C ended it");
    press_ctrl_c(&child);
    assert_eq!(ends_soon(&mut child).code(), Some(130));
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("text");
    rest
}

#[test]
fn a_simulation_that_goes_on_after_ctrl_c_says_so_and_how_to_stop_it() {
    let said = interrupted_twice("", Some("threads: 8"));
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("finishing") && said.contains("another Ctrl-C"), "{said}");
    assert_eq!(interrupted_twice("--quiet", None), "");
}

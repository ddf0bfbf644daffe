//! The command line from outside: what goes in, what comes out, and what is left behind.
//!
//! Native tests run for a time, with at most two threads.

mod bad_input;
mod bench;
mod compare;
mod diff;
mod explore;
mod folder;
mod formats;
mod golden;
mod guests;
#[path = "../../../pthread/tests/it/inherited.rs"]
mod inherited;
mod interrupt;
mod lists;
mod machine_files;
mod probe;
mod readme;
mod reproduce;
mod run;
mod simulated;
mod simulated_torture;
mod surroundings;
mod sweep;
mod torture;
mod tour;
mod widths;
mod wrong_lines;

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

/// Two measurements at the same time would disturb each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs `lockwright` with the arguments in `line`, separated by blanks.
fn lockwright(line: &str) -> Output {
    lockwright_in(Path::new("."), line)
}

/// As [`lockwright`], in a directory.
fn lockwright_in(directory: &Path, line: &str) -> Output {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    Command::new(env!("CARGO_BIN_EXE_lockwright"))
        .args(line.split_whitespace())
        .current_dir(directory)
        .output()
        .expect("the binary starts")
}

/// Starts `lockwright` in a directory, and hears nothing of it.
fn started(directory: &Path, line: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lockwright"))
        .args(line.split_whitespace())
        .current_dir(directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts")
}

/// The bytes that `line` writes are decided by its seed: two runs write the same, and a run with another
/// seed does not.
fn one_seed_decides_every_byte(line: &str) {
    let (first, second) = (lockwright(line), lockwright(line));
    assert!(first.status.success(), "`{line}`: {}", stderr(&first));
    assert!(first.stdout == second.stdout, "`{line}`: two runs of one seed differ");
    let other = lockwright(&format!("{line} --seed 2"));
    assert!(other.status.success(), "`{line}`: {}", stderr(&other));
    assert!(first.stdout != other.stdout, "`{line}`: another seed makes no difference");
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("standard output is text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("standard error is text")
}

/// The JSON document on standard output of a command that must succeed.
fn json(line: &str) -> Value {
    let output = lockwright(line);
    assert!(output.status.success(), "`{line}`: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("standard output is one JSON document")
}

/// Checks that `value` has all of `fields`.
fn has_fields(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(value.get(field).is_some(), "no `{field}` in {value}");
    }
}

/// The names in a directory.
fn files_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

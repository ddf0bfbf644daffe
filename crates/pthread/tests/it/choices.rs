//! What the environment chooses.

use crate::{compiled, run, with_library};
use std::path::Path;

#[test]
fn each_policy_loses_nothing_and_an_unknown_one_is_said() {
    let storm = compiled("storm", "cc");
    let by_default = run(with_library(&storm));
    for policy in ["fair", "cna"] {
        let mut program = with_library(&storm);
        program.env("LOCKWRIGHT_POLICY", policy);
        assert_eq!(run(program), by_default, "{policy}");
    }
    let said = |name: &str, value: &str| {
        let mut program = with_library(&compiled("versions", "cc"));
        program.arg(crate::library()).env(name, value);
        let output = program.output().expect("it starts");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said("LOCKWRIGHT_POLICY", "fifo").contains("default, fair or cna"));
    assert_eq!(said("LOCKWRIGHT_POLICY", "cna"), "");
    assert!(said("LOCKWRIGHT_VERBOSE", "yes").contains("LOCKWRIGHT_VERBOSE is 0 or 1"));
    assert!(said("LOCKWRIGHT_POLICIES", "cna").contains("is not a variable of lockwright"));
    let counts = said("LOCKWRIGHT_VERBOSE", "1");
    assert!(counts.contains("policy default") && counts.contains(" normal mutexes"), "{counts}");
}

#[test]
fn with_fair_an_owner_does_not_overtake_a_thread_that_sleeps_in_forked_children_either() {
    let mut program = with_library(&compiled("handed", "cc"));
    program.env("LOCKWRIGHT_POLICY", "fair");
    assert_eq!(run(program), "0 0 0 ");
}

#[test]
fn no_message_ends_a_program_whose_standard_error_nobody_reads() {
    let variables =
        ["LOCKWRIGHT_POLICY", "LOCKWRIGHT_VERBOSE", "LOCKWRIGHT_MEMBARRIER", "LOCKWRIGHT_A"];
    for (name, value) in
        variables.map(|name| (name, "2")).into_iter().chain([("LOCKWRIGHT_VERBOSE", "1")])
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut program = with_library(&compiled("versions", "cc"));
        program.arg(crate::library()).env(name, value).stderr(writer);
        let status = program.status().expect("it starts");
        assert!(status.success(), "{name}={value}: {status}");
    }
}

#[test]
fn objects_are_counted_once_each() {
    let mut program = with_library(&compiled("storm", "cc"));
    let output = program.env("LOCKWRIGHT_VERBOSE", "1").output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let count = |kind: &str| -> u64 {
        let line = text.lines().find(|line| line.ends_with(kind)).expect("a line for each kind");
        let number = line.split_whitespace().nth(1).expect("a number");
        number.parse().expect("a number")
    };
    // The storm locks each of them thousands of times, and makes some of them anew in a loop.
    assert!(count(" normal mutexes") > 0 && count(" condition variables") > 0, "{text}");
    assert!(count(" reader-writer locks") < 100, "{text}");
}

#[test]
fn what_was_used_is_said_once_on_standard_error_and_in_no_file() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("data-{}", std::process::id()));
    for way in ["usual", "closed", "file", "all closed", "daemon", "two forks"] {
        let mut program = with_library(&compiled("report", "cc"));
        program.arg(way).arg(&file).env("LOCKWRIGHT_VERBOSE", "1");
        let output = program.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{way}: {output:?}");
        assert_eq!(text.matches("lockwright: process").count(), 1, "{way}: {text}");
        assert!(text.contains(" 1 normal mutexes"), "{way}: {text}");
    }
    assert_eq!(std::fs::read(&file).expect("the data"), b"data\n");
    std::fs::remove_file(&file).expect("it is there");
}

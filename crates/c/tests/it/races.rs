//! A program that is compiled with ThreadSanitizer: it follows the locks.

use crate::{Linked, compilation, compilers, file_for, is_here, started};
use std::process::{Command, Output};

/// Runs a program that watches itself, with an argument. Some of its versions need its memory at fixed places.
fn watched(program: &std::path::Path, argument: &str) -> Output {
    let mut command = Command::new("setarch");
    command.arg("--addr-no-randomize").arg(program).arg(argument);
    command.envs(started(program).get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("TSAN_OPTIONS", "exitcode=66");
    command.output().expect("a program")
}

#[test]
fn thread_sanitizer_reports_the_races_that_there_are_and_no_others() {
    if !is_here("setarch") {
        return;
    }
    for compiler in compilers(&["gcc", "clang"]) {
        for linked in [Linked::Shared, Linked::Archive] {
            let program = file_for("tests/races.c", compiler, linked, "-watched");
            let mut cc = compilation("tests/races.c", compiler, linked);
            cc.args(["-g", "-fsanitize=thread", "-o"]).arg(&program);
            let Output { status, stderr, .. } = cc.output().expect("a compiler");
            if !status.success() {
                let why = String::from_utf8_lossy(&stderr);
                println!("{compiler} has no ThreadSanitizer, so this did not run: {why}");
                continue;
            }
            let quiet = watched(&program, "none");
            let said = String::from_utf8_lossy(&quiet.stderr);
            assert!(quiet.status.success() && said.is_empty(), "{compiler}, {linked:?}: {said}");
            let race = watched(&program, "race");
            let said = String::from_utf8_lossy(&race.stderr);
            let is_found = said.contains("WARNING: ThreadSanitizer: data race");
            assert!(race.status.code() == Some(66) && is_found, "{compiler}, {linked:?}: {said}");
        }
    }
}

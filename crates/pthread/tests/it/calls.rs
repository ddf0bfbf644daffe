//! Calls and their results, with glibc's locks and with ours.

use crate::{compiled, compilers, inherited, library, run, with_library};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

#[test]
fn calls_have_the_results_that_they_have_with_glibc() {
    for compiler in compilers() {
        let program = compiled("table", compiler);
        let (theirs, ours) = (run(Command::new(&program)), run(with_library(&program)));
        let lines = theirs.lines().zip(ours.lines()).enumerate();
        for (number, (theirs, ours)) in lines {
            assert_eq!(theirs, ours, "{compiler}, line {}", number + 1);
        }
        assert_eq!(theirs.lines().count(), ours.lines().count(), "{compiler}");
        assert!(theirs.ends_with("two processes\nthe child ended with 0\n"), "{theirs}");
    }
}

#[test]
fn many_threads_lose_nothing() {
    let program = compiled("storm", "cc");
    let parts = ["mutexes", "queue", "cancellations", "destroyed", "readers and writers", "forks"];
    assert_eq!(run(with_library(&program)).lines().collect::<Vec<_>>(), parts);
}

/// `cargo xtask programs` runs the same with policy `fair`, in which each of ten thousand threads is woken apart.
#[test]
fn ten_thousand_threads_forks_and_a_killed_process_lose_nothing() {
    let program = compiled("crowd", "cc");
    let parts = ["threads and mutexes", "forks", "a process that was killed"];
    for policy in ["default", "cna"] {
        let mut command = with_library(&program);
        command.env("LOCKWRIGHT_POLICY", policy);
        let printed = run(command);
        assert_eq!(printed.lines().take(parts.len()).collect::<Vec<_>>(), parts, "{policy}");
        assert!(printed.ends_with("a process with other locks that was killed\n"), "{policy}");
    }
}

#[test]
fn every_function_leaves_the_state_of_its_thread_as_it_was() {
    let program = compiled("duties", "cc");
    assert_eq!(run(Command::new(&program)), "", "glibc's own");
    for policy in ["default", "fair"] {
        let mut command = with_library(&program);
        command.env("LOCKWRIGHT_POLICY", policy);
        assert_eq!(run(command), "", "{policy}");
    }
}

#[test]
fn every_version_of_every_function_is_ours() {
    let mut program = with_library(&compiled("versions", "cc"));
    program.arg(library());
    assert_eq!(run(program), "");
}

#[test]
fn a_program_inherits_the_same_with_the_library() {
    let preload: OsString = format!("LD_PRELOAD={}", library().display()).into();
    let program = compiled("inherits", "cc");
    let words = ["/usr/bin/env".as_ref(), preload.as_os_str()];
    assert_eq!(inherited::differences(&program, &words), [""; 0]);
}

#[test]
fn a_program_of_musl_starts_where_one_of_glibc_has_the_library() {
    let prefix = library().parent().expect("a folder").join("lockwright");
    let start = |program: PathBuf| {
        let mut command = Command::new(program);
        command.env("LD_PRELOAD", prefix.join("$LIB/liblockwright-pthread.so"));
        command.args(["1", "1"]).env("LOCKWRIGHT_VERBOSE", "1").output().expect("it starts")
    };
    let of_glibc = start(compiled("pair", "cc"));
    let said = String::from_utf8_lossy(&of_glibc.stderr).into_owned();
    assert!(of_glibc.status.success() && said.contains("policy default"), "{said}");
    if Command::new("musl-gcc").arg("--version").output().is_err() {
        eprintln!("not run: there is no musl-gcc");
        return;
    }
    let of_musl = start(compiled("pair", "musl-gcc"));
    assert!(of_musl.status.success() && of_musl.stderr.is_empty(), "{of_musl:?}");
}

#[test]
fn a_start_costs_what_the_readme_says() {
    let program = compiled("start", "cc");
    let number = |mut command: Command, way: &str| -> i64 {
        command.args(way.split(' ')).env_remove("LOCKWRIGHT_POLICY");
        let text = run(command);
        text.lines().next_back().expect("a line").parse().expect("a number")
    };
    let more =
        |way: &str| number(with_library(&program), way) - number(Command::new(&program), way);
    let readme = include_str!("../../README.md");
    let limit = |row: &str| -> i64 {
        let line = readme.lines().find(|line| line.contains(row)).expect("a row");
        let cell = line.trim_end_matches(" |").rsplit('|').next().expect("a cell");
        cell.trim().parse().expect("a number")
    };
    if number(Command::new(&program), "calls") > 0 {
        let (calls, most) = (more("calls"), limit("| system calls"));
        assert!((1..=most).contains(&calls), "{calls} more system calls");
        // It may make threads, so the quotas are read.
        let of_threads = more(&format!("calls {} 1 1", compiled("pair", "cc").display()));
        assert!(of_threads > calls, "{of_threads}, {calls}");
    } else {
        eprintln!("not run: this process may not trace another");
    }
    let (kib, most) = (more("size"), limit("| address space"));
    assert!((1..=most).contains(&kib), "{kib} KiB more");
    assert_eq!(more("lock"), 0, "mlockall, with the usual limit");
    if number(Command::new(&program), "lock") < 0 {
        eprintln!("not run: this user may not have the usual limit of locked memory");
    }
}

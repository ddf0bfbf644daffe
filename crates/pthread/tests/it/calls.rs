//! Calls and their results, with glibc's locks and with ours.

use crate::{compiled, compilers, library, run, with_library};
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

#[test]
fn every_version_of_every_function_is_ours() {
    let mut program = with_library(&compiled("versions", "cc"));
    program.arg(library());
    assert_eq!(run(program), "");
}

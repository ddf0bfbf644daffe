//! The examples, and a program that calls everything: built by every compiler, linked in every way, and run.

use crate::{WAYS, compiled, compilers, run};

const C: &[&str] = &["cc", "gcc", "clang"];

/// Compiles and runs a program everywhere; what it prints.
fn prints(name: &str, compilers: &[&str], expected: &str) {
    for compiler in compilers {
        for linked in WAYS {
            let printed = run(compiled(name, compiler, linked));
            assert_eq!(printed, expected, "{name}, {compiler}, {linked:?}");
        }
    }
}

#[test]
fn the_examples_in_c_print_what_they_should() {
    let compilers = compilers(C);
    assert!(!compilers.is_empty(), "a C compiler, as CONTRIBUTING.md says");
    prints("examples/queue.c", &compilers, "sum of 60000 messages: 600030000\n");
    let expected = "63 entries computed, 0 wrong\nwhile it is read: timed out\n";
    prints("examples/cache.c", &compilers, expected);
}

#[test]
fn every_function_does_what_the_header_says_and_threads_exclude_each_other() {
    prints("tests/table.c", &compilers(C), "locks\nupgrades\npermits\nwaits\nstorms\n");
}

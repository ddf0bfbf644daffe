//! The examples, and programs that call everything: built by every compiler, linked in every way by one, and run.

use crate::tools::{has_filters, listed_calls};
use crate::{Linked, WAYS, compiled, compilers, run, source};
use std::path::Path;

const C: &[&str] = &["cc", "gcc", "clang"];
const CPP: &[&str] = &["g++", "clang++"];

/// Compiles and runs a program with each compiler, and in every way with the first; what it prints.
fn prints(name: &str, compilers: &[&str], expected: &str) {
    for (at, compiler) in compilers.iter().enumerate() {
        for linked in if at == 0 { &WAYS[..] } else { &[Linked::Shared] } {
            let linked = *linked;
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

#[test]
fn every_function_leaves_the_state_of_its_thread_as_it_was() {
    prints("tests/duties.c", &compilers(C), "");
}

#[test]
fn no_function_makes_a_system_call_that_the_header_does_not_list() {
    if !has_filters() {
        return;
    }
    let listed = listed_calls("include/lockwright.h", " * A filter has to allow", "*/");
    let affinity = "sched_getaffinity sched_setaffinity";
    let none = &format!("membarrier {affinity}");
    for (membarrier, refused, without, is_child) in [
        ("off", "sched_getscheduler sched_yield", none.as_str(), "yes"),
        ("off", "", none, "no"),
        ("on", "", affinity, "yes"),
        ("on", "membarrier", "", "no"),
    ] {
        let mut command = compiled("tests/duties.c", "cc", Linked::Shared);
        command.arg(&listed).args(["refused", refused, "without", without, "fork", is_child]);
        command.env("LOCKWRIGHT_MEMBARRIER", membarrier);
        assert_eq!(run(command), "", "membarrier {membarrier}");
    }
}

#[test]
fn the_examples_in_cpp_print_what_they_should() {
    let compilers = compilers(CPP);
    prints("examples/queue.cpp", &compilers, "sum of 60000 messages: 600030000\n");
    prints("examples/cache.cpp", &compilers, "800 of 800 are right\n");
}

#[test]
fn the_types_of_cpp_are_what_the_guards_and_clocks_of_the_standard_need() {
    prints("tests/types.cpp", &compilers(CPP), "all is as it should be\n");
}

/// The program of the README in this language, written to a file.
fn of_readme(language: &str) -> String {
    let readme = std::fs::read_to_string(source("README.md")).expect("a source");
    let (_, program) = readme.split_once(&format!("```{language}\n")).expect("a program");
    let (program, _) = program.split_once("```").expect("its end");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("first.{language}"));
    std::fs::write(&file, program).expect("a file");
    file.display().to_string()
}

#[test]
fn the_programs_of_the_readme_print_what_it_says() {
    prints(&of_readme("c"), &compilers(C), "sum: 42\n");
    prints(&of_readme("cpp"), &compilers(CPP), "sum: 42\n");
}

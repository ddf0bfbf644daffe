//! Programs that somebody watches: a filter of system calls, or a sanitizer.

use crate::tools::{has_filters, listed_calls};
use crate::{compiled, run, with_library};
use std::path::Path;
use std::process::Command;

#[test]
fn no_function_makes_a_system_call_that_the_readme_does_not_list() {
    if !has_filters() {
        return;
    }
    let listed = listed_calls("README.md", "A filter of system calls has to allow", "\n- ");
    let program = compiled("duties", "cc");
    let affinity = "sched_getaffinity sched_setaffinity";
    let none = &format!("membarrier {affinity}");
    for policy in ["default", "fair", "cna"] {
        for (membarrier, refused, without, is_child) in [
            ("off", "", none.as_str(), "no"),
            ("off", "sched_getscheduler sched_yield", none, "yes"),
            ("on", "", affinity, "no"),
            ("on", "membarrier", "", "yes"),
        ] {
            let mut command = with_library(&program);
            command.arg(&listed).args(["refused", refused, "without", without, "fork", is_child]);
            command.env("LOCKWRIGHT_POLICY", policy).env("LOCKWRIGHT_NUMA_SPINLOCK", "on");
            command.env("LOCKWRIGHT_MEMBARRIER", membarrier);
            assert_eq!(run(command), "", "{policy}, membarrier {membarrier}");
        }
    }
}

/// Its library comes behind ours, and has to see the calls.
#[test]
fn a_program_with_thread_sanitizer_of_gcc_behaves_as_with_glibc() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sanitized.c");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sanitized-thread");
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=gnu11", "-O1", "-pthread", "-fsanitize=thread"]).arg(source);
    let is_built = gcc.arg("-o").arg(&program).output().is_ok_and(|it| it.status.success());
    if !is_built || !Command::new(&program).output().is_ok_and(|it| it.status.success()) {
        eprintln!("not run: there is no gcc whose ThreadSanitizer works here");
        return;
    }
    for error in ["none", "race"] {
        let output = with_library(&program).arg(error).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(!output.status.success(), error == "race", "{error}: {said}");
        assert_eq!(said.contains("data race"), error == "race", "{error}: {said}");
        assert!(said.contains("the locks stay those of glibc"), "{error}: {said}");
    }
}

//! Running commands, for the tests of this library and of the one for programs that are not recompiled.

use std::path::Path;
use std::process::{Command, Output};

/// What a command prints; it succeeds.
pub fn run(mut command: Command) -> String {
    let Output { status, stdout, stderr } =
        command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {status}\n{stdout}{stderr}");
    stdout.into_owned()
}

/// Runs `cargo xtask install` with these arguments.
pub fn install(arguments: &[&str]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let mut cargo = Command::new(env!("CARGO"));
    // Of the workspace, so that what it depends on is not compiled again with other features.
    cargo.args(["build", "--quiet", "--workspace", "--bin", "xtask", "--target-dir"]).arg(&target);
    cargo.current_dir(&root);
    run(cargo);
    let mut xtask = Command::new(target.join("debug/xtask"));
    xtask.arg("install").args(arguments).current_dir(root);
    run(xtask);
}

/// Has a compiler make this file. Another test may make or run the same file at this time, so it appears whole.
pub fn build(mut compiler: Command, file: &Path) {
    let thread = std::thread::current().id();
    let part = file.with_extension(format!("{}-{thread:?}", std::process::id()));
    compiler.arg("-o").arg(&part);
    run(compiler);
    std::fs::rename(part, file).expect("it is in the same folder");
}

/// The part of a document that lists the system calls that a filter has to allow. It begins so and ends so.
pub fn listed_calls(document: &str, begin: &str, end: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = std::fs::read_to_string(path).expect("a source");
    let part = text.split_once(begin).and_then(|(_, rest)| rest.split_once(end));
    part.unwrap_or_else(|| panic!("{document} says `{begin}`")).0.to_owned()
}

/// Returns `true` if this process may have filters of system calls. If not, says so.
pub fn has_filters() -> bool {
    let actions = "/proc/sys/kernel/seccomp/actions_avail";
    let has = std::fs::read_to_string(actions).is_ok_and(|actions| actions.contains("trap"));
    if !has {
        println!("the kernel has no filters of system calls: what needs them did not run");
    }
    has
}

//! The library for programs, as `cargo xtask install` makes it: what it does, and what is in it. Needs a C compiler, as
//! the library does.

mod calls;
mod choices;
mod contents;
mod inherited;
mod results;
#[path = "../../../c/tests/it/tools.rs"]
mod tools;
mod watched;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use tools::{build, install, run};

/// The library, built once for all tests.
fn library() -> &'static Path {
    static LIBRARY: LazyLock<PathBuf> = LazyLock::new(|| {
        install(&["--prefix", env!("CARGO_TARGET_TMPDIR")]);
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lib/liblockwright-pthread.so");
        path.canonicalize().expect("it was installed")
    });
    &LIBRARY
}

/// A C program of the folder `tests`, compiled.
fn compiled(name: &str, compiler: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{name}.c"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{compiler}"));
    let mut cc = Command::new(compiler);
    cc.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread"]);
    cc.arg(&source).args(["-ldl", "-lm"]);
    build(cc, &program);
    program
}

/// The program, to be run with the library.
fn with_library(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_PRELOAD", library());
    command
}

/// The C compilers that are here; the first is the one that everybody has.
fn compilers() -> Vec<&'static str> {
    let is_here = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let found: Vec<_> = ["cc", "gcc", "clang"].into_iter().filter(is_here).collect();
    assert!(!found.is_empty(), "a C compiler, as CONTRIBUTING.md says");
    found
}

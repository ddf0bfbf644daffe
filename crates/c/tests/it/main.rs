//! The library for programs in C and C++, as `cargo xtask install` makes it: what it does, and what is in it. Needs a C
//! compiler, as the library does. What else is missing is named, and what needs it does not run.

mod contents;
mod copies;
mod examples;
mod interface;
mod panics;
mod races;
mod tools;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use tools::{build, install, run};

/// Where the library is used, once the files are no longer below [`stage`].
const PREFIX: &str = "/opt/lockwright";

/// What the files are below, as for a package; installed once for all tests.
fn stage() -> &'static Path {
    static STAGE: LazyLock<PathBuf> = LazyLock::new(|| {
        let stage = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stage");
        install(&["--prefix", PREFIX, "--destdir", stage.to_str().expect("a path in UTF-8")]);
        stage
    });
    &STAGE
}

/// A file of the installation.
fn installed(name: &str) -> PathBuf {
    stage().join(PREFIX.trim_start_matches('/')).join(name)
}

/// A file of this crate.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Returns `true` if a tool is here. If not, says so.
fn is_here(name: &str) -> bool {
    let is_here = Command::new(name).arg("--version").output().is_ok();
    if !is_here {
        println!("`{name}` is not installed: what needs it did not run");
    }
    is_here
}

/// Those of these compilers that are here, each once: `cc` is usually another name of one of the others.
fn compilers(names: &[&'static str]) -> Vec<&'static str> {
    let version = |name: &str| {
        let mut compiler = Command::new(name);
        compiler.arg("--version");
        run(compiler).split_once(' ').map(|(_, version)| version.to_owned())
    };
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if is_here(name) && !found.iter().any(|other| version(other) == version(name)) {
            found.push(name);
        }
    }
    found
}

/// How a program gets the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linked {
    /// When it starts.
    Shared,
    /// From the archive.
    Archive,
    /// From the archive, and the C library in the same way.
    Static,
}

const WAYS: [Linked; 3] = [Linked::Shared, Linked::Archive, Linked::Static];

/// What a program needs to find the library, as `pkg-config` says, or else as it would say.
fn flags(options: &[&str]) -> Vec<String> {
    let file = installed("lib/pkgconfig/lockwright.pc");
    if !is_here("pkg-config") {
        let folder = |name: &str| installed(name).display().to_string();
        let (include, lib) = (format!("-I{}", folder("include")), format!("-L{}", folder("lib")));
        return vec![include, lib, "-llockwright".into()];
    }
    let mut command = Command::new("pkg-config");
    command.args(options).args(["--cflags", "--libs", "lockwright"]);
    command.env("PKG_CONFIG_PATH", file.parent().expect("a folder"));
    command.env("PKG_CONFIG_SYSROOT_DIR", stage());
    run(command).split_whitespace().map(str::to_owned).collect()
}

/// A program, compiled from a source of this crate without a warning, to be run.
fn compiled(name: &str, compiler: &str, linked: Linked) -> Command {
    let program = file_for(name, compiler, linked, "");
    build(compilation(name, compiler, linked), &program);
    started(&program)
}

/// Where a program is put.
fn file_for(name: &str, compiler: &str, linked: Linked, with: &str) -> PathBuf {
    let plain = name.replace(['/', '.'], "-");
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{plain}-{compiler}-{linked:?}{with}"))
}

/// How such a program is compiled.
fn compilation(name: &str, compiler: &str, linked: Linked) -> Command {
    let standard = if name.ends_with(".cpp") { "-std=c++17" } else { "-std=c99" };
    let mut cc = Command::new(compiler);
    cc.args([standard, "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-pthread"]);
    cc.arg(source(name));
    match linked {
        Linked::Shared => cc.args(flags(&[])),
        Linked::Archive => {
            cc.arg(format!("-I{}", installed("include").display()));
            cc.arg(installed("lib/liblockwright.a"))
        }
        Linked::Static => cc.arg("-static").args(flags(&["--static"])),
    };
    // Of which `duties.c` has the state of floating-point numbers.
    cc.arg("-lm");
    cc
}

/// A program, to be run with the library.
fn started(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", installed("lib"));
    command
}

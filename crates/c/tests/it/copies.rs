//! Several copies of the library in one process use the same locks.

use crate::{build, compilers, flags, installed, source};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn built(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Compiles sources of the folder with these options.
fn compile(compiler: &str, sources: &[&str], options: &[&str], name: &str) -> PathBuf {
    let program = built(&format!("{name}-{compiler}"));
    let mut cc = Command::new(compiler);
    cc.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-fPIC"]);
    cc.arg(format!("-I{}", installed("include").display()));
    cc.args(sources.iter().map(|name| source(&format!("tests/copies/{name}")))).args(options);
    build(cc, &program);
    program
}

/// The archive, for the linker.
fn archive() -> String {
    installed("lib/liblockwright.a").display().to_string()
}

/// A library with a copy of its own, linked with more options.
fn library(compiler: &str, options: &[&str], name: &str) -> PathBuf {
    let archive = archive();
    compile(compiler, &["copy.c"], &[&["-shared", &archive], options].concat(), name)
}

/// Runs a program with two copies, which has that many seconds.
fn with_copies(program: &Path, copies: [&Path; 2], seconds: u32) -> Output {
    let mut command = Command::new(program);
    command.args(copies).arg(seconds.to_string()).env("LD_LIBRARY_PATH", installed("lib"));
    command.output().expect("it runs")
}

fn is_right(program: &Path, copies: [&Path; 2]) {
    let output = with_copies(program, copies, 300);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed, "one table\ndone\n", "{program:?} {copies:?}: {output:?}");
    assert!(output.status.success(), "{program:?} {copies:?}: {output:?}");
}

/// That they hang is seen when an alarm ends them.
fn is_wrong(program: &Path, copies: [&Path; 2]) {
    let output = with_copies(program, copies, 5);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed, "two tables\n", "{program:?} {copies:?}: {output:?}");
    assert_eq!(output.status.signal(), Some(libc::SIGALRM), "{output:?}");
}

#[test]
fn libraries_that_do_not_see_each_other_share_one_table() {
    for compiler in compilers(&["cc", "gcc", "clang"]) {
        let program = compile(compiler, &["main.c"], &["-ldl"], "copies");
        let [first, second] = ["first.so", "second.so"].map(|name| library(compiler, &[], name));
        is_right(&program, [&first, &second]);
        let bound = library(compiler, &["-Wl,-Bsymbolic"], "bound.so");
        is_right(&program, [&bound, &first]);
    }
}

#[test]
fn a_copy_from_the_archive_and_the_shared_library_share_one_table() {
    let compiler = compilers(&["cc"])[0];
    let program = compile(compiler, &["main.c"], &["-ldl"], "copies-mixed");
    let (own, flags) = (library(compiler, &[], "own.so"), flags(&[]));
    let mut options = vec!["-shared"];
    options.extend(flags.iter().map(String::as_str));
    let shared = compile(compiler, &["copy.c"], &options, "shared.so");
    is_right(&program, [&own, &shared]);
    is_right(&program, [&shared, &own]);
}

#[test]
fn a_program_shares_its_table_with_libraries_if_it_exports_it() {
    let compiler = compilers(&["cc"])[0];
    let (library, archive) = (library(compiler, &[], "plugin.so"), archive());
    let (get, table) =
        ("-Wl,--export-dynamic-symbol=get_copy", "-Wl,--export-dynamic-symbol=lockwright_4_*");
    let program = |options: &[&str], name: &str| {
        compile(compiler, &["main.c", "copy.c"], &[&[&archive, "-ldl"], options].concat(), name)
    };
    is_right(&program(&[get, table], "exports"), [Path::new("-"), &library]);
    is_wrong(&program(&[get], "exports-nothing"), [Path::new("-"), &library]);
}

#[test]
fn copies_that_hide_their_tables_lose_wake_ups() {
    let compiler = compilers(&["cc"])[0];
    let program = compile(compiler, &["main.c"], &["-ldl"], "copies-hidden");
    let hidden = ["hidden.so", "hidden-too.so"]
        .map(|name| library(compiler, &["-Wl,--exclude-libs,ALL"], name));
    is_wrong(&program, [&hidden[0], &hidden[1]]);
}

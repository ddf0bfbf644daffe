//! The header, the list of versions and the libraries agree.

use crate::{Linked, stage};
use crate::{PREFIX, compiled, compilers, installed, run, source};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

fn text(name: &str) -> String {
    fs::read_to_string(source(name)).expect("a source")
}

/// The functions that the header declares.
fn declared() -> BTreeSet<String> {
    let header = text("include/lockwright.h");
    let lines = header.lines().filter(|line| {
        ["void ", "unsigned ", "int ", "LW_RESULT "].iter().any(|start| line.starts_with(start))
    });
    lines.filter_map(|line| Some(line.split_once('(')?.0.rsplit(' ').next()?.to_owned())).collect()
}

/// What a library defines for others, without versions.
fn defined(options: &[&str], library: &str) -> BTreeSet<String> {
    let mut nm = Command::new("nm");
    nm.args(options).arg("--defined-only").arg(installed(library));
    let names = run(nm);
    let names = names.lines().filter_map(|line| line.split_whitespace().nth(2));
    names.filter_map(|name| name.split('@').next()).map(str::to_owned).collect()
}

#[test]
fn the_libraries_show_the_functions_of_the_header_and_nothing_else() {
    let declared = declared();
    assert!(declared.len() > 60 && declared.contains("lw_semaphore_acquire_until"), "{declared:?}");
    let map = text("lockwright.map");
    let in_map: BTreeSet<_> =
        map.lines().filter_map(|line| line.trim().strip_suffix(';')).collect();
    let missing: Vec<_> = declared.iter().filter(|name| !in_map.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "not in lockwright.map: {missing:?}");
    let is_ours = |name: &String| !name.starts_with("LOCKWRIGHT_");
    let shared = defined(&["--dynamic"], "lib/liblockwright.so.0");
    assert_eq!(shared.into_iter().filter(is_ours).collect::<BTreeSet<_>>(), declared);
    let archive = defined(&["--extern-only"], "lib/liblockwright.a");
    assert_eq!(archive, declared);
}

#[test]
fn every_function_has_a_version() {
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only"]).arg(installed("lib/liblockwright.so.0"));
    let names = run(nm);
    let functions: Vec<_> = names.lines().filter(|line| line.contains(" T ")).collect();
    assert_eq!(functions.len(), declared().len());
    assert!(functions.iter().all(|line| line.ends_with("@@LOCKWRIGHT_0.1")), "{functions:?}");
}

#[test]
fn the_versions_of_the_header_and_of_the_package_are_those_of_the_crate() {
    let header = text("include/lockwright.h");
    let number = |name: &str| {
        let line = header.lines().find(|line| line.starts_with(&format!("#define {name} ")));
        line.and_then(|line| line.rsplit(' ').next()).expect("a version").to_owned()
    };
    let parts = ["MAJOR", "MINOR", "PATCH"].map(|part| number(&format!("LW_VERSION_{part}")));
    assert_eq!(parts.join("."), env!("CARGO_PKG_VERSION"));
    let description = fs::read_to_string(installed("lib/pkgconfig/lockwright.pc")).expect("a file");
    assert!(description.contains(&format!("Version: {}\n", env!("CARGO_PKG_VERSION"))));
    // Where the files are now is no concern of programs that are built later.
    assert!(description.starts_with(&format!("prefix={PREFIX}\n")), "{description}");
    assert!(!description.contains(&stage().display().to_string()));
}

#[test]
fn programs_ask_for_the_library_by_its_name_of_version_0() {
    let compiler = compilers(&["cc"])[0];
    let program = compiled("examples/queue.c", compiler, Linked::Shared);
    let mut readelf = Command::new("readelf");
    readelf.arg("--dynamic").arg(program.get_program());
    assert!(run(readelf).contains("[liblockwright.so.0]"));
}

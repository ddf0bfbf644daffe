//! The header, the list of versions and the libraries agree.

use crate::tools::listed_calls;
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

/// What a library defines for others, with sizes and kinds of symbols, without versions.
fn defined(options: &[&str], library: &str) -> BTreeSet<(String, u64, char)> {
    let mut nm = Command::new("nm");
    nm.args(options).args(["--defined-only", "--print-size", "--format=posix"]);
    nm.arg(installed(library));
    let symbol = |line: &str| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [name, kind, _, size] = words[..] else { return None };
        let size = u64::from_str_radix(size, 16).ok()?;
        Some((name.split('@').next()?.to_owned(), size, kind.chars().next()?))
    };
    run(nm).lines().filter_map(symbol).collect()
}

/// The names of symbols of that kind.
fn of_kind(kind: char, symbols: &BTreeSet<(String, u64, char)>) -> BTreeSet<String> {
    symbols.iter().filter(|symbol| symbol.2 == kind).map(|symbol| symbol.0.clone()).collect()
}

/// What the list of versions exports.
fn in_map() -> BTreeSet<String> {
    let map = text("lockwright.map");
    let names = map.lines().filter_map(|line| line.trim().strip_suffix(';'));
    names
        .filter(|name| name.starts_with("lw_") || name.starts_with("lockwright_"))
        .map(str::to_owned)
        .collect()
}

const LIBRARIES: [(&str, &str); 2] =
    [("--dynamic", "lib/liblockwright.so.0"), ("--extern-only", "lib/liblockwright.a")];

#[test]
fn the_libraries_show_the_functions_of_the_header_and_nothing_else() {
    let declared = declared();
    assert!(declared.len() > 60 && declared.contains("lw_semaphore_acquire_until"), "{declared:?}");
    for (option, library) in LIBRARIES {
        let defined = defined(&[option], library);
        assert_eq!(of_kind('T', &defined), declared, "{library}");
        let others = |name: &String| !declared.contains(name) && !name.starts_with("LOCKWRIGHT_");
        let others: BTreeSet<_> =
            defined.iter().map(|symbol| symbol.0.clone()).filter(others).collect();
        assert_eq!(of_kind('u', &defined), others, "{library}");
        assert_eq!(
            declared.union(&others).cloned().collect::<BTreeSet<_>>(),
            in_map(),
            "{library}"
        );
    }
}

/// The statics that copies share, and their sizes on 64-bit processors. **If one changes, or what is in one, raise the
/// number in their names** (`crates/core/src/native/per_process.rs`).
const SHARED: [(&str, u64); 20] = [
    ("barrier_mode", 1),
    ("barrier_refused", 1),
    ("buckets", 131_072),
    ("counting_marks", 8192),
    ("epoch", 4),
    ("epoch_of_process", 8),
    ("fork_mark", 8),
    ("last_barrier_ns", 8),
    ("last_lock_number", 8),
    ("life", 8),
    ("lock_hash", 1_048_576),
    ("marks", 4096),
    ("no_fork_mark", 4),
    ("nodes", 4_194_048),
    ("slot_claims", 4),
    ("slot_owners", 32_768),
    ("slots", 524_288),
    ("slots_used", 8),
    ("spinners", 128),
    ("waiters", 8_388_096),
];

#[test]
fn the_statics_that_copies_share_have_the_sizes_of_their_number() {
    let expected: BTreeSet<_> =
        SHARED.map(|(name, size)| (format!("lockwright_4_{name}"), size, 'u')).into();
    for (option, library) in LIBRARIES {
        let mut defined = defined(&[option], library);
        defined.retain(|symbol| symbol.2 == 'u');
        assert_eq!(defined, expected, "{library}");
    }
}

/// The statics of which each copy has one of its own, and why that does no harm.
const OWN: &[(&str, &str)] = &[
    ("counters::IS_SAID", "what is said once is said once by each copy"),
    ("counters::COUNTING", "a setting"),
    ("counters::SHARD", "counts; each copy has its own"),
    ("counters::TUNABLE", "settings; each copy reads the same environment"),
    ("environment::EVENT_STREAM", "a fact of the machine"),
    ("pool::LIMIT", "a limit for tests"),
    ("pool::THREADS", "only spreads the first looks of threads"),
    ("reader_slots::IS_REGISTERED", "each copy has a handler of its own"),
    ("reader_slots::NEXT", "only spreads searches"),
    ("reader_slots::NOBODYS", "never written"),
    ("thread_number::DRAWN", "copies count from different numbers"),
    ("topology::ALLOWED", "a fact of the process"),
    ("topology::ALLOWED_CPUS", "a fact of the process"),
    ("topology::IS_GUEST", "a fact of the machine"),
    ("topology::NODES", "a fact of the machine"),
    ("topology::NODE_OF", "a fact of the machine"),
    ("topology::QUOTA", "a fact of the process"),
    ("topology::STATE", "each copy reads the facts for itself"),
];

#[test]
fn a_static_of_which_each_copy_has_its_own_has_a_reason() {
    let mut nm = Command::new("nm");
    nm.args(["--defined-only", "--demangle"]).arg(installed("lib/liblockwright.a"));
    let names = run(nm);
    let name = |line: &str| {
        let (kind, name) = line.split_once(' ')?.1.split_once(' ')?;
        let name = name.strip_prefix("lockwright_core::native::")?.trim_end_matches("::CELLS");
        "bBdD".contains(kind).then(|| name.to_owned())
    };
    let own: BTreeSet<_> = names.lines().filter_map(name).collect();
    assert!(own.contains("pool::THREADS"), "{own:?}");
    // Some are there on some architectures only.
    let lacks = |name: &&String| OWN.iter().all(|(known, _)| known != name);
    let lacking: Vec<_> = own.iter().filter(lacks).collect();
    assert!(lacking.is_empty(), "share them, or give a reason: {lacking:?}");
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

/// The libraries are copies of our sources, of those of some crates, and of a part of the standard library.
#[test]
fn the_texts_of_the_licences_are_installed() {
    let text = |name: &str| fs::read_to_string(installed("share/doc/lockwright").join(name));
    for ours in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let source = fs::read_to_string(source("../..").join(ours)).expect("a text");
        assert_eq!(text(ours).expect("it is installed"), source);
    }
    let folder = fs::read_dir(installed("share/doc/lockwright")).expect("a folder");
    let names: Vec<_> = folder.flatten().map(|entry| entry.file_name()).collect();
    let has = |name: &str| names.iter().any(|it| it.to_string_lossy().starts_with(name));
    assert!(has("libc-"), "{names:?}");
    match installed("share/doc/lockwright/rust").is_dir() {
        true => assert!(text("rust/COPYRIGHT-library.html").is_ok_and(|text| text.len() > 1_000)),
        false => println!("the toolchain has no licences of the standard library: not checked"),
    }
}

#[test]
fn programs_ask_for_the_library_by_its_name_of_version_0() {
    let compiler = compilers(&["cc"])[0];
    let program = compiled("examples/queue.c", compiler, Linked::Shared);
    let mut readelf = Command::new("readelf");
    readelf.arg("--dynamic").arg(program.get_program());
    assert!(run(readelf).contains("[liblockwright.so.0]"));
}

#[test]
fn the_header_and_the_documents_for_rust_list_the_same_system_calls() {
    let program = text("tests/duties.c");
    let known: BTreeSet<_> = program.split("CALL(").filter_map(|it| it.split(')').next()).collect();
    let calls = |document: &str, begin: &str, end: &str| -> BTreeSet<String> {
        let listed = listed_calls(document, begin, end);
        let words = listed.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| known.contains(word)).map(str::to_owned).collect()
    };
    let of_header = calls("include/lockwright.h", " * A filter has to allow", "*/");
    assert!(of_header.contains("futex"), "{of_header:?}");
    let prepare = ("../core/src/native/mod.rs", "/// A filter has to allow", "/// Where a filter");
    let migrating =
        ("../../docs/migrating.md", "before you install the filter. Allow", "If a filter");
    for (document, begin, end) in [prepare, migrating] {
        assert_eq!(calls(document, begin, end), of_header, "{document}");
    }
}

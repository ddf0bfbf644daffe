//! The copy of the crates that has all mutants and chooses one at run time.
//!
//! Each place asks a generated module which form to take. The module knows from the environment, so one build serves
//! all mutants, and the product knows nothing of it.

use super::places::{self, Place};
use super::scan;
use crate::packages::SOURCES;
use crate::repository::target_of;
use crate::tidy::Source;
use crate::tidy::files;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the mutant by its number.
pub use lockwright_zoo::VARIABLE;
/// What the programs of the copy are called, in front of their names in the repository, whose build they share.
const PREFIX: &str = "weakened-";
/// The model checks of the copy.
pub const CHECK: &str = "weakened-check";
/// The lab of the copy.
pub const LAB: &str = "weakened-lockwright";
/// The example of the copy that holds locks to their fairness.
pub const FAIRNESS: &str = "weakened-fairness";
/// Where cargo puts it.
pub const FAIRNESS_PROGRAM: &str = "examples/weakened-fairness";

/// What is copied: the crates, and what they are built with.
const COPIED: [&str; 3] = ["crates/", "machines/", "data/"];
/// Folders whose files are programs.
const PROGRAMS: [&str; 2] = ["model/src/bin/", "sim/examples/"];
/// The folder of crates in the copy. Not called as in the repository: cargo tells packages apart by
/// their path within their workspace, and both workspaces share a target directory.
const FOLDER: &str = "weakened/";

/// The module that every place asks.
const MODULE: &str = r##"//! Generated: which mutant this is.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
}

const UNREAD: u32 = u32::MAX;
const NONE: u32 = u32::MAX - 1;
/// Relaxed, and read without a lock: choosing must not order anything between the threads that are watched.
static CHOSEN: AtomicU32 = AtomicU32::new(UNREAD);

/// True of the mutant with this number.
#[inline]
pub fn is(number: u32) -> bool {
    let chosen = CHOSEN.load(Relaxed);
    number == if chosen == UNREAD { read() } else { chosen }
}

#[cold]
fn read() -> u32 {
    // SAFETY: the name ends with a null.
    let value = unsafe { getenv(c"VARIABLE".as_ptr()) };
    // SAFETY: a string of the environment, which no thread changes.
    let value = (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) });
    let chosen = value.map_or(NONE, |it| it.to_str().ok().and_then(|it| it.parse().ok()).expect("a number"));
    CHOSEN.store(chosen, Relaxed);
    chosen
}
"##;

/// A copy of the repository, and what it is built into.
pub struct Built {
    folder: PathBuf,
    target: PathBuf,
}

impl Built {
    /// Writes the copy of the repository at `root` and builds the programs of its checkers.
    ///
    /// # Errors
    /// If it cannot be written, an edit does not fit, or it does not build.
    pub fn build(root: &Path, all: &[Source]) -> Result<Self, String> {
        eprintln!(
            "building a copy of the locks with all mutants, and its checkers; this can take ten minutes if it is not \
             built yet"
        );
        let copy = Self { folder: root.join("target/weaken"), target: target_of(root) };
        let mut places = places::of_bugs(all).map_err(|complaints| complaints.join("\n"))?;
        places.extend(scan::places(&scan::sites(all)?));
        write(root, &copy.folder, all, &places)
            .map_err(|error| format!("the copy cannot be written: {error}"))?;
        let mut cargo = Command::new("cargo");
        // Packages that are built one by one are built with other features, and twice.
        cargo.args(["build", "--workspace", "--bins", "--example", FAIRNESS]);
        copy.build_by(cargo.args(copy.options("")))?;
        Ok(copy)
    }
    /// Has cargo build something of the copy. Cargo tells what it compiles only if a person watches.
    ///
    /// # Errors
    /// If it does not build.
    pub fn build_by(&self, cargo: &mut Command) -> Result<(), String> {
        cargo.args((!io::stderr().is_terminal()).then_some("--quiet"));
        match cargo.status() {
            Ok(status) if status.success() => Ok(()),
            _ => Err("the copy in target/weaken does not build; the errors are above".into()),
        }
    }
    /// The options of cargo that mean the copy. The build of the repository is shared: what the copy depends on is
    /// compiled once. `below` is a folder of it.
    pub fn options(&self, below: &str) -> [PathBuf; 4] {
        let (manifest, target) = (self.folder.join("Cargo.toml"), self.target.join(below));
        ["--manifest-path".into(), manifest, "--target-dir".into(), target]
    }
    /// A program of the copy.
    pub fn program(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(name)
    }
}

/// Writes the copy of the repository at `root` into `to`. Files that are already there with the same text stay as they
/// are, so that only what has changed is compiled again.
fn write(root: &Path, to: &Path, all: &[Source], places: &[Place]) -> io::Result<()> {
    let mut files: Vec<(String, String)> = vec![("Cargo.toml".into(), manifest(root)?)];
    files.push(("Cargo.lock".into(), fs::read_to_string(root.join("Cargo.lock"))?));
    files
        .push((in_copy(&format!("{}weaken.rs", SOURCES[0])), MODULE.replace("VARIABLE", VARIABLE)));
    let is_copied = |source: &&Source| COPIED.iter().any(|folder| source.path.starts_with(folder));
    for source in all.iter().filter(is_copied) {
        let text = places::switched(source, places);
        let text = match source.path.as_str() {
            "crates/lab/Cargo.toml" => {
                text.replace("name = \"lockwright\"", &format!("name = \"{LAB}\""))
            }
            "crates/model/Cargo.toml" => {
                text.replace("name = \"sample\"", &format!("name = \"{PREFIX}sample\""))
            }
            "crates/zoo/src/lib.rs" => {
                text.replace("IS_COPY: bool = false", "IS_COPY: bool = true")
            }
            // An edit leaves something unused now and then, and has parentheses, needed or not.
            path if SOURCES.iter().any(|folder| path == format!("{folder}lib.rs")) => {
                let module = match path.starts_with(SOURCES[0]) {
                    true => "pub mod weaken;",
                    false => "use lockwright_core::weaken;",
                };
                format!("#![allow(unused, unreachable_code, missing_docs)]\n{text}\n{module}\n")
            }
            _ => text,
        };
        files.push((in_copy(&source.path), text));
    }
    remove_others(to, &files);
    files.iter().try_for_each(|(path, text)| write_if_new(&to.join(path), text))
}

/// Where the copy has the file at `path`. Programs are called by their file.
fn in_copy(path: &str) -> String {
    let path = path.replacen("crates/", FOLDER, 1);
    match PROGRAMS.iter().find(|folder| path.contains(*folder)) {
        Some(folder) => path.replacen(folder, &format!("{folder}{PREFIX}"), 1),
        None => path,
    }
}

/// The root's manifest, with the copied crates as members.
fn manifest(root: &Path) -> io::Result<String> {
    let text = fs::read_to_string(root.join("Cargo.toml"))?;
    let lines = text.lines().filter(|line| !line.starts_with("default-members"));
    // The tools stay where they are. A crate with a workspace of its own is no member of this one.
    let lines = lines.map(|line| match line.starts_with("members") {
        true => line.replace("crates/", FOLDER).replace(", \"xtask\"", ""),
        false => in_copy(line),
    });
    Ok(lines.collect::<Vec<_>>().join("\n") + "\n")
}

/// Removes what an earlier copy had and this one has not.
fn remove_others(to: &Path, files: &[(String, String)]) {
    let wanted: BTreeSet<_> = files.iter().map(|(path, _)| path.as_str()).collect();
    for old in files::read_all(to).iter().filter(|old| !wanted.contains(old.path.as_str())) {
        // It is written again or does no harm.
        let _ = fs::remove_file(to.join(&old.path));
    }
}

fn write_if_new(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().unwrap_or(&PathBuf::new()))?;
    fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_a_copied_crate_includes_is_copied() {
        let all = files::read_all(&crate::root());
        let mut included = 0;
        for source in all.iter().filter(|it| it.path.starts_with("crates/")) {
            // Tests are not built in the copy.
            if !source.path.contains("/src/") || source.path.contains("tests") {
                continue;
            }
            let text = source.text.split("#[cfg(test)]").next().unwrap_or_default();
            for name in text.split("include_str!(\"").skip(1).filter_map(|it| it.split('"').next())
            {
                let folder = crate::root().join(&source.path);
                let file = folder.parent().expect("a file has a folder").join(name);
                let file = file.canonicalize().expect("what is included is there");
                let is_read = all.iter().any(|it| {
                    let is_copied = COPIED.iter().any(|folder| it.path.starts_with(folder));
                    is_copied && file.ends_with(&it.path)
                });
                assert!(is_read, "{} includes {name}, which is not copied", source.path);
                included += 1;
            }
        }
        assert!(included > 20, "only {included} are found");
    }

    #[test]
    fn the_environment_chooses_one_mutant_of_a_compiled_program() {
        let folder = std::env::temp_dir().join(format!("weaken-{}", std::process::id()));
        let (program, binary) = (folder.join("main.rs"), folder.join("main"));
        let main =
            "mod weaken;\nfn main() { print!(\"{} {}\", weaken::is(0), weaken::is(1000)); }\n";
        write_if_new(&program, main).expect("a temporary file");
        let module = MODULE.replace("VARIABLE", VARIABLE);
        write_if_new(&folder.join("weaken.rs"), &module).expect("a temporary file");
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-o"]).args([&binary, &program]);
        assert!(rustc.status().is_ok_and(|status| status.success()), "it does not compile");
        for (chosen, printed) in [
            (None, "false false"),
            (Some("0"), "true false"),
            (Some("1000"), "false true"),
            (Some("7"), "false false"),
            (Some("a word"), ""),
        ] {
            let mut command = Command::new(&binary);
            command.env_remove(VARIABLE).envs(chosen.map(|number| (VARIABLE, number)));
            let output = command.output().expect("the program just compiled");
            assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{chosen:?}");
        }
        fs::remove_dir_all(folder).expect("the folder made above");
    }
}

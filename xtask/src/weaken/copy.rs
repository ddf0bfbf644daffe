//! The generated copy of the locks, in which one site at a time can be weakened at run time.
//!
//! Each site asks a generated module what it should be. The module knows from the environment, so
//! one build serves all mutants, and the product knows nothing of it.

use super::scan::{Site, What, lock_files};
use crate::edits::Place;
use crate::packages::SOURCES;
use crate::tidy::Source;
use crate::tidy::files;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Names the mutant: the number of a site, a colon, and what it becomes; or what [`Bug::choice`] says.
///
/// [`Bug::choice`]: lockwright_zoo::Bug::choice
pub use lockwright_zoo::VARIABLE;
/// What the programs of the copy are called, in front of their names in the repository, whose build they share.
pub const PREFIX: &str = "weakened-";
/// The model checks of the copy.
pub const CHECK: &str = "weakened-check";
/// The lab of the copy.
pub const LAB: &str = "weakened-lockwright";
/// The example of the copy that holds locks to their fairness.
pub const FAIRNESS: &str = "weakened-fairness";

/// What is copied: the crates, and what they are built with.
const COPIED: [&str; 3] = ["crates/", "machines/", "data/"];
/// Folders whose files are programs.
const PROGRAMS: [&str; 2] = ["model/src/bin/", "sim/examples/"];
/// The folder of crates in the copy. Not called as in the repository: cargo tells packages apart by
/// their path within their workspace, and both workspaces share a target directory.
const FOLDER: &str = "weakened/";

/// The module that every site asks.
const MODULE: &str = r##"//! Generated: which site is weakened.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU32, Ordering};

unsafe extern "C" {
    fn getenv(name: *const c_char) -> *const c_char;
}

const UNREAD: u32 = u32::MAX;
const NOTHING: u32 = u32::MAX - 1;
/// Bugs that are edits, behind all sites.
const EDITS: u32 = 1 << 30;
/// The site and, in the low bits, the form. Relaxed, and read without a lock: choosing must not
/// order anything between the threads that are watched.
static CHOSEN: AtomicU32 = AtomicU32::new(UNREAD);
const FORMS: [(&[u8], Option<Ordering>); 5] = [
    (b"Relaxed", Some(Ordering::Relaxed)),
    (b"Acquire", Some(Ordering::Acquire)),
    (b"Release", Some(Ordering::Release)),
    (b"AcqRel", Some(Ordering::AcqRel)),
    (b"", None),
];

fn chosen() -> u32 {
    match CHOSEN.load(Ordering::Relaxed) {
        UNREAD => {
            let chosen = read().unwrap_or(NOTHING);
            CHOSEN.store(chosen, Ordering::Relaxed);
            chosen
        }
        chosen => chosen,
    }
}

#[cold]
fn read() -> Option<u32> {
    // SAFETY: the name ends with a null.
    let value = unsafe { getenv(c"VARIABLE".as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: a string of the environment, which no thread changes.
    let value = unsafe { CStr::from_ptr(value) }.to_bytes();
    let mut parts = value.splitn(2, |byte| *byte == b':');
    let number = |digits| -> Option<u32> { core::str::from_utf8(digits).ok()?.parse().ok() };
    let (site, form) = (parts.next()?, parts.next()?);
    if site == b"edit" {
        return Some(EDITS + number(form)?);
    }
    let site = number(site)?;
    let form = FORMS.iter().position(|(name, _)| *name == form).expect("a form");
    Some(site * 8 + form as u32)
}

/// `order`, unless this site is weakened.
#[inline]
pub fn order(site: u32, order: Ordering) -> Ordering {
    let chosen = chosen();
    if chosen / 8 == site { FORMS[chosen as usize % 8].1.unwrap_or(order) } else { order }
}

/// Whether the code has the bug with this number.
#[inline]
pub fn is_edited(number: u32) -> bool {
    chosen() == EDITS + number
}

/// Whether the barrier at this site is still there.
#[inline]
pub fn is_kept(site: u32) -> bool {
    chosen() / 8 != site
}
"##;

/// Writes the copy of the repository at `root` into `to`, with `sites` numbered in their order and with both forms
/// of `edits`. Files that are already there with the same text stay as they are, so that only what has changed is
/// compiled again.
pub fn write(
    root: &Path,
    to: &Path,
    all: &[Source],
    sites: &[Site],
    edits: &[Place],
) -> io::Result<()> {
    let mut files: Vec<(String, String)> = vec![("Cargo.toml".into(), manifest(root)?)];
    files.push(("Cargo.lock".into(), fs::read_to_string(root.join("Cargo.lock"))?));
    files
        .push((in_copy(&format!("{}weaken.rs", SOURCES[0])), MODULE.replace("VARIABLE", VARIABLE)));
    let is_copied = |source: &&Source| COPIED.iter().any(|folder| source.path.starts_with(folder));
    let weakened: BTreeSet<_> = lock_files(all).map(|source| &source.path).collect();
    for source in all.iter().filter(is_copied) {
        let is_edited = edits.iter().any(|edit| edit.path == source.path);
        let text = match source.path.as_str() {
            "crates/lab/Cargo.toml" => {
                source.text.replace("name = \"lockwright\"", &format!("name = \"{LAB}\""))
            }
            "crates/model/Cargo.toml" => {
                source.text.replace("name = \"sample\"", &format!("name = \"{PREFIX}sample\""))
            }
            "crates/zoo/src/lib.rs" => {
                source.text.replace("IS_COPY: bool = false", "IS_COPY: bool = true")
            }
            path if SOURCES.iter().any(|folder| path == format!("{folder}lib.rs")) => {
                // An edit leaves something unused now and then, and has parentheses, needed or not.
                let text = weakenable(source, sites, edits);
                let module = match path.starts_with(SOURCES[0]) {
                    true => "pub mod weaken;",
                    false => "use lockwright_core::weaken;",
                };
                format!("#![allow(unused, unreachable_code, missing_docs)]\n{text}\n{module}\n")
            }
            _ if is_edited || weakened.contains(&source.path) => weakenable(source, sites, edits),
            _ => source.text.clone(),
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

/// The text of a file, with each of its sites and edits asking what it should be.
fn weakenable(source: &Source, sites: &[Site], edits: &[Place]) -> String {
    let edits: Vec<_> = edits.iter().filter(|edit| edit.path == source.path).collect();
    let mut insertions = Vec::new();
    for edit in edits.iter().filter(|edit| !edit.is_always) {
        let forms = edit.forms.iter().map(|(number, form)| {
            format!("if crate::weaken::is_edited({number}) {{ {form} }} else ")
        });
        let open = if edit.is_statements { "" } else { "(" };
        insertions.push((edit.span.0, open.to_string() + &forms.collect::<String>() + "{ "));
    }
    for (number, site) in sites.iter().enumerate().filter(|(_, it)| it.path == source.path) {
        let (before, after) = match site.what {
            What::Ordering { .. } => (format!("crate::weaken::order({number}, "), ")"),
            What::Barrier(_) => (format!("if crate::weaken::is_kept({number}) {{ "), " }"),
        };
        insertions.push((site.span.0, before));
        insertions.push((site.span.1, after.to_string()));
    }
    // An edit is around the sites in it.
    insertions.extend(edits.iter().map(|edit| {
        let close = if edit.is_statements { " }" } else { " })" };
        // The text of one that is always there begins with what stands there.
        let added = || edit.forms[0].1[edit.span.1 - edit.span.0..].to_string();
        (edit.span.1, if edit.is_always { added() } else { close.to_string() })
    }));
    // Stable: what closes inside comes before what closes outside, which was found first.
    insertions.sort_by_key(|(at, _)| *at);
    let mut insertions = insertions.into_iter().peekable();
    let mut text = String::with_capacity(source.text.len() * 2);
    for (at, c) in source.text.char_indices() {
        while let Some((_, inserted)) = insertions.next_if(|(position, _)| *position == at) {
            text.push_str(&inserted);
        }
        text.push(c);
    }
    text
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
    use super::super::scan::scan;
    use super::*;

    #[test]
    fn every_site_asks_and_nothing_else_changes() {
        let text = "// ordering: AcqRel; Q1 — both ways.\na.swap(b, Ordering::AcqRel);\n\
                    fence(SeqCst);\n";
        let source = Source::new("crates/locks/src/some.rs", text);
        let (sites, _) = scan(&source, std::slice::from_ref(&source));
        assert_eq!(
            weakenable(&source, &sites, &[]),
            "// ordering: AcqRel; Q1 — both ways.\n\
             a.swap(b, crate::weaken::order(0, Ordering::AcqRel));\n\
             if crate::weaken::is_kept(1) { fence(crate::weaken::order(2, SeqCst)) };\n"
        );
    }

    #[test]
    fn an_edit_has_both_forms_and_the_sites_of_the_old_one() {
        let text = "// ordering: AcqRel; Q1 — both ways.\na.swap(b, AcqRel);\n";
        let source = Source::new("crates/locks/src/some.rs", text);
        let (sites, _) = scan(&source, std::slice::from_ref(&source));
        let first = text.find("a.swap").expect("it is there");
        let span = (first, first + "a.swap(b, AcqRel)".len());
        let forms = vec![(7, "a.load(Relaxed)".to_string())];
        let path = source.path.clone();
        let edit = Place { path, span, forms, is_statements: false, is_always: false };
        assert_eq!(
            weakenable(&source, &sites, &[edit]),
            "// ordering: AcqRel; Q1 — both ways.\n\
             (if crate::weaken::is_edited(7) { a.load(Relaxed) } else { \
             a.swap(b, crate::weaken::order(0, AcqRel)) });\n"
        );
    }

    #[test]
    fn the_environment_chooses_one_site_of_a_compiled_program() {
        let folder = std::env::temp_dir().join(format!("weaken-{}", std::process::id()));
        let (program, binary) = (folder.join("main.rs"), folder.join("main"));
        let main = "mod weaken;\nuse std::sync::atomic::Ordering::*;\nfn main() {\n    \
                    print!(\"{:?} {:?} {} {}\", weaken::order(0, AcqRel), weaken::order(1, Release), \
                    weaken::is_kept(2), weaken::is_edited(3));\n}\n";
        write_if_new(&program, main).expect("a temporary file");
        let module = MODULE.replace("VARIABLE", VARIABLE);
        write_if_new(&folder.join("weaken.rs"), &module).expect("a temporary file");
        let mut rustc = std::process::Command::new("rustc");
        rustc.args(["--edition", "2024", "-o"]).args([&binary, &program]);
        assert!(rustc.status().is_ok_and(|status| status.success()), "it does not compile");
        for (chosen, printed) in [
            ("none", "AcqRel Release true false"),
            ("0:Acquire", "Acquire Release true false"),
            ("1:Relaxed", "AcqRel Relaxed true false"),
            ("2:", "AcqRel Release false false"),
            ("edit:3", "AcqRel Release true true"),
            ("edit:4", "AcqRel Release true false"),
        ] {
            let output = std::process::Command::new(&binary).env(VARIABLE, chosen).output();
            let output = output.expect("the program just compiled");
            assert_eq!(String::from_utf8_lossy(&output.stdout), printed, "{chosen}");
        }
        fs::remove_dir_all(folder).expect("the folder made above");
    }
}

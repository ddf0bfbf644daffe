//! `cargo xtask new-lock`: a lock that works, to be changed into another one.
//!
//! A lock is a module and a row of the registry. The module is a copy of [`TEMPLATE`], a test-and-set lock.

use crate::disk;
use clap::Parser;
use std::path::Path;

const TEMPLATE: &str = include_str!("template.txt");
const LOCKS: &str = "crates/catalog/src";
/// The new row stands before this one.
const ROW_BEHIND: &str = "    busted: \"busted\", ";
/// How the crate declares a module.
const DECLARATION: &str = "pub mod ";

/// Make a lock from a template.
///
/// A module that works, its declaration, and its row in the registry. docs/adding-a-lock.md says how to go on.
#[derive(Parser)]
pub struct Request {
    /// The name of the new lock, such as polite.
    #[arg(value_parser = NewLock::called)]
    name: NewLock,
}

/// The new lock, by its names.
#[derive(Clone)]
pub struct NewLock {
    /// In the registry.
    name: String,
    /// Of the module.
    module: String,
    /// Of the type.
    type_name: String,
}

impl NewLock {
    /// Reads its name in the registry.
    pub fn called(name: &str) -> Result<Self, String> {
        let is_word = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        if !name.split('-').all(is_word) {
            return Err(
                "write words of small letters and digits with a dash between two of them, \
                 such as `polite` or `polite-fair`"
                    .into(),
            );
        }
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        let type_name = name.split('-').map(capital).collect::<String>() + "Lock";
        Ok(Self { name: name.into(), module: name.replace('-', "_"), type_name })
    }

    /// Its module.
    pub fn source(&self) -> String {
        let letter = self.name[..1].to_uppercase();
        TEMPLATE.replace("TypeName", &self.type_name).replace("ID1", &format!("{letter}1"))
    }
    fn row(&self) -> String {
        let Self { name, module, type_name } = self;
        format!(
            "    {module}: \"{name}\", Reference, crate::{module}::{type_name}<P>,\n        \
             \"test-and-set spinlock, made from the template\";\n"
        )
    }
    /// The registry with the new row.
    fn registered(&self, registry: &str) -> Result<String, String> {
        let at = registry.find(ROW_BEHIND).ok_or("the registry has no row of `busted`")?;
        Ok([&registry[..at], &self.row(), &registry[at..]].concat())
    }
    /// The root of the crate with the new module, in its place by the alphabet.
    fn declared(&self, lib: &str) -> Result<String, String> {
        let line = format!("{DECLARATION}{};\n", self.module);
        let modules = lib
            .match_indices(DECLARATION)
            .filter_map(|(at, _)| Some((at, lib[at + DECLARATION.len()..].split_once(";\n")?.0)));
        let mut modules = modules.collect::<Vec<_>>().into_iter();
        let behind = modules.find(|(_, module)| *module > self.module.as_str());
        let (at, _) = behind.ok_or_else(|| format!("no module stands behind `{}`", self.module))?;
        Ok([&lib[..at], &line, &lib[at..]].concat())
    }
}

/// Makes the lock in the repository at `root`.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let lock = &request.name;
    make(root, lock)?;
    let NewLock { name, module, .. } = lock;
    let locks = format!("{name},unfair,qspinlock,cna");
    println!(
        "made {LOCKS}/{module}.rs, a test-and-set lock to change\n\
         added it to {LOCKS}/lib.rs and to the table in {LOCKS}/registry.rs\n\n\
         try it, after each change:\n  \
         LOCKWRIGHT_ONLY={locks} cargo try bench --on x5-4 --workload locktorture --threads 72 --lock {locks}\n\n\
         see what it lacks before it is merged: cargo xtask tidy; docs/adding-a-lock.md explains it"
    );
    Ok(true)
}

/// Writes the module, its declaration and the row; nothing if one of them cannot be.
pub fn make(root: &Path, lock: &NewLock) -> Result<(), String> {
    let path = root.join(LOCKS).join(&lock.module).with_extension("rs");
    if path.exists() || path.with_extension("").exists() {
        return Err(format!("there is a module `{}` already: give another name", lock.module));
    }
    let [lib, registry] = ["lib.rs", "registry.rs"].map(|file| root.join(LOCKS).join(file));
    let (text, table) = (disk::read(&lib)?, disk::read(&registry)?);
    if table.contains(&format!("\"{}\"", lock.name)) {
        return Err(format!("a lock is called `{}` already: give another name", lock.name));
    }
    let files =
        [(registry, lock.registered(&table)?), (lib, lock.declared(&text)?), (path, lock.source())];
    files.iter().try_for_each(|(path, text)| disk::write(path, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_a_lock_a_module_and_a_type() {
        let NewLock { name, module, type_name } = NewLock::called("polite-fair2").expect("a name");
        let names = [&*name, &module, &type_name];
        assert_eq!(names, ["polite-fair2", "polite_fair2", "PoliteFair2Lock"]);
        for wrong in ["", "Polite", "polite_fair", "-polite", "polite-", "2polite", "pö"] {
            let said = NewLock::called(wrong).err().expect("no such name");
            assert!(said.contains("polite"), "{said}");
        }
        for wrong in [&["new-lock", "a", "b"][..], &["new-lock"]] {
            assert!(Request::try_parse_from(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_new_lock_is_declared_by_the_alphabet_and_registered_in_front_of_the_broken_ones() {
        let root = crate::root();
        let read = |file: &str| disk::read(&root.join(LOCKS).join(file)).expect("a file");
        let polite = NewLock::called("polite").expect("a name");
        let lib = polite.declared(&read("lib.rs")).expect("there is a place");
        let (before, new) = (lib.find("pub mod mcs;"), lib.find("pub mod polite;"));
        assert!(before < new && new < lib.find("pub mod registry;"));
        let registry = polite.registered(&read("registry.rs")).expect("there is a place");
        let (new, broken) = (registry.find("polite: \"polite\""), registry.find(ROW_BEHIND));
        assert!(registry.find("osq: \"osq\"") < new && new < broken);
    }

    #[test]
    fn a_lock_or_a_module_that_is_there_is_not_written_over() {
        for name in ["qspinlock", "cna", "mutex", "registry"] {
            let said = make(&crate::root(), &NewLock::called(name).expect("a name"))
                .expect_err("it is there");
            assert!(said.contains("give another name"), "{said}");
        }
    }
}

//! `cargo xtask new-lock`: a lock that works, to be changed into another one.
//!
//! A lock is a module and a row of the registry. The module is a copy of a template: a test-and-set lock, or one that
//! is like a lock of the kernel and leaves one decision to its author.

use crate::disk;
use clap::{Parser, ValueEnum};
use std::path::Path;

const LOCKS: &str = "crates/catalog/src";
/// The new row stands before this one, and that of a semaphore behind the other semaphores.
const ROW_BEHIND: &str = "    busted: \"busted\", ";
const SEMAPHORES_END: &str = "    }\n    once: \"once\", ";
/// How the crate declares a module.
const DECLARATION: &str = "pub mod ";

/// Make a lock from a template.
///
/// A module that works, its declaration, and its row in the registry. docs/adding-a-lock.md says how to go on, and with
/// --like docs/adding-a-succession.md.
#[derive(Parser)]
pub struct Request {
    /// The name of the new lock, such as polite.
    #[arg(value_parser = NewLock::called)]
    pub name: NewLock,
    /// A lock that the new one is like, except for a rule of its own: which waiter is next (cna), how a thread waits
    /// (hybrid), or what a semaphore does (rwsem) [default: a test-and-set lock]
    #[arg(long, value_enum)]
    pub like: Option<Like>,
}

/// A lock that leaves a decision to the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Like {
    Cna,
    Hybrid,
    Rwsem,
}

/// What the files of a new lock are made of.
struct Template {
    source: &'static str,
    /// Its type and abilities in the row. A type that only chooses the rule of another lock is named by `super`: it has
    /// the documentation and the seeded bugs of that lock.
    row: &'static str,
    models: &'static str,
    /// Locks to compare it with.
    others: &'static str,
    page: &'static str,
}

impl Template {
    fn of(like: Option<Like>) -> Self {
        let page = "docs/adding-a-succession.md";
        match like {
            None => Self {
                source: include_str!("template.txt"),
                row: "crate::MODULE::TypeNameLock<P>",
                models: "test-and-set spinlock, made from the template",
                others: "unfair,qspinlock,cna",
                page: "docs/adding-a-lock.md",
            },
            Some(Like::Cna) => Self {
                source: include_str!("cna.txt"),
                row: "super::MODULE::TypeNameLock<P> [deadline spins slowpath]",
                models: "CNA v10 with a successor rule of its own",
                others: "qspinlock,cna",
                page,
            },
            Some(Like::Hybrid) => Self {
                source: include_str!("hybrid.txt"),
                row: "super::MODULE::TypeNameLock<P>",
                models: "the hybrid with a waiting rule of its own",
                others: "park,hybrid",
                page,
            },
            Some(Like::Rwsem) => Self {
                source: include_str!("rwsem.txt"),
                row: "super::MODULE::TypeNamePolicy",
                models: "rwsem of Linux 6.3 and later with a policy of its own",
                others: "rwlock,rwsem",
                page,
            },
        }
    }
}

/// The new lock, by its names.
#[derive(Clone)]
pub struct NewLock {
    /// In the registry.
    name: String,
    /// Of the module.
    module: String,
    /// Of the type, which ends in a word more.
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
        let type_name = name.split('-').map(capital).collect::<String>();
        Ok(Self { name: name.into(), module: name.replace('-', "_"), type_name })
    }

    /// Its module.
    pub fn source(&self, like: Option<Like>) -> String {
        let id = format!("{}1", self.name[..1].to_uppercase());
        self.named(Template::of(like).source).replace("ID1", &id)
    }
    /// The text with the names of the lock.
    fn named(&self, text: &str) -> String {
        let Self { name, module, type_name } = self;
        text.replace("LOCKNAME", name).replace("MODULE", module).replace("TypeName", type_name)
    }
    fn row(&self, like: Option<Like>) -> String {
        let Self { name, module, .. } = self;
        let Template { row, models, .. } = Template::of(like);
        let indent = if like == Some(Like::Rwsem) { "        " } else { "    " };
        let of = self.named(row);
        format!("{indent}{module}: \"{name}\", Reference, {of},\n{indent}    \"{models}\";\n")
    }
    /// The registry with the new row.
    fn registered(&self, registry: &str, like: Option<Like>) -> Result<String, String> {
        let behind = if like == Some(Like::Rwsem) { SEMAPHORES_END } else { ROW_BEHIND };
        let at = registry.find(behind).ok_or_else(|| format!("the registry has no `{behind}`"))?;
        Ok([&registry[..at], &self.row(like), &registry[at..]].concat())
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
    make(root, request)?;
    let Request { name: NewLock { name, module, .. }, like } = request;
    let Template { models, others, page, .. } = Template::of(*like);
    let locks = format!("{name},{others}");
    println!(
        "made {LOCKS}/{module}.rs: {models}\n\
         added it to {LOCKS}/lib.rs and to the table in {LOCKS}/registry.rs\n\n\
         try it, after each change:\n  \
         LOCKWRIGHT_ONLY={locks} cargo try bench --on x5-4 --workload locktorture --threads 72 --lock {locks}\n\n\
         see what it lacks before it is merged: cargo xtask tidy; {page} explains it"
    );
    Ok(true)
}

/// Writes the module, its declaration and the row; nothing if one of them cannot be.
pub fn make(root: &Path, request: &Request) -> Result<(), String> {
    let Request { name: lock, like } = request;
    let path = root.join(LOCKS).join(&lock.module).with_extension("rs");
    if path.exists() || path.with_extension("").exists() {
        return Err(format!("there is a module `{}` already: give another name", lock.module));
    }
    let [lib, registry] = ["lib.rs", "registry.rs"].map(|file| root.join(LOCKS).join(file));
    let (text, table) = (disk::read(&lib)?, disk::read(&registry)?);
    if table.contains(&format!("\"{}\"", lock.name)) {
        return Err(format!("a lock is called `{}` already: give another name", lock.name));
    }
    let files = [
        (registry, lock.registered(&table, *like)?),
        (lib, lock.declared(&text)?),
        (path, lock.source(*like)),
    ];
    files.iter().try_for_each(|(path, text)| disk::write(path, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_a_lock_a_module_and_a_type() {
        let NewLock { name, module, type_name } = NewLock::called("polite-fair2").expect("a name");
        let names = [&*name, &module, &type_name];
        assert_eq!(names, ["polite-fair2", "polite_fair2", "PoliteFair2"]);
        for wrong in ["", "Polite", "polite_fair", "-polite", "polite-", "2polite", "pö"] {
            let said = NewLock::called(wrong).err().expect("no such name");
            assert!(said.contains("polite"), "{said}");
        }
        for wrong in
            [&["new-lock", "a", "b"][..], &["new-lock"], &["new-lock", "a", "--like", "mcs"]]
        {
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
        let row_of = |like| {
            let registry = polite.registered(&read("registry.rs"), like).expect("there is a place");
            let of = |text: &str| registry.find(text).expect("it is there");
            let (osq, last, once) = (of("osq: \"osq\""), of(ROW_BEHIND), of("    once: \"once\""));
            let new = of("polite: \"polite\", Reference, ");
            (osq < new && new < last, of("rwsem_v5_10_as_posted: ") < new && new < once)
        };
        for like in [None, Some(Like::Cna), Some(Like::Hybrid)] {
            assert_eq!(row_of(like), (true, false), "{like:?}");
        }
        assert_eq!(row_of(Some(Like::Rwsem)), (false, true));
    }

    #[test]
    fn a_lock_that_is_like_another_one_names_no_word_of_the_template() {
        let polite = NewLock::called("polite-fair").expect("a name");
        for like in [None, Some(Like::Cna), Some(Like::Hybrid), Some(Like::Rwsem)] {
            let text = polite.source(like) + &polite.row(like);
            assert!(text.contains("pub") && text.contains("::polite_fair::PoliteFair"), "{text}");
            for word in ["LOCKNAME", "MODULE", "TypeName", "ID1"] {
                assert!(!text.contains(word), "{like:?}: {word}");
            }
        }
    }

    #[test]
    fn a_lock_or_a_module_that_is_there_is_not_written_over() {
        for name in ["qspinlock", "cna", "mutex", "registry"] {
            let request = Request { name: NewLock::called(name).expect("a name"), like: None };
            let said = make(&crate::root(), &request).expect_err("it is there");
            assert!(said.contains("give another name"), "{said}");
        }
    }
}

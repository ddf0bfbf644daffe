//! The sources that decide the outcome of a check.
//!
//! Of the lock crate these are the files that its locks can reach. The unit is a module at the top of the crate, or one
//! of [`PARTS`]: if one of its files is reached, all are. A module reaches those whose items it names. Test clients
//! reach more, so a lock also has the modules that a client names together with one of its own. All files of a checker
//! count, and all of the lock crate where the lock is not in the registry.

use super::hash_of;
use crate::packages::{LIBRARIES, below_sources};
use crate::tidy::Source;
use crate::tidy::graph::{Arrow, Place, Tree, arrows, imports};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use syn::Item as Syntax;

const CLIENTS: &str = "crates/clients/src/";

/// Files and folders of a module that are modules of their own here.
const PARTS: &[&str] = &[
    "qspinlock/cna",
    "qspinlock/pv",
    "qspinlock/resilient",
    "qspinlock/testing",
    "qspinlock/two_level",
];
/// What names all locks. It counts for each of them, and leads nowhere.
const LISTS: &[&str] = &["lib", "registry", "capabilities", "qspinlock/testing"];
/// Lists of clients.
const CLIENT_LISTS: &[&str] = &["lib.rs", "table.rs", "disturbed.rs"];

/// A check, and what its outcome depends on.
#[derive(Clone, Default)]
pub struct Item<'a> {
    pub name: String,
    /// The locks that it runs; `None` for all.
    pub locks: Option<Vec<&'a str>>,
    /// The beginnings of the paths of other files.
    pub files: Vec<String>,
    /// What it consists of besides its files.
    pub text: String,
}

/// The sources of the repository.
pub struct Sources<'a> {
    all: &'a [Source],
    /// The hash of each file, by its path, once it is needed.
    hashes: BTreeMap<&'a str, OnceLock<String>>,
    /// The hash of the compiler and of what is compiled.
    build: String,
    /// The modules that each module names.
    uses: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// The modules that each client names.
    clients: Vec<BTreeSet<&'a str>>,
    /// The items that the list of locks names, by line.
    rows: Vec<(usize, &'a str)>,
}

impl<'a> Sources<'a> {
    /// Looks through the sources of the repository at `root`.
    ///
    /// # Errors
    /// If the compiler does not say which one it is.
    pub fn of(root: &Path, all: &'a [Source]) -> Result<Self, String> {
        let rustc = Command::new("rustc").arg("-vV").current_dir(root).output();
        let rustc = rustc.map_err(|error| format!("rustc cannot be asked: {error}"))?;
        let locked = std::fs::read_to_string(root.join("Cargo.lock"));
        let locked = locked.map_err(|error| format!("Cargo.lock cannot be read: {error}"))?;
        let build = hash_of([String::from_utf8_lossy(&rustc.stdout), locked.into()]);
        let tree = Tree::of_locks(all);
        let (mut uses, mut rows) = (BTreeMap::<_, BTreeSet<_>>::new(), Vec::new());
        for Arrow { from, to, line, .. } in arrows(&tree) {
            let [from, to] = [&from, &to].map(|path| module_of(&source(all, path).path));
            if from == "registry" {
                rows.push((line, to));
            }
            uses.entry(from).or_default().insert(to);
        }
        let clients = all.iter().filter(|it| is_client(&it.path));
        let clients = clients.map(|it| modules_of_client(it, &tree)).collect();
        let rust = all.iter().filter(|source| source.is_rust());
        let hashes = rust.map(|it| (it.path.as_str(), OnceLock::new())).collect();
        Ok(Self { all, hashes, build, uses, clients, rows })
    }

    /// The hash of everything that decides the outcome of a check.
    pub fn hash(&self, item: &Item<'_>) -> String {
        let modules = item.locks.as_ref().map(|locks| {
            let of_all = locks.iter().map(|lock| self.modules(lock)).collect::<Option<Vec<_>>>();
            of_all.map(|of_all| of_all.into_iter().flatten().collect::<BTreeSet<_>>())
        });
        let modules = modules.flatten();
        let counts = |path: &str| match below_sources(path) {
            Some(_) if modules.is_none() => true,
            Some(_) if modules.as_ref().is_some_and(|it| it.contains(module_of(path))) => true,
            _ => item.files.iter().any(|begin| path.starts_with(&**begin)),
        };
        let files = self.hashes.iter().filter(|(path, _)| counts(path)).flat_map(|(path, hash)| {
            let hash = hash.get_or_init(|| hash_of([code_of(source(self.all, path))]));
            [path.to_string(), hash.clone()]
        });
        let about = [&self.build, &item.name, &item.text].map(Clone::clone);
        hash_of(about.into_iter().chain(files))
    }
    /// Returns true if a change of the file at `path`, in the lock crate, can matter to `lock`.
    pub fn reaches(&self, lock: &str, path: &str) -> bool {
        self.modules(lock).is_none_or(|modules| modules.contains(module_of(path)))
    }

    /// The modules that can decide what a lock does; `None` if that is not known.
    fn modules(&self, lock: &str) -> Option<BTreeSet<&'a str>> {
        let registry = self.all.iter().find(|it| below_sources(&it.path) == Some("registry.rs"))?;
        let name = format!("\"{lock}\"");
        let first = registry.text.lines().position(|line| line.contains(&name))?;
        let length = registry.text.lines().skip(first).position(|line| line.ends_with("\";"))?;
        let row = first + 1..=first + 1 + length;
        let own: BTreeSet<_> =
            self.rows.iter().filter(|(line, _)| row.contains(line)).map(|(_, it)| *it).collect();
        // The queued spinlock is a part of many locks, and its clients are those of all locks.
        let is_shown = |client: &&BTreeSet<&str>| {
            client.iter().any(|it| *it != "qspinlock" && own.contains(it))
        };
        let mut reached: BTreeSet<_> = LISTS.iter().copied().collect();
        let mut next: Vec<_> = own.iter().copied().collect();
        next.extend(self.clients.iter().filter(is_shown).flatten());
        while let Some(module) = next.pop() {
            if reached.insert(module) {
                next.extend(self.uses.get(module).into_iter().flatten());
            }
        }
        (!own.is_empty()).then_some(reached)
    }
}

/// What the compiler sees of a file: no comments and, in the lock crate, no tests.
fn code_of(source: &Source) -> String {
    let code = source.code();
    let is_of_locks = below_sources(&source.path).is_some();
    let lines = if is_of_locks { code.product() } else { &code.lines };
    let lines = lines.iter().zip(&code.literals);
    let lines = lines.flat_map(|(code, literals)| [code.trim_end(), literals.trim_end()]);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The file at `path`.
fn source<'a>(all: &'a [Source], path: &str) -> &'a Source {
    let at = all.binary_search_by(|it| it.path.as_str().cmp(path)).expect("a path among them");
    &all[at]
}

fn is_client(path: &str) -> bool {
    path.strip_prefix(CLIENTS).is_some_and(|file| !CLIENT_LISTS.contains(&file))
}

/// The module that a file of the lock crate is part of.
fn module_of(path: &str) -> &str {
    let path = below_sources(path).unwrap_or(path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let is_in = |part: &&&str| {
        path.strip_prefix(**part).is_some_and(|it| it.is_empty() || it.starts_with('/'))
    };
    match PARTS.iter().find(is_in) {
        Some(part) => part,
        None => path.split('/').next().unwrap_or(path),
    }
}

/// The modules of the lock crate that a client imports from.
fn modules_of_client<'a>(client: &Source, tree: &Tree<'a>) -> BTreeSet<&'a str> {
    let syntax = syn::parse_file(&client.text);
    let items = syntax.map(|it| it.items).unwrap_or_default();
    let imported = items.iter().flat_map(|item| match item {
        Syntax::Use(it) => imports(&it.tree),
        _ => Vec::new(),
    });
    let is_of_locks = |it: &String| LIBRARIES.contains(&&**it);
    let of_locks = imported.filter(|it| it.path.first().is_some_and(is_of_locks));
    let places = of_locks.map(|import| tree.resolve(0, &import.path));
    let of_file = |at| module_of(&tree.file(at).path);
    let module = |place| match place {
        Place::Outside => None,
        Place::Item(at) | Place::Module(at) | Place::Inside(at) => Some(of_file(at)),
    };
    places.filter_map(module).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::files;
    use lockwright_catalog::registry::LOCKS;

    fn with_sources(test: impl FnOnce(&Sources<'_>)) {
        let all = files::read_all(&crate::root());
        test(&Sources::of(&crate::root(), &all).expect("the sources"));
    }

    #[test]
    fn a_lock_reaches_what_it_is_made_of_and_no_other_lock() {
        with_sources(|sources| {
            let reaches = |lock: &str, file: &str| sources.reaches(lock, file);
            for (lock, file) in [
                ("ticket", "ticket.rs"),
                ("ticket", "platform/cells.rs"),
                ("cna-park", "qspinlock/cna/mod.rs"),
                ("cna-park", "qspinlock/pv/wait.rs"),
                ("hybrid", "queue/mod.rs"),
                ("mutex", "condvar.rs"),
                ("mutex", "park/marks.rs"),
                ("rwsem-v4_14", "osq/mod.rs"),
                ("rwsem-v3_12_series_wake_flag_as_posted", "rwsem/write.rs"),
                ("percpu-rwlock", "rwlock/wait.rs"),
                ("resilient", "held.rs"),
            ] {
                assert!(reaches(lock, file), "{lock} {file}");
            }
            for (lock, file) in [
                ("ticket", "mcs.rs"),
                ("cna", "qspinlock/two_level.rs"),
                ("park", "rwsem/write.rs"),
                ("qspinlock", "qspinlock/cna/mod.rs"),
                ("mutex", "rwsem/write.rs"),
                ("rwsem-v4_14", "mutex/wait.rs"),
                ("hq", "qspinlock/queue.rs"),
            ] {
                assert!(!reaches(lock, file), "{lock} {file}");
            }
            for row in LOCKS {
                assert!(sources.modules(row.name).is_some(), "{}", row.name);
            }
        });
    }

    #[test]
    fn a_hash_changes_with_the_files_the_name_and_the_text_of_a_check_and_with_nothing_else() {
        let mut all = files::read_all(&crate::root());
        // Those that are looked at, since reading takes time.
        let files = ["crates/model/src/checks.rs", "crates/sim/src/lib.rs"];
        all.retain(|it| {
            below_sources(&it.path).is_some()
                || files.iter().any(|begin| it.path.starts_with(begin))
        });
        let hash_with = |name: &str, text: &str, changed: &str, line: &str| {
            let change = |it: &Source| match it.path == changed {
                true => Source::new(changed, format!("{line}\n{}", it.text)),
                false => it.clone(),
            };
            let all: Vec<_> = all.iter().map(change).collect();
            let files = vec!["crates/model/src/".to_string()];
            let item =
                Item { name: name.into(), locks: Some(vec!["ticket"]), files, text: text.into() };
            Sources::of(&crate::root(), &all).expect("the sources").hash(&item)
        };
        let hash = |name, text, changed| hash_with(name, text, changed, "const MORE: &str = \"\";");
        let same = hash("mutant 1", "Relaxed", "");
        let ticket = "crates/linux/src/ticket.rs";
        assert_eq!(hash_with("mutant 1", "Relaxed", ticket, "// A comment."), same);
        for other in ["crates/catalog/src/mcs.rs", "crates/sim/src/lib.rs"] {
            assert_eq!(hash("mutant 1", "Relaxed", other), same, "{other}");
        }
        for other in [ticket, "crates/model/src/checks.rs", "crates/catalog/src/registry.rs"] {
            assert_ne!(hash("mutant 1", "Relaxed", other), same, "{other}");
        }
        assert_ne!(hash("mutant 2", "Relaxed", ""), same);
        assert_ne!(hash("mutant 1", "Acquire", ""), same);
    }
}

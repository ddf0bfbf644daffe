//! A walk through the source of a lock: what a person meets who reads it natively, from `lock` and `unlock` to the
//! system call. And a check that this is not too much.
//!
//! The walk lists functions with a body. It follows names and not types, so it lists too much rather than too little;
//! [`mod@reach`] says what leads where. It ends at the operations of cells ([`SEAM`](reach::SEAM)) and at other crates.
//! What is compiled for one architecture, for Miri or for checkers only is in the list, too.
//!
//! Not seen: what macros expand to, the initial values of constants and statics, calls that are not written as such
//! (operators, `Deref`, the iterator of a `for`), and the `drop` of a type of which no function is reached. Types,
//! constants and tables are not counted.

mod calls;
mod collect;
mod functions;
mod reach;

use crate::tidy;
use functions::{Function, Functions};
use reach::{Step, reach};
use std::collections::BTreeSet;
use std::path::Path;

pub const OPTIONS: &str = "LOCK";

/// The crate of the locks, and its root.
const CRATE: &str = "crates/locks";
const ROOT: &str = "src/lib.rs";

/// A lock that can be walked through.
pub struct Lock {
    name: &'static str,
    /// Its type in the crate.
    path: &'static [&'static str],
    limits: Option<Size>,
}

/// How much there is to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    files: usize,
    /// Of code.
    lines: usize,
}

const LOCKS: &[Lock] = &[
    Lock {
        name: "mutex",
        path: &["mutex", "RawMutex"],
        // It may not grow. The goal is 10 files and 900 lines. 94 of these lines read tunables from the environment,
        // once in a process, and name each variable that is wrong; the library that replaces glibc's locks reads them
        // from the C library, without a system call. 8 are about links to waiters that may leave the queue, of which
        // the mutex has none: they are in the functions that it has in common with the spinlocks. 51 wake a thread that
        // a notification has left to the release, half of them in the barrier that this needs on other processors than
        // x86. 11 are about deadlines of the clock that tells the date, which the interface of pthread has. 22 split a
        // release in functions, so that one that wakes nobody saves no registers. A file of 66 reads the quotas of all
        // control groups around the process, once. 10 let an attempt take a lock that is reserved, and 12 tell a child
        // from its parent while the topology is read. 17 let a program that does not need all of the topology read a
        // part, and 6 yield the CPU under a filter that refuses it. 35, and a file, reserve a lock in a forked child.
        limits: Some(Size { files: 29, lines: 1_348 }),
    },
    Lock { name: "rwlock", path: &["rwlock", "RawRwLock"], limits: None },
    Lock { name: "qspinlock", path: &["qspinlock", "QSpinlock"], limits: None },
];

/// The lock that the command line names.
pub fn asked(given: &[&str]) -> Result<&'static Lock, String> {
    let names: Vec<_> = LOCKS.iter().map(|lock| lock.name).collect();
    let names = names.join(", ");
    match given {
        [] => Err(format!("give the name of a lock: {names}")),
        [name] => LOCKS.iter().find(|lock| lock.name == *name).ok_or_else(|| {
            format!("`{name}` is not a lock that this command knows; the locks are {names}")
        }),
        [_, other, ..] => Err(format!("give one lock; `{other}` is one argument too many")),
    }
}

/// Prints the walk through a lock. Returns true if it is within its limits.
pub fn run(root: &Path, lock: &&Lock) -> Result<bool, String> {
    let (text, complaint) = walked(root, lock)?;
    print!("{text}");
    if let Some(complaint) = &complaint {
        eprintln!("{complaint}");
    }
    Ok(complaint.is_none())
}

/// The walk through a lock as text, and what is wrong with it.
fn walked(root: &Path, lock: &Lock) -> Result<(String, Option<String>), String> {
    let sources = tidy::sources(&root.join(CRATE));
    let functions = Functions::of(ROOT, &sources);
    let path: Vec<_> = lock.path.iter().map(ToString::to_string).collect();
    let steps = match functions.key(0, &path) {
        Some(key) => reach(&functions, &key, &["lock", "unlock"]),
        None => Vec::new(),
    };
    if steps.is_empty() {
        let path = path.join("::");
        return Err(format!(
            "there is no `{path}` with `lock` and `unlock`; correct LOCKS in xtask/src/walk/mod.rs"
        ));
    }
    let (text, size) = described(&functions, &steps);
    Ok((text, complaint(lock, size)))
}

/// The functions, grouped by file, and how much it is. A file stands where a reader meets it.
fn described(functions: &Functions, steps: &[Step]) -> (String, Size) {
    let of = |step: &Step| &functions.all[step.function];
    let mut files = BTreeSet::new();
    let order: Vec<_> =
        steps.iter().map(|it| &of(it).source.path).filter(|it| files.insert(*it)).collect();
    let mut text = String::new();
    for path in order {
        let mut inside: Vec<_> = steps.iter().filter(|it| of(it).source.path == *path).collect();
        inside.sort_by_key(|it| of(it).line);
        let lines: usize = inside.iter().map(|it| of(it).lines).sum();
        let s = if inside.len() == 1 { "" } else { "s" };
        text += &format!("{CRATE}/{path}: {} function{s}, {lines} lines\n", inside.len());
        for step in inside {
            let Function { line, lines, .. } = of(step);
            let from = step.from.map(|at| format!(", from {}", functions.all[at].full_name()));
            let from = from.unwrap_or_default();
            text += &format!("{lines:5}  {CRATE}/{path}:{line} {}{from}\n", of(step).full_name());
        }
    }
    let size = Size { files: files.len(), lines: steps.iter().map(|it| of(it).lines).sum() };
    text += &format!("{} files, {} lines of code\n", size.files, size.lines);
    (text, size)
}

/// What is wrong with a lock of this size.
fn complaint(lock: &Lock, size: Size) -> Option<String> {
    let limits = lock.limits.filter(|it| size.files > it.files || size.lines > it.lines)?;
    let (Size { files, lines }, name) = (size, lock.name);
    let (files_max, lines_max) = (limits.files, limits.lines);
    Some(format!(
        "{name}: its path to the system call has {files} files and {lines} lines of code, at most {files_max} and \
         {lines_max}; take a file out of the path, or change the limit in xtask/src/walk/mod.rs and say why"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    #[test]
    fn every_lock_is_within_its_limits() {
        for lock in LOCKS {
            let (text, complaint) = walked(&root(), lock).expect("the lock is there");
            assert_eq!(complaint, None, "\n{text}");
        }
    }

    #[test]
    fn the_walk_through_the_mutex_begins_at_lock_and_ends_at_the_system_call() {
        let (text, _) = walked(&root(), asked(&["mutex"]).expect("a lock")).expect("a walk");
        for name in ["RawMutex::lock", "RawMutex::unlock", "Native::futex_wait_as", "futex_wake"] {
            assert!(text.contains(&format!(" {name}")), "{name}: {text}");
        }
        let busted = "crates/locks/src/busted.rs";
        assert!(!text.contains(busted), "{text}");
    }

    #[test]
    fn one_file_or_line_above_the_limit_is_a_complaint() {
        let lock = Lock { name: "l", path: &[], limits: Some(Size { files: 2, lines: 9 }) };
        let complaint = |files, lines| complaint(&lock, Size { files, lines });
        assert_eq!(complaint(2, 9), None);
        for said in [complaint(3, 9), complaint(2, 10)] {
            let said = said.expect("a complaint");
            assert!(said.starts_with("l: ") && said.contains("at most 2 and 9; take a file"));
        }
    }
}

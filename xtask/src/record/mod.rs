//! What has passed and need not run again until its sources change: a line for each check in [`FILE`], with a hash of
//! everything that decides its outcome.
//!
//! Commands that run such a check write its line. Continuous integration runs what has no line, or one with another
//! hash, and a tenth of the rest: another one for each commit, so that a false line is found sooner or later.

mod sources;

pub use sources::{Item, Sources};

use crate::limit::command;
use crate::tidy::Source;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The committed record.
pub const FILE: &str = "xtask/record.txt";

/// One of this many checks that are in the record runs again.
const AGAIN: u64 = 10;

const SEAL: &str = "seal";

/// The checks that have passed.
pub struct Record<'a> {
    path: PathBuf,
    sources: Sources<'a>,
    /// The hash of each check, by its name.
    lines: Mutex<BTreeMap<String, String>>,
    /// The commit decides which checks run again; without one all do.
    commit: Option<String>,
    /// True to run what is due and write nothing.
    changed: bool,
}

impl<'a> Record<'a> {
    /// Reads the record of the repository at `root`, which has these sources. It is empty if the file is missing.
    ///
    /// # Errors
    /// A sentence that says what to do if the file was changed by hand.
    pub fn read(root: &Path, all: &'a [Source], changed: bool) -> Result<Self, String> {
        let path = root.join(FILE);
        let text = fs::read_to_string(&path).unwrap_or_else(|_| text_of(&BTreeMap::new()));
        let lines = Mutex::new(lines_of(&text).ok_or_else(|| {
            format!(
                "{FILE} was changed by hand, for its last line is not the hash of the others; type `git restore \
                 {FILE}`, or delete the file and run the checks again"
            )
        })?);
        let head = command("git rev-parse HEAD").current_dir(root).output();
        let head = head.ok().filter(|output| output.status.success());
        let commit = head.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        Ok(Self { path, sources: Sources::of(root, all)?, lines, commit, changed })
    }

    /// Returns the checks that have to run: all, or those that are due. Then it says how many others have passed.
    pub fn due<T>(&self, what: &str, all: Vec<T>, item: impl Fn(&T) -> Item<'a>) -> Vec<T> {
        if !self.changed {
            return all;
        }
        let (count, mut known, mut due) = (all.len(), 0, Vec::new());
        for check in all {
            let item = item(&check);
            let is_known = self.lines().get(&item.name) == Some(&self.sources.hash(&item));
            known += usize::from(is_known);
            if !is_known || self.runs_again(&item.name) {
                due.push(check);
            }
        }
        let (new, again) = (count - known, due.len() + known - count);
        eprintln!(
            "{what}: {count} checks, {new} of them new or changed; {known} are in {FILE}, and {again} of these run \
             again"
        );
        due
    }
    /// Writes down that a check has passed, or removes its line. The file has it at once.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, item: &Item<'_>, has_passed: bool) -> Result<(), String> {
        if self.changed {
            return Ok(());
        }
        let mut lines = self.lines();
        match has_passed {
            true => lines.insert(item.name.clone(), self.sources.hash(item)),
            false => lines.remove(&item.name),
        };
        // A run that is interrupted leaves the old file or the new one.
        let new = self.path.with_extension("new");
        let written = fs::write(&new, text_of(&lines)).and_then(|()| fs::rename(&new, &self.path));
        written.map_err(|error| format!("{FILE} cannot be written: {error}"))
    }

    fn lines(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn runs_again(&self, name: &str) -> bool {
        self.commit.as_ref().is_none_or(|commit| {
            let hash = hash_of([commit, name]);
            u64::from_str_radix(&hash, 16).is_ok_and(|number| number % AGAIN == 0)
        })
    }
}

/// The first 64 bits of a SHA-256 over some texts, each with its length.
fn hash_of(texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        let text = text.as_ref();
        hasher.update(text.len().to_le_bytes());
        hasher.update(text);
    }
    hasher.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text_of(lines: &BTreeMap<String, String>) -> String {
    let text: String = lines.iter().map(|(name, hash)| format!("{hash} {name}\n")).collect();
    let seal = hash_of([&text]);
    format!("{text}{seal} {SEAL}\n")
}

/// The lines of a record; `None` if the last one is not the hash of the others.
fn lines_of(text: &str) -> Option<BTreeMap<String, String>> {
    let line = |line: &str| {
        let (hash, name) = line.split_once(' ')?;
        Some((name.to_string(), hash.to_string()))
    };
    let mut lines: BTreeMap<_, _> = text.lines().map(line).collect::<Option<_>>()?;
    lines.remove(SEAL)?;
    (text_of(&lines) == text).then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: String, text: &str) -> Item<'static> {
        Item { name, text: text.into(), ..Item::default() }
    }

    /// A record in a file of its own, in which a thousand bugs have passed.
    fn record(name: &str, commit: Option<&str>, changed: bool) -> Record<'static> {
        let path = std::env::temp_dir().join(format!("record-{name}-{}", std::process::id()));
        let sources = Sources::of(&crate::root(), &[]).expect("a compiler");
        let passed = |it| (format!("bug {it}"), sources.hash(&item(format!("bug {it}"), "")));
        let lines = Mutex::new((0..1000).map(passed).collect());
        Record { path, sources, lines, commit: commit.map(str::to_string), changed }
    }

    #[test]
    fn a_check_is_due_if_it_is_new_or_changed_and_a_tenth_runs_again_by_the_commit() {
        let all: Vec<_> = (0..1000).collect();
        let due = |commit, changed: u32| {
            let record = record("due", commit, true);
            let text = |it: &u32| if *it < changed { "changed" } else { "" };
            record.due("test", all.clone(), |it| item(format!("bug {it}"), text(it)))
        };
        let (one, other) = (due(Some("c1"), 0), due(Some("c2"), 0));
        assert!((70..130).contains(&one.len()) && one == due(Some("c1"), 0) && one != other);
        assert_eq!(due(Some("c1"), 1000), all);
        assert!(due(Some("c1"), 20).starts_with(&all[..20]));
        assert_eq!(due(None, 0), all);
        let of_others = record("due", Some("c1"), true);
        let named = |it: &u32| item(format!("mutant {it}"), "");
        assert_eq!(of_others.due("test", all.clone(), named), all);
        assert_eq!(record("due", Some("c1"), false).due("test", all.clone(), named), all);
    }

    #[test]
    fn a_record_that_was_changed_by_hand_is_refused() {
        let lines = [("bug 9".to_string(), "0f".to_string())].into();
        let text = text_of(&lines);
        assert_eq!(lines_of(&text), Some(lines));
        let more = text.replace("0f bug 9", "0f bug 10\n0f bug 9");
        let again = text.clone() + &text;
        for wrong in ["", "no record", &text.replace("0f", "0e"), &more, &again, &text[1..]] {
            assert_eq!(lines_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_passed_is_in_the_file_at_once_and_what_failed_is_not() {
        let record = record("write", None, false);
        record.write(&item("fuzz 1".into(), ""), true).expect("it is written");
        record.write(&item("bug 2".into(), ""), false).expect("it is written");
        let lines = lines_of(&fs::read_to_string(&record.path).expect("the file"));
        let lines = lines.expect("a record");
        assert!(lines.contains_key("fuzz 1") && !lines.contains_key("bug 2"));
        assert_eq!(lines.len(), 1000);
        fs::remove_file(&record.path).expect("the file written above");
        let same = Record { changed: true, ..record };
        same.write(&item("fuzz 2".into(), ""), true).expect("nothing is written");
        assert!(!same.path.exists());
    }
}

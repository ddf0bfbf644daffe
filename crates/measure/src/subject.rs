//! What can be measured: the locks of the registry, their native peers, and the floors.

use crate::error::Error;
use crate::suggest::nearest;
use lockwright_catalog::registry::{self, LOCKS, LockClass, LockRow, ONLY, is_left_out};

/// The command that lists them.
const LIST: &str = "lockwright locks";

/// Something that enters commands by its name.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// Name, aliases, what it models.
    pub row: &'static LockRow,
    /// Where it comes from.
    pub origin: SubjectOrigin,
}

/// Where a subject comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectOrigin {
    /// The registry: runs on every machine.
    Registry,
    /// A lock of another library: runs natively.
    Peer,
    /// A pseudo-lock: the least that a lock with a word of some width can cost. It runs natively and alone.
    Floor,
}

/// The pseudo-locks: one compare-exchange and one plain store of the same width.
pub static FLOORS: [LockRow; 3] = [
    floor("floor-8", "no lock: one compare-exchange and one plain store of 8 bits each"),
    floor("floor-16", "no lock: one compare-exchange and one plain store of 16 bits each"),
    floor("floor-32", "no lock: one compare-exchange and one plain store of 32 bits each"),
];

const fn floor(name: &'static str, models: &'static str) -> LockRow {
    LockRow { name, aliases: &[], class: LockClass::Reference, models }
}

impl PartialEq for Subject {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Subject {
    /// Every subject, in the order of the lists.
    pub fn all() -> impl Iterator<Item = Self> {
        let registry = LOCKS.iter().map(|row| Self { row, origin: SubjectOrigin::Registry });
        let peers =
            crate::peers::peers().map(|peer| Self { row: &peer.row, origin: SubjectOrigin::Peer });
        registry.chain(peers).chain(Self::floors())
    }
    /// The floors, one for each width.
    pub fn floors() -> impl Iterator<Item = Self> + Clone {
        FLOORS.iter().map(|row| Self { row, origin: SubjectOrigin::Floor })
    }
    /// The subject that answers to `name`.
    pub fn find(name: &str) -> Result<Self, Error> {
        Self::all().find(|subject| subject.row.answers_to(name)).ok_or_else(|| {
            if let Some(only) = ONLY.filter(|_| is_left_out(name) || crate::peers::is_left_out(name)) {
                return Error::usage(format!(
                    "`{name}` is not in this build, which was made with LOCKWRIGHT_ONLY={only}: add `{name}` \
                     to the names there, and build again"
                ));
            }
            let names = |broken: bool| {
                let chosen = Self::all().filter(move |s| s.is_busted() == broken);
                chosen
                    .flat_map(|s| std::iter::once(s.row.name).chain(s.row.aliases.iter().copied()))
            };
            // A lock that is broken on purpose is a suggestion only if nothing else is near.
            let is_near = nearest(name, names(false).chain([ALL, USUAL, FLOOR])).is_some();
            let busted = names(true).filter(|_| !is_near);
            let groups = [ALL, USUAL, FLOOR];
            Error::unknown("lock", name, names(false).chain(groups).chain(busted), LIST)
        })
    }
    /// The lock of the registry that has this name.
    ///
    /// # Errors
    /// If there is none in this build.
    pub fn registered(name: &str) -> Result<Self, Error> {
        let row = registry::find(name);
        let row = row.ok_or_else(|| Error::usage(format!("there is no lock `{name}`")))?;
        Ok(Self { row, origin: SubjectOrigin::Registry })
    }
    /// Returns true if it is broken on purpose.
    fn is_busted(self) -> bool {
        self.row.class == LockClass::Busted
    }
    /// Its name.
    pub fn name(self) -> &'static str {
        self.row.name
    }
    /// Returns true if `all` includes it.
    pub fn is_in_all(self) -> bool {
        self.origin != SubjectOrigin::Floor && self.row.is_in_all()
    }
    /// Returns true if a pattern may stand for it.
    pub fn is_correct(self) -> bool {
        self.origin != SubjectOrigin::Floor && self.row.is_correct()
    }
    /// Returns true if it is a state of the kernel's history.
    pub fn is_history(self) -> bool {
        self.row.class == LockClass::History
    }
    /// Returns true if it is two other locks in one, a succession and a waiting policy.
    pub fn is_combination(self) -> bool {
        self.row.class == LockClass::Combination
    }
    /// What it is for, in one word.
    pub fn kind(self) -> &'static str {
        match (self.origin, self.row.class) {
            (SubjectOrigin::Peer, _) => "peer",
            (SubjectOrigin::Floor, _) => FLOOR,
            (SubjectOrigin::Registry, LockClass::Product) => "product",
            (SubjectOrigin::Registry, LockClass::History) => "history",
            (SubjectOrigin::Registry, LockClass::Combination) => "combination",
            (SubjectOrigin::Registry, LockClass::Reference) => "reference",
            (SubjectOrigin::Registry, LockClass::Busted) => "busted",
        }
    }
    /// The machines it runs on.
    pub fn worlds(self) -> &'static [&'static str] {
        match self.origin {
            SubjectOrigin::Registry => &["native", "simulated"],
            SubjectOrigin::Peer | SubjectOrigin::Floor => &["native"],
        }
    }
}

/// Returns true if `name` matches `pattern`, in which `*` stands for anything.
pub fn is_match(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|name| {
            let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.into_iter().any(|at| is_match(rest, &name[at..]))
        }),
    }
}

/// What stands for every lock that is right.
const ALL: &str = "all";
/// What stands for those without the combinations: what a person compares first.
pub const USUAL: &str = "usual";
/// What stands for the floors of all widths.
pub const FLOOR: &str = "floor";

/// What a `--lock` list asks for.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The locks, each once, in the order in which they were named.
    pub subjects: Vec<Asked>,
}

/// A lock that was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// The lock.
    pub subject: Subject,
    /// True if its own name was given, as opposed to `all`, `usual` or a pattern.
    pub explicitly: bool,
}

impl Selection {
    /// Resolves names. `all`, `usual` and patterns stand for several, never for a floor or a busted lock, and only
    /// patterns for one of the kernel's history. `floor` stands for those of all widths.
    pub fn of(names: &[String]) -> Result<Self, Error> {
        let mut subjects: Vec<Asked> = Vec::new();
        let mut add = |asked: Asked| match subjects.iter_mut().find(|s| s.subject == asked.subject)
        {
            Some(known) => known.explicitly |= asked.explicitly,
            None => subjects.push(asked),
        };
        for name in names.iter().map(|name| name.trim()) {
            if name.is_empty() {
                let why = "there is an empty name among the locks: take out the comma, or write a name there";
                return Err(Error::usage(why));
            }
            if name == FLOOR {
                let all = Subject::floors();
                all.for_each(|subject| add(Asked { subject, explicitly: true }));
                continue;
            }
            let stands_for = |subject: &Subject| match name {
                ALL => subject.is_in_all(),
                USUAL => subject.is_in_all() && !subject.is_combination(),
                // An alias is another lock's name as often as not: `cna` is `cna-v10`.
                pattern => is_match(pattern, subject.name()),
            };
            if !(name == ALL || name == USUAL || name.contains('*')) {
                add(Asked { subject: Subject::find(name)?, explicitly: true });
                continue;
            }
            let right = Subject::all().filter(|subject| subject.is_correct());
            let group: Vec<Subject> = right.filter(stands_for).collect();
            if group.is_empty() {
                return Err(Error::usage(format!("no lock matches `{name}`; `{LIST}` lists all")));
            }
            group.into_iter().for_each(|subject| add(Asked { subject, explicitly: false }));
        }
        Ok(Self { subjects })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(names: &[&str]) -> Vec<&'static str> {
        let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let selection = Selection::of(&names).expect("known names");
        selection.subjects.iter().map(|asked| asked.subject.name()).collect()
    }

    #[test]
    fn all_leaves_out_the_floor_and_the_busted_ones() {
        let all = select(&["all"]);
        assert!(all.contains(&"ticket") && all.contains(&"parking_lot"));
        assert!(!all.iter().any(|name| name.starts_with("floor")) && !all.contains(&"busted"));
        assert!(!all.contains(&"busted-relaxed"));
    }

    #[test]
    fn all_is_what_is_todays_and_patterns_stand_for_the_history_too() {
        let history = |names: &[&str]| {
            let is_history = |name: &&str| Subject::find(name).expect("a lock").is_history();
            select(names).into_iter().filter(is_history).count()
        };
        assert_eq!((history(&["all"]), history(&["usual"])), (0, 0));
        assert_eq!(history(&["*"]), Subject::all().filter(|it| it.is_history()).count());
        assert_eq!(select(&["rwsem-v5_2_*"])[0], "rwsem-v5_2_timed_spin");
        assert_eq!(select(&["rwsem-v5_11"]), ["rwsem-v5_11"]);
    }

    #[test]
    fn usual_leaves_out_the_combinations_and_no_lock_with_a_name_of_its_own() {
        let (all, usual) = (select(&["all"]), select(&["usual"]));
        let left_out: Vec<_> = all.iter().filter(|name| !usual.contains(name)).collect();
        assert!(left_out.iter().all(|name| name.starts_with("cna-")), "{left_out:?}");
        assert!(left_out.contains(&&"cna-park") && left_out.contains(&&"cna-hybrid"));
        for name in ["cna-v15", "hybrid-bounded", "cna-hybrid-bounded", "pthread-spin"] {
            assert!(usual.contains(&name), "{name}");
        }
    }

    #[test]
    fn a_pattern_stands_for_the_right_locks_that_match_it() {
        assert_eq!(select(&["cna-v10_*"])[..2], ["cna-v10_time", "cna-v10_limited"]);
        assert_eq!(select(&["*-hybrid-bounded"])[..1], ["cna-hybrid-bounded"]);
        assert!(select(&["all"]).iter().all(|name| select(&["*"]).contains(name)));
        assert!(!select(&["cna-*"]).contains(&"cna"), "its alias is cna-v10");
        assert!(select(&["c*-park"]).iter().all(|name| name.ends_with("-park")));
        for none in ["busted*", "floo*", "*xx", "cna-*-spark", "*-block"] {
            let said = Selection::of(&[none.into()]).expect_err("nothing matches").to_string();
            assert!(said.contains(none), "{said}");
        }
    }

    #[test]
    fn the_floor_is_one_of_each_width() {
        assert_eq!(select(&["std", "floor"]), ["std", "floor-8", "floor-16", "floor-32"]);
        assert_eq!(select(&["floor-16", "floor"]), ["floor-16", "floor-8", "floor-32"]);
    }

    #[test]
    fn a_lock_named_twice_runs_once() {
        assert_eq!(select(&["mcs", "std", "mcs"]), ["mcs", "std"]);
    }

    #[test]
    fn names_are_unique_over_all_origins() {
        let mut names: Vec<_> = Subject::all().map(Subject::name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_busted_lock_is_suggested_only_to_who_means_it() {
        let said = |typed| Subject::find(typed).expect_err("no such lock").to_string();
        for typed in ["Mutxe", "mutxe", "burst", "std-mutex"] {
            assert!(!said(typed).contains("busted"), "{}", said(typed));
        }
        assert!(said("bustedd").contains("`busted`"), "{}", said("bustedd"));
        assert!(said("busted-relax").contains("`busted-relaxed`"), "{}", said("busted-relax"));
    }
}

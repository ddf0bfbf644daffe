//! Which locks a comparison is of: ours, their peers, and what they are called.

use lockwright_measure::native::locks::{readers_share, stalls_if_oversubscribed};
use lockwright_measure::peers::{Comparison, peers, usual_peers};
use lockwright_measure::subject::{Asked, Subject, SubjectOrigin};

/// Our lock in cells without readers.
pub const OURS: &str = "mutex";
/// A peer that has everything a cell may need.
pub const ABLE_PEER: &str = "parking_lot";
/// Our locks that readers share. For each percentage of readers, the lock that is better in the odd repetitions
/// of its cells is compared. The first one is for any mixture.
pub const OURS_RW: &[&str] = &["rwlock", "percpu-rwlock"];
/// The one for any mixture of readers and writers.
pub const OURS_MIXED: &str = OURS_RW[0];

/// A lock of two versions.
pub struct Versions {
    /// In a comparison: the better of them in a cell. Elsewhere: the older one.
    pub name: &'static str,
    /// What they are called in a comparison.
    pub labels: [&'static str; 2],
}

/// The mutex.
const MUTEX: Versions =
    Versions { name: "parking_lot", labels: ["parking_lot-0.12", "parking_lot-0.13"] };
/// The reader-writer lock.
const RW_LOCK: Versions = Versions {
    name: "parking_lot-rwlock",
    labels: ["parking_lot-rwlock-0.12", "parking_lot-rwlock-0.13"],
};

impl Versions {
    /// Those of parking_lot, in a cell with readers or without.
    pub const fn of_parking_lot(has_readers: bool) -> &'static Self {
        if has_readers { &RW_LOCK } else { &MUTEX }
    }
    /// Those that `name` stands for.
    pub fn of(name: &str) -> Option<&'static Self> {
        [&MUTEX, &RW_LOCK].into_iter().find(|versions| versions.name == name)
    }
}

/// What a lock is called in a comparison.
pub fn label(lock: Subject) -> &'static str {
    Versions::of(lock.name()).map_or(lock.name(), |versions| versions.labels[0])
}

/// The reader-writer locks of a library, or of one version of it; none if `family` is not a library's name.
pub fn rw_locks_of(family: &str) -> impl Iterator<Item = &'static str> + use<> {
    let of_family = peers().filter(|peer| peer.libraries.contains(&family));
    let subjects = of_family.map(|peer| Subject { row: &peer.row, origin: SubjectOrigin::Peer });
    let locks: Vec<_> = subjects.filter(|&lock| readers_share(lock)).map(Subject::name).collect();
    locks.into_iter()
}

/// True if `peer` takes part with more threads than CPUs. A lock that stops whenever its next waiter has no CPU
/// does so only if it was named.
pub fn bears_oversubscription(peer: Asked) -> bool {
    peer.explicitly || !stalls_if_oversubscribed(peer.subject)
}

/// What --peer takes.
pub fn all_peers() -> String {
    let owning: Vec<_> = usual_peers(Comparison::Owning).collect();
    let rw = usual_peers(Comparison::Reading).filter(|name| !owning.contains(name));
    owning.iter().copied().chain(rw).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_that_of_a_lock_of_its_kind() {
        let find = |name: &str| Subject::find(name).expect("a known lock");
        let reading: Vec<_> = usual_peers(Comparison::Reading).collect();
        let rw = reading.iter().chain(OURS_RW).map(|name| find(name));
        assert!(rw.into_iter().all(readers_share));
        assert!(!readers_share(find(OURS)));
        for family in usual_peers(Comparison::Owning) {
            assert!(rw_locks_of(family).all(|name| reading.contains(&name)), "{family}");
        }
    }

    #[test]
    fn a_version_has_a_label_that_is_one_of_its_names() {
        for versions in [&MUTEX, &RW_LOCK] {
            for name in versions.labels {
                assert_eq!(label(Subject::find(name).expect("a known lock")), name);
            }
        }
    }
}

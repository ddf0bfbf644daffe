//! Which checks are there for which file.

use lockwright_catalog::registry::LOCKS;
use lockwright_zoo::{Checker::Miri, Test};

/// Who looks for the difference that a mutant makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checker {
    /// The model checks of these locks.
    Loom(&'static [&'static str]),
    /// These tests on the platform of programs, interpreted.
    Miri(&'static [Test]),
    /// No check can hold there even without the mutant.
    Nobody,
}

const CNA: &[&str] = &["cna", "cna-v10_time", "cna-v10_limited", "cna-v11", "cna-v15"];
/// The last one steps while it waits.
const QUEUED: &[&str] = &["qspinlock", "cna", "cna-v15"];

/// Waiters that sleep, in order of arrival and where the head sets others aside before it has the
/// lock: what the grant carries is of use there only.
const SLEEPING: &[&str] = &["cna-park", "park", "park-full_spin"];
const HYBRID: &[&str] = &["hybrid", "cna-hybrid"];
const BOUNDED: &[&str] = &["hybrid-bounded", "cna-hybrid-bounded"];

const RESILIENT: &[&str] = &["resilient", "resilient-v6_19", "resilient-in_programs"];

const RWLOCK: &[&str] = &["rwlock", "rwlock-fair"];
const PERCPU: &[&str] = &["percpu-rwlock-in_slots", "percpu-rwlock"];

/// Readers that steal or spin; the skips and the flag of a release, which are of some policies only;
/// spinners in turns; what programs have.
const RWSEM: &[&str] = &[
    "rwsem-v3_12_wake_flag",
    "rwsem-v3_12_series",
    "rwsem-v4_14",
    "rwsem-current",
    "rwsem-current_in_programs",
    "rwsem-v5_10",
];

const fn law(name: &'static str) -> Test {
    Test { package: "lockwright-clients", program: &["--test", "native"], name, checker: Miri }
}
const fn unit(name: &'static str) -> Test {
    let program = &["--features", "std", "--lib"];
    Test { package: "lockwright-core", program, name, checker: Miri }
}

const POOL: &[Test] = &[unit("native::pool::tests::a_node_belongs_to_one_thread_at_a_time")];
const FORK: &[Test] =
    &[unit("native::fork::tests::threads_that_ask_first_at_the_same_time_see_no_fork")];
const TOPOLOGY: &[Test] =
    &[unit("native::topology::tests::whoever_finds_the_topology_read_has_all_of_it")];

/// By the beginning of the path below the sources of the crate; the longest that fits counts. A module that is
/// called as a lock, and not in this table, is watched by that lock.
const CHECKERS: &[(&str, Checker)] = &[
    ("platform/cells.rs", Checker::Loom(&["unfair", "ticket", "mcs", "clh", "qspinlock"])),
    ("rwlock/", Checker::Loom(RWLOCK)),
    ("percpu_rwlock/", Checker::Loom(PERCPU)),
    ("readers/", Checker::Loom(PERCPU)),
    ("rwsem/", Checker::Loom(RWSEM)),
    ("park/", Checker::Loom(&["mutex"])),
    ("park/granting.rs", Checker::Loom(&["semaphore"])),
    ("queue/mod.rs", Checker::Loom(BOUNDED)),
    ("condvar.rs", Checker::Loom(&["mutex"])),
    // Where the clients of the barrier are.
    ("barrier.rs", Checker::Loom(&["once"])),
    ("park/marks.rs", Checker::Loom(&["mutex"])),
    ("futex3/", Checker::Loom(&["futex3", "futex3-spin"])),
    ("qspinlock/", Checker::Loom(QUEUED)),
    ("qspinlock/cna/", Checker::Loom(CNA)),
    ("qspinlock/two_level.rs", Checker::Loom(&["two-level"])),
    // The first attempt is another one under a policy that barges.
    ("qspinlock/mod.rs", Checker::Loom(&["qspinlock", "hybrid-bounded"])),
    ("qspinlock/pv/", Checker::Loom(SLEEPING)),
    ("qspinlock/pv/rules.rs", Checker::Loom(HYBRID)),
    ("qspinlock/pv/bounded.rs", Checker::Loom(BOUNDED)),
    ("qspinlock/fork.rs", Checker::Loom(&["qspinlock"])),
    ("qspinlock/timed.rs", Checker::Loom(&["qspinlock"])),
    ("qspinlock/resilient/", Checker::Loom(RESILIENT)),
    ("held.rs", Checker::Loom(RESILIENT)),
    ("native/barrier.rs", Checker::Miri(&[law("native_keeps_the_laws_of_barriers")])),
    ("native/pool.rs", Checker::Miri(POOL)),
    ("native/fork.rs", Checker::Miri(FORK)),
    ("native/topology.rs", Checker::Miri(TOPOLOGY)),
    // Wrong on purpose.
    ("busted.rs", Checker::Nobody),
];

/// The checker of the file at `path`, which is below the sources of the crate.
pub fn checker_of(path: &str) -> Option<Checker> {
    let fits = CHECKERS.iter().filter(|(begin, _)| path.starts_with(begin));
    fits.max_by_key(|(begin, _)| begin.len()).map_or_else(|| lock_of(path), |(_, it)| Some(*it))
}

/// The model checks of the lock that is called as the module at `path`.
fn lock_of(path: &str) -> Option<Checker> {
    let module = path.split(['/', '.']).next()?.replace('_', "-");
    let row = LOCKS.iter().find(|row| row.name == module)?;
    Some(Checker::Loom(std::slice::from_ref(&row.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_of_the_path_decides() {
        assert_eq!(checker_of("qspinlock/queue.rs"), Some(Checker::Loom(QUEUED)));
        assert_eq!(checker_of("qspinlock/cna/mod.rs"), Some(Checker::Loom(CNA)));
        assert_eq!(checker_of("new_lock.rs"), None);
    }

    #[test]
    fn a_lock_watches_its_own_module_and_only_that() {
        assert_eq!(checker_of("unfair.rs"), Some(Checker::Loom(&["unfair"])));
        assert_eq!(checker_of("osq/leave.rs"), Some(Checker::Loom(&["osq"])));
        assert_eq!(checker_of("rwlock/wait.rs"), Some(Checker::Loom(RWLOCK)));
        assert_eq!(checker_of("platform/machine.rs"), None);
    }
}

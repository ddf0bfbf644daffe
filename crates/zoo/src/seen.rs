//! Which checkers see a bug, and why others cannot.

use crate::bug::Test;

/// Something that is believed because it finds the bugs of the zoo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checker {
    /// Every execution of two or three threads up to a number of preemptions.
    Loom,
    /// Sampled schedules of some threads on a simulated machine: `lockwright explore`.
    Explore,
    /// The bounds on waiting, watched in simulated runs.
    Fairness,
    /// Tests of the locks on the real machine.
    Native,
    /// Tests in simulated runs, most of which explore schedules of clients.
    Explored,
    /// Tests under an interpreter, with many seeds. No bug asks for it; weakened orderings do.
    Miri,
}

impl Checker {
    /// Those that run a lock that is seeded with a bug, in the order in which they are asked.
    pub const OF_SEEDED: [Self; 3] = [Self::Loom, Self::Explore, Self::Fairness];

    /// Its name, in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loom => "loom",
            Self::Explore => "explore (simulated)",
            Self::Fairness => "fairness (simulated)",
            Self::Native => "native tests",
            Self::Explored => "explored schedules",
            Self::Miri => "miri",
        }
    }
}

/// What a bug is about. It decides which checkers can see it at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BugKind {
    /// The order in which threads take their steps, or in which a store and a later load of one thread reach the
    /// others.
    Steps,
    /// Going to sleep and waking up, in the order of a sequential memory.
    Sleeping,
    /// An ordering that the processor may use and a store buffer does not show.
    Memory,
    /// How long a thread waits.
    Waiting,
    /// Something that tests of their own show.
    Tests,
}

impl BugKind {
    /// Why `explore` cannot see a bug of this kind, to be read after its name; `None` if it can.
    pub const fn hides_from_explore(self) -> Option<&'static str> {
        match self {
            Self::Steps | Self::Sleeping => None,
            Self::Memory => Some("is a weak-memory bug; explore cannot see it"),
            Self::Waiting => Some("is about how long a thread waits; explore cannot see it"),
            Self::Tests => Some("is shown by tests of its own; explore cannot see it"),
        }
    }
}

/// What a bug is about, and the checkers that must see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detection {
    /// What it is about.
    pub kind: BugKind,
    /// Those that must see it.
    pub by: &'static [Checker],
}

const fn seen(kind: BugKind, by: &'static [Checker]) -> Detection {
    Detection { kind, by }
}

/// A bug of ordering: loom's alone.
pub(crate) const MEMORY: Detection = seen(BugKind::Memory, &[Checker::Loom]);
/// Loom finds it; a checker that samples is not asked, because it may take long.
pub(crate) const BY_LOOM: Detection = seen(BugKind::Steps, &[Checker::Loom]);
/// It takes more threads, more preemptions or another memory than loom is given, so schedules are sampled.
pub(crate) const EXPLORED: Detection = seen(BugKind::Steps, &[Checker::Explore]);
/// About going to sleep and waking up.
pub(crate) const ASLEEP: Detection = seen(BugKind::Sleeping, &[Checker::Loom, Checker::Explore]);
/// A checker that samples finds it soon in every lock that has it.
pub(crate) const SOON: Detection = seen(BugKind::Steps, &[Checker::Loom, Checker::Explore]);
/// Waiting too long violates no property that the others know.
pub(crate) const LATE: Detection = seen(BugKind::Waiting, &[Checker::Fairness]);
/// Tests on the real machine see it, and some explored schedules.
pub(crate) const EDIT: Detection = seen(BugKind::Tests, &[Checker::Native, Checker::Explored]);
/// Only tests in simulated runs see it.
pub(crate) const EXPLORED_EDIT: Detection = seen(BugKind::Tests, &[Checker::Explored]);
/// Only tests on the real machine see it.
pub(crate) const NATIVE_EDIT: Detection = seen(BugKind::Tests, &[Checker::Native]);

/// Random programs over the safe interface of the locks.
pub(crate) const RANDOM_PROGRAMS: Test = Test {
    package: "lockwright-programs",
    program: &["--bin", "lockwright-programs"],
    name: "simulated::tests::programs_find_nothing_in_correct_locks",
    checker: Checker::Explored,
};

/// What is wrong with a registered lock that is broken on purpose; `None` if it is not.
pub fn fault_of(lock: &str) -> Option<BugKind> {
    match lock {
        "busted" | "busted-rw" => Some(BugKind::Steps),
        "rwsem-v3_12_wake_flag_as_posted"
        | "rwsem-v3_12_series_wake_flag_as_posted"
        | "rwsem-v4_14_handoff_as_posted"
        | "rwsem-v5_10_as_posted"
        | "futex3-grouped_condvar" => Some(BugKind::Sleeping),
        "busted-relaxed" => Some(BugKind::Memory),
        _ => None,
    }
}

//! The machine of one run of a checker, and how much the test suites explore.

use lockwright_core::tunables::Tunable;
use std::cell::RefCell;

/// What a run's machine is like. Thread `i` of a client runs on CPU `i`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineSettings {
    /// NUMA node of each CPU; CPUs beyond the list are on node 0.
    pub numa: Vec<u32>,
    /// CPUs whose thread is urgent.
    pub urgent: Vec<u32>,
    /// CPUs whose thread sleeps rather than spins, as one with a real-time policy.
    pub sleeping: Vec<u32>,
    /// CPUs that have queue nodes. Threads that only exist in a prebuilt state count too.
    pub cpus: u32,
    /// Queue nodes of each CPU, 0 to 4: how deep one thread may nest.
    pub nodes_per_cpu: u16,
    /// How many threads, those on the first CPUs, have a slot to read in.
    pub reader_slots: u32,
    /// Tunables that are set.
    pub tunables: Vec<(Tunable, u64)>,
    /// How far the clock moves each time a thread looks at it, in nanoseconds.
    pub clock_step_ns: u64,
    /// How many bounded waits of each thread, the first ones, are in a hurry: one look and no pause. Each further look,
    /// and each pause, lets the others go on, so that a thread that is to lose patience needs a preemption for every
    /// one.
    pub hurried_waits: u32,
    /// How many sleeps, the first ones, may end for no reason.
    pub wake_ups: u32,
    /// True if the process is a forked child. No thread is orphaned in it.
    pub has_forked: bool,
    /// True if threads have tables of the locks that they hold. These are many cells, so other machines do without.
    pub has_held_tables: bool,
}

impl MachineSettings {
    /// One NUMA node and two queue nodes for each of `cpus` CPUs.
    pub fn flat(cpus: u32) -> Self {
        Self {
            numa: Vec::new(),
            urgent: Vec::new(),
            sleeping: Vec::new(),
            cpus,
            nodes_per_cpu: 2,
            reader_slots: u32::MAX,
            tunables: Vec::new(),
            clock_step_ns: 1,
            hurried_waits: 0,
            wake_ups: 0,
            has_forked: false,
            has_held_tables: false,
        }
    }
    /// The same with CPU `i` on NUMA node `numa[i]`.
    pub fn with_numa(mut self, numa: &[u32]) -> Self {
        self.numa = numa.to_vec();
        self
    }
    /// The same with `tunable` set to `value`.
    pub fn with_tunable(mut self, tunable: Tunable, value: u64) -> Self {
        self.tunables.push((tunable, value));
        self
    }
    /// NUMA nodes of the machine.
    pub fn numa_nodes(&self) -> u32 {
        self.numa.iter().max().map_or(1, |node| node + 1)
    }
    /// The NUMA node of `cpu`.
    pub fn numa_node_of(&self, cpu: u32) -> u32 {
        self.numa.get(cpu as usize).copied().unwrap_or(0)
    }
    /// What `tunable` is set to; the last setting counts.
    pub fn tunable(&self, tunable: Tunable) -> Option<u64> {
        self.tunables.iter().rev().find(|(set, _)| *set == tunable).map(|(_, value)| *value)
    }
}

macro_rules! with {
    ($($(#[$doc:meta])+ $with:ident($($value:ident: $type:ty)?) { $field:ident: $is:expr })+) => {
        impl MachineSettings {
            $($(#[$doc])+
            pub fn $with(self $(, $value: $type)?) -> Self {
                Self { $field: $is, ..self }
            })+
        }
    };
}
with! {
    /// The same with `nodes` queue nodes for each CPU.
    with_nodes_per_cpu(nodes: u16) { nodes_per_cpu: nodes }
    /// The same where only the threads on the first `slots` CPUs have a slot to read in.
    with_reader_slots(slots: u32) { reader_slots: slots }
    /// The same where the first bounded waits of each thread are in a hurry: more than it takes to sleep,
    /// to wake up, to be robbed and to sleep again.
    in_a_hurry() { hurried_waits: 4 }
    /// The same where the first `waits` bounded waits of each thread are in a hurry.
    with_hurried_waits(waits: u32) { hurried_waits: waits }
    /// The same where threads have tables of the locks that they hold.
    with_held_tables() { has_held_tables: true }
    /// The same with a clock that moves so far each time a thread looks at it.
    with_clock_step(ns: u64) { clock_step_ns: ns }
    /// The same where the first `count` sleeps may end for no reason.
    with_wake_ups(count: u32) { wake_ups: count }
    /// The same in a forked child.
    in_a_forked_child() { has_forked: true }
}

thread_local! {
    // Both checkers run all threads of a model on the thread that called them.
    static OF_THIS_RUN: RefCell<MachineSettings> = RefCell::new(MachineSettings::flat(4));
}

/// Makes `settings` those of the runs that this thread starts from now on.
pub(crate) fn set(settings: MachineSettings) {
    OF_THIS_RUN.with_borrow_mut(|current| *current = settings);
}

/// The settings of the run.
pub(crate) fn current() -> MachineSettings {
    OF_THIS_RUN.with_borrow(MachineSettings::clone)
}

/// How much the test suites explore, as `LOCKWRIGHT_CHECK` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckDepth {
    /// For a developer's machine: takes minutes.
    Brief,
    /// `usual`: for continuous integration.
    Usual,
    /// `full`: when there is time.
    Full,
}

impl CheckDepth {
    /// What this process was asked for.
    ///
    /// # Panics
    /// If `LOCKWRIGHT_CHECK` is something else.
    pub fn asked() -> Self {
        let asked = std::env::var_os("LOCKWRIGHT_CHECK");
        match asked.as_ref().map(|asked| asked.to_string_lossy()).as_deref() {
            Some("full") => Self::Full,
            Some("usual") => Self::Usual,
            None => Self::Brief,
            Some(other) => panic!("LOCKWRIGHT_CHECK is usual or full, not {other}"),
        }
    }
}

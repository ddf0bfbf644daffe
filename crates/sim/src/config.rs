//! What a run is asked to do, apart from its program.

use crate::scheduling::Scheduling;
use lockwright_core::tunables::Tunable;

/// Which queue nodes the machine offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodesMode {
    /// As in a kernel: one per CPU and nesting level, at the CPU's socket. In a guest, the CPUs are
    /// the vCPUs.
    PerCpu,
    /// As in a program: a pool of this many for all threads.
    Pool(u16),
}

/// What the checkers watch. Exclusion is always watched.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checks {
    /// Locks are taken in the order in which the threads queued.
    pub fifo: bool,
    /// How many others may queue later and get a lock earlier than a waiting thread; `u32::MAX`
    /// only counts them, for [`RunReport::most_overtakes`](crate::RunReport::most_overtakes).
    pub overtaking_max: Option<u32>,
    /// Returns true if a value of a lock word is a legal state. It is asked after every write to a lock word.
    pub word_is_legal: Option<fn(u32) -> bool>,
}

/// Threads lose their CPU to something else, at random moments and for random times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preemption {
    /// How long a thread runs before it is preempted, on average: anything up to twice as long.
    pub every_ns: u64,
    /// How long it is away, on average: anything up to twice as long.
    pub for_ns: u64,
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Config {
    /// Simulated time before operations are counted, in nanoseconds.
    pub warmup_ns: u64,
    /// How long they are counted, in nanoseconds; `None` until all threads are done. After it
    /// [`thread::is_over`](crate::thread::is_over) says yes.
    pub window_ns: Option<u64>,
    /// The run fails when it lasts longer than this, in simulated nanoseconds.
    pub time_limit_ns: u64,
    /// The run fails when it takes more events than this.
    pub events_max: u64,
    /// Queue nodes.
    pub nodes: NodesMode,
    /// How many threads have a slot to read in: the first ones, or in an exploration those that claim one first.
    pub reader_slots: usize,
    /// What the locks' run-time numbers are set to.
    pub tunables: Vec<(Tunable, u64)>,
    /// Threads share the CPUs, if at all, like this; `None`: each has one of its own.
    pub scheduling: Option<Scheduling>,
    /// Threads are preempted, if at all, like this. Not together with `scheduling`.
    pub preemption: Option<Preemption>,
    /// What the checkers watch.
    pub checks: Checks,
    /// Stack of each thread, in bytes. Pages that are never used cost nothing.
    pub stack_bytes: usize,
}

impl Default for Config {
    /// Until all threads are done; at most 10 simulated seconds and 10^10 events.
    fn default() -> Self {
        Self {
            warmup_ns: 0,
            window_ns: None,
            time_limit_ns: 10_000_000_000,
            events_max: 10_000_000_000,
            nodes: NodesMode::PerCpu,
            reader_slots: usize::MAX,
            tunables: Vec::new(),
            scheduling: None,
            preemption: None,
            checks: Checks::default(),
            stack_bytes: 256 << 10,
        }
    }
}

impl Config {
    /// A benchmark: count for `window_ns` after `warmup_ns`, and allow ten times as long for the
    /// threads to finish.
    pub fn window(warmup_ns: u64, window_ns: u64) -> Self {
        let end_ns = warmup_ns.saturating_add(window_ns);
        Self {
            warmup_ns,
            window_ns: Some(window_ns),
            time_limit_ns: end_ns.saturating_mul(10).saturating_add(100_000_000),
            ..Self::default()
        }
    }
}

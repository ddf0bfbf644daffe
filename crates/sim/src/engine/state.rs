//! Everything a run knows.

use super::cpus::Host;
use super::exploration::Exploration;
use super::family::Family;
use super::faults::Preemptions;
use super::predicate::Predicate;
use super::queue::EventKind;
use super::sleepers::Sleepers;
use super::thread::Thread;
use super::timeline::{PS_PER_NS, Timeline};
use crate::arena::Region;
use crate::checker::Checkers;
use crate::config::Config;
use crate::memory::{CostTable, Memory};
use crate::report::Ending;
use crate::scheduling::Numa;
use crate::tables::LockTables;
use core::ops::Range;
use lockwright_core::events::Event as LockEvent;
use lockwright_core::tunables::Tunable;

/// Everything a run knows.
pub struct Engine {
    pub time: Timeline,
    pub switches: u64,
    pub memory: Memory,
    pub costs: CostTable,
    pub threads: Vec<Thread>,
    /// The thread whose stack is in use.
    pub current: usize,
    /// The thread that goes on next.
    pub next: usize,
    /// How many threads have not finished.
    pub live: usize,
    /// Why the run is over, if it is.
    pub ending: Option<Ending>,
    pub region: Region,
    pub sleepers: Sleepers,
    pub preemptions: Preemptions,
    pub(super) host: Host,
    /// Threads that keep each core busy.
    pub busy_on_core: Vec<u16>,
    pub numa: Numa,
    pub tables: LockTables,
    pub checkers: Checkers,
    /// When the last heavy barrier ended.
    pub(super) last_heavy_barrier: Option<u64>,
    /// The thread that has come through the fork, if there was one.
    pub survivor: Option<usize>,
    /// What the process knows of forks.
    pub(super) family: Family,
    /// Decides what happens next, if the time does not.
    pub(super) exploration: Option<Box<Exploration>>,
    pub counts: Vec<u64>,
    pub tunables: [Option<u64>; Tunable::ALL.len()],
    /// When operations and events of the locks count.
    pub window: Range<u64>,
}

/// Where a run of the event loop stopped.
pub enum Step {
    /// The caller's own time has come: no other event was earlier.
    Arrived,
    /// [`Engine::next`] goes on.
    Switch,
    /// This thread's predicate has to be asked about the value that the thread sees.
    Look { thread: usize, predicate: Predicate, value: u64 },
    /// The run is over.
    Over,
}

impl Engine {
    pub fn new(
        config: &Config,
        costs: CostTable,
        memory: Memory,
        tables: LockTables,
        region: Region,
    ) -> Self {
        let mut tunables = [None; Tunable::ALL.len()];
        for &(tunable, value) in &config.tunables {
            tunables[tunable as usize] = Some(value);
        }
        let start_ps = config.warmup_ns.saturating_mul(PS_PER_NS);
        let window_ps = config.window_ns.map_or(u64::MAX, |ns| ns.saturating_mul(PS_PER_NS));
        let limit_ps = config.time_limit_ns.saturating_mul(PS_PER_NS).min(u64::MAX - 1);
        Self {
            time: Timeline::new(config.events_max, limit_ps),
            switches: 0,
            busy_on_core: vec![0; costs.socket_of_core.len()],
            memory,
            costs,
            threads: Vec::new(),
            current: 0,
            next: 0,
            live: 0,
            ending: None,
            region,
            sleepers: Sleepers::default(),
            preemptions: Preemptions::new(config.preemption),
            host: Host::default(),
            numa: Numa::default(),
            tables,
            checkers: Checkers::new(config.checks),
            exploration: None,
            last_heavy_barrier: None,
            survivor: None,
            family: Family::default(),
            counts: vec![0; LockEvent::ALL.len()],
            tunables,
            window: start_ps..start_ps.saturating_add(window_ps),
        }
    }

    /// Something is due at `at`, unless a policy decides what happens.
    pub(super) fn schedule(&mut self, at: u64, kind: EventKind, thread: usize) {
        if self.is_exploring() {
            return;
        }
        let event = self.time.stamp(at, kind, thread);
        self.time.queue.push(event);
    }
    /// The line of an address.
    #[inline]
    pub(super) fn line_of(&self, address: usize) -> usize {
        match self.region.line_at(address) {
            Some(line) => line,
            None => self.unregistered(),
        }
    }
    #[cold]
    #[inline(never)]
    fn unregistered(&self) -> ! {
        panic!(
            "simulated thread {} touched a cell outside of the arena: shared objects must be made \
             with Simulation::alloc, and what they contain must lie in place",
            self.current
        );
    }
    /// Returns true if events of locks count now.
    #[inline]
    pub fn is_counting(&self) -> bool {
        self.window.contains(&self.time.now)
    }
}

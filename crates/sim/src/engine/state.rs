//! Everything a run knows.

use super::cpus::Host;
use super::exploration::Exploration;
use super::faults::Preemptions;
use super::predicate::Predicate;
use super::queue::{Event, EventKind, EventQueue};
use super::sleepers::Sleepers;
use super::thread::Thread;
use crate::arena::{LINE_BYTES, Object};
use crate::checker::Checkers;
use crate::config::Config;
use crate::digest::Digest;
use crate::memory::{CostTable, Memory};
use crate::nodes::{LockHashTable, NodeTable};
use crate::park::SleepSlots;
use crate::report::Ending;
use crate::scheduling::Numa;
use lockwright::events::Event as LockEvent;
use lockwright::tunables::Tunable;

/// Everything a run knows.
pub struct Engine {
    pub now: u64,
    pub(super) queue: EventQueue,
    pub(super) sequence: u64,
    pub events: u64,
    pub(super) events_max: u64,
    pub switches: u64,
    pub digest: Digest,
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
    /// Address of line 0, and how many bytes of lines there are.
    pub base: usize,
    pub used: usize,
    pub objects: Vec<Object>,
    pub sleepers: Sleepers,
    pub preemptions: Preemptions,
    pub(super) host: Host,
    /// Threads that keep each core busy.
    pub busy_on_core: Vec<u16>,
    pub numa: Numa,
    pub nodes: NodeTable,
    pub hash: LockHashTable,
    pub sleep_slots: SleepSlots,
    pub checkers: Checkers,
    /// When the last heavy barrier ended.
    pub(super) last_heavy_barrier: Option<u64>,
    /// The thread that has come through the fork, if there was one.
    pub survivor: Option<usize>,
    /// The entries of other threads in their reader slots are forgotten, since handlers ran in the child.
    pub forgets_readers: bool,
    /// Decides what happens next, if the time does not.
    pub(super) exploration: Option<Box<Exploration>>,
    pub counts: Vec<u64>,
    pub tunables: [Option<u64>; Tunable::ALL.len()],
    /// How many threads have a slot to read in.
    pub reader_slots: usize,
    pub warmup_ps: u64,
    pub end_ps: u64,
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

pub const PS_PER_NS: u64 = 1000;

impl Engine {
    pub fn new(
        config: &Config,
        costs: CostTable,
        memory: Memory,
        nodes: NodeTable,
        hash: LockHashTable,
        sleep_slots: SleepSlots,
    ) -> Self {
        let mut tunables = [None; Tunable::ALL.len()];
        for &(tunable, value) in &config.tunables {
            tunables[tunable as usize] = Some(value);
        }
        let warmup_ps = config.warmup_ns.saturating_mul(PS_PER_NS);
        let window_ps = config.window_ns.map_or(u64::MAX, |ns| ns.saturating_mul(PS_PER_NS));
        let mut engine = Self {
            now: 0,
            queue: EventQueue::default(),
            sequence: 0,
            events: 0,
            events_max: config.events_max,
            switches: 0,
            digest: Digest::new(),
            busy_on_core: vec![0; costs.socket_of_core.len()],
            memory,
            costs,
            threads: Vec::new(),
            current: 0,
            next: 0,
            live: 0,
            ending: None,
            base: 0,
            used: 0,
            objects: Vec::new(),
            sleepers: Sleepers::default(),
            preemptions: Preemptions::new(config.preemption),
            host: Host::default(),
            numa: Numa::default(),
            nodes,
            hash,
            sleep_slots,
            checkers: Checkers::new(config.checks),
            exploration: None,
            last_heavy_barrier: None,
            survivor: None,
            forgets_readers: false,
            counts: vec![0; LockEvent::ALL.len()],
            tunables,
            reader_slots: config.reader_slots,
            warmup_ps,
            end_ps: warmup_ps.saturating_add(window_ps),
        };
        let limit_ps = config.time_limit_ns.saturating_mul(PS_PER_NS).min(u64::MAX - 1);
        engine.queue.push(Event::new(limit_ps, 0, EventKind::Limit, 0));
        engine
    }

    pub(super) fn stamp(&mut self, at: u64, kind: EventKind, thread: usize) -> Event {
        self.sequence += 1;
        Event::new(at, self.sequence, kind, thread as u16)
    }
    pub(super) fn schedule(&mut self, at: u64, kind: EventKind, thread: usize) {
        if self.is_exploring() {
            return;
        }
        let event = self.stamp(at, kind, thread);
        self.queue.push(event);
    }
    #[inline]
    pub(super) fn happened(&mut self, at: u64, what: u64) {
        debug_assert!(at >= self.now, "time runs backwards");
        self.now = at;
        self.events += 1;
        self.digest.fold(at, what);
    }

    /// The line of an address, for a message; `None` if it is none of ours.
    #[inline]
    pub fn line_at(&self, address: usize) -> Option<usize> {
        let offset = address.wrapping_sub(self.base);
        (offset < self.used).then_some(offset / LINE_BYTES)
    }
    /// The line of an address.
    #[inline]
    pub(super) fn line_of(&self, address: usize) -> usize {
        match self.line_at(address) {
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
        (self.warmup_ps..self.end_ps).contains(&self.now)
    }
}

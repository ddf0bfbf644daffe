//! The event loop of a run.
//!
//! The loop has no home of its own: it runs wherever a thread has to wait for a time or for
//! another thread, on that thread's stack, until the next event that makes a thread go on. Only if
//! that is another thread, control goes through the main stack to it. Stores that commit, spinners
//! that read again and timers need no switch at all, and an access that completes before every
//! queued event just moves the clock.

mod access;
mod arbitration;
pub mod cell;
mod explore;
mod forks;
mod host;
mod predicate;
mod preemption;
pub mod queue;
mod signals;
mod sleep;
mod thread;
mod trace;
mod wait;

pub use explore::Exploration;
pub use thread::{Activity, Thread};
pub use wait::Deadline;

use crate::arena::{LINE_BYTES, Object};
use crate::checker::Checkers;
use crate::config::Config;
use crate::digest::Digest;
use crate::memory::{CostTable, Memory};
use crate::nodes::{LockHashTable, NodeTable};
use crate::park::SleepSlots;
use crate::report::Ending;
use crate::scheduling::Numa;
use crate::switch::Here;
use cell::CellRef;
use host::Host;
use lockwright::events::Event as LockEvent;
use lockwright::tunables::Tunable;
use predicate::Predicate;
use preemption::Preemptions;
use queue::{Event, EventKind, EventQueue};
use sleep::Sleepers;

/// Everything a run knows.
pub struct Engine {
    pub now: u64,
    queue: EventQueue,
    sequence: u64,
    pub events: u64,
    events_max: u64,
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
    sleepers: Sleepers,
    pub preemptions: Preemptions,
    host: Host,
    /// Threads that keep each core busy.
    pub busy_on_core: Vec<u16>,
    pub numa: Numa,
    pub nodes: NodeTable,
    pub hash: LockHashTable,
    pub sleep_slots: SleepSlots,
    pub checkers: Checkers,
    /// When the last heavy barrier ended.
    last_heavy_barrier: Option<u64>,
    /// The thread that has come through the fork, if there was one.
    pub survivor: Option<usize>,
    /// The entries of other threads in their reader slots are forgotten, since handlers ran in the child.
    pub forgets_readers: bool,
    /// Decides what happens next, if the time does not.
    exploration: Option<Box<Exploration>>,
    pub counts: Vec<u64>,
    pub tunables: [Option<u64>; Tunable::ALL.len()],
    /// How many threads have a slot to read in.
    pub reader_slots: usize,
    pub warmup_ps: u64,
    pub end_ps: u64,
}

/// Where a run of the event loop stopped.
enum Step {
    /// The caller's own time has come: no other event was earlier.
    Arrived,
    /// [`Engine::next`] goes on.
    Switch,
    /// This thread's predicate has to be asked about the value that the thread sees.
    Look { thread: usize, predicate: Predicate, value: u64 },
    /// The run is over.
    Over,
}

const PS_PER_NS: u64 = 1000;

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

    /// Makes a thread start at `at`.
    pub fn start(&mut self, thread: usize, at: u64) {
        self.schedule(at, EventKind::Resume, thread);
        self.plan_preemption(thread, at);
    }
    fn stamp(&mut self, at: u64, kind: EventKind, thread: usize) -> Event {
        self.sequence += 1;
        Event::new(at, self.sequence, kind, thread as u16)
    }
    fn schedule(&mut self, at: u64, kind: EventKind, thread: usize) {
        if self.is_exploring() {
            return;
        }
        let event = self.stamp(at, kind, thread);
        self.queue.push(event);
    }
    #[inline]
    fn happened(&mut self, at: u64, what: u64) {
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
    fn line_of(&self, address: usize) -> usize {
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

    /// Moves the clock to `at` for the current thread if nothing else comes before; otherwise says
    /// when it may go on.
    #[inline]
    fn arrives_at_once(&mut self, at: u64) -> Result<(), u64> {
        let stolen = core::mem::take(&mut self.threads[self.current].stolen_ps);
        let at = at.saturating_add(stolen);
        if at < self.queue.top().at_ps() && self.events < self.events_max {
            self.happened(at, (EventKind::Inline as u64) << 16 | self.current as u64);
            return Ok(());
        }
        Err(at)
    }

    /// Runs the event loop until something has to be done that only its caller can do. `own` is
    /// the event that the calling thread waits for, or [`Event::NEVER`].
    fn step(&mut self, own: Event) -> Step {
        loop {
            if self.ending.is_some() {
                return Step::Over;
            }
            if self.events >= self.events_max {
                return self.explore();
            }
            let top = self.queue.top();
            if own < top {
                self.happened(own.at_ps(), own.what());
                return Step::Arrived;
            }
            if top.kind() == EventKind::Limit {
                // The clock stays where the last event left it.
                self.ending = Some(self.reason_at_limit());
                return Step::Over;
            }
            if self.is_stale(top) {
                self.queue.pop();
                continue;
            }
            self.happened(top.at_ps(), top.what());
            if top.kind() == EventKind::Resume {
                self.next = top.thread();
                if own == Event::NEVER {
                    self.queue.pop();
                } else {
                    self.queue.replace_top(own);
                }
                return Step::Switch;
            }
            self.queue.pop();
            let stop = match top.kind() {
                EventKind::Commit => self.commit(top.thread()),
                EventKind::Reread => self.reread(top.thread()),
                EventKind::Look => self.look(top.thread()),
                EventKind::Timer => self.timer(top.thread()),
                EventKind::Preempt => self.preempt(top.thread()),
                EventKind::Resume | EventKind::Limit | EventKind::Inline => None,
                kind => self.turn(kind, top.thread()),
            };
            if let Some(stop) = stop {
                if matches!(stop, Step::Switch) && own != Event::NEVER {
                    self.queue.push(own);
                }
                return stop;
            }
        }
    }

    /// Everything but the limit has happened, or would happen after it.
    fn reason_at_limit(&self) -> Ending {
        let mut waiting = self.threads.iter().filter(|t| t.activity != Activity::Finished);
        if waiting.all(Thread::is_stuck) { Ending::Stuck } else { Ending::TimeLimit }
    }

    /// The current thread has returned.
    pub fn finish(&mut self) {
        let thread = &mut self.threads[self.current];
        thread.activity = Activity::Finished;
        self.live -= 1;
        if self.live == 0 {
            self.ending.get_or_insert(Ending::Done);
        }
        self.idle_on_core();
    }
    /// The current thread, which sleeps or has returned, needs its CPU no more.
    fn idle_on_core(&mut self) {
        if self.is_scheduled() {
            self.leave_cpu();
        } else {
            let core = self.threads[self.current].site.core;
            self.busy_on_core[usize::from(core)] -= 1;
        }
    }
    /// Lets the stores that are still on their way become visible: the run is over.
    pub fn drain(&mut self) {
        while let Some(event) = self.queue.pop() {
            if event.kind() == EventKind::Commit {
                self.happened(event.at_ps(), event.what());
                self.commit(event.thread());
            }
        }
        // In an exploration they are in no queue.
        self.commit_all();
    }
    /// Returns true if events of locks count now.
    #[inline]
    pub fn is_counting(&self) -> bool {
        (self.warmup_ps..self.end_ps).contains(&self.now)
    }
}

impl Here {
    /// Lets time pass until `at`.
    #[inline]
    pub fn until(self, at: u64) {
        if let Err(at) = self.with(|engine| engine.arrives_at_once(at)) {
            self.wait_until(at);
        }
    }
    #[inline(never)]
    fn wait_until(self, at: u64) {
        if std::thread::panicking() {
            // The run ends with this panic. Switching away in the middle of it would mix up the
            // host thread's state, so the clock stands still for the destructors.
            return;
        }
        if self.with(|engine| engine.is_exploring()) {
            return self.wait_for_turn();
        }
        if self.with(|engine| engine.is_scheduled()) {
            self.with(|engine| engine.plan(at, EventKind::Resume, engine.current));
            return self.wait_for_others();
        }
        let mut next = Some(at);
        while let Some(at) = next {
            let own = self.with(|engine| {
                let current = engine.current;
                engine.stamp(at, EventKind::Resume, current)
            });
            if !self.drive(own) {
                self.suspend();
            }
            next = self.with(Engine::delayed_until);
        }
    }
    /// Lets time pass until the current thread, which waits for another one, goes on.
    fn wait_for_others(self) {
        let me = self.with(|engine| engine.current);
        if std::thread::panicking() {
            // No thread will run from now on, and there is nothing true to return: leave for good.
            self.with(|engine| engine.ending = Some(Ending::WaitWhilePanicking(me)));
        }
        self.drive(Event::NEVER);
        if self.with(|engine| engine.ending.is_some() || engine.next != me) {
            self.suspend();
        }
    }
    /// Runs the event loop until `own` is the next event (`true`), or until another thread goes on
    /// or the run is over (`false`).
    pub fn drive(self, own: Event) -> bool {
        let mut step = self.with(|engine| engine.step(own));
        loop {
            match step {
                Step::Arrived => return true,
                Step::Switch | Step::Over => return false,
                Step::Look { thread, predicate, value } => {
                    // SAFETY: `thread` is in the wait that this predicate belongs to.
                    let held = crate::switch::aside(|| unsafe { predicate.holds(value) });
                    step = self.with(|engine| engine.looked(thread, held, own));
                }
            }
        }
    }
}

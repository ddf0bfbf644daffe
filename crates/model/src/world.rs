//! What exists once per execution of a model: queue nodes, the clock, and what was counted.

use crate::cell::ANY_CELL;
use crate::settings::{self, MachineSettings};
use lockwright::percpu_rwlock::ReaderSlot;
use lockwright_core::events::Event;
use lockwright_core::held::HeldTable;
use lockwright_core::park::{Bucket, Waiter};
use lockwright_core::platform::{Atomic, QueueNodes, ReadList, Zeroed};
use lockwright_core::queue::{NODES_PER_CPU, NodeId, QNode};
use lockwright_linux::hq::{Entry, NumaQueue};
use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

/// The shared state of one execution, which the checker builds anew for each.
pub struct Execution<P: QueueNodes> {
    /// The machine of the run.
    pub settings: MachineSettings,
    nodes: Vec<Slot<P>>,
    pub(crate) hash: Vec<P::U64>,
    pub(crate) buckets: Vec<Bucket<P>>,
    pub(crate) marks: Vec<P::U32>,
    pub(crate) counting_marks: Vec<P::U64>,
    pub(crate) reader_slots: Vec<ReaderSlot<P>>,
    pub(crate) held_tables: Vec<HeldTable<P>>,
    pub(crate) read_lists: Vec<ReadList>,
    /// One entry: all locks of a client share it.
    pub(crate) metadata: Entry<P>,
    /// Its queues, one for each NUMA node.
    pub(crate) numa_queues: Vec<NumaQueue<P>>,
    clock_ns: AtomicU64,
    /// Sleeps so far that could end for no reason.
    wake_ups: AtomicU32,
    /// Bounded waits so far of each CPU's thread.
    bounded_waits: Vec<AtomicU32>,
    /// Who can go on.
    pub activity: RunnableThreads,
}

/// A queue node and who has it. Its number is `cpu * 4 + level`, in the order of the list.
struct Slot<P: QueueNodes> {
    node: QNode<P>,
    waiter: Waiter<P>,
    /// Written by a thread that gives back another thread's node, read by the next claim: the one
    /// ordering between them. Nodes given back by their own thread need none.
    handed_back: P::U32,
}

/// One line, so that the place where an entry is looked for first does not depend on addresses. The
/// clients have fewer locks.
pub const HASH_SLOTS: usize = 8;

/// One bucket: all words of a client share it.
pub const BUCKETS: usize = 1;

// States of `QNode::claim`, which the checker does not see: claiming adds no interleavings.
const FREE: u32 = 0;
const CLAIMED: u32 = 1;
const HANDED_BACK: u32 = 2;

impl<P: QueueNodes> Execution<P> {
    /// The world of one execution, according to the settings of the run.
    pub fn new() -> Self {
        let settings = settings::current();
        let nodes = settings.cpus * u32::from(settings.nodes_per_cpu);
        Self {
            nodes: (0..nodes)
                .map(|_| Slot {
                    // SAFETY: this is the storage of the platform.
                    node: unsafe { QNode::new() },
                    waiter: Waiter::new(),
                    handed_back: Zeroed::zeroed(),
                })
                .collect(),
            hash: (0..HASH_SLOTS).map(|_| Zeroed::zeroed()).collect(),
            buckets: (0..BUCKETS).map(|_| Bucket::new()).collect(),
            marks: (0..BUCKETS).map(|_| Zeroed::zeroed()).collect(),
            counting_marks: (0..BUCKETS).map(|_| Zeroed::zeroed()).collect(),
            reader_slots: (0..settings.cpus).map(|_| ReaderSlot::new()).collect(),
            held_tables: (0..if settings.has_held_tables { settings.cpus } else { 0 })
                .map(|_| HeldTable::new())
                .collect(),
            read_lists: (0..settings.cpus).map(|_| ReadList::EMPTY).collect(),
            metadata: Entry::new(),
            numa_queues: (0..settings.numa_nodes()).map(|_| NumaQueue::new()).collect(),
            clock_ns: AtomicU64::new(0),
            wake_ups: AtomicU32::new(0),
            bounded_waits: (0..settings.cpus).map(|_| AtomicU32::new(0)).collect(),
            activity: RunnableThreads::new(settings.cpus),
            settings,
        }
    }

    fn slot(&self, id: NodeId) -> &Slot<P> {
        let (cpu, level) = (id.number() / NODES_PER_CPU, id.number() % NODES_PER_CPU);
        &self.nodes[usize::from(cpu * self.settings.nodes_per_cpu + level)]
    }
    /// Claims the first free node of `cpu`.
    pub fn claim(&self, cpu: u32) -> Option<NodeId> {
        assert!(cpu < self.settings.cpus, "the settings of this run have no CPU {cpu}");
        let first = cpu as u16 * NODES_PER_CPU;
        for id in (first..first + self.settings.nodes_per_cpu).map(NodeId::new) {
            let slot = self.slot(id);
            match slot.node.claim.load(Relaxed) {
                CLAIMED => continue,
                HANDED_BACK => {
                    slot.handed_back.swap(0, Acquire);
                }
                _ => {}
            }
            slot.node.claim.store(CLAIMED, Relaxed);
            return Some(id);
        }
        None
    }
    /// Gives `id` back on behalf of `cpu`.
    pub fn release(&self, id: NodeId, cpu: u32) {
        let slot = self.slot(id);
        let claim = &slot.node.claim;
        assert_eq!(claim.load(Relaxed), CLAIMED, "a queue node is released that nobody has");
        if u32::from(id.number() / NODES_PER_CPU) == cpu {
            claim.store(FREE, Relaxed);
        } else {
            slot.handed_back.store(1, Release);
            claim.store(HANDED_BACK, Relaxed);
        }
    }
    /// The storage of `id`, valid until the execution ends.
    pub fn node(&self, id: NodeId) -> NonNull<QNode<P>> {
        NonNull::from(&self.slot(id).node)
    }
    /// The waiter of a node, valid until the execution ends.
    pub fn waiter(&self, id: NodeId) -> NonNull<Waiter<P>> {
        NonNull::from(&self.slot(id).waiter)
    }
    /// True if no lock has metadata, and no thread waits in a queue of it.
    pub fn has_free_metadata(&self) -> bool {
        self.metadata.is_free() && self.numa_queues.iter().all(NumaQueue::is_empty)
    }
    /// True if the table of sleepers is empty.
    pub fn has_empty_table(&self) -> bool {
        // SAFETY: the execution has ended.
        self.buckets.iter().all(|bucket| unsafe { bucket.is_empty() })
    }
    /// True if no node is claimed.
    pub fn has_released_all_nodes(&self) -> bool {
        self.nodes.iter().all(|slot| slot.node.claim.load(Relaxed) != CLAIMED)
    }
    /// True if no entry is left in the lock hash.
    pub fn has_empty_hash(&self) -> bool {
        self.hash.iter().all(|cell| cell.load(Relaxed) == 0)
    }
    /// True if the sleep that begins may end for no reason.
    pub fn may_wake_up(&self) -> bool {
        self.wake_ups.fetch_add(1, Relaxed) < self.settings.wake_ups
    }

    /// A bounded wait of the thread on `cpu` begins. Returns true if the thread is in a hurry.
    pub fn begins_hurried_wait(&self, cpu: u32) -> bool {
        let waits = self.bounded_waits[cpu as usize].fetch_add(1, Relaxed);
        waits < self.settings.hurried_waits
    }
    /// True if the thread on `cpu` has no time to pause.
    pub fn is_in_a_hurry(&self, cpu: u32) -> bool {
        let waits = self.bounded_waits[cpu as usize].load(Relaxed);
        (1..=self.settings.hurried_waits).contains(&waits)
    }

    /// Looks at the clock, which moves by that.
    pub fn now_ns(&self) -> u64 {
        self.clock_ns.fetch_add(self.settings.clock_step_ns, Relaxed)
    }
    /// Lets the clock reach `ns`.
    pub fn pass_until(&self, ns: u64) {
        self.clock_ns.fetch_max(ns, Relaxed);
    }
    /// Lets `ns` nanoseconds pass.
    pub fn pass(&self, ns: u64) {
        self.clock_ns.fetch_add(ns, Relaxed);
    }
}

impl<P: QueueNodes> Default for Execution<P> {
    fn default() -> Self {
        Self::new()
    }
}

/// Which threads can go on.
pub struct RunnableThreads {
    threads: Vec<Thread>,
    /// The CPU whose thread gave way last: loom does not choose it at once again.
    gave_way_last: AtomicU32,
    writes: AtomicU32,
}

#[derive(Default)]
struct Thread {
    /// Started, not finished, and neither asleep nor waiting for another thread.
    is_active: AtomicBool,
    /// The cell it waits for.
    waits_for: AtomicUsize,
    /// How often it gave way: of those that can go on, loom prefers the one with the fewest.
    yields: AtomicU32,
}

impl RunnableThreads {
    fn new(cpus: u32) -> Self {
        let threads = (0..cpus).map(|_| Thread::default()).collect();
        Self { threads, gave_way_last: AtomicU32::new(0), writes: AtomicU32::new(0) }
    }
    /// The thread on `cpu` starts, stops, goes to sleep or wakes up.
    pub fn set_active(&self, cpu: u32, is_active: bool) {
        self.threads[cpu as usize].is_active.store(is_active, Relaxed);
    }
    /// The thread on `cpu` gives way by `yield_now`, and could go on afterwards.
    pub fn gives_way(&self, cpu: u32, yield_now: impl FnOnce()) {
        self.threads[cpu as usize].yields.fetch_add(1, Relaxed);
        self.gave_way_last.store(cpu, Relaxed);
        yield_now();
    }
    /// The same, but it can only go on after the cell at `address` was written, or any if that is
    /// [`ANY_CELL`].
    pub fn waits(&self, cpu: u32, address: usize, yield_now: impl FnOnce()) {
        let thread = &self.threads[cpu as usize];
        thread.waits_for.store(address, Relaxed);
        thread.is_active.store(false, Relaxed);
        self.gives_way(cpu, yield_now);
        thread.is_active.store(true, Relaxed);
        thread.waits_for.store(0, Relaxed);
    }
    /// The cell at `address` was written.
    pub fn written(&self, address: usize) {
        self.writes.fetch_add(1, Relaxed);
        let waits_for = |thread: &&Thread| {
            let awaited = thread.waits_for.load(Relaxed);
            awaited == address || awaited == ANY_CELL
        };
        for thread in self.threads.iter().filter(waits_for) {
            thread.is_active.store(true, Relaxed);
        }
    }
    /// How often any cell was written.
    pub fn writes(&self) -> u32 {
        self.writes.load(Relaxed)
    }
    /// True if the idle thread on `cpu` was chosen by the exploration, where loom by itself would have chosen one that
    /// can go on.
    pub fn has_better_than(&self, cpu: u32) -> bool {
        let rank = |cpu: u32| (self.threads[cpu as usize].yields.load(Relaxed), cpu);
        let mine = rank(cpu);
        let gave_way_last = self.gave_way_last.load(Relaxed);
        (0..self.threads.len() as u32).any(|other| {
            let is_active = self.threads[other as usize].is_active.load(Relaxed);
            other != cpu && is_active && other != gave_way_last && rank(other) < mine
        })
    }
}

/// What a run did, over all its executions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// Executions explored.
    pub executions: u64,
    events: Vec<u64>,
}

impl Explored {
    /// How often `event` was counted, over all executions: a model that is meant to reach a part of
    /// a lock shows here that it does.
    pub fn count_of(&self, event: Event) -> u64 {
        self.events.get(event as usize).copied().unwrap_or(0)
    }
}

thread_local! {
    static LAST_NUMBER: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    static SEEN: RefCell<Explored> = RefCell::new(Explored::default());
}

/// A number that no lock had before. It is only ever compared with others.
pub(crate) fn lock_number() -> u64 {
    LAST_NUMBER.set(LAST_NUMBER.get() + 1);
    LAST_NUMBER.get()
}

/// Forgets what was seen: a run begins.
pub(crate) fn forget_seen() {
    SEEN.with_borrow_mut(|seen| *seen = Explored::default());
}
/// What the last run of this thread has seen, whether it ended well or not.
pub fn seen() -> Explored {
    SEEN.with_borrow(Explored::clone)
}
/// An execution begins.
pub(crate) fn begin_execution() {
    SEEN.with_borrow_mut(|seen| seen.executions += 1);
}
/// Counts an event of the run.
pub(crate) fn count(event: Event, n: u64) {
    SEEN.with_borrow_mut(|seen| {
        seen.events.resize(Event::ALL.len(), 0);
        seen.events[event as usize] += n;
    });
}

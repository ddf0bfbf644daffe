//! Everything but cells.

use super::{Sim, SimCell};
use crate::claims::Claims;
use crate::engine::cell::{CellRef, Shape};
use crate::metadata::ENTRIES;
use crate::park::BUCKETS;
use crate::switch::Here;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};
use lockwright::percpu_rwlock::ReaderSlot;
use lockwright::percpu_rwlock::claims::{Process, is_of_this_life};
use lockwright_core::events::Event;
use lockwright_core::held::HeldTable;
use lockwright_core::park::{Bucket, MarkState, Waiter};
use lockwright_core::platform::{
    Atomic, Barriers, Cells, Clock, Counters, HeldLocks, LockHash, MarkStorage, Placement,
    QueueNodes, ReadList, ReaderSlots, SchedulerHints, SleepStorage, Sleeping, ThreadNumbers,
};
use lockwright_core::queue::{NodeId, QNode};
use lockwright_core::tunables::Tunable;
use lockwright_linux::hq::MetadataPool;
use lockwright_linux::hq::{Entry, NumaQueue};

// SAFETY: memory is sequentially consistent but for store buffers, which these drain.
unsafe impl Barriers for Sim {
    fn fence(order: Ordering) {
        if order == Ordering::SeqCst {
            Here::expect("a fence").full_barrier();
        }
    }
    fn full_barrier<T: Copy + Eq>(_on: &impl Atomic<T>) {
        // Outside of a run nothing is on its way.
        if let Some(here) = Here::get() {
            here.full_barrier();
        }
    }
    /// Exchanges wait for the writes before them.
    fn barrier_after_exchange<T: Copy + Eq>(_on: &impl Atomic<T>) {}
    #[inline]
    fn light_barrier() {}
    fn heavy_barrier() {
        Here::expect("a barrier").heavy_barrier();
    }
    fn has_heavy_barrier() -> bool {
        true
    }
    fn may_use_heavy_barrier() -> bool {
        Here::get().is_none_or(|here| here.with(|engine| engine.may_use_heavy_barrier()))
    }
    fn delay(pauses: u32) {
        let here = Here::expect("a delay");
        here.yield_turn();
        here.until(here.with(|engine| engine.time.now + u64::from(pauses) * engine.costs.pause));
    }
}

// SAFETY: nodes lie in the run's arena, which outlives the run; the tables behind `claim_node` are
// used by one thread at a time; a fork leaves one thread, and what the others had claimed is never handed out again.
unsafe impl QueueNodes for Sim {
    type Node = QNode<Self>;

    #[inline]
    fn claim_node() -> Option<NodeId> {
        let here = Here::expect("a queue node");
        // An orphan is known as one only if the epoch was asked for before.
        here.epoch();
        here.with(|engine| {
            let thread = engine.current;
            engine.tables.nodes.claim(thread, engine.threads[thread].cpu)
        })
    }
    #[inline]
    unsafe fn release_node(id: NodeId) {
        Here::expect("a queue node").with(|engine| engine.tables.nodes.release(id));
    }
    #[inline]
    fn node(id: NodeId) -> NonNull<QNode<Self>> {
        Here::expect("a queue node").with(|engine| engine.tables.nodes.node(id))
    }
    fn nesting_of(id: NodeId) -> u32 {
        Here::expect("a queue node").with(|engine| engine.tables.nodes.nesting(id))
    }
    fn has_forked() -> bool {
        Self::epoch() > 0
    }
    fn is_orphaned(id: NodeId) -> bool {
        Here::expect("a queue node").with(|engine| engine.tables.nodes.is_orphan(id))
    }
}

// SAFETY: cells of one slice in the run's arena, of which there are four for each CPU; locks in the
// arena have different places.
unsafe impl LockHash for Sim {
    fn hash_slots() -> usize {
        Here::expect("the lock hash").with(|engine| engine.tables.hash.len())
    }
    fn hash_slot(at: usize) -> NonNull<SimCell<AtomicU64>> {
        Here::expect("the lock hash").with(|engine| engine.tables.hash.slot(at))
    }
    /// Its place in the arena, so that a run does not depend on the host's addresses.
    fn lock_name(word: *const ()) -> u64 {
        let address = word.addr();
        Here::expect("the lock hash")
            .with(|engine| (engine.region.offset_of(address)) as u64 / 4 + 1)
    }
}

// SAFETY: elements of slices in the run's arena; a fork leaves one thread.
unsafe impl MarkStorage for Sim {
    type MarkState = MarkState<Self>;

    fn sleep_buckets() -> usize {
        BUCKETS
    }
    fn counting_mark(at: usize) -> NonNull<<Self as Cells>::U64> {
        Here::expect("a mark").with(|engine| engine.tables.sleepers.counting_mark(at))
    }
    fn mark_state(at: usize) -> NonNull<MarkState<Self>> {
        // SAFETY: the bucket lives as long as the run.
        NonNull::from(unsafe { &Self::sleep_bucket(at).as_ref().mark })
    }
    fn epoch() -> u32 {
        Here::get().map_or(0, Here::epoch)
    }
}

// SAFETY: elements of slices in the run's arena.
unsafe impl SleepStorage for Sim {
    type Bucket = Bucket<Self>;
    type Waiter = Waiter<Self>;

    fn sleep_bucket(at: usize) -> NonNull<Bucket<Self>> {
        Here::expect("a bucket").with(|engine| engine.tables.sleepers.bucket(at))
    }
    fn sleep_mark(at: usize) -> NonNull<<Self as Cells>::U32> {
        Here::expect("a mark").with(|engine| engine.tables.sleepers.mark(at))
    }
    fn waiter(id: NodeId) -> NonNull<Waiter<Self>> {
        Here::expect("a waiter").with(|engine| engine.tables.sleepers.waiter(id.number().into()))
    }
    fn read_list() -> Option<NonNull<ReadList>> {
        let here = Here::get()?;
        Some(here.with(|engine| engine.tables.sleepers.reads(engine.current)))
    }
    fn uninterrupted<R>(section: impl FnOnce() -> R) -> R {
        Here::expect("a section").uninterrupted(section)
    }
}

// SAFETY: elements of slices in the run's arena.
unsafe impl MetadataPool for Sim {
    type Entry = Entry<Self>;
    type Queue = NumaQueue<Self>;

    fn metadata_entries() -> usize {
        ENTRIES
    }
    fn metadata_queues() -> usize {
        Here::expect("metadata").with(|engine| engine.tables.metadata.queues())
    }
    fn metadata_entry(at: usize) -> NonNull<Entry<Self>> {
        Here::expect("metadata").with(|engine| engine.tables.metadata.entry(at))
    }
    fn metadata_queue(at: usize, queue: usize) -> NonNull<NumaQueue<Self>> {
        Here::expect("metadata").with(|engine| engine.tables.metadata.queue(at, queue))
    }
}

thread_local! {
    /// The last number of a lock. Locks are made before a run, too.
    static LAST_LOCK: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
}

/// A simulation begins: its locks have the same numbers each time.
pub(crate) fn begin_lock_numbers() {
    LAST_LOCK.set(0);
}

/// The number of the calling thread's slot, if it has one.
fn slot_of(here: Here) -> Option<usize> {
    match Claims::get(here) {
        Some(claims) => claims.claimed(),
        None => here
            .with(|engine| Some(engine.current).filter(|&thread| thread < engine.tables.readers)),
    }
}
/// How many slots are in use at most.
fn slots(here: Here) -> usize {
    match Claims::get(here) {
        Some(claims) => claims.used().load(Ordering::Relaxed),
        None => here.with(|engine| engine.tables.sleepers.reader_slots()),
    }
}
/// Returns true if the slot with this number counts in this process.
fn counts(here: Here, at: usize) -> bool {
    Claims::get(here).is_none_or(|it| at < it.slots_max() && is_of_this_life(&*it, at))
}

// SAFETY: slots in the run's arena, which threads claim, or one for each thread; the locks of a simulation are made
// after it.
unsafe impl ReaderSlots for Sim {
    type Slot = ReaderSlot<Self>;

    /// So few that a client gets beyond it. No workload reads one lock so deep.
    const DEPTH_MAX: u32 = 2;

    fn lock_number() -> u64 {
        LAST_LOCK.set(LAST_LOCK.get() + 1);
        LAST_LOCK.get()
    }
    #[inline]
    fn reader_slot() -> Option<NonNull<ReaderSlot<Self>>> {
        let here = Here::expect("a reader's slot");
        slot_of(here).map(|at| here.with(|engine| engine.tables.sleepers.reader_slot(at)))
    }
    fn reader_slots() -> usize {
        slots(Here::expect("readers' slots"))
    }
    fn reader_slot_at(at: usize) -> NonNull<ReaderSlot<Self>> {
        let here = Here::expect("a reader's slot");
        let counts = counts(here, at);
        here.with(|engine| match &engine.tables.sleepers {
            sleepers if counts => sleepers.reader_slot(at),
            sleepers => sleepers.nobodys_slot(),
        })
    }
}

// SAFETY: tables in the run's arena, of which a thread has the one with the number of its slot.
unsafe impl HeldLocks for Sim {
    type Table = HeldTable<Self>;

    /// None outside of a run, and for a thread that has no reader's slot.
    #[inline]
    fn held_table() -> Option<NonNull<HeldTable<Self>>> {
        let here = Here::get()?;
        slot_of(here).map(|at| here.with(|engine| engine.tables.sleepers.held(at)))
    }
    fn held_tables() -> usize {
        slots(Here::expect("tables of locks"))
    }
    fn held_table_at(at: usize) -> Option<NonNull<HeldTable<Self>>> {
        let here = Here::expect("a table of locks");
        counts(here, at).then(|| here.with(|engine| engine.tables.sleepers.held(at)))
    }
}

impl Placement for Sim {
    #[inline]
    fn this_cpu() -> u32 {
        Here::expect("its CPU").with(|engine| engine.threads[engine.current].cpu)
    }
    #[inline]
    fn numa_node_of(cpu: u32) -> u32 {
        Here::expect("a NUMA node").with(|engine| engine.numa.node_of_cpu[cpu as usize].into())
    }
    fn numa_nodes() -> u32 {
        Here::expect("NUMA nodes").with(|engine| engine.numa.nodes)
    }
    fn is_guest() -> bool {
        Here::expect("its host").with(|engine| engine.numa.is_guest)
    }
    #[inline]
    fn is_urgent() -> bool {
        Here::expect("its urgency").with(|engine| engine.threads[engine.current].is_urgent)
    }
    #[inline]
    fn is_unmaskable() -> bool {
        Here::expect("its context").with(|engine| engine.threads[engine.current].is_unmaskable)
    }
}

// SAFETY: the number of a simulated thread.
unsafe impl ThreadNumbers for Sim {
    #[inline]
    fn this_thread() -> u64 {
        Here::expect("its number").with(|engine| (engine.current as u64 + 1) << 3)
    }
}

impl SchedulerHints for Sim {
    const KNOWS_WHO_RUNS: bool = true;

    fn is_running(id: NodeId) -> bool {
        Here::expect("a hint").with(|engine| match engine.tables.nodes.claimant(id) {
            Some(thread) => engine.seems_to_run(thread),
            None => true,
        })
    }
    fn is_thread_running(thread: u64) -> bool {
        Here::expect("a hint").with(|engine| engine.seems_to_run((thread >> 3) as usize - 1))
    }
    /// Returns true if some thread waits in the run queue of the caller's CPU, even if only the host of a guest can
    /// know that. In an exploration: if some thread has no CPU.
    fn need_resched() -> bool {
        Here::expect("a hint")
            .with(|engine| engine.is_awaited_on_host() || engine.is_oversubscribed())
    }
    fn usable_cpus() -> u32 {
        Here::expect("a hint").with(|engine| engine.numa.node_of_cpu.len() as u32)
    }
    /// CPUs of the machine that have nothing to do, also if that is a matter of the host.
    fn idle_cpus() -> u32 {
        Here::expect("a hint").with(|engine| {
            if engine.is_scheduled() {
                return engine.idle_host_cpus() as u32;
            }
            let running = engine.threads.iter().filter(|thread| thread.is_running()).count();
            (engine.numa.node_of_cpu.len() - running) as u32
        })
    }
    #[inline]
    fn must_not_spin() -> bool {
        Here::expect("a hint").with(|engine| engine.threads[engine.current].must_not_spin)
    }
    fn yield_cpu() {
        Here::expect("to yield").yield_cpu();
    }
}

impl Sleeping for Sim {
    fn futex_wait_as(
        kinds: u32,
        word: &Self::U32,
        expected: u32,
        deadline_ns: Option<u64>,
    ) -> bool {
        // SAFETY: `word` is a 32-bit cell, alive until the call returns.
        let cell = unsafe { CellRef::new(NonNull::from(word).cast(), Shape::U32) };
        Here::expect("to sleep").sleep(kinds, cell, expected, 0, deadline_ps(deadline_ns))
    }
    fn futex_wait_low(
        kinds: u32,
        word: &Self::U64,
        expected: u32,
        then: Option<&Self::U32>,
        deadline_ns: Option<u64>,
    ) -> bool {
        let (cell, deadline_ps) = (low_cell(word), deadline_ps(deadline_ns));
        let then = then.map_or(0, |then| core::ptr::from_ref(then).addr());
        Here::expect("to sleep").sleep(kinds, cell, expected, then, deadline_ps)
    }
    fn futex_holds(
        then: *const <Self as Cells>::U32,
        value: u32,
        sleepers: *const <Self as Cells>::U32,
    ) -> bool {
        let Some(word) = NonNull::new(then.cast_mut()) else { return false };
        // SAFETY: a 32-bit cell, which is read only while a thread sleeps that refers to it.
        let cell = unsafe { CellRef::new(word.cast(), Shape::U32) };
        Here::expect("to look").holds(cell, value, sleepers.addr())
    }
    fn futex_wake_only(kinds: u32, address: *const <Self as Cells>::U32, count: u32) -> u32 {
        Here::expect("to wake").wake(kinds, address.addr(), count)
    }
    fn futex_requeue(
        count: u32,
        from: &Self::U64,
        expected: u32,
        to: *const <Self as Cells>::U32,
    ) -> Option<u32> {
        Here::expect("to wake").requeue(count, low_cell(from), expected, to.addr())
    }
}

fn deadline_ps(deadline_ns: Option<u64>) -> u64 {
    deadline_ns.map_or(u64::MAX, |ns| ns.saturating_mul(1000))
}

/// A 64-bit cell, which sleepers know by the address of its lower half: the same on the hosts that simulate.
fn low_cell(word: &<Sim as Cells>::U64) -> CellRef {
    const { assert!(cfg!(target_endian = "little")) };
    // SAFETY: `word` is a 64-bit cell, alive until the call of the platform returns.
    unsafe { CellRef::new(NonNull::from(word).cast(), Shape::U64) }
}

impl Clock for Sim {
    #[inline]
    fn now_ns() -> u64 {
        Here::expect("the time").with(|engine| engine.time.now / 1000)
    }
}

impl Counters for Sim {
    #[inline]
    fn count_many(event: Event, n: u64) {
        if let Some(here) = Here::get() {
            here.with(|engine| {
                if engine.is_counting() {
                    engine.counts[event as usize] += n;
                }
            });
        }
    }
    #[inline]
    fn tunable(tunable: Tunable) -> Option<u64> {
        Here::get()?.with(|engine| engine.tunables[tunable as usize])
    }
}

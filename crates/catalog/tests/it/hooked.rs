//! The platform of programs with hooks at some of its calls, by which a test stops a thread there or interrupts it.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering, Ordering::Relaxed};
use lockwright::percpu_rwlock::ReaderSlot;
use lockwright_core::events::Event;
use lockwright_core::hardware::{HardwareU32, HardwareU64};
use lockwright_core::held::HeldTable;
use lockwright_core::native::Native;
use lockwright_core::park::{Bucket, MarkState, Waiter};
use lockwright_core::platform::{
    Atomic, Barriers, Cells, Clock, ConstZeroed, Counters, HeldLocks, LockHash, MarkStorage,
    Placement, QueueNodes, ReaderSlots, SchedulerHints, SleepStorage, Sleeping, ThreadNumbers,
};
use lockwright_core::queue::{NodeId, QNode};
use lockwright_core::tunables::Tunable;
use lockwright_linux::hq::MetadataPool;
use lockwright_linux::hq::{Entry, NumaQueue};
use std::cell::Cell;
use std::thread::LocalKey;

/// Called once, by the thread that has set it.
pub type Hook = Cell<Option<fn()>>;

thread_local! {
    /// Before a sleeper is woken.
    pub static BEFORE_WAKE: Hook = const { Cell::new(None) };
    /// At a light barrier.
    pub static AT_LIGHT_BARRIER: Hook = const { Cell::new(None) };
    /// In a bucket of the table, before the record of a waiter is looked at.
    pub static IN_BUCKET: Hook = const { Cell::new(None) };
    /// Before a reader gets its slot.
    pub static BEFORE_SLOT: Hook = const { Cell::new(None) };
    /// How often this thread has asked the kernel to sleep.
    pub static SLEEPS: Cell<u32> = const { Cell::new(0) };
    /// How often it has asked the kernel to wake another.
    pub static WAKES: Cell<u32> = const { Cell::new(0) };
    static MINE: Cell<Option<usize>> = const { Cell::new(None) };
}

fn call(hook: &'static LocalKey<Hook>) {
    if let Some(hook) = hook.take() {
        hook();
    }
}

/// Functions that are those of programs.
macro_rules! of_native {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)+) => {
        $(fn $name($($argument: $type),*) $(-> $result)? {
            Native::$name($($argument),*)
        })+
    };
}

/// See the module.
pub struct Hooked;

impl Cells for Hooked {
    type U32 = <Native as Cells>::U32;
    type U64 = <Native as Cells>::U64;
    type Ptr = <Native as Cells>::Ptr;
    type Word = <Native as Cells>::Word;
    type Tracker = <Native as Cells>::Tracker;
}

// SAFETY: the fences of `Native`, and full ones in place of the asymmetric pair.
unsafe impl Barriers for Hooked {
    of_native! { fence(order: Ordering); }
    fn full_barrier<T: Copy + Eq>(on: &impl Atomic<T>) {
        Native::full_barrier(on);
    }
    fn barrier_after_exchange<T: Copy + Eq>(on: &impl Atomic<T>) {
        Native::barrier_after_exchange(on);
    }
    fn light_barrier() {
        call(&AT_LIGHT_BARRIER);
        // A full one, so that the tests need no membarrier.
        core::sync::atomic::fence(Ordering::SeqCst);
    }
    fn heavy_barrier() {
        core::sync::atomic::fence(Ordering::SeqCst);
    }
    fn has_heavy_barrier() -> bool {
        true
    }
    fn may_use_heavy_barrier() -> bool {
        true
    }
    of_native! { delay(pauses: u32); }
}

const NODES: usize = 64;
static POOL: [QNode<Hooked>; NODES] = {
    // SAFETY: this is the storage of the platform.
    [const { unsafe { QNode::fresh() } }; NODES]
};

// SAFETY: elements of a static, claimed by a compare-exchange; nothing here forks.
unsafe impl QueueNodes for Hooked {
    type Node = QNode<Self>;

    fn claim_node() -> Option<NodeId> {
        let claim = |node: &QNode<Self>| {
            node.claim.compare_exchange(0, 1, Ordering::Acquire, Relaxed).is_ok()
        };
        POOL.iter().position(claim).map(|at| NodeId::new(at as u16))
    }
    unsafe fn release_node(id: NodeId) {
        POOL[usize::from(id.number())].claim.store(0, Ordering::Release);
    }
    fn node(id: NodeId) -> NonNull<QNode<Self>> {
        NonNull::from(&POOL[usize::from(id.number())])
    }
}

static HASH: [HardwareU64<Native>; 64] = [const { ConstZeroed::ZEROED }; 64];

// SAFETY: elements of a static; the names of programs.
unsafe impl LockHash for Hooked {
    fn hash_slots() -> usize {
        HASH.len()
    }
    fn hash_slot(at: usize) -> NonNull<HardwareU64<Native>> {
        NonNull::from(&HASH[at])
    }
    fn lock_name(word: *const ()) -> u64 {
        Native::lock_name(word)
    }
}

/// Few, so that it is easy to find two locks that share one.
const BUCKETS: usize = 4;
static TABLE: [Bucket<Hooked>; BUCKETS] = [const { Bucket::EMPTY }; BUCKETS];
static MARKS: [HardwareU32<Native>; BUCKETS] = [const { ConstZeroed::ZEROED }; BUCKETS];
static COUNTING_MARKS: [HardwareU64<Native>; BUCKETS] = [const { ConstZeroed::ZEROED }; BUCKETS];
static WAITERS: [Waiter<Hooked>; NODES] = [const { Waiter::FRESH }; NODES];

// SAFETY: elements of statics.
unsafe impl MarkStorage for Hooked {
    type MarkState = MarkState<Self>;

    fn sleep_buckets() -> usize {
        BUCKETS
    }
    fn counting_mark(at: usize) -> NonNull<HardwareU64<Native>> {
        NonNull::from(&COUNTING_MARKS[at])
    }
    fn mark_state(at: usize) -> NonNull<MarkState<Self>> {
        NonNull::from(&TABLE[at].mark)
    }
}

// SAFETY: elements of statics.
unsafe impl SleepStorage for Hooked {
    type Bucket = Bucket<Self>;
    type Waiter = Waiter<Self>;

    fn sleep_bucket(at: usize) -> NonNull<Bucket<Self>> {
        NonNull::from(&TABLE[at])
    }
    fn sleep_mark(at: usize) -> NonNull<HardwareU32<Native>> {
        NonNull::from(&MARKS[at])
    }
    fn waiter(id: NodeId) -> NonNull<Waiter<Self>> {
        // SAFETY: a bucket begins with its lock, an atomic word of 32 bits.
        let lock_of =
            |bucket: &Bucket<Self>| unsafe { &*core::ptr::from_ref(bucket).cast::<AtomicU32>() };
        if TABLE.iter().any(|bucket| lock_of(bucket).load(Relaxed) & 1 != 0) {
            call(&IN_BUCKET);
        }
        NonNull::from(&WAITERS[usize::from(id.number())])
    }
    fn uninterrupted<R>(section: impl FnOnce() -> R) -> R {
        Native::uninterrupted(section)
    }
}

static ENTRY: Entry<Hooked> = Entry::FRESH;
static NUMA_QUEUE: NumaQueue<Hooked> = NumaQueue::FRESH;

// SAFETY: statics.
unsafe impl MetadataPool for Hooked {
    type Entry = Entry<Self>;
    type Queue = NumaQueue<Self>;

    fn metadata_entries() -> usize {
        1
    }
    fn metadata_queues() -> usize {
        1
    }
    fn metadata_entry(_at: usize) -> NonNull<Entry<Self>> {
        NonNull::from(&ENTRY)
    }
    fn metadata_queue(_at: usize, _queue: usize) -> NonNull<NumaQueue<Self>> {
        NonNull::from(&NUMA_QUEUE)
    }
}

const SLOTS: usize = 64;
static READERS: [ReaderSlot<Hooked>; SLOTS] = [const { ReaderSlot::EMPTY }; SLOTS];
static USED: AtomicUsize = AtomicUsize::new(0);

// SAFETY: a slot of a static for each thread, never used again.
unsafe impl ReaderSlots for Hooked {
    type Slot = ReaderSlot<Self>;

    of_native! { lock_number() -> u64; }
    fn reader_slot() -> Option<NonNull<ReaderSlot<Self>>> {
        call(&BEFORE_SLOT);
        let mine = MINE.get().unwrap_or_else(|| USED.fetch_add(1, Ordering::SeqCst));
        MINE.set(Some(mine));
        READERS.get(mine).map(NonNull::from)
    }
    fn reader_slots() -> usize {
        USED.load(Ordering::SeqCst).min(SLOTS)
    }
    fn reader_slot_at(at: usize) -> NonNull<ReaderSlot<Self>> {
        NonNull::from(&READERS[at])
    }
}

// SAFETY: nobody has a table.
unsafe impl HeldLocks for Hooked {
    type Table = HeldTable<Self>;

    fn held_table() -> Option<NonNull<HeldTable<Self>>> {
        None
    }
    fn held_tables() -> usize {
        0
    }
    fn held_table_at(_at: usize) -> Option<NonNull<HeldTable<Self>>> {
        None
    }
}

impl Placement for Hooked {
    of_native! { this_cpu() -> u32; }
    fn numa_node_of(_cpu: u32) -> u32 {
        0
    }
    fn numa_nodes() -> u32 {
        1
    }
    fn is_urgent() -> bool {
        false
    }
}

// SAFETY: the numbers of `Native`.
unsafe impl ThreadNumbers for Hooked {
    of_native! { this_thread() -> u64; }
}

impl SchedulerHints for Hooked {
    fn is_running(_id: NodeId) -> bool {
        true
    }
    fn is_thread_running(_thread: u64) -> bool {
        true
    }
    fn need_resched() -> bool {
        false
    }
    fn usable_cpus() -> u32 {
        2
    }
    fn idle_cpus() -> u32 {
        1
    }
    fn must_not_spin() -> bool {
        false
    }
}

impl Sleeping for Hooked {
    fn futex_wait_as(
        kinds: u32,
        word: &HardwareU32<Native>,
        expected: u32,
        deadline_ns: Option<u64>,
    ) -> bool {
        SLEEPS.set(SLEEPS.get() + 1);
        Native::futex_wait_as(kinds, word, expected, deadline_ns)
    }
    fn futex_wait_low(
        kinds: u32,
        word: &HardwareU64<Native>,
        expected: u32,
        then: Option<&HardwareU32<Native>>,
        deadline_ns: Option<u64>,
    ) -> bool {
        SLEEPS.set(SLEEPS.get() + 1);
        Native::futex_wait_low(kinds, word, expected, then, deadline_ns)
    }
    of_native! {
        futex_holds(then: *const HardwareU32<Native>, value: u32, sleepers: *const HardwareU32<Native>) -> bool;
        futex_requeue(
            count: u32, from: &HardwareU64<Native>, expected: u32, to: *const HardwareU32<Native>
        ) -> Option<u32>;
    }
    fn futex_wake_only(kinds: u32, address: *const HardwareU32<Native>, count: u32) -> u32 {
        call(&BEFORE_WAKE);
        WAKES.set(WAKES.get() + 1);
        Native::futex_wake_only(kinds, address, count)
    }
}

impl Clock for Hooked {
    of_native! { now_ns() -> u64; }
}

impl Counters for Hooked {
    fn count_many(_event: Event, _n: u64) {}
    /// Readers use slots at once.
    fn tunable(tunable: Tunable) -> Option<u64> {
        (tunable == Tunable::percpu_rwlock_calm_reads).then_some(1)
    }
}

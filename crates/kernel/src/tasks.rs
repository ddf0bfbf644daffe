//! `Tasks`: the platform of tasks that may sleep.
//!
//! A task calls with preemption off, and sleeping turns it on for as long as the task sleeps. So a task that spins, or
//! holds the internal lock of a semaphore, has a CPU: the kernel does the same around these parts. What keeps it safe:
//!
//! - A task that sleeps may go on at another CPU, so queue nodes belong to no CPU: they are one pool.
//! - A sleeper is the task that waits with a queue node, on a word of that node's waiter. It names itself in the place
//!   of that node before it looks at the word for the last time, and a wake-up takes the name out. Between the two
//!   stores of each side is a full barrier, so one sees the other (law S2).
//! - The thread that wakes has preemption off from before it reads the name until it has woken the task. A task that is
//!   named exists, and the memory of a task that ends is given back only when all CPUs have had preemption on since. So
//!   a wake-up may come late, when the task does something else: every sleep in the kernel allows for that.

use crate::machine::{Kernel, cpus_known};
use core::arch::asm;
use core::ptr::NonNull;
use core::sync::atomic::{
    AtomicU32, AtomicU64, AtomicUsize,
    Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};
use lockwright_core::events::Event;
use lockwright_core::hardware::{HardwarePtr, HardwareU32, HardwareU64, HardwareWord, Untracked};
use lockwright_core::park::{Bucket, MarkState, Waiter};
use lockwright_core::platform::{
    Atomic, Barriers, Cells, Clock, Counters, LockHash, MarkStorage, Placement, QueueNodes, SchedulerHints,
    SleepStorage, Sleeping, ThreadNumbers,
};
use lockwright_core::queue::{NodeId, QNode};
use lockwright_core::tunables::Tunable;

/// Functions that are those of [`Kernel`].
macro_rules! of_kernel {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)+) => {
        $(#[inline(always)]
        fn $name($($argument: $type),*) $(-> $result)? {
            Kernel::$name($($argument),*)
        })+
    };
}

/// The machine of tasks.
pub struct Tasks;

/// Each task that waits has one, and one more while it waits for the internal lock of a semaphore.
const NODES: usize = 512;
/// Where a CPU begins to look for a free node.
const APART: u32 = 8;
const BUCKETS: usize = 64;
/// No deadline.
const NEVER: u64 = u64::MAX;
const TICK_NS: u64 = 1_000_000;

static NODE_POOL: [QNode<Tasks>; NODES] = {
    // SAFETY: this is the storage of the platform.
    [const { unsafe { QNode::fresh() } }; NODES]
};
static WAITERS: [Waiter<Tasks>; NODES] = [const { Waiter::FRESH }; NODES];
static SLEEPERS: [Sleeper; NODES] = [const { Sleeper::NONE }; NODES];
static BUCKETS_OF_SLEEPERS: [Bucket<Tasks>; BUCKETS] = [const { Bucket::EMPTY }; BUCKETS];
static MARKS: [HardwareU32<Kernel>; BUCKETS] =
    [const { HardwareU32::new(AtomicU32::new(0)) }; BUCKETS];
static COUNTING_MARKS: [HardwareU64<Kernel>; BUCKETS] =
    [const { HardwareU64::new(AtomicU64::new(0)) }; BUCKETS];

/// The task that sleeps with a queue node.
struct Sleeper {
    /// Its address; 0 if no task sleeps, or the one that does was woken.
    task: AtomicU64,
    /// On which word.
    word: AtomicUsize,
    kinds: AtomicU32,
}

impl Sleeper {
    #[allow(clippy::declare_interior_mutable_const)]
    const NONE: Self =
        Self { task: AtomicU64::new(0), word: AtomicUsize::new(0), kinds: AtomicU32::new(0) };
}

/// The sleeper with whose waiter this word is; nothing for a word that is elsewhere.
fn sleeper_on(word: *const HardwareU32<Kernel>) -> Option<&'static Sleeper> {
    let offset = word.addr().checked_sub(WAITERS.as_ptr().addr())?;
    SLEEPERS.get(offset / size_of::<Waiter<Tasks>>())
}

impl Cells for Tasks {
    type U32 = HardwareU32<Kernel>;
    type U64 = HardwareU64<Kernel>;
    type Ptr = HardwarePtr<Kernel>;
    type Word = HardwareWord<Kernel>;
    type Tracker = Untracked;

    of_kernel! { end(why: &'static str) -> !; }
}

// SAFETY: nodes are elements of one static array, claimed by a compare-exchange and released by a releasing store.
unsafe impl QueueNodes for Tasks {
    type Node = QNode<Self>;

    fn claim_node() -> Option<NodeId> {
        let first = Self::this_cpu() * APART;
        (0..NODES as u32).find_map(|step| {
            let number = first.wrapping_add(step) % NODES as u32;
            // SAFETY: a remainder is below the length.
            let claim = &unsafe { NODE_POOL.get_unchecked(number as usize) }.claim;
            let is_ours =
                claim.load(Relaxed) == 0 && claim.compare_exchange(0, 1, Acquire, Relaxed).is_ok();
            is_ours.then(|| NodeId::new(number as u16))
        })
    }
    #[inline(always)]
    unsafe fn release_node(id: NodeId) {
        // SAFETY: `claim_node` made the number.
        unsafe { NODE_POOL.get_unchecked(usize::from(id.number())) }.claim.store(0, Release);
    }
    #[inline(always)]
    fn node(id: NodeId) -> NonNull<QNode<Self>> {
        // SAFETY: as above.
        NonNull::from(unsafe { NODE_POOL.get_unchecked(usize::from(id.number())) })
    }
}

// SAFETY: elements of static arrays, zero at first, a different one for different numbers; there is one epoch.
unsafe impl MarkStorage for Tasks {
    type MarkState = MarkState<Self>;

    fn sleep_buckets() -> usize {
        BUCKETS
    }
    fn counting_mark(at: usize) -> NonNull<HardwareU64<Kernel>> {
        // SAFETY: a remainder is below the length.
        NonNull::from(unsafe { COUNTING_MARKS.get_unchecked(at % BUCKETS) })
    }
    fn mark_state(at: usize) -> NonNull<MarkState<Self>> {
        // SAFETY: as above.
        NonNull::from(unsafe { &BUCKETS_OF_SLEEPERS.get_unchecked(at % BUCKETS).mark })
    }
}

// SAFETY: elements of static arrays, zero at first, a different one for different numbers.
unsafe impl SleepStorage for Tasks {
    type Bucket = Bucket<Self>;
    type Waiter = Waiter<Self>;

    fn sleep_bucket(at: usize) -> NonNull<Bucket<Self>> {
        // SAFETY: a remainder is below the length.
        NonNull::from(unsafe { BUCKETS_OF_SLEEPERS.get_unchecked(at % BUCKETS) })
    }
    fn sleep_mark(at: usize) -> NonNull<HardwareU32<Kernel>> {
        // SAFETY: as above.
        NonNull::from(unsafe { MARKS.get_unchecked(at % BUCKETS) })
    }
    #[inline(always)]
    fn waiter(id: NodeId) -> NonNull<Waiter<Self>> {
        // SAFETY: `claim_node` made the number.
        NonNull::from(unsafe { WAITERS.get_unchecked(usize::from(id.number())) })
    }
}

impl Sleeping for Tasks {
    /// On a word that is not a waiter's it sleeps until the deadline, or for one tick, and returns for no reason.
    fn futex_wait_as(
        kinds: u32,
        word: &HardwareU32<Kernel>,
        expected: u32,
        deadline_ns: Option<u64>,
    ) -> bool {
        let deadline_ns = deadline_ns.unwrap_or(NEVER);
        let Some(sleeper) = sleeper_on(word) else {
            sleep_a_tick(word, expected, deadline_ns);
            return false;
        };
        sleeper.word.store(core::ptr::from_ref(word).addr(), Relaxed);
        sleeper.kinds.store(kinds, Relaxed);
        sleeper.task.store(current(), Release);
        sleep_on(word, expected, deadline_ns);
        sleeper.task.swap(0, AcqRel) == 0
    }
    fn futex_wait_low(
        _: u32,
        word: &HardwareU64<Kernel>,
        expected: u32,
        _: Option<&HardwareU32<Kernel>>,
        deadline_ns: Option<u64>,
    ) -> bool {
        // SAFETY: the lower half of a 64-bit cell is a cell of 32 bits on this processor.
        let half = unsafe { &*core::ptr::from_ref(word).cast::<HardwareU32<Kernel>>() };
        sleep_a_tick(half, expected, deadline_ns.unwrap_or(NEVER));
        false
    }
    fn futex_wake_only(kinds: u32, address: *const HardwareU32<Kernel>, count: u32) -> u32 {
        let Some(sleeper) = sleeper_on(address).filter(|_| count > 0) else { return 0 };
        // What the caller has changed comes before the look at the name.
        fence(SeqCst);
        let task = sleeper.task.load(Acquire);
        let is_meant = sleeper.word.load(Relaxed) == address.addr()
            && sleeper.kinds.load(Relaxed) & kinds != 0;
        if task == 0 || !is_meant {
            return 0;
        }
        if sleeper.task.compare_exchange(task, 0, AcqRel, Relaxed).is_err() {
            return 0;
        }
        #[cfg(lockwright_variant = "forgets")]
        if crate::control::forgets() {
            return 1;
        }
        wake(task);
        1
    }
    /// No wake-up finds a sleeper on another word than a waiter's, so any answer will do.
    fn futex_holds(_: *const HardwareU32<Kernel>, _: u32, _: *const HardwareU32<Kernel>) -> bool {
        false
    }
    fn futex_requeue(
        _: u32,
        _: &HardwareU64<Kernel>,
        _: u32,
        _: *const HardwareU32<Kernel>,
    ) -> Option<u32> {
        None
    }
}

/// Sleeps until woken or until the deadline, unless the word does not hold `expected`. May return for no reason.
fn sleep_on(word: &HardwareU32<Kernel>, expected: u32, deadline_ns: u64) {
    // SAFETY: the module's function reads the word and lets the task sleep.
    unsafe {
        asm!("call lockwright_sleep",
            in("rdi") core::ptr::from_ref(word), in("esi") expected, in("rdx") deadline_ns,
            clobber_abi("sysv64"));
    }
}
/// The same on a word that no wake-up knows: for a tick at most.
fn sleep_a_tick(word: &HardwareU32<Kernel>, expected: u32, deadline_ns: u64) {
    let in_a_tick = Tasks::now_ns().saturating_add(TICK_NS);
    sleep_on(word, expected, deadline_ns.min(in_a_tick));
}

/// Wakes a task that has named itself.
fn wake(task: u64) {
    // SAFETY: the task exists, see the head of this file.
    unsafe { asm!("call lockwright_wake", in("rdi") task, clobber_abi("sysv64")) };
}
fn current() -> u64 {
    let task: u64;
    // SAFETY: the module's function changes nothing.
    unsafe { asm!("call lockwright_current", out("rax") task, clobber_abi("sysv64")) };
    task
}

// SAFETY: the address of the kernel's structure of the task.
unsafe impl ThreadNumbers for Tasks {
    #[inline(always)]
    fn this_thread() -> u64 {
        current()
    }
}

impl SchedulerHints for Tasks {
    const KNOWS_WHO_RUNS: bool = true;

    /// A task that spins with a node has preemption off.
    #[inline(always)]
    fn is_running(_id: NodeId) -> bool {
        true
    }
    fn is_thread_running(thread: u64) -> bool {
        let answer: u32;
        // SAFETY: the module's function reads the task in a way that may fail.
        unsafe {
            asm!("call lockwright_is_running", in("rdi") thread, lateout("eax") answer,
                clobber_abi("sysv64"));
        }
        answer & 1 != 0
    }
    fn need_resched() -> bool {
        let answer: u32;
        // SAFETY: the module's function changes nothing.
        unsafe { asm!("call lockwright_need_resched", out("eax") answer, clobber_abi("sysv64")) };
        answer & 1 != 0
    }
    fn usable_cpus() -> u32 {
        cpus_known()
    }
    fn idle_cpus() -> u32 {
        0
    }
    fn must_not_spin() -> bool {
        Self::is_urgent()
    }
}

// SAFETY: as for `Kernel`, whose cells these are.
unsafe impl LockHash for Tasks {
    of_kernel! {
        hash_slots() -> usize;
        hash_slot(at: usize) -> NonNull<HardwareU64<Kernel>>;
        lock_name(word: *const ()) -> u64;
    }
}

impl Placement for Tasks {
    of_kernel! {
        this_cpu() -> u32;
        numa_node_of(number: u32) -> u32;
        numa_nodes() -> u32;
        is_guest() -> bool;
        is_urgent() -> bool;
        is_unmaskable() -> bool;
    }
}

// SAFETY: those of `Kernel`.
unsafe impl Barriers for Tasks {
    of_kernel! { fence(order: Ordering); }
    #[inline(always)]
    fn full_barrier<T: Copy + Eq>(on: &impl Atomic<T>) {
        Kernel::full_barrier(on);
    }
    #[inline(always)]
    fn barrier_after_exchange<T: Copy + Eq>(on: &impl Atomic<T>) {
        Kernel::barrier_after_exchange(on);
    }
    of_kernel! {
        light_barrier();
        heavy_barrier();
        has_heavy_barrier() -> bool;
        may_use_heavy_barrier() -> bool;
        delay(pauses: u32);
    }
}

impl Counters for Tasks {
    of_kernel! { count_many(event: Event, n: u64); }
    /// Times are not kept: an emulator's are worth nothing.
    #[inline(always)]
    fn is_counting() -> bool {
        false
    }
    of_kernel! { tunable(tunable: Tunable) -> Option<u64>; }
}

impl Clock for Tasks {
    of_kernel! { now_ns() -> u64; }
}

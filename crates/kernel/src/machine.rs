//! `Kernel`: the platform of a CPU in kernel mode whose preemption is off.
//!
//! A slow path may interrupt another one of the same CPU: task, softirq, interrupt and NMI make four levels, so each
//! CPU has four nodes. A node's number is the kernel's `cpu * 4 + level`. Here is what keeps that safe:
//!
//! - Only its own CPU writes a CPU's level. An interrupt leaves it as it was found, because whatever it claims it
//!   releases before it returns. So a load and a store do, without a locked instruction.
//! - The level is raised before the node is touched (law N8), and a compiler barrier keeps it so. An interrupt between
//!   the load and the store of a claim uses the same node and is done with it before the store.
//! - A counter of a CPU is changed by one instruction, since an interrupt counts, too.

use core::arch::asm;
use core::hint::spin_loop;
use core::ptr::NonNull;
use core::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64,
    Ordering::{self, Relaxed, SeqCst},
    compiler_fence, fence,
};
use lockwright_core::events::Event;
use lockwright_core::hardware::{HardwarePtr, HardwareU32, HardwareU64, HardwareWord, Untracked};
use lockwright_core::held::HeldTable;
use lockwright_linux::hq::{Entry, NumaQueue};
use lockwright_core::platform::{Atomic, Barriers, Cells, Clock, Counters, HeldLocks, LockHash, Placement, QueueNodes};
use lockwright_linux::hq::MetadataPool;
use lockwright_core::queue::{NODES_MAX, NODES_PER_CPU, NodeId, QNode};
use lockwright_core::tunables::Tunable;

/// The machine of kernel code.
pub struct Kernel;

/// Task, softirq, interrupt, NMI.
pub const LEVELS: usize = NODES_PER_CPU as usize;
/// CPUs from here on have no nodes, because a lock word has no names for them. No kernel has as many.
const NAMED: u32 = (NODES_MAX / LEVELS) as u32;
/// How many depths of queues are counted.
pub const DEPTHS: usize = 16;
const EVENTS: usize = Event::ALL.len();
const TUNABLES: usize = Tunable::ALL.len();

/// What belongs to a CPU. The module makes one for each number that a CPU can have, as zeroes, which are a CPU that has
/// used no lock.
#[repr(align(128))]
pub struct CpuState {
    /// Nodes in use.
    level: AtomicU32,
    /// Its NUMA node.
    numa_node: AtomicU32,
    /// Slow paths that were entered while this many nodes were in use.
    pub entries: [AtomicU64; LEVELS + 1],
    /// Slow paths that were left.
    pub exits: AtomicU64,
    /// Slow paths that were entered while this many CPUs were in that of the same lock; the last one counts more, too.
    pub depths: [AtomicU64; DEPTHS],
    events: [AtomicU64; EVENTS],
    nodes: [QNode<Kernel>; LEVELS],
    held: HeldTable<Kernel>,
}

impl CpuState {
    /// How many of its nodes are in use.
    #[inline(always)]
    pub fn level(&self) -> u32 {
        self.level.load(Relaxed)
    }
    /// The counter of an event.
    pub fn event(&self, event: Event) -> &AtomicU64 {
        // SAFETY: the numbers of events are below their count.
        unsafe { self.events.get_unchecked(event as usize) }
    }
}

/// The first CPU.
static CPUS: AtomicPtr<CpuState> = AtomicPtr::new(core::ptr::null_mut());
/// As few as law K1 permits: paravirtual waiters use them, and none is kernel code here.
const HASH_SLOTS: usize = 8;
const ENTRIES: usize = 64;
/// One for each NUMA node of all but the largest machines; nodes beyond share them.
const QUEUES: usize = 8;
static HASH: [HardwareU64<Kernel>; HASH_SLOTS] =
    [const { HardwareU64::new(AtomicU64::new(0)) }; HASH_SLOTS];
static METADATA: [Entry<Kernel>; ENTRIES] = [const { Entry::FRESH }; ENTRIES];
static METADATA_QUEUES: [NumaQueue<Kernel>; ENTRIES * QUEUES] =
    [const { NumaQueue::FRESH }; ENTRIES * QUEUES];
/// How many CPUs are in the slow path of the locks of this remainder.
static INSIDE: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];
const PLACES: usize = 1024;
static NUMA_NODES: AtomicU32 = AtomicU32::new(1);
static CPUS_KNOWN: AtomicU32 = AtomicU32::new(0);
static IS_GUEST: AtomicBool = AtomicBool::new(false);
/// What each tunable was set to, plus one.
static SET: [AtomicU64; TUNABLES] = [const { AtomicU64::new(0) }; TUNABLES];

/// The CPU of this number.
#[inline(always)]
pub fn cpu(number: u32) -> &'static CpuState {
    // ordering: Relaxed; the module stores it while it is loaded, and a lock of it is used after that.
    let first = CPUS.load(Relaxed);
    // SAFETY: there is one for each number that a CPU can have.
    let state = unsafe { first.add(number as usize) };
    // SAFETY: as above, and the module frees them when it is unloaded.
    unsafe { &*state }
}
/// The caller's CPU.
#[inline(always)]
pub fn this_cpu() -> &'static CpuState {
    cpu(Kernel::this_cpu())
}
/// How many CPUs are in the slow path of the lock at this address, or of one that shares its place.
#[inline(always)]
pub fn inside(lock: *const u32) -> &'static AtomicU32 {
    // The middle bits of a product depend on all bits of the address.
    let place = (lock.addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    // SAFETY: a remainder is below the length.
    unsafe { INSIDE.get_unchecked(place as usize % PLACES) }
}
/// All CPUs.
pub fn cpus() -> impl Iterator<Item = &'static CpuState> {
    (0..cpus_known()).map(cpu)
}

/// Says what the machine is like: its first CPU, how many CPUs and NUMA nodes there can be, and if it is a virtual one.
///
/// # Safety
/// At `first` are zeroes for this many CPUs, aligned to 128 bytes, which stay as long as the module.
pub unsafe fn set_machine(first: *mut CpuState, cpus: u32, numa_nodes: u32, is_guest: bool) {
    CPUS.store(first, Relaxed);
    CPUS_KNOWN.store(cpus, Relaxed);
    NUMA_NODES.store(numa_nodes, Relaxed);
    IS_GUEST.store(is_guest, Relaxed);
}
/// Says on which NUMA node a CPU is.
pub fn set_cpu(number: u32, numa_node: u32) {
    cpu(number).numa_node.store(numa_node, Relaxed);
}
/// How many CPUs there can be here; their numbers are below it.
pub fn cpus_known() -> u32 {
    CPUS_KNOWN.load(Relaxed)
}
/// Sets a tunable to a value in its range.
pub fn set_tunable(tunable: Tunable, value: u64) {
    slot(tunable).store(value.saturating_add(1), Relaxed);
}
#[inline(always)]
fn slot(tunable: Tunable) -> &'static AtomicU64 {
    // SAFETY: the numbers of tunables are below their count.
    unsafe { SET.get_unchecked(tunable as usize) }
}

impl Cells for Kernel {
    type U32 = HardwareU32<Self>;
    type U64 = HardwareU64<Self>;
    type Ptr = HardwarePtr<Self>;
    type Word = HardwareWord<Self>;
    type Tracker = Untracked;

    /// Never runs: no kernel has as many CPUs as a ticket counts.
    fn end(_: &'static str) -> ! {
        loop {
            core::hint::spin_loop();
        }
    }
}

// SAFETY: nodes stay where they are until the module is unloaded; `level` says which of a CPU's are in use, and only
// that CPU, whose preemption is off, changes it. Claims that interrupt each other nest, so they are released in the
// reverse order.
unsafe impl QueueNodes for Kernel {
    type Node = QNode<Self>;

    #[inline(always)]
    fn claim_node() -> Option<NodeId> {
        let number = Self::this_cpu();
        let level = &cpu(number).level;
        // Wrong on purpose if it is built as a control: an interrupt gets the node of what it has interrupted.
        let at = if cfg!(lockwright_variant = "nesting") { 0 } else { level.load(Relaxed) };
        if at >= LEVELS as u32 || number >= NAMED {
            return None;
        }
        level.store(at + 1, Relaxed);
        // An interrupt from here on has to find the level raised before the node is touched.
        compiler_fence(SeqCst);
        Some(NodeId::new((number * LEVELS as u32 + at) as u16))
    }
    #[inline(always)]
    unsafe fn release_node(id: NodeId) {
        compiler_fence(SeqCst);
        let (number, at) = (id.number() / NODES_PER_CPU, id.number() % NODES_PER_CPU);
        cpu(number.into()).level.store(at.into(), Relaxed);
    }
    #[inline(always)]
    fn node(id: NodeId) -> NonNull<QNode<Self>> {
        let (number, at) = (id.number() / NODES_PER_CPU, id.number() % NODES_PER_CPU);
        // `claim_node` made the number of a CPU that exists. The level is below the limit.
        NonNull::from(&cpu(number.into()).nodes[usize::from(at)])
    }
    #[inline(always)]
    fn nesting_of(id: NodeId) -> u32 {
        (id.number() % NODES_PER_CPU).into()
    }
}

// SAFETY: cells of one static array; locks that exist at the same time have different addresses. These are in the upper
// 2^47 bytes, and words begin at multiples of four, so what the name leaves out is the same for all.
unsafe impl LockHash for Kernel {
    fn hash_slots() -> usize {
        HASH_SLOTS
    }
    fn hash_slot(at: usize) -> NonNull<HardwareU64<Self>> {
        // SAFETY: the remainder is below the length.
        NonNull::from(unsafe { HASH.get_unchecked(at % HASH_SLOTS) })
    }
    fn lock_name(word: *const ()) -> u64 {
        (word.addr() as u64 >> 2) & 0xffff_ffff_ffff
    }
}

// SAFETY: elements of static arrays, zero at first, a different one for different numbers.
unsafe impl MetadataPool for Kernel {
    type Entry = Entry<Self>;
    type Queue = NumaQueue<Self>;

    fn metadata_entries() -> usize {
        ENTRIES
    }
    fn metadata_queues() -> usize {
        QUEUES
    }
    fn metadata_entry(at: usize) -> NonNull<Entry<Self>> {
        // SAFETY: the remainder is below the length.
        NonNull::from(unsafe { METADATA.get_unchecked(at % ENTRIES) })
    }
    fn metadata_queue(at: usize, queue: usize) -> NonNull<NumaQueue<Self>> {
        let number = at % ENTRIES * QUEUES + queue % QUEUES;
        // SAFETY: both remainders are below their limits.
        NonNull::from(unsafe { METADATA_QUEUES.get_unchecked(number) })
    }
}

// SAFETY: a CPU stands for a thread: it has a table, which stays until the module is unloaded, and an owner keeps its
// CPU until it releases the lock. What interrupts it does so as a signal handler does.
unsafe impl HeldLocks for Kernel {
    type Table = HeldTable<Self>;

    #[inline(always)]
    fn held_table() -> Option<NonNull<HeldTable<Self>>> {
        Some(NonNull::from(&this_cpu().held))
    }
    fn held_tables() -> usize {
        cpus_known() as usize
    }
    fn held_table_at(at: usize) -> Option<NonNull<HeldTable<Self>>> {
        (at < Self::held_tables()).then(|| NonNull::from(&cpu(at as u32).held))
    }
}

impl Placement for Kernel {
    #[inline(always)]
    fn this_cpu() -> u32 {
        let number: u32;
        // SAFETY: reads a per-CPU variable of the module.
        unsafe {
            asm!("movl %gs:lockwright_cpu, {number:e}", number = out(reg) number,
                options(att_syntax, nostack, preserves_flags, readonly));
        }
        number
    }
    #[inline(always)]
    fn numa_node_of(number: u32) -> u32 {
        cpu(number).numa_node.load(Relaxed)
    }
    #[inline(always)]
    fn numa_nodes() -> u32 {
        NUMA_NODES.load(Relaxed).max(1)
    }
    #[inline(always)]
    fn is_guest() -> bool {
        IS_GUEST.load(Relaxed)
    }
    #[inline(always)]
    fn is_urgent() -> bool {
        let answer: u32;
        // SAFETY: the module's function changes nothing and takes no lock.
        unsafe { asm!("call lockwright_is_urgent", out("eax") answer, clobber_abi("sysv64")) };
        // The other bits of a C `bool` are undefined.
        answer & 1 != 0
    }
    #[inline(always)]
    fn is_unmaskable() -> bool {
        let answer: u32;
        // SAFETY: as above.
        unsafe { asm!("call lockwright_is_unmaskable", out("eax") answer, clobber_abi("sysv64")) };
        answer & 1 != 0
    }
}

// SAFETY: `core`'s fences; an exchange is a locked instruction, which is a full barrier; there are no heavy barriers.
unsafe impl Barriers for Kernel {
    #[inline(always)]
    fn fence(order: Ordering) {
        fence(order);
    }
    #[inline(always)]
    fn full_barrier<T: Copy + Eq>(_on: &impl Atomic<T>) {
        fence(SeqCst);
    }
    #[inline(always)]
    fn barrier_after_exchange<T: Copy + Eq>(_on: &impl Atomic<T>) {
        compiler_fence(SeqCst);
    }
    #[inline(always)]
    fn light_barrier() {
        fence(SeqCst);
    }
    #[inline(always)]
    fn heavy_barrier() {
        fence(SeqCst);
    }
    #[inline(always)]
    fn has_heavy_barrier() -> bool {
        false
    }
    #[inline(always)]
    fn may_use_heavy_barrier() -> bool {
        false
    }
    #[inline(always)]
    fn delay(pauses: u32) {
        (0..pauses).for_each(|_| spin_loop());
    }
}

impl Counters for Kernel {
    #[inline(always)]
    fn count_many(event: Event, n: u64) {
        this_cpu().event(event).fetch_add(n, Relaxed);
    }
    #[inline(always)]
    fn tunable(tunable: Tunable) -> Option<u64> {
        slot(tunable).load(Relaxed).checked_sub(1)
    }
}

impl Clock for Kernel {
    /// The raw monotonic clock, which may be read in an NMI and takes no lock.
    #[inline(always)]
    fn now_ns() -> u64 {
        let now: u64;
        // SAFETY: an exported function of the kernel that may be called in every context.
        unsafe { asm!("call ktime_get_raw_fast_ns", out("rax") now, clobber_abi("sysv64")) };
        now
    }
}

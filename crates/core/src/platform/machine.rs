//! The operations that a machine offers in addition to cells.

use super::events::Event;
use super::tunables::Tunable;
use super::{Atomic, Cells};
use core::ptr::NonNull;
use core::sync::atomic::Ordering;

/// The number of nodes that a lock word can name: it has 2 bits for the nesting index and 14 bits for CPU + 1.
pub const NODES_MAX: usize = 65_532;

/// The number of a queue node, which is `cpu * 4 + index` in the kernel's terms. It also says if the waiter has a
/// deadline and may leave the queue. So the thread that grants it knows this without a look at the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId {
    number: u16,
    may_leave: bool,
}

impl NodeId {
    /// Returns the node with this number.
    ///
    /// # Panics
    /// Panics if `number` is not below [`NODES_MAX`]; in a constant that is a compile error.
    pub const fn new(number: u16) -> Self {
        assert!((number as usize) < NODES_MAX, "a lock word has no name for this queue node");
        Self { number, may_leave: false }
    }
    /// Returns the number of the node, counted from 0.
    pub const fn number(self) -> u16 {
        self.number
    }
    /// Returns this node, with a waiter that may leave.
    pub const fn that_may_leave(self) -> Self {
        Self { may_leave: true, ..self }
    }
    /// Returns `true` if the waiter may leave the queue before its turn.
    pub const fn may_leave(self) -> bool {
        self.may_leave
    }
}

/// Fences and pauses.
///
/// # Safety
/// [`fence`](Self::fence) orders at least as much as `core`'s. The barriers keep laws B2, B3, B5 and B6 of PLATFORM.md.
/// Without these laws two owners could be in a lock at once.
pub unsafe trait Barriers: Cells {
    /// Executes a fence of the given ordering (`SeqCst` is a full one, but see [`full_barrier`](Self::full_barrier)).
    fn fence(order: Ordering);
    /// Orders the caller's earlier stores before its later loads, of any words, against every other thread that
    /// executes such a barrier. `on` is the cell written before it or the one read after it: a detector that does not
    /// understand fences may touch it. A store-load pair is written only in this way: there is no `SeqCst` access in
    /// this crate.
    fn full_barrier<T: Copy + Eq>(on: &impl Atomic<T>);
    /// As [`full_barrier`](Self::full_barrier), but for a caller whose last write before it is an exchange, which on
    /// some machines is a barrier itself. `on` is the cell read after it.
    fn barrier_after_exchange<T: Copy + Eq>(on: &impl Atomic<T>);
    /// Executes the cheap side of an asymmetric barrier pair: it keeps the compiler from reordering. Where there are no
    /// [heavy barriers](Self::has_heavy_barrier) it does nothing more.
    fn light_barrier();
    /// Executes the expensive side: every other thread of the process executes a full barrier at some point between the
    /// call and the return.
    fn heavy_barrier();
    /// Returns `false` if it is known that there are no heavy barriers.
    /// [`may_use_heavy_barrier`](Self::may_use_heavy_barrier) finds that out. Once known, it no longer changes.
    fn has_heavy_barrier() -> bool;
    /// Returns `true` if the caller may begin to rely on the asymmetric pair. Returns `false` if there are no heavy
    /// barriers. To spare other threads, it also returns `false` if there have been too many lately. Light barriers
    /// before the first `true` pair with heavy ones, too.
    fn may_use_heavy_barrier() -> bool;
    /// Passes the time of `pauses` spin-loop hints and does not touch shared memory (back-off).
    fn delay(pauses: u32);
}

/// The queue nodes of the machine.
///
/// Natively they are a static pool. In a simulated kernel there is one node per CPU and nesting level. The platform
/// owns the storage because Rust has no generic statics. The locks define the type: [`QNode`](crate::queue::QNode).
///
/// # Safety
/// [`node`](Self::node) returns a pointer to a node that lives as long as locks of this platform are used. Pointers
/// differ for different ids. [`claim_node`](Self::claim_node) does not hand out a node that is in use, and all accesses
/// before its release happen before it is claimed again. [`is_orphaned`](Self::is_orphaned) never calls a node orphaned
/// whose thread exists, and [`has_forked`](Self::has_forked) returns one value to all threads of a process.
pub unsafe trait QueueNodes: Cells {
    /// A node.
    type Node;

    /// Takes a node that no other thread uses until it is released. Returns `None` if there is none left.
    fn claim_node() -> Option<NodeId>;
    /// Gives a node back.
    ///
    /// # Safety
    /// The caller claimed `id`, and no other thread will access the node on the caller's behalf.
    unsafe fn release_node(id: NodeId);
    /// Returns the storage of node `id`, which is valid for as long as the machine runs. The caller may ask for any id
    /// that was ever claimed, also after its release (a recycled node is memory-safe to read).
    fn node(id: NodeId) -> NonNull<Self::Node>;
    /// Returns how deep the calling CPU is nested in queue nodes with `id`: 0 is the first. It is only for counting. A
    /// platform without nesting levels says 0.
    fn nesting_of(id: NodeId) -> u32 {
        let _ = id;
        0
    }
    /// Returns `true` if this process was forked from one that may have used locks. Then lock words may name waiters
    /// that do not exist here. A platform without fork returns `false`.
    fn has_forked() -> bool {
        false
    }
    /// Returns `true` if `id` was claimed before the fork and not released. Then its thread does not exist in this
    /// process. The answer stays true: such a node is not handed out again.
    fn is_orphaned(id: NodeId) -> bool {
        let _ = id;
        false
    }
    /// Notes that the calling thread has left this node in a queue: another thread will release it. A platform with
    /// many nodes remembers it, so that a thread leaves no second one as long as the first is there.
    fn leave_node(id: NodeId) {
        let _ = id;
    }
    /// Returns the node that the calling thread passed to [`leave_node`](Self::leave_node) last, if the platform
    /// remembers it and the node is in use. That queue uses it or, because this is a hint, another thread.
    fn left_node() -> Option<NodeId> {
        None
    }
}

/// The table in which the owner of a lock finds the waiter that sleeps for it. It maps locks to queue nodes, because
/// the lock itself has no room.
///
/// This trait only has the storage, as [`QueueNodes`] does; `qspinlock::pv` defines its content.
///
/// # Safety
/// [`hash_slot`](Self::hash_slot) returns a cell that lives as long as locks of this platform are used. Cells differ
/// for different numbers and are zero at first. Locks that exist at the same time have different names.
pub unsafe trait LockHash: Cells {
    /// Returns the number of cells. It is at least 8, and greater than the number of locks that can have a sleeping
    /// head of their queue at the same time.
    fn hash_slots() -> usize;
    /// Returns a cell of the table; `at` is below [`hash_slots`](Self::hash_slots).
    fn hash_slot(at: usize) -> NonNull<Self::U64>;
    /// Returns the name of the lock or condition variable whose word is at this address. It is not 0 and below 2^48.
    fn lock_name(word: *const ()) -> u64;
}

/// The storage of marks. A mark tells a release if threads sleep for its lock. [`Mark`](crate::park::Mark) defines the
/// content.
///
/// # Safety
/// The functions that return pointers return different places for different numbers. These places are zero at first and
/// live as long as locks of this platform are used. No two threads of a process see different epochs.
pub unsafe trait MarkStorage: QueueNodes {
    /// The type of what stands next to the counts of a mark: [`MarkState`](crate::park::MarkState).
    type MarkState;

    /// Returns the number of marks, and of buckets of the table of sleepers: a power of two.
    fn sleep_buckets() -> usize;
    /// Returns the counts of a mark; `at` is below [`sleep_buckets`](Self::sleep_buckets). A release of a lock with
    /// such a mark looks at it.
    fn counting_mark(at: usize) -> NonNull<Self::U64>;
    /// Returns what stands next to these counts.
    fn mark_state(at: usize) -> NonNull<Self::MarkState>;
    /// Returns how often this process was forked since its first ancestor used a lock. The waiters that the table held
    /// before a fork do not exist in the child. The number is below 2^31.
    fn epoch() -> u32 {
        0
    }
}

/// The place of the caller on the machine.
pub trait Placement: Sized {
    /// Returns the CPU on which the caller runs. The answer may be stale as soon as it is read, except in the
    /// simulator.
    fn this_cpu() -> u32;
    /// Returns the NUMA node of a CPU.
    fn numa_node_of(cpu: u32) -> u32;
    /// Returns the number of NUMA nodes of the machine (at least 1).
    fn numa_nodes() -> u32;
    /// Returns `true` if the machine is known to be a virtual one. Then its CPUs may not be running, and its NUMA nodes
    /// may not be those of the host.
    fn is_guest() -> bool {
        false
    }
    /// Returns `true` if the caller must not be set aside: it is inside a signal handler known to us, it has a
    /// real-time policy, or it is in an explicit scope.
    fn is_urgent() -> bool;
    /// Returns `true` if the caller is an interrupt that cannot be masked. A program has none.
    #[inline(always)]
    fn is_unmaskable() -> bool {
        false
    }
}

/// The numbers by which locks know their owners.
///
/// # Safety
/// [`this_thread`](Self::this_thread) always returns one number to a thread, and no other thread that exists has it.
/// Reason: a lock that its owner may take again lets every thread in that has the owner's number.
pub unsafe trait ThreadNumbers: Sized {
    /// Returns a number for the calling thread. It is not 0, its lowest three bits are 0, and no other thread has it
    /// while this one lives.
    fn this_thread() -> u64;
}

/// Guesses about the scheduler. They are only hints: nothing may rely on them.
///
/// The number of a thread is not one of them, because locks rely on it. It has an unsafe trait of its own.
///
/// ```compile_fail,E0200
/// enum Machine {}
/// impl lockwright_core::platform::ThreadNumbers for Machine {
///     fn this_thread() -> u64 {
///         8
///     }
/// }
/// ```
pub trait SchedulerHints: QueueNodes + ThreadNumbers {
    /// True if [`is_thread_running`](Self::is_thread_running) and [`need_resched`](Self::need_resched) know the truth,
    /// so that they end a wait that does not pay. Elsewhere a spinner has to end it by itself.
    const KNOWS_WHO_RUNS: bool = false;

    /// Returns `true` if the thread that uses the node `id` is probably running on a CPU.
    fn is_running(id: NodeId) -> bool;
    /// Returns `true` if the thread of that number is probably running on a CPU. It may no longer exist.
    fn is_thread_running(thread: u64) -> bool;
    /// Returns `true` if the caller should give up its CPU soon.
    fn need_resched() -> bool;
    /// Returns the number of CPUs that this process may use, or the CPU time that it may use, in CPUs.
    fn usable_cpus() -> u32;
    /// Returns `true` if the threads of this process run one at a time. Then a thread that waits awake keeps the thread
    /// that it waits for from running.
    fn has_single_cpu() -> bool {
        Self::usable_cpus() == 1
    }
    /// Returns the number of CPUs that this process may use and that are probably idle.
    fn idle_cpus() -> u32;
    /// Asks for a place in which the caller may spin and wait for another thread. Returns `true` if it got one. There
    /// are fewer places than CPUs that this process may use, so that the other thread has a CPU, too. A thread that
    /// gets a place gives it back by [`end_spinning`](Self::end_spinning). A platform that does not count places asks
    /// if another thread waits for the caller's CPU.
    fn begin_spinning() -> bool {
        !Self::need_resched()
    }
    /// Gives back the place in which the caller spun.
    fn end_spinning() {}
    /// Returns `true` if the caller is to sleep and not to spin. The scheduler may prefer it to the thread that it
    /// waits for, which then gets no CPU while the caller spins.
    fn must_not_spin() -> bool;
    /// Lets another thread run first that waits for the caller's CPU, if the platform knows of one. Returns when the
    /// caller has a CPU again.
    fn yield_cpu() {}
}

/// Sleeping, keyed by address.
///
/// A sleeper has a set of kinds, one bit each. A wake-up is for a set of kinds, too: it passes over a sleeper that has
/// none of them.
pub trait Sleeping: Cells {
    /// As [`futex_wait_as`](Self::futex_wait_as), but the caller is a sleeper of every kind.
    fn futex_wait(word: &Self::U32, expected: u32, deadline_ns: Option<u64>) {
        Self::futex_wait_as(EVERY_KIND, word, expected, deadline_ns);
    }
    /// Sleeps while `word` holds `expected`, as a sleeper of these `kinds`, until woken or until the platform's clock
    /// reaches `deadline_ns`. It may return at any time for no reason, so the caller loops. Returns `true` if a wake-up
    /// has counted the caller. That wake-up may have been meant for another word that was at this address before.
    fn futex_wait_as(kinds: u32, word: &Self::U32, expected: u32, deadline_ns: Option<u64>)
    -> bool;
    /// As [`futex_wait_as`](Self::futex_wait_as), but sleeps on the lower half of `word`, whose address is
    /// [`low_half`]. `then` is the word of the lock that the caller takes afterwards, for
    /// [`futex_holds`](Self::futex_holds).
    fn futex_wait_low(
        kinds: u32,
        word: &Self::U64,
        expected: u32,
        then: Option<&Self::U32>,
        deadline_ns: Option<u64>,
    ) -> bool;
    /// As [`futex_wake_only`](Self::futex_wake_only), but wakes sleepers of every kind.
    fn futex_wake(address: *const Self::U32, count: u32) {
        Self::futex_wake_only(EVERY_KIND, address, count);
    }
    /// Wakes up to `count` threads of these `kinds` that sleep on the word at `address`, in the order in which they
    /// came. Returns how many it woke. The word is not accessed and may no longer exist. A thread that was about to
    /// sleep is not counted.
    fn futex_wake_only(kinds: u32, address: *const Self::U32, count: u32) -> u32;
    /// Returns `true` if the word at `then` holds `value`, as the kernel sees it after all that the caller has done. If
    /// that word no longer exists, the answer may be either, unless a thread sleeps on the word at `sleepers` and has
    /// said that it takes `then` afterwards.
    fn futex_holds(then: *const Self::U32, value: u32, sleepers: *const Self::U32) -> bool;
    /// Wakes up to `count` threads that sleep on the lower half of `from`, in the order in which they came, if it holds
    /// `expected`. Then it lets the other sleepers sleep on the word at `to`, behind the threads that sleep there
    /// already. Returns the number of threads that it woke or moved. Returns `None` if the lower half of `from` holds
    /// something else, or if this platform cannot move sleepers. The word at `to` is not accessed and may no longer
    /// exist.
    fn futex_requeue(
        count: u32,
        from: &Self::U64,
        expected: u32,
        to: *const Self::U32,
    ) -> Option<u32>;
}

/// A set of all kinds of sleepers.
pub const EVERY_KIND: u32 = u32::MAX;

/// Returns the address of the lower half of a 64-bit cell. Threads that wait for the cell sleep on this address.
pub fn low_half<P: Cells>(word: *const P::U64) -> *const P::U32 {
    let offset = if cfg!(target_endian = "big") { 4 } else { 0 };
    word.cast::<u8>().wrapping_add(offset).cast()
}

/// The clock.
pub trait Clock: Sized {
    /// Returns monotonic nanoseconds since some fixed point.
    fn now_ns() -> u64;
    /// Returns `true` if the clock has reached `deadline_ns`. A platform may have deadlines of other clocks, which are
    /// above all times of this one.
    #[inline(always)]
    fn is_over(deadline_ns: u64) -> bool {
        Self::now_ns() >= deadline_ns
    }
    /// Returns the time until `deadline_ns`, by the clock of that deadline; 0 if it has passed.
    #[inline(always)]
    fn ns_until(deadline_ns: u64) -> u64 {
        deadline_ns.saturating_sub(Self::now_ns())
    }
    /// Returns the deadline that comes first. The two may be of different clocks.
    #[inline]
    fn earlier(one_ns: u64, other_ns: u64) -> u64 {
        if Self::ns_until(one_ns) < Self::ns_until(other_ns) { one_ns } else { other_ns }
    }
    /// Returns `true` if an event comes again and again on each CPU and ends its wait for an event. Only processors
    /// that have such a wait ask for it.
    #[inline(always)]
    fn has_event_stream() -> bool {
        false
    }
}

/// Counters, and numbers that can be changed at run time.
pub trait Counters: Sized {
    /// Counts `event` once.
    #[inline(always)]
    fn count(event: Event) {
        Self::count_many(event, 1);
    }
    /// Returns `true` if events are counted. A lock asks before work that it only does to count it.
    #[inline(always)]
    fn is_counting() -> bool {
        true
    }
    /// Adds `n` to the counter of `event`. Counters may lose counts and never affect locking.
    fn count_many(event: Event, n: u64);
    /// Returns the value to which `tunable` was set, or `None` to let the lock's own policy decide.
    fn tunable(tunable: Tunable) -> Option<u64>;
}

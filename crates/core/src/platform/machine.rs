//! What a machine offers in addition to cells.

use super::events::Event;
use super::tunables::Tunable;
use super::{Atomic, Cells, NodeId, ReadList};
use core::ptr::NonNull;
use core::sync::atomic::Ordering;

/// Fences and pauses.
///
/// # Safety
/// [`fence`](Self::fence) orders at least as much as `core`'s. The barriers keep laws B2, B3, B5 and B6 of PLATFORM.md:
/// that no two owners are in a lock rests on them.
pub unsafe trait Barriers: Cells {
    /// A fence of the given ordering (`SeqCst` is a full one, but see
    /// [`full_barrier`](Self::full_barrier)).
    fn fence(order: Ordering);
    /// Orders the caller's earlier stores before its later loads, of any words, against every other
    /// thread that does the same. `on` is the cell written before or the one read after it; a
    /// detector that does not understand fences may touch it. The one way to write a store-load pair here: there is no
    /// `SeqCst` access in this crate.
    fn full_barrier<T: Copy + Eq>(on: &impl Atomic<T>);
    /// As [`full_barrier`](Self::full_barrier), for a caller whose last write before it is an exchange,
    /// which on some machines is a barrier itself. `on` is the cell read after it.
    fn barrier_after_exchange<T: Copy + Eq>(on: &impl Atomic<T>);
    /// The cheap side of an asymmetric barrier pair: keeps the compiler from reordering. Where there are no [heavy
    /// barriers](Self::has_heavy_barrier) it is nothing more.
    fn light_barrier();
    /// The dear side: after it, every other thread of the process has executed a full barrier at
    /// some point between the call and the return.
    fn heavy_barrier();
    /// Returns `false` if there are no heavy barriers, as soon as that is known:
    /// [`may_use_heavy_barrier`](Self::may_use_heavy_barrier) finds out. What is known no longer changes.
    fn has_heavy_barrier() -> bool;
    /// Returns `true` if the caller may begin to rely on the asymmetric pair: `false` where there are no heavy
    /// barriers, and where there have been too many lately, to spare other threads. Light
    /// barriers before the first `true` pair with heavy ones, too.
    fn may_use_heavy_barrier() -> bool;
    /// Passes the time of `pauses` spin-loop hints without touching shared memory (back-off).
    fn delay(pauses: u32);
}

/// The queue nodes of the machine.
///
/// Natively a static pool; in a simulated kernel one node per CPU and nesting level. The platform
/// owns the storage because Rust has no generic statics. The locks own the type: [`QNode`](crate::queue::QNode).
///
/// # Safety
/// [`node`](Self::node) returns a pointer to a node that lives as long as locks of this platform are
/// used, different for different ids; [`claim_node`](Self::claim_node) hands out no node twice, and
/// all accesses before its release happen before it is claimed again;
/// [`is_orphaned`](Self::is_orphaned) never calls a node orphaned whose thread exists, and
/// [`has_forked`](Self::has_forked) is the same for all threads of a process.
pub unsafe trait QueueNodes: Cells {
    /// A node.
    type Node;

    /// Takes a node that nobody else uses until it is released, or `None` when there is none left.
    fn claim_node() -> Option<NodeId>;
    /// Gives a node back.
    ///
    /// # Safety
    /// The caller claimed `id`, and no other thread will access the node on the caller's behalf.
    unsafe fn release_node(id: NodeId);
    /// The storage of node `id`. Valid for as long as the machine runs; may be called with any id
    /// that was ever claimed, also after its release (a recycled node is memory-safe to read).
    fn node(id: NodeId) -> NonNull<Self::Node>;
    /// How deep the calling CPU is nested in queue nodes with `id`: 0 is the first. Only for
    /// counting; a platform without nesting levels says 0.
    fn nesting_of(id: NodeId) -> u32 {
        let _ = id;
        0
    }
    /// Returns `true` if this process was forked from one that may have used locks. Then lock words may name
    /// waiters that do not exist here. Never in a world without fork.
    fn has_forked() -> bool {
        false
    }
    /// Returns `true` if `id` was claimed before the fork and not released: its thread does not exist in
    /// this process. Once true it stays true: such a node is not handed out again.
    fn is_orphaned(id: NodeId) -> bool {
        let _ = id;
        false
    }
    /// The calling thread has left this node in a queue: another thread will release it. A platform with many nodes
    /// remembers it, so that a thread leaves no second one as long as the first is there.
    fn leave_node(id: NodeId) {
        let _ = id;
    }
    /// What the calling thread passed to [`leave_node`](Self::leave_node) last, if the platform remembers and the node
    /// is in use: by that queue or, because this is a hint, by another thread.
    fn left_node() -> Option<NodeId> {
        None
    }
}

/// The table in which the owner of a lock finds the waiter that sleeps for it: from locks to queue
/// nodes, because the lock itself has no room.
///
/// Storage only, like [`QueueNodes`]; `qspinlock::pv` knows what is in it.
///
/// # Safety
/// [`hash_slot`](Self::hash_slot) returns a cell that lives as long as locks of this platform are
/// used, different for different numbers, zero at first; locks that exist at the same time have
/// different names.
pub unsafe trait LockHash: Cells {
    /// How many cells there are: at least 8, and more than locks can have a sleeping head of their
    /// queue at the same time.
    fn hash_slots() -> usize;
    /// A cell of the table; `at` is below [`hash_slots`](Self::hash_slots).
    fn hash_slot(at: usize) -> NonNull<Self::U64>;
    /// The name of the lock or condition variable whose word is at this address: not 0 and below 2^48.
    fn lock_name(word: *const ()) -> u64;
}

/// The storage of the [`SleepTable`](crate::park::SleepTable), which knows what is in it.
///
/// # Safety
/// The functions that return pointers return different places for different numbers, zero at first, which
/// live as long as locks of this platform are used. No two threads of a process see different epochs.
pub unsafe trait SleepStorage: QueueNodes {
    /// A bucket: [`Bucket`](crate::park::Bucket).
    type Bucket;
    /// A waiter: [`Waiter`](crate::park::Waiter).
    type Waiter;

    /// How many buckets there are: a power of two.
    fn sleep_buckets() -> usize;
    /// A bucket; `at` is below [`sleep_buckets`](Self::sleep_buckets).
    fn sleep_bucket(at: usize) -> NonNull<Self::Bucket>;
    /// The mark of bucket `at`, which every release of a lock looks at.
    fn sleep_mark(at: usize) -> NonNull<Self::U32>;
    /// The mark of bucket `at` that counts.
    fn counting_mark(at: usize) -> NonNull<Self::U64>;
    /// The waiter that belongs to a queue node, valid as that is.
    fn waiter(id: NodeId) -> NonNull<Self::Waiter>;
    /// How often this process was forked since its first ancestor used a lock: what the table held
    /// before does not exist here. Below 2^31.
    fn epoch() -> u32 {
        0
    }
    /// What the calling thread reads, the same list each time. `None` if the machine has no lists: then a thread may
    /// always be one that reads already.
    fn read_list() -> Option<NonNull<ReadList>> {
        None
    }
    /// Runs `section`, in which no signal handler interrupts the thread, except those of faults.
    fn uninterrupted<R>(section: impl FnOnce() -> R) -> R {
        section()
    }
}

/// Where readers say what they read without telling anybody.
///
/// Storage only, like [`SleepStorage`]; [`readers`](crate::readers) knows what is in it.
///
/// # Safety
/// [`reader_slot`](Self::reader_slot) returns the same slot to a thread each time, and no other thread that exists has
/// it. Slots live as long as locks of this platform are used and are empty at first. After a heavy barrier
/// [`reader_slots`](Self::reader_slots) counts every slot whose owner had it when it passed the barrier.
/// [`lock_number`](Self::lock_number) returns no number twice, whatever has become of the lock that had it.
pub unsafe trait ReaderSlots: Cells {
    /// A slot: [`ReaderSlot`](crate::readers::ReaderSlot).
    type Slot;

    /// How often a thread reads one lock in its slot in addition to the first time, at most: as many as the lock
    /// beneath counts.
    const DEPTH_MAX: u32 = (1 << 23) - 1;

    /// A number for a lock whose readers use slots: not 0, below 2^63, and no other lock's before or after.
    fn lock_number() -> u64;
    /// The slot of the calling thread; nothing if there is none left.
    fn reader_slot() -> Option<NonNull<Self::Slot>>;
    /// How many slots are in use at most: their numbers are below that.
    fn reader_slots() -> usize;
    /// A slot, or an empty one for a number that is nobody's.
    fn reader_slot_at(at: usize) -> NonNull<Self::Slot>;
}

/// Where threads say which locks they hold.
///
/// Storage only; [`held`](crate::held) knows what is in it.
///
/// # Safety
/// [`held_table`](Self::held_table) returns the same table to a thread each time, and no other thread that exists has
/// it. Tables live as long as locks of this platform are used and are empty at first.
pub unsafe trait HeldLocks: Cells {
    /// A table: [`HeldTable`](crate::held::HeldTable).
    type Table;

    /// The table of the calling thread; nothing if there is none left.
    fn held_table() -> Option<NonNull<Self::Table>>;
    /// How many tables are in use at most: their numbers are below that.
    fn held_tables() -> usize;
    /// A table; nothing for a number that is nobody's.
    fn held_table_at(at: usize) -> Option<NonNull<Self::Table>>;
}

/// Where the caller is.
pub trait Placement: Sized {
    /// The CPU the caller runs on. May be stale as soon as it is read, except in the simulator.
    fn this_cpu() -> u32;
    /// The NUMA node of a CPU.
    fn numa_node_of(cpu: u32) -> u32;
    /// How many NUMA nodes the machine has (at least 1).
    fn numa_nodes() -> u32;
    /// Returns `true` if the machine is known to be a virtual one: its CPUs may not run, and its NUMA nodes may not be
    /// those of the host.
    fn is_guest() -> bool {
        false
    }
    /// Returns `true` if the caller must not be set aside: inside a signal handler known to us, real-time
    /// policy, or an explicit scope.
    fn is_urgent() -> bool;
}

/// Numbers by which locks know their owners.
///
/// # Safety
/// [`this_thread`](Self::this_thread) returns the same number to a thread each time, and no other thread that exists
/// has it: a lock that its owner may take again lets every thread in that has the owner's number.
pub unsafe trait ThreadNumbers: Sized {
    /// A number for the calling thread: not 0, its lowest three bits 0, and no other thread's while
    /// this one lives.
    fn this_thread() -> u64;
}

/// What the scheduler lets us guess. Hints only: nothing may rely on them.
///
/// The number of a thread, which locks rely on, is none of them: it has an unsafe trait of its own.
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
    /// True if [`is_thread_running`](Self::is_thread_running) and
    /// [`need_resched`](Self::need_resched) know what they say, so that they end a wait that is not worth
    /// its while. Elsewhere a spinner has to end it by itself.
    const KNOWS_WHO_RUNS: bool = false;

    /// Returns `true` if the thread that uses the node `id` is probably running on a CPU.
    fn is_running(id: NodeId) -> bool;
    /// Returns `true` if the thread of that number is probably running on a CPU. It may no longer exist.
    fn is_thread_running(thread: u64) -> bool;
    /// Returns `true` if the caller should give up its CPU soon.
    fn need_resched() -> bool;
    /// How many CPUs this process may use.
    fn usable_cpus() -> u32;
    /// How many CPUs this process may use that are probably idle.
    fn idle_cpus() -> u32;
    /// Asks for a place to spin for another thread in: there are fewer than CPUs that this process
    /// may use, so that the other one has a CPU, too. A thread that gets a place gives it back by
    /// [`end_spinning`](Self::end_spinning). A platform that does not count places asks whether anybody
    /// waits for the caller's CPU.
    fn begin_spinning() -> bool {
        !Self::need_resched()
    }
    /// Gives back the caller's place to spin in.
    fn end_spinning() {}
    /// Returns `true` if the caller is to sleep and not to spin: it may go before the thread that it waits for, which
    /// then gets no CPU while it spins.
    fn must_not_spin() -> bool;
    /// Lets another thread go first that waits for the caller's CPU, if the platform knows of one. Returns when the
    /// caller has a CPU again.
    fn yield_cpu() {}
}

/// Sleeping, keyed by address.
///
/// A sleeper has a set of kinds, one bit each, and a wake-up is for a set of them: it passes over a sleeper that has
/// none of these.
pub trait Sleeping: Cells {
    /// As [`futex_wait_as`](Self::futex_wait_as), as a sleeper of every kind.
    fn futex_wait(word: &Self::U32, expected: u32, deadline_ns: Option<u64>) {
        Self::futex_wait_as(EVERY_KIND, word, expected, deadline_ns);
    }
    /// Sleeps while `word` holds `expected`, as a sleeper of these `kinds`, until woken or until the platform's clock
    /// reaches `deadline_ns`. May return at any time for no reason, so the caller loops. Returns `true` if a wake-up
    /// has counted the caller, which may have been meant for another word that was at this address before.
    fn futex_wait_as(kinds: u32, word: &Self::U32, expected: u32, deadline_ns: Option<u64>)
    -> bool;
    /// As [`futex_wait_as`](Self::futex_wait_as) on the lower half of `word`, whose address is [`low_half`]. `then` is
    /// the word of the lock that the caller takes afterwards, for [`futex_holds`](Self::futex_holds).
    fn futex_wait_low(
        kinds: u32,
        word: &Self::U64,
        expected: u32,
        then: Option<&Self::U32>,
        deadline_ns: Option<u64>,
    ) -> bool;
    /// As [`futex_wake_only`](Self::futex_wake_only), of every kind.
    fn futex_wake(address: *const Self::U32, count: u32) {
        Self::futex_wake_only(EVERY_KIND, address, count);
    }
    /// Wakes up to `count` threads of these `kinds` that sleep on the word at `address`, in the order they came;
    /// returns how many. The word is not accessed and may no longer exist. A thread that was about to sleep is not
    /// counted.
    fn futex_wake_only(kinds: u32, address: *const Self::U32, count: u32) -> u32;
    /// Returns `true` if the word at `then` holds `value`, as the kernel sees it after all that the caller has done.
    /// That word may no longer exist, and then the answer may be any, unless a thread sleeps on the word at `sleepers`
    /// that has said that it takes `then` afterwards.
    fn futex_holds(then: *const Self::U32, value: u32, sleepers: *const Self::U32) -> bool;
    /// If the lower half of `from` holds `expected`: wakes up to `count` threads that sleep there, in the order they
    /// came, and lets the others sleep on the word at `to`, behind those that do so already. Returns how many these
    /// were in all, or `None` if it holds something else, or if this platform cannot move sleepers. The word at `to` is
    /// not accessed and may no longer exist.
    fn futex_requeue(
        count: u32,
        from: &Self::U64,
        expected: u32,
        to: *const Self::U32,
    ) -> Option<u32>;
}

/// A set of all kinds of sleepers.
pub const EVERY_KIND: u32 = u32::MAX;

/// Where the lower half of a 64-bit cell is: the threads that wait for it sleep on this address.
pub fn low_half<P: Cells>(word: *const P::U64) -> *const P::U32 {
    let offset = if cfg!(target_endian = "big") { 4 } else { 0 };
    word.cast::<u8>().wrapping_add(offset).cast()
}

/// The clock.
pub trait Clock: Sized {
    /// Monotonic nanoseconds since some fixed point.
    fn now_ns() -> u64;
    /// Returns `true` if the clock has reached `deadline_ns`. A platform may have deadlines of other clocks, which are
    /// above all times of this one.
    #[inline(always)]
    fn is_over(deadline_ns: u64) -> bool {
        Self::now_ns() >= deadline_ns
    }
    /// How long it is until `deadline_ns`, by the clock of that deadline; 0 if it has passed.
    #[inline(always)]
    fn ns_until(deadline_ns: u64) -> u64 {
        deadline_ns.saturating_sub(Self::now_ns())
    }
    /// The one of two deadlines that comes first. They may be of different clocks.
    #[inline]
    fn earlier(one_ns: u64, other_ns: u64) -> u64 {
        if Self::ns_until(one_ns) < Self::ns_until(other_ns) { one_ns } else { other_ns }
    }
    /// Returns `true` if each CPU has an event again and again that ends its wait for an event. Asked on processors
    /// that have such a wait.
    #[inline(always)]
    fn has_event_stream() -> bool {
        false
    }
}

/// Counting, and numbers that can be changed at run time.
pub trait Counters: Sized {
    /// Counts `event` once.
    #[inline(always)]
    fn count(event: Event) {
        Self::count_many(event, 1);
    }
    /// Returns `true` if events are counted. Asked before work that is only done to be counted.
    #[inline(always)]
    fn is_counting() -> bool {
        true
    }
    /// Adds `n` to the counter of `event`. Counters may lose counts and never affect locking.
    fn count_many(event: Event, n: u64);
    /// What `tunable` was set to, or `None` to let the lock's own policy decide.
    fn tunable(tunable: Tunable) -> Option<u64>;
}

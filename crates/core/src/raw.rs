//! The interface every lock has, whatever its machine.

use crate::tunables::Tunable;

/// A lock without data and without guard: what the registry, the checkers and `lock_api` see.
pub trait RawLock: Send + Sync + Sized + 'static {
    /// The order in which waiters are served.
    const ORDER: Order;
    /// True if waiters give up their CPU before long. If they spin in a queue instead, a waiter without a CPU
    /// stalls all threads behind it: with more threads than CPUs, throughput collapses.
    const WAITERS_SLEEP: bool = false;
    /// True if several readers may hold the lock at once. If not, a reader is an owner.
    const READERS_SHARE: bool = false;
    /// True if the next owner may free the lock while the previous owner has not yet returned from unlocking it. If
    /// not, the lock has to outlive every call.
    const NEXT_OWNER_MAY_FREE: bool = true;
    /// How far a model checker can explore its schedules.
    const SCHEDULES: Schedules = Schedules::Finite;

    /// How long it lets waiters be overtaken, on a machine with `numa_nodes` NUMA nodes; `set` is the value of a
    /// tunable, if it is set. By default it has no such bound, or needs none.
    fn fairness_threshold(
        numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        let _ = (numa_nodes, set);
        FairnessThreshold::default()
    }

    /// An unlocked lock: all words zero, but for the one exception to law C1 of PLATFORM.md.
    fn new() -> Self;
    /// Takes the lock, waiting as long as it takes. Acquires what the last owner released.
    ///
    /// Not reentrant: a thread that takes a lock it holds waits for ever.
    fn lock(&self);
    /// Takes the lock if that needs no waiting; `true` if it did. Acquires on success only.
    fn try_lock(&self) -> bool;
    /// Gives the lock back. Releases everything the owner did.
    ///
    /// # Safety
    /// The caller holds the lock.
    unsafe fn unlock(&self);
    /// Takes the lock together with other readers, waiting as long as it takes. Acquires what the
    /// last owner released.
    #[doc(alias = "down_read")]
    #[inline(always)]
    fn lock_shared(&self) {
        self.lock();
    }
    /// Takes the lock together with other readers if that needs no waiting; `true` if it did.
    /// Acquires on success only.
    #[doc(alias = "down_read_trylock")]
    #[inline(always)]
    fn try_lock_shared(&self) -> bool {
        self.try_lock()
    }
    /// Gives back what [`lock_shared`](Self::lock_shared) took. The next owner acquires what the
    /// reader did.
    ///
    /// # Safety
    /// The caller is a reader of the lock.
    #[doc(alias = "up_read")]
    #[inline(always)]
    unsafe fn unlock_shared(&self) {
        // SAFETY: where readers do not share, a reader is the owner.
        unsafe { self.unlock() }
    }
    /// Makes the owner a reader, with nobody owning the lock in between. Releases everything the
    /// owner did.
    ///
    /// # Safety
    /// The caller holds the lock as its owner, and is a reader afterwards.
    #[doc(alias = "downgrade_write")]
    #[inline(always)]
    unsafe fn downgrade(&self) {}
    /// Returns `true` if a thread holds the lock. Stale when it is returned, and acquires nothing. But of two
    /// threads that each hold a lock and then ask about the other's, one finds it held: the question
    /// is a full barrier.
    fn is_locked(&self) -> bool;
    /// Returns `true` if a value of the lock's [`Word`](crate::platform::Cells::Word) is a legal state.
    /// Checked by the simulator after every access.
    fn word_is_legal(word: u32) -> bool {
        let _ = word;
        true
    }
}

/// The order in which a lock serves its waiters: what a checker may hold it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Strictly in the order of arrival in the queue.
    Fifo,
    /// In the order of arrival in the queue, except that the one thread that set the pending bit
    /// before the queue was there goes first (the queued spinlock).
    FifoAfterPending,
    /// Grouped by NUMA node; bounded by a threshold.
    Grouped,
    /// In the order of arrival in the queue, but newcomers that find the lock free may take it as long as the
    /// head of the queue has not said that it waits.
    Queued,
    /// No order and no bound.
    None,
    /// Not a lock.
    Broken,
}

impl Order {
    /// Returns `true` if a waiter that is not running stalls all threads behind it.
    pub const fn is_queue(self) -> bool {
        matches!(self, Self::Fifo | Self::FifoAfterPending | Self::Grouped | Self::Queued)
    }
}

/// How far a model checker can explore the schedules of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedules {
    /// All schedules of two threads.
    Finite,
    /// A waiter writes to the lock word as long as it spins. Each write is news to the other threads, so there is no
    /// end of schedules: they are explored up to a number of preemptions.
    Endless,
    /// Waiters contend for the lock of a list, too, so all clients are too much. The rows of the lock in `crates/model`
    /// choose clients and bounds.
    OfRows,
}

/// How long a lock lets waiters be overtaken before they get their turn. A shorter measurement says nothing
/// about its fairness. A bound that a lock does not have is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FairnessThreshold {
    /// Handoffs within a NUMA node, after which another node gets its turn.
    pub handoffs_per_node: u64,
    /// Nanoseconds after which another NUMA node gets its turn.
    pub ns_per_node: u64,
    /// Nanoseconds after which the first waiter gets its turn, counted from when it became the first one.
    pub ns_per_waiter: u64,
    /// Nanoseconds after which a waiter gets its turn, counted from when it came.
    pub ns: u64,
}

//! The interface that every lock has, on every machine.

use crate::tunables::Tunable;

/// A lock without data and without a guard. The registry, the checkers and `lock_api` see this interface.
pub trait RawLock: Send + Sync + Sized + 'static {
    /// The order in which waiters are served.
    const ORDER: Order;
    /// True if waiters give up their CPU before long. If they spin in a queue instead, a waiter without a CPU
    /// stalls all threads behind it: with more threads than CPUs, throughput collapses.
    const WAITERS_SLEEP: bool = false;
    /// True if several readers may hold the lock at once. If false, a reader is an owner.
    const READERS_SHARE: bool = false;
    /// True if the next owner may free the lock while the previous owner has not yet returned from unlocking it. If
    /// false, the lock has to outlive every call.
    const NEXT_OWNER_MAY_FREE: bool = true;
    /// The extent to which a model checker can explore its schedules.
    const SCHEDULES: Schedules = Schedules::Finite;

    /// Returns how long the lock lets waiters be overtaken on a machine with `numa_nodes` NUMA nodes. `set` returns the
    /// value of a tunable, if it is set. By default a lock has no such bound, or needs none.
    fn fairness_threshold(
        numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        let _ = (numa_nodes, set);
        FairnessThreshold::default()
    }

    /// Returns an unlocked lock. All its words are zero, with the one exception to law C1 of PLATFORM.md.
    fn new() -> Self;
    /// Takes the lock, and waits for as long as that takes. Acquires what the last owner released.
    ///
    /// The lock is not reentrant: a thread that takes a lock which it holds waits for ever.
    fn lock(&self);
    /// Takes the lock if it need not wait. Returns `true` if it did. Acquires on success only.
    fn try_lock(&self) -> bool;
    /// Gives the lock back. Releases everything that the owner did.
    ///
    /// # Safety
    /// The caller holds the lock.
    unsafe fn unlock(&self);
    /// Takes the lock together with other readers, and waits for as long as that takes. Acquires what the last owner
    /// released.
    #[doc(alias = "down_read")]
    #[inline(always)]
    fn lock_shared(&self) {
        self.lock();
    }
    /// Takes the lock together with other readers if it need not wait. Returns `true` if it did. Acquires on success
    /// only.
    #[doc(alias = "down_read_trylock")]
    #[inline(always)]
    fn try_lock_shared(&self) -> bool {
        self.try_lock()
    }
    /// Gives back what [`lock_shared`](Self::lock_shared) took. The next owner acquires what the
    /// reader did.
    ///
    /// # Safety
    /// The caller holds the lock as a reader.
    #[doc(alias = "up_read")]
    #[inline(always)]
    unsafe fn unlock_shared(&self) {
        // SAFETY: where readers do not share, a reader is the owner.
        unsafe { self.unlock() }
    }
    /// Makes the owner a reader. No other thread owns the lock in between. Releases everything that the owner did.
    ///
    /// # Safety
    /// The caller holds the lock as its owner, and is a reader afterwards.
    #[doc(alias = "downgrade_write")]
    #[inline(always)]
    unsafe fn downgrade(&self) {}
    /// Returns `true` if a thread holds the lock. The answer may be stale when it is returned, and the call acquires
    /// nothing. But if two threads each hold a lock and then ask about the other's, at least one of them finds it held:
    /// the question is a full barrier.
    fn is_locked(&self) -> bool;
    /// Returns `true` if a value of the lock's [`Word`](crate::platform::Cells::Word) is a legal state. The simulator
    /// checks it after every access.
    fn word_is_legal(word: u32) -> bool {
        let _ = word;
        true
    }
}

/// The order in which a lock serves its waiters. A checker may hold the lock to it.
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

/// The extent to which a model checker can explore the schedules of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedules {
    /// All schedules of two threads.
    Finite,
    /// A waiter writes to the lock word as long as it spins. Each write is news to the other threads, so there is no
    /// end of schedules: they are explored up to a number of preemptions.
    Endless,
    /// Waiters contend for the lock of a list, too, so all clients together are too many to explore. The rows of the
    /// lock in `crates/model` choose clients and bounds.
    OfRows,
}

/// The time for which a lock lets waiters be overtaken before they get their turn. A shorter measurement says nothing
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

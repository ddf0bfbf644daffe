//! The interface every lock has, whatever its machine.

/// A lock without data and without guard: what the registry, the checkers and `lock_api` see.
pub trait RawLock: Send + Sync + Sized + 'static {
    /// Whether waiters are served in the order in which they queued.
    const ORDER: Order;
    /// Whether waiters give up their CPU before long. Where they do not and queue, one without a CPU
    /// stalls everybody behind it: with more threads than CPUs the lock collapses.
    const WAITERS_SLEEP: bool = false;

    /// An unlocked lock: all words zero.
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
    /// Whether somebody holds the lock. Stale when it is returned, and acquires nothing. But of two
    /// threads that each hold a lock and then ask about the other's, one finds it held: the question
    /// is a full barrier.
    fn is_locked(&self) -> bool;
    /// Whether a value of the lock's [`Word`](crate::platform::Cells::Word) is a legal state.
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
    /// No order and no bound.
    None,
    /// Not a lock.
    Broken,
}

impl Order {
    /// Whether a waiter that is not running stalls everybody behind it.
    pub const fn is_queue(self) -> bool {
        matches!(self, Self::Fifo | Self::FifoAfterPending | Self::Grouped)
    }
}

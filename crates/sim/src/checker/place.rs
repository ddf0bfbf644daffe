//! Where a thread is in a queue.

/// The place of a thread in the queue of a lock.
#[derive(Clone, Copy, Default)]
pub struct QueuePlace {
    /// The lock the thread waits for.
    pub lock: Option<usize>,
    /// Larger is later.
    pub turn: u64,
    /// It has changed the lock since its request.
    pub has_queued: bool,
    /// It waits, so its place is final.
    pub is_settled: bool,
    /// It may leave the queue without the lock.
    pub may_withdraw: bool,
    /// How many came later and were served earlier.
    pub overtaken: u32,
}

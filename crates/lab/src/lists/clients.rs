//! The test clients in words.

/// A client, and what it checks.
type Client = (&'static str, &'static str);

/// Every client of `explore`.
pub const CLIENTS: &[Client] = &[
    (
        "exclusion",
        "two threads never hold the lock at once, and each owner sees the last one's writes",
    ),
    ("try-lock", "a try-lock that succeeds owns the lock, and one that fails leaves it alone"),
    (
        "is-locked",
        "of two threads that each hold a lock and ask about the other's, one sees it held",
    ),
    ("shared", "a reader shares the lock with readers only, and sees the last writer's writes"),
    ("try-shared", "a read attempt that succeeds reads, and one that fails leaves the lock alone"),
    (
        "downgrade",
        "a writer that becomes a reader lets readers in, and no writer before it unlocks",
    ),
    ("mutex-timed", "a mutex waiter that times out leaves the lock as it was"),
    ("mutex-fair", "unlock_fair hands the mutex to the thread that has slept longest"),
    ("condvar", "each notification reaches a waiter, and no waiter sleeps for ever"),
    ("condvar-timed", "waits on a condition variable that time out lose no notification"),
    ("condvar-deadline", "a timed wait on a condition variable ends, even without a queue node"),
    ("condvar-exact", "notify_one wakes exactly one waiter"),
    (
        "neighbours",
        "two mutexes whose sleepers share a bucket of the sleep table do not disturb each other",
    ),
    ("last-user", "the thread that takes the mutex last may free it"),
    ("osq-leave", "waiters that leave the queue of optimistic spinners leave it intact"),
    ("qrwlock-reads-again", "an urgent reader may read again while a writer waits"),
    ("semaphore-timed", "a semaphore waiter that times out takes no permit"),
    ("semaphore-full", "a semaphore counts up to its limit and no further"),
    ("semaphore-makers", "permits that several threads release all arrive"),
    ("semaphore-last-permit", "the thread that takes the last permit may free the semaphore"),
    ("seqlock-pair", "a reader of a sequence lock never sees half of a write"),
    ("rwlock-timed-writer", "a writer that times out leaves the reader-writer lock as it was"),
    ("rwlock-timed-reader", "a reader that times out leaves the reader-writer lock as it was"),
    ("rwlock-last-user", "the thread that takes the reader-writer lock last may free it"),
    ("rwlock-again", "a reader may read again while a writer waits"),
    ("rwlock-out-of-order", "read guards may be dropped in another order than they were taken"),
    ("rwlock-depth", "nested reads work up to the limit and beyond"),
    ("rwsem-last-round", "the end of a burst of writers leaves no sleeper behind"),
    ("rwsem-last-mixed-round", "the same for a burst of readers and writers"),
    ("rwsem-timed-writer", "a semaphore writer that times out leaves no waiter asleep"),
    ("rwsem-timed-reader", "a semaphore reader that times out leaves no waiter asleep"),
    (
        "rwsem-interrupted-writer",
        "a semaphore writer that a signal interrupts leaves no waiter asleep",
    ),
    (
        "rwsem-interrupted-reader",
        "a semaphore reader that a signal interrupts leaves no waiter asleep",
    ),
    ("rwsem-overflow", "readers beyond the limit wait instead of overflowing the count"),
    ("rwsem-handoff", "a waiter for which the semaphore is reserved is not overtaken"),
    (
        "reused-by-mutex",
        "a freed lock's memory may become a mutex while the last unlock is still running",
    ),
    ("reused-by-condvar", "the same, with a condition variable in that memory"),
    ("reused-by-semaphore", "the same, with a semaphore"),
    ("reused-by-rwlock", "the same, with a reader-writer lock"),
    ("reused-by-rwlock-fair", "the same, with a fair reader-writer lock"),
    ("reused-by-percpu-rwlock", "the same, with a per-CPU reader-writer lock"),
    ("reused-by-spinlock", "the same, with a spinlock"),
    ("reused-by-qrwlock", "the same, with a queued reader-writer lock"),
    (
        "condvar-reused-by-mutex",
        "a freed condition variable's memory may become a mutex during a notification",
    ),
    ("condvar-reused-by-condvar", "the same, with another condition variable"),
    ("condvar-reused-by-semaphore", "the same, with a semaphore"),
    ("condvar-reused-by-rwlock", "the same, with a reader-writer lock"),
    ("condvar-reused-by-rwlock-fair", "the same, with a fair reader-writer lock"),
    ("condvar-reused-by-percpu-rwlock", "the same, with a per-CPU reader-writer lock"),
    ("condvar-reused-by-spinlock", "the same, with a spinlock"),
    ("condvar-reused-by-qrwlock", "the same, with a queued reader-writer lock"),
    ("forgotten", "a guard that is never dropped keeps its own lock taken and no other"),
    ("moved", "a guard may be dropped by another thread"),
    ("handler", "a signal handler may try the lock that its thread is taking or holding"),
    ("handler-timed", "a signal handler may wait for that lock with a deadline"),
    ("semaphore-handler", "a signal handler may release a semaphore's permits"),
    ("condvar-handler", "a signal handler may notify"),
    ("fork", "a forked child may use a lock that its parent's threads were using"),
    ("condvar-fork", "a forked child may notify on a condition variable of its parent"),
    ("semaphore-fork", "a forked child may use a semaphore of its parent"),
];

/// The names of the clients.
pub fn client_names() -> impl Iterator<Item = &'static str> {
    CLIENTS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_described_once() {
        let mut all: Vec<_> = lockwright_clients::clients()
            .chain(lockwright_clients::disturbed_clients().iter().copied())
            .collect();
        all.sort_unstable();
        all.dedup();
        let mut described: Vec<_> = client_names().collect();
        described.sort_unstable();
        assert_eq!(described, all);
    }
}

//! The test clients in words.

/// A client, and what it checks.
type Client = (&'static str, &'static str);

/// Every client of `explore`.
pub const CLIENTS: &[Client] = &[
    (
        "exclusion",
        "two threads never hold the lock at once, and each owner sees what the owner before it wrote",
    ),
    ("try-lock", "a try-lock that succeeds owns the lock, and one that fails leaves it alone"),
    (
        "is-locked",
        "of two threads that each hold a lock and ask about the other's, at least one sees it held",
    ),
    ("shared", "a reader shares the lock with readers only, and sees the last writer's writes"),
    (
        "try-shared",
        "an attempt to read that succeeds keeps writers out, and one that fails leaves the lock alone",
    ),
    (
        "downgrade",
        "a writer that becomes a reader lets readers in, and no writer before it unlocks",
    ),
    ("mutex-timed", "no thread sleeps for ever behind a mutex waiter that has timed out"),
    ("mutex-fair", "unlock_fair hands the mutex over to one thread, and no waiter sleeps for ever"),
    ("condvar", "each notification reaches a waiter, and no waiter sleeps for ever"),
    (
        "condvar-promise",
        "each wait that ends has a notification of its own, which was not over when it began, and none is lost",
    ),
    (
        "condvar-unheld",
        "a notification by a thread that has held no mutex reaches waiters with several mutexes",
    ),
    (
        "condvar-one-place",
        "no item stays while a thread waits for one, if no later notification makes up for a lost one",
    ),
    (
        "condvar-all",
        "no waiter sleeps for ever if all are notified, and then some of them one by one",
    ),
    (
        "condvar-mutexes",
        "no waiter sleeps for ever if waiters of one condition variable have mutexes of their own",
    ),
    ("condvar-left", "a notification that is left to a release of the mutex reaches its waiter"),
    (
        "condvar-left-to-waiter",
        "a notification that is left to a thread which waits for the mutex reaches its waiter, even if that thread gives up",
    ),
    (
        "condvar-another-mutex",
        "no notification is left to a mutex that other waiters had, and that is no longer used",
    ),
    ("condvar-timed", "no notification goes to a condition variable's waiter that has timed out"),
    (
        "condvar-deadline",
        "a timed wait that is never notified ends, not before its deadline and with the mutex held",
    ),
    ("neighbours", "each sleeper gets its mutex, even if two mutexes share a mark"),
    (
        "last-user",
        "the last owner of a mutex may free it, even if the unlock before has not returned yet",
    ),
    ("osq-leave", "waiters that leave the queue of optimistic spinners leave it intact"),
    ("spin-timed", "no thread waits for ever behind a spinlock's waiter that has timed out"),
    (
        "resilient-held",
        "a thread that takes a resilient spinlock which it holds is told so, and no other thread is",
    ),
    (
        "resilient-crossed",
        "threads that take two resilient spinlocks in different orders do not wait for ever",
    ),
    (
        "resilient-never-crossed",
        "a resilient spinlock reports no deadlock where no two threads wait for each other",
    ),
    (
        "resilient-handler",
        "a signal handler that takes the resilient spinlock of its thread is told so at once",
    ),
    (
        "two-kinds",
        "a late wake-up for one lock is none for a lock of another kind that has the queue node now",
    ),
    (
        "qrwlock-reads-again",
        "a reader may read again, as an interrupt handler does, while a writer waits",
    ),
    ("hq-by-node", "as exclusion, on a lock hq whose waiters queue by NUMA node from the start"),
    (
        "hq-late",
        "the same, where threads came when the lock was in queued mode, and join a queue later",
    ),
    (
        "hq-shared-metadata",
        "the same with two such locks that use the same metadata, one after the other",
    ),
    (
        "semaphore-timed",
        "a semaphore waiter that times out takes no permit and leaves no thread asleep",
    ),
    ("semaphore-full", "a semaphore counts up to its limit and no further"),
    (
        "semaphore-makers",
        "a thread that acquires the permits of several threads sees what each of them wrote",
    ),
    (
        "semaphore-last-permit",
        "the thread that takes the last permit may free the semaphore, even before the release returns",
    ),
    (
        "seqlock-pair",
        "a reader of a sequence lock sees neither half of a write nor an older one than before",
    ),
    (
        "once-call",
        "one thread does it once, and those that call and those that wait see what it did",
    ),
    (
        "once-give-up",
        "a thread that gives up lets another one do it, and keeps no thread waiting for ever",
    ),
    (
        "once-freed",
        "a thread that finds it done may free it, even if the call that did it has not returned",
    ),
    (
        "barrier-meet",
        "threads meet again and again, see what all did before, and one of them is the leader",
    ),
    (
        "barrier-groups",
        "more threads than take part go on in groups, none before its group is complete",
    ),
    ("rwlock-timed-writer", "no thread waits for ever behind a writer that has timed out"),
    ("rwlock-timed-reader", "no thread waits for ever behind a reader that has timed out"),
    ("rwlock-group", "readers that wait for the same writer all come in, and see what it wrote"),
    (
        "rwlock-last-reader",
        "what all readers have read comes before the next write, not only what the last one has",
    ),
    (
        "rwlock-last-user",
        "the last owner of a reader-writer lock may free it, even if the unlock before has not returned",
    ),
    ("rwlock-upgrade", "a reader becomes the writer, and no thread writes in between"),
    (
        "rwlock-upgrade-timed",
        "no thread waits for ever behind a reader that has given up to become the writer",
    ),
    ("rwlock-again", "a reader may read again while a writer waits"),
    (
        "rwlock-overlap",
        "readers without end pass a writer that waits only until it has closed the door",
    ),
    (
        "rwlock-overlap-upgrade",
        "readers without end do not pass a reader that waits to become the writer",
    ),
    (
        "mutex-overlap",
        "owners without end pass a thread that waits only until it has reserved the mutex",
    ),
    ("semaphore-overlap", "threads without end do not pass one that waits for all permits"),
    ("rwlock-out-of-order", "read guards may be dropped in another order than they were taken"),
    (
        "rwlock-depth",
        "nested reads keep writers out, up to the limit of readers; beyond it an attempt fails",
    ),
    ("rwsem-last-round", "the end of a burst of writers leaves no sleeper behind"),
    ("rwsem-timed-writer", "no thread waits for ever behind an rwsem writer that has timed out"),
    ("rwsem-timed-reader", "no thread waits for ever behind an rwsem reader that has timed out"),
    (
        "rwsem-interrupted-writer",
        "an interrupted rwsem writer sees what was written before, and leaves no waiter asleep",
    ),
    (
        "rwsem-overflow",
        "no writer gets an rwsem that has readers, even if more try to read than it can count",
    ),
    ("rwsem-handoff", "no thread overtakes a waiter for which the rwsem is reserved"),
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
    (
        "forgotten",
        "a guard that is never dropped keeps its lock taken, and not a later lock at the same address",
    ),
    ("moved", "a guard may be dropped by another thread"),
    ("handler", "a signal handler may try the lock that its thread is taking or holding"),
    ("handler-timed", "a signal handler may wait for the lock of its thread with a deadline"),
    (
        "semaphore-handler",
        "a signal handler may release and acquire permits of the semaphore that its thread uses",
    ),
    ("condvar-handler", "a signal handler may notify a condition variable that its thread uses"),
    ("once-call-handler", "a signal handler may ask if a once is done that its thread is calling"),
    (
        "seqlock-pair-handler",
        "a signal handler may try to read the sequence lock that its thread is writing or reading",
    ),
    (
        "rwlock-upgrade-handler",
        "a signal handler may try the lock that its thread is upgrading or downgrading",
    ),
    (
        "rwlock-upgrade-timed-handler",
        "a signal handler may try the lock whose upgrade its thread gives up",
    ),
    (
        "slots-fork",
        "each thread of a forked child has a slot of its own to read in, and none of a gone thread",
    ),
    ("fork", "a forked child may use a lock that its parent's threads were using"),
    (
        "mutex-fork",
        "a mutex that is given to a thread of a forked child is for that thread, and for no gone one",
    ),
    (
        "condvar-fork",
        "a forked child has no other waiters to notify, and its own waits end at their deadlines",
    ),
    (
        "semaphore-fork",
        "a forked child may acquire the permits that no thread of its parent had, and no more",
    ),
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
        let mut all: Vec<_> = lockwright_clients::clients::<lockwright_sim::Sim>()
            .chain(lockwright_clients::disturbed_clients().iter().copied())
            .collect();
        all.sort_unstable();
        all.dedup();
        let mut described: Vec<_> = client_names().collect();
        described.sort_unstable();
        assert_eq!(described, all);
    }
}

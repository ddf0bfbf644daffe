//! The events that locks count, such as acquisitions through the queue.
//!
//! A program on Linux turns counting on with [`native::count_events`](crate::native::count_events) and reads a counter
//! with [`native::event_count`](crate::native::event_count). While counting is off, an event costs one predictable
//! branch.
//!
//! An event has the kernel's name (`lock_event_counts`) if it means what it means in the kernel. The names of other
//! events do not begin as the kernel's do (`lock_`, `pv_`, `rqspinlock_`, `rwsem_`). For example, those of the
//! NUMA-aware locks begin with `cna_` or `hq_`.

// An event is added to the table below and nowhere else: the table makes the enum, the names and the descriptions.
macro_rules! lock_events {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// Something that a lock does and counts.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(usize)]
        pub enum Event { $($(#[doc = $doc])+ $name,)+ }

        impl Event {
            /// All events, in the order of their definition.
            pub const ALL: &[Event] = &[$(Event::$name,)+];
            /// Returns the name under which the event is reported.
            pub const fn name(self) -> &'static str {
                match self { $(Event::$name => stringify!($name),)+ }
            }
            /// Returns a description of one or two sentences.
            pub fn describe(self) -> &'static str {
                match self { $(Event::$name => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}

impl Event {
    /// Returns the event by whose count this event's sum is divided to get an average. Returns `None` if this event is
    /// not a sum.
    pub const fn per(self) -> Option<Event> {
        match self {
            Self::pv_hash_hops | Self::pv_latency_kick => Some(Self::pv_kick_unlock),
            Self::pv_latency_wake => Some(Self::pv_kick_wake),
            _ => None,
        }
    }
}

lock_events! {
    /// Acquisitions by the one waiter that needs no queue (through the pending bit).
    lock_pending,
    /// Attempts that come to the queue. Locks whose waiters spin count them before the thread takes a node and tries
    /// the lock once more; locks whose waiters sleep, when it has become the head.
    lock_slowpath,
    /// Times a thread took the second queue node of its CPU (one level of nesting), before it tries the lock once more
    /// or steals it.
    lock_use_node2,
    /// The same with the third queue node (two levels of nesting).
    lock_use_node3,
    /// The same with the fourth queue node (three levels of nesting).
    lock_use_node4,
    /// Waiters without a queue node, because all were in use or the thread has left one in a queue.
    lock_no_node,
    /// Heads of a queue of spinning waiters that found the lock held or pending at their first look.
    head_found_busy,
    /// Heads of a queue of spinning waiters that found it free, so that they had no time to look for a successor.
    head_found_free,
    /// Waiters of a resilient spinlock that gave up in a time-out or a deadlock: pending, without a node, or in a queue
    /// that dissolves.
    rqspinlock_lock_timeout,
    /// Buckets searched in the lock hash, summed over all entries; divided by `pv_kick_unlock`, an average.
    pv_hash_hops,
    /// Wake-ups that were sent when a lock was released.
    pv_kick_unlock,
    /// Wake-ups that found their waiter asleep.
    pv_kick_wake,
    /// Nanoseconds that sending wake-ups took the senders. A sum; divided by `pv_kick_unlock`, an average.
    pv_latency_kick,
    /// Nanoseconds from a wake-up until its waiter runs. A sum; divided by `pv_kick_wake`, an average.
    pv_latency_wake,
    /// Acquisitions by newly arriving threads in front of the queue, also of an empty one (lock stealing).
    pv_lock_stealing,
    /// Times a waiter woke up in the middle of the queue, before it had become the head.
    pv_spurious_wakeup,
    /// Of `pv_wait_head`, those after the first of a head: the lock was stolen from it.
    pv_wait_again,
    /// Times a waiter went to sleep early, because the waiter in front of it was not running.
    pv_wait_early,
    /// Times the head of the queue had spun for long enough and went to sleep. As in the kernel, a head that was woken
    /// and spins again without success is counted again, if it goes back to sleep or not.
    pv_wait_head,
    /// Times a waiter behind the head of the queue went to sleep.
    pv_wait_node,
    /// Times a waiter of a mutex or a condition variable went to sleep.
    mutex_sleep,
    /// Attempts to wake a thread that sleeps for a mutex or waits on a condition variable.
    mutex_wake,
    /// Fair unlocks that gave a mutex to a waiter.
    mutex_handoff,
    /// Timed waits that timed out (mutex or condition variable).
    mutex_timeout,
    /// Notifications that moved waiters from a condition variable to their mutex.
    condvar_requeue,
    /// Notifications that found the mutex held and left it to its release to wake the thread.
    condvar_leave,
    /// Times a waiter of a reader-writer lock went to sleep.
    rwlock_sleep,
    /// Wake-ups that were sent to waiters of a reader-writer lock.
    rwlock_wake,
    /// Readers that were granted a reader-writer lock while they slept, with the first of them.
    rwlock_admit,
    /// Times a reader-writer lock was reserved for its first waiter.
    rwlock_keep,
    /// Times a reader overtook a writer for which the reader-writer lock was reserved, because the reader might
    /// have held it already.
    rwlock_pass,
    /// Timed waits for a reader-writer lock that timed out.
    rwlock_timeout,
    /// Times the readers of a per-CPU reader-writer lock began to use memory of their own threads.
    percpu_rwlock_on,
    /// Times a writer ended that.
    percpu_rwlock_off,
    /// Times a waiter of a semaphore went to sleep.
    semaphore_sleep,
    /// Waiters of a semaphore that were given their permits by the thread that released them.
    semaphore_handoff,
    /// Timed waits for a semaphore that timed out.
    semaphore_timeout,
    /// Times a thread that waited for the closure of a `Once` went to sleep.
    once_sleep,
    /// Times a thread that waited at a barrier went to sleep.
    barrier_sleep,
    /// Barriers that interrupted every CPU that runs the process (membarrier).
    heavy_barrier,
    /// Times a waiting reader of a reader-writer semaphore went to sleep.
    rwsem_sleep_reader,
    /// Times a waiting writer of a reader-writer semaphore went to sleep.
    rwsem_sleep_writer,
    /// Groups of waiting readers that were given a reader-writer semaphore together.
    rwsem_wake_reader,
    /// Wake-ups that were sent to a waiting writer of a reader-writer semaphore.
    rwsem_wake_writer,
    /// Acquisitions by writers that spun, where only writers may spin.
    rwsem_opt_lock,
    /// Acquisitions by writers that spun, where readers may spin, too, and under older policies.
    rwsem_opt_wlock,
    /// Acquisitions by readers that spun.
    rwsem_opt_rlock,
    /// Acquisitions by readers that spun without success, and then found that readers held the lock.
    rwsem_opt_rlock2,
    /// Times a thread did not spin, or spun without success.
    rwsem_opt_fail,
    /// Times a writer had spun on readers for long enough, and stopped all threads from spinning.
    rwsem_opt_nospin,
    /// Times a waiter that had found a flag got the lock and set the flag about readers again: a writer from the list
    /// of waiters, or the first of readers that were granted together.
    rwsem_opt_norspin,
    /// Acquisitions by readers from the list of waiters.
    rwsem_rlock,
    /// Acquisitions by newly arriving readers that overtook the waiters (lock stealing).
    rwsem_rlock_steal,
    /// Acquisitions by readers that were about to queue and found no waiter.
    rwsem_rlock_fast,
    /// Waits of readers in the list that timed out or were interrupted.
    rwsem_rlock_fail,
    /// Times a reader-writer semaphore got its handoff bit for a waiting reader.
    rwsem_rlock_handoff,
    /// Acquisitions by writers from the list of waiters.
    rwsem_wlock,
    /// Waits of writers in the list that timed out or were interrupted.
    rwsem_wlock_fail,
    /// Times a writer that waits for a reader-writer semaphore set its handoff bit; until 5.15, decided to.
    rwsem_wlock_handoff,
    /// Nanoseconds that threads which woke others waited for `wait_lock` of a reader-writer semaphore.
    wait_lock_wake_ns,
    /// Nanoseconds that readers which queued or gave up waited for `wait_lock` of a reader-writer semaphore.
    wait_lock_read_ns,
    /// Nanoseconds that writers which queued or slept waited for `wait_lock` of a reader-writer semaphore.
    wait_lock_write_ns,
    /// Waiters moved from the primary to the secondary queue, because they are on another NUMA node.
    cna_set_aside,
    /// Times the secondary queue was put back in front: the threshold was reached, or no waiter of the preferred
    /// NUMA node was left.
    cna_flush,
    /// Of these, the times at which the threshold was reached.
    cna_flush_threshold,
    /// Handoffs to a waiter on the preferred NUMA node.
    cna_handoff_local,
    /// Handoffs to a waiter on another NUMA node.
    cna_handoff_remote,
    /// Handoffs to a waiter whose NUMA node was not looked at.
    cna_handoff_unseen,
    /// Waiters looked at in search of one on the preferred NUMA node.
    cna_scanned,
    /// Times a hierarchical lock turned to one queue for each NUMA node (HQ mode).
    hq_mode_on,
    /// Times it did not, because another lock used the metadata that its address stands for.
    hq_mode_refused,
    /// Handoffs within the queue of a NUMA node, in HQ mode.
    hq_handoff_local,
    /// Handoffs to another queue, in HQ mode.
    hq_handoff_remote,
    /// Times the first queue got its turn because it had been left out for too long.
    hq_first_due,
    /// Times a thread exchanged the tail of a hierarchical lock that had left queued mode, and repaired it.
    hq_late,
}

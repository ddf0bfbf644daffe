//! The one table of lock events.
//!
//! An event is added here and nowhere else: the table yields the enum, the names and the
//! descriptions. Names are the kernel's (`lock_event_counts`) where the meaning is the kernel's;
//! events of CNA, which has none there, are our own and start with `cna_`. A platform where nobody
//! counts compiles them away or pays one predictable branch.

macro_rules! lock_events {
    ($($(#[doc = $doc:literal])+ $name:ident,)+) => {
        /// Something a lock did that is worth counting.
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(usize)]
        pub enum Event { $($(#[doc = $doc])+ $name,)+ }

        impl Event {
            /// Every event, in the order of the table.
            pub const ALL: &[Event] = &[$(Event::$name,)+];
            /// The name it is reported under.
            pub const fn name(self) -> &'static str {
                match self { $(Event::$name => stringify!($name),)+ }
            }
            /// One sentence: what is counted.
            pub fn describe(self) -> &'static str {
                match self { $(Event::$name => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}

impl Event {
    /// For a counter that holds a sum: the counter by which it is divided to give the average that
    /// its name stands for.
    pub const fn per(self) -> Option<Event> {
        match self {
            Self::pv_hash_hops | Self::pv_latency_kick => Some(Self::pv_kick_unlock),
            Self::pv_latency_wake => Some(Self::pv_kick_wake),
            _ => None,
        }
    }
}

lock_events! {
    /// Acquisitions through the pending bit.
    lock_pending,
    /// Acquisitions through the queue: counted at its entry, or, where waiters sleep, by its head
    /// (queued mode).
    lock_slowpath,
    /// Queue entries that used the second node of their CPU (one level of nesting).
    lock_use_node2,
    /// Queue entries that used the third node of their CPU.
    lock_use_node3,
    /// Queue entries that used the fourth node of their CPU.
    lock_use_node4,
    /// Acquisitions without a queue node, because none was left.
    lock_no_node,
    /// Places looked at in the lock hash, per entry made in it. A sum; see `Event::per`.
    pv_hash_hops,
    /// Kicks sent by the release of a lock.
    pv_kick_unlock,
    /// Kicks that found their waiter asleep.
    pv_kick_wake,
    /// Nanoseconds that a kick takes the one who sends it. A sum; see `Event::per`.
    pv_latency_kick,
    /// Nanoseconds from a kick until its waiter runs. A sum; see `Event::per`.
    pv_latency_wake,
    /// Acquisitions past the queue by a newcomer (unfair mode).
    pv_lock_stealing,
    /// Times a waiter that is not the head of the queue woke up without having become it.
    pv_spurious_wakeup,
    /// Times the head of the queue went to sleep again after a kick.
    pv_wait_again,
    /// Times a waiter went to sleep early, because its predecessor was not running.
    pv_wait_early,
    /// Times the head of the queue went to sleep.
    pv_wait_head,
    /// Times a waiter that is not the head of the queue went to sleep.
    pv_wait_node,
    /// Times a waiter of a mutex or condition variable went to sleep.
    mutex_sleep,
    /// Wake-ups sent by the release of a mutex.
    mutex_wake,
    /// Acquisitions of a mutex by a waiter to which its owner handed it over.
    mutex_handoff,
    /// Timed waits for a mutex or a condition variable that ended in vain.
    mutex_timeout,
    /// Waiters moved from a condition variable to its mutex.
    condvar_requeue,
    /// Times a waiter of a reader-writer lock went to sleep.
    rwlock_sleep,
    /// Wake-ups of waiters of a reader-writer lock.
    rwlock_wake,
    /// Times a reader-writer lock was kept for its first waiter.
    rwlock_keep,
    /// Times a reader of a reader-writer lock passed a writer for which it was kept: it might have been a reader already.
    rwlock_pass,
    /// Timed waits for a reader-writer lock that ended in vain.
    rwlock_timeout,
    /// Times readers of a per-CPU reader-writer lock began to use slots.
    percpu_rwlock_on,
    /// Times a writer ended that.
    percpu_rwlock_off,
    /// Times a waiter for a semaphore for programs went to sleep.
    semaphore_sleep,
    /// Waiters for such a semaphore that were granted their permits.
    semaphore_handoff,
    /// Timed waits for such a semaphore that ended in vain.
    semaphore_timeout,
    /// Barriers that interrupted every CPU that ran the process.
    heavy_barrier,
    /// Times a waiting reader of a semaphore went to sleep.
    rwsem_sleep_reader,
    /// Times a waiting writer of a semaphore went to sleep.
    rwsem_sleep_writer,
    /// Groups of readers of a semaphore that were granted it together.
    rwsem_wake_reader,
    /// Wake-ups of a writer that waits for a semaphore.
    rwsem_wake_writer,
    /// Acquisitions by writers that spun.
    rwsem_opt_lock,
    /// Acquisitions by writers that spun, under policies where readers may spin, too, and older ones.
    rwsem_opt_wlock,
    /// Acquisitions by readers that spun.
    rwsem_opt_rlock,
    /// Acquisitions by readers that had spun in vain and found other readers there.
    rwsem_opt_rlock2,
    /// Times a thread did not spin, or did so in vain.
    rwsem_opt_fail,
    /// Times a writer had spun on readers for long enough and asked everybody not to spin.
    rwsem_opt_nospin,
    /// Times readers were kept from spinning anew, by one that had waited.
    rwsem_opt_norspin,
    /// Acquisitions by readers from the wait list.
    rwsem_rlock,
    /// Acquisitions by readers past those who wait.
    rwsem_rlock_steal,
    /// Acquisitions by readers that were about to queue and found nobody there.
    rwsem_rlock_fast,
    /// Waits of readers that ended in vain.
    rwsem_rlock_fail,
    /// Times a semaphore was kept for a reader.
    rwsem_rlock_handoff,
    /// Acquisitions by writers from the wait list.
    rwsem_wlock,
    /// Waits of writers that ended in vain.
    rwsem_wlock_fail,
    /// Times a semaphore was kept for a writer.
    rwsem_wlock_handoff,
    /// Nanoseconds for which releases, and readers that woke others, waited for the internal lock.
    rwsem_wait_lock_wake_ns,
    /// Nanoseconds for which readers that queued or gave up waited for the internal lock.
    rwsem_wait_lock_read_ns,
    /// Nanoseconds for which writers that queued or waited did so for the internal lock.
    rwsem_wait_lock_write_ns,
    /// Waiters moved from the primary to the secondary queue.
    cna_set_aside,
    /// Times the secondary queue was put back in front, because the threshold was reached or
    /// nobody of the preferred node was left.
    cna_flush,
    /// Flushes forced by the threshold alone.
    cna_flush_threshold,
    /// Queue handoffs to a waiter of the preferred NUMA node.
    cna_handoff_local,
    /// Queue handoffs to a waiter that is not of the preferred NUMA node.
    cna_handoff_remote,
    /// Queue handoffs to a waiter whose NUMA node was not looked at.
    cna_handoff_unseen,
    /// Waiters looked at while looking for one of the same NUMA node.
    cna_scanned,
}

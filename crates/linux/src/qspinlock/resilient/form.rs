//! The forms of the lock: Linux 6.15, what changed until 6.19, the lock of guests, and the lock of programs. A form is
//! the knob of [`RawResilientSpinLock`](super::RawResilientSpinLock). Where a form says nothing, it is as Linux 6.19.

use core::sync::atomic::Ordering::Release;
use core::sync::atomic::compiler_fence;

/// A reason for which the lock was not taken. To the kernel all but the last two are deadlocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquireError {
    /// The caller holds the lock (AA).
    Held,
    /// A deadlock of two threads (ABBA): the other one holds the lock and waits for one that the caller holds.
    Crossed {
        /// The number of the other thread's table.
        other: usize,
        /// The name of the lock for which that thread waits.
        wanted: u64,
    },
    /// The kernel's word for a waiter that has looked for no deadlock itself: the head of its queue gave up (Linux
    /// 6.15), or it had no node (Linux 6.19).
    Deadlock,
    /// The time was over.
    TimedOut,
    /// The head of the queue gave up, and with it all waiters behind it ([`InPrograms`]).
    Dissolved,
}

/// A form of the lock.
pub trait Form: Send + Sync + 'static {
    /// True if the table of a thread has the lock before the exchange that may take it, and until its release is done.
    /// Otherwise the entry is made after the exchange and cleared before the release.
    const COVERS_LOCK: bool = true;
    /// True if an entry says that its thread waits, and other threads believe only that. Then locks may be attempted
    /// and released in any order.
    const MARKS_WAITERS: bool = false;
    /// True if a waiter looks in its own table at its first check and before it queues, and not again.
    const ASKS_AT_ONCE: bool = true;
    /// The way of an interrupt that cannot be masked.
    const UNMASKABLE: Unmaskable = Unmaskable::QueuesFirst;
    /// True if a thread without a node makes one attempt, and takes its failure for a deadlock.
    const TRIES_ONCE: bool = true;
    /// True if the queue dissolves when its head finds a deadlock. Otherwise the next waiter is the head.
    const DEADLOCK_DISSOLVES: bool = false;
    /// What the waiters behind the head of a queue that dissolves are told.
    const DISSOLVED: AcquireError = AcquireError::TimedOut;
    /// True if waiters compete for the word and never queue.
    const IN_GUEST: bool = false;
}

/// Which interrupts that cannot be masked may queue. The others go the way of a thread without a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmaskable {
    /// All of them.
    Queues,
    /// None.
    Competes,
    /// Those that have not interrupted a waiter.
    QueuesFirst,
}

/// The form of Linux 6.15, and with `COMPETES` that of September 2025, in which an interrupt that cannot be masked does
/// not queue.
#[derive(Clone, Copy, Debug)]
pub enum Linux6_15<const COMPETES: bool = false> {}

impl<const COMPETES: bool> Form for Linux6_15<COMPETES> {
    const COVERS_LOCK: bool = false;
    const ASKS_AT_ONCE: bool = false;
    const UNMASKABLE: Unmaskable = if COMPETES { Unmaskable::Competes } else { Unmaskable::Queues };
    const TRIES_ONCE: bool = false;
    const DEADLOCK_DISSOLVES: bool = true;
    const DISSOLVED: AcquireError = AcquireError::Deadlock;
}

/// The form of Linux 6.19, after the changes of October 2025 to January 2026.
#[derive(Clone, Copy, Debug)]
pub enum Linux6_19 {}

impl Form for Linux6_19 {}

/// As [`Linux6_19`], in a guest in which plain spinlocks are test-and-set locks, too.
#[derive(Clone, Copy, Debug)]
pub enum Guest6_19 {}

impl Form for Guest6_19 {
    const IN_GUEST: bool = true;
}

/// The form of `ResilientSpinLock`, which no kernel has. A thread without a node competes until its time is over, and
/// the queue dissolves in a deadlock, too.
#[derive(Clone, Copy, Debug)]
pub enum InPrograms {}

impl Form for InPrograms {
    const MARKS_WAITERS: bool = true;
    const UNMASKABLE: Unmaskable = Unmaskable::Queues;
    const TRIES_ONCE: bool = false;
    const DEADLOCK_DISSOLVES: bool = true;
    const DISSOLVED: AcquireError = AcquireError::Dissolved;
}

/// Keeps earlier writes of the caller before its later writes, for handlers that interrupt it.
#[inline(always)]
pub(super) fn keep_in_order() {
    // ordering: Release; E1.
    compiler_fence(Release);
}

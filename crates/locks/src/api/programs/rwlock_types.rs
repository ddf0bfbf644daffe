//! The types of reader-writer locks, on `lock_api` 0.4.

use crate::api::Sendable;
use crate::native::Native;
use crate::{percpu_rwlock, rwlock};
use lockwright_core::glue::v04 as lock_api;
use lockwright_core::rwlock_part_types;

/// A value behind a reader-writer lock: one writer, or many readers at the same time. A thread that has to wait
/// spins for some microseconds and then sleeps.
///
/// # Examples
///
/// ```
/// use lockwright::{RwLock, RwLockWriteGuard};
///
/// static WORDS: RwLock<Vec<&str>> = RwLock::new(Vec::new());
///
/// let mut words = WORDS.write();
/// words.push("lock");
/// // Other threads may read from here on, and no thread writes in between.
/// let words = RwLockWriteGuard::downgrade(words);
/// // A reader may read again, even if a writer waits.
/// assert_eq!(*WORDS.read(), *words);
/// assert!(WORDS.try_write_for(std::time::Duration::from_millis(1)).is_none());
/// ```
///
/// # Methods
///
/// The methods are those of [`lock_api::RwLock`]. `R` is `RwLockReadGuard<'_, T>`, and `W` is
/// `RwLockWriteGuard<'_, T>`.
///
/// - `const fn new(value: T) -> RwLock<T>`: creates an unlocked lock.
/// - `read(&self) -> R`: takes the lock together with other readers, and waits for it.
/// - `write(&self) -> W`: takes the lock alone, and waits for it.
/// - `try_read(&self) -> Option<R>` and `try_write(&self) -> Option<W>`: never wait.
/// - `try_read_for(&self, Duration) -> Option<R>` and `try_write_for(&self, Duration) -> Option<W>`: wait no
///   longer than that.
/// - `try_read_until(&self, Instant) -> Option<R>` and `try_write_until(&self, Instant) -> Option<W>`: wait
///   until then at the latest.
/// - `upgradable_read(&self) -> U`, where `U` is `RwLockUpgradableReadGuard<'_, T>`: reads together with other
///   readers, as the one reader that may become the writer. `try_upgradable_read`, `try_upgradable_read_for`
///   and `try_upgradable_read_until` as above.
/// - `read_recursive(&self) -> R` and `try_read_recursive(&self) -> Option<R>`: as `read` and `try_read`, for a
///   thread that may hold a read lock already. They do not wait for a writer that waits. With time-outs:
///   `try_read_recursive_for` and `try_read_recursive_until`.
/// - `is_locked(&self) -> bool`: returns `true` if a thread holds the lock. `is_locked_exclusive` returns `true` if a
///   writer does.
/// - `get_mut(&mut self) -> &mut T` and `into_inner(self) -> T`: give the value, without locking.
///
/// The guards are [`lock_api::RwLockReadGuard`] and [`lock_api::RwLockWriteGuard`]. They have these functions:
///
/// - `RwLockWriteGuard::downgrade(guard) -> R`: makes the writer a reader; no other writer comes in between.
/// - `RwLockUpgradableReadGuard::upgrade(guard) -> W`: waits for the other readers and makes the reader the
///   writer; no thread writes in between. `try_upgrade`, `try_upgrade_for` and `try_upgrade_until` return the
///   guard in `Err` if there are other readers. `downgrade(guard) -> R`: goes on as one of the readers.
///   `RwLockWriteGuard::downgrade_to_upgradable(guard) -> U`: makes the writer such a reader.
/// - `RwLockReadGuard::unlock_fair(guard)`, and the same function of the other guards: unlocks for the thread that has
///   waited longest, if one sleeps. `bump(&mut guard)` does that, and takes the lock again.
/// - `RwLockReadGuard::map(guard, FnOnce(&T) -> &U) -> MappedRwLockReadGuard<'_, U>` and
///   `RwLockWriteGuard::map(guard, FnOnce(&mut T) -> &mut U) -> MappedRwLockWriteGuard<'_, U>`: return a guard of a
///   part of the value.
/// - `RwLockReadGuard::unlocked(&mut guard, FnOnce() -> U) -> U` and the same function of the write guard: run a
///   closure while the lock is not held.
///
/// # Memory ordering
///
/// A writer sees what the last writer did, and that the readers since then have finished. A reader sees what
/// the last writer did. `is_locked` orders nothing.
///
/// # Fairness
///
/// A thread that comes when the lock is free takes it, even if others sleep for it, and a thread that reads joins the
/// readers. That makes the lock fast. The others wait in the order of their arrival, and the first of them is woken
/// each time the lock becomes free. The lock is reserved for it if it still finds the lock held after 4 ms, and for a
/// writer that has waited for 4 ms while readers hold the lock. Then threads that come queue behind it. If it has no
/// CPU for 50 us while the lock is free, another thread may take the lock. An attempt may take it at any time:
/// `try_write` and `try_read` cannot wait. So they take a free lock even if it is reserved, and it stays reserved.
/// While readers hold the lock, `try_read` fails only if it is reserved for a writer, or a writer spins.
///
/// When a reader that waited gets the lock, all readers that wait get it, past the writers between them. Where
/// sections take 20 us or longer, writers and readers take turns: the writers that wait when the last reader
/// leaves, and then all readers that wait.
///
/// A reader that upgrades waits in front of all other threads, for the readers that hold the lock.
///
/// A thread may call `read` while it reads, even if a writer waits: it knows the locks that it reads, up to
/// eight at a time. A thread that has ever read more than eight at a time waits for 10 ms first.
///
/// **Bound.** A thread that waits gets the lock after the sections of the threads that hold it or are served
/// before it, with at most one phase of readers between two writers, plus 10 ms, plus the time until a thread
/// that is woken runs. On a busy machine that last part is the longest. There is no bound next to threads that
/// take the lock again and again by attempts or by `read_recursive`, or that have ever read more than eight
/// locks at a time and hold this one for longer than 10 ms.
///
/// # Time-outs
///
/// As for [`Mutex`](crate::Mutex).
///
/// # Errors and panics
///
/// A thread that asks to write while it holds the lock waits for ever. So may a reader that waits for another
/// thread to read, if a third one waits to write. A panic in the critical section unlocks
/// the lock; there is no poisoning. If 8,388,608 readers hold the lock, `read` says so and ends the process, as
/// an overflow of `Arc` does, and attempts fail at once, with a deadline, too. That happens only if guards are
/// forgotten or a thread reads again and again.
///
/// # Signals and fork
///
/// As for [`Mutex`](crate::Mutex). The handler of a fault (`SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL`, `SIGTRAP`,
/// `SIGSYS`) can interrupt an operation on a reader-writer lock for programs or on a semaphore where no other handler
/// can, if that lock lies in the memory that faults, or if such a signal is sent. Then it must not use locks of these
/// types, and must return or end the process.
///
/// # Size and cost
///
/// Four bytes, and zero is unlocked. Without contention, lock and unlock cost two atomic read-modify-writes.
/// Unlocking does not touch the lock after the second one, so the next owner may free it. Up to 65,532 threads
/// of a process can wait in queues; if there are more, the others look every millisecond.
pub type RwLock<T> = lock_api::RwLock<rwlock::RawRwLock<Native>, T>;

/// The guard of a reader of a [`RwLock`]. It cannot be sent to another thread.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, rwlock::RawRwLock<Native>, T>;

/// The guard of the writer of a [`RwLock`]. It cannot be sent to another thread.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, rwlock::RawRwLock<Native>, T>;

/// The guard of the reader of a [`RwLock`] that may become the writer. It cannot be sent to another thread.
pub type RwLockUpgradableReadGuard<'a, T> =
    lock_api::RwLockUpgradableReadGuard<'a, rwlock::RawRwLock<Native>, T>;

/// A [`RwLock`] whose guards can be sent to other threads. It has the methods of [`RwLock`].
///
/// # Fairness
///
/// As for [`RwLock`], except its bound. No thread knows which of these locks it reads, because its guards may be
/// elsewhere. So a thread that waits to read while readers hold the lock joins them after 10 ms: it may be one of them.
/// Readers that hold the lock for longer than that can keep a writer waiting **without bound**.
pub type SendRwLock<T> = lock_api::RwLock<Sendable<rwlock::RawRwLock<Native, rwlock::Unlisted>>, T>;

/// The guard of a reader of a [`SendRwLock`]. It can be sent to another thread.
pub type SendRwLockReadGuard<'a, T> =
    lock_api::RwLockReadGuard<'a, Sendable<rwlock::RawRwLock<Native, rwlock::Unlisted>>, T>;

/// The guard of the writer of a [`SendRwLock`]. It can be sent to another thread.
pub type SendRwLockWriteGuard<'a, T> =
    lock_api::RwLockWriteGuard<'a, Sendable<rwlock::RawRwLock<Native, rwlock::Unlisted>>, T>;

/// The guard of the reader of a [`SendRwLock`] that may become the writer. It can be sent to another thread.
pub type SendRwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<
    'a,
    Sendable<rwlock::RawRwLock<Native, rwlock::Unlisted>>,
    T,
>;

/// A [`RwLock`] that serves waiters first come, first served.
///
/// It has the methods of [`RwLock`], time-outs included, except recursive reads.
///
/// # Examples
///
/// ```
/// use lockwright::{FairRwLock, FairRwLockReadGuard};
///
/// static TEXT: FairRwLock<String> = FairRwLock::new(String::new());
///
/// TEXT.write().push_str("ready");
/// let text: FairRwLockReadGuard<String> = TEXT.read();
/// assert_eq!(*text, "ready");
/// ```
///
/// # Fairness
///
/// No thread overtakes a thread that has queued; a thread queues after some microseconds of spinning. Readers
/// that are next to each other in the queue read together.
///
/// So a thread that waits gets the lock after the sections of the threads that hold it or are served before it,
/// plus the time until a thread that is woken runs.
///
/// A thread that reads while it already reads waits for ever if a writer has queued in between. [`RwLock`]
/// allows that.
///
/// # Memory ordering, errors, signals and fork
///
/// As for [`RwLock`].
pub type FairRwLock<T> = lock_api::RwLock<rwlock::RawRwLock<Native, rwlock::Fair>, T>;

/// The guard of the reader of a [`FairRwLock`] that may become the writer. It cannot be sent to another thread.
pub type FairRwLockUpgradableReadGuard<'a, T> =
    lock_api::RwLockUpgradableReadGuard<'a, rwlock::RawRwLock<Native, rwlock::Fair>, T>;

/// The guard of a reader of a [`FairRwLock`]. It cannot be sent to another thread.
pub type FairRwLockReadGuard<'a, T> =
    lock_api::RwLockReadGuard<'a, rwlock::RawRwLock<Native, rwlock::Fair>, T>;

/// The guard of the writer of a [`FairRwLock`]. It cannot be sent to another thread.
pub type FairRwLockWriteGuard<'a, T> =
    lock_api::RwLockWriteGuard<'a, rwlock::RawRwLock<Native, rwlock::Fair>, T>;

/// A value that is read all the time and rarely written: readers on different CPUs do not slow each other down.
///
/// It is worth it only above about a million reads for each write. Below that it can be several times slower than
/// [`RwLock`] or [`Mutex`](crate::Mutex). To estimate: reads per second times the seconds between two writes. An
/// example is a configuration that is replaced every few minutes and read millions of times in between.
///
/// Once no thread has written for long enough, a reader writes only to memory of its own thread. Then a read
/// lock and its unlock are three plain stores and some plain loads. A write costs more than with [`RwLock`]:
/// the first writer after that interrupts every CPU that runs the process, and waits for the readers.
///
/// # Examples
///
/// ```
/// use lockwright::PercpuRwLock;
///
/// static LIMITS: PercpuRwLock<[u32; 2]> = PercpuRwLock::new([0, 10]);
///
/// LIMITS.write()[1] = 20;
/// assert_eq!(LIMITS.read()[1], 20);
/// ```
///
/// # Methods
///
/// The methods are those of [`RwLock`], time-outs included, except upgradable reads, `unlock_fair` and `bump`. Messages
/// and `{:?}` call this type `RwLock`, since all of them are made of `lock_api::RwLock`.
///
/// # When readers use their own memory
///
/// At first, and after a write, readers use the shared lock, an [`RwLock`], for N reads, then their own memory.
/// N is 4,096 in a new lock. Each write that makes them return to the shared lock multiplies N by four, up to
/// 1,048,576; N never shrinks. A write before the N reads are over starts the count again. So if you write more
/// often than that, this lock stays an `RwLock` with a little more work for each operation.
///
/// A thread can read four such locks in its own memory at the same time, and a process has room for 4,096
/// threads. Further reads use the shared lock. So do all reads where the kernel has no `membarrier`, or with
/// `LOCKWRIGHT_MEMBARRIER=off` in the environment.
///
/// # Fairness
///
/// As for [`RwLock`], bound included. A thread that already reads can read again, even if a writer waits.
///
/// # Forgotten guards
///
/// If a read guard is forgotten, no thread can write from then on, as with any lock. Its thread also loses one of the
/// four places for ever. If a thread reads the same lock 2^23 times at once, `read` may end the process and attempts
/// may fail, as at the limit of [`RwLock`].
///
/// # Signals and fork
///
/// As for [`Mutex`](crate::Mutex). If a child was not made by the C library's `fork`, a lock that another thread was
/// reading at that moment stays read in the child. A program that installs a system call filter has to allow what
/// [`prepare`](crate::native::prepare) names.
///
/// The first reader of the process that uses memory of its own registers a handler for `fork` with the C
/// library, which may allocate for it, or hold a lock of its own at that moment. So the first read must not be
/// in a signal handler, unless [`prepare`](crate::native::prepare) was called before.
///
/// Handlers that were registered earlier run before it in a child: a lock that another thread of the parent was
/// reading is still read there, so they must not wait to write.
///
/// # Memory ordering and errors
///
/// As for [`RwLock`]. The lock takes 16 bytes, and zero is unlocked.
pub type PercpuRwLock<T> = lock_api::RwLock<percpu_rwlock::RawPercpuRwLock<Native>, T>;

/// The guard of a reader of a [`PercpuRwLock`]. It is not `Send`: it must be dropped by the thread that made
/// it.
///
/// There is no form of it that can be sent, because the reader is noted in memory of its thread.
pub type PercpuRwLockReadGuard<'a, T> =
    lock_api::RwLockReadGuard<'a, percpu_rwlock::RawPercpuRwLock<Native>, T>;

/// The guard of the writer of a [`PercpuRwLock`]. It cannot be sent to another thread.
pub type PercpuRwLockWriteGuard<'a, T> =
    lock_api::RwLockWriteGuard<'a, percpu_rwlock::RawPercpuRwLock<Native>, T>;

rwlock_part_types!(
    RwLock, rwlock::RawRwLock<Native>:
    MappedRwLockReadGuard, MappedRwLockWriteGuard, ArcRwLockReadGuard, ArcRwLockWriteGuard
);

rwlock_part_types!(
    SendRwLock, Sendable<rwlock::RawRwLock<Native, rwlock::Unlisted>>:
    MappedSendRwLockReadGuard, MappedSendRwLockWriteGuard, ArcSendRwLockReadGuard, ArcSendRwLockWriteGuard
);

rwlock_part_types!(
    FairRwLock, rwlock::RawRwLock<Native, rwlock::Fair>:
    MappedFairRwLockReadGuard, MappedFairRwLockWriteGuard, ArcFairRwLockReadGuard, ArcFairRwLockWriteGuard
);

rwlock_part_types!(
    PercpuRwLock, percpu_rwlock::RawPercpuRwLock<Native>:
    MappedPercpuRwLockReadGuard, MappedPercpuRwLockWriteGuard, ArcPercpuRwLockReadGuard, ArcPercpuRwLockWriteGuard
);

/// The guard of the reader of an `Arc<RwLock<T>>` that may become the writer, as
/// [`ArcRwLockReadGuard`].
#[cfg(feature = "arc_lock")]
pub type ArcRwLockUpgradableReadGuard<T> =
    lock_api::ArcRwLockUpgradableReadGuard<rwlock::RawRwLock<Native>, T>;

/// The guard of the reader of an `Arc<SendRwLock<T>>` that may become the writer, as
/// [`ArcSendRwLockReadGuard`].
#[cfg(feature = "arc_lock")]
pub type ArcSendRwLockUpgradableReadGuard<T> = lock_api::ArcRwLockUpgradableReadGuard<
    Sendable<rwlock::RawRwLock<Native, rwlock::Unlisted>>,
    T,
>;

/// The guard of the reader of an `Arc<FairRwLock<T>>` that may become the writer, as
/// [`ArcFairRwLockReadGuard`].
#[cfg(feature = "arc_lock")]
pub type ArcFairRwLockUpgradableReadGuard<T> =
    lock_api::ArcRwLockUpgradableReadGuard<rwlock::RawRwLock<Native, rwlock::Fair>, T>;

/// The lock of a [`RwLock`] without its value, for types that are generic over raw locks. It is unlocked with
/// `lock_api::RawRwLock::INIT`.
pub type RawRwLock = rwlock::RawRwLock<Native>;

//! The locks of programs that readers share, on `lock_api` 0.4.

use crate::native::Native;
use crate::{qrwlock, rwsem};
use lockwright_core::glue::v04 as lock_api;
use lockwright_core::rwlock_part_types;

/// A value behind the Linux kernel's queued reader-writer spinlock: one writer, or many readers. Waiters spin,
/// and there are no time-outs.
///
/// Use it only if every thread that wants the lock has a CPU to itself and holds the lock for nanoseconds. In
/// other programs use `lockwright::RwLock`.
///
/// # Examples
///
/// ```
/// use lockwright_linux::{QRwLock, QRwLockWriteGuard};
///
/// static ROUTES: QRwLock<[u32; 4]> = QRwLock::new([0; 4]);
///
/// let mut routes = ROUTES.write();
/// routes[1] = 7;
/// // Other threads may read from here on, and no thread writes in between.
/// let routes = QRwLockWriteGuard::downgrade(routes);
/// assert_eq!((routes[1], ROUTES.read()[1]), (7, 7));
/// assert!(ROUTES.try_write().is_none());
/// ```
///
/// # Methods
///
/// It has the methods of [`lock_api::RwLock`]. `R` is `QRwLockReadGuard<'_, T>`, and `W` is `QRwLockWriteGuard<'_, T>`.
///
/// - `const fn new(value: T) -> QRwLock<T>`: creates an unlocked lock.
/// - `read(&self) -> R`: takes the lock together with other readers.
/// - `write(&self) -> W`: takes the lock alone.
/// - `try_read(&self) -> Option<R>` and `try_write(&self) -> Option<W>`: never wait.
/// - `is_locked(&self) -> bool` and `is_locked_exclusive(&self) -> bool`.
/// - `get_mut(&mut self) -> &mut T` and `into_inner(self) -> T`: the value, without locking.
/// - `QRwLockWriteGuard::downgrade(guard) -> R`: makes the writer a reader.
///
/// # Memory ordering
///
/// A writer sees what all earlier writers and readers did before they unlocked. A reader sees what all earlier writers
/// did.
///
/// # Fairness
///
/// First come, first served, with two exceptions. Newly arriving threads may overtake the queue until the
/// waiter at its head has announced itself. Readers that are [urgent](crate::native::priority) overtake waiting
/// writers.
///
/// # Errors and panics
///
/// A thread that takes a lock which it holds waits for ever. So does a thread that reads while it already
/// reads, if a writer has queued in between (unless the thread is urgent the second time). A panic in the
/// critical section unlocks the lock. If guards are leaked until 2^22 readers hold the lock, `read` ends the
/// process with a message, and `try_read` returns `None`.
///
/// # Signals and fork
///
/// A signal handler must not wait for a lock that the interrupted thread holds or is about to take. It may use
/// `try_read` and `try_write`. A forked child may use the lock only if no thread waited for it at the time of
/// the fork. The lock does not work in memory that several processes share.
///
/// # Size
///
/// Eight bytes, and zero is unlocked. Unlocking does not touch the lock after the store that releases it, so
/// the next owner may free it.
///
/// Source: the queued rwlock of the Linux kernel (2014).
pub type QRwLock<T> = lock_api::RwLock<qrwlock::RawQRwLock<Native>, T>;

/// The guard of a reader of a [`QRwLock`]. It can be sent to another thread.
pub type QRwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, qrwlock::RawQRwLock<Native>, T>;

/// The guard of the writer of a [`QRwLock`]. It can be sent to another thread.
pub type QRwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, qrwlock::RawQRwLock<Native>, T>;

/// A value behind the Linux kernel's reader-writer semaphore, as of 6.3 and later: one writer, or many readers.
///
/// It is here to compare with, or for programs that want the kernel's rules. Most programs are better off with
/// `lockwright::RwLock`, which is smaller and allows recursive reads.
///
/// # Examples
///
/// ```
/// use lockwright_linux::{RwSemLock, RwSemWriteGuard};
///
/// static WORDS: RwSemLock<Vec<&str>> = RwSemLock::new(Vec::new());
///
/// let mut words = WORDS.write();
/// words.push("queue");
/// // Other threads may read from here on, and no thread writes in between.
/// let words = RwSemWriteGuard::downgrade(words);
/// assert_eq!(*words, ["queue"]);
/// assert_eq!(WORDS.read().len(), 1);
/// assert!(WORDS.try_write_for(std::time::Duration::from_millis(1)).is_none());
/// ```
///
/// # Methods
///
/// It has the methods of [`lock_api::RwLock`], time-outs included, but not recursive and upgradable reads,
/// `unlock_fair` and `bump`. `try_read` and `try_write` may fail on a lock that is free at the moment, if a thread
/// waits for it or a reader is just trying. A time-out of zero makes one attempt.
/// [`InterruptibleRwLock`](crate::InterruptibleRwLock) has waits that another thread can end.
///
/// # The kernel's own rules
///
/// In a program, a wake-up is a system call, and a lock does not know which threads run. So this type differs in some
/// rules (policy `rwsem::CurrentInPrograms`). The kernel's rules, unchanged, are a type, too:
/// [`RwSemCurrent`](crate::presets::RwSemCurrent). Such a lock has the same methods.
///
/// # Memory ordering
///
/// A writer sees what all earlier writers and readers did before they unlocked. A reader sees what all earlier writers
/// did.
///
/// # Fairness
///
/// Newly arriving threads may overtake waiters. Once the first waiter has waited for 4 ms, or has been woken,
/// and finds the lock held again, no thread overtakes it.
///
/// # Errors and panics
///
/// There are none. A thread that takes a lock which it owns waits for ever. A thread that reads while it already reads
/// may wait for ever, too, if a writer came in between. A panic in the critical section unlocks the lock. Once 2^55 - 1
/// readers hold the lock, further ones wait. Up to 65,532 threads of a process can wait in queues; any further ones
/// poll every millisecond.
///
/// # Signals and fork
///
/// A signal handler must not take the lock if the interrupted thread may be about to take it or to give it back. A
/// forked child may use the lock only if no thread waited for it at the time of the fork. The lock does not work in
/// memory that several processes share.
///
/// # Size
///
/// 48 bytes, and zero is unlocked. Unlocking touches the lock after other threads may have it, so the lock must
/// outlive every call.
pub type RwSemLock<T> = lock_api::RwLock<rwsem::RwSem<Native>, T>;

/// The guard of a reader of a [`RwSemLock`]. It can be sent to another thread.
pub type RwSemReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, rwsem::RwSem<Native>, T>;

/// The guard of the writer of a [`RwSemLock`]. It can be sent to another thread.
pub type RwSemWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, rwsem::RwSem<Native>, T>;

rwlock_part_types!(
    QRwLock, qrwlock::RawQRwLock<Native>:
    MappedQRwLockReadGuard, MappedQRwLockWriteGuard, ArcQRwLockReadGuard, ArcQRwLockWriteGuard
);

rwlock_part_types!(
    RwSemLock, rwsem::RwSem<Native>:
    MappedRwSemReadGuard, MappedRwSemWriteGuard, ArcRwSemReadGuard, ArcRwSemWriteGuard
);

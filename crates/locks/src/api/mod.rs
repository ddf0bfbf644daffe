//! The types a program uses: `lock_api` on top of the raw locks, and aliases for statics.
//!
//! ```
//! # #[cfg(all(feature = "std", feature = "lock_api"))] {
//! use lockwright::SpinLock;
//!
//! static HITS: SpinLock<u64> = SpinLock::new(0);
//!
//! *HITS.lock() += 1;
//! assert_eq!(*HITS.lock(), 1);
//! # }
//! ```
//!
//! Which one: [`Mutex`] wherever there may be more threads than CPUs, which is to say in most
//! programs; its waiters sleep. [`SpinLock`] and [`CnaSpinLock`] where each thread that wants the lock has a
//! CPU and holds it briefly: first come, first served. [`RwLock`] where many read; [`PercpuRwLock`] where all
//! but one in thousands do; [`QRwLock`] is to the latter what the spinlocks are to [`Mutex`]. [`Semaphore`] where several threads may
//! be inside; [`SeqLock`] for a few words that hardly anybody writes.
//!
//! Feature `lock_api` (default) serves version 0.4, feature `lock_api_05` version 0.5 in the module
//! `v05`; both may be on. Guards of [`Mutex`], [`RwLock`], [`FairRwLock`] and [`PercpuRwLock`] stay in their thread, as in the standard library.
//! Where a guard has to move, [`SendMutex`] and [`SendRwLock`] are the same locks with guards that may be sent; so are those of the spinlocks,
//! [`QRwLock`] and [`RwSemLock`]. A reader of a [`PercpuRwLock`] reads in a slot of its thread, so there is no such form of it.

use crate::clh::ClhLock;
use crate::mcs::McsLock;
use crate::mutex::RawMutex;
use crate::platform::{Barriers, ConstCells, Platform, QueueNodes};
use crate::qspinlock::{QSpinlock, Succession, Waiting};
use crate::raw::RawLock;
use crate::ticket::TicketLock;
use crate::unfair::{Backoff, UnfairLock};

#[cfg(all(feature = "std", target_os = "linux"))]
mod mutex;
#[cfg(all(doctest, feature = "std", feature = "lock_api", target_os = "linux"))]
mod refused;
#[cfg(all(feature = "std", target_os = "linux"))]
mod rwlock;
#[cfg(all(feature = "std", target_os = "linux"))]
mod rwsem;
#[cfg(all(feature = "std", target_os = "linux"))]
mod semaphore;
mod sendable;
mod sharing;
#[cfg(all(feature = "std", target_os = "linux"))]
pub use mutex::WaitTimeoutResult;
#[cfg(all(feature = "std", target_os = "linux"))]
pub use semaphore::{Semaphore, SemaphorePermit};
pub use sendable::Sendable;

/// A value of `WORDS` words that is read far more often than written: readers write nothing, copy, and try again if somebody
/// wrote meanwhile.
///
/// ```
/// use lockwright::SeqLock;
///
/// static POSITION: SeqLock<(i64, i64), 2> = SeqLock::INIT;
///
/// POSITION.write((3, -4));
/// POSITION.update(|(x, y)| (x + 1, y));
/// assert_eq!(POSITION.read(), (4, -4));
/// ```
///
/// What it can hold, orders, and limits is said in [`seqlock`](crate::seqlock).
#[cfg(all(feature = "std", target_os = "linux"))]
pub type SeqLock<T, const WORDS: usize> = crate::seqlock::SeqLock<Native, T, WORDS>;

/// One `RawMutex` implementation per lock, for one version of `lock_api`.
macro_rules! raw_mutexes {
    ($implement:ident) => {
        $implement!([P: Platform + ConstCells, S: Succession<P>, W: Waiting<P>] QSpinlock<P, S, W>, GuardSend);
        $implement!([P: Platform + ConstCells, S: Succession<P>] RawMutex<P, S>, GuardNoSend);
        $implement!([P: Platform + ConstCells, S: Succession<P>] Sendable<RawMutex<P, S>>, GuardSend);
        $implement!([P: Barriers + ConstCells, B: Backoff] UnfairLock<P, B>, GuardSend);
        $implement!([P: Barriers + ConstCells] TicketLock<P>, GuardSend);
        $implement!([P: Barriers + QueueNodes + ConstCells] McsLock<P>, GuardSend);
        $implement!([P: Barriers + QueueNodes + ConstCells] ClhLock<P>, GuardSend);
    };
}

#[cfg(feature = "lock_api")]
macro_rules! implement_04 {
    ([$($bounds:tt)*] $lock:ty, $marker:ident) => {
        // SAFETY: the lock excludes, `lock` and `try_lock` acquire, `unlock` releases.
        unsafe impl<$($bounds)*> lock_api::RawMutex for $lock {
            const INIT: Self = <$lock>::INIT;
            type GuardMarker = lock_api::$marker;

            #[inline]
            fn lock(&self) {
                RawLock::lock(self);
            }
            #[inline]
            fn try_lock(&self) -> bool {
                RawLock::try_lock(self)
            }
            #[inline]
            unsafe fn unlock(&self) {
                // SAFETY: the caller holds the lock.
                unsafe { RawLock::unlock(self) };
            }
            fn is_locked(&self) -> bool {
                RawLock::is_locked(self)
            }
        }
    };
}
#[cfg(feature = "lock_api")]
raw_mutexes!(implement_04);

#[cfg(feature = "lock_api_05")]
macro_rules! implement_05 {
    ([$($bounds:tt)*] $lock:ty, $marker:ident) => {
        // SAFETY: the lock excludes, `lock` and `try_lock` acquire, `unlock` releases; the guard
        // has no state, so forgetting it only leaves the lock locked; nothing unwinds.
        unsafe impl<$($bounds)*> lock_api_05::RawMutex for $lock {
            const INIT: Self = <$lock>::INIT;
            type Guard = lock_api_05::$marker;

            #[inline]
            fn lock(&self) -> Self::Guard {
                RawLock::lock(self);
                lock_api_05::$marker::new()
            }
            #[inline]
            fn try_lock(&self) -> Option<Self::Guard> {
                RawLock::try_lock(self).then(lock_api_05::$marker::new)
            }
            #[inline]
            unsafe fn unlock(&self, _guard: Self::Guard) {
                // SAFETY: the caller holds the lock.
                unsafe { RawLock::unlock(self) };
            }
            fn is_locked(&self) -> bool {
                RawLock::is_locked(self)
            }
        }
    };
}
#[cfg(feature = "lock_api_05")]
raw_mutexes!(implement_05);

/// The aliases, for one version of `lock_api`.
#[cfg(all(feature = "std", target_os = "linux"))]
macro_rules! aliases {
    ($lock_api:ident) => {
        /// A value guarded by the queued spinlock: first come, first served, a four-byte lock.
        pub type SpinLock<T> = $lock_api::Mutex<crate::qspinlock::QSpinlock<Native>, T>;
        /// Guard of a [`SpinLock`].
        pub type SpinLockGuard<'a, T> =
            $lock_api::MutexGuard<'a, crate::qspinlock::QSpinlock<Native>, T>;
        /// A value guarded by the NUMA-aware queued spinlock, CNA version 10: a four-byte lock.
        pub type CnaSpinLock<T> = $lock_api::Mutex<Cna, T>;
        /// Guard of a [`CnaSpinLock`].
        pub type CnaSpinLockGuard<'a, T> = $lock_api::MutexGuard<'a, Cna, T>;
        /// A value guarded by a mutex for any number of threads: its waiters spin for some microseconds and
        /// sleep then. A four-byte lock, zero is unlocked; one atomic read-modify-write for each uncontended
        /// pair.
        ///
        /// ```
        /// use lockwright::Mutex;
        ///
        /// static SUM: Mutex<u64> = Mutex::new(0);
        ///
        /// std::thread::scope(|scope| {
        ///     for n in 1..=10 {
        ///         scope.spawn(move || *SUM.lock() += n);
        ///     }
        /// });
        /// assert_eq!(*SUM.lock(), 55);
        /// ```
        ///
        /// *Ordering.* `lock`, and an attempt that succeeds, acquire what the last unlock released.
        /// `is_locked` acquires nothing.
        ///
        /// *Fairness.* Newcomers take a free lock whoever waits: that is what makes it fast. The thread that
        /// has slept for it longest is passed for 4 ms at most; then the lock is reserved for it, except while
        /// it does not get a CPU for more than 50 us. `unlock_fair` hands the lock to it at once.
        ///
        /// *Errors, panics.* None. A thread that takes a lock it holds waits for ever. A panic in the
        /// section releases the lock; there is no poisoning. With 65,532 threads waiting in a process,
        /// more compete with naps of a millisecond.
        ///
        /// *After unlock.* `unlock` does not touch the mutex after the store that releases it: the next owner
        /// may free it.
        ///
        /// *Signals, forks.* A signal handler may take other locks while its thread waits for this one, if
        /// nobody who owns one of them waits for this one: its thread may be the one that everybody else waits behind. A
        /// forked child may use a lock that its thread held. Not for memory shared between processes.
        ///
        /// *Membarrier.* A thread that goes to sleep for a lock which was quiet for some time interrupts
        /// the other CPUs that run the process (a microsecond or two each, at most once in 100 us for each of them). Set
        /// `LOCKWRIGHT_MEMBARRIER=off` in the environment where that must not be; then unlocking costs an
        /// exchange. A program that installs a system call filter has to allow what [`prepare`](crate::native::prepare) names.
        ///
        /// *Time-outs.* An attempt with a time-out of zero, or until an instant that has passed, takes a free lock; where the lock
        /// is held it fails after tens of microseconds, which it spins and queues for.
        pub type Mutex<T> = $lock_api::Mutex<crate::mutex::RawMutex<Native>, T>;
        /// A value guarded by the kernel's reader-writer semaphore of today: one writer, or many readers.
        ///
        /// ```
        /// use lockwright::{RwSemLock, RwSemWriteGuard};
        ///
        /// static WORDS: RwSemLock<Vec<&str>> = RwSemLock::new(Vec::new());
        ///
        /// let mut words = WORDS.write();
        /// words.push("queue");
        /// // Others may read from here on, and nobody writes in between.
        /// let words = RwSemWriteGuard::downgrade(words);
        /// assert_eq!(*words, ["queue"]);
        /// assert_eq!(WORDS.read().len(), 1);
        /// assert!(WORDS.try_write_for(std::time::Duration::from_millis(1)).is_none());
        /// ```
        ///
        /// *Ordering.* A writer acquires what the last writer and all readers since have released, a
        /// reader what the last writer has.
        ///
        /// *Fairness.* A waiter that finds the lock held when it has been the first for 4 ms, or has been woken, is passed by
        /// nobody any more. Who waits and who may pass is in the documentation of [`rwsem`](crate::rwsem).
        ///
        /// *Attempts.* `try_read` and `try_write` may fail on a lock that is free at the moment, if somebody waits for it or
        /// a reader is just trying. A timeout of zero, or an instant in the past, is an attempt.
        ///
        /// *Nodes.* With 65,532 threads waiting in a process, more compete with naps of a millisecond, without a bound.
        ///
        /// *Signals.* A signal handler must not take one that the thread it interrupts may be about to take or to give
        /// back: the thread may hold what guards its waiters.
        ///
        /// *Errors, panics.* None. A thread that reads twice may wait for ever if a writer came in between, as
        /// does one that takes a lock it owns. A panic in the section releases the lock. More than 2^55 - 1
        /// readers wait.
        ///
        /// *After unlock.* Unlocking touches the lock after others may have it: it must outlive every call.
        /// Not for memory shared between processes, nor, if it had waiters, for a forked child.
        pub type RwSemLock<T> = $lock_api::RwLock<crate::rwsem::RwSem<Native>, T>;
        /// Guard of a reader of a [`RwSemLock`].
        pub type RwSemReadGuard<'a, T> =
            $lock_api::RwLockReadGuard<'a, crate::rwsem::RwSem<Native>, T>;
        /// Guard of the writer of a [`RwSemLock`].
        pub type RwSemWriteGuard<'a, T> =
            $lock_api::RwLockWriteGuard<'a, crate::rwsem::RwSem<Native>, T>;
        /// Guard of a reader of a part of what a [`RwSemLock`] guards.
        pub type MappedRwSemReadGuard<'a, T> =
            $lock_api::MappedRwLockReadGuard<'a, crate::rwsem::RwSem<Native>, T>;
        /// Guard of the writer of a part of what a [`RwSemLock`] guards.
        pub type MappedRwSemWriteGuard<'a, T> =
            $lock_api::MappedRwLockWriteGuard<'a, crate::rwsem::RwSem<Native>, T>;
        /// A value guarded by a reader-writer lock for any number of threads: its waiters spin for some microseconds and sleep
        /// then. A four-byte lock, zero is unlocked; two atomic read-modify-writes for each uncontended pair.
        ///
        /// ```
        /// use lockwright::{RwLock, RwLockWriteGuard};
        ///
        /// static WORDS: RwLock<Vec<&str>> = RwLock::new(Vec::new());
        ///
        /// let mut words = WORDS.write();
        /// words.push("lock");
        /// // Others may read from here on, and nobody writes in between.
        /// let words = RwLockWriteGuard::downgrade(words);
        /// // A reader may read again, whoever waits.
        /// assert_eq!(*WORDS.read(), *words);
        /// assert!(WORDS.try_write_for(std::time::Duration::from_millis(1)).is_none());
        /// ```
        ///
        /// *Ordering.* A writer acquires what the last writer and all readers since have released, a
        /// reader what the last writer has.
        ///
        /// *Fairness.* Newcomers take a free lock whoever waits. The waiter that came first is passed for 4 ms at most; then the
        /// lock is kept for it. Readers that come while readers hold it wait for a writer for which it is kept for 10 ms and join them then,
        /// for they may be readers already. [`FairRwLock`] serves first come, first served.
        ///
        /// *Errors, panics.* None. A thread that asks to write while it holds the lock waits for ever. A panic in the section releases the lock; there is no
        /// poisoning. More than 8,388,608 readers wait. With 65,532 threads waiting in a process, more compete with naps of a millisecond.
        ///
        /// *After unlock.* Giving it back does not touch the lock after the exchange that does so: the next owner may free it.
        ///
        /// *Signals, forks.* As for [`Mutex`].
        pub type RwLock<T> = $lock_api::RwLock<crate::rwlock::RawRwLock<Native>, T>;
        /// Guard of a reader of a [`RwLock`].
        pub type RwLockReadGuard<'a, T> =
            $lock_api::RwLockReadGuard<'a, crate::rwlock::RawRwLock<Native>, T>;
        /// Guard of the writer of a [`RwLock`].
        pub type RwLockWriteGuard<'a, T> =
            $lock_api::RwLockWriteGuard<'a, crate::rwlock::RawRwLock<Native>, T>;
        /// Guard of a reader of a part of what a [`RwLock`] guards.
        pub type MappedRwLockReadGuard<'a, T> =
            $lock_api::MappedRwLockReadGuard<'a, crate::rwlock::RawRwLock<Native>, T>;
        /// Guard of the writer of a part of what a [`RwLock`] guards.
        pub type MappedRwLockWriteGuard<'a, T> =
            $lock_api::MappedRwLockWriteGuard<'a, crate::rwlock::RawRwLock<Native>, T>;
        /// As [`RwLock`], first come, first served: nobody passes a thread that has queued, which it does after some microseconds. A thread that reads twice may wait for ever
        /// if a writer came in between.
        pub type FairRwLock<T> =
            $lock_api::RwLock<crate::rwlock::RawRwLock<Native, crate::rwlock::Fair>, T>;
        /// A value that is read all the time and written now and then: as long as nobody writes a reader writes memory of its own thread only, and threads
        /// that read do not disturb each other at all. A lock of 16 bytes, zero is unlocked.
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
        /// A read pair is three plain stores and some plain loads then. A writer that comes after thousands of reads interrupts every CPU that runs the process and waits for
        /// those who read; readers take a [`RwLock`] beneath from there on, until thousands of reads have seen no write.
        ///
        /// *Ordering, errors, panics, after unlock.* As for [`RwLock`].
        ///
        /// *Fairness.* As for [`RwLock`]. A thread that reads already reads again at once, also while a writer waits.
        ///
        /// *Limits.* A thread reads up to four such locks in its slot, each 2^23 times at once; further reads take the lock beneath, as do threads
        /// beyond 4,096. A thread that reads one lock 2^23 times at once and waits to read it once more may wait for a writer that waits for the thread:
        /// for ever. A guard that is forgotten keeps writers out of its lock for ever, and one of the four places of its thread is lost.
        ///
        /// *Signals, forks.* As for [`Mutex`]. In a child that was made without the C library's `fork` a lock stays read that another thread
        /// read at that moment.
        ///
        /// *Membarrier.* A program that installs a system call filter has to allow what [`prepare`](crate::native::prepare) names.
        pub type PercpuRwLock<T> =
            $lock_api::RwLock<crate::percpu_rwlock::RawPercpuRwLock<Native>, T>;
        /// Guard of a reader of a [`PercpuRwLock`]; it stays in its thread.
        pub type PercpuRwLockReadGuard<'a, T> =
            $lock_api::RwLockReadGuard<'a, crate::percpu_rwlock::RawPercpuRwLock<Native>, T>;
        /// Guard of the writer of a [`PercpuRwLock`].
        pub type PercpuRwLockWriteGuard<'a, T> =
            $lock_api::RwLockWriteGuard<'a, crate::percpu_rwlock::RawPercpuRwLock<Native>, T>;
        /// A value guarded by the kernel's queued reader-writer spinlock: one writer, or many readers; an eight-byte
        /// lock. For threads that have a CPU each and hold it briefly.
        ///
        /// ```
        /// use lockwright::{QRwLock, QRwLockWriteGuard};
        ///
        /// static ROUTES: QRwLock<[u32; 4]> = QRwLock::new([0; 4]);
        ///
        /// let mut routes = ROUTES.write();
        /// routes[1] = 7;
        /// // Others may read from here on, and nobody writes in between.
        /// let routes = QRwLockWriteGuard::downgrade(routes);
        /// assert_eq!((routes[1], ROUTES.read()[1]), (7, 7));
        /// assert!(ROUTES.try_write().is_none());
        /// ```
        ///
        /// *Ordering.* A writer acquires what the last writer and all readers since have released, a
        /// reader what the last writer has.
        ///
        /// *Fairness.* First come, first served, readers together, but for newcomers that come before the first in the queue has
        /// said that it waits, and for readers that are [urgent](crate::native::priority): see [`qrwlock`](crate::qrwlock).
        ///
        /// *Errors, panics.* None. A thread that reads twice may wait for ever if a writer came in between, unless it is
        /// urgent the second time; so does one that takes a lock it owns. A panic in the section releases the lock. More than 2^22
        /// readers wait.
        ///
        /// *After unlock.* `unlock` does not touch the lock after the store that releases it: the next owner may free it. Not
        /// for memory shared between processes, nor, if it had waiters, for a forked child.
        pub type QRwLock<T> = $lock_api::RwLock<crate::qrwlock::QRwLock<Native>, T>;
        /// Guard of a reader of a [`QRwLock`].
        pub type QRwLockReadGuard<'a, T> =
            $lock_api::RwLockReadGuard<'a, crate::qrwlock::QRwLock<Native>, T>;
        /// Guard of the writer of a [`QRwLock`].
        pub type QRwLockWriteGuard<'a, T> =
            $lock_api::RwLockWriteGuard<'a, crate::qrwlock::QRwLock<Native>, T>;
        /// Lets threads wait until another one says that something has changed, with a [`Mutex`] that guards
        /// that something. Four bytes, zero is nobody.
        ///
        /// ```
        /// use lockwright::{Condvar, Mutex};
        ///
        /// static READY: Mutex<bool> = Mutex::new(false);
        /// static CHANGED: Condvar = Condvar::new();
        ///
        /// std::thread::scope(|scope| {
        ///     scope.spawn(|| {
        ///         *READY.lock() = true;
        ///         CHANGED.notify_one();
        ///     });
        ///     let mut ready = READY.lock();
        ///     CHANGED.wait_while(&mut ready, |ready| !*ready);
        ///     assert!(*ready);
        /// });
        /// ```
        ///
        /// *Order.* First come, first notified; `notify_one` notifies one waiter exactly, if there is one. A
        /// notified waiter is not woken into contention: it is moved to the mutex and sleeps there.
        ///
        /// *Spurious wake-ups.* A wait may return without a notification only if 65,532 threads wait in the
        /// process at that moment. `wait_while` is the form that need not think of it.
        ///
        /// *Ordering.* A wait releases the mutex and acquires it again. To notify orders nothing.
        ///
        /// *Errors, panics.* None. Waits on one `Condvar` may use different mutexes.
        pub type Condvar = any::Condvar<Native>;
        /// A [`Mutex`] whose guards may be sent to other threads. No [`Condvar`] waits with it.
        pub type SendMutex<T> = $lock_api::Mutex<Sendable<crate::mutex::RawMutex<Native>>, T>;
        /// A [`RwLock`] whose guards may be sent to other threads.
        pub type SendRwLock<T> = $lock_api::RwLock<Sendable<crate::rwlock::RawRwLock<Native>>, T>;
        /// Guard of a part of what a [`Mutex`] guards.
        pub type MappedMutexGuard<'a, T> =
            $lock_api::MappedMutexGuard<'a, crate::mutex::RawMutex<Native>, T>;
        /// Guard of a [`Mutex`].
        pub type MutexGuard<'a, T> = $lock_api::MutexGuard<'a, crate::mutex::RawMutex<Native>, T>;
    };
}

#[cfg(all(feature = "std", target_os = "linux"))]
use crate::native::Native;
#[cfg(all(feature = "std", target_os = "linux"))]
type Cna = crate::qspinlock::CnaSpinlock<Native>;
#[cfg(all(feature = "std", target_os = "linux", feature = "lock_api"))]
aliases!(lock_api);

/// The types of this module that are no aliases of others, on any platform: for checkers.
#[cfg(all(feature = "std", target_os = "linux", feature = "lock_api"))]
pub mod any {
    pub use super::mutex::v04::Condvar;
    pub use super::semaphore::{Semaphore, SemaphorePermit};
}

/// The aliases for `lock_api` 0.5.
#[cfg(all(feature = "std", target_os = "linux", feature = "lock_api_05"))]
pub mod v05 {
    use super::{Cna, Native, Sendable};
    aliases!(lock_api_05);

    /// The types of this module that are no aliases of others, on any platform: for checkers.
    pub mod any {
        pub use crate::api::mutex::v05::Condvar;
    }
}

//! The spinlocks of programs, on `lock_api` 0.4.

use crate::native::Native;
use crate::qspinlock;
use lockwright_core::glue::v04 as lock_api;

/// A value behind the Linux kernel's queued spinlock: waiters spin and are served first come, first served.
///
/// Use it only if every thread that wants the lock has a CPU to itself and holds the lock for less than a microsecond.
/// If a waiter loses its CPU, all threads behind it wait until it runs again. In other programs use
/// `lockwright::Mutex`.
///
/// # Examples
///
/// ```
/// use lockwright_linux::SpinLock;
///
/// static HITS: SpinLock<u64> = SpinLock::new(0);
///
/// *HITS.lock() += 1;
/// assert_eq!(*HITS.lock(), 1);
/// ```
///
/// # Methods
///
/// It has the methods of [`lock_api::Mutex`]:
///
/// - `const fn new(value: T) -> SpinLock<T>`: creates an unlocked lock.
/// - `lock(&self) -> SpinLockGuard<'_, T>`: takes the lock, and waits for it.
/// - `try_lock(&self) -> Option<SpinLockGuard<'_, T>>`: takes the lock if it is free and no thread waits for
///   it. Never waits.
/// - `try_lock_for(&self, Duration) -> Option<SpinLockGuard<'_, T>>`: waits no longer than that.
/// - `try_lock_until(&self, Instant) -> Option<SpinLockGuard<'_, T>>`: waits until then at the latest.
/// - `is_locked(&self) -> bool`: returns `true` if a thread holds the lock.
/// - `get_mut(&mut self) -> &mut T` and `into_inner(self) -> T`: the value, without locking.
///
/// # Memory ordering
///
/// `lock`, and a `try_lock` that succeeds, see what all earlier owners did before they unlocked. `is_locked`
/// orders nothing.
///
/// # Fairness
///
/// First come, first served, from the moment at which a thread has joined the queue.
///
/// # Time-outs
///
/// A waiter with a time-out queues like any other. When its time is over, it returns at most 100 us later if it has a
/// CPU, and the other waiters keep their places. Its queue node stays in the queue until it would have been its turn.
/// Before that, further attempts of its thread with a time-out wait without a place in a queue, so waiters that come
/// later may overtake them. An attempt with a time-out of zero is a `try_lock`. The other methods cost as much as
/// without time-outs.
///
/// # Errors and panics
///
/// There are none. A thread that takes a lock which it holds waits for ever. A panic in the critical section
/// unlocks the lock; there is no poisoning. Up to 65,532 threads of a process can wait in queues; any further
/// ones compete for the lock in no order.
///
/// # Signals and fork
///
/// A signal handler must not wait for a lock that the interrupted thread holds or is about to take. It may use
/// `try_lock`, and attempts with time-outs, which fail then. A forked child may use the lock; if another thread
/// of the parent held it, it stays locked in the child. The lock does not work in memory that several processes
/// share.
///
/// # Size
///
/// Four bytes, and zero is unlocked. Unlocking does not touch the lock after the store that releases it, so the
/// next owner may free it.
pub type SpinLock<T> = lock_api::Mutex<qspinlock::QSpinlock<Native>, T>;

/// The guard of a [`SpinLock`]: unlocks it when it is dropped. It can be sent to another thread.
pub type SpinLockGuard<'a, T> = lock_api::MutexGuard<'a, qspinlock::QSpinlock<Native>, T>;

/// The guard of a part of the value of a [`SpinLock`]; see `map` of [`lock_api::MutexGuard`].
pub type MappedSpinLockGuard<'a, T> =
    lock_api::MappedMutexGuard<'a, qspinlock::QSpinlock<Native>, T>;

/// The guard of an `Arc<SpinLock<T>>`, made by its `lock_arc` and the like (feature `arc_lock`). It keeps the `Arc`, so
/// it has no lifetime. It can be sent to another thread.
#[cfg(feature = "arc_lock")]
pub type ArcSpinLockGuard<T> = lock_api::ArcMutexGuard<qspinlock::QSpinlock<Native>, T>;

/// A value behind the NUMA-aware queued spinlock (CNA, version 10): a [`SpinLock`] for machines with several
/// NUMA nodes.
///
/// Waiters on the NUMA node of the owner are served first for a while, so that the lock and its value stay in the
/// caches of one node. On a machine with one NUMA node, and by default in a virtual machine, it is a [`SpinLock`]. The
/// documentation of that lock holds for both: methods, memory ordering, time-outs, signals, fork and size.
///
/// # Examples
///
/// ```
/// use lockwright_linux::CnaSpinLock;
///
/// static LOG: CnaSpinLock<Vec<u32>> = CnaSpinLock::new(Vec::new());
///
/// LOG.lock().push(7);
/// assert_eq!(LOG.lock().len(), 1);
/// ```
///
/// # Fairness
///
/// Waiters of other nodes are overtaken for at most 65,536 handoffs (2^16); then it is their turn. The tunables
/// [`numa_spinlock`](crate::tunables::Tunable::numa_spinlock) and
/// [`numa_spinlock_threshold`](crate::tunables::Tunable::numa_spinlock_threshold) change that. A thread with a
/// real-time scheduling policy, or inside an [`UrgentScope`](crate::native::priority::UrgentScope), is never
/// put behind waiters that came later.
///
/// Source: Dice and Kogan, *Compact NUMA-aware locks*, EuroSys 2019, and its patches for the Linux kernel.
pub type CnaSpinLock<T> = lock_api::Mutex<qspinlock::CnaSpinlock<Native>, T>;

/// The guard of a [`CnaSpinLock`]: unlocks it when it is dropped. It can be sent to another thread.
pub type CnaSpinLockGuard<'a, T> = lock_api::MutexGuard<'a, qspinlock::CnaSpinlock<Native>, T>;

/// The guard of a part of the value of a [`CnaSpinLock`]; see `map` of [`lock_api::MutexGuard`].
pub type MappedCnaSpinLockGuard<'a, T> =
    lock_api::MappedMutexGuard<'a, qspinlock::CnaSpinlock<Native>, T>;

/// The guard of an `Arc<CnaSpinLock<T>>`, made by its `lock_arc` and the like (feature `arc_lock`). It keeps the `Arc`,
/// so it has no lifetime. It can be sent to another thread.
#[cfg(feature = "arc_lock")]
pub type ArcCnaSpinLockGuard<T> = lock_api::ArcMutexGuard<qspinlock::CnaSpinlock<Native>, T>;

//! The types of locks with one owner, on `lock_api` 0.4.

use crate::api::{Sendable, ThreadNumber};
use crate::mutex;
use crate::native::Native;
use lockwright_core::glue::v04 as lock_api;

/// A value behind a mutex: one thread at a time can use it. A thread that has to wait spins for some
/// microseconds and then sleeps.
///
/// # Examples
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
/// # Methods
///
/// The methods are those of [`lock_api::Mutex`]:
///
/// - `const fn new(value: T) -> Mutex<T>`: creates an unlocked mutex.
/// - `lock(&self) -> MutexGuard<'_, T>`: takes the lock, and waits for it.
/// - `try_lock(&self) -> Option<MutexGuard<'_, T>>`: takes the lock if it is free. Never waits.
/// - `try_lock_for(&self, Duration) -> Option<MutexGuard<'_, T>>`: waits no longer than that.
/// - `try_lock_until(&self, Instant) -> Option<MutexGuard<'_, T>>`: waits until then at the latest.
/// - `is_locked(&self) -> bool`: returns `true` if a thread holds the lock.
/// - `get_mut(&mut self) -> &mut T` and `into_inner(self) -> T`: give the value, without locking.
///
/// The guard is a [`lock_api::MutexGuard`]. It has these functions:
///
/// - `MutexGuard::map(guard, FnOnce(&mut T) -> &mut U) -> MappedMutexGuard<'_, U>`: returns a guard of a part of the
///   value. `try_map` returns a `Result`, because its closure returns an `Option`.
/// - `MutexGuard::unlocked(&mut guard, FnOnce() -> U) -> U`: runs a closure while the lock is not held.
/// - `MutexGuard::unlock_fair(guard)`: gives the lock to a thread that sleeps for it, if there is one.
/// - `MutexGuard::bump(&mut guard)`: does that, and takes the lock again.
/// - `MutexGuard::leak(guard) -> &mut T`: returns a reference to the value, which stays locked for ever.
///
/// # Memory ordering
///
/// `lock`, and an attempt that succeeds, see what all earlier owners did before they unlocked. `is_locked`
/// orders nothing.
///
/// # Fairness
///
/// A thread that comes when the lock is free takes it, even if other threads sleep for it. That makes the lock fast.
/// The threads that sleep are woken in turn. A thread that has been woken and still finds the lock held 4 ms later
/// reserves the lock. From then on only threads that were woken get the lock, until this one has had it. If they have
/// no CPU for 50 us while the lock is free, another thread may take it. So 4 ms is no bound on a busy machine: with 32
/// threads on two CPUs a wait of 19 ms was measured, and of 260 ms where the threads also compute. An attempt may take
/// a free lock at any time: `try_lock` fails only if a thread holds the lock, or if it was given to a thread by
/// `unlock_fair`. A thread that only makes attempts can overtake a waiter for longer.
///
/// # Time-outs
///
/// An attempt with a time-out of zero, or until an instant that has passed, takes a free lock. If the lock is
/// held, the attempt spins for tens of microseconds before it fails.
///
/// # Errors and panics
///
/// There are none. A thread that takes a lock which it holds waits for ever. A panic in the critical section
/// unlocks the lock; there is no poisoning.
///
/// # Signals and fork
///
/// Do not wait for a lock in a signal handler. If you must lock there, use `try_lock` or another attempt:
/// attempts are allowed, whatever the handler interrupts, and it must release what it took before it returns.
/// A handler that waits for a lock can hang if the interrupted thread holds that lock or is about to take it,
/// or if the owner of that lock waits for one for which the interrupted thread waits.
///
/// A forked child may use a lock that its thread held. It is as fair to the threads of the child as to those of
/// the parent, whose waiters do not exist in the child. The lock does not work in memory that several processes
/// share.
///
/// # Size and cost
///
/// Eight bytes, and zero is unlocked. Without contention, lock and unlock cost one atomic read-modify-write and
/// a store. Unlocking does not touch the mutex after the store that releases it, so the next owner may free it.
///
/// A thread that goes to sleep for a lock that was quiet for some time interrupts the other CPUs that run the
/// process, with the system call `membarrier`. The call took 2 to 40 us with two CPUs of an Intel Xeon. Each
/// lock that was quiet makes it once. After a call no lock becomes quiet for 100 us for each CPU that the
/// process may use (64 CPUs: 6.4 ms). With `LOCKWRIGHT_MEMBARRIER=off` in the environment it does not happen;
/// then unlocking costs an atomic exchange instead of a store. A program that installs a system call filter has
/// to allow what [`prepare`](crate::native::prepare) names, where it also says when a lock aborts the process.
pub type Mutex<T> = lock_api::Mutex<mutex::RawMutex<Native>, T>;

/// The guard of a [`Mutex`]: unlocks it when it is dropped. It cannot be sent to another thread.
///
/// Its functions are in the list of [`Mutex`].
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, mutex::RawMutex<Native>, T>;

/// The guard of a part of the value of a [`Mutex`]; see the list of [`Mutex`](Mutex#methods).
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, mutex::RawMutex<Native>, T>;

/// The guard of an `Arc<Mutex<T>>`, made by its `lock_arc` and the like (feature `arc_lock`). It keeps the
/// `Arc`, so it has no lifetime. It cannot be sent to another thread.
#[cfg(feature = "arc_lock")]
pub type ArcMutexGuard<T> = lock_api::ArcMutexGuard<mutex::RawMutex<Native>, T>;

/// A [`Mutex`] whose guards can be sent to other threads.
///
/// It has the methods of [`Mutex`].
///
/// # Examples
///
/// ```
/// use lockwright::{SendMutex, SendMutexGuard};
///
/// static TOTAL: SendMutex<u32> = SendMutex::new(0);
///
/// let mut total: SendMutexGuard<u32> = TOTAL.lock();
/// std::thread::scope(|scope| {
///     scope.spawn(move || *total += 1);
/// });
/// assert_eq!(*TOTAL.lock(), 1);
/// ```
pub type SendMutex<T> = lock_api::Mutex<Sendable<mutex::RawMutex<Native>>, T>;

/// The guard of a [`SendMutex`]: unlocks it when it is dropped. It can be sent to another thread.
pub type SendMutexGuard<'a, T> = lock_api::MutexGuard<'a, Sendable<mutex::RawMutex<Native>>, T>;

/// The guard of a part of the value of a [`SendMutex`]; see the list of [`Mutex`](Mutex#methods).
pub type MappedSendMutexGuard<'a, T> =
    lock_api::MappedMutexGuard<'a, Sendable<mutex::RawMutex<Native>>, T>;

/// The guard of an `Arc<SendMutex<T>>`, as [`ArcMutexGuard`]. It can be sent to another thread.
#[cfg(feature = "arc_lock")]
pub type ArcSendMutexGuard<T> = lock_api::ArcMutexGuard<Sendable<mutex::RawMutex<Native>>, T>;

/// A [`Mutex`] whose every unlock is fair: if a thread sleeps for the lock, the unlock gives it the lock.
///
/// It cannot be used with a [`Condvar`](crate::Condvar). A [`Mutex`] has a fair unlock, too, for the places that need
/// it: `MutexGuard::unlock_fair`.
///
/// # Examples
///
/// ```
/// use lockwright::{FairMutex, FairMutexGuard};
///
/// static TURNS: FairMutex<Vec<u32>> = FairMutex::new(Vec::new());
///
/// std::thread::scope(|scope| {
///     for n in 0..2 {
///         scope.spawn(move || {
///             for _ in 0..10 {
///                 let mut turns: FairMutexGuard<Vec<u32>> = TURNS.lock();
///                 turns.push(n);
///             }
///         });
///     }
/// });
/// assert_eq!(TURNS.lock().len(), 20);
/// ```
///
/// # Methods
///
/// The methods are those of [`Mutex`], time-outs included. Messages and `{:?}` call this type `Mutex`.
///
/// # Fairness
///
/// A thread that has to wait spins for some microseconds and then sleeps. When the lock is unlocked while
/// threads sleep for it, one of them gets it: one that was woken before and has not had the lock since, or the
/// one that has slept longest. No other thread can take the lock in between, unless the deadline of a waiter
/// passes. Threads that spin are overtaken by those that sleep. If no thread sleeps, the lock becomes free, and
/// any thread takes it.
///
/// # Memory ordering, time-outs, errors, signals and fork
///
/// As for [`Mutex`].
///
/// # Size and cost
///
/// Eight bytes, and zero is unlocked. Without contention it costs what a [`Mutex`] costs. With contention it is
/// slow: each time the lock goes to a thread that sleeps, no thread has it until that thread runs, which takes
/// 10 to 30 us where a CPU is free for it. Unlocking does not touch the lock after the exchange that releases
/// it, so the next owner may free it.
pub type FairMutex<T> = lock_api::Mutex<mutex::RawFairMutex<Native>, T>;

/// The guard of a [`FairMutex`]: gives the lock to a thread that sleeps for it, or frees it, when it is
/// dropped. It cannot be sent to another thread.
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, mutex::RawFairMutex<Native>, T>;

/// The guard of a part of the value of a [`FairMutex`]; see the list of [`Mutex`](Mutex#methods).
pub type MappedFairMutexGuard<'a, T> =
    lock_api::MappedMutexGuard<'a, mutex::RawFairMutex<Native>, T>;

/// The guard of an `Arc<FairMutex<T>>`, as [`ArcMutexGuard`].
#[cfg(feature = "arc_lock")]
pub type ArcFairMutexGuard<T> = lock_api::ArcMutexGuard<mutex::RawFairMutex<Native>, T>;

/// The lock of a [`Mutex`] without its value, for types that are generic over raw locks. It is unlocked with
/// `lock_api::RawMutex::INIT`.
pub type RawMutex = mutex::RawMutex<Native>;

/// The lock of a [`FairMutex`] without its value, as [`RawMutex`].
pub type RawFairMutex = mutex::RawFairMutex<Native>;

/// A value behind a [`Mutex`] that its owner may take again. It gives shared references only.
///
/// To change the value, put a [`Cell`](core::cell::Cell) or a [`RefCell`](core::cell::RefCell) into the lock.
///
/// # Examples
///
/// ```
/// use lockwright::ReentrantMutex;
/// use std::cell::RefCell;
///
/// static LOG: ReentrantMutex<RefCell<Vec<u32>>> = ReentrantMutex::new(RefCell::new(Vec::new()));
///
/// fn log(number: u32) {
///     LOG.lock().borrow_mut().push(number);
/// }
///
/// // No other thread logs in between.
/// let both = LOG.lock();
/// log(1);
/// log(2);
/// assert_eq!(*both.borrow(), [1, 2]);
/// ```
///
/// # Methods
///
/// The methods are those of [`lock_api::ReentrantMutex`]:
///
/// - `const fn new(value: T) -> ReentrantMutex<T>`: creates an unlocked mutex.
/// - `lock(&self) -> ReentrantMutexGuard<'_, T>`: takes the lock, and waits for it. If the caller holds it, the
///   call returns at once. The lock becomes free when the last of its guards is dropped.
/// - `try_lock(&self) -> Option<ReentrantMutexGuard<'_, T>>`: fails if another thread holds the lock. Never
///   waits.
/// - `try_lock_for(&self, Duration) -> Option<ReentrantMutexGuard<'_, T>>`: waits no longer than that.
/// - `try_lock_until(&self, Instant) -> Option<ReentrantMutexGuard<'_, T>>`: waits until then at the latest.
/// - `is_locked(&self) -> bool`: returns `true` if a thread holds the lock. `is_owned_by_current_thread` returns `true`
///   if the caller does.
/// - `get_mut(&mut self) -> &mut T` and `into_inner(self) -> T`: give the value, without locking.
///
/// The guard is a [`lock_api::ReentrantMutexGuard`]. It has these functions:
///
/// - `ReentrantMutexGuard::map(guard, FnOnce(&T) -> &U) -> MappedReentrantMutexGuard<'_, U>`: returns a guard of a part
///   of the value. `try_map` returns a `Result`, because its closure returns an `Option`.
/// - `ReentrantMutexGuard::unlocked(&mut guard, FnOnce() -> U) -> U`: gives up this guard's hold while a
///   closure runs. The lock stays locked if the thread has another guard.
/// - `ReentrantMutexGuard::unlock_fair(guard)`: if it is the last guard, gives the lock to a thread that sleeps
///   for it, if there is one.
/// - `ReentrantMutexGuard::bump(&mut guard)`: does that, and takes the lock again.
///
/// # Memory ordering, fairness and time-outs
///
/// As for [`Mutex`]. A thread that takes the lock again is not ordered after anything new.
///
/// # Errors and panics
///
/// A thread that holds the lock `usize::MAX` times and takes it once more panics; it still holds the lock. A
/// panic in the critical section drops the guards of that section; there is no poisoning.
///
/// # Threads that end with the lock
///
/// Guards cannot be sent to another thread. If a thread forgets a guard and ends, the lock stays locked: no
/// later thread has the number of that thread.
///
/// # Signals and fork
///
/// A signal handler must not use a lock of this type if the interrupted thread may use the same lock, not even
/// for an attempt: the owner's number and the count of its guards are not changed in one step. In a forked
/// child, the thread that forked still holds what it held, and may take it again. A lock that another thread of
/// the parent held stays locked in the child, also for threads that start there. The lock does not work in
/// memory that several processes share.
///
/// # Size and cost
///
/// 24 bytes on a computer of 64 bits, and zero is unlocked. Without contention it costs what a [`Mutex`] costs,
/// and some plain loads and stores. To take it again costs no atomic read-modify-write. Unlocking does not
/// touch the lock after the store that releases it, so the next owner may free it.
pub type ReentrantMutex<T> =
    lock_api::ReentrantMutex<mutex::RawMutex<Native>, ThreadNumber<Native>, T>;

/// The guard of a [`ReentrantMutex`]: gives up one hold of it when it is dropped. It cannot be sent to another
/// thread.
pub type ReentrantMutexGuard<'a, T> =
    lock_api::ReentrantMutexGuard<'a, mutex::RawMutex<Native>, ThreadNumber<Native>, T>;

/// The guard of a part of the value of a [`ReentrantMutex`]; see the list of
/// [`ReentrantMutex`](ReentrantMutex#methods).
pub type MappedReentrantMutexGuard<'a, T> =
    lock_api::MappedReentrantMutexGuard<'a, mutex::RawMutex<Native>, ThreadNumber<Native>, T>;

/// The guard of an `Arc<ReentrantMutex<T>>`, as [`ArcMutexGuard`].
#[cfg(feature = "arc_lock")]
pub type ArcReentrantMutexGuard<T> =
    lock_api::ArcReentrantMutexGuard<mutex::RawMutex<Native>, ThreadNumber<Native>, T>;

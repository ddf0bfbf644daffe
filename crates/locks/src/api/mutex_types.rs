//! The types of locks with one owner, for one version of `lock_api`, which the place of use calls `lock_api`.

/// Takes where the documentation of that version is.
macro_rules! mutex_types {
    ($lock_api:literal) => {
        /// A value behind a mutex. Waiters spin for some microseconds, then sleep.
        ///
        /// The lock takes four bytes, and zero is unlocked. Without contention, a lock/unlock pair costs one atomic
        /// read-modify-write.
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
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
        /// # }
        /// ```
        ///
        /// # Methods
        ///
        /// Those of [`lock_api::Mutex`]:
        ///
        /// - `const fn new(value: T) -> Mutex<T>`: creates an unlocked mutex.
        /// - `lock(&self) -> MutexGuard<'_, T>`: takes the lock, and waits for it.
        /// - `try_lock(&self) -> Option<MutexGuard<'_, T>>`: takes the lock if it is free. Never waits.
        /// - `try_lock_for(&self, Duration) -> Option<MutexGuard<'_, T>>`: waits no longer than that.
        /// - `try_lock_until(&self, Instant) -> Option<MutexGuard<'_, T>>`: waits until then at the latest.
        /// - `is_locked(&self) -> bool`: returns `true` if a thread holds the lock.
        /// - `get_mut(&mut self) -> &mut T` and `into_inner(self) -> T`: the value, without locking.
        ///
        /// Of the guard, which is a [`lock_api::MutexGuard`]:
        ///
        /// - `MutexGuard::map(guard, FnOnce(&mut T) -> &mut U) -> MappedMutexGuard<'_, U>`: a guard of a part of the
        ///   value. `try_map` returns a `Result`, because its closure returns an `Option`.
        /// - `MutexGuard::unlocked(&mut guard, FnOnce() -> U) -> U`: runs a closure while the lock is not held.
        /// - `MutexGuard::unlock_fair(guard)`: gives the lock to the longest-waiting thread.
        /// - `MutexGuard::bump(&mut guard)`: does that, and takes the lock again.
        /// - `MutexGuard::leak(guard) -> &mut T`: a reference to the value, which stays locked for ever.
        ///
        /// *Ordering.* `lock`, and an attempt that succeeds, acquire what the last unlock released.
        /// `is_locked` acquires nothing.
        ///
        /// *Fairness.* A newly arriving thread takes a free lock even if other threads wait: that is what makes it
        /// fast. The thread that has slept for it longest is overtaken for at most 4 ms; then the lock is reserved for
        /// it. If it has no CPU for 50 us, other threads may take the lock meanwhile. `unlock_fair` hands the lock to
        /// it at once.
        ///
        /// *Errors, panics.* None. A thread that takes a lock it holds waits for ever. A panic in the critical section
        /// releases the lock; there is no poisoning. Up to 65,532 threads of a process can wait in queues; any further
        /// ones poll every millisecond.
        ///
        /// *After unlock.* `unlock` does not touch the mutex after the store that releases it: the next owner
        /// may free it.
        ///
        /// *Signals, forks.* A signal handler may take a *different* lock while the thread it interrupted is waiting
        /// for this one. The exception: if that other lock's owner is itself waiting for this mutex, both hang, because
        /// the interrupted thread may be at the head of the queue. A forked child may use a lock that its thread held.
        /// Not for memory shared between processes.
        ///
        /// *Membarrier.* A thread that goes to sleep for a lock which was quiet for some time interrupts the other CPUs
        /// that run the process (a microsecond or two each, at most once in 100 us for each of them). Set
        /// `LOCKWRIGHT_MEMBARRIER=off` in the environment where that must not be; then unlocking costs an exchange. A
        /// program that installs a system call filter has to allow what [`prepare`](crate::native::prepare) names.
        ///
        /// *Time-outs.* An attempt with a time-out of zero, or until an instant that has passed, takes a free lock. If
        /// the lock is held, it spins and queues for tens of microseconds before it fails.
        ///
        #[doc = concat!("[`lock_api::Mutex`]: ", $lock_api, "/struct.Mutex.html")]
        #[doc = concat!("[`lock_api::MutexGuard`]: ", $lock_api, "/struct.MutexGuard.html")]
        pub type Mutex<T> = lock_api::Mutex<crate::mutex::RawMutex<Native>, T>;
        /// The guard of a [`Mutex`]: unlocks it when it is dropped. It cannot be sent to another thread.
        ///
        /// Its functions are in the list of [`Mutex`].
        pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, crate::mutex::RawMutex<Native>, T>;
        /// The guard of a part of the value of a [`Mutex`]; see the list of [`Mutex`](Mutex#methods).
        pub type MappedMutexGuard<'a, T> =
            lock_api::MappedMutexGuard<'a, crate::mutex::RawMutex<Native>, T>;

        /// A [`Mutex`] whose guards can be sent to other threads. It cannot be used with a [`Condvar`].
        ///
        /// It has the methods of [`Mutex`].
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
        /// use lockwright::{SendMutex, SendMutexGuard};
        ///
        /// static TOTAL: SendMutex<u32> = SendMutex::new(0);
        ///
        /// let mut total: SendMutexGuard<u32> = TOTAL.lock();
        /// std::thread::scope(|scope| {
        ///     scope.spawn(move || *total += 1);
        /// });
        /// assert_eq!(*TOTAL.lock(), 1);
        /// # }
        /// ```
        pub type SendMutex<T> = lock_api::Mutex<Sendable<crate::mutex::RawMutex<Native>>, T>;
        /// The guard of a [`SendMutex`]: unlocks it when it is dropped. It can be sent to another thread.
        pub type SendMutexGuard<'a, T> =
            lock_api::MutexGuard<'a, Sendable<crate::mutex::RawMutex<Native>>, T>;

        /// A value behind the Linux kernel's queued spinlock: waiters spin and are served first come, first served. It
        /// has no time-outs.
        ///
        /// Use it only if every thread that wants the lock has a CPU to itself and holds the lock for nanoseconds. If a
        /// waiter loses its CPU, all threads behind it wait until it runs again. In other programs use [`Mutex`].
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
        /// use lockwright::SpinLock;
        ///
        /// static HITS: SpinLock<u64> = SpinLock::new(0);
        ///
        /// *HITS.lock() += 1;
        /// assert_eq!(*HITS.lock(), 1);
        /// # }
        /// ```
        ///
        /// # Methods
        ///
        /// Those of [`lock_api::Mutex`]:
        ///
        /// - `const fn new(value: T) -> SpinLock<T>`: creates an unlocked lock.
        /// - `lock(&self) -> SpinLockGuard<'_, T>`: takes the lock, and waits for it.
        /// - `try_lock(&self) -> Option<SpinLockGuard<'_, T>>`: takes the lock if it is free and no thread waits for
        ///   it. Never waits.
        /// - `is_locked(&self) -> bool`: returns `true` if a thread holds the lock.
        /// - `get_mut(&mut self) -> &mut T` and `into_inner(self) -> T`: the value, without locking.
        ///
        /// `try_lock_for` and `try_lock_until` do not exist here ("its trait bounds were not satisfied"): a waiter
        /// cannot leave the middle of the queue, because the waiter behind it waits for a word that only it writes.
        /// [`Mutex`] has time-outs.
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
        /// # Errors and panics
        ///
        /// There are none. A thread that takes a lock which it holds waits for ever. A panic in the critical section
        /// unlocks the lock; there is no poisoning. Up to 65,532 threads of a process can wait in queues; any further
        /// ones compete for the lock in no order.
        ///
        /// # Signals and fork
        ///
        /// A signal handler must not wait for a lock that the interrupted thread holds or is about to take. It may use
        /// `try_lock`. A forked child may use the lock; if another thread of the parent held it, it stays locked in the
        /// child. The lock does not work in memory that several processes share.
        ///
        /// # Size
        ///
        /// Four bytes, and zero is unlocked. Unlocking does not touch the lock after the store that releases it, so the
        /// next owner may free it.
        ///
        #[doc = concat!("[`lock_api::Mutex`]: ", $lock_api, "/struct.Mutex.html")]
        pub type SpinLock<T> = lock_api::Mutex<crate::qspinlock::QSpinlock<Native>, T>;
        /// The guard of a [`SpinLock`]: unlocks it when it is dropped. It can be sent to another thread.
        pub type SpinLockGuard<'a, T> =
            lock_api::MutexGuard<'a, crate::qspinlock::QSpinlock<Native>, T>;

        /// A value behind the NUMA-aware queued spinlock (CNA, version 10): a [`SpinLock`] for machines with several
        /// NUMA nodes.
        ///
        /// Waiters on the NUMA node of the owner are served first for a while, so that the lock and its value stay in
        /// the caches of one node. On a machine with one NUMA node it is a [`SpinLock`], and what is said there holds
        /// for both: methods, memory ordering, no time-outs, signals, fork and size.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
        /// use lockwright::CnaSpinLock;
        ///
        /// static LOG: CnaSpinLock<Vec<u32>> = CnaSpinLock::new(Vec::new());
        ///
        /// LOG.lock().push(7);
        /// assert_eq!(LOG.lock().len(), 1);
        /// # }
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
        pub type CnaSpinLock<T> = lock_api::Mutex<crate::qspinlock::CnaSpinlock<Native>, T>;
        /// The guard of a [`CnaSpinLock`]: unlocks it when it is dropped. It can be sent to another thread.
        pub type CnaSpinLockGuard<'a, T> =
            lock_api::MutexGuard<'a, crate::qspinlock::CnaSpinlock<Native>, T>;
    };
}
pub(super) use mutex_types;

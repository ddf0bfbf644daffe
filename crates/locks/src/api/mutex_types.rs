//! The types of locks with one owner, for one version of `lock_api`, which the place of use calls `lock_api`.

/// Takes where the documentation of that version is.
macro_rules! mutex_types {
    ($lock_api:literal) => {
        /// A value behind a mutex: one thread at a time can use it. A thread that has to wait spins for some
        /// microseconds and then sleeps.
        ///
        /// # Examples
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
        /// - `MutexGuard::unlock_fair(guard)`: gives the lock to a thread that sleeps for it, if there is one.
        /// - `MutexGuard::bump(&mut guard)`: does that, and takes the lock again.
        /// - `MutexGuard::leak(guard) -> &mut T`: a reference to the value, which stays locked for ever.
        ///
        /// # Memory ordering
        ///
        /// `lock`, and an attempt that succeeds, see what all earlier owners did before they unlocked. `is_locked`
        /// orders nothing.
        ///
        /// # Fairness
        ///
        /// A thread that comes when the lock is free takes it, even if other threads sleep for it. That makes the lock
        /// fast. The threads that sleep are woken in turn. One that has been woken and still finds the lock held 4 ms
        /// later reserves it. From then on only threads that were woken get the lock, until this one has had it. If
        /// they have no CPU for 50 us while the lock is free, another thread may take it. So 4 ms is no bound on a busy
        /// machine: with 32 threads on two CPUs, a wait of 41 ms was measured. An attempt may take a free lock at any
        /// time: `try_lock` fails only if a thread holds the lock, or if it was given to a thread by `unlock_fair`.
        /// A thread that only makes attempts can overtake a waiter for longer.
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
        /// The guard of an `Arc<Mutex<T>>`, made by its `lock_arc` and the like (feature `arc_lock`). It keeps the
        /// `Arc`, so it has no lifetime. It cannot be sent to another thread.
        #[cfg(feature = "arc_lock")]
        pub type ArcMutexGuard<T> = lock_api::ArcMutexGuard<crate::mutex::RawMutex<Native>, T>;

        /// A [`Mutex`] for machines with several NUMA nodes: the threads that spin for it are served node by node, in
        /// the order of [`CnaSpinLock`].
        ///
        /// It has the methods and the fairness of [`Mutex`]: the 4 ms count for a thread of any node. On a machine with
        /// one NUMA node, and by default in a virtual machine, it is a [`Mutex`].
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
        /// use lockwright::CnaMutex;
        ///
        /// static LOG: CnaMutex<Vec<u32>> = CnaMutex::new(Vec::new());
        ///
        /// LOG.lock().push(7);
        /// assert_eq!(LOG.lock().len(), 1);
        /// # }
        /// ```
        pub type CnaMutex<T> = lock_api::Mutex<crate::mutex::RawCnaMutex<Native>, T>;
        /// The guard of a [`CnaMutex`]: unlocks it when it is dropped. It cannot be sent to another thread.
        pub type CnaMutexGuard<'a, T> =
            lock_api::MutexGuard<'a, crate::mutex::RawCnaMutex<Native>, T>;
        /// The guard of a part of the value of a [`CnaMutex`]; see the list of [`Mutex`](Mutex#methods).
        pub type MappedCnaMutexGuard<'a, T> =
            lock_api::MappedMutexGuard<'a, crate::mutex::RawCnaMutex<Native>, T>;
        /// The guard of an `Arc<CnaMutex<T>>`, as [`ArcMutexGuard`].
        #[cfg(feature = "arc_lock")]
        pub type ArcCnaMutexGuard<T> =
            lock_api::ArcMutexGuard<crate::mutex::RawCnaMutex<Native>, T>;

        /// A [`Mutex`] whose guards can be sent to other threads.
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
        /// The guard of a part of the value of a [`SendMutex`]; see the list of [`Mutex`](Mutex#methods).
        pub type MappedSendMutexGuard<'a, T> =
            lock_api::MappedMutexGuard<'a, Sendable<crate::mutex::RawMutex<Native>>, T>;
        /// The guard of an `Arc<SendMutex<T>>`, as [`ArcMutexGuard`]. It can be sent to another thread.
        #[cfg(feature = "arc_lock")]
        pub type ArcSendMutexGuard<T> =
            lock_api::ArcMutexGuard<Sendable<crate::mutex::RawMutex<Native>>, T>;

        /// A [`Mutex`] whose every unlock is fair: if a thread sleeps for the lock, the unlock gives it the lock.
        ///
        /// It cannot be used with a [`Condvar`]. A [`Mutex`] has a fair unlock, too, for the places that need it:
        /// `MutexGuard::unlock_fair`.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
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
        /// # }
        /// ```
        ///
        /// # Methods
        ///
        /// Those of [`Mutex`], time-outs included. Messages and `{:?}` call this type `Mutex`.
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
        pub type FairMutex<T> = lock_api::Mutex<crate::mutex::RawFairMutex<Native>, T>;
        /// The guard of a [`FairMutex`]: gives the lock to a thread that sleeps for it, or frees it, when it is
        /// dropped. It cannot be sent to another thread.
        pub type FairMutexGuard<'a, T> =
            lock_api::MutexGuard<'a, crate::mutex::RawFairMutex<Native>, T>;
        /// The guard of a part of the value of a [`FairMutex`]; see the list of [`Mutex`](Mutex#methods).
        pub type MappedFairMutexGuard<'a, T> =
            lock_api::MappedMutexGuard<'a, crate::mutex::RawFairMutex<Native>, T>;
        /// The guard of an `Arc<FairMutex<T>>`, as [`ArcMutexGuard`].
        #[cfg(feature = "arc_lock")]
        pub type ArcFairMutexGuard<T> =
            lock_api::ArcMutexGuard<crate::mutex::RawFairMutex<Native>, T>;

        /// A value behind the Linux kernel's queued spinlock: waiters spin and are served first come, first served.
        ///
        /// Use it only if every thread that wants the lock has a CPU to itself and holds the lock for less than a
        /// microsecond. If a waiter loses its CPU, all threads behind it wait until it runs again. In other programs
        /// use [`Mutex`].
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
        /// A waiter with a time-out queues like any other. When its time is over, it returns at most 100 us later if it
        /// has a CPU, and the other waiters keep their places. Its queue node stays in the queue until it would have
        /// been its turn. Before that, further attempts of its thread with a time-out wait without a place in a queue,
        /// so waiters that come later may overtake them. An attempt with a time-out of zero is a `try_lock`. The other
        /// methods cost the same as without time-outs.
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
        ///
        #[doc = concat!("[`lock_api::Mutex`]: ", $lock_api, "/struct.Mutex.html")]
        pub type SpinLock<T> = lock_api::Mutex<crate::qspinlock::QSpinlock<Native>, T>;
        /// The guard of a [`SpinLock`]: unlocks it when it is dropped. It can be sent to another thread.
        pub type SpinLockGuard<'a, T> =
            lock_api::MutexGuard<'a, crate::qspinlock::QSpinlock<Native>, T>;
        /// The guard of a part of the value of a [`SpinLock`]; see the list of [`Mutex`](Mutex#methods).
        pub type MappedSpinLockGuard<'a, T> =
            lock_api::MappedMutexGuard<'a, crate::qspinlock::QSpinlock<Native>, T>;
        /// The guard of an `Arc<SpinLock<T>>`, as [`ArcMutexGuard`]. It can be sent to another thread.
        #[cfg(feature = "arc_lock")]
        pub type ArcSpinLockGuard<T> =
            lock_api::ArcMutexGuard<crate::qspinlock::QSpinlock<Native>, T>;

        /// A value behind the NUMA-aware queued spinlock (CNA, version 10): a [`SpinLock`] for machines with several
        /// NUMA nodes.
        ///
        /// Waiters on the NUMA node of the owner are served first for a while, so that the lock and its value stay in
        /// the caches of one node. On a machine with one NUMA node, and by default in a virtual machine, it is a
        /// [`SpinLock`], and what is said there holds for both: methods, memory ordering, time-outs, signals, fork
        /// and size.
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
        /// The guard of a part of the value of a [`CnaSpinLock`]; see the list of [`Mutex`](Mutex#methods).
        pub type MappedCnaSpinLockGuard<'a, T> =
            lock_api::MappedMutexGuard<'a, crate::qspinlock::CnaSpinlock<Native>, T>;
        /// The guard of an `Arc<CnaSpinLock<T>>`, as [`ArcMutexGuard`]. It can be sent to another thread.
        #[cfg(feature = "arc_lock")]
        pub type ArcCnaSpinLockGuard<T> =
            lock_api::ArcMutexGuard<crate::qspinlock::CnaSpinlock<Native>, T>;

        /// The lock of a [`Mutex`] without its value, for types that are generic over raw locks. It is unlocked with
        /// `lock_api::RawMutex::INIT`.
        pub type RawMutex = crate::mutex::RawMutex<Native>;
        /// The lock of a [`FairMutex`] without its value, as [`RawMutex`].
        pub type RawFairMutex = crate::mutex::RawFairMutex<Native>;
    };
}
pub(super) use mutex_types;

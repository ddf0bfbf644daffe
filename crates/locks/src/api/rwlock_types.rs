//! The types of locks that readers share, for one version of `lock_api`, which the place of use calls `lock_api`.

/// The guards of a part of the value of a lock, and of an `Arc` of it.
macro_rules! more_guards {
    ($lock:ident, $raw:ty: $read_part:ident, $write_part:ident, $read_arc:ident, $write_arc:ident) => {
        #[doc = concat!("The guard of a reader of a part of the value of a [`", stringify!($lock), "`]. ")]
        /// It can be sent to another thread if the guard of the whole value can. The list of [`RwLock`](RwLock#methods)
        /// tells how it is made.
        pub type $read_part<'a, T> = lock_api::MappedRwLockReadGuard<'a, $raw, T>;
        #[doc = concat!("The guard of the writer of a part of the value of a [`", stringify!($lock), "`], ")]
        #[doc = concat!("as [`", stringify!($read_part), "`].")]
        pub type $write_part<'a, T> = lock_api::MappedRwLockWriteGuard<'a, $raw, T>;
        #[doc = concat!("The guard of a reader of an `Arc<", stringify!($lock), "<T>>`, made by its `read_arc` and ")]
        /// the like (feature `arc_lock`). It keeps the `Arc`, so it has no lifetime. It can be sent to another thread
        /// if the guard of the lock itself can.
        #[cfg(feature = "arc_lock")]
        pub type $read_arc<T> = lock_api::ArcRwLockReadGuard<$raw, T>;
        #[doc = concat!("The guard of the writer of an `Arc<", stringify!($lock), "<T>>`, ")]
        #[doc = concat!("as [`", stringify!($read_arc), "`].")]
        #[cfg(feature = "arc_lock")]
        pub type $write_arc<T> = lock_api::ArcRwLockWriteGuard<$raw, T>;
    };
}
pub(super) use more_guards;

/// Takes where the documentation of that version is, and the documentation of the methods for recursive reads, where
/// that version has them.
macro_rules! rwlock_types {
    ($lock_api:literal $(#[$recursive:meta])*) => {
        /// A value behind a reader-writer lock: one writer, or many readers at the same time. A thread that has to wait
        /// spins for some microseconds and then sleeps.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
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
        /// # }
        /// ```
        ///
        /// # Methods
        ///
        /// Those of [`lock_api::RwLock`]. `R` is `RwLockReadGuard<'_, T>`, and `W` is `RwLockWriteGuard<'_, T>`.
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
        $(#[$recursive])*
        /// - `is_locked(&self) -> bool`: returns `true` if a thread holds the lock. `is_locked_exclusive`: if a writer
        ///   does.
        /// - `get_mut(&mut self) -> &mut T` and `into_inner(self) -> T`: the value, without locking.
        ///
        /// Of the guards, which are [`lock_api::RwLockReadGuard`] and [`lock_api::RwLockWriteGuard`]:
        ///
        /// - `RwLockWriteGuard::downgrade(guard) -> R`: makes the writer a reader; no other writer comes in between.
        /// - `RwLockUpgradableReadGuard::upgrade(guard) -> W`: waits for the other readers and makes the reader the
        ///   writer; no thread writes in between. `try_upgrade`, `try_upgrade_for` and `try_upgrade_until` return the
        ///   guard in `Err` if there are other readers. `downgrade(guard) -> R`: goes on as one of the readers.
        ///   `RwLockWriteGuard::downgrade_to_upgradable(guard) -> U`: makes the writer such a reader.
        /// - `RwLockReadGuard::unlock_fair(guard)`, and the same of the other guards: unlocks for the thread that has
        ///   waited longest, if one sleeps. `bump(&mut guard)` does that, and takes the lock again.
        /// - `RwLockReadGuard::map(guard, FnOnce(&T) -> &U) -> MappedRwLockReadGuard<'_, U>` and
        ///   `RwLockWriteGuard::map(guard, FnOnce(&mut T) -> &mut U) -> MappedRwLockWriteGuard<'_, U>`: a guard of a
        ///   part of the value.
        /// - `RwLockReadGuard::unlocked(&mut guard, FnOnce() -> U) -> U` and the same of the write guard: run a closure
        ///   while the lock is not held.
        ///
        /// # Memory ordering
        ///
        /// A writer sees what the last writer did, and that the readers since then have finished. A reader sees what
        /// the last writer did. `is_locked` orders nothing.
        ///
        /// # Fairness
        ///
        /// Threads that come when the lock is free take it, even if others sleep for it, and a thread that reads joins
        /// the readers. That makes the lock fast. The others wait in the order of their arrival, and the first of them
        /// is woken each time the lock becomes free. The lock is reserved for it if it still finds the lock held after
        /// 4 ms, and for a writer that has waited for 4 ms while readers hold the lock. Then threads that come queue
        /// behind it. If it has no CPU for 50 us while the lock is free, another thread may take the lock. An attempt
        /// may at any time: where `try_write` and `try_read` cannot wait, they take a free lock even if it is reserved,
        /// and it stays so. While readers hold the lock, `try_read` fails only if it is reserved for a writer, or a
        /// writer spins.
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
        /// As for [`Mutex`].
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
        /// As for [`Mutex`]. The handler of a fault (`SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL`, `SIGTRAP`, `SIGSYS`) can
        /// interrupt an operation on a reader-writer lock for programs or on a semaphore where no other handler can, if
        /// that lock lies in the memory that faults, or if such a signal is sent. Then it must not use locks of these
        /// types, and must return or end the process.
        ///
        /// # Size and cost
        ///
        /// Four bytes, and zero is unlocked. Without contention, lock and unlock cost two atomic read-modify-writes.
        /// Unlocking does not touch the lock after the second one, so the next owner may free it. Up to 65,532 threads
        /// of a process can wait in queues; if there are more, the others look every millisecond.
        ///
        #[doc = concat!("[`lock_api::RwLock`]: ", $lock_api, "/struct.RwLock.html")]
        #[doc = concat!("[`lock_api::RwLockReadGuard`]: ", $lock_api, "/struct.RwLockReadGuard.html")]
        #[doc = concat!("[`lock_api::RwLockWriteGuard`]: ", $lock_api, "/struct.RwLockWriteGuard.html")]
        pub type RwLock<T> = lock_api::RwLock<crate::rwlock::RawRwLock<Native>, T>;
        /// The guard of a reader of a [`RwLock`]. It cannot be sent to another thread.
        pub type RwLockReadGuard<'a, T> =
            lock_api::RwLockReadGuard<'a, crate::rwlock::RawRwLock<Native>, T>;
        /// The guard of the writer of a [`RwLock`]. It cannot be sent to another thread.
        pub type RwLockWriteGuard<'a, T> =
            lock_api::RwLockWriteGuard<'a, crate::rwlock::RawRwLock<Native>, T>;
        /// The guard of the reader of a [`RwLock`] that may become the writer. It cannot be sent to another thread.
        pub type RwLockUpgradableReadGuard<'a, T> =
            lock_api::RwLockUpgradableReadGuard<'a, crate::rwlock::RawRwLock<Native>, T>;

        /// A [`RwLock`] whose guards can be sent to other threads. It has the methods of [`RwLock`].
        ///
        /// # Fairness
        ///
        /// As for [`RwLock`], but for its bound. No thread knows which of these locks it reads, because its guards may
        /// be elsewhere. So a thread that waits to read while readers hold the lock joins them after 10 ms: it may be
        /// one of them. Readers that hold the lock for longer than that can keep a writer waiting **without bound**.
        pub type SendRwLock<T> = lock_api::RwLock<Sendable<crate::rwlock::RawRwLock<Native, crate::rwlock::Unlisted>>, T>;
        /// The guard of a reader of a [`SendRwLock`]. It can be sent to another thread.
        pub type SendRwLockReadGuard<'a, T> =
            lock_api::RwLockReadGuard<'a, Sendable<crate::rwlock::RawRwLock<Native, crate::rwlock::Unlisted>>, T>;
        /// The guard of the writer of a [`SendRwLock`]. It can be sent to another thread.
        pub type SendRwLockWriteGuard<'a, T> =
            lock_api::RwLockWriteGuard<'a, Sendable<crate::rwlock::RawRwLock<Native, crate::rwlock::Unlisted>>, T>;

        /// The guard of the reader of a [`SendRwLock`] that may become the writer. It can be sent to another thread.
        pub type SendRwLockUpgradableReadGuard<'a, T> =
            lock_api::RwLockUpgradableReadGuard<'a, Sendable<crate::rwlock::RawRwLock<Native, crate::rwlock::Unlisted>>, T>;

        /// A [`RwLock`] that serves waiters first come, first served.
        ///
        /// It has the methods of [`RwLock`], time-outs included, but for recursive reads.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
        /// use lockwright::{FairRwLock, FairRwLockReadGuard};
        ///
        /// static TEXT: FairRwLock<String> = FairRwLock::new(String::new());
        ///
        /// TEXT.write().push_str("ready");
        /// let text: FairRwLockReadGuard<String> = TEXT.read();
        /// assert_eq!(*text, "ready");
        /// # }
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
        pub type FairRwLock<T> =
            lock_api::RwLock<crate::rwlock::RawRwLock<Native, crate::rwlock::Fair>, T>;
        /// The guard of the reader of a [`FairRwLock`] that may become the writer. It cannot be sent to another thread.
        pub type FairRwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<
            'a,
            crate::rwlock::RawRwLock<Native, crate::rwlock::Fair>,
            T,
        >;
        /// The guard of a reader of a [`FairRwLock`]. It cannot be sent to another thread.
        pub type FairRwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<
            'a,
            crate::rwlock::RawRwLock<Native, crate::rwlock::Fair>,
            T,
        >;
        /// The guard of the writer of a [`FairRwLock`]. It cannot be sent to another thread.
        pub type FairRwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<
            'a,
            crate::rwlock::RawRwLock<Native, crate::rwlock::Fair>,
            T,
        >;

        /// A value that is read all the time and rarely written: readers on different CPUs do not slow each other down.
        ///
        /// Worth it only above about a million reads for each write. Below that it can be several times slower than
        /// [`RwLock`] or [`Mutex`]. To estimate: reads per second times the seconds between two writes. An example is a
        /// configuration that is replaced every few minutes and read millions of times in between.
        ///
        /// Once no thread has written for long enough, a reader writes only to memory of its own thread. Then a read
        /// lock and its unlock are three plain stores and some plain loads. A write costs more than with [`RwLock`]:
        /// the first writer after that interrupts every CPU that runs the process, and waits for the readers.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
        /// use lockwright::PercpuRwLock;
        ///
        /// static LIMITS: PercpuRwLock<[u32; 2]> = PercpuRwLock::new([0, 10]);
        ///
        /// LIMITS.write()[1] = 20;
        /// assert_eq!(LIMITS.read()[1], 20);
        /// # }
        /// ```
        ///
        /// # Methods
        ///
        /// Those of [`RwLock`], time-outs included, but for upgradable reads, `unlock_fair` and `bump`. Messages and
        /// `{:?}` call this type `RwLock`, since all of them are made of `lock_api::RwLock`.
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
        /// If a read guard is forgotten, no thread can write any more, as with any lock. Its thread also loses one of
        /// the four places for ever. If a thread reads the same lock 2^23 times at once, `read` may end the process
        /// and attempts may fail, as at the limit of [`RwLock`].
        ///
        /// # Signals and fork
        ///
        /// As for [`Mutex`]. If a child was not made by the C library's `fork`, a lock that another thread was reading
        /// at that moment stays read in the child. A program that installs a system call filter has to allow what
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
        pub type PercpuRwLock<T> =
            lock_api::RwLock<crate::percpu_rwlock::RawPercpuRwLock<Native>, T>;
        /// The guard of a reader of a [`PercpuRwLock`]. It is not `Send`: it must be dropped by the thread that made
        /// it.
        ///
        /// There is no form of it that can be sent, because the reader is noted in memory of its thread.
        pub type PercpuRwLockReadGuard<'a, T> =
            lock_api::RwLockReadGuard<'a, crate::percpu_rwlock::RawPercpuRwLock<Native>, T>;
        /// The guard of the writer of a [`PercpuRwLock`]. It cannot be sent to another thread.
        pub type PercpuRwLockWriteGuard<'a, T> =
            lock_api::RwLockWriteGuard<'a, crate::percpu_rwlock::RawPercpuRwLock<Native>, T>;

        /// A value behind the Linux kernel's queued reader-writer spinlock: one writer, or many readers. Waiters spin,
        /// and there are no time-outs.
        ///
        /// Use it only if every thread that wants the lock has a CPU to itself and holds the lock for nanoseconds. In
        /// other programs use [`RwLock`].
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
        /// use lockwright::{QRwLock, QRwLockWriteGuard};
        ///
        /// static ROUTES: QRwLock<[u32; 4]> = QRwLock::new([0; 4]);
        ///
        /// let mut routes = ROUTES.write();
        /// routes[1] = 7;
        /// // Other threads may read from here on, and no thread writes in between.
        /// let routes = QRwLockWriteGuard::downgrade(routes);
        /// assert_eq!((routes[1], ROUTES.read()[1]), (7, 7));
        /// assert!(ROUTES.try_write().is_none());
        /// # }
        /// ```
        ///
        /// # Methods
        ///
        /// Those of [`lock_api::RwLock`]. `R` is `QRwLockReadGuard<'_, T>`, and `W` is `QRwLockWriteGuard<'_, T>`.
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
        /// A writer sees what all earlier writers and readers did before they unlocked, a reader what all earlier
        /// writers did.
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
        ///
        #[doc = concat!("[`lock_api::RwLock`]: ", $lock_api, "/struct.RwLock.html")]
        pub type QRwLock<T> = lock_api::RwLock<crate::qrwlock::RawQRwLock<Native>, T>;
        /// The guard of a reader of a [`QRwLock`]. It can be sent to another thread.
        pub type QRwLockReadGuard<'a, T> =
            lock_api::RwLockReadGuard<'a, crate::qrwlock::RawQRwLock<Native>, T>;
        /// The guard of the writer of a [`QRwLock`]. It can be sent to another thread.
        pub type QRwLockWriteGuard<'a, T> =
            lock_api::RwLockWriteGuard<'a, crate::qrwlock::RawQRwLock<Native>, T>;

        /// A value behind the Linux kernel's reader-writer semaphore of today: one writer, or many readers.
        ///
        /// It is here to compare with, or for programs that want the kernel's rules. Most programs are better off with
        /// [`RwLock`], which is smaller and allows recursive reads.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
        /// use lockwright::{RwSemLock, RwSemWriteGuard};
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
        /// # }
        /// ```
        ///
        /// # Methods
        ///
        /// Those of [`RwLock`], time-outs included, but for recursive and upgradable reads, `unlock_fair` and `bump`.
        /// `try_read` and `try_write` may fail on a lock that is free at the moment, if a thread waits for it or a
        /// reader is just trying. A time-out of zero makes one attempt. [`InterruptibleRwLock`] has waits that another
        /// thread can end.
        ///
        /// # The kernel's own rules
        ///
        /// In a program, a wake-up is a system call, and a lock does not know which threads run. So this type is
        /// changed in some rules (policy `rwsem::CurrentInPrograms`). The kernel's rules, unchanged, are a type, too:
        /// `lock_api::RwLock<RwSem<Native, rwsem::Current>, T>`. Such a lock has the same methods.
        ///
        /// # Memory ordering
        ///
        /// A writer sees what all earlier writers and readers did before they unlocked, a reader what all earlier
        /// writers did.
        ///
        /// # Fairness
        ///
        /// Newly arriving threads may overtake waiters. Once the first waiter has waited for 4 ms, or has been woken,
        /// and finds the lock held again, no thread overtakes it.
        ///
        /// # Errors and panics
        ///
        /// There are none. A thread that takes a lock which it owns waits for ever; so may a thread that reads while it
        /// already reads, if a writer came in between. A panic in the critical section unlocks the lock. Once 2^55 - 1
        /// readers hold the lock, further ones wait. Up to 65,532 threads of a process can wait in queues; any further
        /// ones poll every millisecond.
        ///
        /// # Signals and fork
        ///
        /// A signal handler must not take the lock if the interrupted thread may be about to take it or to give it
        /// back. A forked child may use the lock only if no thread
        /// waited for it at the time of the fork. The lock does not work in memory that
        /// several processes share.
        ///
        /// # Size
        ///
        /// 48 bytes, and zero is unlocked. Unlocking touches the lock after other threads may have it, so the lock must
        /// outlive every call.
        pub type RwSemLock<T> = lock_api::RwLock<crate::rwsem::RwSem<Native>, T>;
        /// The guard of a reader of a [`RwSemLock`]. It can be sent to another thread.
        pub type RwSemReadGuard<'a, T> =
            lock_api::RwLockReadGuard<'a, crate::rwsem::RwSem<Native>, T>;
        /// The guard of the writer of a [`RwSemLock`]. It can be sent to another thread.
        pub type RwSemWriteGuard<'a, T> =
            lock_api::RwLockWriteGuard<'a, crate::rwsem::RwSem<Native>, T>;

        more_guards!(
            RwLock, crate::rwlock::RawRwLock<Native>:
            MappedRwLockReadGuard, MappedRwLockWriteGuard, ArcRwLockReadGuard, ArcRwLockWriteGuard
        );
        more_guards!(
            SendRwLock, Sendable<crate::rwlock::RawRwLock<Native, crate::rwlock::Unlisted>>:
            MappedSendRwLockReadGuard, MappedSendRwLockWriteGuard, ArcSendRwLockReadGuard, ArcSendRwLockWriteGuard
        );
        more_guards!(
            FairRwLock, crate::rwlock::RawRwLock<Native, crate::rwlock::Fair>:
            MappedFairRwLockReadGuard, MappedFairRwLockWriteGuard, ArcFairRwLockReadGuard, ArcFairRwLockWriteGuard
        );
        more_guards!(
            PercpuRwLock, crate::percpu_rwlock::RawPercpuRwLock<Native>:
            MappedPercpuRwLockReadGuard, MappedPercpuRwLockWriteGuard, ArcPercpuRwLockReadGuard, ArcPercpuRwLockWriteGuard
        );
        more_guards!(
            QRwLock, crate::qrwlock::RawQRwLock<Native>:
            MappedQRwLockReadGuard, MappedQRwLockWriteGuard, ArcQRwLockReadGuard, ArcQRwLockWriteGuard
        );
        more_guards!(
            RwSemLock, crate::rwsem::RwSem<Native>:
            MappedRwSemReadGuard, MappedRwSemWriteGuard, ArcRwSemReadGuard, ArcRwSemWriteGuard
        );
        /// The guard of the reader of an `Arc<RwLock<T>>` that may become the writer, as
        /// [`ArcRwLockReadGuard`].
        #[cfg(feature = "arc_lock")]
        pub type ArcRwLockUpgradableReadGuard<T> =
            lock_api::ArcRwLockUpgradableReadGuard<crate::rwlock::RawRwLock<Native>, T>;
        /// The guard of the reader of an `Arc<SendRwLock<T>>` that may become the writer, as
        /// [`ArcSendRwLockReadGuard`].
        #[cfg(feature = "arc_lock")]
        pub type ArcSendRwLockUpgradableReadGuard<T> =
            lock_api::ArcRwLockUpgradableReadGuard<Sendable<crate::rwlock::RawRwLock<Native, crate::rwlock::Unlisted>>, T>;
        /// The guard of the reader of an `Arc<FairRwLock<T>>` that may become the writer, as
        /// [`ArcFairRwLockReadGuard`].
        #[cfg(feature = "arc_lock")]
        pub type ArcFairRwLockUpgradableReadGuard<T> =
            lock_api::ArcRwLockUpgradableReadGuard<crate::rwlock::RawRwLock<Native, crate::rwlock::Fair>, T>;

        /// The lock of a [`RwLock`] without its value, for types that are generic over raw locks. It is unlocked with
        /// `lock_api::RawRwLock::INIT`.
        pub type RawRwLock = crate::rwlock::RawRwLock<Native>;
    };
}
pub(super) use rwlock_types;

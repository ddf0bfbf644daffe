//! The mutex that its owner may take again, for one version of `lock_api`, which the place of use calls `lock_api`.

use crate::platform::ThreadNumbers;
use core::marker::PhantomData;
use core::num::NonZeroUsize;

/// The number of the calling thread, by which a [`ReentrantMutex`](crate::ReentrantMutex) knows its owner.
///
/// It is the platform's number of the thread (`this_thread`). No other living thread has it. In programs a number is
/// never used again, also not in a forked child. The thread that forked keeps its number there.
pub struct ThreadNumber<P>(PhantomData<fn() -> P>);

impl<P: ThreadNumbers> ThreadNumber<P> {
    /// It has no state.
    const NEW: Self = Self(PhantomData);

    /// The lowest bits of a thread's number are 0, so two numbers stay different with a bit set there.
    #[inline]
    fn of_caller() -> NonZeroUsize {
        NonZeroUsize::MIN | P::this_thread() as usize
    }
}

#[cfg(feature = "lock_api")]
// SAFETY: by the contract of `ThreadNumbers` no two living threads have the same number.
unsafe impl<P: ThreadNumbers> lock_api::GetThreadId for ThreadNumber<P> {
    const INIT: Self = Self::NEW;

    #[inline]
    fn nonzero_thread_id(&self) -> NonZeroUsize {
        Self::of_caller()
    }
}

#[cfg(feature = "lock_api_05")]
// SAFETY: by the contract of `ThreadNumbers` no two living threads have the same number, and a thread keeps its own.
unsafe impl<P: ThreadNumbers> lock_api_05::GetThreadId for ThreadNumber<P> {
    const INIT: Self = Self::NEW;

    #[inline]
    fn nonzero_thread_id(&self) -> NonZeroUsize {
        Self::of_caller()
    }
}

/// Takes where the documentation of that version is.
#[cfg(all(feature = "std", target_os = "linux"))]
macro_rules! reentrant_types {
    ($lock_api:literal) => {
        /// A value behind a [`Mutex`] that its owner may take again. It gives shared references only.
        ///
        /// To change the value, put a [`Cell`](core::cell::Cell) or a [`RefCell`](core::cell::RefCell) into the lock.
        ///
        /// # Examples
        ///
        /// ```
        /// # #[cfg(feature = "lock_api")] {
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
        /// # }
        /// ```
        ///
        /// # Methods
        ///
        /// Those of [`lock_api::ReentrantMutex`]:
        ///
        /// - `const fn new(value: T) -> ReentrantMutex<T>`: creates an unlocked mutex.
        /// - `lock(&self) -> ReentrantMutexGuard<'_, T>`: takes the lock, and waits for it. If the caller holds it, the
        ///   call returns at once. The lock becomes free when the last of its guards is dropped.
        /// - `try_lock(&self) -> Option<ReentrantMutexGuard<'_, T>>`: fails if another thread holds the lock. Never
        ///   waits.
        /// - `try_lock_for(&self, Duration) -> Option<ReentrantMutexGuard<'_, T>>`: waits no longer than that.
        /// - `try_lock_until(&self, Instant) -> Option<ReentrantMutexGuard<'_, T>>`: waits until then at the latest.
        /// - `is_locked(&self) -> bool`: returns `true` if a thread holds the lock. `is_owned_by_current_thread`: if
        ///   the caller does.
        /// - `get_mut(&mut self) -> &mut T` and `into_inner(self) -> T`: the value, without locking.
        ///
        /// Of the guard, which is a [`lock_api::ReentrantMutexGuard`]:
        ///
        /// - `ReentrantMutexGuard::map(guard, FnOnce(&T) -> &U) -> MappedReentrantMutexGuard<'_, U>`: a guard of a part
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
        ///
        #[doc = concat!("[`lock_api::ReentrantMutex`]: ", $lock_api, "/struct.ReentrantMutex.html")]
        #[doc = concat!("[`lock_api::ReentrantMutexGuard`]: ", $lock_api, "/struct.ReentrantMutexGuard.html")]
        pub type ReentrantMutex<T> = lock_api::ReentrantMutex<
            crate::mutex::RawMutex<Native>,
            crate::api::ThreadNumber<Native>,
            T,
        >;
        /// The guard of a [`ReentrantMutex`]: gives up one hold of it when it is dropped. It cannot be sent to another
        /// thread.
        pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<
            'a,
            crate::mutex::RawMutex<Native>,
            crate::api::ThreadNumber<Native>,
            T,
        >;
        /// The guard of a part of the value of a [`ReentrantMutex`]; see the list of
        /// [`ReentrantMutex`](ReentrantMutex#methods).
        pub type MappedReentrantMutexGuard<'a, T> = lock_api::MappedReentrantMutexGuard<
            'a,
            crate::mutex::RawMutex<Native>,
            crate::api::ThreadNumber<Native>,
            T,
        >;
        /// The guard of an `Arc<ReentrantMutex<T>>`, as [`ArcMutexGuard`].
        #[cfg(feature = "arc_lock")]
        pub type ArcReentrantMutexGuard<T> = lock_api::ArcReentrantMutexGuard<
            crate::mutex::RawMutex<Native>,
            crate::api::ThreadNumber<Native>,
            T,
        >;

        /// Tells threads apart, for [`ReentrantMutex`]. It is the `G` of [`lock_api::ReentrantMutex`].
        pub type RawThreadId = crate::api::ThreadNumber<Native>;
    };
}
#[cfg(all(feature = "std", target_os = "linux"))]
pub(super) use reentrant_types;

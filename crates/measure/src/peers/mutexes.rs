//! Mutexes and spinlocks of others behind the interface of ours.

use crate::peers::methods::{looks_locked, methods};
use lockwright_core::raw::{Order, RawLock};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// The guard of an owner, kept next to its lock: two plain stores and two loads of the owner's own cache line.
pub(crate) struct Kept<G>(UnsafeCell<MaybeUninit<G>>);

// SAFETY: the guard is touched by the owner of the lock only. It is dropped where it was made:
// lock and unlock of the workloads happen on one thread.
unsafe impl<G> Send for Kept<G> {}
// SAFETY: as above.
unsafe impl<G> Sync for Kept<G> {}

impl<G> Kept<G> {
    pub(crate) const fn none() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
    /// Keeps the guard of an owner for its unlock.
    #[inline]
    pub(crate) fn keep(&self, guard: G) {
        // SAFETY: the lock is owned, so no other thread touches the slot.
        unsafe { *self.0.get() = MaybeUninit::new(guard) };
    }
    /// The guard of the owner.
    ///
    /// # Safety
    /// The caller owns the lock, and takes the guard once for each time that it was kept.
    #[inline]
    pub(crate) unsafe fn take(&self) -> G {
        // SAFETY: the caller owns the lock, so no other thread touches the slot.
        let slot = unsafe { &*self.0.get() };
        // SAFETY: `keep` filled the slot, and it is read once.
        unsafe { slot.assume_init_read() }
    }
}

/// `std::sync::Mutex`, poison check included.
///
/// It has no unlock but its guard, so the guard is kept.
#[repr(align(64))]
pub struct StdMutex {
    mutex: Mutex<()>,
    guard: Kept<MutexGuard<'static, ()>>,
}

impl StdMutex {
    /// Keeps the guard of an owner for its unlock.
    #[inline]
    pub(crate) fn keep(&self, guard: MutexGuard<'_, ()>) {
        // SAFETY: only the lifetime changes, and `unlock` drops the guard while `self` is borrowed.
        let guard = unsafe { std::mem::transmute::<MutexGuard<'_, ()>, MutexGuard<'_, ()>>(guard) };
        self.guard.keep(guard);
    }
    /// The guard of the owner.
    ///
    /// # Safety
    /// As of [`Kept::take`].
    #[inline]
    pub(crate) unsafe fn take(&self) -> MutexGuard<'static, ()> {
        // SAFETY: by the contract.
        unsafe { self.guard.take() }
    }
}

impl RawLock for StdMutex {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self { mutex: Mutex::new(()), guard: Kept::none() }
    }
    methods! { self;
        lock => self.keep(self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
        try_lock => {
            match self.mutex.try_lock() {
                Ok(guard) => self.keep(guard),
                Err(TryLockError::Poisoned(poisoned)) => self.keep(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => return false,
            }
            true
        };
        // SAFETY: the caller holds the lock, and no more after this.
        unlock => drop(unsafe { self.take() });
        is_locked => matches!(self.mutex.try_lock(), Err(TryLockError::WouldBlock));
    }
}

/// A lock that has `lock_api`'s trait. It is kept as a mutex of nothing, whose guards condition variables want.
#[repr(align(64))]
pub struct OfTrait<R>(pub(crate) lock_api::Mutex<R, ()>);

impl<R: lock_api::RawMutex> OfTrait<R> {
    #[inline(always)]
    fn raw(&self) -> &R {
        // SAFETY: no guard of this mutex exists but inside of a wait, whose caller owns it.
        unsafe { self.0.raw() }
    }
    /// A guard, for a condition variable.
    ///
    /// # Safety
    /// The caller owns the lock, and forgets the guard.
    #[inline(always)]
    pub(crate) unsafe fn guard(&self) -> lock_api::MutexGuard<'_, R, ()> {
        // SAFETY: the caller owns the lock, and there is no other guard.
        unsafe { self.0.make_guard_unchecked() }
    }
}

impl<R: lock_api::RawMutex + Send + Sync + 'static> RawLock for OfTrait<R> {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self(lock_api::Mutex::from_raw(R::INIT, ()))
    }
    methods! { self;
        lock => self.raw().lock();
        try_lock => self.raw().try_lock();
        // SAFETY: the caller holds the lock.
        unlock => unsafe { self.raw().unlock() };
        is_locked => self.raw().is_locked();
    }
}

/// parking_lot's raw mutex with the trait of `lock_api` 0.5. What an acquisition hands to its release is
/// without content there, so it need not be kept.
#[repr(align(64))]
pub struct ParkingLot013(pub(crate) parking_lot_013::Mutex<()>);

/// What stands for an acquisition.
type Taken013 = <parking_lot_013::RawMutex as lock_api_05::RawMutex>::Guard;

const _: () = assert!(size_of::<Taken013>() == 0 && !std::mem::needs_drop::<Taken013>());

impl ParkingLot013 {
    #[inline(always)]
    fn raw(&self) -> &parking_lot_013::RawMutex {
        // SAFETY: as for `OfTrait`.
        unsafe { self.0.raw() }
    }
    /// A guard, for a condition variable.
    ///
    /// # Safety
    /// The caller owns the lock, and forgets the guard.
    #[inline(always)]
    pub(crate) unsafe fn guard(&self) -> parking_lot_013::MutexGuard<'_, ()> {
        // SAFETY: a type without size; the caller owns the lock, so there was a value of it.
        let taken = unsafe { std::mem::zeroed::<Taken013>() };
        // SAFETY: the caller owns the lock, and there is no other guard.
        unsafe { self.0.make_guard_unchecked(taken) }
    }
}

impl RawLock for ParkingLot013 {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self(parking_lot_013::Mutex::new(()))
    }
    methods! { self;
        // What it returns has no content.
        lock => { let _: Taken013 = lock_api_05::RawMutex::lock(self.raw()); };
        try_lock => lock_api_05::RawMutex::try_lock(self.raw()).is_some();
        unlock => {
            // SAFETY: a type without size; the caller holds the lock, so there was a value of it.
            let taken = unsafe { std::mem::zeroed::<Taken013>() };
            // SAFETY: the caller holds the lock.
            unsafe { lock_api_05::RawMutex::unlock(self.raw(), taken) }
        };
        is_locked => lock_api_05::RawMutex::is_locked(self.raw());
    }
}

/// The C library's mutex, of the default kind or of the one that spins for a while.
#[repr(align(64))]
pub struct PthreadMutex<const ADAPTIVE: bool>(pub(crate) UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: the C library synchronises its mutexes.
unsafe impl<const ADAPTIVE: bool> Send for PthreadMutex<ADAPTIVE> {}
// SAFETY: as above.
unsafe impl<const ADAPTIVE: bool> Sync for PthreadMutex<ADAPTIVE> {}

impl<const ADAPTIVE: bool> RawLock for PthreadMutex<ADAPTIVE> {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self(UnsafeCell::new(match ADAPTIVE {
            false => libc::PTHREAD_MUTEX_INITIALIZER,
            true => libc::PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP,
        }))
    }
    methods! { self;
        // SAFETY: a statically initialised mutex that does not move while it is borrowed.
        lock => unsafe { libc::pthread_mutex_lock(self.0.get()) };
        // SAFETY: as in `lock`.
        try_lock => unsafe { libc::pthread_mutex_trylock(self.0.get()) == 0 };
        // SAFETY: as in `lock`; the caller holds the mutex.
        unlock => unsafe { libc::pthread_mutex_unlock(self.0.get()) };
        is_locked => looks_locked(self);
    }
}

/// The C library's spinlock.
#[repr(align(64))]
pub struct PthreadSpin(UnsafeCell<libc::pthread_spinlock_t>);

// SAFETY: the C library synchronises its spinlocks.
unsafe impl Send for PthreadSpin {}
// SAFETY: as above.
unsafe impl Sync for PthreadSpin {}

impl RawLock for PthreadSpin {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        let lock = Self(UnsafeCell::new(0));
        // SAFETY: the pointer is to a live spinlock. It is an integer without address, so it may
        // move between here and its first use.
        unsafe { libc::pthread_spin_init(lock.0.get(), libc::PTHREAD_PROCESS_PRIVATE) };
        lock
    }
    methods! { self;
        // SAFETY: an initialised spinlock that does not move while it is borrowed.
        lock => unsafe { libc::pthread_spin_lock(self.0.get()) };
        // SAFETY: as in `lock`.
        try_lock => unsafe { libc::pthread_spin_trylock(self.0.get()) == 0 };
        // SAFETY: as in `lock`; the caller holds the spinlock.
        unlock => unsafe { libc::pthread_spin_unlock(self.0.get()) };
        is_locked => looks_locked(self);
    }
}

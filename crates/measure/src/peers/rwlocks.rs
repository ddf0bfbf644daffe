//! Reader-writer locks of others behind the interface of ours.

use crate::peers::methods::{looks_locked, methods};
use crate::peers::mutexes::Kept;
use lockwright_core::raw::{Order, RawLock};
use std::cell::UnsafeCell;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// `std::sync::RwLock`, poison check included.
///
/// It has no unlock but its guards. The owner's guard is kept next to it. The guards of readers are all the same, so
/// the first one is kept for all of them.
#[repr(align(64))]
pub struct StdRwLock {
    lock: RwLock<()>,
    owner: Kept<RwLockWriteGuard<'static, ()>>,
    reader: OnceLock<Reader>,
}

/// What every reader of a lock has.
struct Reader(ManuallyDrop<RwLockReadGuard<'static, ()>>);

// SAFETY: it is used only to copy it, and a copy is dropped by a thread that has forgotten its own.
unsafe impl Send for Reader {}
// SAFETY: as above.
unsafe impl Sync for Reader {}

impl StdRwLock {
    #[inline]
    fn keep(&self, guard: RwLockWriteGuard<'_, ()>) {
        // SAFETY: only the lifetime changes, and the guard is dropped while `self` is borrowed.
        let guard = unsafe {
            std::mem::transmute::<RwLockWriteGuard<'_, ()>, RwLockWriteGuard<'_, ()>>(guard)
        };
        self.owner.keep(guard);
    }
    #[inline]
    fn forget(&self, guard: RwLockReadGuard<'_, ()>) {
        // SAFETY: only the lifetime changes, and a copy is dropped while `self` is borrowed.
        let guard = unsafe {
            std::mem::transmute::<RwLockReadGuard<'_, ()>, RwLockReadGuard<'_, ()>>(guard)
        };
        let guard = ManuallyDrop::new(guard);
        let at: *const () = &raw const **guard;
        let kept = self.reader.get_or_init(|| Reader(guard));
        assert!(std::ptr::eq(&raw const **kept.0, at), "a lock that was read does not move");
    }
}

impl RawLock for StdRwLock {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self { lock: RwLock::new(()), owner: Kept::none(), reader: OnceLock::new() }
    }
    methods! { self;
        lock => self.keep(self.lock.write().unwrap_or_else(PoisonError::into_inner));
        try_lock => {
            match self.lock.try_write() {
                Ok(guard) => self.keep(guard),
                Err(TryLockError::Poisoned(poisoned)) => self.keep(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => return false,
            }
            true
        };
        // SAFETY: the caller owns the lock, and no more after this.
        unlock => drop(unsafe { self.owner.take() });
        is_locked => looks_locked(self);
        lock_shared => self.forget(self.lock.read().unwrap_or_else(PoisonError::into_inner));
        try_lock_shared => {
            match self.lock.try_read() {
                Ok(guard) => self.forget(guard),
                Err(TryLockError::Poisoned(poisoned)) => self.forget(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => return false,
            }
            true
        };
        unlock_shared => {
            if let Some(Reader(guard)) = self.reader.get() {
                // SAFETY: a copy of a guard of this lock, for the one that the caller has forgotten.
                drop(ManuallyDrop::into_inner(unsafe { std::ptr::read(guard) }));
            }
        };
        // SAFETY: the caller owns the lock, and only reads after this.
        downgrade => self.forget(RwLockWriteGuard::downgrade(unsafe { self.owner.take() }));
    }
}

/// A reader-writer lock that has `lock_api`'s traits.
#[repr(align(64))]
pub struct OfRwTrait<R>(pub(crate) R);

/// Making an owner a reader.
pub trait MakeReader: lock_api::RawRwLock {
    /// Does so, if the lock can.
    ///
    /// # Safety
    /// The caller owns the lock.
    unsafe fn make_reader(&self);
}

macro_rules! downgrade {
    ($($lock:ty),+) => {$(
        impl MakeReader for $lock {
            #[inline]
            unsafe fn make_reader(&self) {
                // SAFETY: the caller owns the lock.
                unsafe { lock_api::RawRwLockDowngrade::downgrade(self) }
            }
        }
    )+};
}

downgrade!(parking_lot::RawRwLock, spin::RwLock<()>);

impl MakeReader for usync::RawRwLock {
    /// It cannot.
    unsafe fn make_reader(&self) {}
}

impl<R: MakeReader + Send + Sync + 'static> RawLock for OfRwTrait<R> {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self(R::INIT)
    }
    methods! { self;
        lock => self.0.lock_exclusive();
        try_lock => self.0.try_lock_exclusive();
        // SAFETY: the caller owns the lock.
        unlock => unsafe { self.0.unlock_exclusive() };
        is_locked => self.0.is_locked();
        lock_shared => self.0.lock_shared();
        try_lock_shared => self.0.try_lock_shared();
        // SAFETY: the caller is a reader of the lock.
        unlock_shared => unsafe { self.0.unlock_shared() };
        // SAFETY: the caller owns the lock.
        downgrade => unsafe { self.0.make_reader() };
    }
}

/// parking_lot's raw reader-writer lock with the trait of `lock_api` 0.5. What an acquisition hands to its
/// release is without content there, so it need not be kept.
#[repr(align(64))]
pub struct ParkingLot013Rw(parking_lot_013::RawRwLock);

/// What stands for being the owner.
type Owned013 = <parking_lot_013::RawRwLock as lock_api_05::RawRwLock>::ExclusiveGuard;
/// What stands for being a reader.
type Shared013 = <parking_lot_013::RawRwLock as lock_api_05::RawRwLock>::SharedGuard;

const _: () = assert!(size_of::<Owned013>() == 0 && !std::mem::needs_drop::<Owned013>());
const _: () = assert!(size_of::<Shared013>() == 0 && !std::mem::needs_drop::<Shared013>());

impl RawLock for ParkingLot013Rw {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self(<parking_lot_013::RawRwLock as lock_api_05::RawRwLock>::INIT)
    }
    methods! { self;
        // What it returns has no content.
        lock => { let _: Owned013 = lock_api_05::RawRwLock::lock_exclusive(&self.0); };
        try_lock => lock_api_05::RawRwLock::try_lock_exclusive(&self.0).is_some();
        unlock => {
            // SAFETY: a type without size; the caller owns the lock, so there was a value of it.
            let owned = unsafe { std::mem::zeroed::<Owned013>() };
            // SAFETY: the caller owns the lock.
            unsafe { lock_api_05::RawRwLock::unlock_exclusive(&self.0, owned) }
        };
        is_locked => lock_api_05::RawRwLock::is_locked(&self.0);
        // What it returns has no content.
        lock_shared => { let _: Shared013 = lock_api_05::RawRwLock::lock_shared(&self.0); };
        try_lock_shared => lock_api_05::RawRwLock::try_lock_shared(&self.0).is_some();
        unlock_shared => {
            // SAFETY: a type without size; the caller is a reader, so there was a value of it.
            let shared = unsafe { std::mem::zeroed::<Shared013>() };
            // SAFETY: the caller is a reader of the lock.
            unsafe { lock_api_05::RawRwLock::unlock_shared(&self.0, shared) }
        };
        downgrade => {
            // SAFETY: as in `unlock`.
            let owned = unsafe { std::mem::zeroed::<Owned013>() };
            // SAFETY: the caller owns the lock. What it returns has no content.
            let _: Shared013 = unsafe { lock_api_05::RawRwLockDowngrade::downgrade(&self.0, owned) };
        };
    }
}

/// The C library's reader-writer lock: of the default kind, where readers pass writers that wait, or of the
/// kind where they do not.
///
/// It has no way to make an owner a reader: an owner that asks for that stays the owner.
#[repr(align(64))]
pub struct PthreadRwLock<const PREFERS_WRITERS: bool>(UnsafeCell<libc::pthread_rwlock_t>);

// SAFETY: the C library synchronises its locks.
unsafe impl<const PREFERS_WRITERS: bool> Send for PthreadRwLock<PREFERS_WRITERS> {}
// SAFETY: as above.
unsafe impl<const PREFERS_WRITERS: bool> Sync for PthreadRwLock<PREFERS_WRITERS> {}

/// `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`.
const WRITERS_NONRECURSIVE: libc::c_int = 2;

impl<const PREFERS_WRITERS: bool> RawLock for PthreadRwLock<PREFERS_WRITERS> {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        let lock = Self(UnsafeCell::new(libc::PTHREAD_RWLOCK_INITIALIZER));
        if !PREFERS_WRITERS {
            return lock;
        }
        let mut attributes = MaybeUninit::uninit();
        let at = attributes.as_mut_ptr();
        // SAFETY: the pointer is to attributes that this initialises.
        unsafe { libc::pthread_rwlockattr_init(at) };
        // SAFETY: initialised on the line above.
        unsafe { libc::pthread_rwlockattr_setkind_np(at, WRITERS_NONRECURSIVE) };
        // SAFETY: both are live. The lock knows its kind and not its address, so it may move between
        // here and its first use.
        unsafe { libc::pthread_rwlock_init(lock.0.get(), at) };
        // SAFETY: initialised above, and not used again.
        unsafe { libc::pthread_rwlockattr_destroy(at) };
        lock
    }
    methods! { self;
        // SAFETY: an initialised lock that does not move while it is borrowed.
        lock => unsafe { libc::pthread_rwlock_wrlock(self.0.get()) };
        // SAFETY: as in `lock`.
        try_lock => unsafe { libc::pthread_rwlock_trywrlock(self.0.get()) == 0 };
        // SAFETY: as in `lock`; the caller owns the lock.
        unlock => unsafe { libc::pthread_rwlock_unlock(self.0.get()) };
        is_locked => looks_locked(self);
        // SAFETY: as in `lock`.
        lock_shared => unsafe { libc::pthread_rwlock_rdlock(self.0.get()) };
        // SAFETY: as in `lock`.
        try_lock_shared => unsafe { libc::pthread_rwlock_tryrdlock(self.0.get()) == 0 };
        // SAFETY: as in `lock`; the caller is a reader of the lock.
        unlock_shared => unsafe { libc::pthread_rwlock_unlock(self.0.get()) };
    }
}

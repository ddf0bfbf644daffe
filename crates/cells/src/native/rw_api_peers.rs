//! Reader-writer locks of others that have `lock_api`'s traits, and not the form that most of them have.

use lockwright::raw::{Order, RawLock};
use std::sync::atomic::{AtomicBool, Ordering};

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
    const READERS_SHARE: bool = true;

    fn new() -> Self {
        Self(<parking_lot_013::RawRwLock as lock_api_05::RawRwLock>::INIT)
    }
    #[inline]
    fn lock(&self) {
        // What it returns has no content.
        let _: Owned013 = lock_api_05::RawRwLock::lock_exclusive(&self.0);
    }
    #[inline]
    fn try_lock(&self) -> bool {
        lock_api_05::RawRwLock::try_lock_exclusive(&self.0).is_some()
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: a type without size; the caller owns the lock, so there was a value of it.
        let owned = unsafe { std::mem::zeroed::<Owned013>() };
        // SAFETY: the caller owns the lock.
        unsafe { lock_api_05::RawRwLock::unlock_exclusive(&self.0, owned) }
    }
    #[inline]
    fn lock_shared(&self) {
        // What it returns has no content.
        let _: Shared013 = lock_api_05::RawRwLock::lock_shared(&self.0);
    }
    #[inline]
    fn try_lock_shared(&self) -> bool {
        lock_api_05::RawRwLock::try_lock_shared(&self.0).is_some()
    }
    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: a type without size; the caller is a reader, so there was a value of it.
        let shared = unsafe { std::mem::zeroed::<Shared013>() };
        // SAFETY: the caller is a reader of the lock.
        unsafe { lock_api_05::RawRwLock::unlock_shared(&self.0, shared) }
    }
    #[inline]
    unsafe fn downgrade(&self) {
        // SAFETY: as in `unlock`.
        let owned = unsafe { std::mem::zeroed::<Owned013>() };
        // SAFETY: the caller owns the lock. What it returns has no content.
        let _: Shared013 = unsafe { lock_api_05::RawRwLockDowngrade::downgrade(&self.0, owned) };
    }
    fn is_locked(&self) -> bool {
        lock_api_05::RawRwLock::is_locked(&self.0)
    }
}

/// usync's reader-writer lock, which cannot make an owner a reader.
#[repr(align(64))]
pub struct UsyncRw(usync::RawRwLock);

impl RawLock for UsyncRw {
    const ORDER: Order = Order::None;
    const READERS_SHARE: bool = true;

    fn new() -> Self {
        Self(<usync::RawRwLock as lock_api::RawRwLock>::INIT)
    }
    #[inline]
    fn lock(&self) {
        lock_api::RawRwLock::lock_exclusive(&self.0);
    }
    #[inline]
    fn try_lock(&self) -> bool {
        lock_api::RawRwLock::try_lock_exclusive(&self.0)
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller owns the lock.
        unsafe { lock_api::RawRwLock::unlock_exclusive(&self.0) }
    }
    #[inline]
    fn lock_shared(&self) {
        lock_api::RawRwLock::lock_shared(&self.0);
    }
    #[inline]
    fn try_lock_shared(&self) -> bool {
        lock_api::RawRwLock::try_lock_shared(&self.0)
    }
    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: the caller is a reader of the lock.
        unsafe { lock_api::RawRwLock::unlock_shared(&self.0) }
    }
    fn is_locked(&self) -> bool {
        lock_api::RawRwLock::is_locked(&self.0)
    }
}

/// A reader-writer lock that cannot make an owner a reader and tells the two apart when they leave. An owner that asks
/// to become a reader stays the owner, and leaves as one.
///
/// Readers look at a word for that. It is on a cache line of its own, which no thread writes meanwhile, so that the
/// look costs one load that hits.
pub struct StaysOwner<L> {
    lock: L,
    is_owned: OwnLine,
}

/// True if the reader that leaves next is the owner.
#[repr(align(64))]
struct OwnLine(AtomicBool);

impl<L: RawLock> RawLock for StaysOwner<L> {
    const ORDER: Order = L::ORDER;
    const READERS_SHARE: bool = true;

    fn new() -> Self {
        Self { lock: L::new(), is_owned: OwnLine(AtomicBool::new(false)) }
    }
    #[inline]
    fn lock(&self) {
        self.lock.lock();
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.lock.try_lock()
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller owns the lock.
        unsafe { self.lock.unlock() }
    }
    #[inline]
    fn lock_shared(&self) {
        self.lock.lock_shared();
    }
    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.lock.try_lock_shared()
    }
    #[inline]
    unsafe fn unlock_shared(&self) {
        // ordering: Relaxed; a thread that holds the lock is ordered after the owner that wrote this.
        if self.is_owned.0.load(Ordering::Relaxed) {
            // ordering: Relaxed; as above.
            self.is_owned.0.store(false, Ordering::Relaxed);
            // SAFETY: while the flag is set only the caller of `downgrade` holds the lock, as its owner.
            return unsafe { self.lock.unlock() };
        }
        // SAFETY: the caller is a reader of the lock.
        unsafe { self.lock.unlock_shared() }
    }
    #[inline]
    unsafe fn downgrade(&self) {
        // ordering: Relaxed; as in `unlock_shared`.
        self.is_owned.0.store(true, Ordering::Relaxed);
    }
    fn is_locked(&self) -> bool {
        self.lock.is_locked()
    }
}

//! Locks of others behind the interface of ours, and all of them by name.

#[cfg(feature = "c-peers")]
use super::c_peers;
use super::floor::Floor;
use super::rw_api_peers::{ParkingLot013Rw, StaysOwner, UsyncRw};
use super::rw_peers::{OfRwTrait, PthreadRwLock, StdRwLock};
use crate::subject::Subject;
use lockwright::native::Native;
use lockwright::platform::{Counters as _, Placement as _};
use lockwright::raw::{FairnessThreshold, Order, RawLock};
use lockwright::registry::{self, LockVisitor};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Calls `visitor` with the type of `subject`.
pub fn visit<V: LockVisitor<Native>>(subject: Subject, visitor: V) -> V::Output {
    let row = subject.row;
    match row.name {
        "std" => visitor.visit::<StdMutex>(row),
        "parking_lot" => visitor.visit::<OfTrait<parking_lot::RawMutex>>(row),
        "parking_lot-0.13" => visitor.visit::<ParkingLot013>(row),
        "spin" => visitor.visit::<OfTrait<spin::mutex::SpinMutex<()>>>(row),
        "usync" => visitor.visit::<OfTrait<usync::RawMutex>>(row),
        "pthread" => visitor.visit::<PthreadMutex<false>>(row),
        "pthread-adaptive" => visitor.visit::<PthreadMutex<true>>(row),
        "pthread-spin" => visitor.visit::<PthreadSpin>(row),
        "std-rwlock" => visitor.visit::<StdRwLock>(row),
        "parking_lot-rwlock" => visitor.visit::<OfRwTrait<parking_lot::RawRwLock>>(row),
        "parking_lot-rwlock-0.13" => visitor.visit::<ParkingLot013Rw>(row),
        "spin-rwlock" => visitor.visit::<OfRwTrait<spin::RwLock<()>>>(row),
        "usync-rwlock" => visitor.visit::<StaysOwner<UsyncRw>>(row),
        "pthread-rwlock" => visitor.visit::<PthreadRwLock<false>>(row),
        "pthread-rwlock-writer" => visitor.visit::<PthreadRwLock<true>>(row),
        "floor" => visitor.visit::<Floor>(row),
        #[cfg(feature = "c-peers")]
        "ck_fas" => visitor.visit::<c_peers::CkFas>(row),
        #[cfg(feature = "c-peers")]
        "ck_ticket" => visitor.visit::<c_peers::CkTicket>(row),
        #[cfg(feature = "c-peers")]
        "ck_mcs" => visitor.visit::<c_peers::CkMcs>(row),
        #[cfg(feature = "c-peers")]
        "tbb_spin_mutex" => visitor.visit::<c_peers::TbbSpin>(row),
        #[cfg(feature = "c-peers")]
        "tbb_mutex" => visitor.visit::<c_peers::TbbMutex>(row),
        #[cfg(feature = "c-peers")]
        "nsync" => visitor.visit::<c_peers::Nsync>(row),
        #[cfg(feature = "c-peers")]
        "absl" => visitor.visit::<c_peers::Absl>(row),
        #[cfg(feature = "c-peers")]
        "ck_rwlock" => visitor.visit::<c_peers::CkRwlock>(row),
        #[cfg(feature = "c-peers")]
        "ck_pflock" => visitor.visit::<c_peers::CkPflock>(row),
        #[cfg(feature = "c-peers")]
        "ck_bytelock" => visitor.visit::<c_peers::CkBytelock>(row),
        #[cfg(feature = "c-peers")]
        "tbb_rw_mutex" => visitor.visit::<c_peers::TbbRw>(row),
        #[cfg(feature = "c-peers")]
        "tbb_spin_rw_mutex" => visitor.visit::<c_peers::TbbSpinRw>(row),
        name => registry::visit(name, visitor).unwrap_or_else(|| unreachable!("no lock {name}")),
    }
}

/// The order in which `subject` serves its waiters.
pub fn order_of(subject: Subject) -> Order {
    struct OrderOf;
    impl LockVisitor<Native> for OrderOf {
        type Output = Order;
        fn visit<L: RawLock>(self, _row: &'static registry::LockRow) -> Order {
            L::ORDER
        }
    }
    visit(subject, OrderOf)
}

/// Returns true if the waiters of a lock of ours give up their CPU. Such a lock has a queued mode and may have an
/// unfair one.
pub fn waiters_sleep(subject: Subject) -> bool {
    struct WaitersSleep;
    impl LockVisitor<Native> for WaitersSleep {
        type Output = bool;
        fn visit<L: RawLock>(self, _row: &'static registry::LockRow) -> bool {
            L::WAITERS_SLEEP
        }
    }
    visit(subject, WaitersSleep)
}

/// Returns true if `subject` may be handed to a waiter without a CPU, if there are more threads than CPUs.
pub fn stalls_in_a_crowd(subject: Subject) -> bool {
    order_of(subject).is_queue() && !waiters_sleep(subject)
}

/// How long `subject` lets waiters be overtaken on this machine, as far as it says so.
pub fn fairness_threshold(subject: Subject) -> FairnessThreshold {
    struct Threshold;
    impl LockVisitor<Native> for Threshold {
        type Output = FairnessThreshold;
        fn visit<L: RawLock>(self, _row: &'static registry::LockRow) -> FairnessThreshold {
            L::fairness_threshold(Native::numa_nodes(), &Native::tunable)
        }
    }
    visit(subject, Threshold)
}

/// Returns true if several readers may hold `subject` at once.
pub fn readers_share(subject: Subject) -> bool {
    struct ReadersShare;
    impl LockVisitor<Native> for ReadersShare {
        type Output = bool;
        fn visit<L: RawLock>(self, _row: &'static registry::LockRow) -> bool {
            L::READERS_SHARE
        }
    }
    visit(subject, ReadersShare)
}

/// `std::sync::Mutex`, poison check included.
///
/// It has no unlock but its guard, so the guard is kept next to it: two plain stores and two loads of the owner's own
/// cache line.
#[repr(align(64))]
struct StdMutex {
    mutex: Mutex<()>,
    guard: UnsafeCell<MaybeUninit<MutexGuard<'static, ()>>>,
}

// SAFETY: the guard is touched by the owner of the mutex only. It is dropped where it was made:
// lock and unlock of the workloads happen on one thread.
unsafe impl Send for StdMutex {}
// SAFETY: as above.
unsafe impl Sync for StdMutex {}

impl StdMutex {
    #[inline]
    fn keep(&self, guard: MutexGuard<'_, ()>) {
        // SAFETY: only the lifetime changes, and `unlock` drops the guard while `self` is borrowed.
        let guard = unsafe { std::mem::transmute::<MutexGuard<'_, ()>, MutexGuard<'_, ()>>(guard) };
        // SAFETY: the mutex is held, so no other thread touches the slot.
        unsafe { *self.guard.get() = MaybeUninit::new(guard) };
    }
}

impl RawLock for StdMutex {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self { mutex: Mutex::new(()), guard: UnsafeCell::new(MaybeUninit::uninit()) }
    }
    #[inline]
    fn lock(&self) {
        self.keep(self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
    }
    #[inline]
    fn try_lock(&self) -> bool {
        match self.mutex.try_lock() {
            Ok(guard) => self.keep(guard),
            Err(TryLockError::Poisoned(poisoned)) => self.keep(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => return false,
        }
        true
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock, so no other thread touches the slot.
        let slot = unsafe { &*self.guard.get() };
        // SAFETY: `lock` or `try_lock` filled the slot, and it is read once per acquisition.
        drop(unsafe { slot.assume_init_read() });
    }
    fn is_locked(&self) -> bool {
        matches!(self.mutex.try_lock(), Err(TryLockError::WouldBlock))
    }
}

/// A lock that has `lock_api`'s trait.
#[repr(align(64))]
struct OfTrait<R>(R);

impl<R: lock_api::RawMutex + Send + Sync + 'static> RawLock for OfTrait<R> {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self(R::INIT)
    }
    #[inline]
    fn lock(&self) {
        self.0.lock();
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.0.try_lock()
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.0.unlock() }
    }
    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }
}

/// parking_lot's raw mutex with the trait of `lock_api` 0.5. What an acquisition hands to its release is
/// without content there, so it need not be kept.
#[repr(align(64))]
struct ParkingLot013(parking_lot_013::RawMutex);

/// What stands for an acquisition.
type Taken013 = <parking_lot_013::RawMutex as lock_api_05::RawMutex>::Guard;

const _: () = assert!(size_of::<Taken013>() == 0 && !std::mem::needs_drop::<Taken013>());

impl RawLock for ParkingLot013 {
    const ORDER: Order = Order::None;

    fn new() -> Self {
        Self(<parking_lot_013::RawMutex as lock_api_05::RawMutex>::INIT)
    }
    #[inline]
    fn lock(&self) {
        // What it returns has no content.
        let _: Taken013 = lock_api_05::RawMutex::lock(&self.0);
    }
    #[inline]
    fn try_lock(&self) -> bool {
        lock_api_05::RawMutex::try_lock(&self.0).is_some()
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: a type without size; the caller holds the lock, so there was a value of it.
        let taken = unsafe { std::mem::zeroed::<Taken013>() };
        // SAFETY: the caller holds the lock.
        unsafe { lock_api_05::RawMutex::unlock(&self.0, taken) }
    }
    fn is_locked(&self) -> bool {
        lock_api_05::RawMutex::is_locked(&self.0)
    }
}

/// The C library's mutex, of the default kind or of the one that spins for a while.
#[repr(align(64))]
struct PthreadMutex<const ADAPTIVE: bool>(UnsafeCell<libc::pthread_mutex_t>);

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
    #[inline]
    fn lock(&self) {
        // SAFETY: a statically initialised mutex that does not move while it is borrowed.
        unsafe { libc::pthread_mutex_lock(self.0.get()) };
    }
    #[inline]
    fn try_lock(&self) -> bool {
        // SAFETY: as in `lock`.
        unsafe { libc::pthread_mutex_trylock(self.0.get()) == 0 }
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: as in `lock`; the caller holds the mutex.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
    }
    fn is_locked(&self) -> bool {
        looks_locked(self)
    }
}

/// The C library's spinlock.
#[repr(align(64))]
struct PthreadSpin(UnsafeCell<libc::pthread_spinlock_t>);

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
    #[inline]
    fn lock(&self) {
        // SAFETY: an initialised spinlock that does not move while it is borrowed.
        unsafe { libc::pthread_spin_lock(self.0.get()) };
    }
    #[inline]
    fn try_lock(&self) -> bool {
        // SAFETY: as in `lock`.
        unsafe { libc::pthread_spin_trylock(self.0.get()) == 0 }
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: as in `lock`; the caller holds the spinlock.
        unsafe { libc::pthread_spin_unlock(self.0.get()) };
    }
    fn is_locked(&self) -> bool {
        looks_locked(self)
    }
}

/// Returns true if `lock` is held, for locks that can only be asked by trying.
pub fn looks_locked(lock: &impl RawLock) -> bool {
    let taken = lock.try_lock();
    if taken {
        // SAFETY: taken on the line above.
        unsafe { lock.unlock() };
    }
    !taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has_the_manners_of_a_lock<L: RawLock>() {
        let lock = L::new();
        assert!(!lock.is_locked());
        lock.lock();
        assert!(lock.is_locked());
        std::thread::scope(|scope| {
            let other = scope.spawn(|| lock.try_lock());
            assert!(!other.join().expect("try_lock does not panic"));
        });
        // SAFETY: taken above.
        unsafe { lock.unlock() };
        assert!(lock.try_lock());
        // SAFETY: taken on the line above.
        unsafe { lock.unlock() };
        assert!(!lock.is_locked());
    }

    #[test]
    fn every_peer_excludes_another_thread_and_lets_go() {
        has_the_manners_of_a_lock::<StdMutex>();
        has_the_manners_of_a_lock::<OfTrait<parking_lot::RawMutex>>();
        has_the_manners_of_a_lock::<ParkingLot013>();
        has_the_manners_of_a_lock::<OfTrait<spin::mutex::SpinMutex<()>>>();
        has_the_manners_of_a_lock::<OfTrait<usync::RawMutex>>();
        has_the_manners_of_a_lock::<PthreadMutex<false>>();
        has_the_manners_of_a_lock::<PthreadMutex<true>>();
        has_the_manners_of_a_lock::<PthreadSpin>();
    }

    #[cfg(feature = "c-peers")]
    #[test]
    fn every_peer_in_c_does_so_too() {
        has_the_manners_of_a_lock::<c_peers::CkFas>();
        has_the_manners_of_a_lock::<c_peers::CkTicket>();
        has_the_manners_of_a_lock::<c_peers::CkMcs>();
        has_the_manners_of_a_lock::<c_peers::TbbSpin>();
        has_the_manners_of_a_lock::<c_peers::TbbMutex>();
        has_the_manners_of_a_lock::<c_peers::Nsync>();
        has_the_manners_of_a_lock::<c_peers::Absl>();
    }

    #[test]
    fn every_subject_has_a_type() {
        for subject in Subject::all() {
            order_of(subject);
        }
    }
}

//! Locks of others behind the interface of ours, and all of them by name.

#[cfg(feature = "c-peers")]
use super::c_peers;
use super::floor::Floor;
use super::looks_locked::looks_locked;
use super::rw_api_peers::{ParkingLot013Rw, StaysOwner, UsyncRw};
use super::rw_peers::{OfRwTrait, PthreadRwLock, StdRwLock};
use crate::subject::{Subject, SubjectOrigin};
use lockwright::native::Native;
use lockwright::platform::{Counters as _, Placement as _};
use lockwright::raw::{FairnessThreshold, Order, RawLock};
use lockwright::registry::{self, LockClass, LockRow, LockVisitor, is_compiled};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// A lock of another library.
#[derive(Debug)]
pub struct Peer {
    /// Name, aliases, what it is.
    pub row: LockRow,
    /// The names of its library, with a version and without.
    pub libraries: &'static [&'static str],
}

macro_rules! peers {
    ($($(#[$cfg:meta])* $name:literal $(| $alias:literal)* , [$($library:literal)*], $lock:ty, $models:literal;)+) => {
        /// Every peer that can be compiled. A build with some locks only has those of them that it names.
        static PEERS: &[Peer] = &[$($(#[$cfg])* Peer {
            row: LockRow {
                name: $name,
                aliases: &[$($alias),*],
                class: LockClass::Reference,
                models: $models,
            },
            libraries: &[$($library),*],
        },)+];

        /// Calls `visitor` with the peer of this row; `None` if it is none of this build.
        fn visit_peer<V: LockVisitor<Native>>(row: &'static LockRow, visitor: V) -> Option<V::Output> {
            let mut peers = PEERS.iter();
            $($(#[$cfg])*
            {
                let is_it = std::ptr::eq(&peers.next()?.row, row);
                if const { is_compiled(&[$name $(, $alias)*]) } && is_it {
                    return Some(visitor.visit::<$lock>(row));
                }
            })+
            None
        }
    };
}

// A name, the names of the library, the type, what it is.
peers! {
    "std", ["std"], StdMutex,
        "Rust's std::sync::Mutex (futex)";
    "parking_lot" | "parking_lot-0.12", ["parking_lot" "parking_lot-0.12"], OfTrait<parking_lot::RawMutex>,
        "parking_lot 0.12 RawMutex";
    "parking_lot-0.13", ["parking_lot" "parking_lot-0.13"], ParkingLot013,
        "parking_lot 0.13 RawMutex";
    "pthread", ["pthread"], PthreadMutex<false>,
        "glibc pthread_mutex, default kind";
    "pthread-adaptive", ["pthread"], PthreadMutex<true>,
        "glibc pthread_mutex, PTHREAD_MUTEX_ADAPTIVE_NP";
    "pthread-spin", ["pthread"], PthreadSpin,
        "glibc pthread_spinlock";
    "spin", ["spin"], OfTrait<spin::mutex::SpinMutex<()>>,
        "spin 0.12 SpinMutex";
    "usync", ["usync"], OfTrait<usync::RawMutex>,
        "usync 0.2 RawMutex";
    "std-rwlock", ["std"], StdRwLock,
        "Rust's std::sync::RwLock (futex)";
    "parking_lot-rwlock" | "parking_lot-rwlock-0.12", ["parking_lot" "parking_lot-0.12"], OfRwTrait<parking_lot::RawRwLock>,
        "parking_lot 0.12 RawRwLock";
    "parking_lot-rwlock-0.13", ["parking_lot" "parking_lot-0.13"], ParkingLot013Rw,
        "parking_lot 0.13 RawRwLock";
    "pthread-rwlock", ["pthread"], PthreadRwLock<false>,
        "glibc pthread_rwlock, default kind: readers pass waiting writers";
    "pthread-rwlock-writer", ["pthread"], PthreadRwLock<true>,
        "glibc pthread_rwlock, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP";
    "spin-rwlock", ["spin"], OfRwTrait<spin::RwLock<()>>,
        "spin 0.12 RwLock: readers pass waiting writers";
    "usync-rwlock", ["usync"], StaysOwner<UsyncRw>,
        "usync 0.2 RawRwLock";
    #[cfg(feature = "c-peers")]
    "ck_fas", [], c_peers::CkFas,
        "Concurrency Kit's fetch-and-store spinlock";
    #[cfg(feature = "c-peers")]
    "ck_ticket", [], c_peers::CkTicket,
        "Concurrency Kit's ticket lock";
    #[cfg(feature = "c-peers")]
    "ck_mcs", [], c_peers::CkMcs,
        "Concurrency Kit's MCS lock";
    #[cfg(feature = "c-peers")]
    "tbb_spin_mutex", [], c_peers::TbbSpin,
        "oneTBB's spinlock, which yields";
    #[cfg(feature = "c-peers")]
    "tbb_mutex", [], c_peers::TbbMutex,
        "oneTBB's mutex";
    #[cfg(feature = "c-peers")]
    "nsync", [], c_peers::Nsync,
        "nsync's mutex, which readers share";
    #[cfg(feature = "c-peers")]
    "absl", [], c_peers::Absl,
        "Abseil's mutex, which readers share";
    #[cfg(feature = "c-peers")]
    "ck_rwlock", [], c_peers::CkRwlock,
        "Concurrency Kit's reader-writer spinlock: writers pass readers";
    #[cfg(feature = "c-peers")]
    "ck_pflock", [], c_peers::CkPflock,
        "Concurrency Kit's phase-fair lock: readers and writers take turns";
    #[cfg(feature = "c-peers")]
    "ck_bytelock", [], c_peers::CkBytelock,
        "Concurrency Kit's byte lock: each of 56 threads has a byte to read by";
    #[cfg(feature = "c-peers")]
    "tbb_rw_mutex", [], c_peers::TbbRw,
        "oneTBB's reader-writer lock";
    #[cfg(feature = "c-peers")]
    "tbb_spin_rw_mutex", [], c_peers::TbbSpinRw,
        "oneTBB's reader-writer spinlock, which yields";
}

/// The peers of this build.
pub fn peers() -> impl Iterator<Item = &'static Peer> {
    PEERS.iter().filter(|peer| is_compiled(&[peer.row.name]) || is_compiled(peer.row.aliases))
}

/// Returns true if a peer answers to `name` that this build does not have.
pub fn is_left_out(name: &str) -> bool {
    let has_it = peers().any(|peer| peer.row.answers_to(name));
    !has_it && PEERS.iter().any(|peer| peer.row.answers_to(name))
}

/// Calls `visitor` with the type of `subject`.
pub fn visit<V: LockVisitor<Native>>(subject: Subject, visitor: V) -> V::Output {
    let row = subject.row;
    let output = match subject.origin {
        SubjectOrigin::Registry => registry::visit(row, visitor),
        SubjectOrigin::Peer => visit_peer(row, visitor),
        SubjectOrigin::Floor => Some(visitor.visit::<Floor>(row)),
    };
    output.unwrap_or_else(|| unreachable!("no lock {}", row.name))
}

/// What the type of a lock says about it.
struct Traits {
    order: Order,
    waiters_sleep: bool,
    readers_share: bool,
}

fn traits_of(subject: Subject) -> Traits {
    struct OfType;
    impl LockVisitor<Native> for OfType {
        type Output = Traits;
        fn visit<L: RawLock>(self, _row: &'static LockRow) -> Traits {
            Traits {
                order: L::ORDER,
                waiters_sleep: L::WAITERS_SLEEP,
                readers_share: L::READERS_SHARE,
            }
        }
    }
    visit(subject, OfType)
}

/// The order in which `subject` serves its waiters.
pub fn order_of(subject: Subject) -> Order {
    traits_of(subject).order
}

/// Returns true if the waiters of a lock of ours give up their CPU. Such a lock has a queued mode and may have an
/// unfair one.
pub fn waiters_sleep(subject: Subject) -> bool {
    traits_of(subject).waiters_sleep
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
        fn visit<L: RawLock>(self, _row: &'static LockRow) -> FairnessThreshold {
            L::fairness_threshold(Native::numa_nodes(), &Native::tunable)
        }
    }
    visit(subject, Threshold)
}

/// Returns true if several readers may hold `subject` at once.
pub fn readers_share(subject: Subject) -> bool {
    traits_of(subject).readers_share
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

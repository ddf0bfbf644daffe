//! Threads that use a lock without end: readers whose sections overlap, so that the lock is never free, or owners that
//! take it again as soon as they have released it. One thread waits for it all the same, and no newcomer passes it once
//! the door is closed.
//!
//! For machines whose clock goes on while threads sleep.

use crate::Client;
use crate::rwlock::ForPrograms;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use lockwright::mutex::{RawFairMutex, RawMutex};
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::rwlock::{Fairness, RawRwLock};
use lockwright::semaphore::RawSemaphore;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Zeroed;
use lockwright_core::raw::RawLock;

/// A section, asleep. Longer than the time after which a reader may be taken for one that reads already.
const SECTION_NS: u64 = 20_000_000;

/// The waiter has to run for a moment some times. With more threads than three a schedule may keep it from that for so
/// long that less is no sign of anything.
const LIMIT_OF_MANY_NS: u64 = 10_000_000_000;

/// A lock that keeps newcomers out for a thread that waits.
pub trait Door: Send + Sync + 'static {
    /// Far longer than it lets newcomers pass.
    const LIMIT_NS: u64;
    /// True if a newcomer may take the lock when it is free, because the thread for which it is has no CPU.
    const MAY_TAKE_FREE: bool = true;
    /// One that no thread uses.
    fn new() -> Self;
    /// Returns true if newcomers are kept out.
    fn is_closed(&self) -> bool;
    /// Enters, as a thread that others follow without end.
    fn enter(&self);
    /// Leaves.
    ///
    /// # Safety
    /// The caller has entered.
    unsafe fn leave(&self);
    /// True if no thread uses it and no thread has left anything in it.
    fn is_untouched(&self) -> bool;
}

macro_rules! doors_of_readers {
    ($([$($bounds:tt)*] $lock:ty, $is_closed:expr;)+) => {
        $(impl<$($bounds)*> Door for $lock {
            const LIMIT_NS: u64 = 400_000_000;
            fn new() -> Self {
                RawLock::new()
            }
            fn is_closed(&self) -> bool {
                $is_closed(self)
            }
            fn enter(&self) {
                self.lock_shared();
            }
            unsafe fn leave(&self) {
                // SAFETY: the caller has entered.
                unsafe { self.unlock_shared() };
            }
            fn is_untouched(&self) -> bool {
                ForPrograms::is_untouched(self)
            }
        })+
    };
}
doors_of_readers! {
    // First come, first served, it is closed for readers, too, while the one that waits may not have come yet.
    [P: Platform, F: Fairness] RawRwLock<P, F>, |lock: &Self| !F::IS_FAIR && lock.is_reserved();
    // Where a reader reads in its slot the door is another one, which no reader sees.
    [P: Platform] RawPercpuRwLock<P>, |_| false;
    [P: Platform] InSlots<P>, |_| false;
}

macro_rules! doors_of_owners {
    ($($lock:ty;)+) => {
        $(impl<P: Platform> Door for $lock {
            const LIMIT_NS: u64 = 4_000_000_000;
            fn new() -> Self {
                RawLock::new()
            }
            /// Threads that were woken pass a reservation, and so do newcomers that have found the lock free for long
            /// enough.
            fn is_closed(&self) -> bool {
                false
            }
            fn enter(&self) {
                self.lock();
            }
            unsafe fn leave(&self) {
                // SAFETY: the caller has entered.
                unsafe { self.unlock() };
            }
            fn is_untouched(&self) -> bool {
                !self.is_locked()
            }
        })+
    };
}
doors_of_owners! {
    RawMutex<P>;
    RawFairMutex<P>;
}

/// Each of those that overlap has one permit, and the thread that waits wants all.
const ALL: u32 = 2;

impl<P: Platform> Door for RawSemaphore<P, ALL> {
    const LIMIT_NS: u64 = 400_000_000;
    const MAY_TAKE_FREE: bool = false;
    fn new() -> Self {
        Self::with_permits(ALL)
    }
    fn is_closed(&self) -> bool {
        self.is_waited_for()
    }
    fn enter(&self) {
        self.acquire(1);
    }
    unsafe fn leave(&self) {
        self.release(1);
    }
    fn is_untouched(&self) -> bool {
        self.available() == ALL && !self.is_waited_for()
    }
}

/// How the first thread becomes the owner.
pub trait Owning<L>: Send + Sync + 'static {
    /// What the client is selected by.
    const NAME: &'static str;
    /// Takes the lock, releases it after `owned`.
    fn own(lock: &L, begins: impl FnOnce(), owned: impl FnOnce());
}

/// By writing.
pub struct ByWriting;
/// By an upgrade.
pub struct ByUpgrading;
/// As all others.
pub struct AsOthers;
/// By taking all permits.
pub struct ByTakingAll;

macro_rules! owning_by_lock {
    ($($how:ident, $name:literal;)+) => {
        $(impl<L: Door + RawLock> Owning<L> for $how {
            const NAME: &'static str = $name;
            fn own(lock: &L, begins: impl FnOnce(), owned: impl FnOnce()) {
                begins();
                lock.lock();
                owned();
                // SAFETY: taken above.
                unsafe { lock.unlock() };
            }
        })+
    };
}
owning_by_lock! {
    ByWriting, "rwlock-overlap";
    AsOthers, "mutex-overlap";
}
impl<P: Platform, F: Fairness> Owning<RawRwLock<P, F>> for ByUpgrading {
    const NAME: &'static str = "rwlock-overlap-upgrade";
    fn own(lock: &RawRwLock<P, F>, begins: impl FnOnce(), owned: impl FnOnce()) {
        lock.lock_upgradable();
        begins();
        // SAFETY: taken above.
        unsafe { lock.upgrade() };
        owned();
        // SAFETY: as above.
        unsafe { lock.unlock() };
    }
}
impl<P: Platform> Owning<RawSemaphore<P, ALL>> for ByTakingAll {
    const NAME: &'static str = "semaphore-overlap";
    fn own(semaphore: &RawSemaphore<P, ALL>, begins: impl FnOnce(), owned: impl FnOnce()) {
        begins();
        semaphore.acquire(ALL);
        owned();
        semaphore.release(ALL);
    }
}

/// The first thread waits until it owns the lock, once. The others enter again and again, and sleep inside, until it
/// has owned it.
pub struct Overlap<P: Platform, L, O> {
    lock: L,
    /// What threads sleep on, and nobody wakes them.
    never: P::U32,
    /// Since when the first thread waits; 0: it does not yet. Unseen by the machine, as the next one.
    since_ns: AtomicU64,
    has_owned: AtomicBool,
    /// How many are inside, and how often none was. Unseen by the machine, too.
    inside: AtomicU32,
    gaps: AtomicU32,
    threads: usize,
    _owning: PhantomData<O>,
}

impl<P: Platform, L: Door, O: Owning<L>> Overlap<P, L, O> {
    fn sleep(&self, ns: u64) {
        let until_ns = P::now_ns().saturating_add(ns);
        while P::now_ns() < until_ns {
            P::futex_wait(&self.never, 0, Some(until_ns));
        }
    }
    fn visit(&self) {
        let gaps = self.gaps.load(Relaxed);
        let was_empty = self.inside.load(Relaxed) == 0;
        let since_ns = self.since_ns.load(Relaxed);
        // It may have been closed for another thread before this one came to it.
        let waits = since_ns > 0 && P::now_ns().saturating_sub(since_ns) > SECTION_NS;
        let was_closed = waits && self.lock.is_closed();
        self.lock.enter();
        let was_empty = was_empty || self.gaps.load(Relaxed) != gaps;
        self.inside.fetch_add(1, Relaxed);
        let has_owned = self.has_owned.load(Relaxed);
        let may_pass = L::MAY_TAKE_FREE && was_empty;
        assert!(
            has_owned || may_pass || !was_closed,
            "a newcomer passes a thread that waits and has closed the door"
        );
        let since_ns = self.since_ns.load(Relaxed);
        let waits_ns = P::now_ns().saturating_sub(since_ns);
        let limit_ns = if self.threads > 3 { LIMIT_OF_MANY_NS } else { L::LIMIT_NS };
        let is_passed = since_ns > 0 && !has_owned && waits_ns > limit_ns;
        assert!(
            !is_passed,
            "newcomers without end keep a thread waiting that has waited for {waits_ns} ns"
        );
        self.sleep(SECTION_NS);
        if self.inside.fetch_sub(1, Relaxed) == 1 {
            self.gaps.fetch_add(1, Relaxed);
        }
        // SAFETY: entered above.
        unsafe { self.lock.leave() };
    }
}

impl<P: Platform, L: Door, O: Owning<L>> Client for Overlap<P, L, O> {
    const NAME: &'static str = O::NAME;

    fn new(threads: usize) -> Self {
        Self {
            lock: L::new(),
            never: Zeroed::zeroed(),
            since_ns: AtomicU64::new(0),
            has_owned: AtomicBool::new(false),
            inside: AtomicU32::new(0),
            gaps: AtomicU32::new(0),
            threads,
            _owning: PhantomData,
        }
    }
    fn body(&self, thread: usize) {
        if thread == 0 {
            self.sleep(SECTION_NS / 4);
            let begins = || self.since_ns.store(P::now_ns().max(1), Relaxed);
            return O::own(&self.lock, begins, || self.has_owned.store(true, Relaxed));
        }
        self.sleep(SECTION_NS / 3 * thread as u64);
        while !self.has_owned.load(Relaxed) {
            self.visit();
        }
    }
    fn finish(&self) {
        assert!(self.has_owned.load(Relaxed), "the thread that waited did not own the lock");
        assert!(self.lock.is_untouched(), "a thread has left traces in the lock");
    }
}

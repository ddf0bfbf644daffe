//! Readers without end: their sections overlap, so the lock is never free. One thread waits for it all the same, and
//! no reader passes it once the door is closed.
//!
//! For machines whose clock goes on while threads sleep.

use crate::Client;
use crate::rwlock::ForPrograms;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use lockwright::percpu_rwlock::RawPercpuRwLock;
use lockwright::percpu_rwlock::testing::InSlots;
use lockwright::platform::Zeroed;
use lockwright::registry::Platform;
use lockwright::rwlock::{Fairness, RawRwLock};

/// What [`Overlap`] with a writer is selected by.
pub const WRITER: &str = "rwlock-overlap";
/// The same with a reader that upgrades.
pub const UPGRADER: &str = "rwlock-overlap-upgrade";

/// A section, asleep. Longer than the time after which a reader may be taken for one that reads already.
const SECTION_NS: u64 = 20_000_000;
/// Far longer than any lock lets newcomers pass.
const LIMIT_NS: u64 = 400_000_000;

/// A lock whose readers can be kept out for a thread that waits.
pub trait Door: ForPrograms {
    /// Returns true if newcomers are kept out.
    fn is_closed(&self) -> bool;
}
impl<P: Platform, F: Fairness> Door for RawRwLock<P, F> {
    fn is_closed(&self) -> bool {
        self.is_reserved()
    }
}
/// Where a reader reads in its slot the door is another one, which no reader sees.
impl<P: Platform> Door for RawPercpuRwLock<P> {
    fn is_closed(&self) -> bool {
        false
    }
}
impl<P: Platform> Door for InSlots<P> {
    fn is_closed(&self) -> bool {
        false
    }
}

/// How a thread becomes the owner.
pub trait Owning<L>: Send + Sync + 'static {
    /// What the client is selected by.
    const NAME: &'static str;
    /// Takes the lock.
    fn own(lock: &L, begins: impl FnOnce());
}

/// By writing.
pub struct ByWriting;
impl<L: Door> Owning<L> for ByWriting {
    const NAME: &'static str = WRITER;
    fn own(lock: &L, begins: impl FnOnce()) {
        begins();
        lock.lock();
    }
}

/// By an upgrade.
pub struct ByUpgrading;
impl<P: Platform, F: Fairness> Owning<RawRwLock<P, F>> for ByUpgrading {
    const NAME: &'static str = UPGRADER;
    fn own(lock: &RawRwLock<P, F>, begins: impl FnOnce()) {
        lock.lock_upgradable();
        begins();
        // SAFETY: taken above.
        unsafe { lock.upgrade() };
    }
}

/// The first thread waits until it owns the lock, once; the others read again and again, asleep, until it has owned it.
pub struct Overlap<P: Platform, L, O> {
    lock: L,
    /// What threads sleep on, and nobody wakes them.
    never: P::U32,
    /// Since when the first thread waits; 0: it does not yet. Unseen by the machine, as the next one.
    since_ns: AtomicU64,
    has_owned: AtomicBool,
    /// How many read, and how often none did. Unseen by the machine, too.
    readers: AtomicU32,
    gaps: AtomicU32,
    _owning: PhantomData<O>,
}

impl<P: Platform, L: Door, O: Owning<L>> Overlap<P, L, O> {
    fn sleep(&self, ns: u64) {
        let until_ns = P::now_ns().saturating_add(ns);
        while P::now_ns() < until_ns {
            P::futex_wait(&self.never, 0, Some(until_ns));
        }
    }
    fn reads(&self) {
        let gaps = self.gaps.load(Relaxed);
        let waits = self.since_ns.load(Relaxed) > 0 && self.readers.load(Relaxed) > 0;
        let was_closed = self.lock.is_closed() && waits;
        self.lock.lock_shared();
        self.readers.fetch_add(1, Relaxed);
        let has_owned = self.has_owned.load(Relaxed);
        // A free lock may be taken if the thread for which it is has no CPU.
        let was_free = self.gaps.load(Relaxed) != gaps;
        assert!(
            has_owned || was_free || !was_closed,
            "a reader passes a thread that waits and has closed the door"
        );
        let since_ns = self.since_ns.load(Relaxed);
        let waits_ns = P::now_ns().saturating_sub(since_ns);
        let is_passed = since_ns > 0 && !has_owned && waits_ns > LIMIT_NS;
        assert!(
            !is_passed,
            "readers without end keep a thread waiting that has waited for {waits_ns} ns"
        );
        self.sleep(SECTION_NS);
        if self.readers.fetch_sub(1, Relaxed) == 1 {
            self.gaps.fetch_add(1, Relaxed);
        }
        // SAFETY: taken above.
        unsafe { self.lock.unlock_shared() };
    }
}

impl<P: Platform, L: Door, O: Owning<L>> Client for Overlap<P, L, O> {
    const NAME: &'static str = O::NAME;

    fn new(_threads: usize) -> Self {
        Self {
            lock: L::new(),
            never: Zeroed::zeroed(),
            since_ns: AtomicU64::new(0),
            has_owned: AtomicBool::new(false),
            readers: AtomicU32::new(0),
            gaps: AtomicU32::new(0),
            _owning: PhantomData,
        }
    }
    fn set_rounds(&mut self, _rounds: u32) {}
    fn body(&self, thread: usize) {
        if thread == 0 {
            self.sleep(SECTION_NS / 4);
            O::own(&self.lock, || self.since_ns.store(P::now_ns().max(1), Relaxed));
            self.has_owned.store(true, Relaxed);
            // SAFETY: taken above.
            return unsafe { self.lock.unlock() };
        }
        self.sleep(SECTION_NS / 3 * thread as u64);
        while !self.has_owned.load(Relaxed) {
            self.reads();
        }
    }
    fn finish(&self) {
        assert!(self.has_owned.load(Relaxed), "nobody owned the lock");
        assert!(self.lock.is_untouched(), "somebody has left traces in the lock");
    }
}

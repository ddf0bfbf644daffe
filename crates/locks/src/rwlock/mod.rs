#![doc = include_str!("README.md")]

mod sleepers;
mod upgrade;
mod wait;
pub(crate) mod word;

use crate::park::{LockMode, ParkPlatform};
use crate::platform::{
    Atomic, AtomicInt, Cells, ConstCells, ConstZeroed, ReadList, Reads, Zeroed, barrier_before_look,
};
use crate::raw::{FairnessThreshold, Order, RawLock, Schedules};
use crate::tunables::Tunable;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use sleepers::{Released, Shared, UNFAIR_NS, serve};
use word::{GUARD, HELD, InWord, PENDING, READER, READERS, RESERVED, SLEEPER, WRITER};

/// Ends the process, because a reader cannot be counted: guards were forgotten, or a thread reads again and again. The
/// reader would wait for itself. A panic would not do: `unlocked` and `bump` of `lock_api` take the lock again for a
/// guard that lives on. The panic would drop that guard, and with it the hold of another one.
#[cold]
#[inline(never)]
pub(crate) fn too_many_readers<P: Cells>() -> ! {
    P::end("8,388,608 readers hold the lock, and one more cannot be counted")
}

/// Says if newly arriving threads may overtake waiters.
pub trait Fairness: Send + Sync + 'static {
    /// True if newly arriving threads may not overtake waiters.
    const IS_FAIR: bool;
    /// True if each thread lists the locks of this kind that it reads. Then a reader gives the lock back in the thread
    /// that took it.
    const LISTS_READS: bool;
}

/// Newcomers take a free lock even if threads wait, until a thread has waited for too long. A reader may read again.
/// The list of its thread tells that it reads already.
#[derive(Clone, Copy, Debug)]
pub struct Barging;

/// As [`Barging`], but readers are not listed: guards go from thread to thread, or readers wait for each other. A
/// reader that arrives while a writer waits may be a reader already. It passes that writer after 10 ms.
#[derive(Clone, Copy, Debug)]
pub struct Unlisted;

/// First come, first served. A reader that reads again may wait for ever.
#[derive(Clone, Copy, Debug)]
pub struct Fair;

impl Fairness for Barging {
    const IS_FAIR: bool = false;
    const LISTS_READS: bool = true;
}
impl Fairness for Unlisted {
    const IS_FAIR: bool = false;
    const LISTS_READS: bool = false;
}
impl Fairness for Fair {
    const IS_FAIR: bool = true;
    const LISTS_READS: bool = false;
}

/// A reader-writer lock for programs. It has 4 bytes, and zero is unlocked. Its waiters spin for a moment, then sleep.
///
/// `F` says if newcomers pass waiters. The module's documentation has the fairness bounds and the costs. A release does
/// not touch the lock after the store that gives it back, because the next owner may free the lock.
#[repr(transparent)]
pub struct RawRwLock<P: Cells, F = Barging> {
    word: P::U32,
    _fairness: PhantomData<fn() -> F>,
}

impl<P: ConstCells, F> RawRwLock<P, F> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { word: ConstZeroed::ZEROED, _fairness: PhantomData };
}

impl<P: ParkPlatform, F: Fairness> RawLock for RawRwLock<P, F> {
    const ORDER: Order = Order::None;
    const SCHEDULES: Schedules = Schedules::OfRows;
    const WAITERS_SLEEP: bool = true;
    const READERS_SHARE: bool = true;

    fn fairness_threshold(
        _numa_nodes: u32,
        _set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        let ns = if F::IS_FAIR { 0 } else { UNFAIR_NS };
        FairnessThreshold { ns, ..FairnessThreshold::default() }
    }
    fn new() -> Self {
        Self { word: Zeroed::zeroed(), _fairness: PhantomData }
    }
    #[inline]
    fn lock(&self) {
        if !self.take_free() {
            self.wait(LockMode::Writer, None);
        }
    }
    #[inline]
    fn try_lock(&self) -> bool {
        self.take_free() || self.attempt(LockMode::Writer)
    }
    #[inline]
    unsafe fn unlock(&self) {
        let (name, entry) = (self.shared().name(), self.entry());
        // (*,s,1,r) -> (*,s,0,r), after which the lock may no longer exist.
        // ordering: Release; A1.
        let before = self.word.fetch_sub(WRITER, Release);
        if before & SLEEPER != 0 {
            Self::serve_after_write(name, entry);
        }
    }
    #[inline]
    fn lock_shared(&self) {
        if !self.lock_shared_unless_full() {
            too_many_readers::<P>();
        }
    }
    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.listed(|| self.attempt(LockMode::Reader))
    }
    #[inline]
    unsafe fn unlock_shared(&self) {
        let (name, entry) = (self.shared().name(), self.entry());
        // (*,s,0,r) -> (*,s,0,r-1), after which the lock may no longer exist.
        // ordering: Release; A2.
        let before = self.word.fetch_sub(READER, Release);
        Self::unlist(entry);
        if before & SLEEPER != 0 && before & READERS == READER {
            Self::serve_after_read(name, entry);
        }
    }
    #[inline]
    unsafe fn downgrade(&self) {
        self.list();
        // (*,s,1,0) -> (*,s,0,1)
        // ordering: Release; A1.
        let before = self.word.fetch_add(READER - WRITER, Release);
        if before & SLEEPER != 0 {
            serve::<P>(self.shared().name(), F::IS_FAIR, Released::Share);
        }
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.word);
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) & HELD != 0
    }
}

impl<P: ParkPlatform, F: Fairness> RawRwLock<P, F> {
    /// Takes the lock as its owner before `deadline_ns` of the platform's clock. Returns `true` if it did. It may
    /// return a little later than that, if it spins when the time comes.
    #[inline]
    pub fn lock_until(&self, deadline_ns: u64) -> bool {
        self.take_free() || self.wait(LockMode::Writer, Some(deadline_ns))
    }

    /// As [`lock_until`](Self::lock_until), but takes the lock as a reader.
    #[inline]
    pub fn lock_shared_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_by(Some(deadline_ns))
    }

    /// Takes the lock as a reader, and waits for it. Returns `false` if as many readers hold it as can be counted:
    /// 2^23, which is more than a process has threads.
    #[inline]
    pub fn lock_shared_unless_full(&self) -> bool {
        self.lock_shared_by(None)
    }

    /// Returns `true` if as many readers hold the lock as can be counted. The answer may be stale when it is returned,
    /// and acquires nothing.
    #[cold]
    pub fn is_full(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) & GUARD != 0
    }

    /// Takes the lock as its owner if it is free and not reserved. Returns `true` if it did. This is the first step of
    /// a thread that waits afterwards. [`try_lock`](RawLock::try_lock) may also take a reserved lock, because it cannot
    /// wait.
    #[inline]
    pub fn take_unreserved(&self) -> bool {
        self.take_free() || self.take_unless_reserved(LockMode::Writer)
    }

    /// As [`take_unreserved`](Self::take_unreserved), but takes the lock as a reader.
    #[inline]
    pub fn take_shared_unreserved(&self) -> bool {
        self.listed(|| self.take_unless_reserved(LockMode::Reader))
    }

    /// Takes the lock as its owner if no thread holds it, even if threads wait for it. Returns `true` if it did.
    pub fn try_lock_past_waiters(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let taken = self.take_from(self.word.load(Relaxed), LockMode::Writer, HELD);
        if taken.is_ok_and(|before| before & SLEEPER != 0) {
            self.forget_beside_sleeper();
        }
        taken.is_ok()
    }

    /// Takes the lock as a reader together with other readers, even if threads wait for it, if that needs no waiting.
    /// It is for a thread that is a reader already.
    pub fn try_lock_shared_again(&self) -> bool {
        self.listed(|| self.take(LockMode::Reader, LockMode::Reader.held_against()))
    }

    /// Gives the lock back, reserved for the first waiter if that waiter sleeps: no newcomer overtakes it.
    ///
    /// # Safety
    /// The caller owns the lock.
    pub unsafe fn unlock_fair(&self) {
        self.reserve_for_sleeper();
        // SAFETY: the caller owns the lock.
        unsafe { self.unlock() };
    }

    /// As [`unlock_fair`](Self::unlock_fair), but for a reader. Newcomers that read wait behind that waiter, too.
    ///
    /// # Safety
    /// The caller is a reader.
    pub unsafe fn unlock_shared_fair(&self) {
        self.reserve_for_sleeper();
        // SAFETY: the caller is a reader.
        unsafe { self.unlock_shared() };
    }

    /// Reserves the lock, which the caller holds, for the first waiter, if it sleeps.
    fn reserve_for_sleeper(&self) {
        // ordering: Relaxed; a thread that has just begun to sleep has not waited for long.
        if self.word.load(Relaxed) & SLEEPER != 0 {
            self.shared().reserve();
        }
    }

    /// Returns `true` if newcomers are kept out for a thread that waits.
    pub fn is_reserved(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) & RESERVED != 0
    }

    /// Returns `true` if the word of the lock is that of a new lock.
    pub fn is_untouched(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) == 0
    }

    /// Returns `true` if a writer holds the lock. The answer may be stale when it is returned, and acquires nothing.
    pub fn is_owned(&self) -> bool {
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) & WRITER != 0
    }

    #[inline(always)]
    fn shared(&self) -> Shared<'_, P> {
        Shared { word: &self.word, is_fair: F::IS_FAIR }
    }

    /// Takes the lock as its owner if its word is zero. This is the first attempt. Returns `true` if it did.
    #[inline(always)]
    fn take_free(&self) -> bool {
        // (0,0,0,0) -> (0,0,1,0)
        // ordering: Acquire; A1, A2. On failure Relaxed: the failure value is not used.
        self.word.compare_exchange(0, WRITER, Acquire, Relaxed).is_ok()
    }

    /// Takes the lock as a reader. This is the first attempt. The error is the word that was seen, if it kept the
    /// caller out or says that a waiter sleeps; otherwise zero.
    #[inline(always)]
    fn take_beside_readers(&self) -> Result<(), u32> {
        // Under contention, a compare-exchange at once is half of the work: a load would ask for the cache line first.
        // (0,0,0,0) -> (0,0,0,1)
        // ordering: Acquire; A1. On failure Relaxed: only a hint, re-checked at the next one.
        let Err(seen) = self.word.compare_exchange(0, READER, Acquire, Relaxed) else {
            return Ok(());
        };
        if seen & (LockMode::Reader.against_newcomer() | SLEEPER) != 0 {
            return Err(seen);
        }
        if self.try_take(seen, LockMode::Reader) { Ok(()) } else { Err(0) }
    }

    /// Takes the lock to read, and waits for it if it must. Returns `true` if the caller has the lock.
    #[inline(always)]
    fn lock_shared_by(&self, deadline_ns: Option<u64>) -> bool {
        self.listed(|| match self.take_beside_readers() {
            Ok(()) => true,
            Err(seen) => self.lock_shared_slowpath(seen, deadline_ns),
        })
    }

    /// Returns the entry that names the lock in a list of reads.
    #[inline(always)]
    fn entry(&self) -> u64 {
        core::ptr::from_ref(self).addr() as u64
    }

    /// Returns the list of the locks that the calling thread reads, if reads are listed.
    #[inline(always)]
    fn read_list<'a>() -> Option<&'a ReadList> {
        if F::LISTS_READS { Self::list_of_thread() } else { None }
    }
    #[inline(always)]
    fn list_of_thread<'a>() -> Option<&'a ReadList> {
        // SAFETY: by the contract of `SleepStorage` the list lives as long as the calling thread. No caller keeps the
        // reference.
        P::read_list().map(|list| unsafe { list.as_ref() })
    }

    /// Lists the lock, which the caller is about to read. A signal handler that interrupts the caller finds it listed.
    #[inline(always)]
    fn list(&self) {
        if let Some(list) = Self::read_list() {
            list.enter(self.entry());
        }
    }

    /// Removes the entry of a lock that the caller no longer reads. That lock may no longer exist.
    #[inline(always)]
    fn unlist(entry: u64) {
        if let Some(list) = Self::read_list() {
            list.remove(entry, P::now_ns);
        }
    }

    /// Serves the waiters of a lock that the caller, its owner, has given back. A waiter sleeps.
    #[cold]
    fn serve_after_write(name: u64, entry: u64) {
        let list = if F::IS_FAIR { None } else { Self::list_of_thread() };
        let took_ns = list.and_then(|list| list.end_write(entry, P::now_ns()));
        serve::<P>(name, F::IS_FAIR, Released::Writer(took_ns));
    }

    /// Serves the waiters of a lock that the caller, its last reader, has given back. A waiter sleeps.
    #[cold]
    fn serve_after_read(name: u64, entry: u64) {
        let took_ns = Self::read_list().and_then(|list| list.take_last_read_ns(entry));
        serve::<P>(name, F::IS_FAIR, Released::Readers(took_ns));
    }

    /// Notes the time at which the section of the caller begins. The caller has waited for the lock, or reads while a
    /// thread waits.
    fn begin_timed(&self, kind: LockMode) {
        let Some(list) = Self::list_of_thread() else { return };
        match kind {
            LockMode::Reader | LockMode::Upgradable if F::LISTS_READS => {
                list.time_read(self.entry(), P::now_ns())
            }
            LockMode::Reader | LockMode::Upgradable => {}
            LockMode::Upgrader | LockMode::Writer => list.time_write(self.entry(), P::now_ns()),
        }
    }

    /// Lists the caller as a reader and calls `take`. If that returns `false`, the caller is not a reader, and the
    /// entry is removed. Returns what `take` returned.
    #[inline(always)]
    fn listed(&self, take: impl FnOnce() -> bool) -> bool {
        self.list();
        let is_ours = take();
        if !is_ours {
            Self::unlist(self.entry());
        }
        is_ours
    }

    /// Says if the caller reads the lock already. The caller has listed the lock once more before.
    fn reads_already(&self) -> Reads {
        match Self::read_list() {
            _ if F::IS_FAIR => Reads::No,
            Some(list) => list.reads_already(self.entry()),
            None => Reads::Perhaps,
        }
    }

    /// Takes the lock to read, after the first attempt. The caller has `seen` that it may not take the lock, or that a
    /// waiter sleeps.
    #[cold]
    #[inline(never)]
    fn lock_shared_slowpath(&self, seen: u32, deadline_ns: Option<u64>) -> bool {
        seen & SLEEPER != 0 && self.take_beside_sleeper(seen, LockMode::Reader)
            || self.wait(LockMode::Reader, deadline_ns)
    }

    /// Removes the mark of a waiter that does not exist. The caller has taken the lock, which was free, and the word
    /// may have said that a waiter sleeps. In a forked child that waiter may not exist, and each release would look for
    /// it. A thread that joins other readers does not look: there a waiter may well sleep for long, and a look takes
    /// system calls.
    fn forget_beside_sleeper(&self) {
        if P::has_forked() {
            let shared = self.shared();
            shared.forget_the_gone();
        }
    }

    /// Makes an attempt for a thread that does not wait. Returns `true` if it has taken the lock.
    #[inline]
    fn attempt(&self, kind: LockMode) -> bool {
        self.take_unless_reserved(kind) || self.attempt_kept(kind)
    }

    /// Takes the lock if a newcomer may. Returns `true` if it did.
    #[inline]
    fn take_unless_reserved(&self, kind: LockMode) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let seen = self.word.load(Relaxed);
        match self.take_from(seen, kind, kind.against_newcomer() | SLEEPER) {
            Ok(_) => true,
            Err(seen) => seen & SLEEPER != 0 && self.take_beside_sleeper(seen, kind),
        }
    }

    /// Takes the lock for a caller that has `seen` that a waiter sleeps, if a newcomer may. Returns `true` if it did.
    #[cold]
    #[inline(never)]
    fn take_beside_sleeper(&self, seen: u32, kind: LockMode) -> bool {
        let taken = self.take_from(seen, kind, kind.against_newcomer());
        if taken.is_ok_and(|before| before & (HELD | SLEEPER) == SLEEPER) {
            self.forget_beside_sleeper();
        }
        if taken.is_ok() && kind.is_shared() && !F::IS_FAIR {
            self.begin_timed(kind);
        }
        taken.is_ok()
    }

    /// Takes the lock although the word speaks of waiters. It does so if no thread holds the lock, unless it is
    /// [`Fair`], and as a reader if no writer waits. The lock stays reserved. In a forked child the word may speak of
    /// waiters that do not exist. Returns `true` if it did.
    #[cold]
    fn attempt_kept(&self, kind: LockMode) -> bool {
        loop {
            if !F::IS_FAIR && self.take(kind, HELD) {
                self.forget_beside_sleeper();
                return true;
            }
            // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
            let seen = self.word.load(Relaxed);
            if seen & kind.held_against() != 0 {
                return false;
            }
            if seen & (RESERVED | PENDING) != 0 {
                return kind.is_shared() && self.pass_as_reader(kind)
                    || self.attempt_beside_waiters(kind, seen);
            }
            // The waiters for which the lock was kept have had it.
            if self.take_unless_reserved(kind) {
                return true;
            }
        }
    }

    /// Does the rest of `attempt_kept`. The caller has `seen` that the lock is kept for another thread, and that no
    /// holder keeps the caller out.
    fn attempt_beside_waiters(&self, kind: LockMode, seen: u32) -> bool {
        if P::has_forked() && self.shared().forget_the_gone() {
            return self.take(kind, kind.against_newcomer() & !PENDING);
        }
        let join = || self.take(kind, kind.held_against() | PENDING);
        kind.is_shared() && seen & PENDING == 0 && self.shared().join_readers(kind, join)
    }

    /// Takes the lock unless `against` is in the word. Returns `true` if it did.
    fn take(&self, kind: LockMode, against: u32) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        self.take_from(self.word.load(Relaxed), kind, against).is_ok()
    }

    /// As [`take`](Self::take), but the caller has `seen` the word. Returns the word as it was if the lock is taken.
    /// Otherwise the word is the error.
    #[inline(always)]
    fn take_from(&self, mut seen: u32, kind: LockMode, against: u32) -> Result<u32, u32> {
        while seen & against == 0 {
            // (k,s,0,r) -> (k,s,1,0) or (k,s,0,r+1)
            // ordering: Acquire; A1, A2. On failure Relaxed: only a hint, re-checked at the next one.
            match self.word.compare_exchange(seen, kind.taken(seen), Acquire, Relaxed) {
                Ok(before) => return Ok(before),
                Err(now) => seen = now,
            }
        }
        Err(seen)
    }
}

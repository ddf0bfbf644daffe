//! Marks are static words that say if any thread may sleep for a lock, so that a release need not ask the lock.
//!
//! A lock finds its mark by its address. Locks that share a mark disturb each other only a little. A mark counts the
//! threads that sleep for its locks or are about to (*sleepers*) and those that wait on condition variables
//! (*waiters*).
//!
//! ```text
//!  63      48 47           24 23            2    1       0
//! +----------+---------------+---------------+--------+-------+
//! |  epoch   |    waiters    |   sleepers    | stirred| quiet |
//! +----------+---------------+---------------+--------+-------+
//! ```
//!
//! | state | what it says | moved by |
//! |---|---|---|
//! | quiet, and nothing else | no thread sleeps: a release may be a store | a sleeper or a waiter, to stirred |
//! | stirred | threads sleep or wait, and some thread may not know it yet | a sleeper, after a heavy barrier, to neither |
//! | neither | a release is an exchange; zero, too | a release, if nothing is counted, to quiet |
//!
//! A sleeper counts itself before it says in the lock that it sleeps. If the mark was quiet or stirred, it passes a
//! heavy barrier in between. A thread that releases the lock by a store may overwrite what the sleeper said. Because of
//! the barrier it finds the mark changed when it looks at it once more. A waiter owns its mutex when it counts itself,
//! and needs no barrier: a thread that owns the mutex later sees the count.
//!
//! Counts cannot overflow: Linux has at most 2^22 threads. A thread that a parent process counted does not exist in a
//! forked child: if the epoch is not that of the process, nothing is counted. It has the lowest 16 bits of the
//! platform's epoch. Two lives that are 65,536 forks apart look alike, and then a count is too high.
//!
//! A notification of a condition variable may leave the address of a sleeper at the mark of its mutex, with the kind of
//! sleepers that it means. The next release of a lock with this mark takes it and wakes the sleeper, or all of that
//! kind. A mark has room for one address. A notification that leaves another one takes the first out and wakes its
//! sleepers at once.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | M1 | the count of a sleeper, then a heavy barrier | the second look of a release, after a light barrier | that the release has to wake a thread |
//! | S9 | the count of a sleeper, then its sleep | the look of a woken waiter at the count | that other threads sleep; S9 is a law of the platform |
//! | N3 | the address that is left, then the kernel's look at the mutex | the look of a release, after its exchange and a barrier | that the release has to wake a sleeper: if the kernel found the mutex held, its release finds the address |
//! | N4 | the address that is left, Release | the exchange that takes it, Acquire | that the notification no longer uses the condition variable: the sleeper may free it when it is woken |
//! | M2 | the end of *stirred*, after the heavy barrier, Release | a sleeper that counts itself, Acquire | that it needs no barrier of its own |

use crate::events::Event;
use crate::platform::{
    Atomic, AtomicInt, Cells, ConstCells, ConstZeroed, LockHash, MarkStorage, SchedulerHints,
    Sleeping, Zeroed,
};
use crate::queue::QueuePlatform;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU32 as Private;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// No thread sleeps.
const QUIET: u64 = 1;
/// A thread may still believe that the mark is quiet.
const STIRRED: u64 = 2;
const SLEEPER: u64 = 1 << 2;
const WAITER: u64 = 1 << 24;
const COUNTS: u64 = (1 << EPOCH_SHIFT) - SLEEPER;
const EPOCH_SHIFT: u32 = 48;

/// The number of releases that find no thread to wake, before a mark may become quiet again.
const CALM_LOOKS: u32 = 64;

/// One wake-up of this many is for the thread that has slept longest.
const WAKES_FOR_OLDEST: u32 = 16;

/// One notification of this many is for a thread that sleeps, although another thread is awake and looks for it.
const LOOKED_FOR_BEFORE_SLEEPERS: u32 = 256;

/// The kind of sleeper that a waiter on a condition variable is to the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum WaiterKind {
    /// A waiter of a group with an even number.
    Even = 4,
    /// A waiter of a group with an odd number.
    Odd = 8,
}

/// Waiters of a condition variable that are to be woken: one, or all of a kind.
pub struct NotifiedSleepers<P: Cells> {
    /// The address on which they sleep.
    pub address: *const P::U32,
    /// The kind of sleeper that they are to the kernel.
    pub kind: WaiterKind,
    /// True if all sleepers of this kind were notified.
    pub is_all: bool,
}

impl<P: Cells> Clone for NotifiedSleepers<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Cells> Copy for NotifiedSleepers<P> {}

impl<P: MarkPlatform> NotifiedSleepers<P> {
    /// Bits of a name: `ALL` says `is_all`, and `ODD` says that the kind is odd. Addresses of words do not use these
    /// bits.
    const ALL: usize = 1;
    const ODD: usize = 2;

    /// Returns all fields in one pointer, which is not null.
    fn name(self) -> *mut () {
        let all = if self.is_all { Self::ALL } else { 0 };
        let odd = if self.kind == WaiterKind::Odd { Self::ODD } else { 0 };
        self.address.map_addr(|address| address | all | odd).cast_mut().cast()
    }
    fn of_name(name: *mut ()) -> Self {
        let bits = name.addr();
        let address = name.map_addr(|name| name & !(Self::ALL | Self::ODD)).cast_const().cast();
        let kind = if bits & Self::ODD == 0 { WaiterKind::Even } else { WaiterKind::Odd };
        Self { address, kind, is_all: bits & Self::ALL != 0 }
    }

    /// Wakes these waiters.
    pub fn wake(self) {
        P::count(Event::mutex_wake);
        let count = if self.is_all { u32::MAX } else { 1 };
        P::futex_wake_only(self.kind as u32, self.address, count);
    }
}

/// The operations that a lock asks for if its waiters sleep and are kept by the machine, not in a table.
pub trait MarkPlatform:
    QueuePlatform + SchedulerHints + Sleeping + LockHash + MarkStorage<MarkState = MarkState<Self>>
{
}
impl<P> MarkPlatform for P where
    P: QueuePlatform + SchedulerHints + Sleeping + LockHash + MarkStorage<MarkState = MarkState<P>>
{
}

/// What stands next to the counts of a mark.
#[repr(C)]
pub struct MarkState<P: Cells> {
    /// The number of looks by releasing threads that found no thread counted on the mark. It only paces the mark's
    /// return to quiet.
    calm: Private,
    /// The number of wake-ups, by the mark of the lock.
    wakes: Private,
    /// The number of times that a look for a notification cost more than a sleep, by the mark of the condition
    /// variable.
    misses: Private,
    /// The address on which a notified thread sleeps that is left to the release of its mutex, by the mark of the
    /// mutex.
    left: P::Ptr,
    /// The number of notifications that could go to a waiter which was awake, by the mark of the condition variable. It
    /// is written each time, so it is not in the cache line that the waiters look at.
    looked_for: Private,
}

impl<P: Cells> Default for MarkState<P> {
    fn default() -> Self {
        let [calm, wakes, misses, looked_for] = [(); 4].map(|()| Private::new(0));
        Self { calm, wakes, misses, left: Zeroed::zeroed(), looked_for }
    }
}

impl<P: ConstCells> MarkState<P> {
    /// The state of a mark that was not used, as a constant.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const EMPTY: Self = Self {
        calm: Private::new(0),
        wakes: Private::new(0),
        misses: Private::new(0),
        left: ConstZeroed::ZEROED,
        looked_for: Private::new(0),
    };
}

/// The mark of a lock.
pub struct Mark<P> {
    at: usize,
    _platform: PhantomData<fn() -> P>,
}

impl<P> Clone for Mark<P> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P> Copy for Mark<P> {}

/// The count that a thread has added to a mark, and the process life in which it did so.
#[derive(Clone, Copy)]
pub struct Counted {
    one: u64,
    epoch: u64,
}

/// What a look at a mark has found.
#[derive(Clone, Copy)]
pub struct MarkLook(u64);

impl MarkLook {
    /// Returns `true` if a release may be a store, after which the mark has to be looked at once more.
    #[inline(always)]
    pub fn is_quiet(self) -> bool {
        self.0 == QUIET
    }
    /// Returns `true` if sleepers or waiters are counted, or were before this process was forked.
    #[inline(always)]
    pub fn is_counted(self) -> bool {
        self.0 & COUNTS != 0
    }
}

impl<P: MarkPlatform> Mark<P> {
    /// Returns the mark of the lock with this word.
    #[inline(always)]
    pub fn of<W>(word: *const W) -> Self {
        // The middle bits of a product depend on all bits of the name (Fibonacci hashing).
        let product = P::lock_name(word.cast()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = (product >> 32) as usize & (P::sleep_buckets() - 1);
        Self { at, _platform: PhantomData }
    }
    #[inline(always)]
    fn word<'a>(self) -> &'a P::U64 {
        // SAFETY: by the contract of `MarkStorage` it lives as long as the machine.
        unsafe { P::counting_mark(self.at).as_ref() }
    }
    #[inline(always)]
    fn state<'a>(self) -> &'a MarkState<P> {
        // SAFETY: by the contract of `MarkStorage` it lives as long as the machine.
        unsafe { P::mark_state(self.at).as_ref() }
    }
    /// Returns `true` if both marks are one word.
    pub fn is_shared_with(self, other: Self) -> bool {
        self.at == other.at
    }
    /// Looks at the mark, before a release.
    #[inline(always)]
    pub fn look(self) -> MarkLook {
        // ordering: Relaxed; only a hint, re-checked in `is_quiet_still` and in `calm`.
        MarkLook(self.word().load(Relaxed))
    }
    /// Looks again, after the releasing store. Returns `false` if that may have overwritten what a sleeper said.
    #[inline(always)]
    pub fn is_quiet_still(self) -> bool {
        // ordering: light barrier; M1.
        P::light_barrier();
        // ordering: Relaxed; after the barrier, M1.
        self.word().load(Relaxed) == QUIET
    }

    fn epoch() -> u64 {
        u64::from(P::epoch()) << EPOCH_SHIFT
    }
    /// Returns the counts of this process in `bits`.
    fn counts(bits: u64) -> u64 {
        let is_ours = bits & !(COUNTS | QUIET | STIRRED) == Self::epoch();
        if is_ours { bits & COUNTS } else { 0 }
    }
    /// Counts the caller. Also returns the old word.
    fn count(self, one: u64) -> (Counted, u64) {
        let word = self.word();
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = word.load(Relaxed);
        loop {
            let epoch = Self::epoch();
            let stirred = if seen & QUIET != 0 { STIRRED } else { seen & STIRRED };
            let counts = epoch | (Self::counts(seen) + one) | stirred;
            // ordering: Acquire; M2. On failure Relaxed: as above.
            match word.compare_exchange(seen, counts, Acquire, Relaxed) {
                Ok(_) => return (Counted { one, epoch }, seen),
                Err(now) => seen = now,
            }
        }
    }
    /// Counts the caller as a sleeper. From then on every release looks at the lock's word.
    pub fn count_sleeper(self) -> Counted {
        let (counted, before) = self.count(SLEEPER);
        if before & (QUIET | STIRRED) != 0 {
            P::count(Event::heavy_barrier);
            // ordering: heavy barrier; M1.
            P::heavy_barrier();
            // The caller is counted, so the mark was not quiet in between.
            // ordering: Release; M2.
            self.word().fetch_and(!STIRRED, Release);
        }
        counted
    }
    /// Counts the caller as a waiter, which owns the mutex whose mark this is.
    pub fn count_waiter(self) -> Counted {
        self.count(WAITER).0
    }
    /// Returns `true` if `counted` is from before a fork, and this process is the child: nothing is counted here.
    pub fn is_lost(counted: Counted) -> bool {
        counted.epoch != Self::epoch()
    }
    /// Takes the caller out of the count.
    pub fn discount(self, counted: Counted) {
        if !Self::is_lost(counted) {
            // ordering: Relaxed; nothing is read through it.
            self.word().fetch_sub(counted.one, Relaxed);
        }
    }
    /// Returns `true` if sleepers or waiters other than `me`, the caller, are counted. Only the owner of the lock may
    /// ask, or a woken waiter.
    pub fn has_others(self, me: [Option<Counted>; 2]) -> bool {
        // ordering: Relaxed; the threads that it asks about sleep, so a woken caller sees their count by law S9, or
        // they owned the lock when they were counted.
        let counts = Self::counts(self.word().load(Relaxed));
        let mine = me.into_iter().flatten().filter(|&counted| !Self::is_lost(counted));
        counts > mine.map(|counted| counted.one).sum()
    }

    /// Leaves it to the next release to wake these sleepers. Wakes the sleepers that were left before.
    pub fn leave(self, sleepers: NotifiedSleepers<P>) {
        self.leave_name(sleepers.name());
    }
    fn leave_name(self, name: *mut ()) {
        // ordering: AcqRel; N4. N3 has its barriers.
        let before = self.state().left.swap(name, AcqRel);
        if !before.is_null() {
            NotifiedSleepers::<P>::of_name(before).wake();
        }
    }
    /// Wakes the sleeper that was left here, if there is one.
    #[cold]
    pub fn wake_left(self) {
        self.leave_name(core::ptr::null_mut());
    }
    /// Returns `true` if a sleeper was left here that [`wake_left`](Self::wake_left) has to wake. The caller has
    /// released the lock by an exchange; the lock may no longer exist.
    #[inline(always)]
    pub fn has_left_after_exchange(self) -> bool {
        // ordering: barrier after an exchange; N3.
        P::barrier_after_exchange(&self.state().left);
        // ordering: Relaxed; after the barrier, N3.
        !self.state().left.load(Relaxed).is_null()
    }
    /// Wakes a sleeper that was left here, if there is one. The caller has released the lock by an exchange.
    pub fn wake_left_after_exchange(self) {
        if self.has_left_after_exchange() {
            self.wake_left();
        }
    }
    /// Returns `true` for one of `WAKES_FOR_OLDEST` wake-ups, which is for the thread that has slept longest.
    pub fn is_turn_of_oldest(self) -> bool {
        Self::count_turn(&self.state().wakes) % WAKES_FOR_OLDEST == 0
    }
    /// Returns `true` for one of `LOOKED_FOR_BEFORE_SLEEPERS` notifications of an awake waiter: it is for a sleeper.
    pub fn is_turn_of_sleepers(self) -> bool {
        Self::count_turn(&self.state().looked_for) % LOOKED_FOR_BEFORE_SLEEPERS == 0
    }
    fn count_turn(counter: &Private) -> u32 {
        // ordering: Relaxed; nothing is read through it, and turns may be missed.
        let count = counter.load(Relaxed).wrapping_add(1);
        // ordering: Relaxed; as above.
        counter.store(count, Relaxed);
        count
    }
    /// Returns the number of misses that was set last for a condition variable with this mark.
    pub fn misses(self) -> u32 {
        // ordering: Relaxed; nothing is read through it.
        self.state().misses.load(Relaxed)
    }
    /// Sets the number of times that a look for a notification cost more than a sleep.
    pub fn set_misses(self, misses: u32) {
        // ordering: Relaxed; nothing is read through it, and misses may be missed.
        self.state().misses.store(misses, Relaxed);
    }
    /// Wakes a sleeper that was left here, after a release by exchange. If there is none, counts the release as one
    /// that found no thread to wake. After some of these the mark becomes quiet. So a process whose locks are hardly
    /// used never asks for heavy barriers: that takes milliseconds in a process with threads.
    #[cold]
    #[inline(never)]
    pub fn end_release(self) {
        if self.has_left_after_exchange() {
            return self.wake_left();
        }
        if !P::has_heavy_barrier() {
            return;
        }
        let looks = &self.state().calm;
        // ordering: Relaxed; nothing is read through it, and looks may be missed.
        let calm = looks.load(Relaxed).wrapping_add(1);
        let is_over = calm >= CALM_LOOKS;
        // ordering: Relaxed; as above.
        looks.store(if is_over { 0 } else { calm }, Relaxed);
        if is_over {
            self.calm();
        }
    }
    /// Makes the mark quiet if nothing is counted and heavy barriers may be used.
    pub fn calm(self) {
        if !P::may_use_heavy_barrier() {
            return;
        }
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let seen = self.word().load(Relaxed);
        if Self::counts(seen) == 0 {
            // ordering: Relaxed; a thread that reads it passes the barriers of M1. On failure Relaxed: the failure
            // value is not used.
            let _ = self.word().compare_exchange(seen, QUIET, Relaxed, Relaxed);
        }
    }
}

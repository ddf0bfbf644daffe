#![doc = include_str!("README.md")]

pub mod testing;

pub use lockwright_core::readers::{ReaderPlatform, ReaderSlot, claims};

use crate::events::Event;
use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, Zeroed, barrier_before_look};
use crate::raw::{FairnessThreshold, Order, RawLock, Schedules};
use crate::rwlock::{RawRwLock, too_many_readers};
use crate::tunables::Tunable;
use core::sync::atomic::AtomicU32 as Private;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// If this bit is set, readers use slots.
const ON: u64 = 1;

/// After this many reads with no write between them, readers use slots.
const CALM_READS: u32 = 1 << 12;
/// Each time a writer ends the use of slots, their next use takes more reads. The number of reads grows by this many
/// bits, so it is four times as large.
const GROWTH: u32 = 2;
/// The number of reads grows this many times at most.
const GROWTH_MAX: u32 = 4;

/// Two counts in one word. The lower bits count the reads of the lock beneath since the last write. The upper bits
/// count how many times writers have ended the use of slots, up to [`GROWTH_MAX`]. The counts only set the pace and
/// guard nothing, so some may be lost.
struct Tally(Private);
/// The number of bits that count reads.
const CALM_BITS: u32 = 28;

impl Tally {
    #[allow(clippy::declare_interior_mutable_const)]
    const ZERO: Self = Self(Private::new(0));

    #[inline(always)]
    fn get(&self) -> (u32, u32) {
        // ordering: Relaxed; nothing is read through it.
        let both = self.0.load(Relaxed);
        (both & ((1 << CALM_BITS) - 1), both >> CALM_BITS)
    }
    #[inline(always)]
    fn set(&self, calm: u32, ended: u32) {
        // ordering: Relaxed; nothing is read through it.
        self.0.store(calm & ((1 << CALM_BITS) - 1) | ended << CALM_BITS, Relaxed);
    }
    /// Counts one more read. Returns the number of reads since the last write.
    #[inline(always)]
    fn count_read(&self) -> u32 {
        let (calm, ended) = self.get();
        self.set(calm + 1, ended);
        calm + 1
    }
    /// Begins to count reads anew, because a thread writes.
    #[inline(always)]
    fn end_calm(&self) {
        self.set(0, self.get().1);
    }
    /// Counts that a writer ends the use of slots.
    fn end_slots(&self) {
        self.set(0, (self.get().1 + 1).min(GROWTH_MAX));
    }
}

/// The place in which a thread reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadIn {
    /// In its slot.
    Slot,
    /// By the lock beneath.
    Beneath,
}

/// A reader-writer lock for programs that is nearly always read. It has 16 bytes, and zero is unlocked.
///
/// The module's documentation has the fairness, the costs and the orderings.
#[repr(C)]
pub struct RawPercpuRwLock<P: Cells> {
    beneath: RawRwLock<P>,
    /// Written by threads that have just written the cache line of the lock beneath.
    pace: Tally,
    /// The number by which slots name the lock, in all bits but the lowest. The lowest bit says if readers use slots. 0
    /// means that the lock has no number yet.
    mode: P::U64,
}

impl<P: ConstCells> RawPercpuRwLock<P> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self =
        Self { beneath: RawRwLock::INIT, pace: Tally::ZERO, mode: ConstZeroed::ZEROED };
}

impl<P: ReaderPlatform> RawLock for RawPercpuRwLock<P> {
    const ORDER: Order = Order::None;
    const SCHEDULES: Schedules = Schedules::OfRows;
    const WAITERS_SLEEP: bool = true;
    const READERS_SHARE: bool = true;

    fn fairness_threshold(
        numa_nodes: u32,
        set: &dyn Fn(Tunable) -> Option<u64>,
    ) -> FairnessThreshold {
        RawRwLock::<P>::fairness_threshold(numa_nodes, set)
    }
    fn new() -> Self {
        Self { beneath: RawLock::new(), pace: Tally::ZERO, mode: Zeroed::zeroed() }
    }
    #[inline]
    fn lock(&self) {
        self.beneath.lock();
        self.begin_write(None);
    }
    fn try_lock(&self) -> bool {
        if !self.beneath.try_lock() {
            return false;
        }
        if self.uses_slots() && !self.try_end_slots() {
            // SAFETY: the lock beneath was taken above.
            unsafe { self.beneath.unlock() };
            return false;
        }
        self.pace.end_calm();
        true
    }
    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.beneath.unlock() };
    }
    #[inline]
    fn lock_shared(&self) {
        self.lock_shared_in();
    }
    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.try_lock_shared_in().is_some()
    }
    #[inline]
    unsafe fn unlock_shared(&self) {
        if !self.leave_slot() {
            // SAFETY: the caller is a reader, and not in its slot.
            unsafe { self.beneath.unlock_shared() };
        }
    }
    #[inline]
    unsafe fn downgrade(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { self.beneath.downgrade() };
    }
    fn is_locked(&self) -> bool {
        barrier_before_look::<P, _>(&self.mode);
        // If slots are not used, a thread is in one only while a writer owns the lock beneath and waits for that
        // thread.
        self.beneath.is_locked() || self.uses_slots() && !self.has_no_slots()
    }
}

impl<P: ReaderPlatform> RawPercpuRwLock<P> {
    /// Takes the lock as its owner before `deadline_ns` of the platform's clock. Returns `true` if it did. It may
    /// return a little later than that, if it spins when the time comes.
    pub fn lock_until(&self, deadline_ns: u64) -> bool {
        if !self.beneath.lock_until(deadline_ns) {
            return false;
        }
        let is_ours = self.begin_write(Some(deadline_ns));
        if !is_ours {
            // SAFETY: the lock beneath was taken above.
            unsafe { self.beneath.unlock() };
        }
        is_ours
    }

    /// As [`lock_until`](Self::lock_until), but takes the lock as a reader.
    pub fn lock_shared_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_in_until(deadline_ns).is_some()
    }

    /// Takes the lock as a reader. Returns where it reads.
    #[inline]
    pub fn lock_shared_in(&self) -> ReadIn {
        match self.read_in_slot() {
            true => ReadIn::Slot,
            false => self.read_beneath(None).unwrap_or_else(|| too_many_readers::<P>()),
        }
    }

    /// As [`lock_shared_in`](Self::lock_shared_in), but returns `None` if one more reader cannot be counted.
    #[inline]
    pub fn lock_shared_in_unless_full(&self) -> Option<ReadIn> {
        match self.read_in_slot() {
            true => Some(ReadIn::Slot),
            false => self.read_beneath(None),
        }
    }

    /// Returns `true` if as many readers hold the lock as can be counted. The answer may be stale when it is returned,
    /// and acquires nothing.
    #[cold]
    pub fn is_full(&self) -> bool {
        let is_full = |name| P::reader_slot().is_some_and(|slot| slot_ref::<P>(slot).is_full(name));
        self.beneath.is_full() || self.name().is_some_and(is_full)
    }

    /// As [`lock_shared_in`](Self::lock_shared_in), but only before `deadline_ns` of the platform's clock. Returns
    /// `None` if it did not take the lock.
    pub fn lock_shared_in_until(&self, deadline_ns: u64) -> Option<ReadIn> {
        match self.read_in_slot() {
            true => Some(ReadIn::Slot),
            false => self.read_beneath(Some(deadline_ns)),
        }
    }

    /// Takes the lock as a reader if it is not reserved for a waiter. Returns `true` if it did. This is the first step
    /// of a thread that waits afterwards. [`try_lock_shared`](RawLock::try_lock_shared) may also take a reserved lock,
    /// because it cannot wait.
    #[inline]
    pub fn take_shared_unreserved(&self) -> bool {
        self.read_in_slot()
            || self.beneath.take_shared_unreserved() && self.count_read() == ReadIn::Beneath
    }

    /// As [`lock_shared_in`](Self::lock_shared_in), but only if that needs no waiting. Returns `None` if it did not
    /// take the lock.
    #[inline]
    pub fn try_lock_shared_in(&self) -> Option<ReadIn> {
        if self.read_in_slot() || self.read_again() {
            return Some(ReadIn::Slot);
        }
        let is_ours = self.beneath.try_lock_shared();
        is_ours.then(|| self.count_read())
    }

    /// Takes the lock as a reader together with other readers, even if threads wait for it, if that needs no waiting.
    /// It is for a thread that is a reader already.
    pub fn try_lock_shared_again(&self) -> bool {
        self.read_in_slot() || self.read_again() || self.beneath.try_lock_shared_again()
    }

    /// Gives back the lock, which the calling thread reads in that place.
    ///
    /// # Safety
    /// The caller is a reader of the lock, and was told `read` when it became one.
    #[inline]
    pub unsafe fn unlock_shared_in(&self, read: ReadIn) {
        match read {
            ReadIn::Slot => {
                self.leave_slot();
            }
            // SAFETY: the caller is a reader of the lock beneath.
            ReadIn::Beneath => unsafe { self.beneath.unlock_shared() },
        }
    }

    /// Returns `true` if a writer holds the lock or waits for readers in slots. The answer may be stale when it is
    /// returned, and acquires nothing.
    pub fn is_owned(&self) -> bool {
        self.beneath.is_owned()
    }

    /// Returns `true` if no thread holds the lock or waits for it.
    pub fn is_untouched(&self) -> bool {
        !self.is_locked() && self.beneath.is_untouched()
    }

    /// Returns the number by which slots name the lock, if it has one.
    #[inline(always)]
    fn name(&self) -> Option<u64> {
        // ordering: Relaxed; it changes once, before the first entry that holds it.
        match self.mode.load(Relaxed) & !ON {
            0 => None,
            name => Some(name),
        }
    }

    #[inline(always)]
    fn uses_slots(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked in `read_in_slot`; for a writer, written under the lock beneath.
        self.mode.load(Relaxed) & ON != 0
    }

    /// Notes in the slot of the calling thread that it reads. Returns `true` if that is enough.
    #[inline(always)]
    fn read_in_slot(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked below.
        let mode = self.mode.load(Relaxed);
        if mode & ON == 0 {
            return false;
        }
        let Some(slot) = P::reader_slot() else { return false };
        slot_ref::<P>(slot).read(mode & !ON, || {
            // ordering: light barrier; B1.
            P::light_barrier();
            // ordering: Acquire; B4, after the barrier of B1.
            self.mode.load(Acquire) == mode
        })
    }

    /// Ends a read of the caller in its slot. Returns `true` if it read there.
    #[inline(always)]
    fn leave_slot(&self) -> bool {
        let unread = |name| P::reader_slot().is_some_and(|slot| slot_ref::<P>(slot).unread(name));
        self.name().is_some_and(unread)
    }

    /// Reads once more in the slot of a thread that reads there already, even if threads wait. Returns `true` if it
    /// does.
    fn read_again(&self) -> bool {
        let again =
            |name| P::reader_slot().is_some_and(|slot| slot_ref::<P>(slot).read_again(name));
        self.name().is_some_and(again)
    }

    /// Reads by the lock beneath. If that has to wait, a thread that reads in its slot already reads there once more.
    /// Returns `None` if the deadline has passed, or if one more reader cannot be counted.
    #[inline]
    fn read_beneath(&self, deadline_ns: Option<u64>) -> Option<ReadIn> {
        match self.beneath.take_shared_unreserved() {
            true => Some(self.count_read()),
            false => self.read_waiting(deadline_ns),
        }
    }
    #[cold]
    fn read_waiting(&self, deadline_ns: Option<u64>) -> Option<ReadIn> {
        if self.read_again() {
            return Some(ReadIn::Slot);
        }
        if self.is_full() {
            if self.beneath.try_lock_shared_again() {
                return Some(self.count_read());
            }
            // A writer that owns the lock beneath may wait for what the caller reads in its slot, so the caller must
            // not wait without a deadline.
            deadline_ns?;
        }
        match deadline_ns {
            Some(deadline_ns) if !self.beneath.lock_shared_until(deadline_ns) => return None,
            Some(_) => {}
            None if !self.beneath.lock_shared_unless_full() => return None,
            None => {}
        }
        Some(self.count_read())
    }

    /// Counts a read of the lock beneath, and begins the use of slots if no thread has written for long.
    #[inline]
    fn count_read(&self) -> ReadIn {
        let calm = self.pace.count_read();
        if calm.is_power_of_two() {
            self.begin_slots_if_calm(calm);
        }
        ReadIn::Beneath
    }
    #[cold]
    fn begin_slots_if_calm(&self, calm: u32) {
        let usual = || CALM_READS << (GROWTH * self.pace.get().1);
        let reads = P::tunable(Tunable::percpu_rwlock_calm_reads).unwrap_or_else(|| usual().into());
        if u64::from(calm) >= reads && P::may_use_heavy_barrier() {
            self.begin_slots();
        }
    }
    /// Begins the use of slots. The caller reads the lock beneath or owns it. Other threads may begin it at the same
    /// time.
    fn begin_slots(&self) {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mode = self.mode.load(Relaxed);
        let name = if mode == 0 { P::lock_number() << 1 } else { mode & !ON };
        // ordering: Release; B4: the last writer's work, which the caller has acquired. On failure Relaxed: another
        // thread has begun.
        if self.mode.compare_exchange(mode, name | ON, Release, Relaxed).is_ok() {
            P::count(Event::percpu_rwlock_on);
        }
    }

    /// Ends the use of slots and waits for the threads that read in theirs. The caller owns the lock beneath. Returns
    /// `false` if the deadline passed before.
    #[inline]
    fn begin_write(&self, deadline_ns: Option<u64>) -> bool {
        self.pace.end_calm();
        !self.uses_slots() || self.end_slots(deadline_ns)
    }
    #[cold]
    fn end_slots(&self, deadline_ns: Option<u64>) -> bool {
        let name = self.forbid_slots();
        let is_free =
            (0..P::reader_slots()).all(|at| slot_at::<P>(at).await_clear(name, deadline_ns));
        if !is_free {
            self.allow_slots(name);
        }
        is_free
    }
    /// Allows the use of slots again, because a thread still reads in one. The next writer has to look there, too.
    fn allow_slots(&self, name: u64) {
        // ordering: Relaxed; after the heavy barrier, which releases, B4.
        self.mode.store(name | ON, Relaxed);
    }
    /// Forbids the use of slots: from now on only threads read in a slot that do so already. Returns the number by
    /// which their slots name the lock.
    fn forbid_slots(&self) -> u64 {
        P::count(Event::percpu_rwlock_off);
        self.pace.end_slots();
        // ordering: Relaxed; written under the lock beneath, which the caller owns.
        let name = self.mode.load(Relaxed) & !ON;
        // ordering: Relaxed; ordered by the barriers of B1.
        self.mode.store(name, Relaxed);
        // ordering: heavy barrier; B1.
        P::heavy_barrier();
        name
    }
    /// As `end_slots`, but without waiting. Returns `true` if no thread reads in a slot. If a thread does, slots stay
    /// in use.
    #[cold]
    fn try_end_slots(&self) -> bool {
        // Only a hint. If a thread reads in a slot, this spares the heavy barrier, and readers keep their slots.
        if !self.has_no_slots() {
            return false;
        }
        let name = self.forbid_slots();
        let is_free = self.has_no_slots();
        if !is_free {
            self.allow_slots(name);
        }
        is_free
    }
    fn has_no_slots(&self) -> bool {
        let is_clear_of =
            |name| (0..P::reader_slots()).all(|at| slot_at::<P>(at).is_clear_of(name));
        self.name().is_none_or(is_clear_of)
    }
}

#[inline(always)]
fn slot_ref<'a, P: ReaderPlatform>(slot: core::ptr::NonNull<ReaderSlot<P>>) -> &'a ReaderSlot<P> {
    // SAFETY: by the contract of `ReaderSlots` it lives as long as the machine; all of it is cells.
    unsafe { slot.as_ref() }
}

fn slot_at<'a, P: ReaderPlatform>(at: usize) -> &'a ReaderSlot<P> {
    slot_ref(P::reader_slot_at(at))
}

#![doc = include_str!("README.md")]

mod slot;
#[doc(hidden)]
pub mod testing;

pub use slot::ReaderSlot;

use crate::events::Event;
use crate::is_locked::barrier_before_look;
use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, Platform, Zeroed};
use crate::raw::{Order, RawLock};
use crate::rwlock::RawRwLock;
use crate::tunables::Tunable;
use crate::zoo::{Bug, unless};
use core::sync::atomic::AtomicU32 as Private;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use slot::Said;

/// The part of an entry that names a lock.
const NAME_MASK: u64 = (1 << 48) - 1;

/// Readers take the lock beneath.
const OFF: u32 = 0;
/// Readers say so in their slots.
const ON: u32 = 1;

/// So many reads with no write between them, and readers use slots.
const CALM_READS: u32 = 1 << 12;
/// What it takes grows by that, in bits, each time a writer ends it, ...
const GROWTH: u32 = 2;
/// ... up to so many times.
const GROWTH_MAX: u32 = 4;

/// A number that paces and guards nothing: counts may be lost.
struct Tally(Private);

impl Tally {
    #[allow(clippy::declare_interior_mutable_const)]
    const ZERO: Self = Self(Private::new(0));

    #[inline(always)]
    fn get(&self) -> u32 {
        // ordering: Relaxed; nothing is read through it.
        self.0.load(Relaxed)
    }
    #[inline(always)]
    fn set(&self, value: u32) {
        // ordering: Relaxed; nothing is read through it.
        self.0.store(value, Relaxed);
    }
}

/// Where a thread reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadIn {
    /// In its slot.
    Slot,
    /// By the lock beneath.
    Beneath,
}

/// A reader-writer lock for programs that is read nearly always: 16 bytes, zero is unlocked.
///
/// Fairness, costs and orderings are in the module's documentation.
#[repr(C)]
pub struct RawPercpuRwLock<P: Cells> {
    beneath: RawRwLock<P>,
    mode: P::U32,
    /// Reads of the lock beneath since the last write. Counted by those who have just written its line; counts may be lost.
    calm: Tally,
    /// How often writers have ended the use of slots, up to [`GROWTH_MAX`].
    ended: Tally,
}

impl<P: ConstCells> RawPercpuRwLock<P> {
    /// An unlocked lock, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self {
        beneath: RawRwLock::INIT,
        mode: ConstZeroed::ZEROED,
        calm: Tally::ZERO,
        ended: Tally::ZERO,
    };
}

impl<P: Platform> RawLock for RawPercpuRwLock<P> {
    const ORDER: Order = Order::None;
    const WAITERS_SLEEP: bool = true;
    const READERS_SHARE: bool = true;

    fn new() -> Self {
        Self {
            beneath: RawLock::new(),
            mode: Zeroed::zeroed(),
            calm: Tally::ZERO,
            ended: Tally::ZERO,
        }
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
            // SAFETY: taken above.
            unsafe { self.beneath.unlock() };
            return false;
        }
        self.calm.set(0);
        true
    }
    #[inline]
    unsafe fn unlock(&self) {
        if P::is_seeded(Bug::CountedAfterUnlock) {
            // SAFETY: the caller holds the lock.
            unsafe { self.beneath.unlock() };
            self.calm.set(0);
            // ordering: Relaxed; WRONG ON PURPOSE.
            self.mode.load(Relaxed);
            return;
        }
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
        // Where slots are not used nobody is in one but while a writer that owns the lock beneath waits for that.
        self.beneath.is_locked() || self.uses_slots() && !self.has_no_slots()
    }
}

impl<P: Platform> RawPercpuRwLock<P> {
    /// Takes the lock as its owner before `deadline_ns` of the platform's clock; whether it did. Waits a little
    /// longer where it spins at that moment.
    pub fn lock_until(&self, deadline_ns: u64) -> bool {
        if !self.beneath.lock_until(deadline_ns) {
            return false;
        }
        let is_ours = self.begin_write(Some(deadline_ns));
        if !is_ours {
            // SAFETY: taken above.
            unsafe { self.beneath.unlock() };
        }
        is_ours
    }

    /// As [`lock_until`](Self::lock_until), as a reader.
    pub fn lock_shared_until(&self, deadline_ns: u64) -> bool {
        self.lock_shared_in_until(deadline_ns).is_some()
    }

    /// Takes the lock as a reader, and says where.
    #[inline]
    pub fn lock_shared_in(&self) -> ReadIn {
        match self.read_in_slot() {
            true => ReadIn::Slot,
            false => self.read_beneath(None).unwrap_or(ReadIn::Beneath),
        }
    }

    /// The same before `deadline_ns` of the platform's clock, or not at all.
    pub fn lock_shared_in_until(&self, deadline_ns: u64) -> Option<ReadIn> {
        match self.read_in_slot() {
            true => Some(ReadIn::Slot),
            false => self.read_beneath(Some(deadline_ns)),
        }
    }

    /// The same if that needs no waiting.
    #[inline]
    pub fn try_lock_shared_in(&self) -> Option<ReadIn> {
        if self.read_in_slot() || self.read_again() {
            return Some(ReadIn::Slot);
        }
        let is_ours = self.beneath.try_lock_shared();
        is_ours.then(|| self.count_read())
    }

    /// Takes the lock as a reader beside other readers, whoever waits for it, if that needs no waiting: for a thread that
    /// is a reader already.
    pub fn try_lock_shared_again(&self) -> bool {
        self.read_in_slot() || self.read_again() || self.beneath.try_lock_shared_again()
    }

    /// Gives back what the calling thread took in that place.
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

    /// Whether a writer holds the lock or waits for readers in slots. Stale when it is returned, and acquires nothing.
    pub fn is_owned(&self) -> bool {
        self.beneath.is_owned()
    }

    /// Whether nobody holds the lock or waits for it.
    #[doc(hidden)]
    pub fn is_untouched(&self) -> bool {
        !self.is_locked() && self.beneath.is_untouched()
    }

    #[inline(always)]
    fn name(&self) -> u64 {
        P::lock_name((&raw const self.mode).cast())
    }

    #[inline(always)]
    fn uses_slots(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked in `read_in_slot`; for a writer, written under the lock beneath.
        self.mode.load(Relaxed) == ON
    }

    /// A reader says in its slot that it reads; whether that is enough.
    #[inline(always)]
    fn read_in_slot(&self) -> bool {
        if !self.uses_slots() {
            return false;
        }
        let Some(slot) = P::reader_slot() else { return false };
        let slot = slot_ref::<P>(slot);
        match slot.say(self.name()) {
            Said::Now => {}
            Said::Again => return true,
            Said::Full => return false,
        }
        if !P::is_seeded(Bug::SlotUnordered) {
            // ordering: light barrier; B1.
            P::light_barrier();
        }
        // ordering: Acquire; B4, after the barrier of B1.
        if self.mode.load(unless::<P>(Bug::ModeReadRelaxed, Acquire)) == ON {
            return true;
        }
        slot.take_back(self.name());
        false
    }

    /// The caller does not read in its slot any more; whether it did.
    #[inline(always)]
    fn leave_slot(&self) -> bool {
        P::reader_slot().is_some_and(|slot| slot_ref::<P>(slot).take_back(self.name()))
    }

    /// A reader that reads already, in its slot, reads once more, whoever waits; whether it does.
    fn read_again(&self) -> bool {
        P::reader_slot().is_some_and(|slot| slot_ref::<P>(slot).say_again(self.name()))
    }

    /// Reads by the lock beneath, unless the thread reads already.
    #[inline]
    fn read_beneath(&self, deadline_ns: Option<u64>) -> Option<ReadIn> {
        match self.beneath.try_lock_shared() {
            true => Some(self.count_read()),
            false => self.read_waiting(deadline_ns),
        }
    }
    #[cold]
    fn read_waiting(&self, deadline_ns: Option<u64>) -> Option<ReadIn> {
        if self.read_again() {
            return Some(ReadIn::Slot);
        }
        match deadline_ns {
            Some(deadline_ns) if !self.beneath.lock_shared_until(deadline_ns) => return None,
            Some(_) => {}
            None => self.beneath.lock_shared(),
        }
        Some(self.count_read())
    }

    /// A reader of the lock beneath counts, and begins the use of slots if nobody has written for long.
    #[inline]
    fn count_read(&self) -> ReadIn {
        let calm = self.calm.get().wrapping_add(1);
        self.calm.set(calm);
        if calm.is_power_of_two() {
            self.begin_slots_if_calm(calm);
        }
        ReadIn::Beneath
    }
    #[cold]
    fn begin_slots_if_calm(&self, calm: u32) {
        let usual = || CALM_READS << (GROWTH * self.ended.get().min(GROWTH_MAX));
        let reads = P::tunable(Tunable::percpu_rwlock_calm_reads).unwrap_or_else(|| usual().into());
        if u64::from(calm) >= reads && P::may_use_heavy_barrier() {
            P::count(Event::percpu_rwlock_on);
            // ordering: Release; B4: the last writer's work, which this reader has acquired.
            self.mode.store(ON, Release);
        }
    }

    /// The lock beneath is owned: ends the use of slots and waits for those who read in theirs; `false` if the deadline
    /// passed before.
    #[inline]
    fn begin_write(&self, deadline_ns: Option<u64>) -> bool {
        self.calm.set(0);
        !self.uses_slots() || self.end_slots(deadline_ns)
    }
    #[cold]
    fn end_slots(&self, deadline_ns: Option<u64>) -> bool {
        self.forbid_slots();
        let name = self.name();
        let is_free =
            (0..P::reader_slots()).all(|at| slot_at::<P>(at).await_clear(name, deadline_ns));
        if !is_free && !P::is_seeded(Bug::SlotsForgotten) {
            self.allow_slots();
        }
        is_free
    }
    /// Somebody still reads in a slot: the next writer has to look there, too.
    fn allow_slots(&self) {
        // ordering: Relaxed; after the heavy barrier, which releases, B4.
        self.mode.store(ON, Relaxed);
    }
    fn forbid_slots(&self) {
        P::count(Event::percpu_rwlock_off);
        let ended = self.ended.get();
        self.ended.set(ended.saturating_add(1));
        // ordering: Relaxed; ordered by the barriers of B1.
        self.mode.store(OFF, Relaxed);
        // ordering: heavy barrier; B1.
        P::heavy_barrier();
    }
    /// The same without waiting; whether nobody reads in a slot. If somebody does, slots are used on.
    #[cold]
    fn try_end_slots(&self) -> bool {
        // Only a hint, which spares the heavy barrier and the slots that readers use.
        if !self.has_no_slots() {
            return false;
        }
        self.forbid_slots();
        let is_free = self.has_no_slots();
        if !is_free {
            self.allow_slots();
        }
        is_free
    }
    fn has_no_slots(&self) -> bool {
        let name = self.name();
        (0..P::reader_slots()).all(|at| slot_at::<P>(at).is_clear_of(name))
    }
}

#[inline(always)]
fn slot_ref<'a, P: Platform>(slot: core::ptr::NonNull<ReaderSlot<P>>) -> &'a ReaderSlot<P> {
    // SAFETY: by the contract of `ReaderSlots` it lives as long as the machine; all of it is cells.
    unsafe { slot.as_ref() }
}

fn slot_at<'a, P: Platform>(at: usize) -> &'a ReaderSlot<P> {
    slot_ref(P::reader_slot_at(at))
}

//! The slots in which threads say which locks they read. They are a static table, with a slot for each thread that asks
//! for one. `readers::claims` says how threads claim them. This module has the memory, and the questions to the kernel.
//!
//! The table of the spinlocks that a thread holds has the number of the thread's slot.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | V2 | the claim of a slot, `USED` included, then the light barrier of the reader | the number of slots, looked at after the heavy barrier of the writer | that the slot exists |

use super::per_process::{per_process, table_per_process};
use super::per_thread::per_thread;
use super::table::{Table, table};
use super::{Native, fork, syscall};
use crate::held::HeldTable;
use crate::platform::{HeldLocks, ReaderSlots};
use crate::readers::ReaderSlot;
use crate::readers::claims::{self, Process};
use core::ffi::c_int;
use core::ptr::NonNull;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

/// The number of slots. More threads than that read without slots. The slots are half a mebibyte of zeroes, of which
/// only the pages exist that were ever used.
const SLOTS_MAX: usize = 4096;
table_per_process! {
    const SLOTS at "slots": [ReaderSlot<Native>; SLOTS_MAX] = ReaderSlot::EMPTY
}
/// The tables of held locks, one for each slot. They are a mebibyte of zeroes, of which only the pages exist that were
/// ever used.
const HELD: Table<HeldTable<Native>, SLOTS_MAX> =
    table!([HeldTable<Native>; SLOTS_MAX] = HeldTable::EMPTY);
table_per_process! {
    /// The owners of the slots. The upper half of a word is the fork epoch. The lower half has the thread's number, and
    /// above it the number of times that the slot has [changed hands](claims::after). 0: a thread is about to take the
    /// slot.
    const OWNERS at "slot_owners": [AtomicU64; SLOTS_MAX] = AtomicU64::new(0)
}
per_process! {
    /// The number of slots that were ever claimed.
    static USED at "slots_used": AtomicUsize = AtomicUsize::new(0)
}
per_process! {
    /// The number of times that a thread has claimed a slot, if several copies of this library may do so.
    static CLAIMS at "slot_claims": AtomicU32 = AtomicU32::new(0)
}
/// The place at which the next search for a slot begins, once all were claimed.
static NEXT: AtomicUsize = AtomicUsize::new(0);
per_process! {
    /// The life of the process. The upper half is the fork epoch of the child in which the handler ran last. The lower
    /// half is the slot that was carried over there, plus one.
    static LIFE at "life": AtomicU64 = AtomicU64::new(0)
}
per_process! {
    /// The last number that was given to a lock.
    static LAST_NUMBER at "last_lock_number": AtomicU64 = AtomicU64::new(0)
}
/// An empty slot. It stands for a place in the table that no thread of this process life has.
static NOBODYS: ReaderSlot<Native> = ReaderSlot::EMPTY;
static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

per_thread! {
    /// The thread's slot, when it has one.
    MINE at "lockwright_slot": Option<NonNull<ReaderSlot<Native>>> = None
}
per_thread! {
    /// The fork epoch in which there was no slot left, and the number of claims at that time: see
    /// `Process::found_none`.
    HAS_NONE at "lockwright_has_no_slot": u64 = 0
}

unsafe extern "C" {
    fn pthread_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
    ) -> c_int;
}

// SAFETY: elements of a static array; a slot is claimed by a compare-exchange for a thread that exists, and again only
// when that thread no longer exists.
unsafe impl ReaderSlots for Native {
    type Slot = ReaderSlot<Self>;

    fn lock_number() -> u64 {
        // ordering: Relaxed; nothing is read through it.
        LAST_NUMBER.fetch_add(1, Relaxed) + 1
    }
    #[inline(always)]
    fn reader_slot() -> Option<NonNull<ReaderSlot<Self>>> {
        MINE.get().or_else(claim)
    }
    fn reader_slots() -> usize {
        // ordering: Relaxed; only a hint, or after the heavy barrier of the caller, V2.
        USED.load(Relaxed)
    }
    fn reader_slot_at(at: usize) -> NonNull<ReaderSlot<Self>> {
        NonNull::from(if is_of_this_life(at) { SLOTS.at(at) } else { &NOBODYS })
    }
}

// SAFETY: elements of a static array, of which a thread has the one with the number of its slot.
unsafe impl HeldLocks for Native {
    type Table = HeldTable<Self>;

    #[inline(always)]
    fn held_table() -> Option<NonNull<HeldTable<Self>>> {
        Self::reader_slot().map(|slot| NonNull::from(HELD.at(number_of(slot))))
    }
    fn held_tables() -> usize {
        Self::reader_slots()
    }
    fn held_table_at(at: usize) -> Option<NonNull<HeldTable<Self>>> {
        is_of_this_life(at).then(|| NonNull::from(HELD.at(at)))
    }
}

/// Returns the number of a slot.
#[inline(always)]
fn number_of(slot: NonNull<ReaderSlot<Native>>) -> usize {
    (slot.addr().get() - core::ptr::from_ref(SLOTS.at(0)).addr()) / size_of::<ReaderSlot<Native>>()
}

/// Returns `true` if the slot `at` belongs to a thread of this process life.
fn is_of_this_life(at: usize) -> bool {
    claims::is_of_this_life(&Statics, at)
}

/// Returns the number of the thread that has the slot `at`, as the kernel counts threads.
pub fn thread_of(at: usize) -> u32 {
    // ordering: Relaxed; only a hint.
    claims::number_in(OWNERS.at(at).load(Relaxed))
}

/// Returns the number of the calling thread, as the kernel counts threads.
pub fn this_thread_id() -> u32 {
    syscall::thread_id()
}

/// This process, as [`claims`] sees it.
struct Statics;

impl Process for Statics {
    type Platform = Native;
    const FEW: usize = 16;
    const LOOKS_MAX: usize = 64;

    #[inline(always)]
    fn slots_max(&self) -> usize {
        SLOTS_MAX
    }
    fn slot(&self, at: usize) -> &ReaderSlot<Native> {
        SLOTS.at(at)
    }
    fn held(&self, at: usize) -> &HeldTable<Native> {
        HELD.at(at)
    }
    #[inline(always)]
    fn owner(&self, at: usize) -> &AtomicU64 {
        OWNERS.at(at)
    }
    fn used(&self) -> &AtomicUsize {
        &USED
    }
    fn next(&self) -> &AtomicUsize {
        &NEXT
    }
    fn claims(&self) -> Option<&AtomicU32> {
        let claims: &AtomicU32 = &CLAIMS;
        cfg!(lockwright_c).then_some(claims)
    }
    #[inline(always)]
    fn life(&self) -> &AtomicU64 {
        &LIFE
    }
    fn mine(&self) -> Option<usize> {
        MINE.get().map(number_of)
    }
    fn set_mine(&self, at: Option<usize>) {
        MINE.set(at.map(|at| NonNull::from(SLOTS.at(at))));
    }
    fn found_none(&self) -> u64 {
        HAS_NONE.get()
    }
    fn set_found_none(&self, as_found: u64) {
        HAS_NONE.set(as_found);
    }
    fn epoch(&self) -> u32 {
        fork::epoch()
    }
    fn thread_number(&self) -> u32 {
        this_thread_id()
    }
    fn is_gone(&self, thread: u32) -> bool {
        syscall::is_gone(thread)
    }
    /// Registers the handler. If that fails, a child is like a child of `_Fork`. Threads that come first at the same
    /// time register the handler once each, which does no harm. If a thread instead said first that it is about to
    /// register it, a child of that moment would have no handler.
    fn handle_forks(&self) {
        // ordering: Relaxed; nothing is read through it.
        if !IS_REGISTERED.load(Relaxed) {
            // SAFETY: the handler is a function of this program and stays.
            let failed = unsafe { pthread_atfork(None, None, Some(begin_life)) } != 0;
            // ordering: Relaxed; nothing is read through it.
            IS_REGISTERED.store(!failed, Relaxed);
        }
    }
}

/// Registers the handler of forks.
pub(super) fn prepare() {
    claims::prepare(&Statics);
}

#[cold]
fn claim() -> Option<NonNull<ReaderSlot<Native>>> {
    claims::claim(&Statics).map(|at| NonNull::from(SLOTS.at(at)))
}

unsafe extern "C" fn begin_life() {
    claims::begin_life(&Statics);
}

#[cfg(test)]
mod tests {
    use super::*;
    use claims::{ADOPTED, ADOPTIONS, append, epoch_of, number_in, owner, reclaim};
    use std::cell::Cell;
    use std::sync::{Mutex, PoisonError};
    use std::thread;

    /// A lock that tests hold in which slots change hands.
    static TABLE: Mutex<()> = Mutex::new(());

    #[test]
    fn a_thread_keeps_its_slot_and_shares_it_with_nobody_who_lives() {
        let _alone = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = Native::reader_slot().expect("a slot");
        assert_eq!(Native::reader_slot(), Some(mine));
        let other = thread::spawn(|| Native::reader_slot().expect("a slot").addr());
        assert_ne!(other.join().expect("no panic"), mine.addr());
    }

    /// The test adopts the slot as another copy of this library would.
    #[test]
    fn a_slot_that_is_adopted_cannot_be_taken_by_a_thread_that_saw_it_before() {
        let _alone = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Native::reader_slot().expect("a slot");
        let (at, me) = (number_of(slot), owner(&Statics));
        let seen = OWNERS.at(at).load(Relaxed);
        let adopt = |at, me| claims::adopt(&Statics, at, me);
        for _ in 0..=ADOPTIONS / ADOPTED {
            assert!(adopt(at, me) && thread_of(at) == number_in(me));
        }
        assert!(adopt(at, me) && !adopt(at, me + 1) && OWNERS.at(at).load(Relaxed) != seen);
        assert_eq!(epoch_of(OWNERS.at(at).load(Relaxed)), epoch_of(me));
        assert!(is_of_this_life(at) && Native::reader_slot() == Some(slot));
    }

    /// The kernel gives the number of a thread that has ended to another one, after a while. Miri cannot say which
    /// threads exist.
    #[cfg(not(miri))]
    #[test]
    fn a_slot_whose_owner_was_gone_cannot_be_taken_later_from_one_with_the_same_number() {
        let _alone = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = || thread::spawn(|| owner(&Statics)).join().expect("no panic");
        let (first, between) = (ended(), ended());
        let at = append(&Statics, first).expect("a slot");
        let seen = OWNERS.at(at).load(Relaxed);
        assert!(reclaim(&Statics, at, between) && reclaim(&Statics, at, first));
        assert_eq!(thread_of(at), number_in(first));
        assert_ne!(OWNERS.at(at).load(Relaxed), seen, "who saw it then takes it now");
    }

    #[test]
    fn slots_of_threads_that_have_ended_are_used_again() {
        let _alone = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let many = 20 * Statics::FEW;
        for _ in 0..many {
            thread::spawn(|| assert!(Native::reader_slot().is_some())).join().expect("no panic");
        }
        assert!(Native::reader_slots() < many / 2, "{} slots", Native::reader_slots());
    }

    /// The data that copies of this library share in a process with one slot.
    #[derive(Default)]
    struct Shared {
        slot: ReaderSlot<Native>,
        held: HeldTable<Native>,
        owner: AtomicU64,
        used: AtomicUsize,
        next: AtomicUsize,
        claims: AtomicU32,
        life: AtomicU64,
        has_first_ended: AtomicBool,
    }

    /// A copy of this library, as a thread uses it.
    struct OneCopy<'a> {
        shared: &'a Shared,
        thread: u32,
        mine: Cell<Option<usize>>,
        found_none: Cell<u64>,
        /// The number of times that it has asked for its number.
        questions: Cell<u32>,
    }

    impl<'a> OneCopy<'a> {
        fn of(shared: &'a Shared, thread: u32) -> Self {
            let (mine, found_none, questions) = Default::default();
            Self { shared, thread, mine, found_none, questions }
        }
    }

    impl Process for OneCopy<'_> {
        type Platform = Native;
        const FEW: usize = 1;
        const LOOKS_MAX: usize = 1;

        fn slots_max(&self) -> usize {
            1
        }
        fn slot(&self, _at: usize) -> &ReaderSlot<Native> {
            &self.shared.slot
        }
        fn held(&self, _at: usize) -> &HeldTable<Native> {
            &self.shared.held
        }
        fn owner(&self, _at: usize) -> &AtomicU64 {
            &self.shared.owner
        }
        fn used(&self) -> &AtomicUsize {
            &self.shared.used
        }
        fn next(&self) -> &AtomicUsize {
            &self.shared.next
        }
        fn claims(&self) -> Option<&AtomicU32> {
            Some(&self.shared.claims)
        }
        fn life(&self) -> &AtomicU64 {
            &self.shared.life
        }
        fn mine(&self) -> Option<usize> {
            self.mine.get()
        }
        fn set_mine(&self, at: Option<usize>) {
            self.mine.set(at);
        }
        fn found_none(&self) -> u64 {
            self.found_none.get()
        }
        fn set_found_none(&self, as_found: u64) {
            self.found_none.set(as_found);
        }
        fn epoch(&self) -> u32 {
            0
        }
        fn thread_number(&self) -> u32 {
            self.questions.set(self.questions.get() + 1);
            self.thread
        }
        fn is_gone(&self, thread: u32) -> bool {
            thread == 1 && self.shared.has_first_ended.load(Relaxed)
        }
        fn handle_forks(&self) {}
    }

    #[test]
    fn a_thread_without_a_slot_asks_again_only_when_a_copy_has_claimed_one() {
        let shared = Shared::default();
        assert_eq!(claims::claim(&OneCopy::of(&shared, 1)), Some(0));
        let [one, other] = [2, 2].map(|thread| OneCopy::of(&shared, thread));
        for _ in 0..3 {
            assert_eq!((claims::claim(&one), one.questions.get()), (None, 1));
        }
        shared.has_first_ended.store(true, Relaxed);
        assert_eq!((claims::claim(&one), one.questions.get()), (None, 1), "no thread has told it");
        assert_eq!(claims::claim(&other), Some(0));
        assert_eq!(claims::claim(&one), Some(0), "the slot of the thread, by the other copy");
    }
}

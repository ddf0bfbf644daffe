//! The slots in which threads say what they read: a static table, a slot for each thread that ever asked.
//!
//! A thread keeps its slot until it ends, and nothing happens when it does: a thread that needs a slot looks for one
//! whose thread no longer exists, each time the number of slots in use would double. So writers look at no more than
//! twice as many slots as there were readers at once, and at 16 at least.
//!
//! A slot has the fork epoch in which it was claimed. Those of an earlier epoch than the *life* of the process do not
//! count. A handler of `pthread_atfork` begins a new life in a forked child: the slots of the parent's other threads do
//! not count in it, and that of the thread that forked is carried over. Where no handler ran, in a child made by
//! `_Fork` or by the system call, the child goes on with the parent's life: each thread keeps its slot, and a lock that
//! another thread read in its slot at that moment stays read, as any lock does that another thread held. A handler that
//! another library registered earlier runs in such a child, too. What it reads in a slot, and what the threads read
//! that it starts, counts in the new life: their slots have the epoch of the child.
//!
//! The epoch is asked for before a slot is claimed and before the handler is registered. The first question in a child
//! would be too late: it cannot be told from the first one in a process that was never forked.
//!
//! The number of a thread means nothing in another process. So the kernel is asked only about owners of this epoch. An
//! owner of an earlier epoch is gone if a life has begun since, and otherwise it keeps its slot.
//!
//! The table of the spinlocks that a thread holds has the number of its slot.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | V2 | the claim of a slot, `USED` included, then the light barrier of the reader | the number of slots, looked at after the heavy barrier of the writer | that the slot exists |

use super::per_process::{per_process, table_per_process};
use super::per_thread::per_thread;
use super::table::{Table, table};
use super::{Native, fork};
use crate::held::HeldTable;
use crate::percpu_rwlock::ReaderSlot;
use crate::platform::{HeldLocks, ReaderSlots};
use core::ffi::c_int;
use core::ptr::NonNull;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use rustix::process::{Pid, test_kill_process};

/// Threads beyond that read without slots. Half a mebibyte of zeroes, of which only the pages exist that were ever
/// used.
const SLOTS_MAX: usize = 4096;
/// This many are claimed before a thread looks for threads that have ended.
const FEW: usize = 16;

table_per_process! {
    const SLOTS at "slots": [ReaderSlot<Native>; SLOTS_MAX] = ReaderSlot::EMPTY
}
/// One for each slot. A mebibyte of zeroes, of which only the pages exist that were ever used.
const HELD: Table<HeldTable<Native>, SLOTS_MAX> =
    table!([HeldTable<Native>; SLOTS_MAX] = HeldTable::EMPTY);
table_per_process! {
    /// Whose a slot is: the fork epoch in the upper half; in the lower the thread's number, and above that how often
    /// the slot has [changed hands](after). 0: a thread is about to have it.
    const OWNERS at "slot_owners": [AtomicU64; SLOTS_MAX] = AtomicU64::new(0)
}
per_process! {
    /// How many slots were ever claimed.
    static USED at "slots_used": AtomicUsize = AtomicUsize::new(0)
}
/// Where the next search for a slot begins, once all were claimed.
static NEXT: AtomicUsize = AtomicUsize::new(0);
/// How many slots such a search looks at: each look is a system call.
const LOOKS_MAX: usize = 64;
per_process! {
    /// The life of the process: the fork epoch of the child in which the handler ran last in the upper half, the slot
    /// that was carried over there in the lower, plus one.
    static LIFE at "life": AtomicU64 = AtomicU64::new(0)
}
per_process! {
    /// The last number that was given to a lock.
    static LAST_NUMBER at "last_lock_number": AtomicU64 = AtomicU64::new(0)
}
/// For a place in the table that is nobody's: what a slot of another process life looks like.
static NOBODYS: ReaderSlot<Native> = ReaderSlot::EMPTY;
static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

per_thread! {
    /// The thread's slot, when it has one.
    MINE at "lockwright_slot": Option<NonNull<ReaderSlot<Native>>> = None
}
per_thread! {
    /// There was none left in this fork epoch; its number plus one.
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
// when that one does not.
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

/// The number of a slot.
#[inline(always)]
fn number_of(slot: NonNull<ReaderSlot<Native>>) -> usize {
    (slot.addr().get() - core::ptr::from_ref(SLOTS.at(0)).addr()) / size_of::<ReaderSlot<Native>>()
}

/// Returns `true` if the slot `at` is a thread's of this process life.
fn is_of_this_life(at: usize) -> bool {
    // ordering: Relaxed; only a hint, or after the heavy barrier of the caller, V2.
    is_owner_of_this_life(at, OWNERS.at(at).load(Relaxed))
}

fn is_owner_of_this_life(at: usize, owner: u64) -> bool {
    let life = life();
    epoch_of(owner) >= epoch_of(life) || life as u32 as usize == at + 1
}

fn life() -> u64 {
    // ordering: Relaxed; written where the only other threads are those of other handlers, and nothing is read through
    // it.
    LIFE.load(Relaxed)
}

/// The fork epoch in which an owner claimed its slot, or in which a life began.
fn epoch_of(word: u64) -> u32 {
    (word >> 32) as u32
}

/// The number of the thread that has the slot `at`, as the kernel counts threads.
pub(crate) fn thread_of(at: usize) -> u32 {
    // ordering: Relaxed; only a hint.
    number_in(OWNERS.at(at).load(Relaxed))
}

/// The number of an owner. The kernel has no greater ones.
fn number_in(owner: u64) -> u32 {
    (owner & (ADOPTED - 1)) as u32
}

/// Once adopted.
const ADOPTED: u64 = 1 << 22;
const ADOPTIONS: u64 = (1 << 32) - ADOPTED;

/// The caller, as the owner of a slot.
fn owner() -> u64 {
    let thread = rustix::thread::gettid().as_raw_nonzero().get() as u32;
    u64::from(fork::epoch()) << 32 | u64::from(thread)
}

/// Registers the handler of forks. Where that fails, a child is as one of `_Fork`. Threads that come first at the same
/// time register it once each, which does no harm. If one of them only said before that it will, a child of that moment
/// would have no handler.
pub(super) fn prepare() {
    // For `begin_life`.
    fork::epoch();
    // ordering: Relaxed; nothing is read through it.
    if !IS_REGISTERED.load(Relaxed) {
        // SAFETY: the handler is a function of this program and stays.
        let failed = unsafe { pthread_atfork(None, None, Some(begin_life)) } != 0;
        // ordering: Relaxed; nothing is read through it.
        IS_REGISTERED.store(!failed, Relaxed);
    }
}

/// Claims a slot for the calling thread.
#[cold]
fn claim() -> Option<NonNull<ReaderSlot<Native>>> {
    let this_epoch = u64::from(fork::epoch()) + 1;
    let has_none = || HAS_NONE.get() == this_epoch;
    // No system call for a thread that has none, unless another copy of this library may have found it one.
    if !cfg!(lockwright_c) && has_none() {
        return None;
    }
    let me = owner();
    // ordering: Relaxed; only a hint.
    let used = USED.load(Relaxed);
    let of_other_copy = of_other_copy(me, used);
    if of_other_copy.is_none() && has_none() {
        return None;
    }
    prepare();
    let at = match used {
        _ if of_other_copy.is_some() => of_other_copy,
        SLOTS_MAX.. => {
            // ordering: Relaxed; only spreads the searches.
            let first = NEXT.fetch_add(LOOKS_MAX, Relaxed);
            (first..first + LOOKS_MAX).map(|at| at % SLOTS_MAX).find(|&at| reclaim(at, me))
        }
        FEW.. if used.is_power_of_two() => (0..used).find(|&at| reclaim(at, me)),
        _ => None,
    };
    let at = at.or_else(|| append(me));
    if let Some(at) = at {
        // The last owner may have ended with locks that it never released.
        HELD.at(at).clear();
    }
    let mine = at.map(|at| NonNull::from(SLOTS.at(at)));
    MINE.set(mine);
    HAS_NONE.set(if mine.is_none() { this_epoch } else { 0 });
    mine
}

/// The slot that the caller has claimed by another copy of this library: it is to have one slot, in which each copy
/// finds what it reads. Or one that it finds after a thread that had its number.
fn of_other_copy(me: u64, used: usize) -> Option<usize> {
    if cfg!(lockwright_c) { (0..used).find(|at| adopt(at % SLOTS_MAX, me)) } else { None }
}

/// The caller, as the owner of a slot that has been `owner`'s in the same life. It is another number also if the caller
/// has that of an earlier owner: a thread that saw that one may still be about to take the slot.
fn after(owner: u64, me: u64) -> u64 {
    me | owner.wrapping_add(ADOPTED) & ADOPTIONS
}

/// Takes a slot that says that it is the caller's. Returns `true` if it did. The owner changes by that: a thread that
/// saw it before the caller began, and found then that no thread had this number, can no longer take the slot.
fn adopt(at: usize, me: u64) -> bool {
    // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
    let owner = OWNERS.at(at).load(Relaxed);
    // ordering: Relaxed; ordered by the barriers of V2, and the last owner's accesses by its end. On failure Relaxed:
    // the failure value is not used.
    let takes =
        || OWNERS.at(at).compare_exchange(owner, after(owner, me), Relaxed, Relaxed).is_ok();
    owner & !ADOPTIONS == me && takes()
}

/// Takes the first slot that nobody ever had.
fn append(me: u64) -> Option<usize> {
    let more = |used| (used < SLOTS_MAX).then_some(used + 1);
    // ordering: Relaxed; ordered by the barriers of V2. On failure Relaxed: the same.
    // A power of two: the bound costs an instruction and no branch.
    let at = USED.fetch_update(Relaxed, Relaxed, more).ok()? % SLOTS_MAX;
    // ordering: Relaxed; ordered by the barriers of V2.
    OWNERS.at(at).store(me, Relaxed);
    Some(at)
}

/// Takes a slot whose thread no longer exists and has left nothing in it. Returns `true` if it did.
fn reclaim(at: usize, me: u64) -> bool {
    // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
    let owner = OWNERS.at(at).load(Relaxed);
    if owner != 0 && !is_owner_of_this_life(at, owner) {
        return inherit(at, owner, me);
    }
    // An owner of an earlier epoch: in a child without a handler. The thread that forked has another number than its
    // slot says. Miri cannot ask which threads exist.
    if epoch_of(owner) != epoch_of(me) || cfg!(miri) {
        return false;
    }
    let thread = Pid::from_raw(number_in(owner) as i32);
    let is_gone = thread
        .is_some_and(|thread| matches!(test_kill_process(thread), Err(rustix::io::Errno::SRCH)));
    is_gone
        && SLOTS.at(at).is_empty()
        // ordering: Relaxed; ordered by the barriers of V2, and the last owner's accesses by its end. On failure
        // Relaxed: the failure value is not used.
        && OWNERS.at(at).compare_exchange(owner, after(owner, me), Relaxed, Relaxed).is_ok()
}

/// Takes the slot of a thread of an earlier life, with what it has left in it. Returns `true` if it did.
fn inherit(at: usize, owner: u64, me: u64) -> bool {
    // ordering: Relaxed; ordered by the barriers of V2, and the last owner's accesses by the fork. On failure Relaxed:
    // the failure value is not used.
    let is_ours = OWNERS.at(at).compare_exchange(owner, 0, Relaxed, Relaxed).is_ok();
    if is_ours {
        SLOTS.at(at).clear_all();
        // ordering: Relaxed; a writer that still sees what was there passes a heavy barrier before it sleeps, V2.
        OWNERS.at(at).store(me, Relaxed);
    }
    is_ours
}

/// In a forked child: a life begins, with the slot of the thread that forked. There are other threads only if another
/// library's handler has started them. Each copy of this library has such a handler, and not each of them a slot.
unsafe extern "C" fn begin_life() {
    let epoch = fork::epoch();
    let mine = MINE.get().map(number_of);
    if mine.is_some() || epoch_of(life()) != epoch {
        let carried = mine.map_or(0, |at| at as u64 + 1);
        // ordering: Relaxed; as in `life`.
        LIFE.store(u64::from(epoch) << 32 | carried, Relaxed);
    }
    if let Some(at) = mine {
        // ordering: Relaxed; the slot is of this life already. Those who look for its thread find the right number.
        OWNERS.at(at).store(owner(), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, PoisonError};
    use std::thread;

    /// Held by tests in which slots change hands.
    static TABLE: Mutex<()> = Mutex::new(());

    #[test]
    fn a_thread_keeps_its_slot_and_shares_it_with_nobody_who_lives() {
        let _alone = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = Native::reader_slot().expect("a slot");
        assert_eq!(Native::reader_slot(), Some(mine));
        let other = thread::spawn(|| Native::reader_slot().expect("a slot").addr());
        assert_ne!(other.join().expect("no panic"), mine.addr());
    }

    /// As by another copy of this library.
    #[test]
    fn a_slot_that_is_adopted_cannot_be_taken_by_a_thread_that_saw_it_before() {
        let _alone = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Native::reader_slot().expect("a slot");
        let (at, me) = (number_of(slot), owner());
        let seen = OWNERS.at(at).load(Relaxed);
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
        let ended = || thread::spawn(owner).join().expect("no panic");
        let (first, between) = (ended(), ended());
        let at = append(first).expect("a slot");
        let seen = OWNERS.at(at).load(Relaxed);
        assert!(reclaim(at, between) && reclaim(at, first));
        assert_eq!(thread_of(at), number_in(first));
        assert_ne!(OWNERS.at(at).load(Relaxed), seen, "who saw it then takes it now");
    }

    #[test]
    fn slots_of_threads_that_have_ended_are_used_again() {
        let _alone = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let many = 20 * FEW;
        for _ in 0..many {
            thread::spawn(|| assert!(Native::reader_slot().is_some())).join().expect("no panic");
        }
        assert!(Native::reader_slots() < many / 2, "{} slots", Native::reader_slots());
    }
}

//! The slots in which threads say what they read: a static table, a slot for each thread that ever asked.
//!
//! A thread keeps its slot until it ends, and nothing happens when it does: a thread that needs a slot looks for one
//! whose thread no longer exists, each time the number of slots in use would double. So writers look at no more than
//! twice as many slots as there were readers at once, and at 16 at least.
//!
//! Slots belong to a *life* of the process. A handler of `pthread_atfork` begins a new one in a forked child: the slots
//! of the parent's other threads do not count in it, and that of the thread that forked is carried over. Where no
//! handler ran, in a child made by `_Fork` or by the system call, the child goes on with the parent's life: each thread
//! keeps its slot, and a lock that another thread read in its slot at that moment stays read, as any lock does that
//! another thread held.
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
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
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
    /// Whose a slot is: the process life in the upper half, the thread's number in the lower. 0 is nobody's.
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
    /// The life of the process: the fork epoch when the handler ran that began it.
    static LIFE at "life": AtomicU32 = AtomicU32::new(0)
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
    /// There was none left.
    HAS_NONE at "lockwright_has_no_slot": bool = false
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
    (OWNERS.at(at).load(Relaxed) >> 32) as u32 == life()
}

/// The number of the thread that has the slot `at`, as the kernel counts threads.
pub(crate) fn thread_of(at: usize) -> u32 {
    // ordering: Relaxed; only a hint.
    OWNERS.at(at).load(Relaxed) as u32
}

fn owner() -> u64 {
    let thread = rustix::thread::gettid().as_raw_nonzero().get() as u32;
    u64::from(life()) << 32 | u64::from(thread)
}

fn life() -> u32 {
    // ordering: Relaxed; written where there is one thread only.
    LIFE.load(Relaxed)
}

/// Registers the handler of forks. Where that fails, a child is as one of `_Fork`.
pub(super) fn prepare() {
    // ordering: Relaxed; nothing is read through it.
    if !IS_REGISTERED.swap(true, Relaxed) {
        // SAFETY: the handler is a function of this program and stays.
        let failed = unsafe { pthread_atfork(None, None, Some(begin_life)) } != 0;
        if failed {
            // ordering: Relaxed; nothing is read through it.
            IS_REGISTERED.store(false, Relaxed);
        }
    }
}

/// Claims a slot for the calling thread.
#[cold]
fn claim() -> Option<NonNull<ReaderSlot<Native>>> {
    let me = owner();
    // ordering: Relaxed; only a hint.
    let used = USED.load(Relaxed);
    let of_other_copy = of_other_copy(me, used);
    if of_other_copy.is_none() && HAS_NONE.get() {
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
    HAS_NONE.set(mine.is_none());
    mine
}

/// The slot that the caller has claimed by another copy of this library: it is to have one slot, in which each copy
/// finds what it reads. Or one that it finds after a thread that had its number.
fn of_other_copy(me: u64, used: usize) -> Option<usize> {
    // ordering: Relaxed; only the caller itself writes what it looks for.
    let is_mine = |&at: &usize| OWNERS.at(at % SLOTS_MAX).load(Relaxed) == me;
    if cfg!(lockwright_c) { (0..used).find(is_mine) } else { None }
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
    // In a child without a handler the thread that forked has another number than its slot says. Miri cannot ask which
    // threads exist.
    if life() != fork::epoch() || cfg!(miri) {
        return false;
    }
    let thread = Pid::from_raw(owner as u32 as i32);
    let is_gone = thread
        .is_some_and(|thread| matches!(test_kill_process(thread), Err(rustix::io::Errno::SRCH)));
    is_gone
        && SLOTS.at(at).is_empty()
        // ordering: Relaxed; ordered by the barriers of V2, and the last owner's accesses by its end. On failure
        // Relaxed: the failure value is not used.
        && OWNERS.at(at).compare_exchange(owner, me, Relaxed, Relaxed).is_ok()
}

/// In a forked child: a life begins, with the slot of the only thread.
unsafe extern "C" fn begin_life() {
    // ordering: Relaxed; there is no other thread.
    LIFE.store(fork::epoch(), Relaxed);
    let Some(mine) = MINE.get() else { return };
    // ordering: Relaxed; there is no other thread.
    OWNERS.at(number_of(mine)).store(owner(), Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_thread_keeps_its_slot_and_shares_it_with_nobody_who_lives() {
        let mine = Native::reader_slot().expect("a slot");
        assert_eq!(Native::reader_slot(), Some(mine));
        let other = thread::spawn(|| Native::reader_slot().expect("a slot").addr());
        assert_ne!(other.join().expect("no panic"), mine.addr());
    }

    #[test]
    fn slots_of_threads_that_have_ended_are_used_again() {
        let many = 20 * FEW;
        for _ in 0..many {
            thread::spawn(|| assert!(Native::reader_slot().is_some())).join().expect("no panic");
        }
        assert!(Native::reader_slots() < many / 2, "{} slots", Native::reader_slots());
    }
}

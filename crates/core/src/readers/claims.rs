//! Claims of the slots in which threads read, and the fate of these slots in a forked child.
//!
//! A thread keeps its slot until it ends, and nothing happens to the slot then. Instead, each time the number of slots
//! in use would double, a thread that needs one looks for a slot whose thread no longer exists. So writers look at a
//! few slots at least, and at no more than twice as many as there were readers at once.
//!
//! A slot has the fork epoch in which it was claimed. Slots of an earlier epoch than the *life* of the process do not
//! count. A handler of `pthread_atfork` begins a new life in a forked child. The slots of the parent's other threads do
//! not count in that life, and the slot of the thread that forked is carried over. No handler runs in a child that is
//! made by `_Fork` or by the system call. Such a child goes on with the parent's life. Each thread keeps its slot. A
//! lock that another thread read in its slot at that moment stays read, just as any lock that another thread held stays
//! held. A handler that another library registered earlier runs before ours, while the child still has the parent's
//! life. It may read in a slot, and so may threads that it starts. These reads count in the new life, too: their slots
//! have the epoch of the child.
//!
//! The epoch is asked for before a slot is claimed and before the handler is registered. The first question in a child
//! would be too late: it looks like the first one in a process that was never forked.
//!
//! The number of a thread means nothing in another process. So the kernel is asked only about owners of this epoch. An
//! owner of an earlier epoch is gone if a life has begun since, and otherwise it keeps its slot.
//!
//! The words are plain atomics on every platform. A simulated thread makes a claim in one step, except for its looks at
//! the slot itself and the stores that clear it.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | V2 | the claim of a slot, `used` included, then the light barrier of the reader | the number of slots, looked at after the heavy barrier of the writer | that the slot exists |

use super::ReaderSlot;
use crate::held::HeldTable;
use crate::platform::Cells;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

/// The data that a process keeps about its slots, the data of the calling thread, and the questions of both to the
/// kernel. Words and values are 0 at first. A child has those of its parent.
pub trait Process {
    /// The platform whose slots these are.
    type Platform: Cells;
    /// The number of slots that are claimed before a thread looks for threads that have ended.
    const FEW: usize;
    /// The number of slots that a search looks at, once all were claimed. Each look is a system call.
    const LOOKS_MAX: usize;

    /// Returns the number of slots.
    fn slots_max(&self) -> usize;
    /// Returns a slot. Here and below, `at` is less than [`slots_max`](Self::slots_max).
    fn slot(&self, at: usize) -> &ReaderSlot<Self::Platform>;
    /// Returns the table of locks that belongs to a slot.
    fn held(&self, at: usize) -> &HeldTable<Self::Platform>;
    /// Returns the word of a slot's owner: its fork epoch, the number of times that the slot has changed hands, and the
    /// number of the owner's thread. 0: a thread is about to take the slot.
    fn owner(&self, at: usize) -> &AtomicU64;
    /// Returns the number of slots that were ever claimed.
    fn used(&self) -> &AtomicUsize;
    /// Returns the place at which the next search for a slot begins, once all were claimed.
    fn next(&self) -> &AtomicUsize;
    /// Returns the number of times that a thread has claimed a slot, if other copies of this code may do so in this
    /// process.
    fn claims(&self) -> Option<&AtomicU32> {
        None
    }
    /// Returns the life of the process. The upper half is the fork epoch of the child in which the handler ran last.
    /// The lower half is the slot that was carried over there, plus one.
    fn life(&self) -> &AtomicU64;
    /// Returns the slot of the calling thread, if it has one.
    fn mine(&self) -> Option<usize>;
    /// Sets the slot of the calling thread.
    fn set_mine(&self, at: Option<usize>);
    /// Returns, in the upper half, the fork epoch in which the calling thread found no slot, plus one; in the lower
    /// half the number of claims until then.
    fn found_none(&self) -> u64;
    /// Sets the value of [`found_none`](Self::found_none).
    fn set_found_none(&self, as_found: u64);
    /// Returns the number of times that the process was forked since its first ancestor asked.
    fn epoch(&self) -> u32;
    /// Returns the number of the calling thread, as the kernel counts threads.
    fn thread_number(&self) -> u32;
    /// Returns `true` if the kernel says that it knows no thread of that number.
    fn is_gone(&self, thread: u32) -> bool;
    /// Makes [`begin_life`] run in children that are made by `fork`, if it does not yet.
    fn handle_forks(&self);
}

/// One adoption in the word of an owner: the slot has changed hands once more.
pub(crate) const ADOPTED: u64 = 1 << 22;
/// The bits in the word of an owner that count adoptions.
pub(crate) const ADOPTIONS: u64 = (1 << 32) - ADOPTED;

/// Returns the fork epoch in which an owner claimed its slot, or in which a life began.
pub fn epoch_of(word: u64) -> u32 {
    (word >> 32) as u32
}

/// Returns the number of an owner's thread. The kernel has no greater numbers.
pub(crate) fn number_in(owner: u64) -> u32 {
    (owner & (ADOPTED - 1)) as u32
}

/// Returns `true` if the slot `at` belongs to a thread of this process life.
pub fn is_of_this_life(process: &impl Process, at: usize) -> bool {
    // ordering: Relaxed; only a hint, or after the heavy barrier of the caller, V2.
    is_owner_of_this_life(process, at, process.owner(at).load(Relaxed))
}

fn is_owner_of_this_life(process: &impl Process, at: usize, owner: u64) -> bool {
    let life = life_of(process);
    epoch_of(owner) >= epoch_of(life) || life as u32 as usize == at + 1
}

fn life_of(process: &impl Process) -> u64 {
    // ordering: Relaxed; written where the only other threads are those of other handlers, and nothing is read through
    // it.
    process.life().load(Relaxed)
}

/// Returns the word that names the caller as the owner of a slot.
pub fn owner(process: &impl Process) -> u64 {
    u64::from(process.epoch()) << 32 | u64::from(process.thread_number())
}

/// Prepares the process for its first claim, so that a child that is forked later knows that it is a child.
pub fn prepare(process: &impl Process) {
    // For `begin_life`.
    process.epoch();
    process.handle_forks();
}

/// Claims a slot for the calling thread, which has none. `None` if there is none left.
pub fn claim<S: Process>(process: &S) -> Option<usize> {
    let this_epoch = u64::from(process.epoch()) + 1;
    // ordering: Relaxed; the claims that the caller itself has made by another copy are counted.
    let claims = process.claims().map_or(0, |claims| claims.load(Relaxed));
    let as_found = this_epoch << 32 | u64::from(claims);
    // A thread without a slot makes no system call here, unless another copy of this library may have found it one.
    if process.found_none() == as_found {
        return None;
    }
    let me = owner(process);
    // ordering: Relaxed; only a hint.
    let used = process.used().load(Relaxed);
    let of_other_copy = of_other_copy(process, me, used);
    if of_other_copy.is_none() && process.found_none() >> 32 == this_epoch {
        process.set_found_none(as_found);
        return None;
    }
    prepare(process);
    let slots = process.slots_max();
    let left = match used {
        _ if of_other_copy.is_some() => of_other_copy,
        _ if used >= slots => {
            let looks = S::LOOKS_MAX.min(slots);
            // ordering: Relaxed; only spreads the searches.
            let first = process.next().fetch_add(looks, Relaxed);
            (first..first + looks).map(|at| at % slots).find(|&at| reclaim(process, at, me))
        }
        _ if used >= S::FEW && used.is_power_of_two() => {
            (0..used).find(|&at| reclaim(process, at, me))
        }
        _ => None,
    };
    if let Some(at) = left {
        // The last owner may have ended with locks that it never released.
        process.held(at).clear();
    }
    let mine = left.or_else(|| append(process, me));
    process.set_mine(mine);
    process.set_found_none(if mine.is_none() { as_found } else { 0 });
    if let Some(claims) = process.claims().filter(|_| mine.is_some()) {
        // ordering: Relaxed; for the caller itself.
        claims.fetch_add(1, Relaxed);
    }
    mine
}

/// Takes over the slot that the caller has claimed by another copy of this library. A thread is to have one slot, in
/// which each copy finds the locks that it reads. It may also be the slot of a thread that has ended and had the
/// caller's number.
fn of_other_copy(process: &impl Process, me: u64, used: usize) -> Option<usize> {
    process.claims()?;
    let slots = process.slots_max();
    (0..used).find(|at| adopt(process, at % slots, me))
}

/// Returns the word that names the caller as the owner of a slot that has been `owner`'s in this life. The word is a
/// new one even if the caller has the number of an earlier owner: a thread that saw that owner may still be about to
/// take the slot.
pub fn after(owner: u64, me: u64) -> u64 {
    me | owner.wrapping_add(ADOPTED) & ADOPTIONS
}

/// Takes a slot that says that it is the caller's. Returns `true` if it did. This changes the word of the owner. So a
/// thread that saw the old word before the caller began, and then found that no thread had this number, can no longer
/// take the slot.
pub(crate) fn adopt(process: &impl Process, at: usize, me: u64) -> bool {
    // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
    let owner = process.owner(at).load(Relaxed);
    // ordering: Relaxed; ordered by the barriers of V2, and the last owner's accesses by its end. On failure Relaxed:
    // the failure value is not used.
    let takes =
        || process.owner(at).compare_exchange(owner, after(owner, me), Relaxed, Relaxed).is_ok();
    owner & !ADOPTIONS == me && takes()
}

/// Takes the first slot that no thread ever had.
pub fn append(process: &impl Process, me: u64) -> Option<usize> {
    let slots = process.slots_max();
    let more = |used| (used < slots).then_some(used + 1);
    // ordering: Relaxed; ordered by the barriers of V2. On failure Relaxed: ordered by them, too. The bound costs an
    // instruction and no branch if the number of slots is a power of two.
    let at = process.used().fetch_update(Relaxed, Relaxed, more).ok()? % slots;
    // ordering: Relaxed; ordered by the barriers of V2.
    process.owner(at).store(me, Relaxed);
    Some(at)
}

/// Takes a slot whose thread no longer exists and has left nothing in it. Returns `true` if it did.
pub(crate) fn reclaim(process: &impl Process, at: usize, me: u64) -> bool {
    // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
    let owner = process.owner(at).load(Relaxed);
    if owner != 0 && !is_owner_of_this_life(process, at, owner) {
        return inherit(process, at, owner, me);
    }
    // The owner is of an earlier epoch, so this is a child without a handler. The thread that forked has another number
    // than its slot says.
    if epoch_of(owner) != epoch_of(me) {
        return false;
    }
    let is_gone = number_in(owner) != 0 && process.is_gone(number_in(owner));
    is_gone
        && process.slot(at).is_empty()
        // ordering: Relaxed; ordered by the barriers of V2, and the last owner's accesses by its end. On failure
        // Relaxed: the failure value is not used.
        && process.owner(at).compare_exchange(owner, after(owner, me), Relaxed, Relaxed).is_ok()
}

/// Takes the slot of a thread of an earlier life, and clears what that thread has left in it. Returns `true` if it did.
fn inherit(process: &impl Process, at: usize, owner: u64, me: u64) -> bool {
    // ordering: Relaxed; ordered by the barriers of V2, and the last owner's accesses by the fork. On failure Relaxed:
    // the failure value is not used.
    let is_ours = process.owner(at).compare_exchange(owner, 0, Relaxed, Relaxed).is_ok();
    if is_ours {
        process.slot(at).clear_all();
        // ordering: Relaxed; a writer that still sees what was there passes a heavy barrier before it sleeps, V2.
        process.owner(at).store(me, Relaxed);
    }
    is_ours
}

/// Begins a life in a forked child, with the slot of the thread that forked. There are other threads only if another
/// library's handler has started them. Each copy of this library has such a handler, but not each copy has a slot.
pub fn begin_life(process: &impl Process) {
    let epoch = process.epoch();
    let mine = process.mine();
    if mine.is_some() || epoch_of(life_of(process)) != epoch {
        let carried = mine.map_or(0, |at| at as u64 + 1);
        // ordering: Relaxed; as in `life_of`.
        process.life().store(u64::from(epoch) << 32 | carried, Relaxed);
    }
    if let Some(at) = mine {
        // ordering: Relaxed; the slot is of this life already. Threads that look for its owner find the right number.
        process.owner(at).store(owner(process), Relaxed);
    }
}

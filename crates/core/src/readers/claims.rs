//! How threads claim the slots in which they read, and what becomes of these in a forked child.
//!
//! A thread keeps its slot until it ends, and nothing happens when it does: a thread that needs a slot looks for one
//! whose thread no longer exists, each time the number of slots in use would double. So writers look at no more than
//! twice as many slots as there were readers at once, and at a few at least.
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
//! The words are plain atomics on every platform. A simulated thread makes a claim in one step, except for what it
//! looks at or clears in the slot itself.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | V2 | the claim of a slot, `used` included, then the light barrier of the reader | the number of slots, looked at after the heavy barrier of the writer | that the slot exists |

use super::ReaderSlot;
use crate::held::HeldTable;
use crate::platform::Cells;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

/// What a process keeps about its slots, what the calling thread keeps, and what both ask the kernel. Words and values
/// are 0 at first. A child has those of its parent.
pub trait Process {
    /// The platform whose slots these are.
    type Platform: Cells;
    /// This many are claimed before a thread looks for threads that have ended.
    const FEW: usize;
    /// How many slots a search looks at, once all were claimed: each look is a system call.
    const LOOKS_MAX: usize;

    /// How many slots there are.
    fn slots_max(&self) -> usize;
    /// A slot; `at` is below [`slots_max`](Self::slots_max), here and below.
    fn slot(&self, at: usize) -> &ReaderSlot<Self::Platform>;
    /// The table of locks that belongs to a slot.
    fn held(&self, at: usize) -> &HeldTable<Self::Platform>;
    /// The fork epoch of the slot's owner, how often it has changed hands, and the number of its thread. 0: a
    /// thread is about to have it.
    fn owner(&self, at: usize) -> &AtomicU64;
    /// How many slots were ever claimed.
    fn used(&self) -> &AtomicUsize;
    /// Where the next search for a slot begins, once all were claimed.
    fn next(&self) -> &AtomicUsize;
    /// How often a thread has claimed a slot, if other copies of this code may do so in the same process.
    fn claims(&self) -> Option<&AtomicU32> {
        None
    }
    /// The life of the process: the fork epoch of the child in which the handler ran last in the upper half, the slot
    /// that was carried over there in the lower, plus one.
    fn life(&self) -> &AtomicU64;
    /// The slot of the calling thread, if it has one.
    fn mine(&self) -> Option<usize>;
    /// Sets that.
    fn set_mine(&self, at: Option<usize>);
    /// The fork epoch in which the calling thread found no slot, plus one, and in the lower half the number of claims
    /// until then.
    fn found_none(&self) -> u64;
    /// Sets that.
    fn set_found_none(&self, as_found: u64);
    /// How often the process was forked since its first ancestor asked.
    fn epoch(&self) -> u32;
    /// The number of the calling thread, as the kernel counts threads.
    fn thread_number(&self) -> u32;
    /// Returns `true` if the kernel says that it knows no thread of that number.
    fn is_gone(&self, thread: u32) -> bool;
    /// Lets [`begin_life`] run in children that are made by `fork`, if that is not so yet.
    fn handle_forks(&self);
}

/// Once changed hands.
pub const ADOPTED: u64 = 1 << 22;
/// How often it was adopted.
pub const ADOPTIONS: u64 = (1 << 32) - ADOPTED;

/// The fork epoch in which an owner claimed its slot, or in which a life began.
pub fn epoch_of(word: u64) -> u32 {
    (word >> 32) as u32
}

/// The number of an owner. The kernel has no greater ones.
pub fn number_in(owner: u64) -> u32 {
    (owner & (ADOPTED - 1)) as u32
}

/// Returns `true` if the slot `at` is a thread's of this process life.
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

/// The caller, as the owner of a slot.
pub fn owner(process: &impl Process) -> u64 {
    u64::from(process.epoch()) << 32 | u64::from(process.thread_number())
}

/// Before the first claim: a child that is forked later knows that it is one.
pub fn prepare(process: &impl Process) {
    // For `begin_life`.
    process.epoch();
    process.handle_forks();
}

/// Claims a slot for the calling thread, which has none. `None` if there is none left.
pub fn claim<S: Process>(process: &S) -> Option<usize> {
    let this_epoch = u64::from(process.epoch()) + 1;
    // ordering: Relaxed; what the caller has claimed itself, by another copy, is counted.
    let claims = process.claims().map_or(0, |claims| claims.load(Relaxed));
    let as_found = this_epoch << 32 | u64::from(claims);
    // No system call for a thread that has none, unless another copy of this library may have found it one.
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

/// The slot that the caller has claimed by another copy of this library: it is to have one slot, in which each copy
/// finds what it reads. Or one that it finds after a thread that had its number.
fn of_other_copy(process: &impl Process, me: u64, used: usize) -> Option<usize> {
    process.claims()?;
    let slots = process.slots_max();
    (0..used).find(|at| adopt(process, at % slots, me))
}

/// The caller, as the owner of a slot that has been `owner`'s in the same life. It is another number also if the caller
/// has that of an earlier owner: a thread that saw that one may still be about to take the slot.
pub fn after(owner: u64, me: u64) -> u64 {
    me | owner.wrapping_add(ADOPTED) & ADOPTIONS
}

/// Takes a slot that says that it is the caller's. Returns `true` if it did. The owner changes by that: a thread that
/// saw it before the caller began, and found then that no thread had this number, can no longer take the slot.
pub fn adopt(process: &impl Process, at: usize, me: u64) -> bool {
    // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
    let owner = process.owner(at).load(Relaxed);
    // ordering: Relaxed; ordered by the barriers of V2, and the last owner's accesses by its end. On failure Relaxed:
    // the failure value is not used.
    let takes =
        || process.owner(at).compare_exchange(owner, after(owner, me), Relaxed, Relaxed).is_ok();
    owner & !ADOPTIONS == me && takes()
}

/// Takes the first slot that nobody ever had.
pub fn append(process: &impl Process, me: u64) -> Option<usize> {
    let slots = process.slots_max();
    let more = |used| (used < slots).then_some(used + 1);
    // ordering: Relaxed; ordered by the barriers of V2. On failure Relaxed: the same.
    // The bound costs an instruction and no branch where there are a power of two.
    let at = process.used().fetch_update(Relaxed, Relaxed, more).ok()? % slots;
    // ordering: Relaxed; ordered by the barriers of V2.
    process.owner(at).store(me, Relaxed);
    Some(at)
}

/// Takes a slot whose thread no longer exists and has left nothing in it. Returns `true` if it did.
pub fn reclaim(process: &impl Process, at: usize, me: u64) -> bool {
    // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
    let owner = process.owner(at).load(Relaxed);
    if owner != 0 && !is_owner_of_this_life(process, at, owner) {
        return inherit(process, at, owner, me);
    }
    // An owner of an earlier epoch: in a child without a handler. The thread that forked has another number than its
    // slot says.
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

/// Takes the slot of a thread of an earlier life, with what it has left in it. Returns `true` if it did.
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

/// In a forked child: a life begins, with the slot of the thread that forked. There are other threads only if another
/// library's handler has started them. Each copy of this library has such a handler, and not each of them a slot.
pub fn begin_life(process: &impl Process) {
    let epoch = process.epoch();
    let mine = process.mine();
    if mine.is_some() || epoch_of(life_of(process)) != epoch {
        let carried = mine.map_or(0, |at| at as u64 + 1);
        // ordering: Relaxed; as in `life_of`.
        process.life().store(u64::from(epoch) << 32 | carried, Relaxed);
    }
    if let Some(at) = mine {
        // ordering: Relaxed; the slot is of this life already. Those who look for its thread find the right number.
        process.owner(at).store(owner(process), Relaxed);
    }
}

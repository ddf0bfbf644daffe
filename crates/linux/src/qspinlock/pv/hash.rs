//! The hash that leads from a lock to the head of its queue, which sleeps.
//!
//! It has open addressing by cache line. An entry is one cell of 64 bits, and 0 is none:
//!
//! ```text
//!  63                                  16 15             0
//! +--------------------------------------+----------------+
//! |             name of the lock         |    tail code   |
//! +--------------------------------------+----------------+
//! ```
//!
//! A lock has at most one entry. A head makes it before the locked byte becomes [`SLOW`](super::SLOW), a granter after
//! that, because it is the thread that will look for it. The entry is taken out by the owner
//! before the byte becomes 0. So a thread that finds the byte slow finds the entry. It looks at every cell if it has
//! to: there are no marks for deleted entries, and a search does not end at an empty cell. The table is larger than the
//! number of heads that can sleep, so there is always room. Cells order nothing: the byte orders the threads that may
//! read an entry, K3.

use super::policy::PvPlatform;
use crate::events::Event;
use crate::platform::Atomic;
use crate::queue::{NodeId, TailCode};
use core::sync::atomic::Ordering::Relaxed;

/// The number of cells in a cache line.
const PER_LINE: usize = 8;
const NAME_BITS: u32 = 48;
/// Spreads names over lines (Knuth: 2^64 divided by the golden ratio).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn cell<'a, P: PvPlatform>(at: usize) -> &'a P::U64 {
    // SAFETY: by the contract of `LockHash` the cell lives as long as locks are used; it is atomic,
    // so sharing is sound.
    unsafe { P::hash_slot(at).as_ref() }
}

/// Returns the cells in the order in which entries of the lock called `name` are looked for.
fn places<P: PvPlatform>(name: u64) -> impl Iterator<Item = usize> + Clone {
    let slots = P::hash_slots();
    let lines = (slots / PER_LINE).max(1) as u64;
    let spread = name.wrapping_mul(SPREAD) >> 32;
    let first = (spread % lines) as usize * PER_LINE;
    (first..slots).chain(0..first)
}

/// Enters `id` as the waiter that sleeps for the lock with this word.
#[doc(alias = "pv_hash")]
pub(super) fn insert<P: PvPlatform>(word: &P::Word, id: NodeId) {
    let name = P::lock_name(core::ptr::from_ref(word).cast());
    debug_assert!(name != 0 && name >> NAME_BITS == 0, "qspinlock: a lock without a name");
    let entry = name << (u64::BITS - NAME_BITS) | u64::from(id.code().bits());
    for (hops, at) in (1..).zip(places::<P>(name).cycle()) {
        let cell = cell::<P>(at);
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange: Relaxed; published
        // by K3.
        if cell.load(Relaxed) == 0 && cell.compare_exchange(0, entry, Relaxed, Relaxed).is_ok() {
            P::count_many(Event::pv_hash_hops, hops);
            return;
        }
    }
}

/// Takes out the entry of the lock with this word, if `may_go` is true of its waiter. Returns that waiter.
#[doc(alias = "pv_unhash")]
pub(super) fn remove<P: PvPlatform>(
    word: &P::Word,
    may_go: impl Fn(NodeId) -> bool,
) -> Option<NodeId> {
    let name = P::lock_name(core::ptr::from_ref(word).cast());
    for at in places::<P>(name) {
        let cell = cell::<P>(at);
        // ordering: Relaxed; acquired with the slow byte, K3.
        let entry = cell.load(Relaxed);
        if entry >> (u64::BITS - NAME_BITS) == name {
            let id = TailCode::from_bits(entry as u16).node().filter(|id| may_go(*id))?;
            // In a forked child several threads may forget the same orphan, and one of them may be late.
            // ordering: Relaxed; the thread that makes the next entry of this lock is ordered by its word.
            return cell.compare_exchange(entry, 0, Relaxed, Relaxed).is_ok().then_some(id);
        }
    }
    None
}

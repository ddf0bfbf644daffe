//! The life of the process in which a lock was reserved or given.
//!
//! A thread of the parent may have reserved or given a lock for a thread that does not exist in a forked child. So the
//! word carries the fork epoch as well. If that is not the epoch of the process, the lock is neither reserved nor
//! given.

use crate::park::ParkPlatform;

/// While the lock is free, only threads that were woken may take it, until one takes it that was woken 4 ms ago.
pub(super) const RESERVED: u32 = 8;
/// If the lock is free, a thread that was woken takes it. If it is held, its owner is about to give it to such a
/// thread.
pub(super) const GIVEN: u32 = 16;
/// While the lock is free and one of these bits is set, newly arriving threads may not take it.
pub(super) const KEPT: u32 = RESERVED | GIVEN;

/// The position of the epoch in the word, which has the lowest 27 bits of the epoch.
const LIFE_SHIFT: u32 = GIVEN.trailing_zeros() + 1;
const SAID: u32 = (1 << LIFE_SHIFT) - 1;

/// Returns what `word` says in this process.
#[inline(always)]
pub(super) fn said_in<P: ParkPlatform>(word: u32) -> u32 {
    let is_over = word & KEPT != 0 && word & !SAID != P::epoch() << LIFE_SHIFT;
    word & if is_over { SAID & !KEPT } else { SAID }
}

/// Returns the word that says `said` in this process.
#[inline(always)]
pub(super) fn word_of<P: ParkPlatform>(said: u32) -> u32 {
    if said & KEPT == 0 { said } else { said | P::epoch() << LIFE_SHIFT }
}

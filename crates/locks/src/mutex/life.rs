//! In which life of the process a lock was reserved or given.
//!
//! The threads for which a parent's threads did that do not exist in a forked child. So the word carries the fork epoch
//! as well, and what it says with another epoch than that of the process it does not say.

use crate::park::ParkPlatform;

/// Free, it is for threads that were woken only, until one takes it that was woken 4 ms ago.
pub(super) const RESERVED: u32 = 8;
/// Free, and a thread that was woken takes it. Held, its owner is about to give it to one.
pub(super) const GIVEN: u32 = 16;
/// While it is free, newly arriving threads may not take it.
pub(super) const KEPT: u32 = RESERVED | GIVEN;

/// Where the epoch begins in the word: its lowest 27 bits.
const LIFE_SHIFT: u32 = GIVEN.trailing_zeros() + 1;
const SAID: u32 = (1 << LIFE_SHIFT) - 1;

/// What a word says in this process.
#[inline(always)]
pub(super) fn said_in<P: ParkPlatform>(word: u32) -> u32 {
    let is_over = word & KEPT != 0 && word & !SAID != P::epoch() << LIFE_SHIFT;
    word & if is_over { SAID & !KEPT } else { SAID }
}

/// The word that says so in this process.
#[inline(always)]
pub(super) fn word_of<P: ParkPlatform>(said: u32) -> u32 {
    if said & KEPT == 0 { said } else { said | P::epoch() << LIFE_SHIFT }
}

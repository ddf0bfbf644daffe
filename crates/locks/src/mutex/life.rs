//! In which life of the process a lock was reserved or given.
//!
//! The threads for which a parent's threads did that do not exist in a forked child. So the word carries the fork epoch
//! as well, and what it says with another epoch than that of the process it does not say.

use super::{GIVEN, KEPT};
use crate::park::ParkPlatform;

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

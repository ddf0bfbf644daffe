//! Narrow lock-word accesses, done exactly as they are specified: by read-modify-writes of the word.
//!
//! They are for targets without assembly here, for Miri, which has none, and for ThreadSanitizer, which cannot see it
//! (`--cfg lockwright_whole_word`).

use super::HardwareWord;
use crate::platform::{Atomic, Clock, WholeWord};
use core::sync::atomic::Ordering::Relaxed;

// SAFETY: the cell is a `core` atomic.
unsafe impl<C: Clock + 'static> WholeWord for HardwareWord<C> {
    #[inline(always)]
    fn guess(&self) -> u32 {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        self.load(Relaxed)
    }
}

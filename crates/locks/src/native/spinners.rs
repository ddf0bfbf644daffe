//! How many threads of this process spin for others, so that no more do than there are CPUs.
//!
//! One word for the process, with the [`epoch`](super::fork::epoch) of the process life in its upper half:
//! places taken by threads of a parent are no places here. Only threads that have waited for some time
//! already come here, so the word is not in the way. A thread that is ended while it spins keeps
//! its place; then fewer spin.

use super::fork;
use super::per_process::per_process;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The places taken, on a cache line of their own.
#[repr(align(128))]
pub(super) struct Spinners(AtomicU64);

per_process! {
    /// Those of this process.
    pub(super) static SPINNERS at "spinners": Spinners = Spinners(AtomicU64::new(0))
}

impl Spinners {
    /// Takes a place if fewer than `places_max` are taken. Returns `true` if it did.
    pub(super) fn begin(&self, places_max: u32) -> bool {
        let none = u64::from(fork::epoch()) << 32;
        let taken = |word: u64| if word & !u64::from(u32::MAX) == none { word } else { none };
        let one_more = |word| {
            let taken = taken(word);
            ((taken as u32) < places_max).then_some(taken + 1)
        };
        // ordering: Relaxed; nothing is read through it. On failure Relaxed: the same.
        self.0.fetch_update(Relaxed, Relaxed, one_more).is_ok()
    }

    /// Gives a place back.
    pub(super) fn end(&self) {
        // A fork in between, from a signal handler, has left nothing to give back.
        let one_less = |word: u64| (word as u32 > 0).then(|| word - 1);
        // ordering: Relaxed; nothing is read through it. On failure Relaxed: the same.
        let _ = self.0.fetch_update(Relaxed, Relaxed, one_less);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_places_as_asked_for_and_a_parents_are_none_of_them() {
        let spinners = Spinners(AtomicU64::new(0));
        let (begin, end) = (|places_max| spinners.begin(places_max), || spinners.end());
        assert!(!begin(0));
        assert!(begin(2) && begin(2) && !begin(2));
        end();
        assert!(begin(2) && !begin(2));
        // As a forked child would find them.
        spinners.0.store((u64::from(fork::epoch()) + 1) << 32 | 2, Relaxed);
        assert!(begin(1) && !begin(1));
        end();
        end();
        assert!(begin(1));
        end();
    }
}

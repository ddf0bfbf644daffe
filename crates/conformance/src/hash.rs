//! Laws K: the lock hash.

use super::note::nothing_more;
use crate::platform::CommonPlatform;
use crate::threads::Threads;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, Zeroed};

pub fn cells_of_the_hash_are_distinct_and_zero<P: CommonPlatform, T: Threads>(threads: &T) {
    fn body<P: CommonPlatform>() {
        let slots = P::hash_slots();
        assert!(slots >= 8, "a lock hash of {slots} cells");
        let (first, last) = (P::hash_slot(0), P::hash_slot(slots - 1));
        assert_ne!(first, last);
        for cell in [first, last] {
            assert_eq!(P::hash_slot(if cell == first { 0 } else { slots - 1 }), cell);
            // SAFETY: by the contract of `LockHash` the cell lives as long as the machine.
            let cell = unsafe { cell.as_ref() };
            assert_eq!(cell.load(Relaxed), 0, "no lock was used");
        }
    }
    threads.run((), &[|()| body::<P>()], nothing_more);
}

pub fn locks_have_names_of_their_own<P: CommonPlatform, T: Threads>(threads: &T) {
    fn body<P: CommonPlatform>(words: &[P::Word; 3]) {
        let names = words.each_ref().map(|word| P::lock_name(core::ptr::from_ref(word).cast()));
        assert!(names.iter().all(|name| (1..1 << 48).contains(name)), "names {names:x?}");
        assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2]);
        assert_eq!(
            names,
            words.each_ref().map(|word| P::lock_name(core::ptr::from_ref(word).cast()))
        );
    }
    let words: [P::Word; 3] = core::array::from_fn(|_| Zeroed::zeroed());
    threads.run(words, &[body::<P>], nothing_more);
}

//! Laws B: fences, barriers, delay.

use super::{Note, run_two};
use crate::Threads;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use lockwright::platform::{Atomic, Guarded, Platform, Zeroed};

pub fn fences_publish_between_relaxed_accesses<P: Platform>(threads: &dyn Threads) {
    struct Message<P: Platform> {
        text: Guarded<P, u64>,
        flag: P::U32,
    }
    let message = Message::<P> { text: Guarded::new(0), flag: Zeroed::zeroed() };
    let write = |message: &Message<P>| {
        // SAFETY: nobody reads before the flag is set, which comes after this.
        unsafe { message.text.set(1) };
        P::fence(Release);
        message.flag.store(1, Relaxed);
    };
    let read = |message: &Message<P>| {
        if message.flag.load(Relaxed) == 1 {
            P::fence(Acquire);
            // SAFETY: the flag was seen set, and nobody writes after that.
            assert_eq!(unsafe { message.text.get() }, 1);
        }
    };
    run_two(threads, message, write, read);
}

/// Two words, each written by one thread and then read by the other.
struct StoreBuffering<P: Platform> {
    words: [P::U32; 2],
    seen: [Note; 2],
}

impl<P: Platform> StoreBuffering<P> {
    /// What thread `me` does, with `barrier` between its store and its load.
    fn body(&self, me: usize, barrier: impl FnOnce(&P::U32)) {
        self.words[me].store(1, Relaxed);
        barrier(&self.words[me]);
        self.seen[me].write(self.words[1 - me].load(Relaxed));
    }
    fn check(
        threads: &dyn Threads,
        first: impl FnOnce(&P::U32) + Send + 'static,
        second: impl FnOnce(&P::U32) + Send + 'static,
    ) {
        let words = [P::U32::zeroed(), P::U32::zeroed()];
        let state = Self { words, seen: Default::default() };
        let first = |state: &Self| state.body(0, first);
        let state = run_two(threads, state, first, |state| state.body(1, second));
        let [first, second] = [0, 1].map(|thread| state.seen[thread].read());
        assert!(first == 1 || second == 1, "both threads read before the other one's store");
    }
}

pub fn full_barriers_forbid_store_buffering<P: Platform>(threads: &dyn Threads) {
    StoreBuffering::<P>::check(threads, P::full_barrier, P::full_barrier);
}

pub fn a_light_and_a_heavy_barrier_forbid_store_buffering<P: Platform>(threads: &dyn Threads) {
    StoreBuffering::<P>::check(threads, |_| P::light_barrier(), |_| P::heavy_barrier());
}

pub fn delay_returns<P: Platform>(_: &dyn Threads) {
    P::delay(0);
    P::delay(1);
    P::delay(1_000);
}

//! Laws B: fences, barriers, delay.

use super::note::{Note, alone, nothing_more};
use crate::platform::{CommonPlatform, Threads};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use lockwright_core::platform::{Atomic, Guarded, Zeroed};

pub fn fences_publish_between_relaxed_accesses<P: CommonPlatform, T: Threads>(threads: &T) {
    struct Message<P: CommonPlatform> {
        text: Guarded<P, u64>,
        flag: P::U32,
    }
    fn write<P: CommonPlatform>(message: &Message<P>) {
        // SAFETY: no thread reads before the flag is set, which comes after this.
        unsafe { message.text.set(1) };
        P::fence(Release);
        message.flag.store(1, Relaxed);
    }
    fn read<P: CommonPlatform>(message: &Message<P>) {
        if message.flag.load(Relaxed) == 1 {
            P::fence(Acquire);
            // SAFETY: the flag was seen set, and no thread writes after that.
            assert_eq!(unsafe { message.text.get() }, 1);
        }
    }
    let message = Message::<P> { text: Guarded::new(0), flag: Zeroed::zeroed() };
    threads.run(message, &[write, read], nothing_more);
}

/// Two words, each written by one thread and then read by the other.
struct StoreBuffering<P: CommonPlatform> {
    words: [P::U32; 2],
    seen: [Note; 2],
}

impl<P: CommonPlatform> StoreBuffering<P> {
    fn new() -> Self {
        Self { words: [P::U32::zeroed(), P::U32::zeroed()], seen: Default::default() }
    }
    /// What thread `me` does, with `barrier` between its store and its load.
    fn body(&self, me: usize, barrier: impl FnOnce(&P::U32)) {
        self.words[me].store(1, Relaxed);
        barrier(&self.words[me]);
        self.seen[me].write(self.words[1 - me].load(Relaxed));
    }
    fn finish(&self) {
        let [first, second] = &self.seen;
        let is_ordered = first.read() == 1 || second.read() == 1;
        assert!(is_ordered, "both threads read before the other one's store");
    }
}

pub fn full_barriers_forbid_store_buffering<P: CommonPlatform, T: Threads>(threads: &T) {
    fn body<P: CommonPlatform>(state: &StoreBuffering<P>, me: usize) {
        state.body(me, |word| P::full_barrier(word));
    }
    let bodies: [fn(&StoreBuffering<P>); 2] = [|state| body(state, 0), |state| body(state, 1)];
    threads.run(StoreBuffering::new(), &bodies, StoreBuffering::finish);
}

pub fn barriers_after_exchanges_forbid_store_buffering<P: CommonPlatform, T: Threads>(threads: &T) {
    fn exchanging<P: CommonPlatform>(state: &StoreBuffering<P>) {
        state.words[0].swap(1, Relaxed);
        P::barrier_after_exchange(&state.words[1]);
        state.seen[0].write(state.words[1].load(Relaxed));
    }
    fn storing<P: CommonPlatform>(state: &StoreBuffering<P>) {
        state.body(1, |word| P::full_barrier(word));
    }
    threads.run(StoreBuffering::<P>::new(), &[exchanging, storing], StoreBuffering::finish);
}

pub fn a_light_and_a_heavy_barrier_forbid_store_buffering<P: CommonPlatform, T: Threads>(
    threads: &T,
) {
    fn light<P: CommonPlatform>(state: &StoreBuffering<P>) {
        state.body(0, |_| P::light_barrier());
    }
    fn heavy<P: CommonPlatform>(state: &StoreBuffering<P>) {
        state.body(1, |_| P::heavy_barrier());
    }
    threads.run(StoreBuffering::<P>::new(), &[light, heavy], StoreBuffering::finish);
}

pub fn delay_returns<P: CommonPlatform, T: Threads>(threads: &T) {
    alone(threads, (), |()| {
        P::delay(0);
        P::delay(1);
        P::delay(1_000);
    });
}

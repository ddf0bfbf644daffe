//! A reader-writer lock as plain as one can be: what harnesses with readers are tested with.
//!
//! ```text
//!  31                                               1   0
//! +---------------------------------------------------+---+
//! |                      readers                      | w |      w: a writer holds it
//! +---------------------------------------------------+---+
//! ```
//!
//! No queue and no order. Readers that keep coming keep writers out for as long as they do.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use lockwright_core::platform::{Atomic, AtomicInt, Barriers, Zeroed};
use lockwright_core::raw::{Order, RawLock};

const WRITER: u32 = 1;
const READER: u32 = 2;

/// A word for the writer and the number of readers. Every thread spins.
pub struct PlainRwLock<P: Barriers> {
    word: P::U32,
}

impl<P: Barriers> PlainRwLock<P> {
    /// Waits until `is_open` says so of the word and changes it from there, by `take`.
    fn acquire(&self, is_open: impl Fn(u32) -> bool, take: impl Fn() -> bool) {
        loop {
            // ordering: Relaxed; only a hint, re-checked by `take`.
            self.word.cond_load(Relaxed, &is_open);
            if take() {
                return;
            }
        }
    }
}

impl<P: Barriers> RawLock for PlainRwLock<P> {
    const ORDER: Order = Order::None;
    const READERS_SHARE: bool = true;

    fn new() -> Self {
        Self { word: Zeroed::zeroed() }
    }
    fn lock(&self) {
        self.acquire(|word| word == 0, || self.try_lock());
    }
    fn try_lock(&self) -> bool {
        // ordering: Acquire; the owner before and the readers release.
        self.word.compare_exchange(0, WRITER, Acquire, Relaxed).is_ok()
    }
    unsafe fn unlock(&self) {
        // ordering: Release; what the owner did.
        self.word.fetch_sub(WRITER, Release);
    }
    fn lock_shared(&self) {
        self.acquire(|word| word & WRITER == 0, || self.try_lock_shared());
    }
    fn try_lock_shared(&self) -> bool {
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut word = self.word.load(Relaxed);
        while word & WRITER == 0 {
            // ordering: Acquire; the owner before releases.
            match self.word.compare_exchange(word, word + READER, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => word = now,
            }
        }
        false
    }
    unsafe fn unlock_shared(&self) {
        // ordering: Release; the next owner writes what the reader has read.
        self.word.fetch_sub(READER, Release);
    }
    unsafe fn downgrade(&self) {
        // ordering: Release; what the owner did, for the readers that join.
        self.word.fetch_add(READER - WRITER, Release);
    }
    fn is_locked(&self) -> bool {
        P::full_barrier(&self.word);
        // ordering: Relaxed; nothing is read through it.
        self.word.load(Relaxed) != 0
    }
}

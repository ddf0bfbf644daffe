//! A client of notifications in which no later one makes up for one that is lost.

use crate::client::{Client, has_rounds};
use crate::mutex::{Counter, NotifiedMutex};
use core::sync::atomic::Ordering::Relaxed;
use lockwright::mutex::RawMutex;
use lockwright_catalog::capabilities::LockCondvar;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::{Atomic, AtomicInt, Zeroed};

/// The first thread makes items, the others take them, and there is a place for one. The first thread waits until the
/// last item was taken, makes the next one and notifies one thread. The last thread takes three items, the others
/// between take one each. No item stays while a thread waits for one.
pub struct OnePlace<P: Platform, M: NotifiedMutex = RawMutex<P>> {
    items: Counter<P, M>,
    is_there: M::Condvar,
    taken: P::U32,
    threads: usize,
    rounds: u32,
}

impl<P: Platform, M: NotifiedMutex> OnePlace<P, M> {
    /// How many items that thread takes.
    fn share_of(&self, thread: usize) -> u32 {
        let share = if thread + 1 == self.threads { 3 } else { 1 };
        share * self.rounds
    }
    fn make(&self) {
        let wanted: u32 = (1..self.threads).map(|thread| self.share_of(thread)).sum();
        for item in 0..wanted {
            self.taken.cond_load(Relaxed, |taken| taken == item);
            self.items.lock_and_change(1);
            self.is_there.notify_one();
        }
    }
    fn take(&self) {
        self.items.lock_and_take_one(&self.is_there);
        self.taken.fetch_add(1, Relaxed);
    }
}

impl<P: Platform, M: NotifiedMutex> Client for OnePlace<P, M> {
    const NAME: &'static str = "condvar-one-place";

    fn new(threads: usize) -> Self {
        let (items, is_there) = (Counter::new(), LockCondvar::new());
        Self { items, is_there, taken: Zeroed::zeroed(), threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        self.items.mutex.calm();
        if thread == 0 {
            self.make();
        } else {
            (0..self.share_of(thread)).for_each(|_| self.take());
        }
    }
    fn finish(&self) {
        self.items.finish(0, "an item was made or lost");
    }
}

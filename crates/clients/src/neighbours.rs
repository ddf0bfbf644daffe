//! Two mutexes that share a mark.

use crate::Client;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use lockwright_catalog::capabilities::ProgramMutex;

/// More mutexes than a machine for checking has marks, so two of them share one.
const MUTEXES: usize = 65;

/// The first thread begins as the owner of two mutexes that share a mark and releases one after the other. The others
/// take one of them each, asleep at once where they have to wait. The mark is quiet at first.
pub struct Neighbours<M> {
    mutexes: [M; MUTEXES],
    taken: AtomicU64,
    threads: usize,
}

impl<M: ProgramMutex> Neighbours<M> {
    /// The same two for every caller.
    fn pair(&self) -> [&M; 2] {
        let later = |at: usize| self.mutexes[at + 1..].iter().map(move |other| (at, other));
        let mut pairs = (0..MUTEXES).flat_map(later);
        let shared = pairs.find(|(at, other)| self.mutexes[*at].shares_bucket_with(other));
        let (first, second) = shared.expect("there are fewer buckets than mutexes");
        [&self.mutexes[first], second]
    }
}

impl<M: ProgramMutex> Client for Neighbours<M> {
    const NAME: &'static str = "neighbours";

    fn new(threads: usize) -> Self {
        let mutexes = core::array::from_fn(|_| M::new());
        // Where they will lie is not known yet.
        mutexes.iter().for_each(M::lock);
        Self { mutexes, taken: AtomicU64::new(0), threads }
    }
    fn body(&self, thread: usize) {
        let pair = self.pair();
        pair[0].calm();
        if thread == 0 {
            for mutex in pair {
                // SAFETY: taken when the client was made, and released by no other thread.
                unsafe { mutex.unlock() };
            }
            return;
        }
        let mutex = pair[thread % 2];
        mutex.lock_asleep();
        self.taken.fetch_add(1, Relaxed);
        mutex.calm();
        // SAFETY: taken above.
        unsafe { mutex.unlock() };
    }
    fn finish(&self) {
        assert_eq!(self.taken.load(Relaxed), self.threads as u64 - 1, "somebody got nothing");
    }
}

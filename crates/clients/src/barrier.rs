//! Clients of the barrier: threads that meet again and again, and more threads than take part.

use crate::client::{Client, has_rounds};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use lockwright::barrier::RawBarrier;
use lockwright_catalog::registry::Platform;
use lockwright_core::platform::Guarded;

/// Each thread writes a note, meets the others, reads their notes, and meets them again before it writes the next one.
/// One of them is the leader, each time.
pub struct Meetings<P: Platform> {
    barrier: RawBarrier<P>,
    notes: [Guarded<P, u32>; NOTES],
    /// Unseen by the machine.
    leaders: AtomicU32,
    threads: usize,
    rounds: u32,
}

/// As many threads write notes, of any number.
const NOTES: usize = 16;
/// How often they meet in one round.
const MEETINGS: u32 = 2;

impl<P: Platform> Meetings<P> {
    fn meet(&self) {
        let is_leader = self.barrier.wait(self.threads as u64);
        self.leaders.fetch_add(u32::from(is_leader), Relaxed);
    }
}

impl<P: Platform> Client for Meetings<P> {
    const NAME: &'static str = "barrier-meet";

    fn new(threads: usize) -> Self {
        let notes = core::array::from_fn(|_| Guarded::new(0));
        let leaders = AtomicU32::new(0);
        Self { barrier: RawBarrier::new(), notes, leaders, threads, rounds: 1 }
    }
    has_rounds!();
    fn body(&self, thread: usize) {
        for round in 1..=self.rounds {
            if let Some(note) = self.notes.get(thread) {
                // SAFETY: this thread's alone, until it arrives.
                unsafe { note.set(round) };
            }
            self.meet();
            for note in self.notes.iter().take(self.threads) {
                // SAFETY: all have arrived, and write no other note before they meet again.
                assert_eq!(unsafe { note.get() }, round, "a thread went on before all had arrived");
            }
            self.meet();
        }
    }
    fn finish(&self) {
        assert_eq!(self.leaders.load(Relaxed), MEETINGS * self.rounds, "not one leader each time");
        assert_eq!(self.barrier.arrived(), 0, "somebody waits when all have gone on");
    }
}

/// Two threads take part, and there are more: they go on in pairs. A thread without a partner does nothing. No thread
/// goes on before its pair is complete.
pub struct Groups<P: Platform> {
    barrier: RawBarrier<P>,
    /// Threads that were about to arrive, and that have gone on, unseen by the machine.
    came: AtomicU32,
    went: AtomicU32,
    leaders: AtomicU32,
    threads: usize,
}

/// How many threads take part.
const PAIR: u32 = 2;

impl<P: Platform> Client for Groups<P> {
    const NAME: &'static str = "barrier-groups";

    fn new(threads: usize) -> Self {
        let [came, went, leaders] = [(); 3].map(|()| AtomicU32::new(0));
        Self { barrier: RawBarrier::new(), came, went, leaders, threads }
    }
    fn body(&self, thread: usize) {
        let has_partner = thread + 1 < self.threads || !thread.is_multiple_of(2);
        if !has_partner {
            return;
        }
        self.came.fetch_add(1, Relaxed);
        let is_leader = self.barrier.wait(u64::from(PAIR));
        self.leaders.fetch_add(u32::from(is_leader), Relaxed);
        let went = self.went.fetch_add(1, Relaxed) + 1;
        let needed = went.next_multiple_of(PAIR);
        assert!(self.came.load(Relaxed) >= needed, "a thread went on alone");
    }
    fn finish(&self) {
        let pairs = self.threads as u32 / PAIR;
        assert_eq!(self.leaders.load(Relaxed), pairs, "not one leader in each pair");
        assert_eq!(self.barrier.arrived(), 0, "somebody waits when all have gone on");
    }
}

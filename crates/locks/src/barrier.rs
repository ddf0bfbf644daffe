//! A barrier for programs: a meeting point of some threads. (Memory barriers are in [`platform`](crate::platform).)
//!
//! A thread that arrives waits until as many threads as take part have arrived. Then all of them go on, and a new
//! *generation* begins. Eight bytes:
//!
//! ```text
//!  63               42 41                                         1   0
//! +-------------------+---------------------------------------------+---+
//! |      arrived      |                 generation                  | s |      s: a thread may sleep
//! +-------------------+---------------------------------------------+---+
//!                                  |<- the half that threads sleep on ->|
//! ```
//!
//! The word does not say how many threads take part. Each thread says so when it arrives, and all say the same number.
//!
//! | state (arrived, generation, s) | means | moved by |
//! |---|---|---|
//! | (k, g, s), k + 1 < threads | k threads of generation g have arrived | a thread that arrives, to (k + 1, g, s); one of the k that is about to sleep, to (k, g, 1) |
//! | (threads - 1, g, s) | all but the last have arrived | the last one, to (0, g + 1, 0): it wakes all sleepers if s was set; as above, to (threads - 1, g, 1) |
//!
//! One exchange both counts an arrival and ends a generation. So a thread always counts in the generation that it waits
//! for. It may come back at once, and be counted in the next one before the others have noticed that the last one is
//! over. More threads than take part may use a barrier, too: they go on in groups.
//!
//! s is set only in a generation in which threads have arrived, and is cleared with its end. A sleeper sleeps while the
//! lower half of the word holds 31 bits of its generation and s. Arrivals change the upper half only, so they wake no
//! sleeper.
//!
//! *Overflow.* The generation wraps after 2^41. At one each microsecond, that is after 25 days. The part of it that
//! threads sleep on wraps after 2^31. A thread that does not run while exactly as many generations end waits for one
//! more. This needs more threads than take part: otherwise the others cannot go on without it. More than 4,194,303
//! threads cannot take part. That is as many as Linux can run.
//!
//! *Freeing.* The exchange that ends a generation is the last access of the last thread; the wake-up uses the address
//! alone. But the other threads look at the word to see that the generation is over. So a barrier may be freed when all
//! calls have returned.
//!
//! *Fork.* In a forked child the threads of the parent that had arrived still count, and do not exist.
//!
//! *Size, cost.* Eight bytes; zero is a barrier at which no thread has arrived. A thread that arrives makes one atomic
//! read-modify-write (more if others arrive at the same moment), spins for a moment, and then sleeps.
//!
//! | id | the store | the load that reads it | carries |
//! |----|-----------|------------------------|---------|
//! | G1 | `compare_exchange` in `wait`, Release | the same of the last thread of the generation, Acquire | what the thread did before it arrived |
//! | G2 | `compare_exchange` in `wait`, of any thread of the generation, Release | `load` in `wait_for_end`, Acquire | the same |
//!
//! All writes of the word are read-modify-writes, so the word that the last thread writes, and each later one, carries
//! what all threads of the generation have released.

use crate::events::Event;
use crate::once::EventPlatform;
use crate::platform::{Atomic, Cells, ConstCells, ConstZeroed, EVERY_KIND, Zeroed, low_half};
use crate::queue::{Patience, UNTIL_OVER};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// A thread may sleep.
const SLEEPER: u64 = 1;
const GENERATION_BITS: u32 = 41;
const GENERATION_SHIFT: u32 = 1;
/// The distance from one generation to the next.
const GENERATION: u64 = 1 << GENERATION_SHIFT;
const GENERATION_MASK: u64 = ((1 << GENERATION_BITS) - 1) << GENERATION_SHIFT;
const ARRIVED_SHIFT: u32 = GENERATION_SHIFT + GENERATION_BITS;
/// One more thread in the count of arrived threads.
const ARRIVED: u64 = 1 << ARRIVED_SHIFT;

/// A barrier that does not know how many threads take part.
#[repr(transparent)]
pub struct RawBarrier<P: Cells> {
    state: P::U64,
}

impl<P: ConstCells> RawBarrier<P> {
    /// A barrier at which no thread has arrived, for statics.
    #[allow(clippy::declare_interior_mutable_const)]
    pub const INIT: Self = Self { state: ConstZeroed::ZEROED };
}

impl<P: Cells> RawBarrier<P> {
    /// Returns a barrier at which no thread has arrived, on any platform.
    pub fn new() -> Self {
        Self { state: Zeroed::zeroed() }
    }
    /// Returns how many threads have arrived in this generation. The answer may be stale when it is returned, and
    /// acquires nothing.
    pub fn arrived(&self) -> u64 {
        // ordering: Relaxed; nothing is read through it.
        arrived(self.state.load(Relaxed))
    }
}

impl<P: Cells> Default for RawBarrier<P> {
    fn default() -> Self {
        Self::new()
    }
}

const fn arrived(state: u64) -> u64 {
    state >> ARRIVED_SHIFT
}
const fn generation(state: u64) -> u64 {
    state & GENERATION_MASK
}
/// Returns the state with one more thread that has arrived.
const fn with_arrival(state: u64) -> u64 {
    state.wrapping_add(ARRIVED)
}
/// Returns the state of the generation after that of `state`, in which no thread has arrived.
const fn next_generation(state: u64) -> u64 {
    generation(state).wrapping_add(GENERATION) & GENERATION_MASK
}

impl<P: EventPlatform> RawBarrier<P> {
    /// Waits until `threads` threads have arrived, the caller included. Returns `true` in the last one of them.
    pub fn wait(&self, threads: u64) -> bool {
        let address = low_half::<P>(&raw const self.state);
        // ordering: Relaxed; only a hint, re-checked at the compare-exchange.
        let mut seen = self.state.load(Relaxed);
        loop {
            let is_last = arrived(seen) + 1 >= threads;
            let next = if is_last { next_generation(seen) } else { with_arrival(seen) };
            // (k, g, s) -> (k + 1, g, s); the last: -> (0, g + 1, 0)
            // ordering: AcqRel; G1 both ways, G2. On failure Relaxed: only a hint, re-checked at the next attempt.
            match self.state.compare_exchange(seen, next, AcqRel, Relaxed) {
                Ok(_) if is_last => break,
                Ok(_) => {
                    self.wait_for_end(generation(seen));
                    return false;
                }
                Err(now) => seen = now,
            }
        }
        if seen & SLEEPER != 0 {
            P::futex_wake(address, u32::MAX);
        }
        true
    }

    /// Waits until this generation, in which the caller has arrived, is over.
    fn wait_for_end(&self, of: u64) {
        self.spin(of);
        loop {
            // ordering: Acquire; G2.
            let seen = self.state.load(Acquire);
            if generation(seen) != of {
                return;
            }
            if self.announce(seen) {
                P::count(Event::barrier_sleep);
                P::futex_wait_low(EVERY_KIND, &self.state, (seen | SLEEPER) as u32, None, None);
            }
        }
    }

    /// Looks again and again, with pauses, until the generation is over or the wait has been long.
    fn spin(&self, of: u64) {
        let mut patience = Patience::<P>::long();
        let is_over = |seen| generation(seen) != of;
        // ordering: Relaxed; only a hint, re-checked by `wait_for_end`.
        let _ = self.state.cond_load_bounded(Relaxed, UNTIL_OVER, is_over, || patience.pause());
    }

    /// Says in the word, if it is still `seen`, that a thread sleeps. Returns `true` if the word says so.
    fn announce(&self, seen: u64) -> bool {
        // (k, g, 0) -> (k, g, 1)
        // ordering: Relaxed; nothing is read through it. On failure Relaxed: the failure value is not used.
        let says_so =
            || self.state.compare_exchange(seen, seen | SLEEPER, Relaxed, Relaxed).is_ok();
        seen & SLEEPER != 0 || says_so()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most threads that can have arrived.
    const ARRIVED_MAX: u64 = u64::MAX >> ARRIVED_SHIFT;

    #[test]
    fn a_generation_that_ends_keeps_neither_arrivals_nor_sleepers() {
        let state = with_arrival(with_arrival(GENERATION)) | SLEEPER;
        assert_eq!((arrived(state), generation(state)), (2, GENERATION));
        assert_eq!(next_generation(state), 2 * GENERATION);
        assert_eq!(next_generation(GENERATION_MASK | ARRIVED), 0);
    }

    #[test]
    fn the_parts_fill_the_word() {
        assert_eq!(ARRIVED_MAX << ARRIVED_SHIFT | GENERATION_MASK | SLEEPER, u64::MAX);
        assert_eq!(ARRIVED_MAX, 4_194_303);
        assert_eq!(with_arrival(u64::MAX), GENERATION_MASK | SLEEPER);
    }
}

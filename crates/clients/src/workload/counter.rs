//! A shared counter: the smallest critical section that does something, with adjustable work
//! inside and outside.

use super::{Line, Worker, locked};
use core::sync::atomic::Ordering::Relaxed;
use lockwright::platform::{Atomic, Barriers, Cells, Zeroed};
use lockwright::raw::RawLock;

/// Parts of the real benchmark's software that [`Worker::software`] is told about.
pub mod part {
    /// The loop around the critical section: once for each.
    pub const OUTSIDE: &str = "outside";
    /// The critical section.
    pub const INSIDE: &str = "inside";
    /// All of them.
    pub const ALL: &[&str] = &[OUTSIDE, INSIDE];
}

/// How much work, in pause instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Knobs {
    /// Inside the critical section.
    pub cs_load: u32,
    /// Between two critical sections.
    pub think_load: u32,
}

/// What the threads share: the lock on a line of its own, the counter on another.
pub struct State<P: Cells, L> {
    lock: Line<L>,
    value: Line<P::U64>,
}

impl<P: Cells, L: RawLock> Zeroed for State<P, L> {
    fn zeroed() -> Self {
        Self { lock: Line::new(L::new()), value: Zeroed::zeroed() }
    }
}

impl<P: Cells, L> State<P, L> {
    /// The lock.
    pub fn lock(&self) -> &L {
        &self.lock
    }

    /// The counter: the number of operations, unless the lock is broken. Only when all threads are
    /// done.
    pub fn value(&self) -> u64 {
        // ordering: Relaxed; whoever waited for the threads is ordered after them.
        self.value.load(Relaxed)
    }
}

/// What one thread does.
#[inline]
pub fn run<W: Worker, L: RawLock>(worker: &mut W, state: &State<W::P, L>, knobs: Knobs) {
    while worker.keep_going() {
        locked(&*state.lock, || {
            // ordering: Relaxed; the lock orders the accesses to the counter.
            let value = state.value.load(Relaxed);
            pauses::<W>(knobs.cs_load);
            worker.software(part::INSIDE);
            // ordering: Relaxed; as above. Not one atomic operation on purpose: a lock that does
            // not exclude loses increments.
            state.value.store(value + 1, Relaxed);
        });
        worker.op_done();
        pauses::<W>(knobs.think_load);
        worker.software(part::OUTSIDE);
    }
}

#[inline(always)]
fn pauses<W: Worker>(count: u32) {
    if count > 0 {
        W::P::delay(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, SpyLock};

    #[test]
    fn the_counter_counts_the_operations() {
        let state = State::<_, SpyLock>::zeroed();
        let mut worker = Scripted::new(9);
        run(&mut worker, &state, Knobs { cs_load: 1, think_load: 2 });
        assert_eq!((worker.ops, state.value(), state.lock().pairs()), (9, 9, 9));
        assert_eq!(worker.parts, [part::INSIDE]);
    }
}

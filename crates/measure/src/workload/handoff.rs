//! Who gets a lock that every thread always wants: one section after the other, of a fixed time, and what counts is how
//! often each thread had its turn.
//!
//! The owner computes in its section, or sleeps in it ([`Section`]). The difference decides what waiters of
//! a sleeping lock do: they spin while they see the owner run, and not while it sleeps. The published run
//! ("1us sleep critical section") does not say which it was, and its rates fit neither literally, so both are
//! here. A sleep lasts at least its time; natively the system's timer makes it ten times as long.

use super::facts::{
    Facts, Finding, Heap, Load, OwnLine, Setting, Venue, Worker, fitted_ns, locked,
};
use super::params::{Domain, TIME, choice, params};
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, Cells, Clock, Sleeping, Zeroed};
use lockwright_core::raw::RawLock;

/// Parts of the real benchmark's software that [`Worker::software`] is told about.
pub mod part {
    /// The loop around the section: once for each.
    pub const OUTSIDE: &str = "outside";
    /// All of them.
    pub const ALL: &[&str] = &[OUTSIDE];
}

choice! {
    /// What the owner does in a section.
    Section {
        /// Computes; in `starve`, until a time by the clock.
        Spin = "spin",
        /// Sleeps until the time is over.
        Sleep = "sleep",
        /// Computes for that time on a CPU.
        Compute = "compute",
    }
}

/// The part that is fitted: what a sleep of a microsecond takes.
pub const SECTION_PART: &str = "section";

params! {
    /// a lock that every thread always wants, held for a fixed time: how often each gets it
    "handoff": HandoffParams {
        /// What the owner does in its critical section, for --section-ns: sleep, spin, or compute, in which only
        /// time on a CPU counts (`handoff` takes spin for compute)
        section: Section = Section::Sleep, Domain::Choice(Section::NAMES);
        /// How long it is; of a sleep, what was fitted
        section_ns: u64 = 1_000, TIME;
    }
}

impl Facts for HandoffParams {
    fn software_parts(&self) -> &'static [&'static str] {
        part::ALL
    }
    // Which thread has the lock first is a part of how often each gets it.
    fn has_no_warm_up(&self) -> bool {
        true
    }
    // A lock is kept for a waiter after 4 or 10 ms.
    fn usual_s(&self) -> Option<f64> {
        Some(0.1)
    }
    fn settle(
        &mut self,
        given: &dyn Fn(&str) -> bool,
        place: Option<Venue<'_>>,
    ) -> Result<(), String> {
        if !given("section_ns") && self.section == Section::Sleep {
            self.section_ns = fitted_ns(place, SECTION_PART).unwrap_or(self.section_ns);
        }
        Ok(())
    }
}

impl<W: Heap, L: RawLock> Load<W, L> for HandoffParams {
    type State = W::One<HandoffState<W::P, L>>;
    type Tally = ();

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        heap.one(Zeroed::zeroed())
    }
    fn run<K: Worker<P = W::P>>(&self, state: &Self::State, worker: &mut K) {
        run(worker, &**state, *self);
    }
    fn found(&self, state: &Self::State, (): &(), ops: u64) -> Finding {
        Finding::fail(ops.saturating_sub(state.value()))
    }
}

/// What the threads share: the lock on a line of its own, the counter on another, and a word to sleep on that no thread
/// writes.
pub struct HandoffState<P: Cells, L> {
    lock: OwnLine<L>,
    value: OwnLine<P::U64>,
    never: OwnLine<P::U32>,
}

impl<P: Cells, L: RawLock> Zeroed for HandoffState<P, L> {
    fn zeroed() -> Self {
        Self { lock: OwnLine::new(L::new()), value: Zeroed::zeroed(), never: Zeroed::zeroed() }
    }
}

impl<P: Cells, L> HandoffState<P, L> {
    /// The sections that were entered, unless the lock is broken: then fewer. Only when all threads are
    /// done.
    pub fn value(&self) -> u64 {
        // ordering: Relaxed; the caller waited for the threads, and so is ordered after them.
        self.value.load(Relaxed)
    }
}

/// What one thread does.
#[inline]
pub fn run<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &HandoffState<W::P, L>,
    knobs: HandoffParams,
) {
    while worker.keep_going() {
        locked(&*state.lock, || {
            // ordering: Relaxed; the lock orders the accesses to the counter.
            let value = state.value.load(Relaxed);
            match knobs.section {
                Section::Spin | Section::Compute => worker.compute_ns(knobs.section_ns),
                Section::Sleep => sleep::<W::P>(&state.never, knobs.section_ns),
            }
            // ordering: Relaxed; as above. Not one atomic operation on purpose: a lock that does not
            // exclude loses increments.
            state.value.store(value + 1, Relaxed);
        });
        worker.op_done();
        worker.software(part::OUTSIDE);
    }
}

/// Sleeps for `ns` on a word that no thread writes.
pub(crate) fn sleep<P: Clock + Sleeping>(never: &P::U32, ns: u64) {
    let deadline_ns = P::now_ns() + ns;
    while P::now_ns() < deadline_ns {
        P::futex_wait(never, 0, Some(deadline_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};

    fn handed_over(section: Section, section_ns: u64) -> (u64, u64) {
        let state = HandoffState::<ScriptedPlatform, SpyLock>::zeroed();
        let mut worker = Scripted::new(5);
        run(&mut worker, &state, HandoffParams { section, section_ns });
        assert_eq!((worker.ops, state.value(), state.lock.pairs()), (5, 5, 5));
        (worker.computed_ns, ScriptedPlatform::now_ns())
    }

    #[test]
    fn a_section_that_computes_takes_time_on_the_cpu() {
        assert_eq!(handed_over(Section::Spin, 1_000).0, 5_000);
    }

    #[test]
    fn a_section_that_sleeps_takes_time_and_no_cpu() {
        let start_ns = ScriptedPlatform::now_ns();
        let (computed_ns, end_ns) = handed_over(Section::Sleep, 200_000);
        assert_eq!(computed_ns, 0);
        assert!(end_ns - start_ns >= 1_000_000, "{} ns", end_ns - start_ns);
    }
}

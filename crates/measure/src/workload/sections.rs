//! Sections that take microseconds, and thinking between them: what a program does that works on shared data or waits
//! for a device under a lock.
//!
//! The owner computes in its section, or sleeps in it. A percentage of the operations of each thread read: then the
//! lock is one that readers share, and the sections of writers may be shorter.

use super::counter::{Kinds, ReaderOrder};
use super::facts::{
    Facts, Finding, Heap, Load, OwnLine, Setting, Tally, Venue, Worker, bound, locked,
    locked_shared,
};
use super::handoff::{Section, sleep};
use super::params::{Domain, TIME, params};
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, Cells, Zeroed};
use lockwright_core::raw::RawLock;

params! {
    /// sections that take microseconds, in which the owner computes or sleeps, and thinking between them
    "sections": SectionsParams {
        /// What happens in a section: sleep, spin, or compute, which is the same as spin here
        section: Section = Section::Spin, Domain::Choice(Section::NAMES);
        /// How long a section is
        section_ns: u64 = 5_000, TIME;
        /// How long it is for a thread that owns the lock; usually the same
        write_ns: u64 = 5_000, TIME;
        /// How long a thread computes between two sections
        think_ns: u64 = 5_000, TIME;
        /// Percentage of the operations that only read
        read_percent: u32 = 0, Domain::Percent;
        /// Which operations read: alternate (as evenly spread as can be) or random
        reader_order: ReaderOrder = ReaderOrder::Alternate, Domain::Choice(ReaderOrder::NAMES);
    }
}

impl SectionsParams {
    /// Sections of which those of readers and of writers are alike.
    pub const fn alike(
        section: Section,
        section_ns: u64,
        think_ns: u64,
        read_percent: u32,
    ) -> Self {
        let write_ns = section_ns;
        Self { section, section_ns, write_ns, think_ns, read_percent, ..Self::USUAL }
    }
}

impl Facts for SectionsParams {
    fn reads(&self) -> u32 {
        self.read_percent
    }
    fn longest_section_ns(&self) -> u64 {
        self.section_ns
    }
    fn bound(&self, cpus: f64) -> Option<f64> {
        let Self { section, write_ns, think_ns, read_percent, .. } = *self;
        let owns = f64::from(100 - read_percent) / 100.0;
        let on_cpu_ns = think_ns + if section == Section::Sleep { 0 } else { write_ns };
        bound(write_ns as f64 * owns, on_cpu_ns as f64, cpus)
    }
    fn settle(
        &mut self,
        given: &dyn Fn(&str) -> bool,
        _place: Option<Venue<'_>>,
    ) -> Result<(), String> {
        if !given("write_ns") {
            self.write_ns = self.section_ns;
        }
        Ok(())
    }
}

impl<W: Heap, L: RawLock> Load<W, L> for SectionsParams {
    type State = W::One<SectionsState<W::P, L>>;
    type Tally = SectionsTally;

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        heap.one(Zeroed::zeroed())
    }
    fn run<K: Worker<P = W::P>>(&self, state: &Self::State, worker: &mut K) -> SectionsTally {
        run(worker, &**state, *self)
    }
    fn found(&self, state: &Self::State, all: &SectionsTally, _ops: u64) -> Finding {
        Finding::fail(state.lost(all.written) + all.disturbed)
    }
}

impl Tally for SectionsTally {
    fn merge(&mut self, other: Self) {
        self.written += other.written;
        self.disturbed += other.disturbed;
    }
}

/// What the threads share: the lock on a line of its own, the counter on another, and a word to sleep on that no thread
/// writes.
pub struct SectionsState<P: Cells, L> {
    lock: OwnLine<L>,
    value: OwnLine<P::U64>,
    never: OwnLine<P::U32>,
}

impl<P: Cells, L: RawLock> Zeroed for SectionsState<P, L> {
    fn zeroed() -> Self {
        Self { lock: OwnLine::new(L::new()), value: Zeroed::zeroed(), never: Zeroed::zeroed() }
    }
}

/// What one thread did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectionsTally {
    /// Sections in which it owned the lock.
    pub written: u64,
    /// Sections in which it read, and an owner wrote meanwhile.
    pub disturbed: u64,
}

impl<P: Cells, L> SectionsState<P, L> {
    /// How many sections were not alone, if the threads owned the lock `written` times. Only when all threads are done.
    pub fn lost(&self, written: u64) -> u64 {
        // ordering: Relaxed; the caller waited for the threads, and so is ordered after them.
        written.abs_diff(self.value.load(Relaxed))
    }
}

/// What one thread does.
pub fn run<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &SectionsState<W::P, L>,
    knobs: SectionsParams,
) -> SectionsTally {
    let mut tally = SectionsTally::default();
    let mut kinds = Kinds::new(knobs.read_percent, knobs.reader_order, worker.index());
    while worker.keep_going() {
        if kinds.next_is_read(worker) {
            let section_ns = knobs.section_ns;
            let through = || through(worker, state, knobs.section, section_ns);
            let before_and_after = locked_shared(&*state.lock, through);
            tally.disturbed += u64::from(before_and_after[0] != before_and_after[1]);
        } else {
            locked(&*state.lock, || {
                let [before, _] = through(worker, state, knobs.section, knobs.write_ns);
                // ordering: Relaxed; the lock orders the accesses to the counter. Not one atomic operation on
                // purpose: a lock that does not exclude loses increments.
                state.value.store(before + 1, Relaxed);
            });
            tally.written += 1;
        }
        worker.op_done();
        if knobs.think_ns > 0 {
            worker.user_ns(knobs.think_ns);
        }
    }
    tally
}

/// A section: the counter before and after it.
fn through<W: Worker, L>(
    worker: &mut W,
    state: &SectionsState<W::P, L>,
    section: Section,
    section_ns: u64,
) -> [u64; 2] {
    // ordering: Relaxed; the lock orders the accesses to the counter.
    let before = state.value.load(Relaxed);
    match section {
        Section::Spin | Section::Compute => worker.compute_ns(section_ns),
        Section::Sleep => sleep::<W::P>(&state.never, section_ns),
    }
    // ordering: Relaxed; as above.
    [before, state.value.load(Relaxed)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};
    use lockwright_core::platform::Clock;

    type Shared = SectionsState<ScriptedPlatform, SpyLock>;

    const KNOBS: SectionsParams = SectionsParams {
        section: Section::Spin,
        section_ns: 100,
        write_ns: 100,
        think_ns: 400,
        read_percent: 0,
        reader_order: ReaderOrder::Alternate,
    };

    #[test]
    fn a_section_and_thinking_are_computed_and_every_section_is_counted() {
        let (mut worker, state) = (Scripted::new(10), Shared::zeroed());
        let tally = run(&mut worker, &state, KNOBS);
        assert_eq!(tally, SectionsTally { written: 10, disturbed: 0 });
        assert_eq!((worker.ops, worker.computed_ns, state.lock.pairs()), (10, 5_000, 10));
        assert_eq!([state.lost(10), state.lost(12), state.lost(9)], [0, 2, 1]);
    }

    #[test]
    fn so_many_percent_read_and_an_owner_that_writes_meanwhile_is_noticed() {
        let (mut worker, state) = (Scripted::new(10), Shared::zeroed());
        let tally = run(&mut worker, &state, SectionsParams { read_percent: 80, ..KNOBS });
        assert_eq!((tally.written, tally.disturbed), (2, 0));
        assert_eq!((state.lock.pairs(), state.lock.shared_pairs()), (2, 8));
        let writes = Scripted::new(5).that_does(|| state.value.store(9, Relaxed));
        let knobs = SectionsParams { read_percent: 100, think_ns: 0, ..KNOBS };
        assert_eq!(run(&mut { writes }, &state, knobs).disturbed, 1);
    }

    #[test]
    fn writers_may_have_shorter_sections_than_readers() {
        let (mut worker, state) = (Scripted::new(10), Shared::zeroed());
        let knobs = SectionsParams { read_percent: 80, think_ns: 0, write_ns: 1, ..KNOBS };
        assert_eq!(run(&mut worker, &state, knobs).written, 2);
        assert_eq!(worker.computed_ns, 8 * 100 + 2);
    }

    #[test]
    fn a_section_that_sleeps_takes_time_and_no_cpu() {
        let (mut worker, state) = (Scripted::new(3), Shared::zeroed());
        let start_ns = ScriptedPlatform::now_ns();
        let knobs = SectionsParams {
            section: Section::Sleep,
            section_ns: 200_000,
            write_ns: 200_000,
            think_ns: 0,
            ..KNOBS
        };
        run(&mut worker, &state, knobs);
        assert_eq!(worker.computed_ns, 0);
        assert!(ScriptedPlatform::now_ns() - start_ns >= 600_000);
    }
}

//! A shared counter: the smallest critical section that does something, with adjustable work
//! inside and outside.
//!
//! Each thread does a percentage of its operations as a reader: it looks at the counter before and after the work
//! inside. By default they are spread as evenly as can be, which at 50 % is every other one, and threads are out of
//! step.

use super::{OwnLine, Worker, locked, locked_shared};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use lockwright_core::platform::{Atomic, Barriers, Cells, SchedulerHints, Zeroed};
use lockwright_core::raw::RawLock;
use serde::Serialize;

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
pub struct CounterParams {
    /// Inside the critical section.
    pub cs_load: u32,
    /// Between two critical sections.
    pub think_load: u32,
    /// Percent of the operations that read.
    pub readers: u32,
    /// Which ones.
    pub reader_order: ReaderOrder,
    /// True if critical sections touch nothing: pauses, and no counter. In a simulation readers are watched all the
    /// same.
    pub is_empty: bool,
}

/// Which operations of a thread read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReaderOrder {
    /// As evenly spread as can be: every other one of 50 %.
    #[default]
    Alternate,
    /// Drawn for each.
    Random,
}

impl ReaderOrder {
    /// Every order.
    pub const ALL: &[Self] = &[Self::Alternate, Self::Random];

    /// The name it is selected by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alternate => "alternate",
            Self::Random => "random",
        }
    }
}

/// What one thread did as a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterTally {
    /// Operations.
    pub read: u64,
    /// How often the counter changed meanwhile.
    pub disturbed: u64,
}

/// What the threads share: the lock on a line of its own, the counter on another.
pub struct CounterState<P: Cells, L> {
    lock: OwnLine<L>,
    value: OwnLine<P::U64>,
    /// Empty sections that wrote, in memory that the machine does not have.
    unseen: AtomicU64,
}

impl<P: Cells, L: RawLock> Zeroed for CounterState<P, L> {
    fn zeroed() -> Self {
        Self { lock: OwnLine::new(L::new()), value: Zeroed::zeroed(), unseen: AtomicU64::new(0) }
    }
}

impl<P: Cells, L> CounterState<P, L> {
    /// The lock.
    pub fn lock(&self) -> &L {
        &self.lock
    }

    /// The counter: the number of operations that write, unless the lock is broken. Only when all threads are
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
    state: &CounterState<W::P, L>,
    knobs: CounterParams,
) -> CounterTally {
    let mut tally = CounterTally::default();
    if knobs.readers == 0 {
        while worker.keep_going() {
            write(worker, state, knobs);
            between(worker, knobs);
        }
        return tally;
    }
    let mut kinds = Kinds::new(knobs.readers, knobs.reader_order, worker.index());
    while worker.keep_going() {
        if kinds.next_is_read(worker) {
            tally.disturbed += u64::from(read(worker, state, knobs));
            tally.read += 1;
        } else {
            write(worker, state, knobs);
        }
        between(worker, knobs);
    }
    tally
}

#[inline(always)]
fn write<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &CounterState<W::P, L>,
    knobs: CounterParams,
) {
    locked(&*state.lock, || {
        if knobs.is_empty {
            work(worker, knobs);
            if is_watched::<W>() {
                // ordering: Relaxed; simulated threads take turns.
                state.unseen.fetch_add(1, Relaxed);
            }
            return;
        }
        // ordering: Relaxed; the lock orders the accesses to the counter.
        let value = state.value.load(Relaxed);
        work(worker, knobs);
        // ordering: Relaxed; as above. Not one atomic operation on purpose: a lock that does
        // not exclude loses increments.
        state.value.store(value + 1, Relaxed);
    });
}

/// Returns true if the counter changed meanwhile.
#[inline(always)]
fn read<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &CounterState<W::P, L>,
    knobs: CounterParams,
) -> bool {
    locked_shared(&*state.lock, || {
        if knobs.is_empty {
            // ordering: Relaxed; as above.
            let look = || if is_watched::<W>() { state.unseen.load(Relaxed) } else { 0 };
            let before = look();
            work(worker, knobs);
            return look() != before;
        }
        // ordering: Relaxed; the lock orders the accesses to the counter.
        let value = state.value.load(Relaxed);
        work(worker, knobs);
        // ordering: Relaxed; as above.
        state.value.load(Relaxed) != value
    })
}

/// True if an empty critical section is watched. On platforms that know which threads run, and are not real, this costs
/// no time.
const fn is_watched<W: Worker>() -> bool {
    W::P::KNOWS_WHO_RUNS
}

/// What a section takes.
#[inline(always)]
fn work<W: Worker>(worker: &mut W, knobs: CounterParams) {
    pauses::<W>(knobs.cs_load);
    worker.software(part::INSIDE);
}

/// What follows an operation.
#[inline(always)]
fn between<W: Worker>(worker: &mut W, knobs: CounterParams) {
    worker.op_done();
    pauses::<W>(knobs.think_load);
    worker.software(part::OUTSIDE);
}

/// Decides which operations of a thread read.
pub(crate) struct Kinds {
    percent: u32,
    order: ReaderOrder,
    /// Hundredths of a read that are due.
    due: u32,
}

impl Kinds {
    /// Those of the thread of that number; each begins where the one before it would go on.
    pub(crate) fn new(percent: u32, order: ReaderOrder, thread: usize) -> Self {
        Self { percent, order, due: (thread as u64 * u64::from(percent) % 100) as u32 }
    }
    /// True if the next operation reads.
    #[inline]
    pub(crate) fn next_is_read(&mut self, worker: &mut impl Worker) -> bool {
        if self.order == ReaderOrder::Random {
            return worker.random() % 100 < u64::from(self.percent);
        }
        self.due += self.percent;
        let is_read = self.due >= 100;
        if is_read {
            self.due -= 100;
        }
        is_read
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
    fn an_empty_section_counts_nothing() {
        let state = CounterState::<_, SpyLock>::zeroed();
        let mut worker = Scripted::new(10);
        let knobs = CounterParams { is_empty: true, readers: 50, ..CounterParams::default() };
        assert_eq!(run(&mut worker, &state, knobs).disturbed, 0);
        assert_eq!((worker.ops, state.value(), state.lock().pairs()), (10, 0, 5));
    }

    #[test]
    fn the_counter_counts_the_operations() {
        let state = CounterState::<_, SpyLock>::zeroed();
        let mut worker = Scripted::new(9);
        run(
            &mut worker,
            &state,
            CounterParams { cs_load: 1, think_load: 2, ..CounterParams::default() },
        );
        assert_eq!((worker.ops, state.value(), state.lock().pairs()), (9, 9, 9));
        assert_eq!(worker.parts, [part::INSIDE]);
    }

    #[test]
    fn so_many_percent_read_and_only_the_others_are_counted() {
        for readers in [0, 1, 20, 50, 99, 100] {
            let state = CounterState::<_, SpyLock>::zeroed();
            let knobs = CounterParams { readers, ..CounterParams::default() };
            let tally = run(&mut Scripted::new(1_000), &state, knobs);
            let read = u64::from(readers) * 10;
            assert_eq!(tally, CounterTally { read, disturbed: 0 }, "{readers} %");
            assert_eq!((state.value(), state.lock().pairs()), (1_000 - read, 1_000 - read));
            assert_eq!(state.lock().shared_pairs(), read);
        }
    }

    /// Which of the first operations of a thread read.
    fn first(readers: u32, reader_order: ReaderOrder, thread: usize) -> String {
        let (mut kinds, mut worker) = (Kinds::new(readers, reader_order, thread), Scripted::new(0));
        let letter = |_| if kinds.next_is_read(&mut worker) { 'r' } else { 'w' };
        (0..10).map(letter).collect()
    }

    #[test]
    fn half_of_the_operations_read_in_strict_alternation_and_neighbours_are_out_of_step() {
        let half = |thread| first(50, ReaderOrder::Alternate, thread);
        assert_eq!([half(0), half(1)], ["wrwrwrwrwr", "rwrwrwrwrw"]);
        assert_eq!(first(20, ReaderOrder::Alternate, 0), "wwwwrwwwwr");
        assert_eq!(first(80, ReaderOrder::Alternate, 1), "rrrrwrrrrw");
    }

    #[test]
    fn drawn_readers_are_so_many_and_in_no_order() {
        let knobs = CounterParams {
            readers: 30,
            reader_order: ReaderOrder::Random,
            ..CounterParams::default()
        };
        let state = CounterState::<_, SpyLock>::zeroed();
        let read = run(&mut Scripted::new(100_000), &state, knobs).read;
        assert!((29_000..31_000).contains(&read), "{read}");
        assert_ne!(first(50, ReaderOrder::Random, 0), first(50, ReaderOrder::Alternate, 0));
    }
}

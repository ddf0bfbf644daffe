//! A shared counter: the smallest critical section that does something, with adjustable work
//! inside and outside.
//!
//! Each thread does a percentage of its operations as a reader: it looks at the counter before and after the work
//! inside. By default they are spread as evenly as can be, which at 50 % is every other one, and threads are out of
//! step.

use super::facts::{
    Facts, Finding, Heap, Load, OwnLine, Setting, Tally, Venue, Worker, locked, locked_shared,
};
use super::params::{Domain, choice, params};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use lockwright_core::platform::{Atomic, Barriers, Cells, SchedulerHints, Zeroed};
use lockwright_core::raw::RawLock;

/// Parts of the real benchmark's software that [`Worker::software`] is told about.
pub mod part {
    /// The loop around the critical section: once for each.
    pub const OUTSIDE: &str = "outside";
    /// The critical section.
    pub const INSIDE: &str = "inside";
    /// All of them.
    pub const ALL: &[&str] = &[OUTSIDE, INSIDE];
}

params! {
    /// a shared counter, with pauses in and between critical sections; readers share a reader-writer lock and own any
    /// other
    "counter": CounterParams {
        /// Length of the critical section, in pause instructions (4 to 40 ns each)
        cs_load: u32 = 1, PAUSES;
        /// Pause instructions between critical sections
        think_load: u32 = 0, PAUSES;
        /// Percentage of the operations that only read
        read_percent: u32 = 0, Domain::Percent;
        /// Which operations read: alternate (as evenly spread as can be) or random
        reader_order: ReaderOrder = ReaderOrder::Alternate, Domain::Choice(ReaderOrder::NAMES);
        /// Critical sections only pause and do not touch the counter; where readers are simulated, that is usual, as in
        /// the published benchmark
        empty_section: bool = false, Domain::Truth;
    }
}

const PAUSES: Domain = Domain::Whole(0, 1_000_000_000);

choice! {
    /// Which operations of a thread read.
    ReaderOrder {
        /// As evenly spread as can be: every other one of 50 %.
        Alternate = "alternate",
        /// Drawn for each.
        Random = "random",
    }
}

impl Facts for CounterParams {
    fn software_parts(&self) -> &'static [&'static str] {
        part::ALL
    }
    fn reads(&self) -> u32 {
        self.read_percent
    }
    fn settle(
        &mut self,
        given: &dyn Fn(&str) -> bool,
        place: Option<Venue<'_>>,
    ) -> Result<(), String> {
        if !given("empty_section") {
            self.empty_section = place.is_some_and(|it| it.is_simulated) && self.read_percent > 0;
        }
        let draws = self.reader_order == ReaderOrder::Random;
        match draws && given("reader_order") && !(1..100).contains(&self.read_percent) {
            true => Err(
                "--reader-order is for a mix of reads and writes: add --read-percent with 1 to 99"
                    .into(),
            ),
            false => Ok(()),
        }
    }
}

impl<W: Heap, L: RawLock> Load<W, L> for CounterParams {
    type State = W::One<CounterState<W::P, L>>;
    type Tally = CounterTally;

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        heap.one(Zeroed::zeroed())
    }
    fn run<K: Worker<P = W::P>>(&self, state: &Self::State, worker: &mut K) -> CounterTally {
        run(worker, &**state, *self)
    }
    fn found(&self, state: &Self::State, all: &CounterTally, ops: u64) -> Finding {
        let lost =
            if self.empty_section { 0 } else { (ops - all.read).saturating_sub(state.value()) };
        Finding::fail(lost + all.disturbed)
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

impl Tally for CounterTally {
    fn merge(&mut self, other: Self) {
        self.read += other.read;
        self.disturbed += other.disturbed;
    }
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
    if knobs.read_percent == 0 {
        while worker.keep_going() {
            write(worker, state, knobs);
            between(worker, knobs);
        }
        return tally;
    }
    let mut kinds = Kinds::new(knobs.read_percent, knobs.reader_order, worker.index());
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
        if knobs.empty_section {
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
        if knobs.empty_section {
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
        let knobs = CounterParams { empty_section: true, read_percent: 50, ..CounterParams::USUAL };
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
            CounterParams { cs_load: 1, think_load: 2, ..CounterParams::USUAL },
        );
        assert_eq!((worker.ops, state.value(), state.lock().pairs()), (9, 9, 9));
        assert_eq!(worker.parts, [part::INSIDE]);
    }

    #[test]
    fn so_many_percent_read_and_only_the_others_are_counted() {
        for readers in [0, 1, 20, 50, 99, 100] {
            let state = CounterState::<_, SpyLock>::zeroed();
            let knobs = CounterParams { read_percent: readers, ..CounterParams::USUAL };
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
            read_percent: 30,
            reader_order: ReaderOrder::Random,
            ..CounterParams::USUAL
        };
        let state = CounterState::<_, SpyLock>::zeroed();
        let read = run(&mut Scripted::new(100_000), &state, knobs).read;
        assert!((29_000..31_000).contains(&read), "{read}");
        assert_ne!(first(50, ReaderOrder::Random, 0), first(50, ReaderOrder::Alternate, 0));
    }
}

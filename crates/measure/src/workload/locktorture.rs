//! The writers of the kernel's locktorture, with the rules it had in Linux 5.6.
//!
//! Per loop a thread: sleeps a jiffy once in 2^20 loops; takes the lock; checks that no other thread holds it and says
//! that it does, in a shared flag; counts the acquisition in its statistics; once in 200,000 n acquisitions holds the
//! lock for 100 ms, once in 4 n for 2 us, n being the number of threads; clears the flag; releases. Later releases hold
//! for 2 us a hundred times less often.
//!
//! # What a torture adds
//!
//! - *Long holds of any length*: a hold of L ms happens once in 2,000 L n acquisitions, so that its
//!   mean is 0.5 us / n per acquisition whatever L is. With L = 100 that is the rule above; a shorter
//!   one fits into a shorter run.
//! - *Nested locks*: inside the lock a thread takes a random subset of further ones, in a fixed order, holds all of
//!   them for as long as it holds the first, and releases them in reverse. No thread would wait for the inner ones if
//!   every thread came through the outer one: once in `OUTER_SKIPPED_ONE_IN` loops a thread goes for the inner ones
//!   alone. (The kernel's tests of sleeping locks do so once in a hundred, over hours.)
//! - *Readers*: some of the threads read; then the delays are those of a reader-writer semaphore.
//!
//! # What the delays do to the published numbers
//!
//! The mean delay per operation is 100 ms / 200,000 n + 2 us / 4 n = 1 us / n, all of it with the
//! lock held: the rising half of the published curves is this delay, not the scaling of the lock.
//! Neither the long hold nor the sleep fits into a simulated window of milliseconds. A simulation
//! runs with [`TortureParams::long_hold_ns`] 0 and adds what it leaves out with [`with_long_holds`]. The sleep
//! (one jiffy in a million loops of about a microsecond, of one thread among those that wait anyway)
//! is left out of short windows without a correction.
//!
//! # Memory
//!
//! What contends apart from the lock word is part of the benchmark: the held flag is written twice in each critical
//! section and moves with the lock, and the statistics of four threads share a cache line. The lock word has a line to
//! itself; the number of threads, which is only read, as well.

mod readers;

pub use readers::{Inside, is_reader};

use super::facts::{Facts, Finding, Heap, Load, OwnLine, Setting, Tally, Venue, Worker, locked};
use super::params::{Domain, TIME, params};
use crate::stress::{Exercised, Stress};
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, Cells, SchedulerHints, Zeroed};
use lockwright_core::raw::RawLock;

/// Statistics entries of one cache line.
pub const STATS_PER_LINE: usize = 4;

/// The sleep of one jiffy happens once in this many loops.
const SLEEP_ONE_IN: u64 = 1 << 20;
const JIFFY_NS: u64 = 4_000_000;
/// The long hold of the published benchmark.
pub const LONG_HOLD_NS: u64 = 100_000_000;
/// What the long hold adds to an acquisition on average, times the number of threads.
const LONG_HOLD_MEAN_NS: u64 = 500;
/// The most nested locks.
pub const NESTED_MAX: usize = 8;
/// With nested locks, the outer one is skipped once in this many loops.
const OUTER_SKIPPED_ONE_IN: u64 = 8;
/// The short hold happens once in this many acquisitions, times the number of threads.
const SHORT_HOLD_ONE_IN: u64 = 4;
const SHORT_HOLD_NS: u64 = 2_000;

/// Parts of the real benchmark's software that [`Worker::software`] is told about.
pub mod part {
    /// The loop around the critical section: once before it and once after it.
    pub const OUTSIDE: &str = "outside";
    /// The critical section: divisions for the delays, indirect calls.
    pub const INSIDE: &str = "inside";
    /// All of them.
    pub const ALL: &[&str] = &[OUTSIDE, INSIDE];
}

params! {
    /// the kernel's locktorture with the rules of v5.6
    "locktorture": LocktortureParams {
        /// Hold the lock for 100 ms now and then, as in the kernel; usual on a simulated machine, where a formula adds
        /// it, and not on this computer, where it would fill a short run
        long_hold: bool = true, Domain::OnlyTime(LONG_HOLD_NS);
        /// All threads run for this time, then all pause for it, and so on; 0 is never
        stutter_ns: u64 = 0, TIME;
    }
}

impl Facts for LocktortureParams {
    fn software_parts(&self) -> &'static [&'static str] {
        part::ALL
    }
    fn with_rare(&self, ops_per_s: f64, threads: u32) -> f64 {
        if self.long_hold { with_long_holds(ops_per_s, threads) } else { ops_per_s }
    }
    fn settle(
        &mut self,
        given: &dyn Fn(&str) -> bool,
        place: Option<Venue<'_>>,
    ) -> Result<(), String> {
        if !given("long_hold") {
            self.long_hold = place.is_none_or(|it| it.is_simulated);
        }
        Ok(())
    }
}

/// What the threads of locktorture share.
pub struct Torture<W: Heap, L: Send + Sync + 'static> {
    state: W::One<TortureState<W::P, L>>,
    stats: W::Many<StatsLine<W::P>>,
    nested: W::Many<TortureState<W::P, L>>,
    /// Where there are any.
    readers: Option<W::One<Inside<W::P>>>,
    params: TortureParams,
}

impl<W: Heap, L: RawLock> Load<W, L> for LocktortureParams {
    type State = Torture<W, L>;
    type Tally = TortureTally;

    fn place(&self, Setting { threads, stress }: Setting, heap: &mut W) -> Self::State {
        let Stress { long_hold_ns, nested, readers, .. } = stress;
        // A simulated benchmark adds its long holds by formula.
        let is_real = !W::P::KNOWS_WHO_RUNS;
        let is_kernels = self.long_hold && is_real && stress == Stress::default();
        Torture {
            state: heap.one(Zeroed::zeroed()),
            stats: heap.zeroed(stats_lines(threads)),
            nested: heap.zeroed(nested),
            readers: (readers > 0).then(|| heap.one(Zeroed::zeroed())),
            params: TortureParams {
                threads: threads as u32,
                readers: readers as u32,
                long_hold_ns: if is_kernels { LONG_HOLD_NS } else { long_hold_ns },
            },
        }
    }
    fn run<K: Worker<P = W::P>>(&self, state: &Self::State, worker: &mut K) -> TortureTally {
        let stats = &state.stats[worker.index() / STATS_PER_LINE];
        let readers = state.readers.as_deref();
        run(worker, &state.state, stats, &state.nested, state.params, readers)
    }
    fn found(&self, _state: &Self::State, all: &TortureTally, _ops: u64) -> Finding {
        let TortureTally { long_holds, nested, .. } = *all;
        let exercised = Exercised { long_holds, nested, ..Exercised::default() };
        Finding { fail: all.failed, exercised, ..Finding::default() }
    }
}

/// What a run may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TortureParams {
    /// How many threads run.
    pub threads: u32,
    /// How many of them read.
    pub readers: u32,
    /// The long hold, in nanoseconds; 0 leaves it and the sleep of a jiffy out.
    pub long_hold_ns: u64,
}

/// A lock and its flag: what the threads share. Nested locks are further ones.
pub struct TortureState<P: Cells, L> {
    lock: OwnLine<L>,
    /// Not 0 while a thread is in the critical section.
    held: OwnLine<P::U32>,
}

/// The statistics of four threads.
#[repr(C, align(64))]
pub struct StatsLine<P: Cells> {
    entries: [Entry<P>; STATS_PER_LINE],
}

/// The statistics of one thread: 16 bytes.
#[repr(C)]
struct Entry<P: Cells> {
    failed: P::U64,
    acquired: P::U64,
}

/// What one thread did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TortureTally {
    /// How often it took the lock.
    pub acquired: u64,
    /// How often it was not alone then, or with a nested lock.
    pub failed: u64,
    /// How many long holds it took.
    pub long_holds: u64,
    /// How often it took a nested lock.
    pub nested: u64,
}

impl Tally for TortureTally {
    fn merge(&mut self, other: Self) {
        self.acquired += other.acquired;
        self.failed += other.failed;
        self.long_holds += other.long_holds;
        self.nested += other.nested;
    }
}

impl<P: Cells, L: RawLock> Zeroed for TortureState<P, L> {
    fn zeroed() -> Self {
        Self { lock: OwnLine::new(L::new()), held: Zeroed::zeroed() }
    }
}

impl<P: Cells, L> TortureState<P, L> {
    /// The lock.
    pub fn lock(&self) -> &L {
        &self.lock
    }
}

impl<P: Cells> Zeroed for StatsLine<P> {
    fn zeroed() -> Self {
        let entry = || Entry { failed: Zeroed::zeroed(), acquired: Zeroed::zeroed() };
        Self { entries: [entry(), entry(), entry(), entry()] }
    }
}

/// How many [`StatsLine`]s this number of threads needs.
pub const fn stats_lines(threads: usize) -> usize {
    threads.div_ceil(STATS_PER_LINE)
}

/// What one thread does. `stats` is line `worker.index() / STATS_PER_LINE`; `nested` are the locks to take inside, at
/// most [`NESTED_MAX`]; `readers` is for where a thread reads.
#[inline]
pub fn run<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &TortureState<W::P, L>,
    stats: &StatsLine<W::P>,
    nested: &[TortureState<W::P, L>],
    knobs: TortureParams,
    readers: Option<&Inside<W::P>>,
) -> TortureTally {
    if let Some(readers) = readers
        && is_reader(worker.index(), knobs.threads as usize, knobs.readers as usize)
    {
        return readers::read(worker, state, stats, readers, knobs);
    }
    let is_without_readers = || readers.is_none_or(Inside::is_empty);
    let entry = &stats.entries[worker.index() % STATS_PER_LINE];
    let mut tally = TortureTally::default();
    while worker.keep_going() {
        if knobs.long_hold_ns > 0 && one_in(worker, SLEEP_ONE_IN) {
            worker.hold_ns(JIFFY_NS);
        }
        worker.software(part::OUTSIDE);
        let chosen = Chosen::draw(worker, nested.len());
        if chosen.skips_outer {
            inside(worker, nested, chosen.inner, knobs, &mut tally);
            worker.software(part::OUTSIDE);
            continue;
        }
        locked(&*state.lock, || {
            let alone = enter(worker, &state.held, entry) && is_without_readers();
            tally.acquired += 1;
            worker.software(part::INSIDE);
            inside(worker, nested, chosen.inner, knobs, &mut tally);
            tally.failed += u64::from(!(alone && is_without_readers()));
            // ordering: Relaxed; the lock orders the accesses to the flag.
            state.held.store(0, Relaxed);
        });
        worker.software(part::OUTSIDE);
        worker.op_done();
    }
    tally
}

/// The locks of one loop.
#[derive(Clone, Copy)]
struct Chosen {
    skips_outer: bool,
    /// A bit for each nested lock.
    inner: u64,
}

impl Chosen {
    /// Draws no number if there is nothing to choose.
    #[inline(always)]
    fn draw(worker: &mut impl Worker, nested: usize) -> Self {
        if nested == 0 {
            return Self { skips_outer: false, inner: 0 };
        }
        let drawn = worker.random();
        let skips_outer = (drawn >> 32).is_multiple_of(OUTER_SKIPPED_ONE_IN);
        // Who skips the outer lock takes an inner one.
        let inner = (drawn % (1 << nested)) | u64::from(skips_outer);
        Self { skips_outer, inner }
    }
}

/// Takes the locks in `chosen`, holds everything for as long as the delays say, and releases them.
#[inline(always)]
fn inside<W: Worker, L: RawLock>(
    worker: &mut W,
    nested: &[TortureState<W::P, L>],
    chosen: u64,
    knobs: TortureParams,
    tally: &mut TortureTally,
) {
    let is_chosen = |at: usize| chosen >> at & 1 == 1;
    for (at, state) in nested.iter().enumerate() {
        if is_chosen(at) {
            state.lock.lock();
            // ordering: Relaxed; the lock orders the accesses to the flag.
            let alone = state.held.load(Relaxed) == 0;
            // ordering: Relaxed; as above.
            state.held.store(1, Relaxed);
            tally.nested += 1;
            tally.failed += u64::from(!alone);
        }
    }
    tally.long_holds += u64::from(hold(worker, knobs));
    for (at, state) in nested.iter().enumerate().rev() {
        if is_chosen(at) {
            // ordering: Relaxed; the lock orders the accesses to the flag.
            state.held.store(0, Relaxed);
            // SAFETY: taken above.
            unsafe { state.lock.unlock() };
        }
    }
}

/// The delays of a critical section. Returns true if the long one was among them.
#[inline(always)]
fn hold(worker: &mut impl Worker, knobs: TortureParams) -> bool {
    if knobs.readers > 0 {
        return readers::hold(worker, knobs);
    }
    let threads = u64::from(knobs.threads.max(1));
    let one_long_in = (knobs.long_hold_ns / LONG_HOLD_MEAN_NS).max(1);
    let is_long = one_in(worker, one_long_in * threads) && knobs.long_hold_ns > 0;
    if is_long {
        worker.hold_ns(knobs.long_hold_ns);
    }
    if one_in(worker, SHORT_HOLD_ONE_IN * threads) {
        worker.hold_ns(SHORT_HOLD_NS);
    }
    is_long
}

/// Checks and sets the flag, and counts. Returns true if the thread is alone.
#[inline(always)]
fn enter<W: Worker>(worker: &mut W, held: &<W::P as Cells>::U32, entry: &Entry<W::P>) -> bool {
    worker.overlap(&[(&raw const *held).cast(), (&raw const entry.acquired).cast()]);
    // ordering: Relaxed; the lock orders the accesses to the flag.
    let alone = held.load(Relaxed) == 0;
    if !alone {
        add_one(&entry.failed);
    }
    // ordering: Relaxed; as above.
    held.store(1, Relaxed);
    add_one(&entry.acquired);
    alone
}

#[inline(always)]
fn add_one(counter: &impl Atomic<u64>) {
    // ordering: Relaxed; only this thread writes the entry.
    let count = counter.load(Relaxed);
    // ordering: Relaxed; as above.
    counter.store(count + 1, Relaxed);
}

#[inline(always)]
fn one_in(worker: &mut impl Worker, range: u64) -> bool {
    worker.random().is_multiple_of(range)
}

/// The throughput that a run without long holds would have had with them, in operations per second
/// of all threads together.
///
/// The lock is held while a thread waits out its 100 ms, so no other thread gets any further: each operation takes 100
/// ms / 200,000 n longer on average.
pub fn with_long_holds(ops_per_s: f64, threads: u32) -> f64 {
    let one_in = (LONG_HOLD_NS / LONG_HOLD_MEAN_NS) as f64 * f64::from(threads.max(1));
    let delay_s = LONG_HOLD_NS as f64 * 1e-9 / one_in;
    ops_per_s / (1.0 + ops_per_s * delay_s)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};

    pub(super) type Shared = TortureState<ScriptedPlatform, SpyLock>;

    fn torture(
        worker: &mut Scripted,
        state: &Shared,
        knobs: TortureParams,
    ) -> (TortureTally, u64, u64) {
        let stats = StatsLine::zeroed();
        let tally = run(worker, state, &stats, &[], knobs, None);
        let entry = &stats.entries[worker.index() % STATS_PER_LINE];
        (tally, entry.acquired.load(Relaxed), entry.failed.load(Relaxed))
    }

    const QUIET: TortureParams = TortureParams { threads: 2, readers: 0, long_hold_ns: 0 };

    #[test]
    fn every_acquisition_is_counted_in_the_tally_and_in_the_statistics() {
        let (mut worker, state) = (Scripted::new(100), Shared::zeroed());
        let (tally, acquired, failed) = torture(&mut worker, &state, QUIET);
        assert_eq!(tally, TortureTally { acquired: 100, ..TortureTally::default() });
        assert_eq!((acquired, failed, worker.ops), (100, 0, 100));
        assert_eq!(state.lock().pairs(), 100);
    }

    #[test]
    fn a_thread_that_finds_the_flag_set_counts_a_failure() {
        let (mut worker, state) = (Scripted::new(3), Shared::zeroed());
        state.held.store(1, Relaxed);
        let (tally, _, failed) = torture(&mut worker, &state, QUIET);
        // The first loop finds it set and clears it at its end.
        assert_eq!((tally.failed, failed), (1, 1));
    }

    #[test]
    fn software_is_outside_twice_and_inside_once_per_loop() {
        let (mut worker, state) = (Scripted::new(1), Shared::zeroed());
        torture(&mut worker, &state, QUIET);
        assert_eq!(worker.parts, [part::OUTSIDE, part::INSIDE, part::OUTSIDE]);
    }

    #[test]
    fn delays_have_the_published_mean_of_1_us_per_operation_and_thread_count() {
        let ops = 6_000_000;
        for threads in [1, 4] {
            let (mut worker, state) = (Scripted::new(ops), Shared::zeroed());
            torture(&mut worker, &state, TortureParams { threads, readers: 0, long_hold_ns: 0 });
            let short_ns = worker.held_ns as f64 / ops as f64;
            let expected_ns = 500.0 / f64::from(threads);
            assert!((short_ns / expected_ns - 1.0).abs() < 0.01, "{short_ns} ns, n = {threads}");

            let (mut worker, state) = (Scripted::new(ops), Shared::zeroed());
            torture(
                &mut worker,
                &state,
                TortureParams { threads, readers: 0, long_hold_ns: LONG_HOLD_NS },
            );
            let long_ns = worker.held_ns as f64 / ops as f64 - short_ns;
            // 30 / threads long holds and 6 sleeps of 4 ms: rare, hence the tolerance.
            assert!((long_ns / expected_ns - 1.0).abs() < 0.6, "{long_ns} ns, n = {threads}");

            let (mut worker, state) = (Scripted::new(ops), Shared::zeroed());
            let knobs = TortureParams { threads, readers: 0, long_hold_ns: 100_000 };
            let (tally, ..) = torture(&mut worker, &state, knobs);
            let all_long_ns = tally.long_holds * knobs.long_hold_ns;
            let long_ns = all_long_ns as f64 / ops as f64;
            assert!((long_ns / expected_ns - 1.0).abs() < 0.05, "{long_ns} ns, n = {threads}");
        }
    }

    #[test]
    fn nested_locks_are_taken_in_part_and_all_given_back() {
        let (mut worker, state, stats) =
            (Scripted::new(8_000), Shared::zeroed(), StatsLine::zeroed());
        let nested: [Shared; 3] = std::array::from_fn(|_| Shared::zeroed());
        let tally = run(&mut worker, &state, &stats, &nested, QUIET, None);
        assert_eq!(tally.failed, 0);
        // The outer one in seven loops of eight, each inner one in half of them and more.
        assert!((6_700..7_300).contains(&tally.acquired), "{}", tally.acquired);
        assert_eq!((worker.ops, state.lock().pairs()), (tally.acquired, tally.acquired));
        let inner = nested.each_ref().map(|nested| nested.lock().pairs());
        assert_eq!(inner.iter().sum::<u64>(), tally.nested);
        assert!(inner.iter().all(|pairs| (3_700..4_800).contains(pairs)), "{inner:?}");
        assert!(nested.iter().all(|nested| !nested.lock().is_locked()));
    }

    #[test]
    fn a_thread_that_is_not_alone_with_a_nested_lock_counts_a_failure() {
        let (mut worker, state, stats) = (Scripted::new(50), Shared::zeroed(), StatsLine::zeroed());
        let nested = [Shared::zeroed()];
        nested[0].held.store(1, Relaxed);
        let tally = run(&mut worker, &state, &stats, &nested, QUIET, None);
        assert_eq!(tally.failed, 1);
    }

    #[test]
    fn the_correction_adds_the_long_hold_to_the_time_of_each_operation() {
        // The published cell: 1.110 us per operation, of which 0.500 are long holds.
        let with = with_long_holds(1e9 / 610.0, 1);
        assert!((1e9 / with - 1_110.0).abs() < 1e-6, "{with}");
        let with = with_long_holds(1e9 / 500.0, 100);
        assert!((1e9 / with - 505.0).abs() < 1e-6, "{with}");
        assert_eq!(with_long_holds(0.0, 4), 0.0);
    }

    #[test]
    fn four_threads_share_a_line_of_statistics() {
        assert_eq!(size_of::<Entry<ScriptedPlatform>>(), 16);
        assert_eq!(size_of::<StatsLine<ScriptedPlatform>>(), 64);
        assert_eq!([1, 4, 5, 142].map(stats_lines), [1, 1, 2, 36]);
    }
}

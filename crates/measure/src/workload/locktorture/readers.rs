//! Readers and writers: what the kernel's locktorture does with a reader-writer semaphore.
//!
//! A reader says that it is inside and checks that no writer is; a writer checks that no reader is.
//! Both look again before they leave. Readers take no nested locks.
//!
//! With a long hold of L ms, R readers and W writers the kernel holds as a writer for 10 L ms once in
//! 2,000 L W acquisitions, and otherwise not at all; as a reader for 2 L ms once in 2,000 L R, and
//! otherwise for L / 2 ms every time. The last one leaves a short run with next to no sections. Here
//! it happens once in 1,000 L reads, so that its mean is 0.5 us per read whatever L is.

use super::{
    Entry, JIFFY_NS, LONG_HOLD_MEAN_NS, SLEEP_ONE_IN, STATS_PER_LINE, StatsLine, TortureParams,
    TortureState, TortureTally, add_one, one_in, part,
};
use crate::stress::WRITER_HOLD;
use crate::workload::facts::{OwnLine, Worker, locked_shared};
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, AtomicInt, Cells, Zeroed};
use lockwright_core::raw::RawLock;

const READER_HOLD: u64 = 2;

/// How many readers are inside.
pub struct Inside<P: Cells>(OwnLine<P::U32>);

impl<P: Cells> Zeroed for Inside<P> {
    fn zeroed() -> Self {
        Self(Zeroed::zeroed())
    }
}

impl<P: Cells> Inside<P> {
    /// True if no reader is.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        // ordering: Relaxed; the lock orders the accesses.
        self.0.load(Relaxed) == 0
    }
}

/// True if the thread of that number is one of `readers` among `threads`: they are evenly spread, so if they are half,
/// every second thread is a reader.
pub const fn is_reader(thread: usize, threads: usize, readers: usize) -> bool {
    (thread + 1) * readers / threads > thread * readers / threads
}

/// What a reader does.
#[inline(never)]
pub(super) fn read<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &TortureState<W::P, L>,
    stats: &StatsLine<W::P>,
    readers: &Inside<W::P>,
    knobs: TortureParams,
) -> TortureTally {
    let entry = &stats.entries[worker.index() % STATS_PER_LINE];
    let mut tally = TortureTally::default();
    while worker.keep_going() {
        if knobs.long_hold_ns > 0 && one_in(worker, SLEEP_ONE_IN) {
            worker.hold_ns(JIFFY_NS);
        }
        worker.software(part::OUTSIDE);
        locked_shared(&*state.lock, || {
            // ordering: Relaxed; the lock orders it before the section of the next writer.
            readers.0.fetch_add(1, Relaxed);
            let begins_alone = is_without_writer(state);
            tally.acquired += 1;
            add_one(&entry.acquired);
            worker.software(part::INSIDE);
            tally.long_holds += u64::from(hold_shared(worker, knobs));
            let is_alone = begins_alone && is_without_writer(state);
            tally.failed += u64::from(!is_alone);
            note(is_alone, entry);
            // ordering: Relaxed; as above.
            readers.0.fetch_sub(1, Relaxed);
        });
        worker.software(part::OUTSIDE);
        worker.op_done();
    }
    tally
}

#[inline(always)]
fn is_without_writer<P: Cells, L>(state: &TortureState<P, L>) -> bool {
    // ordering: Relaxed; the lock orders the accesses to the flag.
    state.held.load(Relaxed) == 0
}

#[inline(always)]
fn note<P: Cells>(is_alone: bool, entry: &Entry<P>) {
    if !is_alone {
        add_one(&entry.failed);
    }
}

/// The delays of a writer among readers. Returns true if there was a long one.
#[inline(always)]
pub(super) fn hold(worker: &mut impl Worker, knobs: TortureParams) -> bool {
    long(worker, knobs, knobs.threads - knobs.readers, WRITER_HOLD)
}

/// The delays of a reader. Returns true if the long one was among them.
#[inline(always)]
fn hold_shared(worker: &mut impl Worker, knobs: TortureParams) -> bool {
    let is_long = long(worker, knobs, knobs.readers, READER_HOLD);
    let half_ns = knobs.long_hold_ns / 2;
    if !is_long && half_ns > 0 && one_in(worker, (half_ns / LONG_HOLD_MEAN_NS).max(1)) {
        worker.hold_ns(half_ns);
    }
    is_long
}

/// Holds for `times` times L if one of `threads` threads is due to.
#[inline(always)]
fn long(worker: &mut impl Worker, knobs: TortureParams, threads: u32, times: u64) -> bool {
    let one_long_in = (knobs.long_hold_ns / LONG_HOLD_MEAN_NS).max(1);
    let is_long = knobs.long_hold_ns > 0 && one_in(worker, one_long_in * u64::from(threads.max(1)));
    if is_long {
        worker.hold_ns(knobs.long_hold_ns * times);
    }
    is_long
}

#[cfg(test)]
mod tests {
    use super::super::{run, tests::Shared};
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform as Machine};

    /// A worker of the tests has this number.
    const THREAD: usize = 6;
    const AS_READER: TortureParams = TortureParams { threads: 7, readers: 1, long_hold_ns: 0 };
    const AS_WRITER: TortureParams = TortureParams { threads: 8, readers: 4, long_hold_ns: 0 };

    fn torture(
        ops: u64,
        state: &Shared,
        readers: &Inside<Machine>,
        knobs: TortureParams,
    ) -> (TortureTally, u64) {
        let (mut worker, stats) = (Scripted::new(ops), StatsLine::zeroed());
        let tally = run(&mut worker, state, &stats, &[], knobs, Some(readers));
        (tally, worker.held_ns)
    }

    #[test]
    fn readers_are_spread_evenly_and_as_many_as_asked_for() {
        let of = |threads: usize, readers: usize| -> String {
            let letter = |t| if is_reader(t, threads, readers) { 'r' } else { 'w' };
            (0..threads).map(letter).collect()
        };
        assert_eq!([of(4, 2), of(4, 1), of(5, 3), of(3, 0)], ["wrwr", "wwwr", "wrwrr", "www"]);
        assert!(is_reader(THREAD, 7, 1) && !is_reader(THREAD, 8, 4));
    }

    #[test]
    fn a_reader_reads_and_a_writer_owns() {
        for (knobs, pairs) in [(AS_READER, (0, 10)), (AS_WRITER, (10, 0))] {
            let (state, readers) = (Shared::zeroed(), Inside::zeroed());
            let (tally, _) = torture(10, &state, &readers, knobs);
            assert_eq!(tally, TortureTally { acquired: 10, ..TortureTally::default() });
            assert_eq!((state.lock().pairs(), state.lock().shared_pairs()), pairs);
            assert!(readers.is_empty());
        }
    }

    #[test]
    fn a_reader_beside_a_writer_and_a_writer_beside_a_reader_count_failures() {
        let (state, readers) = (Shared::zeroed(), Inside::<Machine>::zeroed());
        readers.0.store(1, Relaxed);
        // Another reader is no failure for a reader, and one for a writer.
        assert_eq!(torture(3, &state, &readers, AS_READER).0.failed, 0);
        assert_eq!(torture(3, &state, &readers, AS_WRITER).0.failed, 3);
        readers.0.store(0, Relaxed);
        state.held.store(1, Relaxed);
        assert_eq!(torture(3, &state, &readers, AS_READER).0.failed, 3);
    }

    #[test]
    fn a_writer_holds_for_ten_times_as_long_and_a_reader_for_twice_or_half() {
        const L_NS: u64 = 10_000;
        let ops = 2_000_000;
        let per_acquisition = |knobs| {
            let knobs = TortureParams { long_hold_ns: L_NS, ..knobs };
            let (tally, held_ns) = torture(ops, &Shared::zeroed(), &Inside::zeroed(), knobs);
            (tally.long_holds as f64 / ops as f64, held_ns as f64 / ops as f64)
        };
        let is_near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.05;
        // Once in 20 acquisitions of each of four writers.
        let (odds, mean_ns) = per_acquisition(AS_WRITER);
        assert!(
            is_near(odds, 1.0 / 80.0) && is_near(mean_ns, 100_000.0 / 80.0),
            "{odds} {mean_ns}"
        );
        // The same for one reader; and of the other reads one in ten.
        let (odds, mean_ns) = per_acquisition(AS_READER);
        let usual_ns = 5_000.0 * 0.95 / 10.0;
        assert!(is_near(odds, 0.05) && is_near(mean_ns, 1_000.0 + usual_ns), "{odds} {mean_ns}");
    }
}

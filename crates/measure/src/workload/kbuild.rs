//! A build with many jobs: workers compute, and take a lock of a large set every few microseconds.
//!
//! The work is fixed and its end is what is measured. It comes in *units*, the translation units of a `make -jN`: a
//! worker takes the next one from a shared counter whenever it has finished one, so that a slow worker gets fewer. In a
//! unit a worker sleeps once, as for its input ([`BuildParams::io_ns`]), and then alternates between computing and a
//! short section under one of the locks. A few locks are hot and most are cold, as in a kernel. What cannot be done in
//! parallel, the linking, is done at the end by the worker that finished the last unit, alone.
//!
//! Computing takes time on a CPU ([`Worker::compute_ns`]): a worker that lost its CPU gets no further
//! meanwhile. A section increments the counter of its lock, so that a lock that does not exclude shows
//! in [`sections`].

use super::facts::{
    Facts, Finding, Heap, Load, LockAndValue, OwnLine, Setting, Venue, Worker, locked,
};
use super::params::{COUNT, Domain, TIME, params};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use lockwright_core::platform::{Atomic, AtomicInt, Cells, Clock, Sleeping, Zeroed};
use lockwright_core::raw::RawLock;

/// The most locks of a build.
pub const LOCKS_MAX: u32 = 4096;

params! {
    /// a build with many jobs: the wall time of a fixed amount of work
    "kbuild": BuildParams {
        /// Units of work, the serial ones included; in a guest 8000 are usual, so that a build lasts for many slices
        units: u64 = 400, COUNT;
        /// Lock operations of a unit
        unit_ops: u64 = 250, COUNT;
        /// Number of locks
        lock_count: u32 = 256, Domain::Whole(1, LOCKS_MAX as u64);
        /// How many of the --lock-count locks are hot
        hot_locks: u32 = 4, Domain::Whole(1, LOCKS_MAX as u64);
        /// Percentage of the operations that take a hot lock
        hot_percent: u32 = 10, Domain::Percent;
        /// Chance in percent that the choice of a hot lock narrows to the first half of them, again and again: a power
        /// law; 0 is all alike
        hot_skew: u32 = 0, Domain::Whole(0, 99);
        /// Percentage of the units that one thread does alone at the end
        serial_percent: u32 = 0, Domain::Whole(0, 99);
        /// Mean time of work before each operation; anything up to twice as much
        compute_ns: u64 = 4_000, TIME;
        /// Time of work in the critical section
        section_ns: u64 = 150, TIME;
        /// Mean time of a sleep at the start of each unit; 0 is none
        io_ns: u64 = 0, TIME;
    }
}

/// Units in a guest: enough for the build to last for many time slices.
const GUEST_UNITS: u64 = 8_000;

impl Facts for BuildParams {
    fn locks(&self) -> u32 {
        self.lock_count
    }
    fn is_fixed_work(&self) -> bool {
        true
    }
    fn usual_s(&self) -> Option<f64> {
        Some(60.0)
    }
    fn settle(
        &mut self,
        given: &dyn Fn(&str) -> bool,
        place: Option<Venue<'_>>,
    ) -> Result<(), String> {
        if !given("units") && place.is_some_and(|it| it.is_guest) {
            self.units = GUEST_UNITS;
        }
        let (hot, all) = (self.hot_locks, self.lock_count);
        if place.is_some() && given("hot_locks") && hot > all {
            let why =
                format!("--hot-locks must be between 1 and {all}, the number of locks, not {hot}");
            return Err(why);
        }
        // A set that is smaller than the usual number of hot locks is all hot.
        self.hot_locks = hot.min(all);
        Ok(())
    }
}

/// What the workers of a build share.
pub struct Build<W: Heap, L: Send + Sync + 'static> {
    state: W::One<BuildState<W::P>>,
    sites: W::Many<LockAndValue<W::P, L>>,
    began_ns: AtomicU64,
    /// 0 until all is done.
    ended_ns: AtomicU64,
}

impl<W: Heap, L: RawLock> Load<W, L> for BuildParams {
    type State = Build<W, L>;
    type Tally = ();

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        let (state, sites) = (heap.one(Zeroed::zeroed()), heap.zeroed(self.lock_count as usize));
        let (began_ns, ended_ns) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
        Build { state, sites, began_ns, ended_ns }
    }
    fn run<K: Worker<P = W::P>>(&self, state: &Self::State, worker: &mut K) {
        // ordering: Relaxed; every worker of a run passes its barrier before any of them begins.
        state.began_ns.fetch_min(W::P::now_ns(), Relaxed);
        if let Some(end_ns) = run(worker, &state.state, &state.sites, *self) {
            // ordering: Relaxed; nothing is read through it.
            state.ended_ns.store(end_ns, Relaxed);
        }
    }
    fn found(&self, state: &Self::State, (): &(), ops: u64) -> Finding {
        Finding::fail(ops.saturating_sub(sections(&state.sites)))
    }
    fn done_ns(&self, state: &Self::State) -> Option<(u64, u64)> {
        // ordering: Relaxed; a worker that began later than the last one ended did nothing.
        let [began_ns, ended_ns] = [&state.began_ns, &state.ended_ns].map(|it| it.load(Relaxed));
        (ended_ns > 0).then_some((began_ns, ended_ns))
    }
}

impl BuildParams {
    /// The units that all workers share; the others are serial. There is at least one.
    pub fn parallel_units(&self) -> u64 {
        let serial = self.units * u64::from(self.serial_percent) / 100;
        (self.units - serial).max(1)
    }
    /// All operations of the build.
    pub fn ops(&self) -> u64 {
        self.units.max(1) * self.unit_ops
    }
}

/// What the workers share apart from the locks.
pub struct BuildState<P: Cells> {
    /// Parallel units taken.
    taken: OwnLine<P::U64>,
    /// Parallel units finished.
    finished: OwnLine<P::U64>,
    /// A word to sleep on, which no thread writes.
    never: OwnLine<P::U32>,
}

impl<P: Cells> Zeroed for BuildState<P> {
    fn zeroed() -> Self {
        Self { taken: Zeroed::zeroed(), finished: Zeroed::zeroed(), never: Zeroed::zeroed() }
    }
}

/// The sections that were entered, unless a lock is broken: then fewer. Only when all workers are
/// done.
pub fn sections<P: Cells, L>(sites: &[LockAndValue<P, L>]) -> u64 {
    // ordering: Relaxed; the caller waited for the workers, and so is ordered after them.
    sites.iter().map(|site| site.value.load(Relaxed)).sum()
}

/// What one worker does: until nothing is left to do, or its [`Worker`] says that it is over. The
/// worker that finished the build returns when, in nanoseconds of the platform's clock. `sites` are
/// [`BuildParams::lock_count`] ones.
#[inline]
pub fn run<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &BuildState<W::P>,
    sites: &[LockAndValue<W::P, L>],
    knobs: BuildParams,
) -> Option<u64> {
    let parallel = knobs.parallel_units();
    let mut end_ns = None;
    // ordering: Relaxed; the counter only hands out numbers.
    while worker.keep_going() && state.taken.fetch_add(1, Relaxed) < parallel {
        if !unit(worker, state, sites, knobs) {
            break;
        }
        // ordering: Relaxed; nothing is read through it.
        if state.finished.fetch_add(1, Relaxed) + 1 == parallel {
            let serial = knobs.units.saturating_sub(parallel);
            let is_done = (0..serial).all(|_| unit(worker, state, sites, knobs));
            end_ns = is_done.then(W::P::now_ns);
        }
    }
    end_ns
}

/// Does one unit. Returns true if it was finished.
fn unit<W: Worker, L: RawLock>(
    worker: &mut W,
    state: &BuildState<W::P>,
    sites: &[LockAndValue<W::P, L>],
    knobs: BuildParams,
) -> bool {
    if knobs.io_ns > 0 {
        let deadline_ns = W::P::now_ns() + around(worker, knobs.io_ns);
        while W::P::now_ns() < deadline_ns && worker.keep_going() {
            W::P::futex_wait(&state.never, 0, Some(deadline_ns));
        }
    }
    for _ in 0..knobs.unit_ops {
        if !worker.keep_going() {
            return false;
        }
        let compute_ns = around(worker, knobs.compute_ns);
        worker.compute_ns(compute_ns);
        let site = &sites[chosen(worker, knobs)];
        locked(&*site.lock, || {
            // ordering: Relaxed; the lock orders the accesses to the counter.
            let value = site.value.load(Relaxed);
            worker.compute_ns(knobs.section_ns);
            // ordering: Relaxed; as above. Not one atomic operation on purpose: a lock that does
            // not exclude loses increments.
            site.value.store(value + 1, Relaxed);
        });
        worker.op_done();
    }
    true
}

/// Something between nothing and twice the mean.
fn around(worker: &mut impl Worker, mean_ns: u64) -> u64 {
    worker.random() % (mean_ns * 2 + 1)
}

/// The lock of an operation. The hot ones come first.
fn chosen(worker: &mut impl Worker, knobs: BuildParams) -> usize {
    let drawn = worker.random();
    let mut hot = knobs.hot_locks.clamp(1, knobs.lock_count.max(1));
    let cold = knobs.lock_count.saturating_sub(hot);
    let is_hot = cold == 0 || drawn % 100 < u64::from(knobs.hot_percent);
    // Other bits than those that decided between hot and cold.
    let drawn = (drawn >> 32) as u32;
    let skew = u64::from(knobs.hot_skew);
    while is_hot && skew > 0 && hot > 1 && worker.random() % 100 < skew {
        hot = hot.div_ceil(2);
    }
    let at = if is_hot { drawn % hot } else { hot + drawn % cold };
    at as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};

    const SMALL: BuildParams = BuildParams {
        units: 10,
        unit_ops: 200,
        lock_count: 20,
        hot_locks: 2,
        hot_percent: 50,
        hot_skew: 0,
        serial_percent: 30,
        compute_ns: 1_000,
        section_ns: 50,
        io_ns: 0,
    };

    fn sites(knobs: BuildParams) -> Vec<LockAndValue<ScriptedPlatform, SpyLock>> {
        (0..knobs.lock_count).map(|_| Zeroed::zeroed()).collect()
    }

    /// The operations of workers with so much patience each, one after the other.
    fn build(knobs: BuildParams, patience: &[u64]) -> (Vec<u64>, Vec<bool>, u64) {
        let (state, sites) = (BuildState::zeroed(), sites(knobs));
        let mut workers: Vec<_> = patience.iter().map(|&asks| Scripted::new(asks)).collect();
        let finished =
            workers.iter_mut().map(|worker| run(worker, &state, &sites, knobs).is_some()).collect();
        (workers.iter().map(|worker| worker.ops).collect(), finished, sections(&sites))
    }

    #[test]
    fn one_worker_does_all_of_the_work_and_the_next_finds_nothing_to_do() {
        let (ops, finished, sections) = build(SMALL, &[1_000_000, 1_000_000]);
        assert_eq!((ops, sections, SMALL.ops()), (vec![2_000, 0], 2_000, 2_000));
        assert_eq!(finished, [true, false]);
    }

    #[test]
    fn serial_units_are_done_by_whoever_finishes_the_last_parallel_one() {
        assert_eq!(SMALL.parallel_units(), 7);
        let all_serial = BuildParams { serial_percent: 100, ..SMALL };
        assert_eq!((all_serial.parallel_units(), build(all_serial, &[u64::MAX]).2), (1, 2_000));
        let none = BuildParams { serial_percent: 0, ..SMALL };
        assert_eq!((none.parallel_units(), build(none, &[u64::MAX]).2), (10, 2_000));
    }

    #[test]
    fn a_build_that_is_over_before_it_is_done_is_not_finished() {
        let (ops, finished, sections) = build(SMALL, &[300, 300]);
        assert_eq!(finished, [false, false]);
        assert!(ops.iter().all(|&ops| ops > 0) && sections < 2_000);
        assert_eq!(ops.iter().sum::<u64>(), sections);
    }

    #[test]
    fn the_hot_locks_get_their_share_and_the_others_share_the_rest() {
        let (state, sites) = (BuildState::zeroed(), sites(SMALL));
        run(&mut Scripted::new(u64::MAX), &state, &sites, SMALL);
        let pairs: Vec<u64> = sites.iter().map(|site| site.lock.pairs()).collect();
        let hot: u64 = pairs[..2].iter().sum();
        assert!((900..1_100).contains(&hot) && pairs[0].abs_diff(pairs[1]) < 150, "{pairs:?}");
        assert!(pairs[2..].iter().all(|&pairs| (25..90).contains(&pairs)), "{pairs:?}");
    }

    #[test]
    fn with_a_skew_half_of_the_hot_locks_again_and_again_get_a_share_of_their_own() {
        let knobs = BuildParams { hot_locks: 4, hot_percent: 100, hot_skew: 60, ..SMALL };
        let (state, sites) = (BuildState::zeroed(), sites(knobs));
        run(&mut Scripted::new(u64::MAX), &state, &sites, knobs);
        let pairs: Vec<u64> = sites.iter().map(|site| site.lock.pairs()).collect();
        // In parts of 2,000: 0.4 / 4, and 0.6 * 0.4 / 2, and 0.6 * 0.6 of all.
        for (at, expected) in [1_160, 440, 200, 200].into_iter().enumerate() {
            assert!(pairs[at].abs_diff(expected) < 60, "{pairs:?}");
        }
        assert_eq!(pairs[4..].iter().sum::<u64>(), 0);
    }

    #[test]
    fn computing_has_its_mean() {
        let (state, sites) = (BuildState::zeroed(), sites(SMALL));
        let mut worker = Scripted::new(u64::MAX);
        run(&mut worker, &state, &sites, SMALL);
        let mean_ns = worker.computed_ns as f64 / 2_000.0;
        assert!((mean_ns / 1_050.0 - 1.0).abs() < 0.05, "{mean_ns} ns");
    }

    #[test]
    fn a_unit_sleeps_once_for_the_mean_time() {
        let knobs = BuildParams { units: 20, unit_ops: 1, io_ns: 200_000, ..SMALL };
        let start_ns = ScriptedPlatform::now_ns();
        build(knobs, &[u64::MAX]);
        let slept_ns = ScriptedPlatform::now_ns() - start_ns;
        // Twenty sleeps of 0.2 ms on average; a sleep ends late rather than early.
        assert!(slept_ns > 2_000_000, "{slept_ns} ns");
    }
}

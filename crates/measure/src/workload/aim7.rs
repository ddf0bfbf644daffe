//! Many tasks that create, map and end processes, as in AIM7's `high_systime`: each computes for a while and
//! takes one of a few sleeping reader-writer locks several times in a row, as for each mapping of a process
//! that forks or ends, nearly always to write. A section is short.
//!
//! There are more tasks than CPUs, so that those which have to wait sleep and others run instead. What decides the
//! result is then the lock's internal lock: every sleeper takes it on its way in, and every release on which a thread
//! sleeps. A lock that says how long that took counts it in events; divided by the time that tasks had a CPU, they are
//! what a profile of the kernel shows.
//!
//! It is the pattern and not the benchmark: files, pipes and signals are time to think.

use super::facts::{
    Facts, Finding, Heap, Load, LockAndValue, Setting, Venue, Worker, fitted_ns, locked,
};
use super::params::{Domain, TIME, params};
use core::sync::atomic::Ordering::Relaxed;
use lockwright_core::platform::{Atomic, Cells};
use lockwright_core::raw::RawLock;

/// The most locks.
pub const LOCKS_MAX: u32 = 64;

/// Between two sections in a row, in nanoseconds: what copying one mapping takes. A guess.
const GAP_NS: u64 = 500;

/// The part that is fitted: the mean time between two units of operations.
pub const COMPUTE_PART: &str = "compute";
/// The part that is fitted: the section.
pub const SECTION_PART: &str = "section";

params! {
    /// many tasks that take a lock for a short section, nine times in ten to write
    "aim7": Aim7Params {
        /// Number of locks; each unit takes one of them at random
        lock_count: u32 = 1, Domain::Whole(1, LOCKS_MAX as u64);
        /// Lock operations of a unit, in a row on one lock
        unit_ops: u64 = 16, Domain::Whole(1, 1_000_000);
        /// Mean time of work before each unit, or what was fitted; anything up to twice as much
        compute_ns: u64 = 50_000, TIME;
        /// Time of work in the critical section, or what was fitted
        section_ns: u64 = 500, TIME;
        /// Percentage of the operations that only read
        read_percent: u32 = 10, Domain::Percent;
    }
}

impl Facts for Aim7Params {
    fn locks(&self) -> u32 {
        self.lock_count
    }
    fn is_in_kernel(&self) -> bool {
        true
    }
    // Enough for a CPU whose task waits to find another task.
    fn usual_threads(&self, cpus: usize) -> Option<usize> {
        Some(cpus * 4)
    }
    fn settle(
        &mut self,
        given: &dyn Fn(&str) -> bool,
        place: Option<Venue<'_>>,
    ) -> Result<(), String> {
        if !given("compute_ns") {
            self.compute_ns = fitted_ns(place, COMPUTE_PART).unwrap_or(self.compute_ns);
        }
        if !given("section_ns") {
            self.section_ns = fitted_ns(place, SECTION_PART).unwrap_or(self.section_ns);
        }
        Ok(())
    }
}

impl<W: Heap, L: RawLock> Load<W, L> for Aim7Params {
    type State = W::Many<LockAndValue<W::P, L>>;
    /// How often the task wrote.
    type Tally = u64;

    fn place(&self, _setting: Setting, heap: &mut W) -> Self::State {
        heap.zeroed(self.lock_count as usize)
    }
    fn run<K: Worker<P = W::P>>(&self, sites: &Self::State, worker: &mut K) -> u64 {
        run(worker, sites, *self)
    }
    fn found(&self, sites: &Self::State, writes: &u64, _ops: u64) -> Finding {
        Finding::fail(writes.saturating_sub(written(sites)))
    }
}

/// The sections of writers that were entered, unless a lock is broken: then fewer. Only when all tasks
/// are done.
pub fn written<P: Cells, L>(sites: &[LockAndValue<P, L>]) -> u64 {
    // ordering: Relaxed; the caller waited for the tasks, and so is ordered after them.
    sites.iter().map(|site| site.value.load(Relaxed)).sum()
}

/// What one task does; returns how often it wrote. `sites` are [`Aim7Params::lock_count`] ones.
#[inline]
pub fn run<W: Worker, L: RawLock>(
    worker: &mut W,
    sites: &[LockAndValue<W::P, L>],
    knobs: Aim7Params,
) -> u64 {
    let mut writes = 0;
    while worker.keep_going() {
        let compute_ns = worker.random() % (knobs.compute_ns * 2 + 1);
        worker.user_ns(compute_ns);
        let site = &sites[(worker.random() >> 32) as usize % sites.len()];
        writes += unit(worker, site, knobs);
    }
    writes
}

/// One unit; how often it wrote.
fn unit<W: Worker, L: RawLock>(
    worker: &mut W,
    site: &LockAndValue<W::P, L>,
    knobs: Aim7Params,
) -> u64 {
    let mut writes = 0;
    for op in 0..knobs.unit_ops {
        if op > 0 {
            worker.compute_ns(GAP_NS);
        }
        if worker.random() % 100 < u64::from(knobs.read_percent) {
            read(worker, site, knobs);
        } else {
            write(worker, site, knobs);
            writes += 1;
        }
        worker.op_done();
    }
    writes
}

fn write<W: Worker, L: RawLock>(worker: &mut W, site: &LockAndValue<W::P, L>, knobs: Aim7Params) {
    locked(&*site.lock, || {
        // ordering: Relaxed; the lock orders the accesses to the counter.
        let value = site.value.load(Relaxed);
        worker.compute_ns(knobs.section_ns);
        // ordering: Relaxed; as above. Not one atomic operation on purpose: a lock that does not
        // exclude loses increments.
        site.value.store(value + 1, Relaxed);
    });
}

fn read<W: Worker, L: RawLock>(worker: &mut W, site: &LockAndValue<W::P, L>, knobs: Aim7Params) {
    site.lock.lock_shared();
    // ordering: Relaxed; the lock orders the accesses to the counter.
    site.value.load(Relaxed);
    worker.compute_ns(knobs.section_ns);
    // SAFETY: taken above, and nothing in between gives it back.
    unsafe { site.lock.unlock_shared() };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::scripted::{Scripted, ScriptedPlatform, SpyLock};
    use lockwright_core::platform::Zeroed;

    const KNOBS: Aim7Params = Aim7Params {
        lock_count: 4,
        unit_ops: 1,
        compute_ns: 1_000,
        section_ns: 100,
        read_percent: 25,
    };

    fn run_with(
        knobs: Aim7Params,
    ) -> (u64, Scripted<'static>, Vec<LockAndValue<ScriptedPlatform, SpyLock>>) {
        let sites: Vec<_> = (0..knobs.lock_count).map(|_| LockAndValue::zeroed()).collect();
        let mut worker = Scripted::new(2_000);
        let writes = run(&mut worker, &sites, knobs);
        (writes, worker, sites)
    }

    fn taken(site: &LockAndValue<ScriptedPlatform, SpyLock>) -> u64 {
        site.lock.pairs() + site.lock.shared_pairs()
    }

    #[test]
    fn what_was_written_is_counted_and_readers_write_nothing() {
        let (writes, worker, sites) = run_with(KNOBS);
        assert_eq!((worker.ops, written(&sites)), (2_000, writes));
        assert!((1_400..1_600).contains(&writes), "{writes}");
        let (writes, _, sites) = run_with(Aim7Params { read_percent: 100, ..KNOBS });
        assert_eq!((writes, written(&sites)), (0, 0));
    }

    #[test]
    fn every_lock_has_its_share_of_the_operations() {
        let (_, _, sites) = run_with(KNOBS);
        assert!(sites.iter().all(|site| (420..580).contains(&taken(site))));
    }

    #[test]
    fn a_unit_is_so_many_operations_on_one_lock() {
        let (_, worker, sites) = run_with(Aim7Params { unit_ops: 7, compute_ns: 0, ..KNOBS });
        assert_eq!(worker.ops, 14_000);
        assert!(sites.iter().all(|site| taken(site).is_multiple_of(7)));
        assert_eq!(worker.computed_ns, 14_000 * 100 + 2_000 * 6 * GAP_NS);
    }

    #[test]
    fn thinking_has_its_mean() {
        let (_, worker, _) = run_with(KNOBS);
        let mean_ns = worker.computed_ns as f64 / 2_000.0;
        assert!((mean_ns / 1_100.0 - 1.0).abs() < 0.05, "{mean_ns} ns");
    }
}

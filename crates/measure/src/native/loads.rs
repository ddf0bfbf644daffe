//! The workloads as loads of native threads, for any lock.

use super::checked::Checked;
use super::locks;
use super::real_use;
use super::run::Load;
use super::starve::Starve;
use super::usage::Usage;
use super::worker::NativeWorker;
use crate::cell::{CellSpec, CondvarWaits, Purpose, Workload};
use crate::erased::{self, AskCondvar, AskLockUntil, CapableVisitor, ErasedType, erase_in_larger};
use crate::latency::Timed;
use crate::starved::Starved;
use crate::stress::{Exercised, Stress};
use lockwright_catalog::capabilities::{CondvarLock, TimedLock};
use lockwright_catalog::registry::{LockRow, LockVisitor};
use lockwright_core::native::Native;
use lockwright_core::platform::{Clock, Zeroed};
use lockwright_core::raw::RawLock;
use crate::peers::upgrade_of;
use crate::workload::{
    LockAndValue, aim7, counter, handoff, kbuild, lock2, locktorture, open1, readrandom,
    uncontended,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// What the threads of the cell do, with the lock that is visited.
pub struct LoadOf<'a>(pub &'a CellSpec);

impl LockVisitor<Native> for LoadOf<'_> {
    type Output = Box<dyn Load>;

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> Self::Output {
        let is_long = match self.0.workload {
            Workload::RealUse(it) => !it.is_short(),
            Workload::Starve(_) => true,
            _ => false,
        };
        if self.0.purpose == Purpose::Throughput && !is_long {
            return load::<L>(self.0);
        }
        let lock = ErasedType::of::<L>()
            .with_condvar(locks::visit_condvar(self.0.lock, AskCondvar))
            .with_lock_until(locks::visit_timed(self.0.lock, AskLockUntil));
        erased::choose(lock);
        let load = erase_in_larger::<L, _>(ErasedLoad(self.0));
        Box::new(Chosen { lock, load })
    }
}

/// A load in which a call through a pointer is little: next to two looks at the clock, or to operations that take
/// microseconds.
struct ErasedLoad<'a>(&'a CellSpec);

impl CapableVisitor for ErasedLoad<'_> {
    type Output = Box<dyn Load>;

    fn visit<L: CondvarLock + TimedLock>(self) -> Self::Output {
        match (self.0.purpose, self.0.workload) {
            (_, Workload::Starve(params)) => {
                let upgrade = upgrade_of(self.0.lock.name());
                Box::new(Starve::<L>::new(params, upgrade, self.0.threads))
            }
            (Purpose::Torture(stress), _) => torture::<L>(self.0, stress),
            (_, Workload::RealUse(it)) => real_use::load::<L>(it, self.0.threads),
            (Purpose::Throughput | Purpose::Latency, _) => load::<Timed<Native, L>>(self.0),
        }
    }
}

/// A load with erased locks, which each of its threads has to choose.
struct Chosen {
    lock: ErasedType,
    load: Box<dyn Load>,
}

impl Load for Chosen {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        erased::choose(self.lock);
        self.load.run(worker);
    }
    fn fail(&self, ops: u64) -> u64 {
        self.load.fail(ops)
    }
    fn wall_ns(&self) -> Option<u64> {
        self.load.wall_ns()
    }
    fn exercised(&self) -> Exercised {
        self.load.exercised()
    }
    fn starved(&self) -> Option<Starved> {
        self.load.starved()
    }
    fn condvar_waits(&self) -> Option<CondvarWaits> {
        self.load.condvar_waits()
    }
    fn usage_of_others(&self) -> Usage {
        self.load.usage_of_others()
    }
}

fn load<L: RawLock>(spec: &CellSpec) -> Box<dyn Load> {
    match spec.workload {
        Workload::Uncontended => Box::new(Pairs::<L>(Zeroed::zeroed())),
        Workload::Counter { cs_load, think_load, readers, reader_order, is_empty } => {
            Box::new(Counter::<L> {
                state: Zeroed::zeroed(),
                knobs: counter::CounterParams {
                    cs_load,
                    think_load,
                    readers,
                    reader_order,
                    is_empty,
                },
                read: AtomicU64::new(0),
                disturbed: AtomicU64::new(0),
            })
        }
        Workload::Locktorture { long_hold } => {
            let long_hold_ns = if long_hold { locktorture::LONG_HOLD_NS } else { 0 };
            Box::new(Torture::<L>::new(spec, Stress { long_hold_ns, ..Stress::default() }))
        }
        Workload::Lock2 => Box::new(Lock2::<L>::new(spec.threads)),
        Workload::Open1 => Box::new(Open1::<L>::new(spec.threads)),
        Workload::Readrandom => Box::new(Readrandom::<L>::new(spec.threads)),
        Workload::Kbuild(knobs) => Box::new(Build::<L>::new(knobs)),
        Workload::Handoff { section, section_ns } => {
            let knobs = handoff::HandoffParams { section: section.into(), section_ns };
            Box::new(Handoff::<L> { state: Zeroed::zeroed(), knobs })
        }
        Workload::Aim7 { lock_count, unit_ops, compute_ns: think_ns, section_ns, read_percent } => {
            let knobs =
                aim7::Aim7Params { lock_count, unit_ops, think_ns, section_ns, read_percent };
            Box::new(Tasks::<L>::new(knobs))
        }
        Workload::RealUse(it) => real_use::short_load::<L>(it),
        Workload::Starve(_) => unreachable!("it is a load for an erased lock"),
    }
}

/// A torture watches its owners.
fn torture<L: RawLock>(spec: &CellSpec, stress: Stress) -> Box<dyn Load> {
    Box::new(Torture::<Checked<Timed<Native, L>>>::new(spec, stress))
}

struct Pairs<L>(uncontended::UncontendedState<L>);

impl<L: RawLock> Load for Pairs<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        uncontended::run(worker, &self.0);
    }
}

struct Counter<L> {
    state: counter::CounterState<Native, L>,
    knobs: counter::CounterParams,
    read: AtomicU64,
    disturbed: AtomicU64,
}

impl<L: RawLock> Load for Counter<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        let tally = counter::run(worker, &self.state, self.knobs);
        // ordering: Relaxed; read after the threads have reported.
        self.read.fetch_add(tally.read, Ordering::Relaxed);
        // ordering: Relaxed; as above.
        self.disturbed.fetch_add(tally.disturbed, Ordering::Relaxed);
    }
    fn fail(&self, ops: u64) -> u64 {
        if self.knobs.is_empty {
            return 0;
        }
        // ordering: Relaxed; as above.
        let written = ops - self.read.load(Ordering::Relaxed);
        // ordering: Relaxed; as above.
        written.saturating_sub(self.state.value()) + self.disturbed.load(Ordering::Relaxed)
    }
}

struct Torture<L> {
    state: locktorture::TortureState<Native, L>,
    nested: Vec<locktorture::TortureState<Native, L>>,
    stats: Vec<locktorture::StatsLine<Native>>,
    knobs: locktorture::TortureParams,
    /// Where there are any.
    readers: Option<locktorture::Inside<Native>>,
    fail: AtomicU64,
    long_holds: AtomicU64,
    nested_taken: AtomicU64,
}

impl<L: RawLock> Torture<L> {
    fn new(spec: &CellSpec, stress: Stress) -> Self {
        let Stress { long_hold_ns, nested, readers, .. } = stress;
        let (threads, reading) = (spec.threads as u32, readers as u32);
        let lines = locktorture::stats_lines(spec.threads);
        Self {
            state: Zeroed::zeroed(),
            nested: (0..nested).map(|_| Zeroed::zeroed()).collect(),
            stats: (0..lines).map(|_| Zeroed::zeroed()).collect(),
            knobs: locktorture::TortureParams { threads, readers: reading, long_hold_ns },
            readers: (readers > 0).then(Zeroed::zeroed),
            fail: AtomicU64::new(0),
            long_holds: AtomicU64::new(0),
            nested_taken: AtomicU64::new(0),
        }
    }
}

impl<L: RawLock> Load for Torture<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        let line = worker.number() / locktorture::STATS_PER_LINE;
        let stats = &self.stats[line];
        let (knobs, readers) = (self.knobs, self.readers.as_ref());
        let tally = locktorture::run(worker, &self.state, stats, &self.nested, knobs, readers);
        // ordering: Relaxed; read after the threads have reported.
        self.fail.fetch_add(tally.failed, Ordering::Relaxed);
        // ordering: Relaxed; as above.
        self.long_holds.fetch_add(tally.long_holds, Ordering::Relaxed);
        // ordering: Relaxed; as above.
        self.nested_taken.fetch_add(tally.nested, Ordering::Relaxed);
    }
    fn fail(&self, _ops: u64) -> u64 {
        // ordering: Relaxed; as above.
        self.fail.load(Ordering::Relaxed)
    }
    fn exercised(&self) -> Exercised {
        Exercised {
            // ordering: Relaxed; as above.
            long_holds: self.long_holds.load(Ordering::Relaxed),
            // ordering: Relaxed; as above.
            nested: self.nested_taken.load(Ordering::Relaxed),
            ..Exercised::default()
        }
    }
}

struct Lock2<L> {
    state: lock2::Lock2State<Native, L>,
    entries: Vec<lock2::LockEntry<Native>>,
}

impl<L: RawLock> Lock2<L> {
    fn new(threads: usize) -> Self {
        let entries = threads * lock2::ENTRIES_PER_THREAD;
        Self { state: Zeroed::zeroed(), entries: (0..entries).map(|_| Zeroed::zeroed()).collect() }
    }
}

impl<L: RawLock> Load for Lock2<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        lock2::run(worker, &self.state, &self.entries);
    }
}

struct Open1<L> {
    state: open1::Open1State<Native, L>,
    slots: Vec<open1::Slots<Native>>,
    threads: usize,
}

impl<L: RawLock> Open1<L> {
    fn new(threads: usize) -> Self {
        Self { state: Zeroed::zeroed(), slots: open1::slots::<Native>().collect(), threads }
    }
}

impl<L: RawLock> Load for Open1<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        open1::run(worker, &self.state, &self.slots, self.threads);
    }
}

struct Readrandom<L> {
    state: readrandom::ReadState<Native, L>,
    sleepers: Vec<readrandom::ReadSleeper<Native>>,
}

impl<L: RawLock> Readrandom<L> {
    fn new(threads: usize) -> Self {
        Self { state: Zeroed::zeroed(), sleepers: (0..threads).map(|_| Zeroed::zeroed()).collect() }
    }
}

impl<L: RawLock> Load for Readrandom<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        readrandom::run(worker, &self.state, &self.sleepers);
    }
    fn fail(&self, ops: u64) -> u64 {
        (ops * 2).saturating_sub(self.state.sections())
    }
}

struct Handoff<L> {
    state: handoff::HandoffState<Native, L>,
    knobs: handoff::HandoffParams,
}

impl<L: RawLock> Load for Handoff<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        handoff::run(worker, &self.state, self.knobs);
    }
    fn fail(&self, ops: u64) -> u64 {
        ops.saturating_sub(self.state.value())
    }
}

struct Tasks<L> {
    sites: Vec<LockAndValue<Native, L>>,
    knobs: aim7::Aim7Params,
    writes: AtomicU64,
}

impl<L: RawLock> Tasks<L> {
    fn new(knobs: aim7::Aim7Params) -> Self {
        let sites = (0..knobs.lock_count).map(|_| Zeroed::zeroed()).collect();
        Self { sites, knobs, writes: AtomicU64::new(0) }
    }
}

impl<L: RawLock> Load for Tasks<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        let writes = aim7::run(worker, &self.sites, self.knobs);
        // ordering: Relaxed; read after the threads have reported.
        self.writes.fetch_add(writes, Ordering::Relaxed);
    }
    fn fail(&self, _ops: u64) -> u64 {
        // ordering: Relaxed; as above.
        self.writes.load(Ordering::Relaxed).saturating_sub(aim7::written(&self.sites))
    }
}

struct Build<L> {
    state: kbuild::BuildState<Native>,
    sites: Vec<LockAndValue<Native, L>>,
    knobs: kbuild::BuildParams,
    began_ns: AtomicU64,
    /// 0 until all is done.
    wall_ns: AtomicU64,
}

impl<L: RawLock> Build<L> {
    fn new(knobs: kbuild::BuildParams) -> Self {
        Self {
            state: Zeroed::zeroed(),
            sites: (0..knobs.lock_count).map(|_| Zeroed::zeroed()).collect(),
            knobs,
            began_ns: AtomicU64::new(u64::MAX),
            wall_ns: AtomicU64::new(0),
        }
    }
}

impl<L: RawLock> Load for Build<L> {
    fn run(&self, worker: &mut NativeWorker<'_>) {
        // ordering: Relaxed; every worker of a run passes its barrier before any of them begins.
        self.began_ns.fetch_min(Native::now_ns(), Ordering::Relaxed);
        if let Some(end_ns) = kbuild::run(worker, &self.state, &self.sites, self.knobs) {
            // ordering: Relaxed; a worker that began later than this one ended did nothing.
            let began_ns = self.began_ns.load(Ordering::Relaxed);
            // ordering: Relaxed; nothing is read through it.
            self.wall_ns.store((end_ns - began_ns).max(1), Ordering::Relaxed);
        }
    }
    fn fail(&self, ops: u64) -> u64 {
        ops.saturating_sub(kbuild::sections(&self.sites))
    }
    fn wall_ns(&self) -> Option<u64> {
        // ordering: Relaxed; nothing is read through it.
        let wall_ns = self.wall_ns.load(Ordering::Relaxed);
        (wall_ns > 0).then_some(wall_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broken::{ForgetsInside, LosesPatience};
    use crate::cell::Measurement;
    use crate::native::affinity::allowed_cpus;
    use crate::native::run::{ThreadPlan, run_threads};
    use crate::subject::Subject;
    use lockwright_catalog::busted::BustedRwLock;
    use lockwright_clients::plain_rw::PlainRwLock;
    use std::time::Duration;

    fn torture<L: RawLock>(stress: Stress) -> Measurement {
        let cpus = allowed_cpus();
        let window = Duration::from_millis(200);
        let spec = CellSpec {
            // Any: the type of the lock is given.
            lock: Subject::find("ticket").expect("a known name"),
            workload: Workload::Locktorture { long_hold: stress.long_hold_ns > 0 },
            threads: 2,
            scheduling: None,
            window_ns: window.as_nanos() as u64,
            repetition: 0,
            seed: 1,
            purpose: Purpose::Torture(stress),
            has_neighbours: false,
        };
        let (cpus, all_cpus) = (&cpus[..], &cpus[..]);
        let plan = ThreadPlan {
            threads: 2,
            cpus,
            all_cpus,
            window,
            is_fixed_work: false,
            seed: 1,
            counts_events: false,
            stress,
            has_neighbours: false,
        };
        run_threads(&plan, super::torture::<L>(&spec, stress)).expect("the threads come back")
    }

    #[test]
    fn a_lock_that_is_broken_only_inside_another_one_is_caught_by_nesting() {
        if allowed_cpus().len() < 2 {
            println!("did not run: needs two CPUs");
            return;
        }
        let alone = torture::<ForgetsInside<Native>>(Stress::default());
        assert!(alone.held() && alone.exercised.nested == 0);
        let nested = torture::<ForgetsInside<Native>>(Stress { nested: 2, ..Stress::default() });
        assert!(!nested.held() && nested.exercised.nested > 0, "{:?}", nested.exercised);
    }

    #[test]
    fn a_reader_writer_lock_passes_with_readers_and_one_whose_readers_take_nothing_fails() {
        let with = |readers| Stress { readers, long_hold_ns: 100_000, ..Stress::default() };
        let plain = torture::<PlainRwLock<Native>>(with(1));
        assert!(plain.held() && plain.per_thread_ops.iter().all(|&ops| ops > 0), "{plain:?}");
        assert!(plain.waited.is_some_and(|waited| waited.readers.count() > 0));
        assert!(!torture::<BustedRwLock<Native>>(with(1)).held());
        assert!(torture::<BustedRwLock<Native>>(with(0)).held(), "its writers exclude each other");
    }

    #[test]
    fn a_lock_that_is_broken_only_by_a_long_hold_is_caught_by_one() {
        let stress = Stress { long_hold_ns: 1_000_000, ..Stress::default() };
        let measured = torture::<LosesPatience<Native>>(stress);
        assert!(measured.exercised.long_holds > 0 && !measured.held());
        assert!(measured.waits.is_some_and(|waits| waits.max() >= 100_000));
    }
}

//! Running a cell: the settings of the run, its threads, and what is made of its report.

use super::real_use::{self, SpawnUse, SpawnUseOf};
use super::stage::{Parts, SimStage};
use super::worker::{SimWorker, WorkerCounts};
use super::{Cell, Outcome, SimulatedError, Watched};
use crate::cell::{EventCounts, Purpose, Workload};
use crate::erased::{self, ErasedType, ErasedVisitor, erase, erase_in_larger};
use crate::latency::{Timed, Waited, take_waits};
use crate::stress::Exercised;
use lockwright_catalog::registry::{LockRow, LockVisitor};
use lockwright_core::platform::{Cells, Zeroed};
use lockwright_core::queue::NODES_PER_CPU;
use lockwright_core::raw::{Order, RawLock};
use lockwright_sim::{Arena, Checks, Config, NodesMode, RunReport, Sim, Simulation};
use crate::workload::{
    LockAndValue, aim7, counter, handoff, kbuild, lock2, locktorture, open1, readrandom,
    uncontended,
};

/// What a cell needs of the type of its lock.
pub struct LockProgram {
    order: Order,
    word_is_legal: fn(u32) -> bool,
    lock: ErasedType,
    spawn: Spawn,
    /// How the threads of a workload of real use are added, if it is one.
    spawn_use: Option<SpawnUse>,
}

/// Adds the threads of a cell.
type Spawn = for<'a> fn(&Cell<'_>, &mut SimStage<'a, '_>, Parts<'a>, &'a WorkerCounts);

/// What a cell needs of the lock that is visited.
pub struct ProgramOf<'a, 'b>(pub &'a Cell<'b>);

impl LockVisitor<Sim> for ProgramOf<'_, '_> {
    type Output = LockProgram;

    fn visit<L: RawLock>(self, row: &'static LockRow) -> LockProgram {
        LockProgram { lock: real_use::type_of::<L>(row), ..LockProgram::of::<L>(self.0) }
    }
}

impl LockProgram {
    /// What `cell` needs of the lock `L`.
    pub(super) fn of<L: RawLock>(cell: &Cell<'_>) -> Self {
        Self {
            order: L::ORDER,
            word_is_legal: L::word_is_legal,
            lock: ErasedType::of::<L>(),
            spawn: erase::<L, _>(SpawnOf(cell.purpose)),
            spawn_use: matches!(cell.workload, Workload::RealUse(_))
                .then(|| erase_in_larger::<L, _>(SpawnUseOf)),
        }
    }
}

/// How to add the threads of a cell.
struct SpawnOf(Purpose);

impl ErasedVisitor for SpawnOf {
    type Output = Spawn;

    fn visit<L: RawLock>(self) -> Spawn {
        match self.0 {
            // Looking at the clock takes no simulated time, so one program serves both.
            Purpose::Throughput | Purpose::Latency => spawn::<Timed<Sim, L>>,
            Purpose::Torture(_) => spawn_torture::<Watched<Timed<Sim, L>>>,
        }
    }
}

impl Cell<'_> {
    /// The settings of the run.
    pub(super) fn config(&self, program: &LockProgram) -> Config {
        let checks = match self.purpose {
            Purpose::Torture(_) => Checks {
                fifo: matches!(program.order, Order::Fifo | Order::FifoAfterPending),
                overtaking_max: Some(u32::MAX),
                word_is_legal: Some(program.word_is_legal),
            },
            Purpose::Throughput | Purpose::Latency => Checks::default(),
        };
        let usual = Config::window(self.warmup_ns, self.window_ns);
        Config {
            checks,
            tunables: self.tunables.to_vec(),
            nodes: self.nodes(),
            scheduling: self.scheduling,
            preemption: self.purpose.stress().preemption,
            time_limit_ns: usual.time_limit_ns.saturating_add(self.extra_ns()),
            ..usual
        }
    }

    /// The queue nodes: those of a kernel, unless threads may hold more queue locks than a CPU has
    /// nodes or share a CPU without being its guest; then a pool, as in a program.
    fn nodes(&self) -> NodesMode {
        // A task that sleeps for a lock keeps a node, and takes others for what the lock is made of.
        let of_lock = if self.workload.is_in_kernel() { NODES_PER_CPU.into() } else { 1 };
        let held = (self.purpose.stress().nested as u32 + 1) * of_lock;
        let moves = self.scheduling.is_some_and(|s| s.kind.moves_between_cpus());
        match moves || held > u32::from(NODES_PER_CPU) {
            true => {
                // A CLH lock in use keeps a node of its own.
                let locks = self.workload.locks().min(self.threads);
                NodesMode::Pool((held * (self.threads + locks)).try_into().unwrap_or(u16::MAX))
            }
            false => NodesMode::PerCpu,
        }
    }

    /// How much longer a run may take because of what a torture adds, and of a shared CPU. The last critical
    /// section of each thread may be a long one, each thread may be away meanwhile, and all threads behind it wait.
    fn extra_ns(&self) -> u64 {
        let stress = self.purpose.stress();
        let away_ns = stress.preemption.map_or(0, |preemption| preemption.for_ns);
        let each_ns = stress.longest_hold_ns().saturating_mul(4).saturating_add(away_ns * 20);
        let each_ns = each_ns.saturating_add(self.turn_ns() * (stress.nested as u64 + 1));
        each_ns.saturating_mul(self.threads.into()).saturating_add(stress.stutter_ns * 2)
    }

    /// How long a thread may have to wait for a CPU that it shares: a slice of each of the others.
    fn turn_ns(&self) -> u64 {
        let cpus = self.machine.topology.cpus();
        match (&self.machine.scheduler, self.scheduling) {
            (Some(host), Some(_)) => host.slice_ns as u64 * u64::from(self.threads / cpus + 1),
            _ => 0,
        }
    }

    /// Where each thread runs.
    fn seats(&self) -> Result<Vec<Option<u32>>, SimulatedError> {
        if self.scheduling.is_some() {
            self.machine.scheduler()?;
            return Ok(vec![None; self.threads as usize]);
        }
        let placed = self.placement.place(&self.machine.topology, self.threads, self.seed);
        let cpus = placed.map_err(SimulatedError::Placement)?;
        Ok(cpus.into_iter().map(Some).collect())
    }

    pub(super) fn run_program(&self, program: &LockProgram) -> Result<Outcome, SimulatedError> {
        let seats = self.seats()?;
        let parts = self.software_ps();
        let seen = WorkerCounts::default();
        let mut arena = Arena::default();
        let config = self.config(program);
        let simulation = Simulation::new(self.machine, &mut arena, self.seed, config);
        let mut stage = SimStage::new(simulation, &seats);
        take_waits();
        erased::choose(program.lock);
        match (self.workload, program.spawn_use) {
            (Workload::RealUse(it), Some(spawn)) => spawn(it, &mut stage, &parts),
            _ => (program.spawn)(self, &mut stage, &parts, &seen),
        }
        let report = stage.simulation.run();
        seen.disturbed(stage.checks.into_iter().map(|check| check()).sum());
        self.outcome(report, &seen)
    }

    /// What the parts of the workload's software take.
    fn software_ps(&self) -> Vec<(&'static str, u64)> {
        let workload = self.workload.name();
        let part = |&part| {
            let ns = self.parameters.software_ns(workload, part);
            (part, (ns * 1000.0).round() as u64)
        };
        self.workload.software_parts().iter().map(part).collect()
    }

    fn outcome(&self, report: RunReport, seen: &WorkerCounts) -> Result<Outcome, SimulatedError> {
        let mut violations: Vec<String> =
            report.failures.iter().map(|failure| failure.to_string()).collect();
        let untold = report.failures_total - violations.len() as u64;
        if untold > 0 {
            violations.push(format!("and {untold} more"));
        }
        if !matches!(self.purpose, Purpose::Torture(_))
            && let Some(how) = violations.first()
        {
            return Err(SimulatedError::Failed {
                lock: self.lock.name.into(),
                threads: self.threads,
                seed: self.seed,
                how: how.clone(),
            });
        }
        let events = EventCounts::from_fn(|event| report.count_of(event));
        let wall_ns = seen.end_ns();
        let window_ns = wall_ns.unwrap_or(report.window_ps / 1_000);
        let waited = self.purpose.times_waits().then(take_waits);
        Ok(Outcome {
            ops_per_s: self.ops_per_s(&report, wall_ns),
            fail: seen.failed(),
            violations,
            exercised: Exercised { preemptions: report.preemptions, ..seen.exercised() },
            most_overtakes: report.most_overtakes,
            window_ns,
            wall_ns,
            schedule: report.schedule,
            waits: waited.as_ref().map(Waited::all),
            waited: waited.and_then(Waited::if_roles),
            events,
            simulated_events: report.events,
            digest: report.digest,
            per_thread_ops: report.ops,
        })
    }

    fn ops_per_s(&self, report: &RunReport, wall_ns: Option<u64>) -> f64 {
        match (self.workload, self.purpose) {
            // A torture takes them.
            (_, Purpose::Torture(_)) => report.ops_per_s(),
            (Workload::Locktorture { long_hold: true }, _) => {
                locktorture::with_long_holds(report.ops_per_s(), self.threads)
            }
            (Workload::Kbuild(_), _) => wall_ns.map_or(report.ops_per_s(), |wall_ns| {
                report.ops_total() as f64 * 1e9 / wall_ns as f64
            }),
            _ => report.ops_per_s(),
        }
    }
}

/// Adds the threads of the workload.
fn spawn<'a, L: RawLock>(
    cell: &Cell<'_>,
    stage: &mut SimStage<'a, '_>,
    parts: Parts<'a>,
    seen: &'a WorkerCounts,
) {
    match cell.workload {
        Workload::Uncontended => {
            let state = stage.simulation.alloc(uncontended::UncontendedState::<L>::zeroed());
            stage.spawn(|_| move || uncontended::run(&mut SimWorker::new(parts), state));
        }
        Workload::Counter { cs_load, think_load, readers, reader_order, is_empty } => {
            let knobs =
                counter::CounterParams { cs_load, think_load, readers, reader_order, is_empty };
            spawn_counter::<L>(knobs, stage, parts, seen);
        }
        Workload::Locktorture { .. } => spawn_torture::<L>(cell, stage, parts, seen),
        Workload::Lock2 => {
            let state = stage.simulation.alloc(lock2::Lock2State::<Sim, L>::zeroed());
            let entries = cell.threads as usize * lock2::ENTRIES_PER_THREAD;
            let entries = stage.simulation.alloc_slice_at(0, entries, |_| Zeroed::zeroed());
            stage.spawn(|_| move || lock2::run(&mut SimWorker::new(parts), state, entries));
        }
        Workload::Open1 => {
            let threads = cell.threads as usize;
            let state = stage.simulation.alloc(open1::Open1State::<Sim, L>::zeroed());
            let slots: Vec<_> = open1::slots::<Sim>().collect();
            let (lines, mut slots) = (slots.len(), slots.into_iter());
            let slots = stage.simulation.alloc_slice_at(0, lines, |_| match slots.next() {
                Some(line) => line,
                None => unreachable!("as many as there are"),
            });
            stage.spawn(|_| move || open1::run(&mut SimWorker::new(parts), state, slots, threads));
        }
        Workload::Readrandom => {
            let state = stage.simulation.alloc(readrandom::ReadState::<Sim, L>::zeroed());
            let threads = cell.threads as usize;
            let sleepers = stage.simulation.alloc_slice_at(0, threads, |_| Zeroed::zeroed());
            stage.spawn(|_| move || readrandom::run(&mut SimWorker::new(parts), state, sleepers));
        }
        Workload::Handoff { section, section_ns } => {
            let knobs = handoff::HandoffParams { section: section.into(), section_ns };
            spawn_handoff::<L>(knobs, stage, parts);
        }
        Workload::Aim7 { lock_count, unit_ops, compute_ns: think_ns, section_ns, read_percent } => {
            let knobs =
                aim7::Aim7Params { lock_count, unit_ops, think_ns, section_ns, read_percent };
            spawn_tasks::<L>(knobs, stage, parts);
        }
        Workload::RealUse(it) => unreachable!("`{}` has a way of its own", it.name()),
        Workload::Starve(_) => unreachable!("it is refused"),
        Workload::Kbuild(knobs) => {
            let state = stage.simulation.alloc(kbuild::BuildState::<Sim>::zeroed());
            let locks = knobs.lock_count as usize;
            let sites: &[LockAndValue<Sim, L>] =
                stage.simulation.alloc_slice_at(0, locks, |_| Zeroed::zeroed());
            stage.spawn(|_| {
                move || {
                    let mut worker = SimWorker::new(parts);
                    if let Some(end_ns) = kbuild::run(&mut worker, state, sites, knobs) {
                        seen.finished(end_ns);
                    }
                }
            });
        }
    }
}

/// Adds the threads of a counter.
fn spawn_counter<'a, L: RawLock>(
    knobs: counter::CounterParams,
    stage: &mut SimStage<'a, '_>,
    parts: Parts<'a>,
    seen: &'a WorkerCounts,
) {
    let state = stage.simulation.alloc(counter::CounterState::<Sim, L>::zeroed());
    stage.spawn(|_| {
        move || {
            let tally = counter::run(&mut SimWorker::new(parts), state, knobs);
            seen.disturbed(tally.disturbed);
        }
    });
}

/// Adds the threads of a handoff.
fn spawn_handoff<'a, L: RawLock>(
    knobs: handoff::HandoffParams,
    stage: &mut SimStage<'a, '_>,
    parts: Parts<'a>,
) {
    let state = stage.simulation.alloc(handoff::HandoffState::<Sim, L>::zeroed());
    stage.spawn(|_| move || handoff::run(&mut SimWorker::new(parts), state, knobs));
}

/// Adds the tasks of `aim7`.
fn spawn_tasks<'a, L: RawLock>(
    knobs: aim7::Aim7Params,
    stage: &mut SimStage<'a, '_>,
    parts: Parts<'a>,
) {
    let locks = knobs.lock_count as usize;
    let sites: &[LockAndValue<Sim, L>] =
        stage.simulation.alloc_slice_at(0, locks, |_| Zeroed::zeroed());
    stage.spawn(|_| {
        move || {
            aim7::run(&mut SimWorker::new(parts), sites, knobs);
        }
    });
}

/// Adds the threads of locktorture.
fn spawn_torture<'a, L: RawLock>(
    cell: &Cell<'_>,
    stage: &mut SimStage<'a, '_>,
    parts: Parts<'a>,
    seen: &'a WorkerCounts,
) {
    let stress = cell.purpose.stress();
    let simulation = &mut stage.simulation;
    let state = simulation.alloc(locktorture::TortureState::<Sim, L>::zeroed());
    let lines = locktorture::stats_lines(cell.threads as usize);
    let stats = simulation.alloc_slice_at(0, lines, |_| locktorture::StatsLine::zeroed());
    let nested: &[locktorture::TortureState<Sim, L>] = match stress.nested {
        0 => &[],
        count => simulation.alloc_slice_at(0, count, |_| Zeroed::zeroed()),
    };
    let inside = (stress.readers > 0).then(|| simulation.alloc(locktorture::Inside::zeroed()));
    let bed = cell.scheduling.map(|_| simulation.alloc(<Sim as Cells>::U32::zeroed()));
    // A benchmark adds its long holds by formula.
    let (threads, readers) = (cell.threads, stress.readers as u32);
    let stutter_ns = stress.stutter_ns.max(cell.stutter_ns);
    let knobs = locktorture::TortureParams { threads, readers, long_hold_ns: stress.long_hold_ns };
    stage.spawn(|index| {
        let stats = &stats[index / locktorture::STATS_PER_LINE];
        let mut worker = SimWorker::new(parts).with_stutter(stutter_ns).with_bed(bed);
        move || {
            let tally = locktorture::run(&mut worker, state, stats, nested, knobs, inside);
            seen.add(tally, worker.pauses());
        }
    });
}

#[cfg(test)]
mod tests;

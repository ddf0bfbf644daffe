//! Running cells on simulated machines.
//!
//! A [`Cell`] names everything that decides its result, and the result is the same on every
//! computer. Cells share nothing, so [`run_cells`] spreads them over host threads without changing
//! what comes out.

mod fitted;
mod machine;
mod watched;
mod worker;

pub use fitted::Fitted;
pub use machine::SimulatedMachine;
pub use watched::Watched;

use crate::cell::{EventCounts, Purpose, Workload};
use crate::latency::{Timed, take_waits};
use crate::stats::Histogram;
use crate::stress::Exercised;
use lockwright::node::NODES_PER_CPU;
use lockwright::platform::Zeroed;
use lockwright::raw::{Order, RawLock};
use lockwright::registry::{self, LockRow, LockVisitor};
use lockwright::tunables::Tunable;
use lockwright_clients::workload::{counter, locktorture, uncontended};
use lockwright_sim::machine::{Machine, MachineError, Parameters, Placement, PlacementError};
use lockwright_sim::{Arena, Checks, Config, Digest, NodesMode, RunReport, Sim, Simulation};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use worker::{Seen, SimWorker};

/// One cell on a simulated machine: everything that decides its result.
#[derive(Clone, Copy, Debug)]
pub struct Cell<'a> {
    /// The machine, with its calibration applied.
    pub machine: &'a Machine,
    /// The calibration, for the time that software takes.
    pub parameters: &'a Parameters,
    /// The lock, by its name in the registry.
    pub lock: &'a str,
    /// What the threads do.
    pub workload: Workload,
    /// How many threads.
    pub threads: u32,
    /// Where they run.
    pub placement: Placement,
    /// Decides the placement, if it is random, and all random numbers.
    pub seed: u64,
    /// Simulated nanoseconds before counting.
    pub warmup_ns: u64,
    /// Simulated nanoseconds counted.
    pub window_ns: u64,
    /// Run-time numbers of the locks.
    pub tunables: &'a [(Tunable, u64)],
    /// What it is run for.
    pub purpose: Purpose,
}

/// What came out of a cell. All times are simulated.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Operations of each thread within the window.
    pub per_thread_ops: Vec<u64>,
    /// How long they were counted.
    pub window_ns: u64,
    /// Operations per second of all threads. For locktorture with long holds these are included by
    /// formula, because they do not fit into the window.
    pub ops_per_s: f64,
    /// How often the workload saw two owners at once.
    pub fail: u64,
    /// What the checkers have to say, for [`Purpose::Torture`].
    pub violations: Vec<String>,
    /// What a torture did beside.
    pub exercised: Exercised,
    /// The most others that queued later and were served earlier than one waiter, for
    /// [`Purpose::Torture`].
    pub most_overtakes: Option<u32>,
    /// Waiting times, unless it was for [`Purpose::Throughput`].
    pub waits: Option<Histogram>,
    /// What the lock counted.
    pub events: EventCounts,
    /// Events of the simulation, which is what it costs to run.
    pub simulated_events: u64,
    /// Fingerprint of the history.
    pub digest: Digest,
}

/// Why a simulated cell has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum SimulatedError {
    /// No lock of that name is in the registry.
    UnknownLock(String),
    /// Too many threads.
    Placement(PlacementError),
    /// The machine does not make sense.
    Machine(MachineError),
    /// A calibration was asked for that may not simulate anything.
    NothingTried,
    /// The run failed: the lock, the threads, the seed and how.
    Failed {
        /// The lock.
        lock: String,
        /// How many threads.
        threads: u32,
        /// The seed.
        seed: u64,
        /// How.
        how: String,
    },
}

impl fmt::Display for SimulatedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownLock(name) => write!(f, "there is no lock `{name}`"),
            Self::Placement(error) => error.fmt(f),
            Self::Machine(error) => error.fmt(f),
            Self::NothingTried => f.write_str("a calibration needs at least one evaluation"),
            Self::Failed { lock, threads, seed, how } => {
                write!(f, "simulated `{lock}` with {threads} threads and seed {seed} failed: {how}")
            }
        }
    }
}

impl std::error::Error for SimulatedError {}

impl From<MachineError> for SimulatedError {
    fn from(error: MachineError) -> Self {
        Self::Machine(error)
    }
}

/// Runs independent cells on `workers` host threads; the outcomes are in the order of the cells and
/// do not depend on `workers`.
pub fn run_cells(cells: &[Cell<'_>], workers: usize) -> Vec<Result<Outcome, SimulatedError>> {
    let slots: Vec<_> = cells.iter().map(|_| Mutex::new(None)).collect();
    let taken = AtomicUsize::new(0);
    let work = || {
        loop {
            // ordering: Relaxed; only hands out numbers. The last cells first: in a table they have
            // the most threads and take longest.
            let at = taken.fetch_add(1, Ordering::Relaxed);
            let Some(at) = cells.len().checked_sub(at + 1) else { return };
            let outcome = cells[at].run();
            if let Ok(mut slot) = slots[at].lock() {
                *slot = Some(outcome);
            }
        }
    };
    match workers.min(cells.len()) {
        0 | 1 => work(),
        workers => std::thread::scope(|scope| {
            (0..workers).for_each(|_| {
                scope.spawn(work);
            });
        }),
    }
    let outcomes = slots.into_iter().map(|slot| slot.into_inner().ok().flatten());
    // A worker that panics makes the scope panic, so no slot is empty here.
    outcomes.flatten().collect()
}

impl Cell<'_> {
    /// Runs the cell on the calling thread.
    pub fn run(&self) -> Result<Outcome, SimulatedError> {
        registry::visit(self.lock, Run(self))
            .unwrap_or_else(|| Err(SimulatedError::UnknownLock(self.lock.into())))
    }

    /// The settings of the run of a lock of type `L`.
    fn config<L: RawLock>(&self) -> Config {
        let checks = match self.purpose {
            Purpose::Torture(_) => Checks {
                fifo: matches!(L::ORDER, Order::Fifo | Order::FifoAfterPending),
                overtaking_max: Some(u32::MAX),
                word_is_legal: Some(L::word_is_legal),
            },
            Purpose::Throughput | Purpose::Latency => Checks::default(),
        };
        let tunables = self.tunables.to_vec();
        let usual = Config::window(self.warmup_ns, self.window_ns);
        Config {
            checks,
            tunables,
            nodes: self.nodes(),
            preemption: self.purpose.stress().preemption,
            time_limit_ns: usual.time_limit_ns.saturating_add(self.extra_ns()),
            ..usual
        }
    }

    /// The queue nodes: those of a kernel, unless threads may hold more queue locks than a CPU has
    /// nodes; then a pool, as in a program.
    fn nodes(&self) -> NodesMode {
        let held = self.purpose.stress().nested as u32 + 1;
        match held > u32::from(NODES_PER_CPU) {
            // A CLH lock keeps a node of its own.
            true => NodesMode::Pool((held * (self.threads + 1)).try_into().unwrap_or(u16::MAX)),
            false => NodesMode::PerCpu,
        }
    }

    /// How much longer a run may take because of what a torture adds: everybody's last section may
    /// be a long one, and everybody may be away meanwhile.
    fn extra_ns(&self) -> u64 {
        let stress = self.purpose.stress();
        let away_ns = stress.preemption.map_or(0, |preemption| preemption.for_ns);
        let each_ns = stress.long_hold_ns.saturating_mul(4).saturating_add(away_ns * 20);
        each_ns.saturating_mul(self.threads.into()).saturating_add(stress.stutter_ns * 2)
    }

    fn run_typed<L: RawLock>(&self) -> Result<Outcome, SimulatedError> {
        let placed = self.placement.place(&self.machine.topology, self.threads, self.seed);
        let cpus = placed.map_err(SimulatedError::Placement)?;
        let parts = self.software_ps();
        let seen = Seen::default();
        let mut arena = Arena::default();
        let config = self.config::<L>();
        let mut simulation = Simulation::new(self.machine, &mut arena, self.seed, config);
        take_waits();
        let report = match self.workload {
            Workload::Uncontended => {
                let state = simulation.alloc(uncontended::State::<L>::zeroed());
                for &cpu in &cpus {
                    let mut worker = SimWorker::new(&parts);
                    simulation.spawn(cpu, move || uncontended::run(&mut worker, state));
                }
                simulation.run()
            }
            Workload::Counter { cs_load, think_load } => {
                let state = simulation.alloc(counter::State::<Sim, L>::zeroed());
                let knobs = counter::Knobs { cs_load, think_load };
                for &cpu in &cpus {
                    let mut worker = SimWorker::new(&parts);
                    simulation.spawn(cpu, move || counter::run(&mut worker, state, knobs));
                }
                simulation.run()
            }
            Workload::Locktorture { .. } => {
                self.spawn_torture::<L>(&mut simulation, &cpus, &parts, &seen);
                simulation.run()
            }
        };
        self.outcome(report, &seen)
    }

    fn spawn_torture<'a, L: RawLock>(
        &self,
        simulation: &mut Simulation<'a>,
        cpus: &[u32],
        parts: &'a [(&'static str, u64)],
        seen: &'a Seen,
    ) {
        let stress = self.purpose.stress();
        let state = simulation.alloc(locktorture::State::<Sim, L>::zeroed());
        let lines = locktorture::stats_lines(cpus.len());
        let stats = simulation.alloc_slice_at(0, lines, |_| locktorture::StatsLine::zeroed());
        let nested: &[locktorture::State<Sim, L>] = match stress.nested {
            0 => &[],
            count => simulation.alloc_slice_at(0, count, |_| Zeroed::zeroed()),
        };
        // A benchmark adds its long holds by formula.
        let knobs = locktorture::Knobs { threads: self.threads, long_hold_ns: stress.long_hold_ns };
        for (index, &cpu) in cpus.iter().enumerate() {
            let stats = &stats[index / locktorture::STATS_PER_LINE];
            let mut worker = SimWorker::new(parts).with_stutter(stress.stutter_ns);
            simulation.spawn(cpu, move || {
                let tally = locktorture::run(&mut worker, state, stats, nested, knobs);
                seen.add(tally, worker.pauses());
            });
        }
    }

    /// What the parts of the workload's software take.
    fn software_ps(&self) -> Vec<(&'static str, u64)> {
        let workload = self.workload.name();
        let part = |&part| {
            let ns = self.parameters.software_ns(workload, part);
            (part, (ns * 1000.0).round() as u64)
        };
        match self.workload {
            Workload::Locktorture { .. } => locktorture::part::ALL.iter().map(part).collect(),
            Workload::Counter { .. } => counter::part::ALL.iter().map(part).collect(),
            Workload::Uncontended => Vec::new(),
        }
    }

    fn outcome(&self, report: RunReport, seen: &Seen) -> Result<Outcome, SimulatedError> {
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
                lock: self.lock.into(),
                threads: self.threads,
                seed: self.seed,
                how: how.clone(),
            });
        }
        let ops_per_s = match (self.workload, self.purpose) {
            // A torture takes them.
            (_, Purpose::Torture(_)) => report.ops_per_s(),
            (Workload::Locktorture { long_hold: true }, _) => {
                locktorture::with_long_holds(report.ops_per_s(), self.threads)
            }
            _ => report.ops_per_s(),
        };
        Ok(Outcome {
            ops_per_s,
            fail: seen.failed(),
            violations,
            exercised: Exercised { preemptions: report.preemptions, ..seen.exercised() },
            most_overtakes: report.most_overtakes,
            window_ns: report.window_ps / 1_000,
            waits: self.purpose.times_waits().then(take_waits),
            events: EventCounts::from_fn(|event| report.count_of(event)),
            simulated_events: report.events,
            digest: report.digest,
            per_thread_ops: report.ops,
        })
    }
}

/// Runs a cell with the lock that its name stands for.
struct Run<'a, 'b>(&'a Cell<'b>);

impl LockVisitor<Sim> for Run<'_, '_> {
    type Output = Result<Outcome, SimulatedError>;

    fn visit<L: RawLock>(self, _row: &'static LockRow) -> Self::Output {
        match self.0.purpose {
            Purpose::Throughput => self.0.run_typed::<L>(),
            Purpose::Latency => self.0.run_typed::<Timed<Sim, L>>(),
            Purpose::Torture(_) => self.0.run_typed::<Watched<Timed<Sim, L>>>(),
        }
    }
}

#[cfg(test)]
mod tests;

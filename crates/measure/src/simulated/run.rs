//! Running a trial: the settings of the run, its threads, and what is made of its report.

use super::worker::SimWorker;
use super::{SimulatedMachine, Watched};
use crate::compiles_every_lock;
use crate::erased::{self, AskCondvar, AskLockUntil, CapableVisitor, ErasedType, erase};
use crate::latency::{Timed, Waited, take_waits};
use crate::record::{EventCounts, ScheduleCounts, TrialError, TrialRecord};
use crate::stress::Exercised;
use crate::trial::{Purpose, Trial};
use crate::workload::facts::{Finding, Heap, Load, Setting, Tally};
use crate::workload::{Workload, with_everywhere};
use lockwright_catalog::capabilities::{CondvarLock, TimedLock};
use lockwright_catalog::registry::{self, LockRow, LockVisitor};
use lockwright_core::platform::{Cells, Zeroed};
use lockwright_core::queue::NODES_PER_CPU;
use lockwright_core::raw::{Order, RawLock};
use lockwright_sim::{
    Arena, Checks, Config, NodesMode, RunReport, ScheduleReport, Sim, Simulation,
};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The memory of a simulated machine.
struct SimHeap<'a>(Simulation<'a>);

impl<'a> Heap for SimHeap<'a> {
    type P = Sim;
    type One<T: Send + Sync + 'static> = &'a T;
    type Many<T: Send + Sync + 'static> = &'a [T];

    fn one<T: Send + Sync + 'static>(&mut self, value: T) -> &'a T {
        self.0.alloc(value)
    }
    fn many<T: Send + Sync + 'static>(
        &mut self,
        count: usize,
        make: impl FnMut(usize) -> T,
    ) -> &'a [T] {
        if count == 0 { &[] } else { self.0.alloc_slice_at(0, count, make) }
    }
}

/// What the parts of the workload's software take, in picoseconds.
type Parts<'a> = &'a [(&'static str, u64)];

/// What is asked at the end: what the workload found out, and when a fixed amount of work was done.
type End<'a> = Box<dyn FnOnce() -> (Finding, Option<u64>) + 'a>;

/// Adds the threads of a trial. Each has its own CPU, or none if a scheduler gives it one.
type Spawn = for<'a> fn(&Trial, &mut SimHeap<'a>, &[Option<u32>], Parts<'a>) -> End<'a>;

/// What a trial needs of the type of its lock.
pub(super) struct LockProgram {
    order: Order,
    word_is_legal: fn(u32) -> bool,
    lock: ErasedType,
    spawn: Spawn,
}

/// What a trial needs of the lock that is visited.
struct ProgramOf<'a>(&'a Trial);

impl LockVisitor<Sim> for ProgramOf<'_> {
    type Output = LockProgram;

    fn visit<L: RawLock>(self, row: &'static LockRow) -> LockProgram {
        let program = LockProgram::of::<L>(self.0);
        let lock = program
            .lock
            .with_condvar(registry::visit_condvar::<Sim, _>(row, AskCondvar))
            .with_lock_until(registry::visit_timed::<Sim, _>(row, AskLockUntil));
        LockProgram { lock, ..program }
    }
}

impl LockProgram {
    /// What `trial` needs of the lock `L`.
    pub(super) fn of<L: RawLock>(trial: &Trial) -> Self {
        Self {
            order: L::ORDER,
            word_is_legal: L::word_is_legal,
            lock: ErasedType::of::<L>(),
            spawn: erase::<L, _>(SpawnOf(trial.purpose)),
        }
    }
}

/// How to add the threads of a trial.
struct SpawnOf(Purpose);

impl CapableVisitor for SpawnOf {
    type Output = Spawn;

    fn visit<L: CondvarLock + TimedLock>(self) -> Spawn {
        match self.0 {
            // Looking at the clock takes no simulated time, so one program serves both.
            Purpose::Throughput | Purpose::Latency => spawn::<Timed<Sim, L>>,
            Purpose::Torture(_) => spawn_torture::<Watched<Timed<Sim, L>>>,
        }
    }
}

fn spawn<'a, L: CondvarLock + TimedLock>(
    trial: &Trial,
    heap: &mut SimHeap<'a>,
    seats: &[Option<u32>],
    parts: Parts<'a>,
) -> End<'a> {
    let end = with_everywhere!(trial.workload, params => {
        start::<_, L>(params, trial, heap, seats, parts)
    });
    end.unwrap_or_else(|| unreachable!("it is refused"))
}

/// A torture runs locktorture.
fn spawn_torture<'a, L: RawLock>(
    trial: &Trial,
    heap: &mut SimHeap<'a>,
    seats: &[Option<u32>],
    parts: Parts<'a>,
) -> End<'a> {
    match trial.workload {
        Workload::Locktorture(params) => start::<_, L>(params, trial, heap, seats, parts),
        other => unreachable!("a torture does not run `{}`", other.name()),
    }
}

/// A workload whose threads run.
struct Running<'a, X: Load<SimHeap<'a>, L>, L> {
    params: X,
    state: X::State,
    all: RefCell<X::Tally>,
    /// Operations, also those before and after the window.
    ops: Cell<u64>,
    /// Pauses that every thread made; `None` until a thread has returned.
    fewest_pauses: Cell<Option<u64>>,
}

/// Places a workload and adds its threads.
fn start<'a, X: Load<SimHeap<'a>, L>, L: 'static>(
    params: X,
    trial: &Trial,
    heap: &mut SimHeap<'a>,
    seats: &[Option<u32>],
    parts: Parts<'a>,
) -> End<'a>
where
    X::State: 'a,
{
    let setting = Setting { threads: trial.threads, stress: trial.purpose.stress() };
    let state = params.place(setting, heap);
    let stutter_ns = stutter_ns(trial);
    // Where threads that share CPUs sleep through pauses.
    let has_bed = trial.scheduling.is_some() && stutter_ns > 0;
    let bed = has_bed.then(|| heap.one(<Sim as Cells>::U32::zeroed()));
    let running = Rc::new(Running {
        params,
        state,
        all: RefCell::default(),
        ops: Cell::new(0),
        fewest_pauses: Cell::new(None),
    });
    for &seat in seats {
        let running = Rc::clone(&running);
        let body = move || {
            let mut worker = SimWorker::new(parts, stutter_ns, bed);
            let tally = running.params.run(&running.state, &mut worker);
            running.all.borrow_mut().merge(tally);
            running.ops.set(running.ops.get() + worker.ops());
            let fewest = running.fewest_pauses.get().unwrap_or(u64::MAX);
            running.fewest_pauses.set(Some(fewest.min(worker.pauses())));
        };
        match seat {
            Some(cpu) => heap.0.spawn(cpu, body),
            None => heap.0.spawn_scheduled(body),
        };
    }
    Box::new(move || {
        let Running { params, state, all, ops, fewest_pauses } = &*running;
        let mut found = params.found(state, &all.borrow(), ops.get());
        found.exercised.stutters = fewest_pauses.get().unwrap_or(0);
        (found, params.done_ns(state).map(|(_, end_ns)| end_ns))
    })
}

/// All threads run this long and pause this long in turn; 0 is never.
fn stutter_ns(trial: &Trial) -> u64 {
    let stutter_ns = trial.purpose.stress().stutter_ns;
    match trial.workload {
        Workload::Locktorture(it) => stutter_ns.max(it.stutter_ns),
        _ => stutter_ns,
    }
}

/// A trial on a machine.
pub(super) struct SimulatedRun<'a> {
    pub(super) machine: &'a SimulatedMachine,
    pub(super) trial: &'a Trial,
}

impl SimulatedRun<'_> {
    /// Runs it on the calling thread.
    pub(super) fn run(&self) -> Result<TrialRecord, TrialError> {
        compiles_every_lock();
        let row = self.trial.lock.row;
        match registry::visit(row, ProgramOf(self.trial)) {
            Some(program) => self.run_program(&program),
            None => Err(TrialError::Failed(format!("there is no lock `{}`", row.name))),
        }
    }

    /// The settings of the run.
    pub(super) fn config(&self, program: &LockProgram) -> Config {
        let Trial { purpose, window_ns, scheduling, .. } = *self.trial;
        let checks = match purpose {
            Purpose::Torture(_) => Checks {
                fifo: matches!(program.order, Order::Fifo | Order::FifoAfterPending),
                overtaking_max: Some(u32::MAX),
                word_is_legal: Some(program.word_is_legal),
            },
            Purpose::Throughput | Purpose::Latency => Checks::default(),
        };
        let usual = Config::window(self.warmup_ns(), window_ns);
        Config {
            checks,
            tunables: self.machine.tunables(self.trial).collect(),
            nodes: self.nodes(),
            scheduling,
            preemption: purpose.stress().preemption,
            time_limit_ns: usual.time_limit_ns.saturating_add(self.extra_ns()),
            ..usual
        }
    }

    /// Long enough for a queue of all CPUs to form and turn over a few times.
    fn warmup_ns(&self) -> u64 {
        let Trial { workload, window_ns, warmup_ns, .. } = self.trial;
        warmup_ns.unwrap_or(match workload.has_no_warm_up() {
            true => 0,
            false => (window_ns / 5).clamp(100_000, 1_000_000),
        })
    }

    /// The queue nodes: those of a kernel, unless threads may hold more queue locks than a CPU has
    /// nodes or share a CPU without being its guest; then a pool, as in a program.
    fn nodes(&self) -> NodesMode {
        let Trial { workload, purpose, scheduling, threads, .. } = self.trial;
        // A task that sleeps for a lock keeps a node, and takes others for what the lock is made of.
        let of_lock = if workload.is_in_kernel() { NODES_PER_CPU.into() } else { 1 };
        let held = (purpose.stress().nested as u32 + 1) * of_lock;
        let moves = scheduling.is_some_and(|s| s.kind.moves_between_cpus());
        match moves || held > u32::from(NODES_PER_CPU) {
            true => {
                let threads = *threads as u32;
                // A CLH lock in use keeps a node of its own.
                let locks = workload.locks().min(threads);
                NodesMode::Pool((held * (threads + locks)).try_into().unwrap_or(u16::MAX))
            }
            false => NodesMode::PerCpu,
        }
    }

    /// How much longer a run may take because of what a torture adds, and of a shared CPU. The last critical
    /// section of each thread may be a long one, each thread may be away meanwhile, and all threads behind it wait.
    fn extra_ns(&self) -> u64 {
        let stress = self.trial.purpose.stress();
        let away_ns = stress.preemption.map_or(0, |preemption| preemption.for_ns);
        let each_ns = stress.longest_hold_ns().saturating_mul(4).saturating_add(away_ns * 20);
        let each_ns = each_ns.saturating_add(self.turn_ns() * (stress.nested as u64 + 1));
        let pauses_ns = stutter_ns(self.trial).saturating_mul(2);
        each_ns.saturating_mul(self.trial.threads as u64).saturating_add(pauses_ns)
    }

    /// How long a thread may have to wait for a CPU that it shares: a slice of each of the others.
    fn turn_ns(&self) -> u64 {
        let machine = self.machine.machine();
        let cpus = u64::from(machine.topology.cpus());
        match (&machine.scheduler, self.trial.scheduling) {
            (Some(host), Some(_)) => host.slice_ns as u64 * (self.trial.threads as u64 / cpus + 1),
            _ => 0,
        }
    }

    /// Where each thread runs.
    fn seats(&self) -> Result<Vec<Option<u32>>, String> {
        let (machine, trial) = (self.machine.machine(), self.trial);
        if trial.scheduling.is_some() {
            machine.scheduler().map_err(|error| error.to_string())?;
            return Ok(vec![None; trial.threads]);
        }
        let placement = self.machine.placement_of(trial);
        let threads = trial.threads.try_into().unwrap_or(u32::MAX);
        let placed = placement.place(&machine.topology, threads, trial.simulated_seed());
        let cpus = placed.map_err(|error| error.to_string())?;
        Ok(cpus.into_iter().map(Some).collect())
    }

    pub(super) fn run_program(&self, program: &LockProgram) -> Result<TrialRecord, TrialError> {
        let seats = self.seats().map_err(TrialError::Failed)?;
        let parts = self.software_ps();
        let mut arena = Arena::default();
        let (machine, seed) = (self.machine.machine(), self.trial.simulated_seed());
        let simulation = Simulation::new(machine, &mut arena, seed, self.config(program));
        take_waits();
        erased::choose(program.lock);
        let mut heap = SimHeap(simulation);
        let end = (program.spawn)(self.trial, &mut heap, &seats, &parts);
        let report = heap.0.run();
        let (found, end_ns) = end();
        self.record(report, found, end_ns)
    }

    /// What the parts of the workload's software take.
    fn software_ps(&self) -> Vec<(&'static str, u64)> {
        let workload = self.trial.workload;
        let part = |&part| {
            let ns = self.machine.parameters().software_ns(workload.name(), part);
            (part, (ns * 1000.0).round() as u64)
        };
        workload.software_parts().iter().map(part).collect()
    }

    fn record(
        &self,
        report: RunReport,
        found: Finding,
        wall_ns: Option<u64>,
    ) -> Result<TrialRecord, TrialError> {
        let Trial { lock, threads, purpose, .. } = *self.trial;
        let mut violations: Vec<String> =
            report.failures.iter().map(|failure| failure.to_string()).collect();
        let untold = report.failures_total - violations.len() as u64;
        if untold > 0 {
            violations.push(format!("and {untold} more"));
        }
        if !matches!(purpose, Purpose::Torture(_))
            && let Some(how) = violations.first()
        {
            return Err(TrialError::Failed(format!(
                "simulated `{}` with {threads} threads and seed {} failed: {how}",
                lock.name(),
                self.trial.simulated_seed()
            )));
        }
        let window_ns = wall_ns.unwrap_or(report.window_ps / 1_000);
        let all = take_waits();
        let transfers = all.if_transferred();
        let waited = purpose.times_waits().then_some(all);
        let (cpu_s, voluntary_switches, involuntary_switches) =
            usage(report.schedule.as_ref(), window_ns, threads);
        Ok(TrialRecord {
            ops_per_s: self.ops_per_s(&report, wall_ns),
            cpu_s,
            voluntary_switches,
            involuntary_switches,
            run_ps: report.schedule.iter().flat_map(|schedule| &schedule.run_ps).sum(),
            host: report.schedule.as_ref().map(ScheduleCounts::from),
            fail: found.fail,
            violations,
            exercised: Exercised { preemptions: report.preemptions, ..found.exercised },
            most_overtakes: report.most_overtakes,
            window_ns,
            wall_ns,
            waits: waited.as_ref().map(Waited::all),
            transfers,
            waited: waited.and_then(Waited::if_roles),
            events: EventCounts::from_fn(|event| report.count_of(event)),
            simulated_events: report.events,
            digest: Some(report.digest.to_string()),
            per_thread_ops: report.ops,
            // How threads waited is counted on this computer only.
            condvar_waits: None,
            starved: None,
        })
    }

    fn ops_per_s(&self, report: &RunReport, wall_ns: Option<u64>) -> f64 {
        let Trial { workload, purpose, threads, .. } = self.trial;
        match (wall_ns, purpose) {
            // A torture takes its long holds.
            (_, Purpose::Torture(_)) => report.ops_per_s(),
            (Some(wall_ns), _) => report.ops_total() as f64 * 1e9 / wall_ns as f64,
            (None, _) => workload.with_rare(report.ops_per_s(), *threads as u32),
        }
    }
}

/// Time on CPUs, in seconds, and switches, voluntary and not, of all threads of a trial. Threads with
/// a CPU each use it all the time.
fn usage(schedule: Option<&ScheduleReport>, window_ns: u64, threads: usize) -> (f64, u64, u64) {
    match schedule {
        None => (window_ns as f64 * 1e-9 * threads as f64, 0, 0),
        Some(ScheduleReport { run_ps, voluntary_switches, involuntary_switches, .. }) => (
            run_ps.iter().sum::<u64>() as f64 * 1e-12,
            voluntary_switches.iter().sum(),
            involuntary_switches.iter().sum(),
        ),
    }
}

#[cfg(test)]
mod tests;

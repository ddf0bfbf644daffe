//! This computer as a machine of the lab.

pub mod affinity;
mod checked;
pub mod churn;
mod compute;
mod conduct;
pub(crate) mod floor;
mod forked;
mod gate;
pub mod heap;
mod load;
pub mod locks;
mod neighbours;
mod pairs;
pub mod priority;
pub mod role;
mod run;
pub mod starve;
pub(crate) mod usage;
mod worker;

pub use usage::ForeignLoad;

use crate::compiles_every_lock;
use crate::fairness::FairnessWindow;
use crate::interrupt;
use crate::record::{TrialError, TrialRecord};
use crate::runner::Done;
use crate::stress::Stress;
use crate::subject::{Subject, SubjectOrigin};
use crate::trial::{LabMachine, On, Purpose, Settings, Trial};
use crate::workload::Workload;
use lockwright_core::native::{Native, set_tunable};
use lockwright_core::platform::Placement as _;
use lockwright_core::tunables::Tunable;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::Duration;

/// This computer.
pub struct NativeMachine {
    cpus: Vec<usize>,
    tunables: Vec<(Tunable, u64)>,
}

impl NativeMachine {
    /// This computer, with the locks' numbers set as asked.
    pub fn new(settings: &Settings) -> Self {
        for &(tunable, value) in &settings.tunables {
            set_tunable(tunable, Some(value)).expect("options are in range");
        }
        Self { cpus: affinity::allowed_cpus(), tunables: settings.tunables.clone() }
    }
    fn run_unless_interrupted(&self, spec: &Trial) -> Result<TrialRecord, TrialError> {
        match interrupt::is_requested() {
            true => Err(TrialError::Interrupted),
            false => self.run_trial(spec),
        }
    }
    /// The CPU for work that is done by one thread: not the first, which serves most interrupts.
    fn quiet_cpu(&self) -> Option<usize> {
        self.cpus.last().copied()
    }
}

impl LabMachine for NativeMachine {
    fn on(&self, _workload: Workload) -> On {
        On::Native {
            machine: processor(),
            cpus: self.cpus.len(),
            numa_nodes: Native::numa_nodes(),
            kernel: kernel(),
        }
    }
    fn is_simulated(&self) -> bool {
        false
    }
    fn identity(&self) -> String {
        // Variables set tunables, too, and code that was not optimised is another lock.
        let is_ours = |(name, _): &(OsString, OsString)| {
            name.to_str().is_some_and(|name| name.starts_with("LOCKWRIGHT_"))
        };
        let mut variables: Vec<_> = std::env::vars_os().filter(is_ours).collect();
        variables.sort();
        let is_debug = cfg!(debug_assertions);
        let Self { cpus, tunables } = self;
        format!("{} {} {cpus:?} {tunables:?} {variables:?} {is_debug}", processor(), kernel())
    }
    fn cpus(&self) -> usize {
        self.cpus.len()
    }
    fn run_trial(&self, spec: &Trial) -> Result<TrialRecord, TrialError> {
        compiles_every_lock();
        let quiet_cpu = [self.quiet_cpu().unwrap_or(0)];
        let plan = run::ThreadPlan {
            threads: spec.threads,
            cpus: if spec.threads == 1 { &quiet_cpu } else { &self.cpus },
            all_cpus: &self.cpus,
            window: Duration::from_nanos(spec.window_ns),
            is_fixed_work: spec.workload.is_fixed_work(),
            seed: spec.seed ^ u64::from(spec.repetition) << 32,
            counts_events: spec.purpose == Purpose::Latency,
            stress: stress_of(spec),
            has_neighbours: spec.has_neighbours,
        };
        let run = || run::run_threads(&plan, locks::visit(spec.lock, load::LoadOf(spec)));
        match spec.workload {
            Workload::Starve(it) if it.forked => forked::run(it.role, run),
            _ => run(),
        }
    }
    fn fairness_window(&self, spec: &Trial) -> FairnessWindow {
        let used: BTreeSet<u32> = self
            .cpus
            .iter()
            .take(spec.threads)
            .map(|&cpu| Native::numa_node_of(cpu.try_into().unwrap_or(u32::MAX)))
            .collect();
        let threshold = locks::fairness_threshold(spec.lock);
        spec.workload.fairness_window(spec.threads, threshold, used.len() as u32)
    }
    fn run_batch(&self, specs: &[Trial], done: &Done<'_>) -> Vec<Result<TrialRecord, TrialError>> {
        let is_pairs = |spec: &Trial| {
            let is_alike = spec.workload == specs[0].workload && spec.threads == specs[0].threads;
            let has_cpus = spec.threads <= self.cpus.len().max(1);
            let is_pair = pairs::PairForm::of(spec.workload).is_some();
            is_alike && has_cpus && is_pair && spec.purpose == Purpose::Throughput
        };
        if specs.iter().all(is_pairs) {
            // They take turns, and all are done at the end.
            let measured = pairs::run(specs, &self.cpus);
            done(measured.len());
            return measured;
        }
        let run = |(at, spec)| {
            let measured = self.run_unless_interrupted(spec);
            done(at + 1);
            measured
        };
        specs.iter().enumerate().map(run).collect()
    }
    fn refuses(&self, lock: Subject, workload: Workload) -> Option<String> {
        if let Some(needs) = workload.needs().filter(|&needs| !locks::has(lock, needs)) {
            return Some(locks::lacks(lock, needs));
        }
        if let Workload::Starve(it) = workload
            && let Some(why) = starve::refuses(lock, it.role)
        {
            return Some(why);
        }
        let is_alone = matches!(workload, Workload::Uncontended(_));
        (lock.origin == SubjectOrigin::Floor && !is_alone).then(|| {
            format!(
                "`{}` is no lock: it runs with `--workload uncontended`, not `{}`",
                lock.name(),
                workload.name()
            )
        })
    }
}

/// When the threads of a trial pause and move.
fn stress_of(trial: &Trial) -> Stress {
    let stress = trial.purpose.stress();
    match trial.workload {
        Workload::Locktorture(it) => {
            Stress { stutter_ns: stress.stutter_ns.max(it.stutter_ns), ..stress }
        }
        _ => stress,
    }
}

/// The processor's name.
pub fn processor() -> String {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |line: &str| {
        let (key, value) = line.split_once(':')?;
        matches!(key.trim(), "model name" | "Model").then(|| value.trim().to_string())
    };
    cpuinfo.lines().find_map(value).unwrap_or_else(|| format!("a {} CPU", std::env::consts::ARCH))
}

/// The kernel's name and version.
pub fn kernel() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", std::env::consts::OS, release.trim()).trim_end().to_string()
}

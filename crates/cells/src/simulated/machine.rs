//! Simulated machines as the commands see them.

use super::{Cell, Fitted, Outcome, SimulatedError};
use crate::cell::{
    CellError, CellSpec, Host, LabMachine, Measurement, On, PlacementPolicy, Settings, Workload,
};
use crate::error::Error;
use crate::interrupt;
use crate::subject::{Origin, Subject};
use lockwright_sim::ScheduleReport;
use lockwright_sim::machine::{Calibration, Machine, MachineError, Parameters, Placement};
use std::path::Path;

/// A described machine, calibrated if there is a calibration for it.
#[derive(Clone, Debug)]
pub struct SimulatedMachine {
    machine: Machine,
    parameters: Parameters,
    calibration: Option<Calibration>,
    settings: Settings,
}

impl SimulatedMachine {
    /// The built-in machine of that name; `None` if there is none.
    pub fn builtin(name: &str, settings: Settings) -> Option<Result<Self, MachineError>> {
        let machine = Machine::builtin(name)?;
        Some(Self::new(machine, Calibration::builtin(name), settings))
    }

    /// The machine that a file describes, with the calibration beside it
    /// (`NAME.calibration.toml`), if there is one.
    pub fn from_path(path: impl AsRef<Path>, settings: Settings) -> Result<Self, MachineError> {
        let machine = Machine::from_path(&path)?;
        let beside = path.as_ref().with_extension("calibration.toml");
        let calibration = beside.exists().then(|| Calibration::from_path(&beside)).transpose()?;
        Self::new(machine, calibration, settings)
    }

    /// A machine with a calibration that must have been made for it.
    pub fn new(
        machine: Machine,
        calibration: Option<Calibration>,
        settings: Settings,
    ) -> Result<Self, MachineError> {
        machine.validate()?;
        let (machine, parameters) = match &calibration {
            Some(calibration) => (machine.with(calibration)?, calibration.parameters.clone()),
            None => (machine, Parameters::default()),
        };
        Ok(Self { machine, parameters, calibration, settings })
    }

    /// The machine itself.
    pub fn into_machine(self) -> Machine {
        self.machine
    }

    /// What was fitted for a workload, if anything was.
    pub fn fitted(&self, workload: Workload) -> Option<Fitted> {
        Fitted::of(self.calibration.as_ref()?, workload)
    }

    /// Where the threads of a workload run: what the user asked for, what the calibration was made
    /// with, or socket by socket.
    pub fn placement(&self, workload: Workload) -> Placement {
        let fitted = || {
            let fits = self.calibration.iter().flat_map(|calibration| &calibration.fits);
            let fit = fits.into_iter().find(|fit| fit.workload == workload.name())?;
            Placement::named(&fit.placement)
        };
        match self.settings.placement {
            Some(PlacementPolicy::Compact) => Placement::Compact,
            Some(PlacementPolicy::Spread) => Placement::Spread,
            Some(PlacementPolicy::Random) => Placement::Random,
            Some(PlacementPolicy::Scheduler56) => Placement::Scheduler56,
            None => fitted().unwrap_or(Placement::Compact),
        }
    }

    /// Runs a cell and returns all there is to know about it. Repetition `r` has the seed
    /// `seed + r`.
    pub fn run(&self, spec: &CellSpec) -> Result<Outcome, SimulatedError> {
        let cell = Cell {
            machine: &self.machine,
            parameters: &self.parameters,
            lock: spec.lock.name(),
            workload: spec.workload,
            threads: spec.threads.try_into().unwrap_or(u32::MAX),
            has_siblings: true,
            placement: self.placement(spec.workload),
            scheduling: spec.scheduling,
            seed: spec.seed.wrapping_add(spec.repetition.into()),
            warmup_ns: warmup_ns(spec),
            window_ns: spec.window_ns,
            tunables: &self.settings.tunables,
            purpose: spec.purpose,
        };
        cell.run()
    }
}

/// Long enough for a queue of all CPUs to form and turn over a few times. A fixed amount of work is
/// measured from its start.
fn warmup_ns(spec: &CellSpec) -> u64 {
    // Who has the lock first is a part of who gets it how often.
    match spec.workload.is_fixed_work() || matches!(spec.workload, Workload::Handoff { .. }) {
        true => 0,
        false => (spec.window_ns / 5).clamp(100_000, 1_000_000),
    }
}

/// Time on CPUs, in seconds, and switches, voluntary and not, of all threads of a cell. Threads with
/// a CPU each use it all the time.
fn usage(outcome: &Outcome, threads: usize) -> (f64, u64, u64) {
    match &outcome.schedule {
        None => (outcome.window_ns as f64 * 1e-9 * threads as f64, 0, 0),
        Some(ScheduleReport { run_ps, voluntary_switches, involuntary_switches, .. }) => (
            run_ps.iter().sum::<u64>() as f64 * 1e-12,
            voluntary_switches.iter().sum(),
            involuntary_switches.iter().sum(),
        ),
    }
}

impl LabMachine for SimulatedMachine {
    fn on(&self, workload: Workload) -> On {
        On::Simulated {
            machine: self.machine.name.clone(),
            description: self.machine.description.clone(),
            cpus: self.cpus(),
            numa_nodes: self.machine.topology.sockets,
            scheduled: None,
            placement: Some(self.placement(workload).name().into()),
            calibration: self.fitted(workload),
        }
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn cpus(&self) -> usize {
        self.machine.topology.cpus() as usize
    }

    fn fitted_ns(&self, workload: &str, part: &str) -> Option<u64> {
        let ns = self.parameters.software_ns(workload, part);
        (ns > 0.0).then(|| ns.round() as u64)
    }

    fn has_scheduler(&self) -> Result<(), Error> {
        self.machine.scheduler().map(drop).map_err(|error| Error::Machine(error.to_string()))
    }

    fn refuses(&self, lock: Subject, _workload: Workload) -> Option<String> {
        let is_ours = lock.origin == Origin::Registry;
        (!is_ours).then(|| {
            format!("`{}` is not written for simulated machines: leave it out", lock.name())
        })
    }

    fn run_cell(&self, spec: &CellSpec) -> Result<Measurement, CellError> {
        if interrupt::is_requested() {
            return Err(CellError::Interrupted);
        }
        let outcome = self.run(spec).map_err(|error| CellError::Failed(error.to_string()))?;
        let (cpu_s, voluntary_switches, involuntary_switches) = usage(&outcome, spec.threads);
        Ok(Measurement {
            cpu_s,
            voluntary_switches,
            involuntary_switches,
            host: outcome.schedule.map(Host::from),
            window_ns: outcome.window_ns,
            wall_ns: outcome.wall_ns,
            per_thread_ops: outcome.per_thread_ops,
            ops_per_s: outcome.ops_per_s,
            waits: outcome.waits,
            waited: outcome.waited,
            events: outcome.events,
            fail: outcome.fail,
            violations: outcome.violations,
            exercised: outcome.exercised,
            most_overtakes: outcome.most_overtakes,
            simulated_events: outcome.simulated_events,
            digest: Some(outcome.digest.to_string()),
        })
    }

    fn cells_at_once(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(settings: Settings) -> SimulatedMachine {
        match SimulatedMachine::builtin("x5-4", settings) {
            Some(Ok(machine)) => machine,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_placement_that_is_asked_for_wins() {
        let placement = Some(PlacementPolicy::Spread);
        let machine = open(Settings { placement, ..Settings::default() });
        let torture = Workload::Locktorture { long_hold: false };
        assert_eq!(machine.placement(torture), Placement::Spread);
        assert_eq!(open(Settings::default()).placement(torture), Placement::Scheduler56);
        assert_eq!(open(Settings::default()).placement(Workload::Uncontended), Placement::Compact);
    }

    #[test]
    fn the_locks_of_others_are_refused() {
        let machine = open(Settings::default());
        let refusal = |lock| {
            let subject = Subject::find(lock).expect("it is a lock");
            machine.refuses(subject, Workload::Uncontended)
        };
        assert!(refusal("std").is_some_and(|why| why.contains("`std`")));
        assert_eq!(refusal("cna"), None);
    }

    #[test]
    fn a_calibration_beside_a_machine_file_is_used_and_refused_when_stale() {
        let folder = tempfile::tempdir().expect("a place for two files");
        let (file, beside) =
            (folder.path().join("x5-4.toml"), folder.path().join("x5-4.calibration.toml"));
        let text = include_str!("../../../../machines/x5-4.toml");
        let write = |path: &Path, text: &str| std::fs::write(path, text).expect("it is writable");
        let open = || SimulatedMachine::from_path(&file, Settings::default());

        write(&file, text);
        assert!(open().is_ok_and(|machine| machine.calibration.is_none()));
        write(&beside, include_str!("../../../../machines/x5-4.calibration.toml"));
        assert!(open().is_ok_and(|machine| machine.calibration.is_some()));
        write(&file, &text.replace("ns = 7.0", "ns = 8.0"));
        let error = open().expect_err("the machine changed");
        assert!(error.to_string().contains("calibrate the machine again"), "{error}");
    }
}

//! Simulated machines as the commands see them.

use super::Fitted;
use super::run::SimulatedRun;
use crate::error::Error;
use crate::fairness::FairnessWindow;
use crate::interrupt;
use crate::native::locks;
use crate::record::{TrialError, TrialRecord};
use crate::subject::{Subject, SubjectOrigin};
use crate::trial::{LabMachine, On, Settings, Trial};
use crate::workload::Workload;
use lockwright_catalog::registry::{self, LockRow, LockVisitor};
use lockwright_core::raw::{FairnessThreshold, RawLock};
use lockwright_core::tunables::Tunable;
use lockwright_sim::machine::{
    Calibration, Machine, MachineError, MachineFile, Parameters, ThreadPlacement,
};
use lockwright_sim::{ScheduledKind, Sim};
use std::collections::BTreeSet;
use std::path::Path;

/// A described machine, calibrated if there is a calibration for it.
#[derive(Clone, Debug)]
pub struct SimulatedMachine {
    machine: Machine,
    parameters: Parameters,
    calibration: Option<Calibration>,
    /// The built-in machine whose calibration it is, if it was made for other numbers.
    calibrated_as: Option<&'static str>,
    /// The file as it was typed, if nothing was fitted.
    uncalibrated: Option<String>,
    settings: Settings,
}

impl SimulatedMachine {
    /// The built-in machine of that name; `None` if there is none.
    pub fn builtin(name: &str, settings: Settings) -> Option<Result<Self, MachineError>> {
        let file = MachineFile::builtin(name)?;
        let calibration = match &settings.calibration {
            Some(file) => Calibration::from_path(file).map(Some),
            None => Ok(Calibration::builtin(file.calibrated_as.unwrap_or(name))),
        };
        Some(calibration.and_then(|calibration| Self::read(name, file, calibration, settings)))
    }

    /// The machine that a file describes. Its calibration is the one that the settings name, the one in
    /// the file next to it (`NAME.calibration.toml`), the one that the file borrows
    /// (`calibrated_as = "x5-4"`), or that of the built-in machine with the same numbers: the first of
    /// these that there is.
    pub fn from_path(path: impl AsRef<Path>, settings: Settings) -> Result<Self, MachineError> {
        let path = path.as_ref();
        let file = MachineFile::from_path(path)?;
        let MachineFile { machine, calibrated_as, .. } = &file;
        let beside = Some(path.with_extension("calibration.toml")).filter(|file| file.exists());
        let calibration = match settings.calibration.as_ref().or(beside.as_ref()) {
            Some(file) => Some(Calibration::from_path(file)?),
            None => Calibration::for_numbers_of(machine)
                .filter(|own| calibrated_as.is_none_or(|name| name == own.machine))
                .or_else(|| Calibration::builtin((*calibrated_as)?)),
        };
        Self::read(&path.display().to_string(), file, calibration, settings)
    }

    /// A machine as it was read, with a calibration that was made for it or that its file borrows. `named` is how the
    /// user named it.
    fn read(
        named: &str,
        file: MachineFile,
        calibration: Option<Calibration>,
        settings: Settings,
    ) -> Result<Self, MachineError> {
        let MachineFile { machine, calibrated_as, .. } = file;
        let borrowed = calibrated_as.zip(calibration.as_ref());
        let Some((name, borrowed)) = borrowed.filter(|(_, it)| it.check_for(&machine).is_err())
        else {
            let uncalibrated = calibration.is_none().then(|| named.to_owned());
            return Ok(Self { uncalibrated, ..Self::new(machine, calibration, settings)? });
        };
        borrowed.check_as(name)?;
        let parameters = borrowed.parameters.clone();
        let machine = parameters.applied_to(&machine)?;
        let calibrated_as = Some(name);
        Ok(Self { machine, parameters, calibration, calibrated_as, uncalibrated: None, settings })
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
        let (calibrated_as, uncalibrated) = (None, None);
        Ok(Self { machine, parameters, calibration, calibrated_as, uncalibrated, settings })
    }

    /// The same with other numbers, as [`Machine::changed`] takes them. They also replace fitted ones.
    pub fn changed(self, numbers: &[(String, f64)]) -> Result<Self, MachineError> {
        let name = &self.machine.name;
        let builtin = Calibration::builtin_names().find(|builtin| builtin == name);
        let borrowed = if numbers.is_empty() { None } else { builtin };
        let calibrated_as = self.calibrated_as.or(borrowed);
        Ok(Self { machine: self.machine.changed(numbers)?, calibrated_as, ..self })
    }

    /// A machine with other fitted numbers.
    ///
    /// # Errors
    /// If they contradict each other.
    pub fn fitted_with(machine: &Machine, parameters: &Parameters) -> Result<Self, MachineError> {
        let (machine, parameters) = (parameters.applied_to(machine)?, parameters.clone());
        Ok(Self { parameters, ..Self::new(machine, None, Settings::default())? })
    }

    /// The same without the second hardware threads of its cores.
    #[must_use]
    pub fn without_siblings(&self) -> Self {
        Self { machine: self.machine.without_siblings(), ..self.clone() }
    }

    /// The same, where a part of a workload's software takes so long.
    pub fn with_software(mut self, workload: &str, part: &str, ns: f64) -> Self {
        self.parameters.software.entry(workload.into()).or_default().insert(part.into(), ns);
        self
    }

    /// The machine, with what was fitted of it.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }
    /// What was fitted of the software, if something was.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }
    /// The hash of its calibration, if it has one.
    pub fn calibration_hash(&self) -> Option<&str> {
        self.calibration.as_ref().map(|calibration| &*calibration.hash)
    }
    /// The machine itself.
    pub fn into_machine(self) -> Machine {
        self.machine
    }

    /// What was fitted for a workload, if anything was.
    pub fn fitted(&self, workload: Workload) -> Option<Fitted> {
        let fitted = Fitted::of(self.calibration.as_ref()?, workload)?;
        Some(Fitted { calibrated_as: self.calibrated_as.map(String::from), ..fitted })
    }

    /// Where the threads of a workload run: what the user asked for, what the calibration was made
    /// with, or socket by socket.
    pub fn placement(&self, workload: Workload) -> ThreadPlacement {
        let fitted = || fitted_placement(self.calibration.as_ref()?, workload);
        self.settings.placement.or_else(fitted).unwrap_or(ThreadPlacement::Compact)
    }

    /// Where the threads of a trial run.
    pub(super) fn placement_of(&self, trial: &Trial) -> ThreadPlacement {
        trial.placement.unwrap_or_else(|| self.placement(trial.workload))
    }

    /// The run-time numbers of the locks in a trial.
    pub(super) fn tunables(&self, trial: &Trial) -> impl Iterator<Item = (Tunable, u64)> + use<> {
        let own = self.settings.tunables.clone().into_iter();
        own.chain(trial.tunables.set().collect::<Vec<_>>())
    }

    /// The NUMA nodes on which the threads of a trial run, and how many its lock heeds. In a guest a lock heeds them
    /// only if it was told to, whatever their number.
    fn nodes(&self, trial: &Trial) -> (u32, u32) {
        let topology = &self.machine.topology;
        let threads = trial.threads.try_into().unwrap_or(u32::MAX);
        let kind = trial.scheduling.map(|scheduling| scheduling.kind);
        if kind == Some(ScheduledKind::Guest { virtual_numa: false }) {
            return (1, 1);
        }
        let placed = match kind {
            // The scheduler uses them all.
            Some(_) => None,
            None => self.placement_of(trial).place(topology, threads, trial.seed).ok(),
        };
        let used = placed.map(|cpus| {
            cpus.iter().map(|&cpu| topology.node_of(cpu)).collect::<BTreeSet<_>>().len() as u32
        });
        let is_guest = matches!(kind, Some(ScheduledKind::Guest { .. }));
        let heeded = if is_guest { 1 } else { topology.nodes() };
        (used.unwrap_or(topology.nodes().min(threads)), heeded)
    }
}

/// The placement with which the columns of a workload were fitted, if some were.
fn fitted_placement(calibration: &Calibration, workload: Workload) -> Option<ThreadPlacement> {
    let fit = calibration.fits.iter().find(|fit| fit.workload == workload.name())?;
    ThreadPlacement::named(&fit.placement)
}

/// The same of a built-in machine.
fn placement_of(name: &str, workload: Workload) -> Option<ThreadPlacement> {
    fitted_placement(&Calibration::builtin(name)?, workload)
}

impl LabMachine for SimulatedMachine {
    fn on(&self, workload: Workload) -> On {
        On::Simulated {
            machine: self.machine.name.clone(),
            description: self.machine.description.clone(),
            cpus: self.cpus(),
            numa_nodes: self.machine.topology.nodes(),
            scheduled: None,
            placement: Some(self.placement(workload).name().into()),
            calibration: self.fitted(workload),
        }
    }

    fn is_simulated(&self) -> bool {
        true
    }

    fn identity(&self) -> String {
        let Machine { topology, costs, scheduler, .. } = &self.machine;
        let Settings { tunables, placement, .. } = &self.settings;
        let (fitted, hash) = (&self.parameters, self.calibration_hash());
        format!(
            "{topology:?} {costs:?} {scheduler:?} {fitted:?} {hash:?} {tunables:?} {placement:?}"
        )
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

    fn warnings(&self, workload: Workload) -> Vec<String> {
        let Some(file) = &self.uncalibrated else { return Vec::new() };
        let resembles = self.machine.resembles();
        let advice = match resembles {
            Some(name) => {
                format!("add `calibrated_as = \"{name}\"` above the first section of the file")
            }
            None => "if it is like a built-in machine, name that machine above the first section of the \
                     file (`calibrated_as = \"NAME\"`)"
                .into(),
        };
        let warning = format!(
            "{file} has no calibration: absolute numbers can be far off, and so can the ratios between \
             locks; {advice}"
        );
        let (own, theirs) =
            (self.placement(workload), resembles.map(|name| (name, placement_of(name, workload))));
        let other = match (self.settings.placement, theirs) {
            (None, Some((name, Some(theirs)))) if theirs != own => Some(format!(
                "because {file} has no calibration, its placement is {}; {name} uses {} for this workload: to \
                 compare the two, give both the same --placement",
                own.name(),
                theirs.name()
            )),
            _ => None,
        };
        std::iter::once(warning).chain(other).collect()
    }

    fn refuses(&self, lock: Subject, workload: Workload) -> Option<String> {
        if let Some(why) = workload.runs_here_only() {
            return Some(why.into());
        }
        if let Some(needs) = workload.needs().filter(|&needs| !locks::has(lock, needs)) {
            return Some(locks::lacks(lock, needs));
        }
        let is_ours = lock.origin == SubjectOrigin::Registry;
        (!is_ours).then(|| {
            format!("`{}` runs on this computer only: leave it out, or leave out --on", lock.name())
        })
    }

    fn fairness_window(&self, spec: &Trial) -> FairnessWindow {
        struct Threshold<'a>(u32, &'a dyn Fn(Tunable) -> Option<u64>);
        impl LockVisitor<Sim> for Threshold<'_> {
            type Output = FairnessThreshold;
            fn visit<L: RawLock>(self, _row: &'static LockRow) -> FairnessThreshold {
                L::fairness_threshold(self.0, self.1)
            }
        }
        let (used, seen) = self.nodes(spec);
        let tunables: Vec<_> = self.tunables(spec).collect();
        let set = |asked| tunables.iter().rfind(|(set, _)| *set == asked).map(|&(_, value)| value);
        let threshold = registry::visit(spec.lock.row, Threshold(seen, &set));
        spec.workload.fairness_window(spec.threads, threshold.unwrap_or_default(), used)
    }

    fn run_trial(&self, trial: &Trial) -> Result<TrialRecord, TrialError> {
        if interrupt::is_requested() {
            return Err(TrialError::Interrupted);
        }
        if trial.has_neighbours {
            let why = "busy neighbours run on this computer only: leave out --on";
            return Err(TrialError::Failed(why.into()));
        }
        SimulatedRun { machine: self, trial }.run()
    }

    fn trials_at_once(&self) -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::locktorture::LocktortureParams;
    use crate::workload::uncontended::UncontendedParams;
    use std::path::PathBuf;

    fn open(settings: Settings) -> SimulatedMachine {
        match SimulatedMachine::builtin("x5-4", settings) {
            Some(Ok(machine)) => machine,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_placement_that_is_asked_for_wins() {
        let placement = Some(ThreadPlacement::Spread);
        let machine = open(Settings { placement, ..Settings::default() });
        let torture = Workload::Locktorture(LocktortureParams::USUAL);
        assert_eq!(machine.placement(torture), ThreadPlacement::Spread);
        assert_eq!(open(Settings::default()).placement(torture), ThreadPlacement::Scheduler56);
        assert_eq!(open(Settings::default()).placement(UNCONTENDED), ThreadPlacement::Compact);
    }

    #[test]
    fn the_locks_of_others_are_refused() {
        let machine = open(Settings::default());
        let refusal = |lock| {
            let subject = Subject::find(lock).expect("it is a lock");
            machine.refuses(subject, UNCONTENDED)
        };
        assert!(refusal("std").is_some_and(|why| why.contains("`std`")));
        assert_eq!(refusal("cna"), None);
    }

    /// A folder for a machine's file and for calibrations.
    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().expect("a place for two files"))
        }
        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }
        fn write(&self, name: &str, text: &str) {
            std::fs::write(self.path(name), text).expect("it is writable");
        }
        fn open(&self, name: &str) -> Result<SimulatedMachine, MachineError> {
            SimulatedMachine::from_path(self.path(name), Settings::default())
        }
        fn open_with(
            &self,
            name: &str,
            calibration: &str,
        ) -> Result<SimulatedMachine, MachineError> {
            let calibration = Some(self.path(calibration));
            let settings = Settings { calibration, ..Settings::default() };
            SimulatedMachine::from_path(self.path(name), settings)
        }
    }

    const X5_4: &str = include_str!("../../../../machines/x5-4.toml");
    const FITTED: &str = include_str!("../../../../machines/x5-4.calibration.toml");
    const UNCONTENDED: Workload = Workload::Uncontended(UncontendedParams {});
    const TORTURE: Workload = Workload::Locktorture(LocktortureParams::USUAL);

    /// The X5-4 with another topology.
    fn smaller() -> String {
        X5_4.replacen("count = 18", "count = 17", 1)
    }

    #[test]
    fn a_calibration_next_to_a_machine_file_is_used_and_refused_when_stale() {
        let folder = Folder::new();
        folder.write("x5-4.toml", &smaller());
        assert!(folder.open("x5-4.toml").is_ok_and(|machine| machine.calibration.is_none()));
        folder.write("x5-4.calibration.toml", FITTED);
        let error = folder.open("x5-4.toml").expect_err("the machine changed");
        assert!(error.to_string().contains("calibrate the machine again"), "{error}");
        folder.write("x5-4.toml", X5_4);
        assert!(folder.open("x5-4.toml").is_ok_and(|machine| machine.calibration.is_some()));
    }

    #[test]
    fn an_unchanged_copy_is_the_machine_and_a_changed_one_warns_unless_it_says_what_it_is_like() {
        let folder = Folder::new();
        folder.write("mine.toml", X5_4);
        let copy = folder.open("mine.toml").expect("it is a machine");
        let original = open(Settings::default());
        assert_eq!(
            (&copy.parameters, &copy.machine.costs),
            (&original.parameters, &original.machine.costs)
        );
        assert_eq!(copy.placement(TORTURE), ThreadPlacement::Scheduler56);
        assert_eq!(copy.fitted(TORTURE), original.fitted(TORTURE));
        assert!(copy.warnings(TORTURE).is_empty());

        folder.write("mine.toml", &smaller());
        let changed = folder.open("mine.toml").expect("it is a machine");
        assert_eq!(changed.fitted(TORTURE), None);
        let [warning, placement] = &changed.warnings(TORTURE)[..] else { panic!("two warnings") };
        let words = "its placement is compact; x5-4 uses scheduler-5.6 for this workload";
        assert!(placement.contains(words), "{placement}");
        assert_eq!(changed.warnings(Workload::counter(1, 0)).len(), 1, "nothing was fitted to it");
        assert!(warning.contains("add `calibrated_as = \"x5-4\"` above"), "{warning}");

        folder.write("mine.toml", &["calibrated_as = \"x5-4\"", &smaller()].join("\n"));
        let borrows = folder.open("mine.toml").expect("it says what it is like");
        assert_eq!(borrows.parameters, original.parameters);
        assert_eq!(borrows.placement(TORTURE), ThreadPlacement::Scheduler56);
        assert!(borrows.warnings(TORTURE).is_empty());
        let fitted = borrows.fitted(TORTURE).expect("it is calibrated").to_string();
        assert!(
            fitted.starts_with("calibration of x5-4, fitted on its own topology: "),
            "{fitted}"
        );
    }

    #[test]
    fn a_calibration_that_is_named_is_for_this_machine_or_for_the_one_that_the_file_names() {
        let folder = Folder::new();
        folder.write("fitted.toml", FITTED);
        folder.write("mine.toml", X5_4);
        let opened = folder.open_with("mine.toml", "fitted.toml");
        assert!(opened.is_ok_and(|machine| machine.calibrated_as.is_none()));
        folder.write("mine.toml", &smaller());
        let refusal = |machine| folder.open_with(machine, "fitted.toml").expect_err("it changed");
        assert!(refusal("mine.toml").to_string().contains("of `x5-4`, not of `mine`"));
        folder.write("mine.toml", &["calibrated_as = \"dl980\"", &smaller()].join("\n"));
        assert!(refusal("mine.toml").to_string().contains("of `x5-4`, not of `dl980`"));
        folder.write("mine.toml", &["calibrated_as = \"x5-4\"", &smaller()].join("\n"));
        let opened = folder.open_with("mine.toml", "fitted.toml");
        assert!(opened.is_ok_and(|machine| machine.calibrated_as == Some("x5-4")));
    }
}

//! Calibrations as files.

use super::Machine;
use super::calibration::{Alternative, Calibration, Fit, Parameters};
use super::costs::{Range, Scalar, Unit};
use super::error::{MachineError, Problem};
use super::load::read_text;
use super::section::{self, Section};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use toml::Value;

/// The calibrations that are built in: machine and text.
const BUILTIN: &[(&str, &str)] = &[
    ("x5-4", include_str!("../../machines/x5-4.calibration.toml")),
    ("haswell-2s", include_str!("../../machines/haswell-2s.calibration.toml")),
    (
        "broadwell-2s-e5-2620v4",
        include_str!("../../machines/broadwell-2s-e5-2620v4.calibration.toml"),
    ),
    ("cascade-lake-2s", include_str!("../../machines/cascade-lake-2s.calibration.toml")),
    ("broadwell-2s-80t", include_str!("../../machines/broadwell-2s-80t.calibration.toml")),
    ("dl980", include_str!("../../machines/dl980.calibration.toml")),
];

const HEADER: &str = "\
# Numbers fitted to published measurements of this machine, written by `lockwright calibrate`.
# Not to be edited: the hash covers every number here and every number of the machine's file.

";

impl Calibration {
    /// The built-in machines that have a calibration.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// The built-in calibration that was made for the numbers of `machine`, whatever its name is: an
    /// unchanged copy of a built-in machine has one.
    pub fn for_numbers_of(machine: &Machine) -> Option<Self> {
        let mut all = Self::builtin_names().filter_map(Self::builtin);
        all.find(|calibration| calibration.check_for(machine).is_ok())
    }

    /// The built-in calibration of a machine, if there is one.
    pub fn builtin(machine: &str) -> Option<Self> {
        let (name, text) = BUILTIN.iter().find(|(name, _)| *name == machine)?;
        let file = format!("machines/{name}.calibration.toml");
        Some(Self::parse(&file, text).expect("built-in calibrations are checked by a test"))
    }

    /// Reads a calibration. [`Machine::with`](super::Machine::with) checks that it still belongs to its machine.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, MachineError> {
        let file = path.as_ref().display().to_string();
        let text = read_text(path.as_ref()).map_err(|error| MachineError {
            file: file.clone(),
            key: String::new(),
            problem: Problem::Unreadable(error.to_string()),
        })?;
        Self::parse(&file, &text)
    }

    /// Reads and checks a calibration; `file` is its name in complaints.
    pub fn parse(file: &str, text: &str) -> Result<Self, MachineError> {
        let table = section::parse(file, text)?;
        let root = Section::root(file, &table);
        let calibration = Self {
            file: file.into(),
            machine: root.text("machine")?,
            hash: root.text("hash")?,
            parameters: parameters(&root)?,
            fits: root.sections("fit")?.into_iter().map(fit).collect::<Result<_, _>>()?,
            alternatives: root
                .sections("alternative")?
                .into_iter()
                .map(alternative)
                .collect::<Result<_, _>>()?,
        };
        if calibration.fits.is_empty() {
            return Err(root.refuse("fit", Problem::Missing));
        }
        root.finish()?;
        Ok(calibration)
    }

    /// The file.
    pub fn to_toml(&self) -> String {
        let Self { machine, hash, .. } = self;
        let (machine, hash) = (quoted(machine), quoted(hash));
        format!("{HEADER}machine = {machine}\nhash = {hash}\n{}{}", self.spread(), self.body())
    }

    /// A comment with the least and the greatest of each number among the fits that are equally good.
    fn spread(&self) -> String {
        let mut text =
            String::from("\n# The spread over the fits below, which are equally good:\n");
        let fits = || {
            let others = self.alternatives.iter().map(|other| &other.parameters);
            std::iter::once(&self.parameters).chain(others)
        };
        let mut line = |name: String, get: &dyn Fn(&Parameters) -> Option<f64>| {
            let values = fits().filter_map(get);
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
                (low.min(x), high.max(x))
            });
            let _ = match high > SECOND_NS {
                true => {
                    let (low, high) = (milliseconds(low), milliseconds(high));
                    writeln!(text, "# {name} = {low:?} to {high:?} s")
                }
                false => writeln!(text, "# {name} = {low:?} to {high:?}"),
            };
        };
        for key in self.parameters.hardware.keys() {
            line(key.clone(), &|fit| fit.hardware.get(key).copied());
        }
        for (workload, parts) in &self.parameters.software {
            for part in parts.keys() {
                let of = |fit: &Parameters| Some(fit.software_ns(workload, part));
                line(format!("{workload}.{part}"), &of);
            }
        }
        text
    }

    /// Writes the file, whole or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> std::io::Result<()> {
        let path = path.as_ref();
        let unfinished = path.with_extension("toml.unfinished");
        std::fs::write(&unfinished, self.to_toml())?;
        std::fs::rename(&unfinished, path)
    }

    /// The file without its first two keys. The hash covers this and the machine.
    pub(super) fn body(&self) -> String {
        let mut text = String::new();
        write_parameters(&mut text, "", &self.parameters);
        for fit in &self.fits {
            write_fit(&mut text, fit);
        }
        for Alternative { residual_rms_percent, parameters } in &self.alternatives {
            let _ = write!(
                text,
                "\n[[alternative]]\nresidual_rms_percent = {residual_rms_percent:?}\n"
            );
            write_parameters(&mut text, "alternative.", parameters);
        }
        text
    }
}

fn parameters(section: &Section<'_>) -> Result<Parameters, MachineError> {
    let mut hardware = BTreeMap::new();
    let costs = section.section("hardware")?;
    for key in costs.keys() {
        let Some(scalar) = Scalar::named(key) else {
            return Err(costs.refuse(key, Problem::UnknownKey));
        };
        hardware.insert(key.clone(), costs.with_unit(key, scalar.unit, scalar.range)?);
    }
    let mut software = BTreeMap::new();
    let workloads = section.section("software")?;
    for workload in workloads.keys() {
        let section = workloads.section(workload)?;
        let parts = section.keys().map(|part| Ok((part.clone(), software_ns(&section, part)?)));
        software.insert(workload.clone(), parts.collect::<Result<_, MachineError>>()?);
    }
    Ok(Parameters { hardware, software })
}

/// A time of the software in nanoseconds; the file may give long ones in seconds.
fn software_ns(section: &Section<'_>, part: &str) -> Result<f64, MachineError> {
    let has_seconds = section.section(part)?.find(Unit::Seconds.key()).is_some();
    match has_seconds {
        true => {
            let seconds = section.with_unit(part, Unit::Seconds, Range::NotNegative)?;
            Ok((seconds * 1e3).round() * 1e6)
        }
        false => section.with_unit(part, Unit::Ns, Range::NotNegative),
    }
}

fn fit(section: Section<'_>) -> Result<Fit, MachineError> {
    let text = |value: &Value| value.as_str().map(String::from);
    let fit = Fit {
        table: section.text("table")?,
        columns: section.list("columns", "a list of column names", text)?,
        workload: section.text("workload")?,
        lock: section.text("lock")?,
        threads: section.list("threads", "a list of thread counts", section::whole)?,
        placement: section.text("placement")?,
        start_state: match section.find("start_state") {
            Some(_) => Some(section.text("start_state")?),
            None => None,
        },
        seeds: section.list("seeds", "a list of whole numbers", section::whole)?,
        warmup_us: section.whole("warmup_us")?,
        window_us: section.whole("window_us")?,
        residual_rms_percent: section.number("residual_rms_percent", Range::NotNegative)?,
    };
    let lists = [
        ("columns", fit.columns.is_empty()),
        ("threads", fit.threads.is_empty()),
        ("seeds", fit.seeds.is_empty()),
    ];
    if let Some((key, _)) = lists.iter().find(|(_, is_empty)| *is_empty) {
        return Err(section.refuse(key, Problem::NotA("a list that is not empty")));
    }
    section.finish()?;
    Ok(fit)
}

fn alternative(section: Section<'_>) -> Result<Alternative, MachineError> {
    let alternative = Alternative {
        residual_rms_percent: section.number("residual_rms_percent", Range::NotNegative)?,
        parameters: parameters(&section)?,
    };
    section.finish()?;
    Ok(alternative)
}

const SECOND_NS: f64 = 1e9;

/// Turns nanoseconds into seconds, rounded to the millisecond.
fn milliseconds(ns: f64) -> f64 {
    (ns / SECOND_NS * 1e3).round() / 1e3
}

// Writing to a `String` cannot fail; the results below are dropped for that reason.

fn write_parameters(text: &mut String, prefix: &str, parameters: &Parameters) {
    let _ = write!(text, "\n[{prefix}hardware]\n");
    for (key, value) in &parameters.hardware {
        let unit = Scalar::named(key).map_or("ns", |scalar| scalar.unit.key());
        let _ = writeln!(text, "{key} = {{ {unit} = {value:?} }}");
    }
    for (workload, parts) in &parameters.software {
        let _ = write!(text, "\n[{prefix}software.{workload}]\n");
        for (part, ns) in parts {
            let _ = match *ns > SECOND_NS {
                true => writeln!(text, "{part} = {{ s = {:?} }}", milliseconds(*ns)),
                false => writeln!(text, "{part} = {{ ns = {ns:?} }}"),
            };
        }
    }
    if parameters.software.is_empty() {
        let _ = write!(text, "\n[{prefix}software]\n");
    }
}

fn write_fit(text: &mut String, fit: &Fit) {
    let Fit { threads, seeds, warmup_us, window_us, residual_rms_percent, .. } = fit;
    let columns: Vec<_> = fit.columns.iter().map(|column| quoted(column)).collect();
    let _ = write!(text, "\n[[fit]]\ntable = {}\n", quoted(&fit.table));
    let _ = writeln!(text, "columns = [{}]", columns.join(", "));
    let _ = writeln!(text, "workload = {}", quoted(&fit.workload));
    let _ = writeln!(text, "lock = {}", quoted(&fit.lock));
    let _ = writeln!(text, "threads = {threads:?}");
    let _ = writeln!(text, "placement = {}", quoted(&fit.placement));
    if let Some(start_state) = &fit.start_state {
        let _ = writeln!(text, "start_state = {}", quoted(start_state));
    }
    let _ = writeln!(text, "seeds = {seeds:?}");
    let _ = writeln!(text, "warmup_us = {warmup_us}");
    let _ = writeln!(text, "window_us = {window_us}");
    let _ = writeln!(text, "residual_rms_percent = {residual_rms_percent:?}");
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;

    fn x5_4() -> Machine {
        Machine::builtin("x5-4").expect("it is built in")
    }

    fn parameters(transfer_local_ns: f64) -> Parameters {
        let software = [("inside".into(), 70.0), ("outside".into(), 36.5)].into();
        Parameters {
            hardware: [("transfer_local".into(), transfer_local_ns)].into(),
            software: [("locktorture".into(), software)].into(),
        }
    }

    fn calibration() -> Calibration {
        let fit = Fit {
            table: "some_table".into(),
            columns: vec!["stock_ops".into()],
            workload: "locktorture".into(),
            lock: "ticket".into(),
            threads: vec![1, 2, 142],
            placement: "random".into(),
            start_state: None,
            seeds: vec![1, 2],
            warmup_us: 100,
            window_us: 1000,
            residual_rms_percent: 3.25,
        };
        let other = Alternative { residual_rms_percent: 3.5, parameters: parameters(80.1) };
        Calibration::sealed(&x5_4(), parameters(74.3), vec![fit], vec![other])
    }

    fn refusal(text: &str) -> String {
        Calibration::parse("c.toml", text).expect_err("it must be refused").to_string()
    }

    #[test]
    fn the_builtin_files_are_what_would_be_written() {
        for (machine, text) in BUILTIN {
            let calibration = Calibration::builtin(machine).expect("it is built in");
            assert_eq!(calibration.to_toml(), *text, "{machine}");
        }
    }

    #[test]
    fn what_is_saved_is_what_is_read() {
        let saved = calibration();
        let mut read = Calibration::parse("c.toml", &saved.to_toml()).expect("we wrote it");
        read.file.clone_from(&saved.file);
        assert_eq!(read, saved);
    }

    #[test]
    fn a_calibration_replaces_the_costs_it_names_and_no_others() {
        let fitted = x5_4().with(&calibration()).expect("it was made for this machine");
        let mut expected = x5_4();
        expected.costs.transfer_local_ns = 74.3;
        assert_eq!(fitted, expected);
        assert_eq!(calibration().parameters.software_ns("locktorture", "outside"), 36.5);
        assert_eq!(calibration().parameters.software_ns("locktorture", "lunch"), 0.0);
    }

    #[test]
    fn a_calibration_is_stale_when_any_number_of_its_machine_changes() {
        let calibration = calibration();
        let mut changed = x5_4();
        changed.costs.pause_ns += 0.001;
        let error = changed.with(&calibration).expect_err("the machine changed");
        assert!(matches!(error.problem, Problem::Stale { .. }), "{error}");
        assert!(error.to_string().contains("calibrate the machine again"), "{error}");

        let mut described = x5_4();
        described.description.push('!');
        assert!(described.with(&calibration).is_ok(), "words are not numbers");
    }

    #[test]
    fn only_a_fit_of_a_guest_depends_on_the_scheduler() {
        let mut changed = x5_4();
        if let Some(scheduler) = &mut changed.scheduler {
            scheduler.slice_ns += 1.0;
        }
        assert!(changed.with(&calibration()).is_ok());
        let guest =
            Fit { start_state: Some("random-queue".into()), ..calibration().fits[0].clone() };
        let guest = Calibration::sealed(&x5_4(), parameters(74.3), vec![guest], Vec::new());
        let read = Calibration::parse("c.toml", &guest.to_toml()).expect("we wrote it");
        assert_eq!(read.fits, guest.fits);
        assert!(x5_4().with(&guest).is_ok());
        let error = changed.with(&guest).expect_err("the machine changed");
        assert!(matches!(error.problem, Problem::Stale { .. }), "{error}");
    }

    #[test]
    fn a_calibration_is_stale_when_somebody_edits_it() {
        let text = calibration().to_toml();
        for (old, new) in [("74.3", "74.4"), ("3.25", "1.25"), ("stock_ops", "stock_oops")] {
            let edited =
                Calibration::parse("c.toml", &text.replace(old, new)).expect("well formed");
            let error = x5_4().with(&edited).expect_err("it was edited");
            assert!(matches!(error.problem, Problem::Stale { .. }), "{error}");
        }
    }

    #[test]
    fn a_calibration_of_another_machine_is_refused() {
        let mut other = x5_4();
        other.name = "x5-8".into();
        other.topology.cores_per_socket += 1;
        let error = other.with(&calibration()).expect_err("another machine");
        let expected =
            "machines/x5-4.calibration.toml: machine: is a calibration of `x5-4`, not of `x5-8`";
        assert_eq!(error.to_string(), expected);
        assert_eq!(calibration().check_as("x5-8").expect_err("the same").to_string(), expected);
    }

    #[test]
    fn an_unchanged_copy_of_a_machine_has_its_calibration_and_a_changed_one_may_borrow_it() {
        let original = Calibration::builtin("x5-4").expect("it is built in");
        let mut copy = x5_4();
        copy.name = "mine".into();
        assert_eq!(Calibration::for_numbers_of(&copy), Some(original.clone()));
        assert!(copy.with(&original).is_ok());
        copy.topology.cores_per_socket -= 1;
        assert_eq!(Calibration::for_numbers_of(&copy), None);
        assert!(copy.with(&original).is_err());
        assert_eq!(copy.resembles(), Some("x5-4"));
        assert_eq!(original.check_as("x5-4"), Ok(()));
        let edited = original.to_toml().replacen(
            "transfer_local = { ns = 5",
            "transfer_local = { ns = 6",
            1,
        );
        let edited = Calibration::parse("c.toml", &edited).expect("well formed");
        let error = edited.check_as("x5-4").expect_err("it was edited");
        assert!(matches!(error.problem, Problem::Stale { .. }), "{error}");
    }

    #[test]
    fn a_calibration_that_makes_the_machine_contradictory_is_refused() {
        let fits = calibration().fits;
        let absurd = Calibration::sealed(&x5_4(), parameters(500.0), fits, Vec::new());
        let error = x5_4().with(&absurd).expect_err("remote would be cheaper than local");
        assert_eq!(error.key, "costs.transfer_remote");
    }

    #[test]
    fn broken_calibrations_are_refused_with_file_key_and_reason() {
        let text = calibration().to_toml();
        for (old, new, expected) in [
            ("hash = ", "hush = ", "c.toml: hash: is missing"),
            ("transfer_local = {", "transfer_loco = {", "hardware.transfer_loco: is not a key"),
            ("{ ns = 74.3 }", "{ factor = 74.3 }", "hardware.transfer_local.ns: is missing"),
            ("{ ns = 70.0 }", "{ ns = -70.0 }", "software.locktorture.inside: is -70 but must be"),
            ("seeds = [1, 2]", "seeds = []", "fit[0].seeds: must be a list that is not empty"),
            ("lock = ", "lick = ", "fit[0].lock: is missing"),
            ("residual_rms_percent = 3.5", "", "alternative[0].residual_rms_percent: is missing"),
        ] {
            assert!(text.contains(old), "{old}");
            let refusal = refusal(&text.replacen(old, new, 1));
            assert!(refusal.contains(expected), "{refusal}");
        }
        let without_fit = text.split("\n[[fit]]").next().expect("the part before it");
        assert_eq!(refusal(without_fit), "c.toml: fit: is missing");
    }

    #[test]
    fn every_builtin_calibration_belongs_to_its_machine() {
        for (name, _) in BUILTIN {
            let calibration = Calibration::builtin(name).expect("it is built in");
            let machine = Machine::builtin(name).expect("it calibrates a built-in machine");
            assert_eq!(machine.with(&calibration).map(|fitted| fitted.name), Ok((*name).into()));
        }
        assert_eq!(Calibration::builtin("x5-5"), None);
    }
}

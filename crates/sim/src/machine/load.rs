//! Reading machine files.

use super::costs::{OPTIONAL, Range, SCALARS, SCHEDULER, Scalar, TRANSFER_REMOTE, Unit};
use super::error::{MachineError, Problem};
use super::provenance::Sourced;
use super::section::{self, CALIBRATED_AS, SOURCE, Section};
use super::{Calibration, Costs, Machine, Scheduler, Topology, validate};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a file that a person has written.
///
/// # Errors
/// As [`std::fs::read_to_string`], and for a file without an end, such as `/dev/zero`.
pub fn read_text(path: &Path) -> io::Result<String> {
    const BYTES_MAX: u64 = 1 << 24;
    let mut text = String::new();
    match File::open(path)?.take(BYTES_MAX).read_to_string(&mut text)? as u64 {
        BYTES_MAX => Err(io::Error::other("it has more than 16 MiB")),
        _ => Ok(text),
    }
}

/// The machines that are built in: name and text.
const BUILTIN: &[(&str, &str)] = &[
    ("x5-4", include_str!("../../machines/x5-4.toml")),
    ("haswell-2s", include_str!("../../machines/haswell-2s.toml")),
    ("broadwell-2s-e5-2620v4", include_str!("../../machines/broadwell-2s-e5-2620v4.toml")),
    ("cascade-lake-2s", include_str!("../../machines/cascade-lake-2s.toml")),
    ("broadwell-2s-80t", include_str!("../../machines/broadwell-2s-80t.toml")),
    ("dl980", include_str!("../../machines/dl980.toml")),
    ("x5-8", include_str!("../../machines/x5-8.toml")),
    ("epyc-9654", include_str!("../../machines/epyc-9654.toml")),
    ("kunpeng-920", include_str!("../../machines/kunpeng-920.toml")),
];

/// The section that a machine may do without.
const SCHEDULER_SECTION: &str = "scheduler";
/// The counts of the topology.
pub(super) const SOCKETS: &str = "sockets";
pub(super) const CORES_PER_SOCKET: &str = "cores_per_socket";
pub(super) const THREADS_PER_CORE: &str = "threads_per_core";
/// The one that is 1 if a machine does not give it.
pub(super) const SOCKETS_PER_NODE: &str = "sockets_per_node";

/// A machine and where each of its numbers comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineFile {
    /// The machine.
    pub machine: Machine,
    /// Every number of it, in the order of the file format.
    pub sources: Vec<Sourced>,
    /// The built-in machine whose calibration it borrows, if the file says so.
    pub calibrated_as: Option<&'static str>,
}

impl Machine {
    /// The names of the machines that are built in.
    pub fn builtin_names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|(name, _)| *name)
    }

    /// The built-in machine of that name, uncalibrated.
    pub fn builtin(name: &str) -> Option<Self> {
        MachineFile::builtin(name).map(|file| file.machine)
    }

    /// The machine that a file describes, uncalibrated. Its name is the file's stem.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, MachineError> {
        MachineFile::from_path(path).map(|file| file.machine)
    }
}

impl MachineFile {
    /// As [`Machine::builtin`], with the sources.
    pub fn builtin(name: &str) -> Option<Self> {
        let (name, text) = BUILTIN.iter().find(|(builtin, _)| *builtin == name)?;
        let file = format!("machines/{name}.toml");
        Some(Self::parse(&file, name, text).expect("built-in machines are checked by a test"))
    }

    /// The text of the file of a built-in machine.
    pub fn builtin_text(name: &str) -> Option<&'static str> {
        BUILTIN.iter().find(|(builtin, _)| *builtin == name).map(|(_, text)| *text)
    }

    /// As [`Machine::from_path`], with the sources.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, MachineError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let text = read_text(path).map_err(|error| MachineError {
            file: file.clone(),
            key: String::new(),
            problem: Problem::Unreadable(error.to_string()),
        })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Self::parse(&file, &name, &text)
    }

    /// Reads and checks a description; `file` is its name in complaints.
    pub fn parse(file: &str, name: &str, text: &str) -> Result<Self, MachineError> {
        let table = section::parse(file, text)?;
        let root = Section::root(file, &table);
        let optional = root.find(SCHEDULER_SECTION).map(|_| SCHEDULER_SECTION);
        let borrows = root.find(CALIBRATED_AS).map(|_| CALIBRATED_AS);
        let keys = ["description", "topology", "costs"].into_iter().chain(optional).chain(borrows);
        root.expect(&keys.collect::<Vec<_>>())?;
        let calibrated_as = borrows.map(|_| calibrated_as(&root)).transpose()?;
        let mut sources = Vec::new();
        let machine = Machine {
            name: name.into(),
            description: root.text("description")?,
            topology: topology(&root.section("topology")?, &mut sources)?,
            costs: costs(&root.section("costs")?, &mut sources)?,
            scheduler: match optional {
                Some(key) => Some(scheduler(&root.section(key)?, &mut sources)?),
                None => None,
            },
        };
        validate::check(&machine).map_err(|(key, problem)| root_error(file, key, problem))?;
        Ok(Self { machine, sources, calibrated_as })
    }
}

/// The built-in machine whose calibration the file asks for.
fn calibrated_as(root: &Section<'_>) -> Result<&'static str, MachineError> {
    let named = root.text(CALIBRATED_AS)?;
    Calibration::builtin_names().find(|name| *name == named).ok_or_else(|| {
        let builtin = Calibration::builtin_names().collect();
        root.refuse(CALIBRATED_AS, Problem::NotBuiltin { named, builtin })
    })
}

fn root_error(file: &str, key: String, problem: Problem) -> MachineError {
    MachineError { file: file.into(), key, problem }
}

fn topology(section: &Section<'_>, sources: &mut Vec<Sourced>) -> Result<Topology, MachineError> {
    let optional = section.find(SOCKETS_PER_NODE).map(|_| SOCKETS_PER_NODE);
    let keys = [SOCKETS, CORES_PER_SOCKET, THREADS_PER_CORE, "distance"];
    section.expect(&keys.into_iter().chain(optional).collect::<Vec<_>>())?;
    let mut count = |key: &str| -> Result<u32, MachineError> {
        let entry = section.section(key)?;
        entry.expect(&[Unit::Count.key(), SOURCE])?;
        let count: u32 = entry.whole(Unit::Count.key())?;
        sources.push(entry.source(count.to_string())?);
        Ok(count)
    };
    let topology = Topology {
        sockets: count(SOCKETS)?,
        cores_per_socket: count(CORES_PER_SOCKET)?,
        threads_per_core: count(THREADS_PER_CORE)?,
        sockets_per_node: optional.map_or(Ok(1), &mut count)?,
        distance: Vec::new(),
    };
    let entry = section.section("distance")?;
    entry.expect(&["classes", SOURCE])?;
    let distance = entry.list("classes", "a list of lists of distance classes", |row| {
        row.as_array()?.iter().map(section::whole).collect::<Option<Vec<u32>>>()
    })?;
    sources.push(entry.source(format!("{distance:?}"))?);
    Ok(Topology { distance, ..topology })
}

fn scheduler(section: &Section<'_>, sources: &mut Vec<Sourced>) -> Result<Scheduler, MachineError> {
    let keys: Vec<&str> = SCHEDULER.iter().map(|scalar| scalar.key).collect();
    section.expect(&keys)?;
    let mut scheduler = Scheduler::blank();
    fill_in(&mut scheduler, SCHEDULER, section, sources)?;
    Ok(scheduler)
}

/// Reads every number of a section, each with its source.
fn fill_in<T>(
    numbers: &mut T,
    scalars: &[Scalar<T>],
    section: &Section<'_>,
    sources: &mut Vec<Sourced>,
) -> Result<(), MachineError> {
    let is_left_out = |key: &str| OPTIONAL.contains(&key) && section.find(key).is_none();
    for scalar in scalars.iter().filter(|scalar| !is_left_out(scalar.key)) {
        let entry = section.section(scalar.key)?;
        entry.expect(&[scalar.unit.key(), SOURCE])?;
        let value = entry.quantity(scalar.unit)?;
        sources.push(entry.source(with_unit(value, scalar.unit))?);
        let refusal = |problem| section.refuse(scalar.key, problem);
        *(scalar.slot)(numbers) = scalar.check(value).map_err(refusal)?;
    }
    Ok(())
}

fn costs(section: &Section<'_>, sources: &mut Vec<Sourced>) -> Result<Costs, MachineError> {
    let keys: Vec<&str> =
        SCALARS.iter().map(|scalar| scalar.key).chain([TRANSFER_REMOTE]).collect();
    section.expect(&keys)?;
    let mut costs = Costs::blank();
    fill_in(&mut costs, SCALARS, section, sources)?;
    let entry = section.section(TRANSFER_REMOTE)?;
    entry.expect(&[Unit::Ns.key(), SOURCE])?;
    let refusal = |problem| section.refuse(TRANSFER_REMOTE, problem);
    costs.transfer_remote_ns =
        entry.list(Unit::Ns.key(), "a list of numbers, one per distance class", section::number)?;
    for &ns in &costs.transfer_remote_ns {
        Range::Positive.check(ns).and_then(|ns| Unit::Ns.check(ns)).map_err(refusal)?;
    }
    sources.push(entry.source(format!("{:?} ns", costs.transfer_remote_ns))?);
    Ok(costs)
}

fn with_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Ns => format!("{value} ns"),
        Unit::Factor => format!("x {value}"),
        Unit::Fraction | Unit::Count => value.to_string(),
        Unit::Seconds => format!("{value} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::provenance::Origin;

    #[test]
    fn every_builtin_machine_is_valid_and_is_found_by_its_name() {
        for name in Machine::builtin_names() {
            let machine = Machine::builtin(name).expect("it is built in");
            assert_eq!(machine.name, name);
            assert_eq!(machine.validate(), Ok(()));
        }
        assert_eq!(Machine::builtin("x5-5"), None);
    }

    #[test]
    fn the_x5_4_is_the_machine_of_the_published_tables() {
        let file = MachineFile::builtin("x5-4").expect("it is built in");
        let topology = &file.machine.topology;
        assert_eq!((topology.sockets, topology.cores(), topology.cpus()), (4, 72, 144));
        assert_eq!((topology.core_of(72 + 19), topology.socket_of(72 + 19)), (19, 1));
        assert_eq!(file.machine.costs.transfer_remote_ns, [128.0]);
        // 3 counts, the distances, every cost, and the scheduler: nothing comes without a source.
        let costs = SCALARS.len() + SCHEDULER.len() - OPTIONAL.len();
        assert_eq!(file.sources.len(), 4 + costs + 1);
        let guesses = file.sources.iter().filter(|sourced| sourced.origin == Origin::Guess);
        assert!(guesses.clone().all(|sourced| sourced.source.starts_with("guess: ")));
        assert!(guesses.count() > 0, "the X5-4 is not measured and must not look as if it were");
    }

    #[test]
    fn the_reference_names_every_key_with_its_unit() {
        let reference = include_str!("../../../../docs/formats.md");
        let row = |key: &str, unit: Unit| {
            let key = format!("`{key}`");
            let of_key = |line: &&str| line.split('|').nth(1).is_some_and(|it| it.contains(&key));
            let unit = format!("| `{}` |", unit.key());
            reference.lines().filter(of_key).any(|line| line.contains(&unit))
        };
        for scalar in SCALARS {
            assert!(row(scalar.key, scalar.unit), "{}", scalar.key);
        }
        for scalar in SCHEDULER {
            assert!(row(scalar.key, scalar.unit), "{}", scalar.key);
        }
        assert!(row(TRANSFER_REMOTE, Unit::Ns) && !row("transfer_nowhere", Unit::Ns));
    }

    #[test]
    fn the_haswell_is_the_machine_of_the_published_guests() {
        let machine = Machine::builtin("haswell-2s").expect("it is built in");
        let topology = &machine.topology;
        assert_eq!((topology.sockets, topology.cores(), topology.cpus()), (2, 36, 36));
        assert!(machine.scheduler().is_ok(), "guests have more vCPUs than that");
    }

    #[test]
    fn the_machines_of_the_semaphore_tables_have_the_published_shapes_and_a_scheduler() {
        for (name, sockets, cores, cpus) in
            [("cascade-lake-2s", 2, 48, 96), ("broadwell-2s-80t", 2, 40, 80), ("dl980", 8, 80, 160)]
        {
            let machine = Machine::builtin(name).expect("it is built in");
            let topology = &machine.topology;
            assert_eq!(
                (topology.sockets, topology.cores(), topology.cpus()),
                (sockets, cores, cpus)
            );
            assert!(machine.scheduler().is_ok(), "its tasks sleep");
        }
    }

    #[test]
    fn the_dl980_has_pairs_halves_and_the_rest() {
        let topology = Machine::builtin("dl980").expect("it is built in").topology;
        for row in &topology.distance {
            let of_class = |class| row.iter().filter(|&&other| other == class).count();
            assert_eq!([0, 1, 2, 3].map(of_class), [1, 1, 2, 4]);
        }
    }

    #[test]
    fn a_file_that_does_not_exist_is_refused_by_its_path() {
        let error = Machine::from_path("machines/none.toml").expect_err("there is no such file");
        assert!(matches!(error.problem, Problem::Unreadable(_)));
        assert!(error.to_string().starts_with("machines/none.toml: cannot be read: "), "{error}");
    }
}

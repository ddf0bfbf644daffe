//! Questions about locks that no published table answers, simulated.

mod document;
mod list;

pub use document::StudyDocument;
use document::StudyRow;
use list::StudyPoint;
pub use list::{STUDIES, Study, StudyMachine};
use lockwright::registry::LockRow;
use lockwright_cells::cell::{Purpose, Settings};
use lockwright_cells::error::Error;
use lockwright_cells::interrupt;
use lockwright_cells::simulated::{Cell, Outcome, SimulatedMachine, run_cells};
use lockwright_report::Progress;
use lockwright_sim::machine::Parameters;

/// Simulates a study of these locks, until Ctrl-C. They are compared with the first one. `keep` gets the document after
/// each point.
pub fn run(
    study: &Study,
    locks: &[&'static LockRow],
    seed: u64,
    progress: Progress,
    keep: &mut dyn FnMut(&StudyDocument) -> Result<(), Error>,
) -> Result<StudyDocument, Error> {
    let machines =
        study.machines.iter().map(|machine| Prepared::new(machine, study.workload.name()));
    let machines = machines.collect::<Result<Vec<_>, _>>()?;
    let mut document = StudyDocument::new(study, locks, seed, &machines);
    let cells: Vec<_> = machines
        .iter()
        .flat_map(|machine| points(study, machine).into_iter().map(move |point| (machine, point)))
        .collect();
    progress.expect(cells.len() * locks.len() * study.schedulings().len() * study.seeds as usize);
    for (at, (machine, point)) in cells.iter().enumerate() {
        progress.say(&format!(
            "simulated {}, {} {}: {} of {}",
            machine.label,
            study.x,
            point.x,
            at + 1,
            cells.len()
        ));
        let rows = simulate(study, locks, point, machine, seed, progress)?;
        document.interrupted = interrupt::is_requested();
        if document.interrupted {
            break;
        }
        document.rows.extend(rows);
        keep(&document)?;
    }
    Ok(document)
}

/// The points of a study that this machine has CPUs for. A guest may have more vCPUs than that.
fn points(study: &Study, machine: &Prepared) -> Vec<StudyPoint> {
    let cpus = machine.simulated.machine().topology.cpus();
    let mut points = (study.points)();
    points.retain(|point| study.is_guest || point.threads <= cpus);
    points
}

/// A machine of a study, with what was fitted of it and what the study assumes.
struct Prepared {
    label: &'static str,
    simulated: SimulatedMachine,
    parameters: Parameters,
}

impl Prepared {
    fn new(machine: &StudyMachine, workload: &str) -> Result<Self, Error> {
        let StudyMachine { label, builtin, numbers, software } = machine;
        let numbers: Vec<_> = numbers.iter().map(|&(key, value)| (key.into(), value)).collect();
        let simulated = SimulatedMachine::builtin(builtin, Settings::default())
            .ok_or_else(|| Error::Machine(format!("there is no machine `{builtin}`")))?
            .and_then(|machine| machine.changed(&numbers))
            .map_err(|error| Error::Machine(error.to_string()))?;
        let mut parameters = simulated.parameters().clone();
        for &(part, ns) in *software {
            let parts = parameters.software.entry(workload.into()).or_default();
            parts.insert(part.into(), ns);
        }
        Ok(Self { label, simulated, parameters })
    }
}

/// All locks at a point.
fn simulate(
    study: &Study,
    locks: &[&'static LockRow],
    point: &StudyPoint,
    machine: &Prepared,
    seed: u64,
    progress: Progress,
) -> Result<Vec<StudyRow>, Error> {
    let cell = |lock, scheduling, at: u64| Cell {
        has_siblings: true,
        machine: machine.simulated.machine(),
        parameters: &machine.parameters,
        lock,
        workload: study.workload,
        threads: point.threads,
        placement: study.placement,
        scheduling,
        seed: seed.wrapping_add(at),
        stutter_ns: if point.is_after_pause { point.phase_ns() } else { 0 },
        warmup_ns: point.warmup_ns(),
        window_ns: point.window_ns,
        tunables: &point.tunables,
        purpose: Purpose::Throughput,
    };
    let schedulings = study.schedulings();
    let runs = schedulings.len() * study.seeds as usize;
    let of_lock = |&lock: &_| {
        let seeds = 0..study.seeds;
        schedulings.iter().flat_map(move |&s| seeds.clone().map(move |at| cell(lock, s, at)))
    };
    let cells: Vec<Cell<'_>> = locks.iter().flat_map(of_lock).collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let outcomes: Result<Vec<Outcome>, _> =
        run_cells(&cells, workers, &|_| progress.advance(1)).into_iter().collect();
    let outcomes = outcomes.map_err(|error| Error::Measurement(error.to_string()))?;
    let rows = locks.iter().zip(outcomes.chunks(runs));
    let mut rows: Vec<_> =
        rows.map(|(lock, outcomes)| StudyRow::new(point, lock.name, outcomes)).collect();
    if study.compares_machines() {
        document::compare(&mut rows, machine.label);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numa_succession_has_two_to_all_threads_of_each_machine() {
        let study = STUDIES.iter().find(|study| study.name == "numa-succession");
        let study = study.expect("a study of that name");
        let prepared = |machine| Prepared::new(machine, study.workload.name()).expect("a machine");
        let size = |machine: &Prepared| {
            let topology = &machine.simulated.machine().topology;
            let threads = points(study, machine).iter().map(|point| point.threads).max();
            assert_eq!(threads, Some(topology.cpus()), "{}", machine.label);
            (topology.nodes(), topology.cpus())
        };
        let sizes: Vec<_> = study.machines.iter().map(|it| size(&prepared(it))).collect();
        let epyc = [(2, 384), (4, 384), (8, 384), (24, 384)];
        assert_eq!(sizes, [&[(4, 144), (8, 288)], &epyc[..], &[(4, 96)]].concat());
    }
}

//! Questions about locks that no published table answers, simulated.

mod document;
mod list;

pub use document::StudyDocument;
use document::StudyRow;
use list::StudyPoint;
pub use list::{STUDIES, Study};
use lockwright_cells::cell::{Purpose, Settings};
use lockwright_cells::error::Error;
use lockwright_cells::interrupt;
use lockwright_cells::simulated::{Cell, Outcome, SimulatedMachine, registered, run_cells};
use lockwright_report::Progress;

/// Simulates a study, until Ctrl-C. `keep` gets the document after each point.
pub fn run(
    study: &Study,
    seed: u64,
    progress: Progress,
    keep: &mut dyn FnMut(&StudyDocument) -> Result<(), Error>,
) -> Result<StudyDocument, Error> {
    let machine = machine_of(study)?;
    let mut document = StudyDocument::new(study, seed, &machine);
    let points = (study.points)();
    progress.expect(
        points.len() * study.locks.len() * study.schedulings().len() * study.seeds as usize,
    );
    for (at, point) in points.iter().enumerate() {
        progress.say(&format!(
            "simulated {}, {} {}: {} of {}",
            machine.machine().name,
            study.x,
            point.x,
            at + 1,
            points.len()
        ));
        let rows = simulate(study, point, &machine, seed, progress)?;
        document.interrupted = interrupt::is_requested();
        if document.interrupted {
            break;
        }
        document.rows.extend(rows);
        keep(&document)?;
    }
    Ok(document)
}

/// The machine of a study, with what was fitted of it.
fn machine_of(study: &Study) -> Result<SimulatedMachine, Error> {
    let numbers: Vec<_> = study.numbers.iter().map(|&(key, value)| (key.into(), value)).collect();
    SimulatedMachine::builtin(study.machine, Settings::default())
        .ok_or_else(|| Error::Machine(format!("there is no machine `{}`", study.machine)))?
        .and_then(|machine| machine.changed(&numbers))
        .map_err(|error| Error::Machine(error.to_string()))
}

/// All locks at a point.
fn simulate(
    study: &Study,
    point: &StudyPoint,
    machine: &SimulatedMachine,
    seed: u64,
    progress: Progress,
) -> Result<Vec<StudyRow>, Error> {
    let cell = |lock, scheduling, at: u64| Cell {
        has_siblings: true,
        machine: machine.machine(),
        parameters: machine.parameters(),
        lock,
        workload: study.workload,
        threads: point.threads,
        placement: study.placement,
        scheduling,
        seed: seed.wrapping_add(at),
        warmup_ns: point.window_ns / 5,
        window_ns: point.window_ns,
        tunables: &point.tunables,
        purpose: Purpose::Throughput,
    };
    let schedulings = study.schedulings();
    let runs = schedulings.len() * study.seeds as usize;
    let locks = study.locks.iter().map(|lock| registered(lock)).collect::<Result<Vec<_>, _>>();
    let locks = locks.map_err(|error| Error::Measurement(error.to_string()))?;
    let of_lock = |&lock: &_| {
        let seeds = 0..study.seeds;
        schedulings.iter().flat_map(move |&s| seeds.clone().map(move |at| cell(lock, s, at)))
    };
    let cells: Vec<Cell<'_>> = locks.iter().flat_map(of_lock).collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let outcomes: Result<Vec<Outcome>, _> =
        run_cells(&cells, workers, &|_| progress.advance(1)).into_iter().collect();
    let outcomes = outcomes.map_err(|error| Error::Measurement(error.to_string()))?;
    let rows = study.locks.iter().zip(outcomes.chunks(runs));
    Ok(rows.map(|(lock, outcomes)| StudyRow::new(point, lock, outcomes)).collect())
}

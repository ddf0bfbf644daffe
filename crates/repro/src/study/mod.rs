//! Questions about locks that no published table answers, simulated.

mod document;
mod list;

pub use document::StudyDocument;
use document::StudyRow;
use list::StudyPoint;
pub use list::{STUDIES, Study};
use lockwright_cells::cell::Purpose;
use lockwright_cells::error::Error;
use lockwright_cells::interrupt;
use lockwright_cells::simulated::{Cell, Outcome, registered, run_cells};
use lockwright_report::Progress;
use lockwright_sim::machine::{Calibration, Machine, Parameters};

/// Simulates a study, until Ctrl-C. `keep` gets the document after each point.
pub fn run(
    study: &Study,
    seed: u64,
    progress: Progress,
    keep: &mut dyn FnMut(&StudyDocument) -> Result<(), Error>,
) -> Result<StudyDocument, Error> {
    let (machine, calibration) = machine_of(study)?;
    let hash = calibration.as_ref().map(|calibration| calibration.hash.clone());
    let parameters = calibration.map(|calibration| calibration.parameters).unwrap_or_default();
    let mut document = StudyDocument::new(study, seed, hash);
    let points = (study.points)();
    progress.expect(
        points.len() * study.locks.len() * study.schedulings().len() * study.seeds as usize,
    );
    for (at, point) in points.iter().enumerate() {
        progress.say(&format!(
            "simulated {}, {} {}: {} of {}",
            study.machine,
            study.x,
            point.x,
            at + 1,
            points.len()
        ));
        let rows = simulate(study, point, &machine, &parameters, seed, progress)?;
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
fn machine_of(study: &Study) -> Result<(Machine, Option<Calibration>), Error> {
    let machine = Machine::builtin(study.machine)
        .ok_or_else(|| Error::Machine(format!("there is no machine `{}`", study.machine)))?;
    let Some(calibration) = Calibration::builtin(study.machine) else {
        return Ok((machine, None));
    };
    let fitted = machine.with(&calibration).map_err(|e| Error::Machine(e.to_string()))?;
    Ok((fitted, Some(calibration)))
}

/// All locks at a point.
fn simulate(
    study: &Study,
    point: &StudyPoint,
    machine: &Machine,
    parameters: &Parameters,
    seed: u64,
    progress: Progress,
) -> Result<Vec<StudyRow>, Error> {
    let cell = |lock, scheduling, at: u64| Cell {
        has_siblings: true,
        machine,
        parameters,
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

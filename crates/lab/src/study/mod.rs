//! `lockwright study`: questions about locks that no published table answers, simulated.

mod document;
mod list;

use crate::cli::{name, whole};
use crate::lists;
use clap::Args;
use document::{Row, StudyDocument};
use list::{Point, STUDIES, Study};
use lockwright_cells::error::Error;
use lockwright_cells::interrupt;
use lockwright_cells::simulated::{Cell, Outcome, run_cells};
use lockwright_report::OutputArgs;
use lockwright_report::{Outputs, Progress};
use lockwright_sim::machine::{Calibration, Machine, Parameters};
use std::process::ExitCode;

/// Arguments of `study`.
#[derive(Clone, Debug, Args)]
pub struct StudyArgs {
    /// The study, by its name in `lockwright studies`; without one they are listed
    #[arg(value_name = "STUDY", value_parser = name)]
    pub study: Option<String>,
    /// Seed for random numbers; the same seed repeats a study exactly
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole)]
    pub seed: u64,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The studies: name, question and machine.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    STUDIES.iter().map(|study| (study.name, study.asks, study.machine))
}

/// The names of the studies.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(|(name, ..)| name)
}

/// Runs the command.
pub fn run(args: &StudyArgs) -> Result<ExitCode, Error> {
    let progress = Progress::new(args.output.quiet);
    let Some(asked) = &args.study else { return lists::instead_of(&args.output, lists::studies) };
    let study = STUDIES
        .iter()
        .find(|study| study.name == *asked)
        .ok_or_else(|| Error::unknown("study", asked, names(), "lockwright studies"))?;
    let outputs = Outputs::open(&args.output)?;
    progress.answer_interrupts();
    let (machine, calibration) = machine_of(study)?;
    let hash = calibration.as_ref().map(|calibration| calibration.hash.clone());
    let parameters = calibration.map(|calibration| calibration.parameters).unwrap_or_default();
    let mut document = StudyDocument::new(study, args.seed, hash);
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
        let rows = simulate(study, point, &machine, &parameters, args.seed, progress)?;
        document.interrupted = interrupt::is_requested();
        if document.interrupted {
            break;
        }
        document.rows.extend(rows);
        outputs.keep(&document)?;
    }
    outputs.finish(&document)?;
    Ok(match document.interrupted {
        true => ExitCode::from(interrupt::EXIT_CODE),
        false => ExitCode::SUCCESS,
    })
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
    point: &Point,
    machine: &Machine,
    parameters: &Parameters,
    seed: u64,
    progress: Progress,
) -> Result<Vec<Row>, Error> {
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
        purpose: lockwright_cells::cell::Purpose::Throughput,
    };
    let schedulings = study.schedulings();
    let runs = schedulings.len() * study.seeds as usize;
    let of_lock = |&lock: &&'static str| {
        let seeds = 0..study.seeds;
        schedulings.iter().flat_map(move |&s| seeds.clone().map(move |at| cell(lock, s, at)))
    };
    let cells: Vec<Cell<'_>> = study.locks.iter().flat_map(of_lock).collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let outcomes: Result<Vec<Outcome>, _> =
        run_cells(&cells, workers, &|_| progress.advance(1)).into_iter().collect();
    let outcomes = outcomes.map_err(|error| Error::Measurement(error.to_string()))?;
    let rows = study.locks.iter().zip(outcomes.chunks(runs));
    Ok(rows.map(|(lock, outcomes)| Row::new(point, lock, outcomes)).collect())
}

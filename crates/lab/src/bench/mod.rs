//! `lockwright bench`: how fast, how long, how fair.

mod document;
mod schedule;

pub use document::BenchDocument;
pub use schedule::{Schedule, what_broke};

use crate::cell::{LabMachine, Workload};
use crate::cli::{BenchArgs, Switch};
use crate::error::Error;
use crate::native::ForeignLoad;
use crate::plan::{self, Matrix};
use crate::report::{Outputs, Progress, complain};
use crate::{interrupt, machines, replay};
use std::process::ExitCode;
use std::time::Instant;

const NATIVE_DEFAULT_S: f64 = 0.1;
const SIMULATED_DEFAULT_S: f64 = 0.005;

/// Names, knobs and one line for each workload.
pub const WORKLOADS: &[(&str, &[&str], &str)] = &[
    ("uncontended", &[], "lock and unlock on one thread; `floor` runs here"),
    ("counter", &["--cs-load", "--think-load"], "a shared counter, pause instructions in and out"),
    ("locktorture", &["--long-hold"], "the kernel's locktorture with the rules of v5.6"),
];

/// Runs the command.
pub fn run(args: &BenchArgs) -> Result<ExitCode, Error> {
    let progress = Progress::new(args.output.quiet);
    let machine = machines::open(&args.machine)?;
    let machine = machine.as_ref();
    let schedule = schedule(args, machine)?;
    let outputs = Outputs::open(&args.output)?;
    schedule.matrix.warnings.iter().for_each(|warning| progress.warn(warning));

    let mut document =
        BenchDocument::new(&schedule, machine.on(schedule.workload), &args.machine.settings());
    if machine.is_simulated() {
        progress.answer_interrupts();
    }
    let foreign = ForeignLoad::watch();
    let started = Instant::now();
    schedule.run(machine, progress, &mut |sample| {
        if let Some((spec, _)) = sample.failure.as_ref().filter(|_| machine.is_simulated()) {
            progress.say(&replay::line(&args.machine, spec));
        }
        document.add(sample);
        outputs.keep(&document)
    })?;
    document.interrupted = interrupt::is_requested();
    if !machine.is_simulated() {
        document.foreign_load_percent = foreign.percent();
        note_foreign_load(document.foreign_load_percent, progress);
    }
    outputs.finish(&document)?;
    if args.speed {
        note_speed(&document, started);
    }
    if document.interrupted {
        progress.say("interrupted: the results are of what was measured until then");
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    document.verdict().map(|()| ExitCode::SUCCESS)
}

/// Says so if others used the machine as well.
pub fn note_foreign_load(percent: Option<f64>, progress: Progress) {
    const NOTABLE_PERCENT: f64 = 5.0;
    if let Some(percent) = percent.filter(|&percent| percent >= NOTABLE_PERCENT) {
        progress.warn(&format!(
            "other processes used {percent:.0} % of the CPUs meanwhile: the numbers are noisy"
        ));
    }
}

/// Says how fast the simulation ran. Never part of a document: those are the same everywhere.
fn note_speed(document: &BenchDocument, started: Instant) {
    let wall_s = started.elapsed().as_secs_f64();
    let per_s = |count: u64| count as f64 / wall_s;
    complain(&format!(
        "speed: {:.0} simulated lock operations per wall second on one core ({:.1} million events \
         per second; {} operations in {wall_s:.2} s)",
        per_s(document.operations),
        per_s(document.simulated_events) / 1e6,
        document.operations
    ));
}

/// What is to be run, checked.
fn schedule(args: &BenchArgs, machine: &dyn LabMachine) -> Result<Schedule, Error> {
    let is_simulated = machine.is_simulated();
    let workload = workload(args, is_simulated)?;
    if args.speed && !is_simulated {
        return Err(Error::usage("--speed is for simulated machines: add --on with one"));
    }
    let threads = match (&args.threads[..], workload) {
        ([], Workload::Uncontended) => vec![1],
        ([], _) => plan::usual_threads(machine.cpus()),
        (asked, _) => asked.to_vec(),
    };
    let default_s = if is_simulated { SIMULATED_DEFAULT_S } else { NATIVE_DEFAULT_S };
    Ok(Schedule {
        matrix: Matrix::new(machine, workload, &args.lock, &threads)?,
        workload,
        runs: args.runs,
        window_ns: plan::window_ns(args.secs, default_s)?,
        seed: args.machine.seed,
        one_at_a_time: args.speed,
    })
}

/// The workload with its knobs; a knob of another one is an error.
fn workload(args: &BenchArgs, is_simulated: bool) -> Result<Workload, Error> {
    let foreign = |flag: &str, owner: &str| {
        Err(Error::usage(format!(
            "{flag} is a knob of the workload `{owner}`, not of `{}`",
            args.workload
        )))
    };
    let has_loads = args.cs_load.is_some() || args.think_load.is_some();
    match args.workload.as_str() {
        "counter" | "uncontended" if args.long_hold.is_some() => {
            foreign("--long-hold", "locktorture")
        }
        "locktorture" | "uncontended" if has_loads => {
            foreign("--cs-load or --think-load", "counter")
        }
        "uncontended" => Ok(Workload::Uncontended),
        "counter" => Ok(Workload::Counter {
            cs_load: args.cs_load.unwrap_or(1),
            think_load: args.think_load.unwrap_or(0),
        }),
        "locktorture" => {
            Ok(Workload::Locktorture { long_hold: holds_long(args.long_hold, is_simulated) })
        }
        unknown => {
            let names = WORKLOADS.iter().map(|(name, ..)| *name);
            Err(Error::unknown("workload", unknown, names, "lockwright workloads"))
        }
    }
}

/// Whether locktorture holds the lock for 100 ms now and then. A simulation adds that by formula;
/// natively it would fill most of a short run.
fn holds_long(asked: Option<Switch>, is_simulated: bool) -> bool {
    asked.map_or(is_simulated, |switch| switch == Switch::On)
}

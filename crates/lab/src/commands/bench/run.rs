//! Running a benchmark.

use super::args::BenchArgs;
use super::report::BenchDocument;
use super::schedule::{Benchmark, Together};
use crate::matrix::{self, Matrix};
use crate::options::MachineArgs;
use crate::thread_counts::ThreadCounts;
use crate::{machines, replay};
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_measure::trial::LabMachine;
use lockwright_measure::workload::Workload;
use lockwright_parts::Part;
use lockwright_sheets::{Outputs, complain};
use lockwright_studies::records::{Folder, KeptMachine};
use std::process::ExitCode;
use std::time::Instant;

const NATIVE_DEFAULT_S: f64 = 0.1;
const SIMULATED_DEFAULT_S: f64 = 0.005;
/// Of threads that share CPUs: many time slices, or the fewest operations of a thread would mean
/// nothing.
const SHARED_DEFAULT_S: f64 = 1.0;
/// Tasks of a kernel take turns by sleeping, whatever a slice is.
const TASKS_DEFAULT_S: f64 = 0.02;
const DEFAULT_RUNS: u32 = 5;
/// Of threads that share CPUs: each start state is a run already, and takes seconds.
const SHARED_DEFAULT_RUNS: u32 = 1;

/// A machine, and what is to be run on it.
struct Planned {
    args: MachineArgs,
    machine: Box<dyn LabMachine>,
    schedule: Benchmark,
}

/// Runs the command.
pub fn run(args: &BenchArgs) -> Result<ExitCode, Error> {
    let planned = |of: MachineArgs| {
        let machine = machines::open(&of)?;
        let schedule = schedule(args, machine.as_ref())?;
        Ok(Planned { args: of, machine, schedule })
    };
    let machines = args.machine.each(args.output.plot.as_ref())?.into_iter();
    let all = machines.map(planned).collect::<Result<Vec<_>, Error>>()?;
    let outputs = args.output.open()?;
    let part = all.first().map_or(Part::default(), |first| first.schedule.part);
    let folder = args.folder.kept.open(part, args.output.progress)?;
    let mut ended = Ok(ExitCode::SUCCESS);
    for (at, planned) in all.iter().enumerate() {
        let is_last = at + 1 == all.len();
        let document = bench(args, planned, folder.as_ref(), &outputs, is_last)?;
        ended = document.verdict().map(|()| ExitCode::SUCCESS);
        if document.interrupted {
            args.output.progress.tell(&args.folder.interrupted());
            ended = Ok(ExitCode::from(interrupt::EXIT_CODE));
            break;
        }
        if ended.is_err() {
            break;
        }
    }
    folder.map_or(Ok(()), Folder::finish)?;
    ended
}

/// Runs the benchmark on one machine.
fn bench(
    args: &BenchArgs,
    planned: &Planned,
    folder: Option<&Folder>,
    outputs: &Outputs,
    is_last: bool,
) -> Result<BenchDocument, Error> {
    let Planned { args: machine_args, machine, schedule } = planned;
    let progress = args.output.progress;
    let machine = &KeptMachine::new(&machine_args.on, machine.as_ref(), folder);
    let mut document = BenchDocument::new(schedule, machine, &machine_args.settings());
    let foreign = machines::watch(machine, progress);
    let started = Instant::now();
    schedule.run(machine, progress, &mut |runs| {
        let failed = runs.failure.as_ref().map(|(spec, _)| spec);
        if let Some(line) = failed.and_then(|spec| replay::line(machine_args, spec)) {
            progress.tell(&line);
        }
        document.add(runs);
        outputs.keep_so_far(&document);
        Ok(())
    })?;
    document.interrupted = interrupt::is_requested();
    document.add_foreign_load(foreign);
    let is_over = is_last || document.interrupted || document.verdict().is_err();
    match is_over {
        true => outputs.finish(&document)?,
        false => outputs.finish_part(&document, true)?,
    }
    let quote = args.folder.quoted(machine, schedule.workload(), schedule.seed);
    outputs.tell(&document, &quote)?;
    if args.speed {
        note_speed(&document, started);
    }
    Ok(document)
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
fn schedule(args: &BenchArgs, machine: &dyn LabMachine) -> Result<Benchmark, Error> {
    let is_simulated = machine.is_simulated();
    let is_guest = !args.machine.guest.vcpus.is_empty();
    let workloads = args.parameters.workloads(&args.workload, machine, is_guest)?;
    let workload = *workloads.first().unwrap_or_else(|| unreachable!("there is at least one"));
    if args.speed && !is_simulated {
        return Err(Error::usage("--speed is for simulated machines: add --on x5-4"));
    }
    let part = args.folder.shard.part_of(is_simulated)?;
    let usual = workload.usual_threads(machine.cpus()).map(|count| vec![count]);
    let usual = usual.unwrap_or_else(|| {
        let (least, most, _) = workload.threads().unwrap_or((0, usize::MAX, ""));
        let all = matrix::usual_threads(machine.cpus()).into_iter();
        all.filter(|count| (least..=most).contains(count)).collect()
    });
    let thread_counts =
        ThreadCounts::asked(machine, workload, &args.machine, &args.threads, &usual)?;
    let shares_cpus = thread_counts.kind().is_some();
    if let Workload::Starve(it) = workload {
        let most = thread_counts.counts().iter().max().copied().unwrap_or(0);
        it.check_threads(most, machine.cpus()).map_err(Error::usage)?;
    }
    let default_s = match (workload.usual_s(), is_simulated, shares_cpus) {
        (Some(usual_s), _, false) => usual_s,
        (Some(usual_s), ..) if workload.is_fixed_work() => usual_s,
        (_, true, true) if workload.is_in_kernel() => TASKS_DEFAULT_S,
        (_, _, true) => SHARED_DEFAULT_S,
        (None, true, false) => SIMULATED_DEFAULT_S,
        (None, false, false) => NATIVE_DEFAULT_S,
    };
    let usual_runs = if shares_cpus { SHARED_DEFAULT_RUNS } else { DEFAULT_RUNS };
    Ok(Benchmark {
        matrix: Matrix::new(machine, workload, &args.lock, thread_counts)?,
        workloads,
        runs: args.runs.unwrap_or(usual_runs),
        window_ns: matrix::window_ns(args.secs, default_s)?,
        seed: args.machine.random.seed,
        together: if args.speed { Together::None } else { Together::on(machine) },
        part,
    })
}

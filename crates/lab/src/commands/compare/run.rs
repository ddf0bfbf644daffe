//! Running a comparison.

use super::args::CompareArgs;
use super::contest;
use super::plan::ComparePlan;
use super::report::CompareDocument;
use crate::machines;
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_measure::native::NativeMachine;
use lockwright_measure::native::locks::stalls_if_oversubscribed;
use lockwright_measure::subject::Subject;
use lockwright_measure::trial::{LabMachine, Purpose, Settings};
use lockwright_measure::workload::Workload;
use lockwright_sheets::{Outputs, Progress, foreign_load};
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<ExitCode, Error> {
    let progress = args.progress;
    let machine = open(args)?;
    let machine = machine.as_ref();
    let plan = args.plan(machine)?;
    let outputs = Outputs::open(&args.documents, None)?;
    progress.say(&plan.described());

    let mut document = CompareDocument::new(&plan, machine, has_membarrier(machine));
    document.warnings = machine.warnings(Workload::counter(1, 0));
    document.warnings.extend(plan.left_out.iter().cloned());
    document.warnings.extend(slow_locks(&plan));
    let foreign = machines::watch(machine, progress);
    measure(&plan, machine, progress, &mut document, &outputs)?;
    document.interrupted = interrupt::is_requested();
    document.foreign_load_percent = foreign.and_then(|foreign| foreign.percent());
    document.warnings.extend(foreign_load(document.foreign_load_percent));
    outputs.finish(&document)?;
    if document.interrupted {
        progress.tell("interrupted: the results cover what was measured until then");
        return Ok(ExitCode::from(interrupt::EXIT_CODE));
    }
    document.verdict().map(|()| ExitCode::SUCCESS)
}

/// Runs the cells, and keeps each as soon as it is complete.
fn measure(
    plan: &ComparePlan,
    machine: &dyn LabMachine,
    progress: Progress,
    document: &mut CompareDocument,
    outputs: &Outputs,
) -> Result<(), Error> {
    progress.expect(plan.cells.len());
    for &cell in &plan.cells {
        let contest = contest::run(plan, cell, machine);
        let has_failed = contest.failure.is_some();
        if contest.has_runs() || has_failed {
            document.add(contest, plan.window_ns(cell, Purpose::Throughput));
            outputs.keep_so_far(document);
            progress.say(&document.newest());
        }
        progress.advance(1);
        if interrupt::is_requested() || has_failed {
            break;
        }
    }
    Ok(())
}

/// The machine that was asked for.
fn open(args: &CompareArgs) -> Result<Box<dyn LabMachine>, Error> {
    match args.on.as_deref() {
        None | Some(machines::NATIVE) if args.set.is_empty() => {
            Ok(Box::new(NativeMachine::new(&Settings::default())))
        }
        None | Some(machines::NATIVE) => Err(Error::usage(
            "--set is for simulated machines: add --on with one, such as --on x5-4",
        )),
        Some(on) => Ok(Box::new(machines::open_changed(on, &args.set)?)),
    }
}

/// True if unlocking may rely on membarrier, as far as the environment is concerned. A simulated machine does not
/// depend on it.
fn has_membarrier(machine: &dyn LabMachine) -> bool {
    let is_off = std::env::var_os("LOCKWRIGHT_MEMBARRIER").is_some_and(|value| value == "off");
    machine.is_simulated() || !is_off
}

/// A warning for each lock of ours that needs a CPU for every thread and does not get it.
fn slow_locks(plan: &ComparePlan) -> Vec<String> {
    let is_oversubscribed = plan.cells.iter().any(|cell| cell.threads > plan.cpus);
    let stalls =
        plan.ours().into_iter().filter(|&lock| is_oversubscribed && stalls_if_oversubscribed(lock));
    let warning = |lock: Subject| {
        format!(
            "{} is very slow with more threads than the {} CPUs: the next waiter in its queue often has no \
             CPU, and all others wait for it",
            lock.name(),
            plan.cpus
        )
    };
    stalls.map(warning).collect()
}

//! Running a comparison.

use super::args::CompareArgs;
use super::contest;
use super::plan::ComparePlan;
use super::report::CompareDocument;
use crate::machines::{self, NATIVE};
use crate::options::machines_of;
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_measure::native::NativeMachine;
use lockwright_measure::native::locks::stalls_if_oversubscribed;
use lockwright_measure::subject::Subject;
use lockwright_measure::trial::{LabMachine, Purpose, Settings};
use lockwright_measure::workload::Workload;
use lockwright_parts::Part;
use lockwright_sheets::{Outputs, Progress, foreign_load};
use lockwright_studies::records::{Folder, KeptMachine};
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<ExitCode, Error> {
    let progress = args.progress;
    let on = machines_of(args.on.as_deref().unwrap_or(NATIVE))?;
    let planned = |on| {
        let machine = open(on, args)?;
        let mut plan = args.plan(machine.as_ref())?;
        let part = args.folder.shard.part_of(plan.is_simulated)?;
        plan.cells = part.of(plan.cells, |cell| cell.threads as u64);
        if plan.cells.is_empty() {
            return Err(Error::usage(
                "there are fewer cells than parts: use fewer parts in --shard, or name more cells",
            ));
        }
        Ok((on, part, machine, plan))
    };
    let all = on.into_iter().map(planned).collect::<Result<Vec<_>, Error>>()?;
    let outputs = Outputs::open(&args.documents, None)?;
    let folder = args.folder.kept.open(all.first().map_or(Part::default(), |it| it.1), progress)?;
    let mut ended = Ok(ExitCode::SUCCESS);
    for (at, (on, _, machine, plan)) in all.iter().enumerate() {
        let machine = &KeptMachine::new(on, machine.as_ref(), folder.as_ref());
        progress.say(&plan.described());
        let document = compare(plan, machine, progress, &outputs)?;
        ended = document.verdict().map(|()| ExitCode::SUCCESS);
        if document.interrupted {
            ended = Ok(ExitCode::from(interrupt::EXIT_CODE));
        }
        let is_over = at + 1 == all.len() || document.interrupted || ended.is_err();
        match is_over {
            true => outputs.finish(&document)?,
            false => outputs.finish_part(&document, true)?,
        }
        let quote = args.folder.quoted(machine, Workload::counter(1, 0), plan.seed);
        outputs.tell(&document, &quote)?;
        if is_over {
            break;
        }
    }
    if interrupt::is_requested() {
        progress.tell(&args.folder.interrupted());
    }
    folder.map_or(Ok(()), Folder::finish)?;
    ended
}

/// Runs the comparison on one machine.
fn compare(
    plan: &ComparePlan,
    machine: &dyn LabMachine,
    progress: Progress,
    outputs: &Outputs,
) -> Result<CompareDocument, Error> {
    let mut document = CompareDocument::new(plan, machine, has_membarrier(machine));
    document.warnings = machine.warnings(Workload::counter(1, 0));
    document.warnings.extend(plan.left_out.iter().cloned());
    document.warnings.extend(slow_locks(plan));
    let foreign = machines::watch(machine, progress);
    measure(plan, machine, progress, &mut document, outputs)?;
    document.interrupted = interrupt::is_requested();
    document.foreign_load_percent = foreign.and_then(|foreign| foreign.percent());
    document.warnings.extend(foreign_load(document.foreign_load_percent));
    Ok(document)
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

/// The machine of that name.
fn open(on: &str, args: &CompareArgs) -> Result<Box<dyn LabMachine>, Error> {
    match on {
        NATIVE if args.set.is_empty() => Ok(Box::new(NativeMachine::new(&Settings::default()))),
        NATIVE => Err(Error::usage(
            "--set is for simulated machines: add --on with one, such as --on x5-4",
        )),
        on => Ok(Box::new(machines::open_changed(on, &args.set)?)),
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

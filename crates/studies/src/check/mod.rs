//! Workload `counter` natively and simulated on the machine file of this computer, lock by lock.

mod document;
mod judge;
mod plan;

use crate::records::{Folder, KeptMachine};
use document::{CheckDocument, JudgedCell};
use judge::CheckEntry;
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_measure::native::{ForeignLoad, NativeMachine};
use lockwright_measure::record::{TrialError, TrialRecord};
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::subject::Subject;
use lockwright_measure::trial::{LabMachine, Trial};
use lockwright_sheets::{Outputs, Progress, foreign_load, plural};
use plan::{CheckCell, SIMULATED_RUNS};
pub use plan::{CheckPlan, THREADS};
use std::process::ExitCode;

/// Runs all cells natively, then one after the other simulated, until Ctrl-C.
pub fn run(
    plan: &CheckPlan,
    native: &NativeMachine,
    simulated: &SimulatedMachine,
    folder: Option<&Folder>,
    outputs: &Outputs,
    progress: Progress,
) -> Result<ExitCode, Error> {
    let foreign = ForeignLoad::watch();
    let kept = KeptMachine::new(&simulated.machine().name, simulated, folder);
    let natives = measure(plan, &KeptMachine::new("native", native, folder), progress)?;
    let mut document = CheckDocument::new(plan.seed, native, simulated);
    document.warnings.extend(foreign_load(foreign.percent()));
    for (&cell, locks) in plan.cells.iter().zip(natives) {
        if interrupt::is_requested() {
            return Ok(ExitCode::from(interrupt::EXIT_CODE));
        }
        progress.say(&format!("simulated, {}", described(cell)));
        let simulated = simulate(plan, &kept, cell)?;
        let entries = locks.into_iter().zip(simulated).filter_map(|((lock, native), simulated)| {
            CheckEntry::of(lock.name(), &native, &simulated)
        });
        document.cells.push(JudgedCell::of(cell, entries.collect()));
        outputs.keep_so_far(&document);
    }
    document.finish();
    outputs.finish(&document)?;
    Ok(ExitCode::SUCCESS)
}

/// A lock and its native operations per second, a number for each repetition.
type Natives = Vec<(Subject, Vec<f64>)>;

/// Measures all cells natively. In each repetition every cell has its turn and in it every lock, each
/// time another one first, so that a disturbance meets a repetition and not a cell.
fn measure(
    plan: &CheckPlan,
    machine: &dyn LabMachine,
    progress: Progress,
) -> Result<Vec<Natives>, Error> {
    let empty = |&cell: &CheckCell| {
        plan.locks_in(cell).into_iter().map(|lock| (lock, Vec::new())).collect()
    };
    let mut natives: Vec<Natives> = plan.cells.iter().map(empty).collect();
    progress.expect(plan.runs as usize * natives.iter().map(Vec::len).sum::<usize>());
    for repetition in 0..plan.runs {
        progress.say(&format!("native, repetition {} of {}", repetition + 1, plan.runs));
        for (&cell, locks) in plan.cells.iter().zip(&mut natives) {
            let count = locks.len();
            for turn in 0..count {
                let (lock, seen) = &mut locks[(turn + repetition as usize) % count];
                let spec = plan.trial(cell, *lock, repetition, false);
                seen.push(result(&spec, machine.run_trial(&spec))?.ops_per_s);
                progress.advance(1);
            }
        }
    }
    Ok(natives)
}

/// Simulates a cell; operations per second of each lock in each repetition.
fn simulate(
    plan: &CheckPlan,
    machine: &dyn LabMachine,
    cell: CheckCell,
) -> Result<Vec<Vec<f64>>, Error> {
    let each = |lock| (0..SIMULATED_RUNS).map(move |run| plan.trial(cell, lock, run, true));
    let specs: Vec<_> = plan.locks_in(cell).into_iter().flat_map(each).collect();
    let results = specs.iter().zip(machine.run_batch(&specs, &|_| ()));
    let numbers = results.map(|(spec, measured)| Ok(result(spec, measured)?.ops_per_s));
    let numbers = numbers.collect::<Result<Vec<f64>, Error>>()?;
    Ok(numbers.chunks(SIMULATED_RUNS as usize).map(<[f64]>::to_vec).collect())
}

/// What came out of a cell that was not interrupted and did not fail.
fn result(spec: &Trial, result: Result<TrialRecord, TrialError>) -> Result<TrialRecord, Error> {
    let lock = spec.lock.name();
    match result {
        Ok(measured) if measured.held() => Ok(measured),
        Ok(_) => Err(Error::Measurement(format!("`{lock}` does not exclude"))),
        Err(TrialError::Interrupted) => {
            Err(Error::Measurement("interrupted before there was a result".into()))
        }
        Err(TrialError::Failed(how)) => {
            Err(Error::Measurement(format!("`{lock}` with {} threads: {how}", spec.threads)))
        }
    }
}

/// A cell in words.
fn described(cell: CheckCell) -> String {
    let CheckCell { cs_load, think_load, threads } = cell;
    format!(
        "{}, {} in the critical section, {think_load} between two",
        plural(threads as u64, "thread"),
        plural(cs_load.into(), "pause instruction"),
    )
}

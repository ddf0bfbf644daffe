//! Running a torture.

use super::args::TortureArgs;
use super::mix;
use super::report::{TortureDocument, TortureResult};
use super::roles::Roles;
use crate::commands::bench::what_broke;
use crate::crew::Crew;
use crate::matrix::{self, Matrix};
use crate::options::MachineArgs;
use crate::{machines, replay};
use lockwright_cells::cell::{CellError, CellSpec, LabMachine, Measurement, Purpose, Workload};
use lockwright_cells::error::Error;
use lockwright_cells::interrupt;
use lockwright_cells::native::ForeignLoad;
use lockwright_cells::stress::Stress;
use lockwright_cells::subject::Asked;
use lockwright_report::foreign_load;
use lockwright_report::{Outputs, Progress, print, warned};
use std::process::ExitCode;

const NATIVE_DEFAULT_S: f64 = 0.25;
const SIMULATED_DEFAULT_S: f64 = 0.02;
/// Of threads that share CPUs: many time slices.
const SHARED_DEFAULT_S: f64 = 0.25;
const NATIVE_THREADS: usize = 2;
const SIMULATED_THREADS: usize = 8;

/// Runs the command.
pub fn run(args: &TortureArgs) -> Result<ExitCode, Error> {
    let progress = args.output.progress;
    let machine = machines::open(&args.machine)?;
    let machine = machine.as_ref();
    let is_simulated = machine.is_simulated();
    let roles = Roles::asked(args, machine);
    let crew = crew(args, machine, roles)?;
    let window_ns = matrix::window_ns(args.secs, usual_s(machine, &crew))?;
    let stress = mix::stress(&args.stress, machine, &crew, window_ns)?;
    let workload = Workload::Locktorture { long_hold: stress.long_hold_ns > 0 };
    let mut matrix = Matrix::new(machine, workload, &args.lock, crew)?;
    roles.retain(&mut matrix.locks)?;
    let outputs = args.output.open()?;

    let seed = args.machine.random.seed;
    let on = machine.on(workload).shared_by(matrix.crew.kind());
    let mut document = TortureDocument::new(on, workload, seed, args.machine.settings());
    document.stress = stress.into();
    document.warnings.append(&mut matrix.warnings);
    let replay = is_simulated.then_some(&args.machine);
    let teller = Teller { outputs: &outputs, progress, replay };
    if is_simulated {
        progress.answer_interrupts();
    }
    let foreign = ForeignLoad::watch();
    let stages = matrix.crew.counts().iter().map(|&threads| {
        let of_lock = |Asked { subject: lock, .. }| {
            let (threads, readers) = roles.of(lock, threads);
            let spec = move |scheduling| CellSpec {
                lock,
                workload,
                threads,
                scheduling,
                window_ns,
                repetition: 0,
                seed,
                purpose: Purpose::Torture(Stress { readers, ..stress }),
            };
            matrix.crew.schedulings(threads).into_iter().map(spec)
        };
        matrix.locks_with(threads).flat_map(of_lock).collect()
    });
    let stages: Vec<Vec<CellSpec>> = stages.collect();
    progress.expect(stages.iter().map(Vec::len).sum());
    for cells in &stages {
        torture(machine, cells, &mut document, &teller)?;
    }
    if !is_simulated {
        document.warnings.extend(foreign_load(foreign.percent()));
    }
    document.note_short_runs(&stress);
    document.interrupted = interrupt::is_requested();
    if outputs.stdout_is_for_people() {
        print(&warned(&document.warnings))?;
    }
    outputs.finish_documents(&document)?;
    Ok(match (document.has_failed(), document.interrupted) {
        (true, _) => ExitCode::FAILURE,
        (false, true) => ExitCode::from(interrupt::EXIT_CODE),
        (false, false) => ExitCode::SUCCESS,
    })
}

/// Who was asked for. One simulated default fits every machine.
fn crew(args: &TortureArgs, machine: &dyn LabMachine, roles: Roles) -> Result<Crew, Error> {
    let usual = if machine.is_simulated() { SIMULATED_THREADS } else { NATIVE_THREADS };
    let any = Workload::Locktorture { long_hold: false };
    let usual = [roles.usual_threads(usual)];
    let crew = Crew::asked(machine, any, &args.machine, &args.threads, &usual)?;
    roles.check(crew.counts(), crew.noun())?;
    Ok(crew)
}

/// How long each lock is tortured, in seconds, unless something else is asked for.
fn usual_s(machine: &dyn LabMachine, crew: &Crew) -> f64 {
    match (machine.is_simulated(), crew.kind()) {
        (_, Some(_)) => SHARED_DEFAULT_S,
        (true, None) => SIMULATED_DEFAULT_S,
        (false, None) => NATIVE_DEFAULT_S,
    }
}

/// Tells what happens, as it happens.
struct Teller<'a> {
    outputs: &'a Outputs,
    progress: Progress,
    /// Where a failure can be repeated, if it can.
    replay: Option<&'a MachineArgs>,
}

impl Teller<'_> {
    fn line(&self, line: &str) -> Result<(), Error> {
        match self.outputs.stdout_is_for_people() {
            true => print(&format!("{line}\n")),
            false => Ok(()),
        }
    }
    fn tell(&self, document: &TortureDocument, spec: &CellSpec) -> Result<(), Error> {
        let Some(result) = document.last() else { return Ok(()) };
        for line in result.lines() {
            self.line(&line)?;
        }
        if let Some(failure) = result.failure() {
            self.progress.tell(&format!("{}: {failure}", result.name()));
            if let Some(machine) = self.replay {
                self.progress.tell(&replay::line(machine, spec));
            }
        }
        self.outputs.keep(document)
    }
}

/// Runs the cells: natively one lock after the other, simulated ones side by side.
fn torture(
    machine: &dyn LabMachine,
    cells: &[CellSpec],
    document: &mut TortureDocument,
    teller: &Teller<'_>,
) -> Result<(), Error> {
    let at_once = if machine.is_simulated() { cells.len().max(1) } else { 1 };
    for batch in cells.chunks(at_once) {
        if document.is_over || interrupt::is_requested() {
            break;
        }
        for (spec, result) in
            batch.iter().zip(machine.run_batch(batch, &|_| teller.progress.advance(1)))
        {
            match result {
                Err(CellError::Interrupted) => {}
                Ok(measured) => {
                    let failure = (!measured.held()).then(|| what_broke(&measured));
                    document.add(TortureResult::new(
                        &document.on().clone(),
                        spec,
                        &measured,
                        failure,
                    ));
                    teller.tell(document, spec)?;
                }
                Err(CellError::Failed(how)) => {
                    let nothing =
                        Measurement { window_ns: spec.window_ns, ..Measurement::default() };
                    document.add(TortureResult::new(
                        &document.on().clone(),
                        spec,
                        &nothing,
                        Some(how),
                    ));
                    teller.tell(document, spec)?;
                    // Natively the threads of this lock still spin and would disturb the others.
                    document.is_over = !machine.is_simulated();
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockMachine;
    use lockwright_cells::cell::Settings;
    use lockwright_cells::stress::Stress;
    use lockwright_cells::subject::Subject;
    use lockwright_report::DocumentArgs;

    fn document_for(names: &[&str]) -> TortureDocument {
        let machine = MockMachine::default();
        let workload = Workload::Locktorture { long_hold: false };
        let mut document =
            TortureDocument::new(machine.on(workload), workload, 1, Settings::default());
        let quiet = DocumentArgs { json: Some("-".into()), csv: None };
        let outputs = Outputs::open(&quiet, None).expect("nothing to open");
        let progress = Progress::new(true);
        let teller = Teller { outputs: &outputs, progress, replay: None };
        let cells: Vec<CellSpec> = names
            .iter()
            .map(|name| CellSpec {
                lock: Subject::find(name).expect("a known name"),
                workload,
                threads: 2,
                scheduling: None,
                window_ns: 1_000,
                repetition: 0,
                seed: 1,
                purpose: Purpose::Torture(Stress::default()),
            })
            .collect();
        torture(&machine, &cells, &mut document, &teller).expect("nothing is written");
        document
    }

    #[test]
    fn one_broken_lock_makes_the_whole_torture_fail() {
        assert!(!document_for(&["mcs", "clh"]).has_failed());
        assert!(document_for(&["mcs", "busted", "clh"]).has_failed());
    }
}

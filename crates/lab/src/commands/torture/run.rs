//! Running a torture.

use super::args::TortureArgs;
use super::mix;
use super::report::TortureDocument;
use super::roles::Roles;
use crate::matrix::{self, Matrix};
use crate::options::MachineArgs;
use crate::outcome::{exit_code, what_broke};
use crate::thread_counts::ThreadCounts;
use crate::{machines, replay};
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_measure::native::locks::readers_share;
use lockwright_measure::record::{TrialError, TrialRecord};
use lockwright_measure::stress::Stress;
use lockwright_measure::subject::Asked;
use lockwright_measure::trial::{LabMachine, Purpose, Trial};
use lockwright_measure::workload::Workload;
use lockwright_measure::workload::locktorture::LocktortureParams;
use lockwright_parts::Part;
use lockwright_sheets::{Outputs, Progress, foreign_load, warned};
use lockwright_studies::records::{Folder, KeptMachine};
use std::process::ExitCode;

/// What is usual on a machine.
struct Usual {
    threads: usize,
    secs: f64,
}

const NATIVE: Usual = Usual { threads: 2, secs: 0.25 };
/// One default fits every simulated machine.
const SIMULATED: Usual = Usual { threads: 8, secs: 0.02 };
/// Seconds for threads that share CPUs: many time slices.
const SHARED_DEFAULT_S: f64 = 0.25;

/// A torture of one machine, checked.
struct Planned {
    args: MachineArgs,
    machine: Box<dyn LabMachine>,
    /// The runs, for each number of threads.
    stages: Vec<Vec<Trial>>,
    part: Part,
    stress: Stress,
    workload: Workload,
    /// Without results.
    document: TortureDocument,
}

/// Runs the command.
pub fn run(args: &TortureArgs) -> Result<ExitCode, Error> {
    let progress = args.output.progress;
    let machines = args.machine.each(args.output.plot.as_ref())?.into_iter();
    let all = machines.map(|of| planned(args, of)).collect::<Result<Vec<_>, _>>()?;
    let outputs = args.output.open()?;
    let part = all.first().map_or(Part::default(), |first| first.part);
    let folder = args.folder.kept.open(part, progress)?;
    progress.expect(all.iter().flat_map(|it| &it.stages).map(Vec::len).sum());
    let (mut failed, mut interrupted, last) = (false, false, all.len() - 1);
    for (at, Planned { args: of, machine, stages, stress, workload, mut document, .. }) in
        all.into_iter().enumerate()
    {
        let machine = &KeptMachine::new(&of.on, machine.as_ref(), folder.as_ref());
        let teller = Teller { outputs: &outputs, progress, machine: &of };
        let foreign = machines::watch(machine, progress);
        for cells in &stages {
            torture(machine, cells, &mut document, &teller)?;
        }
        document.warnings.extend(foreign_load(foreign.and_then(|load| load.percent())));
        document.note_short_runs(&stress);
        document.interrupted = interrupt::is_requested();
        (failed, interrupted) = (failed || document.has_failed(), document.interrupted);
        if at == last || interrupted {
            outputs.finish_documents(&document)?;
        } else {
            outputs.finish_part(&document, false)?;
        }
        let quote = args.folder.quoted(machine, workload, of.random.seed);
        outputs.tell(&document, &(warned(&document.warnings) + &quote))?;
        if interrupted {
            break;
        }
    }
    folder.map_or(Ok(()), Folder::finish)?;
    Ok(exit_code(failed, interrupted))
}

/// What is to be run on one machine.
fn planned(args: &TortureArgs, of: MachineArgs) -> Result<Planned, Error> {
    let opened = machines::open(&of)?;
    let machine = opened.as_ref();
    let usual = if machine.is_simulated() { SIMULATED } else { NATIVE };
    let part = args.folder.shard.part_of(machine.is_simulated())?;
    let roles = Roles::asked(args, machine);
    let starve = args.starve(machine)?;
    let of_starve = starve.and_then(|starve| starve.usual_threads(machine.cpus()));
    let usual_threads = of_starve.unwrap_or(usual.threads);
    let thread_counts = thread_counts(args, machine, roles, usual_threads, starve)?;
    let usual_s = thread_counts.kind().map_or(usual.secs, |_| SHARED_DEFAULT_S);
    let window_ns = matrix::window_ns(args.secs, usual_s)?;
    let mut stress = mix::stress(&args.stress, machine, &thread_counts, window_ns)?;
    if starve.is_some() {
        // While all threads pause, no thread holds the lock: only if it was asked for.
        let stutter_ns = if args.stress.stutter.is_some() { stress.stutter_ns } else { 0 };
        stress = Stress { long_hold_ns: 0, nested: 0, stutter_ns, ..stress };
    }
    let long_hold = stress.long_hold_ns > 0;
    let locktorture = LocktortureParams { long_hold, ..LocktortureParams::USUAL };
    let workload = starve.unwrap_or(Workload::Locktorture(locktorture));
    let mut matrix = Matrix::new(machine, workload, &args.lock, thread_counts)?;
    roles.retain(&mut matrix.locks)?;

    let seed = of.random.seed;
    let on = machine.on(workload).shared_by(matrix.thread_counts.kind());
    let mut document = TortureDocument::new(on, workload, seed, of.settings());
    document.stress = stress.into();
    document.warnings.append(&mut matrix.warnings);
    let stages = matrix.thread_counts.counts().iter().map(|&threads| {
        let of_lock = |Asked { subject: lock, .. }| {
            let (threads, readers) = match starve {
                Some(starve) if readers_share(lock) => {
                    (threads, starve.readers_and_writers(threads).0)
                }
                Some(_) => (threads, 0),
                None => roles.of(lock, threads),
            };
            let purpose = Purpose::Torture(Stress { readers, ..stress });
            let trial = Trial::new(lock, workload, threads, window_ns, seed);
            let spec = move |scheduling| Trial { scheduling, purpose, ..trial };
            matrix.thread_counts.schedulings(threads).into_iter().map(spec)
        };
        part.of(matrix.locks_with(threads).flat_map(of_lock).collect(), |it| it.threads as u64)
    });
    let stages = stages.collect();
    Ok(Planned { args: of, machine: opened, stages, part, stress, workload, document })
}

/// Who was asked for, or `usual` threads.
fn thread_counts(
    args: &TortureArgs,
    machine: &dyn LabMachine,
    roles: Roles,
    usual: usize,
    starve: Option<Workload>,
) -> Result<ThreadCounts, Error> {
    let workload = starve.unwrap_or(Workload::Locktorture(LocktortureParams::USUAL));
    let usual = [roles.usual_threads(usual)];
    let thread_counts =
        ThreadCounts::asked(machine, workload, &args.machine, &args.threads, &usual)?;
    if let Some(Workload::Starve(it)) = starve {
        let most = thread_counts.counts().iter().max().copied().unwrap_or(0);
        it.check_threads(most, machine.cpus()).map_err(Error::usage)?;
    }
    roles.check(thread_counts.counts(), thread_counts.noun())?;
    Ok(thread_counts)
}

/// Tells what happens, as it happens.
struct Teller<'a> {
    outputs: &'a Outputs,
    progress: Progress,
    /// Where a failure can be repeated, if that is simulated.
    machine: &'a MachineArgs,
}

impl Teller<'_> {
    fn tell(&self, document: &TortureDocument, spec: &Trial) -> Result<(), Error> {
        let Some(result) = document.last() else { return Ok(()) };
        self.outputs.keep_so_far(document);
        for line in result.lines() {
            self.outputs.tell(document, &format!("{line}\n"))?;
        }
        if let Some(failure) = result.failure() {
            self.progress.tell(&format!("{}: {failure}", result.name()));
            if let Some(line) = replay::line(self.machine, spec) {
                self.progress.tell(&line);
            }
        }
        Ok(())
    }
}

/// Runs the cells.
fn torture(
    machine: &dyn LabMachine,
    cells: &[Trial],
    document: &mut TortureDocument,
    teller: &Teller<'_>,
) -> Result<(), Error> {
    // On this computer one lock follows the other, and one that fails is the last: its threads still spin and would
    // disturb the others.
    let side_by_side = machine.is_simulated();
    let at_once = if side_by_side { cells.len().max(1) } else { 1 };
    for batch in cells.chunks(at_once) {
        if document.is_over || interrupt::is_requested() {
            break;
        }
        let results = machine.run_batch(batch, &|_| teller.progress.advance(1));
        for (spec, result) in batch.iter().zip(results) {
            let (measured, failure) = match result {
                Err(TrialError::Interrupted) => continue,
                Ok(measured) => {
                    let failure = (!measured.held()).then(|| what_broke(&measured));
                    (measured, failure)
                }
                Err(TrialError::Failed(how)) => {
                    document.is_over = !side_by_side;
                    let window_ns = spec.window_ns;
                    (TrialRecord { window_ns, ..TrialRecord::default() }, Some(how))
                }
            };
            document.add(spec, &measured, failure);
            teller.tell(document, spec)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockMachine;
    use crate::options;
    use lockwright_measure::stress::Stress;
    use lockwright_measure::subject::Subject;
    use lockwright_measure::trial::Settings;
    use lockwright_sheets::DocumentArgs;

    fn document_for(names: &[&str]) -> TortureDocument {
        let machine = MockMachine::default();
        let workload = Workload::Locktorture(LocktortureParams::USUAL);
        let mut document =
            TortureDocument::new(machine.on(workload), workload, 1, Settings::default());
        let quiet = DocumentArgs { json: Some("-".into()), csv: None };
        let outputs = Outputs::open(&quiet, None).expect("nothing to open");
        let progress = Progress::new(true);
        let machine_args = options::read("");
        let teller = Teller { outputs: &outputs, progress, machine: &machine_args };
        let cells: Vec<Trial> = names
            .iter()
            .map(|name| {
                let lock = Subject::find(name).expect("a known name");
                let purpose = Purpose::Torture(Stress::default());
                Trial { purpose, ..Trial::new(lock, workload, 2, 1_000, 1) }
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

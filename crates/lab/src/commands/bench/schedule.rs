//! In which order cells run, and what is kept of them.

use crate::matrix::Matrix;
use lockwright_cells::cell::{CellError, CellSpec, LabMachine, Measurement, Purpose, Workload};
use lockwright_cells::error::Error;
use lockwright_cells::fairness::FairnessWindow;
use lockwright_cells::interrupt;
use lockwright_cells::subject::Asked;
use lockwright_report::Progress;
use lockwright_sim::Scheduling;

/// A benchmark to be run.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Locks and threads.
    pub matrix: Matrix,
    /// What the threads do.
    pub workload: Workload,
    /// A counter: the loads of its sections, one after the other; none is that of the workload.
    pub cs_loads: Vec<u32>,
    /// Repetitions of each cell.
    pub runs: u32,
    /// How long each repetition is.
    pub window_ns: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// True if cells run one at a time even where they could run in parallel.
    pub one_at_a_time: bool,
}

/// One line of the results: a lock with a number of threads and, if they have one, their scheduler.
#[derive(Clone, Copy, Debug)]
struct Line {
    workload: Workload,
    asked: Asked,
    threads: usize,
    scheduling: Option<Scheduling>,
}

/// What was measured of one lock with one number of threads.
#[derive(Clone, Debug)]
pub struct Sample {
    /// What the threads did.
    pub workload: Workload,
    /// The lock.
    pub asked: Asked,
    /// How many threads.
    pub threads: usize,
    /// Their scheduler, unless they have a CPU each.
    pub scheduling: Option<Scheduling>,
    /// The repetitions, in order. Repetition `n` of all locks happened at about the same time.
    pub throughput: Vec<Measurement>,
    /// The repetition in which waits were timed and events counted, unless that was done in all.
    pub latency: Option<Measurement>,
    /// The same repetitions of the pseudo-lock `floor`, if it took part.
    pub floor: Vec<Measurement>,
    /// How long a repetition has to be before it says something about fairness.
    pub fairness: FairnessWindow,
    /// What went wrong first, and in which cell, if something did.
    pub failure: Option<(CellSpec, String)>,
}

impl Sample {
    fn new(Line { workload, asked, threads, scheduling }: Line, fairness: FairnessWindow) -> Self {
        let (throughput, floor) = (Vec::new(), Vec::new());
        Self {
            workload,
            asked,
            threads,
            scheduling,
            throughput,
            latency: None,
            floor,
            fairness,
            failure: None,
        }
    }
    /// The repetitions in which waits were timed and events counted.
    pub fn timed(&self) -> impl Iterator<Item = &Measurement> + Clone {
        self.latency.iter().chain(self.throughput.iter().filter(|run| run.waits.is_some()))
    }
    /// Keeps the result of a cell.
    fn keep(&mut self, spec: CellSpec, result: Result<Measurement, CellError>) {
        let mut failed = |how| {
            self.failure.get_or_insert((spec, how));
        };
        match result {
            Ok(measured) => {
                if !measured.held() {
                    failed(what_broke(&measured));
                }
                match (spec.purpose, spec.scheduling) {
                    (Purpose::Latency, None) => self.latency = Some(measured),
                    _ => self.throughput.push(measured),
                }
            }
            Err(CellError::Interrupted) => {}
            Err(CellError::Failed(how)) => failed(how),
        }
    }
}

/// What the checkers of a run saw, as a sentence.
pub fn what_broke(measured: &Measurement) -> String {
    match (measured.violations.first(), measured.fail) {
        (Some(violation), _) => violation.clone(),
        (None, fail) => format!("does not exclude: {fail} times an owner was not alone"),
    }
}

impl Schedule {
    /// Runs everything; `done` gets each sample as soon as it is complete. Ends early, with what
    /// there is, after Ctrl-C and after a failure that leaves threads behind.
    pub fn run(
        &self,
        machine: &dyn LabMachine,
        progress: Progress,
        done: &mut dyn FnMut(Sample) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stages = self.stages();
        let cells =
            |lines: &Vec<Line>| self.batches(machine, lines).iter().map(Vec::len).sum::<usize>();
        progress.expect(stages.iter().map(cells).sum());
        for lines in stages {
            let Some(Line { threads, .. }) = lines.first() else { continue };
            progress.say(&format!("{}: {threads}", self.matrix.crew.noun()));
            let samples = self.run_lines(machine, &lines, progress);
            let failed = samples.iter().any(|sample| sample.failure.is_some());
            for sample in samples {
                if !sample.throughput.is_empty() || sample.failure.is_some() {
                    done(sample)?;
                }
            }
            if interrupt::is_requested() || (failed && !machine.is_simulated()) {
                break;
            }
        }
        Ok(())
    }

    /// What is run together: the lines of each load and each number of threads.
    fn stages(&self) -> Vec<Vec<Line>> {
        let counts = self.matrix.crew.counts();
        let stages =
            self.workloads().flat_map(|workload| counts.iter().map(move |&it| (workload, it)));
        let lines = |(workload, threads)| {
            let line = move |asked, scheduling| Line { workload, asked, threads, scheduling };
            let schedulings = self.matrix.crew.schedulings(threads);
            let of_lock = |asked| schedulings.iter().map(move |&s| line(asked, s));
            self.matrix.locks_with(threads).flat_map(of_lock).collect()
        };
        stages.map(lines).collect()
    }

    /// The workload, with each of its loads.
    fn workloads(&self) -> impl Iterator<Item = Workload> {
        let own = self.cs_loads.is_empty().then_some(self.workload);
        let loads = self.cs_loads.iter().map(|&load| self.workload.with_cs_load(load));
        own.into_iter().chain(loads)
    }

    fn run_lines(
        &self,
        machine: &dyn LabMachine,
        lines: &[Line],
        progress: Progress,
    ) -> Vec<Sample> {
        let sample = |&line: &Line| {
            let cell = self.cell(line, 0, Purpose::Throughput);
            Sample::new(line, machine.fairness_window(&cell))
        };
        let mut samples: Vec<_> = lines.iter().map(sample).collect();
        let batches = self.batches(machine, lines);
        for cells in batches {
            let specs: Vec<CellSpec> = cells.iter().map(|&(_, spec)| spec).collect();
            let results = machine.run_batch(&specs, &|_| progress.advance_within(1));
            for (&(line, spec), result) in cells.iter().zip(results) {
                samples[line].keep(spec, result);
            }
            if interrupt::is_requested() || samples.iter().any(|s| s.failure.is_some()) {
                break;
            }
        }
        let floor = samples.iter().find(|sample| sample.asked.subject.name() == "floor");
        if let Some(floor) = floor.map(|sample| sample.throughput.clone()) {
            samples.iter_mut().for_each(|sample| sample.floor.clone_from(&floor));
        }
        samples
    }

    /// The cells of all repetitions, by index of their line. Natively a batch is a repetition, in
    /// which every lock has its turn, each time starting with another one; simulated cells do not
    /// disturb each other, so all of them are one batch.
    ///
    /// Where threads share simulated CPUs a repetition takes seconds, and timing waits takes no
    /// simulated time: there it is done in every repetition instead of one more.
    fn batches(&self, machine: &dyn LabMachine, lines: &[Line]) -> Vec<Vec<(usize, CellSpec)>> {
        let is_shared = lines.iter().any(|line| line.scheduling.is_some());
        let times_waits = self.workload != Workload::Uncontended;
        let latency = (times_waits && !is_shared).then_some((self.runs, Purpose::Latency));
        let usual = if is_shared { Purpose::Latency } else { Purpose::Throughput };
        let all = (0..self.runs).map(|repetition| (repetition, usual)).chain(latency);
        let repetitions = all.map(|(repetition, purpose)| {
            let turn = |place: usize| (place + repetition as usize) % lines.len();
            let cell = |line: usize| (line, self.cell(lines[line], repetition, purpose));
            (0..lines.len()).map(turn).map(cell).collect::<Vec<_>>()
        });
        let all_at_once = machine.is_simulated() && !self.one_at_a_time;
        match all_at_once {
            true => vec![repetitions.flatten().collect()],
            false if machine.is_simulated() => {
                repetitions.flatten().map(|cell| vec![cell]).collect()
            }
            false => repetitions.collect(),
        }
    }

    fn cell(&self, line: Line, repetition: u32, purpose: Purpose) -> CellSpec {
        CellSpec {
            lock: line.asked.subject,
            workload: line.workload,
            threads: line.threads,
            scheduling: line.scheduling,
            window_ns: self.window_ns,
            repetition,
            seed: self.seed,
            purpose,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crew::Crew;
    use crate::mock::MockMachine;

    fn schedule(machine: &dyn LabMachine, locks: &str) -> Schedule {
        let locks: Vec<String> = locks.split(',').map(String::from).collect();
        let workload = Workload::counter(1, 0);
        let crew = Crew::of_threads(machine, workload, &[2]).expect("a sound number");
        let matrix = Matrix::new(machine, workload, &locks, crew).expect("a sound matrix");
        Schedule {
            matrix,
            workload,
            cs_loads: Vec::new(),
            runs: 3,
            window_ns: 1_000,
            seed: 1,
            one_at_a_time: false,
        }
    }

    fn run(machine: &MockMachine, locks: &str) -> Vec<Sample> {
        let mut samples = Vec::new();
        let mut keep = |sample| {
            samples.push(sample);
            Ok(())
        };
        let progress = Progress::new(true);
        schedule(machine, locks).run(machine, progress, &mut keep).expect("keeping cannot fail");
        samples
    }

    #[test]
    fn locks_take_turns_and_each_repetition_starts_with_another_one() {
        let machine = MockMachine::default();
        run(&machine, "mcs,clh,unfair");
        let order = machine.ran();
        let names: Vec<&str> = order.iter().map(|(name, _)| *name).collect();
        assert_eq!(names[..3], ["mcs", "clh", "unfair"]);
        assert_eq!(names[3..6], ["clh", "unfair", "mcs"]);
        assert_eq!(names[6..9], ["unfair", "mcs", "clh"]);
    }

    #[test]
    fn waits_come_from_a_repetition_of_their_own() {
        let machine = MockMachine::default();
        let samples = run(&machine, "mcs");
        assert_eq!(samples[0].throughput.len(), 3);
        assert!(samples[0].throughput.iter().all(|measured| measured.waits.is_none()));
        assert!(samples[0].latency.as_ref().is_some_and(|measured| measured.waits.is_some()));
        let purposes: Vec<Purpose> = machine.ran().iter().map(|&(_, purpose)| purpose).collect();
        assert_eq!(purposes[3..], [Purpose::Latency]);
    }

    #[test]
    fn a_batch_says_how_many_of_its_cells_are_done() {
        let machine = MockMachine::default();
        let schedule = schedule(&machine, "mcs,clh");
        let asked = schedule.matrix.locks[0];
        let line = Line { workload: schedule.workload, asked, threads: 2, scheduling: None };
        let told = std::sync::Mutex::new(Vec::new());
        let done = |count| told.lock().expect("nothing panics here").push(count);
        machine.run_batch(&[schedule.cell(line, 0, Purpose::Throughput); 3], &done);
        assert_eq!(told.into_inner().expect("as above"), [1, 2, 3]);
    }

    #[test]
    fn a_lock_that_does_not_exclude_is_a_failure_of_the_benchmark() {
        let samples = run(&MockMachine::default(), "busted");
        assert!(
            samples[0].failure.as_ref().is_some_and(|(_, how)| how.contains("does not exclude"))
        );
    }
}

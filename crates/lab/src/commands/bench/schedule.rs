//! In which order cells run, and what is kept of them.

use crate::matrix::Matrix;
use crate::outcome::what_broke;
use lockwright_measure::error::Error;
use lockwright_measure::fairness::FairnessWindow;
use lockwright_measure::interrupt;
use lockwright_measure::record::{TrialError, TrialRecord};
use lockwright_measure::stats::median;
use lockwright_measure::subject::{Asked, SubjectOrigin};
use lockwright_measure::trial::{LabMachine, Purpose, Trial};
use lockwright_measure::workload::Workload;
use lockwright_parts::Part;
use lockwright_sheets::Progress;

/// A benchmark to be run.
#[derive(Clone, Debug)]
pub struct Benchmark {
    /// Locks and threads.
    pub matrix: Matrix,
    /// What the threads do: the same workload with each combination of parameters, at least one.
    pub workloads: Vec<Workload>,
    /// Repetitions of each cell.
    pub runs: u32,
    /// How long each repetition is.
    pub window_ns: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// Which cells run together.
    pub together: Together,
    /// Which of the lines this process has.
    pub part: Part,
}

/// Which cells a machine gets together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// Natively, those of a repetition, in which every lock has its turn, each time starting with another one. A
    /// cell that fails leaves threads behind, which would disturb all that follow.
    Repetition,
    /// All: simulated cells do not disturb each other.
    All,
    /// Each is alone.
    None,
}

impl Together {
    /// What is usual on `machine`.
    pub fn on(machine: &dyn LabMachine) -> Self {
        if machine.is_simulated() { Self::All } else { Self::Repetition }
    }
}

/// What was measured of one lock with one number of threads: a line of the results.
#[derive(Clone, Debug)]
pub struct BenchRuns {
    /// The first of its cells.
    pub spec: Trial,
    /// The repetitions, in order. Repetition `n` of all locks happened at about the same time.
    pub throughput: Vec<TrialRecord>,
    /// The repetition in which waits were timed and events counted, unless that was done in all.
    pub latency: Option<TrialRecord>,
    /// The same repetitions of the fastest floor that took part, if any did.
    pub floor: Vec<TrialRecord>,
    /// How long a repetition has to be before it says something about fairness.
    pub fairness: FairnessWindow,
    /// What went wrong first, and in which cell, if something did.
    pub failure: Option<(Trial, String)>,
}

impl BenchRuns {
    fn new(spec: Trial, fairness: FairnessWindow) -> Self {
        let (throughput, floor) = (Vec::new(), Vec::new());
        Self { spec, throughput, latency: None, floor, fairness, failure: None }
    }
    /// The repetitions in which waits were timed and events counted.
    pub fn timed(&self) -> impl Iterator<Item = &TrialRecord> + Clone {
        self.latency.iter().chain(self.throughput.iter().filter(|run| run.waits.is_some()))
    }
    /// Keeps the result of a cell.
    fn keep(&mut self, spec: Trial, result: Result<TrialRecord, TrialError>) {
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
            Err(TrialError::Interrupted) => {}
            Err(TrialError::Failed(how)) => failed(how),
        }
    }
}

impl Benchmark {
    /// Runs everything; `done` gets each line as soon as it is complete. Ends early, with what
    /// there is, after Ctrl-C and after a failure that leaves threads behind.
    pub fn run(
        &self,
        machine: &dyn LabMachine,
        progress: Progress,
        done: &mut dyn FnMut(BenchRuns) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let stages = self.stages();
        let cells = |lines: &Vec<Trial>| self.batches(lines).iter().map(Vec::len).sum::<usize>();
        progress.expect(stages.iter().map(cells).sum());
        for lines in stages {
            let Some(Trial { threads, .. }) = lines.first() else { continue };
            progress.say(&format!("{}: {threads}", self.matrix.thread_counts.noun()));
            let samples = self.run_lines(machine, &lines, progress);
            let failed = samples.iter().any(|sample| sample.failure.is_some());
            for sample in samples {
                if !sample.throughput.is_empty() || sample.failure.is_some() {
                    done(sample)?;
                }
            }
            if interrupt::is_requested() || (failed && self.together == Together::Repetition) {
                break;
            }
        }
        Ok(())
    }

    /// The workload, with the first of its parameters.
    pub fn workload(&self) -> Workload {
        *self.workloads.first().unwrap_or_else(|| unreachable!("there is at least one"))
    }

    /// What is run together: the lines of each combination of parameters and each number of threads.
    fn stages(&self) -> Vec<Vec<Trial>> {
        let counts = self.matrix.thread_counts.counts();
        let of = |&workload| counts.iter().map(move |&count| (workload, count));
        let stages = self.workloads.iter().flat_map(of);
        let lines = |(workload, threads)| {
            let line = move |asked: Asked, scheduling| {
                let trial = Trial::new(asked.subject, workload, threads, self.window_ns, self.seed);
                Trial { scheduling, ..trial }
            };
            let schedulings = self.matrix.thread_counts.schedulings(threads);
            let of_lock = |asked| schedulings.iter().map(move |&s| line(asked, s));
            self.matrix.locks_with(threads).flat_map(of_lock).collect()
        };
        let mut stages: Vec<Vec<Trial>> = stages.map(lines).collect();
        let costs: Vec<u64> = stages.iter().flatten().map(|line| line.threads as u64).collect();
        let mut takes = self.part.takes(&costs).into_iter();
        stages.iter_mut().for_each(|lines| lines.retain(|_| takes.next() == Some(true)));
        stages
    }

    fn run_lines(
        &self,
        machine: &dyn LabMachine,
        lines: &[Trial],
        progress: Progress,
    ) -> Vec<BenchRuns> {
        let nothing = |spec: &Trial| BenchRuns::new(*spec, machine.fairness_window(spec));
        let mut samples: Vec<_> = lines.iter().map(nothing).collect();
        for cells in self.batches(lines) {
            let specs: Vec<Trial> = cells.iter().map(|&(_, spec)| spec).collect();
            let results = machine.run_batch(&specs, &|_| progress.advance_within(1));
            for (&(line, spec), result) in cells.iter().zip(results) {
                samples[line].keep(spec, result);
            }
            if interrupt::is_requested() || samples.iter().any(|s| s.failure.is_some()) {
                break;
            }
        }
        if let Some(floor) = fastest_floor(&samples).map(|sample| sample.throughput.clone()) {
            samples.iter_mut().for_each(|sample| sample.floor.clone_from(&floor));
        }
        samples
    }

    /// The cells of all repetitions, by index of their line.
    ///
    /// Where threads share simulated CPUs a repetition takes seconds, and timing waits takes no
    /// simulated time: there it is done in every repetition instead of one more.
    fn batches(&self, lines: &[Trial]) -> Vec<Vec<(usize, Trial)>> {
        let is_shared = lines.iter().any(|line| line.scheduling.is_some());
        // A starved thread times its waits itself, in every repetition.
        let workload = self.workload();
        let times_waits = !matches!(workload, Workload::Uncontended(_)) && !workload.times_itself();
        let latency = (times_waits && !is_shared).then_some((self.runs, Purpose::Latency));
        let usual = if is_shared { Purpose::Latency } else { Purpose::Throughput };
        let all = (0..self.runs).map(|repetition| (repetition, usual)).chain(latency);
        let repetitions = all.map(|(repetition, purpose)| {
            let turn = |place: usize| (place + repetition as usize) % lines.len();
            let cell = |line: usize| (line, Trial { repetition, purpose, ..lines[line] });
            (0..lines.len()).map(turn).map(cell).collect::<Vec<_>>()
        });
        match self.together {
            Together::Repetition => repetitions.collect(),
            Together::All => vec![repetitions.flatten().collect()],
            Together::None => repetitions.flatten().map(|cell| vec![cell]).collect(),
        }
    }
}

/// The floor with the highest median rate. Which width that is differs between processors.
fn fastest_floor(samples: &[BenchRuns]) -> Option<&BenchRuns> {
    let rate = |sample: &BenchRuns| {
        median(&sample.throughput.iter().map(|run| run.ops_per_s).collect::<Vec<_>>())
    };
    let is_floor = |sample: &&BenchRuns| {
        sample.spec.lock.origin == SubjectOrigin::Floor && !sample.throughput.is_empty()
    };
    samples.iter().filter(is_floor).max_by(|a, b| rate(a).total_cmp(&rate(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockMachine;
    use crate::thread_counts::ThreadCounts;

    fn schedule(machine: &dyn LabMachine, locks: &str) -> Benchmark {
        let locks: Vec<String> = locks.split(',').map(String::from).collect();
        let workload = Workload::counter(1, 0);
        let thread_counts =
            ThreadCounts::of_threads(machine, workload, &[2]).expect("a sound number");
        let matrix = Matrix::new(machine, workload, &locks, thread_counts).expect("a sound matrix");
        Benchmark {
            matrix,
            workloads: vec![workload],
            runs: 3,
            window_ns: 1_000,
            seed: 1,
            together: Together::on(machine),
            part: Part::default(),
        }
    }

    fn run(machine: &MockMachine, locks: &str) -> Vec<BenchRuns> {
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
    fn each_line_belongs_to_one_part() {
        let machine = MockMachine::default();
        let lines = |part| {
            let stages = Benchmark { part, ..schedule(&machine, "mcs,clh,unfair") }.stages();
            stages.concat().iter().map(|line| line.lock.name()).collect::<Vec<_>>()
        };
        let of_two = |number| lines(Part::new(number, 2).expect("a part"));
        assert_eq!([of_two(1), of_two(2)].concat(), ["mcs", "unfair", "clh"]);
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
        let cell = schedule.stages()[0][0];
        let told = std::sync::Mutex::new(Vec::new());
        let done = |count| told.lock().expect("nothing panics here").push(count);
        machine.run_batch(&[cell; 3], &done);
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

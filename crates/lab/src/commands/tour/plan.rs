//! What a stop of the tour measures.

use super::guide::Guide;
use crate::commands::bench::{BenchDocument, Benchmark, Together};
use crate::machines;
use crate::matrix::Matrix;
use crate::thread_counts::ThreadCounts;
use lockwright_measure::error::Error;
use lockwright_measure::trial::{LabMachine, Settings};
use lockwright_measure::workload::Workload;

/// What is compared.
pub struct StopPlan<'a> {
    /// What the threads do.
    pub workload: Workload,
    /// Names, separated by commas.
    pub locks: &'a str,
    /// Repetitions.
    pub runs: u32,
    /// How long each is.
    pub window_ns: u64,
    /// Seed of everything random.
    pub seed: u64,
}

impl StopPlan<'_> {
    /// Runs it.
    pub fn run(
        &self,
        machine: &dyn LabMachine,
        thread_counts: ThreadCounts,
        guide: &Guide,
    ) -> Result<BenchDocument, Error> {
        let locks: Vec<String> = self.locks.split(',').map(String::from).collect();
        let schedule = Benchmark {
            matrix: Matrix::new(machine, self.workload, &locks, thread_counts)?,
            workloads: vec![self.workload],
            runs: self.runs,
            window_ns: self.window_ns,
            seed: self.seed,
            together: Together::on(machine),
            part: lockwright_parts::Part::default(),
        };
        let mut document = BenchDocument::new(&schedule, machine, &Settings::default());
        let foreign = machines::watch(machine, guide.progress);
        schedule.run(machine, guide.progress, &mut |sample| {
            document.add(sample);
            Ok(())
        })?;
        document.add_foreign_load(foreign);
        document.verdict().map(|()| document)
    }
}

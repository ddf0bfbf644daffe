//! Running the cells of tables.

use super::measure::TableMeasure;
use super::row::TableRow;
use super::table::{Quantity, SimulatedTable, TableColumn, TableDepth, TableThreads};
use crate::records::{Folder, KeptMachine};
use lockwright_measure::error::Error;
use lockwright_measure::record::TrialRecord;
use lockwright_measure::runner::{Done, run_all};
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::subject::Subject;
use lockwright_measure::trial::Trial;
use lockwright_sim::machine::Parameters;

/// Rows of a table to be simulated with some numbers.
#[derive(Clone, Copy, Debug)]
pub struct TableJob<'a> {
    /// The table.
    pub table: &'static SimulatedTable,
    /// Its machine, with what was fitted.
    pub machine: &'a SimulatedMachine,
    /// How much is simulated of each cell.
    pub depth: &'a TableDepth,
    /// The rows.
    pub rows: &'a [TableRow],
    /// The locks.
    pub locks: &'a [&'static str],
    /// What seeds are counted from.
    pub seed: u64,
}

/// The outcomes of a job, row by row, lock by lock, sample by sample.
pub struct Runs<'a> {
    job: TableJob<'a>,
    outcomes: Vec<TrialRecord>,
}

/// Runs all cells of the jobs together, one on each CPU, but for those whose records are in the folder. Jobs that
/// differ only in what is made of the outcomes run once. `done` hears how many cells are done.
pub fn run<'a>(
    jobs: &[TableJob<'a>],
    folder: Option<&Folder>,
    done: &Done<'_>,
) -> Result<Vec<Runs<'a>>, Error> {
    let first_same = |at: usize| (0..at).find(|&other| jobs[other].runs_as(&jobs[at]));
    let same: Vec<Option<usize>> = (0..jobs.len()).map(first_same).collect();
    let distinct = jobs.iter().zip(&same).filter(|(_, same)| same.is_none());
    let distinct: Vec<_> = distinct.map(|(job, _)| job).collect();
    let alone: Vec<_> = distinct.iter().map(|job| job.machine.without_siblings()).collect();
    let kept = distinct.iter().zip(&alone).map(|(job, alone)| {
        let name = job.table.machine;
        [KeptMachine::new(name, alone, folder), KeptMachine::new(name, job.machine, folder)]
    });
    let kept: Vec<_> = kept.collect();
    let mut trials = Vec::new();
    for (job, kept) in distinct.iter().zip(&kept) {
        let trial = |(has_siblings, trial)| (&kept[usize::from(has_siblings)], trial);
        trials.extend(job.trials()?.into_iter().map(trial));
    }
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let records = run_all(&trials, workers, done);
    let outcomes = records.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut outcomes = outcomes.into_iter();
    let mut runs: Vec<Runs<'a>> = Vec::new();
    for (job, same) in jobs.iter().zip(same) {
        let outcomes = match same {
            Some(other) => runs[other].outcomes.clone(),
            None => outcomes.by_ref().take(job.trials()?.len()).collect(),
        };
        runs.push(Runs { job: *job, outcomes });
    }
    Ok(runs)
}

impl<'a> TableJob<'a> {
    /// True if another job runs the same cells. With a fixed amount of work, the workload has all that the
    /// runs need of the parameters.
    fn runs_as(&self, other: &Self) -> bool {
        let workloads = |job: &Self| -> Vec<_> {
            let of_row = |row| (job.table.workload)(job.parameters(), job.depth, row);
            job.rows.iter().map(of_row).collect()
        };
        let (mine, others) = (workloads(self), workloads(other));
        let is_fixed_work = mine.iter().all(|workload| workload.is_fixed_work());
        let is_simulated_alike =
            mine == others && (is_fixed_work || self.parameters() == other.parameters());
        is_simulated_alike
            && std::ptr::eq(self.table, other.table)
            && self.machine.machine() == other.machine.machine()
            && (self.depth, self.rows, self.locks, self.seed)
                == (other.depth, other.rows, other.locks, other.seed)
    }
    fn parameters(&self) -> &'a Parameters {
        self.machine.parameters()
    }
    /// Each with the answer if the second hardware threads are used.
    fn trials(&self) -> Result<Vec<(bool, Trial)>, Error> {
        let Self { table, depth, rows, locks, seed, .. } = *self;
        let locks = locks.iter().map(|lock| Subject::registered(lock));
        let locks: Vec<Subject> = locks.collect::<Result<_, _>>()?;
        let (samples, window_ns) = (table.samples(depth), depth.window_us * 1_000);
        let trial = |row: &TableRow, lock, sample: &super::CellRun| {
            let workload = (table.workload)(self.parameters(), depth, row);
            let seed = seed.wrapping_add(sample.seed);
            let trial = Trial {
                placement: Some(table.runs_as.placement()),
                scheduling: sample.scheduling,
                warmup_ns: Some(depth.warmup_us * 1_000),
                ..Trial::new(lock, workload, row.threads as usize, window_ns, seed)
            };
            (row.has_siblings, trial)
        };
        let of_row = |row| locks.iter().map(move |&lock| (row, lock));
        let cells = rows.iter().flat_map(of_row);
        let trials =
            cells.flat_map(|(row, lock)| samples.iter().map(move |it| trial(row, lock, it)));
        Ok(trials.collect())
    }
}

impl Runs<'_> {
    /// A column in the row of that number, sample by sample. Empty if its locks did not run.
    pub fn column(&self, row: usize, column: &TableColumn) -> Vec<f64> {
        match column.quantity {
            Quantity::Of(lock, measure) => self.measured(row, lock, measure),
            Quantity::OfRow(measure) => self.of_row(row, measure),
            Quantity::RowOver(lock, measure) => {
                quotients(&self.of_row(row, measure), &self.measured(row, lock, measure))
            }
            Quantity::Ratio(over, under) => self.ratios(row, over, under),
            Quantity::Change(to, from) => {
                self.ratios(row, to, from).into_iter().map(change_percent).collect()
            }
        }
    }

    /// The column in the row, for all samples together: the mean, and of a quotient that of the means.
    pub fn mean(&self, row: usize, column: &TableColumn) -> f64 {
        match column.quantity {
            Quantity::Of(..) | Quantity::OfRow(_) => mean(&self.column(row, column)),
            Quantity::RowOver(lock, measure) => {
                mean(&self.of_row(row, measure)) / mean(&self.measured(row, lock, measure))
            }
            Quantity::Ratio(over, under) => self.ratio(row, over, under),
            Quantity::Change(to, from) => change_percent(self.ratio(row, to, from)),
        }
    }

    fn ratio(&self, row: usize, over: &str, under: &str) -> f64 {
        let of = |name| self.job.table.column(name).map_or(0.0, |column| self.mean(row, column));
        of(over) / of(under)
    }
    fn ratios(&self, row: usize, over: &str, under: &str) -> Vec<f64> {
        let cells = |name| match self.job.table.column(name) {
            Some(column) => self.column(row, column),
            None => Vec::new(),
        };
        quotients(&cells(over), &cells(under))
    }
    fn of_row(&self, row: usize, measure: TableMeasure) -> Vec<f64> {
        match self.job.rows[row].lock {
            Some(lock) => self.measured(row, lock, measure),
            None => Vec::new(),
        }
    }

    fn measured(&self, row: usize, lock: &str, measure: TableMeasure) -> Vec<f64> {
        let TableJob { table, depth, locks, rows, .. } = self.job;
        let parameters = self.job.parameters();
        let Some(at) = locks.iter().position(|name| *name == lock) else { return Vec::new() };
        let samples = table.samples(depth).len();
        let first = (row * locks.len() + at) * samples;
        let row = &rows[row];
        let workload = (table.workload)(parameters, depth, row);
        let outcomes = &self.outcomes[first..first + samples];
        outcomes.iter().map(|outcome| measure.of(outcome, row, workload, parameters)).collect()
    }
}

/// One by one.
fn quotients(over: &[f64], under: &[f64]) -> Vec<f64> {
    over.iter().zip(under).map(|(over, under)| over / under).collect()
}

fn change_percent(ratio: f64) -> f64 {
    (ratio - 1.0) * 100.0
}

/// The mean of numbers; 0 of none.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

impl TableThreads {
    /// What a calibration calls the starts, if there are any.
    pub fn starts(self, depth: &TableDepth) -> Option<String> {
        let names: Vec<_> = depth.starts.iter().map(|start| start.name()).collect();
        matches!(self, Self::Guest | Self::Kernel).then(|| names.join(", "))
    }
}

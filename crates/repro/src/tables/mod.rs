//! The published tables as simulations: which machine, which workload and which lock stand for each
//! column, where its threads run, and for how long.
//!
//! `calibrate` fits the columns of unpatched code, `reproduce` simulates all of them; both run the cells
//! that are described here, through [`run`]. What was published is in [`crate::published`].

mod guests;
mod meaning;
mod row;
mod run;
mod semaphores;
mod tasks;
mod x5_4;

pub use meaning::meaning;
pub use row::{Key, Symbol, TableRow};
pub use run::{Runs, TableJob, run};
pub use tasks::{COMPUTE_PART, READ_PERCENT, SECTION_PART};

use lockwright::events::Event;
use lockwright_cells::cell::Workload;
use lockwright_cells::simulated::Outcome;
use lockwright_sim::machine::{Parameters, Placement};
use lockwright_sim::{ScheduledKind, Scheduling, StartState};

/// Every table, in the order in which they are reproduced.
pub static TABLES: &[&SimulatedTable] = &[
    &x5_4::LOCKTORTURE,
    &x5_4::OPEN1,
    &x5_4::LOCK2,
    &x5_4::READRANDOM,
    &guests::BUILD_2699,
    &guests::BUILD_2620,
    &guests::MICROBENCHMARK,
    &guests::MODES,
    &semaphores::READER_SPINNING,
    &semaphores::FAIRNESS,
    &semaphores::HIGH_SYSTIME,
    &semaphores::PROFILE,
];

/// A published table and how it is simulated.
#[derive(Debug)]
pub struct SimulatedTable {
    /// Its name: the file's name without `.csv`.
    pub name: &'static str,
    /// One line about it: the patch and the benchmark.
    pub about: &'static str,
    /// The simulated machine.
    pub machine: &'static str,
    /// The columns that are the key.
    pub keys: &'static [&'static str],
    /// The rows.
    pub rows: &'static [TableRow],
    /// The rows that are fitted.
    pub fitted_rows: &'static [TableRow],
    /// The workload that stands for the benchmark in a row, with what was fitted of it.
    pub workload: fn(&Parameters, &TableDepth, &TableRow) -> Workload,
    /// Who runs.
    pub crew: TableCrew,
    /// The columns that are simulated.
    pub columns: &'static [TableColumn],
    /// The times of its software that are fitted.
    pub software: &'static [Variable],
    /// While searching for a fit.
    pub search: TableDepth,
    /// For the judgement of a fit, and to reproduce.
    pub full: TableDepth,
    /// To reproduce in a hurry.
    pub quick: TableDepth,
}

/// How much is simulated of each cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableDepth {
    /// Seeds; each has a placement of its own, if placement is random.
    pub seeds: u64,
    /// In a guest or a kernel: how runs begin; each seed once with each of them.
    pub starts: &'static [StartState],
    /// Simulated microseconds before counting.
    pub warmup_us: u64,
    /// Simulated microseconds counted; the longest that a fixed amount of work may take.
    pub window_us: u64,
    /// The amount of work, if that is fixed.
    pub units: u64,
}

/// Who runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableCrew {
    /// Threads with a CPU each, placed like this.
    Threads(Placement),
    /// The vCPUs of a guest.
    Guest,
    /// The tasks of a kernel.
    Kernel,
}

/// One run of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRun {
    /// Decides everything random, from 0.
    pub seed: u64,
    /// The scheduler, if there is one.
    pub scheduling: Option<Scheduling>,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct TableColumn {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub quantity: Quantity,
    /// How much a squared error in it counts in a fit; 0: not at all. Only columns of unpatched code
    /// can count.
    pub weight: f64,
}

/// What a column is about.
#[derive(Clone, Copy, Debug)]
pub enum Quantity {
    /// Something that a run of a lock shows.
    Of(&'static str, TableMeasure),
    /// Something that a run of the row's lock shows.
    OfRow(TableMeasure),
    /// The quotient of what runs of the row's lock and of another one show.
    RowOver(&'static str, TableMeasure),
    /// The quotient of two other columns.
    Ratio(&'static str, &'static str),
    /// By how many percent one column is above another one.
    Change(&'static str, &'static str),
}

/// What a run shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TableMeasure {
    /// Operations of all threads, and how many of them per second are one in the column's unit.
    Total(f64),
    /// Operations of the slowest thread, in this number of seconds.
    Least(f64),
    /// The same, but a thread that did at most one operation in the run is not taken to have done more in
    /// a longer one.
    LeastOrOne(f64),
    /// How many threads did at most one operation.
    AtMostOne,
    /// Operations of a thread, on average, in this number of seconds.
    Average(f64),
    /// Operations of the fastest thread, in this number of seconds.
    Greatest(f64),
    /// Seconds that a build takes: the serial part, and the parallel part by its simulated speed-up.
    BuildTime,
    /// How often the event happens in a build.
    InBuild(Event),
    /// Jobs per minute of all tasks. A job has as many operations as fit into the time that it computes.
    JobsPerMinute,
    /// Percentage of the CPU time of tasks that the row's function takes.
    OfCycles,
    /// Percentage of the function's time that is its caller's.
    OfFunction,
}

/// A number to be fitted, with the range it is looked for in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variable {
    /// The cost of the machine or the part of the software.
    pub name: &'static str,
    /// Least value, in nanoseconds if it is a time.
    pub low: f64,
    /// Greatest value.
    pub high: f64,
}

impl TableColumn {
    /// True if its numbers and those of the other column are the same quantity in the same unit.
    pub fn is_comparable(&self, other: &Self) -> bool {
        let measure = |quantity| match quantity {
            Quantity::Of(_, measure) | Quantity::OfRow(measure) => Some(measure),
            Quantity::RowOver(..) | Quantity::Ratio(..) | Quantity::Change(..) => None,
        };
        let same = measure(self.quantity).zip(measure(other.quantity));
        self.name == other.name || same.is_some_and(|(own, its)| own == its)
    }
}

impl SimulatedTable {
    /// The table of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TABLES.iter().copied().find(|table| table.name == name)
    }
    /// The tables of a machine.
    pub fn of_machine(machine: &str) -> impl Iterator<Item = &'static Self> {
        TABLES.iter().copied().filter(move |table| table.machine == machine)
    }
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&'static TableColumn> {
        self.columns.iter().find(|column| column.name == name)
    }
    /// The locks that its columns are about, each once.
    pub fn locks(&self) -> Vec<&'static str> {
        self.locks_of(self.rows, self.columns.iter())
    }
    /// The locks that its fitted columns are about, each once.
    pub fn fitted_locks(&self) -> Vec<&'static str> {
        let fitted = self.columns.iter().filter(|column| column.weight > 0.0);
        self.locks_of(self.fitted_rows, fitted)
    }
    fn locks_of(
        &self,
        rows: &[TableRow],
        columns: impl Iterator<Item = &'static TableColumn>,
    ) -> Vec<&'static str> {
        let of_rows = || rows.iter().filter_map(|row| row.lock);
        let mut all: Vec<&'static str> = Vec::new();
        for column in columns {
            match column.quantity {
                Quantity::Of(lock, _) => all.push(lock),
                Quantity::OfRow(_) => all.extend(of_rows()),
                Quantity::RowOver(lock, _) => all.extend(of_rows().chain([lock])),
                Quantity::Ratio(..) | Quantity::Change(..) => {}
            }
        }
        let mut locks = Vec::new();
        all.into_iter().for_each(|lock| {
            if !locks.contains(&lock) {
                locks.push(lock)
            }
        });
        locks
    }
    /// The key of a row, with the names of its columns.
    pub fn key_of(&self, row: &TableRow) -> Vec<(&'static str, Key)> {
        self.keys.iter().copied().zip(row.key.iter().copied()).collect()
    }
    /// The runs of a cell.
    pub fn samples(&self, depth: &TableDepth) -> Vec<CellRun> {
        let seeds = 0..depth.seeds;
        match self.crew {
            TableCrew::Threads(_) => seeds.map(|seed| CellRun { seed, scheduling: None }).collect(),
            TableCrew::Guest | TableCrew::Kernel => {
                let kind = match self.crew {
                    TableCrew::Kernel => ScheduledKind::Kernel,
                    _ => ScheduledKind::Guest { virtual_numa: false },
                };
                let of_start = |&start| {
                    let scheduling = Some(Scheduling { kind, start });
                    seeds.clone().map(move |seed| CellRun { seed, scheduling })
                };
                depth.starts.iter().flat_map(of_start).collect()
            }
        }
    }
}

impl TableCrew {
    /// Where threads are placed; of no effect if a scheduler places them.
    pub fn placement(self) -> Placement {
        match self {
            Self::Threads(placement) => placement,
            Self::Guest | Self::Kernel => Placement::Compact,
        }
    }
    /// What a calibration calls the placement.
    pub fn name(self) -> &'static str {
        match self {
            Self::Threads(placement) => placement.name(),
            Self::Guest => "guest",
            Self::Kernel => "kernel",
        }
    }
}

impl TableMeasure {
    /// What a run shows in a row, in the column's unit.
    pub fn of(
        self,
        outcome: &Outcome,
        row: &TableRow,
        workload: Workload,
        parameters: &Parameters,
    ) -> f64 {
        let ops = &outcome.per_thread_ops;
        let in_secs = |ops: Option<&u64>, secs: f64| {
            ops.map_or(0.0, |&ops| ops as f64) * secs * 1e9 / outcome.window_ns as f64
        };
        match self {
            Self::Total(unit) => outcome.ops_per_s / unit,
            Self::Least(secs) => in_secs(ops.iter().min(), secs),
            Self::LeastOrOne(secs) => match ops.iter().min() {
                Some(&least) if least > 1 => in_secs(Some(&least), secs),
                least => least.map_or(0.0, |&least| least as f64),
            },
            Self::AtMostOne => ops.iter().filter(|&&ops| ops <= 1).count() as f64,
            Self::Average(secs) => outcome.ops_per_s * secs / ops.len() as f64,
            Self::Greatest(secs) => in_secs(ops.iter().max(), secs),
            Self::BuildTime => guests::build_s(outcome, workload, parameters),
            Self::InBuild(event) => {
                guests::in_build(outcome.events.of(event) as f64, workload, parameters)
            }
            Self::JobsPerMinute => tasks::jobs_per_minute(outcome, workload, parameters),
            Self::OfCycles => row.symbol.map_or(0.0, |symbol| tasks::of_cycles(outcome, symbol)),
            Self::OfFunction => {
                row.symbol.map_or(0.0, |symbol| tasks::of_function(outcome, symbol))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::{Published, Unpatched};
    use lockwright_sim::machine::Machine;

    #[test]
    fn every_table_is_about_a_builtin_machine_and_has_the_published_rows() {
        for table in TABLES {
            assert!(Machine::builtin(table.machine).is_some(), "{}", table.name);
            assert!(table.fitted_rows.iter().all(|row| table.rows.contains(row)));
            for row in table.rows {
                assert_eq!(row.key.len(), table.keys.len(), "{}: {}", table.name, row.label());
            }
            if let Some(published) = Published::named(table.name) {
                let is_there = |row: &TableRow| published.has_row(&table.key_of(row));
                let there = table.rows.iter().filter(|row| is_there(row)).count();
                assert_eq!(there, published.rows(), "{}", table.name);
                assert!(table.fitted_rows.iter().all(is_there), "{}", table.name);
            }
        }
    }

    #[test]
    fn every_published_column_is_simulated_and_what_is_fitted_is_unpatched() {
        for table in TABLES {
            let unpatched = Unpatched::of(table.name);
            for column in table.columns.iter().filter(|column| column.weight > 0.0) {
                let cells = unpatched.as_ref().and_then(|table| table.column(column.name));
                assert!(cells.is_some(), "{}: {}", table.name, column.name);
            }
            let Some(published) = Published::named(table.name) else {
                assert!(table.columns.iter().all(|column| column.weight == 0.0));
                continue;
            };
            for name in published.columns().filter(|name| !name.contains("_stddev_")) {
                assert!(table.column(name).is_some(), "{name}");
            }
        }
    }

    #[test]
    fn a_ratio_is_one_of_columns_of_the_table() {
        for table in TABLES {
            for column in table.columns {
                let (Quantity::Ratio(a, b) | Quantity::Change(a, b)) = column.quantity else {
                    continue;
                };
                assert!(table.column(a).is_some() && table.column(b).is_some());
            }
        }
    }
}

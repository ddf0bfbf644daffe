//! What a table is.

use super::measure::TableMeasure;
use super::row::{Key, TableRow};
use lockwright_measure::workload::Workload;
use lockwright_sim::machine::{Parameters, ThreadPlacement};
use lockwright_sim::{ScheduledKind, Scheduling, StartState};

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
    pub runs_as: TableThreads,
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
pub enum TableThreads {
    /// Threads with a CPU each, placed like this.
    Threads(ThreadPlacement),
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

/// A column.
pub(super) const fn column(name: &'static str, quantity: Quantity, weight: f64) -> TableColumn {
    TableColumn { name, quantity, weight }
}

/// How much is simulated: the fields of a [`TableDepth`] in their order.
pub(super) const fn depth(
    seeds: u64,
    starts: &'static [StartState],
    warmup_us: u64,
    window_us: u64,
    units: u64,
) -> TableDepth {
    TableDepth { seeds, starts, warmup_us, window_us, units }
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
        match self.runs_as {
            TableThreads::Threads(_) => {
                seeds.map(|seed| CellRun { seed, scheduling: None }).collect()
            }
            TableThreads::Guest | TableThreads::Kernel => {
                let kind = match self.runs_as {
                    TableThreads::Kernel => ScheduledKind::Kernel,
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

impl TableThreads {
    /// Where threads are placed; of no effect if a scheduler places them.
    pub fn placement(self) -> ThreadPlacement {
        match self {
            Self::Threads(placement) => placement,
            Self::Guest | Self::Kernel => ThreadPlacement::Compact,
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

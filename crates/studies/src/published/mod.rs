//! The published tables in `data/published/`, built in.

mod unpatched;

pub use unpatched::Unpatched;

use crate::tables::Key;
use serde::Serialize;
use std::ops::Deref;

/// Tables: name (the file's stem) and text.
macro_rules! tables {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../published/", $name, ".csv")))),+]
    };
}
const TABLES: &[(&str, &str)] = tables![
    "cna_v10_locktorture_x5_4",
    "cna_v10_will_it_scale_open1_threads_x5_4",
    "cna_v10_will_it_scale_lock2_threads_x5_4",
    "cna_v10_leveldb_readrandom_x5_4",
    "pvqspinlock_kernel_build_e5_2620_v4",
    "pvqspinlock_microbenchmark_min_avg_max_e5_2699_v3",
    "rwsem_reader_spinning_cs_load_cascade_lake",
    "rwsem_handoff_fairness_2s40c80t",
    "rwsem_wakeup_aim7_high_systime_dl980",
    "rwsem_wakeup_aim7_whole_series_dl980",
    "rwsem_wakeup_perf_profile_dl980",
    "pvqspinlock_kernel_build_e5_2699_v3",
];

/// The columns that say which row it is and how it was run; their numbers are not compared.
const KEYS: [&str; 9] = [
    "threads",
    "vcpus",
    "cs_load_pause_instructions",
    "interval_s",
    "cs_sleep_us",
    "hyperthreading",
    "kernel",
    "symbol",
    "caller",
];

/// Columns with numbers of which no error can be taken; `data/published/README.md` says why.
const NOT_EXACT: [(&str, &str, Standing); 2] = [
    (FAIRNESS, "reported_locking_rate_kops_per_s", Standing::Doubtful),
    (FAIRNESS, "max_ops_per_thread", Standing::LowerBound),
];
const FAIRNESS: &str = "rwsem_handoff_fairness_2s40c80t";

/// What a published number says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// What was measured.
    #[default]
    Measured,
    /// It was printed as "more than" this: no error can be taken of it.
    LowerBound,
    /// As printed, it cannot be right: no error is taken of it.
    Doubtful,
}

impl Standing {
    /// True if an error can be taken.
    pub fn is_measured(&self) -> bool {
        *self == Self::Measured
    }
    /// The number as it stands in a table.
    pub fn told(self, number: f64) -> String {
        match self {
            Self::Measured => number.to_string(),
            Self::LowerBound => format!(">{number}"),
            Self::Doubtful => format!("({number})"),
        }
    }
}

/// A published table with all its columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Its name: the file's name without `.csv`.
    pub name: &'static str,
    columns: Columns,
}

/// Columns by name: the texts of the key, and numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    keys: Vec<(String, Vec<String>)>,
    numbers: Vec<(String, Vec<f64>)>,
}

impl Published {
    /// The table of that name.
    pub fn named(name: &str) -> Option<Self> {
        let (name, text) = text_of(name)?;
        Some(Self { name, columns: Columns::parse(text, |_| true, |_, _| true) })
    }

    /// What the numbers of a column say.
    pub fn standing(&self, column: &str) -> Standing {
        let it = NOT_EXACT.iter().find(|(table, name, _)| (*table, *name) == (self.name, column));
        it.map_or(Standing::Measured, |&(.., standing)| standing)
    }
}

impl Deref for Published {
    type Target = Columns;
    fn deref(&self) -> &Columns {
        &self.columns
    }
}

fn text_of(name: &str) -> Option<(&'static str, &'static str)> {
    TABLES.iter().copied().find(|(table, _)| *table == name)
}

impl Columns {
    /// Reads the columns of numbers whose names `keeps` accepts, of the rows whose keys `keeps_row` accepts by
    /// name and text; cells of the others are not even parsed.
    ///
    /// The files are the project's own: comma-separated cells under one header, nothing quoted.
    /// Anything else panics, and a test reads every table.
    fn parse(
        text: &str,
        keeps: impl Fn(&str) -> bool,
        keeps_row: impl Fn(&str, &str) -> bool,
    ) -> Self {
        let mut lines = text.lines();
        let header: Vec<&str> =
            lines.next().expect("a published table has a header").split(',').collect();
        let is_key = |name: &str| KEYS.contains(&name);
        let is_kept = |row: &Vec<&str>| {
            assert_eq!(row.len(), header.len(), "every row has a cell per column");
            let mut cells = header.iter().zip(row);
            cells.all(|(name, cell)| !is_key(name) || keeps_row(name, cell))
        };
        let rows: Vec<Vec<&str>> =
            lines.map(|line| line.split(',').collect()).filter(is_kept).collect();
        let mut columns = Self { keys: Vec::new(), numbers: Vec::new() };
        for (at, &name) in header.iter().enumerate() {
            let cells = rows.iter().map(|row| row[at]);
            if is_key(name) {
                columns.keys.push((name.into(), cells.map(String::from).collect()));
            } else if keeps(name) {
                let numbers = cells.map(|cell| cell.parse().expect("cells are numbers"));
                columns.numbers.push((name.into(), numbers.collect()));
            }
        }
        columns
    }

    /// The numbers of a column, in the order of the rows.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.numbers.iter().find(|(column, _)| column == name).map(|(_, cells)| cells.as_slice())
    }
    /// The number of a column in the row with this key.
    pub fn at(&self, key: &[(&str, Key)], column: &str) -> Option<f64> {
        self.column(column)?.get(self.row(key)?).copied()
    }
    /// The names of the columns of numbers.
    #[cfg(test)]
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.numbers.iter().map(|(name, _)| name.as_str())
    }
    /// The row in which all of `key` stands.
    pub fn row(&self, key: &[(&str, Key)]) -> Option<usize> {
        let stands = |row: usize, (name, key): &(&str, Key)| {
            let column = self.keys.iter().find(|(column, _)| column == name);
            column.is_some_and(|(_, cells)| cells[row] == key.to_string())
        };
        (0..self.rows()).find(|&row| key.iter().all(|part| stands(row, part)))
    }
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.keys.first().map_or(0, |(_, cells)| cells.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locktorture_table_is_the_published_one() {
        let table = Published::named("cna_v10_locktorture_x5_4").expect("it is built in");
        assert_eq!(table.rows(), 10);
        let of_142 = [("threads", Key::Number(142))];
        assert_eq!(table.at(&of_142, "stock_ops_1e7"), Some(5.901));
        let cell = |column: &str, row: usize| table.column(column).map(|cells| cells[row]);
        assert_eq!(cell("stock_ops_1e7", 0), Some(2.702));
        assert_eq!(cell("patch_cna_ops_1e7", 9), Some(9.415));
        // The printed speed-up is the quotient of the two columns next to it: nothing was mixed up.
        for row in 0..10 {
            let [Some(stock), Some(cna), Some(speedup)] =
                ["stock_ops_1e7", "patch_cna_ops_1e7", "speedup_patch_cna_over_stock"]
                    .map(|column| cell(column, row))
            else {
                panic!("a column is missing")
            };
            assert!((cna / stock - speedup).abs() < 0.0015, "row {row}");
        }
    }

    #[test]
    fn the_tables_of_guests_are_the_published_ones() {
        let table = Published::named("pvqspinlock_microbenchmark_min_avg_max_e5_2699_v3");
        let table = table.expect("it is built in");
        assert_eq!(table.rows(), 4);
        let column = |of: &str| table.column(&format!("unfair_lock_{of}_ops_per_thread_in_5_s"));
        let [Some(min), Some(avg), Some(max)] = ["min", "avg", "max"].map(column) else {
            panic!("a column is missing")
        };
        assert_eq!((min[0], avg[2], max[3]), (75570.0, 150679.0, 1257109.0));
        assert!((0..4).all(|row| min[row] < avg[row] && avg[row] < max[row]));
        let build = Published::named("pvqspinlock_kernel_build_e5_2699_v3").expect("it is, too");
        assert_eq!(build.rows(), 6);
        assert_eq!(build.column("pvqlock_build_time_s").map(|cells| cells[3]), Some(365.4));
    }

    #[test]
    fn every_table_can_be_read() {
        for (name, _) in TABLES {
            let table = Published::named(name).expect("it is in the list");
            assert_eq!(table.name, *name);
            let Columns { keys, numbers } = &table.columns;
            assert!(!keys.is_empty() && !numbers.is_empty() && table.rows() > 0, "{name}");
            assert!(keys.iter().all(|(_, cells)| cells.len() == table.rows()));
            assert!(numbers.iter().all(|(_, cells)| cells.len() == table.rows()));
            assert!(numbers.iter().flat_map(|(_, cells)| cells).all(|cell| cell.is_finite()));
        }
        assert_eq!(Published::named("cna_v10"), None);
    }
}

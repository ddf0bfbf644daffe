//! The published tables in `data/published/`, built in.

mod unpatched;

pub use unpatched::Unpatched;

/// The tables: name (the file's stem) and text.
const TABLES: &[(&str, &str)] = &[
    (
        "cna_v10_locktorture_x5_4",
        include_str!("../../../../data/published/cna_v10_locktorture_x5_4.csv"),
    ),
    (
        "cna_v10_will_it_scale_open1_threads_x5_4",
        include_str!("../../../../data/published/cna_v10_will_it_scale_open1_threads_x5_4.csv"),
    ),
    (
        "cna_v10_will_it_scale_lock2_threads_x5_4",
        include_str!("../../../../data/published/cna_v10_will_it_scale_lock2_threads_x5_4.csv"),
    ),
    (
        "cna_v10_leveldb_readrandom_x5_4",
        include_str!("../../../../data/published/cna_v10_leveldb_readrandom_x5_4.csv"),
    ),
    (
        "pvqspinlock_kernel_build_e5_2620_v4",
        include_str!("../../../../data/published/pvqspinlock_kernel_build_e5_2620_v4.csv"),
    ),
    (
        "pvqspinlock_microbenchmark_min_avg_max_e5_2699_v3",
        include_str!(
            "../../../../data/published/pvqspinlock_microbenchmark_min_avg_max_e5_2699_v3.csv"
        ),
    ),
    (
        "pvqspinlock_kernel_build_e5_2699_v3",
        include_str!("../../../../data/published/pvqspinlock_kernel_build_e5_2699_v3.csv"),
    ),
];

/// What the rows are counted by: the column that is the key.
const KEYS: [&str; 2] = ["threads", "vcpus"];

/// A published table with all its columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Its name: the file's name without `.csv`.
    pub name: &'static str,
    columns: Columns,
}

/// Columns of numbers by name; the first is the key.
#[derive(Clone, Debug, PartialEq)]
struct Columns(Vec<(String, Vec<f64>)>);

impl Published {
    /// The table of that name.
    pub fn named(name: &str) -> Option<Self> {
        let (name, text) = text_of(name)?;
        Some(Self { name, columns: Columns::parse(text, |_| true) })
    }

    /// The numbers of a column, in the order of the rows.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.find(name)
    }

    /// The number of a column in the row with so many threads, or vCPUs.
    pub fn at(&self, threads: u32, column: &str) -> Option<f64> {
        let row = self.threads().iter().position(|&row| row == threads)?;
        self.column(column)?.get(row).copied()
    }

    /// The names of all columns.
    #[cfg(test)]
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        let Columns(columns) = &self.columns;
        columns.iter().map(|(name, _)| name.as_str())
    }

    /// How many threads, or vCPUs, each row has.
    pub fn threads(&self) -> Vec<u32> {
        self.columns.threads()
    }
}

fn text_of(name: &str) -> Option<(&'static str, &'static str)> {
    TABLES.iter().copied().find(|(table, _)| *table == name)
}

impl Columns {
    /// Reads the columns whose names `keep` accepts; cells of the others are not even parsed.
    ///
    /// The files are the project's own: comma-separated numbers under one header, nothing quoted.
    /// Anything else panics, and a test reads every table.
    fn parse(text: &str, keep: impl Fn(&str) -> bool) -> Self {
        let mut lines = text.lines();
        let header = lines.next().expect("a published table has a header");
        let width = header.split(',').count();
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
        assert!(rows.iter().all(|row| row.len() == width), "every row has a cell per column");
        let columns = header.split(',').enumerate().filter(|(_, name)| keep(name));
        let column = |(at, name): (usize, &str)| {
            let cells = rows.iter().map(|row| row[at].parse().expect("cells are numbers"));
            (name.into(), cells.collect())
        };
        Self(columns.map(column).collect())
    }

    fn find(&self, name: &str) -> Option<&[f64]> {
        self.0.iter().find(|(column, _)| column == name).map(|(_, cells)| cells.as_slice())
    }

    fn threads(&self) -> Vec<u32> {
        let threads = KEYS.iter().find_map(|key| self.find(key)).unwrap_or_default();
        threads.iter().map(|&threads| threads as u32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locktorture_table_is_the_published_one() {
        let table = Published::named("cna_v10_locktorture_x5_4").expect("it is built in");
        assert_eq!(table.threads(), [1, 2, 4, 8, 16, 32, 36, 72, 108, 142]);
        let cell = |column: &str, row: usize| table.column(column).map(|cells| cells[row]);
        assert_eq!(cell("stock_ops_1e7", 0), Some(2.702));
        assert_eq!(cell("patch_cna_ops_1e7", 9), Some(9.415));
        // The printed speed-up is the quotient of the two columns beside it: nothing was mixed up.
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
        assert_eq!(table.threads(), [36, 54, 72, 108]);
        let column = |of: &str| table.column(&format!("unfair_lock_{of}_ops_per_thread_in_5_s"));
        let [Some(min), Some(avg), Some(max)] = ["min", "avg", "max"].map(column) else {
            panic!("a column is missing")
        };
        assert_eq!((min[0], avg[2], max[3]), (75570.0, 150679.0, 1257109.0));
        assert!((0..4).all(|row| min[row] < avg[row] && avg[row] < max[row]));
        let build = Published::named("pvqspinlock_kernel_build_e5_2699_v3").expect("it is, too");
        assert_eq!(build.threads(), [30, 36, 45, 54, 72, 108]);
        assert_eq!(build.column("pvqlock_build_time_s").map(|cells| cells[3]), Some(365.4));
    }

    #[test]
    fn every_table_can_be_read() {
        for (name, _) in TABLES {
            let table = Published::named(name).expect("it is in the list");
            assert_eq!(table.name, *name);
            let Columns(columns) = &table.columns;
            assert!(columns.len() > 1 && !table.threads().is_empty(), "{name}");
            assert!(columns.iter().all(|(_, cells)| cells.len() == table.threads().len()));
            assert!(columns.iter().flat_map(|(_, cells)| cells).all(|cell| cell.is_finite()));
        }
        assert_eq!(Published::named("cna_v10"), None);
    }
}

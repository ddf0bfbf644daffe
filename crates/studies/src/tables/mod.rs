//! The published tables as simulations: which machine, which workload and which lock stand for each
//! column, where its threads run, and for how long.
//!
//! `calibrate` fits the columns of unpatched code, `reproduce` simulates all of them; both run the cells
//! that are described here, through [`run`]. What was published is in [`crate::published`].

mod asked;
mod build;
mod guests;
mod meaning;
mod measure;
mod row;
mod run;
mod semaphores;
mod table;
mod tasks;
mod x5_4;

pub use meaning::meaning;
pub use measure::TableMeasure;
pub use row::{Key, Symbol, TableRow};
pub use run::{Runs, TableJob, run};
pub use table::{
    CellRun, Quantity, SimulatedTable, TableColumn, TableDepth, TableThreads, Variable,
};

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
    &semaphores::WHOLE_SERIES,
    &semaphores::PROFILE,
];

impl SimulatedTable {
    /// The table of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        TABLES.iter().copied().find(|table| table.name == name)
    }
    /// The tables of a machine.
    pub fn of_machine(machine: &str) -> impl Iterator<Item = &'static Self> {
        TABLES.iter().copied().filter(move |table| table.machine == machine)
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
                let is_there = |row: &TableRow| published.row(&table.key_of(row)).is_some();
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
            for name in published.names().filter(|name| !name.contains("_stddev_")) {
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

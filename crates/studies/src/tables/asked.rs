//! Other locks in a table: each has a column in the unit of the table's first one.

use super::meaning::subject_and_unit;
use super::table::{Quantity, SimulatedTable, column};
use lockwright_measure::error::Error;

impl SimulatedTable {
    /// The table with these locks: a column for each, and one in which it is divided by the first column. Lives as long
    /// as the program, as the others do.
    ///
    /// # Errors
    /// If the table has no column of one lock.
    pub fn with_locks(&'static self, locks: &[&'static str]) -> Result<&'static Self, Error> {
        let first = self.columns.first().and_then(|column| match column.quantity {
            Quantity::Of(_, measure) => Some((column.name, measure)),
            _ => None,
        });
        let Some((base, measure)) = first else {
            return Err(Error::usage(format!(
                "`{}` has no column of one lock, so --lock does not fit it: name another table",
                self.name
            )));
        };
        let (subject, unit) = subject_and_unit(base);
        let mut columns = self.columns.to_vec();
        for lock in locks {
            let name: &'static str = format!("{lock}{unit}").leak();
            let over: &'static str = format!("{lock}_over_{subject}").leak();
            columns.push(column(name, Quantity::Of(lock, measure), 0.0));
            columns.push(column(over, Quantity::Ratio(name, base), 0.0));
        }
        Ok(Box::leak(Box::new(Self { columns: columns.leak(), ..*self })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::{TABLES, meaning};

    #[test]
    fn a_lock_has_a_column_in_the_unit_of_the_first_one_and_a_ratio_to_it() {
        let table = SimulatedTable::named("cna_v10_locktorture_x5_4").expect("a table");
        let with = table.with_locks(&["mcs"]).expect("it fits");
        let names: Vec<_> = with.columns.iter().map(|column| column.name).collect();
        assert_eq!(names[table.columns.len()..], ["mcs_ops_1e7", "mcs_over_stock"]);
        assert!(with.locks().contains(&"mcs") && !table.locks().contains(&"mcs"));
        for name in ["mcs_ops_1e7", "mcs_over_stock"] {
            assert!(meaning(name).contains("`mcs`"), "{}", meaning(name));
        }
    }

    #[test]
    fn a_table_without_a_column_of_one_lock_is_refused() {
        let refused = TABLES.iter().filter(|table| table.with_locks(&["mcs"]).is_err());
        assert!((1..TABLES.len()).contains(&refused.count()));
    }
}

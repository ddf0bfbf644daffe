//! What a calibration may see of a published table.

use super::{Columns, text_of};
use std::ops::Deref;

/// How the names of columns of unpatched code begin.
const PREFIXES: &[&str] = &["stock_", "vanilla_", "pvqlock_", "unfair_lock_", "jpm_without_"];

/// The column that names the kernel of a row, in tables whose rows, not columns, are of patched or unpatched code;
/// and its texts in unpatched rows.
const OF_ROWS: &str = "kernel";
const UNPATCHED_ROWS: &[&str] = &["unpatched", "without_patch"];

/// The unpatched columns of a published table, or its unpatched rows, and their key.
///
/// The others are not in here: they are dropped while the file is read, before a cell of them becomes a
/// number. Code that is given this and nothing else cannot fit to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Unpatched {
    /// The table's name.
    pub table: &'static str,
    columns: Columns,
}

impl Unpatched {
    /// What is unpatched of the table of that name.
    pub fn of(table: &str) -> Option<Self> {
        let (table, text) = text_of(table)?;
        Some(Self { table, columns: read(text) })
    }
}

/// `None` stands for a patched column or row as for one that does not exist.
impl Deref for Unpatched {
    type Target = Columns;
    fn deref(&self) -> &Columns {
        &self.columns
    }
}

fn read(text: &str) -> Columns {
    let has_rows_of_kernels =
        text.lines().next().is_some_and(|header| header.split(',').any(|name| name == OF_ROWS));
    let may_be_seen =
        |name: &str| has_rows_of_kernels || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let is_unpatched = |name: &str, cell: &str| name != OF_ROWS || UNPATCHED_ROWS.contains(&cell);
    Columns::parse(text, may_be_seen, is_unpatched)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Key;

    const LOCKTORTURE: &str = "cna_v10_locktorture_x5_4";

    #[test]
    fn only_unpatched_columns_can_be_seen() {
        let table = Unpatched::of(LOCKTORTURE).expect("it is built in");
        assert_eq!(table.column("stock_ops_1e7").map(|cells| cells[9]), Some(5.901));
        for hidden in ["patch_cna_ops_1e7", "patch_cna_stddev_ops_1e7"] {
            assert_eq!(table.column(hidden), None);
        }
        assert_eq!(table.column("speedup_patch_cna_over_stock"), None, "it contains a patched one");
    }

    #[test]
    fn what_stands_in_a_patched_column_makes_no_difference() {
        let (_, text) = text_of(LOCKTORTURE).expect("it is built in");
        let blanked: String = text
            .lines()
            .enumerate()
            .map(|(at, line)| match at {
                0 => format!("{line}\n"),
                _ => {
                    let cells: Vec<_> = line.split(',').take(3).collect();
                    format!("{},not a number,,?\n", cells.join(","))
                }
            })
            .collect();
        assert_eq!(read(&blanked), read(text));
    }

    #[test]
    fn what_stands_in_a_patched_row_makes_no_difference() {
        let unpatched = "kernel,threads,max_ops\nunpatched,60,7\n";
        let both = format!("{unpatched}patched,60,not a number\n");
        assert_eq!(read(&both), read(unpatched));
        let key = |kernel| [("kernel", Key::Word(kernel)), ("threads", Key::Number(60))];
        assert_eq!(read(&both).at(&key("unpatched"), "max_ops"), Some(7.0));
        assert_eq!(read(&both).at(&key("patched"), "max_ops"), None);
    }
}

//! What a calibration may see of a published table.

use super::{Columns, KEYS, text_of};

/// How the columns of unpatched code are called.
const PREFIXES: &[&str] = &["stock_", "vanilla_", "pvqlock_", "unfair_lock_", "jpm_without_"];

/// The unpatched columns of a published table and what its rows are counted by.
///
/// The other columns are not in here: they are dropped while the file is read, before a cell of
/// them becomes a number. Whoever is given this and nothing else cannot fit to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Unpatched {
    /// The table's name.
    pub table: &'static str,
    columns: Columns,
}

impl Unpatched {
    /// The unpatched columns of the table of that name.
    pub fn of(table: &str) -> Option<Self> {
        let (table, text) = text_of(table)?;
        Some(Self { table, columns: read(text) })
    }

    /// The numbers of an unpatched column; `None` for a patched one as for one that does not exist.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.find(name)
    }

    /// How many threads, or vCPUs, each row has.
    pub fn threads(&self) -> Vec<u32> {
        self.columns.threads()
    }
}

fn read(text: &str) -> Columns {
    let may_be_seen =
        |name: &str| KEYS.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    Columns::parse(text, may_be_seen)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

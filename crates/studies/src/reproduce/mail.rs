//! A table with other locks, for a mailing list: in lines of 72 characters, with a line to quote.

use super::document::TableDocument;
use crate::records::of_simulated;
use crate::tables::{Quantity, SimulatedTable, TableColumn, meaning};
use lockwright_measure::simulated::SimulatedMachine;
use lockwright_measure::trial::{LabMachine as _, Settings};
use lockwright_sheets::{Column, Sheet, digits, lines, signed};

/// What the line to quote says of the locks that were asked for.
const ADDED: &str = " The locks that were added were never compared with this machine.";
/// The longest line of such a text.
const WIDTH: usize = 72;

impl TableDocument {
    /// The columns of locks that the published table does not have: of each lock its own and its ratio.
    fn of_other_locks(&self) -> &'static [TableColumn] {
        let published = SimulatedTable::named(self.table).map_or(0, |table| table.columns.len());
        &self.of.columns[published..]
    }
    /// A line to quote: what somebody needs who wants to simulate it again, and how far to trust it.
    pub fn quote(&self) -> String {
        let machine = SimulatedMachine::builtin(self.machine, Settings::default());
        let identity = machine.and_then(Result::ok).map_or_else(String::new, |it| it.identity());
        of_simulated(self.machine, &identity, self.calibration.as_ref(), self.seed)
    }
    /// True if it has locks that the published table does not have.
    pub fn has_other_locks(&self) -> bool {
        !self.of_other_locks().is_empty()
    }
}

fn narrow(text: &str) -> String {
    lines(text, WIDTH).join("\n") + "\n"
}

/// The first column next to what was published, and each lock that was asked for.
pub(super) fn of_table(table: &TableDocument) -> String {
    let of = table.of;
    let base = of.columns[0].name;
    let others = table.of_other_locks().chunks_exact(2).map(|pair| (pair[0].name, pair[1].name));
    let others: Vec<(&str, &str)> = others.collect();
    let lock_of = |name: &str| {
        of.column(name).map_or("", |column| match column.quantity {
            Quantity::Of(lock, _) => lock,
            _ => "",
        })
    };
    let mut columns: Vec<Column> =
        of.keys.iter().map(|key| Column::number(key.replace('_', " "))).collect();
    let keys = columns.len();
    columns.push(Column::number("published").means(format!("column {base}: {}", meaning(base))));
    columns.push(Column::number(lock_of(base)).means("the same, simulated"));
    columns.push(Column::number("error %").means("simulated minus published"));
    for (at, (name, _)) in others.iter().enumerate() {
        let means = |text: &'static str| if at == 0 { text } else { "" };
        columns.push(
            Column::number(lock_of(name)).first().means(means("simulated, in the same unit")),
        );
        columns.push(Column::number("+- %").means(means("half of the range of all runs")));
        columns.push(
            Column::number("ratio").means(means("divided by the simulated one of the table")),
        );
    }
    let rows = table.rows.iter().map(|row| {
        let mut cells: Vec<String> = of.keys.iter().map(|key| row.part(key)).collect();
        let first = row.columns.get(base);
        cells.push(first.and_then(|cell| cell.published).map_or("-".into(), digits));
        cells.push(first.map_or("-".into(), |cell| digits(cell.simulated)));
        cells.push(first.and_then(|cell| cell.error_percent).map_or("-".into(), signed));
        for (name, over) in &others {
            let cell = row.columns.get(name);
            cells.push(cell.map_or("-".into(), |cell| digits(cell.simulated)));
            let range =
                cell.map(|it| (it.interval[1] - it.interval[0]) / 2.0 / it.simulated * 100.0);
            cells.push(range.map_or("-".into(), digits));
            cells.push(row.columns.get(over).map_or("-".into(), |cell| digits(cell.simulated)));
        }
        cells
    });
    let sheet = Sheet { columns, keys, rows: rows.collect() };
    let title =
        format!("{}, simulated on {}\n{}", table.table, table.machine, table.windows.told());
    narrow(&title) + "\n" + &sheet.text_within(WIDTH) + "\n" + &narrow(&(table.quote() + ADDED))
}

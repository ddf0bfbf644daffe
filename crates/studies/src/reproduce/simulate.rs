//! Simulating a table row by row, with the chosen fit and with those that fit about as well.

use super::cell::{CellRole, ReproducedRow, TableCell};
use super::document::{ReproduceEffort, TableDocument, Windows};
use super::score::Scores;
use crate::published::{Published, Standing};
use crate::records::Folder;
use crate::tables::{self, Runs, SimulatedTable, TableDepth, TableJob};
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_measure::simulated::{Fitted, ResidualOf, SimulatedMachine};
use lockwright_sheets::Progress;
use lockwright_sim::machine::{Calibration, Machine, Parameters};
use std::collections::BTreeMap;

/// A set of fitted numbers, applied.
struct Fit {
    machine: SimulatedMachine,
    depth: &'static TableDepth,
}

impl Fit {
    fn of(
        machine: &Machine,
        parameters: &Parameters,
        depth: &'static TableDepth,
    ) -> Result<Self, Error> {
        Ok(Self { machine: SimulatedMachine::fitted_with(machine, parameters)?, depth })
    }
}

/// Simulates a table, but for what is in the folder; until Ctrl-C, then with the rows that were done.
pub fn simulate(
    table: &'static SimulatedTable,
    effort: ReproduceEffort,
    seed: u64,
    folder: Option<&Folder>,
    progress: Progress,
) -> Result<TableDocument, Error> {
    let machine = Machine::builtin(table.machine)
        .ok_or_else(|| Error::Machine(format!("there is no machine `{}`", table.machine)))?;
    let calibration = Calibration::builtin(table.machine);
    if let Some(calibration) = &calibration {
        calibration.check_for(&machine)?;
    }
    let fits = fits(&machine, calibration.as_ref(), table, effort)?;
    let published = Published::named(table.name);
    let mut document = TableDocument::new(
        table,
        calibration.as_ref().and_then(|c| fitted(c, table, &fits[0])),
        Windows::of(table, fits[0].depth, fits.len()),
        seed,
    );
    for (at, of) in table.rows.iter().enumerate() {
        progress.say(&format!(
            "simulating {}, {}: row {} of {}",
            table.name,
            told(&table.key_of(of)),
            at + 1,
            table.rows.len()
        ));
        let cells = row(table, of, &fits, seed, published.as_ref(), folder)?;
        progress.advance(1);
        if interrupt::is_requested() {
            break;
        }
        document.rows.push(ReproducedRow {
            key: table.key_of(of).into_iter().collect(),
            of,
            columns: cells,
        });
    }
    document.judge(Scores::of(table, &document.rows, published.as_ref()));
    Ok(document)
}

/// The key of a row in words, such as `threads 2, cs_load 1`.
fn told(key: &[(&'static str, tables::Key)]) -> String {
    let name = |name: &str| name.trim_end_matches("_pause_instructions").to_string();
    let parts: Vec<_> =
        key.iter().map(|(column, part)| format!("{} {part}", name(column))).collect();
    parts.join(", ")
}

/// The chosen fit first.
fn fits(
    machine: &Machine,
    calibration: Option<&Calibration>,
    table: &'static SimulatedTable,
    effort: ReproduceEffort,
) -> Result<Vec<Fit>, Error> {
    let Some(calibration) = calibration else {
        return Ok(vec![Fit::of(machine, &Parameters::default(), effort.depth(table))?]);
    };
    let chosen = Fit::of(machine, &calibration.parameters, effort.depth(table));
    let others = calibration.alternatives.iter().take(effort.alternatives());
    let others = others.map(|other| Fit::of(machine, &other.parameters, &table.quick));
    std::iter::once(chosen).chain(others).collect()
}

/// What was fitted, with the residual of this table if it took part, else of those with its workload.
fn fitted(calibration: &Calibration, table: &SimulatedTable, chosen: &Fit) -> Option<Fitted> {
    let workload = (table.workload)(chosen.machine.parameters(), chosen.depth, &table.rows[0]);
    let fitted = Fitted::of(calibration, workload)?;
    let squares = |is_its: &dyn Fn(&lockwright_sim::machine::Fit) -> bool| -> Vec<f64> {
        let fits = calibration.fits.iter().filter(|fit| is_its(fit));
        fits.map(|fit| fit.residual_rms_percent.powi(2)).collect()
    };
    let of_table = squares(&|fit| fit.table == table.name);
    let (residual_of, squares) = match of_table.is_empty() {
        true => (ResidualOf::Workload, squares(&|fit| fit.workload == workload.name())),
        false => (ResidualOf::Table, of_table),
    };
    Some(match squares.is_empty() {
        true => fitted,
        false => Fitted {
            residual_of,
            residual_percent: (squares.iter().sum::<f64>() / squares.len() as f64).sqrt(),
            ..fitted
        },
    })
}

/// The cells of a row: the mean is of the chosen fit, the interval of all of them.
fn row(
    table: &'static SimulatedTable,
    row: &'static tables::TableRow,
    fits: &[Fit],
    seed: u64,
    published: Option<&Published>,
    folder: Option<&Folder>,
) -> Result<BTreeMap<&'static str, TableCell>, Error> {
    let (rows, locks) = ([*row], table.locks());
    let jobs: Vec<TableJob<'_>> = fits
        .iter()
        .map(|Fit { machine, depth }| TableJob {
            table,
            machine,
            depth,
            rows: &rows,
            locks: &locks,
            seed,
        })
        .collect();
    let runs: Vec<Runs<'_>> = tables::run(&jobs, folder, &|_| ())?;
    let cell = |column: &'static tables::TableColumn| {
        let all = runs.iter().flat_map(|runs| runs.column(0, column));
        let interval = all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
            [low.min(value), high.max(value)]
        });
        let number = published.and_then(|data| data.at(&table.key_of(row), column.name));
        let standing = published.map_or(Standing::Measured, |data| data.standing(column.name));
        let cell =
            TableCell::new(runs[0].mean(0, column), interval, CellRole::of(table, column, row));
        (column.name, cell.next_to(number, standing))
    };
    let is_of_row =
        |column: &&tables::TableColumn| runs[0].column(0, column).iter().any(|x| x.is_finite());
    Ok(table.columns.iter().filter(is_of_row).map(cell).collect())
}

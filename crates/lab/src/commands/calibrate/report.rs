//! What a fit came to, in each format.

use lockwright_sheets::{Column, Grid, Report, Sheet, digits, percent, signed, to_json, wrapped};
use lockwright_sim::machine::Fit;
use lockwright_studies::calibrate::{Calibrated, FitPlan, FittedCell};
use serde::Serialize;
use std::collections::BTreeMap;

/// What came out, in each format.
pub struct CalibrateReport<'a> {
    pub plan: &'a FitPlan,
    pub fitted: &'a Calibrated,
}

/// `lockwright.calibrate/1`.
#[derive(Serialize)]
struct CalibrateDocument<'a> {
    schema: &'a str,
    machine: &'a str,
    simulated: bool,
    hash: &'a str,
    evaluations: usize,
    columns: Vec<DocumentColumn<'a>>,
    rows: Vec<DocumentRow>,
    /// The least and the greatest value that fits about as well.
    spread: BTreeMap<&'a str, [f64; 2]>,
}

#[derive(Serialize)]
struct DocumentColumn<'a> {
    table: &'a str,
    columns: &'a [String],
    residual_percent: f64,
}

impl<'a> DocumentColumn<'a> {
    fn of(fit: &'a Fit) -> Self {
        Self {
            table: &fit.table,
            columns: &fit.columns,
            residual_percent: fit.residual_rms_percent,
        }
    }
}

#[derive(Serialize)]
struct DocumentRow {
    table: &'static str,
    row: String,
    threads: u32,
    column: &'static str,
    simulated: f64,
    published: f64,
    error_percent: f64,
}

impl Report for CalibrateReport<'_> {
    fn text(&self) -> String {
        text(self.plan, self.fitted)
    }
    fn json(&self) -> String {
        let row = |row: &FittedCell| DocumentRow {
            table: row.table,
            row: row.of.label(),
            threads: row.of.threads,
            column: row.column,
            simulated: row.simulated,
            published: row.published,
            error_percent: row.error_percent(),
        };
        let spread = self.fitted.spread.iter().map(|(name, low, high)| (&name[..], [*low, *high]));
        to_json(&CalibrateDocument {
            schema: "lockwright.calibrate/1",
            machine: self.plan.machine,
            simulated: true,
            hash: &self.fitted.calibration.hash,
            evaluations: self.fitted.evaluations,
            columns: self.fitted.calibration.fits.iter().map(DocumentColumn::of).collect(),
            rows: self.fitted.rows.iter().map(row).collect(),
            spread: spread.collect(),
        })
    }
    fn grid(&self) -> Grid {
        Grid::of(
            &self.fitted.rows,
            &[
                ("table", &|row| row.table.into()),
                ("row", &|row| row.of.label()),
                ("column", &|row| row.column.into()),
                ("simulated", &|row| row.simulated.to_string()),
                ("published", &|row| row.published.to_string()),
                ("error_percent", &|row| row.error_percent().to_string()),
            ],
        )
    }
}

fn text(plan: &FitPlan, fitted: &Calibrated) -> String {
    let columns = vec![
        Column::words("table"),
        Column::words("columns"),
        Column::number("residual")
            .means("root mean square of the relative errors of the cells that were fitted"),
        Column::number("runs").means("of each cell"),
    ];
    let row = |fit: &Fit| {
        let residual = percent(fit.residual_rms_percent);
        let runs = fit.seeds.len().to_string();
        vec![fit.table.clone(), fit.columns.join(", "), residual, runs]
    };
    let rows = fitted.calibration.fits.iter().map(row).collect();
    let residuals = Sheet { columns, keys: 1, rows };

    let columns = vec![
        Column::words("column"),
        Column::words("row"),
        Column::number("simulated"),
        Column::number("published"),
        Column::number("error %"),
    ];
    let row = |row: &FittedCell| {
        let (simulated, error) = (digits(row.simulated), signed(row.error_percent()));
        vec![row.column.into(), row.of.label(), simulated, row.published.to_string(), error]
    };
    let cells = Sheet { columns, keys: 2, rows: fitted.rows.iter().map(row).collect() };

    let columns = vec![
        Column::words("number"),
        Column::number("from").means("the least value that fits about as well"),
        Column::number("to").means("the greatest"),
    ];
    let row =
        |(name, low, high): &(String, f64, f64)| vec![name.clone(), digits(*low), digits(*high)];
    let spread = Sheet { columns, keys: 1, rows: fitted.spread.iter().map(row).collect() };

    wrapped(&format!(
        "simulated {}: {} sets of numbers were tried; calibration {}",
        plan.machine, fitted.evaluations, fitted.calibration.hash
    )) + &format!("\n{}\n{}\n{}", residuals.text(), cells.text(), spread.text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockwright_sim::machine::Machine;
    use lockwright_studies::calibrate::{FitEffort, calibrate};

    #[test]
    fn the_document_and_the_text_tell_the_same_residuals() {
        let plan = FitPlan::of("broadwell-2s-e5-2620v4").expect("there is a plan");
        let machine = Machine::builtin(plan.machine).expect("it is built in");
        let shallow = |table: &lockwright_studies::tables::SimulatedTable| {
            lockwright_studies::tables::TableDepth {
                units: 40,
                starts: &table.full.starts[..1],
                ..table.full
            }
        };
        let effort = FitEffort {
            places: 1,
            descents: 1,
            steps: 1,
            tolerance_percent: 1.0,
            search: shallow,
            judged: shallow,
        };
        let fitted = calibrate(&machine, plan, &effort, 2, &mut |_| ()).expect("it runs");
        let report = CalibrateReport { plan, fitted: &fitted };
        let document: serde_json::Value = serde_json::from_str(&report.json()).expect("a document");
        assert_eq!(document["schema"], "lockwright.calibrate/1");
        assert_eq!(document["rows"].as_array().map(Vec::len), Some(report.grid().rows.len()));
        let residual = document["columns"][0]["residual_percent"].as_f64().expect("a number");
        assert!(report.text().contains(&percent(residual)), "{}", report.text());
        assert!(report.text().contains(&fitted.calibration.hash));
        // Where the tests run, a page may be wider.
        let widest = report.text().lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(lockwright_sheets::width()), "{}", report.text());
    }
}

//! What a fit came to, in each format.

use lockwright_sheets::{Column, Grid, Report, Sheet, digits, percent, signed, to_json, wrapped};
use lockwright_sim::machine::Fit;
use lockwright_studies::calibrate::{Calibrated, FitPlan, FittedCell};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What came out, in each format.
pub struct CalibrateReport<'a> {
    pub plan: &'a FitPlan,
    pub fitted: &'a Calibrated,
}

impl Report for CalibrateReport<'_> {
    fn text(&self) -> String {
        text(self.plan, self.fitted)
    }
    /// `lockwright.calibrate/1`.
    fn json(&self) -> String {
        let Calibrated { calibration, rows, spread, evaluations } = self.fitted;
        let column = |fit: &Fit| {
            json!({
                "table": fit.table,
                "columns": fit.columns,
                "residual_percent": fit.residual_rms_percent,
            })
        };
        // The least and the greatest value that fits about as well.
        let spread = spread.iter().map(|(name, low, high)| (name, [low, high]));
        to_json(&json!({
            "schema": "lockwright.calibrate/1",
            "machine": self.plan.machine,
            "simulated": true,
            "hash": calibration.hash,
            "evaluations": evaluations,
            "columns": calibration.fits.iter().map(column).collect::<Vec<_>>(),
            "rows": rows.iter().map(json_of).collect::<Vec<_>>(),
            "spread": spread.collect::<BTreeMap<_, _>>(),
        }))
    }
    fn grid(&self) -> Grid {
        let columns = "table row column simulated published error_percent";
        Grid::of_json(self.fitted.rows.iter().map(json_of), columns)
    }
}

/// A cell as documents have it.
fn json_of(cell: &FittedCell) -> Value {
    json!({
        "table": cell.table,
        "row": cell.of.label(),
        "threads": cell.of.threads,
        "column": cell.column,
        "simulated": cell.simulated,
        "published": cell.published,
        "error_percent": cell.error_percent(),
    })
}

fn text(plan: &FitPlan, fitted: &Calibrated) -> String {
    let residual = Column::number("residual")
        .means("root mean square of the relative errors of the cells that were fitted");
    let residuals = Sheet::of(
        &fitted.calibration.fits,
        1,
        &[
            (Column::words("table"), &|fit| fit.table.clone()),
            (Column::words("columns"), &|fit| fit.columns.join(", ")),
            (residual, &|fit| percent(fit.residual_rms_percent)),
            (Column::number("runs").means("of each cell"), &|fit| fit.seeds.len().to_string()),
        ],
    );
    let cells = Sheet::of(
        &fitted.rows,
        2,
        &[
            (Column::words("column"), &|row| row.column.into()),
            (Column::words("row"), &|row| row.of.label()),
            (Column::number("simulated"), &|row| digits(row.simulated)),
            (Column::number("published"), &|row| row.published.to_string()),
            (Column::number("error %"), &|row| signed(row.error_percent())),
        ],
    );
    let from = Column::number("from").means("the least value that fits about as well");
    let spread = Sheet::of(
        &fitted.spread,
        1,
        &[
            (Column::words("number"), &|(name, ..)| name.clone()),
            (from, &|(_, low, _)| digits(*low)),
            (Column::number("to").means("the greatest"), &|(.., high)| digits(*high)),
        ],
    );
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
        let fitted = calibrate(&machine, plan, &effort, None, &mut |_| ()).expect("it runs");
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

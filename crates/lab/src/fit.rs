//! `lockwright calibrate`: fits a simulated machine to published measurements of unpatched code.

use crate::calibrate::{Calibrated, Effort, Plan, calibrate};
use crate::cli::CalibrateArgs;
use crate::error::Error;
use crate::published::Unpatched;
use crate::report::{self, Grid, Progress, Target, print};
use lockwright_sim::machine::Machine;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &CalibrateArgs) -> Result<ExitCode, Error> {
    let progress = Progress::new(args.quiet);
    let unknown = || {
        Error::unknown(
            "machine to calibrate",
            &args.machine,
            Plan::machines(),
            "lockwright machines",
        )
    };
    let plan = Plan::of(&args.machine).ok_or_else(unknown)?;
    let machine = Machine::builtin(plan.machine).ok_or_else(unknown)?;
    let table = Unpatched::of(plan.table)
        .ok_or_else(|| Error::Machine(format!("there is no table `{}`", plan.table)))?;
    let path = args.out.clone().unwrap_or_else(|| usual_path(plan.machine));
    let target = Target::open(&path)?;

    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let mut tell = |done: usize, total: usize, best_percent: f64| {
        if done.is_multiple_of(25) || done == total {
            progress.say(&format!("{done} of {total} tried, residual {best_percent:.2} %"));
        }
    };
    let fitted = calibrate(&machine, plan, &table, &Effort::default(), workers, &mut tell)
        .map_err(|error| Error::Measurement(error.to_string()))?;
    target.write(fitted.calibration.to_toml().as_bytes())?;
    print(&text(plan, &fitted))?;
    print(&format!("\nwritten to {}\n", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Where the built-in calibrations come from in the project's tree.
fn usual_path(machine: &str) -> PathBuf {
    PathBuf::from(format!("machines/{machine}.calibration.toml"))
}

fn text(plan: &Plan, fitted: &Calibrated) -> String {
    let mut rows = Grid::new(["threads", "simulated", "published", "error %"]);
    for row in &fitted.rows {
        rows.push([
            row.threads.to_string(),
            format!("{:.3}", row.simulated),
            format!("{:.3}", row.published),
            format!("{:+.1}", row.error_percent()),
        ]);
    }
    let mut spread = Grid::new(["number", "least that fits as well", "greatest"]);
    for (name, low, high) in &fitted.spread {
        spread.push([(*name).into(), low.to_string(), high.to_string()]);
    }
    format!(
        "simulated {} fitted on {} of {}: residual {:.2} % RMS, {} evaluations\n\n{}\n{}",
        plan.machine,
        plan.column,
        plan.table,
        fitted.calibration.residual_rms_percent(),
        fitted.evaluations,
        report::text_table(&rows, 0),
        report::text_table(&spread, 1)
    )
}

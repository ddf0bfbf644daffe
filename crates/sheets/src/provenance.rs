//! Where the numbers of a simulated machine come from.

use crate::number::{digits, duration, percent};
use lockwright_measure::simulated::{Fitted, ResidualOf};

/// A paragraph about the calibration of a simulated machine.
pub fn provenance(machine: &str, calibration: Option<&Fitted>) -> String {
    let Some(fitted) = calibration else {
        return format!(
            "All numbers are simulated. {machine} has no calibration: no cost was fitted to a \
             measurement."
        );
    };
    let Fitted { calibrated_as, fitted_on, parameters, hash, .. } = fitted;
    let of = match calibrated_as {
        None => format!("The costs of {machine} were fitted"),
        Some(name) => format!(
            "{machine} borrows the costs of {name}, which were fitted on the topology of {name},"
        ),
    };
    let parameters = parameters.iter().map(|(name, value)| match name.strip_suffix("_ns") {
        Some(name) => format!("{name} {}", duration(*value)),
        None => format!("{name} {}", digits(*value)),
    });
    let parameters: Vec<_> = parameters.collect();
    let first = match fitted.residual_of {
        ResidualOf::Workload => " No cell of this table was fitted.",
        ResidualOf::Machine | ResidualOf::Table => "",
    };
    format!(
        "All numbers are simulated.{first} {of} to published measurements of unpatched code: {}. {} Fitted costs: {}. \
         Calibration {hash}.",
        fitted_on.join("; "),
        residuals(machine, fitted),
        parameters.join(", ")
    )
}

/// How far the fit is off, and over which columns.
fn residuals(machine: &str, fitted: &Fitted) -> String {
    let machine = fitted.calibrated_as.as_deref().unwrap_or(machine);
    let some = percent(fitted.residual_percent);
    let some = match fitted.residual_of {
        ResidualOf::Machine => String::new(),
        ResidualOf::Table => format!("{some} over the columns of this table that were fitted, "),
        ResidualOf::Workload => format!("{some} over the fitted columns with the same workload, "),
    };
    let all = percent(fitted.machine_residual_percent);
    format!("Root mean square error of the fit: {some}{all} over all fitted columns of {machine}.")
}

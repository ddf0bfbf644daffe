//! Where the numbers of a simulated machine come from.

use super::{digits, percent};
use crate::simulated::Fitted;

/// A paragraph about the calibration of a simulated machine.
pub fn provenance(machine: &str, calibration: Option<&Fitted>) -> String {
    let Some(fitted) = calibration else {
        return format!(
            "All numbers are simulated. {machine} is not calibrated for this: no cost was fitted to a \
             measurement."
        );
    };
    let Fitted { calibrated_as, fitted_on, residual_percent, parameters, hash } = fitted;
    let of = match calibrated_as {
        None => format!("The costs of {machine} were fitted"),
        Some(name) => format!(
            "{machine} borrows the costs of {name}, which were fitted on the topology of {name},"
        ),
    };
    let parameters: Vec<_> =
        parameters.iter().map(|(name, value)| format!("{name} {}", digits(*value))).collect();
    format!(
        "All numbers are simulated. {of} to published measurements of unpatched code: {}. There the simulation \
         is off by {} (root mean square). Fitted costs: {}. \
         Calibration {hash}.",
        fitted_on.join("; "),
        percent(*residual_percent),
        parameters.join(", ")
    )
}

//! The numbers of a simulated machine that were fitted, as documents tell them.

use crate::workload::Workload;
use lockwright_sim::machine::{Calibration, Fit};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The fitted columns that a residual is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ResidualOf {
    /// All of the machine.
    Machine,
    /// Those of a table.
    Table,
    /// Those of other tables with the workload of a table to which nothing was fitted.
    Workload,
}

/// What was fitted for a workload, and on what.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fitted {
    /// The built-in machine whose calibration it is, if this machine has other numbers and borrows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibrated_as: Option<String>,
    /// The published columns, in words.
    pub fitted_on: Vec<String>,
    /// How well some of them are met, on the machine they were fitted for: root mean square of the relative
    /// errors.
    pub residual_percent: f64,
    /// Which of them that is about.
    pub residual_of: ResidualOf,
    /// The same of all fitted columns of that machine.
    pub machine_residual_percent: f64,
    /// The fitted numbers that this workload uses: the hardware's, and those of its own software.
    pub parameters: BTreeMap<String, f64>,
    /// Fingerprint of the calibration and of the machine that it belongs to.
    pub hash: String,
}

impl Fitted {
    /// What `calibration` says about `workload`; `None` if none of its numbers take part.
    pub fn of(calibration: &Calibration, workload: Workload) -> Option<Self> {
        let is_same = |a: &Fit, b: &Fit| {
            (&a.table, &a.threads, &a.placement) == (&b.table, &b.threads, &b.placement)
        };
        let fitted_on = calibration.fits.chunk_by(is_same).map(|fits| {
            let columns: Vec<_> = fits.iter().flat_map(|fit| &fit.columns).cloned().collect();
            let Fit { table, threads, placement, .. } = &fits[0];
            let rows = match threads.len() {
                1 => "1 row".into(),
                count => format!("{count} rows"),
            };
            format!("{} of {table} ({rows}, placement {placement})", columns.join(", "))
        });
        let parameters = &calibration.parameters;
        let hardware = parameters.hardware.iter().map(|(key, &value)| (key.clone(), value));
        let workload = workload.name();
        let software = parameters.software.get(workload).into_iter().flatten();
        let software = software.map(|(part, &ns)| (format!("{workload}.{part}_ns"), ns));
        let parameters: BTreeMap<_, _> = hardware.chain(software).collect();
        (!parameters.is_empty()).then(|| Self {
            calibrated_as: None,
            fitted_on: fitted_on.collect(),
            residual_percent: calibration.residual_rms_percent(),
            residual_of: ResidualOf::Machine,
            machine_residual_percent: calibration.residual_rms_percent(),
            parameters,
            hash: calibration.hash.clone(),
        })
    }
}

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.parameters.iter().map(|(key, value)| format!("{key} = {value}"));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        let (on, residual, hash) =
            (self.fitted_on.join(" and "), self.residual_percent, &self.hash);
        match &self.calibrated_as {
            Some(name) => write!(
                f,
                "calibration of {name}, fitted on its own topology: {parameters}\n\
                 on {on}; residual there {residual:.1} % RMS, hash {hash}"
            ),
            None => {
                write!(
                    f,
                    "fitted: {parameters}\non {on}; residual {residual:.1} % RMS, hash {hash}"
                )
            }
        }
    }
}

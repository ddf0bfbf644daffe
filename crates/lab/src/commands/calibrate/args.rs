//! The arguments of `calibrate`.

use crate::options::name;
use clap::Args;
use lockwright_sheets::{DocumentArgs, Progress};
use std::path::PathBuf;

/// Arguments of `calibrate`.
#[derive(Clone, Debug, Args)]
#[command(
    mut_arg("json", |json| json.help("Write a JSON document about the fit")),
    mut_arg("csv", |csv| csv.help("Write the simulated and the published numbers as CSV"))
)]
pub struct CalibrateArgs {
    /// The built-in machine to fit, by its name in `lockwright machines`; a machine file of your own has no
    /// published tables to fit, and borrows a calibration with `calibrated_as = "x5-4"`
    #[arg(value_name = "MACHINE", value_parser = name)]
    pub machine: String,
    /// Write the calibration here [default: standard output]
    #[arg(long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
    /// Overwrite the file of --out if it exists
    #[arg(long, requires = "out")]
    pub force: bool,
    /// Where results go.
    #[command(flatten)]
    pub documents: DocumentArgs,
    /// What is said meanwhile.
    #[command(flatten)]
    pub progress: Progress,
}

//! `lockwright calibrate`: fits a simulated machine to published measurements of unpatched code.

mod report;

use crate::options::{KeptArgs, name};
use clap::Args;
use lockwright_measure::error::Error;
use lockwright_parts::Part;
use lockwright_sheets::{Destination, DocumentArgs, Outputs, Progress, percent, print};
use lockwright_sim::machine::Machine;
use lockwright_studies::calibrate::{FitPlan, FitStep, calibrate};
use lockwright_studies::records::Folder;
use report::CalibrateReport;
use std::path::PathBuf;
use std::process::ExitCode;

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
    pub toml: Option<PathBuf>,
    /// Overwrite the file of --toml if it exists
    #[arg(long, requires = "toml")]
    pub force: bool,
    /// Where records are kept.
    #[command(flatten)]
    pub kept: KeptArgs,
    /// Where results go.
    #[command(flatten)]
    pub documents: DocumentArgs,
    /// What is said meanwhile.
    #[command(flatten)]
    pub progress: Progress,
}

/// Runs the command.
pub fn run(args: &CalibrateArgs) -> Result<ExitCode, Error> {
    let progress = args.progress;
    let is_file = args.machine.contains('/') || args.machine.ends_with(".toml");
    let unknown = || match Machine::builtin(&args.machine) {
        None if is_file => Error::usage(
            "`calibrate` fits built-in machines only, because it needs published tables: for a machine of your \
             own, write `calibrated_as = \"x5-4\"` (or another built-in machine that it is like) above the first \
             section of its file",
        ),
        Some(_) => Error::usage(format!(
            "there are no published numbers to fit `{}` to: name one of {}",
            args.machine,
            FitPlan::machines().collect::<Vec<_>>().join(", ")
        )),
        None => {
            Error::unknown("machine", &args.machine, FitPlan::machines(), "lockwright machines")
        }
    };
    let plan = FitPlan::of(&args.machine).ok_or_else(unknown)?;
    let machine = Machine::builtin(plan.machine).ok_or_else(unknown)?;
    let target = target(args)?;
    let outputs = Outputs::open(&args.documents, None)?;

    let folder = args.kept.open(Part::default(), args.progress)?;
    let mut tell = |FitStep { what, of: (done, total), residual_percent }: FitStep| {
        let residual = percent(residual_percent);
        if done == 1 {
            progress.expect(total);
        }
        progress.say(&format!("{done} of {total}: {what}, residual {residual}"));
        progress.advance(1);
    };
    let fitted = calibrate(&machine, plan, &plan.effort, folder.as_ref(), &mut tell)
        .map_err(|error| Error::Measurement(error.to_string()))?;
    folder.map_or(Ok(()), Folder::finish)?;
    let written = target.write_somewhere(&fitted.calibration.to_toml());
    let report = CalibrateReport { plan, fitted: &fitted };
    // Standard output has one thing: the calibration, or what is said about it.
    match &args.toml {
        None => outputs.finish_documents(&report)?,
        Some(path) => {
            outputs.finish(&report)?;
            if written.is_ok() && outputs.stdout_is_for_people() {
                print(&format!("\nwritten to {}\n", path.display()))?;
            }
        }
    }
    written.map(|()| ExitCode::SUCCESS)
}

/// Where the calibration goes. A file that exists is not overwritten by accident.
fn target(args: &CalibrateArgs) -> Result<Destination, Error> {
    let Some(path) = &args.toml else {
        let documents = [&args.documents.json, &args.documents.csv];
        if documents.into_iter().flatten().any(|path| path.as_os_str() == "-") {
            return Err(Error::usage(
                "standard output already has the calibration: add --toml FILE.toml",
            ));
        }
        return Ok(Destination::Stdout);
    };
    if path.exists() && !args.force {
        return Err(Error::usage(format!(
            "{} exists: name another file with --toml, or add --force to overwrite it",
            path.display()
        )));
    }
    Destination::open(path)
}

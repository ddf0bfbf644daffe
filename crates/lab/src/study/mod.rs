//! `lockwright study`: questions about locks that no published table answers, simulated.

use crate::cli::{name, whole};
use crate::lists;
use clap::Args;
use lockwright_cells::error::Error;
use lockwright_cells::interrupt;
use lockwright_report::{OutputArgs, Outputs, Progress};
use lockwright_repro::study::{self, STUDIES};
use std::process::ExitCode;

/// Arguments of `study`.
#[derive(Clone, Debug, Args)]
pub struct StudyArgs {
    /// The study, by its name in `lockwright studies`; without one they are listed
    #[arg(value_name = "STUDY", value_parser = name)]
    pub study: Option<String>,
    /// Seed for random numbers; the same seed repeats a study exactly
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole)]
    pub seed: u64,
    /// Where results go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs the command.
pub fn run(args: &StudyArgs) -> Result<ExitCode, Error> {
    let progress = Progress::new(args.output.quiet);
    let Some(asked) = &args.study else { return lists::instead_of(&args.output, lists::studies) };
    let study = STUDIES.iter().find(|study| study.name == *asked).ok_or_else(|| {
        Error::unknown("study", asked, STUDIES.iter().map(|study| study.name), "lockwright studies")
    })?;
    let outputs = Outputs::open(&args.output)?;
    progress.answer_interrupts();
    let document = study::run(study, args.seed, progress, &mut |document| outputs.keep(document))?;
    outputs.finish(&document)?;
    Ok(match document.interrupted {
        true => ExitCode::from(interrupt::EXIT_CODE),
        false => ExitCode::SUCCESS,
    })
}

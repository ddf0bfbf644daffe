//! Running a study.

use super::args::StudyArgs;
use crate::commands::lists;
use lockwright_cells::error::Error;
use lockwright_cells::interrupt;
use lockwright_report::{Outputs, Progress};
use lockwright_repro::study::{self, STUDIES};
use std::process::ExitCode;

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

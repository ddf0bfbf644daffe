//! Running a study.

use super::args::StudyArgs;
use crate::commands::lists;
use crate::outcome::exit_code;
use lockwright_cells::error::Error;
use lockwright_repro::study::{self, STUDIES};
use std::process::ExitCode;

/// Runs the command.
pub fn run(args: &StudyArgs) -> Result<ExitCode, Error> {
    let progress = args.output.progress;
    let Some(asked) = &args.study else { return lists::instead_of(&args.output, lists::studies) };
    let study = STUDIES.iter().find(|study| study.name == *asked).ok_or_else(|| {
        Error::unknown("study", asked, STUDIES.iter().map(|study| study.name), "lockwright studies")
    })?;
    let outputs = args.output.open()?;
    progress.answer_interrupts();
    let document =
        study::run(study, args.random.seed, progress, &mut |document| outputs.keep(document))?;
    outputs.finish(&document)?;
    Ok(exit_code(false, document.interrupted))
}

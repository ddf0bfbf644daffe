//! Running a study.

use super::args::StudyArgs;
use crate::commands::lists;
use crate::outcome::exit_code;
use lockwright::registry::LockRow;
use lockwright_cells::error::Error;
use lockwright_cells::subject::{Selection, Subject, SubjectOrigin};
use lockwright_repro::study::{self, STUDIES, Study};
use std::process::ExitCode;

/// The locks of a study, or its first one and those that were asked for.
fn locks(study: &Study, names: &[String]) -> Result<Vec<&'static LockRow>, Error> {
    let own = if names.is_empty() { study.locks } else { &study.locks[..1] };
    let own = own.iter().map(|name| Subject::find(name).map(|subject| subject.row));
    let mut locks = own.collect::<Result<Vec<_>, _>>()?;
    for asked in Selection::of(names)?.subjects {
        let (row, name) = (asked.subject.row, asked.subject.name());
        if asked.subject.origin == SubjectOrigin::Registry {
            locks.extend((name != locks[0].name).then_some(row));
        } else if asked.explicitly {
            return Err(Error::usage(format!(
                "`{name}` runs on this computer only, and studies are simulated: leave it out"
            )));
        }
    }
    Ok(locks)
}

/// Runs the command.
pub fn run(args: &StudyArgs) -> Result<ExitCode, Error> {
    let progress = args.output.progress;
    let Some(asked) = &args.study else { return lists::instead_of(&args.output, lists::studies) };
    let study = STUDIES.iter().find(|study| study.name == *asked).ok_or_else(|| {
        Error::unknown("study", asked, STUDIES.iter().map(|study| study.name), "lockwright studies")
    })?;
    let locks = locks(study, &args.lock)?;
    let outputs = args.output.open()?;
    progress.answer_interrupts();
    let document = study::run(study, &locks, args.random.seed, progress, &mut |document| {
        outputs.keep(document)
    })?;
    outputs.finish(&document)?;
    Ok(exit_code(false, document.interrupted))
}

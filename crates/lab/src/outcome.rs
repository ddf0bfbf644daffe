//! What a command comes to.

use lockwright_measure::interrupt;
use lockwright_measure::record::TrialRecord;
use std::process::ExitCode;

/// What the checkers of a run saw, as a sentence.
pub fn what_broke(measured: &TrialRecord) -> String {
    match (measured.violations.first(), measured.fail) {
        (Some(violation), _) => violation.clone(),
        (None, fail) => format!("does not exclude: {fail} times an owner was not alone"),
    }
}

/// The exit code of a command that may have found something wrong, or have been interrupted.
pub fn exit_code(has_failed: bool, is_interrupted: bool) -> ExitCode {
    match (has_failed, is_interrupted) {
        (true, _) => ExitCode::FAILURE,
        (false, true) => ExitCode::from(interrupt::EXIT_CODE),
        (false, false) => ExitCode::SUCCESS,
    }
}

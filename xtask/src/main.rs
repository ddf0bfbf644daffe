//! What continuous integration runs, and what a person runs before asking it to.

#[macro_use(eprint, eprintln, print, println)]
extern crate lockwright_parts;

mod alone;
mod c_library;
mod ci;
mod commands;
mod evidence;
mod features;
mod fidelity;
mod full;
mod fuzz;
mod install;
mod kernel;
#[cfg(test)]
mod layers;
mod licences;
mod limit;
mod minutes;
mod mutants;
mod new_lock;
mod numbers;
mod options;
mod output;
mod packages;
mod price;
mod programs;
mod promela;
mod quick;
mod record;
mod release;
mod repository;
mod rounds;
mod rows;
mod sanitize;
mod stage;
#[cfg(test)]
mod studies;
mod suites;
mod sweeps;
mod targets;
mod tidy;
mod workers;

use commands::{Asked, Failure};
pub use repository::root;
use std::process::ExitCode;

/// Exit code 1 if something is wrong with the code or cannot be run, 2 if the command line is wrong.
fn main() -> ExitCode {
    let arguments: Vec<_> = lockwright_parts::arguments().collect();
    if let Some(argument) = arguments.iter().find(|it| it.contains(char::REPLACEMENT_CHARACTER)) {
        eprintln!("xtask: `{argument}` is not UTF-8: give it another name");
        return ExitCode::from(2);
    }
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let name = arguments.first().copied().unwrap_or_default();
    match commands::run(&arguments) {
        Asked::Help(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Asked::Ran(Ok(true)) => ExitCode::SUCCESS,
        Asked::Ran(Ok(false)) => ExitCode::FAILURE,
        Asked::Ran(Err(Failure::Broken(message))) => {
            eprintln!("{name}: {message}");
            ExitCode::FAILURE
        }
        Asked::Ran(Err(Failure::Usage(message))) => {
            eprintln!("{name}: {message}");
            ExitCode::from(2)
        }
    }
}

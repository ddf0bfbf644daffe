//! What continuous integration runs, and what a person runs before asking it to.

#[macro_use(eprint, eprintln, print, println)]
extern crate lockwright_parts;

mod alone;
mod c_library;
mod ci;
mod commands;
mod disk;
mod evidence;
mod features;
mod fidelity;
mod full;
mod fuzz;
mod goals;
mod install;
mod kernel;
mod licences;
mod limit;
mod minutes;
mod mutants;
mod new_lock;
mod numbers;
mod output;
mod packages;
mod pages;
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
mod suites;
mod sweeps;
mod targets;
#[cfg(test)]
mod tests;
mod tidy;
mod workers;

use commands::Answer;
pub use repository::root;
use std::process::ExitCode;

/// Exit code 1 if something is wrong with the code or cannot be run, 2 if the command line is wrong.
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    match commands::read(&arguments).map(|command| command.run()) {
        Err(Answer::Help(text)) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(Answer::Wrong(message)) => {
            eprintln!("xtask: {message}");
            ExitCode::from(2)
        }
        Ok(Ok(true)) => ExitCode::SUCCESS,
        Ok(Ok(false)) => ExitCode::FAILURE,
        Ok(Err(message)) => {
            eprintln!("{}: {message}", arguments[0].display());
            ExitCode::FAILURE
        }
    }
}

//! `lockwright`: the lab.

mod cli;
mod commands;
mod machines;
mod matrix;
#[cfg(test)]
mod mock;
mod options;
mod outcome;
mod replay;
mod thread_counts;

use clap::FromArgMatches;
use cli::Cli;
use lockwright_measure::error::Error;
use lockwright_measure::interrupt;
use lockwright_sheets::{complain, end_progress};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = run();
    end_progress();
    match done {
        Ok(code) => code,
        Err(error) => {
            if !matches!(error, Error::OutputClosed) {
                complain(&format!("error: {error}"));
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn run() -> Result<ExitCode, Error> {
    let matches = cli::command().try_get_matches_from(typed());
    match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => {
            interrupt::install();
            cli.run()
        }
        Err(error) => cli::answer(&error, lockwright_parts::arguments()),
    }
}

/// The command line. `help bench` is `bench --help`.
fn typed() -> Vec<OsString> {
    let mut words: Vec<_> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

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
use lockwright_cells::error::Error;
use lockwright_cells::interrupt;
use lockwright_report::{complain, end_progress};
use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = cli::command().try_get_matches();
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return cli::answer(&error, std::env::args().skip(1)),
    };
    interrupt::install();
    let done = cli.run();
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

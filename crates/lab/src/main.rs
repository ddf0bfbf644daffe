//! `lockwright`: the lab.

mod bench;
mod check;
mod cli;
mod compare;
mod crew;
mod explore;
mod fit;
mod kbuild;
mod lists;
mod machines;
#[cfg(test)]
mod mock;
mod plan;
mod probe;
mod replay;

mod reproduce;
mod sleepers;
mod study;
mod torture;
mod tour;

use clap::FromArgMatches;
use cli::{Cli, Command};
use lockwright_cells::error::Error;
use lockwright_cells::interrupt;
use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = cli::command().try_get_matches();
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return cli::answer(&error, std::env::args().skip(1)),
    };
    let done = run(&cli);
    lockwright_report::end_progress();
    match done {
        Ok(code) => code,
        Err(error) => {
            if !matches!(error, Error::OutputClosed) {
                lockwright_report::complain(&format!("error: {error}"));
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(cli: &Cli) -> Result<ExitCode, Error> {
    interrupt::install();
    let done = |()| ExitCode::SUCCESS;
    match &cli.command {
        None => cli::first_help().map(done),
        Some(Command::Tour(args)) => tour::run(args),
        Some(Command::Locks(args)) => lists::locks(args).map(done),
        Some(Command::Machines(args)) => machines::run(args),
        Some(Command::Workloads(args)) => lists::workloads(args).map(done),
        Some(Command::Events(args)) => lists::events(args).map(done),
        Some(Command::Tables(args)) => lists::tables(args).map(done),
        Some(Command::Studies(args)) => lists::studies(args).map(done),
        Some(Command::Clients(args)) => lists::clients(args).map(done),
        Some(Command::Bugs(args)) => lists::bugs(args).map(done),
        Some(Command::Completions(args)) => cli::completions(args).map(done),
        Some(Command::Man(args)) => cli::man(args).map(done),
        Some(Command::Bench(args)) => bench::run(args),
        Some(Command::Compare(args)) => compare::run(args),
        Some(Command::Torture(args)) => torture::run(args),
        Some(Command::Explore(args)) => explore::run(args),
        Some(Command::Reproduce(args)) => reproduce::run(args),
        Some(Command::Study(args)) => study::run(args),
        Some(Command::Calibrate(args)) => fit::run(args),
    }
}

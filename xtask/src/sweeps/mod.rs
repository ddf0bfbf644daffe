//! `cargo xtask sweeps`: the engines that run the parts of a sweep, and processes that are killed all the time.
//!
//! Everything is compared byte for byte with what one process makes that nobody disturbs.

mod engines;
mod lab;
mod storm;

use crate::disk::make_empty;
use crate::install::succeed;
use crate::limit::tool;
use clap::Parser;
use lab::Lab;
use std::path::Path;

/// Run a sweep with engines, and with processes that are killed.
///
/// The engines are GNU parallel, Slurm and Ray, if they are installed. 64 processes are killed at random times, on a
/// disk that fills up once. All have to make the same bytes.
#[derive(Parser)]
pub struct Request {
    /// How long processes are killed, in minutes.
    #[arg(long, value_name = "N", default_value_t = 10.0, value_parser = minutes)]
    minutes: f64,
}

fn minutes(typed: &str) -> Result<f64, String> {
    let minutes = typed.parse().ok().filter(|it| (0.1..=600.0).contains(it));
    minutes.ok_or_else(|| "give a number from 0.1 to 600".into())
}

/// Runs all of it. A part that needs what is not installed says so.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let mut cargo = tool("CARGO", "cargo");
    succeed(cargo.args(["build", "--package", "lockwright-lab"]).current_dir(root))?;
    let folder = root.join("target/sweeps");
    make_empty(&folder)?;
    let lab = Lab { program: root.join("target/debug/lockwright"), folder };
    let are_equal = engines::run(root, &lab)?;
    Ok(storm::run(&lab, request.minutes)? && are_equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minutes_can_be_chosen() {
        let of = |words: &str| Request::try_parse_from(words.split(' ')).map(|it| it.minutes).ok();
        assert_eq!(of("sweeps"), Some(10.0));
        assert_eq!(of("sweeps --minutes 0.5"), Some(0.5));
        assert_eq!(of("sweeps --minutes 0"), None);
    }
}

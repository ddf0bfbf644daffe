//! `cargo xtask sweeps`: the engines that run the parts of a sweep, and processes that are killed all the time.
//!
//! Everything is compared byte for byte with what one process makes that nobody disturbs.

mod engines;
mod lab;
mod storm;

use crate::options::not_an_option;
use lab::{Lab, said, succeed};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// As they stand in the help.
pub const OPTIONS: &str = "[--minutes N]";

/// What is asked for.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// How long processes are killed.
    minutes: f64,
}

impl Request {
    /// Reads the arguments behind `sweeps`.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        match arguments {
            [] => Ok(Self { minutes: 10.0 }),
            ["--minutes", number] => {
                let minutes = number.parse().ok().filter(|it| (0.1..=600.0).contains(it));
                let minutes = minutes.ok_or("`--minutes` needs a number from 0.1 to 600")?;
                Ok(Self { minutes })
            }
            ["--minutes"] => Err("`--minutes` needs a number from 0.1 to 600".into()),
            [other, ..] => Err(not_an_option(other, OPTIONS)),
        }
    }
}

/// Runs all of it. A part that needs what is not installed says so.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    succeed(Command::new(cargo).args(["build", "--package", "lockwright-lab"]).current_dir(root))?;
    let folder = root.join("target/sweeps");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| said(&folder, &error))?;
    }
    fs::create_dir_all(&folder).map_err(|error| said(&folder, &error))?;
    let lab = Lab { program: root.join("target/debug/lockwright"), folder };
    let are_equal = engines::run(root, &lab)?;
    Ok(storm::run(&lab, request.minutes)? && are_equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_minutes_can_be_chosen() {
        assert_eq!(Request::of(&[]), Ok(Request { minutes: 10.0 }));
        assert_eq!(Request::of(&["--minutes", "0.5"]), Ok(Request { minutes: 0.5 }));
        for wrong in [&["--minutes"][..], &["--minutes", "0"], &["--minute", "1"], &["1"]] {
            assert!(Request::of(wrong).is_err(), "{wrong:?}");
        }
    }
}

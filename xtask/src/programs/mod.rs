//! `cargo xtask programs`: programs of Debian with our locks in the place of glibc's, and glibc's own tests of its
//! locks. crates/pthread/README.md describes the library.

mod drivers;
mod mariadb;
pub mod measure;
mod needs;
mod own;

use crate::install;
use crate::options::not_an_option;
use crate::rounds::Rounds;
use crate::stage::{Need, Stage};
use crate::suites::glibc;
use needs::NeededFor;
use std::path::{Path, PathBuf};

pub const OPTIONS: &str = "[--quick | --measure [--only NAME] [--runs N]]";

/// Where everything that is made here is, below the root of the repository.
const FOLDER: &str = "target/programs";

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    /// Programs and tests that end as they do with glibc's locks: all, or the part of continuous integration.
    Check { is_quick: bool },
    /// How long programs take: those whose name contains this, so all of them if it is empty.
    Measure(String, Rounds),
}

impl Request {
    /// Reads the arguments behind `programs`.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        match arguments {
            [] => Ok(Self::Check { is_quick: false }),
            ["--quick"] => Ok(Self::Check { is_quick: true }),
            ["--measure", rest @ ..] => Self::measure(rest),
            ["--quick", other, ..] | [other, ..] => Err(not_an_option(other, OPTIONS)),
        }
    }

    fn measure(mut arguments: &[&str]) -> Result<Self, String> {
        let (mut only, mut rounds) = (String::new(), Rounds::default());
        loop {
            arguments = match arguments {
                [] => return Ok(Self::Measure(only, rounds)),
                ["--only", rest @ ..] => {
                    only = measure::known(rest.first())?;
                    &rest[1..]
                }
                ["--runs", rest @ ..] => {
                    rounds = Rounds::of(rest.first())?;
                    &rest[1..]
                }
                [other, ..] => return Err(not_an_option(other, OPTIONS)),
            };
        }
    }
}

/// The part of continuous integration.
pub fn stage() -> Stage {
    let here = Need { probe: &["sh", "-c", needs::PROBE], prints: "", get: needs::GET_QUICK };
    Stage::command("programs", 300, &["cargo", "xtask", "programs", "--quick"]).needing(here)
}

/// Runs everything. `Ok(false)` if something differs from what it is with glibc's locks.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    needs::look(match request {
        Request::Check { is_quick: true } => NeededFor::QuickCheck,
        Request::Check { is_quick: false } => NeededFor::Check,
        Request::Measure(..) => NeededFor::Measure,
    })?;
    let folder = root.join(FOLDER);
    let library = installed(root, &folder)?;
    match request {
        Request::Check { is_quick } => check(&folder, &library, *is_quick),
        Request::Measure(only, rounds) => {
            measure::run(&folder, &library, only, rounds).map(|()| true)
        }
    }
}

fn check(folder: &Path, library: &Path, is_quick: bool) -> Result<bool, String> {
    let sources = needs::glibc_sources().ok_or("the sources of glibc are gone")?;
    let tests_are_alike = glibc::run(&sources, folder, library, is_quick)?;
    let drivers_are_right = drivers::check(library, true)?;
    if is_quick {
        return Ok(tests_are_alike && drivers_are_right);
    }
    let others_are_right = drivers::check(library, false)?
        & own::run(folder, library)?
        & mariadb::run(folder, library)?;
    Ok(tests_are_alike && drivers_are_right && others_are_right)
}

/// The library, as a program gets it.
fn installed(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    let prefix = folder.to_string_lossy();
    install::run(root, &install::Request::of(&["--prefix", &prefix])?)?;
    let library = folder.join("lib/liblockwright-pthread.so");
    library.canonicalize().map_err(|error| format!("{}: {error}", library.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_continuous_integration_is_not_measured() {
        assert_eq!(Request::of(&["--quick"]), Ok(Request::Check { is_quick: true }));
        let measure = |only: &str, rounds| Ok(Request::Measure(only.to_string(), rounds));
        let nine = || Rounds::of(Some(&"9")).expect("a number");
        assert_eq!(Request::of(&["--measure"]), measure("", Rounds::default()));
        assert_eq!(Request::of(&["--measure", "--runs", "9"]), measure("", nine()));
        let words = ["--measure", "--only", "kccachetest", "--runs", "9"];
        assert_eq!(Request::of(&words), measure("kccachetest", nine()));
        for wrong in [&["--only"][..], &["--only", "kcachetest"], &["--only", ""]] {
            let words = [&["--measure"], wrong].concat();
            assert!(Request::of(&words).is_err_and(|said| said.contains("MariaDB")), "{wrong:?}");
        }
        assert!(
            Request::of(&["--measure", "--runs"]).is_err_and(|said| said.contains("--runs 21"))
        );
        for wrong in [&["--fast"][..], &["--quick", "--runs"], &["--measure", "--runs", "9", "9"]] {
            assert!(Request::of(wrong).is_err_and(|said| said.contains("--quick")), "{wrong:?}");
        }
    }
}

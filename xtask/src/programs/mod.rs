//! `cargo xtask programs`: programs of Debian with our locks in the place of glibc's, and glibc's own tests of its
//! locks. crates/pthread/README.md describes the library.

mod drivers;
mod glibc;
mod mariadb;
mod needs;

use crate::install;
use crate::options::not_an_option;
use crate::stage::{Need, Stage};
use std::path::{Path, PathBuf};

pub const OPTIONS: &str = "[--quick]";

/// Where everything that is made here is, below the root of the repository.
const FOLDER: &str = "target/programs";

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    is_quick: bool,
}

impl Request {
    /// Reads the arguments behind `programs`.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        match arguments {
            [] => Ok(Self { is_quick: false }),
            ["--quick"] => Ok(Self { is_quick: true }),
            [other, ..] => Err(not_an_option(other, OPTIONS)),
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
    needs::look(request.is_quick)?;
    let folder = root.join(FOLDER);
    let library = installed(root, &folder)?;
    let tests_are_alike = glibc::run(&folder, &library, request.is_quick)?;
    let drivers_are_right = drivers::check(&library)?;
    if request.is_quick {
        return Ok(tests_are_alike && drivers_are_right);
    }
    let others_are_right = drivers::check_others(&library)? & mariadb::run(&folder, &library)?;
    print!("{}", drivers::measure(&library)?);
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
    fn there_is_one_option() {
        assert_eq!(Request::of(&["--quick"]), Ok(Request { is_quick: true }));
        assert!(Request::of(&["--fast"]).is_err_and(|said| said.contains("--quick")));
    }
}

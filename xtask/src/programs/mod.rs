//! `cargo xtask programs`: programs of Debian with our locks in the place of glibc's, and glibc's own tests of its
//! locks. crates/pthread/README.md describes the library.

mod drivers;
mod mariadb;
pub mod measure;
mod needs;
mod own;

use crate::install;
use crate::rounds::{ROUNDS, rounds};
use crate::stage::{Need, Stage};
use crate::suites::glibc;
use clap::Parser;
use std::path::{Path, PathBuf};

/// Where everything that is made here is, below the root of the repository.
const FOLDER: &str = "target/programs";

/// Run programs of Debian with our locks in the place of glibc's.
///
/// Runs glibc's own tests of its locks, too, with the library and without. Fails if one ends in another way with it.
/// Says which packages of Debian are missing.
#[derive(Parser)]
pub struct Request {
    /// Run the part of ci, two minutes.
    #[arg(long, conflicts_with_all = ["measure", "only", "runs"])]
    quick: bool,
    /// Say how long programs take with glibc's locks and with ours, about 3 minutes for each.
    #[arg(long)]
    measure: bool,
    /// Measure only those whose name has this part, such as MariaDB.
    #[arg(long, value_name = "NAME", requires = "measure", value_parser = measure::known)]
    only: Option<String>,
    /// The number of rounds to measure.
    #[arg(long, value_name = "N", default_value_t = ROUNDS, value_parser = rounds, requires = "measure")]
    runs: usize,
}

/// The part of continuous integration.
pub fn stage() -> Stage {
    let here = Need { probe: needs::PROBE, get: needs::GET_QUICK };
    Stage::command("programs", 300, "cargo xtask programs --quick").needing(here)
}

/// Runs everything. `Ok(false)` if something differs from what it is with glibc's locks.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let &Request { quick, measure, ref only, runs } = request;
    needs::look(quick, measure)?;
    let folder = root.join(FOLDER);
    let library = installed(root, &folder)?;
    if measure {
        measure::run(&folder, &library, only.as_deref().unwrap_or_default(), runs)?;
        return Ok(true);
    }
    let sources = needs::glibc_sources().ok_or("the sources of glibc are gone")?;
    let mut is_right =
        glibc::run(&sources, &folder, &library, quick)? & drivers::check(&library, true)?;
    if !quick {
        is_right &= drivers::check(&library, false)?
            & own::run(&folder, &library)?
            & mariadb::run(&folder, &library)?;
    }
    Ok(is_right)
}

/// The library, as a program gets it.
fn installed(root: &Path, folder: &Path) -> Result<PathBuf, String> {
    install::run(root, &install::Request { prefix: folder.into(), destdir: None })?;
    let library = folder.join("lib/liblockwright-pthread.so");
    library.canonicalize().map_err(|error| format!("{}: {error}", library.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_continuous_integration_is_not_measured() {
        let read = |words: &str| Request::try_parse_from(words.split(' '));
        let of = |words| read(words).map(|it| (it.quick, it.measure, it.only, it.runs)).ok();
        assert_eq!(of("programs --quick"), Some((true, false, None, ROUNDS)));
        let only = Some("kccachetest".to_string());
        let words = "programs --measure --only kccachetest --runs 9";
        assert_eq!(of(words), Some((false, true, only, 9)));
        for (wrong, said) in [
            ("programs --measure --only kcachetest", "MariaDB"),
            ("programs --measure --only ", "MariaDB"),
            ("programs --measure --runs 5", "--runs 21"),
            ("programs --quick --runs 9", "--quick"),
            ("programs --runs 9", "--measure"),
            ("programs --quick --measure", "--quick"),
        ] {
            assert!(read(wrong).is_err_and(|it| it.to_string().contains(said)), "{wrong}");
        }
    }
}

//! The suites of others, with our locks: `cargo xtask std-tests`, `peer-tests` and `dependents`, and glibc's tests for
//! `cargo xtask programs`. A row of `suites.toml` says where a suite comes from, how its text is changed, how it runs
//! and what is expected.

mod bench;
mod dependents;
pub mod glibc;
mod library;
mod outcome;
pub mod package;
pub mod runs;
mod source;
pub mod table;

use crate::limit::command;
use crate::repository::sysroot;
use crate::rounds::{ROUNDS, rounds};
use crate::sanitize;
use crate::stage::{Need, Stage};
use clap::Parser;
use std::path::{Path, PathBuf};
use table::TABLE;

/// The source of the standard library.
const SOURCE: Need = Need {
    probe: "rustup component list --installed | grep ^rust-src",
    get: "rustup component add rust-src",
};

/// The tests of the pinned toolchain's library.
pub fn stage() -> Stage {
    Stage::command("std-tests", 600, "cargo xtask std-tests").needing(SOURCE)
}

/// Run the tests of std's locks with Lockwright's types.
///
/// They come from the source of the standard library, which rustup adds to a toolchain; if it is missing, says how to
/// install it. The tests are those of locks, once, lazy value and barrier. A minute; a part of ci.
#[derive(Parser)]
pub struct StdTests {
    /// The folder `library` of a copy of Rust's source, such as /usr/src/rustc-1.95.0/library.
    #[arg(long, value_name = "FOLDER")]
    library: Option<PathBuf>,
    /// Run the tests with this part in their name only, such as rwlock.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    only: String,
}

/// Run parking_lot's own tests with our package `parking_lot`.
///
/// Runs them with parking_lot's, too, and the examples of its documentation with ours. Fails if one fails with ours,
/// and names the tests that take longer. They come from parking_lot's package, which every build of the workspace
/// fetches. About three minutes.
#[derive(Parser)]
pub struct PeerTests {
    /// How often each test runs with each library.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = runs)]
    runs: usize,
    /// Run the tests with this part in their name only, such as rwlock.
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    only: String,
}

fn runs(typed: &str) -> Result<usize, String> {
    let runs = typed.parse().ok().filter(|runs| *runs > 0);
    runs.ok_or_else(|| "give a number above 0, such as `--runs 5`".into())
}

/// Run the tests of crates that use parking_lot with our locks.
///
/// Fetches their packages; tokio is one of them. Fails if a test fails that does not fail with parking_lot's own locks
/// as well. About 15 minutes.
#[derive(Parser)]
pub struct Dependents {
    /// Run the tests of this crate only.
    #[arg(long, value_name = "CRATE", value_parser = table::dependents(), conflicts_with_all = ["bench", "runs"])]
    only: Option<String>,
    /// Run the tests with parking_lot's own locks.
    #[arg(long, conflicts_with_all = ["bench", "runs"])]
    without_patch: bool,
    /// Measure tokio's scheduler and blocking pool with both libraries in turns, and run no test.
    ///
    /// Use a computer that does nothing else.
    #[arg(long)]
    bench: bool,
    /// The number of rounds to measure.
    #[arg(long, value_name = "N", default_value_t = ROUNDS, value_parser = rounds, requires = "bench")]
    runs: usize,
}

/// Runs the tests of std. Returns true if they do what the table says.
pub fn std_tests(root: &Path, request: &StdTests) -> Result<bool, String> {
    let Some(folder) = std_source(root, request.library.as_deref())? else {
        eprintln!(
            "std-tests: not run, because the source of std is missing. To install it, type `{}`; \
             a copy elsewhere is named by --library",
            SOURCE.get
        );
        return Ok(true);
    };
    library::run(root, &TABLE.std_tests, (&folder, ""), &request.only, 1)
}

/// Runs parking_lot's tests. Returns true if they do what the table says.
pub fn peer_tests(root: &Path, request: &PeerTests) -> Result<bool, String> {
    let (folder, version) = peer_source(root)?;
    library::run(root, &TABLE.peer_tests, (&folder, &version), &request.only, request.runs)
}

/// Runs the tests of crates that use parking_lot, or measures. Returns true if no test fails that should not.
pub fn dependents(root: &Path, request: &Dependents) -> Result<bool, String> {
    match request.bench {
        true => bench::run(root, request.runs),
        false => dependents::run(root, request.only.as_deref(), request.without_patch),
    }
}

/// The tests of std: in `library`, or in the source that rustup adds to the toolchain.
fn std_source(root: &Path, library: Option<&Path>) -> Result<Option<PathBuf>, String> {
    let below = "std/tests/sync";
    let folder = match library {
        Some(library) => library.join(below),
        None => sysroot(root)?.join("lib/rustlib/src/rust/library").join(below),
    };
    match (folder.is_dir(), library) {
        (true, _) => Ok(Some(folder)),
        (false, None) => Ok(None),
        (false, Some(_)) => Err(format!("{folder:?} is not there; give the folder `library`")),
    }
}

/// The package parking_lot 0.12 among those that the workspace is built with.
fn peer_source(root: &Path) -> Result<(PathBuf, String), String> {
    let line = format!("cargo --offline metadata --filter-platform {}", sanitize::target());
    let packages = package::packages(command(&line).current_dir(root))
        .map_err(|why| format!("a package is missing; type `cargo fetch`. cargo says: {why}"))?;
    let mut packages = packages.into_iter().filter(|it| it.name == "parking_lot");
    let package = packages.find(|it| it.version.starts_with("0.12."));
    let package = package.ok_or("the workspace no longer uses parking_lot 0.12")?;
    Ok((package.manifest_path.with_file_name(""), package.version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_each_command_are_read() {
        let it = StdTests::try_parse_from("std-tests --library a/library --only once".split(' '));
        let it = it.expect("options");
        assert_eq!((it.library, &*it.only), (Some("a/library".into()), "once"));
        let of = |words: &str| {
            let it = PeerTests::try_parse_from(words.split(' ')).expect("options");
            (it.runs, it.only)
        };
        assert_eq!(of("peer-tests --runs 3 --only rwlock"), (3, "rwlock".into()));
        assert_eq!(of("peer-tests"), (5, String::new()));
        let of = |words: &str| {
            let it = Dependents::try_parse_from(words.split(' ')).expect("options");
            (it.only, it.without_patch, it.bench, it.runs)
        };
        let only = Some("tokio".to_string());
        assert_eq!(of("dependents --only tokio --without-patch"), (only, true, false, ROUNDS));
        assert_eq!(of("dependents --runs 7 --bench"), (None, false, true, 7));
        assert_eq!(of("dependents --bench"), (None, false, true, ROUNDS));
    }

    #[test]
    fn a_folder_without_tests_is_refused() {
        let answer = std_source(Path::new("."), Some(Path::new("no/such/library")));
        assert!(answer.is_err_and(|it| it.contains("give the folder `library`")));
    }
}

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

use crate::options::not_an_option;
use crate::rounds::Rounds;
use crate::sanitize;
use crate::stage::{Need, Stage};
use package::output_of;
use std::path::{Path, PathBuf};
use std::process::Command;
use table::{Suite, TABLE};

/// The command that is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    Std,
    Peer,
    Dependents,
}

impl Of {
    /// The options, as they stand in the help.
    pub const fn options(self) -> &'static str {
        match self {
            Self::Std => "[--library FOLDER] [--only TEXT]",
            Self::Peer => "[--runs N] [--only TEXT]",
            Self::Dependents => "[--only CRATE] [--without-patch] [--bench] [--runs N]",
        }
    }
}

/// The source of the standard library.
const SOURCE: Need = Need {
    probe: &["rustup", "component", "list", "--installed"],
    prints: "rust-src",
    get: "rustup component add rust-src",
};

/// The tests of the pinned toolchain's library.
pub fn stage() -> Stage {
    Stage::command("std-tests", 600, &["cargo", "xtask", "std-tests"]).needing(SOURCE)
}

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    of: Of,
    /// The folder `library` of Rust's source, if it is not the one of the toolchain.
    library: Option<PathBuf>,
    /// Only tests with this text in their name, or the crate with this name.
    only: String,
    /// How often each test runs with each library.
    runs: usize,
    /// With parking_lot's own locks.
    without_patch: bool,
    /// Benchmarks of tokio, and no tests: this many rounds.
    bench: Option<Rounds>,
}

impl Request {
    /// Reads the arguments behind the command.
    pub fn of(of: Of, given: &[&str]) -> Result<Self, String> {
        let runs = if of == Of::Peer { 5 } else { 1 };
        let only = String::new();
        let mut it = Self { of, library: None, only, runs, without_patch: false, bench: None };
        let (mut bench, mut rounds, mut given) = (false, None, given.iter());
        while let Some(&option) = given.next() {
            match (of, option) {
                (Of::Std, "--library") => {
                    let complaint = "`--library` needs the folder `library` of Rust's source, \
                                     such as `--library /usr/src/rustc-1.95.0/library`";
                    it.library = Some(given.next().ok_or(complaint)?.into());
                }
                (Of::Std | Of::Peer, "--only") => {
                    let complaint =
                        "`--only` needs a part of a test's name, such as `--only rwlock`";
                    it.only = given.next().ok_or(complaint)?.to_string();
                }
                (Of::Peer, "--runs") => {
                    let runs = given.next().and_then(|value| value.parse().ok());
                    let runs = runs.filter(|runs| *runs > 0);
                    it.runs = runs.ok_or("`--runs` needs a number above 0, such as `--runs 5`")?;
                }
                (Of::Dependents, "--only") => it.only = table::dependent(given.next())?,
                (Of::Dependents, "--without-patch") => it.without_patch = true,
                (Of::Dependents, "--bench") => bench = true,
                (Of::Dependents, "--runs") => rounds = Some(Rounds::of(given.next())?),
                _ => return Err(not_an_option(option, of.options())),
            }
        }
        if bench && (!it.only.is_empty() || it.without_patch) {
            return Err("`--bench` measures tokio with and without the patch; \
                give it alone or with `--runs N`"
                .into());
        }
        if rounds.is_some() && !bench {
            return Err("`--runs` is the number of rounds of `--bench`; give both".into());
        }
        it.bench = bench.then(|| rounds.unwrap_or_default());
        Ok(it)
    }
}

/// Runs the tests. Returns true if they do what the table says.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let suite: &Suite = match (request.of, &request.bench) {
        (Of::Std, _) => &TABLE.std_tests,
        (Of::Peer, _) => &TABLE.peer_tests,
        (Of::Dependents, Some(rounds)) => return bench::run(root, rounds),
        (Of::Dependents, None) => {
            return dependents::run(root, &request.only, request.without_patch);
        }
    };
    let found = match request.of {
        Of::Std => std_source(root, request.library.as_deref())?.map(|it| (it, String::new())),
        _ => Some(peer_source(root)?),
    };
    let Some((folder, version)) = found else {
        eprintln!(
            "std-tests: not run, because the source of std is missing. To install it, type `{}`; \
             a copy elsewhere is named by --library",
            SOURCE.get
        );
        return Ok(true);
    };
    library::run(root, suite, (&folder, &version), &request.only, request.runs)
}

/// The tests of std: in `library`, or in the source that rustup adds to the toolchain.
fn std_source(root: &Path, library: Option<&Path>) -> Result<Option<PathBuf>, String> {
    let below = "std/tests/sync";
    let folder = match library {
        Some(library) => library.join(below),
        None => {
            let mut rustc = Command::new("rustc");
            let sysroot = output_of(rustc.args(["--print", "sysroot"]).current_dir(root))?;
            Path::new(sysroot.trim_end()).join("lib/rustlib/src/rust/library").join(below)
        }
    };
    match (folder.is_dir(), library) {
        (true, _) => Ok(Some(folder)),
        (false, None) => Ok(None),
        (false, Some(_)) => {
            Err(format!("{} is not there; give the folder `library`", folder.display()))
        }
    }
}

/// The package parking_lot 0.12 among those that the workspace is built with.
fn peer_source(root: &Path) -> Result<(PathBuf, String), String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["--offline", "metadata", "--filter-platform", &sanitize::target()]);
    let packages = package::packages(cargo.current_dir(root));
    let packages = packages
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
        let default = |of| Request::of(of, &[]).expect("no options");
        let request = Request::of(Of::Std, &["--library", "rust/library", "--only", "once"]);
        let library = Some("rust/library".into());
        assert_eq!(request, Ok(Request { library, only: "once".into(), ..default(Of::Std) }));
        let request = Request::of(Of::Peer, &["--runs", "3", "--only", "rwlock"]);
        let expected = Request { runs: 3, only: "rwlock".into(), ..default(Of::Peer) };
        assert_eq!((request, default(Of::Peer).runs), (Ok(expected), 5));
        let request = Request::of(Of::Dependents, &["--only", "tokio", "--without-patch"]);
        let only = "tokio".to_string();
        let expected = Request { only, without_patch: true, ..default(Of::Dependents) };
        assert_eq!((request, default(Of::Dependents).bench), (Ok(expected), None));
        let rounds = |given: &[&str]| Request::of(Of::Dependents, given).map(|it| it.bench);
        let seven = Rounds::of(Some(&"7")).expect("a number");
        assert_eq!(rounds(&["--runs", "7", "--bench"]), Ok(Some(seven)));
        assert_eq!(rounds(&["--bench"]), Ok(Some(Rounds::default())));
    }

    #[test]
    fn a_folder_without_tests_is_refused() {
        let answer = std_source(Path::new("."), Some(Path::new("no/such/library")));
        assert!(answer.is_err_and(|it| it.contains("give the folder `library`")));
    }
}

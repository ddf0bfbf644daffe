//! The packages that have parking_lot's tests, one for each library.

use super::left_out::{self, LEFT_OUT, Why};
use super::source::{Package, TestFile};
use crate::limit::output_within;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, io};

/// Where they are, below the root of the repository.
const FOLDER: &str = "target/peer-tests";

/// One of the two packages.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    /// The library whose locks are tested.
    library: &'static str,
    package: &'static str,
}

pub const OURS: Side = Side { library: "lockwright", package: "peer-tests-lockwright" };
pub const THEIRS: Side = Side { library: "parking_lot", package: "peer-tests-parking_lot" };

/// `Cargo.toml` of both together: apart from the workspace of the repository, with the versions of its packages.
const WORKSPACE: &str = "[workspace]
resolver = \"3\"
members = [\"peer-tests-*\"]

[profile.release]
debug = \"line-tables-only\"
";

/// Writes both packages.
pub fn write(root: &Path, package: &Package, files: &[TestFile]) -> Result<(), String> {
    let folder = root.join(FOLDER);
    let write = || {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("Cargo.toml"), WORKSPACE)?;
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        let locks = format!("{{ path = {:?} }}", root.join("crates/locks"));
        write_side(&folder, OURS, &locks, package, files)?;
        write_side(&folder, THEIRS, &format!("\"={}\"", package.version), package, files)?;
        write_left_out(&folder.join(OURS.package).join("tests"), files)
    };
    write().map_err(|error: io::Error| format!("{FOLDER} cannot be written: {error}"))
}

fn write_side(
    folder: &Path,
    Side { library, package: name }: Side,
    dependency: &str,
    package: &Package,
    files: &[TestFile],
) -> io::Result<()> {
    let folder = folder.join(name);
    fs::create_dir_all(folder.join("src"))?;
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"{}\"\n\n\
         [dependencies]\n{library} = {dependency}\nrand = \"0.8\"\n",
        package.edition
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let modules = files.iter().map(|file| format!("mod {};\n", file.name)).collect::<String>();
    fs::write(folder.join("src/lib.rs"), format!("#![allow(warnings)]\n{modules}"))?;
    files.iter().try_for_each(|file| {
        let is_kept = |test: &str| !left_out::contains(file.name, test);
        let path = folder.join("src").join(file.name).with_extension("rs");
        fs::write(path, file.text(library, &is_kept))
    })
}

/// A program for each test that is left out, so that each shows by itself if it compiles.
fn write_left_out(folder: &Path, files: &[TestFile]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for row in LEFT_OUT.iter().filter(|row| !matches!(row.why, Why::Feature(_))) {
        let Some(file) = files.iter().find(|file| file.name == row.file) else { continue };
        // The tests that a macro makes are there, too.
        let text = file.text(OURS.library, &|test| test == row.test);
        let path = folder.join(row.target()).with_extension("rs");
        fs::write(path, format!("#![allow(warnings)]\n{text}"))?;
    }
    Ok(())
}

/// What the compiler made.
#[derive(Debug, Default)]
pub struct Built {
    /// The test programs, by the name of their target.
    pub programs: BTreeMap<String, PathBuf>,
    /// What the compiler says of targets that do not compile.
    pub errors: BTreeMap<String, String>,
}

/// A line that cargo prints.
#[derive(Deserialize)]
struct Line {
    target: Option<Target>,
    executable: Option<PathBuf>,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Message {
    level: String,
    rendered: Option<String>,
}

const BUILD_MAX: Duration = Duration::from_secs(1200);

/// Compiles all tests. It is expected that those which are left out do not compile.
pub fn build(root: &Path) -> Result<Built, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--tests", "--release", "--offline", "--keep-going"]);
    cargo.args(["--message-format", "json"]).current_dir(root.join(FOLDER));
    cargo.env("CARGO_TARGET_DIR", root.join("target"));
    let output =
        output_within(&mut cargo, BUILD_MAX).map_err(|why| format!("cargo build {why}"))?;
    let built = Built::of(&String::from_utf8_lossy(&output.stdout));
    for side in [OURS, THEIRS] {
        if built.tests_of(side).is_err() {
            let errors = built.errors.get(&side.target());
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!(
                "the tests do not compile with {}. If one uses what Lockwright does not have, add it to {}:\n{}",
                side.library,
                left_out::HERE,
                errors.unwrap_or(&said)
            ));
        }
    }
    Ok(built)
}

impl Side {
    /// What cargo calls the library of the package.
    fn target(self) -> String {
        self.package.replace('-', "_")
    }
}

impl Built {
    /// Reads what cargo printed.
    fn of(printed: &str) -> Self {
        let mut built = Self::default();
        for line in printed.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok()) {
            let Some(Target { name }) = line.target else { continue };
            if let Some(Message { level, rendered: Some(text) }) = line.message
                && level == "error"
            {
                *built.errors.entry(name).or_default() += &text;
            } else if let Some(program) = line.executable {
                built.programs.insert(name, program);
            }
        }
        built
    }

    /// The program with the tests of a library.
    pub fn tests_of(&self, side: Side) -> Result<&Path, String> {
        let program = self.programs.get(&side.target());
        program.map(PathBuf::as_path).ok_or_else(|| format!("{} is not built", side.package))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_errors_are_read_from_what_cargo_prints() {
        let printed = r#"
{"reason":"compiler-artifact","target":{"name":"rand"},"executable":null}
{"reason":"compiler-message","target":{"name":"bell-booms"},"message":{"level":"warning","rendered":"unused"}}
{"reason":"compiler-message","target":{"name":"bell-booms"},"message":{"level":"error","rendered":"no Gong\n"}}
{"reason":"compiler-message","target":{"name":"bell-booms"},"message":{"level":"error","rendered":"no Hall\n"}}
{"reason":"compiler-artifact","target":{"name":"peer_tests_lockwright"},"executable":"deps/ours"}
{"reason":"build-finished","success":false}"#;
        let built = Built::of(printed);
        assert_eq!(built.tests_of(OURS), Ok(Path::new("deps/ours")));
        assert!(built.tests_of(THEIRS).is_err());
        assert_eq!(built.errors.get("bell-booms").map(String::as_str), Some("no Gong\nno Hall\n"));
        assert_eq!((built.programs.len(), built.errors.len()), (1, 1));
    }
}

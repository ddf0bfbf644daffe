//! The packages that have parking_lot's tests, one for each library.

use super::left_out::{HERE, LEFT_OUT};
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
    /// The library whose locks are tested, for messages.
    library: &'static str,
    package: &'static str,
}

pub const OURS: Side = Side { library: "Lockwright", package: "peer-tests-lockwright" };
pub const THEIRS: Side = Side { library: "parking_lot", package: "peer-tests-parking_lot" };

/// The features that have tests.
const FEATURES: [&str; 2] = ["arc_lock", "serde"];

/// What a test finds at the root of its package.
const ROOT: &str = "#![allow(warnings)]\nuse parking_lot::*;\n";

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
        let ours = format!("path = {:?}", root.join("packages/parking_lot"));
        let theirs = format!("version = \"={}\"", package.version);
        write_side(&folder.join(OURS.package), OURS, &ours, package, files)?;
        write_side(&folder.join(THEIRS.package), THEIRS, &theirs, package, files)?;
        write_left_out(&folder.join(OURS.package).join("tests"), files)
    };
    write().map_err(|error: io::Error| format!("{FOLDER} cannot be written: {error}"))
}

/// `which` is the parking_lot that it depends on.
fn write_side(
    folder: &Path,
    side: Side,
    which: &str,
    package: &Package,
    files: &[TestFile],
) -> io::Result<()> {
    let source = folder.join("src");
    fs::create_dir_all(&source)?;
    let manifest = format!(
        "[package]\nname = {:?}\nedition = {:?}\n\n[features]\ndefault = {FEATURES:?}\n{}\n\
         [dependencies]\nparking_lot = {{ {which}, features = {FEATURES:?} }}\n{}",
        side.package,
        package.edition,
        FEATURES.map(|feature| format!("{feature} = []\n")).concat(),
        package.test_dependencies(),
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let mut modules: Vec<_> = files
        .iter()
        .map(|file| (file.name.to_string(), file.text(&|test| !LEFT_OUT.contains(file.name, test))))
        .collect();
    modules.extend(package.programs()?);
    let mut library = ROOT.to_string();
    for (name, text) in modules {
        library += &format!("mod {name};\n");
        fs::write(source.join(name).with_extension("rs"), text)?;
    }
    for (name, text) in package.examples()? {
        library += &format!("#[doc = {text:?}]\npub mod of_{name} {{}}\n");
    }
    fs::write(source.join("lib.rs"), library)
}

/// A program for each test that is left out, so that each shows by itself if it compiles.
fn write_left_out(folder: &Path, files: &[TestFile]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for row in LEFT_OUT.rows.iter() {
        let Some(file) = files.iter().find(|file| file.name == row.file) else { continue };
        // The tests that a macro makes are there, too.
        let text = file.text(&|test| test == row.test);
        let path = folder.join(row.target()).with_extension("rs");
        fs::write(path, format!("{ROOT}{text}"))?;
    }
    Ok(())
}

/// What the compiler made.
#[derive(Debug, Default)]
pub struct Built {
    /// The test programs, by the name of their target.
    pub programs: BTreeMap<String, PathBuf>,
    /// The same, by the path of their source.
    pub by_source: BTreeMap<PathBuf, PathBuf>,
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
    #[serde(default)]
    src_path: PathBuf,
}

#[derive(Deserialize)]
struct Message {
    level: String,
    rendered: Option<String>,
}

const BUILD_MAX: Duration = Duration::from_secs(1200);

/// Runs the examples of parking_lot's documentation with Lockwright. Returns what was printed if one fails.
pub fn run_examples(root: &Path) -> Result<String, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "--doc", "--release", "--package", OURS.package]);
    cargo.current_dir(root.join(FOLDER)).env("CARGO_TARGET_DIR", root.join("target"));
    let output =
        output_within(&mut cargo, BUILD_MAX).map_err(|why| format!("cargo test --doc {why}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let result = printed.lines().find(|line| line.starts_with("test result: ok"));
    match result.filter(|_| output.status.success()) {
        Some(result) => Ok(result.to_string()),
        None => Err(format!("{printed}{}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Compiles all tests. It is expected that those which are left out do not compile.
pub fn build(root: &Path) -> Result<Built, String> {
    let (built, said) = compile(root, FOLDER)?;
    for side in [OURS, THEIRS] {
        if built.tests_of(side).is_err() {
            let errors = built.errors.get(&side.target());
            return Err(format!(
                "the tests do not compile with {}. If one uses what Lockwright does not have, add it to {}:\n{}",
                side.library,
                HERE,
                errors.unwrap_or(&said)
            ));
        }
    }
    Ok(built)
}

/// Compiles all tests of a workspace below the root. Returns also what cargo said, for one that has to compile.
pub fn compile(root: &Path, folder: &str) -> Result<(Built, String), String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--tests", "--release", "--keep-going"]).current_dir(root.join(folder));
    compile_by(cargo.env("CARGO_TARGET_DIR", root.join("target")))
}

/// Compiles what a command of cargo does. Returns also what cargo said.
pub fn compile_by(cargo: &mut Command) -> Result<(Built, String), String> {
    cargo.args(["--message-format", "json"]);
    let output = output_within(cargo, BUILD_MAX).map_err(|why| format!("cargo {why}"))?;
    let built = Built::of(&String::from_utf8_lossy(&output.stdout));
    Ok((built, String::from_utf8_lossy(&output.stderr).into_owned()))
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
            let Some(Target { name, src_path }) = line.target else { continue };
            if let Some(Message { level, rendered: Some(text) }) = line.message
                && level == "error"
            {
                *built.errors.entry(name).or_default() += &text;
            } else if let Some(program) = line.executable {
                built.by_source.insert(src_path, program.clone());
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

//! Crates that use parking_lot: a copy of each gets the lines that docs/programs.md tells users to write, and
//! `cargo test` runs there.

use super::outcome::Outcome;
use super::package;
use super::table::{Dependent, TABLE};
use crate::disk::{at, make_empty, read, write};
use crate::limit::{printed, status_within};
use crate::output::complain;
use serde::Deserialize;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Where everything is, below the root of the repository.
pub const FOLDER: &str = "target/dependents";
/// tokio's suite takes 7 minutes on two slow cores, with the time to compile it.
const TIME_MAX: Duration = Duration::from_secs(2400);
/// How often a test runs again that fails sometimes.
const AGAIN: usize = 10;

/// Runs the tests of all crates or of one. Returns true if no test fails that is not in the table, and all that are
/// have to be.
pub fn run(root: &Path, only: Option<&str>, without_patch: bool) -> Result<bool, String> {
    let copies = copies(root, only, !without_patch)?;
    let (mut lines, mut complaints) = (Vec::new(), Vec::new());
    for copy in &copies {
        let row = copy.row;
        eprintln!("dependents: {}: {}", row.shown(), row.command());
        // What keeps one crate from running is no reason to leave out the next ones.
        let not_run = |why| (format!("{}: not run to its end", row.shown()), vec![why]);
        let (line, of_row) = copy.check().and_then(|()| copy.test()).unwrap_or_else(not_run);
        eprintln!("dependents: {line}");
        lines.push(line);
        lines.extend(row.notes());
        complaints.extend(of_row.iter().map(|complaint| format!("{}: {complaint}", row.shown())));
    }
    let locks = if without_patch { "parking_lot's" } else { "Lockwright's" };
    println!("With {locks} locks:\n{}", lines.join("\n"));
    Ok(complain("dependents", &complaints))
}

/// A package to test.
struct Copy {
    row: &'static Dependent,
    root: PathBuf,
    folder: PathBuf,
    is_patched: bool,
}

/// Fetches the packages and copies each.
fn copies(root: &Path, only: Option<&str>, is_patched: bool) -> Result<Vec<Copy>, String> {
    let rows = || TABLE.dependents.iter().filter(|row| only.is_none_or(|only| only == row.name));
    let folder = root.join(FOLDER).join("fetch");
    let line = |row: &Dependent| format!("{} = \"={}\"\n", row.name, row.version);
    write_manifest(&folder, "fetch", &rows().map(line).collect::<String>())?;
    write(&folder.join("src/lib.rs"), "")?;
    let packages = package::packages(cargo_in(root, &folder).arg("metadata"))?;
    let copy = |row: &'static Dependent| {
        let is_it = |it: &&package::Package| it.name == row.name && it.version == row.version;
        let package = packages.iter().find(is_it);
        let package = package.ok_or_else(|| format!("cargo has not fetched {}", row.shown()))?;
        let side = if is_patched { "with-patch" } else { "without-patch" };
        let folder = root.join(FOLDER).join(side).join(&row.name);
        let copy = Copy { row, root: root.into(), folder, is_patched };
        copy.make(&package.manifest_path.with_file_name("")).map(|()| copy)
    };
    rows().map(copy).collect()
}

/// Writes the manifest of a package that is a workspace, apart from that of the repository.
pub fn write_manifest(folder: &Path, name: &str, dependencies: &str) -> Result<(), String> {
    let start = format!("[workspace]\n\n[package]\nname = {name:?}\nedition = \"2024\"\n");
    write(&folder.join("Cargo.toml"), format!("{start}\n[dependencies]\n{dependencies}"))
}

/// Cargo in one of our folders, not changed by the settings of the one who calls.
pub fn cargo_in(root: &Path, folder: &Path) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(folder).env("CARGO_TARGET_DIR", root.join(FOLDER).join("target"));
    // With `tokio_unstable`, tokio has other tests. A printed stack takes longer than most tests.
    for name in ["RUSTFLAGS", "RUST_BACKTRACE", "RUST_TEST_THREADS"] {
        cargo.env_remove(name);
    }
    cargo
}

/// What is added to the manifest of the package `name`: it is a workspace, apart from that of the repository, and has
/// the patch. What its tests use has to use this copy, as it does in the crate's own repository.
fn added(manifest: &str, name: &str, patch: Option<&Path>) -> Result<String, String> {
    let manifest: toml::Table =
        manifest.parse().map_err(|error| format!("the manifest: {error}"))?;
    if manifest.contains_key("patch") {
        return Err("the manifest has a patch of its own".into());
    }
    let workspace = if manifest.contains_key("workspace") { "" } else { "\n[workspace]\n" };
    let patch =
        patch.map_or(String::new(), |path| format!("parking_lot = {{ path = {path:?} }}\n"));
    Ok(format!("{workspace}\n[patch.crates-io]\n{name} = {{ path = \".\" }}\n{patch}"))
}

/// A lock file.
#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
}

impl Lock {
    fn of(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| format!("Cargo.lock: {error}"))
    }
    /// The packages from the registry that may have to change, as cargo names them: those with these names, where
    /// parking_lot has to be 0.12.
    fn replaced(&self, names: &[&str]) -> Vec<String> {
        let of_package = |Locked { name, version, source }: &Locked| {
            let is_it =
                names.contains(&&**name) && (name != "parking_lot" || version.starts_with("0.12."));
            let source = source.as_ref().filter(|_| is_it)?;
            Some(format!("{source}#{name}@{version}"))
        };
        self.package.iter().filter_map(of_package).collect()
    }
}

impl Copy {
    fn cargo(&self) -> Command {
        cargo_in(&self.root, &self.folder)
    }
    /// Files for what a program prints on its two streams.
    fn log(&self, name: &str) -> (PathBuf, PathBuf) {
        let file = |stream| self.folder.with_extension(format!("{name}.{stream}.txt"));
        (file("stdout"), file("stderr"))
    }
    /// Copies the package and tells cargo of the patch.
    fn make(&self, from: &Path) -> Result<(), String> {
        make_empty(&self.folder)?;
        let ours = self.root.join("packages/parking_lot");
        let manifest = read(&from.join("Cargo.toml"))?;
        let added = added(&manifest, &self.row.name, self.is_patched.then_some(&*ours))?;
        printed(Command::new("cp").arg("-rT").arg(from).arg(&self.folder), package::TIME_MAX)?;
        write(&self.folder.join("Cargo.toml"), &(manifest + &added))?;
        // The package's own lock file names what the patch replaces. It can also name an older version of what our
        // package needs, such as lock_api 0.4.12. Then cargo does not take the patch unless that changes as well.
        let lock_file = self.folder.join("Cargo.lock");
        if !lock_file.exists() {
            return Ok(());
        }
        let ours = Lock::of(&read(&ours.join("Cargo.lock"))?)?;
        let ours = ours.package.iter().filter(|_| self.is_patched).map(|it| &*it.name);
        let names: Vec<_> = ours.chain([&*self.row.name]).collect();
        let packages = Lock::of(&read(&lock_file)?)?.replaced(&names);
        if !packages.is_empty() {
            let options = packages.iter().flat_map(|package| ["--package", package]);
            printed(self.cargo().arg("update").args(options), package::TIME_MAX)?;
        }
        Ok(())
    }
    /// Sees that the crate itself has the locks that it is to be tested with.
    fn check(&self) -> Result<(), String> {
        let mut cargo = self.cargo();
        cargo.args(["tree", "--edges", "normal", "--prefix", "none"]).args(self.row.features());
        let tree = printed(&mut cargo, package::TIME_MAX)?;
        let has = |name: &str| tree.lines().any(|line| line.starts_with(name));
        if has("lockwright v") == self.is_patched && has("parking_lot v0.12.") {
            return Ok(());
        }
        let effects = ["has an effect that it should not have", "has no effect"];
        let effect = effects[usize::from(self.is_patched)];
        Err(format!("the patch {effect}; type `cargo tree` in {}", self.folder.display()))
    }
    /// Runs the tests. Returns a line for the reader, and what is wrong.
    fn test(&self) -> Result<(String, Vec<String>), String> {
        let (row, start) = (self.row, Instant::now());
        let outcome = self.cargo_test(&[], "tests")?;
        let seconds = start.elapsed().as_secs();
        let is_root = fs::metadata("/proc/self").is_ok_and(|of_this| of_this.uid() == 0);
        let mut complaints = outcome.complaints(row, is_root);
        if !complaints.is_empty() {
            complaints.push(format!("what it printed is in {}", self.log("tests").0.display()));
        }
        for test in row.fails.iter().filter(|it| !it.by_root).map(|it| &it.test) {
            if outcome.failed.contains(test) && !self.passes_once(test)? {
                complaints
                    .push(format!("{test} failed {AGAIN} times more; the table says sometimes"));
            }
        }
        let (shown, counts, command) = (row.shown(), outcome.counts(), row.command());
        Ok((format!("{shown}: {counts} in {seconds} s: {command}"), complaints))
    }
    /// Runs one test again, until it passes.
    fn passes_once(&self, test: &str) -> Result<bool, String> {
        for _ in 0..AGAIN {
            let again = self.cargo_test(&["--", "--exact", test], "again")?;
            if again.failed.is_empty() && again.passed > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
    /// Runs `cargo test`; what it prints goes to a file.
    fn cargo_test(&self, more: &[&str], log: &str) -> Result<Outcome, String> {
        let (out, err) = self.log(log);
        let file = |path: &Path| File::create(path).map_err(at(path));
        let mut cargo = self.cargo();
        cargo.args(["test", "--no-fail-fast"]).args(&self.row.arguments).args(more);
        let status = status_within(cargo.stdout(file(&out)?).stderr(file(&err)?), TIME_MAX);
        let status = status.map_err(|why| format!("cargo test {why}"))?;
        let outcome = Outcome::of(&read(&out)?, &read(&err)?);
        if outcome.programs == 0 || (!status.success() && outcome.is_green()) {
            return Err(format!("cargo test fails without a failed test; see {}", err.display()));
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_becomes_a_workspace_with_the_patch() {
        let patch = Path::new("/here/packages/parking_lot");
        let patched =
            |text: &str| text.to_string() + &added(text, "bell", Some(patch)).expect("it is one");
        let itself = "[patch.crates-io]\nbell = { path = \".\" }\n";
        let both = format!("{itself}parking_lot = {{ path = \"/here/packages/parking_lot\" }}\n");
        let package = "[package]\nname = \"bell\"\n";
        assert_eq!(patched(package), format!("{package}\n[workspace]\n\n{both}"));
        let workspace = "[workspace]\nmembers = []\n";
        assert_eq!(patched(workspace), format!("{workspace}\n{both}"));
        assert_eq!(added(workspace, "bell", None), Ok(format!("\n{itself}")));
        assert!(added(&patched(package), "bell", Some(patch)).is_err());
    }

    #[test]
    fn the_locked_packages_are_those_of_the_registry_that_the_patch_replaces() {
        let package = |name, version, source| {
            format!("[[package]]\nname = {name:?}\nversion = {version:?}\n{source}\n")
        };
        let source = "source = \"registry\"";
        let lock = [
            package("parking_lot", "0.12.3", source),
            package("parking_lot", "0.11.2", source),
            package("parking_lot_core", "0.12.1", source),
            package("lock_api", "0.4.12", source),
            package("bell", "1.0.0", ""),
            package("bell", "0.9.0", source),
        ];
        let replaced = |lock: &str| {
            Lock::of(lock).expect("a lock file").replaced(&["bell", "parking_lot", "lock_api"])
        };
        let expected =
            ["registry#parking_lot@0.12.3", "registry#lock_api@0.4.12", "registry#bell@0.9.0"];
        assert_eq!(replaced(&lock.concat()), expected);
        assert_eq!(replaced("version = 4\n"), [""; 0]);
    }
}

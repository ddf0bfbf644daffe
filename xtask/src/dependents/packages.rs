//! Copies of the packages, with our package `parking_lot` in the place of the other one.

use super::table::Dependent;
use crate::limit::output_within;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, io};
use toml::Table;

/// Where everything is, below the root of the repository.
pub const FOLDER: &str = "target/dependents";

/// To fetch packages takes no longer.
const FETCH_MAX: Duration = Duration::from_secs(600);

/// A package to test.
pub struct Copy {
    root: PathBuf,
    folder: PathBuf,
    is_patched: bool,
}

/// What cargo says of packages.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    manifest_path: PathBuf,
}

/// Fetches the packages of these rows and copies each, in their order.
pub fn copy(root: &Path, rows: &[&Dependent], without_patch: bool) -> Result<Vec<Copy>, String> {
    let packages = fetch(root, rows)?;
    rows.iter().map(|row| copy_one(root, row, &packages, without_patch)).collect()
}

fn copy_one(
    root: &Path,
    row: &Dependent,
    packages: &[Package],
    without_patch: bool,
) -> Result<Copy, String> {
    let is_it = |it: &&Package| it.name == row.name && it.version == row.version;
    let package = packages.iter().find(is_it);
    let package = package.ok_or_else(|| format!("cargo has not fetched {}", row.shown()))?;
    let side = if without_patch { "without-patch" } else { "with-patch" };
    let folder = root.join(FOLDER).join(side).join(row.name);
    let from = package.manifest_path.parent().unwrap_or(root);
    let patched = || {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        copy_folder(from, &folder)?;
        let path = folder.join("Cargo.toml");
        let manifest = fs::read_to_string(&path)?;
        let patch = (!without_patch).then(|| root.join("packages/parking_lot"));
        fs::write(
            path,
            manifest.clone()
                + &added(&manifest, row.name, patch.as_deref()).map_err(io::Error::other)?,
        )
    };
    patched().map_err(|error| format!("{}: {error}", folder.display()))?;
    let copy = Copy { root: root.into(), folder, is_patched: !without_patch };
    copy.update(row.name)?;
    Ok(copy)
}

/// Downloads the packages of these rows, and finds where cargo has them.
fn fetch(root: &Path, rows: &[&Dependent]) -> Result<Vec<Package>, String> {
    let folder = root.join(FOLDER).join("fetch");
    let line = |row: &&Dependent| format!("{} = \"={}\"\n", row.name, row.version);
    let dependencies: String = rows.iter().map(line).collect();
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"fetch\"\nedition = \"2024\"\n\n\
         [dependencies]\n{dependencies}"
    );
    let write = || {
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/lib.rs"), "")?;
        fs::write(folder.join("Cargo.toml"), manifest)
    };
    write().map_err(|error: io::Error| format!("{}: {error}", folder.display()))?;
    let mut cargo = cargo_in(root, &folder);
    let printed = output_of(cargo.args(["metadata", "--format-version", "1"]))?;
    let metadata: Metadata = serde_json::from_str(&printed)
        .map_err(|error| format!("`cargo metadata` cannot be read: {error}"))?;
    Ok(metadata.packages)
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// What is added to the manifest of the package `name`: it is a workspace, apart from that of the repository, and has
/// the patch. What its tests use has to use this copy, as it does in the crate's own repository.
fn added(manifest: &str, name: &str, patch: Option<&Path>) -> Result<String, String> {
    let manifest: Table = manifest.parse().map_err(|error| format!("the manifest: {error}"))?;
    if manifest.contains_key("patch") {
        return Err("the manifest has a patch of its own".into());
    }
    let mut text = String::new();
    if !manifest.contains_key("workspace") {
        text += "\n[workspace]\n";
    }
    text += &format!("\n[patch.crates-io]\n{name} = {{ path = \".\" }}\n");
    if let Some(path) = patch {
        text += &format!("parking_lot = {{ path = {path:?} }}\n");
    }
    Ok(text)
}

/// The packages from the registry that a lock file has and that may have to change, as cargo names them: those of the
/// list `names`, where parking_lot has to be 0.12.
fn replaced(lock_file: &str, names: &[String]) -> Result<Vec<String>, String> {
    let of_package = |(name, version, source): (String, String, Option<String>)| {
        let is_it =
            names.contains(&name) && (name != "parking_lot" || version.starts_with("0.12."));
        source.filter(|_| is_it).map(|source| format!("{source}#{name}@{version}"))
    };
    Ok(locked(lock_file)?.into_iter().filter_map(of_package).collect())
}

/// The packages of a lock file: name, version, and where it is from.
fn locked(lock_file: &str) -> Result<Vec<(String, String, Option<String>)>, String> {
    let lock: Table = lock_file.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let packages = lock.get("package").and_then(|it| it.as_array());
    let of_package = |package: &toml::Value| {
        let text = |key| package.get(key).and_then(|it| it.as_str()).map(String::from);
        Some((text("name")?, text("version")?, text("source")))
    };
    Ok(packages.into_iter().flatten().filter_map(of_package).collect())
}

impl Copy {
    /// Cargo in this folder.
    pub fn cargo(&self) -> Command {
        cargo_in(&self.root, &self.folder)
    }
    /// Files for what a program prints on its two streams.
    pub fn log(&self, name: &str) -> (PathBuf, PathBuf) {
        let file = |stream| self.folder.with_extension(format!("{name}.{stream}.txt"));
        (file("stdout"), file("stderr"))
    }
    /// Tells cargo of the patch: the package's own lock file names what it replaces. It can also name an older version
    /// of what our package needs, such as rustix 1.0. Then cargo does not take the patch unless that changes as well.
    fn update(&self, name: &str) -> Result<(), String> {
        let Ok(lock_file) = fs::read_to_string(self.folder.join("Cargo.lock")) else {
            return Ok(());
        };
        let mut names = vec![name.to_string()];
        if self.is_patched {
            let path = self.root.join("packages/parking_lot/Cargo.lock");
            let ours =
                fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
            names.extend(locked(&ours)?.into_iter().map(|(name, ..)| name));
        }
        let packages = replaced(&lock_file, &names)?;
        if !packages.is_empty() {
            let options = packages.iter().flat_map(|package| ["--package", package]);
            output_of(self.cargo().arg("update").args(options))?;
        }
        Ok(())
    }
    /// Sees that the crate itself has the locks that it is to be tested with.
    pub fn check(&self, row: &Dependent) -> Result<(), String> {
        let mut cargo = self.cargo();
        cargo.args(["tree", "--edges", "normal", "--prefix", "none"]).args(row.features());
        let tree = output_of(&mut cargo)?;
        let has = |name: &str| tree.lines().any(|line| line.starts_with(name));
        if has("lockwright v") != self.is_patched || !has("parking_lot v0.12.") {
            let effect = if self.is_patched {
                "has no effect"
            } else {
                "has an effect that it should not have"
            };
            let folder = self.folder.display();
            return Err(format!("the patch {effect}; type `cargo tree` in {folder}"));
        }
        Ok(())
    }
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

/// Runs cargo and returns what it printed.
pub fn output_of(cargo: &mut Command) -> Result<String, String> {
    let arguments: Vec<_> = cargo.get_args().map(|it| it.to_string_lossy().into_owned()).collect();
    let name = format!("`cargo {}`", arguments.join(" "));
    let output = output_within(cargo, FETCH_MAX).map_err(|why| format!("{name} {why}"))?;
    if !output.status.success() {
        return Err(format!(
            "{name} fails: {}",
            String::from_utf8_lossy(&output.stderr).trim_end()
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
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
            package("rustix", "1.0.3", source),
            package("bell", "1.0.0", ""),
            package("bell", "0.9.0", source),
        ];
        let names = ["bell", "parking_lot", "rustix"].map(String::from);
        let expected =
            ["registry#parking_lot@0.12.3", "registry#rustix@1.0.3", "registry#bell@0.9.0"];
        assert_eq!(replaced(&lock.concat(), &names), Ok(expected.map(String::from).to_vec()));
        assert_eq!(replaced("version = 4\n", &names), Ok(vec![]));
    }
}

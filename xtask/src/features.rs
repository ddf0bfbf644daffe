//! Each package compiles alone, and the packages with locks that programs use without a warning with sets of their
//! features.

use crate::limit::{command, status_within};
use crate::workers;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Table;

/// The folders of these packages. That of `lockwright-core` has features that these turn on.
const PACKAGES: [&str; 2] = ["crates/locks", "crates/linux"];

/// How long one set may take.
const LIMIT: Duration = Duration::from_secs(120);

/// The size of the sets that continuous integration takes: a `cfg` that is missing breaks one of two features.
pub const PAIRS: usize = 2;

/// As [`all_compile`], for a stage.
pub fn is_green(size_max: usize) -> bool {
    let all = all_compile(&crate::root(), size_max);
    all.inspect_err(|why| eprintln!("features: {why}")).unwrap_or(false)
}

/// Checks each package alone, and then each set of at most `size_max` features. Returns true if all compile; says which
/// one does not. Half of the sets have a folder of their own, because one compilation of a crate keeps one CPU busy.
pub fn all_compile(root: &Path, size_max: usize) -> Result<bool, String> {
    if !each_package_compiles(root) {
        return Ok(false);
    }
    let mut sets = Vec::new();
    for folder in PACKAGES {
        let manifest = root.join(folder).join("Cargo.toml");
        let text = crate::disk::read(&manifest)?;
        let of_package = sets_of(&of_manifest(&text)?, size_max);
        sets.extend(of_package.into_iter().map(|set| (manifest.clone(), set)));
    }
    let (here, there) = sets.split_at(sets.len() / 2);
    let halves = [(here, "target"), (there, "target/features")];
    // Up to the first one that does not compile.
    let compile = |&(sets, target): &(&[(PathBuf, String)], &str)| {
        let mut red = sets.iter().map(|(manifest, set)| compiles(root, manifest, set, target));
        red.find(|it| !matches!(it, Ok(true))).unwrap_or(Ok(true))
    };
    let all_compile = workers::on_all(&halves, compile)?.into_iter().all(|compiled| compiled);
    if all_compile {
        eprintln!("features: {} sets compile", sets.len());
    }
    Ok(all_compile)
}

/// Checks each package of the workspace alone, with its tests: built together, one turns on features that another
/// lacks. Returns true if all compile; says which one does not.
fn each_package_compiles(root: &Path) -> bool {
    let compiles = |folder: &str| {
        let mut cargo = command("cargo check --quiet --all-targets --manifest-path");
        cargo.arg(root.join(folder).join("Cargo.toml"));
        let is_green = status_within(cargo.current_dir(root), LIMIT).is_ok_and(|it| it.success());
        if !is_green {
            eprintln!("features: {folder} does not compile alone");
        }
        is_green
    };
    members(root).iter().filter(|folder| !compiles(folder)).count() == 0
}

/// The folders of the packages of the workspace.
fn members(root: &Path) -> Vec<String> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
    let manifest: Table = manifest.parse().unwrap_or_default();
    let members = manifest.get("workspace").and_then(|it| it["members"].as_array());
    members.into_iter().flatten().filter_map(|it| it.as_str().map(String::from)).collect()
}

fn compiles(root: &Path, manifest: &Path, set: &str, target: &str) -> Result<bool, String> {
    let mut cargo = command("cargo clippy --quiet --no-default-features --manifest-path");
    cargo.arg(manifest).args([
        "--target-dir",
        target,
        "--features",
        set,
        "--",
        "--deny",
        "warnings",
    ]);
    let status = status_within(cargo.current_dir(root), LIMIT);
    let status = status.map_err(|stopped| format!("--features '{set}': {stopped}"))?;
    if !status.success() {
        eprintln!("features: {} does not compile with --features '{set}'", manifest.display());
    }
    Ok(status.success())
}

/// The features that a manifest has, apart from the set of defaults.
fn of_manifest(text: &str) -> Result<Vec<String>, String> {
    let manifest: Table = text.parse().map_err(|error| format!("the manifest: {error}"))?;
    let features = manifest.get("features").and_then(|it| it.as_table());
    let features = features.ok_or("the manifest has no features")?;
    Ok(features.keys().filter(|name| *name != "default").cloned().collect())
}

/// All sets of these that are not larger, as `--features` takes them.
fn sets_of(features: &[String], size_max: usize) -> Vec<String> {
    let chosen = |set: u32| {
        let of_set = features.iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1);
        of_set.map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(",")
    };
    let is_small = |set: &u32| set.count_ones() as usize <= size_max;
    (0..1 << features.len()).filter(is_small).map(chosen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_packages_are_checked_alone() {
        let members = members(&crate::root());
        let has_it = members.iter().any(|it| it == "crates/measure");
        assert!(members.len() > 15 && has_it, "{members:?}");
    }

    #[test]
    fn each_set_of_features_comes_once() {
        let manifest = "[features]\ndefault = [\"a\"]\na = [\"dep:x\"]\nb = []\n";
        let features = of_manifest(manifest).expect("it has features");
        assert_eq!(sets_of(&features, usize::MAX), ["", "a", "b", "a,b"]);
        assert_eq!(sets_of(&features, 1), ["", "a", "b"]);
        assert!(of_manifest("[package]\n").is_err());
    }

    #[test]
    fn the_features_are_those_of_the_lock_crate() {
        let manifest = std::fs::read_to_string(crate::root().join("crates/locks/Cargo.toml"));
        let features = of_manifest(&manifest.expect("it is there")).expect("it has features");
        assert!(["std", "lock_api", "linux"].iter().all(|it| features.iter().any(|f| f == it)));
    }
}

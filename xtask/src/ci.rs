//! What continuous integration runs.

use crate::stage::{Stage, Step};
use crate::{evidence, full, fuzz, new_lock, root, tidy};
use std::time::Duration;

/// How long all stages together may take on two slow cores. The limit of a stage only tells one that hangs from
/// one that is slow today.
pub const TIME_MAX: Duration = Duration::from_secs(50 * 60);

/// The stages of `cargo xtask ci`.
pub fn stages() -> Vec<Stage> {
    let mut stages = checks();
    stages.push(full::aarch64_builds());
    let test = ["cargo", "test", "--workspace"];
    stages.push(Stage::command("build", 1200, &[&test[..], &["--no-run"]].concat()));
    // These two check the checks, in a copy of the crates that the first one builds. Without Miri, which is not
    // part of the pinned toolchain.
    let weaken = ["cargo", "xtask", "weaken", "--checker", "loom"];
    stages.push(Stage::command("weaken", 1800, &weaken));
    stages.push(Stage::command("zoo", 1500, &["cargo", "xtask", "zoo"]));
    stages.extend(fuzz::stages());
    // docs/adding-a-lock.md, done as it says.
    stages.push(Stage::new("new-lock --check", 1200, Step::Call(new_lock::is_as_described)));
    // The README's test command, which explores more here.
    stages.push(Stage::command("test", 1500, &test).with_env("LOCKWRIGHT_CHECK", "usual"));
    stages
}

/// Everything that does not run the product.
pub fn checks() -> Vec<Stage> {
    let clippy = ["cargo", "clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"];
    let lock_apis =
        ["cargo", "test", "--package", "lockwright", "--features", "lock_api_05,internals"];
    let mut stages = vec![
        Stage::command("fmt", 60, &["cargo", "fmt", "--all", "--check"]),
        Stage::command("clippy", 300, &clippy),
        Stage::new("tidy", 60, Step::Call(|| tidy::run(&root(), false))),
        Stage::new("evidence --check", 60, Step::Call(|| evidence::check(&root()))),
        documentation(),
        Stage::command("lock-apis", 300, &[&lock_apis[..], &["--test", "it", "statics"]].concat()),
    ];
    stages.extend(features());
    stages
}

/// The documentation without a warning. Not with all features: one of them needs locks in C that are installed
/// on few machines.
fn documentation() -> Stage {
    let doc = ["cargo", "doc", "--workspace", "--no-deps", "--features", "lockwright/lock_api_05"];
    Stage::command("doc", 300, &doc).with_env("RUSTDOCFLAGS", "-Dwarnings")
}

/// Every combination of the features of the lock crate that programs choose from. Stage `clippy` has the defaults with
/// `internals`.
const FEATURES: [(&str, &str); 9] = [
    ("features: default", "std,lock_api"),
    ("features: none", ""),
    ("features: std", "std"),
    ("features: lock_api", "lock_api"),
    ("features: lock_api_05", "lock_api_05"),
    ("features: std, lock_api_05", "std,lock_api_05"),
    ("features: both lock_apis", "lock_api,lock_api_05"),
    ("features: all", "std,lock_api,lock_api_05"),
    ("features: internals", "internals"),
];

/// The lock crate compiles without a warning with every combination of its features.
fn features() -> impl Iterator<Item = Stage> {
    FEATURES.into_iter().map(|(name, features)| {
        let clippy = ["cargo", "clippy", "--package", "lockwright", "--no-default-features"];
        let chosen = ["--features", features, "--", "--deny", "warnings"];
        Stage::command(name, 120, &[&clippy[..], &chosen].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_combination_of_features_is_checked() {
        let manifest = std::fs::read_to_string(root().join("crates/locks/Cargo.toml"));
        let manifest: toml::Table = manifest.expect("it is there").parse().expect("it is TOML");
        let all: Vec<&String> = manifest["features"].as_table().expect("a table").keys().collect();
        let all: Vec<_> = all.into_iter().filter(|name| *name != "default").collect();
        // Those without `internals`, and `internals` alone.
        assert_eq!(FEATURES.len(), (1 << (all.len() - 1)) + 1, "{all:?}");
        let sets: BTreeSet<BTreeSet<&str>> = FEATURES
            .iter()
            .map(|(_, features)| features.split(',').filter(|name| !name.is_empty()).collect())
            .collect();
        assert_eq!(sets.len(), FEATURES.len());
        let is_known = |name: &&str| all.iter().any(|known| known == name);
        assert!(sets.iter().flatten().all(is_known));
    }
}

//! What continuous integration runs, and with it `cargo xtask full`.

use crate::stage::{Stage, Step};
use crate::{evidence, features, kernel, programs, record, release, root, suites, targets, tidy};
use std::time::Duration;

/// When the run is stopped. It is meant to take 40 minutes on two slow cores; computers that are shared have days on
/// which they are nearly half as fast. The limit of a stage only tells one that hangs from one that is slow today.
pub const TIME_MAX: Duration = Duration::from_secs(80 * 60);

/// How much is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// For each change: of the checks in the record, those that are due.
    Changed,
    /// All of them, and deeper model checks in the tests.
    All,
}

/// The stages of `cargo xtask ci`. A wrong word shows first, then a red test, and then everything else.
pub fn stages(scope: Scope) -> Vec<Stage> {
    let samples = ["--features", "lockwright-model/samples"];
    let clippy = ["cargo", "clippy", "--workspace", "--all-targets"];
    let clippy = [&clippy[..], &samples, &["--", "--deny", "warnings"]].concat();
    let (test, depth, test_max) = match scope {
        Scope::Changed => (vec!["cargo", "test", "--workspace"], "usual", 3600),
        // Shuttle alone takes hours.
        Scope::All => ([&["cargo", "test", "--workspace"], &samples[..]].concat(), "full", 28_800),
    };
    let mut stages = vec![
        Stage::command("fmt", 60, &["cargo", "fmt", "--all", "--check"]),
        Stage::command("clippy", 600, &clippy),
        Stage::new("tidy", 60, Step::Call(|| tidy::run(&root(), false))),
        Stage::command("build", 1500, &[&test[..], &["--no-run"]].concat()),
        // They take seconds, and otherwise those of the last package come after minutes of other tests.
        Stage::command("unit tests", 600, &[&test[..], &["--lib", "--bins"]].concat()),
        // The README's test command, which explores more here.
        Stage::command("test", test_max, &test).with_env("LOCKWRIGHT_CHECK", depth),
        Stage::command("alone", 600, &["cargo", "xtask", "alone"]),
        Stage::command("alone: one queue node", 600, &["cargo", "xtask", "alone", "--nodes", "1"]),
        Stage::new("evidence --check", 60, Step::Call(|| evidence::check(&root()))),
    ];
    // These two check the checks, in a copy of the crates that the first one builds. Without Miri, which is not
    // part of the pinned toolchain, and without the mutants that survive as argued: to find that out again takes
    // longer than all others.
    let weaken = ["cargo", "xtask", "weaken", "--checker", "loom", "--new"];
    stages.push(recorded("weaken", 1800, &weaken, scope));
    stages.push(recorded("zoo", 2400, &["cargo", "xtask", "zoo"], scope));
    stages.push(recorded("rules", 900, &["cargo", "xtask", "rules"], scope));
    stages.push(recorded("history", 1800, &["cargo", "xtask", "history"], scope));
    stages.push(recorded("fuzz", 900, &["cargo", "xtask", "fuzz", "--batches"], scope));
    stages.extend([suites::stage(), kernel::stage(), programs::stage()]);
    stages.push(documentation());
    stages.push(lock_apis());
    stages.extend(parking_lot());
    stages.push(Stage::new("features", 900, Step::Call(|| features::is_green(features::PAIRS))));
    stages.extend(release::stages());
    stages.extend(targets::stages());
    stages
}

/// A stage whose checks have lines in the record.
fn recorded(name: &'static str, seconds_max: u64, command: &[&str], scope: Scope) -> Stage {
    let changed: &[&str] = if scope == Scope::Changed { &[record::OPTION] } else { &[] };
    Stage::command(name, seconds_max, &[command, changed].concat())
}

/// The types of both versions of `lock_api`.
fn lock_apis() -> Stage {
    let all = "std,lock_api_05,arc_lock,serde";
    let test = ["cargo", "test", "--package", "lockwright-catalog", "--features", all];
    let test = [&test[..], &["--test", "it", "--", "statics", "forwarded"]].concat();
    Stage::command("lock-apis", 300, &test)
}

/// The package with the interface of parking_lot, which is not in the workspace. `cargo xtask peer-tests` runs it.
fn parking_lot() -> [Stage; 2] {
    let check =
        ["cargo", "clippy", "--locked", "--manifest-path", "packages/parking_lot/Cargo.toml"];
    let stage = |name, features| {
        let features = ["--features", features, "--", "--deny", "warnings"];
        Stage::command(name, 300, &[&check[..], &features].concat())
            .with_env("CARGO_TARGET_DIR", "target/parking_lot")
    };
    [stage("parking_lot", ""), stage("parking_lot: all", "arc_lock,serde,send_guard")]
}

/// The documentation without a warning. Not with all features: one of them needs locks in C that are installed
/// on few machines.
fn documentation() -> Stage {
    let features = "lockwright/linux,lockwright/lock_api_05,lockwright/arc_lock,lockwright/serde";
    let doc = ["cargo", "doc", "--workspace", "--no-deps", "--features", features];
    Stage::command("doc", 300, &doc).with_env("RUSTDOCFLAGS", "-Dwarnings")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_red_test_shows_before_everything_but_words() {
        let stages = stages(Scope::Changed);
        let names: Vec<_> = stages.iter().map(Stage::name).collect();
        assert_eq!(names[..6], ["fmt", "clippy", "tidy", "build", "unit tests", "test"]);
    }
}

//! What continuous integration runs, and with it `cargo xtask full`.

use crate::stage::{Stage, Step};
use crate::{evidence, features, kernel, programs, release, root, suites, targets, tidy};
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
    let samples = "--features lockwright-model/samples";
    let clippy = format!("cargo clippy --workspace --all-targets {samples} -- --deny warnings");
    let (test, depth, test_max, changed) = match scope {
        Scope::Changed => ("cargo test --workspace".into(), "usual", 3600, " --changed"),
        // Shuttle alone takes hours.
        Scope::All => (format!("cargo test --workspace {samples}"), "full", 28_800, ""),
    };
    // A stage whose checks have lines in the record.
    let recorded = |name, seconds_max, command: &str| {
        Stage::command(name, seconds_max, &format!("cargo xtask {command}{changed}"))
    };
    let mut stages = vec![
        Stage::command("fmt", 60, "cargo fmt --all --check"),
        Stage::command("clippy", 600, &clippy),
        Stage::new("tidy", 60, Step::Call(|| tidy::run(&root(), false))),
        Stage::command("build", 1500, &format!("{test} --no-run")),
        // They take seconds, and otherwise those of the last package come after minutes of other tests.
        Stage::command("unit tests", 600, &format!("{test} --lib --bins")),
        // The README's test command, which explores more here.
        Stage::command("test", test_max, &test).with_env("LOCKWRIGHT_CHECK", depth),
        Stage::command("alone", 600, "cargo xtask alone"),
        Stage::command("alone: one queue node", 600, "cargo xtask alone --nodes 1"),
        Stage::new("evidence --check", 60, Step::Call(|| evidence::check(&root()))),
        // These two check the checks, in a copy of the crates that the first one builds. Without Miri, which is not
        // part of the pinned toolchain, and without the mutants that survive as argued: to find that out again takes
        // longer than all others.
        recorded("weaken", 1800, "weaken --checker loom --new"),
        recorded("zoo", 2400, "zoo"),
        recorded("rules", 900, "rules"),
        recorded("history", 1800, "history"),
        recorded("fuzz", 900, "fuzz --batches"),
        suites::stage(),
        kernel::stage(),
        programs::stage(),
        documentation(),
        // The types of both versions of `lock_api`.
        Stage::command(
            "lock-apis",
            300,
            "cargo test --package lockwright-catalog --features std,lock_api_05,arc_lock,serde --test it -- statics \
             forwarded",
        ),
    ];
    stages.extend(parking_lot());
    stages.push(Stage::new("features", 900, Step::Call(|| features::is_green(features::PAIRS))));
    stages.extend(release::stages());
    stages.extend(targets::stages());
    stages
}

/// The package with the interface of parking_lot, which is not in the workspace. `cargo xtask peer-tests` runs it.
fn parking_lot() -> [Stage; 2] {
    let stage = |name, features| {
        let check =
            "cargo clippy --locked --manifest-path packages/parking_lot/Cargo.toml --features";
        Stage::command(name, 300, &format!("{check} {features} -- --deny warnings"))
            .with_env("CARGO_TARGET_DIR", "target/parking_lot")
    };
    [stage("parking_lot", ""), stage("parking_lot: all", "arc_lock,serde,send_guard")]
}

/// The documentation without a warning. Not with all features: one of them needs locks in C that are installed
/// on few machines.
fn documentation() -> Stage {
    let features = "lockwright/linux,lockwright/lock_api_05,lockwright/arc_lock,lockwright/serde";
    let doc = format!("cargo doc --workspace --no-deps --features {features}");
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

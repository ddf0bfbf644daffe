//! What continuous integration runs.

use crate::stage::{Stage, Step};
use crate::{
    evidence, features, fuzz, kernel, new_lock, programs, release, root, std_tests, targets, tidy,
};
use std::time::Duration;

/// When the run is stopped. It is meant to take 50 minutes on two slow cores; computers that are shared have days on
/// which they are nearly half as fast. The limit of a stage only tells one that hangs from one that is slow today.
pub const TIME_MAX: Duration = Duration::from_secs(80 * 60);

/// The stages of `cargo xtask ci`.
pub fn stages() -> Vec<Stage> {
    let mut stages = checks();
    stages.extend(targets::stages());
    let test = ["cargo", "test", "--workspace"];
    stages.push(Stage::command("build", 1200, &[&test[..], &["--no-run"]].concat()));
    // These two check the checks, in a copy of the crates that the first one builds. Without Miri, which is not
    // part of the pinned toolchain, and without the mutants that survive as argued: to find that out again takes
    // longer than all others.
    let weaken = ["cargo", "xtask", "weaken", "--checker", "loom", "--new"];
    stages.push(Stage::command("weaken", 1800, &weaken));
    stages.push(Stage::command("zoo", 2400, &["cargo", "xtask", "zoo"]));
    stages.extend(fuzz::stages());
    stages.push(std_tests::stage());
    stages.push(kernel::stage());
    stages.push(programs::stage());
    // docs/adding-a-lock.md, done as it says.
    stages.push(Stage::new("new-lock --check", 1200, Step::Call(new_lock::is_as_described)));
    // The README's test command, which explores more here.
    stages.push(Stage::command("test", 2700, &test).with_env("LOCKWRIGHT_CHECK", "usual"));
    stages
}

/// Everything that does not run the product.
pub fn checks() -> Vec<Stage> {
    let clippy = ["cargo", "clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"];
    let all = "lock_api_05,arc_lock,serde,internals";
    let lock_apis = ["cargo", "test", "--package", "lockwright", "--features", all];
    let tests = ["--test", "it", "--", "statics", "forwarded"];
    let mut stages = vec![
        Stage::command("fmt", 60, &["cargo", "fmt", "--all", "--check"]),
        Stage::command("clippy", 300, &clippy),
        Stage::new("tidy", 60, Step::Call(|| tidy::run(&root(), false))),
        Stage::new("evidence --check", 60, Step::Call(|| evidence::check(&root()))),
        documentation(),
        Stage::command("lock-apis", 300, &[&lock_apis[..], &tests].concat()),
    ];
    stages.extend(parking_lot());
    stages.push(Stage::new("features", 900, Step::Call(every_feature_set)));
    stages.extend(release::stages());
    stages
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

fn every_feature_set() -> bool {
    features::all_compile(&root()).unwrap_or_else(|why| {
        eprintln!("features: {why}");
        false
    })
}

/// The documentation without a warning. Not with all features: one of them needs locks in C that are installed
/// on few machines.
fn documentation() -> Stage {
    let features = "lockwright/lock_api_05,lockwright/arc_lock,lockwright/serde";
    let doc = ["cargo", "doc", "--workspace", "--no-deps", "--features", features];
    Stage::command("doc", 300, &doc).with_env("RUSTDOCFLAGS", "-Dwarnings")
}

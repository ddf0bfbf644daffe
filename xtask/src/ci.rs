//! What continuous integration runs.

use crate::stage::{Stage, Step};
use crate::{evidence, full, fuzz, root, tidy};
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
    // These two check the checks. Without Miri, which is not part of the pinned toolchain.
    let weaken = ["cargo", "xtask", "weaken", "--checker", "loom"];
    stages.push(Stage::command("weaken", 1200, &weaken));
    stages.push(Stage::command("zoo", 1200, &["cargo", "xtask", "zoo"]));
    stages.extend(fuzz::stages());
    // The README's test command.
    stages.push(Stage::command("test", 1500, &test));
    stages
}

/// Everything that does not run the product.
pub fn checks() -> Vec<Stage> {
    let clippy = ["cargo", "clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"];
    let no_std = ["cargo", "check", "--package", "lockwright", "--no-default-features"];
    let lock_apis = ["cargo", "test", "--package", "lockwright", "--features", "lock_api_05"];
    vec![
        Stage::command("fmt", 60, &["cargo", "fmt", "--all", "--check"]),
        Stage::command("clippy", 300, &clippy),
        Stage::new("tidy", 60, Step::Call(|| tidy::run(&root(), false))),
        Stage::new("evidence --check", 60, Step::Call(|| evidence::check(&root()))),
        Stage::command("no-std", 120, &no_std),
        Stage::command("lock-apis", 300, &[&lock_apis[..], &["--test", "it", "statics"]].concat()),
    ]
}

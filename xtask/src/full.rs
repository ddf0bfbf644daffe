//! What takes too long for every change, or needs more than the pinned toolchain.

use crate::sanitize::{self, MIRI};
use crate::stage::Stage;
use crate::targets::{self, PORTABLE};

/// All stages of `cargo xtask full`.
pub fn stages() -> Vec<Stage> {
    let mut stages = crate::ci::checks();
    let test = ["cargo", "test", "--workspace"];
    stages.push(Stage::command("test", 3600, &test).with_env("LOCKWRIGHT_CHECK", "full"));
    let weaken = ["cargo", "xtask", "weaken", "--full"];
    stages.push(Stage::command("weaken", 7200, &weaken).needing(MIRI));
    stages.push(Stage::command("zoo", 3600, &["cargo", "xtask", "zoo", "--full"]));
    stages.push(crate::promela::stage());
    stages.push(Stage::command("dependents", 5400, &["cargo", "xtask", "dependents"]));
    stages.push(whole_word());
    stages.extend(sanitize::miri());
    stages.extend(sanitize::tsan());
    stages.extend(sanitize::asan());
    stages.extend(targets::stages());
    stages
}

/// Lock words accessed whole, as on machines without assembly for their parts.
fn whole_word() -> Stage {
    Stage::command("whole-word", 900, &[&["cargo", "test"], &PORTABLE[..]].concat())
        .with_env("RUSTFLAGS", "--cfg lockwright_whole_word")
        .with_env("CARGO_TARGET_DIR", "target/whole-word")
}

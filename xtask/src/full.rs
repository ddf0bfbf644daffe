//! What takes too long for every change, or needs more than the pinned toolchain.

use crate::sanitize::{self, MIRI};
use crate::stage::{Need, Stage};

const AARCH64_TARGET: Need = Need {
    probe: &["rustup", "target", "list", "--installed"],
    prints: AARCH64,
    get: "rustup target add aarch64-unknown-linux-gnu",
};

const AARCH64_LINKER: Need = Need {
    probe: &["aarch64-linux-gnu-gcc", "--version"],
    prints: "",
    get: "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
};

const AARCH64_EMULATOR: Need =
    Need { probe: &["qemu-aarch64", "--version"], prints: "", get: "apt-get install qemu-user" };

const AARCH64: &str = "aarch64-unknown-linux-gnu";

/// All stages of `cargo xtask full`.
pub fn stages() -> Vec<Stage> {
    let mut stages = crate::ci::checks();
    let test = ["cargo", "test", "--workspace"];
    stages.push(Stage::command("test", 3600, &test).with_env("LOCKWRIGHT_CHECK", "full"));
    let weaken = ["cargo", "xtask", "weaken", "--full"];
    stages.push(Stage::command("weaken", 7200, &weaken).needing(MIRI));
    stages.push(Stage::command("zoo", 3600, &["cargo", "xtask", "zoo", "--full"]));
    stages.push(crate::promela::stage());
    stages.push(whole_word());
    stages.extend(sanitize::miri());
    stages.extend(sanitize::tsan());
    stages.extend(sanitize::asan());
    stages.push(aarch64());
    stages
}

/// What other machines run: the laws of the platform of programs, and the unit tests of the locks.
/// The tests that torture a process belong to the machine at hand.
const PORTABLE: [&str; 7] =
    ["--package", "lockwright", "--package", "lockwright-clients", "--lib", "--test", "native"];

/// Lock words accessed whole, as on machines without assembly for their parts.
fn whole_word() -> Stage {
    Stage::command("whole-word", 900, &[&["cargo", "test"], &PORTABLE[..]].concat())
        .with_env("RUSTFLAGS", "--cfg lockwright_whole_word")
        .with_env("CARGO_TARGET_DIR", "target/whole-word")
}

/// The other architecture with assembly, compiled only: needs no linker for it.
pub fn aarch64_builds() -> Stage {
    let check = ["cargo", "check", "--package", "lockwright", "--target", AARCH64];
    Stage::command("aarch64-builds", 60, &check).needing(AARCH64_TARGET)
}

/// The other architecture with assembly. Emulated on a host with a stronger memory model it says
/// nothing about orderings.
fn aarch64() -> Stage {
    let test = [&["cargo", "test", "--target", AARCH64], &PORTABLE[..]].concat();
    Stage::command("aarch64", 900, &test)
        .with_env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
        .with_env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
            "qemu-aarch64 -L /usr/aarch64-linux-gnu",
        )
        .needing(AARCH64_TARGET)
        .needing(AARCH64_LINKER)
        .needing(AARCH64_EMULATOR)
}

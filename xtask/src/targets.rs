//! Other compilers and other targets: the oldest Rust, aarch64 in an emulator, musl, and what only compiles or is
//! refused.

use crate::stage::{Need, Stage};

const AARCH64: &str = "aarch64-unknown-linux-gnu";
const MUSL: &str = "x86_64-unknown-linux-musl";

/// The oldest compiler for the lock crate without `lock_api` 0.5: `rust-version` in its manifest.
const OLDEST: &str = "1.85";

const OLDEST_RUST: Need = Need {
    probe: "rustup toolchain list | grep ^1.85-",
    get: "rustup toolchain install 1.85 --profile minimal",
};

const AARCH64_LINKER: Need = Need {
    probe: "aarch64-linux-gnu-gcc --version",
    get: "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
};

const AARCH64_EMULATOR: Need =
    Need { probe: "qemu-aarch64 --version", get: "apt-get install qemu-user" };

/// The standard library of a target, for the pinned toolchain; and a stage that needs it.
macro_rules! target {
    ($name:literal) => {
        Need {
            probe: concat!("rustup target list --installed | grep ^", $name),
            get: concat!("rustup target add ", $name),
        }
    };
    ($stage:ident, $title:literal, $name:literal) => {
        $stage($title, $name).needing(target!($name))
    };
}

/// What other targets run: the laws of the platform of programs, and the unit tests of the locks.
/// The tests that torture a process belong to the machine at hand.
pub const PORTABLE: &str = "--package=lockwright-core --package=lockwright-linux --package=lockwright \
    --package=lockwright-clients --lib --features=lockwright-core/std --test=native";

/// All of them, those that take seconds first.
pub fn stages() -> Vec<Stage> {
    let mut stages = vec![
        oldest("rust-1.85", "std,lock_api,linux"),
        oldest("rust-1.85: no std", ""),
        compiles("aarch64 compiles", AARCH64).needing(target!("aarch64-unknown-linux-gnu")),
        target!(compiles, "riscv64 compiles", "riscv64gc-unknown-linux-gnu"),
        target!(compiles, "loongarch64 compiles", "loongarch64-unknown-linux-gnu"),
        target!(refused, "32 bits are refused", "i686-unknown-linux-gnu"),
        target!(refused, "macOS is refused", "aarch64-apple-darwin"),
        target!(refused, "Windows is refused", "x86_64-pc-windows-gnu"),
        // Without the platform of programs.
        compiles("no std, 32 bits", "thumbv7em-none-eabi --no-default-features")
            .needing(target!("thumbv7em-none-eabi")),
    ];
    stages.extend(kernel_code());
    stages.extend(musl());
    stages.push(aarch64());
    stages
}

/// The lock crate compiles with the oldest compiler.
fn oldest(name: &'static str, features: &str) -> Stage {
    let check = format!("cargo +{OLDEST} check --package lockwright --no-default-features");
    Stage::command(name, 120, &format!("{check} --features {features}"))
        .with_env("CARGO_TARGET_DIR", "target/oldest")
        .needing(OLDEST_RUST)
}

/// A target that compiles: needs no linker for it.
fn compiles(name: &'static str, target: &str) -> Stage {
    Stage::command(name, 120, &format!("cargo check --package lockwright --target {target}"))
}

/// A target that is refused, with one error: other errors would hide it.
fn refused(name: &'static str, target: &str) -> Stage {
    let one_error = "could not compile `lockwright-core` (lib) due to 1 previous error";
    compiles(name, target).that_reports(one_error)
}

/// The crate that is kernel code, which is not in the workspace, and the same with the laws of its platforms. `cargo
/// xtask kernel` runs it.
fn kernel_code() -> [Stage; 2] {
    let of = "cargo clippy --locked --manifest-path crates/kernel/Cargo.toml";
    let command = format!("{of} --target x86_64-unknown-none -- --deny warnings");
    let stage = |name| {
        Stage::command(name, 120, &command)
            .with_env("CARGO_TARGET_DIR", "target/kernel/rust")
            .needing(target!("x86_64-unknown-none"))
    };
    let with_laws = "--cfg lockwright_variant=\"laws\"";
    [
        stage("kernel code compiles"),
        stage("kernel code with laws compiles").with_env("RUSTFLAGS", with_laws),
    ]
}

/// Another C library on the architecture at hand, with all tests of the lock crate. Its files are linked statically;
/// the target brings its own linker and C library.
fn musl() -> [Stage; 2] {
    let of = |name, what: &str| {
        Stage::command(name, 900, &format!("cargo test --target {MUSL} {what}"))
            .needing(target!("x86_64-unknown-linux-musl"))
    };
    let real = "--package lockwright-catalog --features std --test it";
    [of("musl", PORTABLE), of("musl: real threads", real)]
}

/// The other architecture with assembly. Emulated on a host with a stronger memory model it says
/// nothing about orderings.
fn aarch64() -> Stage {
    let emulator = "qemu-aarch64 -L /usr/aarch64-linux-gnu";
    Stage::command("aarch64", 900, &format!("cargo test --target {AARCH64} {PORTABLE}"))
        .with_env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
        .with_env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", emulator)
        .needing(target!("aarch64-unknown-linux-gnu"))
        .needing(AARCH64_LINKER)
        .needing(AARCH64_EMULATOR)
}

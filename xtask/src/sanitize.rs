//! Miri, ThreadSanitizer and AddressSanitizer on the platform of programs, and the proof that each of
//! them sees what it is there to see: programs that are wrong on purpose have to be reported.

use crate::stage::{Need, Stage};
use std::env::consts::ARCH;

pub const MIRI: Need = Need {
    probe: "cargo +nightly miri --version",
    get: "rustup toolchain install nightly --component miri --component rust-src",
};

pub const NIGHTLY: Need =
    Need { probe: "cargo +nightly --version", get: "rustup toolchain install nightly" };

/// To build the standard library with instrumentation.
pub const SOURCE: Need = Need {
    probe: "rustup component list --toolchain nightly --installed | grep ^rust-src",
    get: "rustup toolchain install nightly --component rust-src",
};

/// The package with the clients on real threads, and with the wrong programs.
const CLIENTS: &str = "--package lockwright-clients";

/// The seeds of Miri's schedules and stale values.
pub const MIRI_SEEDS: &str = "0..4";

/// Undefined behaviour, data races and weak memory, in a few executions of each test.
pub fn miri() -> Vec<Stage> {
    let test = |name, what: &str| {
        Stage::command(name, 1800, &format!("cargo +nightly miri test --package lockwright-{what}"))
    };
    let wrong = |name, program| wrong(name, "miri run", program, "Undefined Behavior");
    let stages = [
        wrong("miri-sees-a-race", "busted"),
        wrong("miri-sees-a-race-with-a-reader", "busted-rw"),
        wrong("miri-sees-a-missing-release", "busted-relaxed"),
        wrong("miri-sees-a-late-touch", "late-touch"),
        test("miri-locks", "catalog --features std --test it registry"),
        test("miri-laws", "clients --test native"),
        test("miri-clients", "clients --test clients"),
    ];
    let flags = format!("-Zmiri-disable-isolation -Zmiri-many-seeds={MIRI_SEEDS}");
    let of = |stage: Stage| {
        let stage = stage.with_env("MIRIFLAGS", flags.clone()).needing(MIRI);
        stage.with_env("CARGO_TARGET_DIR", "target/miri")
    };
    stages.map(of).into()
}

/// Data races at native speed. It does not see fences, which no lock needs, nor assembly, which `build.rs` of the locks
/// leaves out; the standard library is built with it, for `std` synchronises too.
pub fn tsan() -> Vec<Stage> {
    let options = format!("-Zbuild-std --target {}", target());
    let run = format!("run {options}");
    let race = "WARNING: ThreadSanitizer: data race";
    let stages = [
        wrong("tsan-sees-a-race", &run, "busted", race),
        wrong("tsan-sees-a-race-with-a-reader", &run, "busted-rw", race),
        wrong("tsan-sees-a-missing-release", &run, "busted-relaxed", race),
        clients("tsan-clients", &options),
    ];
    let of = |stage: Stage| {
        stage
            .with_env("RUSTFLAGS", "-Zsanitizer=thread")
            .with_env("TSAN_OPTIONS", "halt_on_error=1")
            .with_env("LOCKWRIGHT_CHECK", "full")
            .with_env("CARGO_TARGET_DIR", "target/tsan")
            .needing(NIGHTLY)
            .needing(SOURCE)
    };
    stages.map(of).into()
}

/// Accesses to freed memory at native speed: above all by an unlock whose lock the next owner has
/// freed.
pub fn asan() -> Vec<Stage> {
    let options = format!("--target {}", target());
    let freed = "AddressSanitizer: heap-use-after-free";
    let stages = [
        wrong("asan-sees-a-late-touch", &format!("run {options}"), "late-touch", freed),
        clients("asan-clients", &options),
    ];
    let of = |stage: Stage| {
        stage
            .with_env("RUSTFLAGS", "-Zsanitizer=address")
            .with_env("LOCKWRIGHT_CHECK", "full")
            .with_env("CARGO_TARGET_DIR", "target/asan")
            .needing(NIGHTLY)
    };
    stages.map(of).into()
}

/// Flags for the target, and not for the host, apply only where it is named.
pub fn target() -> String {
    format!("{ARCH}-unknown-linux-gnu")
}

fn clients(name: &'static str, options: &str) -> Stage {
    Stage::command(name, 900, &format!("cargo +nightly test {options} {CLIENTS} --test clients"))
}

fn wrong(name: &'static str, run: &str, program: &str, text: &'static str) -> Stage {
    let command = format!("cargo +nightly {run} {CLIENTS} --example wrong -- {program}");
    Stage::command(name, 600, &command).that_reports(text)
}

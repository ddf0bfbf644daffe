//! Exploring locks that have a bug: in the copy of the crates that `xtask` writes.

use lockwright_measure::error::Error;
use lockwright_zoo::Bug;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Runs this command line where the locks have the bug. `xtask` says that this is built first, which takes minutes.
pub fn run_in_copy(bug: &Bug) -> Result<ExitCode, Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let manifest = root.join("Cargo.toml");
    if !root.join("xtask").is_dir() {
        return Err(Error::usage(format!(
            "--bug builds locks with bug {} from the source tree: run `cargo run --release -- explore` there",
            bug.row
        )));
    }
    // rustup would take the toolchain of the folder that this is called from.
    let toolchain = std::fs::read_to_string(root.join("rust-toolchain.toml")).unwrap_or_default();
    let channel = toolchain.lines().find_map(|line| line.strip_prefix("channel = "));
    let mut cargo = Command::new("cargo");
    cargo.envs(channel.map(|channel| ("RUSTUP_TOOLCHAIN", channel.trim_matches('"'))));
    cargo.args(["run", "--quiet", "--package", "xtask", "--manifest-path"]).arg(manifest);
    cargo.args(["--", "explore"]).args(std::env::args_os().skip(2));
    let status = cargo.status().map_err(|error| {
        Error::usage(format!(
            "--bug needs cargo, which does not run ({error}): add its folder to PATH"
        ))
    })?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(2)))
}

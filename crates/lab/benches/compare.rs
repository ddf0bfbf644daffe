//! `cargo bench`: the quick comparison of the locks for programs with their peers, about three minutes.
//! What follows `--` goes to `lockwright compare`.

use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    // Cargo adds an option for harnesses that are not this one.
    let given = std::env::args_os().skip(1).filter(|argument| argument != "--bench");
    let mut compare = Command::new(env!("CARGO_BIN_EXE_lockwright"));
    match compare.args(["compare", "--quick"]).args(given).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

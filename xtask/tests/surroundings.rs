//! `cargo xtask` where its arguments or its surroundings are bad.

#[path = "../../crates/lab/tests/it/surroundings.rs"]
mod surroundings;

use surroundings::{endures, line, no_text};

const XTASK: &str = env!("CARGO_BIN_EXE_xtask");

/// Each command: its line in the help begins after two blanks.
fn commands() -> Vec<String> {
    let output = std::process::Command::new(XTASK).arg("help").output().expect("it starts");
    let help = String::from_utf8(output.stdout).expect("text");
    let lines = help.lines().filter_map(|line| line.strip_prefix("  "));
    let words =
        lines.filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next());
    words.map(String::from).collect()
}

#[test]
fn every_command_endures_bytes_and_bad_surroundings() {
    let commands = commands();
    assert!(commands.iter().any(|name| name == "tidy") && commands.len() > 20, "{commands:?}");
    let refuses: Vec<_> = commands.iter().map(|name| line(name, no_text())).collect();
    endures(XTASK, &[vec![], line("", "help".as_ref())], &refuses);
}

//! What continuous integration runs, and what a person runs before asking it to.

mod full;
mod stage;
mod tidy;

use stage::{Stage, Step};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask COMMAND

  ci                     format, lints, tidy and all tests, as continuous integration runs them
  full [--allow-missing] the same with full checker settings, and other machines
  tidy                   the rules of STYLE.md that a program can check
";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let is_green = match arguments[..] {
        ["ci"] => stage::run_all(&ci(), false),
        ["full"] => stage::run_all(&full::stages(), false),
        ["full", "--allow-missing"] => stage::run_all(&full::stages(), true),
        ["tidy"] => tidy::run(&root()),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if is_green { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("xtask is a folder of the repository").to_path_buf()
}

fn ci() -> Vec<Stage> {
    let mut stages = checks();
    // The README's test command.
    stages.push(Stage::command("test", 900, &["cargo", "test", "--workspace"]));
    stages
}

/// Everything that does not run the product.
fn checks() -> Vec<Stage> {
    let clippy = ["cargo", "clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"];
    vec![
        Stage::command("fmt", 60, &["cargo", "fmt", "--all", "--check"]),
        Stage::command("clippy", 420, &clippy),
        Stage::new("tidy", 60, Step::Call(|| tidy::run(&root()))),
    ]
}

//! `docs/fidelity.json`: how far the simulator may be believed, in numbers. Published tables next to simulated ones,
//! and this computer next to its own machine file. `docs/fidelity.md`, which people write, quotes them.

mod computer;
mod predictions;
mod tables;

use crate::disk;
use crate::limit::printed;
use crate::numbers::{self, read_json};
use crate::output;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const PAGE: &str = "docs/fidelity.md";
const DOCUMENT: &str = "docs/fidelity.json";
/// What was measured on a computer, lock by lock.
const COMPUTER: &str = "docs/fidelity-computer.csv";
const FIGURES: &str = "target/fidelity/figures";
const REPRODUCED: &str = "target/fidelity/reproduced.json";
const DESCRIPTION: &str = "target/fidelity/here.toml";
const COMPARED: &str = "target/fidelity/here.json";

/// Write the numbers of docs/fidelity.md into docs/fidelity.json.
///
/// Writes published tables next to simulated ones into docs/predictions, and this computer next to its own machine file
/// into docs/fidelity-computer.csv. About 30 minutes on an idle machine.
#[derive(clap::Args)]
pub struct Request {
    /// Use the results in target/fidelity again.
    #[arg(long)]
    keep: bool,
    /// Leave the part about a computer as it is.
    #[arg(long)]
    keep_computer: bool,
}

/// Simulates, measures and writes the document. Returns true if the page says what it has.
pub fn generate(root: &Path, &Request { keep, keep_computer }: &Request) -> Result<bool, String> {
    if !(keep && root.join(REPRODUCED).is_file()) {
        lockwright(root, REPRODUCED, &format!("reproduce --all --plot-dir {FIGURES} --json FILE"))?;
    }
    let reproduced =
        read_json(root, REPRODUCED).map_err(|error| format!("{error}; leave out `--keep`"))?;
    let computer = match keep_computer {
        true => read_json(root, DOCUMENT)?["computer"].take(),
        false => measured(root, keep)?,
    };
    let [tables, kinds] = [tables::numbers, tables::kinds].map(|of| of(&reproduced));
    let document = json!({"tables": tables, "kinds": kinds, "computer": computer});
    output::write(&Some(root.join(DOCUMENT).to_string_lossy().into()), &document)?;
    let commit = line_of(root, &["git", "rev-parse", "--short", "HEAD"])?;
    let frozen = predictions::write(root, &reproduced, &commit)?;
    println!("fidelity: wrote {DOCUMENT}, {} and {FIGURES}", predictions::FOLDER);
    for table in frozen {
        println!("fidelity: {table} has other predictions than before");
    }
    Ok(output::complain("fidelity", &numbers::of_files(root, PAGE, DOCUMENT)?))
}

/// What is said about this computer.
fn measured(root: &Path, keep: bool) -> Result<Value, String> {
    let is_there = |name: &str| keep && root.join(name).is_file();
    if !is_there(DESCRIPTION) {
        lockwright(root, DESCRIPTION, "machines probe --out FILE")?;
    }
    if !is_there(COMPARED) {
        lockwright(root, COMPARED, &format!("machines check {DESCRIPTION} --json FILE"))?;
    }
    let compared = read_json(root, COMPARED)?;
    let date = line_of(root, &["date", "-u", "+%-d %B %Y", "-r", COMPARED])?;
    let lines = computer::lines(&compared, &date);
    disk::write(&root.join(COMPUTER), lines)?;
    Ok(computer::numbers(&compared, &date))
}

fn lockwright(root: &Path, file: &str, arguments: &str) -> Result<(), String> {
    let command = format!("cargo run --release -q -p lockwright-lab -- {arguments}");
    output::write_anew(root, file, &command)
}

/// The line that a command prints.
fn line_of(root: &Path, words: &[&str]) -> Result<String, String> {
    let mut command = Command::new(words[0]);
    let printed = printed(command.current_dir(root).args(&words[1..]), Duration::MAX)?;
    Ok(printed.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_page_says_what_the_document_has() {
        assert_eq!(numbers::of_files(&crate::root(), PAGE, DOCUMENT), Ok(Vec::new()));
    }

    #[test]
    fn the_committed_document_is_about_the_calibrations_in_the_tree() {
        let (root, sources) = (crate::root(), crate::tidy::sources(&crate::root()));
        let document = disk::read(&root.join(DOCUMENT)).expect("a text");
        let predictions = sources.iter().filter(|it| it.path.starts_with(predictions::FOLDER));
        for machine in sources.iter().filter(|it| it.path.starts_with("machines/")) {
            let hash = machine.text.lines().find_map(|line| line.strip_prefix("hash = "));
            let Some(hash) = hash.map(|hash| hash.trim_matches('"')) else { continue };
            let has_both =
                document.contains(hash) && predictions.clone().any(|it| it.text.contains(hash));
            assert!(has_both, "{}: run `cargo xtask fidelity`", machine.path);
        }
    }
}

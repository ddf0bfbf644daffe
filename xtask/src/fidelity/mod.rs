//! `docs/fidelity.md`: how far the simulator may be believed. Published tables beside simulated ones, this
//! computer beside its own description, what was fitted, and what is known to be wrong.

mod here;
mod tables;

use std::path::Path;
use std::process::Command;

const DOCUMENT: &str = "docs/fidelity.md";
/// Everything that was reproduced, for programs. The predictions are frozen by the commit of this file whose
/// message says so; a calibration that changes afterwards makes others.
const PREDICTIONS: &str = "docs/predictions.json";
const FIGURES: &str = "docs/figures/reproduced";
const REPRODUCED: &str = "target/fidelity/reproduced.json";
const DESCRIPTION: &str = "target/fidelity/here.toml";
const COMPARED: &str = "target/fidelity/here.json";
const TEMPLATE: &str = include_str!("template.md");

/// Simulates, measures and writes the document; `keeps` leaves out what was simulated and measured
/// before.
///
/// # Errors
/// A sentence that says what cannot be run, read or written.
pub fn generate(root: &Path, keeps: bool) -> Result<bool, String> {
    let in_root = |name: &str| root.join(name);
    std::fs::create_dir_all(in_root("target/fidelity")).map_err(|error| error.to_string())?;
    let is_there = |name: &str| keeps && in_root(name).is_file();
    if !is_there(REPRODUCED) {
        lockwright(root, &["reproduce", "--all", "--plots", FIGURES, "--json", REPRODUCED])?;
    }
    if !is_there(DESCRIPTION) {
        lockwright(root, &["machines", "probe", "--out", DESCRIPTION])?;
    }
    if !is_there(COMPARED) {
        lockwright(root, &["machines", "check", DESCRIPTION, "--json", COMPARED])?;
    }
    let reproduced = read(root, REPRODUCED)?;
    let compared = read(root, COMPARED)?;
    let document = TEMPLATE
        .replace("{score}", &tables::scores(&reproduced)?)
        .replace("{unmet}", &(tables::unmet(&reproduced)? + &here::unmet(&compared)?))
        .replace("{tables}", &tables::all(&reproduced)?)
        .replace("{here}", &here::all(&compared)?);
    let write = |name: &str, text: &str| {
        std::fs::write(in_root(name), text).map_err(|error| format!("{name}: {error}"))
    };
    write(DOCUMENT, &document)?;
    let predictions = std::fs::read_to_string(in_root(REPRODUCED));
    write(PREDICTIONS, &predictions.map_err(|error| error.to_string())?)?;
    println!("fidelity: wrote {DOCUMENT}, {PREDICTIONS} and {FIGURES}");
    Ok(true)
}

fn lockwright(root: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.current_dir(root).args(["run", "--release", "-q", "-p", "lockwright-lab", "--"]);
    let status = command.args(arguments).status().map_err(|error| error.to_string())?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("lockwright {} failed", arguments.join(" "))),
    }
}

fn read(root: &Path, name: &str) -> Result<serde_json::Value, String> {
    let text = std::fs::read_to_string(root.join(name)).map_err(|e| format!("{name}: {e}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{name}: {error}"))
}

/// A table in Markdown; numbers to the right of the first columns.
fn markdown(header: &[String], left: usize, rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<String> =
        (0..header.len()).map(|at| if at < left { "---" } else { "---:" }.to_string()).collect();
    let body: String = rows.iter().map(|row| line(row)).collect();
    line(header) + &line(&rule) + &body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_rule_and_a_line_for_each_row() {
        let text = |cells: &[&str]| cells.iter().map(|cell| cell.to_string()).collect::<Vec<_>>();
        let table = markdown(&text(&["lock", "n"]), 1, &[text(&["mcs", "3"])]);
        assert_eq!(table, "| lock | n |\n| --- | ---: |\n| mcs | 3 |\n");
    }

    #[test]
    fn the_committed_document_is_about_the_calibrations_in_the_tree() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let read = |name| std::fs::read_to_string(root.join(name)).expect("it is committed");
        let (document, predictions) = (read(DOCUMENT), read(PREDICTIONS));
        for file in std::fs::read_dir(root.join("machines")).expect("a directory") {
            let path = file.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            let hash = text.lines().find_map(|line| line.strip_prefix("hash = "));
            if let Some(hash) = hash.map(|hash| hash.trim_matches('"')) {
                let has_both = document.contains(hash) && predictions.contains(hash);
                assert!(has_both, "{}: run `cargo xtask fidelity`", path.display());
            }
        }
    }
}

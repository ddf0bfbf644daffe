//! `docs/fidelity.md`: how far the simulator may be believed. Published tables next to simulated ones, this
//! computer next to its own machine file, what was fitted, and what is known to be wrong.

mod here;
mod predictions;
mod tables;

use crate::markdown;
use crate::options::not_an_option;
use here::Compared;
use std::path::Path;
use std::process::Command;

const DOCUMENT: &str = "docs/fidelity.md";
/// What was measured on a computer, lock by lock.
const COMPUTER: &str = "docs/fidelity-computer.csv";
/// How `reproduce` is told where to draw.
const PLOTS: &str = "--plot-dir";
const FIGURES: &str = "target/fidelity/figures";
const REPRODUCED: &str = "target/fidelity/reproduced.json";
const DESCRIPTION: &str = "target/fidelity/here.toml";
const COMPARED: &str = "target/fidelity/here.json";
const TEMPLATE: &str = include_str!("template.md");

/// As they stand in the help.
pub const OPTIONS: &str = "[--keep] [--keep-computer]";

/// What `cargo xtask fidelity` was asked to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Results in target/fidelity are used again.
    keep: bool,
    /// The document keeps what it says about the computer that was measured.
    keep_computer: bool,
}

impl Request {
    /// # Errors
    /// A sentence that says what to type.
    pub fn of(options: &[&str]) -> Result<Self, String> {
        let mut request = Self::default();
        for option in options {
            match *option {
                "--keep" => request.keep = true,
                "--keep-computer" => request.keep_computer = true,
                other => return Err(not_an_option(other, OPTIONS)),
            }
        }
        Ok(request)
    }
}

/// Simulates, measures and writes the document.
///
/// # Errors
/// A sentence that says what cannot be run, read or written.
pub fn generate(root: &Path, request: &Request) -> Result<bool, String> {
    let in_root = |name: &str| root.join(name);
    std::fs::create_dir_all(in_root("target/fidelity")).map_err(|error| error.to_string())?;
    if !(request.keep && in_root(REPRODUCED).is_file()) {
        lockwright(root, &["reproduce", "--all", PLOTS, FIGURES, "--json", REPRODUCED])?;
    }
    let reproduced = read(root, REPRODUCED)?;
    let compared = computer(root, request)?;
    let document = TEMPLATE
        .replace("{summary}", &tables::summary(&reproduced)?)
        .replace("{score}", &tables::scores(&reproduced)?)
        .replace("{held_back}", &tables::held_back(&reproduced)?)
        .replace("{unmet}", &(tables::unmet(&reproduced)? + &compared.unmet))
        .replace("{tables}", &tables::all(&reproduced)?)
        .replace("{here}", &compared.settings);
    let document = markdown::filled(&document);
    let write = |name: &str, text: &str| {
        std::fs::write(in_root(name), text).map_err(|error| format!("{name}: {error}"))
    };
    write(DOCUMENT, &document)?;
    if let Some(locks) = compared.locks {
        write(COMPUTER, &locks)?;
    }
    let frozen = predictions::write(root, &reproduced, &commit(root)?)?;
    println!("fidelity: wrote {DOCUMENT}, {} and {FIGURES}", predictions::FOLDER);
    for table in frozen {
        println!("fidelity: {table} has other predictions than before");
    }
    Ok(true)
}

/// What is said about this computer: measured, or kept from the document.
fn computer(root: &Path, request: &Request) -> Result<Compared, String> {
    if request.keep_computer {
        return Compared::of_text(&text_of(root, DOCUMENT)?);
    }
    let is_there = |name: &str| request.keep && root.join(name).is_file();
    if !is_there(DESCRIPTION) {
        lockwright(root, &["machines", "probe", "--out", DESCRIPTION])?;
    }
    if !is_there(COMPARED) {
        lockwright(root, &["machines", "check", DESCRIPTION, "--json", COMPARED])?;
    }
    let date = date_of(&root.join(COMPARED));
    Compared::of(&read(root, COMPARED)?, &date)
}

/// The commit that the tree is based on.
fn commit(root: &Path) -> Result<String, String> {
    let mut git = Command::new("git");
    let output = git.current_dir(root).args(["rev-parse", "--short", "HEAD"]).output();
    let output = output.map_err(|error| format!("git cannot run: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).trim().to_string()),
        false => Err("git does not know the commit of this tree".into()),
    }
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

/// The day on which a file was written.
fn date_of(file: &Path) -> String {
    let date = Command::new("date").args(["-u", "+%-d %B %Y", "-r"]).arg(file).output();
    date.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string())
        .unwrap_or_default()
}

fn read(root: &Path, name: &str) -> Result<serde_json::Value, String> {
    serde_json::from_str(&text_of(root, name)?).map_err(|error| format!("{name}: {error}"))
}

fn text_of(root: &Path, name: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(root.join(name));
    text.map_err(|error| format!("{name} cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_committed_document_is_about_the_calibrations_in_the_tree() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = |path: PathBuf| std::fs::read_to_string(path).expect("a text");
        let folder = std::fs::read_dir(root.join(predictions::FOLDER)).expect("a directory");
        let files = folder.map(|file| text(file.expect("an entry").path()));
        let predictions: String = files.collect();
        let document = text(root.join(DOCUMENT));
        for file in std::fs::read_dir(root.join("machines")).expect("a directory") {
            let path = file.expect("an entry").path();
            let text = text(path.clone());
            let hash = text.lines().find_map(|line| line.strip_prefix("hash = "));
            if let Some(hash) = hash.map(|hash| hash.trim_matches('"')) {
                let has_both = document.contains(hash) && predictions.contains(hash);
                assert!(has_both, "{}: run `cargo xtask fidelity`", path.display());
            }
        }
    }
}

//! `docs/evidence.md`: what is proved, what is sampled, with which bounds, and what is not.

mod clients;
mod documents;
mod expected;
mod page;
mod totals;

use crate::{markdown, tidy};
use documents::{Documents, EXPLORED, SAMPLES, WEAKEN, ZOO};
use expected::Expected;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::SystemTime;

/// Where the documents are, below the root of the repository.
const DOCUMENT: &str = "docs/evidence.md";
const TEMPLATE: &str = include_str!("template.md");

/// The commands of cargo that write the inputs; that of the samples to its standard output.
const WRITERS: [(&str, &str); 4] = [
    (EXPLORED, "run -q -p lockwright-lab -- explore --lock * --quiet --json"),
    (WEAKEN, "xtask weaken --matrix --json"),
    (ZOO, "xtask zoo --matrix --json"),
    (SAMPLES, "run -q -p lockwright-model --features samples --bin sample -- all --table"),
];

/// What the inputs are about, and what makes them: an input that is older says nothing about it.
const SUBJECTS: [&str; 15] = [
    "Cargo.lock",
    "crates/cells/src",
    "crates/clients/src",
    "crates/conformance/src",
    "crates/lab/src",
    "crates/catalog/src",
    "crates/catalog/survivors.toml",
    "crates/core/src",
    "crates/linux/src",
    "crates/locks/src",
    "crates/model/src",
    "crates/report/src",
    "crates/sim/examples",
    "crates/sim/src",
    "xtask/src/mutants",
];

/// Writes the document from what the checkers wrote down. Runs those whose results are missing or older than what
/// they check, or all if `is_fresh`. Returns true if the document is evidence.
pub fn generate(root: &Path, is_fresh: bool) -> Result<bool, String> {
    std::fs::create_dir_all(root.join("target/evidence")).map_err(|error| error.to_string())?;
    let changed = SUBJECTS.iter().filter_map(|subject| last_change(&root.join(subject))).max();
    for (name, command) in WRITERS {
        if is_fresh || last_change(&root.join(name)) < changed {
            write_input(root, name, command)?;
        }
    }
    let documents = Documents::read(root)?;
    let sources = tidy::sources(root);
    let mut complaints = documents.complaints();
    let expected = Expected::of(&sources)?;
    complaints.extend(expected.complaints(&documents));
    complaints.extend(clients::complaints(&documents));
    let text = render(&documents, &page::sites(&sources));
    let differences = page::differences(&text, &sources, &expected);
    complaints.extend(differences.into_iter().map(|it| format!("{DOCUMENT}: {it}")));
    std::fs::write(root.join(DOCUMENT), text)
        .map_err(|error| format!("{DOCUMENT} cannot be written: {error}"))?;
    for (client, found) in clients::needed(&documents) {
        let such_as: Vec<_> = found.iter().take(3).map(String::as_str).collect();
        eprintln!("evidence: only {client} finds {}: {}", found.len(), such_as.join("; "));
    }
    for complaint in &complaints {
        eprintln!("evidence: {complaint}");
    }
    eprintln!("evidence: {DOCUMENT} written, {} complaints", complaints.len());
    Ok(complaints.is_empty())
}

/// Returns true if the page says what the tree has. Runs no checker.
pub fn check(root: &Path) -> bool {
    let differences = differences(root).unwrap_or_else(|error| vec![error]);
    for difference in &differences {
        eprintln!("evidence: {DOCUMENT}: {difference}");
    }
    if !differences.is_empty() {
        eprintln!("evidence: {DOCUMENT} does not describe this tree; type `cargo xtask evidence`");
    }
    differences.is_empty()
}

fn differences(root: &Path) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(root.join(DOCUMENT));
    let text = text.map_err(|error| format!("it cannot be read: {error}"))?;
    let sources = tidy::sources(root);
    Ok(page::differences(&text, &sources, &Expected::of(&sources)?))
}

/// When the file, or the last file of the folder, was written; `None` if there is none.
fn last_change(path: &Path) -> Option<SystemTime> {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().filter_map(|entry| last_change(&entry.path())).max(),
        Err(_) => path.metadata().ok()?.modified().ok(),
    }
}

fn write_input(root: &Path, name: &str, command: &str) -> Result<(), String> {
    let command = format!("cargo {command} {}", if name == SAMPLES { "" } else { name });
    let mut words = command.split_whitespace();
    let mut process = Command::new(words.next().unwrap_or_default());
    process.args(words).current_dir(root);
    eprintln!("evidence: {}", command.trim_end());
    let file = root.join(name);
    let written = if name == SAMPLES {
        let printed = |file: &Path| process.stdout(File::create(file)?).status();
        write_anew(&file, &[0], printed)
    } else {
        // What it found is judged from its document; finding something makes it fail with 1.
        write_anew(&file, &[0, 1], |_| process.status())
    };
    written.map_err(|why| format!("{}: {name} {why}", command.trim_end()))
}

/// Has `file` written by `writer`, which ends with one of these codes; there is no file otherwise,
/// neither an old one nor half of a new one.
fn write_anew(
    file: &Path,
    codes: &[i32],
    writer: impl FnOnce(&Path) -> io::Result<ExitStatus>,
) -> Result<(), String> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(format!("cannot be removed: {error}"));
        }
        _ => {}
    }
    let status = writer(file).map_err(|error| format!("cannot be written: {error}"))?;
    if !status.code().is_some_and(|code| codes.contains(&code)) {
        // It is not there or is not to be believed.
        let _ = std::fs::remove_file(file);
        return Err(format!("is not written: {status}"));
    }
    if file.exists() {
        Ok(())
    } else {
        Err(format!("is not written, although the command ended with {status}"))
    }
}

/// The page.
fn render(documents: &Documents, counts: &BTreeMap<String, usize>) -> String {
    let Documents { weaken, zoo, .. } = documents;
    let mutants = |verdict: &str| {
        weaken.mutants.iter().filter(|mutant| mutant.verdict == verdict).count().to_string()
    };
    let found = zoo.rows.iter().filter(|row| row.verdict == "KILLED").count();
    let needed = clients::needed(documents);
    let names: Vec<_> = needed.keys().map(|name| format!("`{name}`")).collect();
    let values = [
        ("miri_seeds", crate::sanitize::MIRI_SEEDS.to_string()),
        ("loom_bounds", in_words(&zoo.bounds)),
        ("weaken_bounds", in_words(&weaken.bounds)),
        ("zoo_bounds", in_words(&zoo.bounds)),
        ("sites_count", weaken.sites.to_string()),
        ("mutants_count", weaken.mutants.len().to_string()),
        ("killed_count", mutants("KILLED")),
        ("argued_count", mutants("ARGUED")),
        ("bugs_count", zoo.rows.len().to_string()),
        ("found_count", if found == zoo.rows.len() { "all".into() } else { found.to_string() }),
        ("files_list", page::files(counts)),
        ("bugs_list", page::bugs()),
        ("needed_count", needed.len().to_string()),
        ("needed", names.join(", ")),
        ("kept", clients::kept()),
        ("loom_total", totals::loom(documents)),
        ("shuttle_total", totals::shuttle(documents)),
        ("explored", totals::explored(documents)),
    ];
    let text = values.iter().fold(TEMPLATE.to_string(), |text, (name, value)| {
        text.replace(&format!("{{{{{name}}}}}"), value)
    });
    markdown::filled(text.trim_end())
}

/// The names of bounds in `crates/model/src/checks.rs`.
fn in_words(bounds: &str) -> String {
    match bounds {
        "quick" => "at most three preemptions in an execution of two threads, and at most two in one of three threads"
            .to_string(),
        "full" => "at most three preemptions in an execution of two or three threads".to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;

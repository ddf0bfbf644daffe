//! `docs/evidence.md`: what is proved, what is sampled, with which bounds, and what is not; and
//! `docs/evidence-tables.md`, its tables.

mod clients;
mod documents;
mod expected;
mod tables;
mod tree;

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
const TABLES: &str = "docs/evidence-tables.md";
const TEMPLATE: &str = include_str!("template.md");
const TEMPLATE_OF_TABLES: &str = include_str!("tables.md");
const LINES_MAX: usize = 300;

/// The commands that write the inputs; that of the samples to its standard output.
const WRITERS: [(&str, &[&str]); 4] = [
    (
        EXPLORED,
        &[
            "run",
            "-q",
            "-p",
            "lockwright-lab",
            "--",
            "explore",
            "--lock",
            "all",
            "--quiet",
            "--json",
            EXPLORED,
        ],
    ),
    (WEAKEN, &["xtask", "weaken", "--matrix", "--json", WEAKEN]),
    (ZOO, &["xtask", "zoo", "--matrix", "--json", ZOO]),
    (SAMPLES, &["run", "-q", "-p", "lockwright-model", "--bin", "sample", "--", "all", "--table"]),
];

/// What the inputs are about, and what makes them: an input that is older says nothing about it.
const SUBJECTS: [&str; 11] = [
    "Cargo.lock",
    "crates/cells/src",
    "crates/clients/src",
    "crates/lab/src",
    "crates/locks/src",
    "crates/locks/survivors.toml",
    "crates/model/src",
    "crates/sim/examples",
    "crates/sim/src",
    "xtask/src/weaken",
    "xtask/src/zoo",
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
    complaints.extend(Expected::of(&sources)?.complaints(&documents));
    let counts = tree::sites(&sources);
    let [text, tables] = render(&documents, &counts, &when(root));
    let lines = text.lines().count();
    if lines > LINES_MAX {
        complaints.push(format!("{DOCUMENT} has {lines} lines, more than {LINES_MAX}"));
    }
    for (name, text) in [(DOCUMENT, text), (TABLES, tables)] {
        std::fs::write(root.join(name), text)
            .map_err(|error| format!("{name} cannot be written: {error}"))?;
    }
    complaints.extend(differences(root));
    for complaint in &complaints {
        eprintln!("evidence: {complaint}");
    }
    eprintln!("evidence: {DOCUMENT} and {TABLES} written, {} complaints", complaints.len());
    Ok(complaints.is_empty())
}

/// Returns true if the document lists the orderings and bugs that the tree has. Runs no checker.
pub fn check(root: &Path) -> bool {
    let differences = differences(root);
    for difference in &differences {
        eprintln!("evidence: {difference}");
    }
    if !differences.is_empty() {
        eprintln!(
            "evidence: {TABLES} does not describe this tree; type `cargo xtask evidence --fresh`"
        );
    }
    differences.is_empty()
}

fn differences(root: &Path) -> Vec<String> {
    match std::fs::read_to_string(root.join(TABLES)) {
        Ok(document) => tree::differences(&document, &tidy::sources(root)),
        Err(error) => vec![format!("{TABLES} cannot be read: {error}")],
    }
}

/// When the file, or the last file of the folder, was written; `None` if there is none.
fn last_change(path: &Path) -> Option<SystemTime> {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().filter_map(|entry| last_change(&entry.path())).max(),
        Err(_) => path.metadata().ok()?.modified().ok(),
    }
}

fn write_input(root: &Path, name: &str, command: &[&str]) -> Result<(), String> {
    let mut process = Command::new("cargo");
    process.args(command).current_dir(root);
    eprintln!("evidence: cargo {}", command.join(" "));
    let file = root.join(name);
    let written = if name == SAMPLES {
        let printed = |file: &Path| process.stdout(File::create(file)?).status();
        write_anew(&file, &[0], printed)
    } else {
        // What it found is judged from its document; finding something makes it fail with 1.
        write_anew(&file, &[0, 1], |_| process.status())
    };
    written.map_err(|why| format!("cargo {}: {name} {why}", command.join(" ")))
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

/// The document and its tables.
fn render(documents: &Documents, counts: &BTreeMap<String, usize>, when: &str) -> [String; 2] {
    let Documents { weaken, zoo, .. } = documents;
    let mutants = |verdict: &str| {
        weaken.mutants.iter().filter(|mutant| mutant.verdict == verdict).count().to_string()
    };
    let found = zoo.rows.iter().filter(|row| row.verdict == "KILLED").count();
    let (alone, others) = clients::alone(documents);
    let values = [
        ("when", when.to_string()),
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
        ("alone_count", alone.len().to_string()),
        ("clients_count", (alone.len() + others.len()).to_string()),
        ("not_alone", clients::told(&others)),
        ("loom_total", tables::loom_total(documents)),
        ("shuttle_total", tables::shuttle_total(documents)),
        ("loom", tables::loom(documents)),
        ("shuttle", tables::shuttle(documents)),
        ("explored", tables::explored(documents)),
        ("files", tables::files(documents, counts)),
        ("zoo", tables::zoo(documents)),
        ("clients", tables::clients(documents)),
        ("sites", tables::sites(documents)),
        ("arguments", tables::arguments(documents)),
    ];
    let fill = |text: String, (name, value): (&str, String)| {
        text.replace(&format!("{{{{{name}}}}}"), &value)
    };
    [TEMPLATE, TEMPLATE_OF_TABLES].map(|template| {
        let text = values.iter().cloned().fold(template.to_string(), fill);
        markdown::filled(text.trim_end())
    })
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

/// When and where the seconds were measured.
fn when(root: &Path) -> String {
    let date = date_of(&root.join(ZOO));
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown processor");
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "Seconds are wall-clock time on {date}, with {cpus} CPUs of {model}. The numbers of locks, clients, checks, \
         executions, schedules, steps, mutants and bugs are the same on every computer."
    )
}

/// The day on which a file was written.
pub fn date_of(file: &Path) -> String {
    let date = Command::new("date").args(["-u", "+%-d %B %Y", "-r"]).arg(file).output();
    date.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;

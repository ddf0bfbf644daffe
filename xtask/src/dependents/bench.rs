//! Benchmarks of tokio's scheduler and blocking pool, with the locks of either library.
//!
//! The program `bench.txt` is compiled twice. Both run in turns, one process after the other. Each round gives a ratio
//! for each benchmark.

use super::packages::{FOLDER, cargo_in, output_of};
use super::table::DEPENDENTS;
use crate::limit::output_within;
use crate::rounds::{Rounds, interval, median, sorted};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Our own: tokio's package has no benchmarks.
const PROGRAM: &str = include_str!("bench.txt");
/// A round takes a few seconds.
const ROUND_MAX: Duration = Duration::from_secs(300);

/// glibc's allocator gives memory back to the kernel and takes it again. How often depends on the order of a few calls.
/// The page faults of that took a third of the time of some benchmarks. So it keeps its memory, for both libraries.
const ALLOCATOR: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.trim_threshold=1000000000");

/// A benchmark: how long each round took, in milliseconds.
#[derive(Debug, Default, PartialEq)]
struct Times {
    ours: Vec<f64>,
    theirs: Vec<f64>,
}

/// Measures, and prints a line for each benchmark. Makes no claim about the numbers.
pub fn run(root: &Path, rounds: &Rounds) -> Result<bool, String> {
    eprintln!("dependents: compiling the benchmark with both libraries");
    let ours = build(root, "ours", Some(&root.join("packages/parking_lot")))?;
    let theirs = build(root, "theirs", None)?;
    let mut benchmarks = BTreeMap::new();
    for round in 0..rounds.count() {
        eprintln!("dependents: round {} of {}", round + 1, rounds.count());
        // Each of them is the first one in every other round.
        let turns = if round % 2 == 0 { [true, false] } else { [false, true] };
        for is_ours in turns {
            let printed = once(if is_ours { &ours } else { &theirs })?;
            add(&mut benchmarks, is_ours, &printed)?;
        }
    }
    println!(
        "speed with Lockwright's locks, as a part of that with parking_lot's, of {} rounds:",
        rounds.count()
    );
    for (name, times) in &benchmarks {
        println!("{}", line(name, times, rounds.count())?);
    }
    Ok(true)
}

/// Compiles the program. `patch` is what is put in the place of parking_lot.
fn build(root: &Path, name: &str, patch: Option<&Path>) -> Result<PathBuf, String> {
    let folder = root.join(FOLDER).join("bench").join(name);
    let tokio = DEPENDENTS.iter().find(|row| row.name == "tokio").expect("it is there");
    let patch = patch.map_or(String::new(), |path| {
        format!("\n[patch.crates-io]\nparking_lot = {{ path = {path:?} }}\n")
    });
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"bench-{name}\"\nedition = \"2024\"\n\n[dependencies]\n\
         tokio = {{ version = \"={}\", features = [\"rt-multi-thread\", \"sync\", \"parking_lot\"] }}\n{patch}",
        tokio.version
    );
    let write = || {
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/main.rs"), PROGRAM)?;
        fs::write(folder.join("Cargo.toml"), manifest)
    };
    write().map_err(|error: io::Error| format!("{}: {error}", folder.display()))?;
    output_of(cargo_in(root, &folder).args(["build", "--release"]))?;
    let tree = output_of(cargo_in(root, &folder).args(["tree", "--prefix", "none"]))?;
    if tree.contains("lockwright v") == patch.is_empty() {
        return Err(format!("the benchmark does not have the locks of `{name}`:\n{tree}"));
    }
    Ok(root.join(FOLDER).join("target/release").join(format!("bench-{name}")))
}

/// Runs a program and returns what it printed.
fn once(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    if std::env::var_os(ALLOCATOR.0).is_none() {
        command.env(ALLOCATOR.0, ALLOCATOR.1);
    }
    let output = output_within(&mut command, ROUND_MAX);
    let output = output.map_err(|why| format!("{} {why}", program.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{} fails: {said}", program.display()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Adds lines such as `yield 12.3`.
fn add(all: &mut BTreeMap<String, Times>, is_ours: bool, printed: &str) -> Result<(), String> {
    for line in printed.lines() {
        let parts = line.rsplit_once(' ').and_then(|(name, ms)| Some((name, ms.parse().ok()?)));
        let (name, ms) = parts.ok_or_else(|| format!("`{line}` is not a name and a time"))?;
        let times = all.entry(name.to_string()).or_default();
        if is_ours { &mut times.ours } else { &mut times.theirs }.push(ms);
    }
    Ok(())
}

/// A line for the reader.
fn line(name: &str, times: &Times, rounds: usize) -> Result<String, String> {
    let Times { ours, theirs } = times;
    if [ours.len(), theirs.len()] != [rounds; 2] {
        return Err(format!("`{name}` was not measured in each round"));
    }
    let ratios = sorted(ours.iter().zip(theirs).map(|(ours, theirs)| theirs / ours));
    let [low, high] = interval(&ratios);
    let (ours, theirs) = (sorted(ours.iter().copied()), sorted(theirs.iter().copied()));
    Ok(format!(
        "{name:<28} {:.3}, 95 % interval {low:.3} to {high:.3} ({:.2} ms, parking_lot {:.2} ms)",
        median(&ratios),
        median(&ours),
        median(&theirs)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_ratio_of_speeds_and_needs_all_rounds() {
        let mut all = BTreeMap::new();
        for _ in 0..6 {
            add(&mut all, true, "spawn many 2.0\nyield 1.0\n").expect("lines");
            add(&mut all, false, "spawn many 1.0\nyield 1.0\n").expect("lines");
        }
        let text = line("spawn many", &all["spawn many"], 6).expect("six rounds");
        assert!(
            text.contains(" 0.500, 95 % interval 0.500 to 0.500 (2.00 ms, parking_lot 1.00 ms)")
        );
        assert!(line("yield", &all["yield"], 7).is_err());
        assert!(add(&mut all, true, "yield").is_err());
    }
}

//! Benchmarks of tokio's scheduler and blocking pool, with the locks of either library.
//!
//! The program `bench.txt` is compiled twice. Both run in turns, one process after the other. Each round gives a ratio
//! for each benchmark.

use super::dependents::{FOLDER, cargo_in, write_manifest};
use super::package::TIME_MAX;
use super::table::TABLE;
use crate::disk::write;
use crate::limit::printed;
use crate::rounds::{interval, median, sorted};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Our own: tokio's package has no benchmarks.
const PROGRAM: &str = include_str!("bench.txt");

/// glibc's allocator gives memory back to the kernel and takes it again. How often depends on the order of a few calls.
/// The page faults of that took a third of the time of some benchmarks. So it keeps its memory, for both libraries.
const ALLOCATOR: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.trim_threshold=1000000000");

/// By benchmark, how long each round took, in milliseconds: with our locks, and with theirs.
type Times = BTreeMap<String, [Vec<f64>; 2]>;

/// Measures, and prints a line for each benchmark. Makes no claim about the numbers.
pub fn run(root: &Path, rounds: usize) -> Result<bool, String> {
    eprintln!("dependents: compiling the benchmark with both libraries");
    let patch = format!(
        "\n[patch.crates-io]\nparking_lot = {{ path = {:?} }}\n",
        root.join("packages/parking_lot")
    );
    let programs = [build(root, "ours", &patch)?, build(root, "theirs", "")?];
    let mut times = Times::new();
    for round in 0..rounds {
        eprintln!("dependents: round {} of {}", round + 1, rounds);
        // Each of them is the first one in every other round.
        for side in [round % 2, (round + 1) % 2] {
            add(&mut times, side, &once(&programs[side])?)?;
        }
    }
    println!("speed with Lockwright's locks, as a part of parking_lot's, of {rounds} rounds:");
    for (name, times) in &times {
        println!("{}", line(name, times, rounds)?);
    }
    Ok(true)
}

/// Compiles the program. `patch` puts our locks in the place of parking_lot's.
fn build(root: &Path, name: &str, patch: &str) -> Result<PathBuf, String> {
    let (folder, package) = (root.join(FOLDER).join("bench").join(name), format!("bench-{name}"));
    let tokio = TABLE.dependents.iter().find(|row| row.name == "tokio").expect("it is there");
    let features = "features = [\"rt-multi-thread\", \"sync\", \"parking_lot\"]";
    let dependencies =
        format!("tokio = {{ version = \"={}\", {features} }}\n{patch}", tokio.version);
    write_manifest(&folder, &package, &dependencies)?;
    write(&folder.join("src/main.rs"), PROGRAM)?;
    printed(cargo_in(root, &folder).args(["build", "--release"]), TIME_MAX)?;
    let tree = printed(cargo_in(root, &folder).args(["tree", "--prefix", "none"]), TIME_MAX)?;
    if tree.contains("lockwright v") == patch.is_empty() {
        return Err(format!("the benchmark does not have the locks of `{name}`:\n{tree}"));
    }
    Ok(root.join(FOLDER).join("target/release").join(package))
}

/// Runs a program and returns what it printed.
fn once(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    if std::env::var_os(ALLOCATOR.0).is_none() {
        command.env(ALLOCATOR.0, ALLOCATOR.1);
    }
    printed(&mut command, TIME_MAX)
}

/// Adds lines such as `yield 12.3`.
fn add(all: &mut Times, side: usize, printed: &str) -> Result<(), String> {
    for line in printed.lines() {
        let parts = line.rsplit_once(' ').and_then(|(name, ms)| Some((name, ms.parse().ok()?)));
        let (name, ms) = parts.ok_or_else(|| format!("`{line}` is not a name and a time"))?;
        all.entry(name.to_string()).or_default()[side].push(ms);
    }
    Ok(())
}

/// A line for the reader.
fn line(name: &str, times: &[Vec<f64>; 2], rounds: usize) -> Result<String, String> {
    if times.iter().any(|of_side| of_side.len() != rounds) {
        return Err(format!("`{name}` was not measured in each round"));
    }
    let ratios = sorted(times[0].iter().zip(&times[1]).map(|(ours, theirs)| theirs / ours));
    let [low, high] = interval(&ratios);
    let [ours, theirs] = times.each_ref().map(|it| median(&sorted(it.iter().copied())));
    Ok(format!(
        "{name:<28} {:.3}, 95 % interval {low:.3} to {high:.3} ({ours:.2} ms, parking_lot {theirs:.2} ms)",
        median(&ratios)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_ratio_of_speeds_and_needs_all_rounds() {
        let mut all = Times::new();
        for _ in 0..6 {
            add(&mut all, 0, "spawn many 2.0\nyield 1.0\n").expect("lines");
            add(&mut all, 1, "spawn many 1.0\nyield 1.0\n").expect("lines");
        }
        let text = line("spawn many", &all["spawn many"], 6).expect("six rounds");
        let half = " 0.500, 95 % interval 0.500 to 0.500 (2.00 ms, parking_lot 1.00 ms)";
        assert!(text.contains(half));
        assert!(line("yield", &all["yield"], 7).is_err());
        assert!(add(&mut all, 0, "yield").is_err());
    }
}

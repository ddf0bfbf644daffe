//! Digests the sources that decide what a trial comes to, so that results of different code are told apart.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The crates and files whose text decides a result, from this folder. Of this crate, those that say what a trial runs.
const DECIDE: [&str; 8] = [
    "../core/src",
    "../linux/src",
    "../locks/src",
    "../catalog/src",
    "../sim/src",
    "../measure/src",
    "src/records/described.rs",
    "../../machines",
];

fn main() -> io::Result<()> {
    let mut digest = Sha256::new();
    // In a package the other crates are those of this version.
    digest.update(env::var("CARGO_PKG_VERSION").unwrap_or_default());
    for place in DECIDE.map(Path::new).into_iter().filter(|place| place.exists()) {
        println!("cargo::rerun-if-changed={}", place.display());
        let mut files = Vec::new();
        list(place, &mut files)?;
        files.sort();
        for file in files {
            let text = fs::read(&file)?;
            digest.update(file.to_string_lossy().as_bytes());
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(&text);
        }
    }
    let hex: String = digest.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=LOCKWRIGHT_CODE={hex}");
    Ok(())
}

/// The file at `place`, or all in the folder.
fn list(place: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !place.is_dir() {
        files.push(place.into());
        return Ok(());
    }
    fs::read_dir(place)?.try_for_each(|entry| list(&entry?.path(), files))
}

//! The texts of licences that `cargo xtask install` puts next to the libraries: ours, and those of what is in them.
//!
//! The libraries contain a part of the standard library of Rust, and some crates. Both ask that their notices go with
//! copies.

use crate::disk::{copy_into, entries, read};
use crate::repository::sysroot;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Below the folder that is installed to.
const FOLDER: &str = "share/doc/lockwright";
/// Ours, at the root of the repository.
const OURS: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];
/// Of the standard library, in the folder of documents of a toolchain: one file and one folder.
const OF_RUST: (&str, &str) = ("COPYRIGHT-library.html", "licenses");
/// How names of such files begin.
const BEGINNINGS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

/// Copies the texts below `place`: ours, and those of the crates with these folders. Returns where they are.
pub fn install(root: &Path, crates: &BTreeSet<PathBuf>, place: &Path) -> Result<PathBuf, String> {
    let folder = place.join(FOLDER);
    copy_all(&OURS.map(|name| root.join(name)), &folder)?;
    for sources in crates {
        let texts = files_in(sources, |name| {
            let name = name.to_uppercase();
            BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        })?;
        if texts.is_empty() {
            return Err(format!("{}: no text of a licence", sources.display()));
        }
        copy_all(&texts, &folder.join(sources.file_name().unwrap_or_default()))?;
    }
    of_rust(root, &folder.join("rust"))?;
    Ok(folder)
}

/// Runs a command of cargo that builds a library. Returns the folders of the crates that it is made of, without those
/// of this repository. A folder is named after its crate and the version.
pub fn built(mut cargo: Command) -> Result<BTreeSet<PathBuf>, String> {
    cargo.args(["--message-format", "json-render-diagnostics"]);
    let output = cargo.stderr(std::process::Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{cargo:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(made_of).collect()),
        false => Err(format!("{cargo:?}: {}", output.status)),
    }
}

/// What a line of cargo's says about a crate that is in the library.
fn made_of(line: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    let is_ours = message["package_id"].as_str()?.starts_with("path+");
    let is_in = message["target"]["kind"].as_array()?.iter().any(|kind| kind == "lib");
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    (!is_ours && is_in).then(|| folder.to_path_buf())
}

/// The files of a folder whose names are wanted.
fn files_in(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, String> {
    let mut files = entries(folder)?;
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.retain(|path| path.is_file() && is_wanted(&name(path)));
    Ok(files)
}

fn copy_all(files: &[PathBuf], folder: &Path) -> Result<(), String> {
    files.iter().try_for_each(|file| copy_into(folder, file).map(drop))
}

/// What the toolchain has. A toolchain of a distribution may have none; then the distribution has them elsewhere.
fn of_rust(root: &Path, to: &Path) -> Result<(), String> {
    let documents = sysroot(root)?.join("share/doc/rust");
    let (list, texts) = (documents.join(OF_RUST.0), documents.join(OF_RUST.1));
    if !list.is_file() || !texts.is_dir() {
        eprintln!(
            "The licences of Rust's standard library, a part of which is in the libraries, are not in {}",
            documents.display()
        );
        return Ok(());
    }
    // The folder is that of the whole toolchain.
    let says = read(&list)?;
    let is_named = |name: &str| says.contains(name.rsplit_once('.').map_or(name, |it| it.0));
    copy_all(&files_in(&texts, is_named)?, &to.join(OF_RUST.1))?;
    copy_all(&[list], to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_others_that_are_in_the_library_are_found() {
        let line = |package: &str, kind: &str| {
            let target = format!(r#""target": {{ "kind": ["{kind}"] }}"#);
            let path = r#""manifest_path": "/registry/one-1.2.3/Cargo.toml""#;
            made_of(&format!(r#"{{ "package_id": "{package}", {target}, {path} }}"#))
        };
        let of_others = "registry+https://github.com/rust-lang/crates.io-index#one@1.2.3";
        assert_eq!(line(of_others, "lib"), Some("/registry/one-1.2.3".into()));
        assert_eq!(line(of_others, "custom-build"), None);
        assert_eq!(line("path+file:///here#ours@0.1.0", "lib"), None);
        assert_eq!(made_of(r#"{ "reason": "build-finished", "success": true }"#), None);
    }

    /// The text is next to the source, or at the root.
    #[test]
    fn each_licence_that_a_source_names_has_its_text_in_the_repository() {
        let texts = [
            ("MIT", "LICENSE-MIT", "Permission is hereby granted"),
            ("Apache-2.0", "LICENSE-APACHE", "Apache License"),
            ("GPL-2.0", "LICENSE-GPL-2.0", "GNU GENERAL PUBLIC LICENSE"),
        ];
        let root = crate::root();
        let sources = crate::tidy::sources(&root);
        let licences = |source: &crate::tidy::Source| {
            let first = source.text.lines().next()?.trim_end_matches("*/");
            Some(first.split_once("SPDX-License-Identifier: ")?.1.trim().to_owned())
        };
        let named = sources.iter().filter_map(|source| Some((source, licences(source)?)));
        let mut count = 0;
        for (source, licences) in named {
            let folder = root.join(&source.path);
            for licence in licences.split(" OR ") {
                let text = texts.iter().find(|(name, ..)| *name == licence);
                let (_, file, title) = text.unwrap_or_else(|| panic!("{}: {licence}", source.path));
                let places = [folder.with_file_name(file), root.join(file)];
                let has_text =
                    |place| std::fs::read_to_string(place).is_ok_and(|text| text.contains(title));
                assert!(places.iter().any(has_text), "{}: {licence}", source.path);
            }
            count += 1;
        }
        assert!(count >= 8, "{count}");
    }
}

//! The README's program, tried as a reader would: in a new crate with the README's dependencies.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The folder of the lock crate, as a crate next to the clone names it.
const NEXT_DOOR: &str = "../lockwright/crates/locks";

/// The first block of `language` in `text`.
fn block<'a>(text: &'a str, language: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("```{language}\n")).expect("a block of this language");
    rest.split_once("```").expect("the end of the block").0
}

/// What the README says that the program prints: the code spans of its sentence "It prints".
fn promised_lines(readme: &str) -> Vec<&str> {
    let (_, rest) = readme.split_once("It prints ").expect("the sentence");
    let sentence = rest.split_once(". ").expect("the end of the sentence").0;
    sentence.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_program_of_the_readme_compiles_and_prints_what_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("a root");
    let readme = fs::read_to_string(root.join("README.md")).expect("a README");
    let dependencies = block(&readme, "toml");
    assert!(dependencies.contains(NEXT_DOOR), "the README names {NEXT_DOOR}");
    let locks = root.join("crates/locks");
    let dependencies = dependencies.replace(NEXT_DOOR, &locks.to_string_lossy());

    // It stays where it is: what was compiled for it is there next time.
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    fs::create_dir_all(scratch.join("src")).expect("a folder");
    let manifest = "[package]\nname = \"readme\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";
    let write = |name: &str, text: &str| fs::write(scratch.join(name), text).expect("a file");
    write("Cargo.toml", &format!("{manifest}[workspace]\n{dependencies}"));
    write("src/main.rs", block(&readme, "rust"));
    fs::copy(root.join("Cargo.lock"), scratch.join("Cargo.lock")).expect("a file");

    let run = ["run", "--quiet", "--offline", "--target-dir", "target"];
    let output = Command::new(env!("CARGO")).args(run).current_dir(&scratch).output();
    let output = output.expect("cargo starts");
    assert!(output.status.success(), "{}", super::stderr(&output));
    let printed = super::stdout(&output);
    assert_eq!(printed.lines().collect::<Vec<_>>(), promised_lines(&readme));
}

//! The programs of the documents, tried as a reader would: in a new crate with the README's dependencies.

use super::{stderr, stdout};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the lock crate, as a crate next to the clone names it.
const NEXT_DOOR: &str = "../lockwright/crates/locks";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("a root")
}

/// A document of the repository.
fn document(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("a document")
}

/// The blocks of `language` in `text`.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    let starts = text.split(fence.as_str()).skip(1);
    starts.map(|rest| rest.split_once("```").expect("the end of the block").0).collect::<Vec<_>>()
}

/// A crate as `cargo new` makes it, with the dependencies of the README. It stays where it is, so that what was
/// compiled for it is there next time.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let readme = document("README.md");
        let dependencies = blocks(&readme, "toml")[0];
        assert!(dependencies.contains(NEXT_DOOR), "the README names {NEXT_DOOR}");
        let locks = root().join("crates/locks");
        let dependencies = dependencies.replace(NEXT_DOOR, &locks.to_string_lossy());
        let manifest = "[package]\nname = \"scratch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n";
        let scratch = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
        fs::create_dir_all(scratch.0.join("src")).expect("a folder");
        scratch.write("Cargo.toml", &format!("{manifest}[workspace]\n{dependencies}"));
        scratch.write("Cargo.lock", &document("Cargo.lock"));
        scratch
    }
    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.join(name), text).expect("a file");
    }
    /// Builds and runs `program`.
    fn run(&self, program: &str) -> Output {
        self.write("src/main.rs", program);
        let run = ["run", "--quiet", "--offline", "--target-dir", "target"];
        let output = Command::new(env!("CARGO")).args(run).current_dir(&self.0).output();
        let output = output.expect("cargo starts");
        assert!(output.status.success(), "{}\n{program}", stderr(&output));
        output
    }
}

/// What the README says that its program prints: the code spans of its sentence "It prints".
fn promised_lines(readme: &str) -> Vec<&str> {
    let (_, rest) = readme.split_once("It prints ").expect("the sentence");
    let sentence = rest.split_once(". ").expect("the end of the sentence").0;
    sentence.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_programs_of_the_documents_run_and_that_of_the_readme_prints_what_it_says() {
    let scratch = Scratch::new("documents");
    let migrating = document("docs/migrating.md");
    for program in blocks(&migrating, "rust") {
        scratch.run(program);
    }
    let readme = document("README.md");
    let printed = stdout(&scratch.run(blocks(&readme, "rust")[0]));
    assert_eq!(printed.lines().collect::<Vec<_>>(), promised_lines(&readme));
}

#[test]
fn docs_choosing_has_the_sizes_of_the_types() {
    use lockwright::{
        Barrier, CnaMutex, CnaSpinLock, FairMutex, FairRwLock, Mutex, Once, PercpuRwLock, QRwLock,
        ReentrantMutex, RwLock, RwSemLock, Semaphore, SpinLock,
    };
    let choosing = document("docs/choosing.md");
    let (_, table) = choosing.split_once("\n## What they are\n").expect("the heading");
    macro_rules! each {
        ($($name:literal: $lock:ty),+ $(,)?) => {$({
            let row = table.lines().find(|row| row.starts_with(&format!("| `{}` |", $name)));
            let bytes = row.and_then(|row| row.split('|').nth(2)).map(str::trim);
            assert_eq!(bytes, Some(&*size_of::<$lock>().to_string()), "{}", $name);
        })+};
    }
    each! {
        "Mutex": Mutex<()>, "CnaMutex": CnaMutex<()>, "FairMutex": FairMutex<()>,
        "ReentrantMutex": ReentrantMutex<()>, "RwLock": RwLock<()>, "FairRwLock": FairRwLock<()>,
        "PercpuRwLock": PercpuRwLock<()>, "RwSemLock": RwSemLock<()>, "QRwLock": QRwLock<()>,
        "Semaphore": Semaphore, "Once": Once, "Barrier": Barrier, "SpinLock": SpinLock<()>,
        "CnaSpinLock": CnaSpinLock<()>,
    }
}

/// A reader of any of these changes the locks of a program, and may read no other one.
#[test]
fn each_list_of_differences_from_parking_lot_has_those_that_break_a_program() {
    let places = [
        "README.md",
        "docs/migrating.md",
        "docs/programs.md",
        "packages/parking_lot/src/lib.rs",
        "crates/locks/src/lib.rs",
    ];
    for place in places {
        // Without the ends of lines, and what begins a comment.
        let text = document(place).replace("//!", " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for difference in ["embarrier", "abort"] {
            assert!(text.contains(difference), "{place}: {difference}");
        }
        // The wait of a writer has a bound.
        assert!(!text.contains("out for ever"), "{place}: readers and a writer of `RwLock`");
    }
}

#[test]
fn the_patch_is_the_same_in_both_places() {
    let lines = |text: &str, language: &str| {
        let block = blocks(text, language).into_iter().find(|it| it.contains("[patch.crates-io]"));
        let line = block.expect("the lines").lines().nth(1).expect("the second line").to_owned();
        line.split('#').next().unwrap_or_default().trim().to_owned()
    };
    let package = document("packages/parking_lot/src/lib.rs").replace("//! ", "");
    assert_eq!(lines(&document("docs/programs.md"), "toml"), lines(&package, "toml"));
}

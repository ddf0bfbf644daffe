//! `cargo xtask std-tests`: the tests of Rust's standard library, with Lockwright's types in the place of std's.
//!
//! The tests come from the source of the library when the command runs, and no line of them is in this repository. Each
//! runs in a process of its own.
//!
//! std has locks with and without poisoning, and writes most tests for both kinds. The kind without has nearly our
//! interface, so its tests are the ones taken: `std::sync` becomes a module that re-exports our types, and traits add
//! the calls that we do not have. An adapter with the interface of the kind with poisoning would consist of other
//! types, and its tests would say less about ours. Tests that exist only for that kind lose their `unwrap()`s, or are
//! left out.

mod left_out;
mod source;

use crate::options::not_an_option;
use crate::peer_tests::crates::{self, Built};
use crate::peer_tests::left_out::{LeftOut, Table};
use crate::peer_tests::report::Runs;
use crate::peer_tests::{left_out_that_pass, list, run_test};
use crate::stage::{Need, Stage};
use left_out::LEFT_OUT;
use source::TestFile;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// As they stand in the help.
pub const OPTIONS: &str = "[--library FOLDER] [--only TEXT]";

/// The source of the standard library.
const SOURCE: Need = Need {
    probe: &["rustup", "component", "list", "--installed"],
    prints: "rust-src",
    get: "rustup component add rust-src",
};

/// The tests of the pinned toolchain's library.
pub fn stage() -> Stage {
    Stage::command("std-tests", 600, &["cargo", "xtask", "std-tests"]).needing(SOURCE)
}

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The folder `library` of Rust's source, if it is not the one of the toolchain.
    library: Option<PathBuf>,
    /// Only tests with this text in their name.
    only: String,
}

impl Request {
    /// Reads the arguments behind `std-tests`.
    pub fn of(arguments: &[&str]) -> Result<Self, String> {
        let mut request = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--library" => {
                    let complaint = "`--library` needs the folder `library` of Rust's source, \
                                     such as `--library /usr/src/rustc-1.95.0/library`";
                    request.library = Some(arguments.next().ok_or(complaint)?.into());
                }
                "--only" => {
                    let complaint =
                        "`--only` needs a part of a test's name, such as `--only rwlock`";
                    request.only = arguments.next().ok_or(complaint)?.to_string();
                }
                other => return Err(not_an_option(other, OPTIONS)),
            }
        }
        Ok(request)
    }
}

/// Where the tests are written, below the root of the repository.
const FOLDER: &str = "target/std-tests";
/// What cargo calls the program with the tests.
const TARGET: &str = "std_tests";
/// What the tests find in the place of std.
const HARNESS: &str = include_str!("harness.txt");

/// Runs the tests. Returns true if all pass, and all that are left out have to be. Without the source of the library it
/// says so, and returns true.
pub fn run(root: &Path, request: &Request) -> Result<bool, String> {
    let Some(folder) = source::folder(root, request.library.as_deref())? else {
        eprintln!(
            "std-tests: not run, because the source of std is missing. To install it, type `{}`; \
             a copy elsewhere is named by --library",
            SOURCE.get
        );
        return Ok(true);
    };
    let files = source::files(&folder)?;
    let table = table(&files);
    write(root, &files, &table).map_err(|error| format!("{FOLDER} cannot be written: {error}"))?;
    eprintln!("std-tests: compiling the tests in {}", folder.display());
    let built = build(root)?;
    let mut complaints = table.complaints_of_build(&built);
    complaints.extend(left_out_that_pass(&table, &built)?);
    let names = names(program(&built)?, &files, &table)?;
    let names = names.into_iter().filter(|name| name.contains(&request.only)).collect::<Vec<_>>();
    if names.is_empty() {
        let only = &request.only;
        return Err(format!(
            "no test has `{only}` in its name; without `--only` all names are printed"
        ));
    }
    let failed = run_all(program(&built)?, &names)?;
    let passed = names.len() - failed.len();
    println!("\n{passed} of {} tests pass with Lockwright.", names.len());
    for name in &failed {
        println!("  {name} FAILED");
    }
    print!("{}", table.text());
    let twins: usize = files.iter().map(TestFile::twins).sum();
    println!(
        "{twins} more are about locks with poisoning; the same tests of locks without have run."
    );
    for complaint in &complaints {
        eprintln!("std-tests: {complaint}");
    }
    Ok(complaints.is_empty() && failed.is_empty())
}

/// Runs each test in a process of its own. Returns those that failed.
fn run_all<'a>(program: &Path, names: &'a [String]) -> Result<Vec<&'a str>, String> {
    let mut failed = Vec::new();
    for name in names {
        let mut runs = Runs::default();
        run_test(program, name, &mut runs)?;
        if let Some(printed) = runs.failures.first() {
            eprintln!("std-tests: {name} fails:\n{printed}");
            failed.push(name.as_str());
        }
        println!("{name}: {}", if runs.failures.is_empty() { "passed" } else { "FAILED" });
    }
    Ok(failed)
}

/// The rows about tests that this version of std has. The others are named; no more than that, since the source may be
/// of another version than the one the table was written for.
fn table(files: &[TestFile]) -> Table {
    let is_there = |row: &LeftOut| {
        let mut of_file = files.iter().filter(|file| file.name == row.file);
        of_file.any(|file| file.tests().any(|test| test == row.test))
    };
    for notice in LEFT_OUT.complaints(&is_there) {
        eprintln!("std-tests: {notice}, or not yet");
    }
    let rows = LEFT_OUT.rows.iter().filter(|row| is_there(row)).copied().collect();
    Table { rows, ..LEFT_OUT }
}

/// Writes a package with the tests, and a program for each test that is left out, so that each shows by itself if it
/// compiles.
fn write(root: &Path, files: &[TestFile], table: &Table) -> io::Result<()> {
    let folder = root.join(FOLDER);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("src"))?;
    fs::create_dir_all(folder.join("tests"))?;
    let manifest = format!(
        "[workspace]\n\n[package]\nname = \"{TARGET}\"\nedition = \"2024\"\n\n\
         [dependencies]\nlockwright = {{ path = {:?} }}\n",
        root.join("crates/locks")
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    let modules: String = files.iter().map(|file| format!("mod {};\n", file.name)).collect();
    fs::write(folder.join("src/lib.rs"), format!("{HARNESS}{modules}"))?;
    for file in files {
        let path = folder.join("src").join(file.name).with_extension("rs");
        fs::write(path, file.text(&|test| !table.contains(file.name, test)))?;
        for row in table.rows.iter().filter(|row| row.file == file.name) {
            let path = folder.join("tests").join(row.target()).with_extension("rs");
            let test = file.text(&|test| test == row.test);
            fs::write(path, format!("{HARNESS}mod left_out {{\n{test}}}\n"))?;
        }
    }
    Ok(())
}

/// The program with the tests that are not left out.
fn program(built: &Built) -> Result<&Path, String> {
    let program = built.programs.get(TARGET).map(PathBuf::as_path);
    program.ok_or_else(|| "the tests are not built".into())
}

fn build(root: &Path) -> Result<Built, String> {
    let (built, said) = crates::compile(root, FOLDER)?;
    if program(&built).is_err() {
        let errors = built.errors.get(TARGET).unwrap_or(&said);
        return Err(format!(
            "the tests do not compile. If one uses what Lockwright does not have, add it to {}:\n{errors}",
            LEFT_OUT.here
        ));
    }
    Ok(built)
}

/// The names of the tests of the program, which are all in the files but those that are left out.
fn names(program: &Path, files: &[TestFile], table: &Table) -> Result<Vec<String>, String> {
    let names = list(program)?;
    let is_lost = |file: &str, test: &str| {
        !table.contains(file, test) && !names.contains(&format!("{file}::{test}"))
    };
    let lost = files.iter().find_map(|file| {
        let mut tests = file.tests();
        tests.find(|test| is_lost(file.name, test)).map(|test| (file.name, test))
    });
    match lost {
        Some((file, test)) => Err(format!(
            "{file}: `{test}` is not compiled and not in the table of {}",
            LEFT_OUT.here
        )),
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_a_part_of_a_name_are_read() {
        let request = Request::of(&["--library", "rust/library", "--only", "once"]);
        let expected = Request { library: Some("rust/library".into()), only: "once".into() };
        assert_eq!(request, Ok(expected));
        assert_eq!(Request::of(&[]), Ok(Request::default()));
    }

    #[test]
    fn a_row_about_a_test_that_this_version_lacks_is_not_used() {
        let text = "#[test] fn test_arc_condvar_poison() {}";
        let files = [TestFile::of("condvar", text.into()).expect("Rust with a test")];
        let rows = table(&files).rows;
        let named: Vec<_> = rows.iter().map(|row| (row.file, row.test)).collect();
        assert_eq!(named, [("condvar", "test_arc_condvar_poison")]);
    }

    #[test]
    fn a_folder_without_tests_is_refused() {
        let answer = source::folder(Path::new("."), Some(Path::new("no/such/library")));
        assert!(answer.is_err_and(|it| it.contains("give the folder `library`")));
    }
}

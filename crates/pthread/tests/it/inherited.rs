//! What a program inherits: the table of README.md, walked with `tests/inherits.c`. The lab does it with its launcher.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

const README: &str = include_str!("../../README.md");

/// The rows of the table: what is inherited, and what is said of it.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let (_, section) = README.split_once("## What a program inherits").expect("a section");
    let table = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    table.map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
}

/// What is different if the program is started with these words in front of it. The environment is looked at without
/// the library's name.
pub fn differences(program: &Path, words: &[&OsStr]) -> Vec<String> {
    let print = |words: &[&OsStr]| {
        let mut command = Command::new(program);
        command.arg("--").args(words).arg(program).args(["one", "", "a b"]);
        let output = command.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    };
    let (usual, started) = (print(&[]), print(words));
    let names = |text: &str| -> Vec<String> {
        text.lines().filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect()
    };
    let of_table: Vec<_> = rows().map(|(name, _)| name.to_owned()).collect();
    assert_eq!((&names(&usual), &names(&started)), (&of_table, &of_table));
    let mut different = Vec::new();
    for ((name, said), (usual, started)) in rows().zip(usual.lines().zip(started.lines())) {
        let mut kept = started.to_owned();
        if name == "environment" {
            let is_ours = |entry: &&str| entry.trim_start_matches('\'').starts_with("LD_PRELOAD=");
            let of_library = started.split("' '").find(is_ours).expect("the library is named");
            kept = started.replace(&format!(" '{}'", of_library.trim_matches('\'')), "");
            assert!(!said.starts_with("the same"), "{said}");
        } else {
            assert!(said.starts_with("the same"), "{said}");
        }
        if usual != kept {
            different.push(format!("usual   {usual}\nstarted {started}\n"));
        }
    }
    different
}

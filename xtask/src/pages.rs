//! Pages that say how to add something, done as they say: in a copy of the repository, their files and changes are made
//! and their commands are run.

use crate::disk;
use crate::limit::{command, printed};
use crate::new_lock;
use crate::tidy;
use clap::Parser;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The pages, and the headings before and behind the part that is done.
const PAGES: [(&str, [&str; 2]); 3] = [
    ("docs/adding-a-lock.md", ["## Try it", "## Before it is merged"]),
    ("docs/adding-a-workload.md", ["## Try it", "## What to know while you write"]),
    ("docs/adding-a-succession.md", ["## Try it", "## What to know while you write"]),
];
const XTASK: &str = "cargo xtask ";
const NEW_LOCK: &str = "cargo xtask new-lock ";
/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(600);

/// Something that a page says.
#[derive(Debug, PartialEq)]
enum Step<'a> {
    /// A block of `sh`: run this line.
    Run(&'a str),
    /// A block of `rust`: this file has these lines.
    Make(&'a str, Vec<&'a str>),
    /// A block of `diff`: this file changes so.
    Change(&'a str, Vec<&'a str>),
    /// A block of `text`: the last command printed each of these lines.
    Printed(Vec<&'a str>),
}

/// Does what the pages say. Returns true if everything comes as they say.
pub fn are_as_described() -> bool {
    PAGES.iter().all(|(page, part)| {
        let done = exercise(&crate::root(), page, part);
        done.inspect_err(|why| eprintln!("{page}: {why}")).is_ok()
    })
}

fn exercise(root: &Path, page: &str, part: &[&str; 2]) -> Result<(), String> {
    let text = disk::read(&root.join(page))?;
    let copy = root.join("target/pages");
    copy_of(root, &copy)?;
    let mut said = String::new();
    for step in steps(&text, part)? {
        match step {
            Step::Run(line) if line.starts_with(NEW_LOCK) => {
                new_lock::make(&copy, &request(line)?)?
            }
            Step::Run(line) => said = run(root, &copy, line)?,
            Step::Make(file, lines) => disk::write(&copy.join(file), lines.join("\n") + "\n")?,
            Step::Change(file, lines) => {
                let source = disk::read(&copy.join(file))?;
                let changed = changed(&source, &lines).map_err(|why| format!("{file}: {why}"))?;
                disk::write(&copy.join(file), changed)?;
            }
            Step::Printed(lines) => has_printed(&said, &lines)?,
        }
    }
    run(root, &copy, "cargo fmt --all --check")?;
    match tidy::run(&copy, true) {
        true => Ok(()),
        false => Err("tidy finds errors in what was added".into()),
    }
}

/// What a line asks for that makes a lock.
fn request(line: &str) -> Result<new_lock::Request, String> {
    let words = line.strip_prefix(XTASK).unwrap_or(line).split_whitespace();
    new_lock::Request::try_parse_from(words).map_err(|error| error.to_string())
}

/// What the page says, in the part that is done. A block is about the file that was named last before it.
fn steps<'a>(text: &'a str, part: &[&str; 2]) -> Result<Vec<Step<'a>>, String> {
    let missing = |title: &str| format!("there is no section `{title}`");
    let (_, rest) = text.split_once(part[0]).ok_or_else(|| missing(part[0]))?;
    let (rest, _) = rest.split_once(part[1]).ok_or_else(|| missing(part[1]))?;
    let (mut lines, mut file) = (rest.lines(), None);
    let mut steps = Vec::new();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            let code = line.split('`').skip(1).step_by(2);
            file =
                code.filter(|it| it.starts_with("crates/") && it.ends_with(".rs")).last().or(file);
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let file = file.ok_or("a block comes before a file is named");
        match language {
            "sh" => steps.extend(block.into_iter().map(Step::Run)),
            "rust" => steps.push(Step::Make(file?, block)),
            "diff" => steps.push(Step::Change(file?, block)),
            _ => steps.push(Step::Printed(block)),
        }
    }
    Ok(steps)
}

/// The source with the change, whose lines begin with a space, `+` or `-`.
fn changed(source: &str, change: &[&str]) -> Result<String, String> {
    let without = |sign: char| -> String {
        let lines = change.iter().filter(|line| !line.starts_with(sign));
        lines.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect()
    };
    let (old, new) = (without('+'), without('-'));
    match source.matches(&old).count() {
        1 => Ok(source.replacen(&old, &new, 1)),
        count => Err(format!("these lines are there {count} times, and not once:\n{old}")),
    }
}

/// Every line of the document is one that was printed.
fn has_printed(printed: &str, lines: &[&str]) -> Result<(), String> {
    let has = |line: &&&str| printed.lines().any(|it| it.trim_end() == line.trim_end());
    match lines.iter().find(|line| !has(line)) {
        None => Ok(()),
        Some(line) => Err(format!("`{line}` was not printed, but:\n{printed}")),
    }
}

/// Runs a line of the document in the copy; what it prints.
fn run(root: &Path, copy: &Path, line: &str) -> Result<String, String> {
    eprintln!("pages: {line}");
    let start = Instant::now();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(copy).env("CARGO_TARGET_DIR", root.join("target"));
    let printed = printed(&mut command, LIMIT)?;
    eprintln!("pages: done after {:.0} s", start.elapsed().as_secs_f64());
    Ok(printed)
}

/// Copies the files of the repository, and takes away what was there.
fn copy_of(root: &Path, copy: &Path) -> Result<(), String> {
    let mut git = command("git ls-files -z --cached --others --exclude-standard");
    let listed = printed(git.current_dir(root), LIMIT)?;
    let _ = fs::remove_dir_all(copy);
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root.join(name), copy.join(name));
        // A file that is deleted and still listed.
        if !from.exists() {
            continue;
        }
        let made = to.parent().map_or(Ok(()), fs::create_dir_all);
        // A symbolic link stays one: packages link to the machines and tables of the repository.
        let copied = made.and_then(|()| match from.is_symlink() {
            true => symlink(fs::read_link(&from)?, &to),
            false => fs::copy(&from, &to).map(drop),
        });
        copied.map_err(|error| format!("{name} cannot be copied: {error}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_of<'a>(text: &'a str, page: usize) -> Vec<Step<'a>> {
        steps(text, &PAGES[page].1).expect("its sections")
    }

    /// The module that a step makes.
    fn made(step: &Step<'_>) -> String {
        let Step::Run(line) = step else { panic!("no command: {step:?}") };
        let new_lock::Request { name, like } = request(line).expect("it makes a lock");
        name.source(like)
    }

    #[test]
    fn the_page_about_locks_makes_a_lock_changes_it_and_runs_it() {
        let text = disk::read(&crate::root().join(PAGES[0].0)).expect("the page");
        let steps = steps_of(&text, 0);
        assert!(matches!(steps[0], Step::Run(line) if line.starts_with(NEW_LOCK)));
        let Step::Change(file, change) = &steps[1] else { panic!("no change: {:?}", steps[1]) };
        assert_eq!(*file, "crates/catalog/src/polite.rs");
        let source = made(&steps[0]);
        let changed = changed(&source, change).expect("the lines are there");
        assert_eq!(changed.matches("store_byte0(0, Release);\n        P::delay(").count(), 1);
        assert!(matches!(steps[2], Step::Run(line) if line.starts_with("LOCKWRIGHT_ONLY=polite,")));
        assert!(matches!(steps[3], Step::Printed(_)));
    }

    #[test]
    fn the_page_about_workloads_makes_a_module_and_its_changes_fit_the_list() {
        let text = disk::read(&crate::root().join(PAGES[1].0)).expect("the page");
        let steps = steps_of(&text, 1);
        assert!(matches!(steps[0], Step::Make("crates/measure/src/workload/prices.rs", _)));
        for step in &steps[1..3] {
            let Step::Change(file, change) = step else { panic!("no change: {step:?}") };
            let source = disk::read(&crate::root().join(file)).expect("the list");
            changed(&source, change).expect("the lines are there");
        }
        assert!(matches!(steps[4], Step::Run(line) if line.contains("--workload prices")));
        assert!(matches!(steps[5], Step::Printed(_)));
    }

    #[test]
    fn the_page_about_successions_makes_a_rule_changes_it_and_gives_it_a_column() {
        let text = disk::read(&crate::root().join(PAGES[2].0)).expect("the page");
        let steps = steps_of(&text, 2);
        let Step::Change(file, change) = &steps[1] else { panic!("no change: {:?}", steps[1]) };
        assert_eq!(*file, "crates/catalog/src/few.rs");
        changed(&made(&steps[0]), change).expect("the lines are there");
        for part in ["try bench ", "try explore ", "try torture ", "--quote", "try reproduce "] {
            let runs = |step: &Step<'_>| matches!(step, Step::Run(line) if line.contains(part));
            assert!(steps.iter().any(runs), "{part}");
        }
    }

    #[test]
    fn a_change_replaces_lines_that_are_there_once() {
        assert_eq!(changed("a\nb\nc\n", &[" a", "+x", "-b"]), Ok("a\nx\nc\n".into()));
        assert!(changed("a\na\n", &[" a", "+x"]).is_err_and(|it| it.contains("2 times")));
    }

    #[test]
    fn a_line_that_is_not_printed_is_named() {
        assert_eq!(has_printed("one  1\ntwo  2  \n", &["two  2"]), Ok(()));
        assert!(has_printed("one  1\n", &["one  2"]).is_err_and(|it| it.starts_with("`one  2`")));
    }
}

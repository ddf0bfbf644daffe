//! docs/adding-a-lock.md, done as it says: in a copy of the repository, its commands are run and its change is made.

use super::{LOCKS, NewLock, write};
use crate::disk;
use crate::limit::printed;
use crate::tidy;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const DOCUMENT: &str = "docs/adding-a-lock.md";
/// What stands in the document before the part that is done, and behind it.
const PART: [&str; 2] = ["## Try it", "## Before it is merged"];
const NEW_LOCK: &str = "cargo xtask new-lock ";
/// How long one command may take.
const LIMIT: Duration = Duration::from_secs(600);

/// A block of the document: its language and its lines.
type Block<'a> = (&'a str, Vec<&'a str>);

/// Does what the document says. Returns true if everything comes as it says.
pub fn is_as_described() -> bool {
    let result = exercise(&crate::root());
    if let Err(why) = &result {
        eprintln!("new-lock: {DOCUMENT}: {why}");
    }
    result.is_ok()
}

fn exercise(root: &Path) -> Result<(), String> {
    let text = disk::read(&root.join(DOCUMENT))?;
    let copy = root.join("target/new-lock");
    copy_of(root, &copy)?;
    let mut made = None;
    let mut printed = String::new();
    for (language, lines) in blocks(&text)? {
        match language {
            "sh" => {
                for line in lines {
                    match line.strip_prefix(NEW_LOCK) {
                        Some(name) => {
                            let lock = NewLock::called(name.trim())?;
                            write(&copy, &lock)?;
                            made = Some(lock);
                        }
                        None => printed = run(root, &copy, line)?,
                    }
                }
            }
            "rust" => {
                let lock = made.as_ref().ok_or("a change comes before the lock is made")?;
                let path = copy.join(LOCKS).join(format!("{}.rs", lock.module));
                let source = disk::read(&path)?;
                disk::write(&path, with_unlock(&source, &lines)?)?;
            }
            _ => has_printed(&printed, &lines)?,
        }
    }
    made.ok_or_else(|| format!("`{NEW_LOCK}NAME` is missing"))?;
    match tidy::run(&copy, true) {
        true => Ok(()),
        false => Err("tidy finds errors in the new lock".into()),
    }
}

/// The blocks of code in the part of the document that is done.
fn blocks(text: &str) -> Result<Vec<Block<'_>>, String> {
    let missing = |title: &str| format!("there is no section `{title}`");
    let (_, part) = text.split_once(PART[0]).ok_or_else(|| missing(PART[0]))?;
    let (part, _) = part.split_once(PART[1]).ok_or_else(|| missing(PART[1]))?;
    let mut lines = part.lines();
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            blocks.push((language, lines.by_ref().take_while(|line| *line != "```").collect()));
        }
    }
    Ok(blocks)
}

/// The source with these lines as the body of `unlock`.
fn with_unlock(source: &str, lines: &[&str]) -> Result<String, String> {
    const BEGIN: &str = "unsafe fn unlock(&self) {\n";
    let at = source.find(BEGIN).ok_or("the template has no `unlock`")? + BEGIN.len();
    let length = source[at..].find("    }\n").ok_or("`unlock` of the template has no end")?;
    let new: String = lines.iter().map(|line| format!("        {line}\n")).collect();
    Ok([&source[..at], &new, &source[at + length..]].concat())
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
    eprintln!("new-lock: {line}");
    let start = Instant::now();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(copy).env("CARGO_TARGET_DIR", root.join("target"));
    let printed = printed(&mut command, LIMIT)?;
    eprintln!("new-lock: done after {:.0} s", start.elapsed().as_secs_f64());
    Ok(printed)
}

/// Copies the files of the repository, and takes away what was there.
fn copy_of(root: &Path, copy: &Path) -> Result<(), String> {
    let all = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let mut git = Command::new("git");
    let listed = printed(git.args(all).current_dir(root), LIMIT)?;
    let _ = fs::remove_dir_all(copy);
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root.join(name), copy.join(name));
        // A file that is deleted and still listed.
        if !from.exists() {
            continue;
        }
        let made = to.parent().map_or(Ok(()), fs::create_dir_all);
        let copied = made.and_then(|()| copy_file(&from, &to));
        copied.map_err(|error| format!("{name} cannot be copied: {error}"))?;
    }
    Ok(())
}

/// Copies a file. A symbolic link stays one: packages link to the machines and tables of the repository.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    fs::copy(from, to).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_makes_a_lock_changes_it_and_runs_it() {
        let text = disk::read(&crate::root().join(DOCUMENT)).expect("the document");
        let blocks = blocks(&text).expect("its sections");
        let languages: Vec<_> = blocks.iter().map(|(language, _)| *language).collect();
        assert_eq!(languages, ["sh", "rust", "sh", "text", "sh"]);
        assert!(blocks[0].1[0].starts_with(NEW_LOCK));
        let changed =
            with_unlock(&NewLock::called("polite").expect("a name").source(), &blocks[1].1);
        let changed = changed.expect("there is an `unlock`");
        assert_eq!(changed.matches("store_byte0(0, Release);\n        P::delay(").count(), 1);
        assert!(blocks[2].1[0].starts_with("LOCKWRIGHT_ONLY=polite,"));
    }

    #[test]
    fn a_line_that_is_not_printed_is_named() {
        assert_eq!(has_printed("one  1\ntwo  2  \n", &["two  2"]), Ok(()));
        assert!(has_printed("one  1\n", &["one  2"]).is_err_and(|it| it.starts_with("`one  2`")));
    }
}

//! Rules about words that have no business in the tree.

use super::code::words;
use super::{Finding, Source};

/// Findings for the lines (of code, or of the text) that `is_bad`.
fn bad_lines<'a>(
    source: &Source,
    lines: impl Iterator<Item = &'a str>,
    is_bad: impl Fn(&str) -> bool,
    message: &str,
) -> Vec<Finding> {
    let numbered = lines.zip(1..);
    numbered.filter(|(line, _)| is_bad(line)).map(|(_, at)| source.finding(at, message)).collect()
}

fn code_lines(source: &Source) -> impl Iterator<Item = &str> {
    source.code().lines.iter().map(String::as_str)
}

/// No notes to oneself; clippy finds placeholder macros.
pub fn nothing_is_left_to_do(source: &Source, _: &[Source]) -> Vec<Finding> {
    // In two parts, so that this file does not contain them.
    let notes = [concat!("FIX", "ME"), concat!("XX", "X"), concat!("TO", "DO")];
    let is_note = |line: &str| words(line).any(|word| notes.contains(&word));
    bad_lines(source, source.text.lines(), is_note, "a note to oneself")
}

/// No test is switched off.
pub fn no_test_is_switched_off(source: &Source, _: &[Source]) -> Vec<Finding> {
    let is_ignored = |line: &str| {
        line.trim_start().starts_with("#[") && words(line).any(|word| word == "ignore")
    };
    bad_lines(source, code_lines(source), is_ignored, "a test that is switched off tests nothing")
}

/// A lint is allowed by its own name, where it is broken.
pub fn lints_are_allowed_one_by_one(source: &Source, _: &[Source]) -> Vec<Finding> {
    const RUSTC: [&str; 3] = ["dead_code", "unused", "warnings"];
    const CLIPPY: [&str; 7] =
        ["all", "pedantic", "correctness", "style", "complexity", "suspicious", "perf"];
    let is_group = |lint: &str| match lint.trim().strip_prefix("clippy::") {
        Some(group) => CLIPPY.contains(&group),
        None => RUSTC.contains(&lint.trim()),
    };
    let is_blanket = |line: &str| {
        let Some((_, list)) = line.split_once("allow(") else { return false };
        let list = list.split(')').next().unwrap_or(list);
        list.split(',').any(is_group)
    };
    bad_lines(source, code_lines(source), is_blanket, "a blanket allow")
}

/// No path that exists on one machine only.
pub fn nothing_depends_on_the_machine_it_was_written_on(
    source: &Source,
    _: &[Source],
) -> Vec<Finding> {
    let homes = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let has_path = |line: &str| {
        homes.iter().any(|home| {
            let starts_path = |at: usize| {
                // `crates/root/` is a path of ours; a path of a machine starts at the slash.
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-}".contains(c))
            };
            line.match_indices(home).any(|(at, _)| starts_path(at))
        })
    };
    let message = "a path of one machine; write it relative to the repository";
    bad_lines(source, source.text.lines(), has_path, message)
}

/// No merge is half done.
pub fn no_merge_is_half_done(source: &Source, _: &[Source]) -> Vec<Finding> {
    // Built, so that this file does not contain them.
    let [ours, theirs] = ["<", ">"].map(|c| c.repeat(7) + " ");
    let between = "=".repeat(7);
    let is_marker = |line: &str| {
        line.starts_with(&ours) || line.starts_with(&theirs) || line.trim_end() == between
    };
    bad_lines(source, source.text.lines(), is_marker, "a conflict marker")
}

#[cfg(test)]
mod tests {
    use super::super::Rule;
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn what_must_not_be_there_is_found_and_nothing_else() {
        let of_machine = nothing_depends_on_the_machine_it_was_written_on;
        let cases: [(Rule, &str, &str, usize); 12] = [
            (nothing_is_left_to_do, "a.md", concat!("FIX", "ME: all of it"), 1),
            (nothing_is_left_to_do, "a.rs", "// says todo!() in a comment", 0),
            (no_test_is_switched_off, "a.rs", "#[test]\n#[ignore]\nfn f() {}", 1),
            (no_test_is_switched_off, "a.rs", "#[cfg_attr(miri, ignore)]\nfn f() {}", 1),
            (no_test_is_switched_off, "a.rs", "fn ignore() {}", 0),
            (lints_are_allowed_one_by_one, "a.rs", "#![allow(missing_docs, dead_code)]", 1),
            (lints_are_allowed_one_by_one, "a.rs", "#[allow(clippy::all)]", 1),
            (lints_are_allowed_one_by_one, "a.rs", "#[allow(clippy::manual_map)]", 0),
            (of_machine, "a.md", concat!("see /wo", "rk/notes.md"), 1),
            (of_machine, "a.rs", concat!("const A: &str = \"/ro", "ot/x\";"), 1),
            (of_machine, "a.toml", concat!("path = \"/ho", "me/me/x\""), 1),
            (of_machine, "a.md", concat!("crates/wo", "rk/src"), 0),
        ];
        for (rule, path, text, found) in cases {
            assert_eq!(findings(rule, path, text).len(), found, "{text}");
        }
        let [ours, between, theirs] = ["<", "=", ">"].map(|c| c.repeat(7));
        let text = format!("a\n{ours} main\nb\n{between}\nc\n{theirs} branch\nin {ours} a line\n");
        assert_eq!(findings(no_merge_is_half_done, "a.toml", &text).len(), 3);
    }
}

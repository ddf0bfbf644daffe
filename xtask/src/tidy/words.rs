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
    source.code.lines.iter().map(String::as_str)
}

/// No placeholder macros, no notes to oneself.
pub fn nothing_is_left_to_do(source: &Source, _: &[Source]) -> Vec<Finding> {
    // In two parts, so that this file does not contain them.
    let notes = [concat!("FIX", "ME"), concat!("XX", "X"), concat!("TO", "DO")];
    let is_note = |line: &str| words(line).any(|word| notes.contains(&word));
    let is_placeholder = |line: &str| line.contains("todo!") || line.contains("unimplemented!");
    let mut findings = bad_lines(source, source.text.lines(), is_note, "a note to oneself");
    findings.extend(bad_lines(source, code_lines(source), is_placeholder, "a placeholder"));
    findings
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
    const GROUPS: &[&str] = &[
        "dead_code",
        "unused",
        "warnings",
        "clippy::all",
        "clippy::pedantic",
        "clippy::correctness",
        "clippy::style",
        "clippy::complexity",
        "clippy::suspicious",
        "clippy::perf",
    ];
    let is_blanket = |line: &str| {
        let Some((_, list)) = line.split_once("allow(") else { return false };
        let list = list.split(')').next().unwrap_or(list);
        list.split(',').any(|lint| GROUPS.contains(&lint.trim()))
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
    bad_lines(
        source,
        source.text.lines(),
        has_path,
        "a path of one machine; write it relative to the repository",
    )
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
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn placeholders_and_notes_are_found() {
        let rule = nothing_is_left_to_do;
        assert_eq!(findings(rule, "a.rs", "fn f() { todo!() }").len(), 1);
        assert_eq!(findings(rule, "a.rs", "fn f() {\n    unimplemented!(\"g\")\n}")[0].line, 2);
        assert_eq!(findings(rule, "a.md", concat!("FIX", "ME: all of it")).len(), 1);
        assert_eq!(findings(rule, "a.rs", concat!("// XX", "X")).len(), 1);
        assert!(findings(rule, "a.rs", "// says todo!() in a comment").is_empty());
    }

    #[test]
    fn tests_that_are_switched_off_are_found() {
        let rule = no_test_is_switched_off;
        assert_eq!(findings(rule, "a.rs", "#[test]\n#[ignore]\nfn f() {}")[0].line, 2);
        assert_eq!(findings(rule, "a.rs", "#[ignore = \"slow\"]\nfn f() {}").len(), 1);
        assert_eq!(findings(rule, "a.rs", "#[cfg_attr(miri, ignore)]\nfn f() {}").len(), 1);
        assert!(findings(rule, "a.rs", "fn ignore() {}").is_empty());
    }

    #[test]
    fn blanket_allows_are_found() {
        let rule = lints_are_allowed_one_by_one;
        for lint in ["dead_code", "unused", "warnings", "clippy::all"] {
            let text = format!("#![allow(missing_docs, {lint})]");
            assert_eq!(findings(rule, "a.rs", &text).len(), 1, "{lint}");
        }
        let one = "#[allow(clippy::declare_interior_mutable_const)]";
        assert!(findings(rule, "a.rs", one).is_empty());
    }

    #[test]
    fn conflict_markers_are_found() {
        let rule = no_merge_is_half_done;
        let [ours, between, theirs] = ["<", "=", ">"].map(|c| c.repeat(7));
        let text = format!("a\n{ours} main\nb\n{between}\nc\n{theirs} branch\n");
        let lines = |path, text: &str| -> Vec<usize> {
            findings(rule, path, text).iter().map(|finding| finding.line).collect()
        };
        for path in ["a.md", "a.rs", "a.toml"] {
            assert_eq!(lines(path, &text), [2, 4, 6], "{path}");
        }
        assert!(lines("a.md", &format!("Title\n{between}=\nin a line: {ours} x\n")).is_empty());
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        let rule = nothing_depends_on_the_machine_it_was_written_on;
        assert_eq!(findings(rule, "a.md", concat!("see /wo", "rk/notes.md")).len(), 1);
        assert_eq!(findings(rule, "a.rs", concat!("const A: &str = \"/ro", "ot/x\";")).len(), 1);
        assert_eq!(findings(rule, "a.toml", concat!("path = \"/ho", "me/me/x\"")).len(), 1);
        assert!(findings(rule, "a.md", concat!("crates/wo", "rk/src")).is_empty());
    }
}

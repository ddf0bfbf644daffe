//! Rules about the lock crate.

use super::code::words;
use super::{Finding, Source};
use crate::packages::below_sources;
use std::collections::BTreeSet;

/// The platform of programs: it implements what the rest of the crate has to ask for.
const PLATFORM: [&str; 3] = ["native/", "hardware/", "hq/native.rs"];
/// How far above an access its comment may be.
const LINES_ABOVE: usize = 6;
const ORDERINGS: &[&str] = &["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// The lines of lock code that are not tests, with their numbers counted from 0.
fn lock_lines(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let below = below_sources(&source.path).unwrap_or_default();
    lines(source).filter(|_| !PLATFORM.iter().any(|folder| below.starts_with(folder)))
}

/// The lines of code of the packages with locks that are not tests, with their numbers counted from 0.
fn lines(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let code = below_sources(&source.path).map_or(&[][..], |_| source.code().product());
    code.iter().map(String::as_str).enumerate()
}

/// Where code names an ordering, other than to import it.
fn uses_of_orderings(source: &Source) -> impl Iterator<Item = usize> {
    let mut in_import = false;
    lines(source).filter_map(move |(at, line)| {
        let starts_import = words(line).find(|word| *word != "pub") == Some("use");
        let is_import = in_import || starts_import;
        in_import = is_import && !line.contains(';');
        let has_ordering = words(line).any(|word| ORDERINGS.contains(&word));
        (has_ordering && !is_import).then_some(at)
    })
}

/// The text of the `ordering:` comment above line `at`, to its end.
fn ordering_comment(source: &Source, at: usize) -> Option<String> {
    let lines: Vec<_> = source.text.lines().collect();
    let above = at.saturating_sub(LINES_ABOVE)..=at;
    let begin = above.rev().find(|line| lines[*line].contains("// ordering:"))?;
    let rest = lines[begin..at].iter().take_while(|line| line.trim_start().starts_with("//"));
    Some(rest.copied().collect::<Vec<_>>().join(" "))
}

/// Every ordering stands below a comment that says why this one.
pub fn every_ordering_has_a_reason(source: &Source, _: &[Source]) -> Vec<Finding> {
    let is_bare = |at: &usize| ordering_comment(source, *at).is_none();
    let message = "an ordering without an `// ordering:` comment above it";
    uses_of_orderings(source).filter(is_bare).map(|at| source.finding(at + 1, message)).collect()
}

/// Every id in such a comment is a row of a table in the module's documentation.
pub fn every_ordering_id_is_in_a_table(source: &Source, all: &[Source]) -> Vec<Finding> {
    let mut unknown = BTreeSet::new();
    for at in uses_of_orderings(source) {
        let ids = ids_in_comment(source, at).into_iter();
        unknown.extend(ids.filter(|id| !has_id_in_table(source, all, id)).map(|id| (at + 1, id)));
    }
    let message = |id: String| format!("{id} is in no table of orderings");
    unknown.into_iter().map(|(line, id)| source.finding(line, message(id))).collect()
}

/// The ids in the `ordering:` comment above line `at`, counted from 0.
pub fn ids_in_comment(source: &Source, at: usize) -> Vec<String> {
    let comment = ordering_comment(source, at).unwrap_or_default();
    words(&comment).filter(|word| is_id(word)).map(str::to_string).collect()
}

/// True if `id` is a row of a table in the documentation of the module.
pub fn has_id_in_table(source: &Source, all: &[Source], id: &str) -> bool {
    documents(source, all).any(|document| has_row(&document.text, id))
}

/// A letter and a number.
fn is_id(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(|c| c.is_ascii_uppercase())
        && (2..=3).contains(&word.len())
        && characters.all(|c| c.is_ascii_digit())
}

/// The file itself, and what documents its module: README.md and mod.rs here and further up. A module can be in two
/// packages: that of the queued spinlock is.
fn documents<'a>(source: &'a Source, all: &'a [Source]) -> impl Iterator<Item = &'a Source> {
    fn below(path: &str) -> &str {
        below_sources(path).unwrap_or(path)
    }
    let is_above = |document: &&Source| {
        let Some((directory, name)) = below(&document.path).rsplit_once('/') else { return false };
        let is_document = name == "README.md" || name == "mod.rs";
        is_document && below(&source.path).starts_with(&format!("{directory}/"))
    };
    std::iter::once(source).chain(all.iter().filter(is_above))
}

fn has_row(text: &str, id: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim_start_matches(['/', '!', ' ']);
        line.split('|').nth(1).is_some_and(|cell| cell.trim() == id) && line.starts_with('|')
    })
}

/// Store-load pairs are full barriers of the platform, not accesses.
pub fn no_access_is_seq_cst(source: &Source, _: &[Source]) -> Vec<Finding> {
    lock_lines(source)
        .filter(|(_, line)| words(line).any(|word| word == "SeqCst"))
        .map(|(at, _)| source.finding(at + 1, "SeqCst: use the platform's full barrier"))
        .collect()
}

/// The files that may pass time without a word to wait for: the spinners of the mutex and of the semaphore, which look
/// at another thread, the back-off after a `cond_load`, the reference locks if there is no queue node, and a waiter
/// that looks at a word and at metadata.
const DELAYS: [&str; 5] =
    ["hq/queue.rs", "queue/mod.rs", "rwsem/spin.rs", "rwsem/write.rs", "unfair.rs"];

/// Waits are `cond_load`s, so that every platform can make them its own.
pub fn no_wait_is_written_by_hand(source: &Source, _: &[Source]) -> Vec<Finding> {
    const PAUSES: &[&str] = &["spin_loop", "cpu_relax", "relax", "yield_now"];
    let may_delay = below_sources(&source.path).is_some_and(|it| DELAYS.contains(&it));
    let is_wait = |(at, line): &(usize, &str)| {
        let delays = || !may_delay && line.contains("::delay(") && is_in_loop(source, *at);
        words(line).any(|word| PAUSES.contains(&word)) || delays()
    };
    let message = "a wait that is not a `cond_load` of the platform";
    lock_lines(source).filter(is_wait).map(|(at, _)| source.finding(at + 1, message)).collect()
}

/// True if line `at`, counted from 0, is in a loop of its function: a pause that is not repeated is no wait.
fn is_in_loop(source: &Source, at: usize) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut least = indent(&source.code().lines[at]);
    for line in source.code().lines[..at].iter().rev().filter(|line| !line.trim().is_empty()) {
        if indent(line) >= least {
            continue;
        }
        least = indent(line);
        if words(line).any(|word| ["loop", "while", "for"].contains(&word)) {
            return !words(line).any(|word| word == "impl");
        }
        if words(line).any(|word| word == "fn") {
            return false;
        }
    }
    false
}

/// What is out of line is called so, and the compiler is told.
pub fn slow_paths_are_cold(source: &Source, _: &[Source]) -> Vec<Finding> {
    let lines: Vec<_> = lock_lines(source).collect();
    let mut findings = Vec::new();
    for (at, line) in &lines {
        let Some(name) = words(line).skip_while(|word| *word != "fn").nth(1) else { continue };
        let above = lines[..*at].iter().rev().map(|(_, line)| line.trim());
        let mut above = above.take_while(|line| line.is_empty() || line.starts_with("#["));
        let is_cold = above.any(|line| line == "#[cold]");
        if name.ends_with("_slowpath") && !is_cold {
            findings.push(source.finding(at + 1, format!("`{name}` is not #[cold]")));
        }
        if name.ends_with("lock_slow") {
            findings.push(source.finding(at + 1, format!("call it `{name}path`")));
        }
    }
    findings
}

/// Where a lock has a `word.rs`, masks and shifts of the word appear there only.
pub fn masks_stay_with_their_word(source: &Source, all: &[Source]) -> Vec<Finding> {
    let has_word = |directory: &str| all.iter().any(|it| it.path == format!("{directory}/word.rs"));
    let path = below_sources(&source.path).map_or("", |_| &source.path);
    let is_beside_word = path.match_indices('/').any(|(at, _)| has_word(&path[..at]));
    if !is_beside_word || path.ends_with("/word.rs") {
        return Vec::new();
    }
    let is_mask = |word: &str| word.ends_with("_MASK") || word.ends_with("_SHIFT");
    let masks = lock_lines(source).filter(|(_, line)| words(line).any(is_mask));
    let message = "a mask or shift of the lock word outside word.rs";
    masks.map(|(at, _)| source.finding(at + 1, message)).collect()
}

/// Every edit of the zoo fits exactly once in the sources of the locks.
pub fn every_bug_of_the_zoo_fits(source: &Source, all: &[Source]) -> Vec<Finding> {
    if source.path != "crates/zoo/src/lib.rs" {
        return Vec::new();
    }
    let complaints = crate::mutants::of_bugs(all).err().unwrap_or_default();
    complaints.into_iter().map(|complaint| source.finding(1, complaint)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Rule;
    use super::super::tests::findings;
    use super::*;

    const PATH: &str = "crates/locks/src/some.rs";

    /// Where a rule finds something.
    fn lines(rule: Rule, path: &str, text: &str) -> Vec<usize> {
        findings(rule, path, text).iter().map(|it| it.line).collect()
    }

    #[test]
    fn an_ordering_without_a_reason_is_found() {
        let too_far = format!("// ordering: Relaxed; far.\n{}a.load(Relaxed);", "\n".repeat(7));
        for (path, text, found) in [
            (PATH, "\nfn f() {\n    a.load(Relaxed);\n}", &[3][..]),
            (PATH, "fn f() {\n    // ordering: Relaxed; a hint.\n    a.load(Relaxed);\n}", &[]),
            (PATH, &too_far, &[9]),
            (PATH, "use a::{\n    Acquire,\n    Relaxed,\n};", &[]),
            (PATH, "#[cfg(test)]\nmod t { fn f() { a.load(Relaxed); } }", &[]),
            ("crates/core/src/native/some.rs", "a.load(Relaxed);", &[1]),
            ("crates/sim/src/some.rs", "a.load(Relaxed);", &[]),
        ] {
            assert_eq!(lines(every_ordering_has_a_reason, path, text), found, "{path}: {text}");
        }
    }

    #[test]
    fn an_id_without_a_row_is_found() {
        let rule = every_ordering_id_is_in_a_table;
        let access = "// ordering: AcqRel; Q2 both ways,\n// and Q3.\na.swap(1, AcqRel);";
        let messages: Vec<_> =
            findings(rule, PATH, access).into_iter().map(|it| it.message).collect();
        assert_eq!(messages, ["Q2 is in no table of orderings", "Q3 is in no table of orderings"]);
        let documented = format!("//! | Q2 | store |\n//! | Q3 | load |\n{access}");
        assert!(findings(rule, PATH, &documented).is_empty());
    }

    #[test]
    fn a_row_in_the_documentation_of_the_folder_counts() {
        let access = "// ordering: Acquire; Q4.\na.load(Acquire);";
        let source = Source::new("crates/locks/src/lock/deep/queue.rs", access);
        let readme = |path: &str| [Source::new(path, "| id |\n|---|\n| Q4 | store | load |")];
        let above = readme("crates/locks/src/lock/README.md");
        assert!(every_ordering_id_is_in_a_table(&source, &above).is_empty());
        let beside = readme("crates/locks/src/other/README.md");
        assert_eq!(every_ordering_id_is_in_a_table(&source, &beside).len(), 1);
    }

    #[test]
    fn seq_cst_waits_by_hand_and_slow_paths_that_are_not_out_of_line_are_found() {
        let native = "crates/core/src/native/barrier.rs";
        let deep = "while a {\n    match b {\n        _ => P::delay(6),\n    }\n}";
        let delay = "loop {\n    P::delay(64);\n}";
        let pause = "impl A for B {\n    fn f() {\n        loop {\n        }\n        P::delay(64);\n    }\n}";
        let cold = "/// Waits.\n#[cold]\n#[inline(never)]\npub fn lock_slowpath() {}";
        let cases: [(Rule, &str, &str, &[usize]); 12] = [
            (no_access_is_seq_cst, PATH, "a.load(Ordering::SeqCst);", &[1]),
            (no_access_is_seq_cst, PATH, "// no SeqCst access here", &[]),
            (no_access_is_seq_cst, native, "fence(SeqCst);", &[]),
            (no_wait_is_written_by_hand, PATH, "while a.get() {\n    spin_loop();\n}", &[2]),
            (no_wait_is_written_by_hand, PATH, "a.cond_load(Relaxed, |a| a == 0);", &[]),
            (no_wait_is_written_by_hand, PATH, delay, &[2]),
            (no_wait_is_written_by_hand, "crates/core/src/queue/mod.rs", delay, &[]),
            (no_wait_is_written_by_hand, PATH, deep, &[3]),
            (no_wait_is_written_by_hand, PATH, pause, &[]),
            (slow_paths_are_cold, PATH, "#[inline]\nfn lock_slowpath() {}", &[2]),
            (slow_paths_are_cold, PATH, "#[cold]\nfn lock_slow() {}", &[2]),
            (slow_paths_are_cold, PATH, cold, &[]),
        ];
        for (rule, path, text, found) in cases {
            assert_eq!(lines(rule, path, text), found, "{text}");
        }
    }

    #[test]
    fn masks_outside_their_word_are_found() {
        let beside = |path: &str| {
            let word = Source::new("crates/locks/src/lock/word.rs", "const TAIL_MASK: u32 = 3;");
            let source = Source::new(path, "let tail = word & TAIL_MASK;");
            let all = [word, source];
            all.iter().flat_map(|it| masks_stay_with_their_word(it, &all)).count()
        };
        assert_eq!(beside("crates/locks/src/lock/queue.rs"), 1);
        assert_eq!(beside("crates/locks/src/lock/deep/queue.rs"), 1);
        assert_eq!(beside("crates/locks/src/ticket.rs"), 0);
    }
}

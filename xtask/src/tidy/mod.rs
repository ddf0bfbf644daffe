//! Style as a test: the rules of STYLE.md that a program can check.
//!
//! A rule is a function from one file to findings. Each has a test that shows it failing.

mod code;
pub mod files;
pub mod graph;
mod keys;
pub mod locks;
mod phrases;
mod prose;
mod registry;
mod size;
mod source;
mod statics;
mod width;
mod words;

pub use files::read_all as sources;
pub use source::{Finding, Source};
use std::path::Path;

/// What a rule sees: one file, and the others for reference.
type Rule = fn(&Source, &[Source]) -> Vec<Finding>;

const RULES: &[Rule] = &[
    files::names_say_something,
    files::documents_are_short,
    size::files_are_short,
    size::functions_are_short,
    phrases::no_phrase_comes_back,
    phrases::no_comment_begins_with_whether,
    width::prose_is_narrow,
    words::nothing_is_left_to_do,
    words::no_merge_is_half_done,
    words::no_test_is_switched_off,
    words::lints_are_allowed_one_by_one,
    words::nothing_depends_on_the_machine_it_was_written_on,
    locks::every_ordering_has_a_reason,
    locks::every_ordering_id_is_in_a_table,
    locks::no_access_is_seq_cst,
    locks::no_wait_is_written_by_hand,
    locks::slow_paths_are_cold,
    locks::masks_stay_with_their_word,
    locks::every_bug_of_the_zoo_fits,
    keys::every_key_is_documented,
    statics::every_static_says_what_a_child_finds,
    registry::a_lock_has_its_rows,
    registry::a_lock_has_its_documentation,
    registry::every_ordering_is_watched,
    registry::every_lock_is_registered,
    graph::a_circle_has_at_most_two_files,
    graph::a_type_has_a_name_of_its_own,
];

/// Checks the repository at `root` and prints what it finds, warnings only if not `errors_only`. Returns true if
/// there are no errors.
pub fn run(root: &Path, errors_only: bool) -> bool {
    let sources = files::read_all(root);
    let of = |source| RULES.iter().map(move |rule| (rule, source));
    let rules = sources.iter().flat_map(of);
    let findings: Vec<_> = rules.flat_map(|(rule, source)| rule(source, &sources)).collect();
    let (report, errors) = report(&findings, errors_only);
    let warnings = findings.len() - errors;
    eprint!("{report}");
    eprintln!("tidy: {} files, {errors} errors, {warnings} warnings", sources.len());
    errors == 0
}

/// A line for each finding, the errors last, where a reader looks first; and how many errors there are.
fn report(findings: &[Finding], errors_only: bool) -> (String, usize) {
    let (warnings, errors): (Vec<_>, Vec<_>) = findings.iter().partition(|it| it.is_warning);
    let line = |kind: &str, finding: &Finding| {
        let Finding { path, line, message, .. } = finding;
        format!("{kind}: {path}:{line}: {message}\n")
    };
    let shown = if errors_only { &[][..] } else { &warnings[..] };
    let warnings = shown.iter().map(|it| line("warning", it));
    let report = warnings.chain(errors.iter().map(|it| line("error", it))).collect();
    (report, errors.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `rule` says about one file.
    pub fn findings(rule: Rule, path: &str, text: &str) -> Vec<Finding> {
        let source = Source::new(path, text);
        rule(&source, std::slice::from_ref(&source))
    }

    #[test]
    fn the_repository_is_tidy() {
        assert!(run(&crate::root(), true));
    }

    #[test]
    fn a_directory_without_a_repository_is_not_tidy_by_accident() {
        assert!(files::read_all(&crate::root()).len() > 20, "the files were not found");
    }

    #[test]
    fn errors_are_printed_after_warnings_and_alone_if_asked_for() {
        let source = Source::new("a.rs", "");
        let findings = [source.finding(3, "wrong"), source.warning(1, "long")];
        let text = |errors_only| report(&findings, errors_only);
        let error = "error: a.rs:3: wrong\n";
        assert_eq!(text(false), (format!("warning: a.rs:1: long\n{error}"), 1));
        assert_eq!(text(true), (error.to_string(), 1));
    }
}

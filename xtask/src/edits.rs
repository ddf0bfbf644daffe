//! The bugs of the zoo where they are in the sources.
//!
//! The copy of the crates that `weaken` and `zoo` make has both forms at each place and chooses one when it runs, so
//! one build serves all bugs. An edit is of an expression, of statements, or of the body of a function. Edits that
//! overlap become one place with several forms.

use crate::packages::below_sources;
use crate::tidy::Source;
use lockwright_zoo::{Bug, Edit};

/// A place in a file that has other forms with some of the bugs.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// Its file, from the root of the repository.
    pub path: String,
    /// The bytes of the file that are replaced.
    pub span: (usize, usize),
    /// The number of a bug, and what stands there with it.
    pub forms: Vec<(usize, String)>,
    /// True if statements stand there, false if it is a part of an expression.
    pub is_statements: bool,
    /// True if the first form stands there with every bug.
    pub is_always: bool,
}

/// An edit in its file.
struct Located<'a> {
    number: usize,
    span: (usize, usize),
    edit: &'a Edit,
}

/// Where the edits are, in the order of the files and in each in the order of its text.
///
/// # Errors
/// A sentence for each edit that does not fit exactly once.
pub fn locate(all: &[Source]) -> Result<Vec<Place>, Vec<String>> {
    locate_in(all, Bug::all().map(|bug| (bug.row, bug.edits)))
}

fn locate_in<'a>(
    all: &[Source],
    bugs: impl Iterator<Item = (&'a str, &'a [Edit])>,
) -> Result<Vec<Place>, Vec<String>> {
    let mut files: Vec<(&str, Vec<Located<'_>>)> = Vec::new();
    let mut complaints = Vec::new();
    for (number, (row, edits)) in bugs.enumerate() {
        for edit in edits {
            match span_of(all, edit) {
                Ok(span) => {
                    let located = Located { number, span, edit };
                    match files.iter_mut().find(|(file, _)| *file == edit.file) {
                        Some((_, of_file)) => of_file.push(located),
                        None => files.push((edit.file, vec![located])),
                    }
                }
                Err(times) => {
                    let Edit { file, old, .. } = edit;
                    complaints.push(format!(
                        "bug {row}: {file} of the locks has `{old}` {times} times, not once"
                    ));
                }
            }
        }
    }
    if !complaints.is_empty() {
        return Err(complaints);
    }
    Ok(files.into_iter().flat_map(|(file, located)| places(all, file, located)).collect())
}

/// A file of the locks, by its path below the sources of its package.
pub fn source_of<'a>(all: &'a [Source], file: &str) -> Option<&'a Source> {
    all.iter().find(|source| below_sources(&source.path) == Some(file))
}

/// The bytes that an edit replaces; how often its old text is there if that is not once.
fn span_of(all: &[Source], edit: &Edit) -> Result<(usize, usize), usize> {
    let text = source_of(all, edit.file).map_or("", |source| &source.text);
    let mut found = text.match_indices(edit.old);
    let (Some((at, _)), None) = (found.next(), found.next()) else {
        return Err(text.matches(edit.old).count());
    };
    Ok((at, at + edit.old.len()))
}

/// The places of a file: edits that overlap are one.
fn places(all: &[Source], file: &str, mut located: Vec<Located<'_>>) -> Vec<Place> {
    let Some(Source { text, path, .. }) = source_of(all, file) else { return Vec::new() };
    located.sort_by_key(|it| (it.edit.is_always, it.span));
    let mut groups: Vec<Vec<Located<'_>>> = Vec::new();
    for it in located {
        let ends = groups.last().map(|group| group.iter().map(|it| it.span.1).max());
        match (groups.last_mut(), ends.flatten()) {
            (Some(group), Some(end)) if it.span.0 < end && !it.edit.is_always => group.push(it),
            _ => groups.push(vec![it]),
        }
    }
    groups.iter().map(|group| place(text, path, group)).collect()
}

fn place(text: &str, path: &str, group: &[Located<'_>]) -> Place {
    // In the order of their beginnings.
    let first = group.first().map_or(0, |it| it.span.0);
    let end = group.iter().map(|it| it.span.1).max().unwrap_or_default();
    let mut numbers: Vec<_> = group.iter().map(|it| it.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let form = |number: usize| {
        let (mut form, mut at) = (String::new(), first);
        for it in group.iter().filter(|it| it.number == number) {
            form += &text[at..it.span.0];
            form += &it.edit.new_text();
            at = it.span.1;
        }
        form += &text[at..end];
        (number, form)
    };
    Place {
        path: path.into(),
        span: (first, end),
        forms: numbers.into_iter().map(form).collect(),
        is_statements: are_statements(text, first, end),
        is_always: group.iter().any(|it| it.edit.is_always),
    }
}

/// True if statements stand at a place, or the expression that ends a block: then an `if` needs no parentheses, and
/// may have none.
fn are_statements(text: &str, first: usize, end: usize) -> bool {
    let is_comment = |line: &&str| line.trim().is_empty() || line.trim().starts_with("//");
    let before = text[..first].lines().rev().find(|line| !is_comment(line));
    let begins = before.is_none_or(|line| line.trim_end().ends_with(['{', '}', ';']));
    let last = text[..end].chars().next_back().unwrap_or_default();
    let next = text[end..].chars().find(|c| !c.is_whitespace()).unwrap_or('}');
    let ends = next == '}'
        || last == ';'
        || last == '}' && !matches!(next, ';' | '.' | '?' | '|' | '&' | '=' | '+' | '-' | '*');
    begins && ends
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn edit(old: &'static str, new: &'static str) -> Edit {
        Edit { file: "a.rs", old, new: Some(new), is_always: false }
    }
    fn located(text: &str, bugs: &[(&str, &[Edit])]) -> Result<Vec<Place>, Vec<String>> {
        locate_in(&[Source::new("crates/locks/src/a.rs", text)], bugs.iter().copied())
    }

    #[test]
    fn each_edit_fits_once_in_the_sources() {
        let places = locate(&crate::tidy::files::read_all(&crate::root()));
        let places = places.unwrap_or_else(|complaints| panic!("{complaints:#?}"));
        assert!(places.len() > 80);
    }

    #[test]
    fn an_edit_that_fits_twice_or_nowhere_is_named() {
        for (text, times) in [("two", 0), ("one one", 2)] {
            let complaints = located(text, &[("80", &[edit("one", "two")])]).expect_err("not once");
            assert!(complaints[0].contains("bug 80"), "{complaints:?}");
            assert!(complaints[0].contains(&format!("{times} times")), "{complaints:?}");
        }
    }

    #[test]
    fn edits_that_overlap_are_one_place_with_a_form_for_each_bug() {
        let text = "fn a() {\n    // why\n    b();\n    c(d);\n}\n";
        let bugs: [(&str, &[Edit]); 3] = [
            ("1", &[edit("b();\n    c(d);", "b();")]),
            ("2", &[edit("d", "e"), edit("b", "f")]),
            ("3", &[edit("b", "g")]),
        ];
        let places = located(text, &bugs).expect("each fits");
        let [place] = &places[..] else { panic!("{places:?}") };
        assert_eq!(place.span, (24, 24 + "b();\n    c(d);".len()));
        assert!(place.is_statements);
        let forms = ["b();", "f();\n    c(e);", "g();\n    c(d);"];
        let forms: Vec<_> = forms.into_iter().map(String::from).enumerate().collect();
        assert_eq!(place.forms, forms);
    }

    #[test]
    fn a_part_of_an_expression_is_told_from_statements() {
        let text = "fn a() {\n    let b = c(d) || e;\n    f();\n    g()\n}\n";
        for (old, is) in [("c(d)", false), ("f();", true), ("f()", false), ("g()", true)] {
            let places = located(text, &[("1", &[edit(old, "h()")])]).expect("it fits");
            assert_eq!(places[0].is_statements, is, "{old}");
        }
    }
}

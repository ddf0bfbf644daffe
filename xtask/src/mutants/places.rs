//! Where the text of the locks has another form, which is chosen when the copy runs.
//!
//! An edit of a bug is of an expression, of statements, or of the body of a function. Places may be in each other; what
//! stands there without a mutant has the inner ones, too.

use crate::packages::below_sources;
use crate::tidy::Source;
use lockwright_zoo::{Bug, Edit, cards};

/// A place in a file that has another form with a mutant.
#[derive(Debug, PartialEq, Eq)]
pub struct Place {
    /// Its file, from the root of the repository.
    path: String,
    /// The bytes of the file that are replaced.
    span: (usize, usize),
    /// The number of the mutant, and what stands there with it.
    number: usize,
    form: String,
    /// True if statements stand there, false if it is a part of an expression.
    is_statements: bool,
    /// True if the form stands there with every mutant.
    is_always: bool,
}

/// The places of all bugs, and of the near misses of rules. A bug's number is that of the zoo; those of rules follow.
///
/// # Errors
/// A sentence for each edit that does not fit exactly once, or is only in part in another one.
pub fn of_bugs(all: &[Source]) -> Result<Vec<Place>, Vec<String>> {
    let rules: Vec<_> = cards::edits().collect();
    let rules = rules.iter().map(|(number, edits)| (*number, edits.as_slice()));
    locate(all, Bug::all().map(|bug| (bug.row, bug.edits)).chain(rules))
}

fn locate<'a>(
    all: &[Source],
    bugs: impl Iterator<Item = (&'a str, &'a [Edit])>,
) -> Result<Vec<Place>, Vec<String>> {
    let (mut places, mut complaints) = (Vec::<Place>::new(), Vec::new());
    let edits = bugs
        .enumerate()
        .flat_map(|(number, (row, edits))| edits.iter().map(move |edit| (number, row, edit)));
    for (number, row, edit @ Edit { file, old, is_always, .. }) in edits {
        let source = all.iter().find(|it| below_sources(&it.path) == Some(file));
        let (path, text) = source.map_or((file.to_string(), ""), |it| (it.path.clone(), &it.text));
        let found: Vec<_> = text.match_indices(old).collect();
        let [(first, _)] = found[..] else {
            let times = found.len();
            complaints.push(format!("bug {row}: {path} has `{old}` {times} times, not once"));
            continue;
        };
        let (end, form, is_always) = (first + old.len(), edit.new_text(), *is_always);
        let is_statements = are_statements(text, first, end);
        let place = Place { path, span: (first, end), number, form, is_statements, is_always };
        if places.iter().any(|other| place.overlaps(other) || other.overlaps(&place)) {
            complaints.push(format!("bug {row}: a part of `{old}` is in an edit of another bug"));
        }
        places.push(place);
    }
    if complaints.is_empty() { Ok(places) } else { Err(complaints) }
}

impl Place {
    /// The place of an ordering that is `order` instead with the mutant, or of a barrier that is not there.
    pub fn of_ordering(path: String, span: (usize, usize), number: usize, order: &str) -> Self {
        let path_of = |order: &str| format!("::core::sync::atomic::Ordering::{order}");
        let form = if order.is_empty() { String::new() } else { path_of(order) };
        Self { path, span, number, form, is_statements: false, is_always: false }
    }
    /// True if the other place begins before this one, and ends in it.
    fn overlaps(&self, other: &Self) -> bool {
        let is_in = self.span.0 < other.span.1 && other.span.1 < self.span.1;
        self.path == other.path && other.span.0 < self.span.0 && is_in
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

/// The text of a file that has both forms at each place, and asks which one to take.
pub fn switched(source: &Source, places: &[Place]) -> String {
    let mut insertions = Vec::new();
    let places = places.iter().filter(|place| place.path == source.path);
    for (at, Place { span: (first, end), number, form, is_statements, is_always, .. }) in
        places.enumerate()
    {
        // At the same byte: what closes, the innermost first, and then what opens, the outermost first.
        let (opens, closes) = ((*first, 1, !end, at), (*end, 0, !first, !at));
        if *is_always {
            // The form begins with what stands there.
            insertions.push((closes, form[end - first..].to_string()));
            continue;
        }
        let (open, close) = if *is_statements { ("", " }") } else { ("(", " })") };
        let switch = format!("{open}if crate::weaken::is({number}) {{ {form} }} else {{ ");
        insertions.extend([(opens, switch), (closes, close.to_string())]);
    }
    insertions.sort_unstable();
    let (mut text, mut from) = (String::with_capacity(source.text.len() * 2), 0);
    for ((at, ..), inserted) in insertions {
        text += &source.text[from..at];
        text += &inserted;
        from = at;
    }
    text + &source.text[from..]
}

#[cfg(test)]
mod tests {
    use super::super::scan;
    use super::*;

    const PATH: &str = "crates/locks/src/a.rs";

    const fn edit(old: &'static str, new: &'static str) -> Edit {
        Edit { file: "a.rs", old, new: Some(new), is_always: false }
    }
    fn located(text: &str, bugs: &[(&str, &[Edit])]) -> Result<Vec<Place>, Vec<String>> {
        locate(&[Source::new(PATH, text)], bugs.iter().copied())
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
    fn a_part_of_an_expression_is_told_from_statements() {
        let text = "fn a() {\n    let b = c(d) || e;\n    f();\n    g()\n}\n";
        for (old, is) in [("c(d)", false), ("f();", true), ("f()", false), ("g()", true)] {
            let places = located(text, &[("1", &[edit(old, "h()")])]).expect("it fits");
            assert_eq!(places[0].is_statements, is, "{old}");
        }
    }

    /// The copy of this text with its orderings weakened and these bugs, with short names.
    fn copied(text: &str, bugs: &[(&str, &[Edit])]) -> String {
        let source = Source::new(PATH, text);
        let mut places = located(text, bugs).expect("each fits");
        let (sites, _) = scan::scan(&source, std::slice::from_ref(&source));
        places.extend(scan::places(&sites));
        switched(&source, &places).replace("::core::sync::atomic::Ordering", "O")
    }

    #[test]
    fn every_ordering_asks_and_nothing_else_changes() {
        let text =
            "// ordering: AcqRel; Q1 — both ways.\na.swap(b, Ordering::AcqRel);\nfence(SeqCst);\n";
        assert_eq!(
            copied(text, &[]),
            "// ordering: AcqRel; Q1 — both ways.\n\
             a.swap(b, (if crate::weaken::is(1000) { O::Acquire } else { \
             (if crate::weaken::is(1001) { O::Release } else { Ordering::AcqRel }) }));\n\
             (if crate::weaken::is(1002) {  } else { \
             fence((if crate::weaken::is(1003) { O::AcqRel } else { SeqCst })) });\n"
        );
    }

    #[test]
    fn edits_may_be_in_each_other_and_may_not_overlap_otherwise() {
        let text = "fn a() {\n    // why\n    b();\n    c(d);\n}\n";
        let bugs: [(&str, &[Edit]); 3] = [
            ("1", &[edit("d", "e"), edit("b()", "f()")]),
            ("2", &[edit("b();\n    c(d);", "b();")]),
            ("3", &[edit("b()", "g()")]),
        ];
        assert_eq!(
            copied(text, &bugs),
            "fn a() {\n    // why\n    if crate::weaken::is(1) { b(); } else { \
             (if crate::weaken::is(0) { f() } else { (if crate::weaken::is(2) { g() } else { b() }) });\n    \
             c((if crate::weaken::is(0) { e } else { d })); }\n}\n"
        );
        for crossing in ["a() {\n    // why\n    b", "c(d);\n}"] {
            let more = [edit(crossing, "h")];
            let complaints = located(text, &[bugs[1], ("4", &more)]).expect_err("a part");
            assert!(complaints[0].starts_with("bug 4: a part of"), "{complaints:?}");
        }
    }

    #[test]
    fn an_edit_has_both_forms_and_the_orderings_of_the_old_one() {
        let text = "// ordering: Acquire; Q1.\na(b.load(Acquire));\nfn c() {}\n";
        let more = Edit { is_always: true, ..edit("fn c() {}", "fn c() {} fn d() {}") };
        assert_eq!(
            copied(text, &[("1", &[edit("b.load(Acquire)", "d()"), more])]),
            "// ordering: Acquire; Q1.\n\
             a((if crate::weaken::is(0) { d() } else { \
             b.load((if crate::weaken::is(1000) { O::Relaxed } else { Acquire })) }));\n\
             fn c() {} fn d() {}\n"
        );
    }
}

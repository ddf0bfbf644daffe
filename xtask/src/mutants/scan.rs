//! Finding the sites: every ordering and every barrier that the lock crate names.

use super::places::Place;
use crate::packages::below_sources;
use crate::tidy::Source;
use crate::tidy::locks::{has_id_in_table, ids_in_comment};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The number of the first weakened ordering; those of bugs are smaller.
const FIRST: usize = 1000;
/// The orderings that can be weakened.
const STRONG: [&str; 4] = ["Acquire", "Release", "AcqRel", "SeqCst"];
/// The calls that order without accessing anything.
const BARRIERS: [&str; 6] = [
    "fence",
    "compiler_fence",
    "full_barrier",
    "barrier_after_exchange",
    "light_barrier",
    "heavy_barrier",
];

/// A place in the source that orders something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its file, from the root of the repository.
    pub path: String,
    /// Its line, counted from 1.
    pub line: usize,
    /// The text of that line.
    pub code: String,
    /// The ids in the comment above that are in a table.
    pub ids: Vec<String>,
    /// What stands there: an ordering, or the name of a barrier that is called.
    pub now: String,
    /// The innermost function that an ordering is an argument of; empty if it is in a variable.
    of: String,
    /// The bytes of the file that are the expression, without its statement.
    pub span: (usize, usize),
}

impl Site {
    /// `file:line`.
    pub fn place(&self) -> String {
        format!("{}:{}", self.path, self.line)
    }
    /// What the site may be weakened to, one step each; the empty string removes it.
    pub fn weaker(&self) -> Vec<&'static str> {
        match &*self.now {
            "AcqRel" => vec!["Acquire", "Release"],
            "SeqCst" if self.of.contains("load") => vec!["Acquire"],
            "SeqCst" if self.of.contains("store") => vec!["Release"],
            "SeqCst" => vec!["AcqRel"],
            // There is no relaxed fence; the call is a site as well, and is removed.
            "Acquire" | "Release" if BARRIERS.contains(&&*self.of) => Vec::new(),
            "Acquire" | "Release" => vec!["Relaxed"],
            _ => vec![""],
        }
    }
}

/// The files of the packages with locks.
pub fn lock_files(all: &[Source]) -> impl Iterator<Item = &Source> {
    all.iter().filter(|source| below_sources(&source.path).is_some() && source.is_rust())
}

/// The mutants of some sites: the number of each, the site, and what stands there instead; nothing if that is empty.
pub fn weakened(sites: &[Site]) -> impl Iterator<Item = (usize, &Site, &'static str)> {
    let mutants = sites.iter().flat_map(|site| site.weaker().into_iter().map(move |to| (site, to)));
    mutants.zip(FIRST..).map(|((site, to), number)| (number, site, to))
}

/// Where the copy of the crate has these mutants.
pub fn places(sites: &[Site]) -> impl Iterator<Item = Place> {
    weakened(sites)
        .map(|(number, site, to)| Place::of_ordering(site.path.clone(), site.span, number, to))
}

/// All sites of the crate.
///
/// # Errors
/// What is wrong with some of them.
pub fn sites(all: &[Source]) -> Result<Vec<Site>, String> {
    let (mut sites, mut complaints) = (Vec::new(), Vec::new());
    for source in lock_files(all) {
        let (of_file, wrong) = scan(source, all);
        sites.extend(of_file);
        complaints.extend(wrong);
    }
    if complaints.is_empty() { Ok(sites) } else { Err(complaints.join("\n")) }
}

/// The sites of one file, in order, and what is wrong with them. `all` is where tables are.
pub fn scan(source: &Source, all: &[Source]) -> (Vec<Site>, Vec<String>) {
    let mut found = Vec::new();
    if let Ok(stream) = source.text.parse() {
        find(stream, &source.text, "", &mut found);
    }
    let (mut sites, mut complaints) = (Vec::new(), Vec::new());
    for Found { now, of, line, span } in found {
        // From there on all is for tests.
        if line > source.code().tests_begin() {
            continue;
        }
        let code = source.text.lines().nth(line - 1).unwrap_or_default().trim().to_string();
        let mut ids = ids_in_comment(source, line - 1);
        ids.retain(|id| has_id_in_table(source, all, id));
        let site = Site { path: source.path.clone(), line, code, ids, now, of, span };
        if site.ids.is_empty() {
            let (place, now) = (site.place(), &site.now);
            complaints
                .push(format!("{place}: {now} without an id that is in a table of orderings"));
        }
        sites.push(site);
    }
    if let Some(line) = behind_tests(source) {
        let what = "code behind `#[cfg(test)]` is not scanned: put its item last";
        complaints.push(format!("{}:{line}: {what}", source.path));
    }
    (sites, complaints)
}

/// The line (counted from 1) of the first code behind the item that is for tests only, which ends
/// what [`scan`] and [`count_in_lines`] see; `None` if that is the last item.
fn behind_tests(source: &Source) -> Option<usize> {
    let mut depth = 0;
    let mut has_ended = false;
    for (at, line) in source.code().lines.iter().enumerate().skip(source.code().tests_begin() + 1) {
        for c in line.chars().filter(|c| !c.is_whitespace()) {
            if has_ended {
                return Some(at + 1);
            }
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            has_ended = depth < 0 || depth == 0 && matches!(c, ';' | '}');
        }
    }
    None
}

/// How many sites a plain search for words in lines finds: a second opinion that shares nothing
/// with [`scan`].
pub fn count_in_lines(source: &Source) -> usize {
    let mut in_import = false;
    let mut count = 0;
    let lines = source.text.lines().take_while(|line| line.trim() != "#[cfg(test)]");
    for line in lines {
        let code = line.split("//").next().unwrap_or_default();
        let code = code.trim_start();
        in_import |= code.starts_with("use ") || code.starts_with("pub use ");
        if !in_import {
            count += code.split(|c| !is_word(c)).filter(|word| STRONG.contains(word)).count();
            let calls = BARRIERS.iter().flat_map(|name| {
                let call = format!("{name}(");
                code.match_indices(&call).map(|(at, _)| at).collect::<Vec<_>>()
            });
            let is_call =
                |at: &usize| !code[..*at].ends_with(is_word) && !code[..*at].ends_with("fn ");
            count += calls.filter(is_call).count();
        }
        in_import &= !code.contains(';');
    }
    count
}

/// What a site is, its line counted from 1, and its bytes.
struct Found {
    now: String,
    of: String,
    line: usize,
    span: (usize, usize),
}

/// Adds the sites among tokens that are arguments of the function `of`; of none, if that is empty.
fn find(stream: TokenStream, text: &str, of: &str, found: &mut Vec<Found>) {
    let tokens: Vec<_> = stream.into_iter().collect();
    let (mut of, mut in_import) = (of, false);
    for (at, token) in tokens.iter().enumerate() {
        let (span, line) = (token.span().byte_range(), token.span().start().line);
        match token {
            TokenTree::Punct(it) if it.as_char() == ';' => (of, in_import) = ("", false),
            TokenTree::Group(group) if !in_import => {
                let is_call = group.delimiter() == Delimiter::Parenthesis;
                let function = if is_call { name_before(&text[..span.start]) } else { "" };
                let of = if function.is_empty() { of } else { function };
                find(group.stream(), text, of, found);
            }
            TokenTree::Ident(word) => {
                let name = word.to_string();
                in_import |= name == "use";
                let is_path = |c: char| is_word(c) || c == ':';
                let begin = text[..span.start].trim_end_matches(is_path).len();
                let is_defined = at > 0 && tokens[at - 1].to_string() == "fn";
                match tokens.get(at + 1) {
                    _ if in_import => {}
                    _ if STRONG.contains(&&*name) => {
                        let (of, span) = (of.to_string(), (begin, span.end));
                        found.push(Found { now: name, of, line, span });
                    }
                    Some(TokenTree::Group(group)) if !is_defined && BARRIERS.contains(&&*name) => {
                        let span = (begin, group.span().byte_range().end);
                        found.push(Found { now: name, of: String::new(), line, span });
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

/// The name of the function whose arguments open behind this text.
fn name_before(text: &str) -> &str {
    let end = match text.ends_with('>') {
        // `name::<P>(`
        true => text.rfind('<').map_or(text, |at| text[..at].trim_end_matches(':')),
        false => text,
    };
    &end[end.trim_end_matches(is_word).len()..]
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/locks/src/some.rs";
    const TABLE: &str = "//! | id | the store |\n//! | Q1 | here |\n// ordering: see Q1.\n";

    fn sites_of(code: &str) -> Vec<Site> {
        let source = Source::new(PATH, format!("{TABLE}{code}"));
        let (sites, complaints) = scan(&source, std::slice::from_ref(&source));
        assert_eq!(complaints, [""; 0]);
        assert_eq!(sites.len(), count_in_lines(&source), "the plain search differs: {code}");
        sites
    }
    fn weaker_of(code: &str) -> Vec<Vec<&'static str>> {
        sites_of(code).iter().map(Site::weaker).collect()
    }

    #[test]
    fn an_access_is_weakened_one_step() {
        assert_eq!(weaker_of("a.load(Acquire);"), [["Relaxed"]]);
        assert_eq!(weaker_of("a.store(1, Release);"), [["Relaxed"]]);
        assert_eq!(weaker_of("a.swap(1, AcqRel);"), [["Acquire", "Release"]]);
        assert_eq!(weaker_of("a.load(Ordering::SeqCst);"), [["Acquire"]]);
        assert_eq!(weaker_of("a.store(1, SeqCst);"), [["Release"]]);
        assert_eq!(weaker_of("a.swap(1, SeqCst);"), [["AcqRel"]]);
        assert_eq!(weaker_of("a.load(Relaxed);"), [[""; 0]; 0]);
    }

    #[test]
    fn a_fence_is_weakened_and_removed_but_never_relaxed() {
        assert_eq!(weaker_of("P::fence(SeqCst);"), [[""], ["AcqRel"]]);
        assert_eq!(weaker_of("fence(AcqRel);"), [vec![""], vec!["Acquire", "Release"]]);
        assert_eq!(weaker_of("fence(Release);"), [vec![""], vec![]]);
        assert_eq!(weaker_of("P::full_barrier(&me.locked);"), [[""]]);
        assert_eq!(weaker_of("trait B { fn light_barrier(); }"), [[""; 0]; 0]);
    }

    #[test]
    fn calls_of_several_lines_and_several_orderings_on_one_are_found() {
        let sites = sites_of("a.compare_exchange(\n    old, // not Acquire\n    AcqRel, Acquire)");
        assert_eq!(sites.iter().map(|it| &*it.now).collect::<Vec<_>>(), ["AcqRel", "Acquire"]);
        assert_eq!(sites[0].place(), format!("{PATH}:6"));
        assert_eq!(sites[0].code, "AcqRel, Acquire)");
    }

    #[test]
    fn an_ordering_in_a_variable_or_behind_a_choice_is_found() {
        assert_eq!(weaker_of("let order = if x { Acquire } else { Relaxed };"), [["Relaxed"]]);
        assert_eq!(weaker_of("let order = match x { 0 => SeqCst, _ => Relaxed };"), [["AcqRel"]]);
    }

    #[test]
    fn code_for_some_machines_only_is_found_and_imports_and_tests_are_not() {
        let code = "use core::{\n    Acquire,\n    Release,\n};\n// ordering: Q1.\n\
                    #[cfg(lockwright_whole_word)]\na.load(Acquire);\n\
                    #[cfg(test)]\nmod tests { fn f() { a.load(Acquire); } }\n";
        assert_eq!(sites_of(code).len(), 1);
    }

    #[test]
    fn tests_that_are_not_the_last_item_are_a_complaint() {
        let complaints = |code: &str| {
            let source = Source::new(PATH, code);
            scan(&source, std::slice::from_ref(&source)).1
        };
        let module = "#[cfg(test)]\n#[allow(missing_docs)]\nmod tests {\n    fn f() {}\n}\n";
        assert_eq!(complaints(&format!("fn f() {{}}\n{module}// The end.\n")), [""; 0]);
        assert_eq!(complaints("#[cfg(test)]\nmod tests;\n"), [""; 0]);
        for (code, line) in [
            (format!("{module}fn g() {{}}\n"), 6),
            ("#[cfg(test)]\nuse a::b;\nfn g() {}\n".to_string(), 3),
            ("fn f() {\n    #[cfg(test)]\n    g([1; 2]);\n    h();\n}\n".to_string(), 4),
            ("struct A {\n    #[cfg(test)]\n    b: u8,\n}\nfn g() {}\n".to_string(), 5),
        ] {
            let complaints = complaints(&code);
            assert_eq!(complaints.len(), 1, "{code}");
            assert!(complaints[0].starts_with(&format!("{PATH}:{line}:")), "{code}");
        }
    }

    #[test]
    fn a_site_without_an_id_in_a_table_is_a_complaint_and_a_literal_makes_the_counts_differ() {
        let text = "// ordering: Acquire; Q1.\na.load(Acquire);\nlet text = \"Acquire\";\n";
        let source = Source::new(PATH, text);
        let (sites, complaints) = scan(&source, std::slice::from_ref(&source));
        assert_eq!((sites.len(), complaints.len()), (1, 1));
        assert!(complaints[0].starts_with(&format!("{PATH}:2:")));
        assert_eq!(count_in_lines(&source), 2);
    }
}

//! Phrases that must not come back, and what to write instead.

use super::prose::{self, CODE, END, Token};
use super::{Finding, Source};
use crate::packages::below_sources;

/// The file with the list itself.
const HERE: &str = "xtask/src/tidy/phrases.rs";

/// A phrase and what to write instead. In a phrase `a|b` is one of these words, `!a|b` any other word, and `*`
/// up to four words of the same sentence.
const PHRASES: &[(&str, &str)] = &[
    ("whoever|whomever|whosoever", "name it: \"the thread that\", \"any thread that\""),
    ("so many", "give the number, or \"that many\", \"as many\""),
    ("beside", "\"next to\", \"compared with\""),
    ("to be had", "\"available\", \"can be acquired\""),
    ("in vain", "\"without success\", \"timed out\""),
    ("so often", "\"that many times\", \"as often\""),
    ("by turns", "\"alternately\", \"take turns\""),
    ("may|must|need|can|could not * any more", "\"must no longer\", \"no longer needs to\""),
    ("is|are|was|were|do|does|did|has|have not * any more", "\"no longer\""),
    ("make|makes|made no sense", "say what to give instead"),
    ("workshop", "\"the lab\""),
    ("wherever there", "\"where there is\""),
    ("for want of|in", "\"because there is no\""),
    (
        "!there|this|that|here|and|as is no lock|peer|node|thread|row|machine|waiter|reader|writer|owner|cell|file|part|queue",
        "\"is not a\"",
    ),
    ("heir|heirs", "\"the next owner\", \"the waiter that gets the lock\""),
    ("whence|whereof|wherein|thereof|therein", "split the sentence"),
    ("ere|lest|erst|naught|aught", "\"before\", \"so that not\", \"nothing\""),
];

/// In the packages with locks: it matters there if a thread, a waiter or an owner does something.
const WHO: &[(&str, &str)] = &[(
    "somebody|nobody|anybody|everybody|someone",
    "name it: \"a thread\", \"no waiter\", \"all readers\"",
)];

/// No comment, message or document uses a phrase of the list.
pub fn no_phrase_comes_back(source: &Source, _: &[Source]) -> Vec<Finding> {
    if source.path == HERE {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for text in prose::texts(source) {
        let tokens = prose::tokens(&text);
        let of_locks = below_sources(&source.path).map_or(&[][..], |_| WHO);
        for (phrase, instead) in PHRASES.iter().chain(of_locks) {
            let words: Vec<&str> = phrase.split(' ').collect();
            for at in 0..tokens.len() {
                let Some(length) = length(&tokens[at..], &words) else { continue };
                let found: Vec<_> = tokens[at..at + length].iter().map(|it| &*it.text).collect();
                let found = found.join(" ");
                let message = format!("\"{found}\": write {instead}");
                findings.push(source.finding(tokens[at].line, message));
            }
        }
    }
    findings
}

/// How many tokens the phrase takes that begins here.
fn length(tokens: &[Token], phrase: &[&str]) -> Option<usize> {
    let Some((first, rest)) = phrase.split_first() else { return Some(0) };
    if *first == "*" {
        let in_sentence = tokens.iter().take(4).take_while(|token| token.text != END).count();
        let after = |skipped: usize| Some(skipped + length(&tokens[skipped..], rest)?);
        return (0..=in_sentence).find_map(after);
    }
    tokens.first().filter(|token| is_one_of(&token.text, first))?;
    Some(1 + length(&tokens[1..], rest)?)
}

fn is_one_of(word: &str, pattern: &str) -> bool {
    match pattern.strip_prefix('!') {
        Some(others) => word != END && word != CODE && !others.split('|').any(|it| it == word),
        None => pattern.split('|').any(|it| it == word),
    }
}

/// No comment says "Whether ...": it says what is true when the answer is yes.
pub fn no_comment_begins_with_whether(source: &Source, _: &[Source]) -> Vec<Finding> {
    if source.path == HERE {
        return Vec::new();
    }
    let is_bad = |(_, line): &(usize, &str)| {
        let text = prose::comment_text(line);
        text.starts_with("Whether ") || text.contains("; whether ") || text.contains(". Whether ")
    };
    let message = "\"Whether\" begins the sentence: write \"True if\" or \"Returns true if\"";
    let lines = prose::comment_lines(source).into_iter().filter(is_bad);
    lines.map(|(line, _)| source.finding(line, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<(usize, String)> {
        let found = findings(no_phrase_comes_back, path, text);
        found.into_iter().map(|it| (it.line, it.message)).collect()
    }

    #[test]
    fn phrases_are_found_in_comments_literals_and_documents() {
        for text in ["/// Whoever holds it.", "fn f() { g(\"whoever holds it\") }"] {
            assert_eq!(messages("a.rs", text).len(), 1, "{text}");
        }
        assert_eq!(messages("a.md", "All of them\nin vain.")[0].0, 2);
        let broken = messages("a.rs", "// The wait was in\n// vain.\n");
        let expected = "\"in vain\": write \"without success\", \"timed out\"";
        assert_eq!(broken, [(1, expected.to_string())]);
    }

    #[test]
    fn code_and_what_only_looks_like_a_phrase_are_not_found() {
        for (path, text) in [
            ("a.rs", "fn whoever() {}"),
            ("a.rs", "/// Calls `whoever`."),
            ("a.md", "```text\nwhoever\n```"),
            ("a.md", "Besides, it is so. Many do."),
            ("a.md", "It is not held. Any more threads wait."),
        ] {
            assert_eq!(messages(path, text), [], "{text}");
        }
    }

    #[test]
    fn every_phrase_of_the_list_is_found() {
        for (phrase, _) in PHRASES {
            let one = |word: &str| match word {
                "*" => "really".to_string(),
                word if word.starts_with('!') => "semaphore".to_string(),
                word => word.split('|').next().unwrap_or_default().to_string(),
            };
            let text: Vec<_> = phrase.split(' ').map(one).collect();
            assert_eq!(messages("a.md", &text.join(" ")).len(), 1, "{phrase}");
        }
    }

    #[test]
    fn who_does_something_is_named_in_the_packages_with_locks() {
        assert_eq!(messages("crates/core/src/a.rs", "/// Nobody waits.").len(), 1);
        assert_eq!(messages("crates/lab/src/a.rs", "/// Nobody waits."), []);
    }

    #[test]
    fn comments_that_begin_with_whether_are_found() {
        let rule = no_comment_begins_with_whether;
        assert_eq!(findings(rule, "a.rs", "/// Whether it is held.\nfn f() {}")[0].line, 1);
        assert_eq!(findings(rule, "a.rs", "/// Runs it; whether it is green.\n").len(), 1);
        assert!(findings(rule, "a.rs", "/// Asks whether it is held.\n").is_empty());
        assert!(findings(rule, "crates/locks/src/a.rs", "/// Whether.\n").is_empty());
    }
}

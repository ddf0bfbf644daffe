//! Prose is as wide as a window.

use super::prose::{self, comment_text};
use super::{Finding, Source};

/// How wide prose is.
const COLUMNS_MAX: usize = 120;

/// Lines of prose end at 120 columns: in Markdown, and in comments of Rust. Rows of tables, blocks of code,
/// pictures and links that cannot be broken may be longer.
pub fn prose_is_narrow(source: &Source, _: &[Source]) -> Vec<Finding> {
    let lines = if source.is_rust() {
        prose::comment_lines(source)
    } else if source.path.ends_with(".md") {
        prose::markdown_lines(source)
    } else {
        Vec::new()
    };
    let is_long = |(_, line): &(usize, &str)| line.chars().count() > COLUMNS_MAX;
    let lines = lines.into_iter().filter(|it| is_long(it) && can_be_broken(it.1));
    let finding = |(line, text): (usize, &str)| {
        let columns = text.chars().count();
        source.finding(line, format!("{columns} columns of prose, at most {COLUMNS_MAX}"))
    };
    lines.map(finding).collect()
}

/// False for a row of a table, a picture, and a line that is one long word, such as the address of a link.
fn can_be_broken(line: &str) -> bool {
    let text = comment_text(line).trim_start_matches(['-', ' ']);
    let is_link_definition = text.starts_with('[') && text.contains("]: ");
    !text.starts_with('|')
        && !line.trim_start().starts_with("![")
        && !is_link_definition
        && text.trim_end().contains(' ')
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn wide_prose_is_found() {
        let words = |count: usize| "word ".repeat(count);
        let wide = |path: &str, text: String| findings(prose_is_narrow, path, &text).len();
        assert_eq!(wide("a.md", words(25)), 1);
        assert_eq!(wide("a.md", words(24).trim_end().to_string()), 0);
        assert_eq!(wide("a.rs", format!("/// {}", words(24))), 1);
        assert_eq!(wide("a.rs", format!("fn f() {{}} // {}", words(24))), 1);
        assert_eq!(wide("a.rs", format!("fn f() {{ g(\"{}\") }}", words(30))), 0);
        assert_eq!(wide("a.md", format!("- {}ö", "ö".repeat(117))), 0, "these are 120 columns");
    }

    #[test]
    fn what_cannot_be_broken_may_be_wide() {
        let word = "w".repeat(200);
        for text in [
            format!("| {word} | b |"),
            format!("```\na {word}\n```"),
            format!("- {word}"),
            format!("[a b]: {word}"),
            format!("![a b]({word})"),
        ] {
            assert!(findings(prose_is_narrow, "a.md", &text).is_empty(), "{text}");
        }
    }
}

//! Rust text taken apart into code, comments and literals, to look at words.

use proc_macro2::{TokenStream, TokenTree};
use std::ops::Range;

/// The lines of a Rust file three times, without their ends: each time all but one kind of text is blanked out.
#[derive(Clone, Default)]
pub struct Code {
    /// Code, without comments and the insides of literals.
    pub lines: Vec<String>,
    /// Comments, with their slashes.
    pub comments: Vec<String>,
    /// Literals, with their quotes.
    pub literals: Vec<String>,
}

/// What a piece of Rust text is.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

impl Code {
    /// The text of a Rust file, taken apart. What the compiler would not take is code.
    pub fn of(text: &str) -> Self {
        let mut tokens = Vec::new();
        match text.parse() {
            Ok(stream) => add(stream, text, &mut tokens),
            Err(_) => tokens.push(0..text.len()),
        }
        tokens.push(text.len()..text.len());
        let mut kinds =
            [Kind::Code, Kind::Comment, Kind::Literal].map(|kind| (kind, String::new()));
        let blank = |c| if c == '\n' { '\n' } else { ' ' };
        let mut end = 0;
        for token in tokens {
            // The parts of a comment for documentation are tokens in the same place.
            let (begin, after) = (token.start.max(end), token.end.max(end));
            let (gap, piece) = (&text[end..begin], &text[begin..after]);
            // Between tokens there are comments.
            for (piece, kind) in [(gap, Kind::Comment), (piece, Kind::of(piece))] {
                for (of, to) in &mut kinds {
                    match kind == *of {
                        true => to.push_str(piece),
                        false => to.extend(piece.chars().map(blank)),
                    }
                }
            }
            end = after;
        }
        let lines = |(_, text): (Kind, String)| text.lines().map(str::to_string).collect();
        let [lines, comments, literals] = kinds.map(lines);
        Self { lines, comments, literals }
    }
    /// The first line (counted from 0) of the test module, or the number of lines.
    pub fn tests_begin(&self) -> usize {
        let is_test_module = |line: &String| line.trim() == "#[cfg(test)]";
        self.lines.iter().position(is_test_module).unwrap_or(self.lines.len())
    }
    /// The lines of code in front of the test module.
    pub fn product(&self) -> &[String] {
        &self.lines[..self.tests_begin()]
    }
}

/// The words of a line of code.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

impl Kind {
    /// What a token is.
    fn of(token: &str) -> Self {
        match token {
            _ if is_comment(token) => Self::Comment,
            _ if token.len() > 1 && token.ends_with(['"', '\'', '#']) => Self::Literal,
            _ => Self::Code,
        }
    }
}

fn is_comment(token: &str) -> bool {
    token.starts_with("//") || token.starts_with("/*")
}

/// Adds where the tokens are, in bytes of the text.
fn add(stream: TokenStream, text: &str, tokens: &mut Vec<Range<usize>>) {
    for token in stream {
        match &token {
            TokenTree::Group(group) if !is_comment(&text[group.span().byte_range()]) => {
                tokens.push(group.span_open().byte_range());
                add(group.stream(), text, tokens);
                tokens.push(group.span_close().byte_range());
            }
            _ => tokens.push(token.span().byte_range()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only_code(text: &str) -> Vec<String> {
        let lines = Code::of(text).lines;
        lines.iter().map(|line| words(line).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn comments_and_literals_are_no_code() {
        assert_eq!(only_code("a // b\nc /* d /* e */ f */ g"), ["a", "c g"]);
        assert_eq!(only_code(r#"let x = "y \" z"; w"#), ["let x w"]);
        assert_eq!(only_code("p r#\"q \" r\"# s br\"t\" u"), ["p s u"]);
        assert_eq!(only_code("let c = 'd'; let e = '\\''; f"), ["let c let e f"]);
    }

    #[test]
    fn lifetimes_are_code() {
        assert_eq!(only_code("fn f<'a>(x: &'a str) {}"), ["fn f a x a str"]);
    }

    #[test]
    fn comments_and_literals_are_kept_apart() {
        let code = Code::of("a // b \"c\"\nd(\"e // f\");\n");
        let trimmed = |lines: &[String]| -> Vec<String> {
            lines.iter().map(|line| line.trim().to_string()).collect()
        };
        assert_eq!(trimmed(&code.comments), ["// b \"c\"", ""]);
        assert_eq!(trimmed(&code.literals), ["", "\"e // f\""]);
    }

    #[test]
    fn lines_stay_where_they_are() {
        let code = Code::of("a\n/* b\nc */ d\n\"e\nf\" g\n");
        assert_eq!(code.lines.len(), 5);
        assert_eq!(code.lines[4].trim(), "g");
    }
}

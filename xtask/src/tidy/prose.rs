//! Finding prose: the text of Markdown outside code, and of Rust comments and literals.

use super::Source;

/// A word or the end of a sentence, in small letters, with its line counted from 1.
#[derive(Debug, PartialEq)]
pub struct Token {
    pub text: String,
    pub line: usize,
}

/// What ends a sentence, as the text of a [`Token`]; and what stands for code between backticks.
pub const END: &str = ".";
pub const CODE: &str = "`";

/// The texts of a file in which people are spoken to, each a list of lines with numbers counted from 1.
pub fn texts(source: &Source) -> Vec<Vec<(usize, &str)>> {
    if source.is_rust() {
        let numbered = |lines| -> Vec<_> { number(lines).collect() };
        return vec![numbered(&source.code().comments), numbered(&source.code().literals)];
    }
    if source.path.ends_with(".md") { vec![markdown_lines(source)] } else { Vec::new() }
}

fn number(lines: &[String]) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(lines.iter().map(String::as_str))
}

/// The lines of a document that are not in a block of code.
pub fn markdown_lines(source: &Source) -> Vec<(usize, &str)> {
    without_fences((1..).zip(source.text.lines()), |line| line)
}

/// The lines that have a comment and are not in a block of code inside of one.
pub fn comment_lines(source: &Source) -> Vec<(usize, &str)> {
    let commented = number(&source.code().comments).filter(|(_, line)| !line.trim().is_empty());
    without_fences(commented, comment_text)
}

/// Lines outside of blocks between fences; `text_of` is a line without its marker.
fn without_fences<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
    text_of: impl Fn(&str) -> &str,
) -> Vec<(usize, &'a str)> {
    let mut is_inside = false;
    let is_prose = |(_, line): &(usize, &str)| {
        let is_fence = text_of(line).trim_start().starts_with("```");
        is_inside ^= is_fence;
        !is_inside && !is_fence
    };
    lines.filter(is_prose).collect()
}

/// What a line of a comment says, without its marker.
pub fn comment_text(line: &str) -> &str {
    line.trim_start().trim_start_matches(['/', '!', '*']).trim_start()
}

/// The words of a text, and the ends of its sentences.
pub fn tokens(lines: &[(usize, &str)]) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    for (line, text) in lines {
        let mut push = |text: &str| tokens.push(Token { text: text.to_lowercase(), line: *line });
        if comment_text(text).is_empty() {
            push(END);
        }
        for (at, part) in text.split('`').enumerate() {
            if at % 2 == 1 {
                push(CODE);
                continue;
            }
            for word in part.split_whitespace() {
                let is_letter = |c: char| c.is_alphanumeric() || "'_-%".contains(c);
                let inner = word.trim_matches(|c: char| !is_letter(c));
                if !inner.is_empty() {
                    push(inner);
                }
                if word.ends_with(['.', ';', ':', '?', '|']) {
                    push(END);
                }
            }
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<String> {
        let lines: Vec<_> = (1..).zip(text.lines()).collect();
        tokens(&lines).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_are_small_code_is_left_out_and_sentences_end() {
        assert_eq!(said("/// The `Lock` is\n/// held."), ["the", CODE, "is", "held", END]);
        assert_eq!(said("// One\n//\n// two"), ["one", END, "two"]);
    }

    #[test]
    fn blocks_of_code_are_no_prose() {
        let document = Source::new("a.md", "a\n```text\nb\n```\nc\n");
        assert_eq!(markdown_lines(&document), [(1, "a"), (5, "c")]);
        let rust = Source::new("a.rs", "//! a\n//! ```\n//! b\n//! ```\nfn f() {} // c\n");
        let lines: Vec<_> = comment_lines(&rust).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 5]);
    }
}

//! Rust text taken apart into code, comments and literals: enough of a lexer to look at words.

/// The lines of a Rust file three times, without their ends: each time all but one kind of text is blanked out.
#[derive(Default)]
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
    /// The text of a Rust file, taken apart.
    pub fn of(text: &str) -> Self {
        let (mut code, mut comments, mut literals) = (String::new(), String::new(), String::new());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (length, kind) = match literal_or_comment(rest, &code) {
                Some(length) if rest.starts_with('/') => (length, Kind::Comment),
                Some(length) => (length, Kind::Literal),
                None => (first.len_utf8(), Kind::Code),
            };
            let (piece, after) = rest.split_at(length);
            let push = |to: &mut String, of: Kind| match kind == of {
                true => to.push_str(piece),
                false => to.extend(piece.chars().map(|c| if c == '\n' { '\n' } else { ' ' })),
            };
            push(&mut code, Kind::Code);
            push(&mut comments, Kind::Comment);
            push(&mut literals, Kind::Literal);
            rest = after;
        }
        let lines = |text: String| text.lines().map(str::to_string).collect();
        Self { lines: lines(code), comments: lines(comments), literals: lines(literals) }
    }
    /// The first line (counted from 0) of the test module, or the number of lines.
    pub fn tests_begin(&self) -> usize {
        let is_test_module = |line: &String| line.trim() == "#[cfg(test)]";
        self.lines.iter().position(is_test_module).unwrap_or(self.lines.len())
    }
}

/// The words of a line of code.
pub fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// If a comment or a literal begins here, its length in bytes. `before` is the code in front.
fn literal_or_comment(rest: &str, before: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(block_comment(rest));
    }
    if rest.starts_with('"') {
        return Some(quoted(rest, '"'));
    }
    let continues_word = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if !continues_word && let Some(length) = raw_string(rest) {
        return Some(length);
    }
    if let Some(inside) = rest.strip_prefix('\'') {
        // `'a'` and `'\n'` are characters, `'a` is a lifetime.
        let mut characters = inside.chars();
        let is_character = characters.next() == Some('\\') || characters.next() == Some('\'');
        return is_character.then(|| quoted(rest, '\''));
    }
    None
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let step = if rest[at..].starts_with("/*") {
            depth += 1;
            2
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            2
        } else {
            rest[at..].chars().next().map_or(1, char::len_utf8)
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn raw_string(rest: &str) -> Option<usize> {
    let prefix = if rest.starts_with("br") { 2 } else { usize::from(rest.starts_with('r')) };
    let hashes = rest[prefix..].len() - rest[prefix..].trim_start_matches('#').len();
    let open = prefix + hashes;
    if prefix == 0 || !rest[open..].starts_with('"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let inside = open + 1;
    Some(rest[inside..].find(&close).map_or(rest.len(), |at| inside + at + close.len()))
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

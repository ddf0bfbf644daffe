//! Rules about length.

use super::code::words;
use super::{Finding, Source};

/// How many lines are good, and how many there may be.
type Limits = (usize, usize);
/// A file is one idea.
const FILE_LINES: Limits = (400, 600);
/// A function fits on a screen.
const FUNCTION_LINES: Limits = (50, 70);

fn judge(source: &Source, line: usize, what: &str, lines: usize, limits: Limits) -> Vec<Finding> {
    let (good, max) = limits;
    if lines > max {
        vec![source.finding(line, format!("{what} has {lines} lines, at most {max}"))]
    } else if lines > good {
        vec![source.warning(line, format!("{what} has {lines} lines, better {good} at most"))]
    } else {
        Vec::new()
    }
}

/// Rust files have at most 600 lines, better 400.
pub fn files_are_short(source: &Source, _: &[Source]) -> Vec<Finding> {
    if !source.is_rust() {
        return Vec::new();
    }
    let lines = source.text.lines().count();
    judge(source, 1, "the file", lines, FILE_LINES)
}

/// Functions have at most 70 lines, better 50.
pub fn functions_are_short(source: &Source, _: &[Source]) -> Vec<Finding> {
    let lines = &source.code().lines;
    let judged = |(at, line): (usize, &String)| {
        // `fn(` is a type.
        let name = words(line).skip_while(|word| *word != "fn").nth(1);
        let name = name.filter(|_| line.contains("fn "))?;
        let count = body_lines(&lines[at..])?;
        Some(judge(source, at + 1, &format!("`{name}`"), count, FUNCTION_LINES))
    };
    lines.iter().enumerate().filter_map(judged).flatten().collect()
}

/// How many lines there are up to the end of the body that begins in these; `None` if there is a
/// semicolon instead of a body.
fn body_lines(lines: &[String]) -> Option<usize> {
    let (mut braces, mut brackets) = (0, 0);
    for (at, line) in lines.iter().enumerate() {
        for c in line.chars() {
            match c {
                '(' | '[' => brackets += 1,
                ')' | ']' => brackets -= 1,
                '{' => braces += 1,
                '}' if braces == 1 => return Some(at + 1),
                '}' => braces -= 1,
                ';' if braces == 0 && brackets == 0 => return None,
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    #[test]
    fn long_files_are_found() {
        let file = |lines: usize| findings(files_are_short, "a.rs", &"//\n".repeat(lines));
        assert!(file(400).is_empty());
        assert!(file(401)[0].is_warning);
        assert!(!file(601)[0].is_warning);
        assert!(findings(files_are_short, "a.csv", &"1\n".repeat(1000)).is_empty());
    }

    #[test]
    fn long_functions_are_found() {
        let function = |lines: usize| {
            let body = "    if a { b() }\n".repeat(lines - 2);
            let text =
                format!("trait T {{\n    fn short();\n}}\nfn long(a: [u8; 2]) {{\n{body}}}\n");
            findings(functions_are_short, "a.rs", &text)
        };
        assert!(function(50).is_empty());
        assert!(function(51)[0].is_warning);
        let Finding { line, message, is_warning, .. } = &function(71)[0];
        let expected = (&4, "`long` has 71 lines, at most 70", &false);
        assert_eq!((line, message.as_str(), is_warning), expected);
    }
}

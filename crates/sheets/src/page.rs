//! The width that text for people may have.

use std::io::IsTerminal;
use terminal_size::{Width, terminal_size_of};

/// Of a pipe, and of a terminal that does not tell.
const USUAL_WIDTH: usize = 80;
/// No table fits into less.
const LEAST_WIDTH: usize = 40;

/// Columns of standard output: those of the terminal; in a pipe `COLUMNS`, or 80.
pub fn width() -> usize {
    let of_terminal = terminal_size_of(std::io::stdout()).map(|(Width(width), _)| width.into());
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok();
    of_terminal.filter(|&width| width > 0).or_else(asked).unwrap_or(USUAL_WIDTH).max(LEAST_WIDTH)
}

/// True if a person reads standard output. Lines that a program may read stay whole otherwise.
pub fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// `text` in lines of at most `width`, broken at blanks. A longer word is broken after an underscore if it
/// has one, and has a line of its own otherwise.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split(' ').filter(|word| !word.is_empty()) {
            if !line.is_empty() && length(&line) + 1 + length(word) > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            for piece in pieces(word, width) {
                if !line.is_empty() && length(&line) + length(piece) > width {
                    lines.push(std::mem::take(&mut line));
                }
                line.push_str(piece);
            }
        }
        lines.push(line);
    }
    lines
}

/// The parts of a word that stay whole in lines of `width`.
pub fn pieces(word: &str, width: usize) -> impl Iterator<Item = &str> {
    let breaks = length(word) > width;
    word.split_inclusive(move |c| breaks && c == '_')
}

/// `text` in lines that fit on the page, each with an end of line.
pub fn wrapped(text: &str) -> String {
    joined(lines(text, width()))
}

/// As [`wrapped`], with the lines after the first one indented.
pub fn hanging(text: &str, indent: &str) -> String {
    let lines = lines(text, width() - length(indent)).into_iter().enumerate();
    joined(lines.map(|(at, line)| if at == 0 { line } else { format!("{indent}{line}") }))
}

/// A command to copy. On a terminal it is split into lines that a shell joins again; the first one begins
/// after `used` columns. A program gets it whole.
pub fn command(command: &str, used: usize) -> String {
    let lines = match is_terminal() {
        true => shell_lines(command, used, width()),
        false => vec![command.into()],
    };
    joined(lines)
}

/// A command in lines of at most `width` that a shell joins again.
pub fn command_within(command: &str, width: usize) -> String {
    joined(shell_lines(command, 0, width))
}

fn shell_lines(command: &str, used: usize, width: usize) -> Vec<String> {
    const INDENT: &str = "    ";
    let mut lines = vec![" ".repeat(used)];
    let mut in_quotes = false;
    let words = command.split(|c: char| {
        in_quotes ^= c == '\'';
        c == ' ' && !in_quotes
    });
    for word in words {
        let last = lines.len() - 1;
        // Room for a blank before it and ` \` after it.
        let is_first = lines[last].trim().is_empty();
        if is_first || length(&lines[last]) + 1 + length(word) + 2 <= width {
            lines[last] += if is_first { "" } else { " " };
            lines[last] += word;
            continue;
        }
        lines[last] += " \\";
        lines.push(INDENT.into());
        let quote = if word.starts_with('\'') { "'" } else { "" };
        let letters: Vec<char> = word.trim_matches('\'').chars().collect();
        // Room for quotes and `\`; what follows in the same word cannot be indented.
        let room = if letters.contains(&'\'') { usize::MAX } else { width - INDENT.len() - 5 };
        for (at, piece) in letters.chunks(room).enumerate() {
            let last = lines.len() - 1;
            let piece = format!("{quote}{}{quote}", piece.iter().collect::<String>());
            if at > 0 {
                lines[last] += "\\";
                lines.push(piece);
            } else {
                lines[last] += &piece;
            }
        }
    }
    lines[0] = lines[0][used..].into();
    lines
}

/// `word` as a shell reads it back.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./+,:@%".contains(c);
    match word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// How many columns `text` takes.
pub fn length(text: &str) -> usize {
    text.chars().count()
}

fn joined(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| line.trim_end().to_string() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_blanks_and_long_words_stay_whole() {
        let text = "one two  three\nfour incomprehensibilities";
        assert_eq!(lines(text, 9), ["one two", "three", "four", "incomprehensibilities"]);
        assert_eq!(lines("", 9), [""]);
        assert_eq!(lines("a rwsem_wake_up_all", 9), ["a", "rwsem_", "wake_up_", "all"]);
    }

    #[test]
    fn the_lines_after_the_first_one_are_indented() {
        let text = "word ".repeat(60);
        let hung = hanging(&text, "    ");
        assert!(hung.lines().skip(1).all(|line| line.starts_with("    word")), "{hung}");
        assert!(hung.lines().all(|line| length(line) <= width()), "{hung}");
    }

    #[test]
    fn a_shell_joins_the_lines_of_a_command() {
        let long = format!("'0:{}'", "aB!c12".repeat(40));
        let command =
            format!("printf %s| --lock busted --on 'my file' --client exclusion --replay {long}");
        let said = |command: &str| {
            let command = command.replace("%s|", "'%s|'");
            let output = std::process::Command::new("sh").args(["-c", &command]).output();
            String::from_utf8(output.expect("there is a shell").stdout).expect("text")
        };
        let lines = shell_lines(&command, 10, 60);
        assert!(lines[0].len() <= 50 && lines.iter().all(|line| length(line) <= 60), "{lines:#?}");
        assert!(lines.len() > 5, "{lines:#?}");
        assert!(said(&command).matches('|').count() > 6);
        assert_eq!(said(&lines.join("\n")), said(&command));
    }

    #[test]
    fn a_path_with_blanks_is_one_word_of_the_shell() {
        assert_eq!(quoted("machines/x5-4.toml"), "machines/x5-4.toml");
        assert_eq!(quoted("my machine's.toml"), r"'my machine'\''s.toml'");
    }
}

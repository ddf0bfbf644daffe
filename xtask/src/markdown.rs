//! Markdown as the generators write it: tables, and prose that ends at 120 columns.

/// How wide prose is.
pub const COLUMNS_MAX: usize = 120;

/// The document with every paragraph and list item filled again, so that no line of prose is wider than
/// [`COLUMNS_MAX`]. Headings, tables, pictures, comments and blocks of code stay as they are.
pub fn filled(document: &str) -> String {
    let mut text = String::new();
    let mut block: Vec<&str> = Vec::new();
    let mut in_code = false;
    for line in document.lines() {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        let stays =
            in_code || is_fence || line.is_empty() || line.starts_with(['#', '|', '!', '<']);
        if stays || is_item(line) {
            flush(&mut block, &mut text);
        }
        if stays {
            text += &format!("{line}\n");
        } else {
            block.push(line);
        }
    }
    flush(&mut block, &mut text);
    text
}

/// True for the first line of a list item.
fn is_item(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("- ") || text.split_once(". ").is_some_and(|(it, _)| is_number(it))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// Writes the lines of a paragraph or an item, filled.
fn flush(block: &mut Vec<&str>, text: &mut String) {
    let Some(first) = block.first() else { return };
    let indent = first.len() - first.trim_start().len();
    let hanging = if is_item(first) {
        indent + first.trim_start().find(' ').unwrap_or(0) + 1
    } else {
        indent
    };
    let mut line = " ".repeat(indent);
    let mut is_start = true;
    for word in words(block) {
        if !is_start && line.chars().count() + 1 + word.chars().count() > COLUMNS_MAX {
            *text += &format!("{line}\n");
            line = " ".repeat(hanging);
            is_start = true;
        }
        if !is_start {
            line.push(' ');
        }
        line += &word;
        is_start = false;
    }
    *text += &format!("{line}\n");
    block.clear();
}

/// The words of a block. One that would mean something at the beginning of a line stays with the word before, and
/// code between backticks stays together, so that a command can be copied.
fn words(block: &[&str]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in block.iter().flat_map(|line| line.split_whitespace()) {
        let is_marker = word.starts_with(['-', '+', '*', '#', '>', '|'])
            || word.strip_suffix('.').is_some_and(is_number);
        // `**bold**` is a word like others.
        let is_marker = is_marker && !(word.starts_with('*') && word.len() > 1);
        let in_code = |before: &String| !before.matches('`').count().is_multiple_of(2);
        match words.last_mut() {
            Some(last) if is_marker || in_code(last) => *last += &format!(" {word}"),
            _ => words.push(word.to_string()),
        }
    }
    words
}

/// A table; numbers stand to the right of the first columns, which are `left`.
pub fn table(header: &[&str], left: usize, rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let header: Vec<String> = header.iter().map(ToString::to_string).collect();
    let rule: Vec<String> =
        (0..header.len()).map(|at| if at < left { "---" } else { "---:" }.to_string()).collect();
    let body: String = rows.iter().map(|row| line(row)).collect();
    line(&header) + &line(&rule) + &body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_rule_and_a_line_for_each_row() {
        let row = ["mcs", "3"].map(String::from).to_vec();
        assert_eq!(table(&["lock", "n"], 1, &[row]), "| lock | n |\n| --- | ---: |\n| mcs | 3 |\n");
    }

    #[test]
    fn paragraphs_and_items_are_filled() {
        let word = "word ".repeat(30);
        let text = filled(&format!("{word}\nend\n\n- {word}\n- short\n"));
        let lines: Vec<_> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= COLUMNS_MAX), "{text}");
        assert!(lines[1].ends_with("word end") && lines[4].starts_with("  word"), "{text}");
        assert_eq!(lines[5], "- short");
    }

    #[test]
    fn commands_stay_together() {
        let text = filled(&"see `cargo run -- x` and ".repeat(20));
        let is_whole = |line: &str| line.matches('`').count().is_multiple_of(2);
        assert!(text.lines().count() > 3 && text.lines().all(is_whole), "{text}");
    }

    #[test]
    fn what_is_not_prose_stays_and_no_line_becomes_an_item() {
        let wide = "x y ".repeat(60);
        for line in [format!("| {wide}|"), format!("# {wide}"), format!("```\n{wide}\n```")] {
            assert_eq!(filled(&line), line.clone() + "\n");
        }
        let dashes = filled(&"word - ".repeat(40));
        assert!(dashes.lines().all(|line| !line.starts_with("- ")), "{dashes}");
        let numbers = filled(&"word 3. ".repeat(40));
        assert!(numbers.lines().all(|line| !line.starts_with("3. ")), "{numbers}");
    }
}

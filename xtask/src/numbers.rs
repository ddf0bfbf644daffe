//! Pages that people write and that quote the numbers of a JSON document: where do they differ from it?
//!
//! The comment behind a number says where the document has it: `254<!-- tree/orderings -->`. A list is quoted by its
//! length. A table quotes an object of objects: the comment behind the first heading says where that is, each row
//! begins with one of its keys, and the comments behind other headings lead on from there.

use crate::disk::read;
use serde_json::Value;
use std::path::Path;

/// What a page says, and the place that it names.
type Quote = (String, String);

/// How `page` differs from `document`, each a sentence. The page has to quote each number and each list that stands
/// directly in a part of the document, and each row of an object of which it has a table.
pub fn differences(page: &str, document: &Value) -> Vec<String> {
    let (quotes, tables) = quotes(page);
    let differences = quotes.iter().filter_map(|(text, at)| difference(text, document, at));
    let keys = |place: &str| -> Vec<(String, &Value)> {
        let object = document.pointer(place).and_then(Value::as_object);
        object.into_iter().flatten().map(|(key, it)| (format!("{place}/{key}"), it)).collect()
    };
    let rows = tables.iter().flat_map(|table| keys(&format!("/{table}")));
    let single = keys("").into_iter().flat_map(|(part, _)| keys(&part));
    let single = single.filter(|(_, it)| it.is_number() || it.is_array());
    let is_quoted = |place: &str| {
        let begin = format!("{place}/");
        quotes.iter().any(|(_, it)| format!("/{it}/").starts_with(&begin))
    };
    let missing = rows.chain(single).filter(|(place, _)| !is_quoted(place));
    let missing = missing.map(|(place, _)| format!("it does not quote `{}`", &place[1..]));
    differences.chain(missing).collect()
}

/// The same of two files below the root.
pub fn of_files(root: &Path, page: &str, document: &str) -> Result<Vec<String>, String> {
    let text = read(&root.join(page))?;
    let differences = differences(&text, &read_json(root, document)?);
    Ok(differences.into_iter().map(|it| format!("{page}: {it}")).collect())
}

/// The JSON in a file below the root.
pub fn read_json(root: &Path, name: &str) -> Result<Value, String> {
    serde_json::from_str(&read(&root.join(name))?).map_err(|error| format!("{name}: {error}"))
}

/// The elements of a list; none if it is something else.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text without quotes, or something else as it is; nothing for null.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

/// All that is quoted in a page, and the objects of which it has tables.
fn quotes(page: &str) -> (Vec<Quote>, Vec<String>) {
    let (mut quotes, mut tables) = (Vec::new(), Vec::new());
    let mut headings: Vec<String> = Vec::new();
    for line in page.lines() {
        let cells: Vec<_> = line.split('|').skip(1).map(str::trim).collect();
        if !line.starts_with('|') {
            headings.clear();
            quotes.extend(quoted(line));
        } else if headings.is_empty() {
            let place = |cell| quoted(cell).next().map_or(String::new(), |(_, place)| place);
            headings = cells.into_iter().map(place).collect();
            tables.extend(Some(headings[0].clone()).filter(|it| !it.is_empty()));
        } else if headings[0].is_empty() {
            quotes.extend(quoted(line));
        } else if !line.starts_with("|---") {
            let key = cells[0].trim_start_matches('[').split(']').next().unwrap_or_default();
            let row = format!("{}/{}", headings[0], key.trim_matches('`'));
            let quoting = cells.iter().zip(&headings).skip(1).filter(|(_, it)| !it.is_empty());
            quotes.extend(quoting.map(|(cell, it)| (cell.to_string(), format!("{row}/{it}"))));
        }
    }
    (quotes, tables)
}

/// The word before each comment that has only the name of a place, and that place.
fn quoted(text: &str) -> impl Iterator<Item = Quote> {
    let comments = text.match_indices("<!-- ");
    comments.filter_map(|(at, begin)| {
        let (place, _) = text[at + begin.len()..].split_once(" -->")?;
        let word = text[..at].rsplit(char::is_whitespace).next()?.trim_matches(['(', '`', '*']);
        Some((word.to_string(), place.to_string()))
    })
}

/// A sentence if the page does not say what the document has there.
fn difference<'a>(text: &str, document: &'a Value, place: &str) -> Option<String> {
    // What leads on from null is null.
    let lead_on = |at: &'a Value, key| if at.is_null() { Some(at) } else { at.get(key) };
    let Some(value) = place.split('/').try_fold(document, lead_on) else {
        return Some(format!("it quotes `{place}`, which is not in the document"));
    };
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let expected = match value {
        Value::Null => "-".to_string(),
        Value::Array(list) => list.len().to_string(),
        Value::Number(number) => format!("{:.decimals$}", number.as_f64().unwrap_or(f64::NAN)),
        other => plain(other),
    };
    let is_equal = [text, &text.replace(',', "")].contains(&&*expected);
    (!is_equal).then(|| format!("it says `{text}` where `{place}` is {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PAGE: &str = "We have 1,234<!-- run/steps --> steps in (`0..4`<!-- run/seeds -->), and\n\
        2<!-- run/names --> names.\n\n\
        | table<!-- tables --> | error %<!-- score/rms --> | remark |\n|---|---:|---|\n\
        | [a](a.csv) | 4.7 | fine |\n| `b` | - | |\n\n| x | y |\n|---|---|\n| 1 | 3.0<!-- tables/a/n --> |\n";

    #[test]
    fn a_page_that_says_something_else_than_its_document_is_found_out() {
        let document = json!({
            "run": {"steps": 1234, "seeds": "0..4", "names": ["x", "y"]},
            "tables": {"a": {"n": 3, "score": {"rms": 4.678}}, "b": {"score": null}},
        });
        assert_eq!(differences(PAGE, &document), Vec::<String>::new());
        for (from, to, expected) in [
            ("1,234", "1,235", "it says `1,235` where `run/steps` is 1234"),
            ("0..4", "0..5", "it says `0..5` where `run/seeds` is 0..4"),
            ("2<", "3<", "it says `3` where `run/names` is 2"),
            ("run/names", "run/nam", "it quotes `run/nam`, which is not in the document"),
            ("<!-- run/steps -->", "", "it does not quote `run/steps`"),
            ("4.7", "4.6", "it says `4.6` where `tables/a/score/rms` is 4.7"),
            ("4.7", "4.70", "it says `4.70` where `tables/a/score/rms` is 4.68"),
            ("| - |", "| 1.0 |", "it says `1.0` where `tables/b/score/rms` is -"),
            ("| `b` | - | |\n", "", "it does not quote `tables/b`"),
            ("[a]", "[c]", "it quotes `tables/c/score/rms`, which is not in the document"),
            ("3.0<", "3.5<", "it says `3.5` where `tables/a/n` is 3.0"),
        ] {
            let page = PAGE.replacen(from, to, 1);
            assert_eq!(differences(&page, &document).first().map(String::as_str), Some(expected));
        }
    }
}

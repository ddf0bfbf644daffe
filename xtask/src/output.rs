//! What a tool says to a reader, and the document it writes for programs.

use serde::Serialize;

/// Where the document goes: `-` is standard output, and `None` nowhere.
pub type Place = Option<String>;

/// Says a line to the reader: on stderr if the document goes to stdout.
pub fn say(place: &Place, line: &str) {
    if place.as_deref() == Some("-") { eprintln!("{line}") } else { println!("{line}") }
}

/// Writes `document`, if it is wanted.
///
/// # Errors
/// A sentence that says what cannot be written.
pub fn write(place: &Place, document: &impl Serialize) -> Result<(), String> {
    let Some(place) = place else { return Ok(()) };
    let text = serde_json::to_string_pretty(document).map_err(|error| error.to_string())?;
    if place == "-" {
        println!("{text}");
        return Ok(());
    }
    std::fs::write(place, text + "\n")
        .map_err(|error| format!("{place} cannot be written: {error}; name another file"))
}

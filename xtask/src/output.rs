//! What a tool says to a reader, and the document it writes for programs.

use crate::disk;
use serde::Serialize;
use std::path::Path;
use std::process::Command;

/// Says a line to the reader: on stderr if the document goes to stdout, which is called `-`.
pub fn say(place: &Option<String>, line: &str) {
    if place.as_deref() == Some("-") { eprintln!("{line}") } else { println!("{line}") }
}

/// Writes `document`, if it is wanted.
///
/// # Errors
/// A sentence that says what cannot be written.
pub fn write(place: &Option<String>, document: &impl Serialize) -> Result<(), String> {
    let Some(place) = place else { return Ok(()) };
    let text = serde_json::to_string_pretty(document).map_err(|error| error.to_string())?;
    if place == "-" {
        println!("{text}");
        return Ok(());
    }
    std::fs::write(place, text + "\n")
        .map_err(|error| format!("{place} cannot be written: {error}; name another file"))
}

/// Prints what is wrong, a line each. Returns true if nothing is.
pub fn complain(tool: &str, complaints: &[String]) -> bool {
    complaints.iter().for_each(|complaint| eprintln!("{tool}: {complaint}"));
    complaints.is_empty()
}

/// Has a shell command write a file; there is none if it fails, neither an old one nor half of a new one.
pub fn write_anew(root: &Path, name: &str, command: &str) -> Result<(), String> {
    let (file, command) = (root.join(name), command.replace("FILE", name));
    eprintln!("{command}");
    std::fs::create_dir_all(file.parent().unwrap_or(root)).map_err(disk::at(&file))?;
    let _ = std::fs::remove_file(&file);
    let status = Command::new("sh").args(["-c", &command]).current_dir(root).status();
    if status.is_ok_and(|status| status.success()) && file.exists() {
        return Ok(());
    }
    let _ = std::fs::remove_file(&file);
    Err(format!("{name} is not written by `{command}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_a_command_that_succeeded_has_written_and_nothing_older() {
        let (folder, name) = (std::env::temp_dir(), format!("output-{}", std::process::id()));
        for (command, expected) in [
            ("echo new > FILE", Some("new\n")),
            ("(echo new > FILE; exit 1) || [ $? = 1 ]", Some("new\n")),
            ("(echo new > FILE; exit 101) || [ $? = 1 ]", None),
            ("echo new > FILE; exit 1", None),
            ("echo new > FILE; kill -9 $$", None),
            ("true", None),
        ] {
            std::fs::write(folder.join(&name), "old").unwrap();
            let result = write_anew(&folder, &name, command);
            let text = std::fs::read_to_string(folder.join(&name)).ok();
            assert_eq!(text.as_deref(), expected, "{command}");
            assert_eq!(result.is_ok(), expected.is_some(), "{command}");
        }
    }
}

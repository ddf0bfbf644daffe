//! What can go wrong before or around measuring. Each message says what to type instead.

use crate::record::TrialError;
use crate::suggest::{containing, nearest};
use lockwright_sim::machine::MachineError;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a command did not do what it was asked.
#[derive(Debug)]
pub enum Error {
    /// A name that nothing answers to.
    Unknown {
        /// What it should have named: `lock`, `workload`, ...
        what: &'static str,
        /// What was typed.
        typed: String,
        /// The nearest name, or those that contain what was typed, as they stand in the message.
        nearest: Option<String>,
        /// The command that lists the names.
        list: &'static str,
    },
    /// Arguments that cannot be used, alone or together; the sentence says what to type instead.
    Usage(String),
    /// The reader of the output has closed it.
    OutputClosed,
    /// An output that cannot be written.
    Output {
        /// The file, or `standard output`.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
        /// Where the results are instead, as a part of the sentence; may be empty.
        instead: String,
    },
    /// A machine that cannot be used; the sentence names file, key and reason.
    Machine(String),
    /// A measurement that failed; the sentence says how to repeat it.
    Measurement(String),
}

impl Error {
    /// A name that nothing answers to.
    pub fn unknown<'a>(
        what: &'static str,
        typed: &str,
        names: impl IntoIterator<Item = &'a str>,
        list: &'static str,
    ) -> Self {
        let names: Vec<&str> = names.into_iter().collect();
        let found = match containing(typed, names.iter().copied()) {
            found if found.is_empty() => nearest(typed, names).into_iter().collect(),
            found => found,
        };
        let nearest = alternatives(&found);
        Self::Unknown { what, typed: one_line(typed), nearest, list }
    }
    /// Arguments that cannot be used; `sentence` says what to type instead.
    pub fn usage(sentence: impl Into<String>) -> Self {
        Self::Usage(sentence.into())
    }
    /// An output that cannot be written.
    pub fn output(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        match source.kind() {
            std::io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Output { path: path.as_ref().to_owned(), source, instead: String::new() },
        }
    }
    /// The same; `place` has the results instead.
    #[must_use]
    pub fn instead(mut self, place: impl fmt::Display) -> Self {
        if let Self::Output { instead, .. } = &mut self {
            *instead = format!("; the results are {place}");
        }
        self
    }
    /// The exit code: 1 for a measurement that failed, 0 if the reader has closed the output, 2 for bad input.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Measurement(_) => 1,
            Self::OutputClosed => 0,
            _ => 2,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { what, typed, nearest: Some(nearest), list } => {
                write!(f, "unknown {what} `{typed}`; did you mean {nearest}? (`{list}` lists all)")
            }
            Self::Unknown { what, typed, nearest: None, list } => {
                write!(f, "unknown {what} `{typed}`; `{list}` lists all")
            }
            Self::Usage(sentence) | Self::Machine(sentence) | Self::Measurement(sentence) => {
                f.write_str(sentence)
            }
            Self::OutputClosed => f.write_str("the output was closed"),
            Self::Output { path, source, instead } => match source.kind() {
                std::io::ErrorKind::NotFound => write!(
                    f,
                    "cannot write {0}: its folder does not exist; make it, or name another file{instead}",
                    path.display()
                ),
                _ => write!(f, "cannot write {}: {source}{instead}", path.display()),
            },
        }
    }
}

impl std::error::Error for Error {}

impl From<MachineError> for Error {
    fn from(error: MachineError) -> Self {
        Self::Machine(error.to_string())
    }
}

impl From<TrialError> for Error {
    fn from(error: TrialError) -> Self {
        Self::Measurement(error.to_string())
    }
}

/// Names in a question: "`a`, `b` or `c`".
fn alternatives(names: &[&str]) -> Option<String> {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let (last, others) = names.split_last()?;
    Some(match others.is_empty() {
        true => last.clone(),
        false => format!("{} or {last}", others.join(", ")),
    })
}

/// What was typed, fit for a message of one line.
fn one_line(typed: &str) -> String {
    let clean: String = typed.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match clean.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &clean[..end]),
        None => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_gets_the_nearest_one_and_the_list() {
        let error = Error::unknown("lock", "tiket", ["ticket", "mcs"], "lockwright locks");
        let text = error.to_string();
        assert!(text.contains("`ticket`") && text.contains("lockwright locks"), "{text}");
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn names_that_contain_what_was_typed_are_all_suggested() {
        let said = |typed| {
            let names = ["cna-v11", "cna-park", "hybrid-cna", "other"];
            Error::unknown("lock", typed, names, "lockwright locks").to_string()
        };
        let all = "did you mean `cna-v11`, `cna-park` or `hybrid-cna`? (";
        assert!(said("cna").contains(all), "{}", said("cna"));
        assert!(said("Park").contains("did you mean `cna-park`?"), "{}", said("Park"));
    }

    #[test]
    fn whatever_was_typed_the_message_is_one_line() {
        let long = "x\n".repeat(500);
        let text = Error::unknown("lock", &long, ["ticket"], "lockwright locks").to_string();
        assert!(!text.contains('\n') && text.len() < 200, "{text}");
    }
}

//! Why a machine description or a calibration is refused.

use core::fmt;

/// A description that is refused: which file, which key, and why, in one sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineError {
    /// The file as people know it, for instance `machines/x5-4.toml`.
    pub file: String,
    /// The key in dotted form, for instance `costs.transfer_local`; empty if it is the whole file.
    pub key: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What can be wrong with a description.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The file cannot be read; the operating system's reason.
    Unreadable(String),
    /// Not TOML: the line, counted from 1, and the parser's reason.
    Syntax {
        /// Where.
        line: usize,
        /// That line of the file.
        text: String,
        /// What.
        reason: String,
    },
    /// The key must be there and is not.
    Missing,
    /// No such key exists.
    UnknownKey,
    /// No such key exists, and these, which must be there, are not.
    UnknownAndMissing(Vec<String>),
    /// The value has the wrong type; what it must be.
    NotA(&'static str),
    /// A number that does not say where it comes from.
    NoSource,
    /// The source does not begin with the words that say of what kind it is.
    VagueSource,
    /// A number outside its range; what the range is.
    OutOfRange {
        /// The number.
        value: f64,
        /// What it must be.
        allowed: &'static str,
    },
    /// Two numbers that cannot both be true.
    Contradiction(String),
    /// The machine says nothing about its host, which a run with more threads than CPUs needs.
    NoScheduler,
    /// The name of a machine that is not built in, where one has to be.
    NotBuiltin {
        /// What the file says.
        named: String,
        /// The machines that are.
        builtin: Vec<&'static str>,
    },
    /// The key belongs above the first section of the file, and stands in one.
    InSection,
    /// A calibration for another machine.
    OtherMachine {
        /// The machine the calibration is for.
        calibrated: String,
        /// The machine it was to be applied to.
        machine: String,
    },
    /// A calibration whose machine, or whose own numbers, changed since it was made.
    Stale {
        /// The hash in the file.
        recorded: String,
        /// The hash of what is there now.
        computed: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(reason) => write!(f, "cannot be read: {reason}"),
            Self::Syntax { line, text, reason } => {
                write!(f, "line {line} is not TOML: {reason}: `{}`", text.escape_debug())
            }
            Self::Missing => f.write_str("is missing"),
            Self::UnknownKey => f.write_str("is not a key of this file"),
            Self::UnknownAndMissing(missing) => {
                let verb = if missing.len() == 1 { "is" } else { "are" };
                let names = missing.join("`, `");
                write!(f, "is not a key of this file, and `{names}` {verb} missing")
            }
            Self::NotA(expected) => write!(f, "must be {expected}"),
            Self::NoSource => f.write_str("has no source: add `source = \"...\"`"),
            Self::VagueSource => f.write_str(
                "has a source that does not begin with `measured in`, `specified in`, \
                 `from memory of`, `derived from` or `guess:`",
            ),
            Self::OutOfRange { value, allowed } => write!(f, "is {value} but must be {allowed}"),
            Self::Contradiction(reason) => f.write_str(reason),
            Self::NoScheduler => f.write_str(
                "is missing, and without it there are no guests and no more threads than CPUs: \
                 add the section to the machine's file",
            ),
            Self::NotBuiltin { named, builtin } => {
                let names = builtin.join(", ");
                write!(f, "is `{}`, and must be a built-in machine: {names}", named.escape_debug())
            }
            Self::InSection => f.write_str("belongs above the first section of the file"),
            Self::OtherMachine { calibrated, machine } => {
                write!(f, "is a calibration of `{calibrated}`, not of `{machine}`")
            }
            Self::Stale { recorded, computed } => write!(
                f,
                "is {recorded} but the numbers now give {computed}: calibrate the machine again"
            ),
        }
    }
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, key, problem } = self;
        if key.is_empty() {
            write!(f, "{file}: {problem}")
        } else {
            write!(f, "{file}: {key}: {problem}")
        }
    }
}

impl core::error::Error for MachineError {}

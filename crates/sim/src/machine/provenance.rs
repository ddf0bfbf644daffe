//! Where the numbers of a machine come from.

use core::fmt;

/// What kind of evidence a number rests on, best first. A source begins with these words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// `measured in`: it was measured on this or a near machine and published.
    Measured,
    /// `specified in`: the vendor or the publication says so.
    Specified,
    /// `from memory of`: published, but quoted without the publication at hand.
    FromMemory,
    /// `derived from`: computed from other numbers.
    Derived,
    /// `guess:`: no evidence.
    Guess,
}

impl Origin {
    /// Every kind, best first.
    pub const ALL: &[Self] =
        &[Self::Measured, Self::Specified, Self::FromMemory, Self::Derived, Self::Guess];

    /// The words a source of this kind begins with.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Measured => "measured in",
            Self::Specified => "specified in",
            Self::FromMemory => "from memory of",
            Self::Derived => "derived from",
            Self::Guess => "guess:",
        }
    }

    /// The kind of a source; `None` if it does not begin with the words of any kind, or says
    /// nothing after them.
    pub fn of(source: &str) -> Option<Self> {
        let says_something = |origin: &&Self| {
            source.strip_prefix(origin.words()).is_some_and(|rest| {
                rest.starts_with(' ') && rest.trim().chars().any(char::is_alphanumeric)
            })
        };
        Self::ALL.iter().find(says_something).copied()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().trim_end_matches(':'))
    }
}

/// One number of a machine file and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced {
    /// The key in dotted form, for instance `costs.transfer_local`.
    pub key: String,
    /// The value as written, with its unit.
    pub value: String,
    /// What kind of evidence it rests on.
    pub origin: Origin,
    /// The source as written.
    pub source: String,
}

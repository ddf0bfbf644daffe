//! What the owner of a lock does in a section.

use crate::workload::handoff;
use serde::Serialize;

/// What the owner does in a section of `handoff`, `sections` or `starve`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Computes; in `starve`, until a time by the clock.
    Spin,
    /// Sleeps.
    Sleep,
    /// Computes for that time on a CPU.
    Compute,
}

impl Section {
    /// The name it is selected by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Sleep => "sleep",
            Self::Compute => "compute",
        }
    }
}

impl From<Section> for handoff::HandoffSection {
    fn from(section: Section) -> Self {
        match section {
            Section::Spin | Section::Compute => Self::Spin,
            Section::Sleep => Self::Sleep,
        }
    }
}

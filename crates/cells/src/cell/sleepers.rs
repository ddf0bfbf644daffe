//! The knobs of the workloads whose locks put their waiters to sleep, `handoff` and `aim7`.

use super::Workload;
use lockwright_workloads::handoff;
use serde::Serialize;

/// What the owner does in a section of `handoff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// Computes.
    Spin,
    /// Sleeps.
    Sleep,
}

impl Section {
    /// The name it is selected by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Sleep => "sleep",
        }
    }
}

impl From<Section> for handoff::HandoffSection {
    fn from(section: Section) -> Self {
        match section {
            Section::Spin => Self::Spin,
            Section::Sleep => Self::Sleep,
        }
    }
}

/// The knobs of a workload as they are typed; empty for one that is not of these two.
pub fn typed(workload: Workload) -> String {
    match workload {
        Workload::Handoff { section, section_ns } => {
            format!("--section {} --section-ns {section_ns}", section.name())
        }
        Workload::Aim7 { lock_count, unit_ops, compute_ns, section_ns, .. } => format!(
            "--lock-count {lock_count} --unit-ops {unit_ops} --compute-ns {compute_ns} --section-ns {section_ns}"
        ),
        _ => String::new(),
    }
}

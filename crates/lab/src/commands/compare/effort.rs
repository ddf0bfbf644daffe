//! How much time a comparison may take, and how often it repeats its cells.

use super::cells::CellKind;
use serde::Serialize;

/// How much time there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompareEffort {
    /// Under five minutes.
    Quick,
    /// Under sixty.
    Full,
}

impl CompareEffort {
    /// Repetitions of a cell in which operations are counted.
    ///
    /// There are many cells with readers and of real use, and what they show is a mean over many: fewer of each.
    pub fn runs(self, kind: CellKind) -> u32 {
        match (self, kind) {
            (Self::Quick, CellKind::Rw) => 4,
            (Self::Quick, kind) if kind.is_real_use() => 4,
            (Self::Full, kind) if kind.is_real_use() => 6,
            (Self::Full, CellKind::Rw) | (Self::Quick, _) => 6,
            (Self::Full, _) => 10,
        }
    }
    /// Repetitions of a cell in which waits are timed.
    pub fn wait_runs(self, kind: CellKind) -> u32 {
        match (self, kind) {
            (_, CellKind::Queue | CellKind::Blocking | CellKind::Work | CellKind::Sleep) => 0,
            (_, CellKind::Pair) | (Self::Quick, CellKind::Rw) => 0,
            (Self::Quick, CellKind::Exclusive) | (Self::Full, CellKind::Rw) => 1,
            (Self::Full, CellKind::Exclusive) => 2,
        }
    }
    /// What all of it may take by the estimate: less than what was promised, because threads that spin
    /// without a CPU come back late.
    pub const fn budget_s(self) -> f64 {
        match self {
            Self::Quick => 230.0,
            Self::Full => 2_700.0,
        }
    }
    /// No repetition is longer than this because there is time left.
    pub const fn longest_s(self) -> f64 {
        match self {
            Self::Quick => 0.1,
            Self::Full => 0.3,
        }
    }
}

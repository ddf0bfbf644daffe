//! How much time a comparison may take, and how often it repeats its cells.

use super::cells::Kind;
use serde::Serialize;

/// How much time there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Under three minutes.
    Quick,
    /// Under twenty.
    Full,
}

impl Effort {
    /// Repetitions of a cell in which operations are counted.
    ///
    /// There are twice as many cells with readers, and what they show is a mean over many: fewer of each.
    pub const fn runs(self, kind: Kind) -> u32 {
        match (self, kind) {
            (Self::Quick, Kind::Rw) => 4,
            (Self::Full, Kind::Rw) | (Self::Quick, _) => 6,
            (Self::Full, _) => 10,
        }
    }
    /// Repetitions of a cell in which waits are timed.
    pub const fn wait_runs(self, kind: Kind) -> u32 {
        match (self, kind) {
            (_, Kind::Pair) | (Self::Quick, Kind::Rw) => 0,
            (Self::Quick, Kind::Exclusive) | (Self::Full, Kind::Rw) => 1,
            (Self::Full, Kind::Exclusive) => 2,
        }
    }
    /// What all of it may take by the estimate: less than what was promised, because threads that spin
    /// without a CPU come back late.
    pub const fn budget_s(self) -> f64 {
        match self {
            Self::Quick => 140.0,
            Self::Full => 960.0,
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

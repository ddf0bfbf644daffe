//! Which operations of a thread read.

use lockwright_workloads::counter;
use serde::Serialize;

/// Which operations of a thread read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReaderOrder {
    /// As evenly spread as can be: every other one of 50 %.
    Alternate,
    /// Drawn for each.
    Random,
}

impl From<ReaderOrder> for counter::ReaderOrder {
    fn from(order: ReaderOrder) -> Self {
        match order {
            ReaderOrder::Alternate => Self::Alternate,
            ReaderOrder::Random => Self::Random,
        }
    }
}

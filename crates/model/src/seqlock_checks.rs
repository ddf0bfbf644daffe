//! The rows of the sequence lock.

use crate::check::{Check, row};
use crate::{Loom, MachineSettings};
use lockwright_catalog::registry::LockRow;
use lockwright_clients::seqlock::WholePairs;

/// Rounds enough for the second read to be an attempt, and for a sequence of two bits to wrap around.
const ROUNDS: u32 = 2;

pub(crate) fn of_seqlock(lock: &'static LockRow) -> Vec<Check> {
    let pair = |on, threads, rounds| {
        let settings = MachineSettings::flat(threads as u32);
        Check { rounds, ..row::<WholePairs<Loom>>(lock, on, threads, settings) }
    };
    vec![
        pair("two", 2, 1),
        pair("two, two rounds", 2, ROUNDS),
        Check { preemptions_max: 1, ..pair("three", 3, 1) },
    ]
}

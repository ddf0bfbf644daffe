//! The rule by which a run disturbs its threads.

use super::timeline::PS_PER_NS;
use crate::config::Preemption;
use crate::rng::Rng;

/// The rule of a run, and what came of it.
pub struct Preemptions {
    pub(super) rule: Option<Preemption>,
    /// How often a thread was sent away.
    pub count: u64,
}

impl Preemptions {
    pub fn new(rule: Option<Preemption>) -> Self {
        Self { rule, count: 0 }
    }
}

/// A time between 0 and twice `mean_ns`, in picoseconds and at least one.
pub(super) fn around(mean_ns: u64, random: &mut Rng) -> u64 {
    let range_ps = mean_ns.saturating_mul(2 * PS_PER_NS).max(1);
    1 + random.next() % range_ps
}

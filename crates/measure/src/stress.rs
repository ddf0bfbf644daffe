//! What a torture adds to the loop of locktorture, and how often that happened.

use lockwright_sim::Preemption;
use serde::{Deserialize, Serialize};

/// A long hold of a writer among readers, as a multiple of the usual one.
pub const WRITER_HOLD: u64 = 10;

/// What is switched on. Zero is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stress {
    /// The rare long hold, in nanoseconds; see the workload for how rare.
    pub long_hold_ns: u64,
    /// All threads run this long and pause this long in turn, together.
    pub stutter_ns: u64,
    /// Native: all threads are moved off a CPU, and back to one each, in turn and this often.
    pub shuffle_ns: u64,
    /// Locks of the same kind that are taken inside.
    pub nested: usize,
    /// Simulated: threads lose their CPU to something else.
    pub preemption: Option<Preemption>,
    /// How many of the threads read.
    pub readers: usize,
}

impl Stress {
    /// The longest that a thread holds a lock.
    pub fn longest_hold_ns(&self) -> u64 {
        let times = if self.readers > 0 { WRITER_HOLD } else { 1 };
        self.long_hold_ns.saturating_mul(times)
    }
    /// Milliseconds of the long hold, as the kernel counts them.
    pub fn long_hold_ms(&self) -> f64 {
        self.long_hold_ns as f64 / 1e6
    }
    /// Seconds of the stutter.
    pub fn stutter_s(&self) -> f64 {
        self.stutter_ns as f64 / 1e9
    }
    /// Seconds between two shuffles.
    pub fn shuffle_s(&self) -> f64 {
        self.shuffle_ns as f64 / 1e9
    }
}

/// How often each disturbance of a torture happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exercised {
    /// Long holds.
    pub long_holds: u64,
    /// Acquisitions of nested locks.
    pub nested: u64,
    /// Pauses that every thread made: the fewest of any.
    pub stutters: u64,
    /// Times that all threads were moved.
    pub shuffles: u64,
    /// Times that a simulated thread lost its CPU.
    pub preemptions: u64,
}

impl Exercised {
    /// What was switched on and never happened, in words.
    pub fn missing(&self, stress: &Stress) -> Vec<&'static str> {
        let all = [
            ("long hold", stress.long_hold_ns > 0, self.long_holds),
            ("nested acquisition", stress.nested > 0, self.nested),
            ("pause of all threads", stress.stutter_ns > 0, self.stutters),
            ("move off a CPU", stress.shuffle_ns > 0, self.shuffles),
            ("preemption", stress.preemption.is_some(), self.preemptions),
        ];
        let missing = all.into_iter().filter(|&(_, is_on, count)| is_on && count == 0);
        missing.map(|(name, ..)| name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_on_and_did_not_happen_is_missing() {
        let stress = Stress { long_hold_ns: 1, nested: 1, stutter_ns: 1, ..Stress::default() };
        let exercised = Exercised { nested: 1, ..Exercised::default() };
        assert_eq!(exercised.missing(&stress), ["long hold", "pause of all threads"]);
    }
}

//! The native threads of a workload.

use super::compute::compute_ns;
use super::gate::Gate;
use super::usage::Usage;
use crate::latency::take_waits;
use crate::random::SplitMix;
use crate::workload::facts::Worker;
use lockwright_core::native::Native;
use std::time::{Duration, Instant};

/// A thread that works until it is told to stop.
pub struct NativeWorker<'a> {
    index: usize,
    ops: u64,
    /// True if it got on with anything.
    has_begun: bool,
    /// Those of them that do not count.
    warm_up_ops: u64,
    /// What the thread had used when it had warmed up.
    warm: Option<Usage>,
    pauses: u64,
    random: SplitMix,
    gate: &'a Gate,
}

impl<'a> NativeWorker<'a> {
    /// Thread `index` with random numbers of its own, made from `seed`.
    pub fn new(index: usize, seed: u64, gate: &'a Gate) -> Self {
        Self {
            index,
            ops: 0,
            has_begun: false,
            warm_up_ops: 0,
            warm: None,
            pauses: 0,
            random: SplitMix::new(seed, index as u64 + 1),
            gate,
        }
    }
    /// Operations completed.
    pub fn ops(&self) -> u64 {
        self.ops
    }
    /// Operations completed since the warm-up.
    pub fn ops_that_count(&self) -> u64 {
        self.ops - self.warm_up_ops
    }
    /// What the thread had used when it had warmed up, if it has.
    pub fn usage_when_warm(&self) -> Option<Usage> {
        self.warm
    }
    /// Pauses made.
    pub fn pauses(&self) -> u64 {
        self.pauses
    }
    /// Waits at the gate. Returns true if the thread is to go on.
    #[cold]
    fn pass(&mut self) -> bool {
        if self.gate.is_warm_up() {
            return self.pass_warming_up();
        }
        self.gate.pass(&mut self.pauses)
    }
    /// Goes on, and forgets what it has done so far.
    fn pass_warming_up(&mut self) -> bool {
        self.warm_up_ops = self.ops;
        if (self.ops > 0 || self.has_begun) && self.warm.is_none() {
            self.warm = Some(Usage::of_this_thread());
            drop(take_waits());
            self.gate.report_warm();
        }
        true
    }
}

impl Worker for NativeWorker<'_> {
    type P = Native;

    #[inline]
    fn keep_going(&mut self) -> bool {
        self.gate.is_open() || self.pass()
    }
    #[inline]
    fn op_done(&mut self) {
        self.ops += 1;
    }
    #[inline]
    fn step_done(&mut self) {
        self.has_begun = true;
    }
    #[inline]
    fn random(&mut self) -> u64 {
        self.random.next_u64()
    }
    fn index(&self) -> usize {
        self.index
    }
    #[inline(always)]
    fn software(&mut self, _part: &'static str) {}
    #[cold]
    fn hold_ns(&mut self, ns: u64) {
        busy_wait(ns);
    }
    fn compute_ns(&mut self, ns: u64) {
        compute_ns(ns);
    }
    #[inline(always)]
    fn overlap(&mut self, _words: &[*const ()]) {}
}

fn busy_wait(ns: u64) {
    let end = Instant::now() + Duration::from_nanos(ns);
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_different_random_numbers_and_a_seed_repeats_them() {
        let gate = Gate::default();
        let draw = |index, seed| NativeWorker::new(index, seed, &gate).random();
        assert_eq!(draw(0, 7), draw(0, 7));
        assert_ne!(draw(0, 7), draw(1, 7));
        assert_ne!(draw(0, 7), draw(0, 8));
    }
}

//! The simulated threads of a workload.

use crate::workload::facts::Worker;
use lockwright_core::platform::{Cells, Sleeping};
use lockwright_sim::{Sim, thread};

/// A simulated thread, as a workload sees it.
pub struct SimWorker<'a> {
    /// Picoseconds of each part of the software.
    parts: &'a [(&'static str, u64)],
    /// All threads run this long and pause this long in turn; 0 is never.
    stutter_ps: u64,
    /// Where threads that share CPUs sleep through pauses; no thread writes it.
    bed: Option<&'a <Sim as Cells>::U32>,
    pauses: u64,
    ops: u64,
}

impl<'a> SimWorker<'a> {
    /// A thread whose software takes the picoseconds that `parts` gives for each part. It pauses together with the
    /// others after every `stutter_ns`, 0 is never, and gives its CPU to others meanwhile if there is a `bed`.
    pub fn new(
        parts: &'a [(&'static str, u64)],
        stutter_ns: u64,
        bed: Option<&'a <Sim as Cells>::U32>,
    ) -> Self {
        Self { parts, stutter_ps: stutter_ns.saturating_mul(1_000), bed, pauses: 0, ops: 0 }
    }
    /// Operations completed, also those before and after the window.
    pub fn ops(&self) -> u64 {
        self.ops
    }
    /// Pauses made.
    pub fn pauses(&self) -> u64 {
        self.pauses
    }
    /// Waits for the end of the pause in which the simulated time is, if it is in one.
    fn stutter(&mut self) {
        let now = thread::now_ps();
        let Some(phase) = now.checked_div(self.stutter_ps) else { return };
        if phase % 2 == 1 {
            let end_ps = (phase + 1).saturating_mul(self.stutter_ps);
            match self.bed {
                None => thread::hold_ps(end_ps - now),
                Some(bed) => {
                    while thread::now_ps() < end_ps {
                        Sim::futex_wait(bed, 0, Some(end_ps.div_ceil(1_000)));
                    }
                }
            }
            self.pauses += 1;
        }
    }
}

impl Worker for SimWorker<'_> {
    type P = Sim;

    fn keep_going(&mut self) -> bool {
        if !thread::is_over() {
            self.stutter();
        }
        thread::may_reschedule();
        !thread::is_over()
    }
    fn op_done(&mut self) {
        self.ops += 1;
        thread::op_done();
    }
    fn random(&mut self) -> u64 {
        thread::random()
    }
    fn index(&self) -> usize {
        thread::index()
    }
    fn software(&mut self, part: &'static str) {
        let known = self.parts.iter().find(|(name, _)| *name == part);
        if let Some(&(_, ps)) = known.filter(|(_, ps)| *ps > 0) {
            thread::work_ps(ps);
        }
    }
    fn hold_ns(&mut self, ns: u64) {
        thread::hold_ps(ns.saturating_mul(1_000));
    }
    fn compute_ns(&mut self, ns: u64) {
        if ns > 0 {
            thread::work_ns(ns);
        }
    }
    fn user_ns(&mut self, ns: u64) {
        if ns > 0 {
            thread::user_ns(ns);
        }
    }
    fn overlap(&mut self, words: &[*const ()]) {
        thread::prefetch_for_write(words);
    }
}

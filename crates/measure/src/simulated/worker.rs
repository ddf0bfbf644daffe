//! The simulated threads of a workload.

use crate::stress::Exercised;
use lockwright_core::platform::{Cells, Sleeping};
use lockwright_sim::{Sim, thread};
use crate::workload::Worker;
use crate::workload::locktorture::TortureTally;
use std::cell::Cell;

/// A simulated thread, as a workload sees it.
pub struct SimWorker<'a> {
    /// Picoseconds of each part of the software.
    parts: &'a [(&'static str, u64)],
    /// All threads run this long and pause this long in turn; 0 is never.
    stutter_ps: u64,
    /// Where threads that share CPUs sleep through pauses; no thread writes it.
    bed: Option<&'a <Sim as Cells>::U32>,
    pauses: u64,
}

impl<'a> SimWorker<'a> {
    /// A thread whose software takes the picoseconds that `parts` gives for each part.
    pub fn new(parts: &'a [(&'static str, u64)]) -> Self {
        Self { parts, stutter_ps: 0, bed: None, pauses: 0 }
    }
    /// The same, pausing together with the others after every `stutter_ns`; 0 is never.
    pub fn with_stutter(self, stutter_ns: u64) -> Self {
        Self { stutter_ps: stutter_ns.saturating_mul(1_000), ..self }
    }
    /// The same, giving its CPU to others while it pauses.
    pub fn with_bed(self, bed: Option<&'a <Sim as Cells>::U32>) -> Self {
        Self { bed, ..self }
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

/// What the threads of a run saw and did, all together.
#[derive(Default)]
pub struct WorkerCounts {
    failed: Cell<u64>,
    long_holds: Cell<u64>,
    nested: Cell<u64>,
    /// When a fixed amount of work was done.
    end_ns: Cell<Option<u64>>,
    /// `None` until a thread has returned.
    fewest_pauses: Cell<Option<u64>>,
}

impl WorkerCounts {
    /// Adds what one thread saw and did.
    pub fn add(&self, tally: TortureTally, pauses: u64) {
        self.failed.set(self.failed.get() + tally.failed);
        self.long_holds.set(self.long_holds.get() + tally.long_holds);
        self.nested.set(self.nested.get() + tally.nested);
        let fewest = self.fewest_pauses.get().map_or(pauses, |fewest| fewest.min(pauses));
        self.fewest_pauses.set(Some(fewest));
    }
    /// Counts readers that were not alone with readers.
    pub fn disturbed(&self, times: u64) {
        self.failed.set(self.failed.get() + times);
    }
    /// All of a fixed amount of work is done.
    pub fn finished(&self, end_ns: u64) {
        self.end_ns.set(Some(end_ns));
    }
    /// When that was, in simulated nanoseconds from the start of the run.
    pub fn end_ns(&self) -> Option<u64> {
        self.end_ns.get()
    }
    /// How often a thread saw that it was not alone.
    pub fn failed(&self) -> u64 {
        self.failed.get()
    }
    /// How often each disturbance of a torture happened.
    pub fn exercised(&self) -> Exercised {
        Exercised {
            long_holds: self.long_holds.get(),
            nested: self.nested.get(),
            stutters: self.fewest_pauses.get().unwrap_or(0),
            ..Exercised::default()
        }
    }
}

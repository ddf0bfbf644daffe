//! Conducting the threads of a run: when they pause, where they run, when it is over.

use super::affinity::put;
use super::gate::Gate;
use super::run::ThreadPlan;
use crate::interrupt;
use std::time::{Duration, Instant};

/// How often the conductor looks whether Ctrl-C was pressed.
const NAP: Duration = Duration::from_millis(20);

/// What happened during a run.
pub struct Conducted {
    /// How long it was.
    pub window: Duration,
    /// How often all threads were moved.
    pub shuffles: u64,
}

/// Conducts `threads` until the window is over, `is_done` says so or Ctrl-C was pressed. Threads that
/// are moved must not end before that.
pub fn conduct(
    plan: &ThreadPlan<'_>,
    gate: &Gate,
    threads: &[libc::pid_t],
    is_done: impl Fn() -> bool,
) -> Conducted {
    let start = Instant::now();
    let mut stutter = Beat::every(plan.stress.stutter_ns);
    // With one CPU there is nowhere to move a thread to.
    let mut shuffle = Beat::every(if plan.all_cpus.len() > 1 { plan.stress.shuffle_ns } else { 0 });
    let mut shuffles = 0;
    loop {
        let passed = start.elapsed();
        if passed >= plan.window || is_done() || interrupt::is_requested() {
            return Conducted { window: passed, shuffles };
        }
        if let Some(beat) = stutter.newest(passed) {
            if beat % 2 == 1 { gate.pause() } else { gate.open() }
        }
        if let Some(beat) = shuffle.newest(passed) {
            shuffles += u64::from(move_all(threads, plan.all_cpus, beat));
        }
        let next = stutter.left(passed).min(shuffle.left(passed));
        std::thread::sleep(NAP.min(plan.window - passed).min(next));
    }
}

/// Something periodic.
struct Beat {
    every_ns: u64,
    /// Beats so far.
    count: u64,
}

impl Beat {
    /// A beat every `every_ns`; never if that is 0.
    fn every(every_ns: u64) -> Self {
        Self { every_ns, count: 0 }
    }
    /// The newest beat, from 1, if there was one since the last call.
    fn newest(&mut self, passed: Duration) -> Option<u64> {
        let count = (passed.as_nanos() as u64).checked_div(self.every_ns)?;
        let is_new = count > self.count;
        self.count = count;
        is_new.then_some(count)
    }
    /// The time until the next beat.
    fn left(&self, passed: Duration) -> Duration {
        match (passed.as_nanos() as u64).checked_rem(self.every_ns) {
            Some(since) => Duration::from_nanos(self.every_ns - since),
            None => Duration::MAX,
        }
    }
}

/// Moves all threads for the beat of that number. Returns true if the system agreed to all of it.
fn move_all(threads: &[libc::pid_t], cpus: &[usize], beat: u64) -> bool {
    let moved = |(index, &thread): (usize, &libc::pid_t)| {
        put(thread, &cpus_of(index, threads.len(), cpus, beat as usize))
    };
    // Every thread is asked for, also after a refusal.
    threads.iter().enumerate().filter(|&each| !moved(each)).count() == 0
}

/// The CPUs of thread `index` of `threads` from a beat on: odd beats take all threads off one CPU,
/// each time the next one; even ones put each thread on a CPU, another one than before, or on all
/// if there are more threads than CPUs.
fn cpus_of(index: usize, threads: usize, cpus: &[usize], beat: usize) -> Vec<usize> {
    let turn = beat / 2;
    if beat % 2 == 1 {
        let left = cpus[turn % cpus.len()];
        return cpus.iter().copied().filter(|&cpu| cpu != left).collect();
    }
    match threads <= cpus.len() {
        true => vec![cpus[(index + turn) % cpus.len()]],
        false => cpus.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_is_left_in_its_turn_and_threads_come_back_to_another_one() {
        let cpus = [3, 5, 7];
        let of = |index, threads, beat| cpus_of(index, threads, &cpus, beat);
        assert_eq!([1, 3, 5, 7].map(|beat| of(0, 2, beat)), [[5, 7], [3, 7], [3, 5], [5, 7]]);
        assert_eq!([2, 4, 6].map(|beat| of(0, 2, beat)), [[5], [7], [3]]);
        assert_eq!([2, 4, 6].map(|beat| of(1, 2, beat)), [[7], [3], [5]]);
        assert_eq!(of(1, 4, 2), cpus, "there is not a CPU for each");
    }

    #[test]
    fn a_beat_that_was_slept_through_is_not_made_up_for() {
        let mut beat = Beat::every(10);
        let at = Duration::from_nanos;
        assert_eq!(beat.newest(at(9)), None);
        assert_eq!(beat.newest(at(10)), Some(1));
        assert_eq!(beat.newest(at(19)), None);
        assert_eq!((beat.newest(at(55)), beat.left(at(55))), (Some(5), at(5)));
        assert_eq!(
            (Beat::every(0).newest(at(5)), Beat::every(0).left(at(5))),
            (None, Duration::MAX)
        );
    }
}

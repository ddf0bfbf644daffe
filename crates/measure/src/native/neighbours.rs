//! Busy neighbours: threads that compute all the time, one on every CPU, as other programs do on a shared computer.

use super::affinity::stay_on;
use super::compute::compute_ns;
use crate::record::TrialError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// How long a neighbour computes before it looks if it is to end.
const LOOK_EVERY_NS: u64 = 20_000;

/// Threads that compute until this is dropped.
pub struct BusyNeighbours {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl BusyNeighbours {
    /// One on each of `cpus`.
    pub fn on(cpus: &[usize]) -> Result<Self, TrialError> {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut started = Self { is_over, threads: Vec::new() };
        for &cpu in cpus {
            let is_over = Arc::clone(&started.is_over);
            let body = move || {
                stay_on(cpu);
                // ordering: Relaxed; nothing is read through it.
                while !is_over.load(Ordering::Relaxed) {
                    compute_ns(LOOK_EVERY_NS);
                }
            };
            let thread = std::thread::Builder::new().name(format!("neighbour {cpu}")).spawn(body);
            let failed = |error| TrialError::Failed(format!("cannot start a thread: {error}"));
            started.threads.push(thread.map_err(failed)?);
        }
        Ok(started)
    }
}

impl Drop for BusyNeighbours {
    fn drop(&mut self) {
        // ordering: Relaxed; nothing is read through it.
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // It computes, and cannot fail.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::affinity::allowed_cpus;
    use crate::native::usage::Usage;
    use std::time::Duration;

    #[test]
    fn they_compute_until_they_are_dropped() {
        let before = Usage::of_this_process();
        let cpus = allowed_cpus();
        let neighbours = BusyNeighbours::on(&cpus).expect("threads can be started");
        let held = Arc::clone(&neighbours.is_over);
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(Arc::strong_count(&held), 2 + cpus.len(), "each of them runs");
        drop(neighbours);
        assert_eq!(Arc::strong_count(&held), 1, "they are gone");
        assert!(Usage::of_this_process().since(before).cpu_s > 0.0);
    }
}

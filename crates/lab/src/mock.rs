//! A machine that exists for the tests of everything above it.

use lockwright_catalog::registry::LockClass;
use lockwright_measure::record::{TrialError, TrialRecord};
use lockwright_measure::stats::Histogram;
use lockwright_measure::subject::Subject;
use lockwright_measure::trial::{LabMachine, On, Purpose, Trial};
use lockwright_measure::workload::Workload;
use std::sync::Mutex;

/// Two CPUs, every lock, results made up, and a list of what ran.
#[derive(Default)]
pub struct MockMachine {
    ran: Mutex<Vec<(&'static str, Purpose)>>,
}

impl MockMachine {
    /// The cells that ran so far, in order.
    pub fn ran(&self) -> Vec<(&'static str, Purpose)> {
        self.ran.lock().expect("no test panics while it holds this").clone()
    }
}

impl LabMachine for MockMachine {
    fn on(&self, _workload: Workload) -> On {
        let (machine, kernel) = ("mock".into(), "none".into());
        On::Native { machine, cpus: 2, numa_nodes: 1, kernel }
    }
    fn is_simulated(&self) -> bool {
        false
    }
    fn identity(&self) -> String {
        "mock".into()
    }
    fn cpus(&self) -> usize {
        2
    }
    fn refuses(&self, _lock: Subject, _workload: Workload) -> Option<String> {
        None
    }
    fn run_trial(&self, spec: &Trial) -> Result<TrialRecord, TrialError> {
        let mut ran = self.ran.lock().expect("no test panics while it holds this");
        ran.push((spec.lock.name(), spec.purpose));
        let mut waits = Histogram::default();
        waits.record(spec.window_ns);
        Ok(TrialRecord {
            window_ns: spec.window_ns,
            per_thread_ops: vec![10; spec.threads],
            ops_per_s: 10.0 * spec.threads as f64 / (spec.window_ns as f64 * 1e-9),
            waits: spec.purpose.times_waits().then_some(waits),
            fail: u64::from(spec.lock.row.class == LockClass::Busted),
            ..TrialRecord::default()
        })
    }
}

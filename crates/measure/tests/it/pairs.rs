//! Pairs of readers, timed natively.

use lockwright_measure::native::NativeMachine;
use lockwright_measure::subject::Subject;
use lockwright_measure::trial::{LabMachine, Settings, Trial};
use lockwright_measure::workload::Workload;
use lockwright_measure::workload::counter::CounterParams;
use std::sync::atomic::{AtomicUsize, Ordering};

const READERS: Workload = Workload::Counter(CounterParams {
    cs_load: 0,
    read_percent: 100,
    empty_section: true,
    ..CounterParams::USUAL
});

fn spec(lock: &str, threads: usize) -> Trial {
    Trial::new(Subject::find(lock).expect("a known name"), READERS, threads, 5_000_000, 1)
}

#[test]
fn readers_are_timed_together_and_each_counts() {
    let machine = NativeMachine::new(&Settings::default());
    let threads = machine.cpus().min(2);
    let locks = ["std-rwlock", "parking_lot-rwlock", "pthread-rwlock"];
    let done = AtomicUsize::new(0);
    // ordering: Relaxed; one thread.
    let told = |count| done.store(count, Ordering::Relaxed);
    for measured in machine.run_batch(&locks.map(|lock| spec(lock, threads)), &told) {
        // ordering: Relaxed; as above.
        assert_eq!(done.load(Ordering::Relaxed), locks.len());
        let measured = measured.expect("nothing can fail here");
        assert_eq!(measured.per_thread_ops.len(), threads);
        assert!(measured.per_thread_ops.iter().all(|&ops| ops > 0), "{measured:?}");
        // Of all threads, of which each has a pair every 300 ns or sooner and none in a tenth of one.
        let pair_ns = threads as f64 * 1e9 / measured.ops_per_s;
        assert!((0.1..3_000.0).contains(&pair_ns), "{pair_ns}");
    }
}

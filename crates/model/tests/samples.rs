//! Every lock, every client, in sampled schedules of 4, 8 and 16 threads.
//!
//! The samples of all locks are taken with `LOCKWRIGHT_CHECK=full` only, and for locks that `LOCKWRIGHT_ROWS` names: no
//! bug of the zoo needs them. With `ROWS`, `LOCKWRIGHT_CHECK=usual` samples eight times as many as without, and `full`
//! a hundred times as many as that.

use lockwright_catalog::registry::{LockRow, LockVisitor, type_of, visit};
use lockwright_clients::due::is_asked_for;
use lockwright_core::events::Event;
use lockwright_core::raw::RawLock;
use lockwright_linux::hq::HqSpinlock;
use lockwright_linux::qspinlock::cna::V10;
use lockwright_linux::qspinlock::{
    CnaSpinlock, Fifo, Hybrid, HybridBounded, Park, ParkFullSpin, QSpinlock, StealOnce,
    StealOnceFullSpin,
};
use lockwright_model::checks::checked_locks;
use lockwright_model::shuttle_checks::{Sample, THREADS, samples_of};
use lockwright_model::{CheckDepth, Explored, Shuttle};
use std::any::TypeId;

/// Samples the rows of every lock that is asked for with this many threads: of every second one, from `first` on. So
/// there are two tests of about the same length for each number of threads, and no CPU is idle while the last one runs.
fn every_second_lock_holds(threads: usize, first: usize) {
    let depth = CheckDepth::asked();
    for row in checked_locks().filter(|row| is_asked_for(row)).skip(first).step_by(2) {
        let lock = row.name;
        let samples = samples_of(row, threads, depth);
        let seen: Vec<_> =
            samples.iter().map(|sample| (sample.on.as_str(), holds(sample))).collect();
        let count = |event, is_wanted: fn(&str) -> bool| -> u64 {
            let seen = seen.iter().filter(|(on, _)| is_wanted(on));
            seen.map(|(_, seen)| seen.count_of(event)).sum()
        };
        let executions: u64 = seen.iter().map(|(_, seen)| seen.executions).sum();
        println!("{lock}: {executions} executions of {threads} threads");
        // In a short sample a rare event need not happen.
        if depth == CheckDepth::Brief {
            continue;
        }
        if sleeps_in_the_queue(row) {
            for event in [Event::pv_wait_node, Event::pv_kick_unlock] {
                assert!(count(event, |_| true) > 0, "{lock} never reached {}", event.name());
            }
        }
        if type_of::<Shuttle>(row) == Some(TypeId::of::<HqSpinlock<Shuttle>>()) {
            let queued = count(Event::hq_mode_on, |on| on.starts_with("2 NUMA"));
            assert!(queued > 0, "{lock} has never queued by node");
            let passed = count(Event::hq_handoff_remote, |on| on.starts_with("2 NUMA"));
            assert!(passed > 0, "{lock} has never passed the lock to another node");
        } else if visit::<Shuttle, _>(row, IsGrouped) == Some(true) {
            let aside = count(Event::cna_set_aside, |on| on.starts_with("2 NUMA"));
            assert!(aside > 0, "{lock} has set nobody aside");
            let flushed = count(Event::cna_flush_threshold, |on| on.contains("lowest"));
            assert!(flushed > 0, "{lock} has never passed the lock on by its threshold");
            assert_eq!(count(Event::cna_set_aside, |on| on == "flat"), 0, "{lock} on one node");
        }
    }
}

/// True of the queued spinlocks whose waiters sleep.
fn sleeps_in_the_queue(row: &'static LockRow) -> bool {
    let sleeping = [
        TypeId::of::<QSpinlock<Shuttle, Fifo, Park>>(),
        TypeId::of::<QSpinlock<Shuttle, Fifo, ParkFullSpin>>(),
        TypeId::of::<QSpinlock<Shuttle, Fifo, StealOnceFullSpin>>(),
        TypeId::of::<QSpinlock<Shuttle, Fifo, StealOnce>>(),
        TypeId::of::<QSpinlock<Shuttle, Fifo, Hybrid>>(),
        TypeId::of::<QSpinlock<Shuttle, Fifo, HybridBounded>>(),
        TypeId::of::<CnaSpinlock<Shuttle, V10, Park>>(),
        TypeId::of::<CnaSpinlock<Shuttle, V10, Hybrid>>(),
        TypeId::of::<CnaSpinlock<Shuttle, V10, HybridBounded>>(),
    ];
    type_of::<Shuttle>(row).is_some_and(|lock| sleeping.contains(&lock))
}

/// True of the locks that let a NUMA node have the lock for a while.
struct IsGrouped;

impl LockVisitor<Shuttle> for IsGrouped {
    type Output = bool;
    fn visit<L: RawLock>(self, _row: &'static LockRow) -> bool {
        let threshold = L::fairness_threshold(2, &|_| None);
        threshold.handoffs_per_node > 0 || threshold.ns_per_node > 0
    }
}

fn holds(sample: &Sample) -> Explored {
    let Sample { lock, client, on, run } = sample;
    sample
        .run()
        .unwrap_or_else(|failure| panic!("{client} on {}, {on}, {run:?}: {failure}", lock.name))
}

/// The tests of every lock with a number of threads.
macro_rules! every_lock_holds {
    ($($test:ident $threads:expr;)+) => {
        $(mod $test {
            #[test]
            fn locks_with_even_numbers() {
                super::every_second_lock_holds($threads, 0);
            }
            #[test]
            fn locks_with_odd_numbers() {
                super::every_second_lock_holds($threads, 1);
            }
        })+
    };
}

every_lock_holds! {
    every_lock_holds_in_schedules_of_four_threads super::THREADS[0];
    every_lock_holds_in_schedules_of_eight_threads super::THREADS[1];
    every_lock_holds_in_schedules_of_sixteen_threads super::THREADS[2];
}

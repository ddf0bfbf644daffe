//! Threads with real-time priorities on one CPU, in explorations.

use crate::explore;
use crate::machines::machine;
use crate::programs::U32;
use lockwright_core::platform::{Atomic, EVERY_KIND, Sleeping, Zeroed};
use lockwright_sim::explore::{Findings, Limits};
use lockwright_sim::{FailureKind, Sim, Simulation};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

fn search(by_priority: bool, program: &dyn Fn(&mut Simulation<'_>)) -> Findings {
    let limits = Limits { preemptions: 0, wake_ups: 0, forks: 0, by_priority, ..Limits::default() };
    explore::search(&machine(1, 4, 1), limits, 20_000, program)
}

/// What the first thread finds after it has woken the second one.
fn found_by_waker(by_priority: bool) -> BTreeSet<u32> {
    let seen = RefCell::new(BTreeSet::new());
    let program = |simulation: &mut Simulation<'_>| {
        let [word, steps] = simulation.alloc([U32::zeroed(), U32::zeroed()]);
        let seen = seen.as_ptr();
        simulation.spawn(0, move || {
            word.swap(1, Relaxed);
            if Sim::futex_wake_only(EVERY_KIND, word, 1) == 1 {
                // SAFETY: simulated threads run one at a time.
                unsafe { (*seen).insert(steps.load(Relaxed)) };
            }
        });
        simulation.spawn(1, move || {
            Sim::futex_wait(word, 0, None);
            steps.swap(1, Relaxed);
            steps.swap(2, Relaxed);
        });
    };
    let findings = search(by_priority, &program);
    assert!(findings.failure.is_none() && findings.is_exhausted, "{findings:?}");
    seen.into_inner()
}

#[test]
fn a_thread_that_is_woken_runs_at_once() {
    assert_eq!(found_by_waker(true), BTreeSet::from([2]));
    assert_eq!(found_by_waker(false), BTreeSet::from([0, 1, 2]));
}

#[test]
fn a_thread_that_spins_for_one_that_it_outranks_spins_for_ever() {
    for spinner in [0, 1] {
        let program = move |simulation: &mut Simulation<'_>| {
            let word = simulation.alloc(U32::zeroed());
            for thread in [0, 1] {
                simulation.spawn(thread, move || {
                    if thread == spinner {
                        word.cond_load(Relaxed, |value| value == 1);
                    } else {
                        word.swap(1, Relaxed);
                    }
                });
            }
        };
        assert!(search(false, &program).failure.is_none());
        let failure = search(true, &program).failure.map(|found| found.failure.kind);
        let is_stuck = matches!(failure, Some(FailureKind::Stuck { .. }));
        assert_eq!(is_stuck, spinner == 1, "{failure:?}");
    }
}

//! Signals in explorations: a handler runs between any two accesses of its thread, and nowhere else.

use crate::explore;
use crate::machines::machine;
use crate::programs::U32;
use lockwright_core::platform::{Atomic, Bound, SleepStorage, Sleeping, Zeroed};
use lockwright_sim::explore::{Findings, Limits};
use lockwright_sim::{FailureKind, Sim, Simulation, thread};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

/// All schedules with that many signals.
fn search(signals: u32, program: &dyn Fn(&mut Simulation<'_>)) -> Findings {
    let limits = Limits { wake_ups: 0, signals, ..Limits::default() };
    explore::search(&machine(1, 2, 1), limits, 10_000, program)
}

#[test]
fn a_handler_comes_between_any_two_accesses_and_not_into_what_is_not_to_be_interrupted() {
    let seen = RefCell::new(BTreeSet::new());
    let stores = |simulation: &mut Simulation<'_>| {
        let words = simulation.alloc([U32::zeroed(), U32::zeroed(), U32::zeroed()]);
        let seen = seen.as_ptr();
        let look = move || {
            let values = [0, 1, 2].map(|at: usize| words[at].load(Relaxed));
            // SAFETY: simulated threads run one at a time.
            unsafe { (*seen).insert(values) };
        };
        simulation.spawn(0, move || {
            thread::handling(look, || {
                words[0].store(1, Relaxed);
                Sim::uninterrupted(|| {
                    words[1].store(1, Relaxed);
                    words[1].store(2, Relaxed);
                });
                words[2].store(1, Relaxed);
                words[2].load(Relaxed);
            });
        });
    };
    let findings = search(1, &stores);
    assert!(findings.failure.is_none() && findings.is_exhausted, "{findings:?}");
    let all = BTreeSet::from([[0, 0, 0], [1, 0, 0], [1, 2, 0], [1, 2, 1]]);
    assert_eq!(*seen.borrow(), all);
}

#[test]
fn handlers_are_not_nested_and_their_accesses_are_moves() {
    let most = Cell::new(0);
    let adds = |simulation: &mut Simulation<'_>| {
        let word = simulation.alloc(U32::zeroed());
        let (depth, count) = (Cell::new(0), simulation.alloc(Cell::new(0)));
        let most: *const Cell<u32> = &most;
        let handler = move || {
            depth.set(depth.get() + 1);
            assert_eq!(depth.get(), 1, "nested");
            word.swap(7, Relaxed);
            word.load(Relaxed);
            depth.set(depth.get() - 1);
            count.set(count.get() + 1);
            // SAFETY: alive until the search is over.
            let most = unsafe { &*most };
            most.set(most.get().max(count.get()));
        };
        simulation.spawn(0, move || thread::handling(handler, || _ = word.swap(1, Relaxed)));
        simulation.spawn(1, move || _ = word.load(Relaxed));
    };
    let findings = search(2, &adds);
    assert!(findings.failure.is_none() && findings.is_exhausted, "{findings:?}");
    assert_eq!(most.get(), 2);
}

/// A thread waits for a word that its handler does not write.
fn waits(simulation: &mut Simulation<'_>, wait: fn(&U32), is_written: bool) {
    let (word, other) = simulation.alloc((U32::zeroed(), U32::zeroed()));
    simulation.spawn(0, move || {
        thread::handling(|| _ = other.swap(1, Relaxed), || wait(word));
    });
    simulation.spawn(1, move || {
        if is_written {
            word.store(1, Relaxed);
            Sim::futex_wake(word, 1);
        }
    });
}

#[test]
fn a_spinner_looks_on_after_a_handler_and_a_sleep_ends_with_it() {
    let spins: fn(&U32) = |word| _ = word.cond_load(Relaxed, |value| value == 1);
    let sleeps_on: fn(&U32) = |word| {
        while word.load(Relaxed) == 0 {
            Sim::futex_wait(word, 0, None);
        }
    };
    let looks: fn(&U32) = |word| {
        let bound = Bound::looks(100);
        _ = word.cond_load_bounded(Relaxed, bound, |value| value == 1, || false);
    };
    for wait in [spins, sleeps_on, looks] {
        let findings = search(2, &|simulation| waits(simulation, wait, true));
        assert!(findings.failure.is_none() && findings.is_exhausted, "{findings:?}");
    }
    // No thread writes: a signal helps neither a spinner nor a sleeper that sleeps on.
    for wait in [spins, sleeps_on] {
        let findings = search(1, &|simulation| waits(simulation, wait, false));
        let kind = findings.failure.expect("a failure").failure.kind;
        assert!(matches!(kind, FailureKind::Stuck { .. }), "{kind:?}");
    }
    let woken = |simulation: &mut Simulation<'_>| {
        let hasty: fn(&U32) = |word| {
            Sim::futex_wait(word, 0, None);
            assert_ne!(word.load(Relaxed), 0, "it woke up for no reason");
        };
        waits(simulation, hasty, true);
    };
    assert!(search(0, &woken).failure.is_none());
    let kind = search(1, &woken).failure.expect("a failure").failure.kind;
    assert!(matches!(kind, FailureKind::Panicked { .. }), "{kind:?}");
}

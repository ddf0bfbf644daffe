//! The queued spinlock from inside: waiters that skip the pending phase, and two threads that start
//! in the middle of a queue of absent waiters, on machines where the waiters of a queue are of
//! different NUMA nodes.
//!
//! `LOCKWRIGHT_CHECK=full` explores one preemption more, and rows of class `History`, too.

use lockwright_catalog::registry::find;
use lockwright_clients::Client;
use lockwright_clients::due::is_due;
use lockwright_clients::owners::MutualExclusion;
use lockwright_clients::owners::TryLock;
use lockwright_clients::prebuilt::{
    FromQueue, LateWithSecondary, LateWithoutNode, ThreeToSort, TwoSetAside,
};
use lockwright_core::events::Event;
use lockwright_core::tunables::Tunable;
use lockwright_linux::qspinlock::cna::{
    V10, V10AsDescribed, V10Culling, V10Limited, V10Time, V10WithoutThreshold, V11, V13, V15,
    V15TenMs, V15Unreduced,
};
use lockwright_linux::qspinlock::testing::QueueOnly;
use lockwright_linux::qspinlock::{Fifo, QSpinlock, Spin, Succession, TwoLevel};
use lockwright_model::checks::{Bounds, CPUS, checks_of, mixtures, to_sort};
use lockwright_model::{CheckDepth, Explored, Loom, LoomRun, MachineSettings};

fn run(threads: usize, settings: MachineSettings) -> LoomRun {
    let preemptions = if CheckDepth::asked() == CheckDepth::Full { 3 } else { 2 };
    LoomRun::bounded(threads, preemptions).on(settings.with_nodes_per_cpu(1))
}

fn explore<C: Client>(run: &LoomRun) -> Explored {
    let seen = run.client::<C>();
    assert!(seen.executions > 1, "nothing was explored");
    seen
}

fn assert_reaches(seen: &Explored, events: &[Event]) {
    for event in events {
        assert!(seen.count_of(*event) > 0, "no execution reached {}", event.name());
    }
}

/// Three threads that all queue, with every client.
fn holds_in_the_queue<S: Succession<Loom>>(settings: MachineSettings) {
    let run = run(3, settings);
    let seen = explore::<MutualExclusion<Loom, QueueOnly<Loom, S, Spin>>>(&run);
    assert_reaches(&seen, &[Event::lock_slowpath]);
    explore::<TryLock<Loom, QueueOnly<Loom, S, Spin>>>(&run);
}

#[test]
fn fifo_holds_without_the_pending_phase() {
    holds_in_the_queue::<Fifo>(MachineSettings::flat(3));
}

#[test]
fn fifo_holds_from_the_middle_of_a_queue() {
    let run = run(2, MachineSettings::flat(CPUS));
    let seen = explore::<FromQueue<Loom, Fifo, LateWithoutNode>>(&run);
    assert_reaches(&seen, &[Event::lock_no_node]);
}

#[test]
fn fifo_holds_without_queue_nodes() {
    let run = LoomRun::bounded(3, 2).on(MachineSettings::flat(3).with_nodes_per_cpu(0));
    let seen = explore::<MutualExclusion<Loom, QSpinlock<Loom>>>(&run);
    assert_reaches(&seen, &[Event::lock_no_node]);
}

fn explore_mixtures<C: Client>(events: &[Event]) {
    explore_on::<C>(mixtures(), events);
}

/// Explores `C` on all machines of a table; each event has to be counted on one of them.
fn explore_on<C: Client>(machines: Vec<(&str, MachineSettings)>, events: &[Event]) {
    let mut counts = vec![0; events.len()];
    for (_, settings) in machines {
        let seen = explore::<C>(&run(2, settings));
        for (count, event) in counts.iter_mut().zip(events) {
            *count += seen.count_of(*event);
        }
    }
    for (count, event) in counts.iter().zip(events) {
        assert!(*count > 0, "no execution of {} reached {}", C::NAME, event.name());
    }
}

/// Waiters are set aside, taken over, put back in front, and granted when the primary queue ends. Nothing is explored
/// if the lock is not due.
fn cna_holds<S: Succession<Loom>>(lock: &str, events: &[Event]) {
    if !find(lock).is_none_or(is_due) {
        return;
    }
    holds_in_the_queue::<S>(MachineSettings::flat(3).with_numa(&[0, 1, 0]));
    explore_mixtures::<FromQueue<Loom, S, TwoSetAside>>(events);
    // No thread passes the end of the primary queue, so one mixture is as good as another.
    let (_, settings) = mixtures().swap_remove(0);
    let seen = explore::<FromQueue<Loom, S, LateWithSecondary>>(&run(2, settings));
    assert_reaches(&seen, &[Event::cna_flush, Event::lock_no_node]);
}

const SPLICES: &[Event] =
    &[Event::cna_set_aside, Event::cna_flush, Event::cna_flush_threshold, Event::cna_handoff_local];
/// v13 and v15 look for a first waiter to set aside in one of 128 turns, chosen at random: hardly here.
const HANDOFFS: &[Event] = &[Event::cna_handoff_unseen];

macro_rules! cna_holds {
    ($($test:ident: $succession:ident, $lock:literal, $events:ident;)+) => {
        $(#[test]
        fn $test() {
            cna_holds::<$succession>($lock, $events);
        })+
    };
}

cna_holds! {
    cna_v10_holds: V10, "cna", SPLICES;
    cna_v10_with_a_time_threshold_holds: V10Time, "cna-v10_time", SPLICES;
    cna_v10_with_a_limited_scan_holds: V10Limited, "cna-v10_limited", SPLICES;
    cna_v10_as_described_holds: V10AsDescribed, "cna-v10_as_described", SPLICES;
    cna_v10_without_a_threshold_holds: V10WithoutThreshold, "cna-v10_no_threshold", SPLICES;
    cna_with_incremental_culling_holds: V10Culling, "cna-v10_culling", SPLICES;
    cna_v11_holds: V11, "cna-v11", SPLICES;
    cna_v13_holds: V13, "cna-v13", HANDOFFS;
    cna_v15_holds: V15, "cna-v15", HANDOFFS;
    cna_v15_with_the_longer_threshold_holds: V15TenMs, "cna-v15_10ms", HANDOFFS;
    cna_v15_without_shuffle_reduction_holds: V15Unreduced, "cna-v15_unreduced", SPLICES;
}

#[test]
fn succession_in_two_levels_holds() {
    holds_in_the_queue::<TwoLevel>(MachineSettings::flat(3).with_numa(&[0, 1, 2]));
    explore_on::<FromQueue<Loom, TwoLevel, ThreeToSort>>(to_sort(), SPLICES);
}

#[test]
fn cna_that_is_switched_off_sets_nobody_aside() {
    let off = lockwright_core::tunables::NUMA_OFF;
    let (_, settings) = mixtures().swap_remove(0);
    let run = run(2, settings.with_tunable(Tunable::numa_spinlock, off));
    let seen = explore::<FromQueue<Loom, V10, TwoSetAside>>(&run);
    assert_eq!(seen.count_of(Event::cna_set_aside), 0);
}

/// The sums of `events` over the checks of `lock` on the machine `on`.
fn counts(lock: &str, on: &str, events: &[Event]) -> Vec<u64> {
    let checks = checks_of(find(lock).expect("a registered lock"))
        .into_iter()
        .filter(|check| check.on == on);
    let seen: Vec<_> = checks.map(|check| check.explore(Bounds::QUICK)).collect();
    events.iter().map(|event| seen.iter().map(|seen| seen.count_of(*event)).sum()).collect()
}

#[test]
fn a_bounded_hybrid_in_a_hurry_sleeps_everywhere_and_is_kicked() {
    let events = [
        Event::pv_wait_node,
        Event::pv_wait_early,
        Event::pv_wait_head,
        Event::pv_wait_again,
        Event::pv_kick_unlock,
    ];
    let counts = counts("cna-hybrid-bounded", "in a hurry", &events);
    assert!(counts.iter().all(|count| *count > 0), "{events:?}: {counts:?}");
}

#[test]
fn a_reserved_lock_is_taken_from_a_head_that_does_not_come() {
    // Thread 0 acts for the head, which sleeps, and is robbed; where time flies it reserves the lock then, and is
    // passed only by those who take it from an absent thread.
    let events = [Event::pv_lock_stealing];
    let counts = counts("cna-hybrid-bounded", "in a hurry, time flies", &events);
    assert!(counts[0] > 0, "nobody took a reserved lock");
}

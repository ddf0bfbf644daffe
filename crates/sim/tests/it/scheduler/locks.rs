//! Locks with more threads than CPUs.

use super::{GUEST, with};
use crate::machines::machine;
use crate::programs::{has, section};
use lockwright_catalog::registry::{LOCKS, LockClass};
use lockwright_core::platform::{Cells, Clock, Sleeping, Zeroed};
use lockwright_linux::rwsem::{self, RwSem};
use lockwright_sim::any_lock::AnyLock;
use lockwright_sim::{
    Arena, Config, FailureKind, NodesMode, RunReport, ScheduledKind, Scheduling, Sim, Simulation,
    StartState, thread,
};
use std::any::TypeId;

const PROGRAM: ScheduledKind = ScheduledKind::Program;

/// Threads that take a lock in turns on four CPUs.
struct Guest {
    kind: ScheduledKind,
    start: StartState,
    threads: usize,
    seed: u64,
    slice_ns: f64,
    noise_ns: f64,
    window_ns: u64,
    /// The threads sleep now and then, and wake each other.
    is_sleepy: bool,
}

impl Guest {
    fn of(threads: usize) -> Self {
        Self {
            kind: GUEST,
            start: StartState::Running,
            threads,
            seed: 1,
            slice_ns: 100_000.0,
            noise_ns: 5_000.0,
            window_ns: 10_000_000,
            is_sleepy: false,
        }
    }
    fn torture(self, name: &str) -> RunReport {
        let Self { kind, start, threads, seed, slice_ns, noise_ns, window_ns, is_sleepy } = self;
        let machine = with(machine(2, 2, 1), |scheduler| {
            scheduler.slice_ns = slice_ns;
            scheduler.noise_ns = noise_ns;
        });
        let nodes = if kind == PROGRAM { NodesMode::Pool(64) } else { NodesMode::PerCpu };
        let any = AnyLock::named(name);
        let scheduling = Some(Scheduling { kind, start });
        let config = Config {
            checks: any.checks(),
            nodes,
            scheduling,
            ..Config::window(100_000, window_ns)
        };
        let mut arena = Arena::default();
        let mut simulation = Simulation::new(&machine, &mut arena, seed, config);
        let lock = (any.alloc)(&mut simulation);
        let bed = simulation.alloc(<Sim as Cells>::U32::zeroed());
        for _ in 0..threads {
            simulation.spawn_scheduled(move || {
                while !thread::is_over() {
                    section(lock, || thread::work_ns(100));
                    thread::op_done();
                    thread::work_ns(200);
                    if is_sleepy {
                        toss(bed);
                    }
                }
            });
        }
        simulation.run()
    }
}

/// Sleeps for up to 50 us, or wakes a sleeper.
fn toss(bed: &<Sim as Cells>::U32) {
    let drawn = thread::random();
    if drawn.is_multiple_of(4) {
        Sim::futex_wait(bed, 0, Some(Sim::now_ns() + drawn % 50_000));
    } else {
        Sim::futex_wake(bed, 1);
    }
}

#[test]
fn every_lock_holds_with_four_threads_on_each_cpu() {
    for row in LOCKS {
        // The handoff of 2017 lets a waiter wait for 10 ms, asleep, while others spin without success. Without it, a
        // release leaves its wake-up to a spinner that has no CPU, and no thread takes the lock on the fast path.
        let patient = [
            TypeId::of::<RwSem<Sim, rwsem::V4_14Handoff>>(),
            TypeId::of::<RwSem<Sim, rwsem::V4_14Bits>>(),
        ];
        let is_patient = patient.contains(&AnyLock::named(row.name).type_id);
        let window_ns = if is_patient { 25_000_000 } else { 10_000_000 };
        for kind in [GUEST, PROGRAM] {
            let report = Guest { kind, window_ns, ..Guest::of(16) }.torture(row.name);
            if row.class != LockClass::Busted {
                assert_eq!(report.failures, [], "{}", row.name);
                assert!(report.ops_total() > 50, "{}: {:?}", row.name, report.ops);
            }
        }
    }
}

#[test]
fn the_busted_lock_fails_with_four_threads_on_each_cpu() {
    let report = Guest::of(16).torture("busted");
    assert!(has(&report, |kind| matches!(kind, FailureKind::Exclusion { .. })));
}

#[test]
fn fair_queues_collapse_without_a_cpu_for_everybody_and_an_unfair_lock_does_not() {
    fn rates(name: &str) -> (u64, u64) {
        let ops = |threads| {
            let report = Guest::of(threads).torture(name);
            assert_eq!(report.failures, []);
            report.ops_total()
        };
        (ops(4), ops(16))
    }
    for (fair, oversubscribed) in [rates("ticket"), rates("mcs"), rates("qspinlock")] {
        assert!(oversubscribed * 10 < fair, "{fair} and {oversubscribed}");
    }
    let (alone, oversubscribed) = rates("unfair");
    assert!(oversubscribed * 2 > alone, "{alone} and {oversubscribed}");
}

/// A convoy of sleepers in which each handoff is a kick, or a queue of spinners in which none is: in a
/// quiet guest, the start decides.
#[test]
fn a_guest_with_sleeping_waiters_stays_in_what_it_began_with() {
    let from = |start| {
        let (slice_ns, noise_ns) = (3_000_000.0, 0.0);
        let report = Guest { start, slice_ns, noise_ns, ..Guest::of(4) }.torture("park");
        assert_eq!(report.failures, []);
        (report.ops_total(), report.schedule.map_or(0, |schedule| schedule.kicks))
    };
    let (running, kicks) = from(StartState::Running);
    assert_eq!(kicks, 0);
    let (preempted, kicks) = from(StartState::Preempted);
    assert!(preempted * 4 < running, "{preempted} and {running}");
    assert!(kicks * 2 > preempted, "{kicks} kicks for {preempted}");
}

#[test]
fn one_seed_and_one_start_state_give_one_history() {
    let run = |start, seed| Guest { start, seed, ..Guest::of(12) }.torture("unfair");
    let mut digests = Vec::new();
    for &start in StartState::ALL {
        let (one, same, other) = (run(start, 1), run(start, 1), run(start, 2));
        assert_eq!((one.digest, one.events, &one.ops), (same.digest, same.events, &same.ops));
        assert_eq!(one.schedule, same.schedule);
        digests.extend([one.digest, other.digest]);
    }
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 6, "every start state and every seed is another history");
}

#[test]
fn the_threads_of_an_overcommitted_guest_share_the_time_of_its_cpus() {
    let report = Guest::of(16).torture("unfair");
    let schedule = report.schedule.as_ref().expect("the run has a scheduler");
    let run: u64 = schedule.run_ps.iter().sum();
    // Noise takes a twentieth, switches between slices less than a fortieth.
    let all = 4 * report.window_ps;
    assert!(run * 40 > all * 37 && run * 20 <= all * 19, "{run} of {all} ps");
    let fair = run / 16;
    assert!(schedule.run_ps.iter().all(|&ps| ps.abs_diff(fair) < 4 * 100_000_000), "{schedule:?}");
}

/// As for the golden runs without a scheduler.
#[test]
fn an_overcommitted_run_has_its_golden_digest() {
    let guest = Guest { start: StartState::Preempted, is_sleepy: true, ..Guest::of(12) };
    let report = guest.torture("unfair");
    let schedule = report.schedule.as_ref().expect("the run has a scheduler");
    assert!(schedule.kicks > 500 && schedule.steals > 500, "{schedule:?}");
    let found = (&*report.digest.to_string(), report.events, report.ops_total());
    assert_eq!(found, ("ec9d15bda251ebfe26ade6b2cead9a7d", 132_291, 16_092));
}

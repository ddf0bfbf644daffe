//! What the hierarchical queued spinlock promises about its modes and about order, with many threads.

use crate::machines::machine;
use crate::programs::{has, section};
use lockwright_core::events::Event;
use lockwright_core::tunables::Tunable;
use lockwright_sim::any_lock::AnyLock;
use lockwright_sim::{Arena, Checks, Config, FailureKind, RunReport, Simulation, thread};

/// How long each owner holds the lock.
const HOLD_NS: u64 = 500;
/// What a thread does between two sections. Two threads without that, one always pending, keep a third one from
/// changing the mode: it may do so only when no thread is pending.
const APART_NS: u64 = 300;
/// After that many turns each thread pauses, so that the last waiter leaves the queue.
const TURNS_BEFORE_PAUSE: u32 = 32;
const PAUSE_NS: u64 = 200_000;

/// Threads that take a lock again and again, with one pause: on each socket this many.
struct Storm<'a> {
    threads: &'a [u32],
    tunables: Vec<(Tunable, u64)>,
    overtaking_max: Option<u32>,
    pauses: bool,
}

impl<'a> Storm<'a> {
    fn of(threads: &'a [u32]) -> Self {
        Self { threads, tunables: Vec::new(), overtaking_max: None, pauses: true }
    }
    fn set(mut self, tunable: Tunable, value: u64) -> Self {
        self.tunables.push((tunable, value));
        self
    }
    fn overtaking_max(mut self, max: u64) -> Self {
        self.overtaking_max = Some(max.try_into().expect("a small bound"));
        self
    }
    fn without_pause(mut self) -> Self {
        self.pauses = false;
        self
    }
    fn run(self, name: &str) -> RunReport {
        let any = AnyLock::named(name);
        let mut arena = Arena::default();
        let checks = Checks {
            overtaking_max: self.overtaking_max,
            word_is_legal: Some(any.word_is_legal),
            ..Checks::default()
        };
        let config = Config { checks, tunables: self.tunables, ..Config::window(0, 5_000_000) };
        let sockets = self.threads.len() as u32;
        let mut simulation = Simulation::new(&machine(sockets, 8, 1), &mut arena, 1, config);
        let lock = (any.alloc)(&mut simulation);
        for (socket, &threads) in self.threads.iter().enumerate() {
            for core in 0..threads {
                let pauses = self.pauses;
                simulation.spawn(socket as u32 * 8 + core, move || {
                    let mut turns = 0;
                    while !thread::is_over() {
                        turns += 1;
                        if pauses && turns == TURNS_BEFORE_PAUSE {
                            thread::work_ns(PAUSE_NS);
                        }
                        section(lock, || thread::hold_ps(HOLD_NS * 1000));
                        thread::op_done();
                        thread::work_ns(APART_NS);
                    }
                });
            }
        }
        simulation.run()
    }
}

fn is_overtaken(report: &RunReport) -> bool {
    has(report, |kind| matches!(kind, FailureKind::Overtaken { .. }))
}

#[test]
fn it_queues_by_numa_node_after_many_handoffs_and_not_before() {
    let report = Storm::of(&[8, 8]).run("hq");
    assert_eq!(report.failures, []);
    let [local, remote] =
        [Event::hq_handoff_local, Event::hq_handoff_remote].map(|event| report.count_of(event));
    assert!(report.count_of(Event::hq_mode_on) > 0);
    assert!(remote > 0 && local > 100 * remote, "{local} local, {remote} remote");
    // Two threads need no queue: one is pending.
    let report = Storm::of(&[1, 1]).run("hq");
    assert_eq!((report.failures.len(), report.count_of(Event::hq_mode_on)), (0, 0));
    // The mode changes when the last waiter leaves the queue, which it does not without a pause.
    let report = Storm::of(&[8, 8]).without_pause().run("hq");
    assert_eq!((report.failures.len(), report.count_of(Event::hq_mode_on)), (0, 0));
    // There are not that many handoffs.
    let never = Tunable::hqlock_general_handoffs_turn_numa;
    let report = Storm::of(&[8, 8]).set(never, never.max()).run("hq");
    assert_eq!((report.failures.len(), report.count_of(Event::hq_mode_on)), (0, 0));
    // The queue of the queued spinlock and that of CNA have no modes.
    for name in ["qspinlock", "cna"] {
        assert_eq!(Storm::of(&[8, 8]).run(name).count_of(Event::hq_handoff_local), 0, "{name}");
    }
}

#[test]
fn waiters_of_another_numa_node_are_passed_for_at_most_the_threshold() {
    const THRESHOLD: u64 = 254;
    // A turn has two owners more than the threshold. On the way to its queue each other thread passes a thread at most
    // once.
    let bound = THRESHOLD + 2 + 15;
    let storm = |threshold| Storm::of(&[8, 8]).set(Tunable::hqlock_fairness_threshold, threshold);
    let report = storm(THRESHOLD).overtaking_max(bound).run("hq");
    assert_eq!(report.failures, []);
    assert!(report.count_of(Event::hq_handoff_remote) > 2);
    // The threshold is used to the full, and nothing else keeps the bound. Eight owners of the turn may have come
    // before.
    assert!(is_overtaken(&storm(THRESHOLD).overtaking_max(THRESHOLD + 2 - 8 - 1).run("hq")));
    assert!(is_overtaken(&storm(u32::MAX.into()).overtaking_max(bound).run("hq")));
}

/// As the golden runs of `golden.rs`, in which the lock stays in queued mode.
#[test]
fn a_run_in_hq_mode_has_its_digest() {
    let report = Storm::of(&[4, 1, 1])
        .set(Tunable::hqlock_general_handoffs_turn_numa, 0)
        .set(Tunable::hqlock_fairness_threshold, 0)
        .run("hq");
    let events =
        [Event::hq_mode_on, Event::hq_handoff_local, Event::hq_handoff_remote, Event::hq_first_due];
    assert!(events.into_iter().all(|event| report.count_of(event) > 0), "{report:?}");
    let found = (report.digest.to_string(), report.events, report.ops_total());
    assert_eq!(found, ("f3c39e8f38beff256f041784048158fe".to_owned(), 236_351, 4130));
}

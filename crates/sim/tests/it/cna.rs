//! What NUMA-aware succession promises about order, and when it makes no difference.

use crate::machines::machine;
use crate::programs::{has, hold, section};
use lockwright_core::events::Event;
use lockwright_core::tunables::{NUMA_AUTO, NUMA_OFF, NUMA_ON, Tunable};
use lockwright_sim::any_lock::AnyLock;
use lockwright_sim::machine::Machine;
use lockwright_sim::{Arena, Checks, Config, FailureKind, RunReport, Simulation, thread};
use std::cell::RefCell;

/// The policies that count handoffs, those that measure time.
const COUNTING: [&str; 3] = ["cna", "cna-v10_as_described", "cna-v10_culling"];
const TIMING: [&str; 7] = [
    "cna-v10_time",
    "cna-v10_limited",
    "cna-v11",
    "cna-v13",
    "cna-v15",
    "cna-v15_unreduced",
    "cna-v15_10ms",
];

/// CNA's idea with a list for each NUMA node. It counts handoffs, too, with a threshold of its own.
const IN_LISTS: &str = "two-level";

/// How long each owner holds the lock, exactly: longer than a head needs to find it busy, so that
/// v15, which looks around only meanwhile, does so.
const HOLD_NS: u64 = 500;

/// Threads that take a lock again and again.
struct Storm {
    machine: Machine,
    /// Of each thread.
    cpus: Vec<u32>,
    /// Threads that are urgent, by number.
    urgent: Vec<usize>,
    tunables: Vec<(Tunable, u64)>,
    checks: Checks,
    lasts_ns: u64,
}

impl Storm {
    /// On `sockets` sockets of eight threads each.
    fn on(sockets: u32) -> Self {
        Self {
            machine: machine(sockets, 8, 1),
            cpus: (0..sockets * 8).collect(),
            urgent: Vec::new(),
            tunables: Vec::new(),
            checks: Checks::default(),
            lasts_ns: 5_000_000,
        }
    }
    fn set(mut self, tunable: Tunable, value: u64) -> Self {
        self.tunables.push((tunable, value));
        self
    }
    fn overtaking_max(mut self, max: u64) -> Self {
        self.checks.overtaking_max = Some(max.try_into().expect("a small bound"));
        self
    }
    fn fifo(mut self) -> Self {
        self.checks.fifo = true;
        self
    }
    fn run(self, name: &str) -> RunReport {
        let any = AnyLock::named(name);
        let mut arena = Arena::default();
        let checks = Checks { word_is_legal: Some(any.word_is_legal), ..self.checks };
        let config = Config { checks, tunables: self.tunables, ..Config::window(0, self.lasts_ns) };
        let mut simulation = Simulation::new(&self.machine, &mut arena, 1, config);
        let lock = (any.alloc)(&mut simulation);
        for (number, cpu) in self.cpus.into_iter().enumerate() {
            let is_urgent = self.urgent.contains(&number);
            simulation.spawn(cpu, move || {
                thread::set_urgent(is_urgent);
                while !thread::is_over() {
                    section(lock, || thread::hold_ps(HOLD_NS * 1000));
                    thread::op_done();
                }
            });
        }
        simulation.run()
    }
}

fn is_overtaken(report: &RunReport) -> bool {
    has(report, |kind| matches!(kind, FailureKind::Overtaken { .. }))
}

/// How many may pass a thread between its request and its place in the queue.
///
/// The lock promises nothing there. But the way to the queue is short, a few accesses of the word,
/// so in these runs each other thread passes at most once; the FIFO lock shows that it is so.
fn passed_before_queueing(threads: u64) -> u64 {
    threads - 1
}

#[test]
fn on_the_way_to_the_queue_a_thread_is_passed_at_most_once_by_each_other() {
    let report = Storm::on(2).overtaking_max(passed_before_queueing(16)).run("qspinlock");
    assert_eq!(report.failures, []);
}

#[test]
fn waiters_set_aside_are_passed_for_at_most_the_threshold_in_handoffs() {
    const LOG2: u64 = 8;
    // Two NUMA nodes, so once. The head that sets a waiter aside was in front of it. After it 2^n waiters get the lock,
    // the last of which finds the waiters due.
    let bound = (1 << LOG2) + passed_before_queueing(16);
    for name in COUNTING {
        let storm = |log2| Storm::on(2).set(Tunable::numa_spinlock_threshold, log2);
        let report = storm(LOG2).overtaking_max(bound).run(name);
        assert_eq!(report.failures, [], "{name}");
        assert!(report.count_of(Event::cna_flush_threshold) > 2, "{name}");
        // The threshold is used to the full, and nothing else keeps the bound.
        assert!(is_overtaken(&storm(LOG2).overtaking_max((1 << LOG2) - 1).run(name)), "{name}");
        let never = Tunable::numa_spinlock_threshold.max();
        assert!(is_overtaken(&storm(never).overtaking_max(bound).run(name)), "{name}");
    }
}

#[test]
fn a_list_is_passed_for_at_most_a_turn_of_each_other_node_twice() {
    const HANDOFFS: u64 = 40;
    // The others' turns are one with two NUMA nodes, and two with three.
    for (sockets, others) in [(2, 1), (3, 2)] {
        let storm = |handoffs| Storm::on(sockets).set(Tunable::hqlock_fairness_threshold, handoffs);
        let threads = u64::from(sockets) * 8;
        let bound = 2 * others * (HANDOFFS + 1) + passed_before_queueing(threads);
        let report = storm(HANDOFFS).overtaking_max(bound).run(IN_LISTS);
        assert_eq!(report.failures, [], "{sockets}");
        assert!(report.count_of(Event::cna_flush_threshold) > 2, "{sockets}");
        // The threshold is used, and nothing else keeps the bound. Eight waiters of a turn may have come before.
        let least = others * (HANDOFFS - 8) - 1;
        assert!(is_overtaken(&storm(HANDOFFS).overtaking_max(least).run(IN_LISTS)), "{sockets}");
        let never = Tunable::hqlock_fairness_threshold.max();
        assert!(is_overtaken(&storm(never).overtaking_max(bound).run(IN_LISTS)), "{sockets}");
    }
}

/// Threads that come one after the other on these CPUs: the owner, who holds the lock until all are there, a pending
/// waiter, a head, and others. Returns the order in which they get the lock, and how many are set aside.
fn come_in_turn(name: &str, sockets: u32, cpus: &[u32]) -> (Vec<u32>, u64) {
    let order = RefCell::new(Vec::new());
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&machine(sockets, 16, 1), &mut arena, 1, Config::default());
    let lock = (AnyLock::named(name).alloc)(&mut simulation);
    for (number, &cpu) in (0..).zip(cpus) {
        let order = &order;
        simulation.spawn(cpu, move || {
            thread::hold_ps(u64::from(number) * 5_000_000);
            hold(lock, || {
                order.borrow_mut().push(number);
                thread::work_ns(if number == 0 { 200_000 } else { HOLD_NS });
            });
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    (order.into_inner(), report.count_of(Event::cna_set_aside))
}

/// A head behind which waiters of two other sockets queue in turn, and then one of its own.
fn in_turn_behind(name: &str) -> (Vec<u32>, u64) {
    come_in_turn(name, 3, &[0, 1, 2, 16, 32, 17, 33, 3])
}

#[test]
fn in_lists_a_waiter_is_set_aside_once_and_then_follows_those_of_its_node() {
    let by_node = vec![0, 1, 2, 7, 3, 5, 4, 6];
    assert_eq!(in_turn_behind(IN_LISTS), (by_node.clone(), 4));
    // The one queue of CNA is sorted again.
    assert_eq!(in_turn_behind("cna"), (by_node, 5));
    assert_eq!(in_turn_behind("qspinlock").1, 0);
}

#[test]
fn waiters_set_aside_are_passed_for_at_most_the_threshold_in_time() {
    const NS: u64 = 100_000;
    // Two NUMA nodes, so once. Heads follow each other no faster than owners, which bounds how many
    // begin their turn within the time; two more for its ends, one of them finds the waiters due.
    let bound = NS / HOLD_NS + 2 + passed_before_queueing(16);
    for name in TIMING {
        let storm = |ns| Storm::on(2).set(Tunable::numa_spinlock_threshold_ns, ns);
        let report = storm(NS).overtaking_max(bound).run(name);
        assert_eq!(report.failures, [], "{name}");
        assert!(report.count_of(Event::cna_flush_threshold) > 2, "{name}");
        let never = Tunable::numa_spinlock_threshold_ns.max();
        assert!(is_overtaken(&storm(never).overtaking_max(bound).run(name)), "{name}");
    }
}

#[test]
fn switched_off_or_on_one_socket_waiters_are_served_in_order() {
    let policies = || COUNTING.into_iter().chain(TIMING).chain([IN_LISTS]);
    for name in policies() {
        for (sockets, setting) in [(2, NUMA_OFF), (1, NUMA_AUTO), (1, NUMA_OFF)] {
            let report = Storm::on(sockets).set(Tunable::numa_spinlock, setting).fifo().run(name);
            assert_eq!(report.failures, [], "{name}, {sockets} sockets, setting {setting}");
            assert!(report.ops_total() > 1000, "{name}");
            for event in [Event::cna_scanned, Event::cna_set_aside, Event::cna_flush] {
                assert_eq!(report.count_of(event), 0, "{name}: {}", event.name());
            }
        }
        for setting in [NUMA_AUTO, NUMA_ON] {
            let report = Storm::on(2).set(Tunable::numa_spinlock, setting).fifo().run(name);
            let is_passed = has(&report, |kind| matches!(kind, FailureKind::OutOfOrder { .. }));
            assert!(is_passed, "{name}");
            assert!(report.count_of(Event::cna_set_aside) > 0, "{name}");
        }
    }
}

/// Seven threads on socket 0 keep the lock there for as long as they may; one on socket 2 is set
/// aside, and one on socket 1, the last, is set aside unless it is urgent.
fn one_against_a_socket(name: &str, urgent: Vec<usize>) -> RunReport {
    let storm = Storm {
        cpus: (0..7).chain([16, 8]).collect(),
        urgent,
        ..Storm::on(3)
            .set(Tunable::numa_spinlock_threshold, Tunable::numa_spinlock_threshold.max())
            .set(Tunable::numa_spinlock_threshold_ns, Tunable::numa_spinlock_threshold_ns.max())
            .set(Tunable::hqlock_fairness_threshold, Tunable::hqlock_fairness_threshold.max())
            .overtaking_max(passed_before_queueing(9))
    };
    storm.run(name)
}

#[test]
fn an_urgent_waiter_is_never_set_aside() {
    let lone = 8;
    let passes = |report: &RunReport| {
        assert_eq!(report.failures_total, report.failures.len() as u64, "all are described");
        let passed = report.failures.iter().filter_map(|failure| match failure.kind {
            FailureKind::Overtaken { passed, .. } => Some(passed),
            _ => None,
        });
        passed.filter(|&passed| passed == lone).count()
    };
    for name in COUNTING.into_iter().chain(TIMING).chain([IN_LISTS]) {
        let urgent = one_against_a_socket(name, vec![lone]);
        assert_eq!(passes(&urgent), 0, "{name}");
        // Others are, so that it is granted in front of a secondary queue.
        assert!(urgent.count_of(Event::cna_set_aside) > 0, "{name}");
        assert!(urgent.ops[lone] > 100, "{name}: {:?}", urgent.ops);
        let not_urgent = one_against_a_socket(name, Vec::new());
        assert!(passes(&not_urgent) > 0, "{name}");
    }
}

/// A head that waits with no waiter behind it, until this many of another socket and then one of its
/// own have queued; then it takes the lock. Returns how many are set aside in the run.
fn late_arrivals(name: &str, remote: u32) -> u64 {
    let mut arena = Arena::default();
    let machine = machine(2, remote.clamp(16, 64), remote.div_ceil(64));
    let of_other_socket =
        (0..machine.topology.cpus()).filter(|&cpu| machine.topology.socket_of(cpu) == 1);
    let mut simulation = Simulation::new(&machine, &mut arena, 1, Config::default());
    let lock = (AnyLock::named(name).alloc)(&mut simulation);
    // The owner, a pending waiter, the head, the others, the last.
    let cpus = (0..3).chain(of_other_socket.take(remote as usize)).chain([3]);
    let all_come_ns = 200_000 + u64::from(remote) * 5_000;
    for (number, cpu) in cpus.enumerate() {
        simulation.spawn(cpu, move || {
            thread::hold_ps(number as u64 * 5_000_000);
            hold(lock, || thread::work_ns(if number == 0 { all_come_ns } else { HOLD_NS }));
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    assert_eq!(report.count_of(Event::lock_slowpath), u64::from(remote) + 2);
    report.count_of(Event::cna_set_aside)
}

#[test]
fn a_head_looks_at_all_that_come_while_the_lock_is_busy() {
    for remote in [7, 8, 12] {
        for name in ["cna", "cna-v10_limited", "cna-v15_unreduced"] {
            assert_eq!(late_arrivals(name, remote), u64::from(remote), "{name}");
        }
    }
    // Here the limit is 512, and those that were passed are set aside.
    for (remote, set_aside) in [(511, 511), (512, 512), (513, 512)] {
        assert_eq!(late_arrivals(IN_LISTS, remote), set_aside);
    }
}

/// A head that passes a waiter of another socket before it waits for the lock. Meanwhile `more` waiters of that socket
/// and then one of its own come. Returns the order in which the threads get the lock, and how many are set aside.
fn one_passed_and_then(name: &str, more: u32) -> (Vec<u32>, u64) {
    let order = RefCell::new(Vec::new());
    let mut arena = Arena::default();
    let mut simulation = Simulation::new(&machine(2, 16, 1), &mut arena, 1, Config::default());
    let lock = (AnyLock::named(name).alloc)(&mut simulation);
    // The owner, a pending waiter, the head before, the head, the one that it passes; then the late ones.
    let cpus = (0..4).chain((0..=more).map(|n| 16 + n)).chain([4]);
    for (number, cpu) in (0..).zip(cpus) {
        let late_ps = if number > 4 { 280_000_000 } else { 0 };
        let hold_ns = if matches!(number, 0 | 2) { 200_000 } else { HOLD_NS };
        let order = &order;
        simulation.spawn(cpu, move || {
            thread::hold_ps(late_ps + u64::from(number) * 5_000_000);
            hold(lock, || {
                order.borrow_mut().push(number);
                thread::work_ns(hold_ns);
            });
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    (order.into_inner(), report.count_of(Event::cna_set_aside))
}

#[test]
fn the_second_scan_as_posted_sets_aside_only_with_one_that_it_has_passed_itself() {
    assert_eq!(one_passed_and_then("cna-v10_as_described", 0), (vec![0, 1, 2, 3, 5, 4], 1));
    assert_eq!(one_passed_and_then("cna", 0), (vec![0, 1, 2, 3, 4, 5], 0));
    for name in ["cna", "cna-v10_as_described"] {
        assert_eq!(one_passed_and_then(name, 1), (vec![0, 1, 2, 3, 6, 4, 5], 2), "{name}");
    }
}

/// A head that is granted when the lock is already free, and finds `remote` waiters of the last of the sockets and then
/// one of its own. Returns how many are set aside in the run.
fn granted_a_free_lock(name: &str, sockets: u32, remote: u32) -> u64 {
    let mut arena = Arena::default();
    let mut simulation =
        Simulation::new(&machine(sockets, 17, 1), &mut arena, 1, Config::default());
    let lock = (AnyLock::named(name).alloc)(&mut simulation);
    // The owner, a pending waiter, the head before, which has the lock for an instant, the head, the others, the last.
    let cpus = (0..4).chain((0..remote).map(|n| (sockets - 1) * 17 + n)).chain([4]);
    for (number, cpu) in cpus.enumerate() {
        simulation.spawn(cpu, move || {
            thread::hold_ps(number as u64 * 5_000_000);
            hold(lock, || match number {
                0 => thread::work_ns(200_000),
                2 => {}
                _ => thread::work_ns(HOLD_NS),
            });
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    report.count_of(Event::cna_set_aside)
}

/// The limit is four looks for each NUMA node, and it begins when the head sees the lock free.
#[test]
fn the_limited_scan_looks_at_few_waiters_once_the_lock_is_free() {
    assert_eq!(granted_a_free_lock("cna", 2, 12), 12);
    for (sockets, most) in [(2, 7), (4, 15)] {
        assert_eq!(granted_a_free_lock("cna-v10_limited", sockets, most), u64::from(most));
        assert_eq!(granted_a_free_lock("cna-v10_limited", sockets, most + 1), 0);
    }
}

/// A head that is granted when one waiter of another socket and then one of its own are behind it. Returns the order in
/// which the threads get the lock.
fn one_of_each_behind(name: &str) -> Vec<u32> {
    // The owner, a pending waiter, the head before, the head, a remote waiter, a local one, and one behind it.
    come_in_turn(name, 2, &[0, 1, 2, 3, 16, 4, 17]).0
}

#[test]
fn with_shuffle_reduction_a_head_seldom_sets_the_first_waiter_aside_and_without_it_always() {
    for (always, seldom) in [("cna-v11", "cna-v13"), ("cna-v15_unreduced", "cna-v15")] {
        // Number 6 is the last one. It is of another node, but number 4 stays aside: its time is not over.
        assert_eq!(one_of_each_behind(always), [0, 1, 2, 3, 5, 6, 4], "{always}");
        assert_eq!(one_of_each_behind(seldom), [0, 1, 2, 3, 4, 5, 6], "{seldom}");
        let set_aside = |name| Storm::on(2).run(name).count_of(Event::cna_set_aside);
        assert!(set_aside(seldom) > 0, "{seldom} looks now and then");
    }
}

#[test]
fn versions_with_a_threshold_of_10_ms_do_not_reach_it_in_half_of_that_time() {
    let flushes = |name| Storm::on(2).run(name).count_of(Event::cna_flush_threshold);
    for (name, is_reached) in
        [("cna-v15", true), ("cna-v15_10ms", false), ("cna-v11", false), ("cna-v13", false)]
    {
        assert_eq!(flushes(name) > 0, is_reached, "{name}");
    }
}

/// Threads on these CPUs, each of which comes at a time and has the lock for a time, both in us. Returns the order in
/// which they get it.
fn owners(name: &str, threads: &[(u32, u64, u64)], tunables: &[(Tunable, u64)]) -> Vec<u32> {
    let order = RefCell::new(Vec::new());
    let mut arena = Arena::default();
    let config = Config { tunables: tunables.to_vec(), ..Config::default() };
    let mut simulation = Simulation::new(&machine(2, 16, 1), &mut arena, 1, config);
    let lock = (AnyLock::named(name).alloc)(&mut simulation);
    for (number, &(cpu, comes_us, hold_us)) in (0..).zip(threads) {
        let order = &order;
        simulation.spawn(cpu, move || {
            thread::hold_ps(comes_us * 1_000_000);
            hold(lock, || {
                order.borrow_mut().push(number);
                thread::work_ns(hold_us * 1_000);
            });
        });
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    order.take()
}

/// A head, number 2, becomes the head before any other waiter comes. Then two of the other node come, and one of its
/// own. Under v15 it looks for as long as it waits, under v11 once, at the handoff, and the next one inherits.
#[test]
fn v15_looks_while_the_lock_is_busy_and_v11_once_more_at_the_handoff() {
    const THREADS: &[(u32, u64, u64)] =
        &[(0, 0, 100), (1, 5, 1), (2, 10, 1), (16, 20, 1), (17, 25, 1), (3, 30, 1)];
    for (name, order) in [
        ("cna", [0, 1, 2, 5, 3, 4]),
        ("cna-v10_as_described", [0, 1, 2, 5, 3, 4]),
        ("cna-v10_limited", [0, 1, 2, 5, 3, 4]),
        ("cna-v10_culling", [0, 1, 2, 4, 5, 3]),
        ("cna-v11", [0, 1, 2, 4, 5, 3]),
        ("cna-v15_unreduced", [0, 1, 2, 5, 3, 4]),
    ] {
        assert_eq!(owners(name, THREADS, &[]), order, "{name}");
    }
}

/// Number 3, of the other node, is the only waiter when number 2 grants it. Under v11 it stands for number 2's node
/// from then on, although no waiter is aside, and passes number 4, of its own node.
#[test]
fn under_v11_a_waiter_inherits_the_node_also_if_no_waiter_is_aside() {
    const THREADS: &[(u32, u64, u64)] =
        &[(0, 0, 100), (1, 5, 1), (2, 10, 50), (16, 15, 1), (17, 115, 1), (3, 120, 1)];
    for (name, order) in [
        ("cna-v11", [0, 1, 2, 3, 5, 4]),
        ("cna-v10_culling", [0, 1, 2, 3, 5, 4]),
        ("cna-v15_unreduced", [0, 1, 2, 3, 4, 5]),
        ("cna", [0, 1, 2, 3, 4, 5]),
    ] {
        assert_eq!(owners(name, THREADS, &[]), order, "{name}");
    }
}

/// Number 3 is aside when number 2 grants number 4, which is of the same node as number 3 and the last one. Number 4
/// stands for number 2's node from then on, so it passes number 5. v10 puts number 3 in front at once.
#[test]
fn under_v15_the_last_waiter_inherits_the_node_if_a_waiter_is_aside() {
    const THREADS: &[(u32, u64, u64)] =
        &[(0, 0, 100), (1, 5, 1), (2, 10, 50), (16, 15, 1), (17, 20, 1), (18, 115, 1), (3, 120, 1)];
    for (name, order) in
        [("cna-v15_unreduced", [0, 1, 2, 4, 6, 3, 5]), ("cna", [0, 1, 2, 3, 4, 5, 6])]
    {
        assert_eq!(owners(name, THREADS, &[]), order, "{name}");
    }
}

/// Number 2 is the head for 300 us before it sets number 3 aside. Its clock has run since it became the head, so number
/// 4, to which it passes the time, finds it over. The clock of v11 starts when number 3 is set aside.
#[test]
fn the_clock_of_the_reviews_time_starts_when_a_head_becomes_the_head() {
    const THREADS: &[(u32, u64, u64)] =
        &[(0, 0, 300), (1, 5, 1), (2, 10, 1), (16, 280, 1), (3, 285, 1), (4, 290, 1)];
    let set = &[(Tunable::numa_spinlock_threshold_ns, 100_000)];
    for (name, order) in [
        ("cna-v10_time", [0, 1, 2, 4, 3, 5]),
        ("cna-v10_limited", [0, 1, 2, 4, 3, 5]),
        ("cna", [0, 1, 2, 4, 5, 3]),
        ("cna-v15_unreduced", [0, 1, 2, 4, 5, 3]),
    ] {
        assert_eq!(owners(name, THREADS, set), order, "{name}");
    }
}

/// Threads of one node take the lock all the time. Without a threshold, the only thread of another node, once it is
/// aside, waits until they end.
#[test]
fn without_a_threshold_waiters_of_another_node_starve() {
    let ops_of_lone = |name| {
        let cpus = (0..7).chain([8]).collect();
        let storm = Storm { cpus, ..Storm::on(2).set(Tunable::numa_spinlock_threshold, 4) };
        storm.run(name).ops[7]
    };
    assert!(ops_of_lone("cna") > 100, "{}", ops_of_lone("cna"));
    assert!(ops_of_lone("cna-v10_no_threshold") < 10);
}

/// A threshold of 10 ms is three jiffies of 4 ms, and it is over when more have passed: after 12 to 16 ms. The time of
/// v15 is that of a clock, and exact.
#[test]
fn a_threshold_in_jiffies_is_rounded_up_and_over_when_more_have_passed() {
    let times_over = |name| {
        let storm = Storm { lasts_ns: 52_000_000, ..Storm::on(2) };
        storm.run(name).count_of(Event::cna_flush_threshold)
    };
    for (name, times) in [("cna-v11", 3..=3), ("cna-v10_time", 3..=3), ("cna-v15_10ms", 4..=5)] {
        let found = times_over(name);
        assert!(times.contains(&found), "{name}: {found}");
    }
}

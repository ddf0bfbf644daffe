//! The posted rules of the hierarchical queued spinlock, in schedules with the order of owners, and in lists of writes.
//!
//! In the schedules a letter is a waiter and the digit behind it its NUMA node, counted from 1. Queues have the numbers
//! of their nodes. A CPU of node n is one of the four from 4 (n - 1) on.

use crate::machines::{machine, quiet};
use lockwright_core::events::Event;
use lockwright_core::raw::RawLock;
use lockwright_core::tunables::Tunable;
use lockwright_linux::hq::testing::{Absent, QueuesAtOnce};
use lockwright_sim::explore::{Explorer, Limits, Schedule};
use lockwright_sim::{Arena, Checks, Config, RunReport, Sim, Simulation, thread, watch};
use std::cell::RefCell;

/// The lock whose waiters queue by NUMA node from the start.
type Lock = QueuesAtOnce<Sim>;
/// The same in queued mode.
type InOrder = QueuesAtOnce<Sim, true>;

/// The time from one step of a schedule to the next. Nothing that happens in a step takes that long.
const STEP_PS: u64 = 20_000_000;

/// Waits for a step of the schedule.
fn at(step: u64) {
    thread::hold_ps((step * STEP_PS).saturating_sub(thread::now_ps()));
}

/// What a thread does with the lock.
type Program<'a, const IN_ORDER: bool> =
    (u32, &'a dyn Fn(&QueuesAtOnce<Sim, IN_ORDER>, &RefCell<String>));

/// Runs programs, each on a CPU, with `lock` between them. Returns the owners in order.
fn owners<const IN_ORDER: bool>(
    lock: fn() -> QueuesAtOnce<Sim, IN_ORDER>,
    tunables: &[(Tunable, u64)],
    programs: &[Program<'_, IN_ORDER>],
) -> String {
    let order = RefCell::new(String::new());
    let mut arena = Arena::default();
    let checks = Checks {
        word_is_legal: Some(QueuesAtOnce::<Sim, IN_ORDER>::word_is_legal),
        ..Checks::default()
    };
    let config = Config { checks, tunables: tunables.to_vec(), ..Config::default() };
    let mut simulation = Simulation::new(&quiet(machine(4, 4, 1)), &mut arena, 1, config);
    let lock = simulation.alloc(lock());
    for &(cpu, program) in programs {
        let order = &order;
        simulation.spawn(cpu, move || program(lock, order));
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    order.into_inner()
}

/// Says that `name` has the lock, until a step.
fn owns<const IN_ORDER: bool>(
    lock: &QueuesAtOnce<Sim, IN_ORDER>,
    order: &RefCell<String>,
    name: char,
    until: u64,
) {
    watch::entered(lock);
    order.borrow_mut().push(name);
    at(until);
    watch::left(lock);
    // SAFETY: the caller has taken it.
    unsafe { lock.unlock() };
}

/// Takes the lock in the name of an absent waiter.
fn acts<const IN_ORDER: bool>(
    lock: &QueuesAtOnce<Sim, IN_ORDER>,
    order: &RefCell<String>,
    (name, absent): (char, Absent),
    until: u64,
) {
    // SAFETY: a waiter of this lock, and no other thread acts for it.
    unsafe { lock.act_for(absent) };
    owns(lock, order, name, until);
}

/// Comes in a step and takes the lock until another one.
fn comes(name: char, step: u64, until: u64) -> impl Fn(&Lock, &RefCell<String>) {
    move |lock, order| {
        at(step);
        lock.lock();
        owns(lock, order, name, until);
    }
}

/// Has the lock from the start until a step, as the owner before the others.
fn holds(until: u64) -> impl Fn(&Lock, &RefCell<String>) {
    move |lock, _| {
        at(until);
        // SAFETY: held from the start, for this thread.
        unsafe { lock.unlock() };
    }
}

/// What a thread on node 1 of three writes to a lock with this word: what it does, where, and both values.
fn writes(word: u32, program: fn(&Lock)) -> Vec<String> {
    let body = |simulation: &mut Simulation<'_>| {
        let lock = simulation.alloc(Lock::new());
        lock.poke(word);
        simulation.spawn(0, move || program(lock));
    };
    let machine = quiet(machine(3, 4, 1));
    let mut explorer = Explorer::new(&machine, 1, Config::default(), &body);
    let (_, trace) = explorer.replay_traced(&Schedule::default(), Limits::default());
    let is_shared = |place: &str| !place.starts_with("QNode");
    let writes = trace.iter().filter(|it| it.values.contains(" -> ") && is_shared(&it.place));
    writes.map(|it| format!("{}, {}: {}", it.what, it.place, it.values)).collect()
}
/// The same of writes to the word alone.
fn writes_of_word(word: u32, program: fn(&Lock)) -> Vec<String> {
    let mut writes = writes(word, program);
    writes.retain(|it| it.contains("lock word of QueuesAtOnce"));
    writes.iter().map(|it| it.replace(", lock word of QueuesAtOnce", "")).collect()
}

/// Written mode and tail, as they were seen, and no read-modify-write.
#[test]
fn a_pending_waiter_takes_over_by_one_store_of_the_lower_half() {
    let writes = writes_of_word(0x600, |lock| {
        assert!(lock.lock_pending_late(0x601) && lock.is_locked());
    });
    assert_eq!(
        writes,
        ["or: 0x00000600 -> 0x00000700", "store becomes visible: 0x00000700 -> 0x00000601"]
    );
    let writes = writes_of_word(0x8000_0200, |lock| {
        assert!(lock.lock_pending_late(0x8000_0201) && lock.is_locked());
        assert!(!lock.list().is_in_use, "two threads begin no HQ mode");
    });
    assert_eq!(
        writes,
        ["or: 0x80000200 -> 0x80000300", "store becomes visible: 0x80000300 -> 0x80000201"]
    );
}

#[test]
fn a_pending_bit_is_taken_back_by_a_store_of_type_and_mode() {
    let writes = writes_of_word(0x8000_0a01, |lock| {
        assert!(!lock.lock_pending_late(0x8000_0201) && lock.is_locked());
    });
    assert_eq!(
        writes,
        ["or: 0x80000a01 -> 0x80000b01", "store becomes visible: 0x80000b01 -> 0x80000a01"]
    );
}

/// That store would undo the change of the mode.
#[test]
fn a_mode_begins_and_ends_only_when_no_thread_is_pending() {
    let pends = |from, until| {
        move |lock: &Lock, order: &RefCell<String>| {
            at(from);
            lock.poke(lock.word() | 0x100);
            at(until);
            order.borrow_mut().push('y');
            lock.poke(lock.word() & !0x100);
        }
    };
    let ends = |lock: &Lock, order: &RefCell<String>| {
        lock.lock_and_end_slowly(|| at(2));
        assert_eq!(lock.word(), 0x8000_0201);
        owns(lock, order, 'e', 0);
    };
    assert_eq!(owners(Lock::new, &[], &[(0, &pends(1, 4)), (4, &ends)]), "ye");
    let begins = |lock: &Lock, order: &RefCell<String>| {
        at(2);
        let absent = lock.enqueue_absent();
        assert_eq!(lock.word(), 0x8000_0a00);
        order.borrow_mut().push('e');
        acts(lock, order, ('e', absent), 0);
    };
    assert_eq!(owners(Lock::new, &[], &[(0, &pends(1, 4)), (4, &begins)]), "yee");
}

/// Waiters without threads of their own take turns, each behind the one before. Returns the counts that they are told,
/// and the word in the end, which is that of a lock with waiters.
fn counts<const IN_ORDER: bool>(waiters: u64, turns: u64, threshold: u64) -> (Vec<u32>, u32) {
    let (seen, word) = (RefCell::new(Vec::new()), RefCell::new(0));
    let takes_turns = |me: u64| {
        let (seen, word) = (&seen, &word);
        move |lock: &QueuesAtOnce<Sim, IN_ORDER>, order: &RefCell<String>| {
            let mut turn = me;
            at(turn);
            let mut absent = lock.enqueue_absent();
            while turn < turns {
                at(waiters + turn);
                seen.borrow_mut().push(absent.count::<Sim>());
                acts(lock, order, ('x', absent), 0);
                absent = lock.enqueue_absent();
                *word.borrow_mut() = lock.word();
                turn += waiters;
            }
            acts(lock, order, ('x', absent), 0);
        }
    };
    let programs: Vec<_> = (0..waiters).map(takes_turns).collect();
    let programs: Vec<Program<'_, IN_ORDER>> =
        (0..).zip(&programs).map(|(cpu, it)| (cpu, it as &dyn Fn(&_, &_))).collect();
    owners(QueuesAtOnce::new, &[(Tunable::hqlock_fairness_threshold, threshold)], &programs);
    (seen.into_inner(), word.into_inner())
}

#[test]
fn a_handoff_to_the_waiter_that_was_in_front_is_not_counted() {
    // The first one has found the queue empty, and its handoff counts.
    let (two, word) = counts::<true>(2, 1_000, 1_000);
    assert_eq!((two[0], two[1..].iter().max()), (0, Some(&1)));
    assert_eq!(word & 0xffff, 0x600, "in queued mode");
    let (three, word) = counts::<true>(3, 999, 1_000);
    assert!(three.iter().copied().eq(0..999), "one more with each handoff");
    assert_eq!(word & 0xffff, 0x600, "in queued mode");
}

#[test]
fn the_last_waiter_gives_queued_mode_up_after_more_than_fifty_handoffs() {
    let leaves = |count, word| {
        let leaves = move |lock: &InOrder, order: &RefCell<String>| {
            let absent = lock.enqueue_absent();
            absent.set_count::<Sim>(count);
            // SAFETY: a waiter of this lock, and no other thread acts for it.
            unsafe { lock.act_for(absent) };
            assert_eq!(lock.word(), word, "{count}");
            owns(lock, order, 'e', 0);
        };
        owners(InOrder::new, &[], &[(0, &leaves)])
    };
    assert_eq!(leaves(50, 0x601), "e");
    assert_eq!(leaves(51, 0x8000_0201), "e");
    let with_another = |lock: &InOrder, order: &RefCell<String>| {
        let absent = lock.enqueue_absent();
        absent.set_count::<Sim>(51);
        at(2);
        // SAFETY: as above.
        unsafe { lock.act_for(absent) };
        assert_eq!(lock.word() & 0xffff, 0x601);
        owns(lock, order, 'e', 0);
    };
    let behind = |lock: &InOrder, order: &RefCell<String>| {
        at(1);
        let absent = lock.enqueue_absent();
        at(3);
        assert_eq!(absent.count::<Sim>(), 52);
        acts(lock, order, ('f', absent), 0);
        assert_eq!(lock.word(), 0x8000_0200);
    };
    assert_eq!(owners(InOrder::new, &[], &[(0, &with_another), (4, &behind)]), "ef");
}

#[test]
fn hq_mode_begins_with_the_metadata_then_a_write_to_each_queue_and_then_the_word() {
    let seen = writes(0x8000_0201, |lock| {
        lock.enqueue_absent();
        // Behind it, so that the last stores of the first become visible.
        lock.enqueue_absent();
    });
    let place = |line: &String| {
        let (what, rest) = line.split_once(", ").expect("a place");
        let (place, values) = rest.split_once(": ").expect("values");
        let byte = place.split_once(" byte ").map_or("", |(_, byte)| byte);
        let kind = place.split('[').next().unwrap_or_default();
        format!("{what} {kind} {byte} {values}")
    };
    let seen: Vec<_> = seen.iter().map(place).collect();
    let begins = &seen[..6];
    assert!(begins[0].starts_with("compare-exchange Entry 0 0x0 -> "), "owner: {seen:#?}");
    assert_eq!(begins[1], "add Entry 8 0x0 -> 0x1", "number");
    for line in &begins[2..5] {
        assert_eq!(line, "store becomes visible NumaQueue 0 0x0 -> 0x100000000");
    }
    assert_eq!(begins[5], "compare-exchange lock word of QueuesAtOnce  0x80000201 -> 0x80000a01");
    assert_eq!(seen[6], "compare-exchange NumaQueue 0 0x100000000 -> 0x100000004");
    let fields = seen[7..11].iter().filter(|it| it.starts_with("store becomes visible NumaQueue"));
    assert_eq!(fields.count(), 4, "first waiter, left, before, next: {seen:#?}");
    assert_eq!(seen[11], "swap lock word of Entry 16 0x00000000 -> 0x00010000", "last");
    let first = "store becomes visible lock word of Entry 16 0x00010000 -> 0x00010001";
    assert_eq!(seen[12], first);
    assert!(seen[13..].iter().all(|it| !it.contains("QueuesAtOnce")), "no more: {seen:#?}");
}

/// The last waiter of queue 1, with queue 2 behind, tries its own tail first and unlinks later.
#[test]
fn a_waiter_that_joins_before_the_tail_is_cleared_keeps_its_queue_in_the_list() {
    let e = |lock: &Lock, order: &RefCell<String>| {
        assert!(lock.lock_slowly(|| at(4)), "nobody is behind it");
        assert_eq!(lock.list().first, 1);
        owns(lock, order, 'e', 6);
    };
    let c = |lock: &Lock, order: &RefCell<String>| {
        at(3);
        let absent = lock.enqueue_absent();
        at(5);
        assert_eq!(absent.count::<Sim>(), 1);
        acts(lock, order, ('c', absent), 7);
    };
    let order =
        owners(Lock::held, &[], &[(3, &holds(2)), (0, &e), (4, &comes('b', 1, 8)), (1, &c)]);
    assert_eq!(order, "ecb");
}

/// x1 has handed on at the threshold to e2, in the last queue. a1 waits in queue 1.
#[test]
fn a_last_queue_that_was_moved_out_and_is_not_empty_is_appended_behind_newer_ones() {
    let x = |lock: &Lock, order: &RefCell<String>| {
        let absent = lock.enqueue_absent();
        absent.set_count::<Sim>(1001);
        acts(lock, order, ('x', absent), 4);
    };
    let e = |lock: &Lock, order: &RefCell<String>| {
        at(2);
        assert!(lock.lock_slowly(|| at(7)), "nobody is behind it");
        at(8);
        let list = lock.list();
        assert_eq!((list.first, list.last), (1, 2));
        assert_eq!([1, 3, 2].map(|queue| lock.behind(queue)), [3, 2, 0]);
        owns(lock, order, 'e', 9);
    };
    let order = owners(
        Lock::held,
        &[],
        &[
            (3, &holds(3)),
            (0, &x),
            (1, &comes('a', 1, 0)),
            (4, &e),
            (5, &comes('c', 5, 0)),
            (8, &comes('d', 6, 0)),
        ],
    );
    // c is the last waiter of the last queue, which leaves to the first one.
    assert_eq!(order, "xecad");
}

#[test]
fn a_waiter_that_finds_the_list_empty_takes_the_turn_and_the_owner_grants_nobody() {
    let e = |lock: &Lock, order: &RefCell<String>| {
        assert!(lock.lock_slowly(|| at(4)), "nobody is behind it");
        at(5);
        owns(lock, order, 'e', 6);
    };
    let c = comes('c', 2, 0);
    let order =
        owners(Lock::held, &[], &[(3, &holds(1)), (0, &e), (1, &c), (4, &comes('b', 3, 0))]);
    assert_eq!(order, "ebc");
    let alone = |lock: &Lock, order: &RefCell<String>| {
        assert!(lock.lock_slowly(|| at(4)), "nobody is behind it");
        let list = lock.list();
        assert_eq!((list.first, list.last), (1, 1));
        owns(lock, order, 'e', 6);
    };
    assert_eq!(owners(Lock::held, &[], &[(3, &holds(1)), (0, &alone), (1, &c)]), "ec");
}

/// d2 joins when e1 has found all queues empty, and g1 when the numbers are there again.
#[test]
fn an_end_of_hq_mode_that_fails_restores_the_number_of_each_queue() {
    let e = |lock: &Lock, order: &RefCell<String>| {
        let before = RefCell::new(None);
        lock.lock_and_end_slowly(|| {
            *before.borrow_mut() = Some(lock.list().number);
            at(3);
        });
        let list = lock.list();
        assert_eq!((Some(list.number), list.is_in_use), (before.into_inner(), true));
        assert_eq!(lock.word(), 0x8000_0a01);
        at(5);
        let list = lock.list();
        assert_eq!((list.first, list.last), (2, 1), "g1 has joined behind d2");
        owns(lock, order, 'e', 6);
    };
    let order = owners(
        Lock::held,
        &[],
        &[(3, &holds(1)), (0, &e), (4, &comes('d', 2, 7)), (1, &comes('g', 4, 8))],
    );
    assert_eq!(order, "edg");
}

#[test]
fn a_newcomer_writes_nothing_to_the_word_of_a_free_lock_in_hq_mode() {
    let writes = writes_of_word(0x8000_0200, |lock| {
        lock.enqueue_absent();
        assert_eq!(lock.word(), 0x8000_0a00, "free, and its head is not there yet");
        assert!(!lock.try_lock() && !lock.lock_pending_late(0x8000_0a00));
        lock.enqueue_absent();
    });
    assert_eq!(writes, ["compare-exchange: 0x80000200 -> 0x80000a00"]);
}

/// Threads that take the lock again and again, on each socket this many. Returns the NUMA nodes of the owners.
fn nodes_of_owners(threads: &[u32], threshold: u64) -> (Vec<u32>, RunReport) {
    let nodes = RefCell::new(Vec::new());
    let mut arena = Arena::default();
    let tunables = vec![(Tunable::hqlock_fairness_threshold, threshold)];
    let config = Config { tunables, ..Config::window(0, 500_000) };
    let machine = quiet(machine(threads.len() as u32, 4, 1));
    let mut simulation = Simulation::new(&machine, &mut arena, 1, config);
    let lock = simulation.alloc(Lock::new());
    for (socket, &threads) in (0..).zip(threads) {
        for core in 0..threads {
            let nodes = &nodes;
            simulation.spawn(socket * 4 + core, move || {
                while !thread::is_over() {
                    lock.lock();
                    nodes.borrow_mut().push(socket + 1);
                    thread::hold_ps(2_000_000);
                    // SAFETY: taken above.
                    unsafe { lock.unlock() };
                }
            });
        }
    }
    let report = simulation.run();
    assert_eq!(report.failures, []);
    (nodes.into_inner(), report)
}

#[test]
fn a_turn_has_two_owners_more_than_the_threshold() {
    const THRESHOLD: u64 = 2;
    let (nodes, _) = nodes_of_owners(&[3, 3], THRESHOLD);
    let turns: Vec<_> = nodes.chunk_by(|one, other| one == other).map(<[u32]>::len).collect();
    // Not all threads are there in the first turns, and some have left in the last ones.
    let whole = &turns[2..turns.len() - 4];
    assert!(whole.len() > 20 && whole.iter().all(|&owners| owners == 4), "{turns:?}");
    // Counts 0 to T + 1 in the first turn, and the one queue that is there goes on with 1.
    let (seen, _) = counts::<false>(2, 10, THRESHOLD);
    assert_eq!(seen, [0, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
    let (_, report) = nodes_of_owners(&[3], THRESHOLD);
    assert_eq!(report.count_of(Event::hq_handoff_remote), 0);
}

/// Queue 1 is never empty. Queues 2 and 3 are empty with each turn, and are back before the next one ends. The turns
/// hold 0 to 3 then, and with three nodes 3 is due.
#[test]
fn two_queues_that_pass_the_turn_to_each_other_do_not_starve_the_first_queue() {
    let (nodes, report) = nodes_of_owners(&[4, 1, 1], 0);
    let turns: Vec<_> = nodes.chunk_by(|one, other| one == other).map(|turn| turn[0]).collect();
    let begin = turns.len() / 2;
    let begin =
        begin + turns[begin..].iter().position(|&node| node == 1).expect("a turn of node 1");
    let cycle = turns[begin + 1];
    let (a, b) = (cycle, 5 - cycle);
    assert_eq!(turns[begin..begin + 11], [1, a, b, a, b, 1, a, b, a, b, 1], "{turns:?}");
    assert!(report.count_of(Event::hq_first_due) > 10);
    // Two queues leave out nobody.
    let (_, report) = nodes_of_owners(&[4, 4], 0);
    assert_eq!(report.count_of(Event::hq_first_due), 0);
}

#[test]
fn only_a_queue_that_is_not_the_first_passes_a_turn_more_on() {
    let sees = |lock: &Lock, first, left| {
        assert_eq!((lock.list().first, lock.left(2)), (first, left));
    };
    let empties = |lock: &Lock, order: &RefCell<String>| {
        let absent = lock.enqueue_absent();
        at(3);
        // SAFETY: a waiter of this lock, and no other thread acts for it.
        unsafe { lock.act_for(absent) };
        sees(lock, 2, 1);
        owns(lock, order, 'e', 0);
    };
    let b = comes('b', 1, 0);
    assert_eq!(owners(Lock::held, &[], &[(3, &holds(2)), (0, &empties), (4, &b)]), "eb");
    let hands_on = |lock: &Lock, order: &RefCell<String>| {
        let absent = lock.enqueue_absent();
        absent.set_count::<Sim>(1001);
        at(3);
        // SAFETY: as above.
        unsafe { lock.act_for(absent) };
        sees(lock, 1, 0);
        owns(lock, order, 'e', 0);
    };
    let f = comes('f', 1, 0);
    let programs: [Program<'_, false>; 4] = [(3, &holds(2)), (0, &hands_on), (1, &f), (4, &b)];
    assert_eq!(owners(Lock::held, &[], &programs), "ebf");
}

/// w1 and v1 have begun HQ mode. z2 is late and takes the invalid tail, y1 and x3 come behind it before the repair. c2
/// joins behind them, and u3 in another queue.
#[test]
fn late_threads_stay_together_in_the_queue_of_the_first_one() {
    let z = |lock: &Lock, order: &RefCell<String>| {
        at(2);
        lock.lock_late(|| at(5));
        owns(lock, order, 'z', 0);
    };
    let late = |name, step| {
        move |lock: &Lock, order: &RefCell<String>| {
            at(step);
            lock.lock_late(|| {});
            owns(lock, order, name, 0);
        }
    };
    let c = |lock: &Lock, order: &RefCell<String>| {
        at(6);
        assert_eq!(lock.word(), 0x8000_0a01, "repaired");
        let absent = lock.enqueue_absent();
        at(10);
        assert!(!absent.is_foreign::<Sim>());
        acts(lock, order, ('c', absent), 0);
    };
    let order = owners(
        Lock::held,
        &[(Tunable::hqlock_fairness_threshold, 0)],
        &[
            (3, &holds(8)),
            (0, &comes('w', 0, 0)),
            (1, &comes('v', 1, 0)),
            (4, &z),
            (2, &late('y', 3)),
            (8, &late('x', 4)),
            (5, &c),
            (9, &comes('u', 7, 0)),
        ],
    );
    assert_eq!(order, "wvzyxcu");
}

/// More locks than a simulated machine has entries, so two of them share one.
const LOCKS: usize = 65;

#[test]
fn a_lock_whose_metadata_another_one_has_goes_back_to_queued_mode() {
    let order = RefCell::new(String::new());
    let mut arena = Arena::default();
    let machine = quiet(machine(2, 4, 1));
    let mut simulation = Simulation::new(&machine, &mut arena, 1, Config::default());
    let locks = simulation.alloc(core::array::from_fn::<_, LOCKS, _>(|_| Lock::held()));
    let pair = || {
        let later = |at: usize| locks[at + 1..].iter().map(move |other| (&locks[at], other));
        (0..LOCKS).flat_map(later).find(|(one, other)| one.shares_metadata_with(other))
    };
    let order = &order;
    simulation.spawn(0, move || {
        let (a, b) = pair().expect("there are fewer entries than locks");
        let of_a = a.enqueue_absent();
        let list = a.list();
        assert!(list.is_in_use && a.is_in_hq_mode());
        let of_b = b.enqueue_absent();
        assert_eq!(b.word(), 0x5_0601, "it is the newest waiter, CPU 0 of index 1");
        assert_eq!(a.list(), list);
        let ends = |lock: &Lock, absent, word| {
            // SAFETY: held from the start, for this thread.
            unsafe { lock.unlock() };
            // SAFETY: a waiter of this lock, and no other thread acts for it.
            unsafe { lock.act_for(absent) };
            assert_eq!(lock.word(), word);
            order.borrow_mut().push('x');
        };
        ends(a, of_a, 0x8000_0201);
        assert!(!a.list().is_in_use);
        ends(b, of_b, 0x601);
        for (count, word) in [(50, 0x601), (51, 0x8000_0201)] {
            let absent = b.enqueue_absent();
            absent.set_count::<Sim>(count);
            ends(b, absent, word);
        }
    });
    let report = simulation.run();
    assert_eq!(report.failures, []);
    assert_eq!(report.count_of(Event::hq_mode_refused), 1);
    assert_eq!(*order.borrow(), "xxxx");
}

//! The resilient queued spinlock: when a waiter gives up, what it is told, and what the others see of it, in each form.

use crate::explore;
use crate::machines::{machine, quiet};
use crate::programs::sharing;
use lockwright_core::events::Event;
use lockwright_core::held::HeldTable;
use lockwright_core::platform::{Clock, HeldLocks, LockHash, QueueNodes};
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::resilient::{
    AcquireError, AcquireLimits, Form, Guest6_19, InPrograms, Linux6_15, Linux6_19,
    RawResilientSpinLock,
};
use lockwright_sim::explore::Limits;
use lockwright_sim::{RunReport, Sim, Simulation, thread};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ptr::NonNull;

type Lock<F> = RawResilientSpinLock<Sim, F>;
type Outcome = Result<(), AcquireError>;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
/// A look takes 5.5 ns on the machine of these tests, and a check is made at every 65,536th look after the first one.
const PERIOD_NS: u64 = 65_536 * 11 / 2;
/// The first check more than 1 ms after the first one: 1 ms is 2.8 periods.
const DEADLOCK: u64 = 3;
/// The first check more than 250 ms after the first one, 693.6 periods.
const SECTION: u64 = 694;
/// The same for 500 ms, 1387.2 periods.
const TWO_SECTIONS: u64 = 1_388;
/// The same for 1 s, 2774.3 periods.
const IN_GUEST: u64 = 2_775;

/// A waiter comes at most that much later than the head that makes it leave.
const LATER_NS: u64 = 10 * US;

/// What a waiter was told, and at which check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Told {
    who: &'static str,
    outcome: Outcome,
    check: u64,
}

/// What waiters were told, in that order.
#[derive(Default)]
struct Log(RefCell<Vec<Told>>);

impl Log {
    /// Takes the lock, works for `hold_ns` and gives it back, or is told why not.
    fn asks<F: Form>(&self, who: &'static str, lock: &Lock<F>, hold_ns: u64) {
        if self.acquires(who, lock, AcquireLimits::KERNEL).is_ok() {
            thread::work_ns(hold_ns);
            release(lock);
        }
    }
    fn acquires<F: Form>(
        &self,
        who: &'static str,
        lock: &Lock<F>,
        limits: AcquireLimits,
    ) -> Outcome {
        let begin_ns = Sim::now_ns();
        let outcome = lock.acquire(limits);
        let check = (Sim::now_ns() - begin_ns + LATER_NS) / PERIOD_NS;
        self.0.borrow_mut().push(Told { who, outcome, check });
        outcome
    }
    /// Those that were told of a failure: who, why, and at which check.
    fn failed(&self) -> Vec<(&'static str, AcquireError, u64)> {
        let failure = |told: &Told| Some((told.who, told.outcome.err()?, told.check));
        self.0.borrow().iter().filter_map(failure).collect()
    }
    fn got(&self) -> Vec<&'static str> {
        let got = |told: &Told| told.outcome.is_ok().then_some(told.who);
        self.0.borrow().iter().filter_map(got).collect()
    }
}

fn release<F: Form>(lock: &Lock<F>) {
    // SAFETY: the caller has taken it.
    unsafe { lock.unlock() };
}

/// Takes a free lock, works and gives it back. Then nobody waits for it.
fn holds<F: Form>(lock: &Lock<F>, ns: u64) {
    assert_eq!(lock.acquire(AcquireLimits::KERNEL), Ok(()));
    thread::work_ns(ns);
    assert!(lock.is_locked(), "a waiter that gives up leaves the owner alone");
    release(lock);
}

/// Acquisitions that were pending, came to the queue, had no node, and waiters that gave up.
fn counts(report: &RunReport) -> [u64; 4] {
    [Event::lock_pending, Event::lock_slowpath, Event::lock_no_node, Event::rqspinlock_lock_timeout]
        .map(|event| report.count_of(event))
}

fn new<F: Form>() -> Lock<F> {
    Lock::<F>::new()
}

/// A pending waiter that holds the lock.
fn holds_and_asks<F: Form>() -> (Vec<(&'static str, AcquireError, u64)>, [u64; 4]) {
    let log = Log::default();
    let report = sharing(new::<F>(), quiet(machine(1, 2, 1))).ends(&[(0, &|lock| {
        assert_eq!(lock.acquire(AcquireLimits::KERNEL), Ok(()));
        log.asks("a", lock, 0);
        release(lock);
        assert!(lock.try_lock(), "it is no longer pending");
        release(lock);
    })]);
    (log.failed(), counts(&report))
}

#[test]
fn a_pending_waiter_that_holds_the_lock_is_told_after_a_millisecond_and_since_6_19_at_its_first_check()
 {
    // The pending waiter counts where it gives up.
    let told = |check| (vec![("a", AcquireError::Held, check)], [0, 0, 0, 1]);
    assert_eq!(holds_and_asks::<Linux6_15>(), told(DEADLOCK));
    assert_eq!(holds_and_asks::<Linux6_19>(), told(0));
    // In a guest nothing is counted.
    let in_guest = (vec![("a", AcquireError::Held, 0)], [0; 4]);
    assert_eq!(holds_and_asks::<Guest6_19>(), in_guest);
}

#[test]
fn a_write_to_the_word_makes_no_check() {
    let log = Log::default();
    sharing(new::<Linux6_15>(), quiet(machine(1, 4, 1))).ends(&[
        (0, &|lock| {
            assert_eq!(lock.acquire(AcquireLimits::KERNEL), Ok(()));
            log.asks("a", lock, 0);
            release(lock);
        }),
        // It writes its tail between the second check and the third, more than 1 ms after the first one.
        (1, &|lock| {
            thread::work_ns(MS + 40 * US);
            log.asks("w", lock, 0);
        }),
    ]);
    assert_eq!(log.failed(), [("a", AcquireError::Held, DEADLOCK)]);
}

/// The owner asks for its lock again behind a pending waiter.
fn asks_behind_pending<F: Form>() -> (Vec<(&'static str, AcquireError, u64)>, [u64; 4]) {
    let log = Log::default();
    let report = sharing(new::<F>(), quiet(machine(1, 4, 1))).ends(&[
        (0, &|lock| {
            assert_eq!(lock.acquire(AcquireLimits::KERNEL), Ok(()));
            thread::work_ns(10 * US);
            log.asks("a", lock, 0);
            release(lock);
        }),
        (1, &|lock| {
            thread::work_ns(US);
            log.asks("p", lock, 0);
        }),
    ]);
    assert_eq!(log.got(), ["p"]);
    (log.failed(), counts(&report))
}

#[test]
fn a_head_that_holds_the_lock_is_told_after_a_millisecond_and_since_6_19_before_it_queues() {
    // The one that is pending takes the lock over.
    let old = (vec![("a", AcquireError::Held, DEADLOCK)], [1, 1, 0, 1]);
    assert_eq!(asks_behind_pending::<Linux6_15>(), old);
    let new = (vec![("a", AcquireError::Held, 0)], [1, 0, 0, 0]);
    assert_eq!(asks_behind_pending::<Linux6_19>(), new);
}

/// The owner does not release. There are a pending waiter, the head of a queue, and two behind it.
fn stuck<F: Form>() -> (Vec<(&'static str, AcquireError, u64)>, [u64; 4]) {
    let log = Log::default();
    let waits = |us: u64, who, lock: &Lock<F>| {
        thread::work_ns(us * US);
        log.asks(who, lock, 0);
    };
    let report = sharing(new::<F>(), quiet(machine(1, 8, 1))).ends(&[
        (0, &|lock| {
            holds(lock, 600 * MS);
            assert!(lock.try_lock(), "neither pending nor a tail is left");
            release(lock);
        }),
        (1, &|lock| waits(1, "p", lock)),
        (2, &|lock| waits(2, "h", lock)),
        (3, &|lock| waits(3, "w1", lock)),
        (4, &|lock| waits(4, "w2", lock)),
    ]);
    (log.failed(), counts(&report))
}

#[test]
fn a_time_out_dissolves_the_queue_and_those_behind_are_told_of_a_deadlock_or_since_6_19_of_a_time_out()
 {
    use AcquireError::{Deadlock, Dissolved, TimedOut};
    let told = |behind| {
        let head = [("p", TimedOut, SECTION), ("h", TimedOut, TWO_SECTIONS)];
        // They came 1 us and 2 us after the head.
        let rest = [("w1", behind, TWO_SECTIONS), ("w2", behind, TWO_SECTIONS)];
        ([head, rest].concat(), [0, 3, 0, 4])
    };
    assert_eq!(stuck::<Linux6_15>(), told(Deadlock));
    assert_eq!(stuck::<Linux6_19>(), told(TimedOut));
    let (programs, counts) = stuck::<InPrograms>();
    let errors: Vec<_> = programs.iter().map(|(who, error, _)| (*who, *error)).collect();
    let expected = [("p", TimedOut), ("h", TimedOut), ("w1", Dissolved), ("w2", Dissolved)];
    assert_eq!((&errors[..], counts), (&expected[..], [0, 3, 0, 4]));
}

/// The owner `o` of the first lock asks for the second one, which `h` has, the head of the first one's queue behind the
/// pending waiter `p`. `h` has waited for longer, so it finds the deadlock first. `w` comes behind it after `w_comes`.
fn crossed<F: Form>(w_comes_ns: u64) -> (Log, RunReport) {
    let log = Log::default();
    let report = sharing((new::<F>(), new::<F>()), quiet(machine(1, 8, 1))).ends(&[
        (0, &|(first, second)| {
            assert_eq!(first.acquire(AcquireLimits::KERNEL), Ok(()));
            thread::work_ns(500 * US);
            log.asks("o", second, 0);
            thread::work_ns(10 * MS);
            release(first);
        }),
        (1, &|(first, _)| {
            thread::work_ns(2 * US);
            log.asks("p", first, 0);
        }),
        (2, &|(first, second)| {
            assert_eq!(second.acquire(AcquireLimits::KERNEL), Ok(()));
            thread::work_ns(4 * US);
            log.asks("h", first, 0);
            release(second);
        }),
        (3, &|(first, _)| {
            thread::work_ns(w_comes_ns);
            log.asks("w", first, 0);
        }),
    ]);
    (log, report)
}

/// True if that is the deadlock of two threads, found at this check.
fn is_crossed(told: (&str, AcquireError, u64), who: &str, check: u64) -> bool {
    told.0 == who && matches!(told.1, AcquireError::Crossed { other: 0, .. }) && told.2 == check
}

#[test]
fn a_deadlock_of_two_threads_dissolves_the_queue_of_6_15_and_since_6_19_the_next_waiter_is_its_head()
 {
    let (log, report) = crossed::<Linux6_15>(6 * US);
    let failed = log.failed();
    assert!(is_crossed(failed[0], "h", DEADLOCK), "{failed:?}");
    assert_eq!(failed[1..], [("w", AcquireError::Deadlock, DEADLOCK)]);
    assert_eq!(log.got(), ["o", "p"]);
    assert_eq!(counts(&report)[3], 2);

    let (log, report) = crossed::<Linux6_19>(6 * US);
    let failed = log.failed();
    assert!(failed.len() == 1 && is_crossed(failed[0], "h", DEADLOCK), "{failed:?}");
    assert_eq!(log.got(), ["o", "p", "w"]);
    assert_eq!(counts(&report)[3], 0);
}

#[test]
fn a_last_waiter_that_finds_a_deadlock_leaves_and_in_6_19_it_stays_until_another_one_queues() {
    const COMES_NS: u64 = 5 * MS;
    let (log, _) = crossed::<Linux6_15>(COMES_NS);
    let failed = log.failed();
    assert!(failed.len() == 1 && is_crossed(failed[0], "h", DEADLOCK), "{failed:?}");
    assert_eq!(log.got(), ["o", "p", "w"]);

    // The other thread of the deadlock finds it, too, half a millisecond after that.
    let (log, report) = crossed::<Linux6_19>(COMES_NS);
    let failed = log.failed();
    assert!(matches!(failed[0], ("o", AcquireError::Crossed { other: 2, .. }, DEADLOCK)));
    // 4,996 us are 13.9 periods.
    assert!(failed.len() == 2 && is_crossed(failed[1], "h", 13), "{failed:?}");
    assert_eq!(log.got(), ["p", "w"]);
    // The pending waiter of the second lock.
    assert_eq!(counts(&report)[3], 1);
}

/// Thread 0 holds the second lock and asks for the first one, whose owner asks for the second one after `crosses_ns`.
fn pending_of_two<F: Form>(
    crosses_ns: u64,
    section_ns: u64,
) -> Vec<(&'static str, AcquireError, u64)> {
    let log = Log::default();
    sharing((new::<F>(), new::<F>()), quiet(machine(1, 4, 1))).ends(&[
        (0, &|(first, second)| {
            assert_eq!(second.acquire(AcquireLimits::KERNEL), Ok(()));
            thread::work_ns(10 * US);
            _ = log.acquires("a", first, AcquireLimits::KERNEL.with_section_ns(section_ns));
            release(second);
        }),
        (1, &|(first, second)| {
            assert_eq!(first.acquire(AcquireLimits::KERNEL), Ok(()));
            thread::work_ns(crosses_ns);
            log.asks("b", second, 0);
            release(first);
        }),
    ]);
    log.failed()
}

#[test]
fn a_time_out_is_asked_for_before_a_deadlock() {
    // A search is due at the first check after 1 ms, which is the first one after the end.
    let told = [("a", AcquireError::TimedOut, DEADLOCK)];
    assert_eq!(pending_of_two::<Linux6_15>(20 * US, MS), told);
    assert_eq!(pending_of_two::<Linux6_19>(20 * US, MS), told);
    // With the kernel's time the deadlock is found there.
    let found = pending_of_two::<Linux6_15>(20 * US, 250 * MS);
    let [("a", AcquireError::Crossed { other: 1, .. }, DEADLOCK)] = found[..] else {
        panic!("{found:?}")
    };
}

#[test]
fn nothing_is_told_before_the_first_check_after_the_end() {
    // The check before is at 249.79 ms, and the time is over at 250 ms.
    const CROSSES_NS: u64 = 249_900 * US;
    let told = [("a", AcquireError::TimedOut, SECTION)];
    assert_eq!(pending_of_two::<Linux6_15>(CROSSES_NS, 250 * MS), told);
    assert_eq!(pending_of_two::<Linux6_19>(CROSSES_NS, 250 * MS), told);
}

fn own_table<'a>() -> &'a HeldTable<Sim> {
    let table: NonNull<HeldTable<Sim>> = Sim::held_table().expect("a table");
    // SAFETY: a table lives as long as the run.
    unsafe { table.as_ref() }
}
fn name_of<F: Form>(lock: &Lock<F>) -> u64 {
    Sim::lock_name(std::ptr::from_ref(lock).cast())
}

/// Thread 0 holds the second lock and asks for the first. The owner of that asks for the third. A table after it says
/// that its thread holds the first lock, too, and asks for the second.
fn behind_the_owner<F: Form>() -> Vec<(&'static str, AcquireError, u64)> {
    const LIMITS: AcquireLimits = AcquireLimits::KERNEL.with_section_ns(5 * MS);
    let log = Log::default();
    let locks = (new::<F>(), new::<F>(), new::<F>());
    sharing(locks, quiet(machine(1, 4, 1))).ends(&[
        (0, &|(first, second, _)| {
            assert_eq!(second.acquire(AcquireLimits::KERNEL), Ok(()));
            thread::work_ns(20 * US);
            _ = log.acquires("a", first, LIMITS);
            release(second);
        }),
        (1, &|(first, _, third)| {
            assert_eq!(first.acquire(AcquireLimits::KERNEL), Ok(()));
            thread::work_ns(10 * US);
            assert_eq!(third.acquire(AcquireLimits::KERNEL), Ok(()));
            release(third);
            release(first);
        }),
        (2, &|(first, second, _)| {
            own_table().push(name_of(first));
            own_table().push(name_of(second));
        }),
        (3, &|(_, _, third)| holds(third, 20 * MS)),
    ]);
    log.failed()
}

#[test]
fn the_search_ends_with_the_first_table_that_has_the_lock() {
    // 5 ms are 13.9 periods.
    let told = [("a", AcquireError::TimedOut, 14)];
    assert_eq!(behind_the_owner::<Linux6_15>(), told);
    assert_eq!(behind_the_owner::<Linux6_19>(), told);
}

#[test]
fn the_thirty_first_lock_and_those_after_it_are_not_found_if_more_are_held() {
    const LIMITS: AcquireLimits = AcquireLimits::KERNEL.with_section_ns(3 * MS);
    fn told<F: Form>() -> Vec<Outcome> {
        let told = RefCell::new(Vec::new());
        let locks: [Lock<F>; 32] = std::array::from_fn(|_| new());
        sharing(locks, quiet(machine(1, 2, 1))).ends(&[(0, &|locks| {
            for lock in locks {
                assert_eq!(lock.acquire(AcquireLimits::KERNEL), Ok(()));
            }
            *told.borrow_mut() = [29, 30, 31].map(|at: usize| locks[at].acquire(LIMITS)).to_vec();
            locks.iter().rev().for_each(release);
            assert_eq!(own_table().count(), 0);
        })]);
        told.into_inner()
    }
    let timed_out = Err(AcquireError::TimedOut);
    let expected = [Err(AcquireError::Held), timed_out, timed_out];
    assert_eq!(told::<Linux6_15>(), expected);
    assert_eq!(told::<Linux6_19>(), expected);
}

/// A waiter behind a pending one, with `nodes` of its CPU in use, that stands for an interrupt if `is_unmaskable`.
fn without_node<F: Form>(
    nodes: u32,
    is_unmaskable: bool,
) -> (Vec<(&'static str, AcquireError, u64)>, [u64; 4]) {
    let log = Log::default();
    let report = sharing(new::<F>(), quiet(machine(1, 4, 1))).ends(&[
        (0, &|lock| holds(lock, 700 * MS)),
        (1, &|lock| {
            thread::work_ns(US);
            log.asks("p", lock, 0);
        }),
        (2, &|lock| {
            thread::work_ns(2 * US);
            let claimed: Vec<_> = (0..nodes).map(|_| Sim::claim_node().expect("one")).collect();
            thread::set_unmaskable(is_unmaskable);
            log.asks("a", lock, 0);
            // SAFETY: claimed above, and in no queue.
            claimed.into_iter().rev().for_each(|id| unsafe { Sim::release_node(id) });
        }),
    ]);
    let mut failed = log.failed();
    failed.retain(|(who, ..)| *who == "a");
    // Without the pending waiter, which gives up, too.
    let [pending, queued, without, gave_up] = counts(&report);
    (failed, [pending, queued, without, gave_up - 1])
}

#[test]
fn a_thread_without_a_node_competes_for_a_section_and_since_6_19_makes_one_attempt() {
    let old = (vec![("a", AcquireError::TimedOut, SECTION)], [0, 1, 1, 1]);
    assert_eq!(without_node::<Linux6_15>(4, false), old);
    let new = (vec![("a", AcquireError::Deadlock, 0)], [0, 1, 1, 0]);
    assert_eq!(without_node::<Linux6_19>(4, false), new);
}

#[test]
fn an_interrupt_that_cannot_be_masked_queues_or_not_at_all_or_since_6_19_unless_a_waiter_is_below()
{
    let head = (vec![("a", AcquireError::TimedOut, TWO_SECTIONS)], [0, 1, 0, 1]);
    assert_eq!(without_node::<Linux6_15>(0, true), head);
    assert_eq!(without_node::<Linux6_15>(1, true), head);
    let competes = (vec![("a", AcquireError::TimedOut, SECTION)], [0, 1, 1, 1]);
    assert_eq!(without_node::<Linux6_15<true>>(0, true), competes);
    assert_eq!(without_node::<Linux6_15<true>>(1, true), competes);
    assert_eq!(without_node::<Linux6_15<true>>(1, false), head);
    assert_eq!(without_node::<Linux6_19>(0, true), head);
    let attempts = (vec![("a", AcquireError::Deadlock, 0)], [0, 1, 1, 0]);
    assert_eq!(without_node::<Linux6_19>(1, true), attempts);
}

#[test]
fn waiters_in_a_guest_compete_for_a_second_and_count_nothing() {
    let log = Log::default();
    let waits = |who, lock: &Lock<Guest6_19>| {
        thread::work_ns(US);
        log.asks(who, lock, 0);
        assert_eq!(own_table().count(), 0);
        thread::work_ns(500 * MS);
        log.asks(who, lock, US);
    };
    let report = sharing(new::<Guest6_19>(), quiet(machine(1, 4, 1))).ends(&[
        (0, &|lock| holds(lock, 2_000 * MS)),
        (1, &|lock| waits("a", lock)),
        (2, &|lock| waits("b", lock)),
    ]);
    let mut told = log.failed();
    told.sort_by_key(|(who, ..)| *who);
    let timed_out = AcquireError::TimedOut;
    assert_eq!(told, [("a", timed_out, IN_GUEST), ("b", timed_out, IN_GUEST)]);
    assert_eq!(log.got().len(), 2);
    assert_eq!(counts(&report), [0; 4]);
}

/// What a handler finds wherever it interrupts its thread: if the lock is held, if the thread's table has it, and what
/// the handler is told when it asks for the lock.
fn in_handlers<F: Form>() -> BTreeSet<(bool, bool, &'static str)> {
    const LIMITS: AcquireLimits = AcquireLimits::KERNEL.with_section_ns(2 * MS);
    let seen = RefCell::new(BTreeSet::new());
    let interrupted = |simulation: &mut Simulation<'_>| {
        let lock = simulation.alloc(new::<F>());
        let seen = seen.as_ptr();
        let handler = move || {
            let (is_held, is_entered) =
                (lock.is_locked(), own_table().seems_to_hold(name_of(lock)));
            let told = match lock.acquire(LIMITS) {
                Ok(()) => {
                    release(lock);
                    "taken"
                }
                Err(AcquireError::Held) => "deadlock",
                Err(_) => "time-out",
            };
            // SAFETY: simulated threads run one at a time.
            unsafe { (*seen).insert((is_held, is_entered, told)) };
        };
        simulation.spawn(0, move || {
            thread::handling(handler, || {
                if lock.acquire(LIMITS).is_ok() {
                    release(lock);
                }
            });
            assert_eq!(own_table().count(), 0);
        });
    };
    let limits = Limits { wake_ups: 0, preemptions: 0, signals: 1, ..Limits::default() };
    let findings = explore::search(&machine(1, 2, 1), limits, 10_000, &interrupted);
    assert!(findings.failure.is_none() && findings.is_exhausted, "{findings:?}");
    seen.into_inner()
}

#[test]
fn a_handler_misses_that_its_thread_holds_the_lock_and_since_6_19_it_does_not() {
    // After the exchange, and before the release.
    let old = [(false, false, "taken"), (true, false, "time-out"), (true, true, "deadlock")];
    assert_eq!(in_handlers::<Linux6_15>(), BTreeSet::from(old));
    // Before the exchange, and after the release.
    let new = [(false, false, "taken"), (false, true, "taken"), (true, true, "deadlock")];
    assert_eq!(in_handlers::<Linux6_19>(), BTreeSet::from(new));
}

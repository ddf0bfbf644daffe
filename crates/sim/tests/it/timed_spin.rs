//! Spinlocks whose waiters give up: when, and what the others see of it.

use crate::machines::{machine, quiet};
use crate::programs::sharing;
use lockwright_catalog::capabilities::TimedLock;
use lockwright_core::platform::Clock;
use lockwright_core::raw::RawLock;
use lockwright_linux::qspinlock::resilient::{AcquireLimits, InPrograms, RawResilientSpinLock};
use lockwright_linux::qspinlock::{CnaSpinlock, QSpinlock};
use lockwright_sim::{Config, Sim, thread};
use std::cell::RefCell;

const MS: u64 = 1_000_000;

type Resilient = RawResilientSpinLock<Sim, InPrograms>;

/// Takes the lock and works with it.
fn hold(lock: &impl RawLock, ns: u64) {
    lock.lock();
    thread::work_ns(ns);
    // SAFETY: taken above.
    unsafe { lock.unlock() };
}

#[test]
fn a_resilient_lock_is_awaited_for_as_long_as_was_asked_however_many_looks_that_takes() {
    const HELD_NS: u64 = 30_000 * MS;
    // A look takes 5.5 ns.
    const { assert!(HELD_NS > u32::MAX as u64 * 11 / 2) };
    let limits = AcquireLimits::KERNEL.with_section_ns(36 * HELD_NS);
    let waits = |number: u64, lock: &Resilient| {
        thread::work_ns(1_000 * number);
        assert_eq!(lock.acquire(limits), Ok(()), "after {} ms", Sim::now_ns() / MS);
        // SAFETY: taken above.
        unsafe { lock.unlock() };
    };
    let config = Config { time_limit_ns: 2 * HELD_NS, ..Config::default() };
    // The first is the pending waiter and the second the head of the queue.
    sharing(Resilient::new(), quiet(machine(1, 4, 1))).with(config).ends(&[
        (0, &|lock| hold(lock, HELD_NS)),
        (1, &|lock| waits(1, lock)),
        (2, &|lock| waits(2, lock)),
    ]);
}

/// The order in which waiters without a deadline get the lock, with two between them that leave: pending, and in the
/// queue.
fn order_with_two_that_leave<L: TimedLock>() {
    const DEADLINE_NS: u64 = 200_000;
    let order = RefCell::new(Vec::new());
    let waits = |number: u64, lock: &L| {
        thread::work_ns(1_000 * number);
        lock.lock();
        order.borrow_mut().push(number);
        // SAFETY: taken above.
        unsafe { lock.unlock() };
    };
    let leaves = |number: u64, lock: &L| {
        thread::work_ns(1_000 * number);
        assert!(!lock.lock_until(DEADLINE_NS), "it is held for longer");
        let late_ns = Sim::now_ns() - DEADLINE_NS;
        assert!(late_ns <= 100_000, "{late_ns} ns late");
    };
    sharing(L::new(), quiet(machine(2, 4, 1))).ends(&[
        (0, &|lock| hold(lock, MS)),
        (1, &|lock| leaves(1, lock)),
        (2, &|lock| waits(2, lock)),
        (3, &|lock| leaves(3, lock)),
        (4, &|lock| waits(4, lock)),
        (5, &|lock| leaves(5, lock)),
        (6, &|lock| leaves(6, lock)),
    ]);
    assert_eq!(order.into_inner(), [2, 4]);
}

#[test]
fn waiters_with_a_deadline_leave_within_100_us_and_the_others_keep_their_order() {
    order_with_two_that_leave::<QSpinlock<Sim>>();
    order_with_two_that_leave::<CnaSpinlock<Sim>>();
    order_with_two_that_leave::<Resilient>();
}

#[test]
fn a_waiter_with_a_deadline_has_its_place_in_the_queue() {
    let order = RefCell::new(Vec::new());
    let takes = |number: u64, lock: &QSpinlock<Sim>| {
        thread::work_ns(1_000 * number);
        if number.is_multiple_of(2) {
            assert!(lock.lock_until(10 * MS), "it becomes free before");
        } else {
            lock.lock();
        }
        order.borrow_mut().push(number);
        // SAFETY: taken above.
        unsafe { lock.unlock() };
    };
    sharing(QSpinlock::<Sim>::new(), quiet(machine(1, 8, 1))).ends(&[
        (0, &|lock| hold(lock, MS)),
        (1, &|lock| takes(1, lock)),
        (2, &|lock| takes(2, lock)),
        (3, &|lock| takes(3, lock)),
        (4, &|lock| takes(4, lock)),
        (5, &|lock| takes(5, lock)),
    ]);
    assert_eq!(order.into_inner(), [1, 2, 3, 4, 5]);
}
